//! Walking the chain, and what may be wrong with it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Digest, Entry};
use crate::error::{Error, Result};

/// How far a chain went at some time: keep it where whoever writes the store can't write.
///
/// As text it is the count, a colon and the hash.
///
/// ```
/// use strandline::audit::{Anchor, Verification};
/// use strandline::{Draft, MemoryStore};
///
/// let store = MemoryStore::open_in_memory()?;
/// let session = store.session("s-1", "agent").open()?;
/// let Verification::Sound(anchor) = store.host().verify(None)? else { panic!("broken") };
/// let kept = anchor.to_string();
///
/// store.save(&session, Draft::new("k", "v"))?;
/// let anchor: Anchor = kept.parse()?;
/// assert!(store.host().verify(Some(&anchor))?.is_sound());
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Anchor {
    /// How many entries there were.
    pub entries: u64,
    /// The hash of the last of them; zeros where there was none.
    pub head: Digest,
}

impl Anchor {
    /// Where every chain starts.
    pub(crate) const START: Self = Self {
        entries: 0,
        head: Digest::ZERO,
    };
}

impl fmt::Display for Anchor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.entries, self.head)
    }
}

impl FromStr for Anchor {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong =
            || Error::invalid("an anchor must be a count, a colon and 64 hexadecimal digits");
        let (entries, head) = text.split_once(':').ok_or_else(wrong)?;
        Ok(Self {
            entries: entries.parse().map_err(|_| wrong())?,
            head: head.parse().map_err(|_| wrong())?,
        })
    }
}

/// What came of a verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verification {
    /// Every entry is as it was stored, as far as the chain and the anchor can tell.
    Sound(Anchor),
    /// It isn't; this is the first place.
    Broken(Flaw),
}

impl Verification {
    /// Whether nothing is wrong.
    ///
    /// ```
    /// let store = strandline::MemoryStore::open_in_memory()?;
    /// assert!(store.host().verify(None)?.is_sound());
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub const fn is_sound(&self) -> bool {
        matches!(self, Self::Sound(_))
    }
}

/// The first place at which a chain is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// The number of the entry; for [`Rewritten`](FlawKind::Rewritten) that of the anchor.
    pub seq: u64,
    /// What is wrong with it.
    pub kind: FlawKind,
}

/// What is wrong with an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FlawKind {
    /// There is none under this number, but there was.
    Missing,
    /// Its facts or its hash are not what was stored.
    Changed,
    /// It is an entry of another place, or its number comes twice.
    Moved,
    /// The chain agrees with itself but not with the anchor: the entry of this number, or one before,
    /// was replaced and everything after it computed anew.
    Rewritten,
}

impl FlawKind {
    /// The kind's name, lower case.
    ///
    /// ```
    /// assert_eq!(strandline::audit::FlawKind::Missing.as_str(), "missing");
    /// ```
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Changed => "changed",
            Self::Moved => "moved",
            Self::Rewritten => "rewritten",
        }
    }
}

/// An entry as a provider finds it stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its number; 0 where that is none that was ever given.
    pub seq: u64,
    /// The entry, unless what is stored can't be one.
    pub entry: Option<Entry>,
}

/// A stretch of the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trail {
    /// What is stored, by rising number.
    pub links: Vec<Link>,
    /// How many entries were ever stored, by the provider's own count, or the highest number that there
    /// is if that is more.
    pub recorded: u64,
}

/// A walk along a chain, one link after the other, in constant memory.
///
/// Once it has found a flaw it only looks whether the entry that belongs there turns up elsewhere.
#[derive(Debug)]
pub(crate) struct Walk {
    sound: Anchor,
    anchor: Option<Anchor>,
    flaw: Option<Flaw>,
    /// The entry that is at the flaw's place and doesn't belong there.
    stranger: Option<Entry>,
    /// The hash of the last link after the flaw.
    before: Digest,
}

impl Walk {
    pub(crate) fn new(anchor: Option<&Anchor>) -> Self {
        let mut walk = Self {
            sound: Anchor::START,
            anchor: anchor.copied(),
            flaw: None,
            stranger: None,
            before: Digest::ZERO,
        };
        walk.compare_with_anchor();
        walk
    }

    pub(crate) fn feed(&mut self, link: Link) {
        if self.flaw.is_some() {
            return self.look_elsewhere(link);
        }
        let next = self.sound.entries.saturating_add(1);
        if link.seq > next {
            self.fail(next, FlawKind::Missing);
            return;
        }
        if link.seq < next {
            self.fail(next, FlawKind::Moved);
            return;
        }
        match link.entry {
            Some(entry) if self.continues(&entry) => {
                self.sound = Anchor {
                    entries: next,
                    head: entry.hash,
                };
                self.compare_with_anchor();
            }
            entry => {
                self.fail(next, FlawKind::Changed);
                self.before = entry.as_ref().map_or(Digest::ZERO, |entry| entry.hash);
                self.stranger = entry;
            }
        }
    }

    /// What came of it, where the provider counts so many entries.
    pub(crate) fn finish(mut self, recorded: u64) -> Verification {
        let anchored = self.anchor.map_or(0, |anchor| anchor.entries);
        if self.sound.entries < recorded.max(anchored) {
            self.fail(self.sound.entries.saturating_add(1), FlawKind::Missing);
        }
        self.flaw
            .map_or(Verification::Sound(self.sound), Verification::Broken)
    }

    fn continues(&self, entry: &Entry) -> bool {
        entry.hash == Digest::of_entry(&self.sound.head, entry.seq, &entry.facts)
    }

    fn compare_with_anchor(&mut self) {
        let differs = |anchor: Anchor| anchor.entries == self.sound.entries && anchor != self.sound;
        if self.anchor.is_some_and(differs) {
            self.fail(self.sound.entries, FlawKind::Rewritten);
        }
    }

    /// The first flaw counts.
    fn fail(&mut self, seq: u64, kind: FlawKind) {
        self.flaw.get_or_insert(Flaw { seq, kind });
    }

    /// Whether the link shows that two entries changed places.
    fn look_elsewhere(&mut self, link: Link) {
        let hash = link.entry.map(|entry| entry.hash);
        let belongs_here = |stranger: &Entry| {
            // After the one before, or where the two were neighbours, after the one that is here now.
            let mut previous = [Some(self.before), hash].into_iter().flatten();
            previous.any(|previous| {
                Digest::of_entry(&previous, link.seq, &stranger.facts) == stranger.hash
            })
        };
        let moved = self.stranger.as_ref().is_some_and(belongs_here);
        self.before = hash.unwrap_or(Digest::ZERO);
        if let Some(flaw) = &mut self.flaw {
            let found = flaw.kind == FlawKind::Missing && link.seq == flaw.seq;
            if moved || found {
                flaw.kind = FlawKind::Moved;
            }
        }
    }
}
