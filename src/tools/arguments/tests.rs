use serde_json::json;

use super::super::definition::{Field, definitions};
use super::*;

fn tool(name: &str) -> &'static Definition {
    Definition::find(name).unwrap()
}

/// The arguments as the parser hands them on, or the message of its refusal.
fn parse(name: &str, arguments: Value) -> Result<Value, String> {
    to_object(arguments)
        .and_then(|map| conform(tool(name), map))
        .map(Value::Object)
        .map_err(|refusal| refusal.message(tool(name)))
}

fn save_with(field: &str, value: Value) -> Result<Value, String> {
    let mut arguments = json!({"key": "k", "content": "c"});
    arguments[field] = value;
    parse("memory_save", arguments).map(|mut parsed| parsed[field].take())
}

fn search_with(max_results: Value) -> Result<Value, String> {
    let mut arguments = json!({"query": "q"});
    arguments["max_results"] = max_results;
    parse("memory_search", arguments).map(|mut parsed| parsed["max_results"].take())
}

/// Whether a value conforms to one of the small schemas that our fields use.
fn valid(schema: &Value, value: &Value) -> bool {
    match schema["type"].as_str().unwrap() {
        "string" => value.is_string(),
        "integer" => value
            .as_u64()
            .is_some_and(|n| n >= schema["minimum"].as_u64().unwrap()),
        "array" => value
            .as_array()
            .is_some_and(|items| items.iter().all(|item| valid(&schema["items"], item))),
        "object" => {
            let (properties, object) = (&schema["properties"], value.as_object().unwrap());
            let required = schema["required"].as_array().unwrap();
            required
                .iter()
                .all(|name| object.contains_key(name.as_str().unwrap()))
                && object.iter().all(|(name, value)| {
                    properties
                        .get(name)
                        .is_some_and(|property| valid(property, value))
                })
        }
        other => panic!("no field has the type {other}"),
    }
}

fn good(field: &Field) -> Value {
    match field.kind {
        Kind::Text => json!("some text"),
        Kind::Texts => json!(["a", "b"]),
        Kind::Count => json!(5),
    }
}

fn good_arguments(tool: &Definition) -> Value {
    let fields = tool.fields.iter();
    fields
        .map(|field| (field.name.to_owned(), good(field)))
        .collect()
}

/// Values of every kind, some of them the wrong ones for any field.
fn zoo() -> Vec<Value> {
    vec![
        json!(null),
        json!(true),
        json!(0),
        json!(7),
        json!(-1),
        json!(5.5),
        json!(1e300),
        json!(""),
        json!("text"),
        json!("5"),
        json!([]),
        json!(["a"]),
        json!([1]),
        json!([null]),
        json!([["a"]]),
        json!({}),
        json!({"a": "b"}),
    ]
}

#[test]
fn schema_and_parser_are_one_contract() {
    for tool in definitions() {
        let schema = tool.input_schema();
        let good = good_arguments(tool);
        assert_eq!(parse(tool.name, good.clone()).unwrap(), good);

        let mut extra = good.clone();
        extra["top_k"] = json!(1);
        assert!(!valid(&schema, &extra));
        let message = parse(tool.name, extra).unwrap_err();
        assert!(message.contains("unknown field `top_k`"), "{message}");

        for field in tool.fields {
            let mut without = good.clone();
            without.as_object_mut().unwrap().remove(field.name);
            assert_eq!(valid(&schema, &without), !field.required);
            assert_eq!(parse(tool.name, without).is_ok(), !field.required);

            for value in zoo() {
                let mut arguments = good.clone();
                arguments[field.name] = value.clone();
                let parsed = parse(tool.name, arguments.clone());
                if valid(&schema, &arguments) {
                    // What the schema allows comes through unchanged.
                    assert_eq!(parsed.as_ref(), Ok(&arguments), "{} {value}", field.name);
                }
                match parsed {
                    // And whatever comes through, the schema allows.
                    Ok(parsed) => assert!(valid(&schema, &parsed), "{} {value}", field.name),
                    Err(message) => {
                        assert!(message.contains(&format!("`{}`", field.name)), "{message}");
                        assert!(message.contains(field.kind.expected()), "{message}");
                    }
                }
            }
        }
    }
}

#[test]
fn what_the_parser_makes_fits_what_the_tools_read() {
    for tool in definitions() {
        for arguments in [good_arguments(tool), required_only(tool)] {
            let map = conform(tool, to_object(arguments).unwrap()).unwrap();
            let read = match tool.name {
                "memory_save" => super::super::read::<super::super::Save>(map).is_ok(),
                "memory_search" => super::super::read::<super::super::Query>(map).is_ok(),
                "memory_list" => super::super::read::<super::super::Tagged>(map).is_ok(),
                _ => super::super::read::<super::super::Keyed>(map).is_ok(),
            };
            assert!(read, "{}", tool.name);
        }
    }
}

fn required_only(tool: &Definition) -> Value {
    let fields = tool.fields.iter().filter(|field| field.required);
    fields
        .map(|field| (field.name.to_owned(), good(field)))
        .collect()
}

#[test]
fn arguments_are_an_object_or_a_string_of_one_or_nothing() {
    let none = json!({});
    for arguments in [json!(null), json!({}), json!("{}"), json!(" {} ")] {
        assert_eq!(parse("memory_list", arguments).unwrap(), none);
    }
    let as_text = json!("{\"key\":\"k\",\"content\":\"c\"}");
    assert_eq!(
        parse("memory_save", as_text).unwrap(),
        json!({"key": "k", "content": "c"})
    );

    let refused = [
        (json!([]), "an array"),
        (json!([{"key": "k"}]), "an array"),
        (json!(3), "a number"),
        (json!(false), "a boolean"),
        (json!(""), "a string that isn't JSON"),
        (json!("key=k"), "a string that isn't JSON"),
        (json!("[]"), "a string that holds no object"),
        (json!("null"), "a string that holds no object"),
        (json!("\"{}\""), "a string that holds no object"),
        (
            json!(format!("{}{}", "[".repeat(9_000), "]".repeat(9_000))),
            "a string that isn't JSON",
        ),
    ];
    for (arguments, came) in refused {
        let message = parse("memory_save", arguments).unwrap_err();
        assert!(message.contains(came), "{message}");
        assert!(
            message.contains("`key` (required), `content` (required), `tags`"),
            "{message}"
        );
    }
}

#[test]
fn tags_come_in_four_shapes() {
    let both = json!(["a", "b"]);
    for tags in [
        json!(["a", "b"]),
        json!("[\"a\",\"b\"]"),
        json!("a,b"),
        json!(" a , b "),
    ] {
        assert_eq!(save_with("tags", tags).unwrap(), both);
    }
    assert_eq!(save_with("tags", json!("a")).unwrap(), json!(["a"]));
    assert_eq!(save_with("tags", json!("2026")).unwrap(), json!(["2026"]));
    assert_eq!(
        save_with("tags", json!(" [\"a\"]\n")).unwrap(),
        json!(["a"])
    );
    assert_eq!(save_with("tags", json!("[]")).unwrap(), json!([]));
    assert_eq!(save_with("tags", json!(["a,b"])).unwrap(), json!(["a,b"]));
    assert_eq!(save_with("tags", json!(null)).unwrap(), json!(null));
}

#[test]
fn other_tags_are_refused_and_named_by_kind() {
    let refused = [
        (json!([1]), "an array that holds a number"),
        (json!("[42]"), "an array that holds a number"),
        (json!([null]), "an array that holds null"),
        (json!(["a", {"b": 1}]), "an array that holds an object"),
        (json!([["a"]]), "an array that holds an array"),
        (json!("[[\"a\"]]"), "an array that holds an array"),
        (json!({}), "an object"),
        (json!("{}"), "a string that holds an object"),
        (json!("[\"a\""), "a string with broken JSON"),
        (json!(7), "a number"),
        (json!(true), "a boolean"),
    ];
    for (tags, came) in refused {
        let message = save_with("tags", tags).unwrap_err();
        assert_eq!(
            message,
            format!("`tags` must be an array of strings, but {came} came")
        );
    }
    // Left to the store, which refuses a blank tag wherever it comes from.
    assert_eq!(save_with("tags", json!("")).unwrap(), json!([""]));
    assert_eq!(
        save_with("tags", json!("a,,b")).unwrap(),
        json!(["a", "", "b"])
    );
}

#[test]
fn max_results_is_a_whole_number_in_any_spelling() {
    let five = json!(5);
    for number in [
        json!(5),
        json!(5.0),
        json!("5"),
        json!("5.0"),
        json!(" 5 "),
        json!(5e0),
    ] {
        assert_eq!(search_with(number).unwrap(), five);
    }
    assert_eq!(search_with(json!(1e3)).unwrap(), json!(1000));
    assert_eq!(search_with(json!(null)).unwrap(), json!(null));
    for large in [
        json!(u64::MAX),
        json!(1e300),
        json!("99999999999999999999999"),
    ] {
        assert_eq!(search_with(large).unwrap(), json!(usize::MAX));
    }
    assert_eq!(search_with(json!(i64::MAX)).unwrap(), json!(i64::MAX));
}

#[test]
fn other_max_results_are_refused_and_named_by_kind() {
    let refused = [
        (json!(0), "a number below 1"),
        (json!(-1), "a number below 1"),
        (json!(i64::MIN), "a number below 1"),
        (json!(-1e300), "a number below 1"),
        (json!(0.5), "a number below 1"),
        (json!("0"), "a number below 1"),
        (json!(-0.0), "a number below 1"),
        (json!(5.5), "a number with a fraction"),
        (json!("5.5"), "a number with a fraction"),
        (json!("five"), "a string that isn't a number"),
        (json!(""), "a string that isn't a number"),
        (json!("inf"), "a string that isn't a number"),
        (json!("NaN"), "a string that isn't a number"),
        (json!("0x5"), "a string that isn't a number"),
        (json!("5; drop"), "a string that isn't a number"),
        (json!(true), "a boolean"),
        (json!([5]), "an array"),
        (json!({"max": 5}), "an object"),
    ];
    for (number, came) in refused {
        let message = search_with(number).unwrap_err();
        let expected = "`max_results` must be a whole number of at least 1";
        assert_eq!(message, format!("{expected}, but {came} came"));
    }
}

#[test]
fn what_is_missing_is_named() {
    let message = parse("memory_save", json!({"key": "k"})).unwrap_err();
    assert_eq!(message, "`content` must be a string, but nothing came");
    let message = parse("memory_search", json!({"query": null})).unwrap_err();
    assert_eq!(message, "`query` must be a string, but null came");
    let message = parse("memory_get", json!({"id": "k"})).unwrap_err();
    assert_eq!(
        message,
        "unknown field `id`: memory_get takes only `key` (required)"
    );
}

#[test]
fn refusals_repeat_no_value_and_no_more_than_a_name() {
    let marker = "canaryzebra";
    for tool in definitions() {
        for field in tool.fields {
            for value in [
                json!({marker: marker}),
                json!([[marker]]),
                json!({"a": [marker]}),
            ] {
                let mut arguments = good_arguments(tool);
                arguments[field.name] = value;
                let refusal = conform(tool, to_object(arguments).unwrap()).unwrap_err();
                assert!(!refusal.message(tool).contains(marker));
                assert!(!refusal.audit().contains(marker));
                assert!(!format!("{refusal:?}").contains(marker));
            }
        }
    }
    let name = format!("`\n\u{202e}{}", "x".repeat(100_000));
    let refusal = conform(tool("memory_get"), to_object(json!({name: 1})).unwrap()).unwrap_err();
    let message = refusal.message(tool("memory_get"));
    assert!(
        message.len() < 200 && message.contains("???xxx"),
        "{message}"
    );
    assert_eq!(refusal.audit(), "an unknown field in the arguments");
}
