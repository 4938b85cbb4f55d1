//! Where the terms go, and what they must look like.

use std::ops::Range;

use super::foreign::Tally;
use super::language::Language;
use super::place::{Letter, Trail};
use super::script::{is_connector, is_ignorable, is_mark, is_symbol};

/// The most bytes of a term.
pub(super) const MAX_TERM_BYTES: usize = 96;

/// Which side of a search the text is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// A record: everything that a query may ask for.
    Document,
    /// A query: what says most, and nothing beside it.
    Query,
}

/// One term on its way.
#[derive(Debug)]
pub(super) struct Found<'a> {
    pub(super) term: &'a str,
    pub(super) role: Role,
    /// Where in the name it comes from.
    span: Range<usize>,
    trail: &'a Trail,
}

/// What a term is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A word, or a part of one.
    Word,
    /// A function word, which counts only where there is nothing else.
    Function,
    /// The start of a long word.
    Start,
    /// The start of a long word in Latin letters, which doesn't count in English text.
    LatinStart,
}

impl Found<'_> {
    /// Where in the normalised text it comes from.
    pub(super) fn range(&self) -> Range<usize> {
        self.trail.range(self.span.clone())
    }
}

/// Takes the terms as they are found.
pub(super) struct Sink<'a> {
    pub(super) side: Side,
    /// The way from the present name back to the text.
    pub(super) trail: Trail,
    /// The language that the store is set to.
    pub(super) language: Language,
    /// What the words so far say of the text's own.
    pub(super) tally: Tally,
    take: &'a mut dyn FnMut(Found<'_>),
}

impl<'a> Sink<'a> {
    pub(super) fn new(side: Side, language: Language, take: &'a mut dyn FnMut(Found<'_>)) -> Self {
        Self {
            side,
            trail: Trail::default(),
            language,
            tally: Tally::default(),
            take,
        }
    }

    /// Passes a term on, in the form that the contract of terms promises, with its place in the name.
    pub(super) fn push(&mut self, term: &str, span: Range<usize>, role: Role) {
        if term.chars().all(is_legal) {
            self.push_legal(term, span, role);
        } else {
            let legal: String = term.chars().filter(|c| is_legal(*c)).collect();
            self.push_legal(&legal, span, role);
        }
    }

    fn push_legal(&mut self, term: &str, span: Range<usize>, role: Role) {
        let term = cut(term);
        if !term.is_empty() {
            let trail = &self.trail;
            (self.take)(Found {
                term,
                role,
                span,
                trail,
            });
        }
    }

    /// Passes the letters on as one term.
    pub(super) fn push_letters(&mut self, letters: &[Letter], role: Role) {
        if let [first, ..] = letters
            && let [.., last] = letters
        {
            let term: String = letters.iter().map(|letter| letter.c).collect();
            self.push(&term, first.at..last.at + last.c.len_utf8(), role);
        }
    }
}

/// The longest start of the text that a term can hold.
pub(super) fn cut(text: &str) -> &str {
    if text.len() <= MAX_TERM_BYTES {
        return text;
    }
    let end = (0..=MAX_TERM_BYTES)
        .rev()
        .find(|end| text.is_char_boundary(*end));
    end.and_then(|end| text.get(..end)).unwrap_or_default()
}

/// Whether the contract of terms allows this character.
pub(super) fn is_legal(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_lowercase() || c.is_ascii_digit() || is_connector(c);
    }
    (c.is_alphanumeric() || is_mark(c) || is_symbol(c) || is_flag(c)) && !is_ignorable(c)
}

/// Whether this is one of the letters of which two make a flag.
pub(super) fn is_flag(c: char) -> bool {
    matches!(c, '\u{1F1E6}'..='\u{1F1FF}')
}
