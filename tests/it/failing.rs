//! What a model and the host are told when the storage fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use strandline::storage::{InMemory, StorageProvider};
use strandline::tools::{Persona, Tools};
use strandline::{Draft, Error, ErrorKind, Result};

use crate::keyed;

/// A provider in memory that can be told to fail.
#[derive(Debug, Default)]
struct Failing {
    inner: InMemory,
    failing: AtomicBool,
}

impl Failing {
    fn up(&self) -> Result<&InMemory> {
        if self.failing.load(Ordering::Relaxed) {
            return Err(Error::new(ErrorKind::Io, "/home/ada/memory.db: unplugged"));
        }
        Ok(&self.inner)
    }
}

impl StorageProvider for Failing {
    fn is_durable(&self) -> bool {
        false
    }

    strandline::forward!(up: get, list, search, save, delete, append, history, audit, reindex, trail, note_read,
        sources, derivations, versions, import, backup, restore, erase, check, history_page,
        stats, holdings, language);
}

#[test]
fn a_storage_error_reaches_the_host_whole_and_the_model_without_its_words() {
    let provider = Arc::new(Failing::default());
    let store = keyed::builder().with_provider(Arc::<Failing>::clone(&provider));
    let session = store.session("s", "agent").open().unwrap();
    let tools = Tools::new(store.clone());
    store
        .save(&session, Draft::new("k", "c").tag("rule"))
        .unwrap();

    provider.failing.store(true, Ordering::Relaxed);
    let calls = [
        ("memory_save", json!({"key": "k", "content": "d"})),
        ("memory_get", json!({"key": "k"})),
        ("memory_search", json!({"query": "c"})),
        ("memory_list", Value::Null),
        ("memory_delete", json!({"key": "k"})),
        // What is refused without the storage still has to be noted there.
        ("memory_get", json!({"id": "k"})),
        (
            "memory_save",
            json!({"key": "k", "content": "d", "level": "PUBLIC"}),
        ),
        ("memory_save", json!({"key": " ", "content": "d"})),
    ];
    for (tool, arguments) in calls {
        let result = tools.call(&session, tool, arguments).unwrap();
        let message = result.output["error"]["message"].as_str().unwrap();
        assert!(message.contains("memory can't be used"), "{message}");
        assert_eq!(result.output["error"]["code"], "io");
        let error = result.error.unwrap();
        assert_eq!(error.kind(), ErrorKind::Io);
        assert!(error.to_string().contains("unplugged"));
    }
    let error = Persona::new().load(&store, &session).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);

    provider.failing.store(false, Ordering::Relaxed);
    let got = tools
        .call(&session, "memory_get", json!({"key": "k"}))
        .unwrap();
    assert_eq!(
        got.output["content"], "c",
        "no failed call left anything behind"
    );
}
