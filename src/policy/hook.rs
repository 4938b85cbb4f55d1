//! The hook `PRE_TOOL_CALL`: the gate sees a model's tool call before the tool does.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::gate::{Act, Gate};
use crate::audit::{Action, Decision};
use crate::error::Result;
use crate::observe::Probe;
use crate::session::Session;
use crate::storage::Namespace;

/// Names under which models send a level, lower case and without separators.
const LEVEL_FIELDS: [&str; 17] = [
    "accesslevel",
    "classification",
    "classificationlevel",
    "clearance",
    "clearancelevel",
    "confidentiality",
    "confidentialitylevel",
    "dataclassification",
    "level",
    "memorylevel",
    "securityclassification",
    "securitylevel",
    "sensitivity",
    "sensitivitylevel",
    "sessiontaint",
    "taint",
    "taintlevel",
];

/// A call of one of the tools, on its way to it.
#[derive(Debug)]
pub(crate) struct ToolCall {
    pub(crate) name: &'static str,
    pub(crate) arguments: Map<String, Value>,
}

impl Gate {
    /// Lets a tool call through, without any level that the model put into it.
    ///
    /// The level is the session's taint, which the verbs read from the session themselves; a level
    /// in the arguments has no effect but an entry in the audit. The host's rules are asked, too.
    pub(crate) fn pre_tool_call(
        self: &Arc<Self>,
        session: &Session,
        namespace: &Namespace,
        probe: &Probe,
        mut call: ToolCall,
    ) -> Result<ToolCall> {
        let act = Act {
            tool: Some(call.name),
            ..Act::new(Action::ToolCall, namespace).seen_by(probe)
        };
        let level = self.settled(session)?.taint;
        act.is_at(level);
        self.judge(session.id(), session.agent(), act, level)?;
        let before = call.arguments.len();
        call.arguments.retain(|name, _| !is_level(name));
        if call.arguments.len() < before {
            let detail = format!("{}: ignored a level in the arguments", call.name);
            self.note(session, act, Decision::Refused, detail)?;
        }
        Ok(call)
    }

    /// Notes in the audit that a tool refused its arguments; `why` holds none of their values.
    pub(crate) fn refuse_tool_call(
        self: &Arc<Self>,
        session: &Session,
        namespace: &Namespace,
        tool: &'static str,
        why: &str,
    ) -> Result<()> {
        let act = Act {
            tool: Some(tool),
            ..Act::new(Action::ToolCall, namespace)
        };
        self.note(session, act, Decision::Refused, format!("{tool}: {why}"))
    }
}

pub(crate) fn is_level(name: &str) -> bool {
    let plain: String = name
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    LEVEL_FIELDS.contains(&plain.as_str())
}
