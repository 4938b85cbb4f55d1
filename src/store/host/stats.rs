//! How much a store holds.

use super::Host;
use crate::classification::Classification;
use crate::error::Result;
use crate::observe::Operation;
use crate::policy::Gate;
use crate::session::Session;
use crate::storage::{Holding, Stats};

impl Host {
    /// What each agent has at each level in the store's namespace, by agent and level.
    ///
    /// An agent or a level without a live memory isn't among them. It reads every live row, so it takes
    /// some tenths of a second at a million. The answer is of every level: leave out what is above the
    /// reader before you show it.
    ///
    /// # Errors
    /// Those of the storage only.
    ///
    /// ```
    /// use strandline::{Classification, Draft, MemoryStore};
    ///
    /// let store = MemoryStore::open_in_memory()?;
    /// let low = store.session("s-1", "agent").open()?;
    /// let high = store.session("s-2", "agent").taint(Classification::Internal).open()?;
    /// store.save(&low, Draft::new("user-name", "Ada"))?;
    /// store.save(&high, Draft::new("plan", "secret"))?;
    /// let mut holdings = store.host().holdings()?;
    /// holdings.retain(|holding| holding.level.can_flow_to(Classification::Public));
    /// assert_eq!(holdings.len(), 1); // not the plan
    /// assert_eq!((holdings[0].memories, holdings[0].content_bytes), (1, 3));
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn holdings(&self) -> Result<Vec<Holding>> {
        self.watch(Operation::Holdings, || {
            let grant = Gate::host(self.namespace.clone(), None);
            self.gate.provider().holdings(&grant, self.gate.now())
        })
    }

    /// What a session of this agent at this level sees, as a session that only reads.
    ///
    /// It is for looking, as in a tool of the host's: it has the rules of any session, but no name of its own,
    /// its taint never changes, and it leaves no record that it was opened, so it works in a store that is
    /// [open for reading only](crate::StoreBuilder::read_only), too. Every write in it is refused.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) for an agent that can't exist, or
    /// [`Denied`](crate::ErrorKind::Denied) by a host rule.
    ///
    /// ```
    /// use strandline::{Classification, Draft, ErrorKind, MemoryStore};
    ///
    /// let store = MemoryStore::open_in_memory()?;
    /// let high = store.session("s-1", "agent").taint(Classification::Internal).open()?;
    /// store.save(&high, Draft::new("plan", "secret"))?;
    ///
    /// let view = store.host().view("agent", Classification::Public)?;
    /// assert!(store.get(&view, "plan")?.is_none()); // above it
    /// let error = store.save(&view, Draft::new("k", "v")).unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::ReadOnly);
    /// assert!(view.raise(Classification::Internal, "to see more").is_err());
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn view(&self, agent: &str, level: Classification) -> Result<Session> {
        let observers = self.gate.observers();
        observers.watch(Operation::View, None, None, |probe| {
            let session = self.gate.view(&agent.parse()?, level)?;
            probe.note(level);
            Ok(session)
        })
    }

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
        self.watch(Operation::Stats, || {
            let grant = Gate::host(self.namespace.clone(), None);
            self.gate.provider().stats(&grant, self.gate.now())
        })
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
        self.watch(Operation::Stats, || {
            let grant = Gate::host(self.namespace.clone(), Some(agent.parse()?));
            self.gate.provider().stats(&grant, self.gate.now())
        })
    }
}
