//! Tags: labels that group memories.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::text::{fold_case, nfc};
use crate::error::{Error, Result};

/// A label on a memory, kept as it was written and compared whole and without case.
///
/// White space around it is dropped. Two tags are equal when their NFKC forms are equal without
/// case, by Unicode's compatibility caseless match, so `Health` equals `health` and `ＨＥＡＬＴＨ`; `health` doesn't equal `healthy`.
///
/// `Debug` doesn't show the text.
///
/// ```
/// use strandline::Tag;
///
/// let tag: Tag = " Health ".parse()?;
/// assert_eq!(tag.as_str(), "Health");
/// assert_eq!(tag, "HEALTH".parse()?);
/// assert_ne!(tag, "healthy".parse()?);
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Tag {
    text: String,
    folded: String,
}

impl Tag {
    /// The tag as it was written, in NFC.
    ///
    /// ```
    /// assert_eq!("Health".parse::<strandline::Tag>()?.as_str(), "Health");
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The form that is compared: what a provider indexes.
    ///
    /// ```
    /// assert_eq!("Health".parse::<strandline::Tag>()?.folded(), "health");
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn folded(&self) -> &str {
        &self.folded
    }
}

impl FromStr for Tag {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let text = nfc(text.trim());
        if text.is_empty() {
            return Err(Error::invalid(
                "a tag (in `tags` or `tag`) must be a text that isn't blank",
            ));
        }
        let folded = fold_case(&text);
        Ok(Self { text, folded })
    }
}

impl TryFrom<String> for Tag {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<Tag> for String {
    fn from(tag: Tag) -> Self {
        tag.text
    }
}

impl PartialEq for Tag {
    fn eq(&self, other: &Self) -> bool {
        self.folded == other.folded
    }
}

impl Eq for Tag {}

impl fmt::Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tag({} bytes)", self.text.len())
    }
}

#[cfg(test)]
mod tests {
    use unicode_normalization::UnicodeNormalization;

    use super::Tag;

    /// Of letters with marks, one of which has another case: U+0345 becomes a letter, wherever it stands. So
    /// other cases are taken of the decomposed text, as Unicode has it.
    #[test]
    fn case_makes_no_other_tag_where_a_mark_becomes_a_letter() {
        let texts = [
            "a\u{345}\u{329}",
            "a\u{329}\u{345}",
            "\u{386}\u{301}\u{345}",
            "\u{1f80}\u{307}",
            "\u{1f80}\u{ff9e}",
        ];
        for text in texts {
            let tag: Tag = text.parse().unwrap();
            let decomposed: String = text.nfd().collect();
            let [upper, lower] = [decomposed.to_uppercase(), decomposed.to_lowercase()];
            for other in [decomposed, upper, lower] {
                assert_eq!(other.parse::<Tag>().unwrap(), tag, "{other:?} of {text:?}");
            }
        }
    }

    #[test]
    fn case_makes_no_other_tag_of_any_character() {
        for c in '\u{1}'..=char::MAX {
            let text = format!("x{c}");
            let tag: Tag = text.parse().unwrap();
            for other in [text.to_uppercase(), text.to_lowercase()] {
                assert_eq!(other.parse::<Tag>().unwrap(), tag, "{other:?} of {text:?}");
            }
            let again: Tag = tag.folded().parse().unwrap();
            assert_eq!(again.folded(), tag.folded(), "{text:?} folded twice");
        }
    }

    /// Folded, it begins with a space, which parsing would take off.
    #[test]
    fn a_spacing_accent_is_a_part_of_a_tag() {
        let tag: Tag = "\u{b4}A".parse().unwrap();
        assert_eq!(tag, "\u{b4}a".parse().unwrap());
        assert_ne!(tag, "\u{301}a".parse().unwrap());
    }
}
