//! Stores that are encrypted at rest.

use std::path::Path;

use super::StoreBuilder;
use crate::error::Result;
use crate::storage::EncryptionKey;
use crate::storage::sqlite::{rekey, restore};

impl StoreBuilder {
    /// The key of the file, which is encrypted with it: when it's made, with this one.
    ///
    /// The file, what SQLite keeps beside it, and [backups](crate::Host::backup) are encrypted, the latter with
    /// the same key. An [export](crate::Host::export) is not: its reader needs no key. Stores in memory and
    /// other providers have no key. Purges and erasures take as much memory as the file is large, so that
    /// nothing plain gets into a temporary file.
    ///
    /// A wrong key, a missing one, and one for a file that isn't encrypted are
    /// [`WrongKey`](crate::ErrorKind::WrongKey), and the file stays as it is. There's no way to its content
    /// without the key.
    ///
    /// ```
    /// use strandline::storage::EncryptionKey;
    /// use strandline::{Draft, ErrorKind, MemoryStore};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("memory.db");
    /// let key = EncryptionKey::raw(&[7; 32]); // from the system's keyring, say
    /// let store = MemoryStore::builder().key(key.clone()).open(&path)?;
    /// let session = store.session("s-1", "agent").open()?;
    /// store.save(&session, Draft::new("user-name", "Ada"))?;
    /// drop((session, store));
    ///
    /// let bytes = std::fs::read(&path)?;
    /// assert!(!bytes.windows(3).any(|window| window == b"Ada"));
    /// let refused = MemoryStore::open(&path).unwrap_err();
    /// assert_eq!(refused.kind(), ErrorKind::WrongKey);
    /// let other = EncryptionKey::raw(&[8; 32]);
    /// let refused = MemoryStore::builder().key(other).open(&path).unwrap_err();
    /// assert_eq!(refused.kind(), ErrorKind::WrongKey);
    ///
    /// let store = MemoryStore::builder().key(key).open(&path)?;
    /// let session = store.session("s-1", "agent").open()?;
    /// assert_eq!(store.get(&session, "user-name")?.map(|m| m.content), Some("Ada".into()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn key(mut self, key: EncryptionKey) -> Self {
        self.sqlite.key = Some(key);
        self
    }

    /// Puts a backup in place of a store as [`Host::restore_backup`](crate::Host::restore_backup) does, with
    /// this builder's key, which has to be that of both.
    ///
    /// A backup has the key that its store had when it was made. To restore one of an older key, give it the
    /// new one by [`rekey`](Self::rekey) first.
    ///
    /// # Errors
    /// As [`Host::restore_backup`](crate::Host::restore_backup);
    /// [`WrongKey`](crate::ErrorKind::WrongKey) if the key isn't that of the backup, or not that of the target,
    /// and the path that the message names says of which. The target stays as it is then.
    ///
    /// ```
    /// use strandline::storage::EncryptionKey;
    /// use strandline::{ErrorKind, MemoryStore};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let (path, backup) = (folder.path().join("memory.db"), folder.path().join("backup.db"));
    /// let builder = MemoryStore::builder().key(EncryptionKey::raw(&[7; 32]));
    /// builder.clone().open(&path)?.host().backup(&backup, |_| ())?;
    ///
    /// let other = MemoryStore::builder().key(EncryptionKey::raw(&[8; 32]));
    /// let refused = other.restore_backup(&backup, &path).unwrap_err();
    /// assert_eq!(refused.kind(), ErrorKind::WrongKey);
    /// builder.restore_backup(&backup, &path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn restore_backup(
        &self,
        backup: impl AsRef<Path>,
        target: impl AsRef<Path>,
    ) -> Result<u64> {
        restore::restore(backup.as_ref(), target.as_ref(), &self.sqlite)
    }

    /// Gives the store or backup at `path` another key than this builder's. Without a key of the builder's the file
    /// is a plain one, which is encrypted; `None` makes a plain one of it.
    ///
    /// The store must be closed everywhere, and nobody may open it meanwhile. It's copied and checked
    /// before the copy takes its place, so it takes as much space again, and a kill at any moment leaves a
    /// whole store of one of the two keys.
    ///
    /// What the disk held before stays where the file system leaves it until it's written over, as with any file
    /// that's removed: of a plain store, the plain text. Earlier backups keep their key.
    ///
    /// # Errors
    /// [`WrongKey`](crate::ErrorKind::WrongKey) if the builder's key isn't that of the file;
    /// [`Busy`](crate::ErrorKind::Busy) if the store is open somewhere;
    /// [`Corrupt`](crate::ErrorKind::Corrupt), [`NotAStore`](crate::ErrorKind::NotAStore) or
    /// [`NewerVersion`](crate::ErrorKind::NewerVersion) for what can't be copied as it is. What the
    /// store holds stays as it is then, under its old key; its WAL may have been brought into its file.
    ///
    /// ```
    /// use strandline::storage::EncryptionKey;
    /// use strandline::{Draft, ErrorKind, MemoryStore};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("memory.db");
    /// let store = MemoryStore::open(&path)?; // a plain one
    /// let session = store.session("s-1", "agent").open()?;
    /// store.save(&session, Draft::new("user-name", "Ada"))?;
    /// let key = EncryptionKey::passphrase("correct horse battery staple")?;
    /// let in_use = MemoryStore::builder().rekey(&path, Some(key.clone())).unwrap_err();
    /// assert_eq!(in_use.kind(), ErrorKind::Busy);
    /// drop((session, store));
    ///
    /// MemoryStore::builder().rekey(&path, Some(key.clone()))?;
    /// assert_eq!(MemoryStore::open(&path).unwrap_err().kind(), ErrorKind::WrongKey);
    /// let store = MemoryStore::builder().key(key).open(&path)?;
    /// let session = store.session("s-1", "agent").open()?;
    /// assert_eq!(store.get(&session, "user-name")?.map(|m| m.content), Some("Ada".into()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[expect(
        clippy::needless_pass_by_value,
        reason = "a key is handed over, as in `key`"
    )]
    pub fn rekey(&self, path: impl AsRef<Path>, new: Option<EncryptionKey>) -> Result<()> {
        rekey::rekey(path.as_ref(), self.sqlite.key(), new.as_ref())
    }
}
