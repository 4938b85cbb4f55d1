//! How text is found: [`analysis`] makes terms of it, and ranking scores the records that share them.
//!
//! DOCS

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
pub use source::{Beside, Found, Posting, Source};

/// How soon repeats of a term stop counting.
pub const K1: f64 = 0.9;

/// How much a record's length counts.
pub const B: f64 = 0.4;

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
pub const PARTS: f64 = 0.85;

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
