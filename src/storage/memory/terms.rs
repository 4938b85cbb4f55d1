//! What a search finds a record by, and whether a term is among it.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::search::analysis::DocumentTerms;

/// The terms of a record, in an order in which looking for one touches little memory: a search asks each
/// record for each term of its query, and most have none of them.
#[derive(Default)]
pub(super) struct Terms {
    /// Each term and how often it comes, by the term's [`fingerprint`].
    counts: Vec<(String, u32)>,
    fingerprints: Vec<u64>,
    pub(super) length: u32,
}

impl From<DocumentTerms> for Terms {
    fn from(document: DocumentTerms) -> Self {
        let with_fingerprint = |(term, count): (String, u32)| (fingerprint(&term), (term, count));
        let mut all: Vec<_> = document.counts.into_iter().map(with_fingerprint).collect();
        all.sort_unstable();
        let (fingerprints, counts) = all.into_iter().unzip();
        Self {
            counts,
            fingerprints,
            length: document.length,
        }
    }
}

impl Terms {
    /// How often the term comes, if it does.
    pub(super) fn count_of(&self, term: &str, fingerprint: u64) -> Option<u32> {
        let first = self
            .fingerprints
            .partition_point(|other| *other < fingerprint);
        let same = self
            .fingerprints
            .get(first..)?
            .iter()
            .zip(self.counts.get(first..)?);
        same.take_while(|(other, _)| **other == fingerprint)
            .find(|(_, (other, _))| other == term)
            .map(|(_, (_, count))| *count)
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        (&self.counts, self.length) == (&other.counts, other.length)
    }

    /// Forgets them: a version that isn't live is found by none.
    pub(super) fn clear(&mut self) {
        (self.counts, self.fingerprints) = (Vec::new(), Vec::new());
    }
}

/// A number that two terms rarely share.
pub(super) fn fingerprint(term: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    term.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::analysis::Analysis;

    #[test]
    fn a_term_is_looked_for_by_its_text_also_among_like_fingerprints() {
        let terms = Terms {
            counts: [("a", 1), ("b", 2), ("c", 3)]
                .map(|(term, count)| (term.to_owned(), count))
                .into(),
            fingerprints: vec![7, 7, 9],
            length: 6,
        };
        assert_eq!(terms.count_of("a", 7), Some(1));
        assert_eq!(terms.count_of("b", 7), Some(2));
        assert_eq!(terms.count_of("c", 7), None);
        assert_eq!(terms.count_of("c", 9), Some(3));
        assert_eq!(terms.count_of("d", 8), None);
        assert_eq!(terms.count_of("d", 10), None);
    }

    #[test]
    fn every_term_of_a_text_is_found() {
        let text = "Ada drinks green tea, and tea again";
        let document = Analysis::default().document("user-name", [], text);
        let terms = Terms::from(document.clone());
        for (term, count) in document.counts {
            assert_eq!(terms.count_of(&term, fingerprint(&term)), Some(count));
        }
        assert_eq!(terms.count_of("coffee", fingerprint("coffee")), None);
    }
}
