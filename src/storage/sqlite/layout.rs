//! How a row of the index is numbered, so that what a session sees is a few contiguous ranges.
//!
//! A rowid has, from the high bits down: the scope (22 bits), whether the record is
//! [sampled](crate::search::is_sampled) (1), the slot (4), a sequence number (26), the record's rounded
//! length (8) and a rounded frequency (2). A record has a row of frequency 0 with each of its terms, and
//! for each higher frequency a row with the terms that it has so often: so one list of a term tells both
//! which records have it and how often, and what has two terms is found in the rows of frequency 0.
//! (Marking repeats by terms of their own takes a list for each frequency, and finding a list costs more
//! than reading one that is short.) The *slot* says at which level the record is and which next higher
//! level shadows it, if any. A session at level L sees the slots whose level is at most L and whose
//! shadow is above it; in the order below these are contiguous but for one slot:
//!
//! | slot | 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 |
//! |---|---|---|---|---|---|---|---|---|---|---|
//! | level, shadow | 0,– | 1,– | 2,– | 3,– | 0,1 | 0,2 | 0,3 | 1,3 | 2,3 | 1,2 |
//! | `PUBLIC` sees | • | | | | • | • | • | | | |
//! | `INTERNAL` | • | • | | | | • | • | • | | • |
//! | `CONFIDENTIAL` | • | • | • | | | | • | • | • | |
//! | `RESTRICTED` | • | • | • | • | | | | | | |
//!
//! So document frequencies and counts are exact for a session without a look at any record, and rows
//! that it can't see are never read. The price: a save or a delete that changes what it shadows
//! renumbers the lower record's rows. They keep their sequence number and length. Sequence numbers of a
//! scope rise in the order of saving.

use std::ops::RangeInclusive;

use crate::classification::Classification;

const FREQUENCY_BITS: u32 = 2;
const LENGTH_BITS: u32 = 8;
const SEQ_BITS: u32 = 26;
const SAMPLE_BITS: u32 = 1;
const SLOT_BITS: u32 = 4;
const SCOPE_BITS: u32 = 22;
/// How far from the right of a number the sequence number and the scope are.
pub(super) const SEQ_SHIFT: u32 = FREQUENCY_BITS + LENGTH_BITS;
pub(super) const SCOPE_SHIFT: u32 = SEQ_SHIFT + SEQ_BITS + SLOT_BITS + SAMPLE_BITS;
const _: () =
    assert!(FREQUENCY_BITS + LENGTH_BITS + SEQ_BITS + SAMPLE_BITS + SLOT_BITS + SCOPE_BITS == 63);

/// The `shadow` of a record that no higher one shadows.
pub(super) const UNSHADOWED: u8 = 4;

/// The level and the shadow of each slot.
const SLOTS: [(u8, u8); 10] = [
    (0, 4),
    (1, 4),
    (2, 4),
    (3, 4),
    (0, 1),
    (0, 2),
    (0, 3),
    (1, 3),
    (2, 3),
    (1, 2),
];

/// The number of a record's rows, taken apart, without the frequency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Doc {
    pub(super) scope: i64,
    pub(super) slot: u8,
    pub(super) sampled: bool,
    pub(super) seq: i64,
    pub(super) length: u8,
}

impl Doc {
    /// The largest scope.
    pub(super) const MAX_SCOPE: i64 = (1 << SCOPE_BITS) - 1;
    /// The largest sequence number.
    pub(super) const MAX_SEQ: i64 = (1 << SEQ_BITS) - 1;

    /// The number under which the record itself is known: its rows' without the frequency.
    pub(super) fn to_rowid(self) -> i64 {
        let halved = (self.scope << SAMPLE_BITS) | i64::from(self.sampled);
        let scoped = (halved << SLOT_BITS) | i64::from(self.slot);
        let numbered = (scoped << SEQ_BITS) | self.seq;
        ((numbered << LENGTH_BITS) | i64::from(self.length)) << FREQUENCY_BITS
    }

    /// The number of the row with the terms that the record has so often.
    pub(super) fn to_row(self, frequency: u8) -> i64 {
        self.to_rowid() | i64::from(frequency)
    }

    pub(super) fn from_rowid(rowid: i64) -> Self {
        let bits = |shift: u32, width: u32| (rowid >> shift) & ((1 << width) - 1);
        let small = |number: i64| number.to_le_bytes()[0];
        let length = FREQUENCY_BITS;
        let seq = length + LENGTH_BITS;
        let slot = seq + SEQ_BITS;
        let sample = slot + SLOT_BITS;
        Self {
            scope: bits(sample + SAMPLE_BITS, SCOPE_BITS),
            slot: small(bits(slot, SLOT_BITS)),
            sampled: bits(sample, SAMPLE_BITS) == 1,
            seq: bits(seq, SEQ_BITS),
            length: small(bits(length, LENGTH_BITS)),
        }
    }

    /// The rounded frequency in the number of a row.
    pub(super) fn frequency(row: i64) -> u8 {
        row.to_le_bytes()[0] & 0b11
    }
}

/// The slot of a record at `level` that is next shadowed at `shadow`.
pub(super) fn slot(level: u8, shadow: u8) -> Option<u8> {
    SLOTS
        .iter()
        .zip(0..)
        .find(|&(&slot, _)| slot == (level, shadow))
        .map(|(_, number)| number)
}

/// Whether a session at this level sees the slot.
pub(super) fn sees(session: Classification, slot: u8) -> bool {
    let rank = session.rank();
    SLOTS
        .get(usize::from(slot))
        .is_some_and(|&(level, shadow)| level <= rank && rank < shadow)
}

/// The rowids of these slots in one half of a scope, neighbours joined. The slots must be in ascending
/// order.
pub(super) fn ranges(
    scope: i64,
    sampled: bool,
    slots: impl IntoIterator<Item = u8>,
) -> Vec<RangeInclusive<i64>> {
    let mut joined: Vec<(u8, u8)> = Vec::new();
    for slot in slots {
        match joined.last_mut() {
            Some((_, last)) if *last + 1 == slot => *last = slot,
            _ => joined.push((slot, slot)),
        }
    }
    let whole = |slot| since(scope, sampled, slot, 0);
    joined
        .into_iter()
        .map(|(first, last)| *whole(first).start()..=*whole(last).end())
        .collect()
}

/// The rowids of a slot in one half of a scope, from this sequence number on.
pub(super) fn since(scope: i64, sampled: bool, slot: u8, seq: i64) -> RangeInclusive<i64> {
    let row = |seq, length| {
        let doc = Doc {
            scope,
            slot,
            sampled,
            seq,
            length,
        };
        doc.to_rowid()
    };
    row(seq, 0)..=row(Doc::MAX_SEQ, u8::MAX) + ((1 << FREQUENCY_BITS) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rowid_is_positive_and_comes_apart_again() {
        for scope in [0, 1, Doc::MAX_SCOPE] {
            for slot in 0..10 {
                for seq in [0, 1, Doc::MAX_SEQ] {
                    for length in [0, 1, 255] {
                        let doc = Doc {
                            scope,
                            slot,
                            sampled: seq % 2 == 1,
                            seq,
                            length,
                        };
                        assert!(doc.to_rowid() >= 0);
                        for frequency in 0..4 {
                            let row = doc.to_row(frequency);
                            assert_eq!(Doc::from_rowid(row), doc);
                            assert_eq!(Doc::frequency(row), frequency);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_session_sees_exactly_the_unshadowed_slots_at_or_below_it() {
        for session in Classification::ALL {
            for level in 0..4_u8 {
                for shadow in level + 1..=UNSHADOWED {
                    let number = slot(level, shadow).unwrap();
                    let visible = level <= session.rank() && shadow > session.rank();
                    assert_eq!(sees(session, number), visible);
                }
            }
        }
    }

    #[test]
    fn what_a_session_sees_is_at_most_three_ranges() {
        let visible = |session| (0..10).filter(move |&slot| sees(session, slot));
        let counts = Classification::ALL.map(|session| ranges(7, false, visible(session)).len());
        assert_eq!(counts, [2, 3, 2, 1]);
    }

    #[test]
    fn ranges_follow_each_other_without_a_gap() {
        let whole = |scope, sampled, slot| {
            let [range] = ranges(scope, sampled, [slot]).try_into().unwrap();
            range
        };
        for slot in 0..9 {
            assert_eq!(
                whole(7, true, slot).end() + 1,
                *whole(7, true, slot + 1).start()
            );
        }
        assert!(whole(7, false, 9).end() < whole(7, true, 0).start());
        assert!(whole(7, true, 9).end() < whole(8, false, 0).start());
        let later = since(7, true, 3, 55);
        assert_eq!(Doc::from_rowid(*later.start()).seq, 55);
        assert_eq!(later.end(), whole(7, true, 3).end());
    }
}
