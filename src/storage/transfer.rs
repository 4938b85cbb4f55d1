//! What goes from one store to another: whole versions, and what came of taking them over.

use chrono::{DateTime, Utc};

use super::{Namespace, Version, VersionState};
use crate::audit::{Action, Decision, Facts};
use crate::record::Memory;

/// A version with where it belongs: all that a store has of it.
///
/// ```
/// use std::sync::Arc;
/// use strandline::policy::HostGrant;
/// use strandline::storage::{InMemory, Namespace, StorageProvider, StoredVersion};
/// use strandline::{Draft, MemoryStore, Result};
///
/// #[derive(Debug, Default)]
/// struct Mine(InMemory);
/// # impl Mine { fn inner(&self) -> Result<&InMemory> { Ok(&self.0) } }
///
/// impl StorageProvider for Mine {
///     fn versions(
///         &self,
///         grant: &HostGrant,
///         each: &mut dyn FnMut(StoredVersion, u64) -> Result<()>,
///     ) -> Result<()> {
///         self.0.versions(grant, &mut |stored: StoredVersion, total| {
///             assert!([Namespace::SESSION, Namespace::MEMORY].contains(&stored.namespace));
///             each(stored, total)
///         })
///     }
/// #     fn is_durable(&self) -> bool { self.0.is_durable() }
/// #     strandline::forward!(inner: get, list, search, save, delete, append, history, audit,
/// #         reindex, trail, note_read, sources, derivations, import, backup, restore, erase,
/// #         check, history_page, stats, holdings, language);
/// }
///
/// let store = MemoryStore::builder().with_provider(Arc::new(Mine::default()));
/// let session = store.session("s-1", "agent").open()?;
/// store.save(&session, Draft::new("k", "v"))?;
/// assert_eq!(store.host().export(Vec::new())?, 1);
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredVersion {
    /// Its namespace; its agent is in the memory.
    pub namespace: Namespace,
    /// The version.
    pub version: Version,
}

impl StoredVersion {
    /// The highest number that a version may come with: 2⁵³. Numbers count on from it.
    pub const MAX_NUMBER: u64 = 1 << 53;

    /// The audit entry of having taken it over at this time, under this number.
    ///
    /// ```
    /// use strandline::storage::{Namespace, StoredVersion};
    /// use strandline::{Draft, MemoryStore};
    ///
    /// let store = MemoryStore::open_in_memory()?;
    /// let session = store.session("s-1", "agent").open()?;
    /// store.save(&session, Draft::new("k", "v"))?;
    /// let version = store.host().history("agent", "k")?.remove(0);
    /// let stored = StoredVersion { namespace: Namespace::MEMORY, version };
    /// let facts = stored.facts(7, stored.version.memory.updated_at);
    /// assert_eq!((facts.action.as_str(), facts.version), ("import", Some(7)));
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn facts(&self, number: u64, at: DateTime<Utc>) -> Facts {
        let memory = &self.version.memory;
        Facts {
            at,
            session: memory.session.clone(),
            agent: memory.agent.clone(),
            namespace: self.namespace.clone(),
            action: Action::Import,
            decision: Decision::Allowed,
            level: memory.classification,
            key: Some(memory.key.clone()),
            version: Some(number),
            rule: None,
            detail: None,
        }
    }

    /// Whether both are one version, whatever has become of it, and whatever number it has here and there.
    ///
    /// The time of the last change isn't compared: elsewhere a deletion may set it.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let (own, others) = (&self.version.memory, &other.version.memory);
        let tags = own.tags.iter().map(crate::Tag::as_str);
        self.namespace == other.namespace
            && own.agent == others.agent
            && own.key == others.key
            && own.classification == others.classification
            && own.content == others.content
            && tags.eq(others.tags.iter().map(crate::Tag::as_str))
            && own.created_at == others.created_at
            && own.expires_at == others.expires_at
            && own.session == others.session
    }

    /// Whether the same version, which is live here, ends by taking over this one.
    ///
    /// Sessions' records don't: the highest live one is the recorded taint, which never falls.
    pub(crate) fn ends(&self, here: VersionState) -> bool {
        let live = |state| state == VersionState::Live;
        live(here) && !live(self.version.state) && self.namespace != Namespace::SESSION
    }

    /// The bytes of its key, tags and content together.
    pub(crate) fn text_bytes(&self) -> usize {
        let memory = &self.version.memory;
        let tags: usize = memory.tags.iter().map(|tag| tag.as_str().len()).sum();
        memory.key.as_str().len() + tags + memory.content.len()
    }
}

/// What is under a key at a level before a new version is taken over.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    /// The highest number; 0 if there is none.
    pub(crate) highest: u64,
    /// Whether another version has the new one's number.
    pub(crate) is_taken: bool,
    /// When the live version was saved.
    pub(crate) live: Option<DateTime<Utc>>,
    /// When a version was deleted last.
    pub(crate) deleted: Option<DateTime<Utc>>,
}

impl Place {
    /// The version as it is stored here (clause 21).
    pub(crate) fn admit(self, new: &Version, at: DateTime<Utc>) -> Version {
        let Memory {
            version: number,
            updated_at,
            ..
        } = new.memory;
        let is_next = number > self.highest;
        let (state, ended_at) = match (new.state, self.live, self.deleted) {
            (VersionState::Live, Some(live), _) if live >= updated_at => {
                (VersionState::Superseded, Some(at))
            }
            (VersionState::Live, None, Some(deleted)) if !is_next && deleted >= updated_at => {
                (VersionState::Deleted, Some(deleted))
            }
            (VersionState::Live, ..) => (VersionState::Live, None),
            (ended, ..) => (ended, new.ended_at),
        };
        let keeps = match state {
            VersionState::Live => is_next,
            _ => !self.is_taken,
        };
        let mut memory = new.memory.clone();
        if !keeps {
            memory.version = self.highest.saturating_add(1);
        }
        Version {
            memory,
            state,
            ended_at,
        }
    }
}

/// What came of one version that was to be taken over.
///
/// ```
/// use std::sync::Arc;
/// use chrono::{DateTime, Utc};
/// use strandline::policy::HostGrant;
/// use strandline::storage::{Imported, InMemory, StorageProvider, StoredVersion};
/// use strandline::{Draft, MemoryStore, Result};
///
/// #[derive(Debug, Default)]
/// struct Mine(InMemory);
/// # impl Mine { fn inner(&self) -> Result<&InMemory> { Ok(&self.0) } }
///
/// impl StorageProvider for Mine {
///     fn import(
///         &self,
///         grant: &HostGrant,
///         at: DateTime<Utc>,
///         versions: &[StoredVersion],
///     ) -> Result<Vec<Imported>> {
///         let imported = self.0.import(grant, at, versions)?;
///         assert!(imported.iter().all(|one| *one == Imported::Unchanged));
///         Ok(imported)
///     }
/// #     fn is_durable(&self) -> bool { self.0.is_durable() }
/// #     strandline::forward!(inner: get, list, search, save, delete, append, history, audit,
/// #         reindex, trail, note_read, sources, derivations, versions, backup, restore, erase,
/// #         check, history_page, stats, holdings, language);
/// }
///
/// let store = MemoryStore::builder().with_provider(Arc::new(Mine::default()));
/// let session = store.session("s-1", "agent").open()?;
/// store.save(&session, Draft::new("k", "v"))?;
/// let mut own = Vec::new();
/// store.host().export(&mut own)?;
/// assert_eq!(store.host().import(&own[..])?.imported, 0); // it has all of it
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Imported {
    /// It is stored, under this number.
    Stored {
        /// The number that it has here.
        version: u64,
    },
    /// It was there and live, and has now ended as it had there.
    Ended,
    /// It was there; nothing changed.
    Unchanged,
    /// Something else is there under its lineage id; nothing changed.
    Conflict,
}

/// How far a backup has come, in pages of the file.
///
/// ```
/// use strandline::MemoryStore;
/// use strandline::storage::BackupProgress;
///
/// let folder = tempfile::tempdir()?;
/// let store = MemoryStore::open(folder.path().join("memory.db"))?;
/// let mut percent = 0;
/// store.host().backup(folder.path().join("copy.db"), |BackupProgress { done, total }| {
///     percent = 100 * done / total.max(1);
/// })?;
/// assert_eq!(percent, 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackupProgress {
    /// How many are copied.
    pub done: u64,
    /// How many there are.
    pub total: u64,
}

/// What came of an import.
///
/// ```
/// use strandline::MemoryStore;
///
/// let store = MemoryStore::open_in_memory()?;
/// let file = "{\"format\":\"strandline\",\"version\":1}\nnot a record\n";
/// let report = store.host().import(file.as_bytes())?;
/// assert_eq!((report.imported, report.refused), (0, 1));
/// assert_eq!(report.problems[0].line, 2);
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportReport {
    /// How many versions were stored, besides the sessions' own state.
    pub imported: u64,
    /// How many of these got another number, since theirs was taken or wasn't the highest.
    pub renumbered: u64,
    /// How many versions that were there and live have ended, as they had in the file.
    pub ended: u64,
    /// How many were there already, and didn't change; the sessions' own state isn't counted.
    pub unchanged: u64,
    /// How many records of the sessions' own state were stored.
    pub sessions: u64,
    /// How many were refused; the first of them are among the problems.
    pub refused: u64,
    /// How many rows of another kind the database had, which is no problem.
    pub ignored: u64,
    /// What was wrong, the first [`MAX_PROBLEMS`](Self::MAX_PROBLEMS).
    pub problems: Vec<ImportProblem>,
}

impl ImportReport {
    /// How many problems a report lists at most.
    pub const MAX_PROBLEMS: usize = 100;

    /// Lists a problem, as long as there is room.
    pub(crate) fn note(&mut self, line: u64, reason: impl Into<String>) {
        if self.problems.len() < Self::MAX_PROBLEMS {
            let reason = reason.into();
            self.problems.push(ImportProblem { line, reason });
        }
    }

    /// Counts a refusal, and lists it.
    pub(crate) fn refuse(&mut self, line: u64, reason: impl Into<String>) {
        self.refused += 1;
        self.note(line, reason);
    }
}

/// Something wrong in an imported file.
///
/// ```
/// use strandline::MemoryStore;
///
/// let store = MemoryStore::open_in_memory()?;
/// let file = "{\"format\":\"strandline\",\"version\":1}\n{\"secret\": 4711}\n";
/// let problem = store.host().import(file.as_bytes())?.problems.remove(0);
/// assert_eq!(problem.line, 2);
/// assert!(!problem.reason.contains("4711"));
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportProblem {
    /// In which line, or row of a database; the first is 1.
    pub line: u64,
    /// What was expected. It tells nothing of what the line holds.
    pub reason: String,
}
