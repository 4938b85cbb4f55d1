//! The store for programs that run on tokio.
//!
//! Feature `tokio`. [`AsyncStore`] has the verbs of a [`MemoryStore`] as async functions. What blocks
//! runs on the runtime's threads for blocking work, so no verb holds up a thread that polls futures,
//! not even the only one of a current-thread runtime.
//!
//! # How much at once
//!
//! At most [`WRITES_AT_ONCE`] writes, [`READS_AT_ONCE`] reads and [`HOST_JOBS_AT_ONCE`] jobs of the host
//! run at a time, in clones of one [`AsyncStore`] taken together. The next wait in the order in which they
//! came, and hold no thread. The three don't take each other's places: a search doesn't wait for a slow
//! writer, nor a save for a backup.
//!
//! A session's own calls wait for each other where its taint may change: a raise, or opening the session once more,
//! waits for its calls that came before, and those that come after wait for it. They wait before they take a
//! place, so no other session waits with them. They do wait in their places where the host raises the session by
//! [`Session::raise`], where another process raises it, and where its last raise couldn't be recorded, which they
//! try again.
//!
//! # Dropping a future
//!
//! A call is done whole or not at all, wherever its future is dropped:
//!
//! - before it has got its turn, nothing has happened and nothing will;
//! - afterwards it is carried out to its end, and only the answer is lost.
//!
//! So a write that was given up, by a timeout say, may still happen; read to find out. When the runtime is
//! shut down, what has begun runs to its end, and what hasn't begun never does. A job that panics is an
//! error of the kind [`Internal`](crate::ErrorKind::Internal), whose text doesn't repeat the panic's.
//!
//! # Observers and spans
//!
//! An [observer](crate::observe) is told in the thread that does the work, and the call's duration there doesn't count
//! the wait for its turn. A span of the feature `tracing` is inside the one that the caller is in.
//!
//! # What still blocks
//!
//! A [`Session`]'s own methods wait while it is being raised, which waits for its writes: use
//! [`taint`](AsyncStore::taint) and [`raise`](AsyncStore::raise) here instead. The last clone of a store
//! closes its file when it is dropped; [`close`](AsyncStore::close) does that elsewhere.

mod turns;

use std::path::PathBuf;

use serde_json::Value;

use crate::blocking::Blocking;
use crate::classification::Classification;
use crate::error::Result;
use crate::record::{Draft, Memory};
use crate::session::Session;
use crate::store::{Hit, Host, List, MemoryStore, Page, Search, SessionBuilder, StoreBuilder};
use crate::tools::{Persona, PersonaSection, ToolResult, Tools};
use turns::Turns;

/// How many writes of one store run at once. Those that meet share a commit.
pub const WRITES_AT_ONCE: usize = 16;

/// How many reads of one store run at once.
pub const READS_AT_ONCE: usize = 8;

/// How many jobs of the host run at once, such as backups.
pub const HOST_JOBS_AT_ONCE: usize = 2;

/// A [`MemoryStore`] whose verbs are async and never block the thread that polls them.
///
/// A clone is cheap, works on the same store and shares its [bounds](self). Errors are those of the
/// verbs of [`MemoryStore`], and:
/// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) outside a tokio runtime;
/// [`Internal`](crate::ErrorKind::Internal) if the job panicked, or if the runtime was shut down before
/// it began.
///
/// ```
/// use strandline::asynchronous::AsyncStore;
/// use strandline::{Classification, Draft, MemoryStore, Search};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// let store = AsyncStore::new(MemoryStore::open_in_memory()?);
/// let ledger = store.session("s-1", "agent").taint(Classification::Confidential);
/// let ledger = store.open_session(ledger).await?;
/// store.save(&ledger, Draft::new("salary", "Ada earns 5 doubloons")).await?;
///
/// let open = store.open_session(store.session("s-2", "agent")).await?;
/// assert!(store.get(&open, "salary").await?.is_none()); // above its taint
/// assert!(store.search(&open, Search::new("ada")).await?.is_empty());
/// assert_eq!(store.search(&ledger, Search::new("ada")).await?.len(), 1);
/// # Ok::<(), strandline::Error>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct AsyncStore {
    store: MemoryStore,
    reads: Blocking,
    writes: Blocking,
    host: Blocking,
    turns: Turns,
}

impl AsyncStore {
    /// An async store over this one. A second one made of the same store has bounds of its own.
    ///
    /// ```
    /// use strandline::MemoryStore;
    /// use strandline::asynchronous::AsyncStore;
    ///
    /// let store = AsyncStore::new(MemoryStore::open_in_memory()?);
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn new(store: MemoryStore) -> Self {
        Self {
            store,
            reads: Blocking::new(READS_AT_ONCE),
            writes: Blocking::new(WRITES_AT_ONCE),
            host: Blocking::new(HOST_JOBS_AT_ONCE),
            turns: Turns::default(),
        }
    }

    /// Does what a session asks for when it is its turn. The turn goes with the job, as its place does.
    async fn within<T, F>(&self, bound: &Blocking, session: &Session, job: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&MemoryStore, &Session) -> T + Send + 'static,
    {
        let turn = self.turns.with_others(session.id()).await;
        let (store, session) = (self.store.clone(), session.clone());
        let job = move || {
            let _turn = turn;
            job(&store, &session)
        };
        bound.run(job).await
    }

    /// Opens the SQLite file at `path`, or creates it, as [`StoreBuilder::open`] does.
    ///
    /// # Errors
    /// Those of [`StoreBuilder::open`], and of [`AsyncStore`].
    ///
    /// ```
    /// use strandline::asynchronous::AsyncStore;
    /// use strandline::MemoryStore;
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    /// # runtime.block_on(async {
    /// let folder = tempfile::tempdir().expect("a folder");
    /// let path = folder.path().join("memory.db");
    /// let store = AsyncStore::open(MemoryStore::builder(), &path).await?;
    /// store.close().await?;
    /// # Ok::<(), strandline::Error>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn open(builder: StoreBuilder, path: impl Into<PathBuf>) -> Result<Self> {
        let path = path.into();
        let store = Blocking::new(1).run(move || builder.open(path)).await??;
        Ok(Self::new(store))
    }

    /// Drops this handle where closing the file may take its time.
    ///
    /// The file is closed with the last handle, clone and session of the store; drop those before.
    ///
    /// # Errors
    /// Those of [`AsyncStore`] only.
    ///
    /// ```
    /// use strandline::asynchronous::AsyncStore;
    /// use strandline::MemoryStore;
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    /// # runtime.block_on(async {
    /// let store = AsyncStore::new(MemoryStore::open_in_memory()?);
    /// store.close().await?;
    /// # Ok::<(), strandline::Error>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn close(self) -> Result<()> {
        let Self { store, host, .. } = self;
        host.run(move || drop(store)).await
    }

    /// The options of a session, for [`open_session`](Self::open_session). It doesn't block.
    ///
    /// ```
    /// use strandline::asynchronous::AsyncStore;
    /// use strandline::{Classification, MemoryStore};
    ///
    /// let store = AsyncStore::new(MemoryStore::open_in_memory()?);
    /// let options = store.session("s-1", "agent").taint(Classification::Internal);
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn session(&self, id: impl Into<String>, agent: impl Into<String>) -> SessionBuilder {
        self.store.session(id, agent)
    }

    /// Opens or resumes a session.
    ///
    /// # Errors
    /// Those of [`SessionBuilder::open`], and of [`AsyncStore`].
    ///
    /// ```
    /// use strandline::asynchronous::AsyncStore;
    /// use strandline::{Classification, MemoryStore};
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    /// # runtime.block_on(async {
    /// let store = AsyncStore::new(MemoryStore::open_in_memory()?);
    /// let session = store.open_session(store.session("s-1", "agent")).await?;
    /// assert_eq!(store.taint(&session).await?, Classification::Public);
    /// # Ok::<(), strandline::Error>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn open_session(&self, session: SessionBuilder) -> Result<Session> {
        let turn = match session.id() {
            Some(id) => Some(self.turns.alone(&id).await),
            None => None,
        };
        let job = move || {
            let _turn = turn;
            session.open()
        };
        self.writes.run(job).await?
    }

    /// The session's taint now; it waits while the session is being raised.
    ///
    /// # Errors
    /// Those of [`AsyncStore`] only.
    ///
    /// ```
    /// use strandline::asynchronous::AsyncStore;
    /// use strandline::{Classification, MemoryStore};
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    /// # runtime.block_on(async {
    /// let store = AsyncStore::new(MemoryStore::open_in_memory()?);
    /// let session = store.open_session(store.session("s-1", "agent")).await?;
    /// store.raise(&session, Classification::Internal, "opened the directory").await?;
    /// assert_eq!(store.taint(&session).await?, Classification::Internal);
    /// # Ok::<(), strandline::Error>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn taint(&self, session: &Session) -> Result<Classification> {
        let job = |_: &MemoryStore, session: &Session| session.taint();
        self.within(&self.reads, session, job).await
    }

    /// Raises the session's taint, as [`Session::raise`] does. Await it before you show the session
    /// anything of that level.
    ///
    /// # Errors
    /// Those of [`Session::raise`], and of [`AsyncStore`].
    ///
    /// ```
    /// use strandline::asynchronous::AsyncStore;
    /// use strandline::{Classification, Draft, MemoryStore};
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    /// # runtime.block_on(async {
    /// let store = AsyncStore::new(MemoryStore::open_in_memory()?);
    /// let session = store.open_session(store.session("s-1", "agent")).await?;
    /// store.raise(&session, Classification::Confidential, "opened the ledger").await?;
    /// let saved = store.save(&session, Draft::new("k", "v")).await?;
    /// assert_eq!(saved.classification, Classification::Confidential);
    /// # Ok::<(), strandline::Error>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn raise(
        &self,
        session: &Session,
        level: Classification,
        reason: impl Into<String>,
    ) -> Result<Classification> {
        let turn = self.turns.alone(session.id()).await;
        let (session, reason) = (session.clone(), reason.into());
        let job = move || {
            let _turn = turn;
            session.raise(level, &reason)
        };
        self.writes.run(job).await?
    }

    /// Saves a memory at the session's taint, as [`MemoryStore::save`] does.
    ///
    /// # Errors
    /// Those of [`MemoryStore::save`], and of [`AsyncStore`].
    ///
    /// ```
    /// use strandline::asynchronous::AsyncStore;
    /// use strandline::{Draft, MemoryStore};
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    /// # runtime.block_on(async {
    /// let store = AsyncStore::new(MemoryStore::open_in_memory()?);
    /// let session = store.open_session(store.session("s-1", "agent")).await?;
    /// let saved = store.save(&session, Draft::new("user-name", "Ada")).await?;
    /// assert_eq!(saved.version, 1);
    /// # Ok::<(), strandline::Error>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn save(&self, session: &Session, draft: Draft) -> Result<Memory> {
        let job = move |store: &MemoryStore, session: &Session| store.save(session, draft);
        self.within(&self.writes, session, job).await?
    }

    /// Saves several memories, all or none, as [`MemoryStore::save_all`] does.
    ///
    /// # Errors
    /// Those of [`MemoryStore::save_all`], and of [`AsyncStore`].
    ///
    /// ```
    /// use strandline::asynchronous::AsyncStore;
    /// use strandline::{Draft, MemoryStore};
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    /// # runtime.block_on(async {
    /// let store = AsyncStore::new(MemoryStore::open_in_memory()?);
    /// let session = store.open_session(store.session("s-1", "agent")).await?;
    /// let drafts = vec![Draft::new("a", "1"), Draft::new("b", "2")];
    /// assert_eq!(store.save_all(&session, drafts).await?.len(), 2);
    /// # Ok::<(), strandline::Error>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn save_all(&self, session: &Session, drafts: Vec<Draft>) -> Result<Vec<Memory>> {
        let job = move |store: &MemoryStore, session: &Session| store.save_all(session, drafts);
        self.within(&self.writes, session, job).await?
    }

    /// The memory under the key that the session sees, as [`MemoryStore::get`] does.
    ///
    /// # Errors
    /// Those of [`MemoryStore::get`], and of [`AsyncStore`].
    ///
    /// ```
    /// use strandline::asynchronous::AsyncStore;
    /// use strandline::{Classification, Draft, MemoryStore};
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    /// # runtime.block_on(async {
    /// let store = AsyncStore::new(MemoryStore::open_in_memory()?);
    /// let session = store.open_session(store.session("s-1", "agent")).await?;
    /// let high = store.session("s-2", "agent").taint(Classification::Internal);
    /// let high = store.open_session(high).await?;
    /// store.save(&high, Draft::new("salary", "5 doubloons")).await?;
    /// assert!(store.get(&session, "salary").await?.is_none());
    /// # Ok::<(), strandline::Error>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn get(&self, session: &Session, key: impl Into<String>) -> Result<Option<Memory>> {
        let key = key.into();
        let job = move |store: &MemoryStore, session: &Session| store.get(session, &key);
        self.within(&self.reads, session, job).await?
    }

    /// Full-text search over what the session sees, as [`MemoryStore::search`] does.
    ///
    /// # Errors
    /// Those of [`MemoryStore::search`], and of [`AsyncStore`].
    ///
    /// ```
    /// use strandline::asynchronous::AsyncStore;
    /// use strandline::{Classification, Draft, MemoryStore, Search};
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    /// # runtime.block_on(async {
    /// let store = AsyncStore::new(MemoryStore::open_in_memory()?);
    /// let session = store.open_session(store.session("s-1", "agent")).await?;
    /// let high = store.session("s-2", "agent").taint(Classification::Internal);
    /// let high = store.open_session(high).await?;
    /// store.save(&high, Draft::new("salary", "5 doubloons")).await?;
    /// assert!(store.search(&session, Search::new("doubloons")).await?.is_empty());
    /// # Ok::<(), strandline::Error>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn search(&self, session: &Session, search: Search) -> Result<Vec<Hit>> {
        let job = move |store: &MemoryStore, session: &Session| store.search(session, search);
        self.within(&self.reads, session, job).await?
    }

    /// A page of what the session sees, as [`MemoryStore::list`] does.
    ///
    /// # Errors
    /// Those of [`MemoryStore::list`], and of [`AsyncStore`].
    ///
    /// ```
    /// use strandline::asynchronous::AsyncStore;
    /// use strandline::{Classification, Draft, List, MemoryStore};
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    /// # runtime.block_on(async {
    /// let store = AsyncStore::new(MemoryStore::open_in_memory()?);
    /// let session = store.open_session(store.session("s-1", "agent")).await?;
    /// let high = store.session("s-2", "agent").taint(Classification::Internal);
    /// let high = store.open_session(high).await?;
    /// store.save(&high, Draft::new("salary", "5 doubloons")).await?;
    /// assert!(store.list(&session, List::default()).await?.memories.is_empty());
    /// # Ok::<(), strandline::Error>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn list(&self, session: &Session, list: List) -> Result<Page> {
        let job = move |store: &MemoryStore, session: &Session| store.list(session, list);
        self.within(&self.reads, session, job).await?
    }

    /// Deletes, softly, the memory under the key at the session's level, as [`MemoryStore::delete`] does.
    ///
    /// # Errors
    /// Those of [`MemoryStore::delete`], and of [`AsyncStore`].
    ///
    /// ```
    /// use strandline::asynchronous::AsyncStore;
    /// use strandline::{Draft, ErrorKind, MemoryStore};
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    /// # runtime.block_on(async {
    /// let store = AsyncStore::new(MemoryStore::open_in_memory()?);
    /// let session = store.open_session(store.session("s-1", "agent")).await?;
    /// store.save(&session, Draft::new("k", "v")).await?;
    /// store.delete(&session, "k").await?;
    /// assert_eq!(store.delete(&session, "k").await.unwrap_err().kind(), ErrorKind::NotFound);
    /// # Ok::<(), strandline::Error>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn delete(&self, session: &Session, key: impl Into<String>) -> Result<()> {
        let key = key.into();
        let job = move |store: &MemoryStore, session: &Session| store.delete(session, &key);
        self.within(&self.writes, session, job).await?
    }

    /// Runs a model's tool call, as [`Tools::call`] does. `None`: there is no such tool.
    ///
    /// # Errors
    /// Those of [`AsyncStore`] only; what went wrong in the call is in the [`ToolResult`].
    ///
    /// ```
    /// use strandline::asynchronous::AsyncStore;
    /// use strandline::{Classification, Draft, MemoryStore};
    /// use serde_json::json;
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    /// # runtime.block_on(async {
    /// let store = AsyncStore::new(MemoryStore::open_in_memory()?);
    /// let session = store.open_session(store.session("s-1", "agent")).await?;
    /// let high = store.session("s-2", "agent").taint(Classification::Internal);
    /// let high = store.open_session(high).await?;
    /// store.save(&high, Draft::new("salary", "5 doubloons")).await?;
    /// let got = store.call(&session, "memory_get", json!({"key": "salary"})).await?;
    /// let got = got.expect("one of the five");
    /// assert_eq!(got.output, json!({"found": false, "key": "salary"}));
    /// # Ok::<(), strandline::Error>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn call(
        &self,
        session: &Session,
        name: impl Into<String>,
        arguments: impl Into<Value>,
    ) -> Result<Option<ToolResult>> {
        let (name, arguments) = (name.into(), arguments.into());
        let is_write = matches!(name.as_str(), "memory_save" | "memory_delete");
        let bound = if is_write { &self.writes } else { &self.reads };
        let job = move |store: &MemoryStore, session: &Session| {
            Tools::new(store.clone()).call(session, &name, arguments)
        };
        self.within(bound, session, job).await
    }

    /// The persona section of a prompt, as [`Persona::load`] makes it.
    ///
    /// # Errors
    /// Those of [`Persona::load`], and of [`AsyncStore`].
    ///
    /// ```
    /// use strandline::asynchronous::AsyncStore;
    /// use strandline::tools::Persona;
    /// use strandline::{Classification, Draft, MemoryStore};
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    /// # runtime.block_on(async {
    /// let store = AsyncStore::new(MemoryStore::open_in_memory()?);
    /// let session = store.open_session(store.session("s-1", "agent")).await?;
    /// let high = store.session("s-2", "agent").taint(Classification::Internal);
    /// let high = store.open_session(high).await?;
    /// store.save(&high, Draft::new("salary", "5 doubloons").tag("rule")).await?;
    /// assert_eq!(store.persona(&session, Persona::new()).await?.included, 0);
    /// # Ok::<(), strandline::Error>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn persona(&self, session: &Session, persona: Persona) -> Result<PersonaSection> {
        let job = move |store: &MemoryStore, session: &Session| persona.load(store, session);
        self.within(&self.reads, session, job).await?
    }

    /// Runs a job of the host's, such as a backup, an export or an erasure, with the
    /// [host's handle](Host).
    ///
    /// It is bounded apart from the sessions' verbs, so a long job holds none of them up.
    ///
    /// # Errors
    /// Those of the job, and of [`AsyncStore`].
    ///
    /// ```
    /// use strandline::asynchronous::AsyncStore;
    /// use strandline::{Draft, MemoryStore};
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    /// # runtime.block_on(async {
    /// let store = AsyncStore::new(MemoryStore::open_in_memory()?);
    /// let session = store.open_session(store.session("s-1", "agent")).await?;
    /// store.save(&session, Draft::new("k", "v")).await?;
    /// let erased = store.host(|host| host.erase("agent", "k")).await?;
    /// assert!(store.get(&session, "k").await?.is_none());
    /// let problems = store.host(|host| host.check()).await?;
    /// assert!(problems.is_empty());
    /// # Ok::<(), strandline::Error>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn host<T, F>(&self, job: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Host) -> Result<T> + Send + 'static,
    {
        let this = self.store.clone();
        self.host.run(move || job(&this.host())).await?
    }
}
