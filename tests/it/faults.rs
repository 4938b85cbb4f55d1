//! The disk is full, the file can't be written, the index is damaged, a host's code panics.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use chrono::{DateTime, Utc};
use strandline::audit::Action;
use strandline::policy::{Denial, Request, Rule};
use strandline::storage::Durability;
use strandline::{
    Classification, Clock, Draft, Error, ErrorKind, List, MemoryStore, Search, Session,
};

use crate::keyed;
use crate::sound::assert_sound;

fn open(path: &Path) -> (MemoryStore, Session) {
    let store = keyed::builder()
        .durability(Durability::Normal)
        .open(path)
        .unwrap();
    let session = store.session("s-1", "agent").open().unwrap();
    (store, session)
}

/// A file system of its own in memory, unmounted at the end. `None`, with the reason printed, where
/// this user may not mount one.
struct Mount(tempfile::TempDir);

impl Mount {
    fn new(size: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
            .arg(folder.path())
            .output();
        match mount {
            Ok(output) if output.status.success() => return Some(Self(folder)),
            Ok(output) => eprint!("skipped: {}", String::from_utf8_lossy(&output.stderr)),
            Err(error) => eprintln!("skipped: no mount command: {error}"),
        }
        None
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn remount(&self, options: &str) {
        let status = Command::new("mount")
            .args(["-o", options])
            .arg(self.path())
            .status();
        assert!(status.unwrap().success());
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        drop(
            Command::new("umount")
                .arg("--lazy")
                .arg(self.path())
                .status(),
        );
    }
}

#[test]
fn a_full_disk_is_an_error_and_nothing_is_lost() {
    let Some(disk) = Mount::new("2m") else {
        return;
    };
    let filler = disk.path().join("filler");
    fs::write(&filler, vec![0; 600_000]).unwrap();
    let path = disk.path().join("memory.db");
    let (store, session) = open(&path);
    let draft = |i: usize| Draft::new(format!("k{i:04}"), format!("{i} {}", "word ".repeat(800)));
    let (count, error) = (0..)
        .find_map(|i| store.save(&session, draft(i)).err().map(|error| (i, error)))
        .unwrap();
    assert_full(&error);
    assert!(count > 10, "only {count} fit");
    let there = |count: usize| {
        let page = store.list(&session, List::new().limit(1_000)).unwrap();
        let keys: Vec<_> = page
            .memories
            .iter()
            .map(|m| m.key.as_str().to_owned())
            .collect();
        assert!(keys.into_iter().eq((0..count).map(|i| format!("k{i:04}"))));
    };
    there(count);
    assert!(store.get(&session, "k0003").unwrap().is_some());
    assert_eq!(
        store.search(&session, Search::new("word")).unwrap().len(),
        10
    );
    // A batch that doesn't fit is not there in part.
    assert_full(
        &store
            .save_all(&session, (5_000..5_100).map(draft))
            .unwrap_err(),
    );
    there(count);

    fs::remove_file(filler).unwrap();
    store.delete(&session, "k0003").unwrap();
    store.save(&session, Draft::new("k0003", "small")).unwrap();
    there(count);
    drop((session, store));
    assert_sound(&path);
}

fn assert_full(error: &Error) {
    assert_eq!(error.kind(), ErrorKind::Full, "{error:?}");
    assert!(error.is_retryable());
}

#[test]
fn a_read_only_file_system_is_an_error_that_names_the_file() {
    let Some(disk) = Mount::new("4m") else {
        return;
    };
    let (path, new) = (disk.path().join("memory.db"), disk.path().join("new.db"));
    drop(open(&path));
    disk.remount("remount,ro");
    for path in [path, new] {
        let error = keyed::open(&path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ReadOnly, "{error:?}");
        assert!(error.to_string().contains(path.to_str().unwrap()));
    }
}

/// A file or folder that no one can change; root isn't bound by mode bits. `None`, with the reason
/// printed, where this user or file system has no such thing.
struct Immutable<'p>(&'p Path);

impl<'p> Immutable<'p> {
    fn new(path: &'p Path) -> Option<Self> {
        match Command::new("chattr").arg("+i").arg(path).output() {
            Ok(output) if output.status.success() => return Some(Self(path)),
            Ok(output) => eprint!("skipped: {}", String::from_utf8_lossy(&output.stderr)),
            Err(error) => eprintln!("skipped: no chattr command: {error}"),
        }
        None
    }
}

impl Drop for Immutable<'_> {
    fn drop(&mut self) {
        drop(Command::new("chattr").arg("-i").arg(self.0).status());
    }
}

#[test]
fn a_file_that_cannot_be_written_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    drop(open(&path));
    let Some(_immutable) = Immutable::new(&path) else {
        return;
    };
    let error = keyed::open(&path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ReadOnly, "{error:?}");
    assert!(error.to_string().contains(path.to_str().unwrap()));
}

#[test]
fn a_folder_that_cannot_be_written_is_an_error_that_names_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (folder.path().join("old.db"), folder.path().join("new.db"));
    drop(open(&old));
    let Some(_immutable) = Immutable::new(folder.path()) else {
        return;
    };
    for (path, kind) in [(old, ErrorKind::Io), (new, ErrorKind::ReadOnly)] {
        let error = keyed::open(&path).unwrap_err();
        assert_eq!(error.kind(), kind, "{error:?}");
        assert!(error.to_string().contains(path.to_str().unwrap()));
    }
}

/// The tables that FTS5 keeps the index in.
fn damage(path: &Path, sql: &str) {
    let db = keyed::raw(path).unwrap();
    // FTS5 guards its tables against SQL, unless told otherwise.
    db.set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false)
        .unwrap();
    assert!(db.execute(sql, []).unwrap() > 0);
}

/// A store of memories that are found by `word` and by a number, made by two sessions.
fn filled(path: &Path) -> (MemoryStore, Session, Session) {
    let (store, low) = open(path);
    let high = store
        .session("s-2", "agent")
        .taint(Classification::Internal)
        .open()
        .unwrap();
    for i in 0..40 {
        let session = if i % 2 == 0 { &low } else { &high };
        store
            .save(
                session,
                Draft::new(format!("k{i}"), format!("word number{i}")),
            )
            .unwrap();
    }
    store.save(&high, Draft::new("k0", "word above")).unwrap();
    (store, low, high)
}

fn keys(store: &MemoryStore, session: &Session, query: &str) -> Vec<String> {
    let hits = store
        .search(session, Search::new(query).max_results(100))
        .unwrap();
    let mut keys: Vec<_> = hits
        .iter()
        .map(|hit| hit.memory.key.as_str().to_owned())
        .collect();
    keys.sort();
    keys
}

/// Ways in which the index's own tables can be wrong, that FTS5 notices.
const DAMAGES: [&str; 7] = [
    "DELETE FROM terms_data WHERE id > 10",
    "DELETE FROM terms_data WHERE id = 10",
    "UPDATE terms_data SET block = zeroblob(length(block)) WHERE id > 10",
    "UPDATE terms_data SET block = substr(block, 1, 6) WHERE id > 10",
    "UPDATE terms_data SET block = x'ffffffffffffffffffffffffffffffff' WHERE id = 10",
    "UPDATE terms_data SET block = x'ffffffffffffffffffff' WHERE id > 10",
    // FTS5 takes this one's word for how much memory it needs.
    "UPDATE terms_data SET block = x'71309d2381741ce503c131ca93fcdca32dcf10f2a2ef3bd3924a3421e9c613e4\
     c2e43524dbde09d29906904d99e523a6946e14501c' WHERE id = 10",
];

#[test]
fn a_damaged_index_is_made_anew_by_what_notices_it() {
    for sql in DAMAGES {
        for first in ["search", "save", "delete"] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("memory.db");
            drop(filled(&path));
            damage(&path, sql);
            let (store, low) = open(&path);
            assert_eq!(
                store.get(&low, "k2").unwrap().unwrap().content,
                "word number2"
            );
            let left = match first {
                "search" => 20,
                "save" => {
                    store.save(&low, Draft::new("k2", "word number2")).unwrap();
                    20
                }
                _ => {
                    store.delete(&low, "k2").unwrap();
                    19
                }
            };
            assert_eq!(
                keys(&store, &low, "word").len(),
                left,
                "{first} after {sql}"
            );
            let best = &store.search(&low, Search::new("number4")).unwrap()[0];
            assert_eq!(best.memory.key.as_str(), "k4");
            drop((low, store));
            assert_sound(&path);
        }
    }
}

/// One changed byte within a list of rows can go unnoticed, and a memory then isn't found. What is
/// found is a session's own all the same.
#[test]
fn a_changed_byte_in_the_index_shows_no_one_what_is_not_theirs() {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole.db");
    drop(filled(&whole));
    let mut found_all = 0;
    for at in (1..400).step_by(10) {
        let path = folder.path().join(format!("damaged-{at}.db"));
        fs::copy(&whole, &path).unwrap();
        let last = "id = (SELECT max(id) FROM terms_data)";
        let byte = format!("x'{:02x}'", at * 37 % 256);
        let around = format!("substr(block, 1, {at} - 1) || {byte} || substr(block, {at} + 1)");
        damage(
            &path,
            &format!("UPDATE terms_data SET block = CAST({around} AS BLOB) WHERE {last}"),
        );
        let (store, low) = open(&path);
        assert_eq!(
            store.get(&low, "k2").unwrap().unwrap().content,
            "word number2"
        );
        let hits = store
            .search(&low, Search::new("word number4").max_results(100))
            .unwrap();
        for hit in &hits {
            let key = hit.memory.key.as_str();
            assert_eq!(hit.memory.classification, Classification::Public);
            assert_eq!(store.get(&low, key).unwrap().as_ref(), Some(&hit.memory));
        }
        found_all += usize::from(hits.len() == 20);
    }
    assert!(found_all > 30, "only {found_all} of 40");
}

/// A host's own code, which panics when told to.
#[derive(Debug, Default)]
struct Host {
    panics_on: std::sync::Mutex<Option<Action>>,
    clock_panics: AtomicBool,
    micros: AtomicU64,
}

impl Rule for Host {
    fn judge(&self, request: &Request<'_>) -> Option<Denial> {
        let wanted = *self
            .panics_on
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        assert!(wanted != Some(request.action), "a rule of the host fails");
        None
    }
}

impl Clock for Host {
    fn now(&self) -> DateTime<Utc> {
        assert!(
            !self.clock_panics.load(Ordering::Relaxed),
            "the host's clock fails"
        );
        let micros = self.micros.fetch_add(1, Ordering::Relaxed);
        DateTime::from_timestamp_micros(micros.try_into().unwrap()).unwrap()
    }
}

#[test]
fn a_panic_in_a_hosts_code_breaks_that_call_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let host = Arc::new(Host::default());
    let builder = keyed::builder().rule(host.clone()).clock(host.clone());
    let store = builder.durability(Durability::Normal).open(&path).unwrap();
    let session = store.session("s-1", "agent").open().unwrap();
    store.save(&session, Draft::new("k", "before")).unwrap();
    let never = || Draft::new("never", "saved");
    let calls: [(Action, &dyn Fn()); 8] = [
        (Action::Save, &|| drop(store.save(&session, never()))),
        (Action::Save, &|| {
            drop(store.save_all(&session, [never(), never()]));
        }),
        (Action::Get, &|| drop(store.get(&session, "k"))),
        (Action::List, &|| drop(store.list(&session, List::new()))),
        (Action::Search, &|| {
            drop(store.search(&session, Search::new("before")));
        }),
        (Action::Delete, &|| drop(store.delete(&session, "k"))),
        (Action::Raise, &|| {
            drop(session.raise(Classification::Internal, "a reason"));
        }),
        (Action::Open, &|| drop(store.session("s-2", "agent").open())),
    ];
    let panics = |call: &dyn Fn()| catch_unwind(AssertUnwindSafe(call)).is_err();
    for (action, call) in calls {
        *host.panics_on.lock().unwrap() = Some(action);
        assert!(panics(call), "{action:?}");
        *host.panics_on.lock().unwrap() = None;
        host.clock_panics.store(true, Ordering::Relaxed);
        assert!(panics(call), "{action:?} by the clock");
        host.clock_panics.store(false, Ordering::Relaxed);
    }
    // Drafts come from an iterator of the host's.
    let drafts = (0..2).map(|i| {
        if i == 0 {
            never()
        } else {
            panic!("an iterator fails")
        }
    });
    assert!(panics(&|| drop(store.save_all(&session, drafts.clone()))));
    assert_works(&store, &session);
    drop((session, store));
    assert_sound(&path);
}

/// Other threads read, raise, open and save as if nothing had been.
fn assert_works(store: &MemoryStore, session: &Session) {
    thread::scope(|scope| {
        scope.spawn(|| {
            assert_eq!(store.get(session, "k").unwrap().unwrap().content, "before");
            assert!(store.get(session, "never").unwrap().is_none());
            store.save(session, Draft::new("k", "after")).unwrap();
            store.delete(session, "k").unwrap();
        });
        scope.spawn(|| {
            let session = store.session("s-3", "agent").open().unwrap();
            session
                .raise(Classification::Restricted, "a reason")
                .unwrap();
            store.save(&session, Draft::new("k", "above")).unwrap();
        });
    });
}

/// Small saves; each leaves some 100 kB in the WAL.
fn save_many(store: &MemoryStore, session: &Session, count: usize) {
    for i in 0..count {
        store
            .save(
                session,
                Draft::new(format!("k{i}"), format!("memory number {i}")),
            )
            .unwrap();
    }
}

fn wal(path: &Path) -> u64 {
    fs::metadata(path.with_extension("db-wal")).unwrap().len()
}

/// A snapshot that stays open makes the WAL grow. Once it is closed, the WAL shrinks again.
#[test]
fn the_wal_shrinks_after_a_reader_that_stayed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let (store, session) = open(&path);
    let reader = keyed::raw(&path).unwrap();
    reader
        .execute_batch("BEGIN; SELECT count(*) FROM records")
        .unwrap();
    save_many(&store, &session, 300);
    assert!(wal(&path) > 12 << 20, "{}", wal(&path));
    reader.execute_batch("COMMIT").unwrap();
    save_many(&store, &session, 100);
    assert!(wal(&path) <= 8 << 20, "{}", wal(&path));
}

#[test]
fn the_wal_stays_small_while_readers_come_and_go() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let (store, session) = open(&path);
    store
        .save_all(
            &session,
            (0..200).map(|i| Draft::new(format!("r{i}"), "read me")),
        )
        .unwrap();
    let done = AtomicBool::new(false);
    let mut largest = 0;
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    store.list(&session, List::new().limit(200)).unwrap();
                }
            });
        }
        for _ in 0..10 {
            save_many(&store, &session, 50);
            largest = largest.max(wal(&path));
        }
        done.store(true, Ordering::Relaxed);
    });
    assert!(largest < 24 << 20, "{largest}");
}
