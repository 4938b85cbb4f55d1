//! The one spelling of a name, in Unicode.

use unicode_normalization::UnicodeNormalization;

/// The text in NFC. Most names are ASCII, which is in every form already.
pub(crate) fn nfc(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    text.nfc().collect()
}

/// Text without case or compatibility forms: the match of Unicode's definition D146, which also joins `ı`
/// and `i`. Decomposed first, since the mark U+0345 becomes a letter and its place among others counts; a
/// second time, since compatibility forms hide capitals.
pub(super) fn fold_case(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let canonical = without_case(&text.nfd().collect::<String>());
    let compatible = without_case(&canonical.nfkd().collect::<String>());
    compatible.nfkc().collect()
}

/// Upper-casing joins forms that lower-casing alone keeps apart (`ß`, `SS`), and lower-casing before it
/// takes along the capitals that have no other upper case (`ẞ`).
fn without_case(text: &str) -> String {
    text.to_lowercase().to_uppercase().to_lowercase()
}
