//! Clause 14: many threads at once.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::Subject;
use super::scene::{Actor, Scene, everything, record};
use crate::storage::{NewRecord, Version, VersionState};

/// Tells the readers, when it is dropped, that the writer is done or has failed.
struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Runs the reader in two threads over and over while the writer runs.
pub(super) fn beside(writer: impl FnOnce(), reader: impl Fn() + Sync) {
    let done = AtomicBool::new(false);
    let started = Barrier::new(3);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                started.wait();
                while !done.load(Ordering::SeqCst) {
                    reader();
                }
                reader();
            });
        }
        let _done = Done(&done);
        started.wait();
        writer();
    });
}

fn live(versions: &[Version]) -> usize {
    let live = versions
        .iter()
        .filter(|version| version.state == VersionState::Live);
    live.count()
}

pub(super) fn c14_one_new_key_saved_twice_at_once<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    for round in 0..20 {
        let key = format!("k{round}");
        let start = Barrier::new(2);
        let save = |content: &str| {
            start.wait();
            ada.save(&key, content).version
        };
        let (one, other) = thread::scope(|scope| {
            let one = scope.spawn(|| save("florp"));
            let other = save("quux");
            (one.join(), other)
        });
        let mut versions = [one.unwrap_or_default(), other];
        versions.sort_unstable();
        ada.same(versions, [1, 2], "each gets a version of its own");
        let history = ada.history(&key);
        ada.same(history.len(), 2, "both are in the history");
        ada.same(live(&history), 1, "and one of them is live");
        let winner = history.first().map(|found| found.memory.content.clone());
        ada.same(ada.read(&key), winner, "the later one");
    }
    let found = ada.found("florp quux").len();
    ada.same(found, 20, "each key is found once");
}

pub(super) fn c14_many_writers_lose_nothing<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    thread::scope(|scope| {
        for writer in 0..4 {
            let ada = ada.session(&format!("s-{writer}"));
            scope.spawn(move || {
                for place in 0..25 {
                    ada.save_all(&[
                        record(&format!("k-{writer}-{place:02}"), "florp"),
                        record("shared", "quux"),
                    ]);
                }
            });
        }
    });
    ada.same(ada.keys().len(), 101, "every key is there");
    ada.same(ada.found("florp").len(), 100, "and is found");
    let shared = ada.history("shared");
    ada.same(shared.len(), 100, "every version of a shared key is there");
    ada.same(live(&shared), 1, "one of them live");
    let mut versions: Vec<u64> = shared.iter().map(|found| found.memory.version).collect();
    versions.sort_unstable();
    let expected: Vec<u64> = (1..=100).collect();
    ada.same(versions, expected, "each with a number of its own");
    let mut numbers: Vec<u64> = scene.whole_audit().iter().map(|entry| entry.seq).collect();
    numbers.sort_unstable();
    let expected: Vec<u64> = (1..=200).collect();
    ada.same(numbers, expected, "and in the audit");
}

pub(super) fn c14_readers_see_whole_batches<S: Subject>(scene: Scene<S>) {
    let ada: Actor<'_> = scene.ada();
    let batch = |round: usize| -> Vec<NewRecord> {
        (0..40)
            .map(|place| record(&format!("k{place:02}"), &format!("florp {round}")))
            .collect()
    };
    ada.save_all(&batch(0));
    beside(
        || {
            for round in 1..40 {
                ada.save_all(&batch(round));
            }
        },
        || {
            let mut records = ada.list(&everything()).records;
            ada.same(records.len(), 40, "a list has the whole batch");
            records.dedup_by(|a, b| a.content == b.content);
            ada.same(records.len(), 1, "and all of it from one save");
            let mut hits = ada.search("florp", 100);
            ada.same(hits.len(), 40, "a search has the whole batch");
            hits.sort_by(|a, b| a.memory.content.cmp(&b.memory.content));
            hits.dedup_by(|a, b| a.memory.content == b.memory.content);
            ada.same(hits.len(), 1, "and all of it from one save");
        },
    );
}

pub(super) fn c14_readers_see_whole_replacements<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.save("k", "florp");
    beside(
        || {
            for _ in 0..40 {
                ada.save("k", "florp");
            }
        },
        || {
            ada.holds(ada.get("k").is_some(), "the key is never without a record");
            ada.same(ada.found("florp"), ["k"], "nor found never or twice");
            let page = ada.list(&everything());
            ada.same(page.total, Some(1), "nor counted otherwise than once");
            ada.same(live(&ada.history("k")), 1, "one version is live");
        },
    );
}
