//! What a session is made of can't be put together anew.

use strandline::Session;

fn renewed(session: Session) -> Session {
    Session { ..session }
}

fn main() {
    let _ = renewed;
}
