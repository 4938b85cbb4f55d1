//! How large things may be.

use crate::error::{Error, ErrorKind, Result};

/// How large the parts of a memory and of a request may be.
///
/// What is larger is refused with [`ErrorKind::LimitExceeded`] and a message that names the limit;
/// numbers of results are clamped instead. Lengths are in bytes of UTF-8, after normalisation. Start
/// from the default and change what you need:
///
/// ```
/// use strandline::{Draft, ErrorKind, Limits, MemoryStore};
///
/// let limits = Limits { content_bytes: 10, ..Limits::default() };
/// let store = MemoryStore::builder().limits(limits).open_in_memory()?;
/// let session = store.session("s-1", "agent").open()?;
/// let error = store.save(&session, Draft::new("k", "more than ten bytes")).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::LimitExceeded);
/// assert!(error.to_string().contains("content_bytes"));
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest key. Default 131,072: a bound on runaway input, not a shape for keys.
    pub key_bytes: usize,
    /// The longest content. Default 1,048,576.
    pub content_bytes: usize,
    /// The most tags on one memory. Default 64.
    pub tags: usize,
    /// The longest tag. Default 256.
    pub tag_bytes: usize,
    /// The longest search query. Default 65,536.
    pub query_bytes: usize,
    /// The most results of one search; a larger number is clamped. Default 100.
    pub max_results: usize,
    /// The most memories on one page of a list; a larger number is clamped. Default 1,000.
    pub page: usize,
    /// The most drafts in one batch. Default 10,000.
    pub batch: usize,
    /// The most text in one batch: the keys, tags and contents of all drafts. Default 8,388,608. Other
    /// writers wait while a batch is stored, a second or two for each megabyte of words.
    pub batch_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            key_bytes: 131_072,
            content_bytes: 1_048_576,
            tags: 64,
            tag_bytes: 256,
            query_bytes: 65_536,
            max_results: 100,
            page: 1_000,
            batch: 10_000,
            batch_bytes: 8_388_608,
        }
    }
}

/// Refuses a length over its limit, naming both.
pub(crate) fn check(what: &str, len: usize, limit: usize, name: &str) -> Result<()> {
    if len <= limit {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::LimitExceeded,
        format!("`{what}` is {len} long, over the limit {name} = {limit}"),
    ))
}
