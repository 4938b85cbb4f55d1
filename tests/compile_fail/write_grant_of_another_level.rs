//! Nobody but the gate makes leave to write, not even out of two grants that it made.

use strandline::policy::WriteGrant;

fn moved<'s>(lower: WriteGrant<'s>, higher: WriteGrant<'s>) -> WriteGrant<'s> {
    WriteGrant { writing: lower.writing, ..higher }
}

fn main() {
    let _ = moved;
}
