//! Nobody but the gate writes to the audit.

use strandline::audit::{Event, Facts};

fn forged(facts: Facts) -> Event {
    Event { facts }
}

fn main() {
    let _ = forged;
}
