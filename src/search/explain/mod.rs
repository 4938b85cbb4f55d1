//! Why a memory matched: which words of the query it has, where, and the passages to show.
//!
//! All of it is made of the query and of one memory that the session was given. Nothing else is read,
//! so it can tell nothing that the memory doesn't (invariant I4).

mod fragment;

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use serde::Serialize;

use super::analysis::Analysis;
use crate::record::{Memory, Tag};
use fragment::{Bounds, Match, fragments, marked};

/// Why a memory matched a query, if [`Search::explain`](crate::Search::explain) asked for it.
///
/// All ranges are in bytes of UTF-8 and hold whole grapheme clusters, so a letter is never parted from
/// its accents nor an emoji from its colour. A range covers the word as it is written, with its ending;
/// of a word that is searched in parts, as `user-name` or 部署方案, the parts that matched. Ranges that
/// overlap or touch are one.
///
/// Words that a search ignores, as *what* and *the*, aren't marked. A hit that none of the query's
/// words is in has an explanation without words.
///
/// ```
/// use strandline::search::Field;
/// use strandline::{Classification, Draft, MemoryStore, Search};
///
/// let store = MemoryStore::open_in_memory()?;
/// let low = store.session("s-1", "agent").open()?;
/// let high = store.session("s-2", "agent").taint(Classification::Internal).open()?;
/// store.save(&low, Draft::new("pet", "Ada keeps two cats.").tag("cat"))?;
/// store.save(&high, Draft::new("vet", "The cats go to Dr Hale"))?;
///
/// let hits = store.search(&low, Search::new("Who keeps a cat?").explain())?;
/// assert_eq!(hits.len(), 1); // not the vet
/// let memory = &hits[0].memory;
/// let why = hits[0].explanation.as_ref().expect("it was asked for");
/// assert_eq!((why.words[0].text.as_str(), &*why.words[0].fields), ("keeps", &[Field::Content][..]));
/// assert_eq!((why.words[1].text.as_str(), &*why.words[1].fields), ("cat", &[Field::Tags, Field::Content][..]));
/// assert_eq!(why.tags, [[0..3]]);
///
/// let pieces = why.fragments[0].pieces(&memory.content);
/// let marked: String = pieces.map(|(text, hit)| if hit { format!("[{text}]") } else { text.into() }).collect();
/// assert_eq!(marked, "Ada [keeps] two [cats].");
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// The query's words that the memory has, in the order of the query, at most
    /// [`MAX_QUERY_TERMS`](crate::search::analysis::MAX_QUERY_TERMS).
    pub words: Vec<MatchedWord>,
    /// Where they are in the key.
    pub key: Vec<Range<usize>>,
    /// Where they are in each of the memory's tags, in the order of the tags.
    pub tags: Vec<Vec<Range<usize>>>,
    /// Passages of the content that show as many of them as possible, in the order of the content.
    pub fragments: Vec<Fragment>,
}

impl Explanation {
    /// The most fragments there are.
    pub const MAX_FRAGMENTS: usize = 3;

    /// The most bytes of a fragment: some 240 letters of English, or 80 Chinese characters.
    pub const MAX_FRAGMENT_BYTES: usize = 240;
}

/// A word of the query that a memory has.
///
/// `Debug` doesn't show it.
///
/// ```
/// use strandline::{Draft, MemoryStore, Search};
///
/// let store = MemoryStore::open_in_memory()?;
/// let session = store.session("s-1", "agent").open()?;
/// store.save(&session, Draft::new("tea", "Ada likes jasmine"))?;
/// let hits = store.search(&session, Search::new("does Ada like coffee?").explain())?;
/// let why = hits[0].explanation.as_ref().expect("it was asked for");
/// let words: Vec<_> = why.words.iter().map(|word| word.text.as_str()).collect();
/// assert_eq!(words, ["Ada", "like"]); // not the coffee, which the memory lacks
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Serialize)]
pub struct MatchedWord {
    /// The word as the query has it, at its first place.
    pub text: String,
    /// The fields that have it, in the order of [`Field`]; at least one.
    pub fields: Vec<Field>,
}

impl fmt::Debug for MatchedWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MatchedWord")
            .field("fields", &self.fields)
            .finish_non_exhaustive()
    }
}

/// A part of a memory that is searched.
///
/// ```
/// use strandline::search::Field;
/// use strandline::{Draft, MemoryStore, Search};
///
/// let store = MemoryStore::open_in_memory()?;
/// let session = store.session("s-1", "agent").open()?;
/// store.save(&session, Draft::new("ada-drinks", "jasmine").tag("tea"))?;
/// let hits = store.search(&session, Search::new("tea").explain())?;
/// let why = hits[0].explanation.as_ref().expect("it was asked for");
/// assert_eq!(why.words[0].fields, [Field::Tags]);
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Field {
    /// The key.
    Key,
    /// A tag.
    Tags,
    /// The content.
    Content,
}

/// A passage of a memory's content.
///
/// It is at most [`Explanation::MAX_FRAGMENT_BYTES`] long, and the whole content where that isn't
/// longer. Otherwise it starts and ends between words, with the matches in its middle. White space
/// around it is left off. The first choice is the passage with the most words of the query; a further
/// one is there only for words that aren't yet in one. Fragments don't overlap.
///
/// ```
/// use strandline::{Draft, MemoryStore, Search};
///
/// let store = MemoryStore::open_in_memory()?;
/// let session = store.session("s-1", "agent").open()?;
/// let content = format!("{}Ada drinks jasmine tea. {}", "Much else. ".repeat(40), "And more. ".repeat(40));
/// store.save(&session, Draft::new("long", content))?;
/// let hits = store.search(&session, Search::new("jasmine").explain())?;
/// let why = hits[0].explanation.as_ref().expect("it was asked for");
/// let fragment = &why.fragments[0];
/// assert!(fragment.range.len() <= 240);
/// assert_eq!(&hits[0].memory.content[fragment.matches[0].clone()], "jasmine");
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fragment {
    /// Where in the content it is.
    pub range: Range<usize>,
    /// The words that matched, by their places in the content; ascending, within `range`.
    ///
    /// A word that is longer than a fragment is marked as far as it goes; one whose first character alone
    /// (a grapheme) is longer has no fragment.
    pub matches: Vec<Range<usize>>,
}

impl Fragment {
    /// The fragment's text in pieces, each with whether it matched. None is empty.
    ///
    /// The text is as it was saved: escape it for where you show it.
    ///
    /// ```
    /// # use strandline::{Draft, MemoryStore, Search};
    /// # let store = MemoryStore::open_in_memory()?;
    /// # let session = store.session("s-1", "agent").open()?;
    /// store.save(&session, Draft::new("k", "a <b>green</b> door"))?;
    /// let hit = store.search(&session, Search::new("doors").explain())?.remove(0);
    /// let why = hit.explanation.expect("it was asked for");
    /// let pieces: Vec<_> = why.fragments[0].pieces(&hit.memory.content).collect();
    /// assert_eq!(pieces, [("a <b>green</b> ", false), ("door", true)]);
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn pieces<'a>(&'a self, content: &'a str) -> impl Iterator<Item = (&'a str, bool)> {
        let mut at = self.range.start;
        let end = self.range.end;
        let marked = self.matches.iter().flat_map(move |found| {
            let before = at..found.start;
            at = found.end;
            [(before, false), (found.clone(), true)]
        });
        let last = self.matches.last();
        let rest = last.map_or(self.range.start, |last| last.end)..end;
        marked
            .chain([(rest, false)])
            .filter_map(|(range, hit)| Some((content.get(range)?, hit)))
            .filter(|(text, _)| !text.is_empty())
    }
}

/// A query, ready to explain what it found.
pub(crate) struct Explainer {
    analysis: Analysis,
    /// The query's words, each once.
    words: Vec<String>,
    /// The word that a term is from.
    terms: HashMap<String, usize>,
}

impl Explainer {
    pub(crate) fn new(query: &str, analysis: Analysis) -> Self {
        let mut words = Vec::new();
        let mut places: HashMap<Range<usize>, usize> = HashMap::new();
        let mut terms = HashMap::new();
        let graphemes = Bounds::of_graphemes(query);
        for (term, range) in analysis.locate_query(query) {
            let next = words.len();
            let word = *places.entry(range.clone()).or_insert(next);
            if word == next {
                let text = query.get(graphemes.around(&range));
                words.push(text.unwrap_or_default().to_owned());
            }
            terms.insert(term.term, word);
        }
        Self {
            analysis,
            words,
            terms,
        }
    }

    /// Linear in the size of the memory: about what it takes to analyse it.
    pub(crate) fn explain(&self, memory: &Memory) -> Explanation {
        let key = self.matches(memory.key.as_str());
        let tags = memory.tags.iter().map(Tag::as_str);
        let tags: Vec<_> = tags.map(|tag| (tag, self.matches(tag))).collect();
        let content = self.matches(&memory.content);
        let words = self.words.len();
        let in_tags = tags.iter().flat_map(|(_, found)| found);
        let fields = [
            (Field::Key, having(words, &key)),
            (Field::Tags, having(words, in_tags)),
            (Field::Content, having(words, &content)),
        ];
        Explanation {
            words: self.words_in(&fields),
            key: marked(memory.key.as_str(), &key),
            tags: tags.iter().map(|(tag, found)| marked(tag, found)).collect(),
            fragments: fragments(&memory.content, &content, words),
        }
    }

    /// Where the query's words are in a text, in ascending order.
    fn matches(&self, text: &str) -> Vec<Match> {
        let mut found = Vec::new();
        self.analysis.locate(text, |located| {
            if let Some(&word) = self.terms.get(located.term()) {
                let range = located.range();
                found.push(Match { range, word });
            }
        });
        found.sort_by_key(|found| (found.range.start, found.range.end));
        found
    }

    fn words_in(&self, fields: &[(Field, Vec<bool>)]) -> Vec<MatchedWord> {
        let word = |(index, text): (usize, &String)| {
            let having = fields.iter();
            let having = having.filter(|(_, words)| words.get(index) == Some(&true));
            MatchedWord {
                text: text.clone(),
                fields: having.map(|(field, _)| *field).collect(),
            }
        };
        let words = self.words.iter().enumerate().map(word);
        words.filter(|word| !word.fields.is_empty()).collect()
    }
}

/// Which of so many words are among the matches.
fn having<'a>(words: usize, matches: impl IntoIterator<Item = &'a Match>) -> Vec<bool> {
    let mut having = vec![false; words];
    for found in matches {
        if let Some(has) = having.get_mut(found.word) {
            *has = true;
        }
    }
    having
}

#[cfg(test)]
mod tests;
