//! What was purged or erased is nowhere in the files.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::thread;
use std::time::Duration;

use chrono::{DateTime, Utc};
use strandline::audit::{Action, Query};
use strandline::storage::{Durability, Erased, Namespace};
use strandline::{Classification, Clock, Draft, MemoryStore, Search, Session};

use crate::child;
use crate::keyed;
use crate::sound::assert_tidy;

#[derive(Debug, Default)]
struct Seconds(AtomicI64);

impl Clock for Seconds {
    fn now(&self) -> DateTime<Utc> {
        DateTime::from_timestamp(self.0.load(Ordering::Relaxed), 0).unwrap()
    }
}

struct Bench {
    folder: tempfile::TempDir,
    clock: Arc<Seconds>,
    store: MemoryStore,
}

fn bench() -> Bench {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(Seconds::default());
    let store = open(&folder.path().join("memory.db"), &clock);
    Bench {
        folder,
        clock,
        store,
    }
}

fn open(path: &Path, clock: &Arc<Seconds>) -> MemoryStore {
    keyed::builder()
        .clock(Arc::<Seconds>::clone(clock))
        .durability(Durability::Normal)
        .busy_timeout(Duration::from_secs(20))
        .open(path)
        .unwrap()
}

impl Bench {
    fn path(&self) -> PathBuf {
        self.folder.path().join("memory.db")
    }

    fn session(&self, id: &str, level: Classification) -> Session {
        self.store.session(id, "agent").taint(level).open().unwrap()
    }

    /// How often a text, or what the analysis makes of it, is in the files and in a copy of them.
    fn traces(&self, text: &str) -> usize {
        let copy = self.folder.path().join("copy.db");
        let db = keyed::raw(self.path()).unwrap();
        db.execute("VACUUM INTO ?1", [copy.to_str().unwrap()])
            .unwrap();
        drop(db);
        let count = count_in(self.folder.path(), text);
        fs::remove_file(copy).unwrap();
        count
    }
}

/// How often the text is in the files of a folder. A WAL can't be decrypted but with its store, which shows
/// its last pages alone: one that has any counts as a trace.
fn count_in(folder: &Path, text: &str) -> usize {
    let files = fs::read_dir(folder).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    paths
        .map(|path| match path.extension().unwrap().to_str() {
            Some("db") => count(&keyed::image(&path), text),
            Some("db-wal") if keyed::IS_ON => usize::from(fs::metadata(path).unwrap().len() > 0),
            _ => count(&fs::read(path).unwrap(), text),
        })
        .sum()
}

/// How often the text is there, whatever its case.
fn count(bytes: &[u8], text: &str) -> usize {
    let first = text.as_bytes()[0].to_ascii_lowercase();
    let at = |place: &usize| bytes[*place].to_ascii_lowercase() == first;
    let starts = (0..bytes.len().saturating_sub(text.len())).filter(at);
    starts
        .filter(|&start| bytes[start..start + text.len()].eq_ignore_ascii_case(text.as_bytes()))
        .count()
}

fn assert_complete(erased: Erased) {
    assert!(erased.complete, "{erased:?}");
}

/// A small generator, so that each run does the same.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    /// Words of which each has the mark at its start or after a letter, so that they are all over the index.
    fn text(&mut self, mark: &str, words: u64) -> String {
        let word = |random: &mut Self| {
            let letter = char::from(b'a' + u8::try_from(random.below(26)).unwrap());
            match random.below(3) {
                0 => format!("{letter}{mark}{:x}s", random.below(1 << 30)),
                1 => format!("{letter}plain{:x}", random.below(1 << 30)),
                _ => format!("{letter}{}", random.below(200)),
            }
        };
        let words: Vec<String> = (0..words).map(|_| word(self)).collect();
        words.join(" ")
    }
}

/// Saves, at all levels, what stays and what shall go; what shall go has the mark in content and tags.
/// Returns the keys of the latter.
fn fill(bench: &Bench, gone: &Session, mark: &str, records: u64) -> Vec<String> {
    let mut random = Random(records);
    let stay = Classification::ALL.map(|level| bench.session(&format!("stay {level}"), level));
    let mut keys = Vec::new();
    for number in 0..records {
        let key = format!("{:08x} {number}", random.below(1 << 32));
        let words = [1, 5, 30, 30, 200][usize::try_from(random.below(5)).unwrap()];
        let (session, mark) = match random.below(2) {
            0 => (&stay[usize::try_from(random.below(4)).unwrap()], "stays"),
            _ => (gone, mark),
        };
        let content = random.text(mark, words);
        let tag = format!(
            "{mark}Tag{} {}",
            random.below(500),
            "x".repeat(usize::try_from(random.below(40)).unwrap())
        );
        bench
            .store
            .save(session, Draft::new(key.as_str(), content).tag(tag))
            .unwrap();
        if mark != "stays" {
            keys.push(key);
        }
    }
    keys
}

#[test]
fn what_was_overwritten_or_deleted_is_gone_after_a_purge() {
    let bench = bench();
    let session = bench.session("s", Classification::Internal);
    let keys = fill(&bench, &session, "xqcanary", 3_000);
    bench.clock.0.fetch_add(10, Ordering::Relaxed);
    for (number, key) in keys.iter().enumerate() {
        if number % 2 == 0 {
            let draft = Draft::new(key.as_str(), "something else").tag("other");
            bench.store.save(&session, draft).unwrap();
        } else {
            bench.store.delete(&session, key).unwrap();
        }
    }
    assert!(bench.traces("xqcanar") > 0, "the history has it");
    let host = bench.store.host();
    let too_early = host.purge(bench.clock.now()).unwrap();
    assert_eq!(too_early.versions, 0);
    assert!(bench.traces("xqcanar") > 0, "what ended just then stays");
    bench.clock.0.fetch_add(10, Ordering::Relaxed);
    let purged = host.purge(bench.clock.now()).unwrap();
    assert_eq!(purged.versions, u64::try_from(keys.len()).unwrap());
    assert_complete(purged);
    assert_eq!(bench.traces("xqcanar"), 0);
    assert_eq!(host.check().unwrap(), []);
    assert_tidy(&bench.path());
}

#[test]
fn what_was_erased_by_key_is_gone() {
    let bench = bench();
    let session = bench.session("s", Classification::Confidential);
    let mut random = Random(7);
    fill(
        &bench,
        &bench.session("other", Classification::Public),
        "other",
        1_000,
    );
    for level in Classification::ALL {
        let session = bench.session(&format!("at {level}"), level);
        // Large ones too, which take pages of their own.
        let content = random.text("xqcanary", 30_000);
        bench
            .store
            .save(&session, Draft::new("k", content).tag("XqCanary tag"))
            .unwrap();
        let content = format!("龘靐齉 {}", random.text("xqcanary", 20));
        bench
            .store
            .save(&session, Draft::new("k", content))
            .unwrap();
    }
    bench
        .store
        .save(&session, Draft::new("k2", "kept"))
        .unwrap();
    assert!(bench.traces("xqcanar") > 0 && bench.traces("龘靐") > 0);
    let erased = bench.store.host().erase("agent", "k").unwrap();
    assert_eq!(erased.versions, 8);
    assert_complete(erased);
    assert_eq!((bench.traces("xqcanar"), bench.traces("龘靐")), (0, 0));
    assert!(bench.store.get(&session, "k").unwrap().is_none());
    assert!(bench.store.get(&session, "k2").unwrap().is_some());
    assert_eq!(bench.store.host().check().unwrap(), []);
    assert_tidy(&bench.path());
}

#[test]
fn what_a_session_saved_is_gone() {
    let bench = bench();
    let session = bench.session("gone", Classification::Internal);
    let keys = fill(&bench, &session, "xqcanary", 2_000);
    let other = bench.session("stay INTERNAL", Classification::Internal);
    // What another session saved over it stays, and lies over nothing.
    let first = keys[0].as_str();
    bench
        .store
        .save(&other, Draft::new(first, "later"))
        .unwrap();
    let erased = bench.store.host().erase_session("gone").unwrap();
    assert_eq!(erased.versions, u64::try_from(keys.len()).unwrap());
    assert_complete(erased);
    assert_eq!(bench.traces("xqcanar"), 0);
    let kept = bench.store.get(&other, first).unwrap().unwrap();
    assert_eq!((kept.content.as_str(), kept.version), ("later", 2));
    assert_eq!(bench.store.host().check().unwrap(), []);
    assert_tidy(&bench.path());
}

#[test]
fn an_agent_is_erased_in_every_namespace_and_its_sessions_keep_their_taint() {
    let bench = bench();
    let session = bench.session("gone", Classification::Confidential);
    let keys = fill(&bench, &session, "xqcanary", 1_000);
    let cron = bench.store.namespace(Namespace::CRON).unwrap();
    cron.save(&session, Draft::new("job", "xqcanary at noon"))
        .unwrap();
    let other = bench.store.session("o", "other agent").open().unwrap();
    bench.store.save(&other, Draft::new("k", "kept")).unwrap();
    let erased = bench.store.host().erase_agent("agent").unwrap();
    assert!(erased.versions > u64::try_from(keys.len()).unwrap());
    assert_complete(erased);
    assert_eq!(bench.traces("xqcanar") + bench.traces("staysTag"), 0);
    assert!(bench.store.get(&other, "k").unwrap().is_some());
    assert_eq!(session.taint(), Classification::Confidential);
    drop((session, cron));
    let again = bench.store.session("gone", "agent").open().unwrap();
    assert_eq!(again.taint(), Classification::Confidential);
    assert!(bench.store.session("gone", "other agent").open().is_err());
    assert_tidy(&bench.path());
}

#[test]
fn nothing_is_left_though_others_write_and_read_meanwhile() {
    let bench = bench();
    let session = bench.session("gone", Classification::Internal);
    fill(&bench, &session, "xqcanary", 1_500);
    let busy = AtomicBool::new(true);
    let erased = thread::scope(|scope| {
        for number in 0..3 {
            let (bench, busy) = (&bench, &busy);
            scope.spawn(move || {
                let session = bench.session(&format!("w{number}"), Classification::Internal);
                let mut round = 0;
                while busy.load(Ordering::Relaxed) {
                    let draft = Draft::new(
                        format!("w{number} {}", round % 50),
                        format!("round {round}"),
                    );
                    bench.store.save(&session, draft).unwrap();
                    bench
                        .store
                        .search(&session, Search::new("round plain"))
                        .unwrap();
                    round += 1;
                }
                assert!(round > 0);
            });
        }
        let erased = bench.store.host().erase_session("gone");
        busy.store(false, Ordering::Relaxed);
        erased.unwrap()
    });
    assert_complete(erased);
    if keyed::IS_ON {
        // The others wrote on after it, so that there is a WAL, into which a look can't be had: its pages are
        // looked for in the file.
        let db = keyed::raw(bench.path()).unwrap();
        db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
            .unwrap();
    }
    assert_eq!(bench.traces("xqcanar"), 0);
    assert_eq!(bench.store.host().check().unwrap(), []);
}

#[test]
fn a_reader_that_stays_keeps_it_from_being_complete_until_the_next_call() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let store = keyed::builder()
        .busy_timeout(Duration::from_millis(300))
        .open(&path)
        .unwrap();
    let session = store.session("s", "agent").open().unwrap();
    store.save(&session, Draft::new("k", "xqcanary")).unwrap();
    let reader = keyed::raw(&path).unwrap();
    reader
        .execute_batch("BEGIN; SELECT count(*) FROM records")
        .unwrap();
    let host = store.host();
    let erased = host.erase("agent", "k").unwrap();
    assert_eq!((erased.versions, erased.complete), (1, false));
    assert!(store.get(&session, "k").unwrap().is_none());
    reader.execute_batch("COMMIT").unwrap();
    let again = host.erase("agent", "k").unwrap();
    assert_eq!((again.versions, again.complete), (0, true));
    assert_eq!(count_in(folder.path(), "xqcanar"), 0);
}

#[test]
fn a_kill_on_the_way_leaves_a_store_in_which_the_next_call_finishes() {
    for round in 0_u64..12 {
        let bench = bench();
        let session = bench.session("gone", Classification::Internal);
        fill(&bench, &session, "xqcanary", 400);
        drop(session);
        let path = bench.path();
        let mut child = child::command("erasure::child_erases", &path, "")
            .spawn()
            .unwrap();
        child::go(&mut child);
        thread::sleep(Duration::from_millis(15 + 10 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        let host = bench.store.host();
        let unfinished = host.check().unwrap();
        assert!(
            unfinished
                .iter()
                .all(|problem| { problem.kind == strandline::storage::ProblemKind::Unfinished })
        );
        // Also one that asks for something else.
        let left = host.erase_session("gone").unwrap().versions;
        assert_complete(host.erase("agent", "no such key").unwrap());
        assert!(left <= 400);
        assert_eq!(bench.traces("xqcanar"), 0);
        assert_eq!(host.check().unwrap(), []);
    }
}

#[test]
#[ignore = "run by another test in a process of its own"]
fn child_erases() {
    let Some((path, _)) = child::arguments() else {
        return;
    };
    let store = keyed::open(path).unwrap();
    store.host().erase_session("gone").unwrap();
}

#[test]
fn numbers_go_on_and_the_audit_says_what_was_done() {
    let bench = bench();
    let session = bench.session("s", Classification::Public);
    let save = |key: &str| {
        bench
            .store
            .save(&session, Draft::new(key, "xqcanary"))
            .unwrap()
    };
    save("k");
    save("k");
    save("other");
    bench.clock.0.fetch_add(10, Ordering::Relaxed);
    let host = bench.store.host();
    host.purge(bench.clock.now()).unwrap();
    assert_eq!(save("k").version, 3);
    bench.store.delete(&session, "k").unwrap();
    host.erase("agent", "k").unwrap();
    assert_eq!(save("k").version, 4);
    host.erase_session("s").unwrap();
    host.erase_agent("agent").unwrap();
    assert_eq!((save("k").version, save("other").version), (5, 2));
    let entries = host.audit(&Query::default()).unwrap();
    let facts: Vec<_> = entries
        .iter()
        .map(|entry| &entry.facts)
        .filter(|facts| matches!(facts.action, Action::Purge | Action::Erase))
        .map(|facts| {
            let key = facts.key.as_ref().map(strandline::MemoryKey::as_str);
            let (session, agent) = (facts.session.as_str(), facts.agent.as_str());
            (
                facts.action,
                session,
                agent,
                key,
                facts.detail.as_deref().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        facts,
        [
            (Action::Erase, "host", "agent", None, "versions removed: 0"),
            (Action::Erase, "s", "host", None, "versions removed: 2"),
            (
                Action::Erase,
                "host",
                "agent",
                Some("k"),
                "versions removed: 2"
            ),
            (
                Action::Purge,
                "host",
                "host",
                None,
                "versions removed: 1, ended before 1970-01-01T00:00:10Z"
            ),
        ]
    );
    assert!(
        entries
            .iter()
            .all(|entry| { !serde_json::to_string(entry).unwrap().contains("xqcanary") })
    );
}
