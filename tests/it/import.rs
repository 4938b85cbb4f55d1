//! Import of JSON lines that aren't what they should be.

use serde_json::{Value, json};
use strandline::audit::{Action, Query};
use strandline::storage::{ImportReport, VersionState};
use strandline::{Classification, Draft, ErrorKind, Limits, MemoryStore};
use uuid::Uuid;

use crate::export::{exported, fill, session};
use crate::keyed;

const HEADER: &str = r#"{"format":"strandline","version":1}"#;

/// A record that is right, with some of its fields replaced.
fn record(changes: &Value) -> String {
    let mut record = json!({
        "namespace": "memory", "agent": "agent", "key": "canary-key", "classification": "INTERNAL",
        "version": 1, "content": "canary-content", "tags": ["canary-tag"],
        "created_at": "2026-01-01T00:00:00.000001Z", "updated_at": "2026-01-02T00:00:00+01:00",
        "expires_at": null, "session": "s", "lineage_id": Uuid::new_v4(), "state": "live",
        "ended_at": null,
    });
    for (name, value) in changes.as_object().unwrap() {
        record[name] = value.clone();
    }
    record.to_string()
}

fn import(store: &MemoryStore, lines: &[String]) -> ImportReport {
    let text = format!("{HEADER}\n{}\n", lines.join("\n"));
    store.host().import(text.as_bytes()).unwrap()
}

#[test]
fn a_bad_line_is_reported_and_the_others_go_on() {
    let bad = [
        json!({"namespace": "No Such"}),
        json!({"namespace": null}),
        json!({"agent": " "}),
        json!({"key": ""}),
        json!({"key": 5}),
        json!({"classification": "SECRET"}),
        json!({"classification": 0}),
        json!({"version": 0}),
        json!({"version": -1}),
        json!({"version": 1.5}),
        json!({"version": u64::MAX}),
        json!({"version": "1"}),
        json!({"content": " \n"}),
        json!({"content": null}),
        json!({"content": "x".repeat(101)}),
        json!({"tags": "canary-tag"}),
        json!({"tags": [1]}),
        json!({"tags": [""]}),
        json!({"tags": ["a", "b", "c", "d"]}),
        json!({"created_at": "yesterday"}),
        json!({"created_at": "2026-01-03T00:00:00Z"}),
        json!({"updated_at": 1_700_000_000}),
        json!({"updated_at": "2026-02-30T00:00:00Z"}),
        json!({"expires_at": "2026-01-01"}),
        json!({"session": ""}),
        json!({"lineage_id": "canary-id"}),
        json!({"state": "expired"}),
        json!({"state": "deleted"}),
        json!({"ended_at": "2026-01-03T00:00:00Z"}),
        json!({"canary-field": 1}),
        json!({"namespace": "session"}),
        json!({"namespace": "session", "agent": "host"}),
    ];
    let limits = Limits {
        content_bytes: 100,
        tags: 3,
        ..Limits::default()
    };
    let store = keyed::builder().limits(limits).open_in_memory().unwrap();
    let mut lines: Vec<String> = bad.iter().map(record).collect();
    lines.extend(["canary", "[]", "{", "\"canary\"", "{\"a\":\u{1}}", "1"].map(String::from));
    let refused = lines.len();
    lines.insert(3, String::new());
    lines.insert(7, record(&json!({})));
    lines.push(record(&json!({"key": "other", "tags": null})));
    let report = import(&store, &lines);
    assert_eq!(report.imported, 2);
    assert_eq!(report.refused, u64::try_from(refused).unwrap());
    let wrong: Vec<u64> = report.problems.iter().map(|problem| problem.line).collect();
    let good = [5, 9, 2 + u64::try_from(lines.len() - 1).unwrap()];
    let expected = (2..=good[2]).filter(|line| !good.contains(line));
    assert!(wrong.iter().copied().eq(expected), "{wrong:?}");
    assert!(
        !format!("{report:?}").contains("canary"),
        "it quotes nothing"
    );
    assert!(
        report
            .problems
            .iter()
            .all(|problem| problem.reason.len() > 10)
    );
}

/// Whoever looks a file through may go by the first of two fields, and a parser by the last.
#[test]
fn no_field_comes_twice() {
    let whole = record(&json!({}));
    let twice = |field: &str| whole.replacen('{', &format!("{{{field},"), 1);
    let lines = [
        twice(r#""classification":"RESTRICTED""#),
        twice(r#""content":"canary-other""#),
        twice(r#""cl\u0061ssification":"RESTRICTED""#),
        whole.clone(),
    ];
    let store = MemoryStore::open_in_memory().unwrap();
    let report = import(&store, &lines);
    assert_eq!((report.imported, report.refused), (1, 3));
    assert!(format!("{report:?}").contains("twice") && !format!("{report:?}").contains("canary"));

    let header = r#"{"format":"strandline","version":1,"version":1}"#;
    let error = store.host().import(header.as_bytes()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    for records in ["-1", "1.5", "18446744073709551616", "\"1\"", "[]"] {
        let header = format!(r#"{{"format":"strandline","version":1,"records":{records}}}"#);
        let error = store.host().import(header.as_bytes()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{records}");
    }
}

#[test]
fn a_report_lists_so_many_problems_and_counts_all() {
    let store = MemoryStore::open_in_memory().unwrap();
    let report = import(&store, &vec!["x".to_owned(); 1_000]);
    assert_eq!(report.refused, 1_000);
    assert_eq!(report.problems.len(), ImportReport::MAX_PROBLEMS);
}

#[test]
fn a_line_that_is_too_long_is_skipped() {
    let limits = Limits {
        content_bytes: 10,
        key_bytes: 10,
        tags: 1,
        tag_bytes: 1,
        ..Limits::default()
    };
    let store = keyed::builder().limits(limits).open_in_memory().unwrap();
    let long = record(&json!({"content": "x".repeat(2_000_000)}));
    let short = record(&json!({"content": "short", "key": "k", "tags": []}));
    let report = import(&store, &[long, short]);
    assert_eq!((report.imported, report.refused), (1, 1));
    assert!(report.problems[0].reason.contains("longer than"));
}

#[test]
fn a_file_of_another_kind_is_refused_whole() {
    let store = MemoryStore::open_in_memory().unwrap();
    let good = record(&json!({}));
    for (header, kind) in [
        ("", ErrorKind::InvalidArgument),
        ("not JSON", ErrorKind::InvalidArgument),
        (good.as_str(), ErrorKind::InvalidArgument),
        (
            r#"{"format":"other","version":1}"#,
            ErrorKind::InvalidArgument,
        ),
        (r#"{"format":"strandline"}"#, ErrorKind::InvalidArgument),
        (
            r#"{"format":"strandline","version":2}"#,
            ErrorKind::NewerVersion,
        ),
    ] {
        let text = format!("{header}\n{good}\n");
        let error = store.host().import(text.as_bytes()).unwrap_err();
        let expected = if header.is_empty() {
            ErrorKind::InvalidArgument
        } else {
            kind
        };
        assert_eq!(error.kind(), expected, "{header}");
    }
    assert!(store.host().import(&b""[..]).is_err());
    assert!(
        store
            .host()
            .history("agent", "canary-key")
            .unwrap()
            .is_empty()
    );
}

#[test]
fn a_file_that_was_cut_off_is_told_of() {
    let (old, new) = (
        MemoryStore::open_in_memory().unwrap(),
        MemoryStore::open_in_memory().unwrap(),
    );
    fill(&old);
    let file = exported(&old);
    let lines: Vec<&[u8]> = file.split_inclusive(|&byte| byte == b'\n').collect();
    let cut = lines[..lines.len() - 3].concat();
    let report = new.host().import(&cut[..]).unwrap();
    assert_eq!(report.refused, 0);
    assert_eq!(report.problems.len(), 1);
    assert!(report.problems[0].reason.contains("ends before"));
    // Within a line: that one can't be read either.
    let cut = &file[..file.len() - 20];
    let report = new.host().import(cut).unwrap();
    assert_eq!(
        (
            report.imported + report.sessions,
            report.refused,
            report.problems.len()
        ),
        (2, 1, 1)
    );
}

#[test]
fn no_line_changes_a_level_or_a_content() {
    let store = MemoryStore::open_in_memory().unwrap();
    let high = session(&store, Classification::Confidential);
    let saved = store.save(&high, Draft::new("pin", "12345")).unwrap();
    let file = String::from_utf8(exported(&store)).unwrap();
    let lowered = file.replace("CONFIDENTIAL\",\"tags", "PUBLIC\",\"tags");
    assert_ne!(file, lowered);
    for changed in [lowered, file.replace("12345", "54321")] {
        let report = store.host().import(changed.as_bytes()).unwrap();
        assert_eq!(report.imported, 0);
        assert!(report.refused >= 1);
        assert!(report.problems[0].reason.contains("lineage id"));
    }
    let low = session(&store, Classification::Public);
    assert!(store.get(&low, "pin").unwrap().is_none());
    assert_eq!(store.get(&high, "pin").unwrap(), Some(saved));
}

#[test]
fn a_sessions_taint_does_not_fall_by_an_import() {
    let old = MemoryStore::open_in_memory().unwrap();
    let low = old.session("s", "agent").open().unwrap();
    let early = exported(&old);
    let new = MemoryStore::open_in_memory().unwrap();
    let high = new.session("s", "agent").taint(Classification::Restricted);
    drop(high.open().unwrap());
    assert_eq!(new.host().import(&early[..]).unwrap().sessions, 1);
    let resumed = new.session("s", "agent").open().unwrap();
    assert_eq!(resumed.taint(), Classification::Restricted);
    // The other way about it rises, also under a handle.
    let raised = exported(&new);
    assert_eq!(old.host().import(&raised[..]).unwrap().sessions, 1);
    let saved = old.save(&low, Draft::new("k", "v")).unwrap();
    assert_eq!(saved.classification, Classification::Restricted);
}

/// Once stored: `check` then missed the entry of the session that the record is of.
#[test]
fn a_sessions_record_that_another_session_stored_is_refused() {
    let old = MemoryStore::open_in_memory().unwrap();
    drop(old.session("s%", "agent").open().unwrap());
    let file = String::from_utf8(exported(&old)).unwrap();
    let changed = file.replace(r#""session":"s%""#, r#""session":"s""#);
    assert_ne!(file, changed);
    let folder = tempfile::tempdir().unwrap();
    let new = keyed::open(folder.path().join("memory.db")).unwrap();
    let report = new.host().import(changed.as_bytes()).unwrap();
    assert_eq!((report.sessions, report.refused), (0, 1));
    assert_eq!(new.host().check().unwrap(), []);
    let report = new.host().import(file.as_bytes()).unwrap();
    assert_eq!((report.sessions, report.refused), (1, 0));
    assert_eq!(new.host().check().unwrap(), []);
}

#[test]
fn what_was_deleted_does_not_come_back() {
    let store = MemoryStore::open_in_memory().unwrap();
    let session = session(&store, Classification::Public);
    store.save(&session, Draft::new("k", "v")).unwrap();
    let file = exported(&store);
    store.delete(&session, "k").unwrap();
    assert_eq!(store.host().import(&file[..]).unwrap().unchanged, 1);
    assert!(store.get(&session, "k").unwrap().is_none());
    let history = store.host().history("agent", "k").unwrap();
    assert_eq!(history[0].state, VersionState::Deleted);
}

#[test]
fn many_lines_go_in_by_transactions_and_each_leaves_an_entry() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let store = keyed::open(&path).unwrap();
    let lines = (0..1_000).map(|place| record(&json!({"key": format!("k{place}")})));
    let report = import(&store, &lines.collect::<Vec<_>>());
    assert_eq!((report.imported, report.problems.len()), (1_000, 0));
    let query = Query {
        limit: 2_000,
        ..Query::default()
    };
    let entries = store.host().audit(&query).unwrap();
    assert_eq!(entries.len(), 1_000);
    let all = entries.iter().map(|entry| &entry.facts);
    assert!(all.clone().all(|facts| facts.action == Action::Import));
    assert!(
        all.clone()
            .all(|facts| facts.level == Classification::Internal)
    );
    drop(store);
    crate::sound::assert_sound(&path);
}
