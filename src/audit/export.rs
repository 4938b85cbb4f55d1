//! The audit as JSON lines, which prove themselves without the store.

use std::io::{BufRead, Read as _, Write};

use chrono::{DateTime, Utc};
use serde::Deserialize;

use super::chain::{Anchor, Link, Verification, Walk};
use super::{Action, Decision, Digest, Entry, Facts};
use crate::classification::Classification;
use crate::error::{Error, ErrorKind, Result};
use crate::record::MemoryKey;
use crate::session::{AgentId, SessionId};
use crate::storage::Namespace;

/// The longest line that is read. A key has its limit far below.
const LINE_BYTES: u64 = 64 << 20;

/// An entry as a line has it: these fields, and no others.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    seq: u64,
    at: DateTime<Utc>,
    session: SessionId,
    agent: AgentId,
    namespace: Namespace,
    action: Action,
    decision: Decision,
    level: Classification,
    key: Option<MemoryKey>,
    version: Option<u64>,
    rule: Option<String>,
    detail: Option<String>,
    hash: Digest,
}

/// The number alone, of a line that is no whole entry.
#[derive(Deserialize)]
struct Number {
    seq: u64,
}

impl From<Line> for Entry {
    fn from(line: Line) -> Self {
        Self {
            seq: line.seq,
            facts: Facts {
                at: line.at,
                session: line.session,
                agent: line.agent,
                namespace: line.namespace,
                action: line.action,
                decision: line.decision,
                level: line.level,
                key: line.key,
                version: line.version,
                rule: line.rule,
                detail: line.detail,
            },
            hash: line.hash,
        }
    }
}

/// Writes one entry and the end of its line.
pub(crate) fn write_line(out: &mut impl Write, entry: &Entry) -> Result<()> {
    let line = serde_json::to_string(entry)
        .map_err(|error| Error::internal("an entry can't be written as JSON").with_source(error))?;
    writeln!(out, "{line}")
        .map_err(|error| Error::new(ErrorKind::Io, "the audit can't be written").with_source(error))
}

/// Checks what [`Host::export_audit`](crate::Host::export_audit) wrote, without the store.
///
/// It takes memory for one line only. Any changed, removed or moved entry is found, and the first is
/// named; without an anchor, lines missing at the end can't be. A line that isn't an entry counts as a
/// changed one. Blank lines don't count.
///
/// # Errors
/// [`Io`](ErrorKind::Io) where the input can't be read.
///
/// ```
/// use strandline::audit::{FlawKind, Verification, verify_export};
/// use strandline::{Draft, MemoryStore};
///
/// let store = MemoryStore::open_in_memory()?;
/// let session = store.session("s-1", "agent").open()?;
/// store.save(&session, Draft::new("k", "v"))?;
/// let mut lines = Vec::new();
/// let anchor = store.host().export_audit(&mut lines)?;
/// assert_eq!(verify_export(&lines[..], Some(&anchor))?, Verification::Sound(anchor));
///
/// let forged = String::from_utf8(lines)?.replace(r#""key":"k""#, r#""key":"q""#);
/// let Verification::Broken(flaw) = verify_export(forged.as_bytes(), None)? else {
///     panic!("not found");
/// };
/// assert_eq!((flaw.seq, flaw.kind), (2, FlawKind::Changed));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn verify_export(mut lines: impl BufRead, anchor: Option<&Anchor>) -> Result<Verification> {
    let mut walk = Walk::new(anchor);
    let mut line = Vec::new();
    let mut place = 0_u64;
    while read_line(&mut lines, &mut line)? {
        if line.trim_ascii().is_empty() {
            continue;
        }
        place = place.saturating_add(1);
        walk.feed(link(&line, place));
    }
    Ok(walk.finish(0))
}

fn read_line(lines: &mut impl BufRead, line: &mut Vec<u8>) -> Result<bool> {
    line.clear();
    let read = lines.by_ref().take(LINE_BYTES).read_until(b'\n', line);
    let read = read.map_err(|error| {
        Error::new(ErrorKind::Io, "the exported audit can't be read").with_source(error)
    })?;
    Ok(read > 0)
}

/// What a line holds; one that can't be read is a bad entry with its number, or that of its place.
fn link(line: &[u8], place: u64) -> Link {
    match serde_json::from_slice::<Line>(line) {
        Ok(line) => Link {
            seq: line.seq,
            entry: Some(line.into()),
        },
        Err(_) => Link {
            seq: serde_json::from_slice(line).map_or(place, |Number { seq }| seq),
            entry: None,
        },
    }
}
