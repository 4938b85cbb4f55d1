//! The live taint (I2) and the ratchet (I3).

mod contradicted;
mod failures;
mod processes;
mod ratchet;
mod threads;

use std::path::Path;
use std::sync::Arc;

use strandline::storage::{Durability, InMemory};
use strandline::{MemoryStore, StoreBuilder};

use crate::keyed;

/// Makes stores over the same records, each as if in a process of its own.
type Open = Box<dyn Fn() -> MemoryStore + Send + Sync>;

fn quick() -> StoreBuilder {
    keyed::builder().durability(Durability::Normal)
}

fn open_file(path: &Path) -> MemoryStore {
    quick().open(path).expect("a store in a new folder")
}

/// Runs the test on each provider.
fn on_each_provider(test: impl Fn(&Open)) {
    let records = Arc::new(InMemory::new());
    let open: Open = Box::new(move || quick().with_provider(records.clone()));
    test(&open);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("memory.db");
    let open: Open = Box::new(move || open_file(&path));
    test(&open);
}
