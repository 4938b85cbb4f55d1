//! What ties the two crates together.

use rig_agent::tool::{DynamicTool, ToolExecutionError, ToolOutput};
use rig_core::message::{EmptyToolName, Message, ToolName, ToolResultContent, UserContent};
use serde_json::Value;
use strandline::Session;
use strandline::tools::{Definition, Tools, definitions};

/// The five tools for an agent that talks in this session.
///
/// The session is read at each call, so a raise while the agent runs holds from its next call on.
pub fn tools(tools: &Tools, session: &Session) -> Result<Vec<DynamicTool>, EmptyToolName> {
    let tool = |definition| tool(definition, tools.clone(), session.clone());
    definitions().iter().map(tool).collect()
}

fn tool(
    definition: &'static Definition,
    tools: Tools,
    session: Session,
) -> Result<DynamicTool, EmptyToolName> {
    let callback = move |arguments: Value| {
        let (tools, session) = (tools.clone(), session.clone());
        let call = move || run(&tools, &session, definition.name(), arguments);
        let answer = async move {
            // A call waits for the disk, which a worker of the runtime must not.
            let done = tokio::task::spawn_blocking(call).await;
            done.unwrap_or_else(|error| Err(ToolExecutionError::from_error(error)))
        };
        Box::pin(answer) as _
    };
    Ok(DynamicTool::new(
        ToolName::new(definition.name())?,
        definition.description(),
        definition.input_schema(),
        callback,
    ))
}

/// A call that fails has an output as well, which tells the model what to send instead.
fn run(
    tools: &Tools,
    session: &Session,
    name: &str,
    arguments: Value,
) -> Result<ToolOutput, ToolExecutionError> {
    let Some(result) = tools.call(session, name, arguments) else {
        return Err(ToolExecutionError::not_found("no such tool"));
    };
    let output = ToolOutput::json(result.output);
    match result.error {
        None => Ok(output),
        Some(error) => {
            Err(ToolExecutionError::other(error.kind().code()).with_model_output(output))
        }
    }
}

/// The tools' answers in a transcript.
pub fn results(messages: &[Message]) -> Vec<Value> {
    let of_message = |message: &Message| match message {
        Message::User { content, .. } => content.iter().flat_map(of_content).collect(),
        _ => Vec::new(),
    };
    messages.iter().flat_map(of_message).collect()
}

fn of_content(content: &UserContent) -> Vec<Value> {
    let UserContent::ToolResult(result) = content else {
        return Vec::new();
    };
    let json = |content: &ToolResultContent| match content {
        ToolResultContent::Json { value } => Some(value.clone()),
        _ => None,
    };
    result.content.iter().filter_map(json).collect()
}
