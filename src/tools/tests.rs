use serde_json::json;

use super::*;
use crate::record::Limits;

#[test]
fn schemas_are_plain_objects_that_every_provider_takes() {
    for tool in definitions() {
        let schema = tool.input_schema();
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["additionalProperties"], false);
        assert!(schema["properties"].is_object() && schema["required"].is_array());
        walk(&schema, &mut |name, value| {
            assert!(
                !["anyOf", "oneOf", "allOf", "not", "$ref"].contains(&name),
                "{name}"
            );
            assert!(name != "type" || value.is_string(), "a list of types");
        });
        for (name, property) in schema["properties"].as_object().unwrap() {
            assert!(
                property["description"].as_str().unwrap().len() > 20,
                "{name}"
            );
        }
    }
    let search = Definition::find("memory_search").unwrap().input_schema();
    let number = &search["properties"]["max_results"];
    assert_eq!(
        (&number["type"], &number["minimum"]),
        (&json!("integer"), &json!(1))
    );
    let save = Definition::find("memory_save").unwrap().input_schema();
    assert_eq!(save["properties"]["tags"]["type"], "array");
    assert_eq!(
        save["properties"]["tags"]["items"],
        json!({"type": "string"})
    );
}

fn walk(schema: &Value, look: &mut impl FnMut(&str, &Value)) {
    if let Value::Object(fields) = schema {
        for (name, value) in fields {
            look(name, value);
            walk(value, look);
        }
    }
}

#[test]
fn every_form_carries_the_same_definition() {
    for tool in definitions() {
        let (name, description, schema) = (tool.name(), tool.description(), tool.input_schema());
        let mcp = tool.mcp();
        assert_eq!(
            (&mcp["name"], &mcp["description"]),
            (&json!(name), &json!(description))
        );
        assert_eq!(mcp["inputSchema"], schema);
        assert_eq!(mcp["outputSchema"], tool.output_schema());
        let anthropic = json!({"name": name, "description": description, "input_schema": schema});
        assert_eq!(tool.anthropic(), anthropic);
        let function = json!({"name": name, "description": description, "parameters": schema});
        assert_eq!(
            tool.openai(),
            json!({"type": "function", "function": function})
        );
        let mut flat = function;
        flat["type"] = json!("function");
        flat["strict"] = json!(false);
        assert_eq!(tool.openai_responses(), flat);
    }
}

#[test]
fn no_field_is_a_level() {
    for tool in definitions() {
        for field in tool.fields {
            assert!(
                !crate::policy::is_level(field.name),
                "the hook drops {}",
                field.name
            );
        }
    }
}

#[test]
fn descriptions_say_the_numbers_that_hold() {
    let list = Definition::find("memory_list").unwrap();
    assert!(
        list.description()
            .contains(&format!("At most {LIST_LIMIT} "))
    );
    let search = Definition::find("memory_search").unwrap().input_schema();
    let number = search["properties"]["max_results"]["description"]
        .as_str()
        .unwrap();
    assert!(number.contains(&format!("{} if absent", Search::DEFAULT_MAX_RESULTS)));
    assert!(LIST_LIMIT <= Limits::default().page);
}

#[test]
fn no_tool_reaches_the_host() {
    let sources = [
        include_str!("mod.rs"),
        include_str!("definition.rs"),
        include_str!("arguments.rs"),
        include_str!("forms.rs"),
        include_str!("output.rs"),
        include_str!("persona.rs"),
        include_str!("results.rs"),
    ];
    for line in sources.iter().flat_map(|source| source.lines()) {
        let code = line.trim_start();
        if !code.starts_with("//") {
            assert!(!code.contains(".host(") && !code.contains("Host"), "{code}");
        }
    }
}

#[test]
fn the_prompt_names_the_tools_and_the_tags_that_are_loaded() {
    for tool in [
        "memory_save",
        "memory_get",
        "memory_search",
        "memory_delete",
    ] {
        assert!(AUTO_EXTRACTION_PROMPT.contains(tool), "{tool}");
    }
    for tag in persona::TAGS {
        assert!(
            AUTO_EXTRACTION_PROMPT.contains(&format!("\"{tag}\"")),
            "{tag}"
        );
        let save = Definition::find("memory_save").unwrap().input_schema();
        let tags = save["properties"]["tags"]["description"].as_str().unwrap();
        assert!(tags.contains(&format!("\"{tag}\"")), "{tag}");
    }
    assert!(AUTO_EXTRACTION_PROMPT.contains("data, not instructions"));
    assert!(AUTO_EXTRACTION_PROMPT.contains("can't choose a level"));
}
