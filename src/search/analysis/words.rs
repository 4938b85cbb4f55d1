//! One part of a name to terms: which script it is, and how texts of that script are cut.

use std::ops::Range;

use super::english;
use super::fold::fold;
use super::language::Language;
use super::place::{Letter, Piece};
use super::script::{Kind, Script, is_hiragana, kind};
use super::sink::{Role, Side, Sink};
use super::start::start;
use super::stem::stem;
use super::stop::{is_han_stop, is_stop};
use super::unspaced::push_unspaced;

/// A run of one script, with the marks that belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run<'a> {
    pub(super) kind: Kind,
    pub(super) piece: Piece<'a>,
}

/// Cuts text where the script changes. Digits stay with the word beside them, as in `utf8`.
pub(super) fn runs(text: Piece<'_>) -> Vec<Run<'_>> {
    let mut runs = Vec::new();
    let mut current: Option<(usize, Kind)> = None;
    let run = |start, end, kind| text.get(start..end).map(|piece| Run { kind, piece });
    for (at, c) in text.text.char_indices() {
        let Some(next) = kind(c) else { continue };
        let Some((start, before)) = current else {
            current = Some((at, next));
            continue;
        };
        if let Some(joined) = join(before, next) {
            current = Some((start, joined));
        } else {
            runs.extend(run(start, at, before));
            current = Some((at, next));
        }
    }
    if let Some((start, kind)) = current {
        runs.extend(run(start, text.text.len(), kind));
    }
    runs
}

/// The kind of a run that goes on with a character of this kind, if it does.
fn join(before: Kind, next: Kind) -> Option<Kind> {
    match (before, next) {
        (before, next) if before == next => Some(before),
        (Kind::Word(script), Kind::Digits) | (Kind::Digits, Kind::Word(script)) => {
            Some(Kind::Word(script))
        }
        _ => None,
    }
}

/// The terms of a run.
pub(super) fn push_run(run: Run<'_>, sink: &mut Sink<'_>) {
    match run.kind {
        Kind::Word(script) => push_cased(run.piece, script, sink),
        Kind::Digits => sink.push_letters(&letters(run.piece), Role::Word),
        Kind::Han => push_han(&letters(run.piece), sink),
        Kind::Hangul => push_hangul(&letters(run.piece), sink),
        Kind::Unspaced => push_unspaced(run.piece, sink),
    }
}

/// The characters without marks.
fn letters(run: Piece<'_>) -> Vec<Letter> {
    let chars = run.text.char_indices().filter(|(_, c)| kind(*c).is_some());
    let letter = |(at, c)| Letter { at: run.at + at, c };
    chars.map(letter).collect()
}

/// A word and, if its case shows that it is made of several, each of those.
pub(super) fn push_cased(word: Piece<'_>, script: Script, sink: &mut Sink<'_>) {
    push_piece(word, script, sink);
    let humps = humps(word);
    let several = humps.len() > 1;
    for hump in humps {
        if several && hump.text.chars().nth(1).is_some() {
            push_piece(hump, script, sink);
        }
        push_letters_and_digits(hump, script, sink);
    }
}

/// A piece of a name as one word.
pub(super) fn push_piece(word: Piece<'_>, script: Script, sink: &mut Sink<'_>) {
    push_word(word.text, word.span(), script, sink);
}

/// One word as one term; Hebrew also without the small word before it.
pub(super) fn push_word(text: &str, span: Range<usize>, script: Script, sink: &mut Sink<'_>) {
    push_word_of(sink.language, text, span, script, sink);
}

/// As [`push_word`], for a word that is surely of this language if it is one of its function words.
pub(super) fn push_word_of(
    language: Language,
    text: &str,
    span: Range<usize>,
    script: Script,
    sink: &mut Sink<'_>,
) {
    let folded = fold(text, script);
    let function = is_stop(&folded, script, text.is_ascii(), language);
    if script == Script::Latin {
        let english = text.is_ascii() && english::is_stop(&folded);
        sink.tally.note(&folded, !text.is_ascii(), english);
    }
    let stem = stem(text, &folded, script, sink.language);
    if function {
        sink.push(&stem, span, Role::Function);
        return;
    }
    sink.push(&stem, span.clone(), Role::Word);
    if let Some((start, role)) = start(&folded, script) {
        sink.push(&start, span.clone(), role);
    }
    if script == Script::Hebrew
        && let Some(bare) = without_hebrew_prefix(&folded)
    {
        sink.push(bare, span, Role::Word);
    }
}

/// A word that says no more than a function word.
pub(super) fn push_function(text: &str, span: Range<usize>, script: Script, sink: &mut Sink<'_>) {
    let folded = fold(text, script);
    let stem = stem(text, &folded, script, sink.language);
    sink.push(&stem, span, Role::Function);
}

/// Cuts `poolDayData` and `HTTPServer` into words; `APIs` and `H2O` stay whole.
fn humps(word: Piece<'_>) -> Vec<Piece<'_>> {
    let text = word.text;
    let mut humps = Vec::new();
    let mut start = 0;
    let mut rest = text.char_indices().peekable();
    let (mut lower_before, mut upper_before) = (false, false);
    while let Some((at, c)) = rest.next() {
        let upper = c.is_uppercase();
        let begins = upper
            && (lower_before
                || (upper_before && rest.peek().is_some_and(|(_, n)| n.is_lowercase())));
        if begins && at > start && text.get(at..).is_some_and(|tail| !is_plural(tail)) {
            humps.extend(word.get(start..at));
            start = at;
        }
        // Digits and marks are of the case of the letter before them.
        if upper || c.is_lowercase() {
            (lower_before, upper_before) = (!upper, upper);
        }
    }
    humps.extend(word.get(start..text.len()));
    humps
}

/// Whether this is the last letter of an acronym and its plural `s`.
fn is_plural(tail: &str) -> bool {
    let mut letters = tail.chars();
    letters.next().is_some() && letters.as_str() == "s"
}

/// The letters and the digits of `python3` and `10km`, but not of `a1b2`.
fn push_letters_and_digits(word: Piece<'_>, script: Script, sink: &mut Sink<'_>) {
    let is_digit = |c: char| c.is_ascii_digit();
    let Some(first) = word.text.chars().next() else {
        return;
    };
    let change = word.text.find(|c| is_digit(c) != is_digit(first));
    let Some((head, tail)) = change.map(|at| word.split_at(at)) else {
        return;
    };
    if tail.text.contains(|c| is_digit(c) == is_digit(first)) {
        return;
    }
    let (word, number) = if is_digit(first) {
        (tail, head)
    } else {
        (head, tail)
    };
    sink.push(number.text, number.span(), Role::Word);
    if word.text.chars().nth(1).is_some() {
        push_piece(word, script, sink);
    }
}

/// A word without the article, conjunction or preposition that Hebrew writes together with it.
fn without_hebrew_prefix(word: &str) -> Option<&str> {
    let bare = word.strip_prefix(['ה', 'ו', 'ב', 'ל', 'מ', 'ש', 'כ'])?;
    bare.chars().nth(2).map(|_| bare)
}

/// Documents have each character and each pair. Queries have the pairs, and the characters that no
/// pair speaks for: a lone one, and a Chinese character between hiragana, which is a word by itself.
fn push_han(letters: &[Letter], sink: &mut Sink<'_>) {
    let all = sink.side == Side::Document || letters.len() == 1;
    let mut before = true;
    for (at, letter) in letters.iter().enumerate() {
        let after = letters.get(at + 1).is_none_or(|next| is_hiragana(next.c));
        if all || (before && after && !is_hiragana(letter.c)) {
            sink.push_letters(&[*letter], Role::Word);
        }
        before = is_hiragana(letter.c);
    }
    for pair in letters.windows(2) {
        let function = is_han_stop(pair);
        sink.push_letters(pair, if function { Role::Function } else { Role::Word });
    }
}

/// A Korean word whole, without its particle, and in pairs of syllables. A query leaves out the pairs
/// with the particle.
fn push_hangul(letters: &[Letter], sink: &mut Sink<'_>) {
    let bare = without_particle(letters, sink.side);
    if letters.len() != 2 {
        sink.push_letters(letters, Role::Word);
    }
    if bare.len() < letters.len() && bare.len() != 2 {
        sink.push_letters(bare, Role::Word);
    }
    if sink.side == Side::Document || letters.len() == 2 {
        push_pairs(letters, sink);
    } else {
        push_pairs(bare, sink);
    }
}

/// Particles of Korean that follow a noun, the long ones first.
const PARTICLES: &str = "에서는 에서 에게 까지 부터 보다 처럼 한테 께서 이나 라도 으로 은 는 이 가 을 를 에 의 도 와 과 로 만";

/// Those that seldom end a noun of two syllables.
const SURE_PARTICLES: &str = "은 는 을 를 에";

/// The word without its particle. Of two syllables a query strips only what is surely one.
fn without_particle(letters: &[Letter], side: Side) -> &[Letter] {
    let particles = if side == Side::Query && letters.len() == 2 {
        SURE_PARTICLES
    } else {
        PARTICLES
    };
    let without = |particle: &str| {
        let cut = letters.len().checked_sub(particle.chars().count())?;
        let (bare, end) = letters.split_at_checked(cut)?;
        let same = end.iter().map(|letter| letter.c).eq(particle.chars());
        (cut > 0 && same).then_some(bare)
    };
    particles.split(' ').find_map(without).unwrap_or(letters)
}

fn push_pairs(letters: &[Letter], sink: &mut Sink<'_>) {
    for pair in letters.windows(2) {
        sink.push_letters(pair, Role::Word);
    }
}
