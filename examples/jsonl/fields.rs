//! The fields of a request.

use std::str::FromStr;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};
use strandline::{Classification, Error, ErrorKind, Result};

/// A request's fields, of which each is taken once. Null counts as absent.
#[derive(Debug)]
pub(crate) struct Fields(Map<String, Value>);

pub(crate) fn invalid(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidArgument, message)
}

impl Fields {
    /// The fields in a line.
    pub(crate) fn parse(line: &[u8]) -> Result<Self> {
        let line = str::from_utf8(line).map_err(|_| invalid("the line is not UTF-8"))?;
        match serde_json::from_str(line) {
            Ok(Value::Object(fields)) => Ok(Self(fields)),
            Ok(_) => Err(invalid("the line must hold a JSON object")),
            Err(error) if error.is_eof() => Err(invalid("the line's JSON isn't complete")),
            Err(error) => Err(invalid(format!(
                "the line is not JSON from column {} on",
                error.column()
            ))),
        }
    }

    /// Any value; null if there is none.
    pub(crate) fn value(&mut self, name: &str) -> Value {
        self.0.remove(name).unwrap_or_default()
    }

    pub(crate) fn text(&mut self, name: &str) -> Result<String> {
        let text = self.optional_text(name)?;
        text.ok_or_else(|| invalid(format!("`{name}` is missing: it must be a string")))
    }

    pub(crate) fn optional_text(&mut self, name: &str) -> Result<Option<String>> {
        match self.value(name) {
            Value::Null => Ok(None),
            Value::String(text) => Ok(Some(text)),
            _ => Err(invalid(format!("`{name}` must be a string"))),
        }
    }

    /// An array of strings; empty if there is none.
    pub(crate) fn texts(&mut self, name: &str) -> Result<Vec<String>> {
        let wrong = || invalid(format!("`{name}` must be an array of strings"));
        match self.value(name) {
            Value::Null => Ok(Vec::new()),
            array @ Value::Array(_) => serde_json::from_value(array).map_err(|_| wrong()),
            _ => Err(wrong()),
        }
    }

    pub(crate) fn optional_number(&mut self, name: &str) -> Result<Option<usize>> {
        match self.value(name) {
            Value::Null => Ok(None),
            Value::Number(number) if number.is_u64() => {
                let number = number.as_u64().and_then(|n| usize::try_from(n).ok());
                Ok(Some(number.unwrap_or(usize::MAX)))
            }
            _ => Err(invalid(format!("`{name}` must be a whole number from 0"))),
        }
    }

    pub(crate) fn optional_u64(&mut self, name: &str) -> Result<Option<u64>> {
        match self.value(name) {
            Value::Null => Ok(None),
            number => number
                .as_u64()
                .map(Some)
                .ok_or_else(|| invalid(format!("`{name}` must be a whole number from 0"))),
        }
    }

    /// A text that stands for something else.
    pub(crate) fn parsed<T: FromStr<Err = Error>>(&mut self, name: &str) -> Result<Option<T>> {
        let text = self.optional_text(name)?;
        text.map(|text| text.parse()).transpose()
    }

    /// True or false; false if there is none.
    pub(crate) fn optional_flag(&mut self, name: &str) -> Result<bool> {
        match self.value(name) {
            Value::Null => Ok(false),
            Value::Bool(flag) => Ok(flag),
            _ => Err(invalid(format!("`{name}` must be true or false"))),
        }
    }

    pub(crate) fn optional_level(&mut self, name: &str) -> Result<Option<Classification>> {
        let level = self.optional_text(name)?;
        let level = level.map(|level| level.parse::<Classification>());
        level
            .transpose()
            .map_err(|error| invalid(format!("`{name}`: {error}")))
    }

    pub(crate) fn optional_time(&mut self, name: &str) -> Result<Option<DateTime<Utc>>> {
        let time = self.optional_text(name)?;
        let time = time.map(|time| DateTime::parse_from_rfc3339(&time));
        match time.transpose() {
            Ok(time) => Ok(time.map(|time| time.to_utc())),
            Err(_) => Err(invalid(format!(
                "`{name}` must be an RFC 3339 time such as 2026-01-31T12:00:00Z"
            ))),
        }
    }

    /// Refuses what has not been taken.
    pub(crate) fn finish(self) -> Result<()> {
        match self.0.keys().next() {
            None => Ok(()),
            Some(name) => {
                let name: String = name.escape_debug().take(40).collect();
                Err(invalid(format!("unknown field `{name}`")))
            }
        }
    }
}
