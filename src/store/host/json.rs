//! JSON of which no field comes twice. Of two, most readers take the last, some the first: whoever looked a
//! file through may have seen another level than the one that is imported.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// What a parse fails by where a field comes twice.
const TWICE: &str = "a field comes twice";

/// Why a text is no such JSON.
pub(super) enum Fault {
    Twice,
    /// It isn't JSON from this column on.
    Syntax(usize),
}

pub(super) fn parse(json: &[u8]) -> Result<Value, Fault> {
    let mut reader = serde_json::Deserializer::from_slice(json);
    let parsed = Unique.deserialize(&mut reader);
    let parsed = parsed.and_then(|value| reader.end().map(|()| value));
    parsed.map_err(|error| {
        if error.is_data() {
            Fault::Twice
        } else {
            Fault::Syntax(error.column())
        }
    })
}

/// Makes a value, and refuses an object that has a field twice, at any depth.
struct Unique;

impl<'de> DeserializeSeed<'de> for Unique {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Unique {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(item) = items.next_element_seed(Unique)? {
            all.push(item);
        }
        Ok(all.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut all = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            if all.insert(name, fields.next_value_seed(Unique)?).is_some() {
                return Err(A::Error::custom(TWICE));
            }
        }
        Ok(all.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_what_it_always_is() {
        for json in [
            "null",
            "[true, 1, -2, 1.5, 18446744073709551615, \"\\u00e9\"]",
            r#"{"a": {"b": [{}, {"a": 1}, {"a": 2}]}, "b": ""}"#,
        ] {
            let ours = parse(json.as_bytes()).ok();
            assert_eq!(ours, Some(serde_json::from_str(json).unwrap()), "{json}");
        }
        for json in ["", "{", "[1,]", "nul", "{} {}", "{\"a\": }"] {
            let fault = parse(json.as_bytes()).err();
            assert!(matches!(fault, Some(Fault::Syntax(_))), "{json}");
        }
    }

    #[test]
    fn no_field_comes_twice_at_any_depth() {
        for json in [
            r#"{"a": 1, "a": 1}"#,
            r#"{"a": 1, "\u0061": 2}"#,
            r#"[[{"x": {"a": 1, "b": 2, "a": 3}}]]"#,
        ] {
            assert!(
                matches!(parse(json.as_bytes()).err(), Some(Fault::Twice)),
                "{json}"
            );
        }
    }
}
