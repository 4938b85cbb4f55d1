//! Whoever is given the tools is not given the host's handle, nor the store that has it.

use strandline::{Host, MemoryStore, Session};
use strandline::tools::Tools;

fn through(tools: &Tools, session: &Session) {
    let _ = tools.host();
    let _ = tools.store();
    let _ = tools.store;
    let _ = session.host();
    let _ = session.gate();
    let _ = Host::new;
    let _ = MemoryStore::from_parts;
}

fn main() {
    let _ = through;
}
