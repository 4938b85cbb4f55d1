//! The taint under every interleaving that a model checker comes up with (invariant I2).
//!
//! ```text
//! RUSTFLAGS="--cfg shuttle" cargo test --target-dir target/shuttle --lib races
//! ```
//!
//! Under that `cfg` the locks of the session and the gate are shuttle's, which decides at each who goes
//! on. Two things keep a write from landing below a raise: the gate holds the taint until the write is
//! done, and the provider refuses what is below the recorded taint (clause 7). Each is checked alone,
//! and without both the checker must find the race.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use shuttle::sync::atomic::AtomicUsize;
use shuttle::thread;

use crate::audit::{self, Action};
use crate::planted::{self, Fault};
use crate::policy::WriteGrant;
use crate::record::MemoryKey;
use crate::storage::{Deletion, InMemory, Namespace, NewRecord, StorageProvider};
use crate::{Classification, Draft, Memory, MemoryStore, Result, Session};

/// How many schedules each check tries.
const SCHEDULES: usize = 5_000;

/// How many times, at most, a schedule of the second kind takes the turn from a thread.
const DEPTH: usize = 3;

/// A provider at whose writes the other threads may go first.
#[derive(Debug, Default)]
struct Interrupted {
    records: InMemory,
    /// The checker may switch threads at each access.
    writes: AtomicUsize,
    /// Whether a write below the session's recorded taint is refused.
    refuses: bool,
}

impl Interrupted {
    #[expect(clippy::unnecessary_wraps, reason = "`forward` asks for it")]
    fn records(&self) -> Result<&InMemory> {
        Ok(&self.records)
    }

    /// The grant for a session of which nothing is recorded, so that nothing is refused.
    fn unnamed(grant: &WriteGrant<'_>) -> WriteGrant<'static> {
        let read = grant.as_read().clone();
        WriteGrant::forge(read, "unnamed".parse().unwrap(), Action::Save)
    }
}

impl StorageProvider for Interrupted {
    fn is_durable(&self) -> bool {
        false
    }

    fn save(&self, grant: &WriteGrant<'_>, records: &[NewRecord]) -> Result<Vec<Memory>> {
        self.writes.fetch_add(1, Ordering::SeqCst);
        if self.refuses || *grant.namespace() == Namespace::SESSION {
            return self.records.save(grant, records);
        }
        self.records.save(&Self::unnamed(grant), records)
    }

    fn delete(&self, grant: &WriteGrant<'_>, key: &MemoryKey) -> Result<Deletion> {
        self.writes.fetch_add(1, Ordering::SeqCst);
        self.records.delete(grant, key)
    }

    crate::forward!(records: get, list, search, append, history, audit, reindex, trail, note_read, sources,
        derivations, versions, import, backup, restore, erase, check, history_page, stats, holdings, language);
}

fn store(refuses: bool) -> MemoryStore {
    MemoryStore::builder().with_provider(Arc::new(Interrupted {
        refuses,
        ..Interrupted::default()
    }))
}

/// Saves twice, each time above the floor that there was before and not above the taint after.
fn save(store: &MemoryStore, session: &Session, floor: &AtomicU8) {
    for key in ["one", "two"] {
        let before = floor.load(Ordering::SeqCst);
        let written = store.save(session, Draft::new(key, "v")).unwrap();
        let level = written.classification.rank();
        assert!(before <= level, "saved below a raise that had returned");
        assert!(level <= session.taint().rank());
    }
}

/// The order in which the provider took the writes: none is below a raise before it.
fn assert_in_order(store: &MemoryStore) {
    let query = audit::Query::default();
    let mut entries = store.host().audit(&query).unwrap();
    entries.reverse();
    let mut taint = Classification::Public;
    for facts in entries.into_iter().map(|entry| entry.facts) {
        match facts.action {
            Action::Raise => taint = taint.join(facts.level),
            Action::Save => assert!(
                facts.level >= taint,
                "a save at {} was stored after the raise to {taint}",
                facts.level
            ),
            _ => (),
        }
    }
}

/// One session, two savers, and a raiser.
fn race(refuses: bool) {
    let store = store(refuses);
    let session = store.session("s", "agent").open().unwrap();
    let floor = Arc::new(AtomicU8::new(0));
    let savers: Vec<_> = (0..2)
        .map(|_| {
            let (store, session, floor) = (store.clone(), session.clone(), Arc::clone(&floor));
            thread::spawn(move || save(&store, &session, &floor))
        })
        .collect();
    for level in [Classification::Internal, Classification::Restricted] {
        let taint = session.raise(level, "read more").unwrap();
        floor.store(taint.rank(), Ordering::SeqCst);
    }
    for saver in savers {
        saver.join().unwrap();
    }
    assert_in_order(&store);
}

/// Two stores over the same records, each with a handle of one session.
fn race_of_stores() {
    let records: Arc<dyn StorageProvider> = Arc::new(Interrupted {
        refuses: true,
        ..Interrupted::default()
    });
    let stores = [(); 2].map(|()| MemoryStore::builder().with_provider(Arc::clone(&records)));
    let [saving, raising] = &stores;
    let session = saving.session("s", "agent").open().unwrap();
    let floor = Arc::new(AtomicU8::new(0));
    let saver = {
        let (store, floor) = (saving.clone(), Arc::clone(&floor));
        thread::spawn(move || save(&store, &session, &floor))
    };
    let other = raising.session("s", "agent").open().unwrap();
    let taint = other.raise(Classification::Internal, "read more").unwrap();
    floor.store(taint.rank(), Ordering::SeqCst);
    saver.join().unwrap();
    assert_in_order(saving);
}

fn check(race: fn(), fault: Option<Fault>) {
    planted::with(fault, || {
        shuttle::check_random(race, SCHEDULES);
        shuttle::check_pct(race, SCHEDULES, DEPTH);
    });
}

#[test]
fn races_of_saves_and_raises_are_sound() {
    check(|| race(true), None);
}

#[test]
fn races_are_sound_by_the_gate_alone() {
    check(|| race(false), None);
}

#[test]
fn races_are_sound_by_the_provider_alone() {
    check(|| race(true), Some(Fault::HoldDropped));
}

#[test]
fn races_of_two_stores_are_sound() {
    check(race_of_stores, None);
}

#[test]
#[should_panic(expected = "was stored after the raise")]
fn races_without_both_are_found() {
    let fault = Some(Fault::HoldDropped);
    planted::with(fault, || shuttle::check_random(|| race(false), SCHEDULES));
}

#[test]
#[should_panic(expected = "was stored after the raise")]
fn races_without_both_are_found_with_few_switches() {
    let fault = Some(Fault::HoldDropped);
    planted::with(fault, || {
        shuttle::check_pct(|| race(false), SCHEDULES, DEPTH)
    });
}
