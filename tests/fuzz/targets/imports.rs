//! Files to import: lines of JSON, the rows of a Triggerfish database, or the bytes of one.
//!
//! Whatever they hold: what the store had stays at its level, both providers take over the same, a second
//! import changes nothing, what is refused is reported, and the store is sound afterwards.
//!
//! Input: a byte (which of the three), then the file; of a database's rows each line is a key, a tab and a value.
#![no_main]

use std::collections::BTreeMap;
use std::path::Path;

use libfuzzer_sys::fuzz_target;
use rusqlite::Connection;
use serde_json::Value;
use strandline::storage::ImportReport;
use strandline::{Classification, ErrorKind, MemoryStore, Result};
use strandline_fuzz::{Pair, builder, folder, seeds};

/// What the store has before: each level, each state, and a session that has risen.
const BEFORE: &str = concat!(
    r#"{"format":"strandline","version":1}"#,
    "\n",
    r#"{"namespace":"memory","agent":"agent","key":"k","classification":"PUBLIC","version":1,"content":"low","tags":["t"],"created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z","expires_at":null,"session":"s","lineage_id":"00000000-0000-4000-8000-000000000001","state":"live","ended_at":null}"#,
    "\n",
    r#"{"namespace":"memory","agent":"agent","key":"k","classification":"INTERNAL","version":1,"content":"old","tags":[],"created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z","expires_at":null,"session":"s","lineage_id":"00000000-0000-4000-8000-000000000002","state":"superseded","ended_at":"2026-01-02T00:00:00Z"}"#,
    "\n",
    r#"{"namespace":"memory","agent":"agent","key":"k","classification":"INTERNAL","version":2,"content":"new","tags":["T","u"],"created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-02T00:00:00Z","expires_at":null,"session":"s","lineage_id":"00000000-0000-4000-8000-000000000003","state":"live","ended_at":null}"#,
    "\n",
    r#"{"namespace":"memory","agent":"agent","key":"k","classification":"RESTRICTED","version":3,"content":"high","tags":[],"created_at":"2026-01-03T00:00:00Z","updated_at":"2026-01-03T00:00:00Z","expires_at":null,"session":"s","lineage_id":"00000000-0000-4000-8000-000000000004","state":"deleted","ended_at":"2026-01-04T00:00:00Z"}"#,
    "\n",
    r#"{"namespace":"session","agent":"host","key":"s","classification":"CONFIDENTIAL","version":1,"content":"{\"agent\":\"agent\",\"taint\":\"CONFIDENTIAL\",\"ceiling\":\"RESTRICTED\",\"raises\":[]}","tags":[],"created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z","expires_at":null,"session":"s","lineage_id":"00000000-0000-4000-8000-000000000005","state":"live","ended_at":null}"#,
    "\n",
);

fn exported(store: &MemoryStore) -> String {
    let mut file = Vec::new();
    store.host().export(&mut file).expect("it exports");
    String::from_utf8(file).expect("an export is text")
}

/// What no import may change of a version, by its lineage id: whose and where it is, and what it says.
fn fixed(export: &str) -> BTreeMap<String, Vec<Value>> {
    let one = |line: &str| {
        let line: Value = serde_json::from_str(line).expect("an export is JSON");
        let names = [
            "namespace",
            "agent",
            "key",
            "classification",
            "content",
            "tags",
            "session",
        ];
        (
            line["lineage_id"].to_string(),
            names.map(|name| line[name].clone()).to_vec(),
        )
    };
    export.lines().skip(1).map(one).collect()
}

/// The taints that are recorded: the highest level of each session's key.
fn taints(export: &str) -> BTreeMap<String, Classification> {
    let mut taints = BTreeMap::new();
    for line in export.lines().skip(1) {
        let line: Value = serde_json::from_str(line).expect("an export is JSON");
        if line["namespace"] == "session" && line["state"] == "live" {
            let level: Option<Classification> = line["classification"]
                .as_str()
                .and_then(|level| level.parse().ok());
            let level: Classification = level.expect("a level");
            let known = taints.entry(line["key"].to_string()).or_insert(level);
            *known = level.join(*known);
        }
    }
    taints
}

/// What was imported, or the kind of the error.
type Outcome = std::result::Result<ImportReport, ErrorKind>;

fn outcome(imported: Result<ImportReport>) -> Outcome {
    imported.map_err(|error| {
        let kind = error.kind();
        let known = [
            ErrorKind::InvalidArgument,
            ErrorKind::NewerVersion,
            ErrorKind::NotAStore,
            ErrorKind::Corrupt,
        ];
        assert!(known.contains(&kind), "{error:?}");
        kind
    })
}

/// Imports by this into both stores, twice.
fn check(import: impl Fn(&MemoryStore) -> Result<ImportReport>) -> Outcome {
    let pair = Pair::new();
    for store in [&pair.file, &pair.memory] {
        store
            .host()
            .import(BEFORE.as_bytes())
            .expect("what was there before");
    }
    let before = exported(&pair.file);
    assert_eq!(before, exported(&pair.memory));
    let first = outcome(import(&pair.file));
    assert_eq!(first, outcome(import(&pair.memory)), "the two providers");
    let after = exported(&pair.file);
    assert_eq!(after, exported(&pair.memory), "the two providers");
    let kept = fixed(&after);
    for (id, version) in fixed(&before) {
        assert_eq!(kept.get(&id), Some(&version), "what was there has changed");
    }
    let risen = taints(&after);
    for (session, level) in taints(&before) {
        assert!(
            risen.get(&session) >= Some(&level),
            "a recorded taint has fallen"
        );
    }
    for store in [&pair.file, &pair.memory] {
        let again = outcome(import(store));
        if let Ok(report) = &again {
            assert_eq!(
                (report.imported, report.ended, report.sessions),
                (0, 0, 0),
                "{report:?}"
            );
        }
        assert_eq!(again.is_ok(), first.is_ok());
        assert_eq!(
            exported(store),
            after,
            "a second import has changed something"
        );
        assert_eq!(store.host().check().expect("a check"), []);
        assert!(
            store
                .host()
                .verify(None)
                .expect("a verification")
                .is_sound()
        );
    }
    let moved = builder().open_in_memory().expect("a store in memory");
    let report = moved
        .host()
        .import(after.as_bytes())
        .expect("its own export");
    assert!(report.problems.is_empty(), "{report:?}");
    assert_eq!(
        exported(&moved),
        after,
        "an export that comes in differently"
    );
    first
}

/// Each line is counted; only a session's record that changes nothing is not.
fn account(report: &ImportReport, records: usize, uncounted: usize) {
    let ImportReport {
        imported,
        ended,
        unchanged,
        sessions,
        refused,
        ignored,
        ..
    } = *report;
    let counted = imported + ended + unchanged + sessions + refused + ignored;
    let counted = usize::try_from(counted).expect("a small number");
    assert!(
        counted <= records && records - counted <= uncounted,
        "{report:?} of {records}"
    );
    let most = u64::try_from(ImportReport::MAX_PROBLEMS).expect("a small number");
    let told = u64::try_from(report.problems.len()).expect("a small number");
    assert!(told >= refused.min(most), "what is refused is reported");
}

fn lines(file: &[u8]) {
    let imported = check(|store| store.host().import(file));
    let Ok(report) = imported else {
        return;
    };
    let all = file
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.trim_ascii().is_empty());
    let of_sessions = all.clone().filter(|line| {
        let line: Value = serde_json::from_slice(line).unwrap_or_default();
        line["namespace"] == "session"
    });
    account(&report, all.clone().count() - 1, of_sessions.count());
}

fn rows(file: &[u8]) {
    let folder = folder();
    let path = folder.path().join("old.db");
    let text = String::from_utf8_lossy(file);
    let rows = text.lines().filter_map(|line| line.split_once('\t'));
    let count = fill(&path, rows);
    let report = check(|store| store.host().import_triggerfish(&path));
    account(&report.expect("a sound database"), count, 0);
}

fn fill<'r>(path: &Path, rows: impl Iterator<Item = (&'r str, &'r str)>) -> usize {
    let db = Connection::open(path).expect("a new database");
    let sql = "PRAGMA synchronous = OFF; CREATE TABLE kv (key TEXT PRIMARY KEY, value TEXT)";
    db.execute_batch(sql).expect("a new table");
    let mut insert = db
        .prepare("INSERT OR IGNORE INTO kv VALUES (?1, ?2)")
        .expect("it is SQL");
    rows.map(|(key, value)| insert.execute([key, value]).expect("a row"))
        .sum()
}

fn bytes(file: &[u8]) {
    let folder = folder();
    let path = folder.path().join("old.db");
    std::fs::write(&path, file).expect("the file can be written");
    let imported = check(|store| store.host().import_triggerfish(&path));
    if let Ok(report) = imported {
        assert!(report.imported + report.refused <= 1_000);
    }
}

const ROW: &str = r#"memory:agent:INTERNAL:k	{"key":"k","agentId":"agent","classification":"PUBLIC","content":"from there","tags":["a"],"createdAt":"2026-01-31T12:00:00.000Z","updatedAt":"2026-01-31T12:00:00.000Z","expired":false,"lineageId":"one"}"#;

fn first_inputs() -> Vec<Vec<u8>> {
    let line = |text: &str| [b"\0", text.as_bytes()].concat();
    let mut seeds = vec![
        line(BEFORE),
        line(&BEFORE.replace("RESTRICTED", "PUBLIC")),
        line(&BEFORE.replace("00000000-0000-4000-8000", "10000000-0000-4000-8000")),
        line(&BEFORE.replace(
            "\"live\",\"ended_at\":null",
            "\"deleted\",\"ended_at\":\"2026-02-01T00:00:00Z\"",
        )),
        line("{\"format\":\"strandline\",\"version\":2}\n"),
        [b"\x01", ROW.as_bytes()].concat(),
        format!(
            "\u{1}{ROW}\n{}\ncron:1\t{{}}",
            ROW.replace(":k\t", ":k:k\t")
                .replace("\"k\",\"agent", "\"k:k\",\"agent")
                .replace("false", "true")
        )
        .into_bytes(),
    ];
    let folder = folder();
    let path = folder.path().join("old.db");
    fill(&path, ROW.split_once('\t').into_iter());
    let mut database = vec![2];
    database.extend(std::fs::read(&path).expect("the file can be read"));
    seeds.push(database);
    seeds
}

fuzz_target!(init: seeds(first_inputs), |data: &[u8]| {
    match data.split_first() {
        Some((byte, file)) if byte % 3 == 0 => lines(file),
        Some((byte, file)) if byte % 3 == 1 => rows(file),
        Some((_, file)) => bytes(file),
        None => (),
    }
});
