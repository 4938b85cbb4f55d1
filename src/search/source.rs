//! What a search reads of a provider.

use super::analysis::Language;
use crate::error::Result;

/// One record that has a term.
///
/// ```
/// use strandline::search::analysis::Analysis;
/// use strandline::search::{Posting, round_frequency, round_length};
///
/// let terms = Analysis::default().document("tea", [], "Ada likes tea");
/// let (_, count) = terms.counts.iter().find(|(term, _)| term == "tea").expect("it has the term");
/// let posting = Posting {
///     doc: 17,
///     frequency: round_frequency(*count),
///     length: round_length(terms.length),
/// };
/// assert!(posting.frequency > round_frequency(1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Posting {
    /// The record, by a number that the provider chose.
    pub doc: i64,
    /// How often it has the term, by [`round_frequency`](super::round_frequency).
    pub frequency: u8,
    /// How many words it has, by [`round_length`](super::round_length).
    pub length: u8,
}

/// What there is of a term.
///
/// ```
/// use strandline::search::{COMMON, Found, Posting};
///
/// /// What a source answers of a term that so many visible records have.
/// fn found(postings: Vec<Posting>, count: u64) -> Found {
///     if count > COMMON { Found::Common(count) } else { Found::All(postings) }
/// }
/// assert_eq!(found(Vec::new(), 0), Found::All(Vec::new()));
/// assert_eq!(found(Vec::new(), 5_000), Found::Common(5_000));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// The records that have it, ascending by `doc`, each once.
    All(Vec<Posting>),
    /// It is a common one; so many records have it, by the sampled ones.
    Common(u64),
}

/// The records that have a term, of those saved last.
///
/// ```
/// use strandline::search::{Newest, Posting};
///
/// // The search found enough of them in the last thousand, and need not look further back.
/// let posting = Posting { doc: 17, frequency: 0, length: 9 };
/// let newest = Newest { postings: vec![posting], is_all: false };
/// assert!(!newest.is_all && newest.postings[0].doc == 17);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Newest {
    /// The records.
    pub postings: Vec<Posting>,
    /// Whether there was nothing saved before those looked through.
    pub is_all: bool,
}

/// The records that one session saved just before and just after one of its records.
///
/// ```
/// use strandline::search::Beside;
///
/// // One session saved the records 3, 5, 8 and 9; record 8 is hidden from whoever asks, and stepped over.
/// let beside_5 = Beside { before: vec![3], after: vec![9] };
/// assert_ne!(beside_5, Beside::default());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Beside {
    /// Those saved before it, the nearest first; the first two count.
    pub before: Vec<i64>,
    /// Those saved after it, the nearest first; the first two count.
    pub after: Vec<i64>,
}

/// The records that one grant sees, as a search reads them.
///
/// A provider implements it over whatever index it has, and [`find`](super::find) does the rest. Each
/// method tells of the *visible* records alone, as clause 2 of the
/// [contract](crate::storage::StorageProvider#contract) has it, and all of them of one state of the
/// store. A record goes by a number, its `doc`, which no result depends on.
///
/// ```
/// use strandline::search::{Beside, Found, Posting, Source, analysis, find};
/// use strandline::search::{round_frequency, round_length};
/// use strandline::storage::SearchRequest;
///
/// /// Texts that everyone may see, the last saved one last; too few for a term to be common.
/// struct Texts(Vec<&'static str>);
///
/// impl Source for Texts {
///     fn records(&self) -> strandline::Result<u64> {
///         Ok(self.0.len() as u64)
///     }
///
///     fn look_up(&self, term: &str) -> strandline::Result<Found> {
///         Ok(Found::All(self.having(term)?))
///     }
///
///     fn having(&self, term: &str) -> strandline::Result<Vec<Posting>> {
///         let posting = |(doc, text): (i64, &&str)| {
///             let found = analysis::Analysis::default().document("", [], text);
///             let (_, count) = found.counts.iter().find(|(other, _)| other == term)?;
///             Some(Posting {
///                 doc,
///                 frequency: round_frequency(*count),
///                 length: round_length(found.length),
///             })
///         };
///         Ok((0..).zip(&self.0).filter_map(posting).collect())
///     }
///
///     fn saved(&self, doc: i64) -> i64 {
///         doc
///     }
///
///     fn read(&self, doc: i64, look: &mut dyn FnMut(&[&str])) -> strandline::Result<()> {
///         look(&[self.0[doc as usize]]);
///         Ok(())
///     }
///
///     fn beside(&self, doc: i64) -> strandline::Result<Beside> {
///         let last = self.0.len() as i64;
///         Ok(Beside {
///             before: (0..doc).rev().take(2).collect(),
///             after: (doc + 1..last).take(2).collect(),
///         })
///     }
/// }
///
/// let texts = Texts(vec!["green tea", "black tea and milk", "rye bread"]);
/// let request = SearchRequest { query: "tea with milk".into(), limit: 10, neighbours: false };
/// let found = find(&texts, &request)?;
/// assert_eq!(found.iter().map(|hit| hit.doc).collect::<Vec<_>>(), [1, 0]);
/// # Ok::<(), strandline::Error>(())
/// ```
pub trait Source {
    /// The language of the analysis that the records' terms are of; the query's are made by the same.
    /// By default English.
    fn language(&self) -> Language {
        Language::English
    }

    /// How many records there are.
    ///
    /// # Errors
    /// Those of the storage.
    fn records(&self) -> Result<u64>;

    /// The records that have the term; or how many have it, if it is a common one.
    ///
    /// A term is common if [`SAMPLE`](super::SAMPLE) times the number of [sampled](super::is_sampled)
    /// records that have it is more than [`COMMON`](super::COMMON), and there are more
    /// [records](Self::records) than that.
    ///
    /// # Errors
    /// Those of the storage.
    fn look_up(&self, term: &str) -> Result<Found>;

    /// The records that have a common term, ascending by `doc`, each once.
    ///
    /// # Errors
    /// Those of the storage.
    fn having(&self, term: &str) -> Result<Vec<Posting>>;

    /// The records that have a common term and one of these terms as well, ascending by `doc`, each
    /// once.
    ///
    /// By default it is all that have the common term: what a search finds doesn't depend on the others.
    ///
    /// # Errors
    /// Those of the storage.
    fn having_with(&self, term: &str, any: &[&str]) -> Result<Vec<Posting>> {
        let _ = any;
        self.having(term)
    }

    /// The records with a common term among those saved last, ascending by `doc`, each once.
    ///
    /// How far back `window` reaches is up to the provider, as long as it is as far for every term, and
    /// further for a greater one. What a search finds doesn't depend on it. By default it's all.
    ///
    /// # Errors
    /// Those of the storage.
    fn newest(&self, term: &str, window: u64) -> Result<Newest> {
        let _ = window;
        Ok(Newest {
            postings: self.having(term)?,
            is_all: true,
        })
    }

    /// When a record's version was stored: the later, the greater the number.
    fn saved(&self, doc: i64) -> i64;

    /// Shows the texts of a record: its key, its tags and its content, in this order.
    ///
    /// # Errors
    /// Those of the storage.
    fn read(&self, doc: i64, look: &mut dyn FnMut(&[&str])) -> Result<()>;

    /// The records of the same source session that were saved before and after this one.
    ///
    /// # Errors
    /// Those of the storage.
    fn beside(&self, doc: i64) -> Result<Beside>;
}
