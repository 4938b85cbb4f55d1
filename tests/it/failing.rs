//! What a model and the host are told when the storage fails.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use strandline::lineage::{Origin, Reading, VersionId};
use strandline::policy::{HostGrant, ReadGrant, WriteGrant};
use strandline::storage::{
    BackupProgress, Deletion, Erased, Erasure, Hit, Imported, InMemory, ListPage, ListRequest,
    NewRecord, Problem, Restore, SearchRequest, Stats, StorageProvider, StoredVersion, Version,
};
use strandline::tools::{Persona, Tools};
use strandline::{Draft, Error, ErrorKind, Memory, MemoryKey, MemoryStore, Result, audit};
use uuid::Uuid;

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
    fn trail(&self, grant: &HostGrant, after: u64, limit: usize) -> Result<audit::Trail> {
        self.up()?.trail(grant, after, limit)
    }
    fn note_read(&self, reading: &Reading) -> Result<()> {
        self.up()?.note_read(reading)
    }
    fn sources(&self, grant: &HostGrant, version: &VersionId, limit: usize) -> Result<Vec<Origin>> {
        self.up()?.sources(grant, version, limit)
    }
    fn derivations(
        &self,
        grant: &HostGrant,
        version: &VersionId,
        limit: usize,
    ) -> Result<Vec<Origin>> {
        self.up()?.derivations(grant, version, limit)
    }

    fn versions(
        &self,
        grant: &HostGrant,
        each: &mut dyn FnMut(StoredVersion, u64) -> Result<()>,
    ) -> Result<()> {
        self.up()?.versions(grant, each)
    }
    fn import(
        &self,
        grant: &HostGrant,
        at: DateTime<Utc>,
        versions: &[StoredVersion],
    ) -> Result<Vec<Imported>> {
        self.up()?.import(grant, at, versions)
    }
    fn backup(
        &self,
        grant: &HostGrant,
        path: &Path,
        on_progress: &mut dyn FnMut(BackupProgress),
    ) -> Result<u64> {
        self.up()?.backup(grant, path, on_progress)
    }

    fn restore(&self, grant: &WriteGrant<'_>, request: &Restore) -> Result<Option<Memory>> {
        self.up()?.restore(grant, request)
    }
    fn erase(&self, grant: &HostGrant, request: &Erasure) -> Result<Erased> {
        self.up()?.erase(grant, request)
    }
    fn check(&self, grant: &HostGrant) -> Result<Vec<Problem>> {
        self.up()?.check(grant)
    }
    fn history_page(
        &self,
        grant: &HostGrant,
        key: &MemoryKey,
        after: Option<Uuid>,
        limit: usize,
    ) -> Result<Vec<Version>> {
        self.up()?.history_page(grant, key, after, limit)
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
