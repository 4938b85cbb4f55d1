//! What is derived from the records besides the index, put right before that is made anew: the schema's
//! own indexes, the tags that lists look for, and the order of the records.
//!
//! In a sound file it finds nothing to do. The levels that shadow a record, and tags that are missing, are
//! put right record by record, where the index is made (see `reindex`).

use rusqlite::types::Value;
use rusqlite::{Connection, Row, params, params_from_iter};

use super::index::set_doc;
use super::layout::{Doc, SCOPE_SHIFT, SEQ_SHIFT};
use super::pool::Pool;
use super::reindex::restart;
use super::rows::{risen, tags_from_json};
use super::schema;
use crate::error::Result;
use crate::search::is_sampled;

/// How many rows of tags one transaction looks at.
const TAGS: i64 = if cfg!(test) { 16 } else { 1_024 };

/// Mends what it can, and begins to make the index anew.
pub(super) fn run(pool: &Pool) -> Result<()> {
    pool.write(schema::complete)?;
    let mut after = None;
    loop {
        after = pool.write(|db| sweep_some(db, after.as_ref()))?;
        if after.is_none() {
            break;
        }
    }
    let scopes = pool.read(disordered)?;
    pool.write(|db| {
        restart(db)?;
        scopes.iter().try_for_each(|scope| renumber(db, *scope))
    })
}

/// The scope, tag, key and level of a row of `record_tags`.
type Place = [Value; 4];

/// Removes tags that no live record has. The last row that it looked at, if there are more.
fn sweep_some(db: &Connection, after: Option<&Place>) -> Result<Option<Place>> {
    let sql = "SELECT t.scope, t.tag, t.key, t.level, (
                   SELECT r.tags FROM records r WHERE r.id = t.record AND r.state = 0
                     AND r.scope = t.scope AND r.key = t.key AND r.level = t.level),
                   (+t.scope, +t.tag, +t.key, +t.level) > (?1, ?2, ?3, ?4)
               FROM record_tags t WHERE (t.scope, t.tag, t.key, t.level) > (?1, ?2, ?3, ?4)
               ORDER BY t.scope, t.tag, t.key, t.level LIMIT ?5";
    // Less than any text there is.
    let text = || Value::Text(String::new());
    let start = [i64::MIN.into(), text(), text(), i64::MIN.into()];
    let mut select = db.prepare_cached(sql)?;
    let count = [TAGS.into()];
    let from = after.unwrap_or(&start);
    let mut rows = select.query(params_from_iter(from.iter().chain(&count)))?;
    let (mut last, mut seen, mut wrong) = (None, 0, Vec::new());
    while let Some(row) = rows.next()? {
        let place = [row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?];
        risen(&false, row.get(5)?)?;
        if !has_tag(row)? {
            wrong.push(place.clone());
        }
        last = Some(place);
        seen += 1;
    }
    let sql = "DELETE FROM record_tags WHERE scope = ?1 AND tag = ?2 AND key = ?3 AND level = ?4";
    let mut delete = db.prepare_cached(sql)?;
    for place in wrong {
        delete.execute(params_from_iter(place))?;
    }
    Ok(last.filter(|_| seen == TAGS))
}

/// Whether the row's record has the row's tag.
fn has_tag(row: &Row<'_>) -> Result<bool> {
    let (Ok(tag), Ok(tags)) = (row.get_ref(1)?.as_str(), row.get_ref(4)?.as_str()) else {
        return Ok(false);
    };
    let tags = tags_from_json(tags).unwrap_or_default();
    Ok(tags.iter().any(|other| other.folded() == tag))
}

/// The scopes whose records have other sequence numbers than such that rise with their ids, or whose next
/// one isn't above them all.
fn disordered(db: &Connection) -> Result<Vec<i64>> {
    let seq = format!("((doc >> {SEQ_SHIFT}) & {})", Doc::MAX_SEQ);
    let sql = format!(
        "SELECT scope FROM (
             SELECT scope, doc >> {SCOPE_SHIFT} AS place, {seq} AS seq,
                    lag({seq}) OVER (PARTITION BY scope ORDER BY id) AS before
             FROM records INDEXED BY records_doc WHERE doc IS NOT NULL)
         WHERE place <> scope OR seq <= before
         UNION
         SELECT s.id FROM scopes s WHERE next_seq NOT BETWEEN 0 AND {}
         UNION
         SELECT s.id FROM scopes s JOIN records r INDEXED BY records_doc
             ON r.scope = s.id AND r.doc IS NOT NULL AND {seq} >= s.next_seq",
        Doc::MAX_SEQ + 1
    );
    let mut select = db.prepare(&sql)?;
    let scopes = select.query_map([], |row| row.get(0))?;
    Ok(scopes.collect::<rusqlite::Result<_>>()?)
}

/// Numbers the live records of a scope anew, in the order of their ids. The rest of their numbers is put
/// right when they are indexed.
fn renumber(db: &Connection, scope: i64) -> Result<()> {
    // Numbers that none of them may be about to get.
    let sql = "UPDATE records SET doc = id - 9223372036854775807 - 1
               WHERE scope = ?1 AND state = 0";
    db.execute(sql, [scope])?;
    let sql = "SELECT id, key FROM records WHERE scope = ?1 AND state = 0 ORDER BY id";
    let mut select = db.prepare(sql)?;
    let live = select.query_map([scope], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let live: Vec<(i64, String)> = live.collect::<rusqlite::Result<_>>()?;
    let mut next = 0;
    for (id, key) in live {
        let doc = Doc {
            scope,
            slot: 0,
            sampled: is_sampled(&key),
            seq: next,
            length: 0,
        };
        set_doc(db, id, doc.to_rowid())?;
        next += 1;
    }
    let sql = "UPDATE scopes SET next_seq = ?2 WHERE id = ?1";
    db.execute(sql, [scope, next])?;
    Ok(())
}

/// What lists look for by tag, of one live record: of it the row has what
/// [`Live::from_row`](super::index::Live::from_row) reads.
pub(super) fn tags(db: &Connection, row: &Row<'_>) -> Result<()> {
    let sql = "INSERT INTO record_tags (scope, tag, key, level, record)
               VALUES (?1, ?2, ?3, ?4, ?5)
               ON CONFLICT DO UPDATE SET record = excluded.record WHERE record <> excluded.record";
    let mut insert = db.prepare_cached(sql)?;
    let value = |column: usize| row.get::<_, Value>(column);
    for tag in tags_from_json(&row.get::<_, String>(6)?)? {
        let values = params![value(1)?, tag.folded(), value(5)?, value(2)?, value(0)?];
        insert.execute(values)?;
    }
    Ok(())
}
