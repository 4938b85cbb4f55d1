//! Where the terms go, and what they must look like.

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
#[derive(Clone, Copy, Debug)]
pub(super) struct Found<'a> {
    pub(super) term: &'a str,
    /// A function word, which counts only where there is nothing else.
    pub(super) stop: bool,
}

/// Takes the terms as they are found.
pub(super) struct Sink<'a> {
    pub(super) side: Side,
    take: &'a mut dyn FnMut(Found<'_>),
}

impl<'a> Sink<'a> {
    pub(super) fn new(side: Side, take: &'a mut dyn FnMut(Found<'_>)) -> Self {
        Self { side, take }
    }

    /// Passes a term on, in the form that the contract of terms promises.
    pub(super) fn push(&mut self, term: &str, stop: bool) {
        if term.chars().all(is_legal) {
            self.push_legal(term, stop);
        } else {
            let legal: String = term.chars().filter(|c| is_legal(*c)).collect();
            self.push_legal(&legal, stop);
        }
    }

    fn push_legal(&mut self, term: &str, stop: bool) {
        let term = cut(term);
        if !term.is_empty() {
            (self.take)(Found { term, stop });
        }
    }

    /// Passes the characters on as one term.
    pub(super) fn push_chars(&mut self, chars: &[char]) {
        self.push(&chars.iter().collect::<String>(), false);
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
