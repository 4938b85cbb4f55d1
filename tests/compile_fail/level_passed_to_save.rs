//! Nothing but the session tells `save` the level.

use strandline::{Classification, Draft, MemoryStore};

fn main() {
    let store = MemoryStore::open_in_memory().unwrap();
    let session = store.session("s-1", "agent").open().unwrap();
    let _ = store.save(&session, Draft::new("k", "v"), Classification::Public);
}
