//! Handing on to another provider.

use chrono::{DateTime, Utc};
use uuid::Uuid;

/// What [`forward`](crate::forward) can name without the crates it is of.
pub type Time = DateTime<Utc>;
/// As [`Time`].
pub type LineageId = Uuid;

/// The methods of a [`StorageProvider`](crate::storage::StorageProvider) that hand on to another one.
///
/// For a provider that wraps another: it names a method of its own that returns a
/// [`Result`](crate::Result) with a reference to the wrapped one, and then the methods that shall do
/// nothing but call that. The others it writes itself, and
/// [`is_durable`](crate::storage::StorageProvider::is_durable) always.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use strandline::policy::WriteGrant;
/// use strandline::storage::{InMemory, NewRecord, StorageProvider};
/// use strandline::{Draft, Memory, MemoryStore, Result};
///
/// /// Counts what is saved.
/// #[derive(Debug, Default)]
/// struct Counting {
///     records: InMemory,
///     saved: AtomicU64,
/// }
///
/// impl Counting {
///     fn records(&self) -> Result<&InMemory> {
///         Ok(&self.records)
///     }
/// }
///
/// impl StorageProvider for Counting {
///     fn is_durable(&self) -> bool {
///         self.records.is_durable()
///     }
///
///     fn save(&self, grant: &WriteGrant<'_>, records: &[NewRecord]) -> Result<Vec<Memory>> {
///         self.saved.fetch_add(records.len() as u64, Ordering::Relaxed);
///         self.records.save(grant, records)
///     }
///
///     strandline::forward!(records: get, list, search, delete, append, history, audit, reindex, trail,
///         note_read, sources, derivations, versions, import, backup, restore, erase, check,
///         history_page, stats, holdings, language);
/// }
///
/// let counting = Arc::new(Counting::default());
/// let store = MemoryStore::builder().with_provider(counting.clone());
/// let session = store.session("s-1", "agent").open()?;
/// store.save(&session, Draft::new("k", "v"))?;
/// assert_eq!(counting.saved.load(Ordering::Relaxed), 2); // the session's state, and the memory
/// # Ok::<(), strandline::Error>(())
/// ```
#[macro_export]
macro_rules! forward {
    ($inner:ident: $($method:ident),+ $(,)?) => {
        $($crate::forward!(@ $inner $method);)+
    };
    (@ $inner:ident get) => {
        $crate::forward!(@@ $inner get(grant: &$crate::policy::ReadGrant, key: &$crate::MemoryKey)
            -> ::std::option::Option<$crate::Memory>);
    };
    (@ $inner:ident list) => {
        $crate::forward!(@@ $inner list(
            grant: &$crate::policy::ReadGrant,
            request: &$crate::storage::ListRequest
        ) -> $crate::storage::ListPage);
    };
    (@ $inner:ident search) => {
        $crate::forward!(@@ $inner search(
            grant: &$crate::policy::ReadGrant,
            request: &$crate::storage::SearchRequest
        ) -> ::std::vec::Vec<$crate::storage::Hit>);
    };
    (@ $inner:ident save) => {
        $crate::forward!(@@ $inner save(
            grant: &$crate::policy::WriteGrant<'_>,
            records: &[$crate::storage::NewRecord]
        ) -> ::std::vec::Vec<$crate::Memory>);
    };
    (@ $inner:ident delete) => {
        $crate::forward!(@@ $inner delete(
            grant: &$crate::policy::WriteGrant<'_>,
            key: &$crate::MemoryKey
        ) -> $crate::storage::Deletion);
    };
    (@ $inner:ident append) => {
        $crate::forward!(@@ $inner append(event: &$crate::audit::Event) -> ());
    };
    (@ $inner:ident history) => {
        $crate::forward!(@@ $inner history(
            grant: &$crate::policy::HostGrant,
            key: &$crate::MemoryKey
        ) -> ::std::vec::Vec<$crate::storage::Version>);
    };
    (@ $inner:ident audit) => {
        $crate::forward!(@@ $inner audit(
            grant: &$crate::policy::HostGrant,
            query: &$crate::audit::Query
        ) -> ::std::vec::Vec<$crate::audit::Entry>);
    };
    (@ $inner:ident reindex) => {
        $crate::forward!(@@ $inner reindex(grant: &$crate::policy::HostGrant) -> u64);
    };
    (@ $inner:ident trail) => {
        $crate::forward!(@@ $inner trail(
            grant: &$crate::policy::HostGrant,
            after: u64,
            limit: usize
        ) -> $crate::audit::Trail);
    };
    (@ $inner:ident note_read) => {
        $crate::forward!(@@ $inner note_read(reading: &$crate::lineage::Reading) -> ());
    };
    (@ $inner:ident sources) => {
        $crate::forward!(@@ $inner sources(
            grant: &$crate::policy::HostGrant,
            version: &$crate::lineage::VersionId,
            limit: usize
        ) -> ::std::vec::Vec<$crate::lineage::Origin>);
    };
    (@ $inner:ident derivations) => {
        $crate::forward!(@@ $inner derivations(
            grant: &$crate::policy::HostGrant,
            version: &$crate::lineage::VersionId,
            limit: usize
        ) -> ::std::vec::Vec<$crate::lineage::Origin>);
    };
    (@ $inner:ident versions) => {
        $crate::forward!(@@ $inner versions(
            grant: &$crate::policy::HostGrant,
            each: &mut dyn FnMut($crate::storage::StoredVersion, u64) -> $crate::Result<()>
        ) -> ());
    };
    (@ $inner:ident import) => {
        $crate::forward!(@@ $inner import(
            grant: &$crate::policy::HostGrant,
            at: $crate::storage::Time,
            versions: &[$crate::storage::StoredVersion]
        ) -> ::std::vec::Vec<$crate::storage::Imported>);
    };
    (@ $inner:ident backup) => {
        $crate::forward!(@@ $inner backup(
            grant: &$crate::policy::HostGrant,
            path: &::std::path::Path,
            on_progress: &mut dyn FnMut($crate::storage::BackupProgress)
        ) -> u64);
    };
    (@ $inner:ident restore) => {
        $crate::forward!(@@ $inner restore(
            grant: &$crate::policy::WriteGrant<'_>,
            request: &$crate::storage::Restore
        ) -> ::std::option::Option<$crate::Memory>);
    };
    (@ $inner:ident erase) => {
        $crate::forward!(@@ $inner erase(
            grant: &$crate::policy::HostGrant,
            request: &$crate::storage::Erasure
        ) -> $crate::storage::Erased);
    };
    (@ $inner:ident check) => {
        $crate::forward!(@@ $inner check(grant: &$crate::policy::HostGrant)
            -> ::std::vec::Vec<$crate::storage::Problem>);
    };
    (@ $inner:ident history_page) => {
        $crate::forward!(@@ $inner history_page(
            grant: &$crate::policy::HostGrant,
            key: &$crate::MemoryKey,
            after: ::std::option::Option<$crate::storage::LineageId>,
            limit: usize
        ) -> ::std::vec::Vec<$crate::storage::Version>);
    };
    (@ $inner:ident stats) => {
        $crate::forward!(@@ $inner stats(
            grant: &$crate::policy::HostGrant,
            now: $crate::storage::Time
        ) -> $crate::storage::Stats);
    };
    (@ $inner:ident holdings) => {
        $crate::forward!(@@ $inner holdings(
            grant: &$crate::policy::HostGrant,
            now: $crate::storage::Time
        ) -> ::std::vec::Vec<$crate::storage::Holding>);
    };
    (@ $inner:ident language) => {
        $crate::forward!(@@ $inner language() -> $crate::search::analysis::Language);
    };
    (@@ $inner:ident $method:ident($($name:ident: $type:ty),*) -> $answer:ty) => {
        fn $method(&self, $($name: $type),*) -> $crate::Result<$answer> {
            $crate::storage::StorageProvider::$method(self.$inner()?, $($name),*)
        }
    };
}
