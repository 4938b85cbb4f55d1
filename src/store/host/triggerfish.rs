//! Memories out of a Triggerfish database.

use std::path::Path;

use serde_json::Value;
use uuid::Uuid;

use super::fields::{Bad, Fields};
use super::import::Importer;
use super::{Host, line};
use crate::classification::Classification;
use crate::error::Result;
use crate::observe::Operation;
use crate::record::{Limits, Memory, parse_key};
use crate::session::AgentId;
use crate::storage::sqlite::triggerfish::{Pair, pairs};
use crate::storage::{ImportReport, StoredVersion, Version, VersionState};

/// How the key of a memory begins.
const PREFIX: &str = "memory:";

/// The session of a record that names none.
const NO_SESSION: &str = "triggerfish";

/// The space of the ids that are made of a row's key and its own lineage id.
const LINEAGE_SPACE: Uuid = Uuid::from_u128(0x3f0c_62d1_8a57_4e9b_a1d4_70e2_95cb_6f18);

impl Host {
    /// Takes over the memories in a Triggerfish database.
    ///
    /// That is a SQLite file with a table `kv` of columns `key` and `value`. Rows whose key is
    /// `memory:<agent>:<LEVEL>:<key>` are memories, and `<key>` may have colons too. Their value is a JSON object with
    /// `key`, `agentId`, `classification`, `content`, `createdAt` and `updatedAt`, and perhaps `tags`,
    /// `expiresAt`, `expired`, `sourceSessionId` and `lineageId`; other fields don't matter. Rows of
    /// other keys are counted as ignored.
    ///
    /// Each memory comes in as [`import`](Self::import) says, into this handle's namespace. `expired: true` is
    /// what a deletion leaves there, and comes in as deleted. Where the row's key and its record name two
    /// levels, the higher one counts, and the report tells. A lineage id that isn't a UUID becomes one,
    /// always the same, that is made of it and of the row's key. So importing twice changes nothing.
    ///
    /// The database is only read, and nothing is left beside it. One with a WAL is copied to a folder of the
    /// system for temporary files, read there and removed again. Nobody should write to it meanwhile,
    /// and this process must not have it open: by POSIX rules its locks would go when it is closed here.
    ///
    /// # Errors
    /// [`NotAStore`](crate::ErrorKind::NotAStore) if the file is no database or has no such table,
    /// [`Corrupt`](crate::ErrorKind::Corrupt) if it is damaged, or an error of the storage. What was stored by then
    /// stays. A row that can't be taken over is no error but one of the report's problems, whose `line` is
    /// the row's place in the table.
    ///
    /// ```
    /// use rusqlite::Connection;
    /// use strandline::MemoryStore;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("triggerfish.db");
    /// let old = Connection::open(&path)?;
    /// old.execute("CREATE TABLE kv (key TEXT PRIMARY KEY, value TEXT)", [])?;
    /// let record = r#"{"key": "user-name", "agentId": "main", "classification": "INTERNAL",
    ///     "content": "Ada", "createdAt": "2026-01-31T12:00:00.000Z",
    ///     "updatedAt": "2026-01-31T12:00:00.000Z"}"#;
    /// let sql = "INSERT INTO kv VALUES ('memory:main:INTERNAL:user-name', ?1), ('cron:1', '{}')";
    /// old.execute(sql, [record])?;
    /// drop(old);
    ///
    /// let store = MemoryStore::open_in_memory()?;
    /// let report = store.host().import_triggerfish(&path)?;
    /// assert_eq!((report.imported, report.ignored), (1, 1));
    /// let low = store.session("s-1", "main").open()?;
    /// assert!(store.get(&low, "user-name")?.is_none()); // above its taint
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn import_triggerfish(&self, path: impl AsRef<Path>) -> Result<ImportReport> {
        self.watch(Operation::Import, || {
            let mut importer = Importer::new(self);
            let mut number = 0;
            pairs(path.as_ref(), line::longest(&self.limits), &mut |pair| {
                number += 1;
                let (key, value) = match pair {
                    Pair::Whole(key, value) => (key, Ok(value)),
                    Pair::Bad(key, reason) => (key, Err(Bad::new(reason))),
                    Pair::NoKey => ("", Ok(&b""[..])),
                };
                let Some(name) = key.strip_prefix(PREFIX) else {
                    importer.report.ignored += 1;
                    return Ok(());
                };
                let found = value.and_then(|value| Row::parse(name, value, &self.limits));
                if found.as_ref().is_ok_and(|row| row.is_raised) {
                    let text = "the key and the record name two levels; the higher one counts";
                    importer.report.note(number, text);
                }
                let found = found.map(|row| StoredVersion {
                    namespace: self.namespace.clone(),
                    version: row.version,
                });
                importer.add(number, found)
            })?;
            importer.finish()
        })
    }
}

struct Row {
    version: Version,
    /// Whether its two levels differ.
    is_raised: bool,
}

impl Row {
    fn parse(name: &str, value: &[u8], limits: &Limits) -> Result<Self, Bad> {
        let mut fields = Fields::parse(value)?;
        let agent: AgentId = fields.parsed("agentId")?;
        let (key_level, key) = split(name, agent.as_str())?;
        let named: Classification = fields.parsed("classification")?;
        let level = named.join(key_level);
        let id = lineage(&mut fields, name)?;
        let memory = memory(&mut fields, limits, agent, level, id)?;
        if memory.key != parse_key(key, limits)? {
            return Err(Bad::new("`key` isn't that of the row's key"));
        }
        let is_deleted = flag(&mut fields, "expired")?;
        Ok(Self {
            version: Version {
                ended_at: is_deleted.then_some(memory.updated_at),
                memory,
                state: if is_deleted {
                    VersionState::Deleted
                } else {
                    VersionState::Live
                },
            },
            is_raised: named != key_level,
        })
    }
}

/// The level and the key in a row's key after its prefix. The agent's id may have colons.
fn split<'n>(name: &'n str, agent: &str) -> Result<(Classification, &'n str), Bad> {
    let rest = name.strip_prefix(agent).and_then(|r| r.strip_prefix(':'));
    let rest = rest.ok_or_else(|| Bad::new("`agentId` isn't that of the row's key"))?;
    let (level, key) = rest.split_once(':').unwrap_or((rest, ""));
    let level = level.parse();
    let level = level.map_err(|_| Bad::new("the row's key names no level that there is"))?;
    Ok((level, key))
}

fn memory(
    fields: &mut Fields,
    limits: &Limits,
    agent: AgentId,
    level: Classification,
    lineage_id: Uuid,
) -> Result<Memory, Bad> {
    let created_at = fields.time("createdAt")?;
    let session = fields.optional_text("sourceSessionId")?;
    Ok(Memory {
        key: fields.key(limits)?,
        content: fields.text("content")?,
        classification: level,
        tags: fields.tags(limits)?,
        agent,
        version: 1,
        created_at,
        updated_at: fields.time("updatedAt")?.max(created_at),
        expires_at: fields.optional_time("expiresAt")?,
        session: session.as_deref().unwrap_or(NO_SESSION).parse()?,
        lineage_id,
    })
}

fn lineage(fields: &mut Fields, name: &str) -> Result<Uuid, Bad> {
    let own = fields.optional_text("lineageId")?.unwrap_or_default();
    let made = || Uuid::new_v5(&LINEAGE_SPACE, format!("{name}\0{own}").as_bytes());
    Ok(Uuid::parse_str(&own).unwrap_or_else(|_| made()))
}

fn flag(fields: &mut Fields, name: &str) -> Result<bool, Bad> {
    match fields.value(name) {
        Value::Null => Ok(false),
        Value::Bool(flag) => Ok(flag),
        _ => Err(Bad::new(format!("`{name}` must be true or false"))),
    }
}
