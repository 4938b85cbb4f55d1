//! Spellings of one word made one: compatibility forms, case, accents, vowel points, letter variants.

use std::borrow::Cow;
use std::iter;

use unicode_normalization::char::{canonical_combining_class, decompose_compatible};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

use super::language::Language;
use super::place::Origins;
use super::script::{Kind, Script, ascii_digit, is_mark, kind};

/// The text in NFKC, with ASCII digits, one apostrophe and one hyphen, before it is cut into words.
pub(super) fn normalise(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut normal = Normal::new(text);
    text.nfkc().for_each(|c| normal.push(c));
    Cow::Owned(normal.text)
}

/// The same text as [`normalise`] gives, and the way back. It takes somewhat longer.
pub(super) fn normalise_located(text: &str) -> (Cow<'_, str>, Origins) {
    let mut origins = Origins::new(text.len());
    if text.is_ascii() {
        return (Cow::Borrowed(text), origins);
    }
    let mut normal = Normal::new(text);
    for (at, cluster) in clusters(text) {
        origins.note(normal.text.len(), at);
        cluster.nfkc().for_each(|c| normal.push(c));
    }
    (Cow::Owned(normal.text), origins)
}

/// A normalised text in the making.
struct Normal {
    text: String,
    before: Option<Kind>,
}

impl Normal {
    fn new(text: &str) -> Self {
        Self {
            text: String::with_capacity(text.len()),
            before: None,
        }
    }

    /// Takes a character of the text's NFKC.
    fn push(&mut self, c: char) {
        match c {
            '\u{2018}' | '\u{2019}' | '\u{02BC}' => self.text.push('\''),
            '\u{2010}' => self.text.push('-'),
            // The space of no width that some writers put between the words of an unspaced script.
            '\u{200B}' if self.before == Some(Kind::Unspaced) => {}
            '\u{200B}' => self.text.push(' '),
            _ => self.text.push(ascii_digit(c)),
        }
        self.before = kind(c).or(self.before);
    }
}

/// Cuts a text into what NFKC changes independently of the rest.
fn clusters(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut starts = text.char_indices().skip(1);
    let mut start = (!text.is_empty()).then_some(0);
    iter::from_fn(move || {
        let at = start?;
        let next = starts.find(|(_, c)| starts_cluster(*c));
        start = next.map(|(next, _)| next);
        let cluster = text.get(at..start.unwrap_or(text.len()))?;
        Some((at, cluster))
    })
}

/// Whether NFKC never moves this character across what is before it, nor joins the two.
fn starts_cluster(c: char) -> bool {
    if c.is_ascii() {
        return true;
    }
    let mut first = None;
    decompose_compatible(c, |part| first = first.or(Some(part)));
    let first = first.unwrap_or(c);
    canonical_combining_class(first) == 0 && is_nfkc_quick(iter::once(first)) == IsNormalized::Yes
}

/// A word without what its readers take for the same: case always, the rest by script.
pub(super) fn fold(word: &str, script: Script) -> String {
    if word.is_ascii() {
        return word.to_ascii_lowercase();
    }
    let cased = fold_case(word);
    match script {
        Script::Latin => latin(&cased),
        Script::Greek => without_marks(&cased),
        Script::Cyrillic => cased.chars().filter_map(cyrillic).collect(),
        Script::Arabic => cased.chars().filter_map(arabic).collect(),
        Script::Hebrew => cased.chars().filter(|c| !is_mark(*c)).collect(),
        Script::Devanagari => devanagari(&cased),
        // NFKC has taken the ligature և apart; its capital is the other spelling.
        Script::Armenian => cased.replace("եւ", "եվ"),
        Script::Tamil | Script::Other => cased,
    }
}

/// Full case folding: upper-casing first joins forms that lower-casing alone keeps apart.
pub(super) fn fold_case(word: &str) -> String {
    word.chars()
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .nfkc()
        .collect()
}

/// Case folding as the language has it: Turkish has an i with and one without a dot.
pub(super) fn fold_case_in(word: &str, language: Language) -> String {
    if language != Language::Turkish {
        return fold_case(word);
    }
    let lower = |c| match c {
        'I' => 'ı',
        'İ' => 'i',
        _ => c,
    };
    let lower: String = word.chars().map(lower).collect();
    lower.to_lowercase().nfkc().collect()
}

fn without_marks(word: &str) -> String {
    word.nfd().filter(|c| !is_mark(*c)).collect()
}

/// Letters that Unicode doesn't decompose are spelled out.
fn latin(word: &str) -> String {
    let mut plain = String::with_capacity(word.len());
    for c in word.nfd().filter(|c| !is_mark(*c)) {
        match c {
            'æ' => plain.push_str("ae"),
            'œ' => plain.push_str("oe"),
            'þ' => plain.push_str("th"),
            'ø' => plain.push('o'),
            'ð' | 'đ' => plain.push('d'),
            'ħ' => plain.push('h'),
            'ł' => plain.push('l'),
            'ı' => plain.push('i'),
            'ŋ' => plain.push('n'),
            _ => plain.push(c),
        }
    }
    plain
}

/// Stress marks go, ё is е. Other letters with a mark, as й and ї, are letters of their own.
fn cyrillic(c: char) -> Option<char> {
    match c {
        '\u{0300}' | '\u{0301}' => None,
        'ё' | 'ѐ' => Some('е'),
        'ѝ' => Some('и'),
        _ => Some(c),
    }
}

/// Vowel points and tatweel go, and the letters that keyboards and readers take for each other join.
fn arabic(c: char) -> Option<char> {
    match c {
        'ـ' => None,
        'أ' | 'إ' | 'آ' | 'ٱ' => Some('ا'),
        'ک' | 'ڪ' => Some('ك'),
        'ی' | 'ے' | 'ۍ' | 'ې' => Some('ي'),
        'ہ' | 'ھ' | 'ە' | 'ۀ' | 'ۂ' | 'ۃ' => Some('ه'),
        _ if is_mark(c) => None,
        _ => Some(c),
    }
}

/// What is joined after stemming, since the stemmer knows these as endings.
pub(super) fn arabic_endings(stem: &str) -> String {
    let join = |c| match c {
        'ى' | 'ئ' => 'ي',
        'ة' => 'ه',
        'ؤ' => 'و',
        _ => c,
    };
    stem.chars().map(join).collect()
}

/// The nasal signs are one: ँ and ं, and a nasal letter without vowel before a stop of its class.
/// The dot of borrowed sounds goes, but not of ड़ and ढ़, which no one leaves out.
fn devanagari(word: &str) -> String {
    let mut plain = String::with_capacity(word.len());
    let mut rest = word.chars().peekable();
    let mut last = '\0';
    while let Some(c) = rest.next() {
        match c {
            'ँ' => plain.push('ं'),
            '़' if !matches!(last, 'ड' | 'ढ') => {}
            '्' if nasal_of(last)
                .is_some_and(|stops| rest.peek().is_some_and(|n| stops.contains(*n))) =>
            {
                plain.pop();
                plain.push('ं');
            }
            _ => plain.push(c),
        }
        last = c;
    }
    plain
}

/// The stops before which this nasal is written ं as well.
fn nasal_of(c: char) -> Option<&'static str> {
    match c {
        'ङ' => Some("कखगघ"),
        'ञ' => Some("चछजझ"),
        'ण' => Some("टठडढ"),
        'न' => Some("तथदध"),
        'म' => Some("पफबभ"),
        _ => None,
    }
}
