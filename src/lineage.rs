//! What a session had read before it saved. For the host only.
//!
//! With [`StoreBuilder::lineage`](crate::StoreBuilder::lineage) the store keeps which versions each session
//! got from get, search and list, and in which place of the [audit](crate::audit) it stood when it first
//! got them. A version is *derived from* every version that its session had got before it was saved: the
//! session may have used it. Nothing tells whether it did, so the lineage says what may have flowed, and
//! leaves out nothing that came through this store.
//!
//! Trace back with [`Host::derived_from`](crate::Host::derived_from) and forward with
//! [`Host::derived_into`](crate::Host::derived_into). [`Host::why`](crate::Host::why) says what made a
//! version as classified as it is; it needs no more than the audit.
//!
//! # What it costs
//!
//! One row of a few bytes for each version that a session reads for the first time, and nothing for a
//! save: links are computed when the host asks, from the order of reads and saves. So what is kept grows
//! with what sessions read, at most by all that each could see. Reads that were made without the option
//! are not known. Versions that were purged or erased are left out of every trace.
//!
//! No session can observe any of it (invariant I4).

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::audit::{Entry, Facts};
use crate::classification::Classification;
use crate::record::{Memory, MemoryKey};
use crate::session::{AgentId, SessionId};
use crate::storage::Namespace;

/// Which version: of which key, at which level. `Debug` doesn't show the key.
///
/// ```
/// use strandline::lineage::VersionId;
/// use strandline::storage::Namespace;
/// use strandline::{Draft, MemoryStore};
///
/// let store = MemoryStore::open_in_memory()?;
/// let session = store.session("s-1", "agent").open()?;
/// let saved = store.save(&session, Draft::new("k", "v"))?;
/// let id = VersionId::of(Namespace::MEMORY, &saved);
/// assert_eq!((id.key.as_str(), id.version), ("k", 1));
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct VersionId {
    /// In which namespace.
    pub namespace: Namespace,
    /// Of which agent.
    pub agent: AgentId,
    /// Under which key.
    pub key: MemoryKey,
    /// At which level.
    pub level: Classification,
    /// Its number, which counts for each key and level.
    pub version: u64,
}

impl VersionId {
    /// The version that a memory of this namespace is.
    ///
    /// ```
    /// use strandline::lineage::VersionId;
    /// use strandline::storage::Namespace;
    /// use strandline::{Classification, Draft, MemoryStore};
    ///
    /// let store = MemoryStore::open_in_memory()?;
    /// let session = store.session("s-1", "agent").open()?;
    /// let saved = store.save(&session, Draft::new("k", "v"))?;
    /// assert_eq!(VersionId::of(Namespace::MEMORY, &saved).level, Classification::Public);
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn of(namespace: Namespace, memory: &Memory) -> Self {
        Self {
            namespace,
            agent: memory.agent.clone(),
            key: memory.key.clone(),
            level: memory.classification,
            version: memory.version,
        }
    }

    /// The version that the entry of a save names.
    pub(crate) fn of_entry(facts: &Facts) -> Option<Self> {
        Some(Self {
            namespace: facts.namespace.clone(),
            agent: facts.agent.clone(),
            key: facts.key.clone()?,
            level: facts.level,
            version: facts.version?,
        })
    }
}

/// A version with who saved it and when, without its content.
///
/// ```
/// use strandline::lineage::{Origin, Trace, VersionId};
/// use strandline::storage::Namespace;
/// use strandline::{Draft, MemoryStore};
///
/// let store = MemoryStore::builder().lineage(true).open_in_memory()?;
/// let session = store.session("s-1", "agent").open()?;
/// store.save(&session, Draft::new("notes", "Ada likes tea"))?;
/// store.save(&session, Draft::new("unread", "Bob likes coffee"))?;
/// store.get(&session, "notes")?;
/// let order = store.save(&session, Draft::new("order", "jasmine"))?;
/// let order = VersionId::of(Namespace::MEMORY, &order);
///
/// let found = store.host().derived_from(&order, &Trace::default())?;
/// let Origin { id, session, .. } = &found.steps[0].origin;
/// assert_eq!((id.key.as_str(), session.as_str()), ("notes", "s-1"));
/// assert!(!serde_json::to_string(&found)?.contains("Ada likes tea")); // without its content
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Origin {
    /// Which version.
    #[serde(flatten)]
    pub id: VersionId,
    /// Its random id.
    pub lineage_id: Uuid,
    /// The session that saved it.
    pub session: SessionId,
    /// When.
    pub at: DateTime<Utc>,
}

impl Origin {
    pub(crate) fn of(id: VersionId, memory: &Memory) -> Self {
        Self {
            id,
            lineage_id: memory.lineage_id,
            session: memory.session.clone(),
            at: memory.updated_at,
        }
    }
}

/// What a read found, on its way into a provider.
///
/// Only the gate makes one.
///
/// ```
/// use std::sync::Arc;
/// use strandline::lineage::Reading;
/// use strandline::storage::{InMemory, StorageProvider};
/// use strandline::{Classification, Draft, MemoryStore, Result, Search};
///
/// #[derive(Debug, Default)]
/// struct Mine(InMemory);
/// # impl Mine { fn inner(&self) -> Result<&InMemory> { Ok(&self.0) } }
///
/// impl StorageProvider for Mine {
///     fn note_read(&self, reading: &Reading) -> Result<()> {
///         assert_eq!(reading.session().as_str(), "s-2");
///         assert!(reading.facts().is_none()); // the audit of reads is off
///         assert_eq!(reading.versions().len(), 1); // and not what is above the session
///         self.0.note_read(reading)
///     }
/// #     fn is_durable(&self) -> bool { self.0.is_durable() }
/// #     strandline::forward!(inner: get, list, search, save, delete, append, history, audit,
/// #         reindex, trail, sources, derivations, versions, import, backup, restore, erase,
/// #         check, history_page, stats, holdings, language);
/// }
///
/// let store = MemoryStore::builder().lineage(true).with_provider(Arc::new(Mine::default()));
/// let high = store.session("s-1", "agent").taint(Classification::Internal).open()?;
/// store.save(&high, Draft::new("allergy", "Ada can't drink tea"))?;
/// let low = store.session("s-2", "agent").open()?;
/// store.save(&low, Draft::new("notes", "Ada likes tea"))?;
/// assert_eq!(store.search(&low, Search::new("tea"))?.len(), 1);
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Debug)]
pub struct Reading {
    session: SessionId,
    facts: Option<Facts>,
    versions: Vec<VersionId>,
}

impl Reading {
    pub(crate) fn new(session: SessionId, facts: Option<Facts>, versions: Vec<VersionId>) -> Self {
        Self {
            session,
            facts,
            versions,
        }
    }

    /// The session that reads.
    pub fn session(&self) -> &SessionId {
        &self.session
    }

    /// The entry to store in the audit, if there shall be one.
    pub fn facts(&self) -> Option<&Facts> {
        self.facts.as_ref()
    }

    /// The versions to keep for the lineage: none where the host doesn't ask for it.
    pub fn versions(&self) -> &[VersionId] {
        &self.versions
    }
}

/// How far to trace.
///
/// ```
/// use strandline::lineage::Trace;
///
/// let direct = Trace { depth: 1, ..Trace::default() };
/// assert_eq!(direct.limit, 1_000);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Over so many links at most: 1 for what was read directly. Default 16.
    pub depth: usize,
    /// At most so many versions. Default 1,000.
    pub limit: usize,
}

impl Default for Trace {
    fn default() -> Self {
        Self {
            depth: 16,
            limit: 1_000,
        }
    }
}

/// A version in a trace.
///
/// ```
/// use strandline::lineage::{Trace, VersionId};
/// use strandline::storage::Namespace;
/// use strandline::{Draft, MemoryStore};
///
/// let store = MemoryStore::builder().lineage(true).open_in_memory()?;
/// let session = store.session("s-1", "agent").open()?;
/// store.save(&session, Draft::new("notes", "Ada likes tea"))?;
/// store.save(&session, Draft::new("unread", "Bob likes coffee"))?;
/// store.get(&session, "notes")?;
/// let order = store.save(&session, Draft::new("order", "jasmine"))?;
/// let order = VersionId::of(Namespace::MEMORY, &order);
///
/// let found = store.host().derived_from(&order, &Trace::default())?;
/// assert_eq!(found.steps.len(), 1); // not what the session never read
/// assert_eq!((found.steps[0].distance, &found.steps[0].via), (1, &order));
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// The version.
    #[serde(flatten)]
    pub origin: Origin,
    /// Over how many links it was reached, by the shortest way; at least 1.
    pub distance: usize,
    /// The version on that way that was reached before it: for distance 1 the one asked about.
    pub via: VersionId,
}

/// What a trace found.
///
/// ```
/// use strandline::lineage::{Trace, VersionId};
/// use strandline::storage::Namespace;
/// use strandline::{Draft, MemoryStore};
///
/// let store = MemoryStore::builder().lineage(true).open_in_memory()?;
/// let session = store.session("s-1", "agent").open()?;
/// store.save(&session, Draft::new("notes", "Ada likes tea"))?;
/// store.save(&session, Draft::new("unread", "Bob likes coffee"))?;
/// store.get(&session, "notes")?;
/// let order = store.save(&session, Draft::new("order", "jasmine"))?;
/// let order = VersionId::of(Namespace::MEMORY, &order);
///
/// let none = Trace { limit: 0, ..Trace::default() };
/// let found = store.host().derived_from(&order, &none)?;
/// assert_eq!((found.steps.len(), found.complete), (0, false)); // there is more
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Lineage {
    /// Each version once, the nearest first.
    pub steps: Vec<Step>,
    /// Whether that is all: neither the depth nor the limit has cut anything off.
    pub complete: bool,
}

/// Why a version has the level that it has.
///
/// ```
/// use strandline::audit::Action;
/// use strandline::lineage::{VersionId, Why};
/// use strandline::storage::Namespace;
/// use strandline::{Classification, Draft, MemoryStore};
///
/// let store = MemoryStore::open_in_memory()?;
/// let session = store.session("s-1", "agent").taint(Classification::Internal).open()?;
/// let saved = store.save(&session, Draft::new("door-code", "4711"))?;
/// let id = VersionId::of(Namespace::MEMORY, &saved);
/// let Why { saved, cause } = store.host().why(&id)?.expect("it was saved");
/// assert_eq!(saved.facts.action, Action::Save);
/// assert_eq!(cause.map(|entry| entry.facts.action), Some(Action::Open)); // it was opened there
///
/// let never = VersionId { version: 2, ..id };
/// assert!(store.host().why(&never)?.is_none());
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Why {
    /// The audit's entry of the save: in which session, when, at which level.
    pub saved: Entry,
    /// The entry that first brought the session to that level: a [raise](crate::audit::Action::Raise), or
    /// its [opening](crate::audit::Action::Open) at that level. `None` where the audit has none, as for
    /// records that came into the storage without the gate.
    pub cause: Option<Entry>,
}

impl Why {
    /// The reason of the raise, in the host's words, where there was one.
    ///
    /// ```
    /// use strandline::lineage::VersionId;
    /// use strandline::storage::Namespace;
    /// use strandline::{Classification, Draft, MemoryStore};
    ///
    /// let store = MemoryStore::open_in_memory()?;
    /// let session = store.session("s-1", "agent").open()?;
    /// session.raise(Classification::Confidential, "read the ledger")?;
    /// let saved = store.save(&session, Draft::new("debts", "5 doubloons"))?;
    /// let why = store.host().why(&VersionId::of(Namespace::MEMORY, &saved))?.expect("it was saved");
    /// assert_eq!(why.reason(), Some("read the ledger"));
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn reason(&self) -> Option<&str> {
        self.cause.as_ref()?.facts.detail.as_deref()
    }
}
