//! The three stages in a row.

use std::collections::{BTreeMap, BTreeSet};

use super::analysis::Analysis;
use super::beside::Rows;
use super::bm25::{Candidate, List, Read, newest, norm, sums};
use super::grams::{Grams, parts};
use super::source::{Found, Source};
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
/// ```
/// use strandline::search::{Beside, Candidate, Found, Posting, Source, find, round_length};
/// use strandline::storage::SearchRequest;
///
/// /// Two visible records that have the word `tea`, and nothing else.
/// struct Tea;
/// impl Source for Tea {
///     fn records(&self) -> strandline::Result<u64> {
///         Ok(2)
///     }
///
///     fn look_up(&self, term: &str) -> strandline::Result<Found> {
///         Ok(Found::All(self.having(term)?))
///     }
///
///     fn having(&self, term: &str) -> strandline::Result<Vec<Posting>> {
///         let posting = |doc| Posting { doc, frequency: 1, length: round_length(3) };
///         Ok(if term == "tea" { vec![posting(1), posting(2)] } else { Vec::new() })
///     }
///
///     fn saved(&self, doc: i64) -> i64 {
///         doc
///     }
///
///     fn read(&self, _: i64, look: &mut dyn FnMut(&[&str])) -> strandline::Result<()> {
///         look(&["jasmine tea"]);
///         Ok(())
///     }
///
///     fn beside(&self, _: i64) -> strandline::Result<Beside> {
///         Ok(Beside::default())
///     }
/// }
///
/// let of = |query: &str, limit| SearchRequest { query: query.into(), limit, neighbours: false };
/// assert_eq!(find(&Tea, &of("tea", 1))?.len(), 1);
/// assert!(find(&Tea, &of("coffee", 10))?.is_empty());
/// # Ok::<(), strandline::Error>(())
/// ```
pub fn find(source: &dyn Source, request: &SearchRequest) -> Result<Vec<Candidate>> {
    let analysis = Analysis::new(source.language());
    let mut lists = lists(source, analysis, &request.query)?;
    if lists.is_empty() {
        return Ok(Vec::new());
    }
    let wanted = request.limit.max(CLOSE);
    let sums = if lists.iter().all(|list| list.is_common) {
        newest(&mut lists, wanted, |term, window| {
            source.newest(term, window)
        })?
    } else {
        sums(&mut lists, wanted, |term, how| match how {
            Read::All => source.having(term),
            Read::With(any) => source.having_with(term, any),
        })?
    };
    let first = best(source, sums, wanted);
    let close: Vec<Candidate> = first.iter().take(CLOSE).copied().collect();
    forget_others(&mut lists, &close);
    let mut stage = Stage {
        source,
        lists: &lists,
        grams: Grams::of(&request.query, analysis),
        close: BTreeMap::new(),
    };
    let mut scores: BTreeMap<i64, f64> = first.iter().map(|c| (c.doc, c.score)).collect();
    let close = stage.reread(close)?;
    scores.extend(close.iter().map(|c| (c.doc, c.score)));
    if request.neighbours {
        scores.extend(stage.lend(close)?);
    }
    let found = scores.into_iter();
    let found = found.map(|(doc, score)| Candidate { doc, score });
    Ok(best(source, found.collect(), request.limit))
}

/// The terms of the query that some record has, rarest first, the common ones last and not yet read.
///
/// The sort is stable, so the order of all additions, and with it the last bit of each sum, depends on
/// the query and the visible records only.
fn lists(source: &dyn Source, analysis: Analysis, query: &str) -> Result<Vec<List>> {
    let terms = analysis.query(query);
    let mut lists = Vec::with_capacity(terms.len());
    if terms.is_empty() {
        return Ok(lists);
    }
    let records = source.records()?;
    for term in terms {
        match source.look_up(&term.term)? {
            Found::Common(having) => lists.push(List::common(term, records, having)),
            Found::All(postings) if postings.is_empty() => {}
            Found::All(postings) => lists.push(List::read(term, records, postings)),
        }
    }
    lists.sort_by_key(|list| (list.is_common, list.having));
    Ok(lists)
}

/// Forgets which records have the common terms, but for those that came close.
///
/// How many were read depends on how many were wanted and on what else is stored, so nothing that a
/// search finds may depend on it.
fn forget_others(lists: &mut [List], close: &[Candidate]) {
    let close: BTreeSet<i64> = close.iter().map(|candidate| candidate.doc).collect();
    for list in lists.iter_mut().filter(|list| list.is_common) {
        list.keep(|doc| close.contains(&doc));
    }
}

/// The `count` best, best first; of equal ones the last saved first.
fn best(source: &dyn Source, mut all: Vec<Candidate>, count: usize) -> Vec<Candidate> {
    let order = |a: &Candidate, b: &Candidate| {
        let later = || source.saved(b.doc).cmp(&source.saved(a.doc));
        b.score.total_cmp(&a.score).then_with(later)
    };
    if let Some(last) = count.checked_sub(1).filter(|last| *last < all.len()) {
        all.select_nth_unstable_by(last, order);
    }
    all.truncate(count);
    all.sort_by(order);
    all
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
    fn reread(&mut self, mut candidates: Vec<Candidate>) -> Result<Vec<Candidate>> {
        // What is stored side by side is read side by side.
        candidates.sort_unstable_by_key(|candidate| candidate.doc);
        let mut counts = Vec::with_capacity(candidates.len());
        for candidate in &candidates {
            let mut found = Vec::new();
            self.source
                .read(candidate.doc, &mut |texts| found = self.grams.count(texts))?;
            counts.push(found);
        }
        let worth = self.grams.worth(&counts);
        let both = candidates.into_iter().zip(&counts);
        Ok(both
            .map(|(Candidate { doc, score }, counts)| {
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
        for lender in best(self.source, candidates, LENDERS) {
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
