//! What one session waits for holds up no other.

use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use strandline::asynchronous::{AsyncStore, READS_AT_ONCE, WRITES_AT_ONCE};
use strandline::{Classification, Draft, ErrorKind, Search, Session};
use tokio::runtime::Builder;
use tokio::task::{JoinHandle, JoinSet, yield_now};
use tokio::time::timeout;

use super::{Held, PLENTY, held, sessions, until_came};
use crate::keyed;

const RAISED: Classification = Classification::Confidential;

/// Lets what was spawned get as far as it can.
async fn a_while() {
    for _ in 0..50 {
        yield_now().await;
        thread::sleep(Duration::from_millis(1));
    }
}

/// While a slow save of a session is under way, and `begin` waits for it, and more calls of the session than
/// there are places wait for that, another session reads and writes.
fn others_get_on_while(begin: fn(AsyncStore, Session) -> JoinHandle<()>) {
    let (provider, store) = held();
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let [slow, other] = sessions(&store, 2).await.try_into().unwrap();
        provider.shut();
        let (saving, saver) = (store.clone(), slow.clone());
        let save = async move { saving.save(&saver, Draft::new("k", "schooner")).await };
        let save = tokio::spawn(save);
        until_came(&provider, 1).await;
        let changing = begin(store.clone(), slow.clone());
        a_while().await;
        let mut waiting = JoinSet::new();
        for n in 0..2 * READS_AT_ONCE.max(WRITES_AT_ONCE) {
            let (store, slow) = (store.clone(), slow.clone());
            waiting.spawn(async move {
                if n % 2 == 0 {
                    store.search(&slow, Search::new("schooner")).await.unwrap();
                } else {
                    let missing = store.delete(&slow, "no").await.unwrap_err();
                    assert_eq!(missing.kind(), ErrorKind::NotFound);
                }
                store.taint(&slow).await.unwrap()
            });
        }
        a_while().await;
        let others = async {
            assert!(store.get(&other, "no").await.unwrap().is_none());
            let missing = store.delete(&other, "no").await.unwrap_err();
            assert_eq!(missing.kind(), ErrorKind::NotFound);
        };
        let others = timeout(PLENTY / 4, others).await;
        assert!(waiting.try_join_next().is_none(), "they wait");
        provider.open();
        others.expect("another session waits for this one");
        assert_eq!(
            save.await.unwrap().unwrap().classification,
            Classification::Public
        );
        changing.await.unwrap();
        while let Some(taint) = waiting.join_next().await {
            assert_eq!(taint.unwrap(), RAISED, "they come after the raise");
        }
    });
}

#[test]
fn a_raise_that_waits_for_a_slow_save_holds_up_its_own_session_alone() {
    others_get_on_while(|store, slow| {
        tokio::spawn(async move {
            store.raise(&slow, RAISED, "why").await.unwrap();
        })
    });
}

#[test]
fn an_opening_that_waits_for_a_slow_save_holds_up_its_own_session_alone() {
    others_get_on_while(|store, slow| {
        tokio::spawn(async move {
            let again = store.session(slow.id().as_str(), "agent").taint(RAISED);
            store.open_session(again).await.unwrap();
        })
    });
}

/// Without the turns of this module: a host that calls the store from threads.
#[test]
fn no_other_session_waits_while_one_is_opened_again_behind_its_slow_save() {
    let provider = Arc::new(Held::default());
    let store = keyed::builder().with_provider(Arc::<Held>::clone(&provider));
    let open = |id: &str| store.session(id, "agent").open().unwrap();
    let [slow, _other] = ["slow", "other"].map(open);
    provider.shut();
    thread::scope(|scope| {
        let saving = scope.spawn(|| store.save(&slow, Draft::new("k", "schooner")));
        while provider.came() == 0 {
            thread::yield_now();
        }
        scope.spawn(|| open("slow"));
        thread::sleep(Duration::from_millis(50));
        let (done, is_done) = mpsc::channel();
        scope.spawn(move || done.send(open("other")));
        let other = is_done.recv_timeout(PLENTY / 4);
        provider.open();
        other.expect("another session waits for this one");
        saving.join().unwrap().unwrap();
    });
}
