//! The fields of one record in a file that somebody else may have written.

use std::str::FromStr;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::json::{self, Fault};
use crate::clock::to_micros;
use crate::error::Error;
use crate::record::{Limits, MemoryKey, Tag, check_limit, parse_key, parse_tag};

/// Why a record is refused. It quotes nothing.
#[derive(Debug)]
pub(super) struct Bad(pub(super) String);

impl Bad {
    pub(super) fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

impl From<Error> for Bad {
    /// This crate's errors quote nothing (invariant I9).
    fn from(error: Error) -> Self {
        Self(error.to_string())
    }
}

/// A record's fields, of which each is taken once. Null counts as absent.
pub(super) struct Fields(Map<String, Value>);

impl Fields {
    pub(super) fn parse(json: &[u8]) -> Result<Self, Bad> {
        match json::parse(json) {
            Ok(Value::Object(fields)) => Ok(Self(fields)),
            Ok(_) => Err(Bad::new("a record must be a JSON object")),
            Err(Fault::Twice) => Err(Bad::new("a record must have no field twice")),
            Err(Fault::Syntax(column)) => Err(Bad::new(format!(
                "a record must be JSON, which this isn't from column {column} on"
            ))),
        }
    }

    pub(super) fn value(&mut self, name: &str) -> Value {
        self.0.remove(name).unwrap_or_default()
    }

    pub(super) fn text(&mut self, name: &str) -> Result<String, Bad> {
        let text = self.optional_text(name)?;
        text.ok_or_else(|| Bad::new(format!("`{name}` is missing")))
    }

    pub(super) fn optional_text(&mut self, name: &str) -> Result<Option<String>, Bad> {
        match self.value(name) {
            Value::Null => Ok(None),
            Value::String(text) => Ok(Some(text)),
            _ => Err(Bad::new(format!("`{name}` must be a text"))),
        }
    }

    pub(super) fn parsed<T: FromStr<Err = Error>>(&mut self, name: &str) -> Result<T, Bad> {
        let parsed = self.text(name)?.parse();
        parsed.map_err(|error: Error| Bad::new(format!("`{name}`: {error}")))
    }

    pub(super) fn key(&mut self, limits: &Limits) -> Result<MemoryKey, Bad> {
        Ok(parse_key(&self.text("key")?, limits)?)
    }

    /// The tags, none twice; none at all if there is no such field.
    pub(super) fn tags(&mut self, limits: &Limits) -> Result<Vec<Tag>, Bad> {
        let wrong = || Bad::new("`tags` must be an array of texts");
        let texts = match self.value("tags") {
            Value::Null => Vec::new(),
            Value::Array(texts) => texts,
            _ => return Err(wrong()),
        };
        let mut tags = Vec::new();
        for text in texts {
            let tag = parse_tag("tags", text.as_str().ok_or_else(wrong)?, limits)?;
            if !tags.contains(&tag) {
                tags.push(tag);
                check_limit("tags", tags.len(), limits.tags, "tags")?;
            }
        }
        Ok(tags)
    }

    pub(super) fn time(&mut self, name: &str) -> Result<DateTime<Utc>, Bad> {
        let text = self.text(name)?;
        parse_time(name, &text)
    }

    pub(super) fn optional_time(&mut self, name: &str) -> Result<Option<DateTime<Utc>>, Bad> {
        let text = self.optional_text(name)?;
        text.map(|text| parse_time(name, &text)).transpose()
    }

    pub(super) fn uuid(&mut self, name: &str) -> Result<Uuid, Bad> {
        let id = Uuid::parse_str(&self.text(name)?);
        id.map_err(|_| Bad::new(format!("`{name}` must be a UUID")))
    }

    /// Refuses what has not been taken.
    pub(super) fn finish(self) -> Result<(), Bad> {
        if self.0.is_empty() {
            return Ok(());
        }
        Err(Bad::new("there is a field that this release doesn't know"))
    }
}

fn parse_time(name: &str, text: &str) -> Result<DateTime<Utc>, Bad> {
    match DateTime::parse_from_rfc3339(text) {
        Ok(time) => Ok(to_micros(time.to_utc())),
        Err(_) => Err(Bad::new(format!(
            "`{name}` must be an RFC 3339 time such as 2026-01-31T12:00:00Z"
        ))),
    }
}
