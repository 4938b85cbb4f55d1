//! A grant that was given can't be changed.

use strandline::Classification;
use strandline::policy::ReadGrant;

fn widened(mut grant: ReadGrant) -> ReadGrant {
    grant.level = Classification::Restricted;
    grant
}

fn main() {
    let _ = widened;
}
