//! A provider can't be read without a grant.

use strandline::MemoryKey;
use strandline::storage::{InMemory, StorageProvider};

fn main() {
    let provider = InMemory::new();
    let key: MemoryKey = "k".parse().unwrap();
    let _ = provider.get(&key);
}
