//! What a host asks of a provider to keep a store in order, and what it is told.

use chrono::{DateTime, SecondsFormat, Utc};
use serde::Serialize;
use uuid::Uuid;

use super::Namespace;
use crate::audit::{Action, Decision, Facts};
use crate::classification::Classification;
use crate::clock::to_micros;
use crate::error::Result;
use crate::policy::HostGrant;
use crate::record::MemoryKey;
use crate::session::SessionId;

/// Which version to restore.
///
/// ```
/// use std::sync::Arc;
/// use strandline::policy::WriteGrant;
/// use strandline::storage::{InMemory, Restore, StorageProvider};
/// use strandline::{Draft, Memory, MemoryStore, Result};
///
/// #[derive(Debug, Default)]
/// struct Mine(InMemory);
/// # impl Mine { fn inner(&self) -> Result<&InMemory> { Ok(&self.0) } }
///
/// impl StorageProvider for Mine {
///     fn restore(&self, grant: &WriteGrant<'_>, request: &Restore) -> Result<Option<Memory>> {
///         let restored = self.0.restore(grant, request)?;
///         // A new version, never the old row made live again.
///         assert!(restored.as_ref().is_none_or(|new| new.version > request.version));
///         assert!(restored.as_ref().is_none_or(|new| new.lineage_id == request.lineage_id));
///         Ok(restored)
///     }
/// #     fn is_durable(&self) -> bool { self.0.is_durable() }
/// #     strandline::forward!(inner: get, list, search, save, delete, append, history, audit,
/// #         reindex, trail, note_read, sources, derivations, versions, import, backup, erase,
/// #         check, history_page, stats, holdings, language);
/// }
///
/// let store = MemoryStore::builder().with_provider(Arc::new(Mine::default()));
/// let session = store.session("s-1", "agent").open()?;
/// store.save(&session, Draft::new("k", "v"))?;
/// assert_eq!(store.host().restore(&session, "k", 1)?.version, 2);
/// assert!(store.host().restore(&session, "k", 9).is_err());
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Restore {
    /// The key.
    pub key: MemoryKey,
    /// The number of the version to restore, at the grant's level.
    pub version: u64,
    /// The new version's random id.
    pub lineage_id: Uuid,
}

/// Which versions to remove for good. None of the namespace [`SESSION`](Namespace::SESSION) is
/// ever among them.
///
/// ```
/// use std::sync::Arc;
/// use strandline::policy::HostGrant;
/// use strandline::storage::{Erase, Erased, Erasure, InMemory, StorageProvider};
/// use strandline::{Draft, MemoryStore, Result};
///
/// #[derive(Debug, Default)]
/// struct Mine(InMemory);
/// # impl Mine { fn inner(&self) -> Result<&InMemory> { Ok(&self.0) } }
///
/// impl StorageProvider for Mine {
///     fn erase(&self, grant: &HostGrant, request: &Erasure) -> Result<Erased> {
///         assert!(matches!(&request.what, Erase::Key(key) if key.as_str() == "k"));
///         self.0.erase(grant, request)
///     }
/// #     fn is_durable(&self) -> bool { self.0.is_durable() }
/// #     strandline::forward!(inner: get, list, search, save, delete, append, history, audit,
/// #         reindex, trail, note_read, sources, derivations, versions, import, backup, restore,
/// #         check, history_page, stats, holdings, language);
/// }
///
/// let store = MemoryStore::builder().with_provider(Arc::new(Mine::default()));
/// let session = store.session("s-1", "agent").open()?;
/// store.save(&session, Draft::new("k", "v"))?;
/// store.host().erase("agent", "k")?;
/// assert!(store.get(&session, "k")?.is_none());
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Debug)]
pub enum Erase {
    /// In the grant's namespace and of its agent, or of every agent if it has none: versions that
    /// were superseded or deleted before this time, and live records that expired before it.
    Ended {
        /// The time, to the microsecond. What ended exactly then stays.
        before: DateTime<Utc>,
    },
    /// Every version of a key of the grant's agent in its namespace.
    Key(MemoryKey),
    /// Every version of the grant's agent, in every namespace.
    Agent,
    /// Every version that a session saved, in every namespace.
    Session(SessionId),
}

impl Erase {
    /// What ended before a time, to the microsecond.
    pub(crate) fn ended(before: DateTime<Utc>) -> Self {
        let before = to_micros(before);
        Self::Ended { before }
    }
}

/// A purge or an erasure, and when it is asked for.
///
/// ```
/// use std::sync::Arc;
/// use strandline::policy::HostGrant;
/// use strandline::storage::{Erased, Erasure, InMemory, StorageProvider};
/// use strandline::{Draft, MemoryStore, Result};
///
/// #[derive(Debug, Default)]
/// struct Mine(InMemory);
/// # impl Mine { fn inner(&self) -> Result<&InMemory> { Ok(&self.0) } }
///
/// impl StorageProvider for Mine {
///     fn erase(&self, grant: &HostGrant, request: &Erasure) -> Result<Erased> {
///         let erased = self.0.erase(grant, request)?;
///         let facts = request.facts(grant, erased.versions)?; // the entry of it
///         assert_eq!(facts.detail.as_deref(), Some("versions removed: 1"));
///         Ok(erased)
///     }
/// #     fn is_durable(&self) -> bool { self.0.is_durable() }
/// #     strandline::forward!(inner: get, list, search, save, delete, append, history, audit,
/// #         reindex, trail, note_read, sources, derivations, versions, import, backup, restore,
/// #         check, history_page, stats, holdings, language);
/// }
///
/// let store = MemoryStore::builder().with_provider(Arc::new(Mine::default()));
/// let session = store.session("s-1", "agent").open()?;
/// store.save(&session, Draft::new("k", "v"))?;
/// store.host().erase("agent", "k")?;
/// assert!(store.get(&session, "k")?.is_none());
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Erasure {
    /// What is removed.
    pub what: Erase,
    /// The time of the call.
    pub now: DateTime<Utc>,
}

impl Erasure {
    /// The audit entry of having removed so many versions.
    ///
    /// The host has neither a session nor a level: the entry has the erased session or else
    /// `host`, the grant's agent or else `host`, and `RESTRICTED`.
    ///
    /// # Errors
    /// None that can be met: `host` is a valid name.
    pub fn facts(&self, grant: &HostGrant, versions: u64) -> Result<Facts> {
        let host = Namespace::SESSION_OWNER;
        let (action, session, key) = match &self.what {
            Erase::Ended { .. } => (Action::Purge, host.parse()?, None),
            Erase::Key(key) => (Action::Erase, host.parse()?, Some(key.clone())),
            Erase::Agent => (Action::Erase, host.parse()?, None),
            Erase::Session(session) => (Action::Erase, session.clone(), None),
        };
        let detail = match &self.what {
            Erase::Ended { before } => {
                let before = before.to_rfc3339_opts(SecondsFormat::AutoSi, true);
                format!("{REMOVED}{versions}, ended before {before}")
            }
            _ => format!("{REMOVED}{versions}"),
        };
        Ok(Facts {
            at: self.now,
            session,
            agent: grant.agent().cloned().map_or_else(|| host.parse(), Ok)?,
            namespace: grant.namespace().clone(),
            action,
            decision: Decision::Allowed,
            level: Classification::Restricted,
            key,
            version: None,
            rule: None,
            detail: Some(detail),
        })
    }

    /// How many versions an entry of the audit says were removed.
    pub(crate) fn removed(facts: &Facts) -> u64 {
        let removes = matches!(facts.action, Action::Purge | Action::Erase);
        let detail = facts.detail.as_deref().filter(|_| removes);
        let rest = detail.and_then(|detail| detail.strip_prefix(REMOVED));
        let number = rest.and_then(|rest| rest.split(',').next());
        number.and_then(|number| number.parse().ok()).unwrap_or(0)
    }
}

/// How the detail of an entry of a removal begins.
const REMOVED: &str = "versions removed: ";

/// What came of a purge or an erasure.
///
/// ```
/// use strandline::{Draft, MemoryStore};
///
/// let store = MemoryStore::open_in_memory()?;
/// let session = store.session("s-1", "agent").open()?;
/// store.save(&session, Draft::new("k", "v"))?;
/// let mut erased = store.host().erase("agent", "k")?;
/// while !erased.complete {
///     erased = store.host().erase("agent", "k")?; // others were reading all the time
/// }
/// assert!(store.get(&session, "k")?.is_none());
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Erased {
    /// How many versions were removed.
    pub versions: u64,
    /// Whether no byte of them is left in the provider's files. If not, others were reading all
    /// the time; the same call again finishes it.
    pub complete: bool,
}

/// A kind of fault that a check finds.
///
/// ```
/// use strandline::storage::ProblemKind;
/// use strandline::{Draft, MemoryStore};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("memory.db");
/// let store = MemoryStore::open(&path)?;
/// let session = store.session("s-1", "agent").open()?;
/// store.save(&session, Draft::new("tea", "Ada likes jasmine").tag("drinks"))?;
/// drop((session, store));
/// // Somebody meddles with the file.
/// rusqlite::Connection::open(&path)?.execute("DELETE FROM record_tags", [])?;
/// let problems = MemoryStore::open(&path)?.host().check()?;
///
/// assert!(problems.iter().any(|problem| problem.kind == ProblemKind::Tags));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ProblemKind {
    /// The file is damaged: a tree, a page, a table or an index of it is missing or not as it must be.
    File,
    /// A row refers to one that isn't there.
    Reference,
    /// A record holds a value that this crate never writes.
    Record,
    /// What a record says of the level that shadows it is wrong.
    Shadow,
    /// The tags that lists look for differ from those of the live records.
    Tags,
    /// The search index is damaged in itself.
    Index,
    /// The terms or the settings in the search index differ from what the live records ask for.
    Terms,
    /// The counts that searches rank by differ from the live records.
    Counts,
    /// A number from which further ones are given, of versions or of rows, is lower than one that was given
    /// already, or higher than anything explains.
    Numbers,
    /// The audit's chain is broken ([`Host::verify`](crate::Host::verify) says where), a version that
    /// is stored has no entry, or one that has an entry is neither stored nor was it removed.
    Audit,
    /// A purge or an erasure didn't come to its end: bytes of what it removed may be left. Any
    /// further one finishes it.
    Unfinished,
}

/// A fault that a check found. It holds neither content nor keys.
///
/// ```
/// use strandline::{Draft, MemoryStore};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("memory.db");
/// let store = MemoryStore::open(&path)?;
/// let session = store.session("s-1", "agent").open()?;
/// store.save(&session, Draft::new("tea", "Ada likes jasmine").tag("drinks"))?;
/// drop((session, store));
/// // Somebody meddles with the file.
/// rusqlite::Connection::open(&path)?.execute("DELETE FROM record_tags", [])?;
/// let problems = MemoryStore::open(&path)?.host().check()?;
///
/// assert_eq!(problems[0].count, 1);
/// assert!(!format!("{problems:?}").contains("jasmine")); // neither content nor key
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// What is wrong.
    pub kind: ProblemKind,
    /// How often at least.
    pub count: u64,
    /// The lineage id of the first record that is concerned, where one is known.
    pub record: Option<Uuid>,
}
