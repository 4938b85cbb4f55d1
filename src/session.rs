//! Sessions: who is asking, and the taint that only rises.

mod state;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::classification::Classification;
use crate::error::{Error, Result};
use crate::observe::Operation;
use crate::policy::Gate;
use crate::record::nfc;
use crate::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard, unpoisoned};

pub(crate) use state::SessionState;

/// The longest id of a session or agent, in bytes.
const ID_BYTES: usize = 256;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(Arc<str>);

        impl $name {
            /// The id's text, in Unicode NFC.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self> {
                let text = nfc(text);
                if text.trim().is_empty() || text.len() > ID_BYTES {
                    return Err(Error::invalid(concat!(
                        $what, " must be a text of 1 to 256 bytes that isn't blank"
                    )));
                }
                Ok(Self(text.into()))
            }
        }

        impl TryFrom<String> for $name {
            type Error = Error;

            fn try_from(text: String) -> Result<Self> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.as_str().to_owned()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }
    };
}

id! {
    /// Whose memories these are. Agents never see each other's.
    ///
    /// Any text of 1 to 256 bytes that isn't blank, in Unicode NFC; beyond that exact, so `agent_1`, `AGENT_1` and `agentX1` are three agents.
    ///
    /// ```
    /// let agent: strandline::AgentId = "main".parse()?;
    /// assert_eq!(agent.as_str(), "main");
    /// assert!("".parse::<strandline::AgentId>().is_err());
    /// # Ok::<(), strandline::Error>(())
    /// ```
    AgentId, "an agent id"
}

id! {
    /// The name of one session. Opening a session under an id that was used before resumes it.
    ///
    /// Any text of 1 to 256 bytes that isn't blank, in Unicode NFC; beyond that exact. It belongs to one agent for good.
    ///
    /// ```
    /// let id: strandline::SessionId = "conversation-17".parse()?;
    /// assert_eq!(id.as_str(), "conversation-17");
    /// # Ok::<(), strandline::Error>(())
    /// ```
    SessionId, "a session id"
}

/// One rise of a session's taint.
///
/// `Debug` doesn't show the reason.
///
/// ```
/// use strandline::{Classification, MemoryStore};
///
/// let store = MemoryStore::open_in_memory()?;
/// let session = store.session("s-1", "agent").open()?;
/// session.raise(Classification::Internal, "opened the wiki")?;
/// session.raise(Classification::Public, "no rise")?;
/// let raises = session.raises();
/// assert_eq!(raises.len(), 1);
/// assert_eq!((raises[0].from, raises[0].to), (Classification::Public, Classification::Internal));
/// assert!(!format!("{:?}", raises[0]).contains("wiki"));
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Raise {
    /// The taint before.
    pub from: Classification,
    /// The taint after.
    pub to: Classification,
    /// Why, in the host's words.
    pub reason: String,
    /// When.
    pub at: DateTime<Utc>,
}

impl fmt::Debug for Raise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Raise")
            .field("from", &self.from)
            .field("to", &self.to)
            .field("at", &self.at)
            .finish_non_exhaustive()
    }
}

/// A live session of one agent: the authority on the level of every read and write.
///
/// Its *taint* is the highest classification it has touched, a high-water mark. It starts at
/// `PUBLIC`, only rises, and is kept in the store, so a session resumed after a restart is never
/// lower than it was. Clones share one taint, and so do all handles that one store gives out for one
/// id. There is no way to lower it but a new session.
///
/// Open one with [`MemoryStore::session`](crate::MemoryStore::session); a scheduled run opens a new
/// one of the same agent and so starts at `PUBLIC` again.
///
/// ```
/// use strandline::{Classification, Draft, MemoryStore};
///
/// let store = MemoryStore::open_in_memory()?;
/// let session = store.session("s-1", "agent").open()?;
/// session.raise(Classification::Confidential, "read the ledger")?;
/// session.raise(Classification::Public, "try to lower it")?;
/// assert_eq!(session.taint(), Classification::Confidential);
///
/// let saved = store.save(&session, Draft::new("revenue", "9 million"))?;
/// assert_eq!(saved.classification, Classification::Confidential);
///
/// let trigger = store.session("nightly", "agent").open()?;
/// assert!(store.get(&trigger, "revenue")?.is_none());
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone)]
pub struct Session {
    inner: Arc<Inner>,
}

/// What the clones of a session share. The gate keeps a weak reference to it.
pub(crate) struct Inner {
    id: SessionId,
    agent: AgentId,
    gate: Arc<Gate>,
    state: RwLock<SessionState>,
}

/// Holding it keeps the taint from rising: a raise waits until it is dropped.
pub(crate) type TaintHold<'s> = RwLockReadGuard<'s, SessionState>;

impl Session {
    pub(crate) fn new(id: SessionId, agent: AgentId, gate: Arc<Gate>, state: SessionState) -> Self {
        Self {
            inner: Arc::new(Inner {
                id,
                agent,
                gate,
                state: RwLock::new(state),
            }),
        }
    }

    pub(crate) fn from_inner(inner: Arc<Inner>) -> Self {
        Self { inner }
    }

    pub(crate) fn inner(&self) -> &Arc<Inner> {
        &self.inner
    }

    pub(crate) fn gate(&self) -> &Arc<Gate> {
        &self.inner.gate
    }

    pub(crate) fn hold(&self) -> TaintHold<'_> {
        unpoisoned(self.inner.state.read())
    }

    pub(crate) fn change(&self) -> RwLockWriteGuard<'_, SessionState> {
        unpoisoned(self.inner.state.write())
    }

    /// The session's id.
    ///
    /// ```
    /// let store = strandline::MemoryStore::open_in_memory()?;
    /// assert_eq!(store.session("s-1", "agent").open()?.id().as_str(), "s-1");
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn id(&self) -> &SessionId {
        &self.inner.id
    }

    /// The agent whose memories it works on.
    ///
    /// ```
    /// let store = strandline::MemoryStore::open_in_memory()?;
    /// assert_eq!(store.session("s-1", "agent").open()?.agent().as_str(), "agent");
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn agent(&self) -> &AgentId {
        &self.inner.agent
    }

    /// The taint now. It may rise at any moment after; the gate reads it at each call.
    ///
    /// ```
    /// let store = strandline::MemoryStore::open_in_memory()?;
    /// let session = store.session("s-1", "agent").open()?;
    /// assert_eq!(session.taint(), strandline::Classification::Public);
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn taint(&self) -> Classification {
        self.hold().taint
    }

    /// The highest taint it may take on; `RESTRICTED` where the host set none.
    ///
    /// ```
    /// use strandline::{Classification, ErrorKind, MemoryStore};
    ///
    /// let store = MemoryStore::open_in_memory()?;
    /// let session = store.session("s-1", "agent").ceiling(Classification::Internal).open()?;
    /// let refused = session.raise(Classification::Restricted, "too high").unwrap_err();
    /// assert_eq!(refused.kind(), ErrorKind::CeilingExceeded);
    /// assert_eq!(session.ceiling(), Classification::Internal);
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn ceiling(&self) -> Classification {
        self.hold().ceiling
    }

    /// The rises of its taint, oldest first: at most one a level.
    ///
    /// ```
    /// use strandline::{Classification, MemoryStore};
    ///
    /// let store = MemoryStore::open_in_memory()?;
    /// let session = store.session("s-1", "agent").open()?;
    /// session.raise(Classification::Internal, "opened the wiki")?;
    /// assert_eq!(session.raises()[0].reason, "opened the wiki");
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn raises(&self) -> Vec<Raise> {
        self.hold().raises.clone()
    }

    /// Raises the taint to at least `level`, and returns the taint that is in force then.
    ///
    /// A runtime calls it *before* it shows the session anything classified. A level at or below the
    /// taint changes nothing. A write under way finishes first, at the old taint; every later one is
    /// at the new. `reason`, up to 1,024 bytes, is kept in [`raises`](Self::raises) and the audit.
    ///
    /// # Errors
    /// - [`CeilingExceeded`](crate::ErrorKind::CeilingExceeded) or
    ///   [`Denied`](crate::ErrorKind::Denied): the taint is as it was, and the refusal is in the
    ///   audit. Don't show the session that material.
    /// - An error of the storage: the taint *has* risen in memory but is not recorded. Until a later
    ///   call records it, the session neither reads nor writes, and as long as this store is open it
    ///   resumes no lower. Don't show the session that material: the process may end first.
    ///
    /// ```
    /// use strandline::{Classification, MemoryStore};
    ///
    /// let store = MemoryStore::open_in_memory()?;
    /// let session = store.session("s-1", "agent").open()?;
    /// let taint = session.raise(Classification::Internal, "opened the wiki")?;
    /// assert_eq!(taint, Classification::Internal);
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn raise(&self, level: Classification, reason: &str) -> Result<Classification> {
        let observers = self.gate().observers();
        observers.watch(Operation::Raise, None, Some(self), |probe| {
            let taint = self.gate().raise(self, level, reason)?;
            probe.note(taint);
            Ok(taint)
        })
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("id", &self.inner.id)
            .field("agent", &self.inner.agent)
            .field("taint", &self.taint())
            .finish_non_exhaustive()
    }
}
