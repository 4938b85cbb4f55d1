//! What callers ask of `search` and `list`, and the page they get.

use std::fmt;

use super::cursor::Cursor;
use crate::record::Memory;
use crate::search::Explanation;
use crate::storage::ListPage;

/// A search: words, how many results, and whether to say why each matched.
///
/// ```
/// use strandline::Search;
///
/// let search = Search::new("what does Ada like to eat?").max_results(3);
/// ```
#[derive(Clone)]
pub struct Search {
    pub(super) query: String,
    pub(super) max_results: usize,
    pub(super) explain: bool,
}

impl Search {
    /// How many results there are at most where [`max_results`](Self::max_results) isn't called.
    pub const DEFAULT_MAX_RESULTS: usize = 10;

    /// A search for these words: a question in natural language, or just words. Nothing in the text
    /// is syntax.
    ///
    /// ```
    /// let search = strandline::Search::new("user@example.com AND \"C++\" (2026)");
    /// ```
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            max_results: Self::DEFAULT_MAX_RESULTS,
            explain: false,
        }
    }

    /// At most so many results: at least 1; more than
    /// [`Limits::max_results`](crate::Limits::max_results) counts as that.
    ///
    /// ```
    /// let search = strandline::Search::new("tea").max_results(1);
    /// ```
    #[must_use]
    pub fn max_results(mut self, number: usize) -> Self {
        self.max_results = number;
        self
    }

    /// Fills in [`Hit::explanation`]: which words matched, and passages of the content to show.
    ///
    /// It costs about as much as analysing each hit's text once more, and changes neither the hits nor
    /// their order.
    ///
    /// ```
    /// # use strandline::{Draft, MemoryStore, Search};
    /// # let store = MemoryStore::open_in_memory()?;
    /// # let session = store.session("s-1", "agent").open()?;
    /// store.save(&session, Draft::new("pet", "Ada keeps two cats"))?;
    /// let hits = store.search(&session, Search::new("which cat?").explain())?;
    /// let why = hits[0].explanation.as_ref().expect("it was asked for");
    /// assert_eq!(why.words[0].text, "cat");
    /// assert_eq!(why.fragments[0].matches, [14..18]);
    /// # Ok::<(), strandline::Error>(())
    /// ```
    #[must_use]
    pub fn explain(mut self) -> Self {
        self.explain = true;
        self
    }
}

impl fmt::Debug for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Search")
            .field("max_results", &self.max_results)
            .field("explain", &self.explain)
            .finish_non_exhaustive()
    }
}

/// A memory that a search found.
///
/// ```
/// use strandline::{Classification, Draft, MemoryStore, Search};
///
/// let store = MemoryStore::open_in_memory()?;
/// let low = store.session("s-1", "agent").open()?;
/// let high = store.session("s-2", "agent").taint(Classification::Internal).open()?;
/// store.save(&low, Draft::new("tea", "Ada likes jasmine"))?;
/// let before = store.search(&low, Search::new("jasmine"))?;
/// store.save(&high, Draft::new("order", "jasmine for the board"))?;
/// let after = store.search(&low, Search::new("jasmine"))?;
/// assert_eq!(before, after); // not even the score tells
/// assert!(after[0].score > 0.0);
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The memory.
    pub memory: Memory,
    /// Its BM25 score over what the session can see; higher is better.
    pub score: f64,
    /// Why it matched, if [`Search::explain`] asked for it.
    pub explanation: Option<Explanation>,
}

/// A list: of all memories or those with a tag, a page at a time.
///
/// ```
/// use strandline::List;
///
/// let list = List::new().tag("health").limit(20);
/// ```
#[derive(Clone, Default)]
pub struct List {
    pub(super) tag: Option<String>,
    pub(super) limit: Option<usize>,
    pub(super) after: Option<Cursor>,
    pub(super) count: bool,
}

impl List {
    /// How many memories a page has where [`limit`](Self::limit) isn't called.
    pub const DEFAULT_LIMIT: usize = 100;

    /// A list of everything, from the start.
    ///
    /// ```
    /// let list = strandline::List::new();
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Only memories with this tag, compared whole and without case.
    ///
    /// ```
    /// let list = strandline::List::new().tag("Health");
    /// ```
    #[must_use]
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.tag = Some(tag.into());
        self
    }

    /// At most so many memories: at least 1; more than [`Limits::page`](crate::Limits::page) counts
    /// as that.
    ///
    /// ```
    /// let list = strandline::List::new().limit(20);
    /// ```
    #[must_use]
    pub fn limit(mut self, number: usize) -> Self {
        self.limit = Some(number);
        self
    }

    /// Goes on after an earlier page.
    ///
    /// ```
    /// # use strandline::{Draft, List, MemoryStore};
    /// # let store = MemoryStore::open_in_memory()?;
    /// # let session = store.session("s-1", "agent").open()?;
    /// # store.save_all(&session, (0..9).map(|i| Draft::new(format!("k{i}"), "v")))?;
    /// let mut list = List::new().limit(2);
    /// let mut all = Vec::new();
    /// loop {
    ///     let page = store.list(&session, list)?;
    ///     all.extend(page.memories);
    ///     let Some(next) = page.next else { break };
    ///     list = List::new().limit(2).after(next);
    /// }
    /// assert_eq!(all.len(), 9);
    /// # Ok::<(), strandline::Error>(())
    /// ```
    #[must_use]
    pub fn after(mut self, cursor: Cursor) -> Self {
        self.after = Some(cursor);
        self
    }

    /// Fills in [`Page::total`], which costs a look at every memory of the list.
    ///
    /// ```
    /// # use strandline::{Draft, List, MemoryStore};
    /// # let store = MemoryStore::open_in_memory()?;
    /// # let session = store.session("s-1", "agent").open()?;
    /// # store.save_all(&session, (0..9).map(|i| Draft::new(format!("k{i}"), "v")))?;
    /// let page = store.list(&session, List::new().limit(2).count())?;
    /// assert_eq!(page.total, Some(9));
    /// # Ok::<(), strandline::Error>(())
    /// ```
    #[must_use]
    pub fn count(mut self) -> Self {
        self.count = true;
        self
    }
}

impl fmt::Debug for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("List")
            .field("limit", &self.limit)
            .field("count", &self.count)
            .finish_non_exhaustive()
    }
}

/// A page of a list.
///
/// ```
/// use strandline::{Classification, Draft, List, MemoryStore};
///
/// let store = MemoryStore::open_in_memory()?;
/// let low = store.session("s-1", "agent").open()?;
/// let high = store.session("s-2", "agent").taint(Classification::Internal).open()?;
/// store.save(&low, Draft::new("tea", "jasmine"))?;
/// store.save(&high, Draft::new("door-code", "4711"))?;
/// let page = store.list(&low, List::new().count())?;
/// assert_eq!((page.memories.len(), page.total), (1, Some(1))); // without the door code
/// assert!(page.next.is_none());
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// The memories, in ascending byte order of their keys.
    pub memories: Vec<Memory>,
    /// Where the next page starts, if there is one.
    ///
    /// Pages by cursor show each memory once, however the store changes between them; what is saved
    /// meanwhile is on a later page if its key comes later.
    pub next: Option<Cursor>,
    /// How many memories the whole list has, if [`List::count`] asked for it.
    pub total: Option<u64>,
}

impl Page {
    pub(super) fn from_provider(page: ListPage) -> Self {
        let ListPage {
            records: memories,
            more,
            total,
        } = page;
        let last = memories.last().filter(|_| more);
        let next = last.map(|memory| Cursor::after(memory.key.clone()));
        Self {
            memories,
            next,
            total,
        }
    }
}
