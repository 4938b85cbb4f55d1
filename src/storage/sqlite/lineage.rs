//! Which versions each session has read, and what follows from it.
//!
//! A read is one row of three numbers: the session, the version, and the newest entry of the audit when
//! it was first read. A save is an entry of the audit anyway, so which came first needs no more.

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use uuid::Uuid;

use super::audit::{append, recorded};
use super::rows::{level, time, unexpected};
use super::write::to_i64;
use crate::audit::Action;
use crate::error::Result;
use crate::lineage::{Origin, Reading, VersionId};
use crate::session::SessionId;

/// The columns that [`origin`] reads: no content.
macro_rules! columns {
    () => {
        "s.namespace, s.agent, r.key, r.level, r.version, r.lineage, r.session, r.updated_at"
    };
}

/// A version's row, from its names.
const RECORD: &str = "SELECT r.id FROM scopes s JOIN records r INDEXED BY records_version
    ON r.scope = s.id AND r.key = ?3 AND r.level = ?4 AND r.version = ?5
    WHERE s.namespace = ?1 AND s.agent = ?2";

fn record(db: &Connection, version: &VersionId) -> Result<Option<i64>> {
    let mut select = db.prepare_cached(RECORD)?;
    let id = select.query_row(
        params![
            version.namespace.as_str(),
            version.agent.as_str(),
            version.key.as_str(),
            version.level.rank(),
            to_i64(version.version)?,
        ],
        |row| row.get(0),
    );
    Ok(id.optional()?)
}

fn reader(db: &Connection, session: &SessionId) -> Result<Option<i64>> {
    let sql = "SELECT id FROM readers WHERE session = ?1";
    let mut select = db.prepare_cached(sql)?;
    Ok(select
        .query_row([session.as_str()], |row| row.get(0))
        .optional()?)
}

fn make_reader(db: &Connection, session: &SessionId) -> Result<i64> {
    if let Some(reader) = reader(db, session)? {
        return Ok(reader);
    }
    let sql = "INSERT INTO readers (session) VALUES (?1)";
    db.prepare_cached(sql)?.execute([session.as_str()])?;
    Ok(db.last_insert_rowid())
}

/// Whether a reading would change nothing, so that no write is needed.
pub(super) fn is_known(db: &Connection, reading: &Reading) -> Result<bool> {
    if reading.facts().is_some() {
        return Ok(false);
    }
    let Some(reader) = reader(db, reading.session())? else {
        return Ok(reading.versions().is_empty());
    };
    let sql = "SELECT 1 FROM reads WHERE reader = ?1 AND record = ?2";
    let mut select = db.prepare_cached(sql)?;
    for version in reading.versions() {
        if let Some(record) = record(db, version)?
            && !select.exists([reader, record])?
        {
            return Ok(false);
        }
    }
    Ok(true)
}

pub(super) fn note(db: &Connection, reading: &Reading) -> Result<()> {
    if let Some(facts) = reading.facts() {
        append(db, facts)?;
    }
    if reading.versions().is_empty() {
        return Ok(());
    }
    let (reader, after) = (make_reader(db, reading.session())?, recorded(db)?);
    let sql = "INSERT OR IGNORE INTO reads (reader, record, after) VALUES (?1, ?2, ?3)";
    let mut insert = db.prepare_cached(sql)?;
    for version in reading.versions() {
        if let Some(record) = record(db, version)? {
            insert.execute([reader, record, after])?;
        }
    }
    Ok(())
}

/// The session that stored a version, and the entry of that. The last one counts, where there are more.
fn save(db: &Connection, version: &VersionId) -> Result<Option<(String, i64)>> {
    let sql = format!(
        "SELECT session, seq FROM audit INDEXED BY audit_key
         WHERE agent = ?2 AND key = ?3 AND namespace = ?1 AND level = ?4 AND version = ?5
           AND {} ORDER BY seq DESC LIMIT 1",
        stores()
    );
    let mut select = db.prepare_cached(&sql)?;
    let found = select.query_row(
        params![
            version.namespace.as_str(),
            version.agent.as_str(),
            version.key.as_str(),
            version.level.rank(),
            to_i64(version.version)?,
        ],
        |row| Ok((row.get(0)?, row.get(1)?)),
    );
    Ok(found.optional()?)
}

/// The entries of an audit that stand for a stored version.
fn stores() -> String {
    let storing = Action::ALL.into_iter().filter(|action| action.stores());
    let names: Vec<_> = storing.map(|a| format!("'{}'", a.as_str())).collect();
    format!("decision = 0 AND action IN ({})", names.join(", "))
}

pub(super) fn sources(db: &Connection, version: &VersionId, limit: usize) -> Result<Vec<Origin>> {
    const SQL: &str = concat!(
        "SELECT ",
        columns!(),
        " FROM readers p CROSS JOIN reads x ON x.reader = p.id
         CROSS JOIN records r ON r.id = x.record CROSS JOIN scopes s ON s.id = r.scope
         WHERE p.session = ?1 AND x.after < ?2 AND s.namespace <> 'session'
         ORDER BY x.after, x.record LIMIT ?3"
    );
    let (Some((session, seq)), Some(_)) = (save(db, version)?, record(db, version)?) else {
        return Ok(Vec::new());
    };
    let mut select = db.prepare_cached(SQL)?;
    origins(select.query(params![session, seq, rows_of(limit)])?)
}

pub(super) fn derivations(
    db: &Connection,
    version: &VersionId,
    limit: usize,
) -> Result<Vec<Origin>> {
    let sql = format!(
        concat!(
            "SELECT ",
            columns!(),
            " FROM reads x INDEXED BY reads_record CROSS JOIN readers p ON p.id = x.reader
             CROSS JOIN audit a INDEXED BY audit_session
                ON a.session = p.session AND a.seq > x.after AND {}
             CROSS JOIN scopes s ON s.namespace = a.namespace AND s.agent = a.agent
             CROSS JOIN records r INDEXED BY records_version
                ON r.scope = s.id AND r.key = a.key AND r.level = a.level AND r.version = a.version
             WHERE x.record = ?1 AND s.namespace <> 'session'
             ORDER BY a.seq LIMIT ?2"
        ),
        stores()
    );
    let Some(record) = record(db, version)? else {
        return Ok(Vec::new());
    };
    let mut select = db.prepare_cached(&sql)?;
    origins(select.query([record, rows_of(limit)])?)
}

fn rows_of(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

fn origins(mut rows: rusqlite::Rows<'_>) -> Result<Vec<Origin>> {
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(origin(row)?);
    }
    Ok(found)
}

fn origin(row: &Row<'_>) -> Result<Origin> {
    let text = |column: usize| row.get::<_, String>(column);
    let id = VersionId {
        namespace: text(0)?.parse().map_err(|_| unexpected("namespace"))?,
        agent: text(1)?.parse().map_err(|_| unexpected("agent id"))?,
        key: text(2)?.parse().map_err(|_| unexpected("key"))?,
        level: level(row.get(3)?)?,
        version: row
            .get::<_, i64>(4)?
            .try_into()
            .map_err(|_| unexpected("version"))?,
    };
    Ok(Origin {
        id,
        lineage_id: Uuid::from_bytes(row.get(5)?),
        session: text(6)?.parse().map_err(|_| unexpected("session id"))?,
        at: time(row.get(7)?)?,
    })
}
