//! The same on a real file, whose lock another program holds, and beside a real timer.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use chrono::{DateTime, Utc};
use rusqlite::Connection;
use strandline::asynchronous::{AsyncStore, WRITES_AT_ONCE};
use strandline::audit::{Action, Query};
use strandline::{Classification, Clock, Draft, List, MemoryKey, MemoryStore, Search, Session};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use super::{PLENTY, save_each, sessions};
use crate::keyed;

const TICK: Duration = Duration::from_millis(10);

/// The one thread, with a timer.
fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().build().unwrap()
}

struct File {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

fn file() -> (File, AsyncStore) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let store = open(&path);
    let file = File {
        _folder: folder,
        path,
    };
    (file, store)
}

fn open(path: &Path) -> AsyncStore {
    AsyncStore::new(keyed::builder().busy_timeout(PLENTY).open(path).unwrap())
}

/// Another program's transaction: while it is open no write of the store gets on.
fn locked(path: &Path) -> Connection {
    let db = keyed::raw(path).unwrap();
    db.execute_batch("BEGIN IMMEDIATE").unwrap();
    db
}

fn triple(n: usize) -> Vec<Draft> {
    let draft = |part| Draft::new(format!("k-{n:03}-{part}"), "schooner").tag("t");
    ["a", "b", "c"].map(draft).into()
}

/// A save of three memories for each session, each given up after `patience`.
fn triples(store: &AsyncStore, sessions: &[Session], patience: Duration) -> JoinSet<Option<usize>> {
    let mut saves = JoinSet::new();
    for (n, session) in sessions.iter().cloned().enumerate() {
        let store = store.clone();
        saves.spawn(async move {
            let outcome = timeout(patience, store.save_all(&session, triple(n))).await;
            outcome.ok().map(|outcome| {
                outcome.unwrap();
                n
            })
        });
    }
    saves
}

fn read(path: &Path) -> MemoryStore {
    keyed::builder().read_only().open(path).unwrap()
}

/// The keys with the tag that all saves give, as they are at this moment.
fn tagged(store: &MemoryStore) -> Vec<MemoryKey> {
    let view = store.host().view("agent", Classification::Public).unwrap();
    let page = store
        .list(&view, List::new().tag("t").limit(1_000))
        .unwrap();
    page.memories.into_iter().map(|memory| memory.key).collect()
}

/// Which saves of three are in a file where nothing goes on any more. Each is there whole: its records, their
/// tags, terms and entries in the audit.
fn whole(path: &Path) -> BTreeSet<usize> {
    let store = read(path);
    let keys = tagged(&store);
    let number = |key: &MemoryKey| key.as_str()[2..5].parse::<usize>().unwrap();
    for part in keys.chunks(3) {
        let of_one = part.iter().all(|key| number(key) == number(&part[0]));
        assert!(part.len() == 3 && of_one, "half of a save: {part:?}");
    }
    let saves = Query {
        action: Some(Action::Save),
        limit: 1_000,
        ..Query::default()
    };
    assert_eq!(store.host().audit(&saves).unwrap().len(), keys.len());
    let stats = store.host().stats().unwrap();
    let live = stats.levels[&Classification::Public].live;
    assert_eq!(usize::try_from(live).unwrap(), keys.len(), "one has no tag");
    assert!(store.host().check().unwrap().is_empty());
    keys.iter().map(number).collect()
}

/// Waits, without a runtime, for what will come true.
fn until(mut is_so: impl FnMut() -> bool) {
    for _ in 0..PLENTY.as_millis() / TICK.as_millis() {
        if is_so() {
            return;
        }
        thread::sleep(TICK);
    }
    panic!("it never came");
}

#[test]
fn a_timer_ticks_while_a_hundred_saves_wait_for_the_file() {
    let (file, store) = file();
    // A thread of its own measures what a timer can do on this machine at this time, so a slow machine slows
    // both, and only a blocked runtime falls behind.
    let (beats, ticks) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    runtime().block_on(async {
        let sessions = sessions(&store, 100).await;
        let lock = locked(&file.path);
        let counted = Arc::clone(&beats);
        let seen = Arc::clone(&ticks);
        let other = thread::spawn(move || {
            while counted.fetch_add(1, Ordering::SeqCst) < 60 {
                thread::sleep(TICK);
            }
            let count = seen.load(Ordering::SeqCst);
            lock.execute_batch("ROLLBACK").unwrap();
            count
        });
        let ticker = tokio::spawn(async move {
            let mut timer = interval(TICK);
            timer.set_missed_tick_behavior(MissedTickBehavior::Skip);
            loop {
                timer.tick().await;
                ticks.fetch_add(1, Ordering::SeqCst);
            }
        });
        let mut saves = save_each(&store, &sessions);
        while let Some(save) = saves.join_next().await {
            save.unwrap().unwrap();
        }
        ticker.abort();
        let count = other.join().unwrap();
        assert!(count >= 20, "{count} ticks in the time of 60");
        let listed = store.list(&sessions[0], List::new().limit(1_000)).await;
        assert_eq!(listed.unwrap().memories.len(), 100);
    });
}

#[test]
fn six_hundred_searches_finish_behind_a_writer_that_gets_on_only_later() {
    let (file, store) = file();
    let search = || async {
        let sessions = sessions(&store, WRITES_AT_ONCE + 1).await;
        let (reader, writers) = sessions.split_last().unwrap();
        store.save_all(reader, triple(0)).await.unwrap();
        let lock = locked(&file.path);
        let mut saves = save_each(&store, writers);
        let mut searches = JoinSet::new();
        for _ in 0..600 {
            let (store, reader) = (store.clone(), reader.clone());
            searches.spawn(async move { store.search(&reader, Search::new("schooner")).await });
        }
        while let Some(hits) = searches.join_next().await {
            assert_eq!(hits.unwrap().unwrap().len(), 3);
        }
        assert!(saves.try_join_next().is_none(), "the writers still wait");
        lock.execute_batch("ROLLBACK").unwrap();
        while let Some(save) = saves.join_next().await {
            save.unwrap().unwrap();
        }
    };
    let done = runtime().block_on(async { timeout(PLENTY / 2, search()).await });
    done.expect("no search waits for a writer");
}

#[test]
fn of_saves_that_time_out_those_that_have_begun_are_done_whole_and_no_other() {
    let (file, store) = file();
    let runtime = runtime();
    runtime.block_on(async {
        let sessions = sessions(&store, 100).await;
        let lock = locked(&file.path);
        let mut saves = triples(&store, &sessions, 2 * TICK);
        while let Some(saved) = saves.join_next().await {
            assert_eq!(saved.unwrap(), None, "the file is locked");
        }
        assert!(tagged(&read(&file.path)).is_empty(), "nothing half done");
        lock.execute_batch("ROLLBACK").unwrap();
        // Those that began are carried out, though no one waits for them.
        until(|| tagged(&read(&file.path)).len() >= 3 * WRITES_AT_ONCE);
    });
    drop((runtime, store));
    assert_eq!(whole(&file.path).len(), WRITES_AT_ONCE);
}

#[derive(Debug)]
struct Watch;

impl Clock for Watch {
    fn now(&self) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH
    }
}

/// Shuts the runtime down when so many of a hundred saves are acknowledged, and looks at what is left.
fn shut_down_after(acknowledged: usize, is_locked: bool, shut_down: fn(Runtime)) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let clock = Arc::new(Watch);
    let builder = keyed::builder().clock(clock.clone()).busy_timeout(PLENTY);
    let store = AsyncStore::new(builder.open(&path).unwrap());
    let runtime = runtime();
    let (known, lock) = runtime.block_on(async {
        let sessions = sessions(&store, 100).await;
        let lock = is_locked.then(|| locked(&path));
        let mut saves = triples(&store, &sessions, PLENTY);
        let mut known = BTreeSet::new();
        while known.len() < acknowledged {
            known.extend(saves.join_next().await.unwrap().unwrap());
        }
        sleep(TICK).await;
        saves.detach_all();
        (known, lock)
    });
    drop(store);
    let opener = lock.map(|lock| {
        thread::spawn(move || {
            thread::sleep(5 * TICK);
            lock.execute_batch("ROLLBACK").unwrap();
        })
    });
    shut_down(runtime);
    // Whatever still runs has the store, and the store its clock.
    until(|| Arc::strong_count(&clock) == 1);
    if let Some(opener) = opener {
        opener.join().unwrap();
    }
    let left = whole(&path);
    assert!(left.is_superset(&known), "an acknowledged save is lost");
    if is_locked {
        assert!(left.len() <= WRITES_AT_ONCE, "{} began", left.len());
    }
}

#[test]
fn a_runtime_that_is_shut_down_midway_leaves_every_save_whole_or_not_there() {
    let ways: [fn(Runtime); 3] = [drop, Runtime::shutdown_background, |runtime| {
        runtime.shutdown_timeout(TICK);
    }];
    for way in ways {
        shut_down_after(0, true, way);
        for acknowledged in [0, 1, 30, 90] {
            shut_down_after(acknowledged, false, way);
        }
    }
}
