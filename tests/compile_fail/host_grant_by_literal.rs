//! Nobody but the gate makes the host's leave.

use strandline::policy::HostGrant;
use strandline::storage::Namespace;

fn main() {
    let _ = HostGrant {
        namespace: Namespace::MEMORY,
        agent: None,
    };
}
