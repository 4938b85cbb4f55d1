//! What a model and the host are told when the storage fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use strandline::policy::{HostGrant, ReadGrant, WriteGrant};
use strandline::storage::{
    Deletion, Hit, InMemory, ListPage, ListRequest, NewRecord, SearchRequest, Stats,
    StorageProvider, Version,
};
use strandline::tools::{Persona, Tools};
use strandline::{Draft, Error, ErrorKind, Memory, MemoryKey, MemoryStore, Result, audit};

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
    fn get(&self, grant: &ReadGrant, key: &MemoryKey) -> Result<Option<Memory>> {
        self.up()?.get(grant, key)
    }
    fn list(&self, grant: &ReadGrant, request: &ListRequest) -> Result<ListPage> {
        self.up()?.list(grant, request)
    }
    fn search(&self, grant: &ReadGrant, request: &SearchRequest) -> Result<Vec<Hit>> {
        self.up()?.search(grant, request)
    }
    fn save(&self, grant: &WriteGrant<'_>, records: &[NewRecord]) -> Result<Vec<Memory>> {
        self.up()?.save(grant, records)
    }
    fn delete(&self, grant: &WriteGrant<'_>, key: &MemoryKey) -> Result<Deletion> {
        self.up()?.delete(grant, key)
    }
    fn append(&self, event: &audit::Event) -> Result<()> {
        self.up()?.append(event)
    }
    fn history(&self, grant: &HostGrant, key: &MemoryKey) -> Result<Vec<Version>> {
        self.up()?.history(grant, key)
    }
    fn audit(&self, grant: &HostGrant, query: &audit::Query) -> Result<Vec<audit::Entry>> {
        self.up()?.audit(grant, query)
    }
    fn reindex(&self, grant: &HostGrant) -> Result<u64> {
        self.up()?.reindex(grant)
    }
    fn stats(&self, grant: &HostGrant, now: DateTime<Utc>) -> Result<Stats> {
        self.up()?.stats(grant, now)
    }
}

#[test]
fn a_storage_error_reaches_the_host_whole_and_the_model_without_its_words() {
    let provider = Arc::new(Failing::default());
    let store = MemoryStore::builder().with_provider(Arc::<Failing>::clone(&provider));
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
