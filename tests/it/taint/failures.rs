//! What holds where the storage fails, another process steps in, or a host rule panics.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use strandline::Classification::{Confidential, Internal, Public, Restricted};
use strandline::audit::{Action, Decision, Query};
use strandline::policy::{Denial, Request, Rule, WriteGrant};
use strandline::storage::{InMemory, NewRecord, StorageProvider};
use strandline::{Draft, Error, ErrorKind, List, Memory, MemoryStore, Result, Search};

use super::{on_each_provider, quick};

/// A provider that does something first, and may fail, whenever it saves.
struct Watched<F> {
    records: Arc<InMemory>,
    before_save: F,
}

impl<F> Watched<F> {
    #[expect(clippy::unnecessary_wraps, reason = "`forward` asks for it")]
    fn records(&self) -> Result<&InMemory> {
        Ok(&self.records)
    }
}

impl<F> std::fmt::Debug for Watched<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watched").finish_non_exhaustive()
    }
}

#[deny(clippy::missing_trait_methods)]
impl<F: Fn() -> Result<()> + Send + Sync> StorageProvider for Watched<F> {
    fn is_durable(&self) -> bool {
        self.records.is_durable()
    }

    fn save(&self, grant: &WriteGrant<'_>, records: &[NewRecord]) -> Result<Vec<Memory>> {
        (self.before_save)()?;
        self.records.save(grant, records)
    }

    strandline::forward!(records: get, list, search, delete, append, history, audit, reindex, trail, note_read, sources,
        derivations, versions, import, backup, restore, erase, check, history_page, stats, holdings, language);
}

/// A store whose saves fail while the switch is on.
fn failing() -> (MemoryStore, Arc<AtomicBool>, Arc<InMemory>) {
    let (fails, records) = (Arc::new(AtomicBool::new(false)), Arc::new(InMemory::new()));
    let switch = fails.clone();
    let before_save = move || {
        if switch.load(Ordering::SeqCst) {
            return Err(Error::new(ErrorKind::Full, "no space"));
        }
        Ok(())
    };
    let provider = Watched {
        records: records.clone(),
        before_save,
    };
    (quick().with_provider(Arc::new(provider)), fails, records)
}

#[test]
fn a_raise_that_can_not_be_recorded_holds_and_stops_the_session() {
    let (store, fails, records) = failing();
    let session = store.session("s", "agent").open().unwrap();
    store.save(&session, Draft::new("k", "public")).unwrap();

    fails.store(true, Ordering::SeqCst);
    let error = session.raise(Internal, "opened the wiki").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Full);
    assert_eq!(session.taint(), Internal);

    let full = |error: Error| assert_eq!(error.kind(), ErrorKind::Full);
    full(store.get(&session, "k").unwrap_err());
    full(store.list(&session, List::new()).unwrap_err());
    full(store.search(&session, Search::new("public")).unwrap_err());
    full(store.save(&session, Draft::new("k", "v")).unwrap_err());
    full(
        store
            .save_all(&session, [Draft::new("k", "v")])
            .unwrap_err(),
    );
    full(store.delete(&session, "k").unwrap_err());
    full(session.raise(Public, "no rise").unwrap_err());
    full(store.session("s", "agent").open().unwrap_err());
    assert_eq!(session.taint(), Internal);

    fails.store(false, Ordering::SeqCst);
    assert!(store.get(&session, "k").unwrap().is_some());
    let saved = store.save(&session, Draft::new("k", "internal")).unwrap();
    assert_eq!(saved.classification, Internal);
    let restarted = quick().with_provider(records);
    let resumed = restarted.session("s", "agent").open().unwrap();
    assert_eq!(resumed.taint(), Internal);
}

/// Once forgotten: the rise was known to the handle alone.
#[test]
fn a_raise_that_can_not_be_recorded_outlives_its_handle() {
    let (store, fails, records) = failing();
    let session = store.session("s", "agent").open().unwrap();
    fails.store(true, Ordering::SeqCst);
    session.raise(Restricted, "opened the vault").unwrap_err();
    drop(session);
    let error = store.session("s", "agent").open().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Full);

    fails.store(false, Ordering::SeqCst);
    let again = store.session("s", "agent").open().unwrap();
    assert_eq!(again.taint(), Restricted);
    assert_eq!(again.raises().len(), 1);
    drop(again);
    assert_eq!(store.session("t", "agent").open().unwrap().taint(), Public);
    let restarted = quick().with_provider(records);
    assert_eq!(
        restarted.session("s", "agent").open().unwrap().taint(),
        Restricted
    );
}

/// A store over the records in which something happens just before its next save, once armed.
fn meddled(
    records: &Arc<InMemory>,
    meddle: impl Fn() -> Result<()> + Send + Sync + 'static,
) -> (MemoryStore, Arc<AtomicBool>) {
    let armed = Arc::new(AtomicBool::new(false));
    let switch = armed.clone();
    let before_save = move || {
        if switch.swap(false, Ordering::SeqCst) {
            return meddle();
        }
        Ok(())
    };
    let provider = Watched {
        records: records.clone(),
        before_save,
    };
    (quick().with_provider(Arc::new(provider)), armed)
}

/// Once stored: the raise went by the ceiling that it had read before.
#[test]
fn a_raise_above_a_ceiling_that_came_in_between_is_refused() {
    let records = Arc::new(InMemory::new());
    let other = quick().with_provider(records.clone());
    let opener = other.clone();
    let (store, armed) = meddled(&records, move || {
        opener.session("s", "agent").ceiling(Internal).open()?;
        Ok(())
    });
    let session = store.session("s", "agent").open().unwrap();
    armed.store(true, Ordering::SeqCst);
    let refused = session.raise(Restricted, "opened the vault").unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::CeilingExceeded);
    assert_eq!((session.taint(), session.ceiling()), (Public, Internal));
    assert_eq!(session.raises().len(), 0);
    let entries = other.host().audit(&Query::default()).unwrap();
    let last = &entries[0].facts;
    assert_eq!(
        (last.decision, last.action, last.level),
        (Decision::Refused, Action::Raise, Restricted)
    );
    let saved = store.save(&session, Draft::new("k", "v")).unwrap();
    assert_eq!(saved.classification, Public);
    session.raise(Internal, "opened the wiki").unwrap();
    let resumed = quick().with_provider(records);
    let resumed = resumed.session("s", "agent").open().unwrap();
    assert_eq!((resumed.taint(), resumed.ceiling()), (Internal, Internal));
}

/// A rise that no one could record, and then a ceiling below it.
#[test]
fn a_session_above_its_ceiling_is_at_an_end() {
    let (store, fails, records) = failing();
    let session = store.session("s", "agent").open().unwrap();
    fails.store(true, Ordering::SeqCst);
    session.raise(Restricted, "opened the vault").unwrap_err();
    fails.store(false, Ordering::SeqCst);
    let other = quick().with_provider(records);
    let capped = other.session("s", "agent").ceiling(Internal);
    let capped = capped.open().unwrap();
    let refused = |error: Error| assert_eq!(error.kind(), ErrorKind::CeilingExceeded);
    refused(store.save(&session, Draft::new("k", "v")).unwrap_err());
    refused(store.get(&session, "k").unwrap_err());
    refused(store.search(&session, Search::new("deep")).unwrap_err());
    let entries = other.host().audit(&Query::default()).unwrap();
    let ended = entries.iter().take(3).map(|entry| &entry.facts);
    let ended: Vec<_> = ended.map(|facts| (facts.decision, facts.action)).collect();
    let refused_acts = [Action::Search, Action::Get, Action::Save];
    assert_eq!(
        ended,
        refused_acts.map(|action| (Decision::Refused, action))
    );
    assert_eq!(capped.taint(), Public, "nothing of the rise was recorded");
    other.save(&capped, Draft::new("k", "v")).unwrap();
}

#[test]
fn a_session_that_can_not_be_recorded_does_not_open() {
    let (store, fails, _) = failing();
    fails.store(true, Ordering::SeqCst);
    let error = store
        .session("s", "agent")
        .taint(Internal)
        .open()
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Full);
    fails.store(false, Ordering::SeqCst);
    assert_eq!(store.session("s", "agent").open().unwrap().taint(), Public);
}

/// Between what the gate reads of a session and what it writes, another process raises the session.
#[test]
fn a_ceiling_below_a_raise_that_came_in_between_is_refused() {
    let records = Arc::new(InMemory::new());
    let other = quick().with_provider(records.clone());
    let (store, armed) = meddled(&records, move || {
        other.session("s", "agent").taint(Confidential).open()?;
        Ok(())
    });
    let session = store.session("s", "agent").open().unwrap();
    armed.store(true, Ordering::SeqCst);
    let refused = store.session("s", "agent").ceiling(Internal).open();
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::SessionMismatch);
    assert_eq!(
        (session.taint(), session.ceiling()),
        (Confidential, Restricted)
    );
    session.raise(Restricted, "opened the vault").unwrap();
}

/// Panics when this is asked for and the switch is on.
#[derive(Debug)]
struct Panics(Action, Arc<AtomicBool>);

impl Rule for Panics {
    fn judge(&self, request: &Request<'_>) -> Option<Denial> {
        let panics = request.action == self.0 && self.1.load(Ordering::SeqCst);
        assert!(!panics, "a rule's own fault");
        None
    }
}

#[test]
fn a_rule_that_panics_breaks_no_later_call() {
    let actions = [
        Action::Open,
        Action::Raise,
        Action::Save,
        Action::Get,
        Action::Search,
        Action::List,
        Action::Delete,
    ];
    for action in actions {
        on_each_provider_with_rule(action, |store, on| {
            let session = store.session("s", "agent").open().unwrap();
            store.save(&session, Draft::new("k", "before")).unwrap();
            on.store(true, Ordering::SeqCst);
            assert!(catch_unwind(AssertUnwindSafe(|| use_all(store))).is_err());
            on.store(false, Ordering::SeqCst);

            assert_eq!(session.raise(Restricted, "read more").unwrap(), Restricted);
            let saved = store.save(&session, Draft::new("k", "after")).unwrap();
            assert_eq!(saved.classification, Restricted);
            use_all(store);
        });
    }
}

fn on_each_provider_with_rule(action: Action, test: impl Fn(&MemoryStore, &AtomicBool)) {
    let folder = tempfile::tempdir().unwrap();
    let on = Arc::new(AtomicBool::new(false));
    let builder = || quick().rule(Arc::new(Panics(action, on.clone())));
    test(&builder().open_in_memory().unwrap(), &on);
    test(
        &builder().open(folder.path().join("memory.db")).unwrap(),
        &on,
    );
}

/// Does every action once, in the session that is open and in a new one.
fn use_all(store: &MemoryStore) {
    let session = store.session("s", "agent").open().unwrap();
    session.raise(Restricted, "read more").unwrap();
    store.save(&session, Draft::new("k", "v")).unwrap();
    assert!(store.get(&session, "k").unwrap().is_some());
    assert_eq!(store.search(&session, Search::new("v")).unwrap().len(), 1);
    assert_eq!(store.list(&session, List::new()).unwrap().memories.len(), 1);
    store.delete(&session, "k").unwrap();
    store.session("another", "agent").open().unwrap();
}

#[test]
fn a_panic_in_a_thread_leaves_the_session_to_the_others() {
    on_each_provider(|open| {
        let store = open();
        let session = store.session("s", "agent").open().unwrap();
        let (there, handle) = (store.clone(), session.clone());
        let died = std::thread::spawn(move || {
            there.save(&handle, Draft::new("k", "v")).unwrap();
            panic!("a fault of the host");
        });
        assert!(died.join().is_err());
        assert!(store.get(&session, "k").unwrap().is_some());
        session.raise(Internal, "opened the wiki").unwrap();
    });
}
