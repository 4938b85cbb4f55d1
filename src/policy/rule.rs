//! The host's own rules, which may narrow what the gate allows and never widen it.

use std::fmt::Debug;

use crate::audit::Action;
use crate::classification::Classification;
use crate::record::MemoryKey;
use crate::session::{AgentId, SessionId};
use crate::storage::Namespace;

/// What a session is about to do, as the gate sees it.
///
/// ```
/// use std::sync::Arc;
/// use strandline::audit::Action;
/// use strandline::policy::{Denial, Request, Rule};
/// use strandline::{Classification, Draft, MemoryStore};
///
/// /// Keeps one agent's sessions from reading what is RESTRICTED, whatever their taint.
/// #[derive(Debug)]
/// struct NotThisOne;
/// impl Rule for NotThisOne {
///     fn judge(&self, request: &Request<'_>) -> Option<Denial> {
///         let reads = matches!(request.action, Action::Get | Action::Search | Action::List);
///         let denied = reads && request.agent.as_str() == "intern" && request.level > Classification::Confidential;
///         denied.then(|| Denial::new("this agent reads nothing that is RESTRICTED"))
///     }
/// }
///
/// let store = MemoryStore::builder().rule(Arc::new(NotThisOne)).open_in_memory()?;
/// let session = store.session("s-1", "intern").taint(Classification::Restricted).open()?;
/// store.save(&session, Draft::new("k", "v"))?;
/// assert!(store.get(&session, "k").is_err());
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Request<'a> {
    /// The act.
    pub action: Action,
    /// The session.
    pub session: &'a SessionId,
    /// Its agent.
    pub agent: &'a AgentId,
    /// The namespace that is read or written.
    pub namespace: &'a Namespace,
    /// The level of the act: the session's taint now, or for a raise the taint asked for.
    pub level: Classification,
    /// The key, where the act has one.
    pub key: Option<&'a MemoryKey>,
    /// The tool's name, for [`Action::ToolCall`].
    pub tool: Option<&'a str>,
}

/// A rule's refusal.
///
/// ```
/// use strandline::policy::{Denial, Request, Rule};
///
/// #[derive(Debug)]
/// struct Closed;
/// impl Rule for Closed {
///     fn judge(&self, _: &Request<'_>) -> Option<Denial> {
///         let denial = Denial::new("closed until Monday");
///         assert_eq!(denial.reason(), "closed until Monday");
///         Some(denial)
///     }
/// }
///
/// let closed = strandline::MemoryStore::builder().rule(std::sync::Arc::new(Closed)).open_in_memory()?;
/// let error = closed.session("s-1", "agent").open().unwrap_err();
/// assert!(error.to_string().contains("closed until Monday"));
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denial {
    reason: String,
}

impl Denial {
    /// A refusal for this reason, which the caller, so possibly the model, gets to read.
    ///
    /// It must not hold what was asked for: no key, content or query.
    ///
    /// ```
    /// let denial = strandline::policy::Denial::new("no writes on sundays");
    /// assert_eq!(denial.reason(), "no writes on sundays");
    /// ```
    pub fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
        }
    }

    /// Why.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

/// A rule of the host.
///
/// The gate asks every rule at every call. A rule can deny; it has no way to allow what the levels
/// forbid. It runs while the session's taint is held, so it must not call the session or the store.
///
/// ```
/// use std::sync::Arc;
/// use strandline::audit::Action;
/// use strandline::policy::{Denial, Request, Rule};
/// use strandline::{Draft, ErrorKind, MemoryStore};
///
/// #[derive(Debug)]
/// struct NoDeletes;
/// impl Rule for NoDeletes {
///     fn judge(&self, request: &Request<'_>) -> Option<Denial> {
///         (request.action == Action::Delete).then(|| Denial::new("this agent may not delete"))
///     }
/// }
///
/// let store = MemoryStore::builder().rule(Arc::new(NoDeletes)).open_in_memory()?;
/// let session = store.session("s-1", "agent").open()?;
/// store.save(&session, Draft::new("k", "v"))?;
/// assert_eq!(store.delete(&session, "k").unwrap_err().kind(), ErrorKind::Denied);
/// # Ok::<(), strandline::Error>(())
/// ```
pub trait Rule: Debug + Send + Sync {
    /// `Some` to deny the request.
    fn judge(&self, request: &Request<'_>) -> Option<Denial>;

    /// What the rule is called in the [audit](crate::audit::Facts::rule) of what it denied: by default
    /// the path of its type. It must not hold what was asked for.
    ///
    /// ```
    /// use strandline::policy::{Denial, Request, Rule};
    ///
    /// #[derive(Debug)]
    /// struct NoDeletes;
    /// impl Rule for NoDeletes {
    ///     fn judge(&self, _: &Request<'_>) -> Option<Denial> {
    ///         None
    ///     }
    /// }
    /// assert!(NoDeletes.name().ends_with("::NoDeletes"));
    /// ```
    fn name(&self) -> &str {
        std::any::type_name::<Self>()
    }
}
