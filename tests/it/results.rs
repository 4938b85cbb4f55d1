//! The results of the tools, by the schemas that are given for them.

use serde_json::{Value, json};
use strandline::tools::{LIST_LIMIT, Tools, definitions};
use strandline::{Classification, Draft, MemoryStore, Session};

use crate::schema::{refuse, schema};

struct Desk {
    store: MemoryStore,
    session: Session,
}

impl Desk {
    fn new() -> Self {
        let store = MemoryStore::open_in_memory().unwrap();
        let session = store.session("s", "agent");
        let session = session.taint(Classification::Internal).open().unwrap();
        Self { store, session }
    }

    /// The output of a call, which must conform.
    fn call(&self, tool: &str, arguments: Value) -> Value {
        let tools = Tools::new(self.store.clone());
        let result = tools.call(&self.session, tool, arguments).unwrap();
        assert!(!result.is_error(), "{}", result.output);
        assert_eq!(refuse(&schema(tool), &result.output), None);
        let mcp = result.mcp();
        assert_eq!(
            (&mcp["structuredContent"], &mcp["isError"]),
            (&result.output, &json!(false))
        );
        let text = mcp["content"][0]["text"].as_str().unwrap();
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), result.output);
        result.output
    }
}

#[test]
fn every_result_conforms_to_its_tools_schema() {
    let desk = Desk::new();
    let draft = json!({"key": "user-name", "content": "Ada", "tags": ["persona"]});
    desk.call("memory_save", draft);
    assert_eq!(
        desk.call("memory_get", json!({"key": "user-name"}))["found"],
        true
    );
    assert_eq!(
        desk.call("memory_get", json!({"key": "no"}))["found"],
        false
    );
    desk.call("memory_search", json!({"query": "Ada"}));
    let many = desk.call(
        "memory_search",
        json!({"query": "Ada", "max_results": 1_000_000}),
    );
    assert!(many["max_results"].is_u64());
    assert_eq!(
        desk.call("memory_search", json!({"query": "zebra"}))["results"],
        json!([])
    );
    desk.call("memory_list", json!({"tag": "persona"}));
    let drafts = (0..LIST_LIMIT).map(|n| Draft::new(format!("k{n}"), "text"));
    desk.store.save_all(&desk.session, drafts).unwrap();
    assert_eq!(desk.call("memory_list", json!({}))["truncated"], true);
    desk.call("memory_delete", json!({"key": "user-name"}));
}

#[test]
fn the_schemas_refuse_what_is_no_result() {
    let desk = Desk::new();
    let draft = json!({"key": "user-name", "content": "Ada", "tags": ["persona"]});
    let outputs = [
        ("memory_save", desk.call("memory_save", draft)),
        (
            "memory_get",
            desk.call("memory_get", json!({"key": "user-name"})),
        ),
        (
            "memory_search",
            desk.call("memory_search", json!({"query": "Ada"})),
        ),
        ("memory_list", desk.call("memory_list", json!({}))),
        (
            "memory_delete",
            desk.call("memory_delete", json!({"key": "user-name"})),
        ),
    ];
    for (tool, output) in outputs {
        let schema = schema(tool);
        let error = json!({"error": {"code": "not_found", "message": "no"}});
        assert!(refuse(&schema, &error).is_some(), "{tool}: an error");
        for name in schema["required"].as_array().unwrap() {
            let mut less = output.clone();
            less.as_object_mut().unwrap().remove(name.as_str().unwrap());
            assert!(refuse(&schema, &less).is_some(), "{tool} without {name}");
        }
        let mut more = output.clone();
        more["score"] = json!(1);
        assert!(refuse(&schema, &more).is_some(), "{tool} with more");
        let text = output.to_string().replace("\"INTERNAL\"", "\"SECRET\"");
        let other: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            refuse(&schema, &other).is_some(),
            other != output,
            "{tool}: a level"
        );
    }
}

#[test]
fn an_error_is_text_and_no_structured_content() {
    let desk = Desk::new();
    let tools = Tools::new(desk.store.clone());
    for tool in definitions() {
        let result = tools
            .call(&desk.session, tool.name(), json!({"no": 1}))
            .unwrap();
        let mcp = result.mcp();
        assert_eq!(
            (&mcp["isError"], mcp.get("structuredContent")),
            (&json!(true), None)
        );
        let text: Value =
            serde_json::from_str(mcp["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text["error"]["code"], "invalid_argument");
    }
}
