//! The file is lost, cut, too large, locked or someone else's: a typed error, and a store that works
//! again when the cause is gone.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use strandline::storage::Durability;
use strandline::{Draft, Error, ErrorKind, List, MemoryStore, Search, Session};

use crate::child;
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

fn save(store: &MemoryStore, session: &Session, key: &str) -> Result<(), Error> {
    store.save(session, Draft::new(key, "some words")).map(drop)
}

/// Neither reads nor writes go to a file that is no longer at its path.
fn assert_lost(store: &MemoryStore, session: &Session) {
    // Reads look every 10 ms.
    thread::sleep(Duration::from_millis(20));
    let errors = [
        save(store, session, "lost").unwrap_err(),
        store.get(session, "k").unwrap_err(),
        store.list(session, List::new()).unwrap_err(),
        store.search(session, Search::new("words")).unwrap_err(),
        store.host().stats().unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.kind(), ErrorKind::Io, "{error:?}");
        assert!(
            error
                .to_string()
                .contains("deleted, moved, replaced or emptied")
        );
    }
}

fn assert_works(store: &MemoryStore, session: &Session) {
    assert!(store.get(session, "k").unwrap().is_some());
    assert!(store.get(session, "lost").unwrap().is_none());
    save(store, session, "later").unwrap();
    assert!(store.get(session, "later").unwrap().is_some());
}

#[test]
fn a_file_that_was_moved_is_an_error_until_it_is_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let (store, session) = open(&path);
    save(&store, &session, "k").unwrap();
    let away = folder.path().join("away.db");
    fs::rename(&path, &away).unwrap();
    assert_lost(&store, &session);
    fs::rename(&away, &path).unwrap();
    assert_works(&store, &session);
    drop((session, store));
    assert_sound(&path);
}

#[test]
fn a_folder_that_is_gone_is_an_error_until_it_is_back() {
    let outer = tempfile::tempdir().unwrap();
    let (folder, away) = (outer.path().join("here"), outer.path().join("away"));
    fs::create_dir(&folder).unwrap();
    let (store, session) = open(&folder.join("memory.db"));
    save(&store, &session, "k").unwrap();
    fs::rename(&folder, &away).unwrap();
    assert_lost(&store, &session);
    fs::rename(&away, &folder).unwrap();
    assert_works(&store, &session);
}

#[test]
fn a_file_that_was_deleted_or_replaced_is_an_error_and_a_new_store_works() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let (store, session) = open(&path);
    save(&store, &session, "k").unwrap();
    for sidecar in ["db", "db-wal", "db-shm"] {
        fs::remove_file(path.with_extension(sidecar)).unwrap();
    }
    assert_lost(&store, &session);
    // Another takes its place.
    let (other, other_session) = open(&path);
    assert_lost(&store, &session);
    save(&other, &other_session, "k").unwrap();
    drop((session, store));
    assert_works(&other, &other_session);
    drop((other_session, other));
    assert_sound(&path);
}

#[test]
fn a_file_that_was_cut_is_an_error_until_it_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let (store, session) = open(&path);
    let drafts = (0..500).map(|i| Draft::new(format!("k{i}"), "some words ".repeat(20)));
    store.save_all(&session, drafts).unwrap();
    save(&store, &session, "k").unwrap();
    drop((session, store));
    let whole = fs::read(&path).unwrap();
    let (store, session) = open(&path);
    // By a descriptor that stays open, since to close it would drop this process's locks on the file.
    let file = File::options().write(true).open(&path).unwrap();
    file.set_len(8_192).unwrap();
    let error = store.search(&session, Search::new("words")).unwrap_err();
    assert!(
        matches!(
            error.kind(),
            ErrorKind::Corrupt | ErrorKind::Io | ErrorKind::NotAStore
        ),
        "{error:?}"
    );
    std::os::unix::fs::FileExt::write_all_at(&file, &whole, 0).unwrap();
    assert_works(&store, &session);
    drop((session, store));
    assert_sound(&path);
}

/// A limit of the process instead of the disk, for users who can't mount one.
#[test]
fn a_file_that_may_not_grow_is_full_until_it_may() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let child = child::command("troubles::child_meets_the_limit", &path, "");
    run_in_shell("trap '' XFSZ; ulimit -f 4000; exec \"$0\" \"$@\"", &child);
    let (store, session) = open(&path);
    let page = store.list(&session, List::new().limit(1_000)).unwrap();
    assert!(!page.memories.is_empty());
    assert_eq!(page.next, None);
    save(&store, &session, "later").unwrap();
    drop((session, store));
    assert_sound(&path);
}

fn run_in_shell(script: &str, child: &Command) {
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).arg(child.get_program());
    shell.args(child.get_args());
    for (name, value) in child.get_envs() {
        shell.env(name, value.unwrap());
    }
    shell
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    child::run_all([shell]);
}

#[test]
#[ignore = "run by other tests in a process of its own"]
fn child_meets_the_limit() {
    let Some((path, _)) = child::arguments() else {
        return;
    };
    let (store, session) = open(&path);
    let draft = |i: usize| Draft::new(format!("k{i}"), format!("{i} {}", "word ".repeat(4_000)));
    let failed = (0..).find_map(|i| store.save(&session, draft(i)).err().map(|error| (i, error)));
    let (count, error) = failed.unwrap();
    assert!(
        matches!(error.kind(), ErrorKind::Full | ErrorKind::Io),
        "{error:?}"
    );
    let page = store.list(&session, List::new().limit(1_000)).unwrap();
    assert_eq!(page.memories.len(), count);
}

/// Root isn't bound by modes, so the child is somebody else.
#[test]
fn a_file_or_folder_whose_mode_forbids_to_write_is_an_error_that_names_it() {
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    let path = folder.path().join("memory.db");
    let (store, session) = open(&path);
    save(&store, &session, "k").unwrap();
    drop((session, store));
    let exe = std::env::current_exe().unwrap();
    let program = folder.path().join("tests");
    fs::copy(&exe, &program).unwrap();
    let drop_rights = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    let tried = Command::new("setpriv")
        .args(drop_rights)
        .arg("true")
        .output();
    if !tried.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: this user can't become another one");
        return;
    }
    let mode =
        |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    mode(&program, 0o755);
    for (file_mode, folder_mode, expected) in [
        (0o444, 0o777, "read_only"),
        (0o666, 0o555, "read_only"),
        (0o000, 0o777, "io or read_only"),
        (0o666, 0o777, "none"),
    ] {
        mode(&path, file_mode);
        mode(folder.path(), folder_mode);
        let child = child::command("troubles::child_opens", &path, expected);
        let mut other = Command::new("setpriv");
        other.args(drop_rights).arg(&program).args(child.get_args());
        for (name, value) in child.get_envs() {
            other.env(name, value.unwrap());
        }
        other
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        child::run_all([other]);
    }
}

#[test]
#[ignore = "run by other tests in a process of its own"]
fn child_opens() {
    let Some((path, expected)) = child::arguments() else {
        return;
    };
    match keyed::open(&path) {
        Ok(store) => {
            assert_eq!(expected, "none");
            let session = store.session("s-1", "agent").open().unwrap();
            assert!(store.get(&session, "k").unwrap().is_some());
            save(&store, &session, "k").unwrap();
        }
        Err(error) => {
            let code = error.kind().code();
            assert!(expected.split(" or ").any(|one| one == code), "{error:?}");
            assert!(error.to_string().contains(path.to_str().unwrap()));
        }
    }
}

/// Many savers wait no longer than one for a process that keeps the lock.
#[test]
fn all_that_wait_for_a_lock_are_told_together_that_it_is_busy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    // One after the other would take twelve times as long, on a slow machine, too.
    let timeout = Duration::from_secs(1);
    let store = keyed::builder().busy_timeout(timeout).open(&path).unwrap();
    let session = store.session("s-1", "agent").open().unwrap();
    let lock = keyed::raw(&path).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    let start = Instant::now();
    thread::scope(|scope| {
        for saver in 0..12 {
            let (store, session) = (&store, &session);
            scope.spawn(move || {
                let error = save(store, session, &format!("k{saver}")).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Busy, "{error:?}");
            });
        }
    });
    assert!(start.elapsed() < timeout * 10, "{:?}", start.elapsed());
    lock.execute_batch("ROLLBACK").unwrap();
    save(&store, &session, "k").unwrap();
}

/// A process whose threads save without a pause leaves gaps for another.
#[test]
fn a_process_that_saves_all_the_time_locks_no_other_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let (busy, busy_session) = open(&path);
    let other = keyed::builder()
        .busy_timeout(Duration::from_secs(10))
        .open(&path)
        .unwrap();
    let session = other.session("other", "agent").open().unwrap();
    let done = std::sync::atomic::AtomicBool::new(false);
    thread::scope(|scope| {
        for saver in 0..8 {
            let (busy, busy_session, done) = (&busy, &busy_session, &done);
            scope.spawn(move || {
                while !done.load(std::sync::atomic::Ordering::Relaxed) {
                    save(busy, busy_session, &format!("k{saver}")).unwrap();
                }
            });
        }
        for _ in 0..20 {
            save(&other, &session, "other").unwrap();
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

/// A reader that stays open while 100 MB are saved; what it has seen keeps the log from being emptied.
#[test]
fn a_log_of_100_mb_shrinks_when_its_reader_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let (store, session) = open(&path);
    let wal = || fs::metadata(path.with_extension("db-wal")).unwrap().len();
    let reader = keyed::raw(&path).unwrap();
    reader
        .execute_batch("BEGIN; SELECT count(*) FROM records")
        .unwrap();
    let content = "0123456789 ".repeat(90_000);
    for i in 0..100 {
        store
            .save(&session, Draft::new(format!("k{i}"), content.as_str()))
            .unwrap();
    }
    assert!(wal() > 100 << 20 && wal() < 200 << 20, "{}", wal());
    assert_eq!(
        store.host().stats().unwrap().sizes.unwrap().wal_bytes,
        wal()
    );
    reader.execute_batch("COMMIT").unwrap();
    for i in 0..10 {
        store
            .save(&session, Draft::new(format!("later{i}"), content.as_str()))
            .unwrap();
    }
    assert!(wal() <= 24 << 20, "{}", wal());
}
