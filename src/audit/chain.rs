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
///
/// ```
/// use strandline::MemoryStore;
/// use strandline::audit::{Verification, verify_export};
///
/// let store = MemoryStore::open_in_memory()?;
/// let session = store.session("s-1", "agent").open()?;
/// let mut lines = Vec::new();
/// store.host().export_audit(&mut lines)?;
/// match verify_export(&lines[..], None)? {
///     Verification::Sound(anchor) => assert_eq!(anchor.entries, 1),
///     Verification::Broken(flaw) => panic!("broken at {}", flaw.seq),
/// }
/// # Ok::<(), strandline::Error>(())
/// ```
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
///
/// ```
/// use strandline::audit::{Flaw, FlawKind, Verification, verify_export};
/// use strandline::MemoryStore;
///
/// let store = MemoryStore::open_in_memory()?;
/// let sessions = ["s-1", "s-2", "s-3"].map(|id| store.session(id, "agent").open());
/// let mut lines = Vec::new();
/// store.host().export_audit(&mut lines)?;
/// let text = String::from_utf8_lossy(&lines);
/// let without_second: Vec<_> = text.lines().enumerate().filter(|(at, _)| *at != 1).map(|(_, line)| line).collect();
/// let found = verify_export(without_second.join("\n").as_bytes(), None)?;
/// assert_eq!(found, Verification::Broken(Flaw { seq: 2, kind: FlawKind::Missing }));
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// The number of the entry; for [`Rewritten`](FlawKind::Rewritten) that of the anchor.
    pub seq: u64,
    /// What is wrong with it.
    pub kind: FlawKind,
}

/// What is wrong with an entry.
///
/// ```
/// use strandline::audit::{FlawKind, Verification, verify_export};
/// use strandline::MemoryStore;
///
/// let store = MemoryStore::open_in_memory()?;
/// let session = store.session("s-1", "agent").open()?;
/// let mut lines = Vec::new();
/// store.host().export_audit(&mut lines)?;
/// let forged = String::from_utf8_lossy(&lines).replace("s-1", "s-9");
/// let Verification::Broken(flaw) = verify_export(forged.as_bytes(), None)? else { panic!("not found") };
/// assert_eq!(flaw.kind, FlawKind::Changed);
/// # Ok::<(), strandline::Error>(())
/// ```
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
///
/// ```
/// use std::sync::Arc;
/// use strandline::audit::{Link, Trail, Verification};
/// use strandline::policy::HostGrant;
/// use strandline::storage::{InMemory, StorageProvider};
/// use strandline::{MemoryStore, Result};
///
/// #[derive(Debug, Default)]
/// struct Mine(InMemory);
/// # impl Mine { fn inner(&self) -> Result<&InMemory> { Ok(&self.0) } }
///
/// impl StorageProvider for Mine {
///     /// As a storage that can't decode an entry would answer.
///     fn trail(&self, grant: &HostGrant, after: u64, limit: usize) -> Result<Trail> {
///         let mut trail = self.0.trail(grant, after, limit)?;
///         trail.links.iter_mut().for_each(|link: &mut Link| link.entry = None);
///         Ok(trail)
///     }
/// #     fn is_durable(&self) -> bool { self.0.is_durable() }
/// #     strandline::forward!(inner: get, list, search, save, delete, append, history, audit,
/// #         reindex, note_read, sources, derivations, versions, import, backup, restore, erase,
/// #         check, history_page, stats, holdings, language);
/// }
///
/// let store = MemoryStore::builder().with_provider(Arc::new(Mine::default()));
/// let session = store.session("s-1", "agent").open()?;
/// assert!(matches!(store.host().verify(None)?, Verification::Broken(flaw) if flaw.seq == 1));
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its number; 0 where that is none that was ever given.
    pub seq: u64,
    /// The entry, unless what is stored can't be one.
    pub entry: Option<Entry>,
}

/// A stretch of the chain.
///
/// ```
/// use std::sync::Arc;
/// use strandline::audit::Trail;
/// use strandline::policy::HostGrant;
/// use strandline::storage::{InMemory, StorageProvider};
/// use strandline::{MemoryStore, Result};
///
/// #[derive(Debug, Default)]
/// struct Mine(InMemory);
/// # impl Mine { fn inner(&self) -> Result<&InMemory> { Ok(&self.0) } }
///
/// impl StorageProvider for Mine {
///     /// As a storage that has lost its last entry would answer.
///     fn trail(&self, grant: &HostGrant, after: u64, limit: usize) -> Result<Trail> {
///         let mut trail = self.0.trail(grant, after, limit)?;
///         trail.links.retain(|link| link.seq < trail.recorded);
///         Ok(trail)
///     }
/// #     fn is_durable(&self) -> bool { self.0.is_durable() }
/// #     strandline::forward!(inner: get, list, search, save, delete, append, history, audit,
/// #         reindex, note_read, sources, derivations, versions, import, backup, restore, erase,
/// #         check, history_page, stats, holdings, language);
/// }
///
/// let store = MemoryStore::builder().with_provider(Arc::new(Mine::default()));
/// let session = store.session("s-1", "agent").open()?;
/// assert!(!store.host().verify(None)?.is_sound()); // `recorded` gives it away
/// # Ok::<(), strandline::Error>(())
/// ```
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
