//! Making the index anew: beside others, after a kill, and over one of another analysis.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::Duration;

use super::*;
use crate::search::analysis::{self, Language};
use crate::storage::Durability;
use crate::storage::sqlite::index::State;
use crate::storage::sqlite::{Reindexing, reindex};
use crate::{Error, List, Result};

mod language;

/// What a session observes of a search.
type Found = Vec<(String, String, Classification, u64, f64)>;

fn found(hits: Vec<crate::Hit>) -> Found {
    let row = |hit: crate::Hit| {
        let memory = hit.memory;
        let key = memory.key.as_str().to_owned();
        (
            key,
            memory.content,
            memory.classification,
            memory.version,
            hit.score,
        )
    };
    hits.into_iter().map(row).collect()
}

/// What the sessions observe of these searches, and of how many records there are.
fn observe(
    store: &MemoryStore,
    sessions: &[Session],
    queries: &[&str],
) -> Vec<(Found, Option<u64>)> {
    let mut seen = Vec::new();
    for session in sessions {
        let total = store
            .list(session, List::new().limit(1).count())
            .unwrap()
            .total;
        for query in queries {
            let search = Search::new(*query).max_results(50);
            seen.push((found(store.search(session, search).unwrap()), total));
        }
    }
    seen
}

/// Makes the index one that an older analysis left behind: other terms, other lengths, and of both
/// some that this analysis has too.
fn age(db: &Connection) {
    db.execute_batch(
        "BEGIN IMMEDIATE;
         INSERT INTO terms (terms) VALUES ('delete-all');
         DELETE FROM index_stats;
         DELETE FROM meta WHERE name = 'reindexed';
         UPDATE meta SET value = 0 WHERE name = 'analysis';",
    )
    .unwrap();
    let mut select = db
        .prepare("SELECT id, doc FROM records WHERE state = 0")
        .unwrap();
    let live: Vec<(i64, i64)> = select
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .collect::<rusqlite::Result<_>>()
        .unwrap();
    for (id, doc) in live {
        let doc = Doc::from_rowid(doc);
        let length = doc.length.wrapping_add(9);
        let doc = Doc { length, ..doc };
        let text = IndexText::of(
            Language::default(),
            &format!("old{id} wörd7 deploy"),
            &[],
            "部署",
        );
        crate::storage::sqlite::index::add(db, doc, &text).unwrap();
        crate::storage::sqlite::index::set_doc(db, id, doc.to_rowid()).unwrap();
    }
    db.execute_batch("COMMIT").unwrap();
}

const RECORDS: usize = 2_000;

const FEW: usize = 1_000;

const QUERIES: [&str; 2] = ["deploy note 77", "wörd7 部署 old5"];

fn options() -> SqliteOptions {
    SqliteOptions {
        durability: Durability::Normal,
        ..SqliteOptions::default()
    }
}

fn open(path: &Path, clock: &Arc<TestClock>) -> MemoryStore {
    let provider = Arc::new(Sqlite::open(path, &options()).unwrap());
    MemoryStore::builder()
        .clock(clock.clone())
        .with_provider(provider)
}

/// Opens the file anew and calls back after each step.
fn reopen(path: &Path, tell: impl Fn(Reindexing) + Send + Sync + 'static) -> Result<Sqlite> {
    let code = std::env::var("STRANDLINE_TEST_LANGUAGE").ok();
    let language = code.map(|code| code.parse()).transpose()?;
    let on_reindex = crate::storage::OnReindex::new(tell);
    Sqlite::open(
        path,
        &SqliteOptions {
            language,
            on_reindex,
            ..options()
        },
    )
}

/// Opens the file anew and counts the steps that this took.
fn steps_of_opening(path: &Path) -> usize {
    let told = Arc::new(Mutex::new(0));
    let count = Arc::clone(&told);
    drop(reopen(path, move |_| *count.lock().unwrap() += 1).unwrap());
    *told.lock().unwrap()
}

/// Records at all levels, of which some shadow others, were replaced, were deleted or will expire.
fn fill(bench: &Bench, records: usize) {
    let text = |i: usize| format!("note {} says wörd{} 部署 deploy", i / 3, i % 12);
    for (level, session) in bench.sessions.iter().enumerate() {
        let keys = (0..records / 4).map(|i| i + level * records / 8);
        let expires = bench.clock.now() + chrono::Duration::seconds(50);
        let draft = |i: usize| {
            let draft = Draft::new(format!("key {i}"), text(i)).tag("t");
            if i.is_multiple_of(10) {
                draft.expires_at(expires)
            } else {
                draft
            }
        };
        bench.store.save_all(session, keys.map(draft)).unwrap();
        let again = (0..40).map(|i| Draft::new(format!("key {}", i * 11 + level), text(i)));
        bench.store.save_all(session, again).unwrap();
        for i in 0..20 {
            bench
                .store
                .delete(session, &format!("key {}", i * 11 + level))
                .unwrap();
        }
    }
}

fn path(bench: &Bench) -> PathBuf {
    bench.folder.path().join("memory.db")
}

#[test]
fn an_older_index_is_made_anew_on_opening() {
    let bench = bench();
    fill(&bench, RECORDS);
    let before = observe(&bench.store, &bench.sessions, &QUERIES);
    age(&bench.db);
    let steps = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&steps);
    let tell = move |now| told.lock().unwrap().push(now);
    drop(reopen(&path(&bench), tell).unwrap());
    check(&bench.db);
    assert_eq!(observe(&bench.store, &bench.sessions, &QUERIES), before);
    let steps = steps.lock().unwrap();
    let ids: u64 = RECORDS as u64;
    assert!(steps.len() as u64 > ids / reindex::RECORDS as u64);
    assert!(steps.is_sorted_by_key(|now| now.done));
    assert!(steps.iter().all(|now| now.total > ids));
    let last = steps.last().unwrap();
    assert_eq!(last.done, last.total);
    assert_eq!(steps.iter().filter(|now| now.done == now.total).count(), 1);
}

#[test]
fn an_index_of_this_analysis_is_left_alone() {
    let bench = bench();
    fill(&bench, FEW);
    let changes = |db: &Connection| -> i64 {
        db.pragma_query_value(None, "data_version", |row| row.get(0))
            .unwrap()
    };
    let before = changes(&bench.db);
    assert_eq!(steps_of_opening(&path(&bench)), 0);
    assert_eq!(changes(&bench.db), before);
}

/// After each step somebody else, who has had the file open all along, searches and finds what he
/// should.
#[test]
fn searches_beside_it_are_exact_at_every_step() {
    let bench = bench();
    fill(&bench, RECORDS);
    bench.clock.0.fetch_add(60, Ordering::Relaxed);
    let before = observe(&bench.store, &bench.sessions, &QUERIES);
    age(&bench.db);
    let path = path(&bench);
    let bench = Arc::new(Mutex::new(bench));
    let (other, steps) = (Arc::clone(&bench), AtomicI64::new(0));
    let tell = move |now: Reindexing| {
        if steps.fetch_add(1, Ordering::Relaxed) % 50 == 0 || now.done == now.total {
            let bench = other.lock().unwrap();
            let seen = observe(&bench.store, &bench.sessions, &QUERIES);
            assert_eq!(seen, before, "after {now:?}");
        }
    };
    drop(reopen(&path, tell).unwrap());
    check(&bench.lock().unwrap().db);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    /// Any operations, before each step and between them, against the store in memory.
    #[test]
    fn any_operations_beside_it_are_right(
        before in prop::collection::vec(op(), 10..50),
        beside in prop::collection::vec(op(), 1..25),
        renumbered in prop::option::of(0..25_usize),
    ) {
        let bench = bench();
        let twin = MemoryStore::builder().clock(bench.clock.clone()).open_in_memory().unwrap();
        let twins = sessions(&twin);
        let both = |op: &Op| {
            apply_to(&twin, &twins, bench.clock.now(), op);
            apply(&bench, op);
        };
        before.iter().for_each(both);
        age(&bench.db);
        reindex::restart(&bench.db).unwrap();
        let mut whole = false;
        for (at, op) in beside.iter().enumerate() {
            if Some(at) == renumbered {
                let sql = "UPDATE scopes SET next_seq = ?1";
                bench.db.execute(sql, [Doc::MAX_SEQ + 1]).unwrap();
            }
            both(op);
            let queries = ["wörd3 部署", "tag wörd7 old5"];
            let seen = observe(&bench.store, &bench.sessions, &queries);
            prop_assert_eq!(seen, observe(&twin, &twins, &queries));
            whole = one_step(&bench.db);
        }
        while !whole {
            whole = one_step(&bench.db);
        }
        check(&bench.db);
    }
}

fn one_step(db: &Connection) -> bool {
    db.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (_, whole) = reindex::step(db).unwrap();
    db.execute_batch("COMMIT").unwrap();
    whole
}

#[test]
fn two_that_open_at_once_share_the_work_and_a_writer_loses_nothing() {
    let bench = bench();
    fill(&bench, RECORDS);
    age(&bench.db);
    // So that the writer, who has had the file open all along, finds an index of its own analysis.
    reindex::restart(&bench.db).unwrap();
    let path = path(&bench);
    let start = Barrier::new(3);
    let open = || {
        start.wait();
        steps_of_opening(&path)
    };
    let shared: usize = thread::scope(|scope| {
        let openers = [scope.spawn(open), scope.spawn(open)];
        start.wait();
        for i in 0..100 {
            let session = &bench.sessions[i % 4];
            let draft = Draft::new(format!("new {i}"), format!("beside {i}"));
            bench.store.save(session, draft).unwrap();
        }
        openers.map(|opener| opener.join().unwrap()).iter().sum()
    });
    check(&bench.db);
    let all = Search::new("beside").max_results(100);
    let hits = bench.store.search(&bench.sessions[3], all).unwrap();
    assert_eq!(hits.len(), 100);
    reindex::restart(&bench.db).unwrap();
    let alone = steps_of_opening(&path);
    // Each is told the end, whoever got there.
    assert!(shared <= alone + 1, "{shared} steps of two, {alone} of one");
}

/// What [`killed_at_any_moment_it_goes_on`] starts and kills.
#[test]
#[ignore = "it is a part of another test"]
fn child() {
    let Some(path) = std::env::var_os("STRANDLINE_TEST_FILE") else {
        return;
    };
    let tell = |now: Reindexing| println!("step {}", now.done);
    drop(reopen(Path::new(&path), tell).unwrap());
    println!("whole");
}

fn start_child(path: &Path) -> Child {
    start_child_for(path, None)
}

/// Starts one that sets the file to this language.
fn start_child_for(path: &Path, language: Option<Language>) -> Child {
    let language = language.map(|language| ("STRANDLINE_TEST_LANGUAGE", language.code()));
    let name = concat!(module_path!(), "::child");
    let name = name.split_once("::").unwrap().1;
    Command::new(std::env::current_exe().unwrap())
        .args([name, "--exact", "--ignored", "--nocapture"])
        .env("STRANDLINE_TEST_FILE", path)
        .envs(language)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Kills it when it has done so many steps, or at once; how far it said it had come.
fn kill_after(mut child: Child, steps: usize, then: Duration) -> Option<i64> {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let done = lines.map_while(std::result::Result::ok).filter_map(|line| {
        let (_, done) = line.split_once("step ")?;
        done.parse::<i64>().ok()
    });
    let last = done.take(steps).last();
    thread::sleep(then);
    child.kill().unwrap();
    child.wait().unwrap();
    last
}

#[test]
fn killed_at_any_moment_it_goes_on() {
    let bench = bench();
    fill(&bench, RECORDS);
    let mut expected = observe(&bench.store, &bench.sessions, &QUERIES);
    age(&bench.db);
    let path = path(&bench);
    let mut kills = 0;
    for round in 0..10_u64 {
        let steps = usize::try_from(round * 5 % 23).unwrap();
        let then = Duration::from_micros(round * 1_700 % 9_000);
        let said = kill_after(start_child(&path), steps, then);
        let state = State::read(&bench.db).unwrap();
        if state.analysis != Some(analysis::VERSION) {
            continue;
        }
        kills += i32::from(state.reindexed.is_some());
        let done = state.reindexed.unwrap_or(i64::MAX);
        assert!(
            said.is_none_or(|said| said <= done),
            "what was done stays done"
        );
        // Another process writes between the kills, and searches what is there.
        if round % 3 == 0 {
            let key = format!("key {round}");
            bench
                .store
                .save(&bench.sessions[0], Draft::new(key, "deploy wörd7 twice"))
                .unwrap();
        }
        let seen = observe(&bench.store, &bench.sessions, &QUERIES);
        if round % 3 == 0 {
            expected = seen;
        } else {
            assert_eq!(seen, expected);
        }
    }
    assert!(kills >= 5, "only {kills} kills came before the end");
    drop(open(&path, &bench.clock));
    check(&bench.db);
    assert_eq!(observe(&bench.store, &bench.sessions, &QUERIES), expected);
}

fn newer(error: &Error) -> bool {
    error.kind() == ErrorKind::NewerVersion
}

/// Another process, of a later release, has indexed the file.
fn indexed_by_a_later_release(bench: &Bench) {
    let sql = "UPDATE meta SET value = ?1 WHERE name = 'analysis'";
    bench.db.execute(sql, [analysis::VERSION + 1]).unwrap();
}

#[test]
fn a_file_that_a_later_release_indexed_is_refused_and_left_as_it_was() {
    let bench = bench();
    fill(&bench, FEW);
    indexed_by_a_later_release(&bench);
    let path = path(&bench);
    let Bench {
        folder,
        store,
        sessions,
        db,
        sqlite,
        ..
    } = bench;
    drop((store, sessions, db, sqlite)); // closes the file
    let before = std::fs::read(&path).unwrap();
    assert!(newer(&Sqlite::open(&path, &options()).unwrap_err()));
    assert_eq!(std::fs::read(&path).unwrap(), before);
    let names = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(names, 1, "nor is anything left beside it");
}

#[test]
fn an_older_release_that_is_at_it_neither_writes_nor_searches_any_more() {
    let bench = bench();
    fill(&bench, FEW);
    let (store, session) = (&bench.store, &bench.sessions[3]);
    let total = |store: &MemoryStore| {
        store
            .list(session, List::new().limit(1).count())
            .unwrap()
            .total
    };
    let before = (total(store), store.get(session, "key 400").unwrap());
    assert!(before.1.is_some());
    let dump = |db: &Connection| -> Vec<i64> {
        let counts = [
            "records",
            "terms_data",
            "index_stats",
            "record_tags",
            "audit",
        ];
        let count = |table| format!("SELECT count(*) FROM {table}");
        counts
            .map(|table| db.query_row(&count(table), [], |row| row.get(0)).unwrap())
            .into()
    };
    indexed_by_a_later_release(&bench);
    let held = dump(&bench.db);
    assert!(newer(
        &store.save(session, Draft::new("new", "text")).unwrap_err()
    ));
    assert!(newer(
        &store
            .save(session, Draft::new("key 400", "text"))
            .unwrap_err()
    ));
    assert!(newer(&store.delete(session, "key 400").unwrap_err()));
    assert!(newer(
        &store.search(session, Search::new("deploy")).unwrap_err()
    ));
    assert!(newer(&store.host().reindex().unwrap_err()));
    assert_eq!(dump(&bench.db), held);
    assert_eq!(
        (total(store), store.get(session, "key 400").unwrap()),
        before
    );
}

#[test]
fn an_index_that_has_become_older_is_not_touched() {
    let bench = bench();
    fill(&bench, FEW);
    age(&bench.db);
    let (store, session) = (&bench.store, &bench.sessions[3]);
    let saved = store.save(session, Draft::new("new", "text"));
    assert_eq!(saved.unwrap_err().kind(), ErrorKind::Corrupt);
    let found = store.search(session, Search::new("deploy"));
    assert_eq!(found.unwrap_err().kind(), ErrorKind::Corrupt);
    drop(open(&path(&bench), &bench.clock));
    check(&bench.db);
}
