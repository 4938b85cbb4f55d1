//! A span of the crate `tracing` for each call. `tracing.md` says what its fields mean.

use tracing::Span;
#[cfg(any(feature = "mcp", feature = "tokio"))]
use tracing::dispatcher;
use tracing::field::Empty;
use tracing::span::EnteredSpan;

use super::{Call, Operation, Outcome};
use crate::classification::Classification;

/// Enters the span of a call. A level of `INFO` is what hosts export as a rule.
pub(super) fn enter(operation: Operation, tool: Option<&'static str>) -> EnteredSpan {
    // A span's name and fields are fixed where it is written: so once for each name.
    macro_rules! span {
        ($name:literal, $($field:literal = $value:expr),*) => {
            tracing::info_span!(
                target: "strandline",
                $name,
                "strandline.operation" = operation.as_str(),
                "strandline.level" = Empty,
                "error.type" = Empty,
                "otel.status_code" = Empty,
                $($field = $value),*
            )
        };
    }
    macro_rules! of_memories {
        ($name:literal) => {
            span!(
                $name,
                "gen_ai.operation.name" = $name,
                "gen_ai.memory.record.count" = Empty
            )
        };
    }
    let span = match operation {
        Operation::Save | Operation::SaveAll | Operation::Restore | Operation::Import => {
            of_memories!("upsert_memory")
        }
        Operation::Get | Operation::Search | Operation::List => of_memories!("search_memory"),
        Operation::Delete | Operation::Purge | Operation::Erase => of_memories!("delete_memory"),
        Operation::ToolCall => span!(
            "execute_tool",
            "otel.name" = tool.map(tool_span),
            "gen_ai.operation.name" = "execute_tool",
            "gen_ai.tool.name" = tool,
            "gen_ai.tool.type" = "function",
            "gen_ai.memory.record.count" = Empty
        ),
        Operation::Open | Operation::Raise | Operation::View => span!("strandline.session",),
        _ => span!("strandline.store", "strandline.count" = Empty),
    };
    span.entered()
}

/// The name that the conventions give to the span of a tool.
fn tool_span(tool: &str) -> String {
    format!("execute_tool {tool}")
}

/// The same job for another thread, inside the span that the caller is in now, and for the same subscriber.
#[cfg(any(feature = "mcp", feature = "tokio"))]
pub(crate) fn in_span<T>(job: impl FnOnce() -> T) -> impl FnOnce() -> T {
    let span = Span::current();
    let subscriber = dispatcher::get_default(Clone::clone);
    move || dispatcher::with_default(&subscriber, || span.in_scope(job))
}

/// Writes into the span what came of the call.
pub(super) fn record(span: &Span, call: &Call) {
    if let Some(level) = call.level.map(Classification::as_str) {
        span.record("strandline.level", level);
    }
    match call.outcome {
        // The span has one of the two, or none.
        Outcome::Done => {
            span.record("gen_ai.memory.record.count", call.count);
            span.record("strandline.count", call.count);
        }
        failed => {
            span.record("error.type", failed.code());
            span.record("otel.status_code", "ERROR");
        }
    }
}
