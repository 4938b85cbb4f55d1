//! A query, on the file, in memory, and in memory with only what the session may read.
//!
//! The three must give the same hits with the same scores and explanations: what two providers make of
//! one text is one thing, and what is above the session or another agent's has no part in it.
//!
//! Input: a byte (the level, and how many results), then text. Its last line is the query, those before
//! it are up to three memories to save first.
#![no_main]

use std::cell::RefCell;
use std::ops::Range;

use libfuzzer_sys::fuzz_target;
use strandline::{Classification, Draft, Hit, MemoryStore, Search, Session};
use strandline_fuzz::{Pair, builder, is_callers, level, seeds, session, text};

const AGENT: &str = "agent";

/// What each level holds from the start. Some keys are at several levels.
const TEXTS: [(&str, &str, &str); 9] = [
    (
        "user-name",
        "persona",
        "Ada Lovelace, who prefers running to walking",
    ),
    (
        "pet",
        "home",
        "Ada keeps two cats, Félix and Straße; the cat's favourite is tuna",
    ),
    (
        "bot",
        "work",
        "Telegram bot visibility limit: privacy mode, group messages, C++ and user@example.com",
    ),
    (
        "snake_case_key",
        "work",
        "parseHTTPResponse lives in src/http/response.rs:42 since v1.2.3",
    ),
    ("日本語", "言語", "東京は日本の首都です。カタカナも書きます"),
    ("قهوة", "لغة", "أحب القهوة في الصباح"),
    ("ภาษา", "ไทย", "ฉันชอบกินข้าวผัด"),
    ("цена", "деньги", "Цена книги двадцать рублей"),
    ("the", "of", "the and of to in is it"),
];

/// The three stores with the sessions of each level, of which the last holds that level and those below.
struct Stores {
    pair: Pair,
    all: [[Session; 4]; 2],
    bare: [(MemoryStore, [Session; 4]); 4],
    runs: u32,
}

fn sessions(store: &MemoryStore) -> [Session; 4] {
    Classification::ALL.map(|level| session(store, AGENT, level))
}

impl Stores {
    fn new() -> Self {
        let pair = Pair::new();
        let bare = Classification::ALL.map(|_| {
            let store = builder().open_in_memory().expect("a store in memory");
            let sessions = sessions(&store);
            (store, sessions)
        });
        let all = [sessions(&pair.file), sessions(&pair.memory)];
        let stores = Self {
            pair,
            all,
            bare,
            runs: 0,
        };
        for (place, level) in Classification::ALL.into_iter().enumerate() {
            let skip = place * 2 % 5;
            for (key, tag, content) in TEXTS.iter().skip(skip) {
                let content = format!("{content} {}", level.as_str());
                stores.save(level, &Draft::new(*key, content).tag(*tag));
            }
        }
        let other = session(&stores.pair.file, "other", Classification::Public);
        let drafts = TEXTS
            .iter()
            .map(|(key, tag, content)| Draft::new(*key, *content).tag(*tag));
        stores
            .pair
            .file
            .save_all(&other, drafts)
            .expect("they are saved");
        stores
    }

    /// Whether it is saved: everywhere, or nowhere.
    fn save(&self, level: Classification, draft: &Draft) -> bool {
        let rank = usize::from(level.rank());
        let saved = self.pair.file.save(&self.all[0][rank], draft.clone());
        let again = self.pair.memory.save(&self.all[1][rank], draft.clone());
        let kind = saved.as_ref().map(|_| ()).map_err(strandline::Error::kind);
        assert_eq!(kind, again.map(|_| ()).map_err(|error| error.kind()));
        for (store, sessions) in self.bare.iter().skip(rank) {
            let bare = store.save(&sessions[rank], draft.clone());
            assert_eq!(kind, bare.map(|_| ()).map_err(|error| error.kind()));
        }
        saved.map_or_else(|error| !is_callers(&error), |_| true)
    }

    fn delete(&self, level: Classification, key: &str) {
        let rank = usize::from(level.rank());
        self.pair
            .file
            .delete(&self.all[0][rank], key)
            .expect("it is there");
        self.pair
            .memory
            .delete(&self.all[1][rank], key)
            .expect("it is there");
        for (store, sessions) in self.bare.iter().skip(rank) {
            store.delete(&sessions[rank], key).expect("it is there");
        }
    }

    fn search(&self, level: Classification, search: &Search) {
        let rank = usize::from(level.rank());
        let found = self.pair.file.search(&self.all[0][rank], search.clone());
        let memory = self.pair.memory.search(&self.all[1][rank], search.clone());
        let (store, sessions) = &self.bare[rank];
        let bare = store.search(&sessions[rank], search.clone());
        let found = found
            .map(|hits| shown(&hits, level))
            .map_err(|error| error.kind());
        let memory = memory
            .map(|hits| shown(&hits, level))
            .map_err(|error| error.kind());
        let bare = bare
            .map(|hits| shown(&hits, level))
            .map_err(|error| error.kind());
        assert_eq!(found, memory, "the two providers");
        assert_eq!(memory, bare, "with and without what is above");
    }
}

/// All of the hits that must agree.
fn shown(hits: &[Hit], level: Classification) -> Vec<String> {
    let show = |hit: &Hit| {
        let memory = &hit.memory;
        assert!(memory.classification <= level && memory.agent.as_str() == AGENT);
        check(hit);
        let score = hit.score.to_bits();
        let (key, content) = (memory.key.as_str(), &memory.content);
        let why = serde_json::to_string(&hit.explanation).expect("an explanation is JSON");
        format!("{key:?} {content:?} {score} {why}")
    };
    hits.iter().map(show).collect()
}

/// Fails unless every range of the explanation is one of its text.
fn check(hit: &Hit) {
    let Some(why) = &hit.explanation else {
        panic!("it was asked for");
    };
    let memory = &hit.memory;
    let within = |text: &str, ranges: &[Range<usize>]| {
        let found = ranges
            .iter()
            .all(|range| text.get(range.clone()).is_some_and(|s| !s.is_empty()));
        assert!(found, "a range that is none of the text");
        assert!(
            ranges.windows(2).all(|two| two[0].end <= two[1].start),
            "ranges that overlap"
        );
    };
    within(memory.key.as_str(), &why.key);
    assert!(why.tags.len() <= memory.tags.len());
    for (tag, ranges) in memory.tags.iter().zip(&why.tags) {
        within(tag.as_str(), ranges);
    }
    for fragment in &why.fragments {
        within(&memory.content, std::slice::from_ref(&fragment.range));
        within(&memory.content, &fragment.matches);
        let inside = |range: &Range<usize>| {
            fragment.range.start <= range.start && range.end <= fragment.range.end
        };
        assert!(fragment.matches.iter().all(inside));
        let pieces: String = fragment
            .pieces(&memory.content)
            .map(|(piece, _)| piece)
            .collect();
        assert_eq!(
            memory.content.get(fragment.range.clone()),
            Some(pieces.as_str())
        );
    }
}

fn run(stores: &Stores, data: &[u8]) {
    let Some((first, text)) = text(data) else {
        return;
    };
    let asked = level(first);
    let mut lines: Vec<&str> = text.split('\n').collect();
    let query = lines.pop().unwrap_or_default();
    lines.truncate(3);
    let mut saved = Vec::new();
    for (place, line) in lines.iter().enumerate() {
        let key = format!("own {place}");
        let at = level(first / 4 + u8::try_from(place).unwrap_or(0));
        let (tag, content) = line.split_once('\t').unwrap_or(("none", line));
        if stores.save(at, &Draft::new(key.as_str(), content).tag(tag)) {
            saved.push((at, key));
        }
    }
    let most = usize::from(first / 64) * 2 + 1;
    stores.search(asked, &Search::new(query).max_results(most).explain());
    stores.search(
        Classification::Restricted,
        &Search::new(query).max_results(50).explain(),
    );
    for (at, key) in saved {
        stores.delete(at, &key);
    }
}

fn first_inputs() -> Vec<String> {
    let mut seeds: Vec<String> = TEXTS
        .iter()
        .map(|(_, _, text)| format!("\u{1}{text}"))
        .collect();
    seeds.push("\u{3}home\tthe cats of Ada\nhis cat\nwho keeps a cat?".into());
    seeds.push("\u{2}user@example.com AND \"C++\" NEAR(a b) key:* -not ^x".into());
    seeds.push("\u{7}zwölf Straßen\nSTRASSE 12\nstrasse zwoelf".into());
    seeds
}

thread_local! {
    static STORES: RefCell<Stores> = RefCell::new(Stores::new());
}

fuzz_target!(init: seeds(first_inputs), |data: &[u8]| {
    STORES.with_borrow_mut(|stores| {
        stores.runs += 1;
        if stores.runs > 2_000 {
            *stores = Stores::new();
        }
        run(stores, data);
    });
});
