//! What the methods of a provider take and return.

use std::fmt;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::classification::Classification;
use crate::record::{Memory, MemoryKey, Tag};

/// A record to be stored, validated: what [`Draft`](crate::Draft) becomes on its way to a provider.
///
/// Its level, agent and namespace come from the [`WriteGrant`](crate::policy::WriteGrant). `Debug` shows sizes only.
///
/// ```
/// use std::sync::Arc;
/// use strandline::policy::WriteGrant;
/// use strandline::storage::{InMemory, NewRecord, StorageProvider};
/// use strandline::{Draft, Memory, MemoryStore, Result};
///
/// #[derive(Debug, Default)]
/// struct Mine(InMemory);
/// # impl Mine { fn inner(&self) -> Result<&InMemory> { Ok(&self.0) } }
///
/// impl StorageProvider for Mine {
///     fn save(&self, grant: &WriteGrant<'_>, records: &[NewRecord]) -> Result<Vec<Memory>> {
///         for record in records {
///             assert!(!format!("{record:?}").contains("4711")); // sizes only
///         }
///         self.0.save(grant, records)
///     }
/// #     fn is_durable(&self) -> bool { self.0.is_durable() }
/// #     strandline::forward!(inner: get, list, search, delete, append, history, audit, reindex,
/// #         trail, note_read, sources, derivations, versions, import, backup, restore, erase,
/// #         check, history_page, stats, holdings, language);
/// }
///
/// let store = MemoryStore::builder().with_provider(Arc::new(Mine::default()));
/// let session = store.session("s-1", "agent").open()?;
/// let saved = store.save(&session, Draft::new("door-code", "4711").tag("Door").tag("door"))?;
/// assert_eq!(saved.tags.len(), 1); // the record has no tag twice
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone)]
pub struct NewRecord {
    /// The key, in NFC.
    pub key: MemoryKey,
    /// The content.
    pub content: String,
    /// The tags, none twice.
    pub tags: Vec<Tag>,
    /// From when on no read returns it.
    pub expires_at: Option<DateTime<Utc>>,
    /// The new version's random id.
    pub lineage_id: Uuid,
}

impl NewRecord {
    /// The bytes of its key, tags and content together.
    pub(crate) fn text_bytes(&self) -> usize {
        let tags: usize = self.tags.iter().map(|tag| tag.as_str().len()).sum();
        self.key.as_str().len() + tags + self.content.len()
    }
}

impl fmt::Debug for NewRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewRecord")
            .field("content_bytes", &self.content.len())
            .field("tags", &self.tags.len())
            .field("expires_at", &self.expires_at)
            .field("lineage_id", &self.lineage_id)
            .finish_non_exhaustive()
    }
}

/// Which records a list holds.
///
/// ```
/// use std::sync::Arc;
/// use strandline::policy::ReadGrant;
/// use strandline::storage::{InMemory, ListPage, ListRequest, StorageProvider};
/// use strandline::{Classification, Draft, List, MemoryStore, Result};
///
/// #[derive(Debug, Default)]
/// struct Mine(InMemory);
/// # impl Mine { fn inner(&self) -> Result<&InMemory> { Ok(&self.0) } }
///
/// impl StorageProvider for Mine {
///     fn list(&self, grant: &ReadGrant, request: &ListRequest) -> Result<ListPage> {
///         assert_eq!(request.limit, 2);
///         assert!(request.tag.is_none() && request.after.is_none() && !request.count);
///         self.0.list(grant, request)
///     }
/// #     fn is_durable(&self) -> bool { self.0.is_durable() }
/// #     strandline::forward!(inner: get, search, save, delete, append, history, audit, reindex,
/// #         trail, note_read, sources, derivations, versions, import, backup, restore, erase,
/// #         check, history_page, stats, holdings, language);
/// }
///
/// let store = MemoryStore::builder().with_provider(Arc::new(Mine::default()));
/// let high = store.session("s-1", "agent").taint(Classification::Internal).open()?;
/// store.save(&high, Draft::new("door-code", "Ada knows 4711"))?;
/// let low = store.session("s-2", "agent").open()?;
/// store.save(&low, Draft::new("tea", "Ada likes jasmine"))?;
///
/// let page = store.list(&low, List::new().limit(2))?;
/// assert_eq!(page.memories.len(), 1); // not the door code
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ListRequest {
    /// Only records that have this tag.
    pub tag: Option<Tag>,
    /// Only records whose key is greater, in byte order.
    pub after: Option<MemoryKey>,
    /// At most so many; at least 1.
    pub limit: usize,
    /// Whether [`ListPage::total`] is wanted.
    pub count: bool,
}

/// One page of a list.
///
/// ```
/// use std::sync::Arc;
/// use strandline::policy::ReadGrant;
/// use strandline::storage::{InMemory, ListPage, ListRequest, StorageProvider};
/// use strandline::{Classification, Draft, List, MemoryStore, Result};
///
/// #[derive(Debug, Default)]
/// struct Mine(InMemory);
/// # impl Mine { fn inner(&self) -> Result<&InMemory> { Ok(&self.0) } }
///
/// impl StorageProvider for Mine {
///     fn list(&self, grant: &ReadGrant, request: &ListRequest) -> Result<ListPage> {
///         let page = self.0.list(grant, request)?;
///         assert!(page.records.is_sorted_by(|one, next| one.key < next.key));
///         assert!(!page.more); // hidden records are not "more"
///         Ok(page)
///     }
/// #     fn is_durable(&self) -> bool { self.0.is_durable() }
/// #     strandline::forward!(inner: get, search, save, delete, append, history, audit, reindex,
/// #         trail, note_read, sources, derivations, versions, import, backup, restore, erase,
/// #         check, history_page, stats, holdings, language);
/// }
///
/// let store = MemoryStore::builder().with_provider(Arc::new(Mine::default()));
/// let high = store.session("s-1", "agent").taint(Classification::Internal).open()?;
/// store.save(&high, Draft::new("door-code", "Ada knows 4711"))?;
/// let low = store.session("s-2", "agent").open()?;
/// store.save(&low, Draft::new("tea", "Ada likes jasmine"))?;
///
/// let page = store.list(&low, List::new().limit(1).count())?;
/// assert_eq!(page.total, Some(1)); // nor are they counted
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ListPage {
    /// The records in ascending byte order of their keys.
    pub records: Vec<Memory>,
    /// Whether a visible record follows the last of these.
    pub more: bool,
    /// How many visible records have the tag in all, from the first page on, if it was asked for.
    pub total: Option<u64>,
}

/// What to search for.
///
/// ```
/// use std::sync::Arc;
/// use strandline::policy::ReadGrant;
/// use strandline::storage::{Hit, InMemory, SearchRequest, StorageProvider};
/// use strandline::{Classification, Draft, MemoryStore, Result, Search};
///
/// #[derive(Debug, Default)]
/// struct Mine(InMemory);
/// # impl Mine { fn inner(&self) -> Result<&InMemory> { Ok(&self.0) } }
///
/// impl StorageProvider for Mine {
///     fn search(&self, grant: &ReadGrant, request: &SearchRequest) -> Result<Vec<Hit>> {
///         assert!(!format!("{request:?}").contains("Ada")); // never into a log
///         self.0.search(grant, request)
///     }
/// #     fn is_durable(&self) -> bool { self.0.is_durable() }
/// #     strandline::forward!(inner: get, list, save, delete, append, history, audit, reindex,
/// #         trail, note_read, sources, derivations, versions, import, backup, restore, erase,
/// #         check, history_page, stats, holdings, language);
/// }
///
/// let store = MemoryStore::builder().with_provider(Arc::new(Mine::default()));
/// let high = store.session("s-1", "agent").taint(Classification::Internal).open()?;
/// store.save(&high, Draft::new("door-code", "Ada knows 4711"))?;
/// let low = store.session("s-2", "agent").open()?;
/// store.save(&low, Draft::new("tea", "Ada likes jasmine"))?;
///
/// assert_eq!(store.search(&low, Search::new("Ada"))?.len(), 1); // not the door code
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone)]
pub struct SearchRequest {
    /// The words, as plain text.
    pub query: String,
    /// At most so many hits; at least 1.
    pub limit: usize,
    /// Whether records that one session saved next to each other lend each other score.
    pub neighbours: bool,
}

impl fmt::Debug for SearchRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SearchRequest")
            .field("limit", &self.limit)
            .field("neighbours", &self.neighbours)
            .finish_non_exhaustive()
    }
}

/// A record that a search found.
///
/// ```
/// use std::sync::Arc;
/// use strandline::policy::ReadGrant;
/// use strandline::storage::{Hit, InMemory, SearchRequest, StorageProvider};
/// use strandline::{Classification, Draft, MemoryStore, Result, Search};
///
/// #[derive(Debug, Default)]
/// struct Mine(InMemory);
/// # impl Mine { fn inner(&self) -> Result<&InMemory> { Ok(&self.0) } }
///
/// impl StorageProvider for Mine {
///     fn search(&self, grant: &ReadGrant, request: &SearchRequest) -> Result<Vec<Hit>> {
///         let hits = self.0.search(grant, request)?;
///         assert!(hits.iter().all(|hit| hit.memory.classification.can_flow_to(grant.level())));
///         assert!(hits.is_sorted_by(|better, worse| better.score >= worse.score));
///         Ok(hits)
///     }
/// #     fn is_durable(&self) -> bool { self.0.is_durable() }
/// #     strandline::forward!(inner: get, list, save, delete, append, history, audit, reindex,
/// #         trail, note_read, sources, derivations, versions, import, backup, restore, erase,
/// #         check, history_page, stats, holdings, language);
/// }
///
/// let store = MemoryStore::builder().with_provider(Arc::new(Mine::default()));
/// let high = store.session("s-1", "agent").taint(Classification::Internal).open()?;
/// store.save(&high, Draft::new("door-code", "Ada knows 4711"))?;
/// let low = store.session("s-2", "agent").open()?;
/// store.save(&low, Draft::new("tea", "Ada likes jasmine"))?;
///
/// assert_eq!(store.search(&low, Search::new("Ada"))?.len(), 1); // not the door code
/// assert_eq!(store.search(&high, Search::new("Ada"))?.len(), 2);
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The record.
    pub memory: Memory,
    /// Its score by [`search`](crate::search), over what the session can see; higher is better.
    pub score: f64,
}

/// What has become of a version.
///
/// ```
/// use strandline::storage::VersionState;
/// use strandline::{Draft, MemoryStore};
///
/// let store = MemoryStore::open_in_memory()?;
/// let session = store.session("s-1", "agent").open()?;
/// store.save(&session, Draft::new("k", "one"))?;
/// store.save(&session, Draft::new("k", "two"))?;
/// let states = store.host().history("agent", "k")?.into_iter().map(|version| version.state);
/// assert_eq!(states.collect::<Vec<_>>(), [VersionState::Live, VersionState::Superseded]);
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VersionState {
    /// The current version of its key at its level.
    Live,
    /// A later save replaced it.
    Superseded,
    /// It was deleted.
    Deleted,
}

/// A version in the history of a key.
///
/// ```
/// use strandline::{Draft, MemoryStore};
///
/// let store = MemoryStore::open_in_memory()?;
/// let session = store.session("s-1", "agent").open()?;
/// store.save(&session, Draft::new("k", "v"))?;
/// store.delete(&session, "k")?;
/// assert!(store.get(&session, "k")?.is_none());
/// let versions = store.host().history("agent", "k")?; // for the host it is still there
/// assert_eq!(versions[0].memory.content, "v");
/// assert!(versions[0].ended_at.is_some());
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// The version.
    pub memory: Memory,
    /// What has become of it.
    pub state: VersionState,
    /// When it was superseded or deleted.
    pub ended_at: Option<DateTime<Utc>>,
}

/// What came of a deletion.
///
/// ```
/// use std::sync::Arc;
/// use strandline::policy::WriteGrant;
/// use strandline::storage::{Deletion, InMemory, StorageProvider};
/// use strandline::{Classification, Draft, ErrorKind, MemoryKey, MemoryStore, Result};
///
/// #[derive(Debug, Default)]
/// struct Mine(InMemory);
/// # impl Mine { fn inner(&self) -> Result<&InMemory> { Ok(&self.0) } }
///
/// impl StorageProvider for Mine {
///     fn delete(&self, grant: &WriteGrant<'_>, key: &MemoryKey) -> Result<Deletion> {
///         let deletion = self.0.delete(grant, key)?;
///         // Never the level of what the session can't see.
///         assert!(!matches!(deletion, Deletion::WrongLevel(level) if level > grant.level()));
///         Ok(deletion)
///     }
/// #     fn is_durable(&self) -> bool { self.0.is_durable() }
/// #     strandline::forward!(inner: get, list, search, save, append, history, audit, reindex,
/// #         trail, note_read, sources, derivations, versions, import, backup, restore, erase,
/// #         check, history_page, stats, holdings, language);
/// }
///
/// let store = MemoryStore::builder().with_provider(Arc::new(Mine::default()));
/// let high = store.session("s-1", "agent").taint(Classification::Internal).open()?;
/// store.save(&high, Draft::new("door-code", "Ada knows 4711"))?;
/// let low = store.session("s-2", "agent").open()?;
/// store.save(&low, Draft::new("tea", "Ada likes jasmine"))?;
///
/// assert_eq!(store.delete(&low, "door-code").unwrap_err().kind(), ErrorKind::NotFound);
/// assert_eq!(store.delete(&high, "tea").unwrap_err().kind(), ErrorKind::WrongLevel);
/// store.delete(&low, "tea")?;
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deletion {
    /// The live record at the grant's level is now deleted; this was its version.
    Done {
        /// The deleted version.
        version: u64,
    },
    /// The grant's session sees no record under the key.
    NotFound,
    /// What the session sees under the key is at this lower level.
    WrongLevel(Classification),
}
