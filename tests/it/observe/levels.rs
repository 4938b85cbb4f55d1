//! The level that is told of is the one at which the call was carried out (invariant I2).

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};

use strandline::observe::{Call, Observer, Operation, Outcome};
use strandline::{Classification, Draft};

use super::{INTERNAL, PUBLIC, Seen, observed, open};
use crate::keyed;

/// Keeps what it is told of each thread's calls.
#[derive(Debug, Default)]
struct ByThread(Mutex<HashMap<ThreadId, Vec<Call>>>);

impl Observer for ByThread {
    fn called(&self, call: &Call) {
        let mut calls = self.0.lock().unwrap();
        calls.entry(thread::current().id()).or_default().push(*call);
    }
}

#[test]
fn a_save_beside_a_raise_is_told_of_at_the_level_that_it_was_stored_at() {
    let told = Arc::new(ByThread::default());
    let builder = keyed::builder().observer(Arc::<ByThread>::clone(&told));
    let store = builder.open_in_memory().unwrap();
    for round in 0..50 {
        let session = open(&store, &format!("s-{round}"), PUBLIC);
        let saved: Vec<(ThreadId, Vec<Classification>)> = thread::scope(|scope| {
            let saves = (0..3).map(|n| {
                let (store, session) = (&store, &session);
                scope.spawn(move || {
                    let save = |m| {
                        let draft = Draft::new(format!("k-{n}-{m}"), "v");
                        store.save(session, draft).unwrap().classification
                    };
                    (thread::current().id(), (0..6).map(save).collect())
                })
            });
            let saves: Vec<_> = saves.collect();
            session.raise(INTERNAL, "meanwhile").unwrap();
            session.raise(Classification::Restricted, "more").unwrap();
            saves.into_iter().map(|save| save.join().unwrap()).collect()
        });
        for (thread, levels) in saved {
            let calls = told.0.lock().unwrap().remove(&thread).unwrap();
            let calls: Vec<_> = calls.iter().map(|call| call.level.unwrap()).collect();
            assert_eq!(calls, levels);
        }
    }
}

#[test]
fn a_write_that_another_process_raised_is_told_of_once_at_the_new_level() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let seen = Arc::new(Seen::default());
    let builder = keyed::builder().observer(Arc::<Seen>::clone(&seen));
    let (here, there) = (builder.open(&path).unwrap(), keyed::open(&path).unwrap());
    let session = open(&here, "s", PUBLIC);
    let same = open(&there, "s", PUBLIC);
    same.raise(INTERNAL, "over there").unwrap();
    seen.take();
    here.save(&session, Draft::new("k", "v")).unwrap();
    let told = (Operation::Save, Some(INTERNAL), 1, Outcome::Done);
    assert_eq!(seen.told(), [told]);
}

#[test]
fn the_level_is_never_one_above_the_session() {
    let (seen, store) = observed();
    let high = open(&store, "high", Classification::Restricted);
    store.save(&high, Draft::new("k", "v").tag("t")).unwrap();
    let low = open(&store, "low", PUBLIC);
    seen.take();
    assert!(store.get(&low, "k").unwrap().is_none());
    assert!(store.delete(&low, "k").is_err());
    assert!(store.host().restore(&low, "k", 1).is_err());
    store.export(&low, Vec::new()).unwrap();
    for call in seen.take() {
        assert_eq!((call.level, call.count), (Some(PUBLIC), 0), "{call:?}");
    }
}
