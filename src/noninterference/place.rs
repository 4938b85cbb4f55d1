//! Where the records of one run are kept.

use std::sync::Arc;

use crate::storage::{Durability, InMemory, Sqlite, SqliteOptions, StorageProvider};

/// A fresh place for records, over which providers can be opened one after the other or at once.
pub(super) trait Place {
    fn open(&self) -> Arc<dyn StorageProvider>;
}

/// A provider that every store shares.
pub(super) struct Shared(pub(super) Arc<dyn StorageProvider>);

impl Place for Shared {
    fn open(&self) -> Arc<dyn StorageProvider> {
        Arc::clone(&self.0)
    }
}

/// A SQLite file in a folder of its own.
struct File(tempfile::TempDir);

impl Place for File {
    fn open(&self) -> Arc<dyn StorageProvider> {
        let options = SqliteOptions {
            durability: Durability::Normal,
            ..SqliteOptions::default()
        };
        Arc::new(Sqlite::open(self.0.path().join("memory.db"), &options).unwrap())
    }
}

pub(super) fn in_memory() -> Box<dyn Place> {
    Box::new(Shared(Arc::new(InMemory::new())))
}

pub(super) fn sqlite() -> Box<dyn Place> {
    // A file system without a disk, where there is one: thousands of files wait for no disk then.
    let shared_memory = tempfile::tempdir_in("/dev/shm");
    Box::new(File(
        shared_memory.or_else(|_| tempfile::tempdir()).unwrap(),
    ))
}
