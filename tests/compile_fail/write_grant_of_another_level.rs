//! Nobody but the gate makes leave to write, not even out of leave to read and another grant.

use strandline::policy::{ReadGrant, WriteGrant};

fn moved(grant: WriteGrant<'_>, read: ReadGrant) -> WriteGrant<'_> {
    WriteGrant { read, ..grant }
}

fn main() {
    let _ = moved;
}
