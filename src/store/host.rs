//! What only the host may do.

mod backup;
mod export;
mod fields;
mod import;
mod json;
pub(super) mod line;
mod lineage;
mod stats;
mod trail;
mod triggerfish;
mod upkeep;

use std::sync::Arc;

use crate::audit;
use crate::error::Result;
use crate::observe::{Operation, Told};
use crate::policy::Gate;
use crate::record::{Limits, parse_key};
use crate::storage::{Namespace, Version};

/// The host's handle: it sees every level of every agent, and no tool can reach it.
///
/// Get it with [`MemoryStore::host`](crate::MemoryStore::host); it works on that store's namespace.
///
/// ```
/// use strandline::{Classification, Draft, MemoryStore};
///
/// let store = MemoryStore::open_in_memory()?;
/// let high = store.session("s-1", "agent").taint(Classification::Restricted).open()?;
/// store.save(&high, Draft::new("pay", "5 doubloons"))?;
/// let low = store.session("s-2", "agent").open()?;
/// assert!(store.get(&low, "pay")?.is_none());
/// assert_eq!(store.host().history("agent", "pay")?.len(), 1); // the host sees every level
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Host {
    gate: Arc<Gate>,
    limits: Limits,
    namespace: Namespace,
}

impl Host {
    pub(super) fn new(gate: Arc<Gate>, limits: Limits, namespace: Namespace) -> Self {
        Self {
            gate,
            limits,
            namespace,
        }
    }

    /// Carries out an operation of the host; see [`Observers::watch`](crate::observe::Observers::watch).
    fn watch<T: Told>(&self, operation: Operation, work: impl FnOnce() -> T) -> T {
        let observers = self.gate.observers();
        observers.watch(operation, None, None, |_| work())
    }

    /// Every version of a key at every level: live, superseded and deleted, the last stored first. What
    /// was imported was stored then, however old it is.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) or
    /// [`LimitExceeded`](crate::ErrorKind::LimitExceeded) for an agent or key that can't exist, or an
    /// error of the storage.
    ///
    /// ```
    /// use strandline::storage::VersionState;
    /// use strandline::{Draft, MemoryStore};
    ///
    /// let store = MemoryStore::open_in_memory()?;
    /// let session = store.session("s-1", "agent").open()?;
    /// store.save(&session, Draft::new("k", "one"))?;
    /// store.save(&session, Draft::new("k", "two"))?;
    /// let versions = store.host().history("agent", "k")?;
    /// assert_eq!(versions[0].memory.content, "two");
    /// assert_eq!(versions[1].state, VersionState::Superseded);
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn history(&self, agent: &str, key: &str) -> Result<Vec<Version>> {
        self.watch(Operation::History, || {
            let grant = Gate::host(self.namespace.clone(), Some(agent.parse()?));
            self.gate
                .provider()
                .history(&grant, &parse_key(key, &self.limits)?)
        })
    }

    /// The audit's entries, of every namespace, newest first.
    ///
    /// # Errors
    /// Those of the storage only.
    ///
    /// ```
    /// use strandline::audit::{Action, Decision, Query};
    /// use strandline::{Draft, MemoryStore};
    ///
    /// let store = MemoryStore::open_in_memory()?;
    /// let session = store.session("s-1", "agent").open()?;
    /// assert!(store.delete(&session, "no-such-key").is_err());
    /// let newest = &store.host().audit(&Query::default())?[0].facts;
    /// assert_eq!((newest.action, newest.decision), (Action::Delete, Decision::Refused));
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn audit(&self, query: &audit::Query) -> Result<Vec<audit::Entry>> {
        self.watch(Operation::Audit, || self.entries(query))
    }

    fn entries(&self, query: &audit::Query) -> Result<Vec<audit::Entry>> {
        let grant = Gate::host(self.namespace.clone(), None);
        self.gate.provider().audit(&grant, query)
    }

    /// Makes the search index anew from the records, those of every namespace and agent, and returns
    /// how many live ones there are.
    ///
    /// It also mends what else is derived from them: what lists look for by tag, which level shadows a
    /// record, and the indexes of the file's tables.
    ///
    /// It is for a file whose index was damaged; after a change of the analysis
    /// [`open`](crate::MemoryStore::open) does it by itself. Others may read and write meanwhile, and
    /// find what they always find, only more slowly. Where another process is just at it, both begin again
    /// and share the work.
    ///
    /// # Errors
    /// Those of the storage only. What was done stays done: the next call or opening goes on from there.
    ///
    /// ```
    /// use strandline::{Draft, MemoryStore, Search};
    ///
    /// let store = MemoryStore::open_in_memory()?;
    /// let session = store.session("s-1", "agent").open()?;
    /// store.save(&session, Draft::new("user-name", "Ada"))?;
    /// let records = store.host().reindex()?;
    /// assert_eq!(records, 2); // the memory, and the session's own state
    /// assert_eq!(store.search(&session, Search::new("ada"))?.len(), 1);
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn reindex(&self) -> Result<u64> {
        self.watch(Operation::Reindex, || {
            let grant = Gate::host(self.namespace.clone(), None);
            self.gate.provider().reindex(&grant)
        })
    }
}
