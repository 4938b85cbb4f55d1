//! The one door: `MemoryStore` and its five verbs.

mod builder;
mod cursor;
#[cfg(feature = "sqlcipher")]
mod encrypted;
mod host;
mod query;
mod view;

use std::path::Path;
use std::sync::Arc;

pub use builder::{SessionBuilder, StoreBuilder};
pub use cursor::Cursor;
pub use host::Host;
pub use query::{Hit, List, Page, Search};

use crate::audit::Action;
use crate::classification::Classification;
use crate::error::{Error, ErrorKind, Result};
use crate::observe::{Observers, Operation, Probe, Told};
use crate::policy::{Act, Gate, ToolCall};
use crate::record::{Draft, Limits, Memory, check_limit, parse_key, parse_tag, validate};
use crate::search::Explainer;
use crate::search::analysis::Analysis;
use crate::session::Session;
use crate::storage::{self, Deletion, ListRequest, Namespace, NewRecord, SearchRequest};

/// A store of memories, and the only way to them.
///
/// Its five verbs take the [`Session`] that asks; the session's taint at that moment is the level
/// up to which it reads and at which it writes. A clone is cheap and is the same store. It can be
/// shared between threads.
///
/// ```
/// use strandline::{Classification, Draft, MemoryStore, Search};
///
/// let store = MemoryStore::open_in_memory()?;
/// let secret = store.session("s-1", "agent").taint(Classification::Confidential).open()?;
/// store.save(&secret, Draft::new("salary", "Ada earns 5 doubloons"))?;
///
/// let open = store.session("s-2", "agent").open()?;
/// store.save(&open, Draft::new("user-name", "Ada"))?;
/// assert!(store.get(&open, "salary")?.is_none()); // above its taint
/// assert_eq!(store.search(&open, Search::new("ada"))?.len(), 1);
/// assert_eq!(store.search(&secret, Search::new("ada"))?.len(), 2);
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct MemoryStore {
    gate: Arc<Gate>,
    limits: Limits,
    neighbours: bool,
    namespace: Namespace,
}

impl MemoryStore {
    /// Opens the SQLite file at `path`, or creates it, with the default options.
    ///
    /// The folder must exist. A new file can be read and written by its owner only. Several
    /// processes may have the same file open.
    ///
    /// If the file's search index is of an older release whose analysis of text differs, `open` makes
    /// it anew before it returns, in short transactions, and
    /// [tells](StoreBuilder::on_reindex) how far it has come. Others that open the file meanwhile take
    /// part. If it is interrupted, the next opening goes on from there. Processes of the older release
    /// that still have the file open get [`NewerVersion`](ErrorKind::NewerVersion) from then on when
    /// they search or write.
    ///
    /// # Errors
    /// [`InvalidArgument`](ErrorKind::InvalidArgument) for an empty path;
    /// [`NotAStore`](ErrorKind::NotAStore) if something else is there;
    /// [`NewerVersion`](ErrorKind::NewerVersion) if a later release wrote or indexed the file, which is
    /// then left as it was; [`ReadOnly`](ErrorKind::ReadOnly), [`Io`](ErrorKind::Io),
    /// [`Corrupt`](ErrorKind::Corrupt) or [`Busy`](ErrorKind::Busy) as they say.
    ///
    /// ```
    /// use strandline::{Draft, MemoryStore};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("memory.db");
    /// let store = MemoryStore::open(&path)?;
    /// let session = store.session("s-1", "agent").open()?;
    /// store.save(&session, Draft::new("k", "kept"))?;
    /// drop((session, store));
    ///
    /// let store = MemoryStore::open(&path)?;
    /// let next = store.session("s-2", "agent").open()?;
    /// assert_eq!(store.get(&next, "k")?.map(|memory| memory.content), Some("kept".into()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::builder().open(path)
    }

    /// A store that is gone when its last clone is dropped.
    ///
    /// # Errors
    /// None today; the signature leaves room.
    ///
    /// ```
    /// let store = strandline::MemoryStore::open_in_memory()?;
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn open_in_memory() -> Result<Self> {
        Self::builder().open_in_memory()
    }

    /// Opens a store with options.
    ///
    /// ```
    /// use strandline::{Limits, MemoryStore};
    ///
    /// let limits = Limits { max_results: 20, ..Limits::default() };
    /// let store = MemoryStore::builder().limits(limits).open_in_memory()?;
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn builder() -> StoreBuilder {
        StoreBuilder::new()
    }

    pub(crate) fn from_parts(gate: Arc<Gate>, limits: Limits, neighbours: bool) -> Self {
        Self {
            gate,
            limits,
            neighbours,
            namespace: Namespace::MEMORY,
        }
    }

    /// The same store, with its verbs on another namespace.
    ///
    /// # Errors
    /// [`InvalidArgument`](ErrorKind::InvalidArgument) for [`Namespace::SESSION`], which is the
    /// gate's own.
    ///
    /// ```
    /// use strandline::storage::Namespace;
    /// use strandline::{Draft, MemoryStore};
    ///
    /// let store = MemoryStore::open_in_memory()?;
    /// let session = store.session("s-1", "agent").open()?;
    /// store.namespace(Namespace::CRON)?.save(&session, Draft::new("nightly", "0 3 * * *"))?;
    /// assert!(store.get(&session, "nightly")?.is_none());
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn namespace(&self, namespace: Namespace) -> Result<Self> {
        if namespace == Namespace::SESSION {
            return Err(Error::invalid(
                "the namespace `session` is kept by the gate alone",
            ));
        }
        Ok(Self {
            namespace,
            ..self.clone()
        })
    }

    /// Opens the session of this id for this agent, or resumes it with the taint it had.
    ///
    /// ```
    /// use strandline::{Classification, MemoryStore};
    ///
    /// let store = MemoryStore::open_in_memory()?;
    /// let session = store
    ///     .session("s-1", "agent")
    ///     .taint(Classification::Internal)
    ///     .ceiling(Classification::Confidential)
    ///     .open()?;
    /// assert_eq!(session.taint(), Classification::Internal);
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn session(&self, id: impl Into<String>, agent: impl Into<String>) -> SessionBuilder {
        SessionBuilder::new(Arc::clone(&self.gate), id.into(), agent.into())
    }

    /// What the host may do and a session may not: history and audit at every level, and upkeep.
    ///
    /// Never hand it to a tool, nor show a session what came from it.
    ///
    /// ```
    /// use strandline::{Draft, MemoryStore};
    ///
    /// let store = MemoryStore::open_in_memory()?;
    /// let session = store.session("s-1", "agent").open()?;
    /// store.save(&session, Draft::new("k", "v"))?;
    /// store.delete(&session, "k")?;
    /// assert_eq!(store.host().history("agent", "k")?.len(), 1);
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn host(&self) -> Host {
        Host::new(Arc::clone(&self.gate), self.limits, self.namespace.clone())
    }

    /// Saves a memory at the session's taint, and returns it as stored.
    ///
    /// A live memory under the same key *at that level* is superseded; what the key holds at other
    /// levels stays as it is.
    ///
    /// # Errors
    /// [`InvalidArgument`](ErrorKind::InvalidArgument) or
    /// [`LimitExceeded`](ErrorKind::LimitExceeded) for a draft that can't be stored,
    /// [`Denied`](ErrorKind::Denied) by a host rule, or an error of the storage. Nothing is stored
    /// then.
    ///
    /// ```
    /// use strandline::{Classification, Draft, MemoryStore};
    ///
    /// let store = MemoryStore::open_in_memory()?;
    /// let session = store.session("s-1", "agent").taint(Classification::Internal).open()?;
    /// let saved = store.save(&session, Draft::new("user-name", "Ada").tag("persona"))?;
    /// assert_eq!(saved.classification, Classification::Internal);
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn save(&self, session: &Session, draft: Draft) -> Result<Memory> {
        self.watch(session, Operation::Save, |probe| {
            let record = validate(draft, &self.limits)?;
            self.gate
                .write(
                    session,
                    Act::new(Action::Save, &self.namespace)
                        .on(&record.key)
                        .seen_by(probe),
                    |grant| {
                        self.gate
                            .provider()
                            .save(grant, std::slice::from_ref(&record))
                    },
                )?
                .pop()
                .ok_or_else(|| Error::internal("the provider saved a record and returned none"))
        })
    }

    /// Saves many memories in one transaction: all of them, or none.
    ///
    /// # Errors
    /// As [`save`](Self::save); the message of a refused draft says which it was, counting from 0.
    ///
    /// ```
    /// use strandline::{Draft, MemoryStore};
    ///
    /// let store = MemoryStore::open_in_memory()?;
    /// let session = store.session("s-1", "agent").open()?;
    /// let drafts = (0..3).map(|i| Draft::new(format!("k{i}"), "one of three"));
    /// assert_eq!(store.save_all(&session, drafts)?.len(), 3);
    ///
    /// let bad = [Draft::new("k4", "fine"), Draft::new("", "no key")];
    /// assert!(store.save_all(&session, bad).is_err());
    /// assert!(store.get(&session, "k4")?.is_none());
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn save_all(
        &self,
        session: &Session,
        drafts: impl IntoIterator<Item = Draft>,
    ) -> Result<Vec<Memory>> {
        self.watch(session, Operation::SaveAll, |probe| {
            let mut records: Vec<NewRecord> = Vec::new();
            let mut bytes = 0_usize;
            for (index, draft) in drafts.into_iter().enumerate() {
                check_limit(
                    "drafts",
                    index.saturating_add(1),
                    self.limits.batch,
                    "batch",
                )?;
                let record = validate(draft, &self.limits)
                    .map_err(|error| Error::new(error.kind(), format!("draft {index}: {error}")))?;
                bytes = bytes.saturating_add(record.text_bytes());
                check_limit("drafts", bytes, self.limits.batch_bytes, "batch_bytes")?;
                records.push(record);
            }
            if records.is_empty() {
                return Ok(Vec::new());
            }
            let act = Act::new(Action::Save, &self.namespace).seen_by(probe);
            self.gate.write(session, act, |grant| {
                for record in &records {
                    self.gate.judge_write(grant, act.on(&record.key))?;
                }
                self.gate.provider().save(grant, &records)
            })
        })
    }

    /// The memory under the key that this session can see: of the levels it may read, the highest.
    ///
    /// `None` both where there is none and where there is only one above the session's taint.
    ///
    /// # Errors
    /// [`InvalidArgument`](ErrorKind::InvalidArgument) or
    /// [`LimitExceeded`](ErrorKind::LimitExceeded) for a key that can't exist,
    /// [`Denied`](ErrorKind::Denied) by a host rule, or an error of the storage.
    ///
    /// ```
    /// use strandline::{Classification, Draft, MemoryStore};
    ///
    /// let store = MemoryStore::open_in_memory()?;
    /// let low = store.session("s-1", "agent").open()?;
    /// let high = store.session("s-2", "agent").taint(Classification::Internal).open()?;
    /// store.save(&low, Draft::new("user-name", "Ada"))?;
    /// store.save(&high, Draft::new("user-name", "Ada Lovelace"))?;
    /// assert_eq!(store.get(&low, "user-name")?.map(|m| m.content), Some("Ada".into()));
    /// assert_eq!(store.get(&high, "user-name")?.map(|m| m.content), Some("Ada Lovelace".into()));
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn get(&self, session: &Session, key: &str) -> Result<Option<Memory>> {
        self.watch(session, Operation::Get, |probe| {
            let key = parse_key(key, &self.limits)?;
            let act = Act::new(Action::Get, &self.namespace)
                .on(&key)
                .seen_by(probe);
            let grant = self.gate.read(session, act)?;
            let found = self.gate.provider().get(&grant, &key)?;
            self.gate.note_read(session, act, &grant, &found)?;
            Ok(found)
        })
    }

    /// Searches every memory that this session can see, best first.
    ///
    /// Key, tags and content are searched. Any word may match; a text without a word finds nothing.
    /// How text becomes terms and how they score is said in [`search`](crate::search).
    ///
    /// # Errors
    /// [`InvalidArgument`](ErrorKind::InvalidArgument) for `max_results` 0,
    /// [`LimitExceeded`](ErrorKind::LimitExceeded) for a query that is too long,
    /// [`Denied`](ErrorKind::Denied) by a host rule, or an error of the storage. No text of a query
    /// is an error in itself.
    ///
    /// ```
    /// use strandline::{Classification, Draft, MemoryStore, Search};
    ///
    /// let store = MemoryStore::open_in_memory()?;
    /// let low = store.session("s-1", "agent").open()?;
    /// let high = store.session("s-2", "agent").taint(Classification::Restricted).open()?;
    /// store.save(&low, Draft::new("bot", "Telegram bot visibility limit"))?;
    /// store.save(&high, Draft::new("bot-token", "the telegram bot's token is 12345"))?;
    /// let hits = store.search(&low, Search::new("why can't the bot see messages?"))?;
    /// assert_eq!(hits.len(), 1); // not the token
    /// assert_eq!(hits[0].memory.key.as_str(), "bot");
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn search(&self, session: &Session, search: Search) -> Result<Vec<Hit>> {
        self.watch(session, Operation::Search, |probe| {
            let Search {
                query,
                max_results,
                explain,
            } = search;
            check_limit("query", query.len(), self.limits.query_bytes, "query_bytes")?;
            if max_results == 0 {
                return Err(Error::invalid(
                    "`max_results` must be a whole number of at least 1",
                ));
            }
            let act = Act::new(Action::Search, &self.namespace).seen_by(probe);
            let grant = self.gate.read(session, act)?;
            let limit = max_results.min(self.limits.max_results).max(1);
            let request = SearchRequest {
                query,
                limit,
                neighbours: self.neighbours,
            };
            let found = self.gate.provider().search(&grant, &request)?;
            let memories = found.iter().map(|hit| &hit.memory);
            self.gate.note_read(session, act, &grant, memories)?;
            let explainer = explain
                .then(|| self.explainer(&request.query))
                .transpose()?;
            let hit = |found: storage::Hit| Hit {
                explanation: explainer.as_ref().map(|by| by.explain(&found.memory)),
                memory: found.memory,
                score: found.score,
            };
            Ok(found.into_iter().map(hit).collect())
        })
    }

    fn explainer(&self, query: &str) -> Result<Explainer> {
        let language = self.gate.provider().language()?;
        Ok(Explainer::new(query, Analysis::new(language)))
    }

    /// Lists the memories that this session can see, by key, a page at a time.
    ///
    /// # Errors
    /// [`InvalidArgument`](ErrorKind::InvalidArgument) for a blank tag or a limit of 0,
    /// [`Denied`](ErrorKind::Denied) by a host rule, or an error of the storage.
    ///
    /// ```
    /// use strandline::{Classification, Draft, List, MemoryStore};
    ///
    /// let store = MemoryStore::open_in_memory()?;
    /// let low = store.session("s-1", "agent").open()?;
    /// let high = store.session("s-2", "agent").taint(Classification::Internal).open()?;
    /// store.save_all(&low, (0..5).map(|i| Draft::new(format!("k{i}"), "v")))?;
    /// store.save(&high, Draft::new("k9", "not for the low session"))?;
    ///
    /// let first = store.list(&low, List::new().limit(3))?;
    /// let cursor = first.next.expect("two more");
    /// let second = store.list(&low, List::new().limit(3).after(cursor))?;
    /// assert_eq!(second.memories.len(), 2);
    /// assert!(second.next.is_none());
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn list(&self, session: &Session, list: List) -> Result<Page> {
        self.watch(session, Operation::List, |probe| {
            let List {
                tag,
                limit,
                after,
                count,
            } = list;
            let tag = tag
                .map(|tag| parse_tag("tag", &tag, &self.limits))
                .transpose()?;
            if limit == Some(0) {
                return Err(Error::invalid(
                    "`limit` must be a whole number of at least 1",
                ));
            }
            let limit = limit
                .unwrap_or(List::DEFAULT_LIMIT)
                .min(self.limits.page)
                .max(1);
            let act = Act::new(Action::List, &self.namespace).seen_by(probe);
            let grant = self.gate.read(session, act)?;
            let after = after.map(Cursor::into_key);
            let page = self.gate.provider().list(
                &grant,
                &ListRequest {
                    tag,
                    after,
                    limit,
                    count,
                },
            )?;
            self.gate.note_read(session, act, &grant, &page.records)?;
            Ok(Page::from_provider(page))
        })
    }

    /// Deletes, softly, the memory under the key at exactly the session's level.
    ///
    /// It is hidden from every read from then on and kept in the history for the host. A lower
    /// memory that it shadowed shows again.
    ///
    /// # Errors
    /// [`NotFound`](ErrorKind::NotFound) if the session sees none under the key, whatever there is
    /// above it; [`WrongLevel`](ErrorKind::WrongLevel) if it sees one at a lower level only;
    /// [`Denied`](ErrorKind::Denied) by a host rule; or an error of the storage.
    ///
    /// ```
    /// use strandline::{Classification, Draft, ErrorKind, MemoryStore};
    ///
    /// let store = MemoryStore::open_in_memory()?;
    /// let low = store.session("s-1", "agent").open()?;
    /// let high = store.session("s-2", "agent").taint(Classification::Internal).open()?;
    /// store.save(&low, Draft::new("k", "v"))?;
    /// assert_eq!(store.delete(&high, "k").unwrap_err().kind(), ErrorKind::WrongLevel);
    /// store.delete(&low, "k")?;
    /// assert_eq!(store.delete(&low, "k").unwrap_err().kind(), ErrorKind::NotFound);
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn delete(&self, session: &Session, key: &str) -> Result<()> {
        self.watch(session, Operation::Delete, |probe| {
            let key = parse_key(key, &self.limits)?;
            let act = Act::new(Action::Delete, &self.namespace)
                .on(&key)
                .seen_by(probe);
            self.gate.write(session, act, |grant| {
                let error = match self.gate.provider().delete(grant, &key)? {
                    Deletion::Done { .. } => return Ok(1_u64),
                    Deletion::NotFound => {
                        Error::new(ErrorKind::NotFound, "there is no memory under this key")
                    }
                    Deletion::WrongLevel(level) => wrong_level(level, grant.level()),
                };
                self.gate.refuse_write(grant, act, &error)?;
                Err(error)
            })
        })
        .map(|_| ())
    }

    /// Carries out a verb; see [`Observers::watch`].
    fn watch<T: Told>(
        &self,
        session: &Session,
        operation: Operation,
        work: impl FnOnce(&Probe) -> T,
    ) -> T {
        self.observers().watch(operation, None, Some(session), work)
    }

    pub(crate) fn observers(&self) -> &Observers {
        self.gate.observers()
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Lets a tool call through the gate's hook.
    pub(crate) fn pre_tool_call(
        &self,
        session: &Session,
        probe: &Probe,
        call: ToolCall,
    ) -> Result<ToolCall> {
        self.gate
            .pre_tool_call(session, &self.namespace, probe, call)
    }

    /// Notes in the audit that a tool refused its arguments.
    pub(crate) fn refuse_tool_call(
        &self,
        session: &Session,
        tool: &'static str,
        why: &str,
    ) -> Result<()> {
        self.gate
            .refuse_tool_call(session, &self.namespace, tool, why)
    }
}

fn wrong_level(level: Classification, session: Classification) -> Error {
    Error::new(
        ErrorKind::WrongLevel,
        format!("the memory is at {level}; a session at {session} can delete only {session} ones"),
    )
}
