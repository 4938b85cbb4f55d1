//! Search: FTS5 as an inverted index, and the ranking of [`crate::search`] over what a session sees.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::error::index_damaged;
use super::index::Index;
use super::layout::{Doc, ranges, sees};
use super::read::get_in;
use super::rows::{View, columns, memory, unexpected, visible};
use super::unindexed;
use crate::error::Result;
use crate::policy::ReadGrant;
use crate::record::{Memory, Tag};
use crate::search::analysis::{self, DocumentTerms, QueryTerm};
use crate::search::{
    Candidate, Corpus, MAX_FREQUENCY, Posting, PostingList, best, length_of, round_length,
};
use crate::session::AgentId;
use crate::storage::{Hit, SearchRequest};

pub(super) fn search(
    db: &Connection,
    grant: &ReadGrant,
    request: &SearchRequest,
) -> Result<Vec<Hit>> {
    let terms = analysis::query(&request.query);
    let Some(view) = View::of(db, grant)?.filter(|_| !terms.is_empty()) else {
        return Ok(Vec::new());
    };
    let index = Index::of(db)?;
    let scope = VisibleScope::read(db, view)?;
    let mut expired = Expired::read(db, view, grant.agent())?;
    if !index.is_whole() {
        unindexed::add(&mut expired, index, view, &terms)?;
    }
    let mut lists = Vec::new();
    for term in &terms {
        let mut postings = scope.postings(db, &term.term)?;
        expired.correct(term, &mut postings);
        if !postings.is_empty() {
            lists.push(PostingList {
                weight: term.weight,
                postings,
            });
        }
    }
    let found = best(lists, expired.correct_corpus(scope.corpus), request.limit);
    let found = break_ties(db, found, request.limit)?;
    found
        .into_iter()
        .map(|candidate| hit(db, view, grant.agent(), candidate))
        .collect()
}

/// How many records a view sees, and their lengths.
pub(super) fn corpus(db: &Connection, view: View, agent: &AgentId) -> Result<Corpus> {
    let expired = Expired::read(db, view, agent)?;
    Ok(expired.correct_corpus(VisibleScope::read(db, view)?.corpus))
}

/// The index rows that a view sees, but for expiry.
struct VisibleScope {
    ranges: Vec<RangeInclusive<i64>>,
    corpus: Corpus,
}

impl VisibleScope {
    fn read(db: &Connection, view: View) -> Result<Self> {
        let sql = "SELECT slot, records, length FROM index_stats
                   WHERE scope = ?1 AND records > 0 ORDER BY slot";
        let mut select = db.prepare_cached(sql)?;
        let mut rows = select.query([view.scope])?;
        let mut slots = Vec::new();
        let mut corpus = Corpus {
            records: 0,
            length: 0,
        };
        let count = |number: i64| u64::try_from(number).map_err(|_| unexpected("count"));
        while let Some(row) = rows.next()? {
            let slot = row.get(0)?;
            let seen = sees(view.session, slot);
            if seen || planted!(PostingsOfAllLevels) {
                slots.push(slot);
            }
            if seen || planted!(CorpusOfAllLevels) {
                corpus.records += count(row.get(1)?)?;
                corpus.length += count(row.get(2)?)?;
            }
        }
        Ok(Self {
            ranges: ranges(view.scope, slots),
            corpus,
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

fn posting(doc: Doc, frequency: u32) -> Posting {
    Posting {
        doc: doc.to_rowid(),
        frequency,
        length: length_of(doc.length),
    }
}

/// What the index doesn't know: records that have expired but are still live, and those that show
/// again; while the index is made anew also those that it [doesn't hold yet](unindexed).
#[derive(Default)]
pub(super) struct Expired {
    pub(super) hidden: BTreeMap<i64, u32>,
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
        self.hidden
            .insert(indexed, length_of(Doc::from_rowid(indexed).length));
        if let (Some(memory), Some(&(doc, _))) = (seen, visible) {
            self.shown.insert(doc, terms_of(&memory));
        }
        Ok(())
    }

    fn correct_corpus(&self, indexed: Corpus) -> Corpus {
        let hidden: u64 = self.hidden.values().map(|&length| u64::from(length)).sum();
        let shown: u64 = self.shown.values().map(|terms| rounded(terms.length)).sum();
        let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        Corpus {
            records: (indexed.records + count(self.shown.len()))
                .saturating_sub(count(self.hidden.len())),
            length: (indexed.length + shown).saturating_sub(hidden),
        }
    }

    fn correct(&self, term: &QueryTerm, postings: &mut Vec<Posting>) {
        if self.hidden.is_empty() && self.shown.is_empty() {
            return;
        }
        postings.retain(|posting| !self.hidden.contains_key(&posting.doc));
        for (&doc, terms) in &self.shown {
            let found = terms
                .counts
                .binary_search_by(|(text, _)| text.cmp(&term.term));
            let count = found.ok().and_then(|at| terms.counts.get(at));
            if let Some((_, count)) = count {
                // The length in its number may be of another analysis.
                postings.push(Posting {
                    doc,
                    frequency: (*count).min(MAX_FREQUENCY),
                    length: length_of(round_length(terms.length)),
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

fn rounded(length: u32) -> u64 {
    u64::from(length_of(round_length(length)))
}

/// More tied candidates than this are first narrowed down by their times.
const FEW: usize = 1_024;

/// The best `limit` candidates; among equal scores the newest first, then by key.
fn break_ties(db: &Connection, found: Vec<Candidate>, limit: usize) -> Result<Vec<Candidate>> {
    let found = if found.len().saturating_sub(limit) > FEW {
        narrow(db, found, limit)?
    } else {
        found
    };
    let mut select = db.prepare_cached("SELECT updated_at, key FROM records WHERE doc = ?1")?;
    let mut keyed = Vec::with_capacity(found.len());
    for candidate in found {
        let row = select.query_row([candidate.doc], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?))
        });
        let (updated_at, key) = row.optional()?.ok_or_else(index_damaged)?;
        let time = Some(updated_at).filter(|_| !planted!(TiesByRow));
        keyed.push((candidate, time.unwrap_or(candidate.doc), key));
    }
    keyed.sort_by(|(a, a_time, a_key), (b, b_time, b_key)| {
        b.score
            .total_cmp(&a.score)
            .then(b_time.cmp(a_time))
            .then_with(|| a_key.cmp(b_key))
    });
    keyed.truncate(limit);
    Ok(keyed.into_iter().map(|(candidate, ..)| candidate).collect())
}

/// Drops those of the worst score that are too old to be among the best `limit`.
fn narrow(db: &Connection, found: Vec<Candidate>, limit: usize) -> Result<Vec<Candidate>> {
    let Some(worst) = found.last().map(|candidate| candidate.score) else {
        return Ok(found);
    };
    let (better, tied): (Vec<_>, Vec<_>) = found
        .into_iter()
        .partition(|candidate| candidate.score > worst);
    let times = times(db, &tied)?;
    let mut newest = times.clone();
    newest.sort_unstable_by(|a, b| b.cmp(a));
    let last = limit.saturating_sub(better.len()).saturating_sub(1);
    let cut = newest.get(last).copied().unwrap_or(i64::MIN);
    let young = tied.into_iter().zip(times).filter(|&(_, time)| time >= cut);
    Ok(better
        .into_iter()
        .chain(young.map(|(candidate, _)| candidate))
        .collect())
}

/// The times of these candidates, which ascend, read in one walk over the part of an index that spans
/// them.
fn times(db: &Connection, tied: &[Candidate]) -> Result<Vec<i64>> {
    let sql = "SELECT doc, updated_at FROM records INDEXED BY records_doc
               WHERE doc BETWEEN ?1 AND ?2 ORDER BY doc";
    let ends = [tied.first(), tied.last()].map(|end| end.map(|candidate| candidate.doc));
    let mut select = db.prepare_cached(sql)?;
    let mut rows = select.query(ends)?;
    let mut wanted = tied.iter().map(|candidate| candidate.doc).peekable();
    let mut times = Vec::with_capacity(tied.len());
    while let Some(row) = rows.next()? {
        let doc: i64 = row.get(0)?;
        if wanted.next_if_eq(&doc).is_some() {
            times.push(row.get(1)?);
        }
    }
    match wanted.peek() {
        None => Ok(times),
        Some(_) => Err(index_damaged()),
    }
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
