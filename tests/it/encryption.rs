//! Stores with a key: what is on the disk, what opens them, and another key for them.

mod rekey;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use strandline::audit::{Anchor, Verification};
use strandline::storage::{EncryptionKey, SqliteOptions};
use strandline::{Classification, Draft, Error, ErrorKind, MemoryStore, Search, StoreBuilder};
use tempfile::TempDir;

use crate::export::{exported, fill, observed};
use crate::sound::assert_sound;
use crate::{child, disk, keyed};

const CANARY: &str = "xqcanary";

fn plain() -> StoreBuilder {
    MemoryStore::builder() // plain: a store that has no key, beside those that have
}

fn other() -> StoreBuilder {
    plain().key(EncryptionKey::raw(&[9; 32]))
}

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    (folder, path)
}

/// A store that was filled and closed. What it exports, and the end of its audit.
fn filled(builder: &StoreBuilder, path: &Path) -> (Vec<u8>, Anchor) {
    let store = builder.clone().open(path).unwrap();
    fill(&store);
    (exported(&store), anchor(&store))
}

fn anchor(store: &MemoryStore) -> Anchor {
    match store.host().verify(None).unwrap() {
        Verification::Sound(anchor) => anchor,
        found @ Verification::Broken(_) => panic!("{found:?}"),
    }
}

/// The files in a folder with what is in them.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let with_content = |path: PathBuf| {
        let content = fs::read(&path).unwrap();
        (path, content)
    };
    paths.into_iter().map(with_content).collect()
}

/// The error of what must change no file of the folder, and is about the path.
fn untouched<T>(folder: &Path, path: &Path, act: impl FnOnce() -> Result<T, Error>) -> Error {
    let before = files(folder);
    let Err(error) = act() else {
        panic!("it was done");
    };
    assert!(files(folder) == before, "a file was changed: {error}");
    let text = format!("{error} {error:?}");
    assert!(text.contains(path.to_str().unwrap()), "{text}");
    error
}

fn wrong_key(error: &Error, says: &str) {
    assert_eq!(error.kind(), ErrorKind::WrongKey, "{error:?}");
    assert!(error.to_string().contains(says), "{error}");
}

fn has(bytes: &[u8], text: &str) -> bool {
    let text = text.as_bytes();
    let begins = |part: &[u8]| part.eq_ignore_ascii_case(text);
    bytes.windows(text.len()).any(begins)
}

#[test]
#[ignore = "run by other tests in a process of its own"]
fn child_does_everything() {
    let Some((path, how)) = child::arguments() else {
        return;
    };
    let builder = if how == "plain" {
        plain()
    } else {
        keyed::builder()
    };
    let store = builder.clone().lineage(true).open(&path).unwrap();
    let session = store.session(format!("{CANARY}-s"), format!("{CANARY}-a"));
    let session = session.taint(Classification::Internal).open().unwrap();
    for number in 0..200 {
        let draft = Draft::new(
            format!("{CANARY} {number}"),
            format!("{CANARY} text ").repeat(40),
        );
        store
            .save(&session, draft.tag(format!("{CANARY}-tag")))
            .unwrap();
    }
    session.raise(Classification::Restricted, CANARY).unwrap();
    let hits = store.search(&session, Search::new(CANARY)).unwrap();
    assert!(!hits.is_empty());
    let host = store.host();
    host.reindex().unwrap();
    assert_eq!(host.check().unwrap(), []);
    for number in 0..50 {
        host.erase(&format!("{CANARY}-a"), &format!("{CANARY} {number}"))
            .unwrap();
    }
    let backup = path.with_file_name("backup.db");
    host.backup(&backup, |_| ()).unwrap();
    drop((session, host, store));
    builder.restore_backup(&backup, &path).unwrap();
    if how != "plain" {
        builder.rekey(&path, Some(keyed::key())).unwrap();
    }
    drop(builder.open(&path).unwrap());
}

/// All that a process writes, wherever it removes it again: the bytes of each write to the disk.
fn written(how: &str) -> Vec<u8> {
    let (tools, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (log, temporary) = (tools.path().join("log"), folder.path().join("temporary"));
    fs::create_dir(&temporary).unwrap();
    let path = folder.path().join("memory.db");
    let mut command = child::command("encryption::child_does_everything", &path, how);
    command
        .env("TMPDIR", &temporary)
        .env("SQLITE_TMPDIR", &temporary);
    disk::watched(&mut command, tools.path(), folder.path(), Some(&log));
    child::run_all([command]);
    fs::read(log).unwrap()
}

#[test]
fn no_byte_that_reaches_the_disk_is_plain() {
    assert!(has(&written("plain"), CANARY), "the test sees nothing");
    let encrypted = written("keyed");
    assert!(encrypted.len() > 1_000_000);
    for text in [CANARY, "SQLite format", "CREATE TABLE"] {
        assert!(!has(&encrypted, text), "{text}");
    }
}

#[test]
fn the_files_of_an_open_store_and_its_backup_are_not_plain() {
    let (folder, path) = place();
    let store = keyed::open(&path).unwrap();
    let session = store.session(CANARY, CANARY).open().unwrap();
    store
        .save(&session, Draft::new(CANARY, CANARY).tag(CANARY))
        .unwrap();
    let mut during = 0;
    let backup = folder.path().join("backup.db");
    let look = |_| {
        for (path, content) in files(folder.path()) {
            assert!(!has(&content, CANARY), "{}", path.display());
            assert!(!has(&content, "SQLite format"), "{}", path.display());
            during += 1;
        }
    };
    store.host().backup(&backup, look).unwrap();
    // The file, its WAL, the shared memory, and the backup in the making.
    assert!(during >= 4, "{during}");
    assert!(!has(&fs::read(&backup).unwrap(), CANARY));
    assert_eq!(
        store.get(&session, CANARY).unwrap().unwrap().content,
        CANARY
    );
    // A backup of the same pages under the same key, but another salt, has no page in common.
    let start = |path: &Path| fs::read(path).unwrap()[..16].to_vec();
    assert_ne!(start(&path), start(&backup));
}

#[test]
fn without_its_key_a_file_is_refused_untouched() {
    let (folder, path) = place();
    let (content, _) = filled(&keyed::builder(), &path);
    let error = untouched(folder.path(), &path, || plain().open(&path));
    wrong_key(&error, "it is encrypted, and opening it takes its key");
    let error = untouched(folder.path(), &path, || other().open(&path));
    wrong_key(&error, "the key is not that of the file");
    assert_eq!(error.kind().code(), "wrong_key");
    assert!(!error.is_retryable());
    let passphrase = EncryptionKey::passphrase("5a5a5a").unwrap();
    let error = untouched(folder.path(), &path, || plain().key(passphrase).open(&path));
    wrong_key(&error, "the key is not that of the file");
    assert_eq!(exported(&keyed::open(&path).unwrap()), content);
    assert_sound(&path);
}

#[test]
fn a_plain_file_is_refused_untouched_with_a_key() {
    for close in [true, false] {
        let (folder, path) = place();
        let store = plain().open(&path).unwrap();
        fill(&store);
        let content = exported(&store);
        let kept = (!close).then_some(store);
        // Where it's open, SQLite's marks of who reads are in the shared memory.
        let error = if close {
            untouched(folder.path(), &path, || keyed::open(&path))
        } else {
            keyed::open(&path).unwrap_err()
        };
        wrong_key(&error, "it is not encrypted; open it without a key");
        drop(kept);
        assert_eq!(exported(&plain().open(&path).unwrap()), content);
    }
}

/// Closing any descriptor of a file would drop the locks that its other connections have.
#[test]
fn a_refusal_leaves_an_open_store_its_locks_and_its_wal() {
    let (_folder, path) = place();
    let store = keyed::open(&path).unwrap();
    fill(&store);
    let wal = path.with_extension("db-wal");
    let before = (fs::read(&path).unwrap().len(), fs::read(&wal).unwrap());
    for builder in [plain(), other()] {
        assert_eq!(builder.open(&path).unwrap_err().kind(), ErrorKind::WrongKey);
    }
    assert!((fs::read(&path).unwrap().len(), fs::read(&wal).unwrap()) == before);
    let session = store.session("s", "agent").open().unwrap();
    store.save(&session, Draft::new("k", "v")).unwrap();
    drop((session, store));
    assert_sound(&path);
}

#[test]
fn what_a_kill_left_in_the_wal_survives_a_wrong_key() {
    let ((_folder, path), (copies, copy)) = (place(), place());
    let store = keyed::open(&path).unwrap();
    fill(&store);
    let content = exported(&store);
    let wal = |path: &Path| path.with_extension("db-wal");
    fs::copy(&path, &copy).unwrap();
    fs::copy(wal(&path), wal(&copy)).unwrap();
    assert!(fs::metadata(wal(&copy)).unwrap().len() > 0);
    let before = (fs::read(&copy).unwrap(), fs::read(wal(&copy)).unwrap());
    for builder in [plain(), other()] {
        assert_eq!(
            builder.clone().open(&copy).unwrap_err().kind(),
            ErrorKind::WrongKey
        );
        let refused = builder.rekey(&copy, Some(keyed::key())).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::WrongKey);
        assert!((fs::read(&copy).unwrap(), fs::read(wal(&copy)).unwrap()) == before);
    }
    keyed::builder()
        .rekey(&copy, Some(EncryptionKey::raw(&[9; 32])))
        .unwrap();
    assert_eq!(files(copies.path()).len(), 1, "only the store is left");
    assert_eq!(exported(&other().open(&copy).unwrap()), content);
}

#[test]
fn garbage_is_no_store_with_or_without_a_key() {
    let (folder, path) = place();
    for length in [3, 1_000, 4_097] {
        fs::write(&path, "x".repeat(length)).unwrap();
        for builder in [plain(), keyed::builder()] {
            let error = untouched(folder.path(), &path, || builder.open(&path));
            assert_eq!(error.kind(), ErrorKind::NotAStore, "{length}");
        }
    }
}

#[test]
fn any_passphrase_opens_what_it_made_and_nothing_else() {
    let long = "a long passphrase, ".repeat(20);
    let odd = [
        "p",
        "it's",
        "''; DROP TABLE records; --",
        "\"x\"",
        "пароль 密碼",
        "a\nb",
        "%s ?1",
        &long,
    ];
    for passphrase in odd {
        let (_folder, path) = place();
        let key = || EncryptionKey::passphrase(passphrase).unwrap();
        let store = plain().key(key()).open(&path).unwrap();
        let session = store.session("s", "agent").open().unwrap();
        store.save(&session, Draft::new("k", "v")).unwrap();
        drop((session, store));
        let near = EncryptionKey::passphrase(&format!("{passphrase} ")).unwrap();
        let error = plain().key(near).open(&path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WrongKey);
        assert!(!format!("{error} {error:?}").contains(passphrase) || passphrase == "p");
        let store = plain().key(key()).open(&path).unwrap();
        let session = store.session("s", "agent").open().unwrap();
        assert!(store.get(&session, "k").unwrap().is_some());
    }
    let raw = format!("x'{}'", "5a".repeat(32));
    for bad in ["", "a\0b", raw.as_str(), "X''"] {
        let error = EncryptionKey::passphrase(bad).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.to_string().contains("`passphrase`"));
    }
}

#[test]
fn a_key_is_in_no_debug_form() {
    let key = EncryptionKey::passphrase("opensesame").unwrap();
    let options = SqliteOptions {
        key: Some(key.clone()),
        ..keyed::options()
    };
    let builder = plain().key(key.clone());
    let text = format!(
        "{key:?} {key:#?} {options:?} {builder:?} {:?}",
        EncryptionKey::raw(&[0x5a; 32])
    );
    for part in ["opensesame", "5a5a", "90, 90", "PRAGMA"] {
        assert!(!text.contains(part), "{text}");
    }
}

#[test]
#[ignore = "run by other tests in a process of its own"]
fn child_has_the_wrong_key() {
    let Some((path, _)) = child::arguments() else {
        return;
    };
    assert_eq!(other().open(&path).unwrap_err().kind(), ErrorKind::WrongKey);
}

#[test]
fn nothing_is_said_on_the_standard_error_of_the_process() {
    let (_folder, path) = place();
    filled(&keyed::builder(), &path);
    let mut child = child::command("encryption::child_has_the_wrong_key", &path, "");
    let mut child = child.spawn().unwrap();
    child::go(&mut child);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let said = String::from_utf8_lossy(&output.stderr).to_lowercase();
    assert!(!said.contains("hmac") && !said.contains("codec"), "{said}");
}

#[test]
fn a_backup_has_the_key_of_its_store_and_takes_no_others_place() {
    let (folder, path) = place();
    let backup = folder.path().join("backup.db");
    let store = keyed::open(&path).unwrap();
    fill(&store);
    store.host().backup(&backup, |_| ()).unwrap();
    let content = exported(&store);
    let session = store.session("s", "agent").open().unwrap();
    store
        .save(&session, Draft::new("later", "than the backup"))
        .unwrap();
    drop((session, store));

    for builder in [plain(), other()] {
        let restore = || builder.restore_backup(&backup, &path);
        let error = untouched(folder.path(), &backup, restore);
        assert_eq!(error.kind(), ErrorKind::WrongKey);
    }
    // The store has another key by now.
    let old = folder.path().join("old.db");
    fs::copy(&backup, &old).unwrap();
    keyed::builder()
        .rekey(&path, Some(EncryptionKey::raw(&[9; 32])))
        .unwrap();
    for (builder, about) in [(other(), &old), (keyed::builder(), &path)] {
        let error = untouched(folder.path(), about, || builder.restore_backup(&old, &path));
        assert_eq!(error.kind(), ErrorKind::WrongKey);
    }
    // A plain backup doesn't take an encrypted store's place either, nor the other way round.
    keyed::builder().rekey(&backup, None).unwrap();
    for (builder, about) in [(other(), &backup), (plain(), &path)] {
        let error = untouched(folder.path(), about, || {
            builder.restore_backup(&backup, &path)
        });
        assert_eq!(error.kind(), ErrorKind::WrongKey);
    }
    keyed::builder()
        .rekey(&old, Some(EncryptionKey::raw(&[9; 32])))
        .unwrap();
    other().restore_backup(&old, &path).unwrap();
    assert_eq!(exported(&other().open(&path).unwrap()), content);
}

#[test]
fn an_export_is_plain_and_goes_into_a_store_of_any_key() {
    let ((folder, path), (_other_folder, copy)) = (place(), place());
    let store = keyed::open(&path).unwrap();
    fill(&store);
    let file = folder.path().join("memories.jsonl");
    store.host().export_to(&file).unwrap();
    assert!(has(&fs::read(&file).unwrap(), "word1"));
    let imported = other().open(&copy).unwrap();
    imported
        .host()
        .import(fs::File::open(&file).unwrap())
        .unwrap();
    assert!(observed(&imported) == observed(&store));
}

#[test]
fn an_export_replaces_no_encrypted_store() {
    let (folder, path) = place();
    filled(&keyed::builder(), &path);
    let store = plain().open_in_memory().unwrap();
    let error = untouched(folder.path(), &path, || store.host().export_to(&path));
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
}

/// Another tool can change the key under a store that is open. It notices, and nothing of it is lost.
#[test]
fn a_key_that_is_changed_from_outside_is_no_damage_to_repair() {
    let (_folder, path) = place();
    let repairs = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&repairs);
    let warn = move || {
        count.fetch_add(1, Ordering::Relaxed);
    };
    let store = keyed::builder().on_repair(warn).open(&path).unwrap();
    fill(&store);
    let session = store.session("s", "agent").open().unwrap();
    let content = exported(&store);
    let tool = keyed::raw(&path).unwrap();
    let sql = format!("PRAGMA rekey = \"x'{}'\"", "09".repeat(32));
    tool.execute_batch(&sql).unwrap();
    let failures = [
        store.save(&session, Draft::new("k", "v")).map(drop),
        store.search(&session, Search::new("word1")).map(drop),
        store.get(&session, "shared").map(drop),
        store.host().reindex().map(drop),
    ];
    for failure in failures {
        let error = failure.unwrap_err();
        assert_ne!(error.kind(), ErrorKind::Internal);
    }
    drop((session, store, tool));
    thread::sleep(Duration::from_millis(50));
    assert_eq!(repairs.load(Ordering::Relaxed), 0);
    assert_eq!(keyed::open(&path).unwrap_err().kind(), ErrorKind::WrongKey);
    let store = other().open(&path).unwrap();
    assert_eq!(exported(&store), content);
    assert_eq!(store.host().check().unwrap(), []);
}
