//! Import of another program's database.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, params};
use serde_json::{Value, json};
use strandline::storage::VersionState;
use strandline::{Classification, ErrorKind, MemoryStore};
use tempfile::TempDir;

use crate::export::{exported, session};

/// plain: what is imported is another program's, which doesn't encrypt.
#[expect(
    clippy::disallowed_methods,
    reason = "another program's database has no key"
)]
fn plain(path: impl AsRef<Path>) -> rusqlite::Result<Connection> {
    Connection::open(path) // plain: as above
}

/// A database with these rows, each a key and a value.
fn database(rows: &[(&str, &str)]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fish #1 50%?.db");
    let db = plain(&path).unwrap();
    db.execute_batch("CREATE TABLE kv (key TEXT PRIMARY KEY, value, stored_at INTEGER)")
        .unwrap();
    for (key, value) in rows {
        db.execute("INSERT INTO kv VALUES (?1, ?2, 7)", [key, value])
            .unwrap();
    }
    (folder, path)
}

fn record(changes: &Value) -> String {
    let mut record = json!({
        "key": "k", "agentId": "agent", "classification": "INTERNAL", "content": "canary-content",
        "tags": ["Tag"], "createdAt": "2026-01-01T00:00:00.000Z",
        "updatedAt": "2026-01-02T00:00:00.123Z", "expiresAt": null, "expired": false,
        "sourceSessionId": "session-1", "lineageId": "lin_1", "somethingElse": {},
    });
    for (name, value) in changes.as_object().unwrap() {
        record[name] = value.clone();
    }
    record.to_string()
}

const NAME: &str = "memory:agent:INTERNAL:k";

#[test]
fn memories_come_over_with_all_they_have() {
    let id = "6f1c2f0e-55ab-4c5e-9d3e-0d9a3f1b2c4d";
    let rows = [
        (NAME, record(&json!({}))),
        (
            "memory:agent:PUBLIC:k",
            record(&json!({"classification": "PUBLIC", "lineageId": id})),
        ),
        (
            "memory:agent:INTERNAL:a:b::PUBLIC:c",
            record(&json!({"key": "a:b::PUBLIC:c"})),
        ),
        (
            "memory:a:b:RESTRICTED:k",
            record(&json!({"agentId": "a:b", "classification": "RESTRICTED"})),
        ),
        (
            "memory:agent:INTERNAL:gone",
            record(&json!({"key": "gone", "expired": true})),
        ),
        (
            "memory:agent:INTERNAL:old",
            record(&json!({"key": "old", "expiresAt": "2026-02-01T00:00:00Z"})),
        ),
        ("session:1", "{}".to_owned()),
        ("memory", "{}".to_owned()),
        ("memories:agent:PUBLIC:k", "{}".to_owned()),
    ];
    let rows: Vec<(&str, &str)> = rows
        .iter()
        .map(|(key, value)| (*key, value.as_str()))
        .collect();
    let (_folder, path) = database(&rows);
    let store = MemoryStore::open_in_memory().unwrap();
    let report = store.host().import_triggerfish(&path).unwrap();
    assert_eq!((report.imported, report.ignored), (6, 3));
    assert_eq!(report.problems, []);

    let reader = session(&store, Classification::Internal);
    let found = store.get(&reader, "k").unwrap().unwrap();
    assert_eq!(found.content, "canary-content");
    assert_eq!(found.classification, Classification::Internal);
    assert_eq!(found.tags[0].as_str(), "Tag");
    assert_eq!(found.session.as_str(), "session-1");
    assert_eq!(found.created_at.to_rfc3339(), "2026-01-01T00:00:00+00:00");
    assert_eq!(
        found.updated_at.to_rfc3339(),
        "2026-01-02T00:00:00.123+00:00"
    );
    let low = session(&store, Classification::Public);
    let found = store.get(&low, "k").unwrap().unwrap();
    assert_eq!(found.lineage_id.to_string(), id);
    assert!(store.get(&low, "a:b::PUBLIC:c").unwrap().is_none());
    assert!(store.get(&reader, "a:b::PUBLIC:c").unwrap().is_some());
    assert!(store.get(&reader, "gone").unwrap().is_none());
    let gone = &store.host().history("agent", "gone").unwrap()[0];
    assert_eq!(gone.state, VersionState::Deleted);
    assert!(store.get(&reader, "old").unwrap().is_none(), "it expired");
    assert_eq!(store.host().history("a:b", "k").unwrap().len(), 1);

    let file = exported(&store);
    let again = store.host().import_triggerfish(&path).unwrap();
    assert_eq!((again.imported, again.unchanged, again.ignored), (0, 6, 3));
    assert_eq!(exported(&store), file, "importing twice changes nothing");
}

#[test]
fn what_changed_there_comes_over_and_what_was_deleted_is_deleted() {
    let (_folder, path) = database(&[(NAME, &record(&json!({})))]);
    let store = MemoryStore::open_in_memory().unwrap();
    let reader = session(&store, Classification::Internal);
    let put = |changes: &Value| {
        let db = plain(&path).unwrap();
        db.execute("UPDATE kv SET value = ?1", [record(changes)])
            .unwrap();
        drop(db);
        store.host().import_triggerfish(&path).unwrap()
    };
    put(&json!({}));
    let newer =
        json!({"content": "newer", "lineageId": "lin_2", "updatedAt": "2026-01-03T00:00:00Z"});
    let report = put(&newer);
    assert_eq!((report.imported, report.renumbered), (1, 1));
    assert_eq!(store.get(&reader, "k").unwrap().unwrap().content, "newer");
    let mut deleted = newer;
    deleted["expired"] = json!(true);
    deleted["updatedAt"] = json!("2026-01-04T00:00:00Z");
    assert_eq!(put(&deleted).ended, 1);
    assert!(store.get(&reader, "k").unwrap().is_none());
    let changed = json!({"content": "changed", "lineageId": "lin_2"});
    assert_eq!(put(&changed).refused, 1, "one id, another content");
}

#[test]
fn bad_rows_are_reported_and_the_others_go_on() {
    let bad = [
        ("not JSON", "canary".to_owned()),
        ("a list", "[\"canary\"]".to_owned()),
        ("agent", record(&json!({"agentId": "other"}))),
        ("no agent", record(&json!({"agentId": null}))),
        ("key", record(&json!({"key": "other"}))),
        ("no key", record(&json!({"key": null}))),
        ("level", record(&json!({"classification": "SECRET"}))),
        ("no level", record(&json!({"classification": null}))),
        ("no content", record(&json!({"content": null}))),
        ("content", record(&json!({"content": 5}))),
        ("blank", record(&json!({"content": "  "}))),
        (
            "too long",
            record(&json!({"content": "x".repeat(1_048_577)})),
        ),
        ("created", record(&json!({"createdAt": "yesterday"}))),
        ("not created", record(&json!({"createdAt": null}))),
        ("updated", record(&json!({"updatedAt": 5}))),
        (
            "expires",
            record(&json!({"expiresAt": "2026-13-01T00:00:00Z"})),
        ),
        ("expired", record(&json!({"expired": "yes"}))),
        ("tags", record(&json!({"tags": [5]}))),
        ("lineage", record(&json!({"lineageId": 5}))),
        (
            "two levels",
            record(&json!({})).replacen('{', "{\"classification\":\"RESTRICTED\",", 1),
        ),
    ];
    for (what, value) in &bad {
        let (_folder, path) = database(&[
            (NAME, value),
            (
                "memory:agent:PUBLIC:good",
                &record(&json!({"key": "good", "classification": "PUBLIC"})),
            ),
        ]);
        let store = MemoryStore::open_in_memory().unwrap();
        let report = store.host().import_triggerfish(&path).unwrap();
        assert_eq!((report.imported, report.refused), (1, 1), "{what}");
        assert_eq!(report.problems[0].line, 1, "{what}");
        assert!(!format!("{report:?}").contains("canary"), "{what}");
    }
    let good = record(&json!({}));
    for key in [
        "memory:agent:SECRET:k",
        "memory:agent:INTERNAL",
        "memory:agent:INTERNAL:",
        "memory:agent",
        "memory:",
        "memory:agentINTERNAL:k",
    ] {
        let (_folder, path) = database(&[(key, &good)]);
        let store = MemoryStore::open_in_memory().unwrap();
        let report = store.host().import_triggerfish(&path).unwrap();
        assert_eq!((report.imported, report.refused), (0, 1), "{key}");
    }
}

#[test]
fn of_two_levels_the_higher_counts() {
    for (in_key, in_record, expected) in [
        ("PUBLIC", "RESTRICTED", Classification::Restricted),
        ("RESTRICTED", "PUBLIC", Classification::Restricted),
    ] {
        let key = format!("memory:agent:{in_key}:k");
        let value = record(&json!({"classification": in_record}));
        let (_folder, path) = database(&[(&key, &value)]);
        let store = MemoryStore::open_in_memory().unwrap();
        let report = store.host().import_triggerfish(&path).unwrap();
        assert_eq!((report.imported, report.problems.len()), (1, 1));
        assert!(report.problems[0].reason.contains("two levels"));
        let version = &store.host().history("agent", "k").unwrap()[0];
        assert_eq!(version.memory.classification, expected);
    }
}

#[test]
fn values_may_be_blobs_and_anything_else_is_reported() {
    let (_folder, path) = database(&[]);
    let db = plain(&path).unwrap();
    let sql = "INSERT INTO kv (key, value) VALUES (?1, ?2)";
    db.execute(sql, params![NAME, record(&json!({})).as_bytes()])
        .unwrap();
    db.execute(sql, params!["memory:agent:PUBLIC:n", 5])
        .unwrap();
    db.execute(sql, params!["memory:agent:PUBLIC:z", rusqlite::types::Null])
        .unwrap();
    db.execute(sql, params!["memory:agent:PUBLIC:b", &[0xff_u8, 0xfe][..]])
        .unwrap();
    db.execute(sql, params![&b"\xff"[..], "{}"]).unwrap();
    db.execute(sql, params![rusqlite::types::Null, "{}"])
        .unwrap();
    db.execute(sql, params!["memory:agent:PUBLIC:l", rusqlite::types::Null])
        .unwrap();
    db.execute(
        "UPDATE kv SET value = zeroblob(50000000) WHERE key LIKE '%:l'",
        [],
    )
    .unwrap();
    drop(db);
    let store = MemoryStore::open_in_memory().unwrap();
    let report = store.host().import_triggerfish(&path).unwrap();
    assert_eq!((report.imported, report.refused, report.ignored), (1, 4, 2));
}

fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.display().to_string(), fs::read(&path).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn the_database_is_not_touched() {
    for mode in ["DELETE", "WAL"] {
        let (folder, path) = database(&[(NAME, &record(&json!({})))]);
        let db = plain(&path).unwrap();
        db.query_row(&format!("PRAGMA journal_mode = {mode}"), [], |_| Ok(()))
            .unwrap();
        drop(db);
        let before = files(folder.path());
        assert_eq!(before.len(), 1);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o500)).unwrap();
        let store = MemoryStore::open_in_memory().unwrap();
        let report = store.host().import_triggerfish(&path).unwrap();
        assert_eq!(report.imported, 1, "{mode}");
        assert_eq!(files(folder.path()), before, "{mode}");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
    }
}

#[test]
fn what_is_in_a_wal_is_read_and_stays_there() {
    let (folder, path) = database(&[]);
    let db = plain(&path).unwrap();
    db.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))
        .unwrap();
    let sql = "INSERT INTO kv (key, value) VALUES (?1, ?2)";
    db.execute(sql, [NAME, &record(&json!({}))]).unwrap();
    let copy = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(folder.path()).unwrap() {
        let entry = entry.unwrap();
        if !entry.file_name().to_str().unwrap().ends_with("-shm") {
            fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
        }
    }
    let before = files(copy.path());
    assert_eq!(before.len(), 2);
    let store = MemoryStore::open_in_memory().unwrap();
    let copied = copy.path().join(path.file_name().unwrap());
    let report = store.host().import_triggerfish(&copied).unwrap();
    assert_eq!(report.imported, 1);
    assert_eq!(files(copy.path()), before);
    // Also while that program is at it.
    assert_eq!(store.host().import_triggerfish(&path).unwrap().unchanged, 1);
    db.execute("DELETE FROM kv", []).unwrap();
}

#[test]
fn what_is_no_such_database_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.db");
    let store = MemoryStore::open_in_memory().unwrap();
    let kind = || store.host().import_triggerfish(&path).unwrap_err().kind();
    assert_eq!(kind(), ErrorKind::Io);
    assert!(!path.exists());
    fs::write(
        &path,
        "words that are not a database, and many of them".repeat(20),
    )
    .unwrap();
    assert_eq!(kind(), ErrorKind::NotAStore);
    fs::write(&path, "").unwrap();
    assert_eq!(kind(), ErrorKind::NotAStore);
    fs::remove_file(&path).unwrap();
    let db = plain(&path).unwrap();
    db.execute_batch("CREATE TABLE kv (name, value)").unwrap();
    drop(db);
    assert_eq!(kind(), ErrorKind::NotAStore);
    fs::remove_file(&path).unwrap();
    // A header of a format that SQLite doesn't have.
    let (_folder, sound) = database(&[("a", "b")]);
    let mut bytes = fs::read(sound).unwrap();
    bytes[44..48].copy_from_slice(&[0x6d, 0x65, 0x6d, 0x6f]);
    fs::write(&path, bytes).unwrap();
    assert_eq!(kind(), ErrorKind::Corrupt);
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert_eq!(kind(), ErrorKind::NotAStore);
}
