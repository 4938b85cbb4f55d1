//! The starts of long words: they find a word under its endings, and a compound by its first part,
//! where no stemmer knows the language.

use super::script::{Script, is_mark};
use super::sink::Role;

/// So many letters make a start.
const LETTERS: usize = 5;

/// What follows the letters of a start, so that it's no word.
pub(super) const END: char = '-';

/// The start of a folded word that is longer than that, and what it is.
///
/// Arabic and Devanagari have none: measured, what they gain by it is less than what they lose, since
/// their words are shorter and begin with what others end with.
pub(super) fn start(word: &str, script: Script) -> Option<(String, Role)> {
    let role = match script {
        Script::Latin => Role::LatinStart,
        Script::Greek | Script::Cyrillic | Script::Armenian | Script::Other => Role::Start,
        Script::Hebrew | Script::Arabic | Script::Devanagari | Script::Tamil => return None,
    };
    let letters = word.char_indices().filter(|(_, c)| !is_mark(*c));
    let (end, _) = letters.clone().nth(LETTERS)?;
    if word.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let mut start = word.get(..end)?.to_owned();
    start.push(END);
    Some((start, role))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_more_than_five_letters_have_a_start() {
        let of = |word, script| start(word, script).map(|(start, _)| start);
        assert_eq!(of("regierung", Script::Latin).as_deref(), Some("regie-"));
        assert_eq!(of("ворота", Script::Cyrillic).as_deref(), Some("ворот-"));
        assert_eq!(of("regie", Script::Latin), None);
        assert_eq!(of("kapitel2", Script::Latin), None);
        assert_eq!(of("किताबें", Script::Devanagari), None);
    }

    #[test]
    fn marks_are_no_letters() {
        let start = start("ಕನ್ನಡದಲ್ಲಿಯೂ", Script::Other);
        assert_eq!(start.unwrap().0, "ಕನ್ನಡದ-");
    }
}
