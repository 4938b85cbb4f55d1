//! Saves and raises at once: nothing lands below a taint that was in force when its save began.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;

use strandline::Classification::{self, Confidential, Internal, Public, Restricted};
use strandline::{Draft, ErrorKind, MemoryStore, Session};

use super::on_each_provider;

const SAVERS: usize = 4;
const SAVES: usize = 12;

/// Saves while the taint rises. The floor is the taint that a raise has returned.
fn save_above_floor(store: &MemoryStore, session: &Session, name: usize, floor: &AtomicU8) {
    for i in 0..SAVES {
        let before = Classification::from_rank(floor.load(Ordering::SeqCst)).unwrap();
        let saved = if i % 3 == 0 {
            let drafts = [
                Draft::new("shared", "x"),
                Draft::new(format!("{name} {i}"), "y"),
            ];
            store.save_all(session, drafts).unwrap()
        } else {
            vec![store.save(session, Draft::new("shared", "z")).unwrap()]
        };
        for memory in saved {
            assert!(
                before.can_flow_to(memory.classification),
                "saved below {before}"
            );
            assert!(memory.classification.can_flow_to(session.taint()));
        }
    }
}

fn raise_step_by_step(session: &Session, floor: &AtomicU8) {
    for level in [Internal, Confidential, Restricted] {
        thread::yield_now();
        let taint = session.raise(level, "read more").unwrap();
        assert_eq!(taint, level);
        floor.store(taint.rank(), Ordering::SeqCst);
    }
}

/// `saving` and `raising` are handles of one session, and the store that each belongs to.
fn race(saving: (&MemoryStore, &Session), raising: &Session) {
    let floor = AtomicU8::new(0);
    let start = Barrier::new(SAVERS + 1);
    thread::scope(|scope| {
        for name in 0..SAVERS {
            let (start, floor) = (&start, &floor);
            scope.spawn(move || {
                start.wait();
                save_above_floor(saving.0, saving.1, name, floor);
            });
        }
        start.wait();
        raise_step_by_step(raising, &floor);
    });
    let last = saving.0.save(saving.1, Draft::new("last", "x")).unwrap();
    assert_eq!(last.classification, Restricted);
}

#[test]
fn no_save_lands_below_a_raise_that_returned() {
    on_each_provider(|open| {
        let store = open();
        for round in 0..8 {
            let session = store.session(format!("s-{round}"), "agent").open().unwrap();
            race((&store, &session), &session.clone());
        }
    });
}

#[test]
fn no_save_lands_below_a_raise_by_another_store() {
    on_each_provider(|open| {
        let (one, other) = (open(), open());
        for round in 0..8 {
            let id = format!("s-{round}");
            let saving = one.session(&id, "agent").open().unwrap();
            let raising = other.session(&id, "agent").open().unwrap();
            race((&one, &saving), &raising);
        }
    });
}

#[test]
fn the_next_write_takes_on_what_another_store_raised() {
    on_each_provider(|open| {
        let (one, other) = (open(), open());
        let here = one.session("s", "agent").open().unwrap();
        one.save(&here, Draft::new("low", "before")).unwrap();

        let there = other.session("s", "agent").open().unwrap();
        there.raise(Confidential, "opened the ledger").unwrap();
        other
            .save(&there, Draft::new("high", "from the ledger"))
            .unwrap();

        assert!(one.get(&here, "high").unwrap().is_none()); // this handle hasn't learnt of it
        let saved = one.save(&here, Draft::new("low", "after")).unwrap();
        assert_eq!(saved.classification, Confidential);
        assert_eq!(here.taint(), Confidential);
        assert_eq!(here.raises(), there.raises());
        assert!(one.get(&here, "high").unwrap().is_some());

        let low = one.session("low", "agent").open().unwrap();
        let seen = one.get(&low, "low").unwrap().unwrap();
        assert_eq!(seen.content, "before");
    });
}

#[test]
fn a_delete_too_takes_on_what_another_store_raised() {
    on_each_provider(|open| {
        let (one, other) = (open(), open());
        let here = one.session("s", "agent").open().unwrap();
        one.save(&here, Draft::new("k", "public")).unwrap();
        let there = other.session("s", "agent").open().unwrap();
        there.raise(Internal, "opened the wiki").unwrap();

        let refused = one.delete(&here, "k").unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::WrongLevel);
        assert_eq!(here.taint(), Internal);
    });
}

/// One store tightens the ceiling of a session while another raises its taint.
#[test]
fn no_session_ends_above_its_ceiling() {
    on_each_provider(|open| {
        let stores = [open(), open()];
        let mut tightened = 0;
        for round in 0..40 {
            let id = format!("s-{round}");
            let [one, other] = &stores;
            let session = one.session(&id, "agent").open().unwrap();
            let start = Barrier::new(2);
            let (raised, capped) = thread::scope(|scope| {
                let raising = scope.spawn(|| {
                    start.wait();
                    session.raise(Confidential, "opened the ledger")
                });
                let tightening = scope.spawn(|| {
                    start.wait();
                    other.session(&id, "agent").ceiling(Internal).open()
                });
                (raising.join().unwrap(), tightening.join().unwrap())
            });
            assert_ne!(raised.is_ok(), capped.is_ok(), "{raised:?} {capped:?}");
            tightened += usize::from(capped.is_ok());
            let third = open();
            let resumed = third.session(&id, "agent").open().unwrap();
            assert!(resumed.taint().can_flow_to(resumed.ceiling()));
            assert_eq!(resumed.taint() == Confidential, raised.is_ok());
            one.save(&session, Draft::new("k", "v")).unwrap();
        }
        eprintln!("{tightened} of 40 tightened");
    });
}

/// Opens one id at once for two agents, each in a store of its own. Returns who got it.
fn open_at_once(stores: &[MemoryStore; 2], id: &str) -> Vec<Result<Session, ErrorKind>> {
    let start = Barrier::new(2);
    let open = |store: &MemoryStore, agent: &str| {
        start.wait();
        let opened = store.session(id, agent).open();
        opened.map_err(|error| error.kind())
    };
    thread::scope(|scope| {
        let one = scope.spawn(|| open(&stores[0], "one"));
        let two = scope.spawn(|| open(&stores[1], "two"));
        vec![one.join().unwrap(), two.join().unwrap()]
    })
}

#[test]
fn one_of_two_agents_gets_a_session_id() {
    on_each_provider(|open| {
        let stores = [open(), open()];
        for round in 0..20 {
            let id = format!("s-{round}");
            let opened = open_at_once(&stores, &id);
            let (got, refused): (Vec<_>, Vec<_>) = opened.iter().partition(|r| r.is_ok());
            assert_eq!(got.len(), 1);
            assert_eq!(
                refused[0].as_ref().unwrap_err(),
                &ErrorKind::SessionMismatch
            );

            let owner = got[0].as_ref().unwrap().agent().as_str();
            let third = open();
            assert!(third.session(&id, owner).open().is_ok());
            let loser = if owner == "one" { "two" } else { "one" };
            assert!(third.session(&id, loser).open().is_err());
        }
    });
}

#[test]
fn handles_opened_at_once_share_one_taint() {
    on_each_provider(|open| {
        let store = open();
        let start = Arc::new(Barrier::new(SAVERS));
        let levels = [Public, Internal, Confidential, Internal];
        let handles: Vec<Session> = thread::scope(|scope| {
            let opening = levels.map(|level| {
                let (store, start) = (store.clone(), start.clone());
                scope.spawn(move || {
                    start.wait();
                    store.session("s", "agent").taint(level).open().unwrap()
                })
            });
            opening
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        });
        for handle in &handles {
            assert_eq!(handle.taint(), Confidential);
        }
        handles[0].raise(Restricted, "read more").unwrap();
        assert!(handles.iter().all(|handle| handle.taint() == Restricted));
    });
}

#[test]
fn a_reader_never_sees_above_the_taint_it_had_in_the_end() {
    on_each_provider(|open| {
        let store = open();
        let high = store
            .session("high", "agent")
            .taint(Restricted)
            .open()
            .unwrap();
        store.save(&high, Draft::new("k", "top")).unwrap();
        let session = store.session("s", "agent").open().unwrap();
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                for level in [Internal, Confidential, Restricted] {
                    session.raise(level, "read more").unwrap();
                }
                done.store(true, Ordering::SeqCst);
            });
            loop {
                let last = done.load(Ordering::SeqCst);
                let seen = store.get(&session, "k").unwrap();
                if seen.is_some() {
                    assert_eq!(session.taint(), Restricted);
                }
                if last {
                    break;
                }
            }
        });
        assert!(store.get(&session, "k").unwrap().is_some());
    });
}
