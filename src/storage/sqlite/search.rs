//! Search: FTS5 as an inverted index, and the ranking of [`crate::search`] over what a session sees.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::error::index_damaged;
use super::index::Index;
use super::layout::{Doc, ranges, sees};
use super::read::get_in;
use super::rows::{View, columns, memory, tags_from_json, unexpected, visible};
use super::unindexed;
use crate::error::Result;
use crate::policy::ReadGrant;
use crate::record::{Memory, Tag};
use crate::search::analysis::{self, DocumentTerms};
use crate::search::{Beside, Candidate, Posting, Source, find, round_frequency, round_length};
use crate::session::AgentId;
use crate::storage::{Hit, SearchRequest};

pub(super) fn search(
    db: &Connection,
    grant: &ReadGrant,
    request: &SearchRequest,
) -> Result<Vec<Hit>> {
    let Some(view) = View::of(db, grant)? else {
        return Ok(Vec::new());
    };
    let index = Index::of(db)?;
    let mut seen = Seen::read(db, view, grant.agent())?;
    if !index.is_whole() {
        unindexed::add(&mut seen.expired, index, view, &request.query)?;
    }
    find(&seen, request)?
        .into_iter()
        .map(|candidate| hit(db, view, grant.agent(), candidate))
        .collect()
}

/// How many records a view sees.
pub(super) fn count(db: &Connection, view: View, agent: &AgentId) -> Result<u64> {
    Seen::read(db, view, agent)?.records()
}

/// What a view sees of the index and the records.
struct Seen<'db> {
    db: &'db Connection,
    view: View,
    scope: VisibleScope,
    expired: Expired,
}

impl<'db> Seen<'db> {
    fn read(db: &'db Connection, view: View, agent: &AgentId) -> Result<Self> {
        Ok(Self {
            db,
            view,
            scope: VisibleScope::read(db, view)?,
            expired: Expired::read(db, view, agent)?,
        })
    }
}

impl Source for Seen<'_> {
    fn records(&self) -> Result<u64> {
        Ok(self.expired.correct_count(self.scope.records))
    }

    fn postings(&self, term: &str) -> Result<Vec<Posting>> {
        let mut postings = self.scope.postings(self.db, term)?;
        self.expired.correct(term, &mut postings);
        Ok(postings)
    }

    fn newest(&self, docs: Vec<i64>, count: usize) -> Result<Vec<i64>> {
        newest(self.db, docs, count)
    }

    fn read(&self, doc: i64, look: &mut dyn FnMut(&[&str])) -> Result<()> {
        read(self.db, self.view, doc, look)
    }

    fn beside(&self, doc: i64) -> Result<Beside> {
        beside(self.db, self.view, doc)
    }
}

/// The index rows that a view sees, but for expiry.
struct VisibleScope {
    ranges: Vec<RangeInclusive<i64>>,
    records: u64,
}

impl VisibleScope {
    fn read(db: &Connection, view: View) -> Result<Self> {
        let sql = "SELECT slot, records FROM index_stats
                   WHERE scope = ?1 AND records > 0 ORDER BY slot";
        let mut select = db.prepare_cached(sql)?;
        let mut rows = select.query([view.scope])?;
        let (mut slots, mut records) = (Vec::new(), 0_u64);
        while let Some(row) = rows.next()? {
            let slot = row.get(0)?;
            let seen = sees(view.session, slot);
            if seen || planted!(PostingsOfAllLevels) {
                slots.push(slot);
            }
            if seen || planted!(CorpusOfAllLevels) {
                let count = row.get::<_, i64>(1)?;
                records += u64::try_from(count).map_err(|_| unexpected("count"))?;
            }
        }
        Ok(Self {
            ranges: ranges(view.scope, slots),
            records,
        })
    }

    /// The records that have the term, ascending.
    fn postings(&self, db: &Connection, term: &str) -> Result<Vec<Posting>> {
        let sql = "SELECT rowid FROM terms WHERE terms MATCH ?1 AND rowid BETWEEN ?2 AND ?3";
        let mut select = db.prepare_cached(sql)?;
        // A quoted string is one phrase; no term holds a quote.
        let phrase = format!("\"{term}\"");
        let mut postings = Vec::new();
        for range in &self.ranges {
            let mut rows = select.query(params![phrase, range.start(), range.end()])?;
            while let Some(row) = rows.next()? {
                let row = row.get(0)?;
                postings.push(posting(Doc::from_rowid(row), Doc::frequency(row)));
            }
        }
        Ok(postings)
    }
}

fn posting(doc: Doc, frequency: u8) -> Posting {
    Posting {
        doc: doc.to_rowid(),
        frequency,
        length: doc.length,
    }
}

/// What the index doesn't know: records that have expired but are still live, and those that show
/// again; while the index is made anew also those that it [doesn't hold yet](unindexed).
#[derive(Default)]
pub(super) struct Expired {
    pub(super) hidden: BTreeSet<i64>,
    pub(super) shown: BTreeMap<i64, DocumentTerms>,
}

impl Expired {
    fn read(db: &Connection, view: View, agent: &AgentId) -> Result<Self> {
        let sql = "SELECT key FROM records
                   WHERE scope = ?1 AND state = 0 AND expires_at <= ?2 AND level <= ?3";
        let mut select = db.prepare_cached(sql)?;
        let keys: BTreeSet<String> = select
            .query_map(params![view.scope, view.now, view.level()], |row| {
                row.get(0)
            })?
            .collect::<rusqlite::Result<_>>()?;
        let mut expired = Self::default();
        for key in keys.into_iter().filter(|_| !planted!(ExpiryUnranked)) {
            expired.resolve(db, view, agent, &key)?;
        }
        Ok(expired)
    }

    /// Compares what the index shows of a key with what the view sees.
    fn resolve(&mut self, db: &Connection, view: View, agent: &AgentId, key: &str) -> Result<()> {
        let sql = "SELECT doc, level FROM records
                   WHERE scope = ?1 AND key = ?2 AND state = 0 AND level <= ?3
                   ORDER BY level DESC";
        let mut select = db.prepare_cached(sql)?;
        let docs: Vec<(i64, u8)> = select
            .query_map(params![view.scope, key, view.level()], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?
            .collect::<rusqlite::Result<_>>()?;
        let Some(&(indexed, _)) = docs.first() else {
            return Ok(());
        };
        let key = key.parse().map_err(|_| unexpected("key"))?;
        let seen = get_in(db, view, agent, &key)?;
        let rank = seen.as_ref().map(|memory| memory.classification.rank());
        let visible = docs.iter().find(|(_, level)| Some(*level) == rank);
        if visible.is_some_and(|&(doc, _)| doc == indexed) {
            return Ok(());
        }
        self.hidden.insert(indexed);
        if let (Some(memory), Some(&(doc, _))) = (seen, visible) {
            self.shown.insert(doc, terms_of(&memory));
        }
        Ok(())
    }

    fn correct_count(&self, indexed: u64) -> u64 {
        let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        (indexed + count(self.shown.len())).saturating_sub(count(self.hidden.len()))
    }

    fn correct(&self, term: &str, postings: &mut Vec<Posting>) {
        if self.hidden.is_empty() && self.shown.is_empty() {
            return;
        }
        postings.retain(|posting| !self.hidden.contains(&posting.doc));
        for (&doc, terms) in &self.shown {
            let found = terms
                .counts
                .binary_search_by(|(text, _)| text.as_str().cmp(term));
            let count = found.ok().and_then(|at| terms.counts.get(at));
            if let Some((_, count)) = count {
                // The length in its number may be of another analysis.
                postings.push(Posting {
                    doc,
                    frequency: round_frequency(*count),
                    length: round_length(terms.length),
                });
            }
        }
        postings.sort_unstable_by_key(|posting| posting.doc);
    }
}

fn terms_of(memory: &Memory) -> DocumentTerms {
    let tags = memory.tags.iter().map(Tag::as_str);
    analysis::document(memory.key.as_str(), tags, &memory.content)
}

/// More records than this are first narrowed down by their times.
const FEW: usize = 1_024;

/// The first `count` of these records, newest first, then by key.
fn newest(db: &Connection, docs: Vec<i64>, count: usize) -> Result<Vec<i64>> {
    let docs = if docs.len().saturating_sub(count) > FEW {
        narrow(db, docs, count)?
    } else {
        docs
    };
    let mut select = db.prepare_cached("SELECT updated_at, key FROM records WHERE doc = ?1")?;
    let mut keyed = Vec::with_capacity(docs.len());
    for doc in docs {
        let row = select.query_row([doc], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?))
        });
        let (updated_at, key) = row.optional()?.ok_or_else(index_damaged)?;
        let time = Some(updated_at).filter(|_| !planted!(TiesByRow));
        keyed.push((doc, time.unwrap_or(doc), key));
    }
    keyed.sort_by(|(_, a_time, a_key), (_, b_time, b_key)| {
        b_time.cmp(a_time).then_with(|| a_key.cmp(b_key))
    });
    keyed.truncate(count);
    Ok(keyed.into_iter().map(|(doc, ..)| doc).collect())
}

/// Drops those that are too old to be among the newest `count`.
fn narrow(db: &Connection, mut docs: Vec<i64>, count: usize) -> Result<Vec<i64>> {
    docs.sort_unstable();
    let times = times(db, &docs)?;
    let mut newest = times.clone();
    newest.sort_unstable_by(|a, b| b.cmp(a));
    let last = count.saturating_sub(1);
    let cut = newest.get(last).copied().unwrap_or(i64::MIN);
    let young = docs.into_iter().zip(times).filter(|&(_, time)| time >= cut);
    Ok(young.map(|(doc, _)| doc).collect())
}

/// The times of these records, whose numbers ascend, read in one walk over the part of an index that
/// spans them.
fn times(db: &Connection, docs: &[i64]) -> Result<Vec<i64>> {
    let sql = "SELECT doc, updated_at FROM records INDEXED BY records_doc
               WHERE doc BETWEEN ?1 AND ?2 ORDER BY doc";
    let mut select = db.prepare_cached(sql)?;
    let mut rows = select.query([docs.first(), docs.last()])?;
    let mut wanted = docs.iter().peekable();
    let mut times = Vec::with_capacity(docs.len());
    while let Some(row) = rows.next()? {
        let doc: i64 = row.get(0)?;
        if wanted.next_if_eq(&&doc).is_some() {
            times.push(row.get(1)?);
        }
    }
    match wanted.peek() {
        None => Ok(times),
        Some(_) => Err(index_damaged()),
    }
}

/// Shows the texts of a record. The visibility rule is asked here too, so that a damaged index can't
/// let a record count that the session must not see.
fn read(db: &Connection, view: View, doc: i64, look: &mut dyn FnMut(&[&str])) -> Result<()> {
    const SQL: &str = concat!(
        "SELECT r.key, r.tags, r.content FROM records r INDEXED BY records_doc
         WHERE r.doc = ?4 AND ",
        visible!()
    );
    let mut select = db.prepare_cached(SQL)?;
    let mut rows = select.query(params![view.scope, view.level(), view.now, doc])?;
    let row = rows.next()?.ok_or_else(index_damaged)?;
    let text = |column: usize| {
        let text = row.get_ref(column)?.as_str();
        text.map_err(|_| unexpected("text"))
    };
    let (key, tags, content) = (text(0)?, text(1)?, text(2)?);
    // Without an escape, the JSON around the tags is only punctuation.
    if !tags.contains('\\') {
        look(&[key, tags, content]);
        return Ok(());
    }
    let tags = tags_from_json(tags)?;
    let mut texts = vec![key];
    texts.extend(tags.iter().map(Tag::as_str));
    texts.push(content);
    look(&texts);
    Ok(())
}

/// The visible records that the session of this one saved before and after it.
fn beside(db: &Connection, view: View, doc: i64) -> Result<Beside> {
    let sql = "SELECT id, session FROM records INDEXED BY records_doc WHERE doc = ?1";
    let mut select = db.prepare_cached(sql)?;
    let mut rows = select.query([doc])?;
    let row = rows.next()?.ok_or_else(index_damaged)?;
    let id: i64 = row.get(0)?;
    let session = row.get_ref(1)?.as_str();
    let session = session.map_err(|_| unexpected("session id"))?;
    const BEFORE: &str = concat!(
        "SELECT r.doc FROM records r INDEXED BY records_session
         WHERE r.session = ?4 AND r.id < ?5 AND ",
        visible!(),
        " ORDER BY r.id DESC LIMIT 2"
    );
    const AFTER: &str = concat!(
        "SELECT r.doc FROM records r INDEXED BY records_session
         WHERE r.session = ?4 AND r.id > ?5 AND ",
        visible!(),
        " ORDER BY r.id LIMIT 2"
    );
    let walk = |sql: &str| -> Result<Vec<i64>> {
        let mut select = db.prepare_cached(sql)?;
        let (scope, now) = (view.scope, view.now);
        let level = if planted!(NeighboursOfAllLevels) {
            3
        } else {
            view.level()
        };
        let docs = select.query_map(params![scope, level, now, session, id], |row| row.get(0))?;
        Ok(docs.collect::<rusqlite::Result<_>>()?)
    };
    Ok(Beside {
        before: walk(BEFORE)?,
        after: walk(AFTER)?,
    })
}

/// The record of a candidate. The visibility rule is asked once more here, so that a damaged index
/// can't show what a session must not see.
fn hit(db: &Connection, view: View, agent: &AgentId, candidate: Candidate) -> Result<Hit> {
    const SQL: &str = concat!(
        "SELECT ",
        columns!(),
        " FROM records r INDEXED BY records_doc WHERE r.doc = ?4 AND ",
        visible!()
    );
    let mut select = db.prepare_cached(SQL)?;
    let mut rows = select.query(params![view.scope, view.level(), view.now, candidate.doc])?;
    let row = rows.next()?.ok_or_else(index_damaged)?;
    Ok(Hit {
        memory: memory(row, agent)?,
        score: candidate.score,
    })
}
