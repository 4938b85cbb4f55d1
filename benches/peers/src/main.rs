//! Searches beside tantivy's, over the same terms of the same memories, both in one run.
//!
//! `cargo run --release` here measures at 100,000 memories; a number after `--` at so many. Tantivy's index
//! is in memory, in one segment, with frequencies and lengths and without positions; ours is a file, and
//! every search is one of a session, at the level that sees all. Both return the ten best memories whole.

#![expect(
    dead_code,
    clippy::unwrap_used,
    reason = "a benchmark stops at the first thing that goes wrong, and shares its data with another"
)]

#[path = "../../verbs/data.rs"]
mod data;
#[path = "../../verbs/measure.rs"]
mod measure;

use strandline::search::analysis::Analysis;
use strandline::{Classification, Draft, MemoryStore, Search, Session};
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, Occur, TermQuery};
use tantivy::schema::{
    Field, IndexRecordOption, STORED, Schema, TantivyDocument, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{TextAnalyzer, WhitespaceTokenizer};
use tantivy::{Index, Searcher, Term};

use data::{Item, Query, Words};
use measure::{Aim, compare, report};

fn main() {
    let words = Words::new();
    data::check(&words);
    let count = std::env::args()
        .nth(1)
        .map_or(100_000, |count| count.parse().unwrap());
    let items = data::memories(&words, count, 1);
    println!("{count} memories; `by hand` is tantivy, in memory");
    let folder = tempfile::tempdir().unwrap();
    let store = MemoryStore::open(folder.path().join("ours.db")).unwrap();
    let session = fill(&store, &items);
    let peer = Peer::new(&items);
    for (name, queries) in [
        ("search, HIT", data::hit_queries(&items, 200)),
        ("search, ZIPF", data::zipf_queries(&words, 200, 1)),
        ("search, question", data::natural_queries(&words, 200, 1)),
        (
            "search, one common word",
            data::common_queries(&words, 1, 40, 1),
        ),
        (
            "search, four common words",
            data::common_queries(&words, 4, 40, 1),
        ),
    ] {
        let ours = |i: usize| {
            let search = Search::new(queries[i].text.as_str());
            store.search(&session, search).unwrap()
        };
        let theirs = |i: usize| peer.search(&queries[i]);
        for i in 0..queries.len() {
            assert_eq!(ours(i).len(), theirs(i).len());
        }
        let result = compare(queries.len(), 5, ours, theirs);
        report(name, &result, Aim::Within(3.0));
    }
}

/// Saves the memories, and opens a session that sees them all.
fn fill(store: &MemoryStore, items: &[Item]) -> Session {
    for level in Classification::ALL {
        let session = store.session(level.as_str(), "agent-000").taint(level);
        let session = session.open().unwrap();
        let own = items.iter().filter(|item| item.level == level);
        let drafts: Vec<Draft> = own
            .map(|item| Draft::new(item.key.as_str(), item.content.as_str()).tag(&*item.tag))
            .collect();
        for batch in drafts.chunks(1_000) {
            store.save_all(&session, batch.iter().cloned()).unwrap();
        }
    }
    let all = store.session("all", "agent-000");
    all.taint(Classification::Restricted).open().unwrap()
}

struct Peer {
    searcher: Searcher,
    terms: Field,
}

impl Peer {
    fn new(items: &[Item]) -> Self {
        let mut schema = Schema::builder();
        let indexing = TextFieldIndexing::default()
            .set_tokenizer("terms")
            .set_index_option(IndexRecordOption::WithFreqs);
        let terms = schema.add_text_field(
            "terms",
            TextOptions::default().set_indexing_options(indexing),
        );
        let [key, tag, content] =
            ["key", "tag", "content"].map(|name| schema.add_text_field(name, STORED));
        let index = Index::create_in_ram(schema.build());
        let analyzer = TextAnalyzer::from(WhitespaceTokenizer::default());
        index.tokenizers().register("terms", analyzer);
        let mut writer = index.writer_with_num_threads(1, 500 << 20).unwrap();
        for item in items {
            let mut document = TantivyDocument::new();
            document.add_text(terms, terms_of(item));
            document.add_text(key, &item.key);
            document.add_text(tag, &item.tag);
            document.add_text(content, &item.content);
            writer.add_document(document).unwrap();
        }
        writer.commit().unwrap();
        let segments = index.searchable_segment_ids().unwrap();
        if segments.len() > 1 {
            writer.merge(&segments).wait().unwrap();
        }
        let searcher = index.reader().unwrap().searcher();
        Self { searcher, terms }
    }

    fn search(&self, query: &Query) -> Vec<TantivyDocument> {
        let any = Analysis::default().query(&query.text).into_iter().map(|term| {
            let term = Term::from_field_text(self.terms, &term.term);
            let query = TermQuery::new(term, IndexRecordOption::WithFreqs);
            (
                Occur::Should,
                Box::new(query) as Box<dyn tantivy::query::Query>,
            )
        });
        let any = BooleanQuery::new(any.collect());
        let best = TopDocs::with_limit(10).order_by_score();
        let found = self.searcher.search(&any, &best).unwrap();
        let document = |(_, address)| self.searcher.doc(address).unwrap();
        found.into_iter().map(document).collect()
    }
}

/// The terms of a record as text, each as often as the record has it.
fn terms_of(item: &Item) -> String {
    let found = Analysis::default().document(&item.key, [item.tag.as_str()], &item.content);
    let mut text = String::new();
    for (term, count) in &found.counts {
        for _ in 0..*count {
            text.push_str(term);
            text.push(' ');
        }
    }
    text
}
