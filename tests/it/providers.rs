//! The crate's providers, as the conformance suite and the model test take them.

use std::sync::Arc;

use strandline::conformance::Subject;
use strandline::storage::{InMemory, Sqlite, SqliteOptions, StorageProvider};
use tempfile::TempDir;

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
        let provider = Sqlite::open(path, &SqliteOptions::default()).expect("the file opens");
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
