//! The provider over one SQLite file.
//!
//! One connection writes, in `BEGIN IMMEDIATE` transactions that the threads share (see `group`); a small pool of others reads, each read
//! in one snapshot. The file is in WAL mode, so readers and the writer don't wait for each other, and
//! several processes may share it. Where a search, a save or a deletion finds the index damaged, it
//! makes the index anew from the records, in one transaction, and tries once more.

mod error;
mod group;
mod index;
mod layout;
mod open;
mod pool;
mod read;
mod reindex;
mod rows;
mod schema;
mod search;
mod stats;
#[cfg(test)]
mod tests;
mod unindexed;
mod write;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};

use super::{
    Deletion, Hit, ListPage, ListRequest, NewRecord, SearchRequest, Stats, StorageProvider, Version,
};
use crate::audit;
use crate::error::Result;
use crate::policy::{HostGrant, ReadGrant, WriteGrant};
use crate::record::{Memory, MemoryKey};
use error::is_index_damage;
use pool::Pool;

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
#[derive(Clone, Debug)]
pub struct SqliteOptions {
    /// What an acknowledged write survives. Default [`Durability::Full`].
    pub durability: Durability,
    /// How long to wait for another connection. Default 30 seconds.
    pub busy_timeout: Duration,
    /// Whether to make the folders of the path that don't exist, open to their owner only. Default
    /// no.
    pub create_folders: bool,
    /// Whom to tell how far it has come when the search index is made anew. Default nobody.
    pub on_reindex: OnReindex,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self {
            durability: Durability::Full,
            busy_timeout: Duration::from_secs(30),
            create_folders: false,
            on_reindex: OnReindex::default(),
        }
    }
}

/// Records in a SQLite file.
///
/// [`MemoryStore::open`](crate::MemoryStore::open) makes one; use it directly to wrap it in a
/// provider of your own.
///
/// ```
/// use std::sync::Arc;
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
    on_reindex: OnReindex,
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
        let (path, writer, is_whole) = open::open(path.as_ref(), options)?;
        let pool = Pool::new(path.clone(), options.clone(), writer);
        let on_reindex = options.on_reindex.clone();
        if !is_whole {
            reindex::finish(&pool, &on_reindex).map_err(|error| open::named(&path, &error))?;
        }
        Ok(Self {
            path,
            pool,
            on_reindex,
        })
    }

    /// Runs `work`; where it finds the index damaged, makes the index anew and runs it once more.
    fn with_sound_index<T>(&self, work: impl Fn() -> Result<T>) -> Result<T> {
        match work() {
            Err(error) if is_index_damage(&error) => {
                self.pool.write(reindex::restart)?;
                // Nobody is told: a save or a delete holds its session's taint meanwhile.
                reindex::finish(&self.pool, &OnReindex::default())?;
                work()
            }
            done => done,
        }
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
        self.with_sound_index(|| self.pool.snapshot(|db| search::search(db, grant, request)))
    }

    fn save(&self, grant: &WriteGrant<'_>, records: &[NewRecord]) -> Result<Vec<Memory>> {
        // Here, and not where one thread at a time writes.
        let save = Arc::new((grant.writing().clone(), write::analyse(records)));
        self.with_sound_index(|| {
            let save = Arc::clone(&save);
            self.pool
                .write_together(move |db| write::save(db, &save.0, &save.1))
        })
    }

    fn delete(&self, grant: &WriteGrant<'_>, key: &MemoryKey) -> Result<Deletion> {
        self.with_sound_index(|| {
            let (writing, key) = (grant.writing().clone(), key.clone());
            self.pool
                .write_together(move |db| write::delete(db, &writing, &key))
        })
    }

    fn append(&self, event: &audit::Event) -> Result<()> {
        let facts = event.facts().clone();
        self.pool
            .write_together(move |db| write::append(db, &facts))
    }

    fn history(&self, grant: &HostGrant, key: &MemoryKey) -> Result<Vec<Version>> {
        self.pool.snapshot(|db| read::history(db, grant, key))
    }

    fn audit(&self, _grant: &HostGrant, query: &audit::Query) -> Result<Vec<audit::Entry>> {
        self.pool.read(|db| read::audit(db, query))
    }

    fn reindex(&self, _grant: &HostGrant) -> Result<u64> {
        reindex::run(&self.pool, &self.on_reindex)
    }

    fn stats(&self, grant: &HostGrant, now: DateTime<Utc>) -> Result<Stats> {
        self.pool
            .snapshot(|db| stats::stats(db, &self.path, grant, now))
    }
}
