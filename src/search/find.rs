//! The three stages in a row.

use std::collections::BTreeMap;

use super::analysis;
use super::beside::Rows;
use super::bm25::{Candidate, List, norm, sums};
use super::grams::{Grams, parts};
use super::source::Source;
use super::{CLOSE, LENDERS};
use crate::error::Result;
use crate::storage::SearchRequest;

/// The records that a search finds, best first, at most [`limit`](SearchRequest::limit).
///
/// The module [`search`](super) says how they score. The first of `limit` hits are the same, with the
/// same scores, whatever the limit is.
///
/// # Errors
/// Those of the source.
///
/// The example at [`Source`] shows how it is used.
pub fn find(source: &dyn Source, request: &SearchRequest) -> Result<Vec<Candidate>> {
    let lists = lists(source, &request.query)?;
    if lists.is_empty() {
        return Ok(Vec::new());
    }
    let wanted = request.limit.max(CLOSE);
    let first = best(source, sums(&lists, wanted), wanted)?;
    let close = best(source, first.clone(), CLOSE)?;
    let mut stage = Stage {
        source,
        lists: &lists,
        grams: Grams::of(&request.query),
        close: BTreeMap::new(),
    };
    let mut scores: BTreeMap<i64, f64> = first.iter().map(|c| (c.doc, c.score)).collect();
    let close = stage.reread(&close)?;
    scores.extend(close.iter().map(|c| (c.doc, c.score)));
    if request.neighbours {
        scores.extend(stage.lend(close)?);
    }
    let found = scores
        .into_iter()
        .map(|(doc, score)| Candidate { doc, score });
    let found = best(source, found.collect(), request.limit)?;
    in_order(source, found)
}

/// The list of each term of the query that some record has, rarest first.
///
/// The sort is stable, so the order of all additions, and with it the last bit of each sum, depends on
/// the query and the visible records only.
fn lists(source: &dyn Source, query: &str) -> Result<Vec<List>> {
    let terms = analysis::query(query);
    let mut lists = Vec::with_capacity(terms.len());
    if terms.is_empty() {
        return Ok(lists);
    }
    let records = source.records()?;
    for term in terms {
        let postings = source.postings(&term.term)?;
        if !postings.is_empty() {
            lists.push(List::new(term.weight, records, postings));
        }
    }
    lists.sort_by_key(List::len);
    Ok(lists)
}

/// The `count` best in any order; of equal ones the newest, then by key.
fn best(source: &dyn Source, mut all: Vec<Candidate>, count: usize) -> Result<Vec<Candidate>> {
    let last = count.checked_sub(1).filter(|last| last + 1 < all.len());
    let Some(last) = last else {
        all.truncate(count);
        return Ok(all);
    };
    let score = all
        .select_nth_unstable_by(last, |a, b| b.score.total_cmp(&a.score))
        .1
        .score;
    all.retain(|candidate| candidate.score >= score);
    if all.len() > count {
        let (mut better, tied): (Vec<_>, Vec<_>) = all
            .into_iter()
            .partition(|candidate| candidate.score > score);
        let mut tied: Vec<i64> = tied.iter().map(|candidate| candidate.doc).collect();
        tied.sort_unstable();
        let newest = source.newest(tied, count - better.len())?;
        better.extend(newest.into_iter().map(|doc| Candidate { doc, score }));
        all = better;
    }
    Ok(all)
}

/// Best first; equal ones newest first, then by key.
fn in_order(source: &dyn Source, mut all: Vec<Candidate>) -> Result<Vec<Candidate>> {
    all.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.doc.cmp(&b.doc)));
    let mut ordered = Vec::with_capacity(all.len());
    for equal in all.chunk_by(|a, b| a.score.total_cmp(&b.score).is_eq()) {
        match equal {
            [one] => ordered.push(*one),
            [first, ..] => {
                let score = first.score;
                let docs = equal.iter().map(|candidate| candidate.doc).collect();
                let docs = source.newest(docs, equal.len())?;
                ordered.extend(docs.into_iter().map(|doc| Candidate { doc, score }));
            }
            [] => {}
        }
    }
    Ok(ordered)
}

/// What is known of the records that came close.
struct Stage<'s> {
    source: &'s dyn Source,
    lists: &'s [List],
    grams: Grams,
    /// What each record gets of the parts of the query's words.
    close: BTreeMap<i64, Vec<(usize, f64)>>,
}

impl Stage<'_> {
    /// Scores the candidates anew, with the parts of words that are in their texts.
    fn reread(&mut self, candidates: &[Candidate]) -> Result<Vec<Candidate>> {
        let mut counts = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            let mut found = Vec::new();
            self.source
                .read(candidate.doc, &mut |texts| found = self.grams.count(texts))?;
            counts.push(found);
        }
        let worth = self.grams.worth(&counts);
        let both = candidates.iter().zip(&counts);
        Ok(both
            .map(|(&Candidate { doc, score }, counts)| {
                let parts = parts(counts, &worth, self.norm(doc));
                let score = parts.iter().fold(score, |sum, (_, part)| sum + part);
                self.close.insert(doc, parts);
                Candidate { doc, score }
            })
            .collect())
    }

    fn norm(&self, doc: i64) -> f64 {
        let length = self.lists.iter().find_map(|list| list.length_of(doc));
        norm(length.unwrap_or_default())
    }

    /// The scores of the best candidates and of those beside them that share a term with the query.
    fn lend(&self, candidates: Vec<Candidate>) -> Result<Vec<(i64, f64)>> {
        let mut rows = Rows::default();
        for lender in best(self.source, candidates, LENDERS)? {
            rows.add(lender.doc, &self.source.beside(lender.doc)?);
        }
        let parts: BTreeMap<i64, Vec<f64>> = rows
            .docs()
            .filter_map(|doc| Some((doc, self.parts(doc)?)))
            .collect();
        let scores = parts.keys().map(|doc| (*doc, rows.score(*doc, &parts)));
        Ok(scores.collect())
    }

    /// What a record gets of each term, and then of each part of a word; `None` if it has no term.
    fn parts(&self, doc: i64) -> Option<Vec<f64>> {
        let terms = self.lists.iter().map(|list| list.part_of(doc));
        let mut parts: Vec<f64> = terms.map(Option::unwrap_or_default).collect();
        parts.iter().find(|part| **part > 0.0)?;
        let terms = parts.len();
        parts.resize(terms + self.grams.len(), 0.0);
        for (place, part) in self.close.get(&doc).into_iter().flatten() {
            if let Some(cell) = parts.get_mut(terms + place) {
                *cell = *part;
            }
        }
        Some(parts)
    }
}
