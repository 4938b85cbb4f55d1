//! Purge and erasure: removing versions so that no byte of them is left.
//!
//! # How
//! The versions are looked for by a reader and removed in short transactions, each with its entry in the
//! audit, so other writers find their turn. SQLite and FTS5 overwrite what they remove
//! (`secure_delete` of both is on), but that isn't all there is:
//!
//! - FTS5 keeps the first term of each block of the index, or its beginning, in `terms_idx`, and leaves it
//!   there when the term itself is removed. [`trim_some`] replaces what is no beginning of a term in the
//!   index by the next term that is.
//! - Where SQLite balances a tree it moves rows from one page to another and doesn't overwrite the place
//!   where they were. What is removed later may so have left a copy in a page that nobody looks at. There
//!   is no way to a page but through SQLite, so the file is rewritten by `VACUUM`.
//! - The pages of before are in the WAL until they are in the file, and their bytes until it is emptied.
//!
//! So after the last transaction come these three. `meta` says whether they are owed; the next call does
//! what a killed one left.
//!
//! # What was rejected
//! - *FTS5's `optimize` for the first*: it writes the whole index in one transaction.
//! - *Rows that are emptied and stay, for the second*: keeps them from being moved, but not those of the
//!   tags and of the index.

use std::thread;
use std::time::{Duration, Instant};

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, params, params_from_iter};

use super::Sqlite;
use super::audit::append;
use super::index::{Index, has_options};
use super::reindex;
use super::rows::{micros, risen, unexpected};
use super::schema::set_meta;
use super::write::end_live;
use crate::error::{Error, Result};
use crate::policy::HostGrant;
use crate::storage::{Erase, Erased, Erasure};

/// How many versions one transaction removes at most. To overwrite their terms takes a millisecond or two
/// each. Fewer in tests, for many transactions.
const VERSIONS: usize = if cfg!(test) { 8 } else { 32 };

/// How many bytes of contents one transaction removes; but at least one version.
const BYTES: usize = 256 * 1_024;

/// How many rows of `terms_idx` one transaction looks at.
const BLOCKS: i64 = if cfg!(test) { 16 } else { 512 };

/// The longest pause after a transaction. SQLite's writers don't queue: one that waits tries again from
/// time to time, and needs to find a gap.
const PAUSE: Duration = Duration::from_millis(25);

pub(super) fn run(store: &Sqlite, grant: &HostGrant, request: &Erasure) -> Result<Erased> {
    let versions = match Wanted::of(grant, request) {
        Some(wanted) => remove_all(store, grant, request, &wanted)?,
        None => 0,
    };
    if versions == 0 {
        let facts = request.facts(grant, 0)?;
        store.pool.write(|db| append(db, &facts))?;
    }
    let complete = clean(store)?;
    Ok(Erased { versions, complete })
}

/// Which rows of `records` are to be removed.
struct Wanted {
    /// A condition in SQL, with `?1` and so on for the values.
    filter: &'static str,
    values: Vec<Value>,
    /// Whether an index leads to them. Otherwise they are looked for by id.
    indexed: bool,
}

impl Wanted {
    /// `None` if the request names nobody.
    fn of(grant: &HostGrant, request: &Erasure) -> Option<Self> {
        let text = |text: &str| Value::Text(text.to_owned());
        let namespace = text(grant.namespace().as_str());
        let agent = grant.agent().map(|agent| text(agent.as_str()));
        let (filter, values, indexed) = match &request.what {
            Erase::Key(key) => (
                "scope = (SELECT id FROM scopes WHERE namespace = ?1 AND agent = ?2
                          AND namespace <> 'session')
                 AND key = ?3",
                vec![namespace, agent?, text(key.as_str())],
                true,
            ),
            Erase::Agent => (
                "scope IN (SELECT id FROM scopes WHERE agent = ?1 AND namespace <> 'session')",
                vec![agent?],
                true,
            ),
            Erase::Session(session) => (
                "session = ?1
                 AND scope NOT IN (SELECT id FROM scopes WHERE namespace = 'session')",
                vec![text(session.as_str())],
                false,
            ),
            Erase::Ended { before } => (
                "CASE state WHEN 0 THEN expires_at <= ?3 AND expires_at < ?4
                            ELSE ended_at < ?4 END
                 AND scope IN (SELECT id FROM scopes WHERE namespace = ?1
                               AND namespace <> 'session' AND (?2 IS NULL OR agent = ?2))",
                vec![
                    namespace,
                    agent.unwrap_or(Value::Null),
                    micros(request.now).into(),
                    micros(*before).into(),
                ],
                false,
            ),
        };
        Some(Self {
            filter,
            values,
            indexed,
        })
    }

    /// Some of them, of those after an id and up to another.
    fn find(&self, db: &Connection, after: i64, last: i64) -> Result<Vec<i64>> {
        let at = self.values.len();
        let (filter, after_at, last_at, count) = (self.filter, at + 1, at + 2, VERSIONS);
        // Those that were found are removed before the next are looked for, so where an index leads to
        // them it can begin anew each time. The `+` keeps SQLite from going by id there.
        let sql = if self.indexed {
            format!(
                "SELECT id FROM records WHERE {filter} AND +id > ?{after_at} AND +id <= ?{last_at}
                 LIMIT {count}"
            )
        } else {
            format!(
                "SELECT id FROM records NOT INDEXED WHERE id > ?{after_at} AND id <= ?{last_at}
                 AND {filter} ORDER BY id LIMIT {count}"
            )
        };
        let mut select = db.prepare_cached(&sql)?;
        let range = [after.into(), last.into()];
        let values = params_from_iter(self.values.iter().chain(&range));
        let ids = select.query_map(values, |row| row.get(0))?;
        Ok(ids.collect::<rusqlite::Result<_>>()?)
    }

    /// Whether the row of this id is still one of them.
    fn has(&self, db: &Connection, id: i64) -> Result<bool> {
        let (filter, at) = (self.filter, self.values.len() + 1);
        let sql = format!("SELECT 1 FROM records WHERE id = ?{at} AND {filter}");
        let id = [id.into()];
        let values = params_from_iter(self.values.iter().chain(&id));
        Ok(db.prepare_cached(&sql)?.exists(values)?)
    }
}

/// Removes all that there are now. How many they were.
fn remove_all(
    store: &Sqlite,
    grant: &HostGrant,
    request: &Erasure,
    wanted: &Wanted,
) -> Result<u64> {
    let sql = "SELECT ifnull(max(id), 0) FROM records";
    let last: i64 = store
        .pool
        .read(|db| Ok(db.query_row(sql, [], |row| row.get(0))?))?;
    let (mut versions, mut after, mut before) = (0, -1, Vec::new());
    loop {
        let found = store.pool.read(|db| wanted.find(db, after, last))?;
        let Some(&end) = found.last() else {
            return Ok(versions);
        };
        // An index begins anew each time, so what was found once more couldn't be removed.
        if found == before {
            return Err(Error::corrupt("an index of the store's records is damaged"));
        }
        let mut rest = found.as_slice();
        while !rest.is_empty() {
            let start = Instant::now();
            let (seen, removed) = store.with_sound_index(|| {
                store
                    .pool
                    .write(|db| remove_some(db, grant, request, wanted, rest))
            })?;
            versions += removed;
            rest = rest.get(seen..).unwrap_or_default();
            thread::sleep((start.elapsed() / 2).min(PAUSE));
        }
        if !wanted.indexed {
            after = risen(&after, end)?;
        }
        before = found;
    }
}

/// Removes some of these rows: how many it has looked at, and how many it has removed.
fn remove_some(
    db: &Connection,
    grant: &HostGrant,
    request: &Erasure,
    wanted: &Wanted,
    ids: &[i64],
) -> Result<(usize, u64)> {
    let index = Index::of(db)?;
    let (mut seen, mut removed, mut bytes) = (0, 0, 0);
    for &id in ids {
        seen += 1;
        if wanted.has(db, id)? {
            bytes += remove(index, id, micros(request.now))?;
            removed += 1;
        }
        if bytes >= BYTES {
            break;
        }
    }
    if removed > 0 {
        set_meta(db, REMOVALS, number(db, REMOVALS)?.wrapping_add(1))?;
        append(db, &request.facts(grant, removed)?)?;
    }
    Ok((seen, removed))
}

/// Removes one row and all that was derived from it. The bytes of its content.
fn remove(index: Index<'_>, id: i64, now: i64) -> Result<usize> {
    let db = index.db;
    let sql = "SELECT scope, level, key, version, octet_length(content), state
               FROM records WHERE id = ?1";
    let mut select = db.prepare_cached(sql)?;
    let row = |row: &rusqlite::Row<'_>| {
        let (scope, level, key): (i64, u8, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let (version, bytes, state): (i64, i64, u8) = (row.get(3)?, row.get(4)?, row.get(5)?);
        Ok((scope, level, key, version, bytes, state))
    };
    let (scope, level, key, version, bytes, state) = select.query_row([id], row)?;
    if state == 0 {
        let key = key.parse().map_err(|_| unexpected("key"))?;
        end_live(index, scope, &key, id, now)?;
    }
    db.prepare_cached("DELETE FROM records WHERE id = ?1")?
        .execute([id])?;
    db.prepare_cached("DELETE FROM reads WHERE record = ?1")?
        .execute([id])?;
    // Unless a later version keeps the number.
    let sql = "INSERT INTO removed_versions (scope, level, key, version)
               SELECT ?1, ?2, ?3, ?4 WHERE NOT EXISTS (
                   SELECT 1 FROM records
                   WHERE scope = ?1 AND level = ?2 AND key = ?3 AND version > ?4)
               ON CONFLICT (scope, key, level)
               DO UPDATE SET version = max(version, excluded.version)";
    db.prepare_cached(sql)?
        .execute(params![scope, level, key, version])?;
    usize::try_from(bytes).map_err(|_| unexpected("length"))
}

/// The numbers in `meta` of how many transactions removed something, and after how many the file was
/// cleaned last.
const REMOVALS: &str = "removals";
const CLEANED: &str = "cleaned";

fn number(db: &Connection, name: &str) -> Result<i64> {
    let sql = "SELECT ifnull((SELECT value FROM meta WHERE name = ?1), 0)";
    Ok(db
        .prepare_cached(sql)?
        .query_row([name], |row| row.get(0))?)
}

/// Whether removed versions may have left something. Where the numbers are damaged the file is cleaned once
/// more than it need be.
pub(super) fn is_owed(db: &Connection) -> Result<bool> {
    Ok(number(db, REMOVALS)? != number(db, CLEANED)?)
}

/// Whether the file is said to have been cleaned after more than was removed.
pub(super) fn is_ahead(db: &Connection) -> Result<bool> {
    let (removals, cleaned) = (number(db, REMOVALS)?, number(db, CLEANED)?);
    Ok(cleaned > removals || removals < 0)
}

/// Removes what removed versions have left. Whether nothing of them is left in the WAL either.
fn clean(store: &Sqlite) -> Result<bool> {
    let removals = |db: &Connection| Ok((is_owed(db)?, number(db, REMOVALS)?));
    let (is_owed, removals) = store.pool.snapshot(removals)?;
    if is_owed {
        store.with_sound_index(|| trim(store))?;
        store.pool.vacuum()?;
        // Others may have removed more meanwhile, or have cleaned after that.
        store.pool.write(|db| {
            let (cleaned, all) = (number(db, CLEANED)?, number(db, REMOVALS)?);
            let is_later = (removals..=all).contains(&cleaned);
            set_meta(db, CLEANED, if is_later { cleaned } else { removals })
        })?;
    }
    store.pool.empty_wal()
}

/// Trims all of `terms_idx`. An index that was not to overwrite what it removed is made anew first.
fn trim(store: &Sqlite) -> Result<()> {
    let state = |db: &Connection| Ok((Index::of(db)?.is_whole(), has_options(db)?));
    let (is_whole, has_options) = store.pool.snapshot(state)?;
    if !has_options {
        store.pool.write(reindex::restart)?;
    }
    if !is_whole || !has_options {
        reindex::finish(&store.pool, &store.options.on_reindex)?;
    }
    let mut after = (-1, Vec::new());
    loop {
        let start = Instant::now();
        let next = store.pool.write(|db| trim_some(db, &after))?;
        let Some(next) = next else {
            return Ok(());
        };
        after = risen(&after, next)?;
        thread::sleep((start.elapsed() / 2).min(PAUSE));
    }
}

/// The segment and the term of a row of `terms_idx`. A term begins with a byte that says it is one of the
/// index itself: FTS5 has others for indexes of prefixes, of which ours has none.
type Block = (i64, Vec<u8>);

const OWN: u8 = b'0';

/// Trims the rows of `terms_idx` after this one, if they are of removed terms. The last that was looked
/// at, if there are more.
///
/// A block's row holds some text that is greater than the last term of the block before and not greater
/// than the first of this one. If no term in the index begins with it, the next greater term that there is
/// in the index is such a text, too.
fn trim_some(db: &Connection, after: &Block) -> Result<Option<Block>> {
    if !Index::of(db)?.is_whole() {
        return Ok(None);
    }
    let sql = "SELECT segid, term FROM terms_idx WHERE (segid, term) > (?1, ?2)
               ORDER BY segid, term LIMIT ?3";
    let mut select = db.prepare_cached(sql)?;
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let blocks: Vec<Block> = select
        .query_map(params![after.0, after.1, BLOCKS], row)?
        .collect::<rusqlite::Result<_>>()?;
    db.execute_batch(VOCABULARY)?;
    let mut next =
        db.prepare_cached("SELECT term FROM temp.vocabulary WHERE term >= ?1 LIMIT 1")?;
    for (segment, held) in &blocks {
        let Some((&OWN, beginning)) = held.split_first() else {
            continue;
        };
        // Cut short within a letter: the letter's other bytes are no text.
        let from = String::from_utf8_lossy(valid(beginning)).into_owned();
        let term = next.query_row([&from], |row| row.get::<_, String>(0));
        match term.optional()? {
            Some(term) if term.as_bytes().starts_with(valid(beginning)) => (),
            Some(term) => replace(db, *segment, held, Some(&term))?,
            None => replace(db, *segment, held, None)?,
        }
    }
    let is_last = i64::try_from(blocks.len()).unwrap_or(i64::MAX) < BLOCKS;
    Ok(blocks.into_iter().next_back().filter(|_| !is_last))
}

/// Puts a term in the place of what the row has; removes the row if there is none, since its block then
/// has no term either.
fn replace(db: &Connection, segment: i64, held: &[u8], term: Option<&str>) -> Result<()> {
    let Some(term) = term else {
        let sql = "DELETE FROM terms_idx WHERE segid = ?1 AND term = ?2";
        db.prepare_cached(sql)?.execute(params![segment, held])?;
        return Ok(());
    };
    let mut trimmed = vec![OWN];
    trimmed.extend_from_slice(term.as_bytes());
    let sql = "UPDATE terms_idx SET term = ?3 WHERE segid = ?1 AND term = ?2";
    db.prepare_cached(sql)?
        .execute(params![segment, held, trimmed])?;
    Ok(())
}

/// The terms in the index, in their order.
pub(super) const VOCABULARY: &str = "CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary
                                     USING fts5vocab('main', 'terms', 'instance')";

/// The part of the bytes that is text.
fn valid(bytes: &[u8]) -> &[u8] {
    let end = str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len);
    bytes.get(..end).unwrap_or_default()
}
