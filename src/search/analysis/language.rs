//! The language that a store is set to.

use std::fmt;
use std::str::FromStr;

use snowball_stemmers_rs::Algorithm;

use super::script::Script;
use crate::error::{Error, Result};

macro_rules! languages {
    ($($(#[$doc:meta])* $name:ident $code:literal,)+) => {
        /// The language that most of a store's memories are in; English by default.
        ///
        /// Many languages share the Latin script, and two of these the Cyrillic one, so a word alone
        /// doesn't tell its language. The one chosen gives the stemmer and the function words for its
        /// script; words in other scripts go by their script. Memories in another language of the same
        /// script are still found, by the same words and by what the rules of both share.
        ///
        /// It parses from its code in ISO 639-1, and shows as that.
        ///
        /// ```
        /// use strandline::search::analysis::Language;
        ///
        /// let german: Language = "de".parse()?;
        /// assert_eq!(german, Language::German);
        /// assert_eq!(Language::default().code(), "en");
        /// assert!("klingon".parse::<Language>().is_err());
        /// # Ok::<(), strandline::Error>(())
        /// ```
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Language {
            $($(#[$doc])* $name,)+
        }

        impl Language {
            /// All of them, in the order of their names.
            ///
            /// ```
            /// use strandline::search::analysis::Language;
            ///
            /// assert!(Language::ALL.contains(&Language::Turkish));
            /// ```
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// Its code in ISO 639-1: two small letters.
            ///
            /// ```
            /// assert_eq!(strandline::search::analysis::Language::Spanish.code(), "es");
            /// ```
            pub const fn code(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)+
                }
            }

            /// The stemmer of the language.
            pub(super) const fn algorithm(self) -> Algorithm {
                match self {
                    $(Self::$name => Algorithm::$name,)+
                }
            }
        }
    };
}

languages! {
    /// `ca`
    Catalan "ca",
    /// `cs`
    Czech "cs",
    /// `da`
    Danish "da",
    /// `nl`
    Dutch "nl",
    /// `en`
    #[default]
    English "en",
    /// `et`
    Estonian "et",
    /// `fi`
    Finnish "fi",
    /// `fr`
    French "fr",
    /// `de`
    German "de",
    /// `hu`
    Hungarian "hu",
    /// `id`
    Indonesian "id",
    /// `it`
    Italian "it",
    /// `lt`
    Lithuanian "lt",
    /// `no`, and both its written forms.
    Norwegian "no",
    /// `pl`
    Polish "pl",
    /// `pt`
    Portuguese "pt",
    /// `ro`
    Romanian "ro",
    /// `ru`
    Russian "ru",
    /// `es`
    Spanish "es",
    /// `sv`
    Swedish "sv",
    /// `tr`
    Turkish "tr",
    /// `uk`
    Ukrainian "uk",
}

impl Language {
    /// The script that the language is written in.
    pub(super) const fn script(self) -> Script {
        match self {
            Self::Russian | Self::Ukrainian => Script::Cyrillic,
            _ => Script::Latin,
        }
    }

    /// The language of words in Latin letters.
    pub(super) fn of_latin(self) -> Self {
        match self.script() {
            Script::Latin => self,
            _ => Self::English,
        }
    }

    /// The two letters of the code as a number, as a file keeps it.
    pub(crate) fn number(self) -> u16 {
        let letters = self.code().bytes();
        letters.fold(0, |number, letter| number << 8 | u16::from(letter))
    }

    /// The language of such a number.
    pub(crate) fn of_number(number: i64) -> Option<Self> {
        let same = |language: &&Self| i64::from(language.number()) == number;
        Self::ALL.iter().find(same).copied()
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.code())
    }
}

impl FromStr for Language {
    type Err = Error;

    /// Takes the code as [`code`](Self::code) gives it.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument), with the codes that there are, for anything
    /// else.
    fn from_str(code: &str) -> Result<Self> {
        let same = |language: &&Self| language.code() == code;
        Self::ALL.iter().find(same).copied().ok_or_else(|| {
            let codes: Vec<_> = Self::ALL.iter().map(|language| language.code()).collect();
            Error::invalid(format!("`language` must be one of {}", codes.join(", ")))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_numbers_lead_back() {
        for language in Language::ALL {
            assert_eq!(language.code().parse::<Language>().unwrap(), *language);
            let number = language.number().into();
            assert_eq!(Language::of_number(number), Some(*language));
        }
        assert_eq!(Language::of_number(0), None);
    }

    #[test]
    fn other_codes_are_refused_with_those_there_are() {
        for code in ["", "EN", "eng", "xx", "e", "en "] {
            let error = code.parse::<Language>().unwrap_err();
            assert_eq!(error.kind(), crate::ErrorKind::InvalidArgument, "{code}");
            let text = error.to_string();
            assert!(
                text.contains("`language`") && text.contains("en, et, fi"),
                "{text}"
            );
        }
    }
}
