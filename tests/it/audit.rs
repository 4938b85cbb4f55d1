//! The audit's chain: whatever is done to the file or to an export comes to light.

mod exports;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde_json::Value;
use strandline::audit::{
    Action, Anchor, Decision, Digest, Flaw, FlawKind, Query, Verification, verify_export,
};
use strandline::policy::{Denial, Request, Rule};
use strandline::storage::{Durability, InMemory};
use strandline::tools::Tools;
use strandline::{Classification, Clock, Draft, Error, ErrorKind, List, MemoryStore, Search};
use tempfile::TempDir;

use crate::child;
use crate::keyed;
use crate::providers::Home;

#[derive(Debug)]
struct NoDeletes;

impl Rule for NoDeletes {
    fn judge(&self, request: &Request<'_>) -> Option<Denial> {
        let denied = request.action == Action::Delete && request.agent.as_str() == "careful";
        denied.then(|| Denial::new("nothing is deleted here"))
    }

    fn name(&self) -> &'static str {
        "no-deletes"
    }
}

#[derive(Debug)]
struct Stopped;

impl Clock for Stopped {
    fn now(&self) -> DateTime<Utc> {
        "2026-01-01T00:00:00.000123Z".parse().unwrap()
    }
}

fn open(path: &Path) -> MemoryStore {
    keyed::builder()
        .durability(Durability::Normal)
        .rule(Arc::new(NoDeletes))
        .clock(Arc::new(Stopped))
        .open(path)
        .unwrap()
}

/// Every kind of entry: each column has a value in one of them, and is NULL in another.
fn fill(store: &MemoryStore) {
    let session = store.session("s-1", "careful").open().unwrap();
    store.save(&session, Draft::new("k", "v")).unwrap();
    session
        .raise(Classification::Internal, "opened the wiki")
        .unwrap();
    store.save(&session, Draft::new("k", "w")).unwrap();
    store.delete(&session, "k").unwrap_err();
    let other = store.session("s-2", "other").open().unwrap();
    store.save(&other, Draft::new("l", "v")).unwrap();
    store.delete(&other, "l").unwrap();
    let tools = Tools::new(store.clone());
    tools.call(&other, "memory_get", Value::Null).unwrap();
}

/// How many entries [`fill`] leaves.
const ENTRIES: u64 = 9;

struct Tampered {
    _folder: TempDir,
    path: PathBuf,
    anchor: Anchor,
}

impl Tampered {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        let store = open(&path);
        fill(&store);
        let Verification::Sound(anchor) = store.host().verify(None).unwrap() else {
            panic!("broken before anything was done to it");
        };
        assert_eq!(anchor.entries, ENTRIES);
        Self {
            _folder: folder,
            path,
            anchor,
        }
    }

    fn verify(&self, anchor: Option<&Anchor>) -> Verification {
        open(&self.path).host().verify(anchor).unwrap()
    }

    fn run(&self, sql: &str) {
        let db = keyed::raw(&self.path).unwrap();
        db.execute_batch(sql).unwrap();
    }

    /// What is found after this is done to the file, which is as it was afterwards.
    fn after(&self, sql: &str, anchor: Option<&Anchor>) -> Verification {
        // Kept in another file, since a store to which a table was added doesn't open.
        let side = self.path.with_extension("kept");
        let beside = format!("ATTACH '{}' AS side;", side.display());
        let kept = "DROP TABLE IF EXISTS side.kept; DROP TABLE IF EXISTS side.numbers;
                    CREATE TABLE side.kept AS SELECT * FROM audit;
                    CREATE TABLE side.numbers AS SELECT * FROM sqlite_sequence;";
        self.run(&format!("{beside}{kept}"));
        self.run(sql);
        let found = self.verify(anchor);
        let back = "DELETE FROM audit; INSERT INTO audit SELECT * FROM side.kept;
                    UPDATE sqlite_sequence SET seq =
                        (SELECT n.seq FROM side.numbers n WHERE n.name = sqlite_sequence.name);";
        self.run(&format!("{beside}{back}"));
        found
    }

    fn count(&self, sql: &str) -> i64 {
        let db = keyed::raw(&self.path).unwrap();
        db.query_row(sql, [], |row| row.get(0)).unwrap()
    }
}

fn broken(seq: u64, kind: FlawKind) -> Verification {
    Verification::Broken(Flaw { seq, kind })
}

#[test]
fn a_changed_column_of_any_entry_is_found() {
    let file = Tampered::new();
    let changes = [
        ("at", "at + 1"),
        ("at", "9223372036854775807"),
        ("session", "session || 'x'"),
        ("session", "''"),
        ("agent", "'other agent'"),
        ("namespace", "'todo'"),
        ("namespace", "'no namespace'"),
        ("action", "iif(action = 'save', 'get', 'save')"),
        ("action", "'no action'"),
        ("decision", "1 - decision"),
        ("decision", "300"),
        ("level", "3 - level"),
        ("level", "-1"),
        ("key", "coalesce(key, '') || 'x'"),
        ("key", "iif(key IS NULL, 'k', NULL)"),
        ("version", "coalesce(version, 0) + 1"),
        ("version", "iif(version IS NULL, 1, NULL)"),
        ("version", "-1"),
        ("rule", "coalesce(rule, '') || 'x'"),
        ("rule", "iif(rule IS NULL, '', NULL)"),
        ("detail", "coalesce(detail, '') || 'x'"),
        ("detail", "iif(detail IS NULL, '', NULL)"),
        ("detail", "CAST(x'ff' AS TEXT)"),
        ("hash", "randomblob(32)"),
        ("hash", "x''"),
    ];
    for (column, value) in changes {
        for seq in 1..=ENTRIES {
            let sql = format!("UPDATE audit SET {column} = {value} WHERE seq = {seq}");
            let found = file.after(&sql, None);
            assert_eq!(found, broken(seq, FlawKind::Changed), "{sql}");
        }
    }
    let columns = "SELECT count(*) FROM pragma_table_info('audit')";
    assert_eq!(file.count(columns), 13, "each column is among the changes");
    assert_eq!(
        file.verify(Some(&file.anchor)),
        Verification::Sound(file.anchor)
    );
}

#[test]
fn a_text_that_reads_the_same_is_a_change() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let store = open(&path);
    let session = store.session("s", "agent").open().unwrap();
    store.save(&session, Draft::new("caf\u{e9}", "v")).unwrap();
    let db = keyed::raw(&path).unwrap();
    let sql = "UPDATE audit SET key = ?1 WHERE seq = 2";
    assert_eq!(db.execute(sql, ["cafe\u{301}"]).unwrap(), 1);
    let found = store.host().verify(None).unwrap();
    assert_eq!(found, broken(2, FlawKind::Changed));
}

#[test]
fn a_removed_entry_is_found() {
    let file = Tampered::new();
    for seq in 1..=ENTRIES {
        let sql = format!("DELETE FROM audit WHERE seq = {seq}");
        let found = file.after(&sql, None);
        assert_eq!(found, broken(seq, FlawKind::Missing), "{sql}");
    }
    let all = file.after("DELETE FROM audit", None);
    assert_eq!(all, broken(1, FlawKind::Missing));
    // The gap is closed by new numbers.
    for seq in 1..ENTRIES {
        let sql = format!(
            "DELETE FROM audit WHERE seq = {seq};
             UPDATE audit SET seq = -seq WHERE seq > {seq};
             UPDATE audit SET seq = -seq - 1 WHERE seq < 0;"
        );
        let found = file.after(&sql, None);
        assert_eq!(found, broken(seq, FlawKind::Changed), "{sql}");
    }
}

#[test]
fn entries_that_changed_places_are_found() {
    let file = Tampered::new();
    for first in 1..ENTRIES {
        for second in first + 1..=ENTRIES {
            let sql = format!(
                "UPDATE audit SET seq = -1 WHERE seq = {first};
                 UPDATE audit SET seq = {first} WHERE seq = {second};
                 UPDATE audit SET seq = {second} WHERE seq = -1;"
            );
            let found = file.after(&sql, None);
            assert_eq!(found, broken(first, FlawKind::Moved), "{sql}");
        }
    }
}

#[test]
fn an_entry_that_was_never_stored_is_found() {
    let file = Tampered::new();
    let copy = |seq: i64| {
        format!(
            "INSERT INTO audit SELECT {seq}, at, session, agent, namespace, action, decision, level,
                key, version, rule, detail, hash FROM audit WHERE seq = 2"
        )
    };
    let next = i64::try_from(ENTRIES).unwrap() + 1;
    let found = file.after(&copy(next), None);
    assert_eq!(found, broken(ENTRIES + 1, FlawKind::Changed));
    for seq in [0, -1, i64::MIN + 1] {
        let found = file.after(&copy(seq), None);
        assert_eq!(found, broken(1, FlawKind::Moved), "{seq}");
    }
    let lonely = format!("{}; DELETE FROM audit WHERE seq > 0", copy(-7));
    assert_eq!(file.after(&lonely, None), broken(1, FlawKind::Moved));
}

#[test]
fn a_lost_end_is_found_by_the_stores_count_or_by_an_anchor() {
    let file = Tampered::new();
    let lost = format!("DELETE FROM audit WHERE seq > {}", ENTRIES - 2);
    let missing = broken(ENTRIES - 1, FlawKind::Missing);
    assert_eq!(file.after(&lost, None), missing);
    let hidden = format!(
        "{lost}; UPDATE sqlite_sequence SET seq = {} WHERE name = 'audit'",
        ENTRIES - 2
    );
    assert!(file.after(&hidden, None).is_sound(), "no one can tell");
    assert_eq!(file.after(&hidden, Some(&file.anchor)), missing);
    let hidden = "DELETE FROM audit; DELETE FROM sqlite_sequence WHERE name = 'audit'";
    let found = file.after(hidden, Some(&file.anchor));
    assert_eq!(found, broken(1, FlawKind::Missing));
}

#[test]
fn what_is_stored_after_a_lost_end_does_not_hide_it() {
    let file = Tampered::new();
    file.run(&format!("DELETE FROM audit WHERE seq = {ENTRIES}"));
    let store = open(&file.path);
    let session = store.session("s-3", "other").open().unwrap();
    store.save(&session, Draft::new("k", "v")).unwrap();
    let found = store.host().verify(None).unwrap();
    assert_eq!(found, broken(ENTRIES, FlawKind::Missing));
}

#[test]
fn a_chain_that_was_written_anew_is_found_by_an_anchor() {
    let file = Tampered::new();
    let mut entries = open(&file.path).host().audit(&Query::default()).unwrap();
    entries.reverse();
    let db = keyed::raw(&file.path).unwrap();
    let mut previous = Digest::ZERO;
    for mut entry in entries {
        if entry.facts.decision == Decision::Refused {
            entry.facts.detail = Some("nothing happened".into());
        }
        previous = Digest::of_entry(&previous, entry.seq, &entry.facts);
        let sql = "UPDATE audit SET detail = ?2, hash = ?3 WHERE seq = ?1";
        let row = (
            entry.seq.cast_signed(),
            entry.facts.detail,
            previous.as_bytes(),
        );
        db.execute(sql, row).unwrap();
    }
    assert!(file.verify(None).is_sound(), "it agrees with itself");
    let found = file.verify(Some(&file.anchor));
    assert_eq!(found, broken(ENTRIES, FlawKind::Rewritten));
    let start = Anchor {
        entries: 0,
        head: file.anchor.head,
    };
    assert_eq!(file.verify(Some(&start)), broken(0, FlawKind::Rewritten));
}

#[test]
fn a_long_chain_is_checked_to_its_end() {
    let file = Tampered::new();
    let store = open(&file.path);
    let session = store.session("s-2", "other").open().unwrap();
    let drafts = (0..1_000).map(|i| Draft::new(format!("k{i}"), "v"));
    store.save_all(&session, drafts).unwrap();
    let last = ENTRIES + 1 + 1_000;
    for seq in [255, 256, 257, 512, 513, last] {
        let changed = format!("UPDATE audit SET at = at - 1 WHERE seq = {seq}");
        let found = file.after(&changed, None);
        assert_eq!(found, broken(seq, FlawKind::Changed));
        let removed = format!("DELETE FROM audit WHERE seq = {seq}");
        let found = file.after(&removed, None);
        assert_eq!(found, broken(seq, FlawKind::Missing));
    }
    let swapped = format!(
        "UPDATE audit SET seq = -1 WHERE seq = 100;
         UPDATE audit SET seq = 100 WHERE seq = {last};
         UPDATE audit SET seq = {last} WHERE seq = -1;"
    );
    let found = file.after(&swapped, None);
    assert_eq!(found, broken(100, FlawKind::Moved));
    assert!(file.verify(Some(&file.anchor)).is_sound());
}

#[test]
fn an_anchor_holds_while_the_chain_grows_and_comes_back_from_text() {
    let file = Tampered::new();
    let anchor: Anchor = file.anchor.to_string().parse().unwrap();
    assert_eq!(anchor, file.anchor);
    let json = serde_json::to_string(&anchor).unwrap();
    assert_eq!(serde_json::from_str::<Anchor>(&json).unwrap(), anchor);
    for text in ["", "9", "9:", ":00", "9:zz", "-1:", "9:00:", "9;"] {
        let error = text.parse::<Anchor>().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{text}");
    }
    let upper = file.anchor.to_string().to_uppercase();
    assert!(upper.parse::<Anchor>().is_err() || upper == file.anchor.to_string());
    let store = open(&file.path);
    let session = store.session("s-2", "other").open().unwrap();
    store.save(&session, Draft::new("k", "v")).unwrap();
    let found = store.host().verify(Some(&anchor)).unwrap();
    let Verification::Sound(later) = found else {
        panic!("{found:?}");
    };
    assert_eq!(later.entries, ENTRIES + 2);
}

/// An export's lines.
fn export(store: &MemoryStore) -> (Vec<String>, Anchor) {
    let mut out = Vec::new();
    let anchor = store.host().export_audit(&mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    (text.lines().map(str::to_owned).collect(), anchor)
}

fn verify(lines: &[String]) -> Verification {
    verify_export(lines.join("\n").as_bytes(), None).unwrap()
}

#[test]
fn the_chain_holds_over_several_processes_and_threads() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    drop(open(&path));
    let test = "processes::child_saves";
    child::run_all(
        (0..4).map(|process| child::command(test, &path, &format!("distinct {process} 100"))),
    );
    let store = open(&path);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let store = &store;
            scope.spawn(move || {
                let session = store
                    .session(format!("t-{thread}"), "agent")
                    .open()
                    .unwrap();
                for _ in 0..50 {
                    store.save(&session, Draft::new("k", "v")).unwrap();
                    assert!(store.host().verify(None).unwrap().is_sound());
                }
            });
        }
    });
    let found = store.host().verify(None).unwrap();
    let Verification::Sound(anchor) = found else {
        panic!("{found:?}");
    };
    assert_eq!(anchor.entries, 4 * 101 + 4 * 51);
    let (lines, exported) = export(&store);
    assert_eq!(exported, anchor);
    assert_eq!(verify(&lines), Verification::Sound(anchor));
}

fn a_denial_names_the_rule<H: Home>() {
    let home = H::new();
    let store = home.open(keyed::builder().rule(Arc::new(NoDeletes)));
    fill(&store);
    let entries = store.host().audit(&Query::default()).unwrap();
    let denied = entries.iter().filter(|entry| entry.facts.rule.is_some());
    let denied: Vec<_> = denied.map(|entry| &entry.facts).collect();
    let [facts] = &denied[..] else {
        panic!("{} denials", denied.len());
    };
    assert_eq!(facts.rule.as_deref(), Some("no-deletes"));
    assert_eq!(facts.decision, Decision::Refused);
    assert_eq!(
        facts.detail.as_deref(),
        Some("denied: nothing is deleted here")
    );
}

fn an_opening_by_another_agent_is_noted<H: Home>() {
    let home = H::new();
    let store = home.open(keyed::builder());
    let session = store.session("s", "owner").open().unwrap();
    for _ in 0..2 {
        let refused = store.session("s", "other").open().unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::SessionMismatch);
        let newest = &store.host().audit(&Query::default()).unwrap()[0].facts;
        assert_eq!(newest.action, Action::Open);
        assert_eq!(newest.decision, Decision::Refused);
        assert_eq!(
            (newest.session.as_str(), newest.agent.as_str()),
            ("s", "other")
        );
    }
    drop(session);
    let other = home.open(keyed::builder());
    other.session("s", "other").open().unwrap_err();
    let query = Query {
        decision: Some(Decision::Refused),
        ..Query::default()
    };
    assert_eq!(store.host().audit(&query).unwrap().len(), 3);
}

fn reads_leave_entries_when_the_host_asks<H: Home>() {
    let home = H::new();
    let store = home.open(keyed::builder().audit_reads(true));
    let session = store.session("s", "agent").open().unwrap();
    let drafts = ["a", "b"].map(|key| Draft::new(key, "some words").tag("t"));
    store.save_all(&session, drafts).unwrap();
    store.save(&session, Draft::new("b", "some words")).unwrap();
    let before = store.host().audit(&Query::default()).unwrap().len();
    store.get(&session, "b").unwrap();
    store.get(&session, "absent").unwrap();
    store.search(&session, Search::new("words")).unwrap();
    store.list(&session, List::new().tag("t")).unwrap();
    let mut entries = store.host().audit(&Query::default()).unwrap();
    entries.reverse();
    let found: Vec<_> = entries[before..]
        .iter()
        .map(|entry| {
            let facts = &entry.facts;
            assert_eq!(facts.decision, Decision::Allowed);
            let key = facts.key.as_ref().map(strandline::MemoryKey::as_str);
            (
                facts.action,
                key,
                facts.version,
                facts.detail.as_deref().unwrap(),
            )
        })
        .collect();
    let expected = [
        (Action::Get, Some("b"), Some(2), "found 1"),
        (Action::Get, Some("absent"), None, "found 0"),
        (Action::Search, None, None, "found 2"),
        (Action::List, None, None, "found 1"),
    ];
    assert_eq!(found, expected);
    assert!(store.host().verify(None).unwrap().is_sound());
    let quiet = home.open(keyed::builder());
    let session = quiet.session("s", "agent").open().unwrap();
    let before = quiet.host().audit(&Query::default()).unwrap().len();
    quiet.get(&session, "b").unwrap();
    assert_eq!(quiet.host().audit(&Query::default()).unwrap().len(), before);
}

fn no_entry_holds_what_is_remembered_or_asked<H: Home>() {
    const MARKER: &str = "canaryzebra";
    let home = H::new();
    let builder = keyed::builder().audit_reads(true).lineage(true);
    let store = home.open(builder.rule(Arc::new(NoDeletes)));
    let session = store.session("s", "careful").open().unwrap();
    let draft = || Draft::new("k", MARKER).tag(MARKER);
    store.save(&session, draft()).unwrap();
    store.get(&session, "k").unwrap();
    store.search(&session, Search::new(MARKER)).unwrap();
    store.list(&session, List::new().tag(MARKER)).unwrap();
    store.delete(&session, "k").unwrap_err();
    session.raise(Classification::Internal, "a reason").unwrap();
    store.save(&session, draft()).unwrap();
    let tools = Tools::new(store.clone());
    for (tool, arguments) in [
        (
            "memory_save",
            serde_json::json!({"key": "k", "content": {MARKER: 1}}),
        ),
        (
            "memory_save",
            serde_json::json!({"key": "k", "content": MARKER, "level": MARKER}),
        ),
        (
            "memory_search",
            serde_json::json!({"query": MARKER, "max_results": MARKER}),
        ),
        ("memory_search", serde_json::json!({"query": MARKER})),
    ] {
        tools.call(&session, tool, arguments).unwrap();
    }
    let (lines, _) = export(&store);
    assert!(lines.len() > 10);
    for line in lines {
        assert!(!line.contains(MARKER), "{line}");
    }
}

macro_rules! on_each_provider {
    ($($name:ident)*) => {
        mod in_memory {
            $(#[test] fn $name() { super::$name::<std::sync::Arc<super::InMemory>>(); })*
        }
        mod sqlite {
            $(#[test] fn $name() { super::$name::<super::TempDir>(); })*
        }
    };
}

on_each_provider! {
    a_denial_names_the_rule
    an_opening_by_another_agent_is_noted
    reads_leave_entries_when_the_host_asks
    no_entry_holds_what_is_remembered_or_asked
}

#[test]
fn a_read_that_can_not_be_noted_returns_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let store = keyed::builder()
        .audit_reads(true)
        .busy_timeout(std::time::Duration::from_millis(20))
        .open(&path)
        .unwrap();
    let session = store.session("s", "agent").open().unwrap();
    store.save(&session, Draft::new("k", "v")).unwrap();
    let lock = keyed::raw(&path).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    let kind = |error: Error| error.kind();
    assert_eq!(store.get(&session, "k").map_err(kind), Err(ErrorKind::Busy));
    let found = store.search(&session, Search::new("v")).map_err(kind);
    assert_eq!(found.err(), Some(ErrorKind::Busy));
    let page = store.list(&session, List::new()).map_err(kind);
    assert_eq!(page.err(), Some(ErrorKind::Busy));
    lock.execute_batch("ROLLBACK").unwrap();
    assert!(store.get(&session, "k").unwrap().is_some());
}
