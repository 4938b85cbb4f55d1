//! An observer that panics, calls the store or takes its time changes nothing about a call.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use serde_json::json;
use strandline::observe::{Call, Observer, Operation, Outcome};
use strandline::policy::WriteGrant;
use strandline::storage::{InMemory, NewRecord, StorageProvider};
use strandline::tools::Tools;
use strandline::{
    Classification, Draft, List, Memory, MemoryStore, Result, Search, Session, StoreBuilder,
};

use super::{INTERNAL, PUBLIC, Seen, open};
use crate::keyed;

/// Runs `work` elsewhere, and fails where it doesn't come to an end.
fn within_a_minute(work: impl FnOnce() + Send + 'static) {
    let (done, is_done) = mpsc::channel();
    let job = thread::spawn(move || {
        work();
        done.send(()).unwrap();
    });
    match is_done.recv_timeout(Duration::from_secs(60)) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("it hangs"),
        _ => job.join().unwrap(),
    }
}

/// Fails where a panic of an observer comes out, whose payload would else panic in the tests' runner.
fn contained(work: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(work)) {
        std::mem::forget(payload);
        panic!("it failed, or an observer's panic came out");
    }
}

/// Makes calls of every sort, and says what came of them.
fn calls(store: &MemoryStore) -> Vec<String> {
    let mut came = Vec::new();
    let mut note = |what: String| came.push(what);
    let session = open(store, "s", PUBLIC);
    let key = |memory: Memory| (memory.key, memory.classification, memory.version);
    note(format!(
        "{:?}",
        store.save(&session, Draft::new("k", "v")).map(key)
    ));
    note(format!("{:?}", session.raise(INTERNAL, "why")));
    note(format!(
        "{:?}",
        store.save(&session, Draft::new("k", "w")).map(key)
    ));
    note(format!(
        "{:?}",
        store.save(&session, Draft::new("", "v")).map(key)
    ));
    note(format!(
        "{:?}",
        store.get(&session, "k").map(|m| m.map(key))
    ));
    note(format!(
        "{:?}",
        store
            .search(&session, Search::new("w"))
            .map(|hits| hits.len())
    ));
    note(format!(
        "{:?}",
        store
            .list(&session, List::new())
            .map(|page| page.memories.len())
    ));
    let tools = Tools::new(store.clone());
    let result = tools.call(&session, "memory_get", json!({"key": "k"}));
    note(format!("{:?}", result.map(|result| result.is_error())));
    note(format!("{:?}", store.export(&session, Vec::new())));
    note(format!("{:?}", store.delete(&session, "k")));
    note(format!("{:?}", store.delete(&session, "k")));
    note(format!("{:?}", store.session("s", "other").open().is_err()));
    note(format!("{:?}", store.host().export(Vec::new())));
    note(format!(
        "{:?}",
        store.host().check().map(|problems| problems.len())
    ));
    note(format!("{:?}", open(store, "s", PUBLIC).taint()));
    came
}

fn plain() -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    calls(&keyed::open(folder.path().join("memory.db")).unwrap())
}

fn with(observers: Vec<Arc<dyn Observer>>) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let builder = keyed::builder();
    let builder = observers.into_iter().fold(builder, StoreBuilder::observer);
    calls(&builder.open(folder.path().join("memory.db")).unwrap())
}

/// What it panics with panics when it is dropped, too.
struct Mine;

impl Drop for Mine {
    fn drop(&mut self) {
        if !thread::panicking() {
            std::panic::panic_any("dropped");
        }
    }
}

#[derive(Debug, Default)]
struct Panics(AtomicUsize);

impl Observer for Panics {
    fn called(&self, _: &Call) {
        if self.0.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) {
            std::panic::panic_any(Mine);
        }
        panic!("an observer's own fault");
    }
}

#[test]
fn an_observer_that_panics_changes_no_result_and_the_next_one_is_told() {
    contained(|| {
        let (panics, seen) = (Arc::new(Panics::default()), Arc::new(Seen::default()));
        let came = with(vec![
            Arc::<Panics>::clone(&panics),
            Arc::<Seen>::clone(&seen),
        ]);
        assert_eq!(came, plain());
        let told = seen.take().len();
        assert!(told > 15);
        assert_eq!(panics.0.load(Ordering::Relaxed), told);
    });
}

/// Calls the store whenever it is told of a call, in the same session.
#[derive(Debug, Default)]
struct CallsBack {
    store: OnceLock<(MemoryStore, Session)>,
    told: AtomicUsize,
    /// How often all went well: a panic of an observer isn't seen.
    done: AtomicUsize,
}

impl CallsBack {
    fn call_back(store: &MemoryStore, session: &Session) {
        let draft = Draft::new("told", "of a call");
        store.save(session, draft).unwrap();
        store.get(session, "told").unwrap();
        store.session("s", "agent").open().unwrap();
        session.raise(session.taint(), "no rise").unwrap();
        store.host().stats().unwrap();
    }
}

impl Observer for CallsBack {
    fn called(&self, _: &Call) {
        self.told.fetch_add(1, Ordering::Relaxed);
        let Some((store, session)) = self.store.get() else {
            return;
        };
        Self::call_back(store, session);
        self.done.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn an_observer_may_call_the_store_and_is_not_told_of_that() {
    within_a_minute(|| {
        let folder = tempfile::tempdir().unwrap();
        let back = Arc::new(CallsBack::default());
        let builder = keyed::builder().observer(Arc::<CallsBack>::clone(&back));
        let store = builder.open(folder.path().join("memory.db")).unwrap();
        let session = open(&store, "s", PUBLIC);
        back.store.set((store.clone(), session.clone())).unwrap();
        back.told.store(0, Ordering::Relaxed);
        store.save(&session, Draft::new("k", "v")).unwrap();
        session.raise(INTERNAL, "why").unwrap();
        store.session("s", "agent").open().unwrap();
        store.save(&session, Draft::new("", "v")).unwrap_err();
        store.host().export(Vec::new()).unwrap();
        let copy = folder.path().join("backup.db");
        store.host().backup(copy, |_| ()).unwrap();
        assert_eq!(back.told.load(Ordering::Relaxed), 6);
        assert_eq!(back.done.load(Ordering::Relaxed), 6);
        assert_eq!(session.taint(), INTERNAL);
        assert!(store.host().verify(None).unwrap().is_sound());
    });
}

/// Has another thread raise, save and open while it is being told.
#[derive(Debug, Default)]
struct Waits {
    store: OnceLock<(MemoryStore, Session)>,
    /// How often all went well.
    done: AtomicUsize,
}

impl Observer for Waits {
    fn called(&self, call: &Call) {
        let is_mine = thread::current().name() == Some("waits");
        let Some((store, session)) = self.store.get().filter(|_| !is_mine) else {
            return;
        };
        let next = Classification::ALL[usize::from(call.level.unwrap_or(PUBLIC).rank() + 1).min(3)];
        let (store, session) = (store.clone(), session.clone());
        let job = move || {
            session.raise(next, "meanwhile").unwrap();
            store.save(&session, Draft::new("told", "v")).unwrap();
            store.session("s", "agent").open().unwrap();
            store.session("new", "agent").open().unwrap();
        };
        let job = thread::Builder::new().name("waits".into()).spawn(job);
        job.unwrap().join().unwrap();
        self.done.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn no_lock_and_no_transaction_is_held_while_an_observer_is_told() {
    within_a_minute(|| {
        let folder = tempfile::tempdir().unwrap();
        let waits = Arc::new(Waits::default());
        let builder = keyed::builder().observer(Arc::<Waits>::clone(&waits));
        let store = builder.open(folder.path().join("memory.db")).unwrap();
        let session = open(&store, "s", PUBLIC);
        waits.store.set((store.clone(), session.clone())).unwrap();
        let saved = store.save(&session, Draft::new("k", "v")).unwrap();
        assert_eq!(saved.classification, PUBLIC, "it was raised afterwards");
        assert_eq!(session.taint(), INTERNAL);
        store.get(&session, "k").unwrap();
        store.search(&session, Search::new("v")).unwrap();
        store.list(&session, List::new()).unwrap();
        session.raise(INTERNAL, "no rise").unwrap();
        store.session("s", "agent").open().unwrap();
        store.delete(&session, "none").unwrap_err();
        store.export(&session, Vec::new()).unwrap();
        store.host().export(Vec::new()).unwrap();
        store
            .host()
            .backup(folder.path().join("copy.db"), |_| ())
            .unwrap();
        Tools::new(store.clone()).call(&session, "memory_get", json!({"key": 1}));
        assert_eq!(waits.done.load(Ordering::Relaxed), 11);
    });
}

/// A provider whose saves panic.
#[derive(Debug, Default)]
struct Broken {
    inner: InMemory,
    saves: AtomicUsize,
}

impl Broken {
    #[expect(clippy::unnecessary_wraps, reason = "`forward!` asks for it")]
    fn up(&self) -> Result<&InMemory> {
        Ok(&self.inner)
    }
}

impl StorageProvider for Broken {
    fn is_durable(&self) -> bool {
        false
    }

    fn save(&self, grant: &WriteGrant<'_>, records: &[NewRecord]) -> Result<Vec<Memory>> {
        let saves = self.saves.fetch_add(1, Ordering::Relaxed);
        // The first is that of the session.
        assert!(saves != 1, "broken");
        self.inner.save(grant, records)
    }

    strandline::forward!(up: get, list, search, delete, append, history, audit, reindex, trail,
        note_read, sources, derivations, versions, import, backup, restore, erase, check,
        history_page, stats, holdings, language);
}

#[test]
fn a_call_that_panics_is_told_of_even_where_the_observer_panics_too() {
    contained(|| {
        let seen = Arc::new(Seen::default());
        let builder = keyed::builder().observer(Arc::new(Panics::default()));
        let builder = builder.observer(Arc::<Seen>::clone(&seen));
        let store = builder.with_provider(Arc::new(Broken::default()));
        let session = open(&store, "s", INTERNAL);
        seen.take();
        let save = || store.save(&session, Draft::new("k", "v"));
        let panicked = catch_unwind(AssertUnwindSafe(save));
        let payload = panicked.unwrap_err();
        assert_eq!(payload.downcast_ref(), Some(&"broken"));
        let told = (Operation::Save, Some(INTERNAL), 0, Outcome::Panicked);
        assert_eq!(seen.told(), [told]);
        store.save(&session, Draft::new("k", "v")).unwrap();
        let told = (Operation::Save, Some(INTERNAL), 1, Outcome::Done);
        assert_eq!(seen.told(), [told]);
    });
}
