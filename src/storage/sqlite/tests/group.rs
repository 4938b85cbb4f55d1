//! Writes that share a commit.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use rusqlite::Connection;

use super::super::group::{Group, takes_more};
use super::super::schema::set_meta;
use super::super::{Sqlite, SqliteOptions, key};
use super::{bench, check};
use crate::{Draft, Error, ErrorKind, Result};

const NAMES: [&str; 3] = ["one", "two", "three"];

fn meta(db: &Connection, name: &str) -> Option<i64> {
    let sql = "SELECT value FROM meta WHERE name = ?1";
    db.query_row(sql, [name], |row| row.get(0)).ok()
}

fn there(db: &Connection) -> i64 {
    NAMES.iter().filter_map(|name| meta(db, name)).sum()
}

fn outside(path: &Path) -> Connection {
    key::open(path, SqliteOptions::default().key()).unwrap()
}

/// Runs the writes so that all of them wait while something else is written.
fn at_once(sqlite: &Sqlite, writes: &[&(dyn Fn() + Sync)]) {
    let begun = Barrier::new(2);
    thread::scope(|scope| {
        scope.spawn(|| {
            let work = |_: &Connection| {
                begun.wait();
                while sqlite.pool.group.waiting() < writes.len() {
                    thread::sleep(Duration::from_millis(1));
                }
                Ok(())
            };
            sqlite.pool.write(work).unwrap();
        });
        begun.wait();
        for write in writes {
            scope.spawn(*write);
        }
    });
}

#[test]
fn writes_that_wait_share_one_transaction() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let mut sqlite = Sqlite::open(&path, &SqliteOptions::default()).unwrap();
    // On a busy machine the looks from outside take longer than writes may join.
    sqlite.pool.group.joining = Duration::MAX;
    let most = Arc::new(AtomicI64::new(0));
    let write = |name: &'static str| {
        let (file, most) = (path.clone(), most.clone());
        let work = move |db: &Connection| {
            set_meta(db, name, 1)?;
            let uncommitted = there(db) - there(&outside(&file));
            most.fetch_max(uncommitted, Ordering::SeqCst);
            Ok(())
        };
        sqlite.pool.write_together(work).unwrap();
        // What is acknowledged is there for everyone.
        assert_eq!(meta(&outside(&path), name), Some(1));
    };
    let [one, two, three] = NAMES.map(|name| move || name);
    at_once(
        &sqlite,
        &[&|| write(one()), &|| write(two()), &|| write(three())],
    );
    assert_eq!(most.load(Ordering::SeqCst), 3);
}

#[test]
fn one_that_fails_or_panics_does_so_alone() {
    let bench = bench();
    let (sqlite, path) = (bench.sqlite.clone(), bench.sqlite.path().to_owned());
    let (store, session) = (bench.store.clone(), bench.sessions[1].clone());
    let save = |key: &str| drop(store.save(&session, Draft::new(key, "some words")).unwrap());
    let fails = || {
        let work = |db: &Connection| -> Result<()> {
            set_meta(db, "one", 1)?;
            Err(Error::new(ErrorKind::Denied, "its own"))
        };
        let error = sqlite.pool.write_together(work).unwrap_err();
        assert_eq!(error.to_string(), "its own");
    };
    let panics = || {
        let work = |db: &Connection| -> Result<()> {
            set_meta(db, "two", 1)?;
            panic!("its own")
        };
        let panicked = catch_unwind(AssertUnwindSafe(|| sqlite.pool.write_together(work)));
        assert_eq!(panicked.unwrap_err().downcast_ref(), Some(&"its own"));
    };
    let saves: [&(dyn Fn() + Sync); 5] =
        [&|| save("a"), &fails, &|| save("b"), &panics, &|| save("c")];
    for _ in 0..3 {
        at_once(&sqlite, &saves);
        assert_eq!(there(&outside(&path)), 0);
    }
    for key in ["a", "b", "c"] {
        let memory = store.get(&session, key).unwrap().unwrap();
        assert_eq!(memory.version, 3);
    }
    check(&bench.db);
    save("d");
}

#[test]
fn one_that_does_not_fit_leaves_room_for_the_others() {
    let bench = bench();
    let sqlite = bench.sqlite.clone();
    let (store, session) = (bench.store.clone(), bench.sessions[1].clone());
    store.save(&session, Draft::new("small", "v")).unwrap();
    let room = |db: &Connection| {
        let pages: i64 = db.pragma_query_value(None, "page_count", |row| row.get(0))?;
        let set = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
        Ok(db.pragma_update_and_check(None, "max_page_count", pages + 30, set)?)
    };
    sqlite.pool.write(room).unwrap();
    let small = || drop(store.save(&session, Draft::new("small", "v")).unwrap());
    let large = || {
        let draft = Draft::new("large", "w ".repeat(200_000));
        let error = store.save(&session, draft).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Full);
    };
    at_once(&sqlite, &[&small, &large, &small]);
    assert_eq!(store.get(&session, "small").unwrap().unwrap().version, 3);
    assert!(store.get(&session, "large").unwrap().is_none());
    check(&bench.db);
}

#[test]
fn a_leader_that_was_kept_waiting_still_does_its_own_write() {
    let joining = Group::default().joining;
    assert!(takes_more(0, Duration::MAX, joining));
    assert!(takes_more(1, Duration::ZERO, joining));
    assert!(!takes_more(1, joining, joining));
    assert!(!takes_more(usize::MAX, Duration::ZERO, joining));
}
