//! Counts and sizes.

use std::fs;
use std::path::Path;

use chrono::{DateTime, Utc};
use rusqlite::{Connection, params};

use super::pool::size;
use super::rows::{level, micros, page_size, time, unexpected};
use crate::classification::Classification;
use crate::error::{Error, ErrorKind, Result};
use crate::policy::HostGrant;
use crate::session::AgentId;
use crate::storage::{Counts, Holding, Namespace, Sizes, Stats};

pub(super) fn stats(
    db: &Connection,
    path: &Path,
    grant: &HostGrant,
    now: DateTime<Utc>,
) -> Result<Stats> {
    let namespace = grant.namespace().as_str();
    let agents = "SELECT count(*) FROM scopes s WHERE namespace = ?1
                  AND EXISTS (SELECT 1 FROM records WHERE scope = s.id)";
    let sessions = "SELECT count(DISTINCT key) FROM records
                    WHERE scope = (SELECT id FROM scopes WHERE namespace = ?1)";
    let mut stats = Stats {
        levels: Classification::ALL
            .map(|level| (level, Counts::default()))
            .into(),
        agents: number(db, agents, [namespace])?,
        sessions: number(db, sessions, [Namespace::SESSION.as_str()])?,
        audit_entries: number(db, "SELECT count(*) FROM audit", [])?,
        sizes: Some(sizes(db, path)?),
    };
    count(db, grant, now, &mut stats)?;
    Ok(stats)
}

/// Adds up the versions of the namespace, or of one agent there.
fn count(db: &Connection, grant: &HostGrant, now: DateTime<Utc>, stats: &mut Stats) -> Result<()> {
    let sql = "SELECT r.level, r.state, r.state = 0 AND r.expires_at IS NOT NULL
                      AND r.expires_at <= ?3, count(*)
               FROM scopes s CROSS JOIN records r ON r.scope = s.id
               WHERE s.namespace = ?1 AND (?2 IS NULL OR s.agent = ?2) GROUP BY 1, 2, 3";
    let agent = grant.agent().map(AgentId::as_str);
    let mut select = db.prepare_cached(sql)?;
    let mut rows = select.query(params![grant.namespace().as_str(), agent, micros(now)])?;
    while let Some(row) = rows.next()? {
        let counts = stats.levels.entry(level(row.get(0)?)?).or_default();
        let count = match (row.get::<_, u8>(1)?, row.get(2)?) {
            (0, false) => &mut counts.live,
            (0, true) => &mut counts.expired,
            (1, _) => &mut counts.superseded,
            _ => &mut counts.deleted,
        };
        *count = to_u64(row.get(3)?)?;
    }
    Ok(())
}

/// What each agent has at each level in the grant's namespace.
pub(super) fn holdings(
    db: &Connection,
    grant: &HostGrant,
    now: DateTime<Utc>,
) -> Result<Vec<Holding>> {
    let sql = "SELECT s.agent, r.level, count(*), sum(octet_length(r.content)), max(r.updated_at)
               FROM scopes s CROSS JOIN records r ON r.scope = s.id
               WHERE s.namespace = ?1 AND (?2 IS NULL OR s.agent = ?2) AND r.state = 0
                     AND (r.expires_at IS NULL OR r.expires_at > ?3)
               GROUP BY 1, 2 ORDER BY 1, 2";
    let agent = grant.agent().map(AgentId::as_str);
    let mut select = db.prepare_cached(sql)?;
    let mut rows = select.query(params![grant.namespace().as_str(), agent, micros(now)])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let agent: String = row.get(0)?;
        found.push(Holding {
            agent: agent.parse().map_err(|_| unexpected("agent"))?,
            level: level(row.get(1)?)?,
            memories: to_u64(row.get(2)?)?,
            content_bytes: to_u64(row.get(3)?)?,
            newest: time(row.get(4)?)?,
        });
    }
    Ok(found)
}

fn sizes(db: &Connection, path: &Path) -> Result<Sizes> {
    let pragma = |name| to_u64(db.pragma_query_value(None, name, |row| row.get(0))?);
    let file = fs::metadata(path).map_err(|error| {
        Error::new(ErrorKind::Io, "the store's file is gone").with_source(error.to_string())
    })?;
    let mut wal = path.as_os_str().to_owned();
    wal.push("-wal");
    let index = "SELECT ifnull(sum(length(block)), 0) FROM terms_data";
    Ok(Sizes {
        database_bytes: file.len(),
        wal_bytes: size(Path::new(&wal)),
        free_bytes: pragma("freelist_count")?.saturating_mul(to_u64(page_size(db)?)?),
        index_bytes: number(db, index, [])?,
    })
}

fn number(db: &Connection, sql: &str, params: impl rusqlite::Params) -> Result<u64> {
    to_u64(
        db.prepare_cached(sql)?
            .query_row(params, |row| row.get(0))?,
    )
}

fn to_u64(number: i64) -> Result<u64> {
    number.try_into().map_err(|_| unexpected("number"))
}
