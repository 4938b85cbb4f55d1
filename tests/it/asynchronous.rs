//! The async store: it blocks no thread of the runtime, and a call is done whole or not at all.

mod on_a_file;
mod turns;

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use serde_json::json;
use strandline::asynchronous::{AsyncStore, READS_AT_ONCE, WRITES_AT_ONCE};
use strandline::policy::WriteGrant;
use strandline::storage::{InMemory, NewRecord, StorageProvider};
use strandline::tools::Persona;
use strandline::{Classification, Draft, ErrorKind, List, Memory, Result, Search, Session};
use tokio::runtime::{Builder, Runtime};
use tokio::task::{JoinSet, yield_now};

use crate::keyed;

const PLENTY: Duration = Duration::from_secs(120);

#[derive(Debug, Default)]
struct Door {
    is_shut: bool,
    panics: bool,
    /// Saves that have come to the shut door.
    came: usize,
}

/// A provider in memory whose saves wait at a door while it is shut.
#[derive(Debug, Default)]
struct Held {
    inner: InMemory,
    door: Mutex<Door>,
    opened: Condvar,
}

impl Held {
    #[expect(
        clippy::unnecessary_wraps,
        reason = "`forward!` asks for a method that may fail"
    )]
    fn inner(&self) -> Result<&InMemory> {
        Ok(&self.inner)
    }

    fn shut(&self) {
        self.door.lock().unwrap().is_shut = true;
    }

    fn open(&self) {
        self.door.lock().unwrap().is_shut = false;
        self.opened.notify_all();
    }

    fn came(&self) -> usize {
        self.door.lock().unwrap().came
    }
}

impl StorageProvider for Held {
    fn is_durable(&self) -> bool {
        false
    }

    fn save(&self, grant: &WriteGrant<'_>, records: &[NewRecord]) -> Result<Vec<Memory>> {
        let mut door = self.door.lock().unwrap();
        if door.panics {
            drop(door);
            panic!("hippopotamus");
        }
        if door.is_shut {
            door.came += 1;
            let waited = self
                .opened
                .wait_timeout_while(door, PLENTY, |door| door.is_shut);
            let (door, waited) = waited.unwrap();
            drop(door);
            assert!(!waited.timed_out(), "no one opened the door");
        }
        self.inner.save(grant, records)
    }

    strandline::forward!(inner: get, list, search, delete, append, history, audit, reindex, trail,
        note_read, sources, derivations, versions, import, backup, restore, erase, check,
        history_page, stats, holdings, language);
}

fn runtime() -> Runtime {
    Builder::new_current_thread().build().unwrap()
}

fn held() -> (Arc<Held>, AsyncStore) {
    let provider = Arc::new(Held::default());
    let store = keyed::builder().with_provider(Arc::<Held>::clone(&provider));
    (provider, AsyncStore::new(store))
}

async fn sessions(store: &AsyncStore, count: usize) -> Vec<Session> {
    let mut sessions = Vec::new();
    for n in 0..count {
        let session = store.session(format!("s-{n}"), "agent");
        sessions.push(store.open_session(session).await.unwrap());
    }
    sessions
}

/// A save of each session, on the runtime; the key is `k-` and the number.
fn save_each(store: &AsyncStore, sessions: &[Session]) -> JoinSet<Result<Memory>> {
    let mut saves = JoinSet::new();
    for (n, session) in sessions.iter().cloned().enumerate() {
        let store = store.clone();
        let draft = Draft::new(format!("k-{n}"), "v").tag("t");
        saves.spawn(async move { store.save(&session, draft).await });
    }
    saves
}

/// Lets other futures run until the provider holds this many saves.
async fn until_came(provider: &Held, count: usize) {
    while provider.came() < count {
        yield_now().await;
    }
}

/// How many versions a key has, and how often a save of it was audited.
async fn traces(store: &AsyncStore, key: &'static str) -> (usize, usize) {
    let job = move |host: &strandline::Host| {
        let query = strandline::audit::Query {
            key: Some(key.parse()?),
            ..Default::default()
        };
        Ok((host.history("agent", key)?.len(), host.audit(&query)?.len()))
    };
    store.host(job).await.unwrap()
}

#[test]
fn a_hundred_saves_that_wait_leave_the_only_thread_free() {
    let (provider, store) = held();
    runtime().block_on(async {
        let sessions = sessions(&store, 100).await;
        provider.shut();
        let mut saves = save_each(&store, &sessions);
        // This future shares its only thread with all the saves. If one of them blocked it, no one
        // would open the door.
        until_came(&provider, WRITES_AT_ONCE).await;
        for _ in 0..1_000 {
            yield_now().await;
        }
        assert_eq!(
            provider.came(),
            WRITES_AT_ONCE,
            "the others wait for a turn"
        );
        assert!(saves.try_join_next().is_none(), "none is acknowledged yet");
        provider.open();
        let mut done = 0;
        while let Some(save) = saves.join_next().await {
            save.unwrap().unwrap();
            done += 1;
        }
        assert_eq!(done, 100);
        let listed = store.list(&sessions[0], List::default()).await.unwrap();
        assert!(!listed.memories.is_empty());
        for n in 0..100 {
            let found = store.get(&sessions[0], format!("k-{n}")).await.unwrap();
            assert!(found.is_some(), "{n}");
        }
    });
}

#[test]
fn six_hundred_searches_finish_while_writers_take_every_place() {
    let (provider, store) = held();
    runtime().block_on(async {
        let sessions = sessions(&store, WRITES_AT_ONCE + 1).await;
        let reader = sessions.last().unwrap().clone();
        let there = Draft::new("ship", "the schooner");
        store.save(&reader, there).await.unwrap();
        provider.shut();
        let mut saves = save_each(&store, &sessions[..WRITES_AT_ONCE]);
        until_came(&provider, WRITES_AT_ONCE).await;
        let mut searches = JoinSet::new();
        const { assert!(600 > READS_AT_ONCE) }
        for _ in 0..600 {
            let (store, reader) = (store.clone(), reader.clone());
            searches.spawn(async move { store.search(&reader, Search::new("schooner")).await });
        }
        let mut found = 0;
        while let Some(hits) = searches.join_next().await {
            found += hits.unwrap().unwrap().len();
        }
        assert_eq!(found, 600);
        assert!(
            saves.try_join_next().is_none(),
            "the writers are still held"
        );
        provider.open();
        while let Some(save) = saves.join_next().await {
            save.unwrap().unwrap();
        }
    });
}

#[test]
fn a_save_dropped_before_its_turn_never_happens() {
    let (provider, store) = held();
    runtime().block_on(async {
        let sessions = sessions(&store, WRITES_AT_ONCE + 1).await;
        let last = sessions.last().unwrap();
        drop(store.save(last, Draft::new("unpolled", "v")));
        provider.shut();
        let mut saves = save_each(&store, &sessions[..WRITES_AT_ONCE]);
        until_came(&provider, WRITES_AT_ONCE).await;
        {
            let save = pin!(store.save(last, Draft::new("waiting", "v")));
            let mut context = Context::from_waker(Waker::noop());
            assert!(save.poll(&mut context).is_pending());
        }
        provider.open();
        while let Some(save) = saves.join_next().await {
            save.unwrap().unwrap();
        }
        // All places can be taken again: the dropped one kept none.
        let mut again = save_each(&store, &sessions);
        while let Some(save) = again.join_next().await {
            save.unwrap().unwrap();
        }
        assert_eq!(traces(&store, "unpolled").await, (0, 0));
        assert_eq!(traces(&store, "waiting").await, (0, 0));
    });
}

#[test]
fn a_save_dropped_after_it_has_begun_is_done_whole() {
    let (provider, store) = held();
    runtime().block_on(async {
        let session = sessions(&store, 1).await.remove(0);
        provider.shut();
        {
            let mut save = pin!(store.save(&session, Draft::new("begun", "v").tag("t")));
            let mut context = Context::from_waker(Waker::noop());
            while provider.came() == 0 {
                assert!(save.as_mut().poll(&mut context).is_pending());
            }
        }
        assert_eq!(traces(&store, "begun").await, (0, 0), "nothing half done");
        provider.open();
        // A raise waits for the session's writes, also for one whose caller has gone.
        let level = Classification::Internal;
        store.raise(&session, level, "why").await.unwrap();
        assert_eq!(traces(&store, "begun").await, (1, 1));
        let found = store.get(&session, "begun").await.unwrap().unwrap();
        assert_eq!(found.tags.len(), 1);
        assert_eq!(found.classification, Classification::Public);
    });
}

#[test]
fn a_runtime_that_is_dropped_ends_what_has_begun_and_forgets_the_rest() {
    let (provider, store) = held();
    let runtime = Builder::new_current_thread()
        .max_blocking_threads(1)
        .build()
        .unwrap();
    let sessions = runtime.block_on(async {
        let sessions = sessions(&store, 5).await;
        provider.shut();
        let mut saves = save_each(&store, &sessions);
        until_came(&provider, 1).await;
        saves.detach_all();
        sessions
    });
    let opens = Arc::clone(&provider);
    let opener = thread::spawn(move || opens.open());
    drop(runtime);
    opener.join().unwrap();

    self::runtime().block_on(async {
        let job = |host: &strandline::Host| host.audit(&strandline::audit::Query::default());
        let audited = store.host(job).await.unwrap();
        let saves = audited
            .iter()
            .filter(|entry| entry.facts.action == strandline::audit::Action::Save);
        let listed = store.list(&sessions[0], List::default()).await.unwrap();
        assert!(!listed.memories.is_empty(), "what had begun is done");
        assert_eq!(listed.memories.len(), saves.count());
        assert!(listed.memories.iter().all(|memory| memory.tags.len() == 1));
    });
}

#[test]
fn a_panic_in_a_call_is_an_error_that_doesnt_repeat_it() {
    let (provider, store) = held();
    runtime().block_on(async {
        let session = sessions(&store, 1).await.remove(0);
        provider.door.lock().unwrap().panics = true;
        // More than there are places: a panic gives its place back.
        for _ in 0..=WRITES_AT_ONCE {
            let error = store
                .save(&session, Draft::new("k", "v"))
                .await
                .unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Internal);
            assert!(!format!("{error} {error:?}").contains("hippo"));
        }
        provider.door.lock().unwrap().panics = false;
        store.save(&session, Draft::new("k", "v")).await.unwrap();
    });
}

#[test]
fn outside_a_runtime_a_call_is_refused() {
    let (_, store) = held();
    let session = store.session("s", "agent").open().unwrap();
    let get = pin!(store.get(&session, "k"));
    let Poll::Ready(got) = get.poll(&mut Context::from_waker(Waker::noop())) else {
        panic!("there is nothing to wait for");
    };
    assert_eq!(got.unwrap_err().kind(), ErrorKind::InvalidArgument);
}

#[test]
fn each_verb_does_what_that_of_the_store_does() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let work = async move {
        let store = AsyncStore::open(keyed::builder(), &path).await.unwrap();
        let session = sessions(&store, 1).await.remove(0);
        let low = store
            .open_session(store.session("low", "agent"))
            .await
            .unwrap();
        let drafts = vec![
            Draft::new("a", "schooner").tag("rule"),
            Draft::new("b", "brig"),
        ];
        store.save_all(&session, drafts).await.unwrap();
        let level = Classification::Internal;
        store.raise(&session, level, "why").await.unwrap();
        assert_eq!(store.taint(&session).await.unwrap(), level);
        store
            .save(&session, Draft::new("a", "frigate").tag("rule"))
            .await
            .unwrap();
        let content = |memory: Option<Memory>| memory.unwrap().content;
        assert_eq!(content(store.get(&session, "a").await.unwrap()), "frigate");
        assert_eq!(content(store.get(&low, "a").await.unwrap()), "schooner");
        assert!(
            store
                .search(&low, Search::new("frigate"))
                .await
                .unwrap()
                .is_empty()
        );
        assert_eq!(
            store
                .search(&session, Search::new("frigate"))
                .await
                .unwrap()
                .len(),
            1
        );
        let section = store.persona(&low, Persona::new()).await.unwrap();
        assert!(section.text.contains("schooner"));
        let saved = store
            .call(&low, "memory_save", json!({"key": "c", "content": "d"}))
            .await;
        assert_eq!(saved.unwrap().unwrap().output["classification"], "PUBLIC");
        assert!(
            store
                .call(&low, "no_such_tool", json!({}))
                .await
                .unwrap()
                .is_none()
        );
        assert_eq!(
            store
                .list(&low, List::default())
                .await
                .unwrap()
                .memories
                .len(),
            3
        );
        let wrong = store.delete(&session, "b").await.unwrap_err();
        assert_eq!(wrong.kind(), ErrorKind::WrongLevel);
        store.delete(&low, "b").await.unwrap();
        let copy = path.with_extension("copy");
        let to = copy.clone();
        store
            .host(move |host| host.backup(to, |_| ()))
            .await
            .unwrap();
        drop((session, low));
        store.close().await.unwrap();
        let copy = AsyncStore::open(keyed::builder(), copy).await.unwrap();
        let low = copy
            .open_session(copy.session("low", "agent"))
            .await
            .unwrap();
        assert_eq!(content(copy.get(&low, "c").await.unwrap()), "d");
    };
    // Spawned, so that it doesn't compile unless every future can go to another thread.
    let runtime = runtime();
    let work = runtime.spawn(work);
    runtime.block_on(work).unwrap();
}
