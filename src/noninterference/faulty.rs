//! A provider that reads in the plainest way, and wrongly where a fault says so.
//!
//! It keeps its records in another provider and takes them out with forged grants. Without a fault it
//! keeps the contract, so what the property finds in it is the fault and nothing else.

mod read;
mod write;

use std::collections::BTreeMap;
use std::sync::Mutex;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::audit::Action;
use crate::policy::{HostGrant, ReadGrant, WriteGrant};
use crate::record::MemoryKey;
use crate::storage::{
    Deletion, Hit, InMemory, ListPage, ListRequest, Namespace, NewRecord, SearchRequest,
    StorageProvider, Version, VersionState,
};
use crate::{AgentId, Classification, Memory, Result, SessionId};

use super::trace::{AGENT, KEYS, LOW, OTHERS};

/// What can be wrong with a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    // What is visible.
    GetIgnoresLevel,
    ListIgnoresLevel,
    SearchIgnoresLevel,
    GetIgnoresExpiry,
    ListIgnoresExpiry,
    SearchIgnoresExpiry,
    SearchFindsShadowed,
    ListShowsShadowed,
    /// The tag is looked for before shadowing, so that it brings a shadowed record up.
    TagFindsShadowed,
    /// A visible record is listed by a tag that only a hidden version of its key has.
    TagOfHiddenVersion,
    ShadowedFromAbove,
    ShadowedByDeleted,
    ShadowedByExpired,
    SearchFindsDeleted,
    // How names are compared.
    TagsAsPattern,
    TagsWithCase,
    KeysAsPattern,
    KeysWithoutCase,
    AgentsAsPattern,
    AgentsWithoutCase,
    // Limits, counts, cursors.
    ListLimitBeforeFilter,
    SearchLimitBeforeFilter,
    TotalOfHidden,
    MoreOfHidden,
    CursorIsOffset,
    // Ranking.
    CountOfHidden,
    FrequencyOfHidden,
    CountOfShadowed,
    /// Records that can't be seen part those that can.
    HiddenBetween,
    NeighboursOfAnySession,
    TiesBySequence,
    TiesBySession,
    // Replies to writes.
    VersionsOverLevels,
    VersionsOverAgents,
    CreatedAtOtherLevel,
    UpdatedAtNeverBack,
    SequentialIds,
    SequentialIdsDressedUp,
    DeletedTagsReturn,
    SaveRefusedBelowHigher,
    SaveTouchesAllLevels,
    DeleteTellsOfHigher,
    DeleteNamesHigher,
    DeletesAllLevels,
    // Sessions.
    TaintCaptured,
    SessionsForgotten,
    SessionsShareTaint,
    WritesOneLevelDown,
}

pub(super) struct Faulty {
    records: InMemory,
    fault: Option<Fault>,
    journal: Mutex<Journal>,
}

/// What faults need to remember.
#[derive(Default)]
struct Journal {
    /// Every version's place in the order of all saves.
    sequence: BTreeMap<Uuid, usize>,
    /// The latest time of any write.
    latest: DateTime<Utc>,
    /// The level that a session was opened at.
    captured: BTreeMap<SessionId, Classification>,
    ids: u128,
}

/// A live or deleted record.
#[derive(Clone)]
struct Row {
    memory: Memory,
    deleted: bool,
}

impl Faulty {
    #[expect(clippy::unnecessary_wraps, reason = "`forward` asks for it")]
    fn records(&self) -> Result<&InMemory> {
        Ok(&self.records)
    }

    pub(super) fn new(fault: Option<Fault>) -> Self {
        Self {
            records: InMemory::new(),
            fault,
            journal: Mutex::default(),
        }
    }

    fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    fn journal(&self) -> std::sync::MutexGuard<'_, Journal> {
        self.journal.lock().unwrap()
    }

    /// The live records of an agent at every level, and those last deleted.
    fn rows(&self, namespace: &Namespace, agent: &AgentId) -> Vec<Row> {
        let grant = HostGrant::forge(namespace.clone(), Some(agent.clone()));
        let mut rows = Vec::new();
        for key in KEYS {
            let key: MemoryKey = key.parse().unwrap();
            let mut versions = self.records.history(&grant, &key).unwrap();
            versions
                .sort_by_key(|v| (v.memory.classification, std::cmp::Reverse(v.memory.version)));
            versions.dedup_by_key(|version| version.memory.classification);
            let kept = versions
                .into_iter()
                .filter(|v| v.state != VersionState::Superseded);
            rows.extend(kept.map(|version| Row {
                deleted: version.state == VersionState::Deleted,
                memory: version.memory,
            }));
        }
        rows
    }

    fn all_rows(&self, namespace: &Namespace) -> Vec<Row> {
        let agents = std::iter::once(AGENT).chain(OTHERS);
        agents
            .flat_map(|agent| self.rows(namespace, &agent.parse().unwrap()))
            .collect()
    }
}

impl std::fmt::Debug for Faulty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Faulty").finish_non_exhaustive()
    }
}

/// `LIKE` as SQLite has it: `%`, `_`, and no case.
fn like(pattern: &str, text: &str) -> bool {
    let mut chars = pattern.chars();
    let Some(first) = chars.next() else {
        return text.is_empty();
    };
    let pattern = chars.as_str();
    let mut rest = text.chars();
    match first {
        '%' => text
            .char_indices()
            .map(|(at, _)| at)
            .chain([text.len()])
            .any(|at| like(pattern, &text[at..])),
        '_' => rest.next().is_some() && like(pattern, rest.as_str()),
        first => {
            let same = rest.next().is_some_and(|c| c.eq_ignore_ascii_case(&first));
            same && like(pattern, rest.as_str())
        }
    }
}

impl StorageProvider for Faulty {
    fn is_durable(&self) -> bool {
        true
    }

    fn get(&self, grant: &ReadGrant, key: &MemoryKey) -> Result<Option<Memory>> {
        Ok(read::get(self, grant, key))
    }

    fn list(&self, grant: &ReadGrant, request: &ListRequest) -> Result<ListPage> {
        Ok(read::list(self, grant, request))
    }

    fn search(&self, grant: &ReadGrant, request: &SearchRequest) -> Result<Vec<Hit>> {
        Ok(read::search(self, grant, request))
    }

    fn save(&self, grant: &WriteGrant<'_>, records: &[NewRecord]) -> Result<Vec<Memory>> {
        write::save(self, grant, records)
    }

    fn delete(&self, grant: &WriteGrant<'_>, key: &MemoryKey) -> Result<Deletion> {
        write::delete(self, grant, key)
    }

    fn history(&self, grant: &HostGrant, key: &MemoryKey) -> Result<Vec<Version>> {
        let mut versions = self.records.history(grant, key)?;
        if *grant.namespace() == Namespace::SESSION {
            if self.has(Fault::SessionsForgotten) {
                return Ok(Vec::new());
            }
            if self.has(Fault::SessionsShareTaint) && !versions.is_empty() {
                for id in ["high-1", "high-2"] {
                    versions.splice(..0, self.records.history(grant, &id.parse()?)?);
                }
            }
        }
        Ok(versions)
    }

    crate::forward!(records: append, audit, reindex, trail, note_read, sources, derivations, versions, import,
        backup, restore, erase, check, history_page, stats, holdings, language);
}
