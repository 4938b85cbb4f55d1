//! What a session had read before it saved, and why a version has its level.

use std::sync::Arc;

use strandline::audit::Action;
use strandline::lineage::{Lineage, Trace, VersionId};
use strandline::storage::{InMemory, Namespace};
use strandline::tools::Tools;
use strandline::{Classification, Draft, List, Memory, MemoryStore, Search, Session};
use tempfile::TempDir;

use crate::keyed;
use crate::providers::Home;

fn id(memory: &Memory) -> VersionId {
    VersionId::of(Namespace::MEMORY, memory)
}

fn keys(lineage: &Lineage) -> Vec<(&str, usize)> {
    let steps = lineage.steps.iter();
    steps
        .map(|step| (step.origin.id.key.as_str(), step.distance))
        .collect()
}

/// A store that keeps the lineage, and what is under the key of any session of its one agent.
struct Scene<H> {
    home: H,
    store: MemoryStore,
}

impl<H: Home> Scene<H> {
    fn new() -> Self {
        let home = H::new();
        let store = home.open(keyed::builder().lineage(true));
        Self { home, store }
    }

    fn session(&self, id: &str) -> Session {
        self.store.session(id, "ada").open().unwrap()
    }

    fn save(&self, session: &Session, key: &str) -> VersionId {
        id(&self.store.save(session, Draft::new(key, "words")).unwrap())
    }

    fn get(&self, session: &Session, key: &str) {
        assert!(self.store.get(session, key).unwrap().is_some());
    }

    fn back(&self, version: &VersionId) -> Lineage {
        let host = self.store.host();
        host.derived_from(version, &Trace::default()).unwrap()
    }

    fn forward(&self, version: &VersionId) -> Lineage {
        let host = self.store.host();
        host.derived_into(version, &Trace::default()).unwrap()
    }
}

fn each_way_of_reading_counts<H: Home>() {
    let scene = Scene::<H>::new();
    let writer = scene.session("writer");
    for key in ["got", "listed", "found", "by tool"] {
        let draft = Draft::new(key, format!("about {key}"));
        let draft = if key == "listed" {
            draft.tag("t")
        } else {
            draft
        };
        scene.store.save(&writer, draft).unwrap();
    }
    let reader = scene.session("reader");
    scene.get(&reader, "got");
    assert!(scene.store.get(&reader, "absent").unwrap().is_none());
    scene.store.list(&reader, List::new().tag("t")).unwrap();
    let search = Search::new("found").max_results(1);
    scene.store.search(&reader, search).unwrap();
    let tools = Tools::new(scene.store.clone());
    let arguments = serde_json::json!({"key": "by tool"});
    tools.call(&reader, "memory_get", arguments).unwrap();
    let saved = scene.save(&reader, "summary");
    let back = scene.back(&saved);
    let mut found = keys(&back);
    found.sort_unstable();
    let expected = [("by tool", 1), ("found", 1), ("got", 1), ("listed", 1)];
    assert_eq!(found, expected);
}

fn a_trace_goes_through_sessions_and_names_its_way<H: Home>() {
    let scene = Scene::<H>::new();
    let sessions = ["a", "b", "c", "d"].map(|id| scene.session(id));
    let first = scene.save(&sessions[0], "k0");
    let mut last = first.clone();
    for (number, session) in (1..).zip(&sessions[1..]) {
        scene.get(session, &format!("k{}", number - 1));
        last = scene.save(session, &format!("k{number}"));
    }
    let back = scene.back(&last);
    assert_eq!(keys(&back), [("k2", 1), ("k1", 2), ("k0", 3)]);
    assert_eq!(back.steps[0].via, last);
    assert_eq!(back.steps[1].via, back.steps[0].origin.id);
    let forward = scene.forward(&first);
    assert_eq!(keys(&forward), [("k1", 1), ("k2", 2), ("k3", 3)]);
    assert!(back.complete && forward.complete);
    assert_eq!(forward.steps[2].origin.session.as_str(), "d");
    assert_eq!(keys(&scene.back(&first)), []);
    assert_eq!(keys(&scene.forward(&last)), []);
}

fn a_trace_is_bounded_and_says_so<H: Home>() {
    let scene = Scene::<H>::new();
    let writer = scene.session("writer");
    let source = scene.save(&writer, "source");
    let reader = scene.session("reader");
    scene.get(&reader, "source");
    for number in 0..10 {
        scene.save(&reader, &format!("k{number}"));
    }
    let host = scene.store.host();
    let traced = |depth, limit| {
        let found = host.derived_into(&source, &Trace { depth, limit }).unwrap();
        (found.steps.len(), found.complete)
    };
    assert_eq!(traced(1, 10), (10, true));
    assert_eq!(traced(9, 11), (10, true));
    assert_eq!(traced(1, 9), (9, false));
    assert_eq!(traced(1, 0), (0, false));
    assert_eq!(traced(0, 10), (0, false));
    let last = scene.session("last");
    scene.get(&last, "k3");
    scene.save(&last, "z");
    assert_eq!(traced(1, 20), (10, false), "a second link is left");
    assert_eq!(traced(2, 20), (11, true));
}

fn versions_that_refer_to_each_other_end_the_trace<H: Home>() {
    let scene = Scene::<H>::new();
    let [one, other] = ["one", "other"].map(|id| scene.session(id));
    let first = scene.save(&one, "k");
    for _ in 0..5 {
        for session in [&one, &other] {
            scene.get(session, "k");
            scene.save(session, "k");
        }
    }
    let forward = scene.forward(&first);
    assert!(forward.complete);
    assert_eq!(forward.steps.len(), 10, "each version once");
    let last = forward
        .steps
        .iter()
        .max_by_key(|step| step.origin.id.version);
    let back = scene.back(&last.unwrap().origin.id);
    assert!(back.complete);
    assert_eq!(back.steps.len(), 10);
}

fn what_was_deleted_or_replaced_is_still_traced<H: Home>() {
    let scene = Scene::<H>::new();
    let [one, other] = ["one", "other"].map(|id| scene.session(id));
    let source = scene.save(&one, "source");
    scene.get(&other, "source");
    let derived = scene.save(&other, "derived");
    scene.save(&one, "source");
    scene.store.delete(&one, "source").unwrap();
    scene.store.delete(&other, "derived").unwrap();
    assert_eq!(keys(&scene.back(&derived)), [("source", 1)]);
    assert_eq!(keys(&scene.forward(&source)), [("derived", 1)]);
}

fn without_the_option_nothing_is_kept_and_why_still_answers<H: Home>() {
    let home = H::new();
    let store = home.open(keyed::builder());
    let session = store.session("s", "ada").open().unwrap();
    let source = id(&store.save(&session, Draft::new("a", "v")).unwrap());
    store.get(&session, "a").unwrap();
    let saved = id(&store.save(&session, Draft::new("b", "v")).unwrap());
    let host = store.host();
    let trace = Trace::default();
    assert_eq!(host.derived_from(&saved, &trace).unwrap().steps, []);
    assert_eq!(host.derived_into(&source, &trace).unwrap().steps, []);
    let why = host.why(&saved).unwrap().unwrap();
    assert_eq!(why.cause.unwrap().facts.action, Action::Open);
}

fn a_level_has_the_raise_that_made_it<H: Home>() {
    use Classification::{Confidential, Internal, Public, Restricted};
    let scene = Scene::<H>::new();
    let session = scene.session("s");
    let mut saved = vec![scene.save(&session, "k")];
    for (level, reason) in [
        (Internal, "opened the wiki"),
        (Restricted, "read the ledger"),
    ] {
        session.raise(level, reason).unwrap();
        // Neither a raise to the same level nor resuming the session is what made it so.
        session.raise(level, "again").unwrap();
        drop(scene.store.session("s", "ada").taint(level).open().unwrap());
        saved.push(scene.save(&session, "k"));
    }
    let opened = scene.store.session("high", "ada").taint(Confidential);
    let opened = opened.open().unwrap();
    saved.push(scene.save(&opened, "k"));
    let whys: Vec<_> = saved
        .iter()
        .map(|version| {
            let why = scene.store.host().why(version).unwrap().unwrap();
            assert_eq!(why.saved.facts.key.as_ref(), Some(&version.key));
            let reason = why.reason().map(str::to_owned);
            let cause = why.cause.unwrap();
            assert!(cause.seq < why.saved.seq);
            assert_eq!(cause.facts.session, why.saved.facts.session);
            (cause.facts.action, cause.facts.level, reason)
        })
        .collect();
    let text = |text: &str| Some(text.to_owned());
    let expected = [
        (Action::Open, Public, None),
        (Action::Raise, Internal, text("opened the wiki")),
        (Action::Raise, Restricted, text("read the ledger")),
        (Action::Open, Confidential, text("opened at this level")),
    ];
    assert_eq!(whys, expected);
    let mut absent = saved[0].clone();
    absent.version = 9;
    assert!(scene.store.host().why(&absent).unwrap().is_none());
}

fn why_looks_past_the_first_page_of_the_audit<H: Home>() {
    let scene = Scene::<H>::new();
    let session = scene.session("s");
    session
        .raise(Classification::Internal, "opened the wiki")
        .unwrap();
    let first = scene.save(&session, "k");
    for _ in 0..130 {
        drop(scene.session("s"));
        scene.save(&session, "k");
    }
    let mut last = first.clone();
    last.version = 131;
    for version in [&first, &last] {
        let why = scene.store.host().why(version).unwrap().unwrap();
        assert_eq!(why.saved.facts.version, Some(version.version));
        assert_eq!(why.reason(), Some("opened the wiki"));
    }
}

fn another_store_over_the_same_records_knows_it<H: Home>() {
    let scene = Scene::<H>::new();
    let writer = scene.session("writer");
    let source = scene.save(&writer, "source");
    let reader = scene.session("reader");
    scene.get(&reader, "source");
    let other = scene.home.open(keyed::builder());
    let resumed = other.session("reader", "ada").open().unwrap();
    let saved = id(&other.save(&resumed, Draft::new("k", "v")).unwrap());
    assert_eq!(keys(&scene.back(&saved)), [("source", 1)]);
    assert_eq!(keys(&scene.forward(&source)), [("k", 1)]);
}

macro_rules! on_each_provider {
    ($($name:ident)*) => {
        mod in_memory {
            $(#[test] fn $name() { super::$name::<super::Arc<super::InMemory>>(); })*
        }
        mod sqlite {
            $(#[test] fn $name() { super::$name::<super::TempDir>(); })*
        }
    };
}

on_each_provider! {
    each_way_of_reading_counts
    a_trace_goes_through_sessions_and_names_its_way
    a_trace_is_bounded_and_says_so
    versions_that_refer_to_each_other_end_the_trace
    what_was_deleted_or_replaced_is_still_traced
    without_the_option_nothing_is_kept_and_why_still_answers
    a_level_has_the_raise_that_made_it
    why_looks_past_the_first_page_of_the_audit
    another_store_over_the_same_records_knows_it
}

#[test]
fn only_the_first_read_of_a_version_writes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let store = keyed::builder()
        .lineage(true)
        .busy_timeout(std::time::Duration::from_millis(20))
        .open(&path)
        .unwrap();
    let session = store.session("s", "ada").open().unwrap();
    let drafts = ["a", "b"].map(|key| Draft::new(key, "the same words"));
    store.save_all(&session, drafts).unwrap();
    store.get(&session, "a").unwrap();
    let lock = keyed::raw(&path).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert!(store.get(&session, "a").unwrap().is_some());
    assert!(store.get(&session, "absent").unwrap().is_none());
    assert!(store.get(&session, "b").is_err(), "it can't be kept");
    assert!(store.search(&session, Search::new("words")).is_err());
    lock.execute_batch("ROLLBACK").unwrap();
    assert_eq!(
        store.search(&session, Search::new("words")).unwrap().len(),
        2
    );
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_eq!(
        store.search(&session, Search::new("words")).unwrap().len(),
        2
    );
    lock.execute_batch("ROLLBACK").unwrap();
    let rows = |table: &str| -> i64 {
        let sql = format!("SELECT count(*) FROM {table}");
        lock.query_row(&sql, [], |row| row.get(0)).unwrap()
    };
    assert_eq!((rows("reads"), rows("readers")), (2, 1));
}

#[test]
fn debug_shows_no_key() {
    const MARKER: &str = "canaryzebra";
    let store = keyed::builder().lineage(true).open_in_memory().unwrap();
    let session = store.session("s", "ada").open().unwrap();
    session.raise(Classification::Internal, MARKER).unwrap();
    let source = id(&store.save(&session, Draft::new(MARKER, MARKER)).unwrap());
    store.get(&session, MARKER).unwrap();
    store.save(&session, Draft::new("k", "v")).unwrap();
    let host = store.host();
    let found = host.derived_into(&source, &Trace::default()).unwrap();
    assert_eq!(found.steps.len(), 1);
    let why = host.why(&source).unwrap();
    assert_eq!(why.as_ref().and_then(|why| why.reason()), Some(MARKER));
    let text = format!("{source:?} {found:?} {why:?} {store:?}");
    assert!(!text.contains(MARKER), "{text}");
}
