//! A provider can't be written to without a grant.

use strandline::storage::{InMemory, StorageProvider};

fn main() {
    let provider = InMemory::new();
    let _ = provider.save(&[]);
}
