//! Files of released formats, which every later release must read.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use chrono::{DateTime, Utc};
use strandline::audit::{Action, Decision, Query, Verification};
use strandline::storage::{Namespace, VersionState};
use strandline::{Classification, Clock, Draft, List, MemoryStore, Search, Session, StoreBuilder};

use crate::child;
use crate::keyed;
use crate::sound::assert_sound;

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/v1.db");

/// Seconds from the start of 2026, one more at each look.
#[derive(Debug, Default)]
struct Seconds(AtomicI64);

impl Clock for Seconds {
    fn now(&self) -> DateTime<Utc> {
        at(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

fn at(second: i64) -> DateTime<Utc> {
    let start: DateTime<Utc> = "2026-01-01T00:00:00Z".parse().unwrap();
    start + chrono::Duration::seconds(second)
}

/// The store with its clock at this second.
fn open(path: &Path, second: i64) -> MemoryStore {
    opened(keyed::builder(), path, second)
}

fn opened(builder: StoreBuilder, path: &Path, second: i64) -> MemoryStore {
    let clock = Arc::new(Seconds(AtomicI64::new(second)));
    builder.clock(clock).open(path).unwrap()
}

fn session(store: &MemoryStore, level: Classification) -> Session {
    store
        .session(format!("at {level}"), "agent")
        .taint(level)
        .open()
        .unwrap()
}

/// Makes the file that stands for the format from now on. Once a release has it, it is never made
/// again:
///
/// ```sh
/// rm tests/fixtures/v1.db
/// cargo test --test it -- --ignored --exact format::make_the_fixture
/// ```
#[test]
#[ignore = "writes tests/fixtures/v1.db"]
fn make_the_fixture() {
    let path = Path::new(FIXTURE);
    assert!(!path.exists(), "a fixture is made once");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    // plain: it stands for what the default features write.
    let store = opened(MemoryStore::builder(), path, 0);
    let [public, internal, .., restricted] = Classification::ALL.map(|l| session(&store, l));
    let save = |session: &Session, key: &str, content: &str, tags: &[&str]| {
        store
            .save(session, Draft::new(key, content).tags(tags.iter().copied()))
            .unwrap();
    };
    save(&public, "user-name", "Ada", &["persona"]);
    save(&public, "user-name", "Ada Lovelace", &["Persona", "name"]);
    save(
        &internal,
        "user-name",
        "Ada King, Countess of Lovelace",
        &["persona"],
    );
    save(&public, "部署", "今天讨论了部署方案", &["メモ"]);
    save(&public, "deleted", "a sentinel", &["gone"]);
    store.delete(&public, "deleted").unwrap();
    save(
        &restricted,
        "secret",
        "the combination is 12345, twice: 12345 and 12345",
        &[],
    );
    let expiring = Draft::new("briefly", "until noon").expires_at(at(43_200));
    store.save(&internal, expiring).unwrap();
    let raised = store.session("raised", "agent").open().unwrap();
    raised
        .raise(Classification::Confidential, "read the ledger")
        .unwrap();
    save(&raised, "ledger", "Ada owes 5 doubloons", &["project"]);
    let other = store.session("other", "other agent").open().unwrap();
    save(&other, "user-name", "Charles", &[]);
    let cron = store.namespace(Namespace::CRON).unwrap();
    cron.save(&public, Draft::new("nightly", "0 3 * * *"))
        .unwrap();
    store.delete(&internal, "ledger").unwrap_err();
}

/// A copy of the fixture, which the test may change.
fn copy() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    fs::copy(FIXTURE, &path).unwrap();
    keyed::adopt(&path);
    (folder, path)
}

fn content(store: &MemoryStore, session: &Session, key: &str) -> Option<String> {
    store
        .get(session, key)
        .unwrap()
        .map(|memory| memory.content)
}

#[test]
fn the_first_format_is_read() {
    let (_folder, path) = copy();
    let store = open(&path, 1_000);
    let [public, internal, confidential, restricted] =
        Classification::ALL.map(|level| session(&store, level));
    assert_eq!(
        content(&store, &public, "user-name").as_deref(),
        Some("Ada Lovelace")
    );
    let name = store.get(&internal, "user-name").unwrap().unwrap();
    assert_eq!(name.content, "Ada King, Countess of Lovelace");
    assert_eq!(
        (name.version, name.classification),
        (1, Classification::Internal)
    );
    assert_eq!(name.session.as_str(), "at INTERNAL");
    let found = |session: &Session, query: &str| -> Vec<String> {
        let hits = store.search(session, Search::new(query)).unwrap();
        hits.into_iter().map(|hit| hit.memory.key.into()).collect()
    };
    assert_eq!(found(&public, "部署"), ["部署"]);
    assert_eq!(found(&public, "lovelace"), ["user-name"]);
    assert_eq!(found(&confidential, "doubloons owed"), ["ledger"]);
    assert_eq!(
        found(&confidential, "sentinel combination charles"),
        [""; 0]
    );
    assert_eq!(found(&restricted, "12345"), ["secret"]);
    let keys = |session: &Session, list: List| -> Vec<String> {
        let page = store.list(session, list).unwrap();
        page.memories
            .into_iter()
            .map(|memory| memory.key.into())
            .collect()
    };
    assert_eq!(keys(&public, List::new()), ["user-name", "部署"]);
    assert_eq!(
        keys(&internal, List::new()),
        ["briefly", "user-name", "部署"]
    );
    assert_eq!(keys(&public, List::new().tag("NAME")), ["user-name"]);
    assert_eq!(keys(&internal, List::new().tag("name")), [""; 0]);
    let cron = store.namespace(Namespace::CRON).unwrap();
    assert_eq!(
        content(&cron, &public, "nightly").as_deref(),
        Some("0 3 * * *")
    );
    let later = open(&path, 50_000);
    assert!(
        content(
            &later,
            &session(&later, Classification::Internal),
            "briefly"
        )
        .is_none()
    );
}

#[test]
fn the_first_formats_sessions_history_and_audit_go_on() {
    let (_folder, path) = copy();
    let store = open(&path, 1_000);
    let raised = store.session("raised", "agent").open().unwrap();
    assert_eq!(raised.taint(), Classification::Confidential);
    assert_eq!(raised.raises()[0].reason, "read the ledger");
    assert!(store.session("raised", "other agent").open().is_err());
    let states = |key: &str| -> Vec<VersionState> {
        let versions = store.host().history("agent", key).unwrap();
        versions.iter().map(|version| version.state).collect()
    };
    let (live, old, deleted) = (
        VersionState::Live,
        VersionState::Superseded,
        VersionState::Deleted,
    );
    assert_eq!(states("user-name"), [live, live, old]);
    assert_eq!(states("deleted"), [deleted]);
    let audit = store.host().audit(&Query::default()).unwrap();
    assert!(
        audit
            .iter()
            .map(|entry| entry.seq)
            .rev()
            .eq(1..=u64::try_from(audit.len()).unwrap())
    );
    let refused = |entry: &&strandline::audit::Entry| entry.facts.decision == Decision::Refused;
    let refused = audit.iter().filter(refused).map(|entry| entry.facts.action);
    // The other agent's opening just now, and the deletion in the fixture.
    assert!(refused.eq([Action::Open, Action::Delete]));
    // The hashes in the file are of the encoding that it was made with, which never changes.
    let found = store.host().verify(None).unwrap();
    assert!(matches!(found, Verification::Sound(anchor) if anchor.entries == audit[0].seq));
}

#[test]
fn the_first_format_is_written() {
    let (_folder, path) = copy();
    let store = open(&path, 1_000);
    let public = session(&store, Classification::Public);
    let again = store.save(&public, Draft::new("deleted", "again")).unwrap();
    assert_eq!(again.version, 2);
    assert!(again.tags.is_empty());
    let name = store
        .save(&public, Draft::new("user-name", "Ada L."))
        .unwrap();
    assert_eq!((name.version, name.created_at), (3, store_created(&path)));
    store.delete(&public, "部署").unwrap();
    assert!(
        store
            .search(&public, Search::new("部署"))
            .unwrap()
            .is_empty()
    );
    drop((public, store));
    assert_sound(&path);
}

/// When the fixture's `user-name` was first saved.
fn store_created(path: &Path) -> DateTime<Utc> {
    let versions = open(path, 2_000)
        .host()
        .history("agent", "user-name")
        .unwrap();
    versions
        .iter()
        .map(|version| version.memory.created_at)
        .min()
        .unwrap()
}

/// What is kept of an old file must be what a new one has: a change of the tables needs a migration.
#[test]
fn an_old_file_comes_to_have_the_tables_of_a_new_one() {
    let (folder, old) = copy();
    assert_sound(&old);
    let new = folder.path().join("new.db");
    drop((keyed::open(&old).unwrap(), keyed::open(&new).unwrap()));
    assert_sound(&old);
    let tables = |path: &Path| -> Vec<(String, Option<String>)> {
        let db = keyed::raw(path).unwrap();
        let sql = "SELECT name, sql FROM sqlite_schema ORDER BY name";
        let mut select = db.prepare(sql).unwrap();
        let tables = select
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap();
        tables.map(Result::unwrap).collect()
    };
    assert_eq!(tables(&old), tables(&new));
    for name in ["user_version", "application_id"] {
        let value = |path: &Path| -> i64 {
            let db = keyed::raw(path).unwrap();
            db.pragma_query_value(None, name, |row| row.get(0)).unwrap()
        };
        assert_eq!(value(&old), value(&new), "{name}");
    }
}

#[test]
fn eight_processes_open_an_old_file_together() {
    for _ in 0..20 {
        let (_folder, path) = copy();
        let command = |process| {
            child::command(
                "processes::child_saves",
                &path,
                &format!("distinct {process} 1"),
            )
        };
        child::run_all((0..8).map(command));
        let store = open(&path, 1_000);
        let public = session(&store, Classification::Public);
        let page = store.list(&public, List::new().count()).unwrap();
        assert_eq!(page.total, Some(2 + 8));
    }
}
