//! What a model calls: the five tools, the text that asks for them, and what it is reminded of.
//!
//! - [`definitions`] are the tools as data, in the forms that MCP and the model APIs take.
//! - [`Tools::call`] runs a call: it goes through the gate's hook, which drops any level that the
//!   model put into it, and then through the store's verbs, which read the session's taint at that
//!   moment. A tool reaches nothing else, and never the [`Host`](crate::Host).
//! - [`AUTO_EXTRACTION_PROMPT`] is the text for the system prompt that has a model save what is
//!   worth it. The model decides *what* to save; the gate decides *at what level*.
//! - [`Persona`] turns what is remembered of rules, preferences, persona and projects into a section
//!   of the prompt.
//!
//! # Each provider's own form
//! | provider | tools of a request | a call in its answer | arguments |
//! |---|---|---|---|
//! | Anthropic | [`anthropic`](Definition::anthropic) | block `tool_use` | `input`, an object |
//! | OpenAI Chat Completions | [`openai`](Definition::openai), [`openai_strict`](Definition::openai_strict) | `tool_calls[].function` | `arguments`, a string |
//! | OpenAI Responses | [`openai_responses`](Definition::openai_responses), [`openai_responses_strict`](Definition::openai_responses_strict) | item `function_call` | `arguments`, a string |
//! | Gemini | [`gemini`](Definition::gemini) | part `functionCall` | `args`, an object |
//! | MCP | [`mcp`](Definition::mcp) | `tools/call` | `arguments`, an object |
//!
//! [`Tools::call`] takes the name and the arguments as they are, and no adapter is in between:
//!
//! ```
//! use serde_json::json;
//! use strandline::MemoryStore;
//! use strandline::tools::Tools;
//!
//! let store = MemoryStore::open_in_memory()?;
//! let session = store.session("s-1", "agent").open()?;
//! let tools = Tools::new(store);
//! let run = |name: &serde_json::Value, arguments: &serde_json::Value| {
//!     let name = name.as_str().unwrap_or_default();
//!     tools.call(&session, name, arguments.clone()).expect("one of the five")
//! };
//!
//! // Anthropic: a content block. The result goes back in a block `tool_result`.
//! let block = json!({"type": "tool_use", "id": "toolu_01A", "name": "memory_save",
//!     "input": {"key": "user-name", "content": "Ada"}});
//! let done = run(&block["name"], &block["input"]);
//! let reply = json!({"type": "tool_result", "tool_use_id": block["id"],
//!     "content": done.output.to_string(), "is_error": done.is_error()});
//! assert_eq!(reply["is_error"], false);
//!
//! // OpenAI Chat Completions: an entry of `tool_calls`; back in a message of the role `tool`.
//! let call = json!({"id": "call_1", "type": "function", "function": {
//!     "name": "memory_get", "arguments": "{\"key\":\"user-name\"}"}});
//! let done = run(&call["function"]["name"], &call["function"]["arguments"]);
//! let reply = json!({"role": "tool", "tool_call_id": call["id"],
//!     "content": done.output.to_string()});
//! assert_eq!(done.output["content"], "Ada");
//!
//! // OpenAI Responses: an output item; back as an item `function_call_output`. In strict mode an
//! // optional field is null where others leave it out.
//! let item = json!({"type": "function_call", "id": "fc_1", "call_id": "call_2",
//!     "name": "memory_list", "arguments": "{\"tag\":null}"});
//! let done = run(&item["name"], &item["arguments"]);
//! let reply = json!({"type": "function_call_output", "call_id": item["call_id"],
//!     "output": done.output.to_string()});
//! assert_eq!(done.output["memories"][0]["key"], "user-name");
//!
//! // Gemini: a part of the content; back as a part `functionResponse`. Numbers come with a point.
//! let part = json!({"functionCall": {"name": "memory_search",
//!     "args": {"query": "who is Ada?", "max_results": 3.0}}});
//! let done = run(&part["functionCall"]["name"], &part["functionCall"]["args"]);
//! let reply = json!({"functionResponse": {"name": part["functionCall"]["name"],
//!     "response": done.output}});
//! assert_eq!(reply["functionResponse"]["response"]["results"][0]["content"], "Ada");
//! # Ok::<(), strandline::Error>(())
//! ```
//!
//! # What the annotations say
//! MCP's hints: get, search and list are read-only; delete is destructive, and repeating it changes
//! nothing more. A save is neither destructive, since earlier versions stay in the host's history, nor
//! idempotent, since each adds a version. No tool reaches anything but the store (`openWorldHint` is
//! false).
//!
//! # Arguments as models send them
//! The schemas say what to send. Beyond that these shapes are accepted, and no other:
//!
//! | what | also taken |
//! |---|---|
//! | the arguments | a string that holds the object; nothing or null, for no arguments |
//! | an optional field | null, for absent |
//! | `tags` | one string; a string with commas between the tags; a string that holds the JSON array |
//! | `max_results` | `5.0`; a string that holds the number; a number above the store's limit, as that limit |
//! | a level (`classification`, `level`, ...) | has no effect, and is noted in the audit |
//!
//! The rest is refused with a message that names the field, what it must hold and what kind of value
//! came. Values are never repeated, and the refusal is noted in the audit without them.

mod arguments;
mod definition;
mod escape;
mod forms;
mod output;
mod persona;
mod prompt;
mod results;

pub use definition::{Definition, definitions};
pub use output::ToolResult;
pub use persona::{Persona, PersonaSection};
pub use prompt::AUTO_EXTRACTION_PROMPT;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::{Error, ErrorKind, Result};
use crate::observe::{Count, Operation, Probe};
use crate::policy::ToolCall;
use crate::record::Draft;
use crate::session::Session;
use crate::store::{List, MemoryStore, Search};
use arguments::Refusal;
use definition::Tool;

/// How many memories `memory_list` returns at most. It is said in the tool's description.
pub const LIST_LIMIT: usize = 200;

/// Runs tool calls on a store.
///
/// A clone is cheap and works on the same store.
///
/// ```
/// use serde_json::json;
/// use strandline::tools::Tools;
/// use strandline::{Classification, MemoryStore};
///
/// let store = MemoryStore::open_in_memory()?;
/// let tools = Tools::new(store.clone());
///
/// let secret = store.session("s-1", "agent").taint(Classification::Confidential).open()?;
/// let call = json!({"key": "salary", "content": "5 doubloons", "classification": "PUBLIC"});
/// let saved = tools.call(&secret, "memory_save", call).expect("one of the five");
/// assert_eq!(saved.output["classification"], "CONFIDENTIAL"); // whatever the model sent
///
/// let open = store.session("s-2", "agent").open()?;
/// let got = tools.call(&open, "memory_get", json!({"key": "salary"})).expect("one of the five");
/// assert_eq!(got.output, json!({"found": false, "key": "salary"}));
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tools {
    store: MemoryStore,
}

/// A tool's output, and of how many memories it is.
type Counted = (Value, u64);

/// Why a call came to nothing.
enum Failure {
    Arguments(Refusal),
    Store(Error),
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Arguments(refusal)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Save {
    key: String,
    content: String,
    #[serde(default)]
    tags: Vec<String>,
}

/// The arguments of both `memory_get` and `memory_delete`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Keyed {
    key: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Query {
    query: String,
    max_results: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tagged {
    tag: Option<String>,
}

impl Tools {
    /// The tools over this store, in the namespace that its verbs work on.
    ///
    /// ```
    /// use strandline::MemoryStore;
    /// use strandline::tools::Tools;
    ///
    /// let tools = Tools::new(MemoryStore::open_in_memory()?);
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn new(store: MemoryStore) -> Self {
        Self { store }
    }

    /// Runs one call, or returns `None` if the tool is none of the five.
    ///
    /// `arguments` are what the model sent: the object that the Anthropic API and MCP hand over, or
    /// the string that the OpenAI API does. A call that fails has a result as well, for the model to
    /// read; see [`ToolResult`].
    ///
    /// ```
    /// use serde_json::json;
    /// use strandline::MemoryStore;
    /// use strandline::tools::Tools;
    ///
    /// let store = MemoryStore::open_in_memory()?;
    /// let session = store.session("s-1", "agent").open()?;
    /// let tools = Tools::new(store);
    ///
    /// let as_text = r#"{"key": "user-name", "content": "Ada", "tags": "persona"}"#;
    /// let saved = tools.call(&session, "memory_save", as_text).expect("one of the five");
    /// assert!(!saved.is_error());
    ///
    /// let query = json!({"query": "who is Ada?", "max_results": 3});
    /// let found = tools.call(&session, "memory_search", query).expect("one of the five");
    /// assert_eq!(found.output["results"][0]["key"], "user-name");
    ///
    /// assert!(tools.call(&session, "read_file", json!({})).is_none());
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn call(
        &self,
        session: &Session,
        name: &str,
        arguments: impl Into<Value>,
    ) -> Option<ToolResult> {
        let tool = Definition::find(name)?;
        let arguments = arguments.into();
        let observers = self.store.observers();
        let run = |probe: &Probe| match self.run(session, probe, tool, arguments) {
            Ok((output, count)) => (ToolResult::success(output), count),
            Err(failure) => (self.fail(session, tool, failure), 0),
        };
        let (operation, name) = (Operation::ToolCall, Some(tool.name));
        Some(observers.watch(operation, name, Some(session), run).0)
    }

    fn run(
        &self,
        session: &Session,
        probe: &Probe,
        tool: &'static Definition,
        arguments: Value,
    ) -> Result<Counted, Failure> {
        let (arguments, refusal) = match arguments::to_object(arguments) {
            Ok(arguments) => (arguments, None),
            Err(refusal) => (Map::new(), Some(refusal)),
        };
        // The gate sees even a call whose arguments are no object: its rules come first.
        let name = tool.name;
        let call = ToolCall { name, arguments };
        let call = self.store.pre_tool_call(session, probe, call)?;
        if let Some(refusal) = refusal {
            return Err(refusal.into());
        }
        let arguments = arguments::conform(tool, call.arguments)?;
        Ok(match tool.tool {
            Tool::Save => self.save(session, read(arguments)?),
            Tool::Get => self.get(session, &read(arguments)?),
            Tool::Search => self.search(session, read(arguments)?),
            Tool::List => self.list(session, read(arguments)?),
            Tool::Delete => self.delete(session, &read(arguments)?),
        }?)
    }

    fn save(&self, session: &Session, Save { key, content, tags }: Save) -> Result<Counted> {
        let draft = Draft::new(key, content).tags(tags);
        let memory = self.store.save(session, draft)?;
        Ok((output::saved(&memory), memory.count()))
    }

    fn get(&self, session: &Session, Keyed { key }: &Keyed) -> Result<Counted> {
        let memory = self.store.get(session, key)?;
        Ok((output::got(key, memory.as_ref()), memory.count()))
    }

    fn search(&self, session: &Session, arguments: Query) -> Result<Counted> {
        let Query { query, max_results } = arguments;
        let limit = self.store.limits().max_results;
        let number = max_results.unwrap_or(Search::DEFAULT_MAX_RESULTS);
        let search = Search::new(query.as_str()).max_results(number);
        let hits = self.store.search(session, search)?;
        let cut = max_results.filter(|&wanted| wanted > limit).map(|_| limit);
        Ok((output::found(&query, &hits, cut), hits.count()))
    }

    fn list(&self, session: &Session, Tagged { tag }: Tagged) -> Result<Counted> {
        let list = List::new().limit(LIST_LIMIT).count();
        let list = match tag {
            Some(tag) => list.tag(tag),
            None => list,
        };
        let page = self.store.list(session, list)?;
        Ok((output::listed(&page), page.count()))
    }

    fn delete(&self, session: &Session, Keyed { key }: &Keyed) -> Result<Counted> {
        self.store.delete(session, key)?;
        Ok((output::deleted(key), 1))
    }

    /// The result of a call that failed. Refused arguments are noted in the audit here; what the
    /// gate refuses it notes itself.
    fn fail(&self, session: &Session, tool: &Definition, failure: Failure) -> ToolResult {
        let (error, message) = match failure {
            Failure::Arguments(refusal) => (Error::invalid(refusal.audit()), refusal.message(tool)),
            Failure::Store(error) => {
                let message = output::explain(&error);
                (error, message)
            }
        };
        if matches!(
            error.kind(),
            ErrorKind::InvalidArgument | ErrorKind::LimitExceeded
        ) {
            let noted = self
                .store
                .refuse_tool_call(session, tool.name, &error.to_string());
            if let Err(error) = noted {
                let message = output::explain(&error);
                return ToolResult::failure(error, &message);
            }
        }
        ToolResult::failure(error, &message)
    }
}

/// The arguments of a tool, from an object that conforms to its schema.
fn read<T: DeserializeOwned>(arguments: Map<String, Value>) -> Result<T> {
    // Without its source: serde's message would quote a value.
    serde_json::from_value(Value::Object(arguments))
        .map_err(|_| Error::internal("a tool's schema and its parser differ"))
}

#[cfg(test)]
mod tests;
