//! Nobody but the gate makes leave to read.

use strandline::policy::ReadGrant;
use strandline::storage::Namespace;
use strandline::{AgentId, Classification};

fn forged(agent: AgentId) -> ReadGrant {
    ReadGrant {
        namespace: Namespace::MEMORY,
        agent,
        level: Classification::Restricted,
        now: Default::default(),
    }
}

fn main() {
    forged("agent".parse().unwrap());
}
