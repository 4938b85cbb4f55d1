//! Letters as the re-scoring compares them: a quicker and coarser folding than that of the terms.

use std::sync::LazyLock;

use unicode_normalization::char::decompose_canonical;

use super::analysis::{Kind, is_mark, kind};

/// What a character is to a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Letter {
    /// A letter or digit of a word, without case and accent.
    Of(char),
    /// A word by itself: a Chinese character, a syllable.
    Alone(char),
    /// Nothing: an accent, an apostrophe.
    Mark,
    /// The end of the word before it.
    Space,
}

/// Characters below this have their letters in a table.
const TABLE: usize = 0x2000;

/// The letter that a character stands for.
pub(super) fn letter(c: char) -> Letter {
    static LETTERS: LazyLock<Vec<Letter>> = LazyLock::new(|| {
        let all = (0..).map_while(char::from_u32).take(TABLE);
        all.map(look_up).collect()
    });
    if c.is_ascii_alphanumeric() {
        return Letter::Of(c.to_ascii_lowercase());
    }
    let place = usize::try_from(u32::from(c)).unwrap_or(usize::MAX);
    LETTERS.get(place).copied().unwrap_or_else(|| look_up(c))
}

fn look_up(c: char) -> Letter {
    if matches!(c, '\'' | '\u{2019}') {
        return Letter::Mark;
    }
    match kind(c) {
        None if is_vowel_sign(c) => Letter::Of(c),
        None => Letter::Mark,
        Some(Kind::Han | Kind::Hangul) if c.is_alphanumeric() => Letter::Alone(c),
        Some(Kind::Word(_) | Kind::Digits) if c.is_alphanumeric() => Letter::Of(plain(c)),
        Some(_) => Letter::Space,
    }
}

/// Whether this mark is as much of a letter as the consonant before it: the scripts of India and
/// their kin.
fn is_vowel_sign(c: char) -> bool {
    is_mark(c) && matches!(c, '\u{0900}'..='\u{0DFF}' | '\u{0F00}'..='\u{0FFF}')
}

/// A letter without case and accent.
fn plain(c: char) -> char {
    let lower = c.to_lowercase().next().unwrap_or(c);
    let mut base = None;
    decompose_canonical(lower, |part| base = base.or(Some(part)));
    match base.unwrap_or(lower) {
        'ı' => 'i',
        'đ' | 'ð' => 'd',
        'ø' => 'o',
        'ł' => 'l',
        'ς' => 'σ',
        'ى' | 'ی' => 'ي',
        'ة' => 'ه',
        'ک' => 'ك',
        base => base,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_and_accents_do_not_count() {
        for (one, other) in [
            ('É', 'e'),
            ('ß', 'ß'),
            ('İ', 'i'),
            ('Ё', 'е'),
            ('Ώ', 'ω'),
            ('أ', 'ا'),
            ('٣', '٣'),
        ] {
            assert_eq!(letter(one), Letter::Of(other), "{one}");
        }
    }

    #[test]
    fn each_kind_of_character_is_what_it_should_be() {
        assert_eq!(letter('部'), Letter::Alone('部'));
        assert_eq!(letter('국'), Letter::Alone('국'));
        assert_eq!(letter('\u{301}'), Letter::Mark);
        assert_eq!(letter('’'), Letter::Mark);
        assert_eq!(letter('ि'), Letter::Of('ि'));
        for space in [' ', '-', '_', '。', 'ก', '\n', '\u{200B}'] {
            assert_eq!(letter(space), Letter::Space, "{space}");
        }
    }
}
