//! The third stage: what a record lacks, those saved next to it lend.

use std::collections::BTreeMap;

use super::source::Beside;
use super::{NEAR, NEXT};

/// The records around one: one and two before it, one and two after it, as far as they are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Around {
    before: [Option<i64>; 2],
    after: [Option<i64>; 2],
}

/// Who stands next to whom, as far as the windows that were added show.
#[derive(Debug, Default)]
pub(super) struct Rows {
    around: BTreeMap<i64, Around>,
}

impl Rows {
    /// Adds a record and those beside it.
    pub(super) fn add(&mut self, doc: i64, beside: &Beside) {
        let before = beside.before.iter().take(2).rev();
        let after = beside.after.iter().take(2);
        let row: Vec<i64> = before.chain([&doc]).chain(after).copied().collect();
        for (at, doc) in row.iter().enumerate() {
            let around = self.around.entry(*doc).or_default();
            for distance in 1..=2 {
                let earlier = at.checked_sub(distance).and_then(|at| row.get(at));
                let later = row.get(at + distance);
                let places = [&mut around.before, &mut around.after];
                for (places, known) in places.into_iter().zip([earlier, later]) {
                    if let (Some(place), Some(known)) = (places.get_mut(distance - 1), known) {
                        *place = Some(*known);
                    }
                }
            }
        }
    }

    pub(super) fn docs(&self) -> impl Iterator<Item = i64> {
        self.around.keys().copied()
    }

    /// The score of a record, given the parts that each record has of its own.
    ///
    /// Of each part it gets its own. Where it has none, it gets a share of what those beside it have.
    pub(super) fn score(&self, doc: i64, parts: &BTreeMap<i64, Vec<f64>>) -> f64 {
        let around = self.around.get(&doc).copied().unwrap_or_default();
        let [own, b1, b2, a1, a2] = [
            Some(doc),
            around.before[0],
            around.before[1],
            around.after[0],
            around.after[1],
        ]
        .map(|doc| doc.and_then(|doc| parts.get(&doc)));
        let of = |parts: Option<&Vec<f64>>, at: usize| {
            parts
                .and_then(|parts| parts.get(at))
                .copied()
                .unwrap_or_default()
        };
        let part = |at| match of(own, at) {
            part if part > 0.0 => part,
            _ => NEXT * (of(b1, at) + of(a1, at)) + NEAR * (of(b2, at) + of(a2, at)),
        };
        (0..own.map_or(0, Vec::len)).map(part).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beside(before: &[i64], after: &[i64]) -> Beside {
        Beside {
            before: before.to_vec(),
            after: after.to_vec(),
        }
    }

    #[test]
    fn windows_that_overlap_join() {
        let mut rows = Rows::default();
        rows.add(13, &beside(&[12, 11], &[14, 15]));
        rows.add(16, &beside(&[15, 14], &[17]));
        assert_eq!(
            rows.docs().collect::<Vec<_>>(),
            (11..=17).collect::<Vec<_>>()
        );
        let around = |doc: i64| rows.around[&doc];
        assert_eq!(around(11).before, [None, None]);
        assert_eq!(around(14).before, [Some(13), Some(12)]);
        assert_eq!(around(14).after, [Some(15), Some(16)]);
        assert_eq!(around(17).after, [None, None]);
    }

    #[test]
    fn only_what_a_record_lacks_is_lent() {
        let mut rows = Rows::default();
        rows.add(2, &beside(&[1, 0], &[3, 4]));
        let parts = BTreeMap::from([
            (0, vec![0.0, 10.0]),
            (1, vec![1.0, 0.0]),
            (2, vec![3.0, 0.0]),
            (3, vec![8.0, 1.0]),
        ]);
        let score = |doc| rows.score(doc, &parts);
        assert!((score(2) - (3.0 + NEXT * 1.0 + NEAR * 10.0)).abs() < 1e-12);
        assert!((score(3) - 9.0).abs() < 1e-12);
        assert!((score(1) - (1.0 + NEXT * 10.0 + NEAR * 1.0)).abs() < 1e-12);
        assert!(score(4).abs() < 1e-12);
    }
}
