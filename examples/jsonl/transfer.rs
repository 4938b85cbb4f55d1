//! Whole stores to files and back.

use std::fs::File;

use serde_json::{Value, json};
use strandline::storage::{ImportProblem, ImportReport};
use strandline::{Error, ErrorKind, MemoryStore, Result};

use super::fields::{Fields, invalid};

pub(crate) fn export(store: &MemoryStore, mut fields: Fields) -> Result<Value> {
    let path = fields.text("path")?;
    fields.finish()?;
    Ok(json!({"count": store.host().export_to(path)?}))
}

pub(crate) fn backup(store: &MemoryStore, mut fields: Fields) -> Result<Value> {
    let path = fields.text("path")?;
    fields.finish()?;
    Ok(json!({"count": store.host().backup(path, |_| ())?}))
}

pub(crate) fn import(store: &MemoryStore, mut fields: Fields) -> Result<Value> {
    let path = fields.text("path")?;
    let format = fields.optional_text("format")?;
    fields.finish()?;
    let host = store.host();
    let report = match format.as_deref() {
        None | Some("jsonl") => {
            let text = "the file at `path` can't be opened";
            let file = File::open(path)
                .map_err(|error| Error::new(ErrorKind::Io, text).with_source(error))?;
            host.import(file)?
        }
        Some("triggerfish") => host.import_triggerfish(path)?,
        Some(_) => return Err(invalid("`format` must be `jsonl` or `triggerfish`")),
    };
    Ok(told(&report))
}

fn told(report: &ImportReport) -> Value {
    let problem = |problem: &ImportProblem| json!({"line": problem.line, "reason": problem.reason});
    json!({
        "count": report.imported,
        "sessions": report.sessions,
        "renumbered": report.renumbered,
        "ended": report.ended,
        "unchanged": report.unchanged,
        "refused": report.refused,
        "ignored": report.ignored,
        "problems": report.problems.iter().map(problem).collect::<Vec<_>>(),
    })
}
