//! Several processes, and many threads, on one file.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use chrono::{DateTime, Utc};
use strandline::storage::{Durability, VersionState};
use strandline::{Clock, Draft, ErrorKind, List, MemoryStore, Search, Session};

use crate::child;
use crate::keyed;
use crate::sound::assert_sound;

fn open(path: &Path) -> (MemoryStore, Session) {
    let store = keyed::builder()
        .durability(Durability::Normal)
        .open(path)
        .unwrap();
    let session = store.session("parent", "agent").open().unwrap();
    (store, session)
}

#[test]
fn two_or_eight_processes_make_one_fresh_file_together() {
    for processes in [2, 8] {
        for _ in 0..20 {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("memory.db");
            let name = |process: i32| format!("distinct {process} 1");
            let test = "processes::child_saves";
            child::run_all(
                (0..processes).map(|process| child::command(test, &path, &name(process))),
            );
            let (store, session) = open(&path);
            let page = store.list(&session, List::new().count()).unwrap();
            assert_eq!(page.total, u64::try_from(processes).ok());
        }
    }
}

#[test]
fn processes_lose_none_of_each_others_saves() {
    for processes in [2, 8] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        let (store, session) = open(&path);
        let each = 400 / processes;
        let name = |process| format!("distinct {process} {each}");
        let test = "processes::child_saves";
        child::run_all((0..processes).map(|process| child::command(test, &path, &name(process))));
        assert_eq!(
            store.list(&session, List::new().count()).unwrap().total,
            Some(400)
        );
        drop((session, store));
        assert_sound(&path);
    }
}

#[test]
fn saves_of_processes_to_one_key_are_all_versions_and_one_is_live() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let (store, session) = open(&path);
    let test = "processes::child_saves";
    child::run_all(
        (0..2).map(|process| child::command(test, &path, &format!("same {process} 200"))),
    );
    let versions = store.host().history("agent", "same").unwrap();
    let mut numbers: Vec<u64> = versions
        .iter()
        .map(|version| version.memory.version)
        .collect();
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(1..=400));
    let live = versions
        .iter()
        .filter(|version| version.state == VersionState::Live);
    assert_eq!(
        live.map(|version| version.memory.version)
            .collect::<Vec<_>>(),
        [400]
    );
    assert_eq!(
        store.search(&session, Search::new("same")).unwrap().len(),
        1
    );
    drop((session, store));
    assert_sound(&path);
}

/// Saves to keys of its own, or to one key: `distinct 3 200` or `same 3 200`.
#[test]
#[ignore = "run by other tests in a process of its own"]
fn child_saves() {
    let Some((path, argument)) = child::arguments() else {
        return;
    };
    let words: Vec<&str> = argument.split(' ').collect();
    let count: usize = words[2].parse().unwrap();
    let store = keyed::builder()
        .durability(Durability::Normal)
        .open(path)
        .unwrap();
    let session = store.session(words[1], "agent").open().unwrap();
    for number in 0..count {
        let key = match words[0] {
            "same" => String::from("same"),
            _ => format!("{} {number}", words[1]),
        };
        store
            .save(&session, Draft::new(key, "the same words"))
            .unwrap();
    }
}

#[test]
fn what_one_process_deletes_another_no_longer_reads() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let (store, session) = open(&path);
    let (other, other_session) = open(&path);
    store.save(&session, Draft::new("k", "sentinel")).unwrap();
    for (store, session) in [(&store, &session), (&other, &other_session)] {
        assert!(store.get(session, "k").unwrap().is_some());
        assert_eq!(
            store
                .search(session, Search::new("sentinel"))
                .unwrap()
                .len(),
            1
        );
    }
    child::run_all([child::command("processes::child_deletes", &path, "k")]);
    for (store, session) in [(&store, &session), (&other, &other_session)] {
        assert!(store.get(session, "k").unwrap().is_none());
        assert!(
            store
                .search(session, Search::new("sentinel"))
                .unwrap()
                .is_empty()
        );
        assert!(
            store
                .list(session, List::new())
                .unwrap()
                .memories
                .is_empty()
        );
    }
}

#[test]
#[ignore = "run by other tests in a process of its own"]
fn child_deletes() {
    let Some((path, key)) = child::arguments() else {
        return;
    };
    let (store, session) = open(&path);
    store.delete(&session, &key).unwrap();
}

#[test]
fn a_save_waits_for_another_process_and_says_so_when_it_may_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let (store, session) = open(&path);
    let hasty = keyed::builder()
        .busy_timeout(Duration::from_millis(50))
        .open(&path)
        .unwrap();
    let hasty_session = hasty.session("hasty", "agent").open().unwrap();
    let mut holder = child::command("processes::child_holds_the_lock", &path, "");
    let mut holder = holder.spawn().unwrap();
    let mut told = holder.stdin.take().unwrap();
    told.write_all(b"go\n").unwrap();
    holder
        .stderr
        .as_mut()
        .unwrap()
        .read_exact(&mut [0])
        .unwrap();

    let error = hasty
        .save(&hasty_session, Draft::new("k", "v"))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Busy);
    assert!(error.is_retryable());
    assert!(hasty.get(&hasty_session, "k").unwrap().is_none());

    thread::scope(|scope| {
        let waits = scope.spawn(|| store.save(&session, Draft::new("k", "v")).map(drop));
        thread::sleep(Duration::from_millis(200));
        assert!(!waits.is_finished(), "it didn't wait");
        drop(told);
        waits.join().unwrap().unwrap();
    });
    assert!(holder.wait().unwrap().success());
    hasty
        .save(&hasty_session, Draft::new("k", "later"))
        .unwrap();
}

#[test]
#[ignore = "run by other tests in a process of its own"]
fn child_holds_the_lock() {
    let Some((path, _)) = child::arguments() else {
        return;
    };
    let db = keyed::raw(path).unwrap();
    db.execute_batch("BEGIN IMMEDIATE").unwrap();
    child::say("held");
    // Until it is told that this is enough.
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    db.execute_batch("ROLLBACK").unwrap();
}

#[test]
fn reads_need_no_lock_and_write_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let (store, session) = open(&path);
    let drafts = (0..100).map(|i| Draft::new(format!("k{i}"), "the same words").tag("t"));
    store.save_all(&session, drafts).unwrap();
    let lock = keyed::raw(&path).unwrap();
    lock.execute_batch("PRAGMA wal_checkpoint(TRUNCATE); BEGIN IMMEDIATE")
        .unwrap();
    // Not by opening it: to close a file again drops the locks that this process has on it.
    let file = || {
        let info = std::fs::metadata(&path).unwrap();
        (info.len(), info.modified().unwrap())
    };
    let before = file();
    for _ in 0..200 {
        assert_eq!(
            store.search(&session, Search::new("words")).unwrap().len(),
            10
        );
        assert!(store.get(&session, "k7").unwrap().is_some());
        assert_eq!(
            store
                .list(&session, List::new().tag("T"))
                .unwrap()
                .memories
                .len(),
            100
        );
    }
    lock.execute_batch("ROLLBACK").unwrap();
    assert_eq!(file(), before);
    assert_eq!(
        std::fs::metadata(path.with_extension("db-wal"))
            .unwrap()
            .len(),
        0
    );
}

#[test]
fn many_more_threads_than_connections_all_get_their_turn() {
    let folder = tempfile::tempdir().unwrap();
    let (store, session) = open(&folder.path().join("memory.db"));
    shareable(&(store.clone(), session.clone()));
    store.save(&session, Draft::new("k", "some words")).unwrap();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0.. {
                store
                    .save(&session, Draft::new("busy", format!("write {number}")))
                    .unwrap();
                if done.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        let readers: Vec<_> = (0..60)
            .map(|_| {
                scope.spawn(|| {
                    for _ in 0..10 {
                        let hits = store.search(&session, Search::new("words")).unwrap();
                        assert_eq!(hits.len(), 1);
                    }
                })
            })
            .collect();
        for reader in readers {
            reader.join().unwrap();
        }
        done.store(true, Ordering::Relaxed);
    });
}

/// What async runtimes ask of what crosses an await.
fn shareable<T: Send + Sync + Clone + 'static>(_: &T) {}

#[derive(Debug)]
struct Stopped;

impl Clock for Stopped {
    fn now(&self) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH
    }
}

#[test]
fn saves_of_one_moment_from_four_threads_are_all_kept() {
    let folder = tempfile::tempdir().unwrap();
    let builder = keyed::builder()
        .clock(Arc::new(Stopped))
        .durability(Durability::Normal);
    let store = builder.open(folder.path().join("memory.db")).unwrap();
    let session = store.session("s-1", "agent").open().unwrap();
    thread::scope(|scope| {
        for thread in 0..4 {
            let (store, session) = (&store, &session);
            scope.spawn(move || {
                for i in 0..250 {
                    store
                        .save(session, Draft::new(format!("{thread}-{i}"), "v"))
                        .unwrap();
                }
            });
        }
    });
    let mut keys = BTreeSet::new();
    let mut list = List::new().limit(13);
    loop {
        let page = store.list(&session, list).unwrap();
        for memory in page.memories {
            assert!(
                keys.insert(String::from(memory.key)),
                "a page repeats a memory"
            );
        }
        let Some(next) = page.next else { break };
        list = List::new().limit(13).after(next);
    }
    assert_eq!(keys.len(), 1_000);
}
