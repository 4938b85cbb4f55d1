//! Cursors: where the next page of a list starts.

use std::fmt::{self, Write as _};
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::record::MemoryKey;

/// The place in a list after which the next page starts.
///
/// It holds the last key of a page and nothing else, so it tells no more than that page did. It can
/// be sent as text and read back; the text is opaque.
///
/// ```
/// use strandline::{Cursor, Draft, List, MemoryStore};
///
/// let store = MemoryStore::open_in_memory()?;
/// let session = store.session("s-1", "agent").open()?;
/// store.save_all(&session, (0..4).map(|i| Draft::new(format!("k{i}"), "v")))?;
/// let page = store.list(&session, List::new().limit(3))?;
///
/// let text = page.next.expect("one more").to_string();
/// let cursor: Cursor = text.parse()?;
/// assert_eq!(store.list(&session, List::new().after(cursor))?.memories.len(), 1);
/// assert!("not a cursor".parse::<Cursor>().is_err());
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Cursor(MemoryKey);

/// What the text of a cursor of this form starts with.
const PREFIX: &str = "k1";

impl Cursor {
    pub(super) fn after(key: MemoryKey) -> Self {
        Self(key)
    }

    pub(super) fn into_key(self) -> MemoryKey {
        self.0
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        self.0
            .as_str()
            .bytes()
            .try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cursor")?;
        f.write_char('(')?;
        self.0.fmt(f)?;
        f.write_char(')')
    }
}

impl FromStr for Cursor {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let bytes = text.strip_prefix(PREFIX).and_then(from_hex);
        let key = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        key.and_then(|key| key.parse().ok())
            .map(Self)
            .ok_or_else(|| Error::invalid("`cursor` must be what an earlier page's `next` held"))
    }
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| {
        char::from(byte)
            .to_digit(16)
            .and_then(|d| u8::try_from(d).ok())
    };
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs
        .iter()
        .map(|&[high, low]| Some((digit(high)? << 4) | digit(low)?))
        .collect()
}
