//! There is no way to the gate but through the store's verbs.

use strandline::policy::Gate;

fn main() {}
