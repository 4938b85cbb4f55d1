//! What the schemas of the tools' results allow. The fuzz targets use it, too.

use serde_json::Value;
use strandline::tools::definitions;

/// Why the value doesn't conform to the schema. A keyword that isn't known here is a failure, too.
pub fn refuse(schema: &Value, value: &Value) -> Option<String> {
    let keywords = schema.as_object().expect("a schema");
    let refused = |(keyword, rule): (&String, &Value)| {
        let fits = match keyword.as_str() {
            "description" => true,
            "type" => is_type(rule, value),
            "enum" => rule.as_array().unwrap().contains(value),
            "const" => rule == value,
            "minimum" => value.as_u64() >= rule.as_u64(),
            "format" => rule == "date-time" && is_time(value),
            "required" => rule.as_array().unwrap().iter().all(|name| {
                let name = name.as_str().unwrap();
                value.get(name).is_some()
            }),
            "additionalProperties" => {
                let properties = schema["properties"].as_object().unwrap();
                let mut names = value
                    .as_object()
                    .into_iter()
                    .flat_map(|fields| fields.keys());
                rule == false && names.all(|name| properties.contains_key(name))
            }
            "properties" => {
                let mut properties = rule.as_object().unwrap().iter();
                let inner = properties.find_map(|(name, schema)| refuse(schema, value.get(name)?));
                return inner;
            }
            "items" => return value.as_array()?.iter().find_map(|item| refuse(rule, item)),
            _ => false,
        };
        (!fits).then(|| format!("{keyword} {rule}, not {value}"))
    };
    keywords.iter().find_map(refused)
}

fn is_type(name: &Value, value: &Value) -> bool {
    match name.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64(),
        _ => false,
    }
}

fn is_time(value: &Value) -> bool {
    chrono::DateTime::parse_from_rfc3339(value.as_str().unwrap_or_default()).is_ok()
}

/// The schema of the tool's results.
pub fn schema(tool: &str) -> Value {
    let mut tools = definitions().iter();
    tools
        .find(|known| known.name() == tool)
        .unwrap()
        .output_schema()
}
