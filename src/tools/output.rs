//! What a model gets back.

use std::fmt;

use serde_json::{Value, json};

use crate::error::{Error, ErrorKind};
use crate::record::{Memory, Tag};
use crate::store::{Hit, Page};

/// The answer to one tool call.
///
/// `Debug` doesn't show the output.
///
/// ```
/// use serde_json::json;
/// use strandline::tools::Tools;
/// use strandline::{Classification, Draft, MemoryStore};
///
/// let store = MemoryStore::open_in_memory()?;
/// let high = store.session("s-1", "agent").taint(Classification::Internal).open()?;
/// store.save(&high, Draft::new("door-code", "4711"))?;
/// let low = store.session("s-2", "agent").open()?;
/// let tools = Tools::new(store);
/// let result = tools.call(&low, "memory_get", json!({"key": "door-code"})).expect("one of the five");
/// assert_eq!(result.output, json!({"found": false, "key": "door-code"}));
/// assert!(result.error.is_none()); // not finding something is no failure
/// # Ok::<(), strandline::Error>(())
/// ```
pub struct ToolResult {
    /// What to send to the model: always a JSON object. Where the call failed it is
    /// `{"error":{"code","message"}}`, and the message says what to send instead.
    pub output: Value,
    /// Why the call failed, for the host. It holds nothing that the model wrote; the cause of a
    /// storage failure, which the output keeps back, is in it.
    pub error: Option<Error>,
}

impl ToolResult {
    /// Whether the call failed: what MCP calls `isError` and the Anthropic API `is_error`.
    ///
    /// ```
    /// use serde_json::json;
    /// use strandline::MemoryStore;
    /// use strandline::tools::Tools;
    ///
    /// let store = MemoryStore::open_in_memory()?;
    /// let session = store.session("s-1", "agent").open()?;
    /// let tools = Tools::new(store);
    /// let wrong = tools.call(&session, "memory_get", json!({"id": "k"})).expect("one of the five");
    /// assert!(wrong.is_error());
    /// assert_eq!(wrong.output["error"]["code"], "invalid_argument");
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub const fn is_error(&self) -> bool {
        self.error.is_some()
    }

    pub(super) fn success(output: Value) -> Self {
        Self {
            output,
            error: None,
        }
    }

    pub(super) fn failure(error: Error, message: &str) -> Self {
        let code = error.kind().code();
        Self {
            output: json!({"error": {"code": code, "message": message}}),
            error: Some(error),
        }
    }
}

impl fmt::Debug for ToolResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolResult")
            .field("error", &self.error)
            .finish_non_exhaustive()
    }
}

/// What to tell a model of a store's error, and what it may do next.
///
/// The words of a storage error are the host's: they may name a path.
pub(super) fn explain(error: &Error) -> String {
    let advice = match error.kind() {
        ErrorKind::InvalidArgument => "",
        ErrorKind::LimitExceeded => "; send less, or split it over several keys",
        ErrorKind::NotFound => "; memory_list shows the keys that there are",
        ErrorKind::WrongLevel => "; to correct it, save the new text under the same key",
        ErrorKind::Denied => "; don't try again",
        ErrorKind::Busy | ErrorKind::Full => return unavailable("try again later"),
        _ => return unavailable("go on without it"),
    };
    format!("{error}{advice}")
}

fn unavailable(advice: &str) -> String {
    format!("memory can't be used at the moment; {advice}")
}

pub(super) fn saved(memory: &Memory) -> Value {
    json!({
        "saved": true,
        "key": memory.key.as_str(),
        "classification": memory.classification,
    })
}

pub(super) fn got(key: &str, memory: Option<&Memory>) -> Value {
    match memory {
        Some(memory) => json!({
            "found": true,
            "key": memory.key.as_str(),
            "content": memory.content,
            "classification": memory.classification,
            "tags": tags(memory),
            "updated_at": memory.updated_at,
        }),
        None => json!({"found": false, "key": key}),
    }
}

/// `limit` is the store's limit, where the call asked for more.
pub(super) fn found(query: &str, hits: &[Hit], limit: Option<usize>) -> Value {
    let row = |hit: &Hit| {
        json!({
            "key": hit.memory.key.as_str(),
            "content": hit.memory.content,
            "classification": hit.memory.classification,
            "tags": tags(&hit.memory),
        })
    };
    let results: Vec<_> = hits.iter().map(row).collect();
    match limit {
        None => json!({"results": results, "query": query}),
        Some(limit) => json!({"results": results, "query": query, "max_results": limit}),
    }
}

pub(super) fn listed(page: &Page) -> Value {
    let row = |memory: &Memory| {
        json!({
            "key": memory.key.as_str(),
            "content": memory.content,
            "classification": memory.classification,
            "tags": tags(memory),
            "updated_at": memory.updated_at,
        })
    };
    let memories: Vec<_> = page.memories.iter().map(row).collect();
    if page.next.is_none() {
        return json!({"memories": memories});
    }
    json!({"memories": memories, "truncated": true, "total": page.total})
}

pub(super) fn deleted(key: &str) -> Value {
    json!({"deleted": true, "key": key})
}

fn tags(memory: &Memory) -> Vec<&str> {
    memory.tags.iter().map(Tag::as_str).collect()
}
