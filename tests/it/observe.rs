//! What an observer is told, and that it disturbs nothing.

mod everything;
mod harmless;
mod levels;
#[cfg(feature = "tracing")]
mod spans;

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use strandline::audit::Query;
use strandline::lineage::{Trace, VersionId};
use strandline::observe::{Call, Observer, Operation, Outcome};
use strandline::storage::Namespace;
use strandline::tools::{Persona, Tools};
use strandline::{Classification, Draft, ErrorKind, List, MemoryStore, Search, Session};

use crate::keyed;
use ErrorKind::{
    CeilingExceeded, InvalidArgument, Io, LimitExceeded, NotFound, ReadOnly, SessionMismatch,
    WrongLevel,
};

/// Keeps what it is told.
#[derive(Debug, Default)]
struct Seen(Mutex<Vec<Call>>);

impl Observer for Seen {
    fn called(&self, call: &Call) {
        self.0.lock().unwrap().push(*call);
    }
}

/// The parts of a call that are the same each time.
type Told = (Operation, Option<Classification>, u64, Outcome);

impl Seen {
    fn take(&self) -> Vec<Call> {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    fn told(&self) -> Vec<Told> {
        let told = |call: Call| (call.operation, call.level, call.count, call.outcome);
        self.take().into_iter().map(told).collect()
    }
}

fn observed() -> (Arc<Seen>, MemoryStore) {
    let seen = Arc::new(Seen::default());
    let builder = keyed::builder().observer(Arc::<Seen>::clone(&seen));
    (seen, builder.open_in_memory().unwrap())
}

/// A name, a call, and what is to be told of it.
type Verb<'a> = (&'static str, Box<dyn Fn() + 'a>, Told);

const INTERNAL: Classification = Classification::Internal;
const PUBLIC: Classification = Classification::Public;

const fn failed(kind: ErrorKind) -> Outcome {
    Outcome::Failed(kind)
}

fn open(store: &MemoryStore, id: &str, level: Classification) -> Session {
    store.session(id, "agent").taint(level).open().unwrap()
}

#[test]
fn each_verb_is_told_of_once_with_its_level_and_count() {
    let (seen, store) = observed();
    let session = open(&store, "s", INTERNAL);
    let three = (0..3).map(|n| Draft::new(format!("k{n}"), "three words here").tag("t"));
    let verbs: [Verb<'_>; 10] = [
        (
            "save",
            Box::new(|| drop(store.save(&session, Draft::new("a", "one")).unwrap())),
            (Operation::Save, Some(INTERNAL), 1, Outcome::Done),
        ),
        (
            "save_all",
            Box::new(|| drop(store.save_all(&session, three.clone()).unwrap())),
            (Operation::SaveAll, Some(INTERNAL), 3, Outcome::Done),
        ),
        (
            "save_all of none",
            Box::new(|| drop(store.save_all(&session, []).unwrap())),
            (Operation::SaveAll, Some(INTERNAL), 0, Outcome::Done),
        ),
        (
            "get",
            Box::new(|| drop(store.get(&session, "a").unwrap())),
            (Operation::Get, Some(INTERNAL), 1, Outcome::Done),
        ),
        (
            "get of none",
            Box::new(|| drop(store.get(&session, "b").unwrap())),
            (Operation::Get, Some(INTERNAL), 0, Outcome::Done),
        ),
        (
            "search",
            Box::new(|| drop(store.search(&session, Search::new("words")).unwrap())),
            (Operation::Search, Some(INTERNAL), 3, Outcome::Done),
        ),
        (
            "list",
            Box::new(|| drop(store.list(&session, List::new().limit(2)).unwrap())),
            (Operation::List, Some(INTERNAL), 2, Outcome::Done),
        ),
        (
            "export",
            Box::new(|| assert_eq!(store.export(&session, Vec::new()).unwrap(), 4)),
            (Operation::Export, Some(INTERNAL), 4, Outcome::Done),
        ),
        (
            "delete",
            Box::new(|| store.delete(&session, "a").unwrap()),
            (Operation::Delete, Some(INTERNAL), 1, Outcome::Done),
        ),
        (
            "raise",
            Box::new(|| {
                session.raise(Classification::Restricted, "why").unwrap();
            }),
            (
                Operation::Raise,
                Some(Classification::Restricted),
                0,
                Outcome::Done,
            ),
        ),
    ];
    assert_eq!(
        seen.told(),
        [(Operation::Open, Some(INTERNAL), 0, Outcome::Done)]
    );
    for (name, verb, told) in verbs {
        verb();
        assert_eq!(seen.told(), [told], "{name}");
    }
    drop(store.session("s", "agent").open().unwrap());
    let resumed = (
        Operation::Open,
        Some(Classification::Restricted),
        0,
        Outcome::Done,
    );
    assert_eq!(seen.told(), [resumed]);
}

#[test]
fn what_fails_is_told_of_once_with_the_errors_kind_and_the_sessions_level() {
    let (seen, store) = observed();
    let low = open(&store, "low", PUBLIC);
    let high = open(&store, "high", INTERNAL);
    store.save(&low, Draft::new("k", "v")).unwrap();
    let view = store.host().view("agent", INTERNAL).unwrap();
    let capped = store.session("capped", "agent").ceiling(INTERNAL);
    let capped = capped.open().unwrap();
    let long = "x".repeat(2 << 20);
    seen.take();

    let at = |level, operation, kind| (operation, Some(level), 0, failed(kind));
    let check = |error: strandline::Error, told: Told| {
        assert_eq!(seen.told(), [told], "{error}");
        assert_eq!(told.3, failed(error.kind()));
    };
    let error = store.save(&high, Draft::new("", "v")).unwrap_err();
    check(error, at(INTERNAL, Operation::Save, InvalidArgument));
    let error = store.save(&view, Draft::new("k", "v")).unwrap_err();
    check(error, at(INTERNAL, Operation::Save, ReadOnly));
    let error = store
        .save_all(&high, [Draft::new(&*long, "v")])
        .unwrap_err();
    check(error, at(INTERNAL, Operation::SaveAll, LimitExceeded));
    let error = store.get(&high, &long).unwrap_err();
    check(error, at(INTERNAL, Operation::Get, LimitExceeded));
    let error = store
        .search(&high, Search::new("v").max_results(0))
        .unwrap_err();
    check(error, at(INTERNAL, Operation::Search, InvalidArgument));
    let error = store.list(&high, List::new().limit(0)).unwrap_err();
    check(error, at(INTERNAL, Operation::List, InvalidArgument));
    let error = store.export(&high, Full).unwrap_err();
    check(error, at(INTERNAL, Operation::Export, Io));
    let error = store.delete(&high, "k").unwrap_err();
    check(error, at(INTERNAL, Operation::Delete, WrongLevel));
    let error = store.delete(&high, "none").unwrap_err();
    check(error, at(INTERNAL, Operation::Delete, NotFound));
    let error = capped.raise(Classification::Restricted, "why").unwrap_err();
    check(error, at(PUBLIC, Operation::Raise, CeilingExceeded));
    let error = low.raise(INTERNAL, &long).unwrap_err();
    check(error, at(PUBLIC, Operation::Raise, LimitExceeded));
    let error = store.host().restore(&high, "k", 1).unwrap_err();
    check(error, at(INTERNAL, Operation::Restore, NotFound));

    // There is no session yet, and the level of another agent's is none of its business.
    let none = |operation, kind| (operation, None, 0, failed(kind));
    let error = store.session("high", "other").open().unwrap_err();
    check(error, none(Operation::Open, SessionMismatch));
    let error = store.session("", "agent").open().unwrap_err();
    check(error, none(Operation::Open, InvalidArgument));
    let error = store.host().view("", INTERNAL).unwrap_err();
    check(error, none(Operation::View, InvalidArgument));
    let error = store.host().history("agent", "").unwrap_err();
    check(error, none(Operation::History, InvalidArgument));
}

/// A writer that takes nothing.
struct Full;

impl std::io::Write for Full {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(std::io::Error::other("full"))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_tool_call_is_told_of_as_its_verb_and_as_itself() {
    let (seen, store) = observed();
    let session = open(&store, "s", INTERNAL);
    let tools = Tools::new(store.clone());
    let call = |tool: &str, arguments: Value| {
        seen.take();
        let is_known = tools.call(&session, tool, arguments).is_some();
        (is_known, seen.take())
    };
    for (tool, arguments, verb, count) in [
        (
            "memory_save",
            json!({"key": "k", "content": "some words"}),
            Operation::Save,
            1,
        ),
        ("memory_get", json!({"key": "k"}), Operation::Get, 1),
        ("memory_get", json!({"key": "none"}), Operation::Get, 0),
        (
            "memory_search",
            json!({"query": "words"}),
            Operation::Search,
            1,
        ),
        ("memory_list", json!({}), Operation::List, 1),
        ("memory_delete", json!({"key": "k"}), Operation::Delete, 1),
    ] {
        let (_, told) = call(tool, arguments);
        let told: Vec<_> = told
            .iter()
            .map(|call| (call.operation, call.tool, call.count, call.outcome))
            .collect();
        let expected = [
            (verb, None, count, Outcome::Done),
            (Operation::ToolCall, Some(tool), count, Outcome::Done),
        ];
        assert_eq!(told, expected);
    }

    let (_, told) = call("memory_delete", json!({"key": "none"}));
    assert_eq!(told.len(), 2);
    for call in told {
        assert_eq!(call.outcome, failed(ErrorKind::NotFound));
    }
    for arguments in [json!({}), json!("words"), json!({"key": ["k"]})] {
        let (_, told) = call("memory_get", arguments);
        assert_eq!(told.len(), 1, "no verb was called");
        assert_eq!(told[0].tool, Some("memory_get"));
        assert_eq!(told[0].level, Some(INTERNAL));
        assert_eq!(told[0].outcome, failed(ErrorKind::InvalidArgument));
    }
    assert_eq!(call("memory_forget", json!({})), (false, Vec::new()));
}

#[test]
fn a_persona_is_told_of_by_its_lists() {
    let (seen, store) = observed();
    let session = open(&store, "s", PUBLIC);
    store
        .save(&session, Draft::new("k", "v").tag("rule"))
        .unwrap();
    seen.take();
    Persona::new().load(&store, &session).unwrap();
    let told = seen.told();
    assert!(!told.is_empty() && told.iter().all(|call| call.0 == Operation::List));
    assert_eq!(told.iter().map(|call| call.2).sum::<u64>(), 1);
}

#[test]
fn each_operation_of_the_host_is_told_of_once_and_without_a_level() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let seen = Arc::new(Seen::default());
    let builder = keyed::builder().observer(Arc::<Seen>::clone(&seen));
    let store = builder.open(path("memory.db")).unwrap();
    let session = open(&store, "s", INTERNAL);
    store.save(&session, Draft::new("k", "one")).unwrap();
    let second = store.save(&session, Draft::new("k", "two")).unwrap();
    let version = VersionId::of(Namespace::MEMORY, &second);
    let (host, trace) = (store.host(), Trace::default());
    let mut exported = Vec::new();
    seen.take();

    let check = |operation, count| {
        assert_eq!(seen.told(), [(operation, None, count, Outcome::Done)]);
    };
    host.history("agent", "k").unwrap();
    check(Operation::History, 2);
    host.history_page("agent", "k", None, 1).unwrap();
    check(Operation::History, 1);
    host.audit(&Query::default()).unwrap();
    check(Operation::Audit, 3);
    host.verify(None).unwrap();
    check(Operation::Verify, 3);
    host.export_audit(Vec::new()).unwrap();
    check(Operation::ExportAudit, 3);
    host.export_audit_to(path("audit.jsonl")).unwrap();
    check(Operation::ExportAudit, 3);
    host.derived_from(&version, &trace).unwrap();
    check(Operation::DerivedFrom, 0);
    host.derived_into(&version, &trace).unwrap();
    check(Operation::DerivedInto, 0);
    host.why(&version).unwrap();
    check(Operation::Why, 1);
    host.export(&mut exported).unwrap();
    check(Operation::ExportStore, 2);
    host.export_to(path("memories.jsonl")).unwrap();
    check(Operation::ExportStore, 2);
    host.backup(path("backup.db"), |_| ()).unwrap();
    check(Operation::Backup, 2);
    host.reindex().unwrap();
    check(Operation::Reindex, 2); // the memory and the session
    host.check().unwrap();
    check(Operation::Check, 0);
    host.stats().unwrap();
    check(Operation::Stats, 0);
    host.agent_stats("agent").unwrap();
    check(Operation::Stats, 0);
    let holdings = host.holdings().unwrap().len();
    check(Operation::Holdings, holdings.try_into().unwrap());
    let later = second.updated_at + chrono::TimeDelta::days(1);
    host.purge_agent("agent", later).unwrap();
    check(Operation::Purge, 1);
    host.purge(later).unwrap();
    check(Operation::Purge, 0);
    host.erase("agent", "k").unwrap();
    check(Operation::Erase, 1);
    host.import(&*exported).unwrap();
    check(Operation::Import, 2);
    host.erase_agent("agent").unwrap();
    check(Operation::Erase, 2);
    host.erase_session("s").unwrap();
    check(Operation::Erase, 0);

    // These are at a level.
    host.view("agent", INTERNAL).unwrap();
    let done = |operation, count| (operation, Some(INTERNAL), count, Outcome::Done);
    assert_eq!(seen.told(), [done(Operation::View, 0)]);
    store.save(&session, Draft::new("k", "three")).unwrap();
    let other = store.save(&session, Draft::new("k", "four")).unwrap();
    seen.take();
    host.restore(&session, "k", other.version - 1).unwrap();
    assert_eq!(seen.told(), [done(Operation::Restore, 1)]);
}

#[test]
fn each_observer_is_told_and_clones_and_namespaces_are_the_same_store() {
    let (one, two) = (Arc::new(Seen::default()), Arc::new(Seen::default()));
    let builder = keyed::builder().observer(Arc::<Seen>::clone(&one));
    let store = builder
        .observer(Arc::<Seen>::clone(&two))
        .open_in_memory()
        .unwrap();
    let session = open(&store, "s", PUBLIC);
    let cron = store.namespace(Namespace::CRON).unwrap();
    cron.save(&session, Draft::new("k", "v")).unwrap();
    let told = [
        (Operation::Open, Some(PUBLIC), 0, Outcome::Done),
        (Operation::Save, Some(PUBLIC), 1, Outcome::Done),
    ];
    assert_eq!(one.told(), told);
    assert_eq!(two.told(), told);
}
