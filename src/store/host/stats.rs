//! How much a store holds.

use super::Host;
use crate::error::Result;
use crate::policy::Gate;
use crate::storage::Stats;

impl Host {
    /// Counts by level, of all agents in the store's namespace, and the sizes of the whole store.
    ///
    /// It reads every row's head, so it takes some tenths of a second at a million versions. Others go
    /// on reading and writing meanwhile.
    ///
    /// # Errors
    /// Those of the storage only.
    ///
    /// ```
    /// use strandline::{Classification, Draft, MemoryStore};
    ///
    /// let store = MemoryStore::open_in_memory()?;
    /// let session = store.session("s-1", "agent").open()?;
    /// store.save(&session, Draft::new("k", "one"))?;
    /// store.save(&session, Draft::new("k", "two"))?;
    /// let stats = store.host().stats()?;
    /// let public = stats.levels[&Classification::Public];
    /// assert_eq!((public.live, public.superseded), (1, 1));
    /// assert_eq!((stats.agents, stats.sessions, stats.audit_entries), (1, 1, 3));
    /// assert!(stats.sizes.is_none()); // this one has no file
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn stats(&self) -> Result<Stats> {
        let grant = Gate::host(self.namespace.clone(), None);
        self.gate.provider().stats(&grant, self.gate.now())
    }

    /// The same with the counts by level of one agent only.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) for an agent that can't exist, or an error
    /// of the storage.
    ///
    /// ```
    /// use strandline::{Classification, Draft, MemoryStore};
    ///
    /// let store = MemoryStore::open_in_memory()?;
    /// let session = store.session("s-1", "agent").open()?;
    /// store.save(&session, Draft::new("k", "v"))?;
    /// let live = |agent: &str| -> strandline::Result<u64> {
    ///     let stats = store.host().agent_stats(agent)?;
    ///     Ok(stats.levels[&Classification::Public].live)
    /// };
    /// assert_eq!((live("agent")?, live("another")?), (1, 0));
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn agent_stats(&self, agent: &str) -> Result<Stats> {
        let grant = Gate::host(self.namespace.clone(), Some(agent.parse()?));
        self.gate.provider().stats(&grant, self.gate.now())
    }
}
