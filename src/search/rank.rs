//! BM25 over lists of postings: the same code for every provider.

use super::{B, K1};

/// One record that has a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Posting {
    /// The record, by a number that the provider chose.
    pub doc: i64,
    /// How often it has the term, 1 to [`MAX_FREQUENCY`](super::MAX_FREQUENCY).
    pub frequency: u32,
    /// Its rounded length in terms.
    pub length: u32,
}

/// The visible records that have one term of the query, in ascending order of `doc`.
#[derive(Clone, Debug)]
pub struct PostingList {
    /// How often the query has the term.
    pub weight: u32,
    /// The records; each once.
    pub postings: Vec<Posting>,
}

/// The visible records as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corpus {
    /// How many there are.
    pub records: u64,
    /// The sum of their rounded lengths.
    pub length: u64,
}

/// A record and its score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// The record.
    pub doc: i64,
    /// Its score; higher is better.
    pub score: f64,
}

/// The best `limit` records, best first, and with them all that score the same as the last.
///
/// So the provider can break ties by what it knows of the records, and then cut. Lists are in the
/// order of the query's terms. A record's score doesn't depend on how records are numbered.
///
/// ```
/// use strandline::search::{Corpus, Posting, PostingList, best};
///
/// let posting = |doc| Posting { doc, frequency: 1, length: 4 };
/// let rare = PostingList { weight: 1, postings: vec![posting(7)] };
/// let common = PostingList { weight: 1, postings: vec![posting(3), posting(7), posting(9)] };
/// let corpus = Corpus { records: 10, length: 40 };
/// let found = best(vec![rare, common], corpus, 1);
/// assert_eq!(found.len(), 1);
/// assert_eq!(found[0].doc, 7);
/// ```
pub fn best(mut lists: Vec<PostingList>, corpus: Corpus, limit: usize) -> Vec<Candidate> {
    // Rarest first. The sort is stable, so the order of the additions, and with it the last bit of
    // each sum, depends on the query and the visible records only.
    lists.sort_by_key(|list| list.postings.len());
    let mut sums: Vec<Candidate> = Vec::new();
    for list in &lists {
        sums = add(&sums, list, corpus);
    }
    keep_best(sums, limit)
}

/// Merges one term's contributions into the sums, both in ascending order of `doc`.
fn add(sums: &[Candidate], list: &PostingList, corpus: Corpus) -> Vec<Candidate> {
    let term = TermScore::new(list, corpus);
    let mut merged = Vec::with_capacity(sums.len().max(list.postings.len()));
    let mut sums = sums.iter().copied().peekable();
    for posting in &list.postings {
        while let Some(before) = sums.next_if(|sum| sum.doc < posting.doc) {
            merged.push(before);
        }
        let earlier = sums
            .next_if(|sum| sum.doc == posting.doc)
            .map_or(0.0, |sum| sum.score);
        merged.push(Candidate {
            doc: posting.doc,
            score: earlier + term.of(posting),
        });
    }
    merged.extend(sums);
    merged
}

/// The parts of BM25 that are the same for all records of a term.
struct TermScore {
    factor: f64,
    norm_base: f64,
    norm_slope: f64,
}

impl TermScore {
    fn new(list: &PostingList, corpus: Corpus) -> Self {
        let records = to_f64(corpus.records);
        let having = to_f64(u64::try_from(list.postings.len()).unwrap_or(u64::MAX));
        let idf = (1.0 + (records - having + 0.5) / (having + 0.5)).ln();
        let average = (to_f64(corpus.length) / records.max(1.0)).max(1.0);
        Self {
            factor: f64::from(list.weight) * idf * (K1 + 1.0),
            norm_base: K1 * (1.0 - B),
            norm_slope: K1 * B / average,
        }
    }

    fn of(&self, posting: &Posting) -> f64 {
        let frequency = f64::from(posting.frequency);
        let norm = self.norm_base + self.norm_slope * f64::from(posting.length);
        self.factor * frequency / (frequency + norm)
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of records are far below 2^53"
)]
fn to_f64(number: u64) -> f64 {
    number as f64
}

fn keep_best(mut sums: Vec<Candidate>, limit: usize) -> Vec<Candidate> {
    if limit == 0 {
        return Vec::new();
    }
    if let Some(last) = limit.checked_sub(1).filter(|&last| last < sums.len()) {
        let (_, cut, _) = sums.select_nth_unstable_by(last, |a, b| b.score.total_cmp(&a.score));
        let cut = cut.score;
        sums.retain(|sum| sum.score >= cut);
    }
    sums.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.doc.cmp(&b.doc)));
    sums
}
