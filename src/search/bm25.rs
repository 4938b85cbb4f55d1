//! The first stage: BM25 over lists of postings.

use std::sync::LazyLock;

use super::analysis::QueryTerm;
use super::source::{Newest, Posting};
use super::{B, K1, LENGTH, RESERVE, frequency_of, length_of};
use crate::error::Result;

/// A record and its score.
///
/// ```
/// use strandline::search::Candidate;
///
/// let mut found = [Candidate { doc: 3, score: 0.5 }, Candidate { doc: 8, score: 2.0 }];
/// found.sort_by(|a, b| b.score.total_cmp(&a.score));
/// assert_eq!(found[0].doc, 8);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// The record.
    pub doc: i64,
    /// Its score; higher is better.
    pub score: f64,
}

/// One term of the query, with the records that have it as far as they were read.
pub(super) struct List {
    pub(super) term: String,
    /// How many records have it.
    pub(super) having: u64,
    /// Whether so many have it that it says no more than that they do.
    pub(super) is_common: bool,
    /// What a record gets that has it once and is neither short nor long.
    weight: f64,
    /// The most that a record gets of it.
    most: f64,
    postings: Vec<Posting>,
}

impl List {
    /// A term that was read.
    pub(super) fn read(term: QueryTerm, records: u64, postings: Vec<Posting>) -> Self {
        let having = u64::try_from(postings.len()).unwrap_or(u64::MAX);
        let most = postings.iter().map(saturation).fold(0.0, f64::max);
        let mut list = Self::common(term, records, having);
        (list.is_common, list.most) = (false, list.weight * most);
        list.postings = postings;
        list
    }

    /// A term that so many records have that they aren't all read.
    pub(super) fn common(term: QueryTerm, records: u64, having: u64) -> Self {
        let (all, n) = (whole(records) + RESERVE, whole(having));
        let idf = (1.0 + ((all - n).max(0.0) + 0.5) / (n + 0.5)).ln();
        let weight = term.weight * idf;
        Self {
            term: term.term,
            having,
            is_common: true,
            weight,
            most: weight,
            postings: Vec::new(),
        }
    }

    fn part(&self, posting: &Posting) -> f64 {
        if self.is_common {
            return self.weight;
        }
        self.weight * saturation(posting)
    }

    /// What a record gets of the term, if it is known to have it.
    pub(super) fn part_of(&self, doc: i64) -> Option<f64> {
        self.posting(doc).map(|posting| self.part(posting))
    }

    /// The rounded length of a record, if it is known to have the term.
    pub(super) fn length_of(&self, doc: i64) -> Option<u8> {
        self.posting(doc).map(|posting| posting.length)
    }

    /// Forgets the records that aren't wanted.
    pub(super) fn keep(&mut self, is_wanted: impl Fn(i64) -> bool) {
        self.postings.retain(|posting| is_wanted(posting.doc));
    }

    fn posting(&self, doc: i64) -> Option<&Posting> {
        let postings = &self.postings;
        let found = postings.binary_search_by_key(&doc, |posting| posting.doc);
        found.ok().and_then(|at| postings.get(at))
    }
}

/// How much a term counts in a record, by how often the record has it and how long it is.
fn saturation(posting: &Posting) -> f64 {
    static TABLE: LazyLock<Vec<[f64; 256]>> = LazyLock::new(|| {
        let value = |frequency: u8, length: u8| {
            let f = f64::from(frequency_of(frequency));
            f * (K1 + 1.0) / (f + norm(length))
        };
        let mut table = vec![[0.0; 256]; 4];
        for (row, frequency) in table.iter_mut().zip(0..) {
            for (cell, length) in row.iter_mut().zip(0..=u8::MAX) {
                *cell = value(frequency, length);
            }
        }
        table
    });
    let row = TABLE.get(usize::from(posting.frequency.min(3)));
    let cell = row.and_then(|row| row.get(usize::from(posting.length)));
    cell.copied().unwrap_or_default()
}

/// What a frequency is weighed against in a record of this rounded length.
pub(super) fn norm(length: u8) -> f64 {
    K1 * (1.0 - B + B * f64::from(length_of(length)) / LENGTH)
}

/// The sums over all lists of each record that may be among the `wanted` best, ascending by `doc`.
///
/// The lists come rarest first. Once `wanted` records have more than all the lists to come can give,
/// a record that is in none of those read so far can't be among the best any more: from then on sums
/// are raised, none is added, and those that fall behind are dropped. A sum is the same to the last
/// bit as if every list had been added up for every record.
///
/// The common lists come last and are read only then: in full by `Read::All`, or by `Read::With` where
/// it is enough to know which of the records in the earlier lists are in them too.
pub(super) fn sums(
    lists: &mut [List],
    wanted: usize,
    mut read: impl FnMut(&str, Read<'_>) -> Result<Vec<Posting>>,
) -> Result<Vec<Candidate>> {
    let mut sums: Vec<Candidate> = Vec::new();
    let mut open = true;
    for at in 0..lists.len() {
        let (before, from) = lists.split_at_mut(at);
        let rest = rest(from);
        let Some(list) = from.first_mut() else { break };
        let cut = cut(&sums, wanted);
        open &= rest >= cut;
        if !open {
            sums.retain(|sum| sum.score + rest >= cut);
        }
        if list.is_common {
            let cover = cover(before, &sums, list.having / FEWER);
            let how = match &cover {
                Some(terms) if !open => Read::With(terms),
                _ => Read::All,
            };
            list.postings = read(&list.term, how)?;
        }
        if open {
            sums = merge(&sums, list);
        } else {
            raise(&mut sums, list);
        }
    }
    Ok(sums)
}

/// The sums of each record that may be among the `wanted` best, if all the lists are of common terms.
///
/// A record gets the same of a term whenever it has it, so none has more than one with all of them, and
/// of equal ones the last saved is the best. Once `wanted` of those looked through have them all, no
/// record that was saved before can be among the best.
pub(super) fn newest(
    lists: &mut [List],
    wanted: usize,
    mut read: impl FnMut(&str, u64) -> Result<Newest>,
) -> Result<Vec<Candidate>> {
    let all = lists.iter().fold(0.0, |sum, list| sum + list.weight);
    let mut window = u64::try_from(wanted).unwrap_or(u64::MAX).saturating_mul(4);
    loop {
        let mut sums = Vec::new();
        let mut is_all = true;
        for list in lists.iter_mut() {
            let newest = read(&list.term, window)?;
            is_all &= newest.is_all;
            list.postings = newest.postings;
            sums = merge(&sums, list);
        }
        let full = sums.iter().filter(|sum| sum.score >= all).count();
        if is_all || full >= wanted {
            return Ok(sums);
        }
        window = window.saturating_mul(4);
    }
}

/// Looking for two terms together costs for each record with the rarer one what reading costs for some
/// four with the other.
const FEWER: u64 = 4;

/// The first of the terms that together have all the records, if they have at most so many.
fn cover<'l>(lists: &'l [List], sums: &[Candidate], most: u64) -> Option<Vec<&'l str>> {
    let (mut terms, mut having) = (Vec::new(), 0_u64);
    let mut left: Vec<i64> = sums.iter().map(|sum| sum.doc).collect();
    for list in lists.iter().filter(|list| !list.postings.is_empty()) {
        if left.is_empty() {
            break;
        }
        having = having.saturating_add(list.having);
        if having > most {
            return None;
        }
        terms.push(list.term.as_str());
        left.retain(|doc| list.posting(*doc).is_none());
    }
    Some(terms).filter(|terms| !terms.is_empty())
}

/// Which records of a common term are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Read<'t> {
    /// Each one.
    All,
    /// Those that have one of these terms as well.
    With(&'t [&'t str]),
}

/// The most that these lists can give, rounded up.
fn rest(lists: &[List]) -> f64 {
    const ROUNDING: f64 = 1.0 + 1e-9;
    lists.iter().map(|list| list.most).sum::<f64>() * ROUNDING
}

/// What the last of the `wanted` best has so far.
fn cut(sums: &[Candidate], wanted: usize) -> f64 {
    let last = wanted.checked_sub(1).filter(|last| *last < sums.len());
    let Some(last) = last else {
        return f64::NEG_INFINITY;
    };
    let mut scores: Vec<f64> = sums.iter().map(|sum| sum.score).collect();
    *scores.select_nth_unstable_by(last, |a, b| b.total_cmp(a)).1
}

/// Adds one term to the sums, both in ascending order of `doc`.
fn merge(sums: &[Candidate], list: &List) -> Vec<Candidate> {
    let mut merged = Vec::with_capacity(sums.len() + list.postings.len());
    let mut sums = sums.iter().copied().peekable();
    for posting in &list.postings {
        while let Some(before) = sums.next_if(|sum| sum.doc < posting.doc) {
            merged.push(before);
        }
        let same = sums.next_if(|sum| sum.doc == posting.doc);
        let earlier = same.map_or(0.0, |sum| sum.score);
        merged.push(Candidate {
            doc: posting.doc,
            score: earlier + list.part(posting),
        });
    }
    merged.extend(sums);
    merged
}

/// Adds one term to the sums of the records that have one.
fn raise(sums: &mut [Candidate], list: &List) {
    let mut postings = list.postings.as_slice();
    for sum in sums {
        postings = skip(postings, sum.doc);
        let same = postings.first().filter(|posting| posting.doc == sum.doc);
        sum.score += same.map_or(0.0, |posting| list.part(posting));
    }
}

/// The postings from this record on: steps that double, then a search between the last two.
fn skip(postings: &[Posting], doc: i64) -> &[Posting] {
    let mut step = 1;
    while postings.get(step).is_some_and(|posting| posting.doc < doc) {
        step *= 2;
    }
    let near = postings.get(..=step).unwrap_or(postings);
    let before = near.partition_point(|posting| posting.doc < doc);
    postings.get(before..).unwrap_or_default()
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of records are far below 2^53"
)]
pub(super) fn to_f64(number: usize) -> f64 {
    number as f64
}

fn whole(number: u64) -> f64 {
    usize::try_from(number).map_or(f64::MAX, to_f64)
}
