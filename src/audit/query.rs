//! Which entries the host asks for.

use chrono::{DateTime, Utc};

use super::{Action, Decision, Facts};
use crate::classification::Classification;
use crate::record::MemoryKey;
use crate::session::{AgentId, SessionId};
use crate::storage::Namespace;

/// Which entries to read. The default is all of them, newest first, up to 100.
///
/// Entries come by falling `seq`, which is the order in which they were stored, whatever the clock did.
/// Every part that is given must match. With SQLite, `session`, `agent`, `agent` with `key`, and the
/// times have an index; other parts are compared entry by entry, from the newest on, until `limit` is
/// reached.
///
/// Read page by page with [`before`](Self::before):
///
/// ```
/// use strandline::audit::{Action, Query};
/// use strandline::{Draft, MemoryStore};
///
/// let store = MemoryStore::open_in_memory()?;
/// let session = store.session("s-1", "agent").open()?;
/// store.save_all(&session, (0..5).map(|i| Draft::new(format!("k{i}"), "v")))?;
///
/// let mut query = Query { action: Some(Action::Save), limit: 2, ..Query::default() };
/// let mut pages = 0;
/// loop {
///     let page = store.host().audit(&query)?;
///     let Some(last) = page.last() else { break };
///     query.before = Some(last.seq);
///     pages += 1;
/// }
/// assert_eq!(pages, 3);
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// Only of this agent.
    pub agent: Option<AgentId>,
    /// Only of this session.
    pub session: Option<SessionId>,
    /// Only of this namespace.
    pub namespace: Option<Namespace>,
    /// Only of this key.
    pub key: Option<MemoryKey>,
    /// Only of this level.
    pub level: Option<Classification>,
    /// Only of this kind.
    pub action: Option<Action>,
    /// Only what was allowed, or only what was refused.
    pub decision: Option<Decision>,
    /// Only from this time on, itself included.
    pub from: Option<DateTime<Utc>>,
    /// Only until this time, itself not included.
    pub until: Option<DateTime<Utc>>,
    /// Only entries with a lower number: for the next page, that of the last one of this page.
    pub before: Option<u64>,
    /// At most so many.
    pub limit: usize,
}

impl Default for Query {
    fn default() -> Self {
        Self {
            agent: None,
            session: None,
            namespace: None,
            key: None,
            level: None,
            action: None,
            decision: None,
            from: None,
            until: None,
            before: None,
            limit: 100,
        }
    }
}

/// Whether nothing is wanted, or just this.
fn fits<T: PartialEq>(wanted: Option<&T>, found: &T) -> bool {
    wanted.is_none_or(|wanted| wanted == found)
}

impl Query {
    /// Whether an entry is among those asked for, the limit apart.
    pub(crate) fn matches(&self, seq: u64, facts: &Facts) -> bool {
        fits(self.agent.as_ref(), &facts.agent)
            && fits(self.session.as_ref(), &facts.session)
            && fits(self.namespace.as_ref(), &facts.namespace)
            && (self.key.is_none() || self.key == facts.key)
            && fits(self.level.as_ref(), &facts.level)
            && fits(self.action.as_ref(), &facts.action)
            && fits(self.decision.as_ref(), &facts.decision)
            && self.from.is_none_or(|from| facts.at >= from)
            && self.until.is_none_or(|until| facts.at < until)
            && self.before.is_none_or(|before| seq < before)
    }
}
