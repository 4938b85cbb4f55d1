//! Taint can't be set, only raised.

use strandline::{Classification, Session};

fn lower(session: &mut Session) {
    session.set_taint(Classification::Public);
    session.lower(Classification::Public);
    session.reset();
    session.change().taint = Classification::Public;
}

fn main() {
    let _ = lower;
}
