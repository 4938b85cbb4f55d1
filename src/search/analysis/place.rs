//! Where in a text its terms come from, through all that happens to it on the way.
//!
//! A text is normalised as a whole, then copied into names without what stands for nothing. A term's
//! place is known in the name; [`Trail`] leads from there to the normalised text, and [`Origins`] to
//! the text as it was written.

use std::ops::Range;

/// A stretch of a name, and where in the name it starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Piece<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
}

impl<'a> Piece<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    pub(super) fn end(self) -> usize {
        self.at + self.text.len()
    }

    pub(super) fn span(self) -> Range<usize> {
        self.at..self.end()
    }

    /// The piece in two. All of it is the first where it can't be cut.
    pub(super) fn split_at(self, middle: usize) -> (Self, Self) {
        let (first, second) = self
            .text
            .split_at_checked(middle)
            .unwrap_or((self.text, ""));
        let at = self.at + first.len();
        (
            Self {
                text: first,
                ..self
            },
            Self { text: second, at },
        )
    }

    /// Part of the piece, by offsets in its own text.
    pub(super) fn get(self, range: Range<usize>) -> Option<Self> {
        let at = self.at + range.start;
        self.text.get(range).map(|text| Self { text, at })
    }

    pub(super) fn trim(self, c: char) -> Self {
        let text = self.text.trim_start_matches(c);
        Self {
            text: text.trim_end_matches(c),
            at: self.end() - text.len(),
        }
    }

    /// What lies between the separators.
    pub(super) fn split(self, separator: char) -> impl Iterator<Item = Self> {
        let mut at = self.at;
        self.text.split(separator).map(move |text| {
            let piece = Self { text, at };
            at = piece.end() + separator.len_utf8();
            piece
        })
    }
}

/// A character of a name, and where in the name it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Letter {
    pub(super) at: usize,
    pub(super) c: char,
}

/// The way from a name back to the normalised text.
///
/// The two go in step but for what the name leaves out, so a few marks on the way are enough.
#[derive(Debug, Default)]
pub(super) struct Trail {
    /// From where on in the name, and how many bytes further back in the text it is. Ascending.
    shifts: Vec<(usize, usize)>,
}

impl Trail {
    /// A new name begins.
    pub(super) fn clear(&mut self) {
        self.shifts.clear();
    }

    /// What comes next in the name, at `name`, is at `text` in the text.
    pub(super) fn note(&mut self, name: usize, text: usize) {
        let shift = text.saturating_sub(name);
        if self.shifts.last().is_none_or(|(_, last)| *last != shift) {
            self.shifts.push((name, shift));
        }
    }

    /// Where in the text a stretch of the name is.
    pub(super) fn range(&self, span: Range<usize>) -> Range<usize> {
        // The end goes with the last byte, since something may be left out right behind it.
        let last = span.end.saturating_sub(1);
        span.start + self.shift(span.start)..last + self.shift(last) + 1
    }

    fn shift(&self, at: usize) -> usize {
        let after = self.shifts.partition_point(|(from, _)| *from <= at);
        let mark = after
            .checked_sub(1)
            .and_then(|index| self.shifts.get(index));
        mark.map_or(0, |(_, shift)| *shift)
    }
}

/// The way from the normalised text back to the text as it was written.
///
/// Where normalisation joins or takes apart, all that comes of a cluster of characters is the whole
/// cluster's.
#[derive(Debug, Default)]
pub(super) struct Origins {
    /// Where each cluster starts, in the normalised text and in the written one. None of plain text.
    clusters: Vec<(usize, usize)>,
    /// The length of the written text.
    end: usize,
}

impl Origins {
    pub(super) fn new(end: usize) -> Self {
        let clusters = Vec::new();
        Self { clusters, end }
    }

    pub(super) fn note(&mut self, normal: usize, written: usize) {
        self.clusters.push((normal, written));
    }

    /// Where in the written text a stretch of the normalised text comes from.
    pub(super) fn range(&self, span: Range<usize>) -> Range<usize> {
        if self.clusters.is_empty() {
            return span;
        }
        let first = self.after(span.start).saturating_sub(1);
        let next = self.after(span.end.saturating_sub(1));
        let start = |index: usize| self.clusters.get(index).map(|(_, written)| *written);
        start(first).unwrap_or_default()..start(next).unwrap_or(self.end)
    }

    /// The index of the first cluster behind this place.
    fn after(&self, normal: usize) -> usize {
        self.clusters.partition_point(|(start, _)| *start <= normal)
    }
}
