//! What was decided, for which session, and when. For the host only.
//!
//! Every write, deletion, opening of a session, rise of a taint and refusal leaves an [`Entry`], in
//! the transaction of the act itself (invariant I6). Read them with
//! [`Host::audit`](crate::Host::audit). No entry holds a memory's content or a query.

use std::fmt;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::classification::Classification;
use crate::record::MemoryKey;
use crate::session::{AgentId, SessionId};
use crate::storage::Namespace;

/// What a session, or the host on its behalf, set out to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Action {
    /// Open or resume a session.
    Open,
    /// Raise a session's taint.
    Raise,
    /// Save a record.
    Save,
    /// Read one record.
    Get,
    /// Search.
    Search,
    /// List.
    List,
    /// Delete a record.
    Delete,
    /// Call a tool; the tool's own act leaves an entry of its own.
    ToolCall,
    /// Restore an earlier version; the detail says which.
    Restore,
    /// Remove what ended or expired before a time.
    Purge,
    /// Remove everything of a key, an agent or a session.
    Erase,
}

impl Action {
    /// Every action.
    pub(crate) const ALL: [Self; 11] = [
        Self::Open,
        Self::Raise,
        Self::Save,
        Self::Get,
        Self::Search,
        Self::List,
        Self::Delete,
        Self::ToolCall,
        Self::Restore,
        Self::Purge,
        Self::Erase,
    ];

    /// The action's name, lower case.
    ///
    /// ```
    /// assert_eq!(strandline::audit::Action::ToolCall.as_str(), "tool_call");
    /// ```
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Raise => "raise",
            Self::Save => "save",
            Self::Get => "get",
            Self::Search => "search",
            Self::List => "list",
            Self::Delete => "delete",
            Self::ToolCall => "tool_call",
            Self::Restore => "restore",
            Self::Purge => "purge",
            Self::Erase => "erase",
        }
    }

    /// The action of that name.
    ///
    /// ```
    /// use strandline::audit::Action;
    ///
    /// assert_eq!(Action::from_name("save"), Some(Action::Save));
    /// ```
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.as_str() == name)
    }
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It was done, in the same transaction as the entry.
    Allowed,
    /// It was not done.
    Refused,
}

/// One entry's facts. `Debug` shows no key.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// When.
    pub at: DateTime<Utc>,
    /// In which session.
    pub session: SessionId,
    /// Of which agent.
    pub agent: AgentId,
    /// In which namespace.
    pub namespace: Namespace,
    /// What was asked for.
    pub action: Action,
    /// What became of it.
    pub decision: Decision,
    /// The session's taint, which is the level of the act.
    pub level: Classification,
    /// The record's key, where there is one.
    pub key: Option<MemoryKey>,
    /// The version that was written or deleted.
    pub version: Option<u64>,
    /// More: why it was refused, the reason of a raise, the fields that the gate ignored.
    pub detail: Option<String>,
}

impl fmt::Debug for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Facts")
            .field("at", &self.at)
            .field("session", &self.session)
            .field("action", &self.action)
            .field("decision", &self.decision)
            .field("level", &self.level)
            .finish_non_exhaustive()
    }
}

/// One entry of the audit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The entry's place: 1 for the first, then rising by one.
    pub seq: u64,
    /// What happened.
    #[serde(flatten)]
    pub facts: Facts,
}

/// Facts on their way into a provider that belong to no write: a refusal, or a tool call.
///
/// Only the gate makes one, so nothing else can write to the audit.
#[derive(Debug)]
pub struct Event {
    facts: Facts,
}

impl Event {
    pub(crate) fn new(facts: Facts) -> Self {
        Self { facts }
    }

    /// What is to be stored.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }
}

/// Which entries to read. The default is all of them, newest first, up to 100.
///
/// ```
/// use strandline::audit::Query;
/// use strandline::{Draft, MemoryStore};
///
/// let store = MemoryStore::open_in_memory()?;
/// let session = store.session("s-1", "agent").open()?;
/// store.save(&session, Draft::new("k", "v"))?;
/// let entries = store.host().audit(&Query { limit: 1, ..Query::default() })?;
/// assert_eq!(entries[0].facts.action, strandline::audit::Action::Save);
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// Only of this agent.
    pub agent: Option<AgentId>,
    /// Only of this session.
    pub session: Option<SessionId>,
    /// Only of this key.
    pub key: Option<MemoryKey>,
    /// At most so many.
    pub limit: usize,
}

impl Default for Query {
    fn default() -> Self {
        Self {
            agent: None,
            session: None,
            key: None,
            limit: 100,
        }
    }
}
