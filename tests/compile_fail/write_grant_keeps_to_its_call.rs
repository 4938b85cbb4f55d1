//! What a provider is given for a write can't outlive the call: it would hold the session's taint.

use std::sync::Mutex;

use strandline::policy::WriteGrant;

static KEPT: Mutex<Option<&WriteGrant<'static>>> = Mutex::new(None);

fn keep_the_reference(grant: &WriteGrant<'static>) {
    *KEPT.lock().unwrap() = Some(grant);
}

fn keep_the_grant<'s>(grant: &WriteGrant<'s>, kept: &mut Vec<WriteGrant<'s>>) {
    kept.push(*grant);
}

fn main() {
    let _ = (keep_the_reference, keep_the_grant);
}
