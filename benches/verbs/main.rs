//! What the store's verbs cost, each beside the same work done by hand in rusqlite.
//!
//! `cargo bench` measures at 1,000, 10,000 and 100,000 memories; `cargo bench -- 1k 10k` at those,
//! `cargo bench -- 100k search` one verb only, and `cargo bench -- threads` many threads.
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
mod raw;
mod reads;
mod saves;
mod searches;
mod threads;

use std::path::{Path, PathBuf};
use std::time::Instant;

use rusqlite::Connection;
use strandline::storage::Durability;
use strandline::{Classification, Draft, MemoryStore, Session};

use data::{Item, Words};
use measure::{Aim, Comparison, report};

/// New keys for each measurement of saves.
const SAVES: usize = 400;

const SIZES: [(&str, usize); 3] = [("1k", 1_000), ("10k", 10_000), ("100k", 100_000)];

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
        if sizes.is_empty() || sizes.iter().any(|arg| arg == name) {
            measure_size(&words, name, count, &verbs);
        }
    }
    println!("\n{:.0} s in all", start.elapsed().as_secs_f64());
}

fn measure_size(words: &Words, name: &str, count: usize, verbs: &[String]) {
    println!("\n{name}: {count} memories of one agent at four levels");
    let bench = Bench::new(words, count);
    let (queries, faster) = match count {
        100_000 => (200, Aim::Faster(5.0)),
        _ => (400, Aim::None),
    };
    let (hits, zipfs) = (
        data::hit_queries(bench.loaded(), queries),
        data::zipf_queries(words, queries),
    );
    let within = Aim::Within(1.5);
    let run = |name: &str, aim: Aim, measure: &dyn Fn() -> Comparison| {
        if verbs.is_empty() || verbs.iter().any(|verb| name.contains(verb)) {
            report(name, &measure(), aim);
        }
    };
    run("get", within, &|| reads::gets(&bench));
    run("list, page of 100", Aim::None, &|| {
        reads::lists(&bench, None)
    });
    run("list by tag", Aim::None, &|| {
        reads::lists(&bench, Some("tag07"))
    });
    run("search, HIT", faster, &|| searches::searches(&bench, &hits));
    run("search, ZIPF", faster, &|| {
        searches::searches(&bench, &zipfs)
    });
    let common = data::common_queries(words, 40);
    run("search, one common word", Aim::None, &|| {
        searches::searches(&bench, &common)
    });
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

/// A store of the data, and the hand's copy of its file.
struct Bench {
    folder: tempfile::TempDir,
    /// What is loaded, then what is left to be saved.
    items: Vec<Item>,
    count: usize,
    store: MemoryStore,
    sessions: Vec<Session>,
    raw: Connection,
}

impl Bench {
    fn new(words: &Words, count: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let items = data::memories(words, count + SAVES);
        let path = folder.path().join("ours.db");
        load(&path, &items[..count]);
        // Kept as it is, for the saves.
        copy(&path, "loaded.db");
        let raw = raw::connect(&copy(&path, "raw.db"), Durability::Full);
        raw::add_ranked_index(&raw);
        let (store, sessions) = open(&path, Durability::Full);
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
        of_level(&self.sessions, level)
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
    let session = |level: Classification| {
        let builder = store.session(level.as_str(), "agent-000").taint(level);
        builder.open().unwrap()
    };
    let sessions = Classification::ALL.map(session).into();
    (store, sessions)
}

fn draft(item: &Item) -> Draft {
    Draft::new(item.key.as_str(), item.content.as_str()).tag(item.tag.as_str())
}

/// Saves the items in batches, each at one level, and says how fast and how large.
fn load(path: &Path, items: &[Item]) {
    const BATCH: usize = 1_000;
    let (store, sessions) = open(path, Durability::Full);
    let start = Instant::now();
    for level in Classification::ALL {
        let drafts: Vec<Draft> = items
            .iter()
            .filter(|item| item.level == level)
            .map(draft)
            .collect();
        for batch in drafts.chunks(BATCH) {
            store
                .save_all(of_level(&sessions, level), batch.iter().cloned())
                .unwrap();
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
