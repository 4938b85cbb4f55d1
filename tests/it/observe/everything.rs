//! A marker for each text that a call can take, through every operation and its errors (invariant I9).

use std::collections::BTreeSet;
use std::io::{Error as IoError, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use strandline::audit::{Action, Query};
use strandline::lineage::{Trace, VersionId};
use strandline::observe::{Observer, Operation, Outcome};
use strandline::policy::{Denial, Request, Rule, WriteGrant};
use strandline::storage::{InMemory, Namespace, NewRecord, StorageProvider};
use strandline::tools::{Persona, Tools};
use strandline::{
    Classification, Draft, Error, ErrorKind, List, Memory, MemoryStore, Result, Search, Session,
    StoreBuilder,
};

use super::Seen;
use crate::keyed;

pub(super) const MARKER: &str = "Xanthippe";

/// Whether a text has the marker in it, written in any way that a careless log would.
pub(super) fn shows_the_marker(text: &str) -> bool {
    let text = text.to_lowercase();
    let hex = MARKER
        .bytes()
        .fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
    let numbers: Vec<String> = MARKER.bytes().map(|byte| byte.to_string()).collect();
    [MARKER.to_lowercase(), hex, numbers.join(", ")]
        .iter()
        .any(|form| text.contains(form))
}

fn marked(what: &str) -> String {
    format!("{what} {MARKER}")
}

/// Fails with the marker in its words, and then panics with it.
#[derive(Debug, Default)]
struct Failing {
    inner: InMemory,
    fails: AtomicBool,
    panics: AtomicBool,
}

impl Failing {
    fn up(&self) -> Result<&InMemory> {
        assert!(!self.panics.load(Ordering::Relaxed), "{MARKER}");
        if self.fails.load(Ordering::Relaxed) {
            let cause = IoError::other(MARKER);
            return Err(Error::new(ErrorKind::Io, MARKER).with_source(cause));
        }
        Ok(&self.inner)
    }
}

impl StorageProvider for Failing {
    fn is_durable(&self) -> bool {
        false
    }

    fn save(&self, grant: &WriteGrant<'_>, records: &[NewRecord]) -> Result<Vec<Memory>> {
        self.up()?.save(grant, records)
    }

    strandline::forward!(up: get, list, search, delete, append, history, audit, reindex, trail,
        note_read, sources, derivations, versions, import, backup, restore, erase, check,
        history_page, stats, holdings, language);
}

/// Denies what an agent of a certain name does, but for opening its session.
#[derive(Debug)]
struct Denying;

impl Rule for Denying {
    fn name(&self) -> &str {
        MARKER
    }

    fn judge(&self, request: &Request<'_>) -> Option<Denial> {
        let is_denied = request.agent.as_str() == marked("denied");
        (is_denied && request.action != Action::Open).then(|| Denial::new(MARKER))
    }
}

/// A reader and writer that fails with the marker.
struct Unplugged;

impl Read for Unplugged {
    fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
        Err(IoError::other(MARKER))
    }
}

impl Write for Unplugged {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(IoError::other(MARKER))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Err(IoError::other(MARKER))
    }
}

/// Every call whose result is of no interest here, good and bad.
fn call_all(store: &MemoryStore, folder: &Path) {
    let session = |id: &str, agent: &str| store.session(marked(id), marked(agent));
    let low = session("low", "agent").open().unwrap();
    let capped = session("capped", "agent").ceiling(Classification::Internal);
    let capped = capped.open().unwrap();
    let high = session("high", "agent").taint(Classification::Internal);
    let high = high.open().unwrap();
    let denied = session("denied", "denied").open().unwrap();
    let view = store
        .host()
        .view(&marked("agent"), Classification::Internal);
    let other = keyed::builder().open_in_memory().unwrap();
    let foreign = other
        .session(marked("low"), marked("agent"))
        .open()
        .unwrap();
    open_badly(store, &low, &capped);
    for session in [&low, &high, &capped, &denied, &view.unwrap(), &foreign] {
        call_verbs(store, session);
        call_tools(store, session);
    }
    call_host(store, &high, folder);
}

fn open_badly(store: &MemoryStore, low: &Session, capped: &Session) {
    let long = MARKER.repeat(200);
    drop(store.session(&*long, MARKER).open());
    drop(store.session(MARKER, &*long).open());
    drop(store.session(marked("low"), marked("thief")).open());
    let above = store.session(marked("capped"), marked("agent"));
    drop(above.taint(Classification::Restricted).open());
    drop(capped.raise(Classification::Restricted, MARKER));
    drop(low.raise(Classification::Internal, &long));
    drop(capped.raise(Classification::Internal, MARKER));
}

fn call_verbs(store: &MemoryStore, session: &Session) {
    let draft = |key: &str| Draft::new(key, marked("about")).tag(MARKER);
    let long = MARKER.repeat(200_000);
    let keys = [MARKER, "", &*long, &*marked("two"), &*marked("none")];
    for key in keys {
        drop(store.save(session, draft(key)));
        drop(store.save_all(session, [draft(key), draft(MARKER)]));
        drop(store.get(session, key));
        drop(store.search(session, Search::new(key)));
        drop(store.search(session, Search::new(key).explain().max_results(0)));
        drop(store.list(session, List::new().tag(key).limit(1)));
        drop(store.list(session, List::new().tag(key).limit(0)));
        drop(store.host().restore(session, key, 1));
        drop(store.delete(session, &marked("none")));
        drop(store.delete(session, key));
        drop(store.save(session, draft(key)));
    }
    drop(store.save(session, Draft::new(MARKER, &*long)));
    let page = store.list(session, List::new().limit(1));
    if let Ok(Some(cursor)) = page.map(|page| page.next) {
        drop(store.list(session, List::new().after(cursor).count()));
    }
    drop(store.export(session, Vec::new()));
    drop(store.export(session, Unplugged));
    drop(Persona::new().load(store, session));
    drop(session.raise(session.taint(), MARKER));
}

fn call_tools(store: &MemoryStore, session: &Session) {
    let tools = Tools::new(store.clone());
    let values = [
        json!({"key": MARKER, "content": MARKER, "tags": MARKER}),
        json!({"key": MARKER, "content": MARKER, "tags": [[MARKER]], "level": MARKER}),
        json!({"key": MARKER, "content": {MARKER: 1}}),
        json!({"key": [MARKER]}),
        json!({"key": MARKER}),
        json!({"key": MARKER, MARKER: MARKER}),
        json!({"query": MARKER}),
        json!({"query": MARKER, "max_results": MARKER}),
        json!({"query": MARKER, "classification": MARKER}),
        json!({"tag": MARKER}),
        json!({"tag": [MARKER]}),
        json!(format!("{{{MARKER}")),
        json!([MARKER]),
        Value::Null,
    ];
    for name in [
        "memory_save",
        "memory_get",
        "memory_search",
        "memory_list",
        "memory_delete",
        MARKER,
        &marked("memory_get"),
    ] {
        for arguments in &values {
            drop(tools.call(session, name, arguments.clone()));
        }
    }
}

fn call_host(store: &MemoryStore, session: &Session, folder: &Path) {
    let host = store.host();
    let saved = store.save(session, Draft::new(MARKER, MARKER));
    let long = MARKER.repeat(200);
    let path = folder.join(MARKER);
    let query = Query {
        session: MARKER.parse().ok(),
        key: MARKER.parse().ok(),
        ..Query::default()
    };
    for agent in [&*marked("agent"), &*long] {
        drop(host.history(agent, MARKER));
        drop(host.history(agent, &long));
        drop(host.history_page(agent, MARKER, None, 0));
        drop(host.history_page(agent, MARKER, None, 1));
        drop(host.purge_agent(agent, DateTime::UNIX_EPOCH));
        drop(host.agent_stats(agent));
        drop(host.view(agent, Classification::Public));
    }
    drop(host.audit(&query));
    drop(host.verify(None));
    drop(host.export_audit(Vec::new()));
    drop(host.export_audit(Unplugged));
    drop(host.export_audit_to(&path));
    drop(host.export_audit_to(path.join(MARKER)));
    if let Ok(memory) = saved {
        let version = VersionId::of(Namespace::MEMORY, &memory);
        drop(host.derived_from(&version, &Trace::default()));
        drop(host.derived_into(&version, &Trace::default()));
        drop(host.why(&version));
        drop(host.restore(session, MARKER, memory.version - 1));
    }
    let mut exported = Vec::new();
    drop(host.export(&mut exported));
    drop(host.export(Unplugged));
    drop(host.export_to(&path));
    drop(host.export_to(path.join(MARKER)));
    drop(host.backup(folder.join(marked("backup")), |_| ()));
    drop(host.backup(&path, |_| ()));
    drop(host.import(&*exported));
    drop(host.import(MARKER.as_bytes()));
    drop(host.import(Unplugged));
    exported.extend_from_slice(json!({"key": MARKER, MARKER: 1}).to_string().as_bytes());
    drop(host.import(&*exported));
    drop(host.import_triggerfish(&path));
    drop(host.import_triggerfish(folder.join(marked("none"))));
    drop((host.reindex(), host.check(), host.stats(), host.holdings()));
    drop(host.purge(DateTime::<Utc>::UNIX_EPOCH + TimeDelta::days(1)));
    drop(host.erase(&marked("agent"), &marked("two")));
    drop(host.erase(&long, MARKER));
    drop(host.erase(MARKER, &long));
    drop((
        host.erase_session(&marked("low")),
        host.erase_session(&long),
    ));
    drop((host.erase_agent(&marked("agent")), host.erase_agent(&long)));
}

/// Makes every call with the marker in all that it takes, on a file, in memory, and on a provider that fails and
/// that panics.
pub(super) fn run(builder: &StoreBuilder) {
    let builder = builder.clone().rule(Arc::new(Denying)).audit_reads(true);
    let builder = builder.lineage(true);
    let folder = tempfile::tempdir().unwrap();
    let store = builder.clone().open(folder.path().join("memory.db"));
    call_all(&store.unwrap(), folder.path());
    let provider = Arc::new(Failing::default());
    let store = builder.with_provider(Arc::<Failing>::clone(&provider));
    call_all(&store, folder.path());
    let session = store.session(marked("last"), marked("agent")).open();
    let session = session.unwrap();
    for state in [&provider.fails, &provider.panics] {
        state.store(true, Ordering::Relaxed);
        for call in [call_verbs, call_tools, open_anew] {
            drop(catch_unwind(AssertUnwindSafe(|| call(&store, &session))));
        }
        let host = || call_host(&store, &session, folder.path());
        drop(catch_unwind(AssertUnwindSafe(host)));
    }
}

fn open_anew(store: &MemoryStore, _: &Session) {
    drop(store.session(marked("anew"), marked("agent")).open());
}

#[test]
fn no_observer_gets_to_see_a_text() {
    let seen = Arc::new(Seen::default());
    let observer = Arc::<Seen>::clone(&seen);
    run(&keyed::builder().observer(observer as Arc<dyn Observer>));
    let calls = seen.take();
    for call in &calls {
        let shown = format!("{call:?}\n{call:#?}");
        assert!(!shows_the_marker(&shown), "{shown}");
    }
    // Nothing was left out.
    let told: BTreeSet<Operation> = calls.iter().map(|call| call.operation).collect();
    assert!(told.iter().eq(Operation::ALL), "{told:?}");
    let outcomes = |outcome: &dyn Fn(Outcome) -> bool| {
        let calls = calls.iter().filter(|call| outcome(call.outcome));
        calls.map(|call| call.operation).collect::<BTreeSet<_>>()
    };
    let done = outcomes(&|outcome| outcome == Outcome::Done);
    assert!(done.iter().eq(Operation::ALL), "{done:?}");
    assert!(outcomes(&|outcome| outcome == Outcome::Panicked).len() > 2);
    let failed = outcomes(&|outcome| outcome.error() == Some(ErrorKind::Io));
    assert!(failed.len() > 15, "{failed:?}");
    for kind in [ErrorKind::Denied, ErrorKind::CeilingExceeded] {
        assert!(!outcomes(&|outcome| outcome.error() == Some(kind)).is_empty());
    }
}
