//! Search: FTS5 as an inverted index, and the ranking of [`crate::search`] over what a session sees.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use rusqlite::{Connection, params};

use super::error::index_damaged;
use super::index::Index;
use super::layout::{Doc, ranges, sees, since};
use super::read::get_in;
use super::rows::{View, columns, memory, tags_from_json, unexpected, visible};
use super::unindexed;
use crate::error::Result;
use crate::policy::ReadGrant;
use crate::record::{Memory, Tag};
use crate::search::analysis::{Analysis, DocumentTerms, Language};
use crate::search::{
    Beside, COMMON, Candidate, Found, Newest, Posting, SAMPLE, Source, find, round_frequency,
    round_length,
};
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
    let mut seen = Seen::of(db, view, grant.agent(), index.language())?;
    if !index.is_whole() {
        unindexed::add(&mut seen.expired, index, view, &request.query)?;
    }
    find(&seen, request)?
        .into_iter()
        .map(|candidate| hit(db, view, grant.agent(), candidate))
        .collect()
}

/// How many records a view sees.
pub(super) fn count(
    db: &Connection,
    view: View,
    agent: &AgentId,
    language: Language,
) -> Result<u64> {
    Seen::of(db, view, agent, language)?.records()
}

/// What a view sees of the index and the records.
struct Seen<'db> {
    db: &'db Connection,
    view: View,
    language: Language,
    scope: VisibleScope,
    expired: Expired,
    /// The last window that was asked for, and where it begins.
    window: Cell<Option<(u64, i64)>>,
}

impl<'db> Seen<'db> {
    fn of(db: &'db Connection, view: View, agent: &AgentId, language: Language) -> Result<Self> {
        Ok(Self {
            db,
            view,
            language,
            scope: VisibleScope::of(db, view)?,
            expired: Expired::read(db, view, agent, language)?,
            window: Cell::new(None),
        })
    }
}

impl Seen<'_> {
    /// The records of these halves that match, ascending if the halves are.
    fn matching(&self, wanted: &str, sampled: &[bool]) -> Result<Vec<Posting>> {
        let scope = &self.scope;
        let half = |half: &bool| ranges(scope.scope, *half, scope.slots.iter().copied());
        read_rows(self.db, wanted, sampled.iter().flat_map(half))
    }

    /// The records that match, of those with at least this sequence number; ascending.
    fn matching_since(&self, wanted: &str, seq: i64) -> Result<Vec<Posting>> {
        let scope = &self.scope;
        let half = |half| scope.since(half, seq);
        read_rows(self.db, wanted, [false, true].into_iter().flat_map(half))
    }

    /// The sequence number from which on about so many visible records were saved, by the sampled ones; 0
    /// if there aren't so many.
    fn begin(&self, window: u64) -> Result<i64> {
        if let Some((_, begin)) = self.window.get().filter(|(last, _)| *last == window) {
            return Ok(begin);
        }
        let wanted = usize::try_from(window / SAMPLE).unwrap_or(usize::MAX);
        let begin = self.scope.newest_sampled(self.db, wanted)?;
        self.window.set(Some((window, begin)));
        Ok(begin)
    }
}

impl Source for Seen<'_> {
    fn language(&self) -> Language {
        self.language
    }

    fn records(&self) -> Result<u64> {
        Ok(self.expired.correct_count(self.scope.records))
    }

    fn look_up(&self, term: &str) -> Result<Found> {
        if self.records()? <= COMMON {
            return Ok(Found::All(self.having(term)?));
        }
        let mut sampled = self.matching(&phrase(term), &[true])?;
        self.expired
            .correct(term, &mut sampled, |doc, _| Doc::from_rowid(doc).sampled);
        let count = u64::try_from(sampled.len()).unwrap_or(u64::MAX);
        let count = count.saturating_mul(SAMPLE);
        if count > COMMON {
            return Ok(Found::Common(count));
        }
        let mut all = self.matching(&phrase(term), &[false])?;
        self.expired
            .correct(term, &mut all, |doc, _| !Doc::from_rowid(doc).sampled);
        all.append(&mut sampled);
        Ok(Found::All(all))
    }

    fn having(&self, term: &str) -> Result<Vec<Posting>> {
        let mut postings = self.matching(&phrase(term), &[false, true])?;
        self.expired.correct(term, &mut postings, |_, _| true);
        Ok(postings)
    }

    fn having_with(&self, term: &str, any: &[&str]) -> Result<Vec<Posting>> {
        let others: Vec<String> = any.iter().map(|term| phrase(term)).collect();
        let both = format!("({}) AND {}", others.join(" OR "), phrase(term));
        let mut postings = self.matching(&both, &[false, true])?;
        let with =
            |_, terms: &DocumentTerms| any.iter().any(|term| count_of(terms, term).is_some());
        self.expired.correct(term, &mut postings, with);
        Ok(postings)
    }

    /// Looks through about so many visible records.
    fn newest(&self, term: &str, window: u64) -> Result<Newest> {
        let from = self.begin(window)?;
        let mut postings = self.matching_since(&phrase(term), from)?;
        let since = |doc, _: &DocumentTerms| Doc::from_rowid(doc).seq >= from;
        self.expired.correct(term, &mut postings, since);
        Ok(Newest {
            postings,
            is_all: from == 0,
        })
    }

    fn saved(&self, doc: i64) -> i64 {
        if planted!(TiesByRow) {
            doc
        } else {
            Doc::from_rowid(doc).seq
        }
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
    scope: i64,
    /// The slots that hold something.
    slots: Vec<u8>,
    records: u64,
}

impl VisibleScope {
    fn of(db: &Connection, view: View) -> Result<Self> {
        let sql = "SELECT slot, records FROM index_stats
                   WHERE scope = ?1 AND records <> 0 ORDER BY slot";
        let mut select = db.prepare_cached(sql)?;
        let mut rows = select.query([view.scope])?;
        let (mut slots, mut records, mut all) = (Vec::new(), 0_u64, 0_u64);
        while let Some(row) = rows.next()? {
            let slot = row.get(0).map_err(|_| index_damaged())?;
            let count = u64::try_from(row.get::<_, i64>(1)?).map_err(|_| index_damaged())?;
            all = all.saturating_add(count);
            let seen = sees(view.session, slot);
            if seen || planted!(PostingsOfAllLevels) {
                slots.push(slot);
            }
            if seen || planted!(CorpusOfAllLevels) {
                records = records.saturating_add(count);
            }
        }
        if i64::try_from(all) != Ok(indexed(db, view.scope)?) {
            return Err(index_damaged());
        }
        Ok(Self {
            scope: view.scope,
            slots,
            records,
        })
    }

    /// The rows of each visible slot in one half, from this sequence number on.
    fn since(&self, sampled: bool, seq: i64) -> impl Iterator<Item = RangeInclusive<i64>> {
        let slots = self.slots.iter();
        slots.map(move |slot| since(self.scope, sampled, *slot, seq))
    }

    /// The sequence number of the last but so many of the sampled records; 0 if there are fewer.
    fn newest_sampled(&self, db: &Connection, wanted: usize) -> Result<i64> {
        let sql = "SELECT doc FROM records INDEXED BY records_doc
                   WHERE doc >= ?1 AND doc <= ?2 ORDER BY doc DESC LIMIT ?3";
        let mut select = db.prepare_cached(sql)?;
        let limit = i64::try_from(wanted).unwrap_or(i64::MAX);
        let mut newest = Vec::new();
        for range in self.since(true, 0) {
            let mut rows = select.query(params![range.start(), range.end(), limit])?;
            while let Some(row) = rows.next()? {
                newest.push(Doc::from_rowid(row.get(0)?).seq);
            }
        }
        newest.sort_unstable_by(|a, b| b.cmp(a));
        let last = wanted.checked_sub(1).and_then(|last| newest.get(last));
        Ok(last.copied().unwrap_or_default())
    }
}

/// How many records of a scope the index has, by the other account.
fn indexed(db: &Connection, scope: i64) -> Result<i64> {
    let mut select = db.prepare_cached("SELECT indexed FROM scopes WHERE id = ?1")?;
    Ok(select.query_row([scope], |row| row.get(0))?)
}

/// The records in these ranges that match.
fn read_rows(
    db: &Connection,
    wanted: &str,
    ranges: impl Iterator<Item = RangeInclusive<i64>>,
) -> Result<Vec<Posting>> {
    let sql = "SELECT rowid FROM terms WHERE terms MATCH ?1 AND rowid BETWEEN ?2 AND ?3";
    let mut select = db.prepare_cached(sql)?;
    let mut postings = Vec::new();
    for range in ranges {
        let mut rows = select.query(params![wanted, range.start(), range.end()])?;
        while let Some(row) = rows.next()? {
            add_row(&mut postings, row.get(0)?);
        }
    }
    Ok(postings)
}

/// A term as FTS5 looks for it: a quoted string is one phrase, and no term holds a quote.
fn phrase(term: &str) -> String {
    format!("\"{term}\"")
}

/// Adds a row of the index. Those of one record follow each other, and its highest frequency counts.
fn add_row(postings: &mut Vec<Posting>, row: i64) {
    let posting = posting(Doc::from_rowid(row), Doc::frequency(row));
    match postings.last_mut() {
        Some(last) if last.doc == posting.doc => *last = posting,
        _ => postings.push(posting),
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
    analysis: Analysis,
    pub(super) hidden: BTreeSet<i64>,
    pub(super) shown: BTreeMap<i64, DocumentTerms>,
}

impl Expired {
    fn read(db: &Connection, view: View, agent: &AgentId, language: Language) -> Result<Self> {
        let sql = "SELECT key FROM records
                   WHERE scope = ?1 AND state = 0 AND expires_at <= ?2 AND level <= ?3";
        let mut select = db.prepare_cached(sql)?;
        let keys: BTreeSet<String> = select
            .query_map(params![view.scope, view.now, view.level()], |row| {
                row.get(0)
            })?
            .collect::<rusqlite::Result<_>>()?;
        let mut expired = Self {
            analysis: Analysis::new(language),
            ..Self::default()
        };
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
            self.shown.insert(doc, terms_of(self.analysis, &memory));
        }
        Ok(())
    }

    fn correct_count(&self, indexed: u64) -> u64 {
        let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        indexed
            .saturating_add(count(self.shown.len()))
            .saturating_sub(count(self.hidden.len()))
    }

    /// Corrects the list of a term; of the records that show again it gets those that are `wanted`.
    fn correct(
        &self,
        term: &str,
        postings: &mut Vec<Posting>,
        wanted: impl Fn(i64, &DocumentTerms) -> bool,
    ) {
        if self.hidden.is_empty() && self.shown.is_empty() {
            return;
        }
        postings.retain(|posting| !self.hidden.contains(&posting.doc));
        for (&doc, terms) in self
            .shown
            .iter()
            .filter(|(doc, terms)| wanted(**doc, terms))
        {
            if let Some(count) = count_of(terms, term) {
                // The length in its number may be of another analysis.
                postings.push(Posting {
                    doc,
                    frequency: round_frequency(count),
                    length: round_length(terms.length),
                });
            }
        }
        postings.sort_unstable_by_key(|posting| posting.doc);
    }
}

/// How often a record has a term, if it has it.
fn count_of(terms: &DocumentTerms, term: &str) -> Option<u32> {
    let counts = &terms.counts;
    let found = counts.binary_search_by(|(text, _)| text.as_str().cmp(term));
    let count = found.ok().and_then(|at| counts.get(at));
    count.map(|(_, count)| *count)
}

fn terms_of(analysis: Analysis, memory: &Memory) -> DocumentTerms {
    let tags = memory.tags.iter().map(Tag::as_str);
    analysis.document(memory.key.as_str(), tags, &memory.content)
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
    let sql = "SELECT id, session FROM records INDEXED BY records_doc WHERE doc = ?1";
    let mut select = db.prepare_cached(sql)?;
    let mut rows = select.query([doc])?;
    let row = rows.next()?.ok_or_else(index_damaged)?;
    let id: i64 = row.get(0)?;
    let session = row.get_ref(1)?.as_str();
    let session = session.map_err(|_| unexpected("session id"))?;
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

#[cfg(test)]
mod tests {
    use super::super::{SqliteOptions, key};
    use super::*;
    use crate::{Classification, Draft, MemoryStore};

    #[test]
    fn the_newest_are_counted_among_the_visible_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        let store = MemoryStore::open(&path).unwrap();
        for level in [Classification::Public, Classification::Restricted] {
            let session = store.session(level.as_str(), "agent").taint(level).open();
            for batch in 0..3 {
                let draft = |i| Draft::new(format!("{level}-{batch}-{i}"), "deploy now");
                let session = session.as_ref().unwrap();
                store.save_all(session, (0..1_000).map(draft)).unwrap();
            }
        }
        let db = key::open(&path, SqliteOptions::default().key()).unwrap();
        let sql = "SELECT id FROM scopes WHERE namespace = 'memory'";
        let scope = db.query_row(sql, [], |row| row.get(0)).unwrap();
        let agent = "agent".parse().unwrap();
        for session in [Classification::Public, Classification::Restricted] {
            let view = View {
                scope,
                session,
                now: 0,
            };
            let seen = Seen::of(&db, view, &agent, Language::English).unwrap();
            for window in [400, 1_600] {
                let newest = seen.newest("deploy", window).unwrap();
                let found = u64::try_from(newest.postings.len()).unwrap();
                assert!(!newest.is_all);
                assert!(
                    (window / 2..window * 2).contains(&found),
                    "{found} of {window}"
                );
            }
            assert!(seen.newest("deploy", 1_000_000).unwrap().is_all);
        }
    }
}
