//! Grants: what the gate allows, as values that only it can make.

use chrono::{DateTime, Utc};

use crate::audit::{Action, Decision, Facts};
use crate::classification::Classification;
use crate::record::MemoryKey;
use crate::session::{AgentId, SessionId, TaintHold};
use crate::storage::Namespace;

/// Leave to read: one agent's records in one namespace, up to a level, at a moment.
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
            },
            _hold: None,
        }
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
