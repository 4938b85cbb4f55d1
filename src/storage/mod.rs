//! Where records live: the provider trait, and the two providers of this crate.
//!
//! A [`StorageProvider`] keeps *records*: an agent's memories, and, in other [`Namespace`]s, the
//! state that a runtime keeps of its sessions, cron jobs and todos. It decides nothing. What may be
//! read or written is in the grant that each method takes, and only the [gate](crate::policy) makes
//! grants.

mod memory;
mod namespace;
pub(crate) mod sqlite;
mod stats;

use std::fmt;

use chrono::{DateTime, Utc};
use serde::Serialize;
use uuid::Uuid;

pub use memory::InMemory;
pub use namespace::Namespace;
pub use sqlite::{Durability, OnReindex, Reindexing, Sqlite, SqliteOptions};
pub use stats::{Counts, Sizes, Stats};

use crate::audit;
use crate::classification::Classification;
use crate::error::Result;
use crate::policy::{HostGrant, ReadGrant, WriteGrant};
use crate::record::{Memory, MemoryKey, Tag};

/// A record to be stored, validated: what [`Draft`](crate::Draft) becomes on its way to a provider.
///
/// Its level, agent and namespace come from the [`WriteGrant`]. `Debug` shows sizes only.
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
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The record.
    pub memory: Memory,
    /// Its score by [`search`](crate::search), over what the session can see; higher is better.
    pub score: f64,
}

/// What has become of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
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

/// A store of labelled records.
///
/// Implement it to keep memories elsewhere than in SQLite. It is the whole contract; the suite in
/// the feature `conformance` has one test for each numbered clause. *Live* is a record that was
/// neither superseded nor deleted; *unexpired* one whose `expires_at` is absent or after the
/// grant's [`now`](ReadGrant::now). Every time is kept to the microsecond.
///
/// # Contract
/// 1. **Scope.** A record belongs to the namespace and the agent of the grant that wrote it. A grant
///    reaches only records of its own namespace and agent, compared exactly; a host grant without an
///    agent reaches no history. A scope that was never written to is empty, not an error.
/// 2. **Visibility.** `get`, `list` and `search` return exactly the *visible* records: of each key,
///    the live and unexpired record of the highest level that
///    [can flow to](Classification::can_flow_to) the grant's; every other record is as if it weren't
///    there. No value, order, score, count or error of these methods depends on a record that the
///    grant can't see.
/// 3. **Level.** `save` stores every record at exactly the grant's level, and otherwise just as the
///    [`NewRecord`] has it: a new version inherits neither tags nor expiry.
/// 4. **Versions.** Saving under a key that has a live record at the grant's level supersedes that
///    record. The new version's number is one more than the highest that the key ever had at that
///    level, starting from 1. `created_at` is that of the superseded record if it was unexpired,
///    else the grant's `now`. `updated_at` is `now`, or `created_at` where that is later. The
///    records of other levels and other keys stay as they are.
/// 5. **Nothing lost.** `save` and `delete` never remove or alter the content, tags or times of an
///    earlier version; `history` returns them all. `ended_at` is the `now` of the grant that
///    superseded or deleted the version. Expiry changes no state: an expired record stays live.
/// 6. **Atomic.** `save` stores all its records, each with its index and audit entries, or none. It
///    returns the stored records in the order of its argument, after they are as durable as the
///    provider makes them. A key that comes twice gets two versions.
/// 7. **Ratchet.** A write whose grant names a session with a live record in the namespace `session`
///    at a level above the grant's fails with
///    [`TaintRaised`](crate::ErrorKind::TaintRaised) and changes nothing. (Session records have the
///    session id as their key and are written with
///    [`SESSION_OWNER`](Namespace::SESSION_OWNER) as their agent.)
/// 8. **Delete.** `delete` acts on a record that is live, unexpired and at exactly the grant's level;
///    else it changes nothing, and answers [`Deletion::WrongLevel`] with the visible record's level
///    if a lower one is visible, or [`Deletion::NotFound`]. A deleted record is not live any more;
///    what it shadowed shows again.
/// 9. **List.** `list` returns visible records in ascending byte order of their keys, those after
///    `after` and with the `tag` (compared by [`Tag::folded`]), at most `limit`; `more` says whether
///    another one follows, `total` counts all with the tag.
/// 10. **Search.** `search` returns the visible records that share a term with the query, best first,
///     with the scores that [`search`](crate::search) defines, which count the visible records alone;
///     of equal scores the last saved first; of that order the first `limit`. No text of a query is
///     syntax or a wildcard, and one without a word finds nothing.
/// 11. **Any text.** Every key, content, tag and query comes back, or compares, exactly; none causes
///     a panic or an error.
/// 12. **Audit.** Each stored or deleted record leaves one entry with the grant's
///     [`facts`](WriteGrant::facts), in the same transaction; `append` stores its event; nothing else
///     leaves one. `seq` starts at 1, rises in the order of storing and has no gaps. `audit` returns
///     the entries that match every part of the query, by falling `seq`, at most `limit`.
/// 13. **Silence.** Errors hold no key, content, tag or query.
/// 14. **Threads.** All methods may be called from many threads at once; each sees whole writes only.
/// 15. **Durable.** If [`is_durable`](Self::is_durable), what was acknowledged is there after the
///     provider is dropped and opened again.
/// 16. **Reindex.** `reindex` makes anew, from the records, whatever `search` finds them by, and returns
///     how many live records there are, of all namespaces and agents. No other method answers
///     otherwise for it, neither after it nor while it runs, and writes meanwhile are kept.
///
/// 22. **Stats.** `stats` counts, at each level, the versions of the grant's namespace, of its agent only
///     if it has one, by what has become of them at that time; the agents with a version in the
///     namespace; the session records of the namespace `session`, each key once; and all audit entries.
///     A provider without files reports no sizes.
pub trait StorageProvider: fmt::Debug + Send + Sync {
    /// Whether records outlive the provider.
    fn is_durable(&self) -> bool;

    /// The visible record under the key (clauses 1 and 2).
    ///
    /// # Errors
    /// Those of the storage only.
    fn get(&self, grant: &ReadGrant, key: &MemoryKey) -> Result<Option<Memory>>;

    /// The visible records, by key (clauses 1, 2 and 9).
    ///
    /// # Errors
    /// Those of the storage only.
    fn list(&self, grant: &ReadGrant, request: &ListRequest) -> Result<ListPage>;

    /// The visible records that match, best first (clauses 1, 2 and 10).
    ///
    /// # Errors
    /// Those of the storage only.
    fn search(&self, grant: &ReadGrant, request: &SearchRequest) -> Result<Vec<Hit>>;

    /// Stores records at the grant's level (clauses 1, 3 to 7 and 12).
    ///
    /// # Errors
    /// [`TaintRaised`](crate::ErrorKind::TaintRaised) by clause 7, and those of the storage.
    fn save(&self, grant: &WriteGrant<'_>, records: &[NewRecord]) -> Result<Vec<Memory>>;

    /// Deletes softly (clauses 1, 5, 7, 8 and 12).
    ///
    /// # Errors
    /// [`TaintRaised`](crate::ErrorKind::TaintRaised) by clause 7, and those of the storage.
    fn delete(&self, grant: &WriteGrant<'_>, key: &MemoryKey) -> Result<Deletion>;

    /// Stores an audit entry that belongs to no write (clause 12).
    ///
    /// # Errors
    /// Those of the storage only.
    fn append(&self, event: &audit::Event) -> Result<()>;

    /// Every version of a key at every level: the last stored first, whatever the clock did (clause
    /// 5). The gate takes the first stored as the one that opened a session.
    ///
    /// # Errors
    /// Those of the storage only.
    fn history(&self, grant: &HostGrant, key: &MemoryKey) -> Result<Vec<Version>>;

    /// The audit entries that match (clause 12), of every namespace and agent.
    ///
    /// # Errors
    /// Those of the storage only.
    fn audit(&self, grant: &HostGrant, query: &audit::Query) -> Result<Vec<audit::Entry>>;

    /// Makes the search index anew (clause 16). A provider without one only counts.
    ///
    /// # Errors
    /// Those of the storage only.
    fn reindex(&self, grant: &HostGrant) -> Result<u64>;

    /// Counts and sizes (clause 22).
    ///
    /// # Errors
    /// Those of the storage only.
    fn stats(&self, grant: &HostGrant, now: DateTime<Utc>) -> Result<Stats>;
}
