//! The definitions by the published rules of each provider, and calls in the form of each.

use serde_json::{Map, Value, json};
use strandline::MemoryStore;
use strandline::tools::{Definition, ToolResult, Tools, definitions};

/// A schema and all that are in it.
fn schemas(schema: &Value) -> Vec<&Value> {
    let mut all = vec![schema];
    let properties = schema["properties"].as_object();
    let inner = properties.into_iter().flat_map(Map::values);
    for inner in inner.chain(schema.get("items")) {
        all.extend(schemas(inner));
    }
    all
}

fn names(list: &Value) -> Vec<&str> {
    let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(Value::as_str).collect()
}

fn property_names(schema: &Value) -> Vec<&str> {
    let properties = schema["properties"].as_object();
    let names = properties.into_iter().flat_map(Map::keys);
    names.map(String::as_str).collect()
}

/// What an object has beside these fields.
fn beyond(value: &Value, allowed: &[&str]) -> Vec<String> {
    let Some(fields) = value.as_object() else {
        return vec![String::from("no object")];
    };
    let other = fields
        .keys()
        .filter(|name| !allowed.contains(&name.as_str()));
    other.map(|name| format!("field {name}")).collect()
}

fn check(broken: &mut Vec<String>, holds: bool, rule: &str) {
    if !holds {
        broken.push(rule.to_owned());
    }
}

/// `^[a-zA-Z0-9_-]{1,64}$`, of Anthropic and OpenAI both.
fn plain_name(name: &Value) -> bool {
    let name = name.as_str().unwrap_or_default();
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    (1..=64).contains(&name.len()) && name.chars().all(plain)
}

/// Rules of JSON Schema that hold for every provider's dialect of it.
fn schema_rules(root: &Value, object: &str, broken: &mut Vec<String>) {
    check(broken, root["type"] == object, "the root is an object");
    for schema in schemas(root) {
        if schema["type"] == object {
            let properties = property_names(schema);
            let required = names(&schema["required"]);
            let known = required.iter().all(|name| properties.contains(name));
            check(broken, known, "what is required is a property");
            check(broken, !properties.is_empty(), "an object has properties");
        }
        let is_array = schema["type"].to_string().to_lowercase().contains("array");
        check(
            broken,
            is_array == schema["items"].is_object(),
            "items are an array's",
        );
    }
}

/// The Anthropic Messages API's rules for a tool, and draft 2020-12 for its schema.
fn anthropic(tool: &Value) -> Vec<String> {
    let mut broken = beyond(tool, &["name", "description", "input_schema"]);
    check(&mut broken, plain_name(&tool["name"]), "name");
    check(&mut broken, tool["description"].is_string(), "description");
    schema_rules(&tool["input_schema"], "object", &mut broken);
    for keyword in ["oneOf", "anyOf", "allOf"] {
        check(
            &mut broken,
            tool["input_schema"].get(keyword).is_none(),
            keyword,
        );
    }
    broken
}

/// OpenAI's rules for a function, in either of its APIs.
fn openai(function: &Value) -> Vec<String> {
    let mut broken = beyond(
        function,
        &["name", "description", "parameters", "strict", "type"],
    );
    check(&mut broken, plain_name(&function["name"]), "name");
    let description = function["description"].as_str().unwrap_or_default();
    check(
        &mut broken,
        (1..=1024).contains(&description.len()),
        "description",
    );
    schema_rules(&function["parameters"], "object", &mut broken);
    broken
}

/// What OpenAI asks for in strict mode beside that.
fn openai_strict(function: &Value) -> Vec<String> {
    const KEYWORDS: [&str; 19] = [
        "type",
        "description",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "enum",
        "const",
        "anyOf",
        "$ref",
        "$defs",
        "pattern",
        "format",
        "multipleOf",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "minItems",
        "maxItems",
    ];
    let mut broken = openai(function);
    check(&mut broken, function["strict"] == true, "strict is on");
    for schema in schemas(&function["parameters"]) {
        broken.extend(beyond(schema, &KEYWORDS));
        if schema["type"] == "object" {
            let all = property_names(schema);
            let mut required = names(&schema["required"]);
            required.sort_unstable();
            check(&mut broken, required == all, "every property is required");
            check(
                &mut broken,
                schema["additionalProperties"] == false,
                "nothing else may come",
            );
        }
    }
    broken
}

/// Gemini's rules for a function declaration and its `Schema`, a part of `OpenAPI` 3.0.
fn gemini(function: &Value) -> Vec<String> {
    const FIELDS: [&str; 11] = [
        "type",
        "format",
        "description",
        "nullable",
        "enum",
        "items",
        "minItems",
        "maxItems",
        "properties",
        "required",
        "minimum",
    ];
    const TYPES: [&str; 6] = ["STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT"];
    let mut broken = beyond(function, &["name", "description", "parameters"]);
    let identifier = |name: &str| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let name = function["name"].as_str().unwrap_or_default();
    check(
        &mut broken,
        plain_name(&function["name"]) && identifier(name),
        "name",
    );
    schema_rules(&function["parameters"], "OBJECT", &mut broken);
    for schema in schemas(&function["parameters"]) {
        broken.extend(beyond(schema, &FIELDS));
        let kind = schema["type"].as_str().unwrap_or_default();
        check(&mut broken, TYPES.contains(&kind), "type");
        let empty = schema
            .get("required")
            .is_some_and(|required| *required == json!([]));
        check(&mut broken, !empty, "no empty list of what is required");
        for name in property_names(schema) {
            let plain = plain_name(&json!(name)) && identifier(name) && !name.contains('-');
            check(&mut broken, plain, "a parameter's name");
        }
    }
    broken
}

type Rules = fn(&Value) -> Vec<String>;
type Form = fn(&Definition) -> Value;

fn forms() -> [(Rules, Form); 6] {
    [
        (anthropic, Definition::anthropic),
        (openai, |tool| function_of(&tool.openai())),
        (openai_strict, |tool| function_of(&tool.openai_strict())),
        (openai, Definition::openai_responses),
        (openai_strict, Definition::openai_responses_strict),
        (gemini, Definition::gemini),
    ]
}

fn function_of(tool: &Value) -> Value {
    assert_eq!(
        (&tool["type"], tool.as_object().map(Map::len)),
        (&json!("function"), Some(2))
    );
    tool["function"].clone()
}

#[test]
fn every_definition_keeps_the_rules_of_its_provider() {
    for (rules, form) in forms() {
        for tool in definitions() {
            let broken = rules(&form(tool));
            assert!(broken.is_empty(), "{}: {broken:?}", tool.name());
        }
    }
}

#[test]
fn the_rules_notice_what_breaks_them() {
    let schema_of = |tool: &Value| {
        let fields = ["input_schema", "parameters"];
        fields
            .into_iter()
            .find(|&name| tool.get(name).is_some())
            .unwrap()
    };
    for (rules, form) in forms() {
        let tool = form(&definitions()[0]);
        let schema = schema_of(&tool);
        let faults: [fn(&mut Value, &str); 5] = [
            |tool, _| tool["name"] = json!("memory save"),
            |tool, _| tool["name"] = json!("m".repeat(65)),
            |tool, schema| tool[schema]["type"] = json!("string"),
            |tool, schema| tool[schema]["required"] = json!(["key", "content", "tags", "other"]),
            |tool, schema| drop(tool[schema]["properties"]["tags"]["items"].take()),
        ];
        for (number, fault) in faults.iter().enumerate() {
            let mut tool = tool.clone();
            fault(&mut tool, schema);
            assert!(!rules(&tool).is_empty(), "fault {number} of {tool}");
        }
    }
    let save = &definitions()[0];
    assert!(
        !openai_strict(&save.openai_responses()).is_empty(),
        "the plain form isn't strict"
    );
    let plain = json!({"name": "n", "description": "d", "parameters": save.input_schema()});
    assert!(!gemini(&plain).is_empty(), "JSON Schema isn't Gemini's");
}

#[test]
fn an_optional_field_is_one_in_every_form() {
    let strict = definitions()[0].openai_strict();
    let tags = &strict["function"]["parameters"]["properties"]["tags"];
    assert_eq!(tags["type"], json!(["array", "null"]));
    assert_eq!(
        strict["function"]["parameters"]["properties"]["key"]["type"],
        "string"
    );
    let gemini = definitions()[0].gemini();
    assert_eq!(gemini["parameters"]["properties"]["tags"]["nullable"], true);
    assert_eq!(
        gemini["parameters"]["properties"]["key"].get("nullable"),
        None
    );
    assert_eq!(gemini["parameters"]["required"], json!(["key", "content"]));
    assert_eq!(
        definitions()[3].gemini()["parameters"].get("required"),
        None
    );
}

/// A conversation's side that runs calls.
struct Runtime {
    tools: Tools,
    session: strandline::Session,
}

impl Runtime {
    fn new() -> Self {
        let store = MemoryStore::open_in_memory().unwrap();
        let session = store.session("s", "agent").open().unwrap();
        Self {
            tools: Tools::new(store),
            session,
        }
    }

    /// Runs the call at these places of a recorded answer.
    fn run(&self, answer: &Value, name: &str, arguments: &str) -> ToolResult {
        let name = answer.pointer(name).and_then(Value::as_str).unwrap();
        let arguments = answer.pointer(arguments).unwrap().clone();
        let result = self.tools.call(&self.session, name, arguments);
        result.expect("one of the five")
    }
}

/// The answers of each provider's model to "I'm Ada, and I like short answers" and then "who am I?", in
/// the shape that its API returns, and where the call is in it.
fn recorded() -> [(Value, Value, &'static str, &'static str); 4] {
    [
        (
            json!({"id": "msg_01", "type": "message", "role": "assistant", "stop_reason": "tool_use",
                "content": [{"type": "text", "text": "I'll remember that."},
                    {"type": "tool_use", "id": "toolu_01", "name": "memory_save", "input":
                        {"key": "user-name", "content": "The user is Ada", "tags": ["persona"]}}]}),
            json!({"id": "msg_02", "type": "message", "role": "assistant", "stop_reason": "tool_use",
                "content": [{"type": "text", "text": "Let me look."},
                    {"type": "tool_use", "id": "toolu_02", "name": "memory_search", "input":
                        {"query": "user name"}}]}),
            "/content/1/name",
            "/content/1/input",
        ),
        (
            json!({"id": "chatcmpl-1", "object": "chat.completion", "choices": [{"index": 0,
                "finish_reason": "tool_calls", "message": {"role": "assistant", "content": null,
                "tool_calls": [{"id": "call_1", "type": "function", "function":
                    {"name": "memory_save", "arguments":
                    "{\"key\":\"user-name\",\"content\":\"The user is Ada\",\"tags\":[\"persona\"]}"}}]}}]}),
            json!({"id": "chatcmpl-2", "object": "chat.completion", "choices": [{"index": 0,
                "finish_reason": "tool_calls", "message": {"role": "assistant", "content": null,
                "tool_calls": [{"id": "call_2", "type": "function", "function":
                    {"name": "memory_search", "arguments":
                    "{\"query\":\"user name\",\"max_results\":null}"}}]}}]}),
            "/choices/0/message/tool_calls/0/function/name",
            "/choices/0/message/tool_calls/0/function/arguments",
        ),
        (
            json!({"id": "resp_1", "object": "response", "output": [
                {"type": "reasoning", "id": "rs_1", "summary": []},
                {"type": "function_call", "id": "fc_1", "call_id": "call_1", "status": "completed",
                    "name": "memory_save", "arguments":
                    "{\"key\":\"user-name\",\"content\":\"The user is Ada\",\"tags\":null}"}]}),
            json!({"id": "resp_2", "object": "response", "output": [
                {"type": "reasoning", "id": "rs_2", "summary": []},
                {"type": "function_call", "id": "fc_2", "call_id": "call_2", "status": "completed",
                    "name": "memory_search", "arguments":
                    "{\"query\":\"user name\",\"max_results\":5}"}]}),
            "/output/1/name",
            "/output/1/arguments",
        ),
        (
            json!({"candidates": [{"index": 0, "finishReason": "STOP", "content": {"role": "model",
                "parts": [{"functionCall": {"name": "memory_save", "args":
                    {"key": "user-name", "content": "The user is Ada", "tags": ["persona"]}}}]}}]}),
            json!({"candidates": [{"index": 0, "finishReason": "STOP", "content": {"role": "model",
                "parts": [{"functionCall": {"name": "memory_search", "args":
                    {"query": "user name", "max_results": 5.0}}}]}}]}),
            "/candidates/0/content/parts/0/functionCall/name",
            "/candidates/0/content/parts/0/functionCall/args",
        ),
    ]
}

#[test]
fn calls_in_the_form_of_each_provider_run_as_they_are() {
    for (save, search, name, arguments) in recorded() {
        let runtime = Runtime::new();
        let saved = runtime.run(&save, name, arguments);
        let expected = json!({"saved": true, "key": "user-name", "classification": "PUBLIC"});
        assert_eq!(saved.output, expected, "{save}");
        let found = runtime.run(&search, name, arguments);
        assert_eq!(
            found.output["results"][0]["content"], "The user is Ada",
            "{search}"
        );
        // What goes back is text for three of them, and the object itself for Gemini.
        let text: Value = serde_json::from_str(&found.output.to_string()).unwrap();
        assert_eq!(text, found.output);
        assert!(found.output.is_object());
    }
}

#[test]
fn arguments_cut_off_by_a_token_limit_are_refused() {
    let runtime = Runtime::new();
    let cut = json!({"name": "memory_save", "arguments": "{\"key\":\"user-name\",\"cont"});
    let result = runtime.run(&cut, "/name", "/arguments");
    assert_eq!(result.output["error"]["code"], "invalid_argument");
}
