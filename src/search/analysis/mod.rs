//! Text to terms: what a word is, and which spellings and forms of it are one.
//!
//! [`Analysis::document`] makes the terms of a record and [`Analysis::query`] those of a query, by the
//! same rules. A record
//! is found by a query when they share a term. The module is pure: the same text gives the same terms,
//! on every machine and for every provider, as long as [`VERSION`] is the same.
//!
//! # What matches what
//!
//! Text is brought to NFKC, cut into words by UAX 29, and each word is folded, stemmed and cut by the
//! rules of its script. Where the script changes within a word (`父进程watchdog单层`), there are several.
//!
//! | script | rule | so this | finds this | not this |
//! |---|---|---|---|---|
//! | Latin | accents folded, ß = ss, æ = ae; irregular English forms, then the English Snowball stemmer, or that of the [language](#languages) that is set | `cafés`, `kept` | `cafe`, `keeping` | `case` |
//! | Greek | accents folded, ς = σ; Greek Snowball | `ΟΔΟΣ` | `οδός` | `όλος` |
//! | Cyrillic | ё = е, stress marks dropped (й and ї stay letters); Russian Snowball, Ukrainian for words with і, ї, є or ґ | `развертывания` | `развёртывание` | `развитие` |
//! | Armenian | և = եվ; the article ը dropped, Armenian Snowball | `քաղաք` | `քաղաքի` | `մայր` |
//! | Arabic | vowel points and tatweel dropped, أ إ آ = ا, ک = ك, ی ے ى = ي, ہ ھ ة = ه; Arabic Snowball, و and ف dropped before ال, but no stemming of words with letters that Arabic lacks (پ, چ, گ, ٹ) | `كتب` | `كَتَبَ`, `والكتب` | `قلب` |
//! | Hebrew | points dropped; also without a prefix of one letter (ה, ו, ב, ל, מ, ש, כ) | `בית` | `הַבַּיִת` | `בת` |
//! | Devanagari | vowel signs kept; ँ = ं, हिन्दी = हिंदी, ज़ = ज; Hindi Snowball, as long as two letters are left | `किताब` | `किताबें` | `का` for `की` |
//! | Tamil | marks kept; Tamil Snowball, ங் at the end of a stem = ம், as long as two letters are left | `மரம்` | `மரங்கள்` | `மனம்` |
//! | other alphabets | case folded, marks kept, no stemming | `ಹೆಸರು` | `ಹೆಸರು` | `ಹಸಿರು` |
//! | Han, kana | each character and each pair of neighbours; see below | `部署` | `讨论了部署方案` | `部分` |
//! | Hangul | the word, the word without its particle, each pair of syllables | `서울에` | `서울은` | `부산에` |
//! | Thai, Lao, Khmer, Burmese | pairs of units, a unit being what is written around one consonant | `กินข้าว` | `ฉันชอบกินข้าว` | `ข่าว` |
//! | emoji | without skin tone; joined ones whole and in parts | `👍` | `👍🏽` | `👎` |
//!
//! **Han and kana.** A query's run of two or more characters is looked for by its pairs alone, since a
//! single character, as 部, is part of too many words. A single character counts where it is all there
//! is, or where it is a Chinese character between hiragana, which is a word of its own (猫 in 猫が好き).
//! Simplified and traditional characters aren't joined.
//!
//! **Numbers.** Digits of every script are one: ٣ = 3. `1,000` is `1000`.
//!
//! **Names** count in their parts and, by one term more, as a whole:
//!
//! | name | parts | whole |
//! |---|---|---|
//! | `user-name`, `user_name` | `user`, `name` | as `username` |
//! | `poolDayData`, `HTTPServer` | `pool`, `day`, `data` | as `pooldaydata` |
//! | `foo.bar`, `user@example.com`, `GB/s`, `std::env` | each | `foo.bar` |
//! | `v3.14.2`, `2026-05-08`, `OC-41252` | each | `v3.14.2`, `2026-05-08`, as `oc41252` |
//! | `python3`, `10km` | `python`, `3` | `python3` |
//! | `C++`, `C#`, `A+` | none: the lone letter is something else | `c++` |
//! | `@me`, `#1`, `$HOME`, `.NET`, `50%` | `me`, `1`, `home`, `net`, `50` | `@me` |
//! | `O'Brien`, `l'homme` | `brien`, `homme` | as `obrien` |
//!
//! Other punctuation only separates. A text without words, as `...` or `*`, has no terms.
//!
//! **Contractions.** `what's` is `what`, `John's` is `john`, `don't` is `do` and `not`.
//!
//! In a store of another language, too, `don't` is English: both of its words are function words there.
//!
//! **Starts.** A word of more than five letters is also found by its first five, which counts half as much:
//! `Regierungen` finds `Regierungsbezirk`. It joins endings that no stemmer knows, and compounds. It holds for
//! Greek, Cyrillic, Armenian and other alphabets, not for Hebrew, Arabic, Devanagari and Tamil; for Latin
//! letters only where the text may be in another language than English, by its function words and accents: a
//! record with more foreign ones than English ones, a query with no English ones or more foreign ones. That
//! is so whatever language is set.
//!
//! **Function words** (English `what`, `the`, `don't`; Russian, Greek, Arabic, Hindi and Chinese ones)
//! say how a question is put. A query drops them unless it has nothing else. Records keep them. English
//! ones are those written without accents, in any case: `US` and `IT` are dropped beside other words.
//!
//! # Languages
//!
//! Many languages share a script, and a word doesn't say which it is of. An [`Analysis`] is for one
//! [`Language`], English by default, and a store has one for all that it holds
//! ([`StoreBuilder::language`](crate::StoreBuilder::language)). The language decides for the script that it is
//! written in, and for nothing else:
//!
//! - *Stems* are by its Snowball stemmer, which gets the word with its accents; they are folded afterwards, so a
//!   query may still leave accents out where the stemmer doesn't need them. In German `Häuser` finds `Haus`, in
//!   Spanish `canciones` finds `canción`. Turkish has its own lower-case I.
//! - *Function words* are its own: `Welche Farbe hat das Haus?` asks for a colour and a house. Those of
//!   English then are words like others.
//! - For [`Russian`](Language::Russian) and [`Ukrainian`](Language::Ukrainian) all Cyrillic words are of that
//!   language, and Latin ones are English.
//!
//! Text in another language of the script is found by what its words share under these rules: the same word
//! always, another form of it often not.
//!
//! # What doesn't match
//!
//! There are no wildcards, prefixes or phrases: `runn*` is the word `runn`. Stemming is the Snowball
//! project's as it stands: `university` and `universe` are two words to it, `business` and `busy` are
//! one. A list of exceptions of our own would never be complete. All Latin text is
//! stemmed as English: forms of a German, Spanish or Turkish word match where only accents or case
//! differ, or where an ending happens to be an English one as well. Words longer than 96 bytes are
//! compared by their first 96.
//!
//! # Contract of terms
//!
//! A provider may rely on this of every term, whatever the text:
//!
//! - It is 1 to 96 bytes long.
//! - Of ASCII it has only `a-z`, `0-9` and `_ - . @ + # / : & $ %`.
//! - Beyond ASCII it has only letters, marks, numbers and symbols: no white space, no control, format
//!   or private-use characters.
//!
//! A document's `counts` ascend by term without repeats. The work is linear in the length of the text.

mod english;
mod fold;
mod foreign;
mod functions;
mod language;
mod names;
mod place;
mod script;
mod sink;
mod start;
mod stem;
mod stop;
mod unspaced;
mod words;

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use place::Origins;
use sink::{Found, Role, Side, Sink};

pub use language::Language;
pub(super) use script::{Kind, is_mark, kind};

/// The version of the analysis: another one gives other terms for the same text.
///
/// A store keeps the version that its index was made with, and makes the index anew when it differs.
pub const VERSION: u32 = 1;

/// The most distinct terms of a query that count. The first ones do.
pub const MAX_QUERY_TERMS: usize = 64;

/// How much the start of a word counts in a query.
const START: f64 = 0.5;

/// The terms of one record. `Debug` shows how many.
///
/// ```
/// use strandline::search::analysis::Analysis;
///
/// let terms = Analysis::default().document("tea", [], "Tea, more tea");
/// let tea = terms.counts.iter().find(|(term, _)| term == "tea");
/// assert_eq!((tea.map(|(_, count)| *count), terms.length), (Some(3), 4));
/// assert_eq!(format!("{terms:?}"), "DocumentTerms { distinct: 2, length: 4, .. }"); // without the words
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct DocumentTerms {
    /// Each distinct term and how often it comes, ascending by term.
    pub counts: Vec<(String, u32)>,
    /// How many words there are with repeats. Text without spaces makes more terms than it has words;
    /// four of them count as one, and none of the starts of words.
    pub length: u32,
}

impl fmt::Debug for DocumentTerms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DocumentTerms")
            .field("distinct", &self.counts.len())
            .field("length", &self.length)
            .finish_non_exhaustive()
    }
}

/// A term of a query. `Debug` doesn't show it.
///
/// ```
/// use strandline::search::analysis::Analysis;
///
/// let terms = Analysis::default().query("which teas does Ada like?");
/// let terms: Vec<_> = terms.iter().map(|term| (term.term.as_str(), term.weight)).collect();
/// assert!(terms.contains(&("tea", 1.0)) && terms.contains(&("ada", 1.0)));
/// assert!(!terms.iter().any(|(term, _)| *term == "which")); // it says nothing
/// ```
#[derive(Clone, PartialEq)]
pub struct QueryTerm {
    /// The term.
    pub term: String,
    /// How much it counts: as often as the query has it, the start of a word half as much.
    pub weight: f64,
}

impl fmt::Debug for QueryTerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueryTerm")
            .field("weight", &self.weight)
            .finish_non_exhaustive()
    }
}

/// The analysis for one [language](Language): it makes terms of records and of queries.
///
/// A record is found only by a query of the same analysis, so a store uses one for both. Its provider says
/// [which](crate::storage::StorageProvider::language). The default is that for English.
///
/// ```
/// use strandline::search::analysis::{Analysis, Language};
///
/// let found = |language: Language| {
///     let analysis = Analysis::new(language);
///     let terms = analysis.document("", [], "a házakban").counts;
///     let asked = analysis.query("ház");
///     asked.iter().any(|asked| terms.iter().any(|(term, _)| *term == asked.term))
/// };
/// assert!(found(Language::Hungarian));
/// assert!(!found(Language::English));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Analysis {
    language: Language,
}

impl Analysis {
    /// The analysis for a language.
    ///
    /// ```
    /// use strandline::search::analysis::{Analysis, Language};
    ///
    /// assert_eq!(Analysis::new(Language::English), Analysis::default());
    /// ```
    pub const fn new(language: Language) -> Self {
        Self { language }
    }

    /// Its language.
    ///
    /// ```
    /// use strandline::search::analysis::{Analysis, Language};
    ///
    /// assert_eq!(Analysis::default().language(), Language::English);
    /// ```
    pub const fn language(self) -> Language {
        self.language
    }

    /// The terms of a record: of its key, tags and content together.
    ///
    /// No term spans two of them.
    ///
    /// ```
    /// use strandline::search::analysis::Analysis;
    ///
    /// let terms = Analysis::default().document("dentist-lisa", ["health"], "Lisa works on Mondays");
    /// let terms: Vec<&str> = terms.counts.iter().map(|(term, _)| term.as_str()).collect();
    /// assert_eq!(terms, ["dentist", "dentistlisa", "health", "lisa", "monday", "on", "work"]);
    /// ```
    pub fn document<'a>(
        self,
        key: &'a str,
        tags: impl IntoIterator<Item = &'a str>,
        content: &'a str,
    ) -> DocumentTerms {
        let (mut counts, mut starts) = (Counts::default(), Counts::default());
        let mut quarters = 0_u32;
        let mut count = |found: Found<'_>| match found.role {
            Role::LatinStart => starts.add(found.term),
            Role::Start => counts.add(found.term),
            Role::Word | Role::Function => {
                quarters = quarters.saturating_add(quarters_of(found.term));
                counts.add(found.term);
            }
        };
        let mut sink = Sink::new(Side::Document, self.language, &mut count);
        for text in [key].into_iter().chain(tags).chain([content]) {
            names::push_text(&fold::normalise(text), &mut sink);
        }
        if !sink.tally.is_foreign() {
            starts = Counts::default();
        }
        let mut counts: Vec<_> = counts.0.into_iter().chain(starts.0).collect();
        counts.sort_unstable();
        let length = quarters.div_ceil(4);
        DocumentTerms { counts, length }
    }

    /// Whether a word of a query is one that says how the question is put.
    pub(super) fn is_function_word(self, word: &str) -> bool {
        let (mut any, mut all) = (false, true);
        let mut look = |found: Found<'_>| {
            any = true;
            all &= found.role == Role::Function;
        };
        names::push_text(
            &fold::normalise(word),
            &mut Sink::new(Side::Query, self.language, &mut look),
        );
        any && all
    }

    /// The terms of a query, in the order in which they first come; any text is allowed.
    ///
    /// A record that has one of them is a hit.
    ///
    /// ```
    /// use strandline::search::analysis::Analysis;
    ///
    /// let english = Analysis::default();
    /// let terms = english.query("What's Lisa's number? Lisa!");
    /// assert_eq!(terms.len(), 2);
    /// assert_eq!((terms[0].term.as_str(), terms[0].weight), ("lisa", 2.0));
    /// assert_eq!((terms[1].term.as_str(), terms[1].weight), ("number", 1.0));
    ///
    /// assert_eq!(english.query("what is it?").len(), 3);
    /// assert!(english.query("(...)").is_empty());
    /// ```
    pub fn query(self, text: &str) -> Vec<QueryTerm> {
        let terms = self.locate_query(text).into_iter();
        terms.map(|(term, _)| term).collect()
    }

    /// The terms of a query as [`query`](Self::query) gives them, each with the place where it first comes.
    pub(crate) fn locate_query(self, text: &str) -> Vec<(QueryTerm, Range<usize>)> {
        let (normal, origins) = fold::normalise_located(text);
        let [mut words, mut functions, mut starts, mut latin] =
            [(); 4].map(|()| QueryTerms::default());
        let mut count = |found: Found<'_>| {
            let (terms, weight) = match found.role {
                Role::Word => (&mut words, 1.0),
                Role::Function => (&mut functions, 1.0),
                Role::Start => (&mut starts, START),
                Role::LatinStart => (&mut latin, START),
            };
            terms.add(found.term, weight, || origins.range(found.range()));
        };
        let mut sink = Sink::new(Side::Query, self.language, &mut count);
        names::push_text(&normal, &mut sink);
        if !sink.tally.may_be_foreign() {
            latin = QueryTerms::default();
        }
        if words.terms.is_empty() {
            return functions.terms;
        }
        let mut terms = words.terms;
        terms.extend(starts.terms);
        terms.extend(latin.terms);
        terms.truncate(MAX_QUERY_TERMS);
        terms
    }

    /// The terms that [`document`](Self::document) makes of one text, each as often as it comes and with its place.
    pub(crate) fn locate(self, text: &str, mut take: impl FnMut(&Located<'_>)) {
        let (normal, origins) = fold::normalise_located(text);
        let origins = &origins;
        let mut latin = false;
        let mut each = |found: Found<'_>| match found.role {
            Role::LatinStart => latin = true,
            Role::Word | Role::Function | Role::Start => take(&Located { found, origins }),
        };
        let mut sink = Sink::new(Side::Document, self.language, &mut each);
        names::push_text(&normal, &mut sink);
        if sink.tally.is_foreign() && latin {
            let mut each = |found: Found<'_>| {
                if found.role == Role::LatinStart {
                    take(&Located { found, origins });
                }
            };
            names::push_text(
                &normal,
                &mut Sink::new(Side::Document, self.language, &mut each),
            );
        }
    }
}

/// How often each term came.
#[derive(Default)]
struct Counts(HashMap<String, u32>);

impl Counts {
    fn add(&mut self, term: &str) {
        if let Some(count) = self.0.get_mut(term) {
            *count = count.saturating_add(1);
        } else {
            self.0.insert(term.to_owned(), 1);
        }
    }
}

/// How much of a word a term is, in quarters.
fn quarters_of(term: &str) -> u32 {
    match term.chars().next().and_then(kind) {
        Some(Kind::Han | Kind::Hangul | Kind::Unspaced) => 1,
        _ => 4,
    }
}

/// A term of a text, and where it comes from.
pub(crate) struct Located<'a> {
    found: Found<'a>,
    origins: &'a Origins,
}

impl Located<'_> {
    pub(crate) fn term(&self) -> &str {
        self.found.term
    }

    /// The stretch of the text that the term stands for, on boundaries of characters.
    ///
    /// It is the word as it is written, with its ending; of a word that is searched in parts, the part.
    pub(crate) fn range(&self) -> Range<usize> {
        self.origins.range(self.found.range())
    }
}

/// The first distinct terms of a query, in the order in which they came, and where.
#[derive(Default)]
struct QueryTerms {
    terms: Vec<(QueryTerm, Range<usize>)>,
    places: HashMap<String, usize>,
}

impl QueryTerms {
    fn add(&mut self, term: &str, weight: f64, range: impl FnOnce() -> Range<usize>) {
        let known = self.places.get(term).and_then(|at| self.terms.get_mut(*at));
        if let Some((known, _)) = known {
            known.weight += weight;
        } else if self.terms.len() < MAX_QUERY_TERMS {
            self.places.insert(term.to_owned(), self.terms.len());
            let term = term.to_owned();
            self.terms.push((QueryTerm { term, weight }, range()));
        }
    }
}

#[cfg(test)]
mod tests;
