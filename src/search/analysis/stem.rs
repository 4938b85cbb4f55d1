//! Inflected forms of a word made one.

use std::borrow::Cow;

use snowball_stemmers_rs::{Algorithm, Stemmer};

use super::english;
use super::fold::{arabic_endings, fold, fold_case_in};
use super::language::Language;
use super::script::{Script, is_mark};

/// Longer words, in bytes, aren't words of a language; they stay as they are.
const LONGEST: usize = 96;

/// A word's stem, by its script and the configured language.
///
/// English and most scripts are stemmed as folded. The stemmers of other languages need the accents, so
/// there the stem is folded.
pub(super) fn stem<'a>(
    written: &str,
    word: &'a str,
    script: Script,
    language: Language,
) -> Cow<'a, str> {
    if word.len() > LONGEST || word.chars().any(|c| c.is_ascii_digit()) {
        return Cow::Borrowed(word);
    }
    match script {
        Script::Latin if language.of_latin() == Language::English => latin(word),
        Script::Latin => Cow::Owned(of_language(written, language)),
        Script::Greek => at_least(2, word, snowball(Algorithm::Greek, word)),
        Script::Cyrillic => snowball(cyrillic(word, language), word),
        Script::Armenian => snowball(Algorithm::Armenian, without_article(word)),
        Script::Arabic => arabic(word),
        Script::Devanagari => at_least(2, word, snowball(Algorithm::Hindi, word)),
        Script::Tamil => tamil(word),
        Script::Hebrew | Script::Other => Cow::Borrowed(word),
    }
}

fn snowball(algorithm: Algorithm, word: &str) -> Cow<'_, str> {
    let stem = Stemmer::create(algorithm).stem(word);
    if stem.is_empty() {
        return Cow::Borrowed(word);
    }
    stem
}

/// A stem by the rules of a language in Latin letters, folded.
fn of_language(written: &str, language: Language) -> String {
    let lower = fold_case_in(written, language);
    fold(&snowball(language.algorithm(), &lower), Script::Latin)
}

/// English: irregular forms first, then Snowball.
fn latin(word: &str) -> Cow<'_, str> {
    if !word.is_ascii() {
        return Cow::Borrowed(word);
    }
    let regular = english::regular(word).unwrap_or(word);
    snowball(Algorithm::English, regular)
}

/// The configured one; else Russian, but Ukrainian where a letter says so.
fn cyrillic(word: &str, language: Language) -> Algorithm {
    if language.script() == Script::Cyrillic {
        language.algorithm()
    } else if word.contains(['і', 'ї', 'є', 'ґ']) {
        Algorithm::Ukrainian
    } else {
        Algorithm::Russian
    }
}

/// Arabic, but not the words of Persian, Urdu and others that a letter gives away.
fn arabic(word: &str) -> Cow<'_, str> {
    let native = |c| matches!(c, '\u{0621}'..='\u{064A}');
    if !word.chars().all(native) {
        return Cow::Owned(arabic_endings(word));
    }
    let stem = snowball(Algorithm::Arabic, without_conjunction(word));
    Cow::Owned(arabic_endings(&stem))
}

/// The word without و or ف before the article: the stemmer would leave both.
fn without_conjunction(word: &str) -> &str {
    word.strip_prefix(['و', 'ف'])
        .filter(|rest| rest.starts_with("ال") && rest.chars().nth(4).is_some())
        .unwrap_or(word)
}

/// The word without the Armenian article, which the stemmer leaves.
fn without_article(word: &str) -> &str {
    word.strip_suffix('ը')
        .filter(|rest| rest.chars().nth(2).is_some())
        .unwrap_or(word)
}

/// A final ம் becomes ங் before the plural ending that the stemmer takes off.
fn tamil(word: &str) -> Cow<'_, str> {
    let stem = at_least(2, word, snowball(Algorithm::Tamil, word));
    match stem.strip_suffix("ங்") {
        Some(start) => Cow::Owned(format!("{start}ம்")),
        None => stem,
    }
}

/// The stem, unless it has fewer letters: then short words would differ by nothing.
fn at_least<'a>(letters: usize, word: &'a str, stem: Cow<'a, str>) -> Cow<'a, str> {
    if stem.chars().filter(|c| !is_mark(*c)).count() < letters {
        return Cow::Borrowed(word);
    }
    stem
}
