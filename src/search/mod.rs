//! How text is found: [`analysis`] makes terms of it, and ranking scores the records that share them.
//!
//! Everything here counts over the records that the session sees and over nothing else, so a score tells
//! nothing of the others. [`find`] ranks what a [`Source`] holds, in three stages.
//!
//! # Stage 1: terms
//!
//! BM25 (Robertson and Zaragoza, *The Probabilistic Relevance Framework: BM25 and Beyond*, 2009), in which
//! the average length is replaced by a constant: a record's score doesn't change when an unrelated one is
//! saved, but for how rare its terms are. A record gets of each term of the query that it has
//!
//! ```text
//! weight · idf · f · (K1 + 1) / (f + K1 · (1 − B + B · length / LENGTH))
//! idf = ln(1 + (N + RESERVE − n + ½) / (n + ½))
//! ```
//!
//! *weight* is how often the query has the term ([`QueryTerm`](analysis::QueryTerm)), *f* how often key,
//! tags and content together have it, rounded by [`round_frequency`], *length* the number of their words,
//! rounded by [`round_length`], *N* how many visible records there are and *n* how many of them have the
//! term. [`RESERVE`] keeps the weights of a store of ten memories like those of a store of thousands: a
//! word isn't common because two of three memories have it.
//!
//! **Common terms.** A term that more than [`COMMON`] records have says little, and costs much to read. It
//! is counted by the [sampled](is_sampled) records, one in [`SAMPLE`], and gives `weight · idf` to each
//! record that has it, however often. So a query with a rarer term needs to know of a common one only in
//! the records with that; and where all terms are common, the records that were saved last and have them
//! all are the best, and the search goes back no further than to find enough of them.
//!
//! Lists are read rarest first. Once as many records as are wanted have more than all unread lists
//! together can give, no record that is in none of those read can be among the best, and only the sums of
//! the others go on (MaxScore: Turtle and Flood, *Query Evaluation: Strategies and Optimizations*, 1995).
//! It changes no score and no order.
//!
//! # Stage 2: parts of words
//!
//! The best [`CLOSE`] are read again, the first [`READ_BYTES`] of each text. The query's words are cut into
//! parts of four letters, with the ends of the word as letters (`_tea`, `tea_`), the first [`MAX_GRAMS`] of
//! them; each counts as a term whose weight is [`PARTS`] `/ k^`[`SHARING`] in a word of *k* parts, and whose
//! *N* and *n* are counted among those read. That finds another ending, the other half of a compound or a
//! slip of the pen, in any language, without an index of parts, which would be 3.5 times the size. Function
//! words, which are no terms beside others, come last here and count [`FUNCTION_WORDS`] times as much: among
//! records that tell of the same things, they tell who asks for whom.
//!
//! # Stage 3: neighbours
//!
//! What is said in one breath is saved in several memories: the question in one, the answer in the next.
//! Where the option is on ([`StoreBuilder::neighbours`](crate::StoreBuilder::neighbours), the default), the
//! best [`LENDERS`] lend to the records that the same session saved just before and after them, and these
//! to each other. Of each term and part that a record lacks it gets [`NEXT`] of what those beside it have
//! and [`NEAR`] of what those two away have. A record without any term of the query is no hit, whatever
//! stands beside it; hidden records lend nothing and are stepped over. A common term counts here only in
//! the [`CLOSE`] of stage 2, since it isn't known which others have it.
//!
//! Of equal scores the record that was saved last is first.
//!
//! # What was measured
//!
//! The constants are chosen on conversations (LoCoMo), their facts, abstracts (Cranfield) and questions in
//! eleven languages (XQuAD, JSQuAD) together, none for one set alone. What didn't help, or helped one set
//! at the cost of another: phrases, closeness of words, all words first, weights for tags and keys, `B` of
//! 0.75 and an average length. Parts of words as terms of the index gained as much as reading again does,
//! at 3.5 times the size. Thai is better in pairs of its syllable-like units than in trigrams.

pub mod analysis;
mod beside;
mod bm25;
mod explain;
mod find;
mod grams;
mod letters;
mod source;

pub use bm25::Candidate;
pub(crate) use explain::Explainer;
pub use explain::{Explanation, Field, Fragment, MatchedWord};
pub use find::find;
pub use source::{Beside, Found, Newest, Posting, Source};

/// How soon repeats of a term stop counting.
pub const K1: f64 = 0.9;

/// How much a record's length counts.
pub const B: f64 = 0.5;

/// The length, in words, of a record that is neither short nor long.
pub const LENGTH: f64 = 40.0;

/// So many records without any term of the query count besides those that there are.
pub const RESERVE: f64 = 2000.0;

/// A term that more records have is a common one.
pub const COMMON: u64 = 4_096;

/// One record in so many is a sampled one.
pub const SAMPLE: u64 = 16;

/// Whether the record under this key is one of those by which common terms are counted.
///
/// ```
/// let sampled = (0..16_000).filter(|n| strandline::search::is_sampled(&format!("key-{n}")));
/// assert!(sampled.count().abs_diff(1_000) < 100);
/// ```
pub fn is_sampled(key: &str) -> bool {
    // FNV-1a, with its bits mixed once more since only a few of them are used.
    let hash = key.bytes().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    });
    (hash ^ (hash >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 60 == 0
}

/// So many of the best by BM25 are read again.
pub const CLOSE: usize = 100;

/// How much the parts of a word count beside the word itself.
pub const PARTS: f64 = 1.1;

/// How evenly the parts share that: 0 if a word of many parts counts as often as it has parts, 1 if it
/// counts as much as a word of one.
pub const SHARING: f64 = 0.4;

/// How much the parts of a function word count beside those of another word.
pub const FUNCTION_WORDS: f64 = 0.4;

/// So many of the best have records beside them that are looked at.
pub const LENDERS: usize = 20;

/// The share that a record gets of what the ones before and after it have.
pub const NEXT: f64 = 0.4;

/// The share that a record gets of what the ones but one before and after it have.
pub const NEAR: f64 = 0.2;

/// So many bytes of a text are read in the second stage.
pub const READ_BYTES: usize = 8_192;

/// So many parts of a query's words count.
pub const MAX_GRAMS: usize = 512;

/// How often a record has a term, as 2 bits: once, twice, three or four times, or more often.
///
/// ```
/// use strandline::search::{frequency_of, round_frequency};
///
/// let rounded = [1, 2, 3, 4, 5, 99].map(|count| frequency_of(round_frequency(count)));
/// assert_eq!(rounded, [1, 2, 3, 3, 6, 6]);
/// ```
pub const fn round_frequency(count: u32) -> u8 {
    match count {
        0 | 1 => 0,
        2 => 1,
        3 | 4 => 2,
        _ => 3,
    }
}

/// The number that a frequency rounded by [`round_frequency`] counts as.
///
/// ```
/// assert_eq!(strandline::search::frequency_of(3), 6);
/// ```
pub const fn frequency_of(rounded: u8) -> u32 {
    match rounded {
        0 => 1,
        1 => 2,
        2 => 3,
        _ => 6,
    }
}

/// A record's number of words as one byte: exact up to 31, then with a relative error below 1/16.
///
/// ```
/// use strandline::search::{length_of, round_length};
///
/// assert_eq!(length_of(round_length(25)), 25);
/// assert!(length_of(round_length(1_000)).abs_diff(1_000) < 1_000 / 16);
/// ```
pub const fn round_length(words: u32) -> u8 {
    // A tiny float: 4 bits of mantissa behind an implied one, and an exponent. Lengths below 16
    // stand for themselves.
    if words < 16 {
        return words.to_le_bytes()[0];
    }
    let exponent = words.ilog2() - 4;
    let mantissa = (words >> exponent) & 0b1111;
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
