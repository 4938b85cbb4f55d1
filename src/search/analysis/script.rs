//! What kind of character this is: the ranges of Unicode that the rules tell apart.

use unicode_normalization::char::is_combining_mark;

/// An alphabet whose texts are words with space between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::search) enum Script {
    Latin,
    Greek,
    Cyrillic,
    Armenian,
    Hebrew,
    Arabic,
    Devanagari,
    Tamil,
    /// Every other alphabet.
    Other,
}

/// How a run of characters is cut into terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::search) enum Kind {
    /// One word.
    Word(Script),
    /// Digits that no word is next to.
    Digits,
    /// Chinese characters and kana.
    Han,
    /// Korean syllables.
    Hangul,
    /// Thai, Lao, Khmer and Burmese.
    Unspaced,
}

/// The kind of a letter or digit; `None` of a mark or apostrophe, which goes with the letter before it.
pub(in crate::search) fn kind(c: char) -> Option<Kind> {
    if c.is_ascii_digit() {
        return Some(Kind::Digits);
    }
    if is_mark(c) || c == '\'' {
        return None;
    }
    Some(match c {
        '\u{0E00}'..='\u{0EFF}'
        | '\u{1000}'..='\u{109F}'
        | '\u{1780}'..='\u{17FF}'
        | '\u{A9E0}'..='\u{A9FF}'
        | '\u{AA60}'..='\u{AA7F}' => Kind::Unspaced,
        '\u{1100}'..='\u{11FF}' | '\u{A960}'..='\u{A97F}' | '\u{AC00}'..='\u{D7FF}' => Kind::Hangul,
        '\u{2E80}'..='\u{2FDF}'
        | '\u{3005}'..='\u{3007}'
        | '\u{3021}'..='\u{303C}'
        | '\u{3041}'..='\u{312F}'
        | '\u{31A0}'..='\u{31FF}'
        | '\u{3400}'..='\u{4DBF}'
        | '\u{4E00}'..='\u{9FFF}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{1AFF0}'..='\u{1B16F}'
        | '\u{20000}'..='\u{3FFFF}' => Kind::Han,
        _ => Kind::Word(script(c)),
    })
}

/// The alphabet of a letter.
fn script(c: char) -> Script {
    match c {
        '\0'..='\u{02AF}'
        | '\u{1D00}'..='\u{1DBF}'
        | '\u{1E00}'..='\u{1EFF}'
        | '\u{2C60}'..='\u{2C7F}'
        | '\u{A722}'..='\u{A7FF}'
        | '\u{AB30}'..='\u{AB6F}' => Script::Latin,
        '\u{0370}'..='\u{03FF}' | '\u{1F00}'..='\u{1FFF}' => Script::Greek,
        '\u{0400}'..='\u{052F}' | '\u{1C80}'..='\u{1C8F}' | '\u{A640}'..='\u{A69F}' => {
            Script::Cyrillic
        }
        '\u{0530}'..='\u{058F}' => Script::Armenian,
        '\u{0590}'..='\u{05FF}' => Script::Hebrew,
        '\u{0600}'..='\u{06FF}' | '\u{0750}'..='\u{077F}' | '\u{0870}'..='\u{08FF}' => {
            Script::Arabic
        }
        '\u{0900}'..='\u{097F}' | '\u{A8E0}'..='\u{A8FF}' => Script::Devanagari,
        '\u{0B80}'..='\u{0BFF}' => Script::Tamil,
        _ => Script::Other,
    }
}

/// Whether this is hiragana, of which Japanese makes its endings and small words.
pub(super) fn is_hiragana(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{309F}')
}

/// Whether this is a mark: a vowel sign, an accent, a tone.
pub(in crate::search) fn is_mark(c: char) -> bool {
    is_combining_mark(c)
}

/// Whether this stands for nothing by itself: joiners, hyphenation and direction marks, selectors.
pub(super) fn is_ignorable(c: char) -> bool {
    matches!(
        c,
        '\u{00AD}'
            | '\u{034F}'
            | '\u{061C}'
            | '\u{115F}'
            | '\u{1160}'
            | '\u{17B4}'
            | '\u{17B5}'
            | '\u{180B}'..='\u{180F}'
            | '\u{200B}'..='\u{200F}'
            | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{3164}'
            | '\u{FE00}'..='\u{FE0F}'
            | '\u{FEFF}'
            | '\u{FFA0}'
            | '\u{1BCA0}'..='\u{1BCA3}'
            | '\u{1D173}'..='\u{1D17A}'
            | '\u{E0000}'..='\u{E0FFF}'
    )
}

/// Whether this is a picture: an emoji, or another symbol that is a word of its own.
pub(super) fn is_symbol(c: char) -> bool {
    matches!(
        c,
        '\u{2300}'..='\u{23FF}'
            | '\u{25A0}'..='\u{27BF}'
            | '\u{2B00}'..='\u{2BFF}'
            | '\u{1F000}'..='\u{1FAFF}'
    ) && !is_skin_tone(c)
        && !matches!(c, '\u{2768}'..='\u{2775}' | '\u{2329}' | '\u{232A}' | '\u{23B4}'..='\u{23B6}')
}

/// Whether this only says the colour of the emoji before it.
pub(super) fn is_skin_tone(c: char) -> bool {
    matches!(c, '\u{1F3FB}'..='\u{1F3FF}')
}

/// The ASCII punctuation that joins the parts of a name.
pub(super) fn is_connector(c: char) -> bool {
    matches!(
        c,
        '_' | '-' | '.' | '@' | '+' | '#' | '/' | ':' | '&' | '$' | '%'
    )
}

/// A digit of any script as the ASCII digit; every other character as it is.
pub(super) fn ascii_digit(c: char) -> char {
    const ZEROS: [u32; 19] = [
        0x0660, 0x06F0, 0x07C0, 0x0966, 0x09E6, 0x0A66, 0x0AE6, 0x0B66, 0x0BE6, 0x0C66, 0x0CE6,
        0x0D66, 0x0E50, 0x0ED0, 0x0F20, 0x1040, 0x1090, 0x17E0, 0x1810,
    ];
    let code = u32::from(c);
    ZEROS
        .iter()
        .filter_map(|zero| code.checked_sub(*zero))
        .find(|digit| *digit < 10)
        .and_then(|digit| char::from_digit(digit, 10))
        .unwrap_or(c)
}
