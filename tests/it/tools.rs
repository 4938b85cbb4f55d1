//! The five tools, as a runtime calls them.

use std::sync::Arc;

use serde_json::{Value, json};
use strandline::audit::{Action, Decision, Query};
use strandline::policy::{Denial, Request, Rule};
use strandline::tools::{LIST_LIMIT, ToolResult, Tools};
use strandline::{Classification, Draft, ErrorKind, Limits, MemoryStore, Session, StoreBuilder};

use crate::keyed;

struct Desk {
    store: MemoryStore,
    tools: Tools,
    session: Session,
}

impl Desk {
    fn new() -> Self {
        Self::with(keyed::builder())
    }

    fn with(builder: StoreBuilder) -> Self {
        let store = builder.open_in_memory().unwrap();
        let session = store.session("s", "agent").open().unwrap();
        let tools = Tools::new(store.clone());
        Self {
            store,
            tools,
            session,
        }
    }

    fn session_at(&self, taint: Classification) -> Session {
        let id = format!("at-{taint}");
        self.store.session(id, "agent").taint(taint).open().unwrap()
    }

    fn call_as(&self, session: &Session, tool: &str, arguments: impl Into<Value>) -> ToolResult {
        self.tools
            .call(session, tool, arguments)
            .expect("one of the five")
    }

    fn call(&self, tool: &str, arguments: impl Into<Value>) -> ToolResult {
        self.call_as(&self.session, tool, arguments)
    }

    /// The output of a call that must succeed.
    fn ok(&self, tool: &str, arguments: impl Into<Value>) -> Value {
        let result = self.call(tool, arguments);
        assert!(!result.is_error(), "{}", result.output);
        result.output
    }

    /// The code and message of a call that must fail.
    fn refused(&self, tool: &str, arguments: impl Into<Value>) -> (String, String) {
        let result = self.call(tool, arguments);
        let error = result.error.as_ref().expect("a refusal");
        assert_eq!(result.output["error"]["code"], error.kind().code());
        let text = |name| result.output["error"][name].as_str().unwrap().to_owned();
        (text("code"), text("message"))
    }

    /// What the audit says of the last act.
    fn last_note(&self) -> (Action, Decision, String) {
        let facts = self
            .store
            .host()
            .audit(&Query::default())
            .unwrap()
            .remove(0)
            .facts;
        (
            facts.action,
            facts.decision,
            facts.detail.unwrap_or_default(),
        )
    }
}

fn without_time(mut row: Value) -> Value {
    let time = row.as_object_mut().unwrap().remove("updated_at");
    assert!(time.unwrap().as_str().unwrap().ends_with('Z'));
    row
}

#[test]
fn results_have_the_shapes_that_are_promised() {
    let desk = Desk::new();
    let saved = desk.ok(
        "memory_save",
        json!({"key": "k", "content": "green tea", "tags": ["T"]}),
    );
    assert_eq!(
        saved,
        json!({"saved": true, "key": "k", "classification": "PUBLIC"})
    );

    let row =
        json!({"key": "k", "content": "green tea", "classification": "PUBLIC", "tags": ["T"]});
    let mut found = row.clone();
    found["found"] = json!(true);
    assert_eq!(
        without_time(desk.ok("memory_get", json!({"key": "k"}))),
        found
    );
    let absent = desk.ok("memory_get", json!({"key": "no"}));
    assert_eq!(absent, json!({"found": false, "key": "no"}));

    let hits = desk.ok("memory_search", json!({"query": "tea"}));
    assert_eq!(hits, json!({"results": [row], "query": "tea"}));

    let mut list = desk.ok("memory_list", json!({"tag": "t"}));
    assert_eq!(without_time(list["memories"][0].take()), row);
    assert_eq!(list, json!({"memories": [null]}));

    let deleted = desk.ok("memory_delete", json!({"key": "k"}));
    assert_eq!(deleted, json!({"deleted": true, "key": "k"}));
    assert_eq!(desk.ok("memory_list", json!({})), json!({"memories": []}));
}

#[test]
fn other_tools_are_not_ours() {
    let desk = Desk::new();
    for name in [
        "read_file",
        "memory_purge",
        "memory",
        "Memory_Save",
        " memory_save",
        "",
    ] {
        assert!(
            desk.tools.call(&desk.session, name, json!({})).is_none(),
            "{name}"
        );
    }
}

#[test]
fn a_level_in_the_call_has_no_effect_and_is_audited() {
    let desk = Desk::new();
    desk.session
        .raise(Classification::Confidential, "read the ledger")
        .unwrap();
    for name in [
        "classification",
        "level",
        "Security_Level",
        "taint",
        "sensitivity",
    ] {
        let saved = desk.ok(
            "memory_save",
            json!({"key": "k", "content": "c", name: "PUBLIC"}),
        );
        assert_eq!(saved["classification"], "CONFIDENTIAL");
        let entries = desk.store.host().audit(&Query::default()).unwrap();
        let note = &entries[1].facts;
        assert_eq!(
            (note.action, note.decision),
            (Action::ToolCall, Decision::Refused)
        );
        assert!(note.detail.as_ref().unwrap().contains("ignored a level"));
    }
    let as_text = r#"{"key":"k","content":"c","classification":"PUBLIC"}"#;
    assert_eq!(
        desk.ok("memory_save", as_text)["classification"],
        "CONFIDENTIAL"
    );
    desk.ok("memory_get", json!({"key": "k", "level": "RESTRICTED"}));
    desk.ok(
        "memory_search",
        json!({"query": "c", "classification": ["PUBLIC"]}),
    );
    desk.ok("memory_list", json!({"level": {"deep": [1]}}));
    desk.ok("memory_delete", json!({"key": "k", "level": null}));
}

#[test]
fn the_taint_is_read_at_each_call() {
    let desk = Desk::new();
    let level =
        || desk.ok("memory_save", json!({"key": "k", "content": "c"}))["classification"].clone();
    assert_eq!(level(), "PUBLIC");
    desk.session
        .raise(Classification::Internal, "opened the wiki")
        .unwrap();
    assert_eq!(level(), "INTERNAL");
    let low = desk.store.session("low", "agent").open().unwrap();
    let got = desk.call_as(&low, "memory_get", json!({"key": "k"})).output;
    assert_eq!(got["classification"], "PUBLIC");
}

#[test]
fn absent_and_above_are_the_same_bytes() {
    let desk = Desk::new();
    let high = desk.session_at(Classification::Restricted);
    let calls = [
        ("memory_get", json!({"key": "k"})),
        ("memory_delete", json!({"key": "k"})),
        (
            "memory_search",
            json!({"query": "deep secret", "max_results": 1_000}),
        ),
        ("memory_list", json!({})),
        ("memory_list", json!({"tag": "t"})),
    ];
    let answers = |desk: &Desk| -> Vec<String> {
        let calls = calls.iter();
        calls
            .map(|(tool, with)| desk.call(tool, with.clone()).output.to_string())
            .collect()
    };
    let before = answers(&desk);
    let secret = Draft::new("k", "deep secret").tag("t");
    desk.store.save(&high, secret).unwrap();
    let more = (0..300).map(|i| Draft::new(format!("k{i}"), "deep secret").tag("t"));
    desk.store.save_all(&high, more).unwrap();
    assert_eq!(answers(&desk), before);
}

#[test]
fn only_a_memory_of_the_own_level_can_be_deleted() {
    let desk = Desk::new();
    desk.ok("memory_save", json!({"key": "k", "content": "c"}));
    let high = desk.session_at(Classification::Internal);
    let result = desk.call_as(&high, "memory_delete", json!({"key": "k"}));
    assert_eq!(result.error.unwrap().kind(), ErrorKind::WrongLevel);
    let message = result.output["error"]["message"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        message.contains("PUBLIC") && message.contains("same key"),
        "{message}"
    );
    desk.ok("memory_delete", json!({"key": "k"}));
    let (code, message) = desk.refused("memory_delete", json!({"key": "k"}));
    assert_eq!(code, "not_found");
    assert!(message.contains("memory_list"), "{message}");
}

#[test]
fn a_long_list_is_cut_and_says_so() {
    let desk = Desk::new();
    let all = (0..LIST_LIMIT).map(|i| Draft::new(format!("k{i:04}"), "c"));
    desk.store.save_all(&desk.session, all).unwrap();
    let list = desk.ok("memory_list", json!({}));
    assert_eq!(list["memories"].as_array().unwrap().len(), LIST_LIMIT);
    assert_eq!(
        list.as_object().unwrap().len(),
        1,
        "neither truncated nor total"
    );

    let one_more = Draft::new("z", "c").tag("rare");
    desk.store.save(&desk.session, one_more).unwrap();
    let list = desk.ok("memory_list", json!({}));
    assert_eq!(list["memories"].as_array().unwrap().len(), LIST_LIMIT);
    assert_eq!(
        (&list["truncated"], &list["total"]),
        (&json!(true), &json!(LIST_LIMIT + 1))
    );
    let list = desk.ok("memory_list", json!({"tag": "RARE"}));
    assert_eq!(list["memories"].as_array().unwrap().len(), 1);
    assert!(list.get("truncated").is_none());
}

#[test]
fn a_smaller_page_cuts_the_list_as_well() {
    let limits = Limits {
        page: 2,
        ..Limits::default()
    };
    let desk = Desk::with(keyed::builder().limits(limits));
    let three = (0..3).map(|i| Draft::new(format!("k{i}"), "c"));
    desk.store.save_all(&desk.session, three).unwrap();
    let list = desk.ok("memory_list", json!({}));
    assert_eq!(list["memories"].as_array().unwrap().len(), 2);
    assert_eq!(
        (&list["truncated"], &list["total"]),
        (&json!(true), &json!(3))
    );
}

#[test]
fn a_large_max_results_is_clamped_and_says_so() {
    let limits = Limits {
        max_results: 3,
        ..Limits::default()
    };
    let desk = Desk::with(keyed::builder().limits(limits));
    let apples = (0..5).map(|i| Draft::new(format!("k{i}"), "apple"));
    desk.store.save_all(&desk.session, apples).unwrap();
    let count = |with: Value| {
        let output = desk.ok("memory_search", with);
        (
            output["results"].as_array().unwrap().len(),
            output["max_results"].clone(),
        )
    };
    for large in [
        json!(500),
        json!(i64::MAX),
        json!(u64::MAX),
        json!(1e300),
        json!("4"),
    ] {
        assert_eq!(
            count(json!({"query": "apple", "max_results": large})),
            (3, json!(3))
        );
    }
    assert_eq!(
        count(json!({"query": "apple", "max_results": 3})),
        (3, json!(null))
    );
    assert_eq!(count(json!({"query": "apple"})), (3, json!(null)));
}

#[test]
fn arguments_of_the_field_are_taken_or_refused_by_name() {
    let desk = Desk::new();
    let save = |tags: Value| {
        desk.call(
            "memory_save",
            json!({"key": "k", "content": "c", "tags": tags}),
        )
    };
    let tags = || desk.ok("memory_get", json!({"key": "k"}))["tags"].clone();
    for (sent, stored) in [
        (json!("[\"a\",\"b\"]"), json!(["a", "b"])),
        (json!("a,b"), json!(["a", "b"])),
        (json!("a"), json!(["a"])),
        (json!(["a", "A"]), json!(["a"])),
        (json!(null), json!([])),
    ] {
        assert!(!save(sent).is_error());
        assert_eq!(tags(), stored);
    }
    for wrong in [
        json!([1]),
        json!("[42]"),
        json!([null]),
        json!({}),
        json!(""),
        json!([""]),
        json!("a,,b"),
    ] {
        let result = save(wrong.clone());
        let message = result.output["error"]["message"].as_str().unwrap();
        assert!(message.contains("`tags`"), "{wrong}: {message}");
    }
    let (_, message) = desk.refused("memory_list", json!({"tag": " "}));
    assert!(message.contains("`tag`"), "{message}");
    for (tool, arguments, name) in [
        ("memory_search", json!({"query": "q", "top_k": 24}), "top_k"),
        ("memory_get", json!({"id": "k"}), "key"),
        ("memory_get", json!(null), "key"),
        ("memory_get", json!([]), "key"),
        ("memory_save", json!("{}"), "key"),
        ("memory_save", json!({"key": "k"}), "content"),
        ("memory_save", json!({"key": " ", "content": "c"}), "key"),
        ("memory_save", json!({"key": "k", "content": ""}), "content"),
        ("memory_save", json!({"key": 5, "content": "c"}), "key"),
        ("memory_search", json!({"query": null}), "query"),
        ("memory_delete", json!({}), "key"),
    ] {
        let (code, message) = desk.refused(tool, arguments);
        assert_eq!(code, "invalid_argument");
        assert!(message.contains(&format!("`{name}`")), "{message}");
    }
}

#[test]
fn limits_are_named() {
    let limits = Limits {
        content_bytes: 5,
        key_bytes: 3,
        tags: 1,
        query_bytes: 4,
        ..Limits::default()
    };
    let desk = Desk::with(keyed::builder().limits(limits));
    for (tool, arguments, limit) in [
        (
            "memory_save",
            json!({"key": "k", "content": "longer"}),
            "content_bytes",
        ),
        (
            "memory_save",
            json!({"key": "long", "content": "c"}),
            "key_bytes",
        ),
        (
            "memory_save",
            json!({"key": "k", "content": "c", "tags": "a,b"}),
            "tags",
        ),
        ("memory_search", json!({"query": "longer"}), "query_bytes"),
        ("memory_get", json!({"key": "long"}), "key_bytes"),
    ] {
        let (code, message) = desk.refused(tool, arguments);
        assert_eq!(code, "limit_exceeded");
        assert!(message.contains(limit), "{message}");
    }
}

#[test]
fn a_million_tags_are_refused_at_once() {
    let desk = Desk::new();
    let tags: Vec<_> = (0..1_000_000).map(|i| i.to_string()).collect();
    let call = json!({"key": "k", "content": "c", "tags": tags.join(",")});
    assert_eq!(desk.refused("memory_save", call).0, "limit_exceeded");
}

#[test]
fn refused_arguments_are_audited_without_what_they_held() {
    let desk = Desk::new();
    let marker = "canaryzebra";
    let mut calls = vec![
        (
            "memory_save",
            json!({"key": marker, "content": marker, "tags": {marker: 1}}),
        ),
        ("memory_save", json!({"key": marker, "content": " "})),
        (
            "memory_save",
            json!({"key": marker, "content": marker, marker: marker}),
        ),
        (
            "memory_search",
            json!({"query": marker, "max_results": marker}),
        ),
        ("memory_list", json!(marker)),
        ("memory_list", json!({"tag": [marker]})),
        ("memory_get", json!({"key": marker.repeat(50_000)})),
    ];
    for (tool, arguments) in calls.drain(..) {
        let result = desk.call(tool, arguments);
        let (action, decision, detail) = desk.last_note();
        assert_eq!((action, decision), (Action::ToolCall, Decision::Refused));
        assert!(detail.starts_with(tool), "{detail}");
        for shown in [
            detail,
            format!("{result:?} {:?}", result.error),
            format!("{:?}", desk.tools),
        ] {
            assert!(!shown.contains(marker), "{shown}");
        }
    }
    let entries = desk.store.host().audit(&Query::default()).unwrap();
    assert!(!serde_json::to_string(&entries).unwrap().contains(marker));
}

#[derive(Debug)]
struct NoSearch;

impl Rule for NoSearch {
    fn judge(&self, request: &Request<'_>) -> Option<Denial> {
        (request.tool == Some("memory_search")).then(|| Denial::new("no searches here"))
    }
}

#[test]
fn a_host_rule_is_asked_before_the_arguments_are_read() {
    let desk = Desk::with(keyed::builder().rule(Arc::new(NoSearch)));
    for arguments in [json!({"query": "q"}), json!({"wrong": 1}), json!([])] {
        let (code, message) = desk.refused("memory_search", arguments);
        assert_eq!(code, "denied");
        assert!(message.contains("no searches here"), "{message}");
        assert_eq!(desk.last_note().1, Decision::Refused);
    }
    desk.ok("memory_list", json!({}));
}

#[test]
fn a_tool_shows_neither_history_nor_deleted_memories() {
    let desk = Desk::new();
    for content in ["oldzebra one", "newlion two"] {
        desk.ok(
            "memory_save",
            json!({"key": "k", "content": content, "tags": "t"}),
        );
    }
    desk.ok(
        "memory_save",
        json!({"key": "gone", "content": "oldzebra gone", "tags": "t"}),
    );
    desk.ok("memory_delete", json!({"key": "gone"}));
    let calls = [
        ("memory_get", json!({"key": "k"})),
        ("memory_get", json!({"key": "gone"})),
        ("memory_search", json!({"query": "oldzebra newlion gone"})),
        ("memory_list", json!({"tag": "t"})),
        ("memory_list", json!({})),
    ];
    for (tool, arguments) in calls {
        let output = desk.ok(tool, arguments).to_string();
        for past in ["oldzebra one", "oldzebra gone"] {
            assert!(!output.contains(past), "{tool}");
        }
    }
    assert_eq!(desk.store.host().history("agent", "k").unwrap().len(), 2);
}

#[test]
fn a_session_of_another_store_is_refused_and_leaves_no_trace() {
    let (desk, other) = (Desk::new(), Desk::new());
    let before = desk.store.host().audit(&Query::default()).unwrap();
    for arguments in [
        json!({"key": "k", "level": "PUBLIC"}),
        json!({"nonsense": 1}),
        json!([]),
    ] {
        assert!(
            desk.call_as(&other.session, "memory_get", arguments)
                .is_error()
        );
    }
    assert!(desk.store.get(&other.session, "k").is_err());
    assert!(
        desk.store
            .save(&other.session, Draft::new("k", "v"))
            .is_err()
    );
    assert_eq!(desk.store.host().audit(&Query::default()).unwrap(), before);
}

#[test]
fn a_batch_is_limited_in_number_and_in_bytes() {
    let limits = Limits {
        batch: 3,
        batch_bytes: 12,
        ..Limits::default()
    };
    let desk = Desk::with(keyed::builder().limits(limits));
    let batch = |contents: &[&str]| {
        let drafts = contents.iter().enumerate();
        let drafts = drafts.map(|(i, content)| Draft::new(format!("k{i}"), *content));
        desk.store
            .save_all(&desk.session, drafts.collect::<Vec<_>>())
    };
    for (contents, limit) in [
        (&["a", "b", "c", "d"][..], "batch = 3"),
        (&["four", "fives"][..], "batch_bytes = 12"),
    ] {
        let error = batch(contents).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded);
        assert!(error.to_string().contains(limit), "{error}");
        assert!(desk.store.get(&desk.session, "k0").unwrap().is_none());
    }
    assert_eq!(batch(&["four", "five"]).unwrap().len(), 2);
}
