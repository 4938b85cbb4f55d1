//! The audit, its chain, and the lineage of versions.

use std::fs::File;
use std::io::BufReader;

use serde_json::{Value, json};
use strandline::audit::{
    Action, Anchor, Decision, Query, Verification, verify_export as verify_lines,
};
use strandline::lineage::{Lineage, Trace, VersionId};
use strandline::storage::Namespace;
use strandline::{Error, ErrorKind, Host, Result};

use super::fields::{Fields, invalid};

pub(crate) fn audit(host: &Host, mut fields: Fields) -> Result<Value> {
    let query = Query {
        agent: fields.parsed("agent")?,
        session: fields.parsed("session")?,
        namespace: fields.parsed("namespace")?,
        key: fields.parsed("key")?,
        level: fields.optional_level("level")?,
        action: named(&mut fields, "action", Action::from_name)?,
        decision: named(&mut fields, "decision", decision)?,
        from: fields.optional_time("from")?,
        until: fields.optional_time("until")?,
        before: fields.optional_u64("before")?,
        limit: fields.optional_number("limit")?.unwrap_or(usize::MAX),
    };
    fields.finish()?;
    Ok(json!({"entries": host.audit(&query)?}))
}

fn decision(name: &str) -> Option<Decision> {
    let all = [Decision::Allowed, Decision::Refused];
    all.into_iter().find(|found| found.as_str() == name)
}

fn named<T>(fields: &mut Fields, field: &str, from: fn(&str) -> Option<T>) -> Result<Option<T>> {
    let Some(name) = fields.optional_text(field)? else {
        return Ok(None);
    };
    let named = from(&name);
    named
        .map(Some)
        .ok_or_else(|| invalid(format!("`{field}` is no name that the audit uses")))
}

pub(crate) fn verify(host: &Host, mut fields: Fields) -> Result<Value> {
    let anchor: Option<Anchor> = fields.parsed("anchor")?;
    fields.finish()?;
    Ok(verification(host.verify(anchor.as_ref())?))
}

fn verification(found: Verification) -> Value {
    match found {
        Verification::Sound(anchor) => json!({
            "ok": true,
            "entries": anchor.entries,
            "head": anchor.head,
            "anchor": anchor.to_string(),
        }),
        Verification::Broken(flaw) => json!({
            "ok": false,
            "first_bad": flaw.seq,
            "problem": flaw.kind,
        }),
    }
}

pub(crate) fn export(host: &Host, mut fields: Fields) -> Result<Value> {
    let path = fields.text("path")?;
    fields.finish()?;
    let anchor = host.export_audit_to(path)?;
    Ok(json!({"count": anchor.entries, "anchor": anchor.to_string()}))
}

pub(crate) fn verify_export(mut fields: Fields) -> Result<Value> {
    let path = fields.text("path")?;
    let anchor: Option<Anchor> = fields.parsed("anchor")?;
    fields.finish()?;
    let lines = BufReader::new(File::open(path).map_err(|error| io(&error))?);
    Ok(verification(verify_lines(lines, anchor.as_ref())?))
}

fn io(error: &std::io::Error) -> Error {
    Error::new(ErrorKind::Io, format!("`path`: {error}"))
}

pub(crate) fn why(host: &Host, mut fields: Fields) -> Result<Value> {
    let version = version(host, &mut fields)?;
    fields.finish()?;
    let why = host.why(&version)?;
    Ok(why.map_or_else(|| json!({"found": false}), |why| json!(why)))
}

pub(crate) fn derived_from(host: &Host, fields: Fields) -> Result<Value> {
    trace(host, fields, Host::derived_from)
}

pub(crate) fn derived_into(host: &Host, fields: Fields) -> Result<Value> {
    trace(host, fields, Host::derived_into)
}

fn trace(
    host: &Host,
    mut fields: Fields,
    follow: fn(&Host, &VersionId, &Trace) -> Result<Lineage>,
) -> Result<Value> {
    let version = version(host, &mut fields)?;
    let usual = Trace::default();
    let trace = Trace {
        depth: fields.optional_number("depth")?.unwrap_or(usual.depth),
        limit: fields.optional_number("limit")?.unwrap_or(usual.limit),
    };
    fields.finish()?;
    Ok(json!(follow(host, &version, &trace)?))
}

/// The memory that the fields name: without `level` and `version` the one that was stored last.
fn version(host: &Host, fields: &mut Fields) -> Result<VersionId> {
    let (agent, key) = (fields.text("agent")?, fields.text("key")?);
    let level = fields.optional_level("level")?;
    let number = fields.optional_u64("version")?;
    let versions = host.history(&agent, &key)?;
    let wanted = versions.iter().find(|found| {
        level.is_none_or(|level| level == found.memory.classification)
            && number.is_none_or(|number| number == found.memory.version)
    });
    let wanted = wanted.ok_or_else(|| {
        Error::new(
            ErrorKind::NotFound,
            "there is no such version under this key",
        )
    })?;
    Ok(VersionId::of(Namespace::MEMORY, &wanted.memory))
}
