//! Keys: exact, case-sensitive names of memories.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::text::nfc;
use crate::error::{Error, Result};

/// The name of a memory within its agent and namespace.
///
/// Any text that isn't blank, normalised to Unicode NFC so that one spelling has one key. Beyond
/// that keys are exact: case, spaces and punctuation all count, and nothing in them is a wildcard.
/// How long one may be is a [limit](crate::Limits::key_bytes) of the store.
///
/// `Debug` doesn't show the text.
///
/// ```
/// use strandline::MemoryKey;
///
/// let composed: MemoryKey = "caf\u{e9}".parse()?;
/// let decomposed: MemoryKey = "cafe\u{301}".parse()?;
/// assert_eq!(composed, decomposed);
/// assert_ne!("a/b".parse::<MemoryKey>()?, "A/b".parse()?);
/// assert!("  ".parse::<MemoryKey>().is_err());
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MemoryKey(String);

impl MemoryKey {
    /// The key's text, in NFC.
    ///
    /// ```
    /// let key: strandline::MemoryKey = "user-name".parse()?;
    /// assert_eq!(key.as_str(), "user-name");
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for MemoryKey {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if text.trim().is_empty() {
            return Err(Error::invalid("`key` must be a text that isn't blank"));
        }
        Ok(Self(nfc(text)))
    }
}

impl TryFrom<String> for MemoryKey {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<MemoryKey> for String {
    fn from(key: MemoryKey) -> Self {
        key.0
    }
}

impl fmt::Debug for MemoryKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MemoryKey({} bytes)", self.0.len())
    }
}
