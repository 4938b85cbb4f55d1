//! The spans of the feature `tracing`.

use std::collections::{BTreeMap, HashMap};
use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::{self, ThreadId};

use serde_json::json;
use strandline::policy::{Denial, Request, Rule};
use strandline::tools::Tools;
use strandline::{Classification, Draft, List, Search};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Dispatch, Event, Metadata, Subscriber, subscriber};
use tracing_core::callsite::rebuild_interest_cache;
use tracing_core::span::Current;

use super::everything::{self, shows_the_marker};
use super::{INTERNAL, PUBLIC, open};
use crate::keyed;

/// A span, or an event, which has no name.
#[derive(Clone, Debug, Default)]
struct Entry {
    name: &'static str,
    metadata: Option<&'static Metadata<'static>>,
    parent: Option<usize>,
    fields: BTreeMap<&'static str, String>,
    /// How often it was entered.
    entered: usize,
}

impl Entry {
    fn get(&self, field: &str) -> &str {
        self.fields.get(field).map_or("", String::as_str)
    }
}

impl Visit for Entry {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.fields.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields.insert(field.name(), value.to_owned());
    }
}

#[derive(Debug, Default)]
struct Recorded {
    entries: Vec<Entry>,
    /// The spans that each thread is in.
    current: HashMap<ThreadId, Vec<usize>>,
}

/// Keeps the spans and events of this crate and of these tests. An id is an index and one.
#[derive(Clone, Debug, Default)]
struct Recorder(Arc<Mutex<Recorded>>);

fn id(index: usize) -> Id {
    Id::from_u64(u64::try_from(index).unwrap() + 1)
}

fn index(id: &Id) -> usize {
    usize::try_from(id.into_u64()).unwrap() - 1
}

impl Recorder {
    fn add(&self, mut entry: Entry, is_root: bool, parent: Option<&Id>) -> Id {
        let mut recorded = self.0.lock().unwrap();
        let current = recorded.current.get(&thread::current().id());
        let current = current.and_then(|spans| spans.last().copied());
        entry.parent = parent.map(index).or(current).filter(|_| !is_root);
        recorded.entries.push(entry);
        id(recorded.entries.len() - 1)
    }

    fn entries(&self) -> Vec<Entry> {
        self.0.lock().unwrap().entries.clone()
    }

    /// What happened in `work`.
    fn during(&self, work: impl FnOnce()) -> Vec<Entry> {
        // A span that another test comes to for the first time while there is no subscriber is off until the next
        // one comes, and not even then if both happen at once. So there is always one.
        static ALWAYS: OnceLock<Dispatch> = OnceLock::new();
        ALWAYS.get_or_init(|| Dispatch::new(Self::default()));
        rebuild_interest_cache();
        let before = self.entries().len();
        subscriber::with_default(self.clone(), work);
        self.entries().split_off(before)
    }
}

impl Subscriber for Recorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        ["strandline", "test"].contains(&metadata.target())
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut entry = Entry {
            name: span.metadata().name(),
            metadata: Some(span.metadata()),
            ..Entry::default()
        };
        span.record(&mut entry);
        self.add(entry, span.is_root(), span.parent())
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let mut recorded = self.0.lock().unwrap();
        values.record(&mut recorded.entries[index(span)]);
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut entry = Entry::default();
        event.record(&mut entry);
        self.add(entry, event.is_root(), event.parent());
    }

    fn current_span(&self) -> Current {
        let recorded = self.0.lock().unwrap();
        let current = recorded.current.get(&thread::current().id());
        let current = current.and_then(|spans| spans.last().copied());
        let metadata = current.and_then(|span| recorded.entries[span].metadata);
        match (current, metadata) {
            (Some(span), Some(metadata)) => Current::new(id(span), metadata),
            _ => Current::none(),
        }
    }

    fn enter(&self, span: &Id) {
        let mut recorded = self.0.lock().unwrap();
        recorded.entries[index(span)].entered += 1;
        let thread = thread::current().id();
        recorded
            .current
            .entry(thread)
            .or_default()
            .push(index(span));
    }

    fn exit(&self, span: &Id) {
        let mut recorded = self.0.lock().unwrap();
        let spans = recorded.current.get_mut(&thread::current().id()).unwrap();
        assert_eq!(spans.pop(), Some(index(span)));
    }
}

#[test]
fn each_verb_is_one_span_with_the_names_of_the_conventions() {
    let recorder = Recorder::default();
    let store = keyed::builder().open_in_memory().unwrap();
    let session = open(&store, "s", INTERNAL);
    let check = |work: &dyn Fn(), name: &str, operation: &str, count: &str| {
        let spans = recorder.during(work);
        assert_eq!(spans.len(), 1, "{spans:?}");
        let span = &spans[0];
        assert_eq!((span.name, span.entered), (name, 1));
        assert_eq!(span.get("gen_ai.operation.name"), name);
        assert_eq!(span.get("strandline.operation"), operation);
        assert_eq!(span.get("strandline.level"), "INTERNAL");
        assert_eq!(span.get("gen_ai.memory.record.count"), count);
        assert_eq!(span.get("error.type"), "");
        assert_eq!(span.fields.len(), 4, "{span:?}");
    };
    let save = || drop(store.save(&session, Draft::new("k", "words")).unwrap());
    check(&save, "upsert_memory", "save", "1");
    let drafts = || [Draft::new("l", "words"), Draft::new("m", "words")];
    let save_all = || drop(store.save_all(&session, drafts()).unwrap());
    check(&save_all, "upsert_memory", "save_all", "2");
    let get = || drop(store.get(&session, "k").unwrap());
    check(&get, "search_memory", "get", "1");
    let search = || drop(store.search(&session, Search::new("words")).unwrap());
    check(&search, "search_memory", "search", "3");
    let list = || drop(store.list(&session, List::new()).unwrap());
    check(&list, "search_memory", "list", "3");
    let delete = || store.delete(&session, "k").unwrap();
    check(&delete, "delete_memory", "delete", "1");
}

#[test]
fn what_fails_has_the_kind_of_its_error_and_no_count() {
    let recorder = Recorder::default();
    let store = keyed::builder().open_in_memory().unwrap();
    let session = open(&store, "s", PUBLIC);
    let spans = recorder.during(|| {
        store.delete(&session, "none").unwrap_err();
        store.session("", "agent").open().unwrap_err();
        store.host().history("", "k").unwrap_err();
        store
            .host()
            .audit(&strandline::audit::Query::default())
            .unwrap();
    });
    let seen: Vec<_> = spans
        .iter()
        .map(|span| {
            (
                span.name,
                span.get("error.type"),
                span.get("otel.status_code"),
                span.get("strandline.level"),
                span.get("gen_ai.memory.record.count"),
                span.get("strandline.count"),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("delete_memory", "not_found", "ERROR", "PUBLIC", "", ""),
            (
                "strandline.session",
                "invalid_argument",
                "ERROR",
                "",
                "",
                ""
            ),
            ("strandline.store", "invalid_argument", "ERROR", "", "", ""),
            ("strandline.store", "", "", "", "", "2"),
        ]
    );
}

/// Logs what it is asked.
#[derive(Debug)]
struct Logging;

impl Rule for Logging {
    fn judge(&self, _: &Request<'_>) -> Option<Denial> {
        tracing::info!(target: "test", "asked");
        None
    }
}

#[test]
fn a_verb_is_inside_its_tool_and_what_the_host_logs_inside_the_verb() {
    let recorder = Recorder::default();
    let builder = keyed::builder().rule(Arc::new(Logging));
    let store = builder.open_in_memory().unwrap();
    let session = open(&store, "s", INTERNAL);
    let tools = Tools::new(store);
    let entries = recorder.during(|| {
        let outer = tracing::info_span!(target: "test", "outer");
        let _inside = outer.enter();
        tools.call(&session, "memory_get", json!({"key": "k"}));
    });
    let names: Vec<_> = entries.iter().map(|e| (e.name, e.parent)).collect();
    let tool = ("execute_tool", Some(0));
    let verb = ("search_memory", Some(1));
    // The rule is asked about the tool, then about the verb.
    assert_eq!(
        names,
        [("outer", None), tool, ("", Some(1)), verb, ("", Some(3))]
    );
    let tool = &entries[1];
    assert_eq!(tool.get("otel.name"), "execute_tool memory_get");
    assert_eq!(tool.get("gen_ai.operation.name"), "execute_tool");
    assert_eq!(tool.get("gen_ai.tool.name"), "memory_get");
    assert_eq!(tool.get("gen_ai.tool.type"), "function");
    assert_eq!(tool.get("gen_ai.memory.record.count"), "0");
    assert_eq!(tool.get("strandline.level"), "INTERNAL");
}

#[test]
fn no_span_gets_to_see_a_text() {
    let recorder = Recorder::default();
    recorder.during(|| everything::run(&keyed::builder()));
    let entries = recorder.entries();
    let mut shown = String::new();
    for entry in &entries {
        writeln!(shown, "{entry:?}").unwrap();
    }
    let line = shown.lines().find(|line| shows_the_marker(line));
    assert_eq!(line, None);
    assert!(entries.len() > 500);
    for part in ["\"panic\"", "\"io\"", "\"denied\"", "\"memory_list\""] {
        assert!(shown.contains(part), "{part}");
    }
}

#[cfg(feature = "tokio")]
#[test]
fn an_async_verb_is_inside_the_span_of_its_caller() {
    use strandline::asynchronous::AsyncStore;
    use tokio::runtime::Builder;
    use tracing::Instrument;

    let recorder = Recorder::default();
    let store = AsyncStore::new(keyed::builder().open_in_memory().unwrap());
    let session = open_now(&store);
    let entries = recorder.during(|| {
        let outer = tracing::info_span!(target: "test", "outer");
        let runtime = Builder::new_current_thread().build().unwrap();
        runtime.block_on(
            async {
                let saved = store.save(&session, Draft::new("k", "v")).await;
                saved.unwrap();
                let called = store.call(&session, "memory_get", json!({"key": "k"}));
                called.await.unwrap().unwrap();
                store.host(strandline::Host::stats).await.unwrap();
            }
            .instrument(outer),
        );
    });
    let names: Vec<_> = entries.iter().map(|e| (e.name, e.parent)).collect();
    assert_eq!(
        names,
        [
            ("outer", None),
            ("upsert_memory", Some(0)),
            ("execute_tool", Some(0)),
            ("search_memory", Some(2)),
            ("strandline.store", Some(0)),
        ]
    );
}

#[cfg(feature = "tokio")]
fn open_now(store: &strandline::asynchronous::AsyncStore) -> strandline::Session {
    store.session("s", "agent").open().unwrap()
}

#[cfg(feature = "mcp")]
#[test]
fn a_clients_call_is_a_span_with_its_verb_inside_and_no_text() {
    use super::everything::MARKER;
    use crate::mcp::{Client, run};
    use strandline::mcp::Server;

    let recorder = Recorder::default();
    let store = keyed::builder().open_in_memory().unwrap();
    let server = Server::new(store, MARKER).taint(Classification::Confidential);
    let entries = recorder.during(|| {
        run(async {
            let mut client = Client::new(server.connect().unwrap()).await;
            let draft = json!({"key": MARKER, "content": MARKER});
            client.call("memory_save", draft).await;
            client.call("memory_save", json!({MARKER: MARKER})).await;
            client.call(MARKER, json!({"key": MARKER})).await;
        });
    });
    let seen: Vec<_> = entries
        .iter()
        .map(|e| {
            (
                e.name,
                e.parent,
                e.get("strandline.level"),
                e.get("error.type"),
            )
        })
        .collect();
    let level = "CONFIDENTIAL";
    assert_eq!(
        seen,
        [
            ("strandline.session", None, level, ""),
            ("execute_tool", None, level, ""),
            ("upsert_memory", Some(1), level, ""),
            ("execute_tool", None, level, "invalid_argument"),
        ]
    );
    assert!(!shows_the_marker(&format!("{entries:?}")));
}
