//! Backups while others write, and their way back.

mod identity;
mod races;

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use strandline::storage::Durability;
use strandline::{Classification, Draft, ErrorKind, MemoryStore};
use tempfile::TempDir;
use uuid::Uuid;

use crate::child;
use crate::export::{exported, fill, session};
use crate::keyed;
use crate::sound::assert_sound;

struct Place {
    folder: TempDir,
    path: PathBuf,
    backup: PathBuf,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        let backup = folder.path().join("backup.db");
        Self {
            folder,
            path,
            backup,
        }
    }

    fn open(&self) -> MemoryStore {
        let builder = keyed::builder().durability(Durability::Normal);
        builder.open(&self.path).unwrap()
    }

    /// A store that was backed up and closed, and what it exports.
    fn backed_up() -> (Self, Vec<u8>) {
        let place = Self::new();
        let store = place.open();
        fill(&store);
        store.host().backup(&place.backup, |_| ()).unwrap();
        let content = exported(&store);
        (place, content)
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let name = |entry: std::io::Result<fs::DirEntry>| {
            entry.unwrap().file_name().into_string().unwrap()
        };
        let mut names: Vec<_> = entries.map(name).collect();
        names.sort();
        names
    }
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    PathBuf::from(format!("{}{ending}", path.display()))
}

#[test]
fn a_backup_is_one_whole_file_for_its_owner() {
    let place = Place::new();
    let store = place.open();
    fill(&store);
    let expected = exported(&store);
    let mut told = Vec::new();
    let count = store
        .host()
        .backup(&place.backup, |at| told.push(at))
        .unwrap();
    assert_eq!(count, store.host().export(Vec::new()).unwrap());
    assert_eq!(told.last().unwrap().done, told.last().unwrap().total);
    assert!(told[0].total > 10);
    let mode = fs::metadata(&place.backup).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let beside = |name: &String| name.starts_with("backup.db") || name.contains("partial");
    assert_eq!(place.names().into_iter().filter(beside).count(), 1);

    // It needs no WAL: it is read where nothing can be written.
    assert_eq!(keyed::image(&place.backup)[18..20], [1, 1]);
    let other = tempfile::tempdir().unwrap();
    let alone = other.path().join("alone.db");
    fs::copy(&place.backup, &alone).unwrap();
    assert_sound(&alone);
    let copy = keyed::open(&alone).unwrap();
    assert_eq!(exported(&copy), expected);
}

#[test]
fn a_backup_overwrites_nothing() {
    let (place, _) = Place::backed_up();
    let store = place.open();
    let before = fs::read(&place.backup).unwrap();
    let kind = |path: &Path| store.host().backup(path, |_| ()).unwrap_err().kind();
    assert_eq!(kind(&place.backup), ErrorKind::AlreadyExists);
    assert_eq!(kind(&place.path), ErrorKind::AlreadyExists);
    assert_eq!(fs::read(&place.backup).unwrap(), before);
    // An old WAL would become that of the new file.
    let other = place.folder.path().join("other.db");
    for ending in ["-wal", "-shm", "-journal"] {
        fs::write(beside(&other, ending), "old").unwrap();
        assert_eq!(kind(&other), ErrorKind::AlreadyExists, "{ending}");
        fs::remove_file(beside(&other, ending)).unwrap();
    }
    assert_eq!(
        kind(&place.folder.path().join("no/such/folder.db")),
        ErrorKind::Io
    );
    assert_eq!(kind(Path::new("")), ErrorKind::InvalidArgument);
    let partial = |name: &String| name.contains("partial");
    assert!(!place.names().iter().any(partial), "{:?}", place.names());
}

#[test]
fn a_store_without_a_file_says_so() {
    let store = MemoryStore::open_in_memory().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("backup.db");
    let error = store.host().backup(&path, |_| ()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(!path.exists());
}

#[test]
fn a_backup_ends_though_others_write_all_the_time() {
    let place = Place::new();
    let store = place.open();
    let session = session(&store, Classification::Public);
    let text = "word ".repeat(2_000);
    for batch in 0..5 {
        let draft = |i| Draft::new(format!("large {batch} {i}"), format!("{text} {i}"));
        store.save_all(&session, (0..200).map(draft)).unwrap();
    }
    let (stop, saved) = (AtomicBool::new(false), AtomicU64::new(0));
    let mut told = Vec::new();
    thread::scope(|scope| {
        scope.spawn(|| {
            let other = place.open();
            let session = self::session(&other, Classification::Public);
            while !stop.load(Ordering::Relaxed) {
                let number = saved.load(Ordering::Relaxed);
                let pair = ["a", "b"].map(|name| Draft::new(format!("{name} {number}"), "v"));
                other.save_all(&session, pair).unwrap();
                saved.fetch_add(1, Ordering::Relaxed);
            }
        });
        // Between any two steps somebody has written, and the steps go on from where they were.
        let wait = || {
            let before = saved.load(Ordering::Relaxed);
            while saved.load(Ordering::Relaxed) < before + 2 && !stop.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(1));
            }
        };
        let done = store.host().backup(&place.backup, |at| {
            told.push(at);
            // One that begins anew each time would never end.
            stop.fetch_or(told.len() > 200, Ordering::Relaxed);
            wait();
        });
        stop.store(true, Ordering::Relaxed);
        done.unwrap();
    });
    assert!(told.len() > 5, "{}", told.len());
    assert!(told.windows(2).all(|pair| pair[0].done < pair[1].done));
    assert!(told.iter().all(|at| at.total == told[0].total));
    assert_sound(&place.backup);
    let copy = keyed::raw(&place.backup).unwrap();
    let count = |name: &str| -> i64 {
        let sql = format!("SELECT count(*) FROM records WHERE key LIKE '{name} %'");
        copy.query_row(&sql, [], |row| row.get(0)).unwrap()
    };
    assert_eq!(count("a"), count("b"), "it is of one moment");
    assert_eq!(count("large"), 1_000);
}

#[test]
fn what_is_gone_from_the_store_is_in_no_backup() {
    let place = Place::new();
    let store = place.open();
    let session = session(&store, Classification::Public);
    let canary = "canaryzebra";
    let drafts = (0..200).map(|i| Draft::new(format!("k{i}"), format!("{canary} {i} {i}")));
    store.save_all(&session, drafts).unwrap();
    // As a purge does, which leaves free pages and gaps in pages behind.
    let db = keyed::raw(&place.path).unwrap();
    db.execute_batch("PRAGMA secure_delete = ON; PRAGMA foreign_keys = OFF;")
        .unwrap();
    db.execute_batch(
        "DELETE FROM record_tags; DELETE FROM records WHERE content LIKE 'canary%';
         INSERT INTO terms (terms) VALUES ('delete-all'); DELETE FROM index_stats;",
    )
    .unwrap();
    drop(db);
    store.host().backup(&place.backup, |_| ()).unwrap();
    let bytes = keyed::image(&place.backup);
    let has = |text: &str| {
        bytes
            .windows(text.len())
            .any(|part| part == text.as_bytes())
    };
    assert!(!has(canary), "the canary is in the backup");
    assert!(has("at PUBLIC"), "what is still there is");
}

#[test]
fn left_over_parts_are_removed_and_those_in_the_making_are_not() {
    let place = Place::new();
    let store = place.open();
    fill(&store);
    let name = format!(".backup.db.{}.partial", Uuid::new_v4().simple());
    let left = place.folder.path().join(name);
    fs::write(&left, "half of a backup").unwrap();
    fs::write(beside(&left, "-journal"), "half of a journal").unwrap();
    let other = place.folder.path().join(".other.db.partial");
    fs::write(&other, "somebody's").unwrap();
    let second = place.folder.path().join("backup.db");
    let inner = store.clone();
    let mut kinds = Vec::new();
    store
        .host()
        .backup(&place.backup, |_| {
            // One to the same place, meanwhile: neither is in the other's way but for the name.
            kinds.push(inner.host().backup(&second, |_| ()).err().map(|e| e.kind()));
        })
        .unwrap_err();
    assert_eq!(kinds[0], None, "the first to be complete has the name");
    assert_sound(&place.backup);
    assert!(!left.exists() && !beside(&left, "-journal").exists());
    assert!(other.exists());
    let partial = |name: &&String| name.ends_with("partial");
    assert_eq!(place.names().iter().filter(partial).count(), 1);
}

#[test]
fn a_backup_is_restored_whatever_was_there() {
    let (place, content) = Place::backed_up();
    let store = place.open();
    let session = session(&store, Classification::Public);
    store
        .save(&session, Draft::new("later", "than the backup"))
        .unwrap();
    drop((session, store));
    keyed::restore_backup(&place.backup, &place.path).unwrap();
    assert_eq!(place.names(), ["backup.db", "memory.db"]);
    let mode = fs::metadata(&place.path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(exported(&place.open()), content);
    assert_sound(&place.path);

    fs::remove_file(&place.path).unwrap();
    keyed::restore_backup(&place.backup, &place.path).unwrap();
    assert_eq!(exported(&place.open()), content, "where nothing was");

    let mut bytes = fs::read(&place.path).unwrap();
    bytes.truncate(bytes.len() / 2);
    fs::write(&place.path, bytes).unwrap();
    keyed::restore_backup(&place.backup, &place.path).unwrap();
    assert_eq!(exported(&place.open()), content, "where a damaged one was");
}

#[test]
fn a_link_to_the_store_stays_one() {
    let (place, content) = Place::backed_up();
    let link = place.folder.path().join("link.db");
    std::os::unix::fs::symlink(&place.path, &link).unwrap();
    let store = place.open();
    let error = keyed::restore_backup(&place.backup, &link).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Busy);
    let session = session(&store, Classification::Public);
    store.save(&session, Draft::new("later", "v")).unwrap();
    drop((session, store));
    keyed::restore_backup(&place.backup, &link).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(exported(&place.open()), content);
}

#[test]
fn a_closed_store_that_was_copied_is_a_backup_too() {
    let (place, content) = Place::backed_up();
    let copy = place.folder.path().join("copy.db");
    fs::copy(&place.path, &copy).unwrap();
    assert_eq!(keyed::image(&copy)[18..20], [2, 2], "it asks for a WAL");
    keyed::restore_backup(&copy, &place.path).unwrap();
    assert_eq!(place.names(), ["backup.db", "copy.db", "memory.db"]);
    assert_eq!(exported(&place.open()), content);
}

#[test]
fn no_old_wal_is_left_beside_a_restored_store() {
    let (place, content) = Place::backed_up();
    let store = place.open();
    let session = session(&store, Classification::Public);
    store
        .save(&session, Draft::new("later", "than the backup"))
        .unwrap();
    // As a crash leaves them.
    let kept = ["", "-wal", "-shm"].map(|ending| fs::read(beside(&place.path, ending)).unwrap());
    drop((session, store));
    for (there, what) in [(true, "with its store"), (false, "alone")] {
        let [database, wal, shm] = &kept;
        if there {
            fs::write(&place.path, database).unwrap();
        } else {
            fs::remove_file(&place.path).unwrap();
        }
        fs::write(beside(&place.path, "-wal"), wal).unwrap();
        fs::write(beside(&place.path, "-shm"), shm).unwrap();
        fs::write(beside(&place.path, "-journal"), "").unwrap();
        keyed::restore_backup(&place.backup, &place.path).unwrap();
        assert_eq!(place.names(), ["backup.db", "memory.db"], "{what}");
        assert_eq!(exported(&place.open()), content, "{what}");
    }
}

#[test]
fn a_store_that_is_open_is_not_replaced() {
    let (place, _) = Place::backed_up();
    let store = place.open();
    let session = session(&store, Classification::Public);
    store
        .save(&session, Draft::new("later", "than the backup"))
        .unwrap();
    let error = keyed::restore_backup(&place.backup, &place.path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Busy);
    assert!(error.to_string().contains("memory.db"));
    store.save(&session, Draft::new("again", "v")).unwrap();
    assert!(store.get(&session, "later").unwrap().is_some());
    drop((session, store));
    let command = child::command("backup::child_finds_it_open", &place.path, "");
    let store = place.open();
    child::run_all([command]);
    drop(store);
    keyed::restore_backup(&place.backup, &place.path).unwrap();
}

/// In another process, which has no part in the locks of the first.
#[test]
#[ignore = "run by other tests in a process of its own"]
fn child_finds_it_open() {
    let Some((path, _)) = child::arguments() else {
        return;
    };
    let backup = path.with_file_name("backup.db");
    let error = keyed::restore_backup(&backup, &path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Busy);
}

/// Restores a changed backup, which must be refused with the target untouched.
fn refused(place: &Place, what: &str, change: impl Fn(&Path)) -> ErrorKind {
    let changed = place.folder.path().join("changed.db");
    fs::copy(&place.backup, &changed).unwrap();
    change(&changed);
    let before = fs::read(&place.path).unwrap();
    let Err(error) = keyed::restore_backup(&changed, &place.path) else {
        panic!("{what}: it was restored")
    };
    assert_eq!(fs::read(&place.path).unwrap(), before, "{what}");
    fs::remove_file(&changed).unwrap();
    for ending in ["-wal", "-shm", "-journal"] {
        drop(fs::remove_file(beside(&changed, ending)));
    }
    assert_eq!(place.names(), ["backup.db", "memory.db"], "{what}");
    error.kind()
}

fn sql(path: &Path, sql: &str) {
    keyed::raw(path).unwrap().execute_batch(sql).unwrap();
}

#[test]
fn what_is_no_backup_is_refused_before_anything_is_touched() {
    let (place, _) = Place::backed_up();
    let newer = |path: &Path| sql(path, "PRAGMA user_version = 2");
    assert_eq!(refused(&place, "newer", newer), ErrorKind::NewerVersion);
    let newer = |path: &Path| sql(path, "UPDATE meta SET value = 999 WHERE name = 'analysis'");
    assert_eq!(
        refused(&place, "newer index", newer),
        ErrorKind::NewerVersion
    );
    let foreign = |path: &Path| sql(path, "PRAGMA application_id = 77");
    assert_eq!(refused(&place, "foreign", foreign), ErrorKind::NotAStore);
    let text = |path: &Path| fs::write(path, "words ".repeat(1_000)).unwrap();
    assert_eq!(refused(&place, "text", text), ErrorKind::NotAStore);
    let empty = |path: &Path| fs::write(path, "").unwrap();
    assert_eq!(refused(&place, "empty", empty), ErrorKind::NotAStore);
    let wal = |path: &Path| fs::write(beside(path, "-wal"), "content").unwrap();
    assert_eq!(refused(&place, "with a WAL", wal), ErrorKind::NotAStore);
    let open = place.folder.path().join("memory.db");
    let store = keyed::open(&open).unwrap();
    let other = tempfile::tempdir().unwrap();
    let error = keyed::restore_backup(&open, other.path().join("new.db")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotAStore, "a store in use");
    assert_eq!(fs::read_dir(other.path()).unwrap().count(), 0);
    drop(store);
    let missing = place.folder.path().join("missing.db");
    let error = keyed::restore_backup(&missing, &place.path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
}

#[test]
fn a_damaged_backup_is_refused() {
    let (place, _) = Place::backed_up();
    let whole = fs::read(&place.backup).unwrap();
    let damaged = |kind| matches!(kind, ErrorKind::Corrupt | ErrorKind::NotAStore);
    for length in [
        1,
        50,
        4_096,
        10_000,
        whole.len() / 2,
        whole.len() - 4_096,
        whole.len() - 1,
    ] {
        let cut = |path: &Path| fs::write(path, &whole[..length]).unwrap();
        assert!(damaged(refused(&place, &format!("cut at {length}"), cut)));
    }
    for page in 0..whole.len() / 4_096 {
        let flip = |path: &Path| {
            let mut bytes = whole.clone();
            for byte in &mut bytes[page * 4_096..(page + 1) * 4_096] {
                *byte = !*byte;
            }
            fs::write(path, bytes).unwrap();
        };
        let kind = refused(&place, &format!("page {page}"), flip);
        // Without its first page, nothing tells a file from an encrypted one of another key.
        let is_unreadable = page == 0 && kind == ErrorKind::WrongKey;
        assert!(damaged(kind) || is_unreadable, "page {page}: {kind:?}");
    }
}

#[test]
fn a_backup_whose_index_is_damaged_is_restored_and_mended() {
    let (place, content) = Place::backed_up();
    sql(&place.backup, "DELETE FROM terms_data WHERE id > 10");
    keyed::restore_backup(&place.backup, &place.path).unwrap();
    let store = place.open();
    assert_eq!(exported(&store), content);
    let session = session(&store, Classification::Restricted);
    let hits = store
        .search(&session, strandline::Search::new("word2"))
        .unwrap();
    assert_eq!(hits[0].memory.key.as_str(), "own 2");
    drop((session, store));
    assert_sound(&place.path);
}

#[test]
fn another_programs_file_is_not_replaced() {
    let (place, _) = Place::backed_up();
    for (name, content) in [
        ("notes.txt", Some("words ".repeat(500))),
        ("notes.db", None),
    ] {
        let path = place.folder.path().join(name);
        match content {
            Some(text) => fs::write(&path, text).unwrap(),
            None => sql(
                &path,
                "CREATE TABLE notes (text); INSERT INTO notes VALUES ('mine')",
            ),
        }
        let before = fs::read(&path).unwrap();
        let error = keyed::restore_backup(&place.backup, &path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotAStore, "{name}");
        assert_eq!(fs::read(&path).unwrap(), before, "{name}");
    }
    let error = keyed::restore_backup(&place.backup, place.folder.path()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotAStore);
}

#[test]
fn a_kill_in_the_middle_leaves_the_old_store_or_the_new() {
    let (place, content) = Place::backed_up();
    let store = place.open();
    let session = session(&store, Classification::Public);
    store
        .save(&session, Draft::new("later", "than the backup"))
        .unwrap();
    let later = exported(&store);
    drop((session, store));
    let files = fs::read(&place.path).unwrap();
    // Before it begins, at moments of chance, and once it is done.
    for round in 0..=30_u64 {
        fs::write(&place.path, &files).unwrap();
        let name = "backup::child_restores_and_backs_up";
        let mut child = child::command(name, &place.path, "").spawn().unwrap();
        let mut said = child.stderr.take().unwrap();
        if round > 0 {
            child::go(&mut child);
            let until = if round == 30 { b'r' } else { b'b' };
            let mut byte = [0];
            while byte[0] != until {
                said.read_exact(&mut byte).unwrap();
            }
            thread::sleep(Duration::from_micros(round * 250));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let found = exported(&place.open());
        assert!(found == content || found == later, "round {round}");
        assert!(round > 0 || found == later, "nothing had begun");
        assert!(round < 30 || found == content, "all was done");
        let second = place.folder.path().join("second.db");
        if second.exists() {
            assert_sound(&second);
            fs::remove_file(&second).unwrap();
        }
        // What is left over is in nobody's way.
        drop(keyed::open(&place.path).unwrap());
        keyed::restore_backup(&place.backup, &place.path).unwrap();
        place.open().host().backup(&second, |_| ()).unwrap();
        fs::remove_file(&second).unwrap();
        assert_eq!(place.names(), ["backup.db", "memory.db"], "round {round}");
    }
}

#[test]
#[ignore = "run by other tests in a process of its own"]
fn child_restores_and_backs_up() {
    let Some((path, _)) = child::arguments() else {
        return;
    };
    let backup = path.with_file_name("backup.db");
    child::say("begins");
    keyed::restore_backup(&backup, &path).unwrap();
    child::say("restored");
    let store = keyed::open(&path).unwrap();
    let second = path.with_file_name("second.db");
    store.host().backup(second, |_| ()).unwrap();
    thread::sleep(Duration::from_secs(60));
}
