//! Namespaces: what kind of state a record is.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The kind of state that a record belongs to.
///
/// An agent's memories are in [`MEMORY`](Self::MEMORY). A runtime keeps its own state through the
/// same gate in [`CRON`](Self::CRON), [`TODO`](Self::TODO) or a namespace of its own; the crate keeps
/// the sessions' taint in [`SESSION`](Self::SESSION), which no one else can enter.
///
/// A name has 1 to 64 characters of `a`–`z`, `0`–`9`, `_` and `-`.
///
/// ```
/// use strandline::storage::Namespace;
/// use strandline::{Draft, MemoryStore};
///
/// let store = MemoryStore::open_in_memory()?;
/// let session = store.session("s-1", "agent").open()?;
/// let todos = store.namespace(Namespace::TODO)?;
/// todos.save(&session, Draft::new("call-lisa", "about Monday"))?;
/// assert!(store.get(&session, "call-lisa")?.is_none());
/// assert!(store.namespace(Namespace::SESSION).is_err());
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Namespace(Cow<'static, str>);

impl Namespace {
    /// An agent's memories: what the five tools work on.
    pub const MEMORY: Self = Self(Cow::Borrowed("memory"));
    /// The sessions' own state, kept by the gate.
    pub const SESSION: Self = Self(Cow::Borrowed("session"));
    /// A runtime's scheduled jobs.
    pub const CRON: Self = Self(Cow::Borrowed("cron"));
    /// A runtime's todos.
    pub const TODO: Self = Self(Cow::Borrowed("todo"));
    /// The agent that owns every record of [`SESSION`](Self::SESSION): session ids are unique across
    /// agents.
    pub const SESSION_OWNER: &'static str = "host";

    /// The name.
    ///
    /// ```
    /// assert_eq!(strandline::storage::Namespace::MEMORY.as_str(), "memory");
    /// ```
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Namespace {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c);
        if text.is_empty() || text.len() > 64 || !text.chars().all(allowed) {
            return Err(Error::invalid(
                "a namespace must have 1 to 64 characters of a-z, 0-9, `_` and `-`",
            ));
        }
        Ok(Self(Cow::Owned(text.to_owned())))
    }
}

impl TryFrom<String> for Namespace {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<Namespace> for String {
    fn from(namespace: Namespace) -> Self {
        namespace.0.into_owned()
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
