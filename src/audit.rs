//! What was decided, for which session, and when. For the host only.
//!
//! Every write, deletion, opening of a session, rise of a taint and refusal leaves an [`Entry`], in
//! the transaction of the act itself (invariant I6); reads too, where
//! [`StoreBuilder::audit_reads`](crate::StoreBuilder::audit_reads) asks for it. No entry holds a memory's
//! content or a query.
//!
//! Read entries with [`Host::audit`](crate::Host::audit), check that none was changed with
//! [`Host::verify`](crate::Host::verify), and copy them to a file that proves itself with
//! [`Host::export_audit`](crate::Host::export_audit).
//!
//! # The chain
//!
//! Entries are numbered from 1 without gaps, and each has a hash over the one before, so that no entry
//! can be changed, removed or moved without breaking all that follow. Entry `n` has
//!
//! ```text
//! hash(n) = SHA-256( "strandline/audit/1" ‖ hash(n-1) ‖ number(n) ‖ facts(n) )
//! hash(0) = 32 zero bytes
//!
//! facts   = number(at) ‖ text(session) ‖ text(agent) ‖ text(namespace) ‖ text(action)
//!           ‖ text(decision) ‖ text(level) ‖ optional text(key) ‖ optional number(version)
//!           ‖ optional text(rule) ‖ optional text(detail)
//!
//! number(x)   = 8 bytes, big-endian, two's complement; `at` in microseconds since 1970, UTC
//! text(x)     = number(length of x in bytes) ‖ x in UTF-8
//! optional(x) = byte 0 where there is none, else byte 1 ‖ x
//! ```
//!
//! where `‖` joins bytes, and actions, decisions and levels are the names that they have as JSON. Every
//! part has a fixed length or says its length, so no two sets of facts have the same encoding.
//! [`Digest::of_entry`] computes it.
//!
//! Whoever can write the file can also write the whole chain anew, or cut off its end together with the
//! store's own count. An [`Anchor`], kept where they can't write, detects both.
//!
//! # What it costs
//!
//! An entry is one row more in a transaction that there is anyway; its hash takes a microsecond or two.
//! [`Query`] says which queries have an index.

mod chain;
mod digest;
mod export;
mod query;

use std::fmt;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

pub(crate) use chain::Walk;
pub use chain::{Anchor, Flaw, FlawKind, Link, Trail, Verification};
pub use digest::Digest;
pub use export::verify_export;
pub(crate) use export::write_line;
pub use query::Query;

use crate::classification::Classification;
use crate::record::MemoryKey;
use crate::session::{AgentId, SessionId};
use crate::storage::Namespace;

/// What a session, or the host on its behalf, set out to do.
///
/// ```
/// use strandline::audit::{Action, Query};
/// use strandline::{Draft, MemoryStore};
///
/// let store = MemoryStore::open_in_memory()?;
/// let session = store.session("s-1", "agent").open()?;
/// store.save(&session, Draft::new("k", "v"))?;
/// store.delete(&session, "k")?;
/// let actions: Vec<_> = store.host().audit(&Query::default())?.iter().map(|e| e.facts.action).collect();
/// assert_eq!(actions, [Action::Delete, Action::Save, Action::Open]); // newest first
/// # Ok::<(), strandline::Error>(())
/// ```
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
    /// Take over a version from a file.
    Import,
    /// Restore an earlier version; the detail says which.
    Restore,
    /// Remove what ended or expired before a time.
    Purge,
    /// Remove everything of a key, an agent or a session.
    Erase,
}

impl Action {
    /// Every action.
    pub(crate) const ALL: [Self; 12] = [
        Self::Open,
        Self::Raise,
        Self::Save,
        Self::Get,
        Self::Search,
        Self::List,
        Self::Delete,
        Self::ToolCall,
        Self::Import,
        Self::Restore,
        Self::Purge,
        Self::Erase,
    ];

    /// Whether an allowed act of this kind has stored the version that its entry names.
    pub(crate) const fn stores(self) -> bool {
        matches!(self, Self::Save | Self::Restore)
    }

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
            Self::Import => "import",
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
///
/// ```
/// use strandline::audit::{Decision, Query};
/// use strandline::{Classification, MemoryStore};
///
/// let store = MemoryStore::open_in_memory()?;
/// let session = store.session("s-1", "agent").ceiling(Classification::Internal).open()?;
/// assert!(session.raise(Classification::Restricted, "too high").is_err());
/// let refused = Query { decision: Some(Decision::Refused), ..Query::default() };
/// assert_eq!(store.host().audit(&refused)?.len(), 1); // and not its opening, which was allowed
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It was done, in the same transaction as the entry.
    Allowed,
    /// It was not done.
    Refused,
}

impl Decision {
    /// The decision's name, lower case.
    ///
    /// ```
    /// assert_eq!(strandline::audit::Decision::Refused.as_str(), "refused");
    /// ```
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Refused => "refused",
        }
    }
}

/// One entry's facts. `Debug` shows no key.
///
/// ```
/// use strandline::audit::{Facts, Query};
/// use strandline::{Classification, Draft, MemoryStore};
///
/// let store = MemoryStore::open_in_memory()?;
/// let session = store.session("s-1", "agent").taint(Classification::Internal).open()?;
/// store.save(&session, Draft::new("door-code", "4711"))?;
/// let Facts { level, version, .. } = store.host().audit(&Query::default())?[0].facts;
/// assert_eq!((level, version), (Classification::Internal, Some(1)));
/// # Ok::<(), strandline::Error>(())
/// ```
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
    /// The version that was written, deleted or read.
    pub version: Option<u64>,
    /// The [name](crate::policy::Rule::name) of the host's rule that denied it, where one did.
    pub rule: Option<String>,
    /// More: why it was refused, the reason of a raise, the fields that the gate ignored, how many
    /// records a read returned.
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
///
/// ```
/// use strandline::audit::{Digest, Query};
/// use strandline::{Draft, MemoryStore};
///
/// let store = MemoryStore::open_in_memory()?;
/// let session = store.session("s-1", "agent").open()?;
/// store.save(&session, Draft::new("door-code", "the code is 4711"))?;
/// let entries = store.host().audit(&Query::default())?;
/// let [save, open] = &entries[..] else { panic!("two entries") };
/// assert_eq!(save.hash, Digest::of_entry(&open.hash, save.seq, &save.facts));
/// assert!(!serde_json::to_string(save)?.contains("4711")); // never a content
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The entry's place: 1 for the first, then rising by one.
    pub seq: u64,
    /// What happened.
    #[serde(flatten)]
    pub facts: Facts,
    /// The hash over this entry and the [chain](self#the-chain) before it.
    pub hash: Digest,
}

/// Facts on their way into a provider that belong to no write: a refusal, or a tool call.
///
/// Only the gate makes one, so nothing else can write to the audit.
///
/// ```
/// use std::sync::Arc;
/// use strandline::audit::{Decision, Event};
/// use strandline::storage::{InMemory, StorageProvider};
/// use strandline::{ErrorKind, MemoryStore, Result};
///
/// #[derive(Debug, Default)]
/// struct Mine(InMemory);
/// # impl Mine { fn inner(&self) -> Result<&InMemory> { Ok(&self.0) } }
///
/// impl StorageProvider for Mine {
///     fn append(&self, event: &Event) -> Result<()> {
///         assert_eq!(event.facts().decision, Decision::Refused);
///         self.0.append(event)
///     }
/// #     fn is_durable(&self) -> bool { self.0.is_durable() }
/// #     strandline::forward!(inner: get, list, search, save, delete, history, audit, reindex,
/// #         trail, note_read, sources, derivations, versions, import, backup, restore, erase,
/// #         check, history_page, stats, holdings, language);
/// }
///
/// let store = MemoryStore::builder().with_provider(Arc::new(Mine::default()));
/// let session = store.session("s-1", "agent").open()?;
/// let error = store.delete(&session, "nothing here").unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::NotFound);
/// # Ok::<(), strandline::Error>(())
/// ```
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
