//! Every verb of the store takes the session that asks.

use strandline::MemoryStore;

fn main() {
    let store = MemoryStore::open_in_memory().unwrap();
    let _ = store.get("k");
    let _ = store.delete("k");
}
