//! A copy of the whole file, and back.

use std::path::Path;

use super::Host;
use crate::error::Result;
use crate::observe::Operation;
use crate::policy::Gate;
use crate::storage::sqlite::restore;
use crate::storage::{BackupProgress, SqliteOptions};

impl Host {
    /// Copies the whole store to a new file at `path`, and returns how many versions that holds
    /// besides the sessions' own state.
    ///
    /// The copy is of one moment, with every namespace, session and audit entry. Others read and write
    /// meanwhile; what they write waits in the WAL, which grows by that until the copy is done.
    /// `on_progress` is told after each step of about a megabyte. The file is its owner's only,
    /// needs no other beside it, and is complete and on the disk before it has its name: a crash leaves
    /// at most a hidden `.NAME.*.partial`, which the next backup to the same path removes. Nothing
    /// purged, erased or replaced by then is in it. [`restore_backup`](Self::restore_backup) puts it back.
    ///
    /// # Errors
    /// [`Unsupported`](crate::ErrorKind::Unsupported) for a store that has no file,
    /// [`AlreadyExists`](crate::ErrorKind::AlreadyExists) if something is at the path, or a `-wal`,
    /// `-shm` or `-journal` of something that was; or an error of the storage. Nothing is at the path then.
    ///
    /// ```
    /// use strandline::{Draft, ErrorKind, Host, MemoryStore};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let store = MemoryStore::open(folder.path().join("memory.db"))?;
    /// let session = store.session("s-1", "agent").open()?;
    /// store.save(&session, Draft::new("k", "v"))?;
    ///
    /// let backup = folder.path().join("backup.db");
    /// let versions = store.host().backup(&backup, |at| eprintln!("{} of {}", at.done, at.total))?;
    /// assert_eq!(versions, 1);
    /// let again = store.host().backup(&backup, |_| ()).unwrap_err();
    /// assert_eq!(again.kind(), ErrorKind::AlreadyExists);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn backup(
        &self,
        path: impl AsRef<Path>,
        mut on_progress: impl FnMut(BackupProgress),
    ) -> Result<u64> {
        self.watch(Operation::Backup, || {
            let grant = Gate::host(self.namespace.clone(), None);
            let provider = self.gate.provider();
            provider.backup(&grant, path.as_ref(), &mut on_progress)
        })
    }

    /// Puts a backup in the place of the store at `target`, and returns how many versions it holds
    /// besides the sessions' own state.
    ///
    /// The backup is copied, and the copy checked, before the target is touched. It takes the target's
    /// name in one step, when it is on the disk: a crash leaves the old store or the new one, whole.
    /// No `-wal`, `-shm` or `-journal` of the old one stays. The target need not exist; a damaged store
    /// is replaced. What its pages hold is checked as far as SQLite's own check goes, which doesn't notice
    /// a letter that is another one.
    ///
    /// A target that is open anywhere is refused, if it isn't too damaged to tell. Nobody may open it while this runs: at the moment of the
    /// change he would go on with the old file, which has no name any more.
    ///
    /// An encrypted backup takes its key: see `StoreBuilder::restore_backup` of the feature `sqlcipher`.
    ///
    /// # Errors
    /// About the backup: [`NotAStore`](crate::ErrorKind::NotAStore),
    /// [`NewerVersion`](crate::ErrorKind::NewerVersion) or [`Corrupt`](crate::ErrorKind::Corrupt).
    /// About the target: [`Busy`](crate::ErrorKind::Busy) if it is open somewhere,
    /// [`NotAStore`](crate::ErrorKind::NotAStore) if it is something else. The target stays as it is
    /// then.
    ///
    /// ```
    /// use strandline::{Draft, ErrorKind, Host, MemoryStore};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let (path, backup) = (folder.path().join("memory.db"), folder.path().join("backup.db"));
    /// let store = MemoryStore::open(&path)?;
    /// let session = store.session("s-1", "agent").open()?;
    /// store.save(&session, Draft::new("k", "before"))?;
    /// store.host().backup(&backup, |_| ())?;
    /// store.save(&session, Draft::new("k", "after"))?;
    ///
    /// let in_use = Host::restore_backup(&backup, &path).unwrap_err();
    /// assert_eq!(in_use.kind(), ErrorKind::Busy);
    /// drop((session, store));
    /// Host::restore_backup(&backup, &path)?;
    /// let store = MemoryStore::open(&path)?;
    /// let session = store.session("s-1", "agent").open()?;
    /// assert_eq!(store.get(&session, "k")?.map(|m| m.content), Some("before".into()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn restore_backup(backup: impl AsRef<Path>, target: impl AsRef<Path>) -> Result<u64> {
        restore::restore(backup.as_ref(), target.as_ref(), &SqliteOptions::default())
    }
}
