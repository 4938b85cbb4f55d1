//! What the store's verbs cost, each beside the same work done by hand in rusqlite.
//!
//! `cargo bench` measures at 1,000, 10,000 and 100,000 memories; `cargo bench -- 1k 10k` at those,
//! `cargo bench -- 1m` at a million, which takes some ten minutes, `cargo bench -- 100k search` one verb only,
//! and `cargo bench -- threads` many threads. Searches are also measured over 100 agents.
//! By hand means prepared statements on the same tables, kept for the whole run: no session, no
//! validation, no text analysis. Calls of both sides take turns, on copies of one file. Each ratio is
//! one of medians within one run.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a benchmark stops at the first thing that goes wrong, and prints"
)]

mod data;
mod measure;
mod observed;
mod raw;
mod reads;
mod saves;
mod searches;
mod threads;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

use rusqlite::Connection;
use strandline::storage::Durability;
use strandline::{Classification, Draft, MemoryStore, Session};

use data::{Item, Query, Words};
use measure::{Aim, Comparison, report};

/// New keys for each measurement of saves.
const SAVES: usize = 400;

const SIZES: [(&str, usize); 4] = [
    ("1k", 1_000),
    ("10k", 10_000),
    ("100k", 100_000),
    ("1m", 1_000_000),
];

/// How many agents share the larger stores.
const AGENTS: usize = 100;

/// How many memories one agent has among those of others.
const FEW: usize = 1_000;

fn main() {
    let words = Words::new();
    data::check(&words);
    println!(
        "The data is that of the published figures (sha256 checked). Times are p50 / p99 of single \
         calls.\n`ORDER BY rank` runs on an FTS5 table with positions and sizes, which it needs, \
         over the same terms in the same file."
    );
    let args = std::env::args().skip(1).filter(|arg| !arg.starts_with('-'));
    let (sizes, verbs): (Vec<String>, Vec<String>) =
        args.partition(|arg| SIZES.iter().any(|(name, _)| name == arg));
    let start = Instant::now();
    for (name, count) in SIZES {
        let is_default = sizes.is_empty() && count <= 100_000;
        if is_default || sizes.iter().any(|arg| arg == name) {
            measure_size(&words, name, count, &verbs);
            let searches = verbs.is_empty() || verbs.iter().any(|verb| "search".contains(verb));
            if count >= 100_000 && searches {
                measure_agents(&words, name, count);
                measure_few(&words, name, count);
            }
        }
    }
    println!("\n{:.0} s in all", start.elapsed().as_secs_f64());
}

fn measure_size(words: &Words, name: &str, count: usize, verbs: &[String]) {
    println!("\n{name}: {count} memories of one agent at four levels");
    let bench = Bench::new(data::memories(words, count + SAVES, 1), count);
    let within = Aim::Within(1.5);
    let run = |name: &str, aim: Aim, measure: &dyn Fn() -> Comparison| {
        if verbs.is_empty() || verbs.iter().any(|verb| name.contains(verb)) {
            report(name, &measure(), aim);
        }
    };
    run("get", within, &|| reads::gets(&bench));
    // In the place of by hand, the same without an observer.
    run("get, observed", Aim::None, &|| observed::gets(&bench));
    run("list, page of 100", Aim::None, &|| {
        reads::lists(&bench, None)
    });
    run("list by tag", Aim::None, &|| {
        reads::lists(&bench, Some("tag07"))
    });
    let aims = match count {
        0..100_000 => [Aim::None; 2],
        _ => [5.0, 10.0].map(Aim::Faster),
    };
    for (name, queries, aim) in questions(words, (bench.loaded(), count), 1, aims) {
        run(name, aim, &|| searches::searches(&bench, &queries));
    }
    run("save, Durability::Full", within, &|| {
        saves::saves(&bench, Durability::Full)
    });
    run("save, Durability::Normal", within, &|| {
        saves::saves(&bench, Durability::Normal)
    });
    if count < 100_000 && (verbs.is_empty() || verbs.iter().any(|verb| verb == "threads")) {
        threads::threads(&bench);
    }
}

/// Searches over the memories of many agents.
fn measure_agents(words: &Words, name: &str, count: usize) {
    println!("\n{name}: {count} memories of {AGENTS} agents at four levels");
    let bench = Bench::new(data::memories(words, count, AGENTS), count);
    let of = (bench.loaded(), count);
    for (name, queries, aim) in questions(words, of, AGENTS, [Aim::None; 2]) {
        report(name, &searches::searches(&bench, &queries), aim);
    }
}

/// Searches over one agent's few memories among many of another.
fn measure_few(words: &Words, name: &str, count: usize) {
    println!("\n{name}: {FEW} memories of one agent, alone and among {count} of another");
    let few = data::memories(words, FEW, 1);
    let alone = Bench::new(few.clone(), FEW);
    let others = data::memories(words, count, 1).into_iter();
    let others = others.map(|item| Item {
        agent: String::from("agent-001"),
        ..item
    });
    let among = Bench::new(others.chain(few).collect(), count + FEW);
    let aims = [5.0, 30.0].map(Aim::Faster);
    let of = (alone.loaded(), count);
    for (name, queries, aim) in questions(words, of, 1, aims) {
        report(name, &searches::searches(&among, &queries), aim);
    }
    println!("among the others, and, in the place of by hand, alone:");
    for (name, queries, aim) in questions(words, of, 1, [Aim::Within(1.3); 2]) {
        let compared = searches::alone(&among, &alone, &queries);
        report(name, &compared, aim);
    }
}

/// The kinds of searches for these items, among so many that are stored, and how much faster than by hand
/// those of rare and of common words should be.
fn questions(
    words: &Words,
    (items, stored): (&[Item], usize),
    agents: usize,
    [rare, common]: [Aim; 2],
) -> [(&'static str, Vec<Query>, Aim); 5] {
    // By hand, a search in a million takes a good part of a second.
    let (count, few) = match stored {
        0..100_000 => (400, 40),
        100_000..1_000_000 => (200, 40),
        _ => (40, 8),
    };
    let hits = data::hit_queries(items, count);
    let zipfs = data::zipf_queries(words, count, agents);
    let natural = data::natural_queries(words, count, agents);
    let one = data::common_queries(words, 1, few, agents);
    let four = data::common_queries(words, 4, few, agents);
    [
        ("search, HIT", hits, rare),
        ("search, ZIPF", zipfs, rare),
        ("search, question", natural, rare),
        ("search, one common word", one, common),
        ("search, four common words", four, common),
    ]
}

/// A store of the data, and the hand's copy of its file.
struct Bench {
    folder: tempfile::TempDir,
    /// What is loaded, then what is left to be saved.
    items: Vec<Item>,
    count: usize,
    store: MemoryStore,
    sessions: Sessions,
    raw: Connection,
}

/// A session of each agent at each level.
type Sessions = BTreeMap<String, Vec<Session>>;

impl Bench {
    /// The first `count` of the items are loaded.
    fn new(items: Vec<Item>, count: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ours.db");
        load(&path, &items[..count]);
        // Kept as it is, for the saves.
        copy(&path, "loaded.db");
        let raw = raw::connect(&copy(&path, "raw.db"), Durability::Full);
        raw::add_ranked_index(&raw);
        let (store, sessions) = open_all(&path, &items[..count]);
        Self {
            folder,
            items,
            count,
            store,
            sessions,
            raw,
        }
    }

    fn loaded(&self) -> &[Item] {
        &self.items[..self.count]
    }

    fn session(&self, level: Classification) -> &Session {
        self.session_of("agent-000", level)
    }

    fn session_of(&self, agent: &str, level: Classification) -> &Session {
        of_level(&self.sessions[agent], level)
    }
}

fn of_level(sessions: &[Session], level: Classification) -> &Session {
    &sessions[usize::from(level.rank())]
}

/// Opens the store with a session at each level.
fn open(path: &Path, durability: Durability) -> (MemoryStore, Vec<Session>) {
    let store = MemoryStore::builder()
        .durability(durability)
        .open(path)
        .unwrap();
    let sessions = sessions(&store, "agent-000");
    (store, sessions)
}

/// Opens the store with sessions of all agents of the items.
fn open_all(path: &Path, items: &[Item]) -> (MemoryStore, Sessions) {
    let store = MemoryStore::open(path).unwrap();
    let agents: BTreeSet<&str> = items.iter().map(|item| item.agent.as_str()).collect();
    let of = |agent: &str| (agent.to_owned(), sessions(&store, agent));
    let sessions = agents.into_iter().map(of).collect();
    (store, sessions)
}

fn sessions(store: &MemoryStore, agent: &str) -> Vec<Session> {
    let session = |level: Classification| {
        let builder = store.session(format!("{agent} at {level}"), agent);
        builder.taint(level).open().unwrap()
    };
    Classification::ALL.map(session).into()
}

fn draft(item: &Item) -> Draft {
    Draft::new(item.key.as_str(), item.content.as_str()).tag(item.tag.as_str())
}

/// Saves the items in batches, each at one level, and says how fast and how large.
fn load(path: &Path, items: &[Item]) {
    const BATCH: usize = 1_000;
    let (store, sessions) = open_all(path, items);
    let mut drafts: BTreeMap<(&str, Classification), Vec<Draft>> = BTreeMap::new();
    for item in items {
        let of = drafts.entry((&item.agent, item.level)).or_default();
        of.push(draft(item));
    }
    let start = Instant::now();
    for ((agent, level), drafts) in drafts {
        let session = of_level(&sessions[agent], level);
        for batch in drafts.chunks(BATCH) {
            store.save_all(session, batch.iter().cloned()).unwrap();
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    drop((sessions, store));
    let bytes = u32::try_from(std::fs::metadata(path).unwrap().len()).unwrap();
    println!(
        "loaded in batches of {BATCH} at {:.0} memories/s; the file has {:.1} MB",
        f64::from(u32::try_from(items.len()).unwrap()) / seconds,
        f64::from(bytes) / 1e6
    );
}

/// Copies a closed store, which has no files beside it.
fn copy(path: &Path, name: &str) -> PathBuf {
    let copy = path.with_file_name(name);
    assert!(!path.with_extension("db-wal").exists());
    std::fs::copy(path, &copy).unwrap();
    copy
}
