//! Comparing everything that is derived from the records with the records.
//!
//! It reads one snapshot through a connection of its own, so nobody waits for it; only the WAL grows
//! meanwhile. It takes the same memory whatever the size of the file: which rows have which terms is
//! compared by sums of hashes, a few thousand of them.

mod audit;
mod numbers;

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use rusqlite::{Connection, Row, params};
use uuid::Uuid;

use super::erase::{VOCABULARY, is_owed};
use super::index::{IndexText, NOTHING, State, has_options};
use super::layout::{Doc, slot};
use super::rows::{COLUMN_COUNT, columns, memory, unexpected};
use super::schema::differences;
use super::watch;
use crate::error::{Error, ErrorKind, Result};
use crate::record::Memory;
use crate::search::analysis::Language;
use crate::search::is_sampled;
use crate::session::AgentId;
use crate::storage::{Namespace, Problem, ProblemKind};

/// The most messages that SQLite is asked for.
const MESSAGES: u32 = 100;

/// How many sums of hashes there are.
const BUCKETS: usize = 4_096;

/// Looks through a connection of its own.
pub(super) fn run(db: Connection) -> Result<Vec<Problem>> {
    db.execute_batch(VOCABULARY)?;
    db.pragma_update(None, "query_only", "ON")?;
    db.execute_batch("BEGIN")?;
    let state = State::read(&db)?;
    let mut check = Check {
        // Of a language that this release doesn't know there is nothing to compare with.
        language: state.language().unwrap_or_default(),
        held: state.held(),
        is_being_emptied: state.reindexed == Some(NOTHING),
        db,
        found: Findings::default(),
        expected: Terms::default(),
    };
    check.all()?;
    Ok(check.found.into_problems())
}

/// What was found, by kind.
#[derive(Default)]
struct Findings(BTreeMap<ProblemKind, (u64, Option<Uuid>)>);

impl Findings {
    fn add(&mut self, kind: ProblemKind, count: u64, record: Option<Uuid>) {
        if count > 0 {
            let (sum, first) = self.0.entry(kind).or_default();
            *sum = sum.saturating_add(count);
            *first = first.or(record);
        }
    }

    /// Notes damage as a problem; hands on what keeps from looking.
    fn note<T>(&mut self, kind: ProblemKind, result: Result<T>) -> Result<Option<T>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(error) if is_damage(&error) => {
                self.add(kind, 1, None);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn into_problems(self) -> Vec<Problem> {
        let problem = |(kind, (count, record))| Problem {
            kind,
            count,
            record,
        };
        self.0.into_iter().map(problem).collect()
    }
}

fn is_damage(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::NotAStore)
}

struct Check {
    db: Connection,
    /// The greatest id that the index may hold; `None` if the index is none to compare with.
    held: Option<i64>,
    /// Whether whoever opens the file next goes on to take the index apart: FTS5 may find that damaged.
    is_being_emptied: bool,
    language: Language,
    found: Findings,
    expected: Terms,
}

impl Check {
    fn all(&mut self) -> Result<()> {
        let sqlite = self.sqlite();
        self.found.note(ProblemKind::File, sqlite)?;
        let references = self.count("SELECT count(*) FROM pragma_foreign_key_check");
        let references = self.found.note(ProblemKind::File, references)?;
        let references = references.unwrap_or_default();
        self.found.add(ProblemKind::Reference, references, None);
        let schema = differences(&self.db);
        let schema = self.found.note(ProblemKind::File, schema)?;
        let schema = schema.map_or(0, |count| u64::try_from(count).unwrap_or(u64::MAX));
        self.found.add(ProblemKind::File, schema, None);
        let numbers = numbers::compare(&self.db, &mut self.found);
        self.found.note(ProblemKind::File, numbers)?;
        let records = self.records();
        self.found.note(ProblemKind::File, records)?;
        let counts = self.counts();
        self.found.note(ProblemKind::File, counts)?;
        let terms = self.terms();
        self.found.note(ProblemKind::Index, terms)?;
        let audit = audit::compare(&self.db, &mut self.found);
        self.found.note(ProblemKind::File, audit)?;
        let owed = is_owed(&self.db);
        let owed = self.found.note(ProblemKind::File, owed)?;
        let unfinished = u64::from(owed == Some(true));
        self.found.add(ProblemKind::Unfinished, unfinished, None);
        Ok(())
    }

    fn count(&self, sql: &str) -> Result<u64> {
        let count: i64 = self.db.query_row(sql, [], |row| row.get(0))?;
        count.try_into().map_err(|_| unexpected("number"))
    }

    /// What SQLite says of its trees, and FTS5 of its index.
    fn sqlite(&mut self) -> Result<()> {
        // Where the index doesn't open, SQLite would stop, too.
        match self.index_opens() {
            Err(error) if self.is_being_emptied && is_damage(&error) => return Ok(()),
            index => {
                if self.found.note(ProblemKind::Index, index)?.is_none() {
                    return Ok(());
                }
            }
        }
        let sql = format!("PRAGMA integrity_check({MESSAGES})");
        let mut select = self.db.prepare(&sql)?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let message: String = row.get(0)?;
            let kind = match message.as_str() {
                "ok" => continue,
                text if text.contains("FTS5") && self.is_being_emptied => continue,
                text if text.contains("FTS5") => ProblemKind::Index,
                _ => ProblemKind::File,
            };
            self.found.add(kind, 1, None);
        }
        Ok(())
    }

    fn index_opens(&self) -> Result<()> {
        let mut select = self
            .db
            .prepare("SELECT 1 FROM terms WHERE terms MATCH 'a'")?;
        select.exists([])?;
        Ok(())
    }

    /// Each record in itself, and against what is kept of it elsewhere.
    fn records(&mut self) -> Result<()> {
        const SQL: &str = concat!(
            "SELECT ",
            columns!(),
            ", r.state, r.ended_at IS NULL, r.id, r.shadow, r.doc, r.scope, ifnull((
                 SELECT min(h.level) FROM records h
                 WHERE h.scope = r.scope AND h.key = r.key AND h.state = 0
                   AND h.level > r.level), 4)
             FROM records r NOT INDEXED ORDER BY r.id"
        );
        let agent: AgentId = Namespace::SESSION_OWNER.parse()?;
        let mut tags = 0;
        let mut select = self.db.prepare(SQL)?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let lineage = row.get(9).map(Uuid::from_bytes).ok();
            let stored = Stored::read(row, &agent);
            let Some(stored) = self.found.note(ProblemKind::Record, stored)? else {
                continue;
            };
            let mut wrong = |kind, count| self.found.add(kind, count, lineage);
            if stored.is_live == stored.has_ended {
                wrong(ProblemKind::Record, 1);
            }
            if stored.is_live {
                wrong(ProblemKind::Shadow, u64::from(!stored.is_shadow_right));
                let (own, missing) = stored.tags(&self.db)?;
                tags += own;
                wrong(ProblemKind::Tags, missing);
                if self.held.is_some_and(|held| stored.id <= held) {
                    let is_right = stored.expect(&mut self.expected, self.language)?;
                    wrong(ProblemKind::Terms, u64::from(!is_right));
                }
            }
        }
        drop(rows);
        drop(select);
        let all = self.count("SELECT count(*) FROM record_tags")?;
        self.found
            .add(ProblemKind::Tags, all.saturating_sub(tags), None);
        Ok(())
    }

    /// How many live records each part of the index has.
    fn counts(&mut self) -> Result<()> {
        let Some(held) = self.held else {
            return Ok(());
        };
        let mut wrong = 0;
        let sql = "SELECT id, next_seq, indexed FROM scopes";
        let mut scopes = self.db.prepare(sql)?;
        let mut rows = scopes.query([])?;
        while let Some(row) = rows.next()? {
            let (scope, next_seq): (i64, i64) = (row.get(0)?, row.get(1)?);
            let (live, last) = live_slots(&self.db, scope, held)?;
            let indexed: i64 = row.get(2)?;
            wrong += u64::from(live != counted_slots(&self.db, scope)?);
            wrong += u64::from(live.values().sum::<i64>() != indexed);
            wrong += u64::from(last >= next_seq || next_seq > Doc::MAX_SEQ + 1);
        }
        self.found.add(ProblemKind::Counts, wrong, None);
        Ok(())
    }

    /// The index term by term, and its options.
    fn terms(&mut self) -> Result<()> {
        if !has_options(&self.db)? {
            self.found.add(ProblemKind::Terms, 1, None);
        }
        if self.held.is_none() {
            let is_lost = State::read(&self.db)?.is_lost();
            self.found.add(ProblemKind::Index, u64::from(is_lost), None);
            return Ok(());
        }
        let changed = u64::from(!watch::is_right(&self.db)?);
        self.found.add(ProblemKind::Index, changed, None);
        let unreachable = unreachable_blocks(&self.db)?;
        self.found.add(ProblemKind::Index, unreachable, None);
        let mut found = Terms::default();
        let mut select = self.db.prepare("SELECT term, doc FROM temp.vocabulary")?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let term = row.get_ref(0)?.as_str();
            found.add(term.map_err(|_| unexpected("term"))?, row.get(1)?);
        }
        let differences = self.expected.differences(&found);
        self.found.add(ProblemKind::Terms, differences, None);
        Ok(())
    }
}

/// A row of `records` as far as it is compared.
struct Stored {
    memory: Memory,
    is_live: bool,
    has_ended: bool,
    id: i64,
    shadow: u8,
    is_shadow_right: bool,
    doc: i64,
    scope: i64,
}

impl Stored {
    fn read(row: &Row<'_>, agent: &AgentId) -> Result<Self> {
        let column = |offset| COLUMN_COUNT + offset;
        let shadow: u8 = row.get(column(3))?;
        Ok(Self {
            memory: memory(row, agent)?,
            is_live: row.get::<_, u8>(column(0))? == 0,
            has_ended: !row.get::<_, bool>(column(1))?,
            id: row.get(column(2))?,
            shadow,
            is_shadow_right: shadow == row.get::<_, u8>(column(6))?,
            doc: row.get::<_, Option<i64>>(column(4))?.unwrap_or_default(),
            scope: row.get(column(5))?,
        })
    }

    /// How many tags lists look for it by, and how many of its own are not among them.
    fn tags(&self, db: &Connection) -> Result<(u64, u64)> {
        let sql = "SELECT 1 FROM record_tags
                   WHERE scope = ?1 AND tag = ?2 AND key = ?3 AND level = ?4 AND record = ?5";
        let mut select = db.prepare_cached(sql)?;
        let (mut own, mut missing) = (0, 0);
        for tag in &self.memory.tags {
            let (key, rank) = (self.memory.key.as_str(), self.memory.classification.rank());
            if select.exists(params![self.scope, tag.folded(), key, rank, self.id])? {
                own += 1;
            } else {
                missing += 1;
            }
        }
        Ok((own, missing))
    }

    /// Adds the rows that the index must have. Whether it is known there by the right number.
    fn expect(&self, terms: &mut Terms, language: Language) -> Result<bool> {
        let memory = &self.memory;
        let text = IndexText::of(language, memory.key.as_str(), &memory.tags, &memory.content);
        let right = Doc {
            scope: self.scope,
            slot: slot(memory.classification.rank(), self.shadow)
                .ok_or_else(|| unexpected("shadow"))?,
            sampled: is_sampled(memory.key.as_str()),
            seq: Doc::from_rowid(self.doc).seq,
            length: text.length,
        };
        for (row, texts) in text.rows(right) {
            for term in texts.split_terminator(' ') {
                terms.add(term, row);
            }
        }
        Ok(right.to_rowid() == self.doc)
    }
}

/// How many blocks of the index have a term but no row in `terms_idx` that leads there, of which FTS5 takes
/// no notice.
///
/// A block's id has the segment above 37 bits, and its number in the lower 31 with zeros between; the
/// bytes after the size in its third and fourth say where its terms are. Within a segment the terms
/// rise with the blocks.
fn unreachable_blocks(db: &Connection) -> Result<u64> {
    let sql = "SELECT id >> 37, id & 0x7fffffff, length(block), substr(block, 3, 2) FROM terms_data
               WHERE id > 10 AND id & 0x1fffffffff <= 0x7fffffff ORDER BY id";
    let mut blocks = db.prepare(sql)?;
    let mut blocks = blocks.query([])?;
    let mut ways = db.prepare("SELECT segid, pgno >> 1 FROM terms_idx ORDER BY segid, term")?;
    let mut ways = ways.query([])?;
    let (mut way, mut unreachable) = ((0, 0), 0);
    while let Some(row) = blocks.next()? {
        let size = row.get_ref(3)?.as_blob().unwrap_or_default();
        let size: [u8; 2] = size.try_into().unwrap_or_default();
        if row.get::<_, i64>(2)? <= i64::from(u16::from_be_bytes(size)) {
            continue;
        }
        let block: (i64, i64) = (row.get(0)?, row.get(1)?);
        while way < block {
            way = match ways.next()? {
                Some(row) => (row.get(0)?, row.get(1)?),
                None => (i64::MAX, 0),
            };
        }
        unreachable += u64::from(way != block);
    }
    Ok(unreachable)
}

/// How many of the records up to an id are in each slot of a scope, and the greatest sequence number.
fn live_slots(db: &Connection, scope: i64, held: i64) -> Result<(BTreeMap<u8, i64>, i64)> {
    let sql = "SELECT level, shadow, doc, id <= ?2 FROM records INDEXED BY records_live
               WHERE scope = ?1 AND state = 0";
    let mut select = db.prepare_cached(sql)?;
    let mut rows = select.query([scope, held])?;
    let (mut slots, mut last) = (BTreeMap::new(), -1);
    while let Some(row) = rows.next()? {
        last = Doc::from_rowid(row.get(2)?).seq.max(last);
        if row.get(3)? {
            let slot = slot(row.get(0)?, row.get(1)?).ok_or_else(|| unexpected("shadow"))?;
            *slots.entry(slot).or_default() += 1;
        }
    }
    Ok((slots, last))
}

/// What the counts say of it.
fn counted_slots(db: &Connection, scope: i64) -> Result<BTreeMap<u8, i64>> {
    let sql = "SELECT slot, records FROM index_stats WHERE scope = ?1 AND records <> 0";
    let mut select = db.prepare_cached(sql)?;
    let slots = select.query_map([scope], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(slots.collect::<rusqlite::Result<_>>()?)
}

/// Which rows have which terms: how many such pairs fall into each bucket, and the sum of their hashes.
///
/// Two sets that differ have equal sums only by chance, of 1 in 2 to the 64.
struct Terms(Vec<(u64, u64)>);

impl Default for Terms {
    fn default() -> Self {
        Self(vec![(0, 0); BUCKETS])
    }
}

impl Terms {
    fn add(&mut self, term: &str, row: i64) {
        let mut hasher = DefaultHasher::new();
        (term, row).hash(&mut hasher);
        let hash = hasher.finish();
        let place = usize::from(u16::from_le_bytes([
            hash.to_le_bytes()[0],
            hash.to_le_bytes()[1],
        ]));
        if let Some((count, sum)) = self.0.get_mut(place % BUCKETS) {
            *count += 1;
            *sum = sum.wrapping_add(hash);
        }
    }

    /// How many pairs one has and the other lacks, at least.
    fn differences(&self, other: &Self) -> u64 {
        let pairs = self.0.iter().zip(&other.0);
        let difference = |(one, other): (&(u64, u64), &(u64, u64))| match one.0.abs_diff(other.0) {
            0 => u64::from(one.1 != other.1),
            count => count,
        };
        pairs.map(difference).sum()
    }
}
