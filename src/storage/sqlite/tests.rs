//! Tests that look into the file: what the index holds after every order of operations.

mod group;
mod reindex;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use chrono::{DateTime, Utc};
use proptest::prelude::*;
use rusqlite::Connection;

use super::index::IndexText;
use super::layout::{Doc, slot};
use super::rows::tags_from_json;
use super::{Durability, Sqlite, SqliteOptions};
use crate::{Classification, Clock, Draft, ErrorKind, MemoryStore, Search, Session};

#[derive(Debug, Default)]
struct TestClock(AtomicI64);

impl Clock for TestClock {
    fn now(&self) -> DateTime<Utc> {
        DateTime::from_timestamp(self.0.load(Ordering::Relaxed), 0).unwrap()
    }
}

struct Bench {
    folder: tempfile::TempDir,
    sqlite: Arc<Sqlite>,
    clock: Arc<TestClock>,
    store: MemoryStore,
    sessions: Vec<Session>,
    db: Connection,
}

fn bench() -> Bench {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let clock = Arc::new(TestClock::default());
    let options = SqliteOptions {
        durability: Durability::Normal,
        ..Default::default()
    };
    let sqlite = Arc::new(Sqlite::open(&path, &options).unwrap());
    let store = MemoryStore::builder()
        .clock(clock.clone())
        .with_provider(sqlite.clone());
    let sessions = sessions(&store);
    Bench {
        folder,
        sqlite,
        clock,
        store,
        sessions,
        db: super::key::open(&path, options.key()).unwrap(),
    }
}

/// A session at each level.
fn sessions(store: &MemoryStore) -> Vec<Session> {
    let open = |taint: Classification| {
        let session = store.session(taint.as_str(), "agent").taint(taint);
        session.open().unwrap()
    };
    Classification::ALL.map(open).into()
}

/// The index as it should be, from the records alone, against what it is.
fn check(db: &Connection) {
    db.execute(
        "INSERT INTO terms (terms, rank) VALUES ('integrity-check', 1)",
        [],
    )
    .unwrap();
    let sound: String = db
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(sound, "ok");
    let language = super::index::State::read(db).unwrap().language().unwrap();
    let (mut terms, mut stats) = (BTreeMap::new(), BTreeMap::new());
    let sql = "SELECT scope, level, key, tags, content, doc, shadow, (
                   SELECT min(h.level) FROM records h WHERE h.scope = r.scope AND h.key = r.key
                   AND h.state = 0 AND h.level > r.level) FROM records r WHERE state = 0";
    let mut live = db.prepare(sql).unwrap();
    let mut rows = live.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let tags = tags_from_json(&row.get::<_, String>(3).unwrap()).unwrap();
        let (key, content): (String, String) = (row.get(2).unwrap(), row.get(4).unwrap());
        let text = IndexText::of(language, &key, &tags, &content);
        let doc = Doc::from_rowid(row.get(5).unwrap());
        let shadow = row.get::<_, Option<u8>>(7).unwrap().unwrap_or(4);
        assert_eq!(row.get::<_, u8>(6).unwrap(), shadow);
        assert_eq!(Some(doc.slot), slot(row.get(1).unwrap(), shadow));
        assert_eq!(doc.scope, row.get::<_, i64>(0).unwrap());
        assert_eq!(doc.length, text.length);
        for (row, text) in text.rows(doc) {
            for term in text.split_whitespace() {
                let rows: &mut Vec<i64> = terms.entry(term.to_owned()).or_default();
                rows.push(row);
            }
        }
        *stats.entry((doc.scope, doc.slot)).or_default() += 1;
    }
    for docs in terms.values_mut() {
        docs.sort_unstable();
    }
    assert_eq!(index_terms(db), terms);
    assert_eq!(index_stats(db), stats);
}

fn index_terms(db: &Connection) -> BTreeMap<String, Vec<i64>> {
    db.execute_batch(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary
         USING fts5vocab('main', 'terms', 'instance')",
    )
    .unwrap();
    let mut found: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    let mut select = db.prepare("SELECT term, doc FROM temp.vocabulary").unwrap();
    let mut rows = select.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        found
            .entry(row.get(0).unwrap())
            .or_default()
            .push(row.get(1).unwrap());
    }
    for docs in found.values_mut() {
        docs.sort_unstable();
    }
    found
}

fn index_stats(db: &Connection) -> BTreeMap<(i64, u8), i64> {
    let sql = "SELECT scope, slot, records FROM index_stats WHERE records <> 0";
    let mut select = db.prepare(sql).unwrap();
    let rows = select.query_map([], |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)));
    rows.unwrap().map(Result::unwrap).collect()
}

#[derive(Clone, Debug)]
enum Op {
    Save {
        session: usize,
        key: u8,
        words: Vec<u8>,
        expires_in: Option<i64>,
    },
    Delete {
        session: usize,
        key: u8,
    },
    Tick(i64),
}

fn op() -> impl Strategy<Value = Op> {
    let words = prop::collection::vec(0..12_u8, 1..40);
    let expires = prop::option::weighted(0.2, 0..20_i64);
    prop_oneof![
        6 => (0..4_usize, 0..4_u8, words, expires)
            .prop_map(|(session, key, words, expires_in)| Op::Save { session, key, words, expires_in }),
        3 => (0..4_usize, 0..4_u8).prop_map(|(session, key)| Op::Delete { session, key }),
        1 => (-5..15_i64).prop_map(Op::Tick),
    ]
}

fn apply(bench: &Bench, op: &Op) {
    apply_to(&bench.store, &bench.sessions, bench.clock.now(), op);
    if let Op::Tick(seconds) = op {
        bench.clock.0.fetch_add(*seconds, Ordering::Relaxed);
    }
}

/// What the operation does to a store; the clock is the caller's.
fn apply_to(store: &MemoryStore, sessions: &[Session], now: DateTime<Utc>, op: &Op) {
    match op {
        Op::Save {
            session,
            key,
            words,
            expires_in,
        } => {
            let text: Vec<String> = words
                .iter()
                .map(|word| format!("wörd{word} 部署"))
                .collect();
            let mut draft = Draft::new(format!("key {key}"), text.join(" "))
                .tags(words.iter().take(3).map(|word| format!("Tag {word}")));
            if let Some(seconds) = expires_in {
                draft = draft.expires_at(now + chrono::Duration::seconds(*seconds));
            }
            store.save(&sessions[*session], draft).unwrap();
        }
        Op::Delete { session, key } => {
            let deleted = store.delete(&sessions[*session], &format!("key {key}"));
            if let Err(error) = deleted {
                assert!(matches!(
                    error.kind(),
                    ErrorKind::NotFound | ErrorKind::WrongLevel
                ));
            }
        }
        Op::Tick(_) => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn the_index_agrees_with_the_records_after_each_step(ops in prop::collection::vec(op(), 1..30)) {
        let bench = bench();
        for op in &ops {
            apply(&bench, op);
            check(&bench.db);
        }
        bench.store.host().reindex().unwrap();
        check(&bench.db);
    }
}

#[test]
fn sequence_numbers_that_run_out_are_given_anew() {
    let bench = bench();
    let session = &bench.sessions[0];
    for key in ["a", "b", "c"] {
        bench
            .store
            .save(session, Draft::new(key, "same words"))
            .unwrap();
    }
    bench
        .db
        .execute("UPDATE scopes SET next_seq = ?1", [Doc::MAX_SEQ + 1])
        .unwrap();
    bench
        .store
        .save(session, Draft::new("d", "same words"))
        .unwrap();
    bench
        .store
        .save(session, Draft::new("b", "same words"))
        .unwrap();
    check(&bench.db);
    let hits = bench.store.search(session, Search::new("same")).unwrap();
    let keys: Vec<_> = hits.iter().map(|hit| hit.memory.key.as_str()).collect();
    assert_eq!(keys, ["b", "d", "c", "a"]); // the last saved first
}

#[test]
fn of_many_ties_the_last_saved_are_found() {
    let bench = bench();
    let session = &bench.sessions[0];
    for batch in 0..3 {
        bench.clock.0.fetch_add(1, Ordering::Relaxed);
        let drafts = (0..600).map(|i| Draft::new(format!("k{batch}-{i:03}"), "deploy now"));
        bench.store.save_all(session, drafts).unwrap();
    }
    let hits = bench
        .store
        .search(session, Search::new("deploy").max_results(3))
        .unwrap();
    let keys: Vec<_> = hits.iter().map(|hit| hit.memory.key.as_str()).collect();
    assert_eq!(keys, ["k2-599", "k2-598", "k2-597"]);
}

#[test]
fn every_connection_has_the_settings_that_the_promises_rest_on() {
    for (durability, synchronous) in [(Durability::Full, 2), (Durability::Normal, 1)] {
        let folder = tempfile::tempdir().unwrap();
        let options = SqliteOptions {
            durability,
            busy_timeout: Duration::from_millis(1_234),
            ..SqliteOptions::default()
        };
        let sqlite = Sqlite::open(folder.path().join("memory.db"), &options).unwrap();
        let check = |db: &Connection, query_only: i64| {
            for (name, expected) in [
                ("synchronous", synchronous),
                ("busy_timeout", 1_234),
                ("secure_delete", 1),
                ("trusted_schema", 0),
                ("foreign_keys", 1),
                ("query_only", query_only),
                ("application_id", 0x5354_524C),
                ("user_version", 1),
            ] {
                let value: i64 = db.pragma_query_value(None, name, |row| row.get(0))?;
                assert_eq!(value, expected, "{name}");
            }
            let mode: String = db.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
            assert_eq!(mode, "wal");
            Ok(())
        };
        sqlite.pool.write(|db| check(db, 0)).unwrap();
        sqlite.pool.read(|db| check(db, 1)).unwrap();
        sqlite.pool.snapshot(|db| check(db, 1)).unwrap();
    }
}

#[test]
fn a_file_that_may_not_grow_is_full_and_takes_what_fits_later() {
    let bench = bench();
    let limit = |pages: i64| {
        let pragma = |db: &Connection| {
            let set = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
            Ok(db.pragma_update_and_check(None, "max_page_count", pages, set)?)
        };
        bench.sqlite.pool.write(pragma).unwrap()
    };
    // No more than it has.
    limit(1);
    let session = &bench.sessions[1];
    let large = || Draft::new("large", "w ".repeat(100_000));
    let small = || Draft::new("small", "few words");
    let error = bench
        .store
        .save_all(session, [small(), large()])
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Full);
    assert!(bench.store.get(session, "small").unwrap().is_none());
    check(&bench.db);
    limit(i64::from(u32::MAX - 1));
    bench.store.save(session, large()).unwrap();
    check(&bench.db);
}
