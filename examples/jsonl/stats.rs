//! Counts and sizes.

use serde_json::{Value, json};
use strandline::{Host, Result};

use super::fields::Fields;

/// The store's counts and sizes, or those of one agent.
pub(crate) fn stats(host: &Host, mut fields: Fields) -> Result<Value> {
    let agent = fields.optional_text("agent")?;
    fields.finish()?;
    let stats = match agent {
        Some(agent) => host.agent_stats(&agent)?,
        None => host.stats()?,
    };
    Ok(json!(stats))
}
