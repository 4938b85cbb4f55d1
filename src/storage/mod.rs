//! Where records live: the provider trait, and the two providers of this crate.
//!
//! A [`StorageProvider`] keeps *records*: an agent's memories, and, in other [`Namespace`]s, the
//! state that a runtime keeps of its sessions, cron jobs and todos. It decides nothing. What may be
//! read or written is in the grant that each method takes, and only the [gate](crate::policy) makes
//! grants.

mod forward;
mod memory;
mod namespace;
mod parts;
pub(crate) mod sqlite;
mod stats;
mod transfer;
mod upkeep;

use std::fmt;
use std::path::Path;

use chrono::{DateTime, Utc};
use uuid::Uuid;

#[doc(hidden)]
pub use forward::{LineageId, Time};
pub use memory::InMemory;
pub use namespace::Namespace;
pub use parts::{
    Deletion, Hit, ListPage, ListRequest, NewRecord, SearchRequest, Version, VersionState,
};
#[cfg(feature = "sqlcipher")]
pub use sqlite::EncryptionKey;
pub use sqlite::{Durability, OnReindex, OnRepair, Reindexing, Sqlite, SqliteOptions};
pub use stats::{Counts, Holding, Sizes, Stats};
pub use transfer::{BackupProgress, ImportProblem, ImportReport, Imported, StoredVersion};
pub use upkeep::{Erase, Erased, Erasure, Problem, ProblemKind, Restore};

use crate::audit;
use crate::error::Result;
use crate::lineage::{Origin, Reading, VersionId};
use crate::policy::{HostGrant, ReadGrant, WriteGrant};
use crate::record::{Memory, MemoryKey};
use crate::search::analysis::Language;

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
///    [can flow to](crate::Classification::can_flow_to) the grant's; every other record is as if it weren't
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
///    [`SESSION_OWNER`](Namespace::SESSION_OWNER) as their agent.) So does a save of the session's own
///    record unless the version of it that was stored last, at whatever level, is the one that the grant
///    [`follows`](WriteGrant::follows): of two processes that change one session at once, the second
///    decides anew.
/// 8. **Delete.** `delete` acts on a record that is live, unexpired and at exactly the grant's level;
///    else it changes nothing, and answers [`Deletion::WrongLevel`] with the visible record's level
///    if a lower one is visible, or [`Deletion::NotFound`]. A deleted record is not live any more;
///    what it shadowed shows again.
/// 9. **List.** `list` returns visible records in ascending byte order of their keys, those after
///    `after` and with the `tag` (compared by [`Tag::folded`](crate::Tag::folded)), at most `limit`; `more` says whether
///    another one follows, `total` counts all with the tag.
/// 10. **Search.** `search` returns the visible records that share a term with the query, best first,
///     with the scores that [`search`](crate::search) defines, which count the visible records alone;
///     of equal scores the last saved first; of that order the first `limit`. No text of a query is
///     syntax or a wildcard, and one without a word finds nothing. Records and queries are analysed for one
///     language, which `language` says; while and after it changes, a search finds what it would if the
///     records had been saved in the new one.
/// 11. **Any text.** Every key, content, tag and query comes back, or compares, exactly; none causes
///     a panic or an error.
/// 12. **Audit.** Each stored or deleted record leaves one entry with the grant's
///     [`facts`](WriteGrant::facts), in the same transaction; `append` stores its event, `note_read` the
///     entry of its reading if that has one; nothing else leaves one. `seq` starts at 1, rises in the order of storing and has no gaps. `audit` returns
///     the entries that match every part of the query, by falling `seq`, at most `limit`.
/// 13. **Silence.** Errors hold no key, content, tag or query.
/// 14. **Threads.** All methods may be called from many threads at once; each sees whole writes only.
/// 15. **Durable.** If [`is_durable`](Self::is_durable), what was acknowledged is there after the
///     provider is dropped and opened again.
/// 16. **Reindex.** `reindex` makes anew, from the records, whatever `search` finds them by, and returns
///     how many live records there are, of all namespaces and agents. No other method answers
///     otherwise for it, neither after it nor while it runs, and writes meanwhile are kept.
/// 17. **Chain.** Each entry's hash is [`Digest::of_entry`](audit::Digest::of_entry) of the hash of the
///     entry before it, its number and its facts, with any number of writers. `trail` returns what is
///     stored as entries with numbers above `after`, by rising number, at most `limit` of them and one
///     at least if there is any; with 0 all from the first on. It neither checks hashes nor leaves out or
///     fails at what can't be an entry.
/// 18. **Lineage.** `note_read` keeps, for its session and each of its versions that there is, that the
///     session has read it, from the newest entry of the audit on, that of the reading included; for a
///     version that the session has read before nothing changes. All of it is committed when it returns,
///     or nothing. `sources` returns the versions that the session of this version had read before the
///     entry of its save, the first read first, of those read at once the first stored. `derivations`
///     returns the versions, in the order of their entries, that sessions saved after they had read this
///     one. Both leave out records of the namespace `session`, reach every namespace and agent, return
///     at most `limit`, and nothing for a version that there isn't. No other method depends on it.
/// 19. **Restore, purge, erase.** `restore` acts on the version of that number at exactly the grant's
///     level, live or not; if there is none it changes nothing and returns `None`, and if that
///     version has expired it fails with [`InvalidArgument`](crate::ErrorKind::InvalidArgument). Else
///     it is a `save` of that version's content, tags and expiry by this grant, except that its entry
///     in the audit is [`restored`](WriteGrant::restored). `erase` removes exactly the versions that
///     [`Erase`] names, of those that were stored when it was called, and all that was derived from
///     them; a live record among them is gone like a deleted one, and what it shadowed shows again.
///     It does so in one transaction or in several, each with an entry of its
///     [`facts`](Erasure::facts), and leaves at least one. The other versions stay as they are.
///     Numbers of versions (clause 4) go on as if nothing had been removed. Where
///     [`complete`](Erased::complete) is true, no byte of the removed contents and tags, nor of a term
///     of them, is left in the provider's files.
/// 20. **Check.** `check` compares everything that the provider derives from records with the records,
///     and finds nothing in what its own methods wrote. Each kind of problem comes once. It changes
///     nothing, and others may read and write meanwhile.
/// 21. **Export and import.** `versions` gives every version of every namespace and agent, as they were
///     at one moment, in the order of storing. `import` takes over versions in the order of its
///     argument, all that it stores or none. What a version is, its `lineage_id` says. One that
///     is there already is never altered, but that it ends where it is live here and ended there
///     ([`Imported::Ended`]; never in the namespace `session`); one that is there with another owner,
///     key, level, content, tags, session, creation or expiry is [`Imported::Conflict`]. A new
///     one is stored as it is, with these exceptions. *Live* it gives way to a live version of its key and level
///     that was saved at the same time or later, and then is superseded; where none is live and
///     its number isn't above all others there, it gives way to a deletion at or after its saving, and
///     then is deleted. Else it supersedes what is live. Its *number* becomes one more than the
///     highest there if it is taken, or if the version is live and doesn't have the highest. Each
///     stored or ended version leaves one entry, with its [`facts`](StoredVersion::facts). `backup` makes
///     one whole file, or fails with [`Unsupported`](crate::ErrorKind::Unsupported).
/// 22. **Stats.** `holdings` has, by agent and level, what is live and unexpired.
///     `stats` counts, at each level, the versions of the grant's namespace, of its agent only
///     if it has one, by what has become of them at that time; the agents with a version in the
///     namespace; the session records of the namespace `session`, each key once; and all audit entries.
///     A provider without files reports no sizes.
///
/// A provider of your own is one around another, or one from the ground up; the guide
/// [`provider`](crate::guide::provider) has both. Methods that only hand on are hidden here:
///
/// ```
/// use std::sync::Arc;
/// use strandline::policy::ReadGrant;
/// use strandline::storage::{InMemory, StorageProvider};
/// use strandline::{Classification, Draft, Memory, MemoryKey, MemoryStore, Result};
///
/// #[derive(Debug, Default)]
/// struct Mine(InMemory);
/// # impl Mine { fn inner(&self) -> Result<&InMemory> { Ok(&self.0) } }
///
/// impl StorageProvider for Mine {
///     /// Checks the wrapped provider by clause 2, and hands on.
///     fn get(&self, grant: &ReadGrant, key: &MemoryKey) -> Result<Option<Memory>> {
///         let found = self.0.get(grant, key)?;
///         let is_visible = |memory: &Memory| memory.classification.can_flow_to(grant.level());
///         assert!(found.as_ref().is_none_or(is_visible));
///         Ok(found)
///     }
/// #     fn is_durable(&self) -> bool { self.0.is_durable() }
/// #     strandline::forward!(inner: list, search, save, delete, append, history, audit, reindex,
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
/// assert!(store.get(&low, "tea")?.is_some());
/// assert!(store.get(&low, "door-code")?.is_none()); // above its grant
/// # Ok::<(), strandline::Error>(())
/// ```
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

    /// A stretch of the audit as it is stored, for a check of its chain (clause 17).
    ///
    /// # Errors
    /// Those of the storage only.
    fn trail(&self, grant: &HostGrant, after: u64, limit: usize) -> Result<audit::Trail>;

    /// Keeps what a read found (clauses 12 and 18).
    ///
    /// # Errors
    /// Those of the storage only.
    fn note_read(&self, reading: &Reading) -> Result<()>;

    /// What the version's session had read before it saved it (clause 18).
    ///
    /// # Errors
    /// Those of the storage only.
    fn sources(&self, grant: &HostGrant, version: &VersionId, limit: usize) -> Result<Vec<Origin>>;

    /// What sessions saved after they had read the version (clause 18).
    ///
    /// # Errors
    /// Those of the storage only.
    fn derivations(
        &self,
        grant: &HostGrant,
        version: &VersionId,
        limit: usize,
    ) -> Result<Vec<Origin>>;

    /// Hands each stored version to `each`, with how many there are in all (clause 21), until it fails.
    ///
    /// # Errors
    /// The first of `each`, and those of the storage.
    fn versions(
        &self,
        grant: &HostGrant,
        each: &mut dyn FnMut(StoredVersion, u64) -> Result<()>,
    ) -> Result<()>;

    /// Takes over versions at this time (clause 21); what came of each, in order. Their texts are within
    /// limits, their tags differ, and their numbers are at most [`StoredVersion::MAX_NUMBER`].
    ///
    /// # Errors
    /// Those of the storage only. Nothing is stored then.
    fn import(
        &self,
        grant: &HostGrant,
        at: DateTime<Utc>,
        versions: &[StoredVersion],
    ) -> Result<Vec<Imported>>;

    /// Copies the whole store, as it is at one moment, to a new file, and returns how many versions that
    /// holds, without those of the namespace `session` (clause 21).
    ///
    /// # Errors
    /// [`Unsupported`](crate::ErrorKind::Unsupported) if the provider keeps no file,
    /// [`AlreadyExists`](crate::ErrorKind::AlreadyExists) if something is at the path, and those of the
    /// storage.
    fn backup(
        &self,
        grant: &HostGrant,
        path: &Path,
        on_progress: &mut dyn FnMut(BackupProgress),
    ) -> Result<u64>;

    /// Makes an earlier version the live one again, as a new version (clause 19).
    ///
    /// # Errors
    /// [`TaintRaised`](crate::ErrorKind::TaintRaised) by clause 7,
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) for a version that has expired, and those
    /// of the storage.
    fn restore(&self, grant: &WriteGrant<'_>, request: &Restore) -> Result<Option<Memory>>;

    /// Removes versions for good (clause 19).
    ///
    /// # Errors
    /// Those of the storage only. What was removed until then stays so; the same call again goes on.
    fn erase(&self, grant: &HostGrant, request: &Erasure) -> Result<Erased>;

    /// Says what is wrong with the stored data (clause 20).
    ///
    /// # Errors
    /// Those of the storage that keep it from looking. Damage is a [`Problem`], not an error.
    fn check(&self, grant: &HostGrant) -> Result<Vec<Problem>>;

    /// A part of the history of a key (clause 5).
    ///
    /// # Errors
    /// [`NotFound`](crate::ErrorKind::NotFound) for an `after` that isn't there, and those of the storage.
    fn history_page(
        &self,
        grant: &HostGrant,
        key: &MemoryKey,
        after: Option<Uuid>,
        limit: usize,
    ) -> Result<Vec<Version>>;

    /// Counts and sizes (clause 22).
    ///
    /// # Errors
    /// Those of the storage only.
    fn stats(&self, grant: &HostGrant, now: DateTime<Utc>) -> Result<Stats>;

    /// What each agent has at each level (clause 22).
    ///
    /// # Errors
    /// Those of the storage only.
    fn holdings(&self, grant: &HostGrant, now: DateTime<Utc>) -> Result<Vec<Holding>>;

    /// The language of the analysis by which it searches now (clause 10).
    ///
    /// # Errors
    /// Those of the storage only.
    fn language(&self) -> Result<Language>;
}
