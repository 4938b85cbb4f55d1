//! What `check` finds, what `reindex` repairs, and what the store notices by itself.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use strandline::storage::ProblemKind::{self, *};
use strandline::{Classification, Draft, MemoryStore, Search, Session};

use crate::keyed;

struct Bench {
    _folder: tempfile::TempDir,
    path: PathBuf,
    store: MemoryStore,
    sessions: [Session; 4],
    warnings: Arc<AtomicUsize>,
}

/// Some hundred memories at all levels, of which some lie over others, were replaced or deleted.
fn bench() -> Bench {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let warnings = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&warnings);
    let store = keyed::builder()
        .on_repair(move || {
            count.fetch_add(1, Ordering::SeqCst);
        })
        .open(&path)
        .unwrap();
    let sessions = Classification::ALL.map(|level| {
        let session = store.session(level.as_str(), "agent").taint(level);
        session.open().unwrap()
    });
    for (place, session) in sessions.iter().enumerate() {
        let draft = |number: usize| {
            let content = format!("zqcanary word{number} and other{} words", number * 7);
            Draft::new(format!("key {}", number + place * 100), content).tag("Zqcanary tag")
        };
        store.save_all(session, (0..300).map(draft)).unwrap();
        store.save_all(session, (0..20).map(draft)).unwrap();
        for number in 20..30 {
            let key = format!("key {}", number + place * 100);
            store.delete(session, &key).unwrap();
        }
    }
    Bench {
        _folder: folder,
        path,
        store,
        sessions,
        warnings,
    }
}

impl Bench {
    fn kinds(&self) -> Vec<ProblemKind> {
        let problems = self.store.host().check().unwrap();
        let text = format!("{problems:?} {}", serde_json::to_string(&problems).unwrap());
        assert!(!text.contains("canary") && !text.contains("key "));
        assert!(problems.iter().all(|problem| problem.count > 0));
        problems.iter().map(|problem| problem.kind).collect()
    }

    fn damage(&self, sql: &str) {
        damage(&self.path, sql);
    }

    fn finds(&self, query: &str) -> usize {
        let search = Search::new(query).max_results(50);
        self.store.search(&self.sessions[3], search).unwrap().len()
    }

    /// How often it was warned, once it was so often, or after long; and after a moment for more.
    fn warnings(&self, expected: usize) -> usize {
        let now = || self.warnings.load(Ordering::SeqCst);
        for _ in 0..10_000 {
            if now() >= expected {
                break;
            }
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(Duration::from_millis(50));
        now()
    }
}

fn damage(path: &Path, sql: &str) {
    let db = keyed::raw(path).unwrap();
    db.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    db.execute_batch(sql).unwrap();
}

const LIVE: &str = "(SELECT doc FROM records WHERE state = 0 ORDER BY id DESC LIMIT 1)";

#[test]
fn nothing_is_wrong_with_a_sound_store() {
    assert_eq!(bench().kinds(), []);
}

#[test]
fn each_kind_of_damage_is_named() {
    let lacking =
        format!("INSERT INTO terms (terms, rowid, term) VALUES ('delete', {LIVE}, 'word')");
    let excess = format!("INSERT INTO terms (rowid, term) VALUES ({LIVE}, 'another')");
    let cases: [(&str, &[ProblemKind]); 20] = [
        (
            "UPDATE records SET shadow = 3 WHERE id = 700",
            &[Shadow, Terms, Counts],
        ),
        ("DELETE FROM record_tags WHERE record = 1100", &[Tags]),
        (
            "UPDATE record_tags SET record = 1 WHERE record = 1100",
            &[Tags],
        ),
        (
            "INSERT INTO record_tags VALUES (1, 'more', 'key', 0, 1)",
            &[Tags],
        ),
        (
            "UPDATE records SET tags = '[1' WHERE id = 1100",
            &[Record, Tags, Terms],
        ),
        (
            "UPDATE records SET tags = '[\"new\"]' WHERE id = 1100",
            &[Tags, Terms],
        ),
        (
            "UPDATE records SET content = 'changed text' WHERE id = 1100",
            &[Terms],
        ),
        (
            "UPDATE records SET ended_at = NULL WHERE state = 2",
            &[Record],
        ),
        (&lacking, &[Terms]),
        (&excess, &[Terms]),
        ("UPDATE index_stats SET records = records + 1", &[Counts]),
        ("UPDATE scopes SET next_seq = 3", &[Counts]),
        ("INSERT INTO index_stats VALUES (99, 0, 0)", &[Reference]),
        ("DELETE FROM audit WHERE seq = 3", &[Audit]),
        ("UPDATE audit SET detail = 'other' WHERE seq = 3", &[Audit]),
        (
            "UPDATE records SET version = 99 WHERE id = (SELECT max(id) FROM records WHERE state = 2)",
            &[Audit],
        ),
        (
            "UPDATE terms_config SET v = 0 WHERE k = 'secure-delete'",
            &[Terms],
        ),
        ("DELETE FROM terms_idx", &[Index]),
        (
            "UPDATE terms_config SET v = 99 WHERE k = 'version'",
            &[Index],
        ),
        (
            "UPDATE terms_data SET block = x'00' WHERE id = (SELECT max(id) FROM terms_data)",
            &[Index],
        ),
    ];
    for (sql, expected) in cases {
        let bench = bench();
        bench.damage(sql);
        let found = bench.kinds();
        // Damage of one thing may show in others.
        assert!(
            expected.iter().all(|kind| found.contains(kind)),
            "{sql}: {found:?}"
        );
        let is_of_index = |kind: &ProblemKind| matches!(kind, Terms | Index | Counts);
        let repaired = expected.iter().all(is_of_index) && !sql.contains("scopes");
        if repaired {
            bench.store.host().reindex().unwrap();
            assert_eq!(bench.kinds(), [], "{sql}");
            assert!(bench.finds("word299") > 0);
        }
    }
}

#[test]
fn damage_below_the_tables_is_named() {
    let bench = bench();
    drop(bench.sessions);
    drop(bench.store);
    let mut bytes = std::fs::read(&bench.path).unwrap();
    let page = keyed::raw(&bench.path)
        .unwrap()
        .query_row(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'audit_session'",
            [],
            |row| row.get::<_, u32>(0),
        )
        .unwrap();
    let page = usize::try_from(page).unwrap();
    bytes[page * 4_096 - 200..page * 4_096 - 100].fill(0xff);
    std::fs::write(&bench.path, bytes).unwrap();
    let store = keyed::open(&bench.path).unwrap();
    let kinds: Vec<_> = store
        .host()
        .check()
        .unwrap()
        .into_iter()
        .map(|problem| problem.kind)
        .collect();
    // SQLCipher reads nothing more by a connection that has come upon such a page.
    assert!(kinds == [File] || keyed::IS_ON && kinds.starts_with(&[File]));
}

#[test]
fn a_search_of_a_damaged_index_is_never_silently_empty() {
    for sql in [
        "DELETE FROM index_stats",
        "UPDATE index_stats SET records = 0",
        "DELETE FROM terms_data WHERE id > 10",
        "DELETE FROM terms_data",
        "UPDATE terms_data SET block = zeroblob(length(block)) WHERE id > 10",
    ] {
        let bench = bench();
        let find_all = || -> Vec<usize> {
            let found = (0..300).map(|number| bench.finds(&format!("word{number}")));
            found.collect()
        };
        let before = find_all();
        assert!(before.iter().all(|found| *found > 0));
        bench.damage(sql);
        let got = bench.store.get(&bench.sessions[0], "key 7").unwrap();
        assert!(got.is_some(), "{sql}");
        assert_eq!(find_all(), before, "{sql}");
        assert_eq!(bench.kinds(), [], "{sql}");
        assert_eq!(bench.warnings(1), 1, "{sql}");
        assert_eq!(bench.finds("nosuchword"), 0);
        assert_eq!(bench.warnings(1), 1, "once is enough: {sql}");
    }
}

#[test]
fn a_search_that_finds_nothing_repairs_nothing() {
    let bench = bench();
    for session in &bench.sessions {
        for query in ["nosuchword", "部署 unknown", "?!"] {
            let found = bench.store.search(session, Search::new(query)).unwrap();
            assert!(found.is_empty());
        }
    }
    let nobody = bench.store.session("n", "nobody").open().unwrap();
    assert!(
        bench
            .store
            .search(&nobody, Search::new("word"))
            .unwrap()
            .is_empty()
    );
    for key in ["?!", "部署", "die-straße", "ключи"] {
        let session = bench.store.session(key, key).open().unwrap();
        bench
            .store
            .save(&session, Draft::new(key, "die Häuser und ключ 今天"))
            .unwrap();
        assert!(
            bench
                .store
                .search(&session, Search::new("nosuchword"))
                .unwrap()
                .is_empty()
        );
    }
    assert_eq!(bench.warnings(0), 0);
}

#[test]
fn an_index_that_did_not_overwrite_is_made_anew_by_an_erasure() {
    let bench = bench();
    bench.damage("INSERT INTO terms (terms, rank) VALUES ('secure-delete', 0)");
    // A new one, since a connection keeps the options that it has read.
    let store = keyed::open(&bench.path).unwrap();
    for session in &bench.sessions {
        store
            .delete(
                &store
                    .session(session.id().as_str(), "agent")
                    .open()
                    .unwrap(),
                "key 299",
            )
            .ok();
    }
    let erased = store.host().erase_agent("agent").unwrap();
    assert!(erased.complete);
    assert_eq!(bench.kinds(), []);
    for suffix in ["", "-wal"] {
        let mut file = bench.path.clone().into_os_string();
        file.push(suffix);
        let bytes = std::fs::read(file).unwrap();
        assert!(
            !bytes
                .windows(8)
                .any(|window| window == b"zqcanari" || window == b"zqcanary")
        );
    }
}

#[test]
fn a_check_keeps_nobody_from_writing() {
    let bench = bench();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let (bench, done) = (&bench, &done);
        let writer = scope.spawn(move || {
            let mut saved = 0;
            while !done.load(Ordering::SeqCst) {
                let draft = Draft::new(format!("new {}", saved % 40), format!("round {saved}"));
                bench.store.save(&bench.sessions[1], draft).unwrap();
                saved += 1;
            }
            saved
        });
        for _ in 0..20 {
            assert_eq!(bench.kinds(), []);
        }
        done.store(true, Ordering::SeqCst);
        assert!(writer.join().unwrap() > 20);
    });
}
