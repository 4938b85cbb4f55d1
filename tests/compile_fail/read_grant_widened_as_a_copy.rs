//! A grant that was given can't be widened as a copy.

use strandline::Classification;
use strandline::policy::ReadGrant;

fn widened(grant: &ReadGrant) -> ReadGrant {
    ReadGrant {
        level: Classification::Restricted,
        ..grant.clone()
    }
}

fn main() {
    let _ = widened;
}
