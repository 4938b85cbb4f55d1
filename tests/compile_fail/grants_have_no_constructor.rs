//! What makes grants and events inside the crate is out of reach, and nothing else does.

use strandline::audit::Event;
use strandline::policy::{HostGrant, ReadGrant, WriteGrant};

fn main() {
    let _ = ReadGrant::forge;
    let _ = WriteGrant::forge;
    let _ = HostGrant::forge;
    let _ = Event::new;
}
