//! Grants: what the gate allows, as values that only it can make.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::audit::{Action, Decision, Facts};
use crate::classification::Classification;
use crate::error::{Error, ErrorKind, Result};
use crate::record::MemoryKey;
use crate::session::{AgentId, SessionId, TaintHold};
use crate::storage::Namespace;

/// Leave to read: one agent's records in one namespace, up to a level, at a moment.
///
/// ```
/// use std::sync::Arc;
/// use strandline::policy::ReadGrant;
/// use strandline::storage::{InMemory, Namespace, StorageProvider};
/// use strandline::{Classification, Draft, Memory, MemoryKey, MemoryStore, Result};
///
/// #[derive(Debug, Default)]
/// struct Mine(InMemory);
/// # impl Mine { fn inner(&self) -> Result<&InMemory> { Ok(&self.0) } }
///
/// impl StorageProvider for Mine {
///     fn get(&self, grant: &ReadGrant, key: &MemoryKey) -> Result<Option<Memory>> {
///         assert_eq!(grant.namespace(), &Namespace::MEMORY);
///         assert_eq!(grant.agent().as_str(), "agent");
///         let found = self.0.get(grant, key)?;
///         if let Some(memory) = &found {
///             assert!(memory.classification.can_flow_to(grant.level()));
///             assert!(memory.updated_at <= grant.now());
///         }
///         Ok(found)
///     }
/// #     fn is_durable(&self) -> bool { self.0.is_durable() }
/// #     strandline::forward!(inner: list, search, save, delete, append, history, audit, reindex,
/// #         trail, note_read, sources, derivations, versions, import, backup, restore, erase,
/// #         check, history_page, stats, holdings, language);
/// }
///
/// let store = MemoryStore::builder().with_provider(Arc::new(Mine::default()));
/// let high = store.session("s-1", "agent").taint(Classification::Internal).open()?;
/// store.save(&high, Draft::new("door-code", "4711"))?;
/// let low = store.session("s-2", "agent").open()?;
/// assert!(store.get(&high, "door-code")?.is_some());
/// assert!(store.get(&low, "door-code")?.is_none()); // its grant ends at PUBLIC
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ReadGrant {
    pub(super) namespace: Namespace,
    pub(super) agent: AgentId,
    pub(super) level: Classification,
    pub(super) now: DateTime<Utc>,
}

impl ReadGrant {
    /// The namespace that may be read.
    pub fn namespace(&self) -> &Namespace {
        &self.namespace
    }

    /// The agent whose records may be read.
    pub fn agent(&self) -> &AgentId {
        &self.agent
    }

    /// The highest level that may be read.
    pub fn level(&self) -> Classification {
        self.level
    }

    /// The time against which expiry counts.
    pub fn now(&self) -> DateTime<Utc> {
        self.now
    }

    /// Leave to read what the gate never gave: for the crate's own tests of providers.
    #[cfg(any(test, feature = "conformance"))]
    pub(crate) fn forge(
        namespace: Namespace,
        agent: AgentId,
        level: Classification,
        now: DateTime<Utc>,
    ) -> Self {
        Self {
            namespace,
            agent,
            level,
            now,
        }
    }
}

/// Leave to write: one agent's records in one namespace, at exactly one level, for one session.
///
/// While it is alive the session's taint can't rise, so don't keep it.
///
/// ```
/// use std::sync::Arc;
/// use strandline::policy::WriteGrant;
/// use strandline::storage::{InMemory, Namespace, NewRecord, Restore, StorageProvider};
/// use strandline::{Classification, Draft, Memory, MemoryStore, Result};
///
/// #[derive(Debug, Default)]
/// struct Mine(InMemory);
/// # impl Mine { fn inner(&self) -> Result<&InMemory> { Ok(&self.0) } }
///
/// impl StorageProvider for Mine {
///     fn save(&self, grant: &WriteGrant<'_>, records: &[NewRecord]) -> Result<Vec<Memory>> {
///         let saved = self.0.save(grant, records)?;
///         for memory in saved.iter().filter(|_| *grant.namespace() == Namespace::MEMORY) {
///             assert_eq!(&memory.session, grant.session());
///             assert_eq!(&memory.agent, grant.agent());
///             assert_eq!(memory.classification, grant.level());
///             assert_eq!(memory.updated_at, grant.now());
///             assert_eq!(grant.as_read().level(), grant.level());
///             // The entry that was stored with it.
///             assert_eq!(grant.facts(&memory.key, memory.version).level, grant.level());
///             // That is said for the records of sessions alone.
///             assert_eq!(grant.follows(), None);
///         }
///         Ok(saved)
///     }
///
///     fn restore(&self, grant: &WriteGrant<'_>, request: &Restore) -> Result<Option<Memory>> {
///         let facts = grant.restored(&request.key, 2, request.version);
///         assert_eq!(facts.detail.as_deref(), Some("version 1"));
///         self.0.restore(grant, request)
///     }
/// #     fn is_durable(&self) -> bool { self.0.is_durable() }
/// #     strandline::forward!(inner: get, list, search, delete, append, history, audit, reindex,
/// #         trail, note_read, sources, derivations, versions, import, backup, erase, check,
/// #         history_page, stats, holdings, language);
/// }
///
/// let store = MemoryStore::builder().with_provider(Arc::new(Mine::default()));
/// let session = store.session("s-1", "agent").taint(Classification::Internal).open()?;
/// store.save(&session, Draft::new("door-code", "4711"))?;
/// store.host().restore(&session, "door-code", 1)?;
/// let low = store.session("s-2", "agent").open()?;
/// assert!(store.get(&low, "door-code")?.is_none());
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Debug)]
pub struct WriteGrant<'s> {
    pub(super) writing: Writing,
    pub(super) _hold: Option<TaintHold<'s>>,
}

impl WriteGrant<'_> {
    /// The namespace to write to.
    pub fn namespace(&self) -> &Namespace {
        self.writing.namespace()
    }

    /// The agent that owns the records.
    pub fn agent(&self) -> &AgentId {
        self.writing.agent()
    }

    /// The level of every record written.
    pub fn level(&self) -> Classification {
        self.writing.level()
    }

    /// The time of the write.
    pub fn now(&self) -> DateTime<Utc> {
        self.writing.now()
    }

    /// The session that writes.
    pub fn session(&self) -> &SessionId {
        self.writing.session()
    }

    /// The same session's leave to read, for what a write has to look up first.
    pub fn as_read(&self) -> &ReadGrant {
        self.writing.as_read()
    }

    /// For a session's own record: the lineage id of the version of it that was stored last when the gate
    /// decided on this write; `None` if there was none. A provider refuses the write if that has changed
    /// (clause 7 of [`StorageProvider`](crate::storage::StorageProvider)).
    pub fn follows(&self) -> Option<Uuid> {
        self.writing.follows
    }

    /// The audit entry of having written this version of this record.
    pub fn facts(&self, key: &MemoryKey, version: u64) -> Facts {
        self.writing.facts(key, version)
    }

    /// The audit entry of having restored version `from` of this record as `version`.
    pub fn restored(&self, key: &MemoryKey, version: u64, from: u64) -> Facts {
        self.writing.restored(key, version, from)
    }

    /// What is written, for another thread that writes it while the caller waits with this grant.
    pub(crate) fn writing(&self) -> &Writing {
        &self.writing
    }

    /// Leave to write what the gate never gave: for the crate's own tests of providers.
    #[cfg(any(test, feature = "conformance"))]
    pub(crate) fn forge(read: ReadGrant, session: SessionId, action: Action) -> Self {
        let actor = read.agent.clone();
        Self {
            writing: Writing {
                read,
                session,
                actor,
                action,
                detail: None,
                follows: None,
            },
            _hold: None,
        }
    }

    /// The same for a session's record after this version of it.
    #[cfg(any(test, feature = "conformance"))]
    pub(crate) fn following(mut self, version: Option<Uuid>) -> Self {
        self.writing.follows = version;
        self
    }
}

/// What a [`WriteGrant`] allows, without its hold on the taint: worth nothing once that is dropped.
#[derive(Clone, Debug)]
pub(crate) struct Writing {
    pub(super) read: ReadGrant,
    pub(super) session: SessionId,
    pub(super) actor: AgentId,
    pub(super) action: Action,
    pub(super) detail: Option<String>,
    pub(super) follows: Option<Uuid>,
}

impl Writing {
    pub(crate) fn namespace(&self) -> &Namespace {
        &self.read.namespace
    }

    pub(crate) fn agent(&self) -> &AgentId {
        &self.read.agent
    }

    pub(crate) fn level(&self) -> Classification {
        self.read.level
    }

    pub(crate) fn now(&self) -> DateTime<Utc> {
        self.read.now
    }

    pub(crate) fn session(&self) -> &SessionId {
        &self.session
    }

    pub(crate) fn as_read(&self) -> &ReadGrant {
        &self.read
    }

    /// Whether it writes what the gate keeps of the session itself.
    pub(crate) fn is_of_session(&self) -> bool {
        *self.namespace() == Namespace::SESSION && self.agent().as_str() == Namespace::SESSION_OWNER
    }

    /// Refuses a write of the session's record that was decided on before this version of it was stored.
    pub(crate) fn refuse_overtaken(&self, last: Option<Uuid>) -> Result<()> {
        if !self.is_of_session() || self.follows == last {
            return Ok(());
        }
        let text = "the session's record has changed since this was decided on";
        Err(Error::new(ErrorKind::TaintRaised, text))
    }

    pub(crate) fn facts(&self, key: &MemoryKey, version: u64) -> Facts {
        Facts {
            at: self.read.now,
            session: self.session.clone(),
            agent: self.actor.clone(),
            namespace: self.read.namespace.clone(),
            action: self.action,
            decision: Decision::Allowed,
            level: self.read.level,
            key: Some(key.clone()),
            version: Some(version),
            rule: None,
            detail: self.detail.clone(),
        }
    }

    pub(crate) fn restored(&self, key: &MemoryKey, version: u64, from: u64) -> Facts {
        Facts {
            detail: Some(format!("version {from}")),
            ..self.facts(key, version)
        }
    }
}

/// The host's leave to read one agent's history and the audit, at every level.
///
/// Only [`Host`](crate::Host) has one; no tool can reach it.
///
/// ```
/// use std::sync::Arc;
/// use strandline::policy::HostGrant;
/// use strandline::storage::{InMemory, Namespace, StorageProvider, Version};
/// use strandline::{Draft, MemoryKey, MemoryStore, Result};
///
/// #[derive(Debug, Default)]
/// struct Mine(InMemory);
/// # impl Mine { fn inner(&self) -> Result<&InMemory> { Ok(&self.0) } }
///
/// impl StorageProvider for Mine {
///     fn history(&self, grant: &HostGrant, key: &MemoryKey) -> Result<Vec<Version>> {
///         if *grant.namespace() == Namespace::MEMORY {
///             assert!(grant.agent().is_some()); // without one it reaches no history
///         }
///         self.0.history(grant, key)
///     }
/// #     fn is_durable(&self) -> bool { self.0.is_durable() }
/// #     strandline::forward!(inner: get, list, search, save, delete, append, audit, reindex,
/// #         trail, note_read, sources, derivations, versions, import, backup, restore, erase,
/// #         check, history_page, stats, holdings, language);
/// }
///
/// let store = MemoryStore::builder().with_provider(Arc::new(Mine::default()));
/// let session = store.session("s-1", "agent").open()?;
/// store.save(&session, Draft::new("k", "v"))?;
/// assert_eq!(store.host().history("agent", "k")?.len(), 1);
/// assert!(store.host().history("another", "k")?.is_empty());
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct HostGrant {
    pub(super) namespace: Namespace,
    pub(super) agent: Option<AgentId>,
}

impl HostGrant {
    /// The namespace whose history may be read.
    pub fn namespace(&self) -> &Namespace {
        &self.namespace
    }

    /// The agent whose history may be read; `None` for what belongs to no agent, such as the audit.
    pub fn agent(&self) -> Option<&AgentId> {
        self.agent.as_ref()
    }

    /// Leave to read what the gate never gave: for the crate's own tests of providers.
    #[cfg(any(test, feature = "conformance"))]
    pub(crate) fn forge(namespace: Namespace, agent: Option<AgentId>) -> Self {
        Self { namespace, agent }
    }
}
