//! Rows to records, and the one rule of which rows a session sees.

use chrono::{DateTime, Utc};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Row};
use uuid::Uuid;

use crate::classification::Classification;
use crate::error::{Error, Result};
use crate::policy::ReadGrant;
use crate::record::{Memory, Tag};
use crate::session::AgentId;
use crate::storage::Namespace;

/// The visibility rule (clause 2 of the contract), as SQL on a row `r` of `records`. Every read of a
/// session has it in its `WHERE`. The argument is the scope; `?1` is left to that, `?2` is the
/// session's level and `?3` the time.
///
/// `shadow` answers for almost every row; only where the shadowing record may have expired does it
/// take a look at the key's other levels.
macro_rules! visible {
    ($scope:literal) => {
        concat!(
            "r.scope = ",
            $scope,
            " AND r.state = 0 AND r.level <= ?2
            AND (r.expires_at IS NULL OR r.expires_at > ?3)
            AND (r.shadow > ?2 OR NOT EXISTS (
                SELECT 1 FROM records h
                WHERE h.scope = r.scope AND h.key = r.key AND h.state = 0
                  AND h.level > r.level AND h.level <= ?2
                  AND (h.expires_at IS NULL OR h.expires_at > ?3)))"
        )
    };
    () => {
        visible!("?1")
    };
}

/// The columns that [`memory`] reads, of a row `r` of `records`.
macro_rules! columns {
    () => {
        "r.key, r.content, r.level, r.tags, r.version, r.created_at, r.updated_at, r.expires_at, \
         r.session, r.lineage"
    };
}

pub(super) use {columns, visible};

/// How many columns that is.
pub(super) const COLUMN_COUNT: usize = 10;

/// What a grant lets see, as the parameters of [`visible`].
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    pub(super) scope: i64,
    pub(super) session: Classification,
    pub(super) now: i64,
}

impl View {
    /// The grant's view, or `None` where nothing was ever written in its scope.
    pub(super) fn of(db: &Connection, grant: &ReadGrant) -> Result<Option<Self>> {
        let scope = scope_id(db, grant.namespace(), grant.agent())?;
        Ok(scope.map(|scope| Self {
            scope,
            session: grant.level(),
            now: micros(grant.now()),
        }))
    }

    pub(super) fn level(&self) -> u8 {
        self.session.rank()
    }
}

/// The number of one agent's records in one namespace, if there ever were any.
pub(super) fn scope_id(
    db: &Connection,
    namespace: &Namespace,
    agent: &AgentId,
) -> Result<Option<i64>> {
    let sql = "SELECT id FROM scopes WHERE namespace = ?1 AND agent = ?2";
    let mut select = db.prepare_cached(sql)?;
    Ok(select
        .query_row([namespace.as_str(), agent.as_str()], |row| row.get(0))
        .optional()?)
}

/// The record in the row's first [`COLUMN_COUNT`] columns.
pub(super) fn memory(row: &Row<'_>, agent: &AgentId) -> Result<Memory> {
    Ok(Memory {
        key: row
            .get::<_, String>(0)?
            .parse()
            .map_err(|_| unexpected("key"))?,
        content: row.get(1)?,
        classification: level(row.get(2)?)?,
        tags: tags_from_json(
            row.get_ref(3)?
                .as_str()
                .map_err(|_| unexpected("tag list"))?,
        )?,
        agent: agent.clone(),
        version: row
            .get::<_, i64>(4)?
            .try_into()
            .map_err(|_| unexpected("version"))?,
        created_at: time(row.get(5)?)?,
        updated_at: time(row.get(6)?)?,
        expires_at: row.get::<_, Option<i64>>(7)?.map(time).transpose()?,
        session: row
            .get::<_, String>(8)?
            .parse()
            .map_err(|_| unexpected("session id"))?,
        lineage_id: Uuid::from_bytes(row.get(9)?),
    })
}

/// The tags as they are stored in a record.
pub(super) fn tags_to_json(tags: &[Tag]) -> Result<String> {
    serde_json::to_string(tags)
        .map_err(|error| Error::internal("tags can't be written as JSON").with_source(error))
}

pub(super) fn tags_from_json(json: &str) -> Result<Vec<Tag>> {
    if json == "[]" {
        return Ok(Vec::new());
    }
    // Without its source: serde's message would quote the tags.
    serde_json::from_str(json).map_err(|_| unexpected("tag list"))
}

/// A level as it is stored.
pub(super) fn level(rank: u8) -> Result<Classification> {
    Classification::from_rank(rank).ok_or_else(|| unexpected("level"))
}

/// A time as it is stored: microseconds since 1970, UTC.
pub(super) fn micros(time: DateTime<Utc>) -> i64 {
    time.timestamp_micros()
}

pub(super) fn time(micros: i64) -> Result<DateTime<Utc>> {
    DateTime::from_timestamp_micros(micros).ok_or_else(|| unexpected("time"))
}

/// The size of the file's pages, which SQLCipher gives as a text.
pub(super) fn page_size(db: &Connection) -> Result<i64> {
    let size = |row: &Row<'_>| row.get::<_, Value>(0);
    match db.pragma_query_value(None, "page_size", size)? {
        Value::Integer(size) => Ok(size),
        Value::Text(size) => size.parse().map_err(|_| unexpected("page size")),
        _ => Err(unexpected("page size")),
    }
}

/// The next place to go on from. A damaged tree may give the same rows again and again, so it must be
/// greater than the last.
pub(super) fn risen<T: Ord>(last: &T, next: T) -> Result<T> {
    if next > *last {
        return Ok(next);
    }
    Err(Error::corrupt("rows of the store's file are in no order"))
}

pub(super) fn unexpected(what: &str) -> Error {
    Error::corrupt(format!(
        "the store's file holds a {what} that this crate never writes"
    ))
}

/// A number or NULL.
pub(super) fn number(value: Option<i64>) -> Value {
    value.map_or(Value::Null, Value::Integer)
}
