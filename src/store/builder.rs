//! How a store and a session are opened.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::MemoryStore;
use crate::classification::Classification;
use crate::clock::{Clock, SystemClock};
use crate::error::Result;
use crate::observe::{Observer, Observers, Operation};
use crate::policy::{Gate, Reads, Rule};
use crate::record::Limits;
use crate::search::analysis::Language;
use crate::session::Session;
use crate::storage::{
    Durability, InMemory, OnReindex, OnRepair, Reindexing, Sqlite, SqliteOptions, StorageProvider,
};

/// The options of a store. Made by [`MemoryStore::builder`].
///
/// ```
/// use std::time::Duration;
/// use strandline::storage::Durability;
/// use strandline::MemoryStore;
///
/// let folder = tempfile::tempdir()?;
/// let store = MemoryStore::builder()
///     .durability(Durability::Normal)
///     .busy_timeout(Duration::from_secs(5))
///     .open(folder.path().join("memory.db"))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct StoreBuilder {
    limits: Limits,
    clock: Arc<dyn Clock>,
    rules: Vec<Arc<dyn Rule>>,
    neighbours: bool,
    reads: Reads,
    observers: Observers,
    pub(super) sqlite: SqliteOptions,
}

impl StoreBuilder {
    pub(super) fn new() -> Self {
        Self {
            limits: Limits::default(),
            clock: Arc::new(SystemClock),
            rules: Vec::new(),
            neighbours: true,
            reads: Reads::default(),
            observers: Observers::default(),
            sqlite: SqliteOptions::default(),
        }
    }

    /// How large things may be.
    ///
    /// ```
    /// use strandline::{Draft, Limits, MemoryStore};
    ///
    /// let limits = Limits { key_bytes: 8, ..Limits::default() };
    /// let store = MemoryStore::builder().limits(limits).open_in_memory()?;
    /// let session = store.session("s-1", "agent").open()?;
    /// assert!(store.save(&session, Draft::new("a long key", "v")).is_err());
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Where the time comes from; the machine's clock by default.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use chrono::{DateTime, Utc};
    /// use strandline::{Clock, MemoryStore};
    ///
    /// #[derive(Debug)]
    /// struct Epoch;
    /// impl Clock for Epoch {
    ///     fn now(&self) -> DateTime<Utc> {
    ///         DateTime::UNIX_EPOCH
    ///     }
    /// }
    ///
    /// let store = MemoryStore::builder().clock(Arc::new(Epoch)).open_in_memory()?;
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Adds a host rule, which can deny what the levels allow.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use strandline::policy::{Denial, Request, Rule};
    /// use strandline::{Draft, ErrorKind, MemoryStore};
    ///
    /// #[derive(Debug)]
    /// struct ReadOnly;
    /// impl Rule for ReadOnly {
    ///     fn judge(&self, request: &Request<'_>) -> Option<Denial> {
    ///         let saves = request.action == strandline::audit::Action::Save;
    ///         saves.then(|| Denial::new("this store is for reading"))
    ///     }
    /// }
    ///
    /// let store = MemoryStore::builder().rule(Arc::new(ReadOnly)).open_in_memory()?;
    /// let session = store.session("s-1", "agent").open()?;
    /// let error = store.save(&session, Draft::new("k", "v")).unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::Denied);
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn rule(mut self, rule: Arc<dyn Rule>) -> Self {
        self.rules.push(rule);
        self
    }

    /// Adds an observer, which is told of each call when it is over, in no word of a memory; see
    /// [`observe`](crate::observe).
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicU64, Ordering};
    /// use strandline::MemoryStore;
    /// use strandline::observe::{Call, Observer};
    ///
    /// #[derive(Debug, Default)]
    /// struct Calls(AtomicU64);
    /// impl Observer for Calls {
    ///     fn called(&self, _: &Call) {
    ///         self.0.fetch_add(1, Ordering::Relaxed);
    ///     }
    /// }
    ///
    /// let calls = Arc::new(Calls::default());
    /// let store = MemoryStore::builder().observer(calls.clone()).open_in_memory()?;
    /// store.session("s-1", "agent").open()?;
    /// assert_eq!(calls.0.load(Ordering::Relaxed), 1);
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observers.add(observer);
        self
    }

    /// Whether a search lets memories that one session saved next to each other lend each other
    /// score; yes by default.
    ///
    /// What was saved together is often about the same, as the turns of a conversation are: the
    /// question names what the answer doesn't repeat. Only what the session can see lends or gets
    /// anything. [`search`](crate::search#stage-3-neighbours) has the rule and what it gains.
    ///
    /// ```
    /// use strandline::{Draft, MemoryStore, Search};
    ///
    /// let best = |neighbours: bool| -> strandline::Result<String> {
    ///     let store = MemoryStore::builder().neighbours(neighbours).open_in_memory()?;
    ///     let session = store.session("s-1", "agent").open()?;
    ///     store.save(&session, Draft::new("1", "Ada was asked which tea she likes"))?;
    ///     store.save(&session, Draft::new("2", "Ada said jasmine"))?;
    ///     let other = store.session("s-2", "agent").open()?;
    ///     store.save(&other, Draft::new("3", "Ada is tall"))?;
    ///     let hits = store.search(&session, Search::new("Ada's tea"))?;
    ///     Ok(hits[1].memory.content.clone())
    /// };
    /// assert_eq!(best(true)?, "Ada said jasmine");
    /// assert_eq!(best(false)?, "Ada is tall"); // like the other one, but newer
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn neighbours(mut self, lend: bool) -> Self {
        self.neighbours = lend;
        self
    }

    /// Whether each get, search and list leaves an entry in the [audit](crate::audit), too; no by default.
    ///
    /// The entry is stored before the caller gets the result, so a read then takes as long as a save,
    /// and fails where nothing can be written. It says how many records came back; of a get the key and
    /// the version, too; never the query.
    ///
    /// ```
    /// use strandline::audit::{Action, Query};
    /// use strandline::{MemoryStore, Search};
    ///
    /// let store = MemoryStore::builder().audit_reads(true).open_in_memory()?;
    /// let session = store.session("s-1", "agent").open()?;
    /// store.search(&session, Search::new("who is Ada?"))?;
    /// let newest = &store.host().audit(&Query::default())?[0].facts;
    /// assert_eq!(newest.action, Action::Search);
    /// assert_eq!(newest.detail.as_deref(), Some("found 0"));
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn audit_reads(mut self, audit: bool) -> Self {
        self.reads.audit = audit;
        self
    }

    /// Whether to keep which versions each session has read, so that the host can trace the
    /// [lineage](crate::lineage) of what it saved later; no by default.
    ///
    /// The first time that a session gets a version, that is stored before the caller gets the result,
    /// so such a read takes as long as a save, and fails where nothing can be written. Reading the same
    /// again writes nothing. A save costs no more than without it.
    ///
    /// ```
    /// use strandline::lineage::{Trace, VersionId};
    /// use strandline::storage::Namespace;
    /// use strandline::{Draft, MemoryStore};
    ///
    /// let store = MemoryStore::builder().lineage(true).open_in_memory()?;
    /// let session = store.session("s-1", "agent").open()?;
    /// store.save(&session, Draft::new("notes", "Ada likes tea"))?;
    /// store.get(&session, "notes")?;
    /// let summary = store.save(&session, Draft::new("summary", "tea"))?;
    ///
    /// let summary = VersionId::of(Namespace::MEMORY, &summary);
    /// let sources = store.host().derived_from(&summary, &Trace::default())?;
    /// assert_eq!(sources.steps[0].origin.id.key.as_str(), "notes");
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn lineage(mut self, keep: bool) -> Self {
        self.reads.lineage = keep;
        self
    }

    /// The language that most memories are in, of those that share a script; without it a file keeps the
    /// one that it has, and a new store is for English.
    ///
    /// It decides which forms of a word a search takes for one, and which words of a question don't count;
    /// [`analysis`](crate::search::analysis) has the rules. Memories in other languages are still found.
    ///
    /// The language is one for the whole file. Opening it with another one makes the search index anew
    /// first, as for the index of an older release; others who have the file open then search in the new
    /// language, too. A store over a [provider of your own](Self::with_provider) has that one's language.
    ///
    /// ```
    /// use strandline::search::analysis::Language;
    /// use strandline::{Classification, Draft, MemoryStore, Search};
    ///
    /// let store = MemoryStore::builder().language(Language::German).open_in_memory()?;
    /// let session = store.session("s-1", "agent").open()?;
    /// store.save(&session, Draft::new("haus", "Die Häuser am See"))?;
    /// let above = store.session("s-2", "agent").taint(Classification::Internal).open()?;
    /// store.save(&above, Draft::new("plan", "Das Haus wird verkauft"))?;
    ///
    /// let hits = store.search(&session, Search::new("Wo ist das Haus?"))?;
    /// assert_eq!(hits.len(), 1); // not the plan
    /// assert_eq!(hits[0].memory.key.as_str(), "haus");
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn language(mut self, language: Language) -> Self {
        self.sqlite.language = Some(language);
        self
    }

    /// What an acknowledged write survives; [`Durability::Full`] by default.
    ///
    /// ```
    /// use strandline::MemoryStore;
    /// use strandline::storage::Durability;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let builder = MemoryStore::builder().durability(Durability::Normal);
    /// let store = builder.open(folder.path().join("memory.db"))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn durability(mut self, durability: Durability) -> Self {
        self.sqlite.durability = durability;
        self
    }

    /// How long to wait for another connection before [`Busy`](crate::ErrorKind::Busy); 30 seconds
    /// by default.
    ///
    /// ```
    /// use std::time::Duration;
    /// use strandline::MemoryStore;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let builder = MemoryStore::builder().busy_timeout(Duration::from_secs(2));
    /// let store = builder.open(folder.path().join("memory.db"))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn busy_timeout(mut self, timeout: Duration) -> Self {
        self.sqlite.busy_timeout = timeout;
        self
    }

    /// Makes the folders of the path that don't exist, open to their owner only.
    ///
    /// ```
    /// use strandline::MemoryStore;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("agents/main/memory.db");
    /// assert!(MemoryStore::open(&path).is_err());
    /// let store = MemoryStore::builder().create_folders().open(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create_folders(mut self) -> Self {
        self.sqlite.create_folders = true;
        self
    }

    /// Tells how far the store has come whenever it makes its search index anew: in
    /// [`open`](MemoryStore::open), for a file whose index an older release made or that is of another language, and in
    /// [`Host::reindex`](crate::Host::reindex).
    ///
    /// The function is called after each step, with no lock held, but not while a damaged index that a
    /// save, a delete or a search came upon is repaired; in the last call `done` equals
    /// `total`.
    ///
    /// ```
    /// use strandline::MemoryStore;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let store = MemoryStore::builder()
    ///     .on_reindex(|now| eprintln!("indexed {} of {}", now.done, now.total))
    ///     .open(folder.path().join("memory.db"))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_reindex(mut self, tell: impl Fn(Reindexing) + Send + Sync + 'static) -> Self {
        self.sqlite.on_reindex = OnReindex::new(tell);
        self
    }

    /// Warns each time that the store found its search index damaged and has made it anew. Nothing is lost
    /// by it, but something has damaged the file.
    ///
    /// A search notices when a part of the index is lost: a table, rows that lead to its terms, a segment, the
    /// counts; and what its blocks hold where that can't be right. A block whose bytes were exchanged for
    /// others that could be right, or a changed way to a term, it notices only when it finds nothing for it;
    /// [`Host::check`](crate::Host::check) always does. Lists and reads by key don't use that index.
    ///
    /// The function is called after the repair, in a thread of its own.
    ///
    /// ```
    /// use strandline::MemoryStore;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let store = MemoryStore::builder()
    ///     .on_repair(|| eprintln!("the search index was damaged and is made anew"))
    ///     .open(folder.path().join("memory.db"))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_repair(mut self, warn: impl Fn() + Send + Sync + 'static) -> Self {
        self.sqlite.on_repair = OnRepair::new(warn);
        self
    }

    /// Opens the file for reading only: it must be there, and no byte of it is changed.
    ///
    /// Every write fails with [`ReadOnly`](crate::ErrorKind::ReadOnly), and so does opening a session, which
    /// is recorded: read through a [view](crate::Host::view). No format is brought up to date and no index
    /// made anew: a store of an older release is refused, and a search in a damaged index is an error.
    ///
    /// Others may write meanwhile, and each read sees whole commits. For that SQLite needs its files `-wal` and
    /// `-shm` beside the store, and leaves them there, empty, if it made them. Where it can't make them the
    /// store is read by itself, which takes that no WAL is left; if a process writes to it after all, reads
    /// fail with [`Busy`](crate::ErrorKind::Busy).
    ///
    /// ```
    /// use strandline::{Classification, Draft, ErrorKind, MemoryStore};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("memory.db");
    /// let store = MemoryStore::open(&path)?;
    /// let high = store.session("s-1", "agent").taint(Classification::Internal).open()?;
    /// store.save(&high, Draft::new("plan", "secret"))?;
    ///
    /// let reader = MemoryStore::builder().read_only().open(&path)?;
    /// let view = reader.host().view("agent", Classification::Public)?;
    /// assert!(reader.get(&view, "plan")?.is_none()); // above the view
    /// let error = reader.session("s-2", "agent").open().unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::ReadOnly);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_only(mut self) -> Self {
        self.sqlite.read_only = true;
        self
    }

    /// Opens the SQLite file at `path`, or creates it.
    ///
    /// # Errors
    /// As [`MemoryStore::open`].
    ///
    /// ```
    /// use strandline::MemoryStore;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let store = MemoryStore::builder().open(folder.path().join("memory.db"))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(self, path: impl AsRef<Path>) -> Result<MemoryStore> {
        let provider = Sqlite::open(path, &self.sqlite)?;
        Ok(self.with_provider(Arc::new(provider)))
    }

    /// Makes a store that is gone when its last clone is dropped.
    ///
    /// # Errors
    /// None today; the signature leaves room.
    ///
    /// ```
    /// let store = strandline::MemoryStore::builder().open_in_memory()?;
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn open_in_memory(self) -> Result<MemoryStore> {
        let language = self.sqlite.language.unwrap_or_default();
        Ok(self.with_provider(Arc::new(InMemory::with_language(language))))
    }

    /// Makes a store over a provider of your own.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use strandline::MemoryStore;
    /// use strandline::storage::InMemory;
    ///
    /// let store = MemoryStore::builder().with_provider(Arc::new(InMemory::new()));
    /// ```
    pub fn with_provider(self, provider: Arc<dyn StorageProvider>) -> MemoryStore {
        MemoryStore::from_parts(
            Arc::new(Gate::new(
                provider,
                self.rules,
                self.clock,
                self.reads,
                self.observers,
            )),
            self.limits,
            self.neighbours,
        )
    }
}

/// The options of a session. Made by [`MemoryStore::session`].
///
/// ```
/// use strandline::{Classification, Draft, MemoryStore};
///
/// let store = MemoryStore::open_in_memory()?;
/// let high = store.session("s-1", "agent").taint(Classification::Confidential).open()?;
/// store.save(&high, Draft::new("pay", "5 doubloons"))?;
/// let low = store.session("s-2", "agent").ceiling(Classification::Internal).open()?;
/// assert!(store.get(&low, "pay")?.is_none());
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct SessionBuilder {
    gate: Arc<Gate>,
    id: String,
    agent: String,
    taint: Classification,
    ceiling: Classification,
}

impl SessionBuilder {
    pub(super) fn new(gate: Arc<Gate>, id: String, agent: String) -> Self {
        Self {
            gate,
            id,
            agent,
            taint: Classification::Public,
            ceiling: Classification::Restricted,
        }
    }

    /// The taint to start at, `PUBLIC` by default. A resumed session rises to it, and never falls.
    ///
    /// ```
    /// use strandline::{Classification, MemoryStore};
    ///
    /// let store = MemoryStore::open_in_memory()?;
    /// let session = store.session("s-1", "agent").taint(Classification::Internal).open()?;
    /// assert_eq!(session.taint(), Classification::Internal);
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn taint(mut self, taint: Classification) -> Self {
        self.taint = taint;
        self
    }

    /// The highest taint it may ever take on; none by default. A resumed session keeps a lower
    /// ceiling that it had. Where another process raises the session above it at the same moment, the
    /// session is at an end: nothing is read or written in it any more.
    ///
    /// ```
    /// use strandline::{Classification, MemoryStore};
    ///
    /// let store = MemoryStore::open_in_memory()?;
    /// let session = store.session("s-1", "agent").ceiling(Classification::Internal).open()?;
    /// assert!(session.raise(Classification::Restricted, "too high").is_err());
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn ceiling(mut self, ceiling: Classification) -> Self {
        self.ceiling = ceiling;
        self
    }

    /// The session's id, if it is one.
    #[cfg(feature = "tokio")]
    pub(crate) fn id(&self) -> Option<crate::SessionId> {
        self.id.parse().ok()
    }

    /// Opens the session, or resumes the one of this id.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) for an id that is empty or too long;
    /// [`SessionMismatch`](crate::ErrorKind::SessionMismatch) if the id belongs to another agent, or
    /// the session's taint is above the ceiling;
    /// [`CeilingExceeded`](crate::ErrorKind::CeilingExceeded) if the taint asked for is;
    /// [`Denied`](crate::ErrorKind::Denied) by a host rule; or an error of the storage.
    ///
    /// ```
    /// use strandline::{Classification, MemoryStore};
    ///
    /// let store = MemoryStore::open_in_memory()?;
    /// let session = store.session("s-1", "agent").taint(Classification::Internal).open()?;
    /// drop(session);
    /// let resumed = store.session("s-1", "agent").open()?;
    /// assert_eq!(resumed.taint(), Classification::Internal);
    /// assert!(store.session("s-1", "someone else").open().is_err());
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn open(self) -> Result<Session> {
        let observers = self.gate.observers();
        observers.watch(Operation::Open, None, None, |probe| {
            let (id, agent) = (self.id.parse()?, self.agent.parse()?);
            let session = self.gate.open(&id, &agent, self.taint, self.ceiling)?;
            probe.note(session.taint());
            Ok(session)
        })
    }
}
