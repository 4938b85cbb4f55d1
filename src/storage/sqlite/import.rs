//! Whole versions out of the file, and into it (clause 21).

use chrono::{DateTime, Utc};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::audit::append;
use super::index::{Index, IndexText};
use super::read::state;
use super::rows::{COLUMN_COUNT, columns, memory, micros, scope_id, time, unexpected};
use super::write::{
    End, Standing, insert, last_version, live_versions, make_scope, store_live, to_i64, withdraw,
};
use crate::error::Result;
use crate::record::MemoryKey;
use crate::search::analysis::Language;
use crate::storage::transfer::Place;
use crate::storage::{Imported, StoredVersion, Version, VersionState};

/// The columns of a whole version, and the tables that they are from.
macro_rules! versions {
    () => {
        concat!(
            "SELECT ",
            columns!(),
            ", r.state, r.ended_at, s.namespace, s.agent, r.id
             FROM records r CROSS JOIN scopes s ON s.id = r.scope"
        )
    };
}

/// Hands out every version, in the order of storing.
pub(super) fn versions(
    db: &Connection,
    each: &mut dyn FnMut(StoredVersion, u64) -> Result<()>,
) -> Result<()> {
    let total: i64 = db.query_row("SELECT count(*) FROM records", [], |row| row.get(0))?;
    let total = u64::try_from(total).map_err(|_| unexpected("count"))?;
    let mut select = db.prepare_cached(concat!(versions!(), " ORDER BY r.id"))?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        each(stored(row)?, total)?;
    }
    Ok(())
}

fn stored(row: &rusqlite::Row<'_>) -> Result<StoredVersion> {
    let text = |column: usize| row.get::<_, String>(COLUMN_COUNT + column);
    let agent = text(3)?.parse().map_err(|_| unexpected("agent id"))?;
    Ok(StoredVersion {
        namespace: text(2)?.parse().map_err(|_| unexpected("namespace"))?,
        version: Version {
            memory: memory(row, &agent)?,
            state: state(row.get(COLUMN_COUNT)?)?,
            ended_at: row
                .get::<_, Option<i64>>(COLUMN_COUNT + 1)?
                .map(time)
                .transpose()?,
        },
    })
}

/// The versions with what the index will hold of those that may be live.
pub(super) fn analyse(
    versions: &[StoredVersion],
    language: Language,
) -> Vec<(&StoredVersion, IndexText)> {
    let text = |version: &Version| match (version.state, &version.memory) {
        (VersionState::Live, m) => IndexText::of(language, m.key.as_str(), &m.tags, &m.content),
        _ => IndexText::default(),
    };
    versions
        .iter()
        .map(|new| (new, text(&new.version)))
        .collect()
}

pub(super) fn import(
    db: &Connection,
    at: DateTime<Utc>,
    versions: &[(&StoredVersion, IndexText)],
) -> Result<Vec<Imported>> {
    let index = Index::of(db)?;
    versions
        .iter()
        .map(|(new, text)| import_one(index, at, new, text))
        .collect()
}

fn import_one(
    index: Index<'_>,
    at: DateTime<Utc>,
    new: &StoredVersion,
    text: &IndexText,
) -> Result<Imported> {
    match known(index.db, new)? {
        None => admit(index, at, new, text),
        Some((_, known)) if !known.is_same(new) => Ok(Imported::Conflict),
        Some((id, known)) if new.ends(known.version.state) => end(index, at, new, id, &known),
        Some(_) => Ok(Imported::Unchanged),
    }
}

/// What is there under the version's lineage id, and its row's id.
fn known(db: &Connection, new: &StoredVersion) -> Result<Option<(i64, StoredVersion)>> {
    let sql = concat!(versions!(), " WHERE r.lineage = ?1 ORDER BY r.id LIMIT 1");
    let mut select = db.prepare_cached(sql)?;
    let mut rows = select.query([new.version.memory.lineage_id.as_bytes()])?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    Ok(Some((row.get(COLUMN_COUNT + 4)?, stored(row)?)))
}

/// Stores a version that wasn't there.
fn admit(
    index: Index<'_>,
    at: DateTime<Utc>,
    new: &StoredVersion,
    text: &IndexText,
) -> Result<Imported> {
    let db = index.db;
    let memory = &new.version.memory;
    let scope = make_scope(db, &new.namespace, &memory.agent)?;
    let place = place(db, scope, &new.version)?;
    let version = place.admit(&new.version, at);
    let memory = &version.memory;
    match ended(version.state) {
        None => {
            let seq = index.next_seq(scope)?;
            let live = live_versions(db, scope, &memory.key)?;
            store_live(index, scope, seq, memory, text, &live, micros(at))?;
        }
        Some(state) => {
            let at = version.ended_at.map(micros);
            insert(db, scope, memory, Standing::Ended { state, at })?;
        }
    }
    append(db, &new.facts(memory.version, at))?;
    Ok(Imported::Stored {
        version: memory.version,
    })
}

/// Ends a version that is live here as it has ended there.
fn end(
    index: Index<'_>,
    at: DateTime<Utc>,
    new: &StoredVersion,
    id: i64,
    known: &StoredVersion,
) -> Result<Imported> {
    let db = index.db;
    let memory = &known.version.memory;
    let scope = scope_id(db, &known.namespace, &memory.agent)?;
    let scope = scope.ok_or_else(|| unexpected("scope"))?;
    let state = ended(new.version.state).ok_or_else(|| unexpected("state"))?;
    let key: &MemoryKey = &memory.key;
    let live = live_versions(db, scope, key)?;
    let old = live.iter().find(|live| live.id == id);
    let old = old.ok_or_else(|| unexpected("state"))?;
    let ended_at = micros(new.version.ended_at.unwrap_or(at));
    withdraw(index, scope, key, old, &live, state, ended_at)?;
    append(db, &new.facts(memory.version, at))?;
    Ok(Imported::Ended)
}

fn ended(state: VersionState) -> Option<End> {
    match state {
        VersionState::Live => None,
        VersionState::Superseded => Some(End::Superseded),
        VersionState::Deleted => Some(End::Deleted),
    }
}

/// What is under the version's key at its level.
fn place(db: &Connection, scope: i64, new: &Version) -> Result<Place> {
    let memory = &new.memory;
    let (key, rank) = (memory.key.as_str(), memory.classification.rank());
    let highest = last_version(db, scope, &memory.key, rank)?;
    if highest == 0 {
        return Ok(Place::default());
    }
    let sql = "SELECT updated_at FROM records
               WHERE scope = ?1 AND key = ?2 AND level = ?3 AND state = 0";
    let mut select = db.prepare_cached(sql)?;
    let live: Option<i64> = select
        .query_row(params![scope, key, rank], |row| row.get(0))
        .optional()?;
    Ok(Place {
        highest,
        is_taken: is_taken(db, scope, new)?,
        live: live.map(time).transpose()?,
        deleted: deleted(db, scope, new, highest)?,
    })
}

fn is_taken(db: &Connection, scope: i64, new: &Version) -> Result<bool> {
    let memory = &new.memory;
    let sql = "SELECT EXISTS (SELECT 1 FROM records
               WHERE scope = ?1 AND key = ?2 AND level = ?3 AND version = ?4)";
    let mut select = db.prepare_cached(sql)?;
    let rank = memory.classification.rank();
    let number = to_i64(memory.version)?;
    let parameters = params![scope, memory.key.as_str(), rank, number];
    Ok(select.query_row(parameters, |row| row.get(0))?)
}

/// When a version was deleted last; asked for only where it counts, since it reads them all.
fn deleted(
    db: &Connection,
    scope: i64,
    new: &Version,
    highest: u64,
) -> Result<Option<DateTime<Utc>>> {
    let memory = &new.memory;
    if new.state != VersionState::Live || memory.version > highest {
        return Ok(None);
    }
    let sql = "SELECT max(ended_at) FROM records
               WHERE scope = ?1 AND key = ?2 AND level = ?3 AND state = 2";
    let mut select = db.prepare_cached(sql)?;
    let parameters = params![scope, memory.key.as_str(), memory.classification.rank()];
    let last: Option<i64> = select.query_row(parameters, |row| row.get(0))?;
    last.map(time).transpose()
}
