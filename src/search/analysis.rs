//! Text to terms.

/// The version of the analysis.
pub const VERSION: u32 = 1;

/// The most distinct terms of a query that count.
pub const MAX_QUERY_TERMS: usize = 64;

/// The terms of one record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentTerms {
    /// Each distinct term and how often it comes, ascending by term.
    pub counts: Vec<(String, u32)>,
    /// How many terms there are with repeats.
    pub length: u32,
}

/// A term of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryTerm {
    /// The term.
    pub term: String,
    /// How often the query has it.
    pub weight: u32,
}

/// The terms of a record: of its key, tags and content together.
pub fn document<'a>(
    key: &'a str,
    tags: impl IntoIterator<Item = &'a str>,
    content: &'a str,
) -> DocumentTerms {
    let mut map = std::collections::BTreeMap::<String, u32>::new();
    for text in std::iter::once(key)
        .chain(tags)
        .chain(std::iter::once(content))
    {
        for word in text
            .split(|c: char| !c.is_alphanumeric())
            .filter(|w| !w.is_empty())
        {
            *map.entry(word.to_lowercase()).or_default() += 1;
        }
    }
    let length = map.values().sum();
    DocumentTerms {
        counts: map.into_iter().collect(),
        length,
    }
}

/// The terms of a query.
pub fn query(text: &str) -> Vec<QueryTerm> {
    document("", [], text)
        .counts
        .into_iter()
        .map(|(term, weight)| QueryTerm { term, weight })
        .collect()
}
