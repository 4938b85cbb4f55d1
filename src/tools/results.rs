//! What a host is told of the tools' results: their schemas, and what a call may change.

use serde_json::{Value, json};

use super::definition::{Definition, Tool};
use super::output::ToolResult;
use crate::classification::Classification;

impl Definition {
    /// The JSON Schema of its results, of calls that succeed.
    ///
    /// A call that fails has `{"error":{"code","message"}}` instead, whatever the tool.
    ///
    /// ```
    /// let save = strandline::tools::definitions()[0].output_schema();
    /// let required = serde_json::json!(["saved", "key", "classification"]);
    /// assert_eq!(save["required"], required);
    /// ```
    pub fn output_schema(&self) -> Value {
        match self.tool {
            Tool::Save => closed(
                &json!({
                    "saved": {"type": "boolean", "const": true},
                    "key": text("The key, as it is kept."),
                    "classification": level(),
                }),
                &["saved", "key", "classification"],
            ),
            Tool::Get => got(),
            Tool::Search => found(),
            Tool::List => listed(),
            Tool::Delete => closed(
                &json!({
                    "deleted": {"type": "boolean", "const": true},
                    "key": text("The key, as it was asked for."),
                }),
                &["deleted", "key"],
            ),
        }
    }

    /// What a person reads instead of the name.
    pub(super) const fn title(&self) -> &'static str {
        match self.tool {
            Tool::Save => "Save a memory",
            Tool::Get => "Get a memory",
            Tool::Search => "Search memories",
            Tool::List => "List memories",
            Tool::Delete => "Delete a memory",
        }
    }

    /// MCP's hints on what a call may do.
    pub(super) fn annotations(&self) -> Value {
        let (read_only, destructive, idempotent) = match self.tool {
            Tool::Get | Tool::Search | Tool::List => (true, false, true),
            // Each save adds a version; the earlier ones stay in the history.
            Tool::Save => (false, false, false),
            Tool::Delete => (false, true, true),
        };
        json!({
            "title": self.title(),
            "readOnlyHint": read_only,
            "destructiveHint": destructive,
            "idempotentHint": idempotent,
            "openWorldHint": false,
        })
    }
}

impl ToolResult {
    /// The form in which an MCP server answers `tools/call`.
    ///
    /// The output is there as text, for every client, and as `structuredContent`, which conforms to
    /// the [schema](Definition::output_schema). An error is text only, with `isError`, since it
    /// doesn't. A server that speaks the protocol of 2026-07-28 adds `"resultType": "complete"`.
    ///
    /// ```
    /// use serde_json::json;
    /// use strandline::MemoryStore;
    /// use strandline::tools::Tools;
    ///
    /// let store = MemoryStore::open_in_memory()?;
    /// let session = store.session("s-1", "agent").open()?;
    /// let tools = Tools::new(store);
    /// let got = tools.call(&session, "memory_get", json!({"key": "k"})).expect("one of the five");
    /// assert_eq!(got.mcp()["structuredContent"], json!({"found": false, "key": "k"}));
    /// let wrong = tools.call(&session, "memory_get", json!({})).expect("one of the five");
    /// assert_eq!(wrong.mcp()["isError"], true);
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn mcp(&self) -> Value {
        let content = json!([{"type": "text", "text": self.output.to_string()}]);
        if self.is_error() {
            json!({"content": content, "isError": true})
        } else {
            json!({"content": content, "structuredContent": self.output, "isError": false})
        }
    }
}

fn got() -> Value {
    let properties = json!({
        "found": {"type": "boolean", "description": "Whether there is such a memory. If not, only the key is beside it."},
        "key": text("The key of the memory, or the one that was asked for."),
        "content": text("The remembered fact."),
        "classification": level(),
        "tags": tags(),
        "updated_at": time(),
    });
    closed(&properties, &["found", "key"])
}

fn found() -> Value {
    let memory = json!({
        "key": text("The memory's key."),
        "content": text("The remembered fact."),
        "classification": level(),
        "tags": tags(),
    });
    let memory = closed(&memory, &["key", "content", "classification", "tags"]);
    let properties = json!({
        "results": {"type": "array", "items": memory, "description": "Best match first."},
        "query": text("The query."),
        "max_results": count("The store's limit, where the call asked for more."),
    });
    closed(&properties, &["results", "query"])
}

fn listed() -> Value {
    let memory = json!({
        "key": text("The memory's key."),
        "content": text("The remembered fact."),
        "classification": level(),
        "tags": tags(),
        "updated_at": time(),
    });
    let required = ["key", "content", "classification", "tags", "updated_at"];
    let memory = closed(&memory, &required);
    let properties = json!({
        "memories": {"type": "array", "items": memory, "description": "By key."},
        "truncated": {"type": "boolean", "const": true, "description": "There are more than these."},
        "total": count("How many there are, where they are truncated."),
    });
    closed(&properties, &["memories"])
}

fn closed(properties: &Value, required: &[&str]) -> Value {
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

fn count(description: &str) -> Value {
    json!({"type": "integer", "minimum": 1, "description": description})
}

fn level() -> Value {
    let levels = Classification::ALL.map(|level| level.to_string());
    json!({"type": "string", "enum": levels, "description": "The memory's level."})
}

fn tags() -> Value {
    json!({"type": "array", "items": {"type": "string"}})
}

fn time() -> Value {
    json!({"type": "string", "format": "date-time", "description": "When it was last saved."})
}
