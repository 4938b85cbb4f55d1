//! A stored memory, as a session or the host reads it.

use std::fmt;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{MemoryKey, Tag};
use crate::classification::Classification;
use crate::session::{AgentId, SessionId};

/// One version of a memory.
///
/// Versions are immutable: saving again under the same key at the same level makes a new one, and
/// the earlier stays in the history. `Debug` shows neither key, content nor tags.
///
/// ```
/// use strandline::{Classification, Draft, MemoryStore};
///
/// let store = MemoryStore::open_in_memory()?;
/// let session = store.session("s-1", "agent").open()?;
/// store.save(&session, Draft::new("user-name", "Ada"))?;
/// let second = store.save(&session, Draft::new("user-name", "Ada Lovelace"))?;
/// assert_eq!(second.version, 2);
/// assert_eq!(second.classification, Classification::Public);
/// assert!(!format!("{second:?}").contains("Lovelace"));
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// The name it was saved under.
    pub key: MemoryKey,
    /// The remembered text, exactly as it was saved.
    pub content: String,
    /// The taint that the saving session had.
    pub classification: Classification,
    /// Its tags, in the order and the case in which they were given.
    pub tags: Vec<Tag>,
    /// The agent whose memory it is.
    pub agent: AgentId,
    /// 1 for the first version of this key at this level, one more for each save.
    pub version: u64,
    /// When the key was first saved at this level. A deletion or an expiry ends this count.
    pub created_at: DateTime<Utc>,
    /// When this version was saved.
    pub updated_at: DateTime<Utc>,
    /// From when on no read returns it, if ever.
    pub expires_at: Option<DateTime<Utc>>,
    /// The session that saved this version.
    pub session: SessionId,
    /// A random id of this version, for tracing what was derived from it.
    pub lineage_id: Uuid,
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory")
            .field("classification", &self.classification)
            .field("version", &self.version)
            .field("content_bytes", &self.content.len())
            .field("tags", &self.tags.len())
            .field("lineage_id", &self.lineage_id)
            .finish_non_exhaustive()
    }
}
