//! The lines of an exported file; [`export`](super::export) says what is in them.

use std::io::{self, Write};

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::{Map, Value};

use super::fields::{Bad, Fields};
use super::json::{self, Fault};
use crate::error::{Error, ErrorKind, Result};
use crate::record::{Limits, Memory};
use crate::session::SessionState;
use crate::storage::{Namespace, StoredVersion, Version, VersionState};

const FORMAT: &str = "strandline";
const VERSION: u64 = 1;

/// A session's record has no limit of the host's; it is as long as some raises and their reasons.
const SESSION_BYTES: usize = 65_536;

#[derive(Serialize)]
struct Header {
    format: &'static str,
    version: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    records: Option<u64>,
}

#[derive(Serialize)]
struct Line<'a> {
    namespace: &'a Namespace,
    #[serde(flatten)]
    memory: &'a Memory,
    state: VersionState,
    ended_at: Option<DateTime<Utc>>,
}

pub(in crate::store) fn write_header(writer: &mut impl Write, records: Option<u64>) -> Result<()> {
    let header = Header {
        format: FORMAT,
        version: VERSION,
        records,
    };
    write_json(writer, &header)
}

pub(in crate::store) fn write(writer: &mut impl Write, stored: &StoredVersion) -> Result<()> {
    let line = Line {
        namespace: &stored.namespace,
        memory: &stored.version.memory,
        state: stored.version.state,
        ended_at: stored.version.ended_at,
    };
    write_json(writer, &line)
}

fn write_json(writer: &mut impl Write, line: &impl Serialize) -> Result<()> {
    let written = serde_json::to_writer(&mut *writer, line).map_err(io::Error::from);
    written
        .and_then(|()| writer.write_all(b"\n"))
        .map_err(|error| cant_write(&error))
}

pub(in crate::store) fn cant_write(error: &io::Error) -> Error {
    let kind = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ErrorKind::Full,
        _ => ErrorKind::Io,
    };
    Error::new(kind, "the export can't be written").with_source(error.kind().to_string())
}

/// The first line: how many records it promises.
pub(super) fn read_header(line: &[u8]) -> Result<Option<u64>> {
    let header = match json::parse(line) {
        Ok(Value::Object(header)) => header,
        Err(Fault::Twice) => return Err(Error::invalid("the first line has a field twice")),
        _ => Map::new(),
    };
    if header.get("format").and_then(Value::as_str) != Some(FORMAT) {
        let text = "the first line must be {\"format\":\"strandline\",\"version\":1}";
        return Err(Error::invalid(text));
    }
    match header.get("version").and_then(Value::as_u64) {
        Some(VERSION) => records(&header),
        Some(version) if version > VERSION => Err(Error::new(
            ErrorKind::NewerVersion,
            format!("the file has format {version}; this release reads up to {VERSION}"),
        )),
        _ => Err(Error::invalid("`version` in the first line must be 1")),
    }
}

/// How many lines the first one tells of, if it does.
fn records(header: &Map<String, Value>) -> Result<Option<u64>> {
    match header.get("records") {
        None | Some(Value::Null) => Ok(None),
        Some(number) => match number.as_u64() {
            Some(number) => Ok(Some(number)),
            None => Err(Error::invalid(
                "`records` in the first line must be the number of lines that follow",
            )),
        },
    }
}

/// The version in a line, checked against the limits.
pub(super) fn read(line: &[u8], limits: &Limits) -> Result<StoredVersion, Bad> {
    let mut fields = Fields::parse(line)?;
    let stored = StoredVersion {
        namespace: fields.parsed("namespace")?,
        version: version(&mut fields, limits)?,
    };
    fields.finish()?;
    check_session(&stored)?;
    Ok(stored)
}

fn version(fields: &mut Fields, limits: &Limits) -> Result<Version, Bad> {
    let state = state(fields)?;
    let ended_at = fields.optional_time("ended_at")?;
    if (state == VersionState::Live) != ended_at.is_none() {
        return Err(Bad::new(
            "`ended_at` must be null if and only if `state` is `live`",
        ));
    }
    let memory = memory(fields, limits)?;
    if memory.updated_at < memory.created_at {
        return Err(Bad::new("`updated_at` must not be before `created_at`"));
    }
    Ok(Version {
        memory,
        state,
        ended_at,
    })
}

fn memory(fields: &mut Fields, limits: &Limits) -> Result<Memory, Bad> {
    Ok(Memory {
        key: fields.key(limits)?,
        content: fields.text("content")?,
        classification: fields.parsed("classification")?,
        tags: fields.tags(limits)?,
        agent: fields.parsed("agent")?,
        version: number(fields)?,
        created_at: fields.time("created_at")?,
        updated_at: fields.time("updated_at")?,
        expires_at: fields.optional_time("expires_at")?,
        session: fields.parsed("session")?,
        lineage_id: fields.uuid("lineage_id")?,
    })
}

fn state(fields: &mut Fields) -> Result<VersionState, Bad> {
    match fields.text("state")?.as_str() {
        "live" => Ok(VersionState::Live),
        "superseded" => Ok(VersionState::Superseded),
        "deleted" => Ok(VersionState::Deleted),
        _ => Err(Bad::new(
            "`state` must be `live`, `superseded` or `deleted`",
        )),
    }
}

fn number(fields: &mut Fields) -> Result<u64, Bad> {
    let number = fields.value("version").as_u64();
    number
        .filter(|number| (1..=StoredVersion::MAX_NUMBER).contains(number))
        .ok_or_else(|| Bad::new("`version` must be a whole number from 1 to 2^53"))
}

/// Refuses a session's record that the gate couldn't read, and so the session couldn't be opened again, and one that
/// another session is said to have stored, for which the audit would have no entry of the session itself.
fn check_session(stored: &StoredVersion) -> Result<(), Bad> {
    if stored.namespace != Namespace::SESSION {
        return Ok(());
    }
    let memory = &stored.version.memory;
    let is_owned = memory.agent.as_str() == Namespace::SESSION_OWNER
        && memory.key.as_str() == memory.session.as_str();
    let state = SessionState::from_history(std::slice::from_ref(&stored.version));
    if is_owned && matches!(state, Ok(Some(_))) {
        return Ok(());
    }
    Err(Bad::new(
        "a record of the namespace `session` must be one of a session's state",
    ))
}

/// Refuses a content that is blank or too long.
pub(super) fn check_content(stored: &StoredVersion, limits: &Limits) -> Result<(), Bad> {
    let content = &stored.version.memory.content;
    if content.trim().is_empty() {
        return Err(Bad::new("`content` must be a text that isn't blank"));
    }
    let limit = if stored.namespace == Namespace::SESSION {
        limits.content_bytes.max(SESSION_BYTES)
    } else {
        limits.content_bytes
    };
    crate::record::check_limit("content", content.len(), limit, "content_bytes").map_err(Bad::from)
}

/// The longest line that can hold a version, when every letter of it is escaped.
pub(super) fn longest(limits: &Limits) -> usize {
    let tags = limits
        .tags
        .saturating_mul(limits.tag_bytes.saturating_mul(4).saturating_add(4));
    let texts = limits
        .content_bytes
        .max(SESSION_BYTES)
        .saturating_add(limits.key_bytes.saturating_mul(4))
        .saturating_add(tags);
    texts.saturating_mul(6).saturating_add(65_536)
}
