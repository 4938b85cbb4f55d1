//! A model's arguments, made to fit the tool's schema or refused.
//!
//! Models send a call's arguments as an object or as a string that holds one, and a field in a few
//! shapes beside the one that was asked for. Each such leniency is one function here; what comes out
//! conforms to the [schema](super::Definition::input_schema) exactly.

use serde_json::{Map, Number, Value};

use super::definition::{Definition, Kind};

/// How much of an unknown field's name a message repeats, in characters.
const NAME_CHARS: usize = 40;

/// Why arguments were refused. It holds no value of theirs.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The arguments are not an object.
    NotAnObject { came: &'static str },
    /// A field that the tool doesn't have; the name is cut and harmless.
    Unknown { name: String },
    /// A field without what it must hold.
    Wrong {
        field: &'static str,
        expected: &'static str,
        came: String,
    },
}

impl Refusal {
    /// What to tell the model.
    pub(super) fn message(&self, tool: &Definition) -> String {
        match self {
            Self::NotAnObject { came } => format!(
                "the arguments must be a JSON object with {}, but {came} came",
                tool.field_names()
            ),
            Self::Unknown { name } => format!(
                "unknown field `{name}`: {} takes only {}",
                tool.name,
                tool.field_names()
            ),
            Self::Wrong {
                field,
                expected,
                came,
            } => format!("`{field}` must be {expected}, but {came} came"),
        }
    }

    /// What to tell the host: nothing that the model wrote.
    pub(super) fn audit(&self) -> String {
        match self {
            Self::NotAnObject { came } => format!("the arguments must be an object, {came} came"),
            Self::Unknown { .. } => String::from("an unknown field in the arguments"),
            Self::Wrong {
                field,
                expected,
                came,
            } => format!("`{field}` must be {expected}, {came} came"),
        }
    }
}

/// The arguments as an object: one as it is, one in a string, and none for null.
pub(super) fn to_object(arguments: Value) -> Result<Map<String, Value>, Refusal> {
    let came = match arguments {
        Value::Object(map) => return Ok(map),
        Value::Null => return Ok(Map::new()),
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(Value::Object(map)) => return Ok(map),
            Ok(_) => "a string that holds no object",
            Err(_) => "a string that isn't JSON",
        },
        other => name_kind(&other),
    };
    Err(Refusal::NotAnObject { came })
}

/// The arguments in exactly the shape of the tool's schema.
pub(super) fn conform(
    tool: &Definition,
    mut arguments: Map<String, Value>,
) -> Result<Map<String, Value>, Refusal> {
    let known = |name: &String| tool.fields.iter().any(|field| field.name == name);
    if let Some(name) = arguments.keys().find(|name| !known(name)) {
        let name = harmless(name);
        return Err(Refusal::Unknown { name });
    }
    let mut out = Map::new();
    for field in tool.fields {
        let value = match arguments.remove(field.name) {
            None | Some(Value::Null) if !field.required => continue,
            None => Err(String::from("nothing")),
            Some(value) => read(field.kind, value),
        };
        let value = value.map_err(|came| Refusal::Wrong {
            field: field.name,
            expected: field.kind.expected(),
            came,
        })?;
        out.insert(field.name.to_owned(), value);
    }
    Ok(out)
}

/// The value as its kind has it, or what came instead.
fn read(kind: Kind, value: Value) -> Result<Value, String> {
    match kind {
        Kind::Text => match value {
            Value::String(_) => Ok(value),
            other => Err(name_kind(&other).to_owned()),
        },
        Kind::Texts => texts(value).map(Value::from),
        Kind::Count => count(&value).map(Value::from).map_err(str::to_owned),
    }
}

/// Texts: an array of them, the same as JSON in a string, or a string with commas between them.
///
/// An empty text is not dropped here; the store refuses it.
fn texts(value: Value) -> Result<Vec<String>, String> {
    match value {
        Value::Array(items) => items.into_iter().map(text).collect(),
        Value::String(list) if list.trim_start().starts_with(['[', '{']) => {
            match serde_json::from_str(&list) {
                Ok(Value::Array(items)) => items.into_iter().map(text).collect(),
                Ok(other) => Err(format!("a string that holds {}", name_kind(&other))),
                Err(_) => Err(String::from("a string with broken JSON")),
            }
        }
        Value::String(list) => Ok(list.split(',').map(|tag| tag.trim().to_owned()).collect()),
        other => Err(name_kind(&other).to_owned()),
    }
}

fn text(item: Value) -> Result<String, String> {
    match item {
        Value::String(text) => Ok(text),
        other => Err(format!("an array that holds {}", name_kind(&other))),
    }
}

/// A whole number from 1 on, as a number or as a string that holds one.
fn count(value: &Value) -> Result<usize, &'static str> {
    match value {
        Value::Number(number) => whole(number),
        Value::String(text) => {
            let number = serde_json::from_str(text).map_err(|_| "a string that isn't a number")?;
            whole(&number)
        }
        other => Err(name_kind(other)),
    }
}

/// The number, if it is whole and at least 1; the largest there is if it is larger.
fn whole(number: &Number) -> Result<usize, &'static str> {
    if let Some(whole) = number.as_u64().filter(|&whole| whole > 0) {
        return Ok(usize::try_from(whole).unwrap_or(usize::MAX));
    }
    // Written with a point, an exponent or more digits than 64 bits hold.
    let number = number.as_f64().unwrap_or(f64::INFINITY);
    if number < 1.0 {
        return Err("a number below 1");
    }
    if number.fract() > 0.0 {
        return Err("a number with a fraction");
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at least 1 and whole; a larger number than fits becomes the largest that does"
    )]
    Ok(number as usize)
}

fn name_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// A field's name for a message: cut, and without what could pass for more than a name.
fn harmless(name: &str) -> String {
    let plain = |c: char| match c {
        '_' | '-' | '.' | ' ' => c,
        c if c.is_alphanumeric() => c,
        _ => '?',
    };
    let mut out: String = name.chars().take(NAME_CHARS).map(plain).collect();
    if name.chars().nth(NAME_CHARS).is_some() {
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests;
