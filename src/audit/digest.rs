//! The hashes of the chain.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::Facts;
use crate::error::{Error, Result};

/// What every hash begins with, so that no other use of SHA-256 gives the same one.
const DOMAIN: &[u8] = b"strandline/audit/1";

/// A SHA-256 hash; as text, 64 hexadecimal digits in lower case.
///
/// ```
/// use strandline::audit::Digest;
///
/// let text = Digest::ZERO.to_string();
/// assert_eq!(text.len(), 64);
/// assert_eq!(text.parse::<Digest>()?, Digest::ZERO);
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest([u8; 32]);

impl Digest {
    /// What comes before the first entry.
    pub const ZERO: Self = Self([0; 32]);

    /// The hash of these bytes, as a provider stored them.
    ///
    /// ```
    /// use strandline::audit::Digest;
    ///
    /// assert_eq!(Digest::from_bytes([0; 32]), Digest::ZERO);
    /// ```
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Its bytes, as a provider stores them.
    ///
    /// ```
    /// assert_eq!(strandline::audit::Digest::ZERO.as_bytes(), &[0; 32]);
    /// ```
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The hash of the entry with this number and these facts, after one with the hash `previous`.
    ///
    /// The [encoding](super#the-chain) is part of the file format.
    ///
    /// ```
    /// use strandline::audit::{Digest, Query};
    /// use strandline::{Draft, MemoryStore};
    ///
    /// let store = MemoryStore::open_in_memory()?;
    /// let session = store.session("s-1", "agent").open()?;
    /// store.save(&session, Draft::new("k", "v"))?;
    /// let entries = store.host().audit(&Query::default())?; // newest first
    /// let [second, first] = &entries[..] else { panic!("two entries") };
    /// assert_eq!(first.hash, Digest::of_entry(&Digest::ZERO, 1, &first.facts));
    /// assert_eq!(second.hash, Digest::of_entry(&first.hash, 2, &second.facts));
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn of_entry(previous: &Self, seq: u64, facts: &Facts) -> Self {
        let mut hash = Encoder(Sha256::new_with_prefix(DOMAIN));
        hash.0.update(previous.0);
        hash.0.update(seq.to_be_bytes());
        hash.0.update(facts.at.timestamp_micros().to_be_bytes());
        hash.text(facts.session.as_str());
        hash.text(facts.agent.as_str());
        hash.text(facts.namespace.as_str());
        hash.text(facts.action.as_str());
        hash.text(facts.decision.as_str());
        hash.text(facts.level.as_str());
        hash.optional(facts.key.as_ref(), |hash, key| hash.text(key.as_str()));
        hash.optional(facts.version, |hash, version| {
            hash.0.update(version.to_be_bytes());
        });
        hash.optional(facts.rule.as_ref(), |hash, rule| hash.text(rule));
        hash.optional(facts.detail.as_ref(), |hash, detail| hash.text(detail));
        Self(hash.0.finalize().into())
    }
}

struct Encoder(Sha256);

impl Encoder {
    fn text(&mut self, text: &str) {
        let length = u64::try_from(text.len()).unwrap_or(u64::MAX);
        self.0.update(length.to_be_bytes());
        self.0.update(text);
    }

    fn optional<T>(&mut self, value: Option<T>, encode: impl FnOnce(&mut Self, T)) {
        self.0.update([u8::from(value.is_some())]);
        if let Some(value) = value {
            encode(self, value);
        }
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || Error::invalid("a hash must be 64 hexadecimal digits in lower case");
        let digit = |digit: u8| match digit {
            b'0'..=b'9' => Ok(digit - b'0'),
            b'a'..=b'f' => Ok(digit - b'a' + 10),
            _ => Err(wrong()),
        };
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        if pairs.len() != 32 || !rest.is_empty() {
            return Err(wrong());
        }
        let mut bytes = [0; 32];
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = digit(*high)? << 4 | digit(*low)?;
        }
        Ok(Self(bytes))
    }
}

impl TryFrom<String> for Digest {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.to_string()
    }
}
