//! Invariant I9: no key, content, tag or query in `Debug`, errors or their causes.

use std::error::Error as _;
use std::fmt::{Debug, Write as _};

use serde_json::json;
use strandline::audit::Query;
use strandline::tools::{Persona, Tools};
use strandline::{
    Classification, Draft, Error, Limits, List, MemoryKey, MemoryStore, Search, Session, Tag,
};

use crate::keyed;

const MARKER: &str = "Xanthippe";

/// What a log would get to see.
#[derive(Default)]
struct Log(String);

impl Log {
    fn debug(&mut self, value: &impl Debug) {
        write!(self.0, "{value:?}\n{value:#?}\n").unwrap();
    }

    fn error(&mut self, error: &Error) {
        self.debug(error);
        writeln!(self.0, "{error}").unwrap();
        let mut cause = error.source();
        while let Some(error) = cause {
            write!(self.0, "{error}\n{error:?}\n").unwrap();
            cause = error.source();
        }
    }

    fn result<T: Debug>(&mut self, result: Result<T, Error>) {
        match result {
            Ok(value) => self.debug(&value),
            Err(error) => self.error(&error),
        }
    }

    fn assert_silent(&self) {
        let shown = self.0.to_lowercase();
        let marker = MARKER.to_lowercase();
        let line = shown.lines().find(|line| line.contains(&marker));
        assert_eq!(line, None);
        let hex = MARKER
            .bytes()
            .fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
        assert!(!shown.contains(&hex));
    }
}

fn draft() -> Draft {
    Draft::new(MARKER, format!("about {MARKER}")).tag(MARKER)
}

fn stores() -> [(Option<tempfile::TempDir>, MemoryStore); 2] {
    let limits = Limits {
        key_bytes: 20,
        content_bytes: 40,
        tag_bytes: 20,
        query_bytes: 40,
        ..Limits::default()
    };
    let builder = keyed::builder().limits(limits);
    let folder = tempfile::tempdir().unwrap();
    let file = builder
        .clone()
        .open(folder.path().join("memory.db"))
        .unwrap();
    [
        (Some(folder), file),
        (None, builder.open_in_memory().unwrap()),
    ]
}

fn use_everything(log: &mut Log, store: &MemoryStore, low: &Session, high: &Session) {
    let oversized = MARKER.repeat(9);
    log.debug(&draft());
    log.result(store.save(low, draft()));
    log.result(store.save_all(high, [draft(), draft()]));
    log.result(store.save_all(
        high,
        [Draft::new(MARKER, "fine"), Draft::new(&*oversized, "no")],
    ));
    log.result(store.get(high, MARKER));
    log.result(store.get(low, &oversized));
    log.result(store.search(high, Search::new(MARKER)));
    log.result(store.search(high, Search::new(MARKER).explain()));
    log.result(store.search(high, Search::new(&*oversized)));
    log.result(store.search(high, Search::new(MARKER).max_results(0)));
    log.debug(&Search::new(MARKER));
    log.result(store.list(high, List::new().tag(MARKER).limit(1)));
    log.result(store.list(high, List::new().tag(&*oversized)));
    log.debug(&List::new().tag(MARKER));
    store
        .save(high, Draft::new(format!("{MARKER} 2"), MARKER))
        .unwrap();
    let page = store.list(high, List::new().limit(1)).unwrap();
    log.debug(&page);
    log.debug(&List::new().after(page.next.unwrap()));
    log.result(MARKER.parse::<strandline::Cursor>());
    log.result(MARKER.parse::<Classification>());
    log.result(MARKER.parse::<MemoryKey>());
    log.result(MARKER.parse::<Tag>());
    log.result(store.host().history("agent", MARKER));
    log.result(store.host().audit(&Query::default()));
    log.debug(&Persona::new().load(store, high));
    log.result(store.delete(low, &format!("{MARKER} 2")));
    log.result(store.delete(high, MARKER));
    log.result(store.delete(high, MARKER));
    log.debug(store);
    log.debug(&high.raises());
}

fn use_the_tools(log: &mut Log, store: &MemoryStore, session: &Session) {
    let tools = Tools::new(store.clone());
    for (tool, arguments) in [
        (
            "memory_save",
            json!({"key": MARKER, "content": MARKER, "tags": MARKER}),
        ),
        (
            "memory_save",
            json!({"key": MARKER, "content": {MARKER: 1}}),
        ),
        (
            "memory_save",
            json!({"key": MARKER, "content": MARKER, "tags": [[MARKER]]}),
        ),
        ("memory_get", json!({"key": MARKER})),
        ("memory_get", json!(format!("{{{MARKER}"))),
        (
            "memory_search",
            json!({"query": MARKER, "max_results": MARKER}),
        ),
        ("memory_search", json!({"query": MARKER})),
        ("memory_delete", json!({"key": format!("{MARKER}!")})),
    ] {
        let result = tools.call(session, tool, arguments).unwrap();
        log.debug(&result);
        if let Some(error) = result.error {
            log.error(&error);
        }
    }
}

#[test]
fn neither_debug_nor_errors_show_what_is_remembered_or_asked() {
    for (_folder, store) in stores() {
        let mut log = Log::default();
        let low = store.session("low", "agent").open().unwrap();
        let high = store.session("high", "agent").open().unwrap();
        high.raise(Classification::Internal, MARKER).unwrap();
        use_everything(&mut log, &store, &low, &high);
        use_the_tools(&mut log, &store, &high);
        log.assert_silent();
    }
}

#[test]
fn a_damaged_file_is_reported_without_its_content() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let store = keyed::open(&path).unwrap();
    let session = store.session("s", "agent").open().unwrap();
    store.save(&session, draft()).unwrap();
    let db = keyed::raw(&path).unwrap();
    let mut log = Log::default();
    for damage in [
        format!("UPDATE records SET tags = '[{MARKER}'"),
        format!("UPDATE records SET tags = '[]', content = '{MARKER}' WHERE key = 's'"),
        String::from("UPDATE records SET content = CAST(X'ff' || content AS TEXT)"),
    ] {
        db.execute(&damage, []).unwrap();
        let again = keyed::open(&path).unwrap();
        log.result(again.session("s", "agent").open());
        log.result(store.get(&session, MARKER));
        log.result(store.save(&session, draft()));
        log.result(store.search(&session, Search::new(MARKER)));
    }
    log.assert_silent();
}
