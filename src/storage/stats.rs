//! How much there is: counts and sizes.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::classification::Classification;
use crate::session::AgentId;

/// How many versions there are at one level, by what has become of them.
///
/// ```
/// use strandline::storage::Counts;
/// use strandline::{Classification, Draft, MemoryStore};
///
/// let store = MemoryStore::open_in_memory()?;
/// let session = store.session("s-1", "agent").open()?;
/// store.save(&session, Draft::new("k", "v"))?;
/// store.delete(&session, "k")?;
/// let counts = store.host().stats()?.levels[&Classification::Public];
/// assert_eq!(counts, Counts { deleted: 1, ..Counts::default() });
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Live and unexpired.
    pub live: u64,
    /// Live, but expired: no read returns them.
    pub expired: u64,
    /// Replaced by a later save.
    pub superseded: u64,
    /// Deleted.
    pub deleted: u64,
}

/// What one agent has at one level that is live and unexpired.
///
/// ```
/// use strandline::{Classification, Draft, MemoryStore};
///
/// let store = MemoryStore::open_in_memory()?;
/// let high = store.session("s-1", "agent").taint(Classification::Internal).open()?;
/// store.save(&high, Draft::new("plan", "a secret"))?;
/// let holdings = store.host().holdings()?;
/// assert_eq!((holdings[0].level, holdings[0].memories), (Classification::Internal, 1));
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Holding {
    /// The agent.
    pub agent: AgentId,
    /// The level.
    pub level: Classification,
    /// How many memories, those included that a higher level shadows.
    pub memories: u64,
    /// The bytes of their contents.
    pub content_bytes: u64,
    /// When the newest of them was saved.
    pub newest: DateTime<Utc>,
}

/// How many bytes a store takes on disk.
///
/// ```
/// use strandline::MemoryStore;
///
/// let folder = tempfile::tempdir()?;
/// let store = MemoryStore::open(folder.path().join("memory.db"))?;
/// let sizes = store.host().stats()?.sizes.expect("it has a file");
/// assert!(sizes.index_bytes + sizes.free_bytes <= sizes.database_bytes + sizes.wal_bytes);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Sizes {
    /// Of the database file.
    pub database_bytes: u64,
    /// Of the write-ahead log beside it, from which commits go into the file later.
    pub wal_bytes: u64,
    /// Of the file's pages that hold nothing and are used again.
    pub free_bytes: u64,
    /// Of the search index, within the file.
    pub index_bytes: u64,
}

/// What [`Host::stats`](crate::Host::stats) reports.
///
/// ```
/// use strandline::{Classification, Draft, MemoryStore};
///
/// let store = MemoryStore::open_in_memory()?;
/// let session = store.session("s-1", "agent").taint(Classification::Internal).open()?;
/// store.save(&session, Draft::new("k", "v"))?;
/// let stats = store.host().stats()?;
/// let live: Vec<_> = stats.levels.values().map(|counts| counts.live).collect();
/// assert_eq!(live, [0, 1, 0, 0]); // by rising level; never show it to a session
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Stats {
    /// The versions at each of the four levels.
    pub levels: BTreeMap<Classification, Counts>,
    /// How many agents ever saved something in the namespace.
    pub agents: u64,
    /// How many sessions were ever opened, of all agents.
    pub sessions: u64,
    /// How many entries the audit has.
    pub audit_entries: u64,
    /// The sizes; `None` of a provider that has no files.
    pub sizes: Option<Sizes>,
}
