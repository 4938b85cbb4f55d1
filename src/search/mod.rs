//! How text is found: [`analysis`] makes terms of it, and ranking scores the records that share them.
//!
//! A search finds every visible record that has at least one term of the query in its key, tags or
//! content. The score is Okapi BM25 (Robertson and Zaragoza, *The Probabilistic Relevance Framework:
//! BM25 and Beyond*, 2009) with `k1` = [`K1`] and `b` = [`B`], summed over the query's terms *t*:
//!
//! ```text
//! weight(t) · ln(1 + (N − n + ½) / (n + ½)) · f · (k1 + 1) / (f + k1 · (1 − b + b · len / avg))
//! ```
//!
//! where `N` is the number of visible records, `n` how many of them have the term, `f` how often
//! this one has it, counted up to [`MAX_FREQUENCY`], `weight` how often the query has it, `len` the
//! record's number of terms and `avg` its mean over the visible records. Lengths are rounded by
//! [`round_length`], so that they fit a byte of the index. Every number is counted over the visible
//! records alone (invariant I4); shadowed and expired ones don't count either.
//!
//! Why a memory matched is worked out of the query and that memory alone, by the same analysis: see
//! [`Explanation`]. Providers have no part in it.
//!
//! This module is public for those who write a [provider](crate::storage::StorageProvider): both of
//! this crate's use it, so they score alike to the last bit.

pub mod analysis;
mod explain;
mod rank;

pub(crate) use explain::Explainer;
pub use explain::{Explanation, Field, Fragment, MatchedWord};
pub use rank::{Candidate, Corpus, Posting, PostingList, best};

/// How soon repeats of a term stop counting.
pub const K1: f64 = 0.9;

/// How much a record's length counts.
pub const B: f64 = 0.4;

/// More repeats of a term in a record than this count as this many.
pub const MAX_FREQUENCY: u32 = 3;

/// A record's number of terms as one byte: exact up to 31, then with a relative error below 1/16.
///
/// ```
/// use strandline::search::{length_of, round_length};
///
/// assert_eq!(length_of(round_length(25)), 25);
/// assert!(length_of(round_length(1_000)).abs_diff(1_000) < 1_000 / 16);
/// ```
pub const fn round_length(terms: u32) -> u8 {
    // A tiny float: 4 bits of mantissa behind an implied one, and an exponent. Lengths below 16
    // stand for themselves.
    if terms < 16 {
        return terms.to_le_bytes()[0];
    }
    let exponent = terms.ilog2() - 4;
    let mantissa = (terms >> exponent) & 0b1111;
    let code = ((exponent + 1) << 4) | mantissa;
    if code > 255 {
        255
    } else {
        code.to_le_bytes()[0]
    }
}

/// The length that a byte of [`round_length`] stands for.
///
/// ```
/// use strandline::search::{length_of, round_length};
///
/// assert!((0..=255).all(|byte| round_length(length_of(byte)) == byte));
/// ```
pub const fn length_of(byte: u8) -> u32 {
    let byte = byte as u32;
    if byte < 16 {
        return byte;
    }
    ((byte & 0b1111) | 0b1_0000) << ((byte >> 4) - 1)
}
