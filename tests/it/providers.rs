//! The crate's providers, as the conformance suite and the other tests take them.

use std::path::Path;
use std::sync::Arc;

use strandline::conformance::Subject;
use strandline::storage::{Durability, InMemory, Sqlite, StorageProvider};
use strandline::{MemoryStore, StoreBuilder};
use tempfile::TempDir;

use crate::keyed;

pub(crate) struct Memory(pub(crate) Arc<InMemory>);

impl Subject for Memory {
    fn fresh() -> Self {
        Self(Arc::new(InMemory::new()))
    }

    fn provider(&self) -> &dyn StorageProvider {
        &*self.0
    }

    fn reopen(self) -> Self {
        Self::fresh()
    }
}

/// A file in a folder of its own, which goes with it.
pub(crate) struct File {
    provider: Sqlite,
    folder: TempDir,
}

impl File {
    fn open(folder: TempDir) -> Self {
        let path = folder.path().join("memory.db");
        let provider = Sqlite::open(path, &keyed::options()).expect("the file opens");
        Self { provider, folder }
    }
}

impl Subject for File {
    fn fresh() -> Self {
        Self::open(tempfile::tempdir().expect("a folder"))
    }

    fn provider(&self) -> &dyn StorageProvider {
        &self.provider
    }

    fn reopen(self) -> Self {
        let Self { provider, folder } = self;
        drop(provider);
        Self::open(folder)
    }
}

/// Where a store's records live, so that it can be opened again, or twice.
pub(crate) trait Home {
    fn new() -> Self;
    fn open(&self, builder: StoreBuilder) -> MemoryStore;
}

impl Home for Arc<InMemory> {
    fn new() -> Self {
        Self::default()
    }

    fn open(&self, builder: StoreBuilder) -> MemoryStore {
        builder.with_provider(Self::clone(self))
    }
}

impl Home for TempDir {
    fn new() -> Self {
        tempfile::tempdir().expect("a folder")
    }

    fn open(&self, builder: StoreBuilder) -> MemoryStore {
        let path = Path::join(self.path(), "memory.db");
        let builder = builder.durability(Durability::Normal);
        builder.open(path).expect("the file opens")
    }
}
