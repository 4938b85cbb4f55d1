//! The provider over one SQLite file.
//!
//! One connection writes, in `BEGIN IMMEDIATE` transactions that the threads share (see `group`); a small pool of others reads, each read
//! in one snapshot. The file is in WAL mode, so readers and the writer don't wait for each other, and
//! several processes may share it. Where a search, a save or a deletion finds the index damaged, it
//! makes the index anew from the records, and tries once more. What is noticed when is in `watch`.

mod audit;
mod backup;
mod check;
mod erase;
mod error;
mod group;
mod import;
mod index;
mod key;
mod layout;
mod lineage;
mod mend;
pub(crate) mod open;
pub(crate) mod partial;
mod pool;
mod read;
mod read_only;
mod reindex;
#[cfg(feature = "sqlcipher")]
pub(crate) mod rekey;
mod repair;
pub(crate) mod restore;
mod rows;
mod schema;
mod search;
mod stats;
#[cfg(test)]
mod tests;
pub(crate) mod triggerfish;
mod unindexed;
mod watch;
mod write;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::{
    BackupProgress, Deletion, Erased, Erasure, Hit, Holding, Imported, ListPage, ListRequest,
    NewRecord, Problem, Restore, SearchRequest, Stats, StorageProvider, StoredVersion, Version,
};
use crate::audit::{Entry, Event, Query, Trail};
use crate::error::{Error, ErrorKind, Result};
use crate::lineage::{Origin, Reading, VersionId};
use crate::policy::{HostGrant, ReadGrant, WriteGrant};
use crate::record::{Memory, MemoryKey};
use crate::search::analysis::Language;
use index::{Index, State};
use pool::Pool;

#[cfg(not(feature = "sqlcipher"))]
use key::EncryptionKey;
#[cfg(feature = "sqlcipher")]
pub use key::EncryptionKey;

pub use repair::OnRepair;

/// What a write that was acknowledged survives.
///
/// Threads that write at once share commits, under either: while one waits for the disk the others'
/// writes queue up, and the next commit takes them all. Each is acknowledged only after the commit that
/// it is part of, and one that fails does so alone. No write waits for others to come, so a single thread
/// loses nothing by it. Processes don't share commits.
///
/// ```
/// use strandline::MemoryStore;
/// use strandline::storage::Durability;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("memory.db");
/// let store = MemoryStore::builder().durability(Durability::Normal).open(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Durability {
    /// The end of the process and the loss of power: each commit waits for the disk (`PRAGMA
    /// synchronous=FULL`).
    #[default]
    Full,
    /// The end of the process. After a loss of power the last commits may be missing, but the file is
    /// whole (`PRAGMA synchronous=NORMAL`).
    Normal,
}

/// How far a store has come in making its search index anew.
///
/// It is counted in stored versions of records, those included that aren't live and so aren't indexed.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use strandline::storage::Reindexing;
/// use strandline::{Draft, MemoryStore};
///
/// let folder = tempfile::tempdir()?;
/// let last = Arc::new(Mutex::new(None));
/// let seen = Arc::clone(&last);
/// let store = MemoryStore::builder()
///     .on_reindex(move |now: Reindexing| *seen.lock().unwrap() = Some(now))
///     .open(folder.path().join("memory.db"))?;
/// let session = store.session("s-1", "agent").open()?;
/// store.save(&session, Draft::new("k", "v"))?;
/// store.host().reindex()?;
/// let last = last.lock().unwrap().expect("it was told");
/// assert_eq!(last.done, last.total);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reindexing {
    /// How many versions it has gone through; 0 as long as the old index is being removed.
    pub done: u64,
    /// How many there are.
    pub total: u64,
}

/// Whom a store tells how far it has come in making its search index anew. The default is nobody.
///
/// ```
/// use strandline::storage::{OnReindex, SqliteOptions};
///
/// let options = SqliteOptions {
///     on_reindex: OnReindex::new(|now| eprintln!("{} of {}", now.done, now.total)),
///     ..SqliteOptions::default()
/// };
/// ```
#[derive(Clone, Default)]
pub struct OnReindex(Option<Arc<dyn Fn(Reindexing) + Send + Sync>>);

impl OnReindex {
    /// Calls the function after each step, with no lock or transaction held. In the last call `done`
    /// equals `total`.
    ///
    /// ```
    /// let silent = strandline::storage::OnReindex::new(|_| {});
    /// ```
    pub fn new(tell: impl Fn(Reindexing) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(tell)))
    }

    fn tell(&self, progress: Reindexing) {
        if let Some(tell) = &self.0 {
            tell(progress);
        }
    }
}

impl fmt::Debug for OnReindex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OnReindex").finish_non_exhaustive()
    }
}

/// The options of [`Sqlite::open`].
///
/// ```
/// use std::sync::Arc;
/// use std::time::Duration;
/// use strandline::MemoryStore;
/// use strandline::storage::{Sqlite, SqliteOptions};
///
/// let folder = tempfile::tempdir()?;
/// let options = SqliteOptions {
///     busy_timeout: Duration::from_secs(2),
///     create_folders: true,
///     ..SqliteOptions::default()
/// };
/// let sqlite = Sqlite::open(folder.path().join("agents/memory.db"), &options)?;
/// let store = MemoryStore::builder().with_provider(Arc::new(sqlite));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SqliteOptions {
    /// What an acknowledged write survives. Default [`Durability::Full`].
    pub durability: Durability,
    /// How long to wait for another connection. Default 30 seconds.
    pub busy_timeout: Duration,
    /// Whether to make the folders of the path that don't exist, open to their owner only. Default
    /// no.
    pub create_folders: bool,
    /// The language of the memories, by which a search finds forms of a word; default is the file's own,
    /// and English for a new file. Where it differs from the file's, the index is made anew.
    pub language: Option<Language>,
    /// Whom to tell how far it has come when the search index is made anew. Default nobody.
    pub on_reindex: OnReindex,
    /// Whom to warn that a damaged search index was made anew. Default nobody.
    pub on_repair: OnRepair,
    /// Whether to open the file for reading only; see
    /// [`StoreBuilder::read_only`](crate::StoreBuilder::read_only). Default no.
    pub read_only: bool,
    /// The key of the file, which is encrypted with it; `None`, the default, for a plain file.
    #[cfg(feature = "sqlcipher")]
    pub key: Option<EncryptionKey>,
}

impl SqliteOptions {
    #[cfg(feature = "sqlcipher")]
    pub(crate) fn key(&self) -> Option<&EncryptionKey> {
        self.key.as_ref()
    }

    #[cfg(not(feature = "sqlcipher"))]
    #[expect(clippy::unused_self, reason = "the same with the feature")]
    pub(crate) fn key(&self) -> Option<&EncryptionKey> {
        None
    }
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self {
            durability: Durability::Full,
            busy_timeout: Duration::from_secs(30),
            create_folders: false,
            language: None,
            on_reindex: OnReindex::default(),
            on_repair: OnRepair::default(),
            read_only: false,
            #[cfg(all(feature = "sqlcipher", not(test)))]
            key: None,
            // The unit tests run on encrypted files, too.
            #[cfg(all(feature = "sqlcipher", test))]
            key: Some(EncryptionKey::raw(&[1; 32])),
        }
    }
}

/// Records in a SQLite file.
///
/// [`MemoryStore::open`](crate::MemoryStore::open) makes one; use it directly to wrap it in a
/// provider of your own.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use strandline::MemoryStore;
/// use strandline::storage::{Sqlite, SqliteOptions};
///
/// let folder = tempfile::tempdir()?;
/// let sqlite = Sqlite::open(folder.path().join("memory.db"), &SqliteOptions::default())?;
/// let store = MemoryStore::builder().with_provider(Arc::new(sqlite));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Sqlite {
    path: PathBuf,
    pool: Pool,
    options: SqliteOptions,
    language: Arc<LastLanguage>,
    /// Held while a damaged index is made anew.
    repairing: Mutex<()>,
}

/// The language that the file was last seen to have. It saves analysing a text twice; what counts is what
/// the transaction that stores it finds.
#[derive(Debug)]
struct LastLanguage(AtomicU16);

impl LastLanguage {
    fn get(&self) -> Language {
        let number = self.0.load(Ordering::Relaxed);
        Language::of_number(number.into()).unwrap_or_default()
    }

    fn set(&self, language: Language) {
        self.0.store(language.number(), Ordering::Relaxed);
    }
}

impl Sqlite {
    /// Opens the file at `path`, or creates it.
    ///
    /// A file whose search index an older release made gets a new one first, as
    /// [`MemoryStore::open`](crate::MemoryStore::open) says.
    ///
    /// # Errors
    /// As [`MemoryStore::open`](crate::MemoryStore::open).
    ///
    /// ```
    /// use strandline::storage::{Sqlite, SqliteOptions};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let sqlite = Sqlite::open(folder.path().join("memory.db"), &SqliteOptions::default())?;
    /// assert!(Sqlite::open(folder.path(), &SqliteOptions::default()).is_err()); // a folder
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(path: impl AsRef<Path>, options: &SqliteOptions) -> Result<Self> {
        if options.read_only {
            return Self::open_to_read(path.as_ref(), options);
        }
        let (path, opened) = open::open(path.as_ref(), options)?;
        let index = opened.index;
        let pool = Pool::new(path.clone(), options.clone(), opened, None);
        if index != open::Index::Whole {
            reindex::finish(&pool, &options.on_reindex)
                .map_err(|error| open::named(&path, &error))?;
        }
        if index == open::Index::Lost {
            options.on_repair.warn();
        }
        Self::over(path, pool, options)
    }

    fn over(path: PathBuf, pool: Pool, options: &SqliteOptions) -> Result<Self> {
        let language = pool.read(|db| State::read(db)?.language())?;
        Ok(Self {
            path,
            pool,
            options: options.clone(),
            language: Arc::new(LastLanguage(AtomicU16::new(language.number()))),
            repairing: Mutex::new(()),
        })
    }

    fn open_to_read(path: &Path, options: &SqliteOptions) -> Result<Self> {
        let path = open::absolute(path)?;
        let refused = |error| {
            let error = key::explained(error, &path, options.key());
            open::named(&path, &error)
        };
        let (opened, frozen) = read_only::open(&path, options).map_err(refused)?;
        let pool = Pool::new(path.clone(), options.clone(), opened, frozen);
        let sqlite = Self::over(path, pool, options)?;
        if options
            .language
            .is_some_and(|language| language != sqlite.language.get())
        {
            let text = "the store's search index is of another language and has to be made anew first; \
                        open it for writing once";
            let error = Error::new(ErrorKind::ReadOnly, text);
            return Err(open::named(&sqlite.path, &error));
        }
        Ok(sqlite)
    }

    /// The file's absolute path.
    ///
    /// ```
    /// use strandline::storage::{Sqlite, SqliteOptions};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let sqlite = Sqlite::open(folder.path().join("memory.db"), &SqliteOptions::default())?;
    /// assert!(sqlite.path().ends_with("memory.db"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl StorageProvider for Sqlite {
    fn is_durable(&self) -> bool {
        true
    }

    fn get(&self, grant: &ReadGrant, key: &MemoryKey) -> Result<Option<Memory>> {
        self.pool.read(|db| read::get(db, grant, key))
    }

    fn list(&self, grant: &ReadGrant, request: &ListRequest) -> Result<ListPage> {
        self.pool.snapshot(|db| read::list(db, grant, request))
    }

    fn search(&self, grant: &ReadGrant, request: &SearchRequest) -> Result<Vec<Hit>> {
        let search = |db: &rusqlite::Connection| {
            watch::refuse_changed(db)?;
            let found = search::search(db, grant, request)?;
            repair::refuse_silence(db, grant, request, found)
        };
        self.with_sound_index(|| self.pool.snapshot(search))
    }

    fn save(&self, grant: &WriteGrant<'_>, records: &[NewRecord]) -> Result<Vec<Memory>> {
        // Here, and not where one thread at a time writes.
        let save = Arc::new((
            grant.writing().clone(),
            write::analyse(records, self.language.get()),
        ));
        self.with_sound_index(|| {
            let save = Arc::clone(&save);
            let language = Arc::clone(&self.language);
            self.pool.write_together(move |db| {
                language.set(Index::of(db)?.language());
                write::save(db, &save.0, &save.1)
            })
        })
    }

    fn delete(&self, grant: &WriteGrant<'_>, key: &MemoryKey) -> Result<Deletion> {
        self.with_sound_index(|| {
            let (writing, key) = (grant.writing().clone(), key.clone());
            self.pool
                .write_together(move |db| write::delete(db, &writing, &key))
        })
    }

    fn append(&self, event: &Event) -> Result<()> {
        let facts = event.facts().clone();
        self.pool
            .write_together(move |db| audit::append(db, &facts))
    }

    fn history(&self, grant: &HostGrant, key: &MemoryKey) -> Result<Vec<Version>> {
        self.history_page(grant, key, None, usize::MAX)
    }

    fn audit(&self, _grant: &HostGrant, query: &Query) -> Result<Vec<Entry>> {
        self.pool.read(|db| audit::audit(db, query))
    }

    fn reindex(&self, _grant: &HostGrant) -> Result<u64> {
        reindex::run(&self.pool, &self.options.on_reindex)
    }

    fn restore(&self, grant: &WriteGrant<'_>, request: &Restore) -> Result<Option<Memory>> {
        self.with_sound_index(|| {
            self.pool
                .write(|db| write::restore(db, grant.writing(), request))
        })
    }

    fn erase(&self, grant: &HostGrant, request: &Erasure) -> Result<Erased> {
        erase::run(self, grant, request)
    }

    fn history_page(
        &self,
        grant: &HostGrant,
        key: &MemoryKey,
        after: Option<Uuid>,
        limit: usize,
    ) -> Result<Vec<Version>> {
        self.pool
            .snapshot(|db| read::history(db, grant, key, after, limit))
    }

    fn check(&self, _grant: &HostGrant) -> Result<Vec<Problem>> {
        self.pool.apart(check::run)
    }

    fn trail(&self, _grant: &HostGrant, after: u64, limit: usize) -> Result<Trail> {
        self.pool.snapshot(|db| audit::trail(db, after, limit))
    }

    fn note_read(&self, reading: &Reading) -> Result<()> {
        if self.pool.snapshot(|db| lineage::is_known(db, reading))? {
            return Ok(());
        }
        self.pool.write(|db| lineage::note(db, reading))
    }

    fn sources(&self, _: &HostGrant, version: &VersionId, limit: usize) -> Result<Vec<Origin>> {
        self.pool
            .snapshot(|db| lineage::sources(db, version, limit))
    }

    fn derivations(&self, _: &HostGrant, version: &VersionId, limit: usize) -> Result<Vec<Origin>> {
        self.pool
            .snapshot(|db| lineage::derivations(db, version, limit))
    }

    fn versions(
        &self,
        _grant: &HostGrant,
        each: &mut dyn FnMut(StoredVersion, u64) -> Result<()>,
    ) -> Result<()> {
        self.pool.snapshot(|db| import::versions(db, each))
    }

    fn import(
        &self,
        _grant: &HostGrant,
        at: DateTime<Utc>,
        versions: &[StoredVersion],
    ) -> Result<Vec<Imported>> {
        let texts = import::analyse(versions, self.language.get());
        self.with_sound_index(|| self.pool.write(|db| import::import(db, at, &texts)))
    }

    fn backup(
        &self,
        _grant: &HostGrant,
        path: &Path,
        on_progress: &mut dyn FnMut(BackupProgress),
    ) -> Result<u64> {
        self.pool.refuse_read_only()?;
        backup::run(&self.pool, path, self.options.key(), on_progress)
    }

    fn holdings(&self, grant: &HostGrant, now: DateTime<Utc>) -> Result<Vec<Holding>> {
        self.pool.read(|db| stats::holdings(db, grant, now))
    }

    fn stats(&self, grant: &HostGrant, now: DateTime<Utc>) -> Result<Stats> {
        self.pool
            .snapshot(|db| stats::stats(db, &self.path, grant, now))
    }

    fn language(&self) -> Result<Language> {
        self.pool.read(|db| State::read(db)?.language())
    }
}
