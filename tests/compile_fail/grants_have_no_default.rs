//! There is no grant that one has without asking.

use strandline::audit::Event;
use strandline::policy::{HostGrant, ReadGrant, WriteGrant};

fn main() {
    let _ = ReadGrant::default();
    let _ = WriteGrant::default();
    let _ = HostGrant::default();
    let _ = Event::default();
}
