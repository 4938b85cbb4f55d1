//! Thai, Lao, Khmer and Burmese: words without space between them, cut without a dictionary.
//!
//! The unit is what is written around one consonant, nearly a syllable. Two of them in a row are a
//! term: measured on Thai questions, that finds better than three characters in a row do, with fewer
//! terms, and none of them starts in the middle of a syllable.

use super::place::Piece;
use super::script::is_mark;
use super::sink::{Role, Side, Sink};

/// Documents have each unit and each pair of units; queries have the pairs, or the one unit.
pub(super) fn push_unspaced(run: Piece<'_>, sink: &mut Sink<'_>) {
    let units = units(run);
    if sink.side == Side::Document || units.len() == 1 {
        for unit in &units {
            sink.push(unit.text, unit.span(), Role::Word);
        }
    }
    for (first, second) in units.iter().zip(units.iter().skip(1)) {
        if let Some(pair) = run.get(first.at - run.at..second.end() - run.at) {
            sink.push(pair.text, pair.span(), Role::Word);
        }
    }
}

/// Cuts before each consonant that starts something new.
fn units(run: Piece<'_>) -> Vec<Piece<'_>> {
    let mut units = Vec::new();
    let mut start = 0;
    let mut open = true;
    let mut rest = run.text.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        let silenced = rest.peek().is_some_and(|(_, next)| is_killer(*next));
        if !open && !is_mark(c) && !is_following(c) && !silenced {
            units.extend(run.get(start..at));
            start = at;
        }
        open = is_leading(c) || is_stacker(c);
    }
    units.extend(run.get(start..run.text.len()));
    units
}

/// The vowels that Thai and Lao write before the consonant after which they are spoken.
fn is_leading(c: char) -> bool {
    matches!(c, '\u{0E40}'..='\u{0E44}' | '\u{0EC0}'..='\u{0EC4}')
}

/// The vowels and the repetition sign after a consonant that aren't marks.
fn is_following(c: char) -> bool {
    matches!(
        c,
        '\u{0E30}'
            | '\u{0E32}'
            | '\u{0E45}'
            | '\u{0E46}'
            | '\u{0EB0}'
            | '\u{0EB2}'
            | '\u{0EBD}'
            | '\u{0EC6}'
    )
}

/// The signs that put the next consonant below this one: Khmer coeng, Burmese virama.
fn is_stacker(c: char) -> bool {
    matches!(c, '\u{17D2}' | '\u{1039}')
}

/// The sign that makes a Burmese consonant the end of a syllable.
fn is_killer(c: char) -> bool {
    c == '\u{103A}'
}
