//! Reads by key, by list, and of the history.

use rusqlite::{Connection, OptionalExtension as _, params};
use uuid::Uuid;

use super::error::is_index_damage;
use super::index::State;
use super::rows::{
    COLUMN_COUNT, View, columns, memory, micros, scope_id, time, unexpected, visible,
};
use super::search;
use crate::error::{Error, Result};
use crate::policy::{HostGrant, ReadGrant, Writing};
use crate::record::{Memory, MemoryKey};
use crate::session::AgentId;
use crate::storage::{ListPage, ListRequest, Restore, Version, VersionState};

/// The record under the key that the grant sees. One statement, so it needs no transaction.
pub(super) fn get(db: &Connection, grant: &ReadGrant, key: &MemoryKey) -> Result<Option<Memory>> {
    const SQL: &str = concat!(
        "SELECT ",
        columns!(),
        " FROM records r INDEXED BY records_live WHERE ",
        visible!("(SELECT id FROM scopes WHERE namespace = ?1 AND agent = ?4)"),
        " AND r.key = ?5"
    );
    let mut select = db.prepare_cached(SQL)?;
    let mut rows = select.query(params![
        grant.namespace().as_str(),
        grant.level().rank(),
        micros(grant.now()),
        grant.agent().as_str(),
        key.as_str(),
    ])?;
    rows.next()?
        .map(|row| memory(row, grant.agent()))
        .transpose()
}

/// The record under the key that this view sees.
pub(super) fn get_in(
    db: &Connection,
    view: View,
    agent: &AgentId,
    key: &MemoryKey,
) -> Result<Option<Memory>> {
    const SQL: &str = concat!(
        "SELECT ",
        columns!(),
        " FROM records r INDEXED BY records_live WHERE ",
        visible!(),
        " AND r.key = ?4"
    );
    let mut select = db.prepare_cached(SQL)?;
    let mut rows = select.query(params![view.scope, view.level(), view.now, key.as_str()])?;
    rows.next()?.map(|row| memory(row, agent)).transpose()
}

pub(super) fn list(db: &Connection, grant: &ReadGrant, request: &ListRequest) -> Result<ListPage> {
    let Some(view) = View::of(db, grant)? else {
        let total = request.count.then_some(0);
        return Ok(ListPage {
            records: Vec::new(),
            more: false,
            total,
        });
    };
    let mut records = match &request.tag {
        None => list_all(db, view, grant.agent(), request)?,
        Some(tag) => list_tag(db, view, grant.agent(), tag.folded(), request)?,
    };
    let more = records.len() > request.limit;
    records.truncate(request.limit);
    let total = match (&request.tag, request.count) {
        (_, false) => None,
        (None, true) => Some(count_all(db, view, grant.agent())?),
        (Some(tag), true) => Some(count_tag(db, view, tag.folded())?),
    };
    Ok(ListPage {
        records,
        more,
        total,
    })
}

fn list_all(
    db: &Connection,
    view: View,
    agent: &AgentId,
    request: &ListRequest,
) -> Result<Vec<Memory>> {
    const SQL: &str = concat!(
        "SELECT ",
        columns!(),
        " FROM records r INDEXED BY records_live WHERE ",
        visible!(),
        " AND r.key > ?4 ORDER BY r.key LIMIT ?5"
    );
    let mut select = db.prepare_cached(SQL)?;
    let rows = select.query(params![
        view.scope,
        view.level(),
        view.now,
        after(request),
        one_more(request.limit),
    ])?;
    memories(rows, agent)
}

fn list_tag(
    db: &Connection,
    view: View,
    agent: &AgentId,
    tag: &str,
    request: &ListRequest,
) -> Result<Vec<Memory>> {
    const SQL: &str = concat!(
        "SELECT ",
        columns!(),
        " FROM record_tags t CROSS JOIN records r ON r.id = t.record
         WHERE t.scope = ?1 AND t.tag = ?4 AND t.key > ?5 AND ",
        visible!(),
        " ORDER BY t.key LIMIT ?6"
    );
    let mut select = db.prepare_cached(SQL)?;
    let rows = select.query(params![
        view.scope,
        view.level(),
        view.now,
        tag,
        after(request),
        one_more(request.limit),
    ])?;
    memories(rows, agent)
}

/// From the index's own counts, unless they aren't whole or are another release's.
fn count_all(db: &Connection, view: View, agent: &AgentId) -> Result<u64> {
    const SQL: &str = concat!(
        "SELECT count(*) FROM records r INDEXED BY records_live WHERE ",
        visible!()
    );
    let state = State::read(db)?;
    if state.is_whole() {
        match search::count(db, view, agent, state.language()?) {
            // The next search repairs it; a list needs none.
            Err(error) if is_index_damage(&error) => (),
            count => return count,
        }
    }
    let mut select = db.prepare_cached(SQL)?;
    let parameters = params![view.scope, view.level(), view.now];
    let count: i64 = select.query_row(parameters, |row| row.get(0))?;
    count.try_into().map_err(|_| unexpected("count"))
}

fn count_tag(db: &Connection, view: View, tag: &str) -> Result<u64> {
    const SQL: &str = concat!(
        "SELECT count(*) FROM record_tags t CROSS JOIN records r ON r.id = t.record
         WHERE t.scope = ?1 AND t.tag = ?4 AND ",
        visible!()
    );
    let mut select = db.prepare_cached(SQL)?;
    let parameters = params![view.scope, view.level(), view.now, tag];
    let count: i64 = select.query_row(parameters, |row| row.get(0))?;
    count.try_into().map_err(|_| unexpected("count"))
}

/// Every key is greater than the empty text.
fn after(request: &ListRequest) -> &str {
    request.after.as_ref().map_or("", MemoryKey::as_str)
}

/// One more than asked for, to know whether there is one.
fn one_more(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1)
}

fn memories(mut rows: rusqlite::Rows<'_>, agent: &AgentId) -> Result<Vec<Memory>> {
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(memory(row, agent)?);
    }
    Ok(found)
}

/// The versions of a key, last stored first: at most so many of those after the one of this id.
pub(super) fn history(
    db: &Connection,
    grant: &HostGrant,
    key: &MemoryKey,
    after: Option<Uuid>,
    limit: usize,
) -> Result<Vec<Version>> {
    const SQL: &str = concat!(
        "SELECT ",
        columns!(),
        ", r.state, r.ended_at FROM records r
         WHERE r.scope = ?1 AND r.key = ?2 AND r.id < ?3 ORDER BY r.id DESC LIMIT ?4"
    );
    let scope = |agent| -> Result<_> { Ok((agent, scope_id(db, grant.namespace(), agent)?)) };
    let Some((agent, Some(scope))) = grant.agent().map(scope).transpose()? else {
        return match after {
            Some(_) => Err(Error::no_such_version()),
            None => Ok(Vec::new()),
        };
    };
    let before = match after {
        Some(after) => id_of(db, scope, key, after)?,
        None => i64::MAX,
    };
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut select = db.prepare_cached(SQL)?;
    let mut rows = select.query(params![scope, key.as_str(), before, limit])?;
    let mut versions = Vec::new();
    while let Some(row) = rows.next()? {
        versions.push(Version {
            memory: memory(row, agent)?,
            state: state(row.get(COLUMN_COUNT)?)?,
            ended_at: row
                .get::<_, Option<i64>>(COLUMN_COUNT + 1)?
                .map(time)
                .transpose()?,
        });
    }
    Ok(versions)
}

/// The id of the row of the version with this lineage id.
fn id_of(db: &Connection, scope: i64, key: &MemoryKey, lineage: Uuid) -> Result<i64> {
    let sql = "SELECT id FROM records WHERE scope = ?1 AND key = ?2 AND lineage = ?3";
    let mut select = db.prepare_cached(sql)?;
    let values = params![scope, key.as_str(), lineage.as_bytes()];
    let id = select.query_row(values, |row| row.get(0)).optional()?;
    id.ok_or_else(Error::no_such_version)
}

/// The version that is to be restored, whatever its state.
pub(super) fn version(
    db: &Connection,
    scope: i64,
    grant: &Writing,
    request: &Restore,
) -> Result<Option<Memory>> {
    const SQL: &str = concat!(
        "SELECT ",
        columns!(),
        " FROM records r WHERE r.scope = ?1 AND r.key = ?2 AND r.level = ?3 AND r.version = ?4"
    );
    let Ok(number) = i64::try_from(request.version) else {
        return Ok(None);
    };
    let mut select = db.prepare_cached(SQL)?;
    let rank = grant.level().rank();
    let mut rows = select.query(params![scope, request.key.as_str(), rank, number])?;
    rows.next()?
        .map(|row| memory(row, grant.agent()))
        .transpose()
}

pub(super) fn state(number: u8) -> Result<VersionState> {
    match number {
        0 => Ok(VersionState::Live),
        1 => Ok(VersionState::Superseded),
        2 => Ok(VersionState::Deleted),
        _ => Err(unexpected("state")),
    }
}
