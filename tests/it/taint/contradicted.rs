//! What holds where the file says two things of a session.

use std::path::{Path, PathBuf};

use strandline::Classification::{Internal, Public};
use strandline::{Draft, Error, ErrorKind, List, MemoryStore, Result, Search, Session};
use tempfile::TempDir;

use super::open_file;
use crate::damage::change_behind_the_indexes;

const COLUMNS: &str = "scope, level, key, version, content, tags, created_at, updated_at, session, \
                       lineage, state, shadow, doc";

/// A record of the session that was raised to the top, to be found only by the index of live records: by
/// the history the session never was above PUBLIC, whoever looks.
fn contradict(path: &Path) {
    let values = COLUMNS.replace("level", "3").replace("doc", "NULL");
    let insert = format!(
        "INSERT INTO records ({COLUMNS})
         SELECT {} FROM records WHERE session = 's' AND key = 's'",
        values.replace("NULL", "doc + (1 << 40)")
    );
    change_behind_the_indexes(path, "records_version", &insert);
}

fn contradicted() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let store = open_file(&path);
    let session = store.session("s", "agent").open().unwrap();
    store.save(&session, Draft::new("k", "some words")).unwrap();
    store
        .save(&session, Draft::new("k", "other words"))
        .unwrap();
    drop((session, store));
    contradict(&path);
    (folder, path)
}

/// Every verb that writes, each in a store of its own.
type Verb = fn(&MemoryStore, &Session) -> Result<()>;

const WRITES: [(&str, Verb); 7] = [
    ("save", |store, s| {
        store.save(s, Draft::new("k", "v")).map(drop)
    }),
    ("save_all", |store, s| {
        store.save_all(s, [Draft::new("k", "v")]).map(drop)
    }),
    ("delete", |store, s| store.delete(s, "k")),
    ("restore", |store, s| {
        store.host().restore(s, "k", 1).map(drop)
    }),
    ("raise", |_, s| {
        s.raise(Internal, "opened the wiki").map(drop)
    }),
    ("open higher", |store, _| {
        store.session("s", "agent").taint(Internal).open().map(drop)
    }),
    ("tighten", |store, _| {
        store
            .session("s", "agent")
            .ceiling(Internal)
            .open()
            .map(drop)
    }),
];

#[test]
fn a_file_that_contradicts_itself_about_a_session_is_called_damaged_by_every_verb() {
    let is_corrupt = |verb: &str, error: Error| {
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{verb}: {error}");
    };
    for (verb, write) in WRITES {
        let (folder, path) = contradicted();
        let store = open_file(&path);
        let session = store.session("s", "agent").open().unwrap();
        is_corrupt(verb, write(&store, &session).unwrap_err());
        assert_eq!(session.taint(), Public, "{verb}");
        // What only reads goes on, and another session isn't concerned.
        let found = store.get(&session, "k").unwrap().unwrap();
        assert_eq!(found.content, "other words", "{verb}");
        assert_eq!(
            store.search(&session, Search::new("words")).unwrap().len(),
            1
        );
        assert_eq!(store.list(&session, List::new()).unwrap().memories.len(), 1);
        let other = store.session("t", "agent").open().unwrap();
        write_all(&store, &other);
        assert_ne!(store.host().check().unwrap(), [], "{verb}");
        drop(folder);
    }
}

fn write_all(store: &MemoryStore, session: &Session) {
    store.save(session, Draft::new("k", "v")).unwrap();
    store.delete(session, "k").unwrap();
    session.raise(Internal, "opened the wiki").unwrap();
}
