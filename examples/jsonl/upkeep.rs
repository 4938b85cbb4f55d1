//! The operations by which a host keeps a store in order.

use serde_json::{Value, json};
use strandline::storage::{Erased, Problem};
use strandline::{Host, Result};

use super::fields::{Fields, invalid};

/// Runs the operation of this name.
pub(crate) fn run(host: &Host, op: &str, fields: Fields) -> Result<Value> {
    match op {
        "purge" => purge(host, fields),
        "erase" => erase(host, fields),
        "check" => check(host, fields),
        _ => Err(invalid("`op` is none that this program knows")),
    }
}

fn purge(host: &Host, mut fields: Fields) -> Result<Value> {
    let before = fields.optional_time("before")?;
    let before = before.ok_or_else(|| invalid("`before` is missing"))?;
    let agent = fields.optional_text("agent")?;
    fields.finish()?;
    let Erased { versions, complete } = match agent {
        Some(agent) => host.purge_agent(&agent, before)?,
        None => host.purge(before)?,
    };
    Ok(json!({"purged": versions, "complete": complete}))
}

fn erase(host: &Host, mut fields: Fields) -> Result<Value> {
    let agent = fields.optional_text("agent")?;
    let key = fields.optional_text("key")?;
    let session = fields.optional_text("session")?;
    fields.finish()?;
    let Erased { versions, complete } = match (agent, key, session) {
        (Some(agent), Some(key), None) => host.erase(&agent, &key)?,
        (Some(agent), None, None) => host.erase_agent(&agent)?,
        (None, None, Some(session)) => host.erase_session(&session)?,
        _ => {
            let text = "`erase` takes `agent`, `agent` and `key`, or `session`";
            return Err(invalid(text));
        }
    };
    Ok(json!({"erased": versions, "complete": complete}))
}

fn check(host: &Host, fields: Fields) -> Result<Value> {
    fields.finish()?;
    let problems: Vec<Problem> = host.check()?;
    Ok(json!({"ok": problems.is_empty(), "problems": problems}))
}
