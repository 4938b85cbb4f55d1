//! What was read can't be saved as it is, with the level that it had.

use strandline::{Memory, MemoryStore, Session};

fn launder(store: &MemoryStore, session: &Session, memory: Memory) {
    let _ = store.save(session, memory);
}

fn main() {
    let _ = launder;
}
