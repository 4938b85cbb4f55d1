//! The one spelling of a name, in Unicode.

use unicode_normalization::UnicodeNormalization;

/// The text in NFC. Most names are ASCII, which is in every form already.
pub(crate) fn nfc(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    text.nfc().collect()
}

/// Text without case: upper-casing joins forms that lower-casing alone keeps apart (`ß`, `SS`), and
/// lower-casing before it takes along the capitals that have no other upper case (`ẞ`).
pub(super) fn fold_case(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfkc()
        .collect::<String>()
        .to_lowercase()
        .to_uppercase()
        .to_lowercase()
        .nfkc()
        .collect()
}
