//! The provider that keeps everything in the memory of the process.

mod import;
mod lineage;
mod search;
mod stats;
mod terms;
mod upkeep;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound;
use std::path::Path;
use std::sync::{Mutex, MutexGuard};

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::{
    BackupProgress, Deletion, Erased, Erasure, Hit, Holding, Imported, ListPage, ListRequest,
    Namespace, NewRecord, Problem, Restore, SearchRequest, Stats, StorageProvider, StoredVersion,
    Version, VersionState,
};
use crate::audit::{self, Digest, Entry, Facts, Link, Trail};
use crate::classification::Classification;
use crate::clock::to_micros;
use crate::error::{Error, ErrorKind, Result};
use crate::lineage::{Origin, Reading, VersionId};
use crate::policy::{HostGrant, ReadGrant, WriteGrant};
use crate::record::{Memory, MemoryKey, Tag};
use crate::search::analysis::{Analysis, Language};
use crate::search::{Candidate, find};
use crate::session::AgentId;
use crate::sync::unpoisoned;
use stats::to_u64;

use search::Seen;
use terms::Terms;

/// Records that are gone when the provider is dropped.
///
/// It is for tests, and for agents that shall remember nothing after their process ends: nothing
/// survives, neither memories nor history, audit or the sessions' taint. Everything else of the
/// [contract](StorageProvider#contract) holds as it does for [`Sqlite`](super::Sqlite), and searches
/// score alike. One lock guards the whole, and a search or list looks at every record of its agent,
/// so it suits thousands of memories rather than millions.
///
/// [`MemoryStore::open_in_memory`](crate::MemoryStore::open_in_memory) makes a store over one. To
/// open several stores over the same records, share it:
///
/// ```
/// use std::sync::Arc;
/// use strandline::storage::InMemory;
/// use strandline::{Classification, Draft, MemoryStore};
///
/// let records = Arc::new(InMemory::new());
/// let one = MemoryStore::builder().with_provider(records.clone());
/// let other = MemoryStore::builder().with_provider(records);
///
/// let high = one.session("s-1", "agent").taint(Classification::Internal).open()?;
/// one.save(&high, Draft::new("user-name", "Ada"))?;
/// let low = other.session("s-2", "agent").open()?;
/// assert!(other.get(&low, "user-name")?.is_none()); // above its taint
/// low.raise(Classification::Internal, "opened the wiki")?;
/// assert!(other.get(&low, "user-name")?.is_some());
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Default)]
pub struct InMemory {
    analysis: Analysis,
    state: Mutex<State>,
}

impl InMemory {
    /// An empty provider.
    ///
    /// ```
    /// use strandline::storage::{InMemory, StorageProvider};
    ///
    /// assert!(!InMemory::new().is_durable());
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty provider whose searches are in this language.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use strandline::search::analysis::Language;
    /// use strandline::storage::InMemory;
    /// use strandline::{Draft, MemoryStore, Search};
    ///
    /// let records = Arc::new(InMemory::with_language(Language::Hungarian));
    /// let store = MemoryStore::builder().with_provider(records);
    /// let session = store.session("s-1", "agent").open()?;
    /// store.save(&session, Draft::new("k", "a házakban"))?;
    /// assert_eq!(store.search(&session, Search::new("ház"))?.len(), 1);
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn with_language(language: Language) -> Self {
        let analysis = Analysis::new(language);
        let state = State {
            analysis,
            ..State::default()
        };
        Self {
            analysis,
            state: Mutex::new(state),
        }
    }

    /// The state, also after a panic elsewhere: no change of it can stop half-way, since whatever
    /// may fail is done before the lock is taken.
    fn state(&self) -> MutexGuard<'_, State> {
        unpoisoned(self.state.lock())
    }
}

impl fmt::Debug for InMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InMemory").finish_non_exhaustive()
    }
}

impl StorageProvider for InMemory {
    fn is_durable(&self) -> bool {
        false
    }

    fn get(&self, grant: &ReadGrant, key: &MemoryKey) -> Result<Option<Memory>> {
        let state = self.state();
        let slot = state.scope(grant.namespace(), grant.agent()).get(key);
        let row = slot.and_then(|slot| slot.visible(grant));
        Ok(row.map(|row| row.version.memory.clone()))
    }

    fn list(&self, grant: &ReadGrant, request: &ListRequest) -> Result<ListPage> {
        let state = self.state();
        let slots = state.scope(grant.namespace(), grant.agent());
        let tagged = |row: &&Row| request.tag.as_ref().is_none_or(|tag| row.has(tag));
        let start = request
            .after
            .as_ref()
            .map_or(Bound::Unbounded, Bound::Excluded);
        let mut rest = slots
            .range((start, Bound::Unbounded))
            .filter_map(|(_, slot)| slot.visible(grant))
            .filter(tagged);
        let records = rest.by_ref().take(request.limit);
        let records = records.map(|row| row.version.memory.clone()).collect();
        let total = request
            .count
            .then(|| visible(slots, grant).filter(tagged).count())
            .map(to_u64);
        Ok(ListPage {
            records,
            more: rest.next().is_some(),
            total,
        })
    }

    fn search(&self, grant: &ReadGrant, request: &SearchRequest) -> Result<Vec<Hit>> {
        let state = self.state();
        let slots = state.scope(grant.namespace(), grant.agent());
        let seen = Seen::of(visible(slots, grant).collect(), self.analysis);
        let found = find(&seen, request)?;
        let hit = |candidate: Candidate| {
            let row = seen.row(candidate.doc)?;
            Some(Hit {
                memory: row.version.memory.clone(),
                score: candidate.score,
            })
        };
        Ok(found.into_iter().filter_map(hit).collect())
    }

    fn save(&self, grant: &WriteGrant<'_>, records: &[NewRecord]) -> Result<Vec<Memory>> {
        let analysed: Vec<_> = records
            .iter()
            .map(|record| (record, terms(self.analysis, record)))
            .collect();
        let mut state = self.state();
        state.check_taint(grant)?;
        let store = |(record, terms)| state.store(grant, record, terms);
        Ok(analysed.into_iter().map(store).collect())
    }

    fn delete(&self, grant: &WriteGrant<'_>, key: &MemoryKey) -> Result<Deletion> {
        let mut state = self.state();
        state.check_taint(grant)?;
        Ok(state.delete(grant, key))
    }

    fn append(&self, event: &audit::Event) -> Result<()> {
        self.state().append(event.facts().clone());
        Ok(())
    }

    fn history(&self, grant: &HostGrant, key: &MemoryKey) -> Result<Vec<Version>> {
        let Some(agent) = grant.agent() else {
            return Ok(Vec::new());
        };
        let state = self.state();
        let slot = state.scope(grant.namespace(), agent).get(key);
        let mut rows: Vec<&Row> = slot
            .into_iter()
            .flat_map(|slot| slot.levels.values().flatten())
            .collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.order));
        Ok(rows.into_iter().map(|row| row.version.clone()).collect())
    }

    fn audit(&self, _: &HostGrant, query: &audit::Query) -> Result<Vec<audit::Entry>> {
        let state = self.state();
        let entries = state.audit.iter().rev();
        Ok(entries
            .filter(|entry| query.matches(entry.seq, &entry.facts))
            .take(query.limit)
            .cloned()
            .collect())
    }

    /// The records' terms are their index, and always of this release.
    fn reindex(&self, _: &HostGrant) -> Result<u64> {
        let state = self.state();
        let slots = state.scopes.values().flat_map(BTreeMap::values);
        let live = slots.flat_map(BTreeMap::values).flat_map(Slot::live);
        Ok(to_u64(live.count()))
    }

    fn trail(&self, _: &HostGrant, after: u64, limit: usize) -> Result<Trail> {
        let state = self.state();
        let start = state.audit.partition_point(|entry| entry.seq <= after);
        let entries = state.audit.iter().skip(start).take(limit.max(1));
        let link = |entry: &Entry| Link {
            seq: entry.seq,
            entry: Some(entry.clone()),
        };
        Ok(Trail {
            links: entries.map(link).collect(),
            recorded: to_u64(state.audit.len()),
        })
    }

    fn note_read(&self, reading: &Reading) -> Result<()> {
        self.state().note_read(reading);
        Ok(())
    }

    fn sources(&self, _: &HostGrant, version: &VersionId, limit: usize) -> Result<Vec<Origin>> {
        Ok(self.state().sources(version, limit))
    }

    fn derivations(&self, _: &HostGrant, version: &VersionId, limit: usize) -> Result<Vec<Origin>> {
        Ok(self.state().derivations(version, limit))
    }

    /// Copied first, so that `each` may use the provider.
    fn versions(
        &self,
        _: &HostGrant,
        each: &mut dyn FnMut(StoredVersion, u64) -> Result<()>,
    ) -> Result<()> {
        let versions = self.state().versions();
        let total = to_u64(versions.len());
        versions
            .into_iter()
            .try_for_each(|version| each(version, total))
    }

    fn import(
        &self,
        _: &HostGrant,
        at: DateTime<Utc>,
        versions: &[StoredVersion],
    ) -> Result<Vec<Imported>> {
        let mut state = self.state();
        let take = |version| state.import(version, at);
        Ok(versions.iter().map(take).collect())
    }

    fn backup(&self, _: &HostGrant, _: &Path, _: &mut dyn FnMut(BackupProgress)) -> Result<u64> {
        let text = "a store in memory has no file to back up; export it";
        Err(Error::new(ErrorKind::Unsupported, text))
    }

    fn restore(&self, grant: &WriteGrant<'_>, request: &Restore) -> Result<Option<Memory>> {
        upkeep::restore(&mut self.state(), grant, request)
    }

    fn erase(&self, grant: &HostGrant, request: &Erasure) -> Result<Erased> {
        upkeep::erase(&mut self.state(), grant, request)
    }

    fn history_page(
        &self,
        grant: &HostGrant,
        key: &MemoryKey,
        after: Option<Uuid>,
        limit: usize,
    ) -> Result<Vec<Version>> {
        upkeep::page(self.history(grant, key)?, after, limit)
    }

    fn check(&self, _: &HostGrant) -> Result<Vec<Problem>> {
        Ok(upkeep::check(&self.state()))
    }

    fn holdings(&self, grant: &HostGrant, now: DateTime<Utc>) -> Result<Vec<Holding>> {
        Ok(self.state().holdings(grant, now))
    }

    fn stats(&self, grant: &HostGrant, now: DateTime<Utc>) -> Result<Stats> {
        Ok(self.state().stats(grant, now))
    }

    fn language(&self) -> Result<Language> {
        Ok(self.analysis.language())
    }
}

/// All that the provider keeps.
#[derive(Default)]
struct State {
    analysis: Analysis,
    scopes: BTreeMap<Namespace, BTreeMap<AgentId, Slots>>,
    /// The first entry's number is 1.
    audit: Vec<Entry>,
    reads: lineage::Reads,
    /// How many records were ever stored.
    stored: u64,
}

/// The keys of one agent in one namespace.
type Slots = BTreeMap<MemoryKey, Slot>;

/// What is under one key: for each level its versions by their numbers. At most one is live: the last,
/// unless an import brought later ones that had ended.
#[derive(Default)]
struct Slot {
    levels: BTreeMap<Classification, Vec<Row>>,
    /// The highest number of a version that was removed.
    removed: BTreeMap<Classification, u64>,
}

/// One version.
struct Row {
    version: Version,
    /// How many records were stored before it.
    order: u64,
    /// What a search finds it by; empty once it isn't live.
    terms: Terms,
}

impl State {
    fn scope(&self, namespace: &Namespace, agent: &AgentId) -> &Slots {
        static EMPTY: Slots = Slots::new();
        let agents = self.scopes.get(namespace);
        agents
            .and_then(|agents| agents.get(agent))
            .unwrap_or(&EMPTY)
    }

    /// Refuses a write below the session's recorded taint (clause 7).
    fn check_taint(&self, grant: &WriteGrant<'_>) -> Result<()> {
        let owner: AgentId = Namespace::SESSION_OWNER.parse()?;
        let session: MemoryKey = grant.session().as_str().parse()?;
        let recorded = self.scope(&Namespace::SESSION, &owner).get(&session);
        let above = |level: Classification| !level.can_flow_to(grant.level());
        if recorded.is_some_and(|slot| slot.live().any(|(level, _)| above(level))) {
            return Err(Error::new(
                ErrorKind::TaintRaised,
                "the session's recorded taint is above the write's level",
            ));
        }
        let versions = recorded
            .into_iter()
            .flat_map(|slot| slot.levels.values().flatten());
        let last = versions.max_by_key(|row| row.order);
        grant
            .writing()
            .refuse_overtaken(last.map(|row| row.version.memory.lineage_id))
    }

    /// Adds an entry to the audit (clause 17).
    fn append(&mut self, facts: Facts) {
        let last = self.audit.last();
        let previous = last.map_or(Digest::ZERO, |entry| entry.hash);
        let seq = last.map_or(1, |entry| entry.seq.saturating_add(1));
        let hash = Digest::of_entry(&previous, seq, &facts);
        self.audit.push(Entry { seq, facts, hash });
    }

    /// Stores one record with its entry (clause 12).
    fn store(&mut self, grant: &WriteGrant<'_>, new: &NewRecord, terms: Terms) -> Memory {
        let memory = self.insert(grant, new, terms);
        self.append(grant.facts(&memory.key, memory.version));
        memory
    }

    /// Stores one record.
    fn insert(&mut self, grant: &WriteGrant<'_>, new: &NewRecord, terms: Terms) -> Memory {
        let agents = self.scopes.entry(grant.namespace().clone()).or_default();
        let slots = agents.entry(grant.agent().clone()).or_default();
        let slot = slots.entry(new.key.clone()).or_default();
        let rows = slot.levels.entry(grant.level()).or_default();
        let removed = slot.removed.get(&grant.level()).copied();
        let live = rows.iter().rposition(Row::is_live);
        let memory = successor(rows, live, removed.unwrap_or_default(), grant, new);
        if let Some(live) = live.and_then(|live| rows.get_mut(live)) {
            live.end(VersionState::Superseded, grant.now());
        }
        rows.push(Row {
            version: Version {
                memory: memory.clone(),
                state: VersionState::Live,
                ended_at: None,
            },
            order: self.stored,
            terms,
        });
        self.stored = self.stored.saturating_add(1);
        memory
    }

    /// Deletes the record under the key at the grant's level (clauses 8 and 12).
    fn delete(&mut self, grant: &WriteGrant<'_>, key: &MemoryKey) -> Deletion {
        let agents = self.scopes.get_mut(grant.namespace());
        let slots = agents.and_then(|agents| agents.get_mut(grant.agent()));
        let Some(slot) = slots.and_then(|slots| slots.get_mut(key)) else {
            return Deletion::NotFound;
        };
        let Some(visible) = slot.visible(grant.as_read()) else {
            return Deletion::NotFound;
        };
        let Memory {
            classification,
            version,
            ..
        } = visible.version.memory;
        if classification != grant.level() {
            return Deletion::WrongLevel(classification);
        }
        let rows = slot.levels.get_mut(&classification);
        if let Some(row) = rows.and_then(|rows| rows.iter_mut().rfind(|row| row.is_live())) {
            row.end(VersionState::Deleted, grant.now());
        }
        self.append(grant.facts(key, version));
        Deletion::Done { version }
    }
}

impl Slot {
    /// The live record of each level that has one, lowest first, expired or not.
    fn live(&self) -> impl DoubleEndedIterator<Item = (Classification, &Row)> {
        self.levels.iter().filter_map(|(&level, rows)| {
            let row = rows.iter().rfind(|row| row.is_live())?;
            Some((level, row))
        })
    }

    /// What the grant sees under the key: the one place that says what is visible (clause 2).
    fn visible(&self, grant: &ReadGrant) -> Option<&Row> {
        self.live()
            .rev()
            .filter(|(level, _)| level.can_flow_to(grant.level()))
            .map(|(_, row)| row)
            .find(|row| row.is_unexpired(grant.now()))
    }
}

impl Row {
    fn is_live(&self) -> bool {
        self.version.state == VersionState::Live
    }

    fn is_unexpired(&self, now: DateTime<Utc>) -> bool {
        let expires_at = self.version.memory.expires_at;
        expires_at.is_none_or(|expires_at| expires_at > now)
    }

    fn has(&self, tag: &Tag) -> bool {
        self.version.memory.tags.contains(tag)
    }

    fn end(&mut self, state: VersionState, now: DateTime<Utc>) {
        self.version.state = state;
        self.version.ended_at = Some(now);
        self.terms.clear();
    }
}

/// The version that follows those of its key and level, of which the one at `live` is live, and the one of
/// number `removed` (clauses 3 and 4).
fn successor(
    rows: &[Row],
    live: Option<usize>,
    removed: u64,
    grant: &WriteGrant<'_>,
    new: &NewRecord,
) -> Memory {
    let now = grant.now();
    let last = rows.last().map_or(0, |last| last.version.memory.version);
    let version = last.max(removed);
    let live = live.and_then(|live| rows.get(live));
    let replaced = live.filter(|live| live.is_unexpired(now));
    let created_at = replaced.map_or(now, |replaced| replaced.version.memory.created_at);
    Memory {
        key: new.key.clone(),
        content: new.content.clone(),
        classification: grant.level(),
        tags: new.tags.clone(),
        agent: grant.agent().clone(),
        version: version.saturating_add(1),
        created_at,
        updated_at: now.max(created_at),
        expires_at: new.expires_at.map(to_micros),
        session: grant.session().clone(),
        lineage_id: new.lineage_id,
    }
}

/// What the grant sees of a scope, by key.
fn visible<'a>(slots: &'a Slots, grant: &ReadGrant) -> impl Iterator<Item = &'a Row> {
    slots.values().filter_map(|slot| slot.visible(grant))
}

fn terms(analysis: Analysis, record: &NewRecord) -> Terms {
    let tags = record.tags.iter().map(Tag::as_str);
    let content = &record.content;
    analysis.document(record.key.as_str(), tags, content).into()
}
