//! The search index is made anew: on opening a file of an older analysis, and when the host asks.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use strandline::storage::{Durability, Reindexing};
use strandline::{Classification, Draft, MemoryStore, Search, Session, StoreBuilder};
use tempfile::TempDir;

use crate::keyed;

/// Several steps' worth.
const RECORDS: usize = 600;

fn file(folder: &TempDir) -> PathBuf {
    folder.path().join("memory.db")
}

fn builder() -> StoreBuilder {
    keyed::builder().durability(Durability::Normal)
}

/// A session at each of two levels, which every store of the file can resume.
fn sessions(store: &MemoryStore) -> [Session; 2] {
    [Classification::Public, Classification::Internal].map(|taint| {
        let session = store.session(taint.as_str(), "agent").taint(taint);
        session.open().unwrap()
    })
}

/// A store of this many memories; the higher session saved every third key too.
fn filled(path: &Path) -> MemoryStore {
    let store = builder().open(path).unwrap();
    let [low, high] = sessions(&store);
    let text = |i: usize| format!("boat {i} sails at {} knots", i % 7);
    let drafts = (0..RECORDS).map(|i| Draft::new(format!("k{i}"), text(i)));
    store.save_all(&low, drafts).unwrap();
    let drafts = (0..RECORDS).step_by(3);
    let drafts = drafts.map(|i| Draft::new(format!("k{i}"), "the boat's secret berth"));
    store.save_all(&high, drafts).unwrap();
    store
}

/// Keys and scores of what each session finds.
fn search(store: &MemoryStore) -> Vec<(String, f64)> {
    let sessions = sessions(store);
    let queries = ["boats", "berth 6 knots", "k17", "zzz"];
    let ask = |(session, query): (&Session, &str)| {
        let search = Search::new(query).max_results(40);
        store.search(session, search).unwrap()
    };
    let asked = sessions
        .iter()
        .flat_map(|session| queries.map(|query| (session, query)));
    let hits = asked.flat_map(ask);
    hits.map(|hit| (hit.memory.key.as_str().to_owned(), hit.score))
        .collect()
}

/// A word that is no other number's.
fn word(number: usize) -> String {
    let letter = |digit: char| {
        digit
            .to_digit(10)
            .and_then(|at| "bcdfghjklm".chars().nth(at as usize))
    };
    format!(
        "x{}",
        number
            .to_string()
            .chars()
            .filter_map(letter)
            .collect::<String>()
    )
}

/// Puts an index in the file that an older release might have made: each record is found by `zzz`.
fn age(path: &Path) {
    let db = keyed::raw(path).unwrap();
    db.execute_batch(
        "BEGIN IMMEDIATE;
         UPDATE meta SET value = 0 WHERE name = 'analysis';
         INSERT INTO terms (terms) VALUES ('delete-all');
         INSERT INTO terms (rowid, term) SELECT doc + 1, 'zzz' FROM records WHERE state = 0;
         COMMIT;",
    )
    .unwrap();
}

#[test]
fn opening_makes_an_older_index_anew_and_tells_how_far_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(&file(&folder));
    let before = search(&store);
    drop(store);
    age(&file(&folder));
    let told = Arc::new(Mutex::new(Vec::<Reindexing>::new()));
    let steps = Arc::clone(&told);
    let builder = builder().on_reindex(move |now| steps.lock().unwrap().push(now));
    let store = builder.open(file(&folder)).unwrap();
    assert_eq!(search(&store), before);
    let told = told.lock().unwrap();
    assert!(told.len() > 3, "in steps: {told:?}");
    assert!(told.is_sorted_by_key(|now| now.done));
    assert!(told.last().is_some_and(|now| now.done == now.total));
    let [low, _] = sessions(&store);
    store
        .delete(&low, "k1")
        .expect("rows of the new index can be removed");
}

#[test]
fn everyone_reads_and_writes_while_the_host_has_the_index_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(&file(&folder));
    let before = search(&store);
    let (running, saved) = (AtomicBool::new(true), AtomicUsize::new(0));
    let beside = builder().open(file(&folder)).unwrap();
    let (a, b) = ["a", "b"]
        .map(|id| beside.session(id, "other").open().unwrap())
        .into();
    thread::scope(|scope| {
        for session in [&a, &b] {
            let (beside, running, saved) = (&beside, &running, &saved);
            scope.spawn(move || {
                while running.load(Ordering::Relaxed) {
                    let i = saved.fetch_add(1, Ordering::Relaxed);
                    let draft = Draft::new(format!("new-{i}"), word(i));
                    beside.save(session, draft).unwrap();
                    let query = Search::new(word(i));
                    assert_eq!(beside.search(session, query).unwrap().len(), 1);
                }
            });
        }
        for _ in 0..2 {
            assert_eq!(search(&store), before);
            store.host().reindex().unwrap();
            assert_eq!(search(&store), before);
        }
        running.store(false, Ordering::Relaxed);
    });
    for i in 0..saved.into_inner() {
        let hits = beside.search(&a, Search::new(word(i))).unwrap();
        assert_eq!(hits.len(), 1, "nothing is lost");
    }
    let live = keyed::raw(file(&folder)).unwrap();
    let sql = "SELECT count(*) FROM records WHERE state = 0";
    let live: i64 = live.query_row(sql, [], |row| row.get(0)).unwrap();
    let counted = store.host().reindex().unwrap();
    assert_eq!(i64::try_from(counted).unwrap(), live);
}

#[test]
fn the_host_can_have_a_damaged_index_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(&file(&folder));
    let before = search(&store);
    let [low, _] = sessions(&store);
    let db = keyed::raw(file(&folder)).unwrap();
    db.execute_batch("UPDATE terms_data SET block = x'ff' WHERE id > 10")
        .unwrap();
    store.host().reindex().unwrap();
    assert_eq!(search(&store), before);
    store.delete(&low, "k1").unwrap();
}

#[test]
fn a_panic_of_who_is_told_harms_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(&file(&folder));
    let before = search(&store);
    let told = AtomicUsize::new(0);
    let builder = builder().on_reindex(move |_| {
        assert_ne!(
            told.fetch_add(1, Ordering::Relaxed),
            2,
            "a fault of the host"
        );
    });
    let other = builder.open(file(&folder)).unwrap();
    let reindex = std::panic::AssertUnwindSafe(|| other.host().reindex());
    assert!(std::panic::catch_unwind(reindex).is_err());
    assert_eq!(search(&other), before);
    let [mine, _] = sessions(&other);
    other.save(&mine, Draft::new("k1", "a raft")).unwrap();
    other.host().reindex().unwrap();
    let hits = store
        .search(&sessions(&store)[0], Search::new("raft"))
        .unwrap();
    assert_eq!(hits.len(), 1);
}

/// Once a deadlock: the function was called while the save held its session's taint.
#[test]
fn nobody_is_told_of_a_repair_while_a_session_is_held() {
    let folder = tempfile::tempdir().unwrap();
    drop(filled(&file(&folder)));
    let told = std::sync::Arc::new(AtomicUsize::new(0));
    let count = told.clone();
    let builder = builder().on_reindex(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
    });
    let store = builder.open(file(&folder)).unwrap();
    let db = keyed::raw(file(&folder)).unwrap();
    db.execute_batch("UPDATE terms_data SET block = x'00112233' WHERE id > 10")
        .unwrap();
    let [low, _] = sessions(&store);
    store.save(&low, Draft::new("k1", "a raft")).unwrap();
    let hits = store.search(&low, Search::new("raft")).unwrap();
    assert_eq!((hits.len(), told.load(Ordering::Relaxed)), (1, 0));
    store.host().reindex().unwrap();
    assert!(told.load(Ordering::Relaxed) > 0);
}

/// Once kept: what was indexed before the kill was taken for sound.
#[test]
fn a_damaged_index_that_is_half_made_is_made_anew_from_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(&file(&folder));
    let before = search(&store);
    let db = keyed::raw(file(&folder)).unwrap();
    db.execute_batch(
        "INSERT INTO meta (name, value) VALUES ('reindexed', 100);
         UPDATE index_stats SET records = records + 7;",
    )
    .unwrap();
    let live = store.host().reindex().unwrap();
    let sql = "SELECT sum(records) FROM index_stats";
    let counted: i64 = db.query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(counted.cast_unsigned(), live);
    assert_eq!(search(&store), before);
}
