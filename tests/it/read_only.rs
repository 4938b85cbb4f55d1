//! A store that is open for reading only: it reads all that a session could, and changes no byte.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use strandline::{Classification, Draft, ErrorKind, List, MemoryStore, Search};

use crate::keyed;

fn fill(path: &Path) {
    let store = keyed::open(path).unwrap();
    for level in Classification::ALL {
        let id = format!("s-{level}");
        let session = store.session(id, "agent").taint(level).open().unwrap();
        let drafts = (0..20).map(|i| Draft::new(format!("{level}-{i}"), "some words"));
        store.save_all(&session, drafts).unwrap();
    }
}

fn read_only(path: &Path) -> strandline::Result<MemoryStore> {
    let options = keyed::builder().busy_timeout(Duration::from_millis(200));
    options.read_only().open(path)
}

/// What can be read, is, and what writes, is refused.
fn assert_only_reads(store: &MemoryStore) {
    let view = store
        .host()
        .view("agent", Classification::Internal)
        .unwrap();
    assert_eq!(store.search(&view, Search::new("words")).unwrap().len(), 10);
    assert_eq!(store.list(&view, List::new()).unwrap().memories.len(), 40);
    assert!(store.get(&view, "PUBLIC-1").unwrap().is_some());
    assert!(store.get(&view, "RESTRICTED-1").unwrap().is_none());
    let host = store.host();
    assert_eq!(host.holdings().unwrap().len(), 4);
    assert_eq!(host.stats().unwrap().sessions, 4);
    assert!(host.verify(None).unwrap().is_sound());
    assert_eq!(host.check().unwrap(), []);
    assert_eq!(host.history("agent", "PUBLIC-1").unwrap().len(), 1);
    let refused = [
        store.save(&view, Draft::new("k", "v")).unwrap_err(),
        store.delete(&view, "INTERNAL-1").unwrap_err(),
        store.session("s-PUBLIC", "agent").open().unwrap_err(),
        store.session("new", "agent").open().unwrap_err(),
        host.reindex().unwrap_err(),
        host.erase_agent("agent").unwrap_err(),
        host.restore(&view, "INTERNAL-1", 1).unwrap_err(),
    ];
    for error in refused {
        assert_eq!(error.kind(), ErrorKind::ReadOnly, "{error:?}");
    }
    assert!(view.raise(Classification::Restricted, "more").is_err());
    assert_eq!(view.taint(), Classification::Internal);
}

#[test]
fn it_reads_everything_and_leaves_each_byte_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    fill(&path);
    let before = fs::read(&path).unwrap();
    let store = read_only(&path).unwrap();
    assert_only_reads(&store);
    drop(store);
    assert!(fs::read(&path).unwrap() == before);
}

#[test]
fn it_sees_what_others_commit_and_brings_none_of_it_into_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    fill(&path);
    let writer = keyed::open(&path).unwrap();
    let session = writer.session("s-PUBLIC", "agent").open().unwrap();
    let store = read_only(&path).unwrap();
    let view = store.host().view("agent", Classification::Public).unwrap();
    writer
        .save(&session, Draft::new("k", "while others read"))
        .unwrap();
    let before = fs::read(&path).unwrap();
    assert!(store.get(&view, "k").unwrap().is_some());
    drop((view, store));
    assert!(fs::read(&path).unwrap() == before);
    writer.save(&session, Draft::new("k", "again")).unwrap();
}

/// Where nothing can be made beside the file. SQLite follows no link there, which keeps root from it, too.
#[test]
fn without_files_beside_it_the_store_is_read_alone_until_somebody_writes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a memory? 100%.db");
    fill(&path);
    let beside = folder.path().join("a memory? 100%.db-shm");
    symlink("nowhere", &beside).unwrap();
    let store = read_only(&path).unwrap();
    assert_only_reads(&store);
    fs::remove_file(&beside).unwrap();
    let writer = keyed::open(&path).unwrap();
    let session = writer.session("s-PUBLIC", "agent").open().unwrap();
    writer.save(&session, Draft::new("k", "v")).unwrap();
    let error = store.host().stats().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Busy);
}

#[test]
fn a_pending_wal_that_cannot_be_read_is_said_and_not_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    fill(&path);
    fs::write(folder.path().join("memory.db-wal"), [7; 64]).unwrap();
    symlink("nowhere", folder.path().join("memory.db-shm")).unwrap();
    let error = read_only(&path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ReadOnly);
    assert!(error.to_string().contains("write-ahead log"), "{error}");
}

#[test]
fn what_would_have_to_be_written_first_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    assert_eq!(read_only(&path).unwrap_err().kind(), ErrorKind::Io);
    assert!(!path.exists());
    fs::write(&path, "").unwrap();
    assert_eq!(read_only(&path).unwrap_err().kind(), ErrorKind::NotAStore);
    fs::remove_file(&path).unwrap();
    fill(&path);
    let run = |sql: &str| keyed::raw(&path).unwrap().execute_batch(sql).unwrap();

    run("UPDATE meta SET value = value - 1 WHERE name = 'analysis'");
    let before = fs::read(&path).unwrap();
    let error = read_only(&path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ReadOnly);
    assert!(error.to_string().contains("older release"), "{error}");
    assert!(fs::read(&path).unwrap() == before);
    run("UPDATE meta SET value = value + 1 WHERE name = 'analysis'");

    run("DELETE FROM terms_data WHERE id > 10");
    let before = fs::read(&path).unwrap();
    let store = read_only(&path).unwrap();
    let view = store.host().view("agent", Classification::Public).unwrap();
    let error = store.search(&view, Search::new("words")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("search index"), "{error}");
    assert!(!store.host().check().unwrap().is_empty());
    drop((view, store));
    assert!(fs::read(&path).unwrap() == before);
}
