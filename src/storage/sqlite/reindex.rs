//! Making the index anew: after a change of the analysis, or because the host asks for it.
//!
//! # How
//! `meta` has two numbers: `analysis`, the version of the analysis that the index is of, and, while the
//! index is made anew, `reindexed`, an id. One rule holds in every transaction: **the index holds
//! exactly the live records whose id is at most `reindexed`**, or all of them if there is no such
//! number.
//!
//! - A first transaction sets `analysis` to the version of this release, `reindexed` to [`NOTHING`] and
//!   all counts of the index to none, so that no search looks into it any more.
//! - Then come [`step`]s, each in a short transaction that takes up where the last one stopped,
//!   whoever did that. First they empty the index, some blocks at a time; then they go through the
//!   records by id, some at a time, index the live ones and move `reindexed`. The last one removes it.
//!   Between two steps is a pause, since SQLite's writers don't queue: one that waits tries again from
//!   time to time, and needs to find a gap.
//! - A save or a delete reads both numbers first. It touches the index only for records that the index
//!   holds. A new record's id is greater than any other, so it is indexed when its turn comes. The
//!   sequence number in `records.doc` stays as it is; only the length there may change.
//! - A search takes from the index what that holds, and analyses the rest [itself](super::unindexed).
//! - `open` returns when the index is whole. Whoever opens the file meanwhile takes part.
//!
//! So a kill at any moment leaves a state that the next opener goes on from, two processes share the
//! work without doing any of it twice, and reads and writes of this release are right throughout.
//!
//! An *older* release that has the file open meets an `analysis` greater than its own in its next
//! search or write, and answers [`NewerVersion`](crate::ErrorKind::NewerVersion): it can neither find
//! by the new terms nor remove them. Its reads by key and its lists go on.
//!
//! # What was rejected
//! - *One transaction for everything*: nobody else could write until it is done, for minutes at a million
//!   memories, and a kill would lose it all.
//! - *A second index beside the first, and a swap at the end*: for a changed analysis it gives nothing,
//!   since no release can both search the old index (queries of the new analysis don't fit) and keep it
//!   up (FTS5 removes a row only by the terms it was added with). It takes twice the space, and a save
//!   has to keep both up.
//! - *Replacing each record's terms in place*: needs the old terms, see above.
//! - *Indexing in the background after `open` has returned*: needs a thread of our own, and makes the
//!   first searches slow without saying so; the host can do as much by opening in a thread.
//! - *Refusing searches meanwhile*: an agent would take it for "I remember nothing".
//! - *Emptying the index by FTS5's `delete-all` or `DROP TABLE` alone*: with `secure_delete` it writes every page of the
//!   index in one transaction.

use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, Row, params};

use super::index::{Index, Live, NOTHING, State, add};
use super::pool::Pool;
use super::rows::{risen, unexpected};
use super::schema::{TERMS, set_meta};
use super::{OnReindex, Reindexing, mend, watch};
use crate::error::Result;
use crate::search::analysis;

/// How many blocks of the index, of about 4 kB each, one step removes. Few in tests, for many steps.
const BLOCKS: i64 = if cfg!(test) { 16 } else { 256 };

/// How many records, of any state, one step goes through.
pub(super) const RECORDS: i64 = if cfg!(test) { 8 } else { 128 };

/// How many bytes of keys, tags and contents one step goes through; but at least one record.
const BYTES: usize = 256 * 1_024;

/// The longest pause after a step.
const PAUSE: Duration = Duration::from_millis(25);

/// Begins anew, whatever the index is now.
pub(super) fn restart(db: &Connection) -> Result<()> {
    set_meta(db, "analysis", analysis::VERSION.into())?;
    set_meta(db, "reindexed", NOTHING)?;
    db.execute("DELETE FROM index_stats", [])?;
    db.execute("UPDATE scopes SET indexed = 0 WHERE indexed <> 0", [])?;
    Ok(())
}

/// Makes the index anew from the start, also one that is just being made: what it holds so far may be
/// damaged. How many records it holds.
pub(super) fn run(pool: &Pool, on_reindex: &OnReindex) -> Result<u64> {
    anew(pool, on_reindex)?;
    pool.read(|db| number(db, "SELECT count(*) FROM records WHERE state = 0"))
}

/// Mends what else is derived from the records, and makes the index anew from the start.
pub(super) fn anew(pool: &Pool, on_reindex: &OnReindex) -> Result<()> {
    pool.read(|db| State::read(db)?.refuse_newer())?;
    mend::run(pool)?;
    finish(pool, on_reindex)
}

/// Does what is left to do.
pub(super) fn finish(pool: &Pool, on_reindex: &OnReindex) -> Result<()> {
    loop {
        let start = Instant::now();
        let (progress, is_whole) = pool.write(step)?;
        let pause = (start.elapsed() / 2).min(PAUSE);
        on_reindex.tell(progress);
        if is_whole {
            return Ok(());
        }
        thread::sleep(pause);
    }
}

/// Does a part of it: how far it has come, and whether the index is whole.
pub(super) fn step(db: &Connection) -> Result<(Reindexing, bool)> {
    let index = Index::of(db)?;
    let reindexed = if index.is_whole() {
        None
    } else if index.held() == NOTHING {
        Some(remove_some(db)?)
    } else {
        index_some(index)?
    };
    if let Some(id) = reindexed {
        set_meta(db, "reindexed", id)?;
    } else {
        db.execute("DELETE FROM meta WHERE name = 'reindexed'", [])?;
    }
    let total = number(db, "SELECT ifnull(max(id), 0) FROM records")?;
    let done = reindexed.map_or(total, |id| u64::try_from(id).unwrap_or(0));
    Ok((Reindexing { done, total }, reindexed.is_none()))
}

/// Removes blocks of the index, and at last makes it anew, empty, with the options that it must have.
fn remove_some(db: &Connection) -> Result<i64> {
    // Any of its tables may be lost.
    db.execute_batch(
        "CREATE TABLE IF NOT EXISTS terms_data (id INTEGER PRIMARY KEY, block BLOB);
         CREATE TABLE IF NOT EXISTS terms_idx (
             segid, term, pgno, PRIMARY KEY (segid, term)) WITHOUT ROWID;
         CREATE TABLE IF NOT EXISTS terms_config (k PRIMARY KEY, v) WITHOUT ROWID;",
    )?;
    let sql = "DELETE FROM terms_data WHERE id IN (SELECT id FROM terms_data LIMIT ?1)";
    if db.execute(sql, [BLOCKS])? > 0 {
        return Ok(NOTHING);
    }
    // FTS5 doesn't even remove a table whose options it can't read.
    db.execute_batch(
        "DELETE FROM terms_config;
         INSERT INTO terms_config (k, v) VALUES ('version', 4);
         DROP TABLE IF EXISTS terms;
         DROP TABLE IF EXISTS terms_data;
         DROP TABLE IF EXISTS terms_idx;
         DROP TABLE IF EXISTS terms_config;",
    )?;
    db.execute_batch(TERMS)?;
    watch::keep(db)?;
    Ok(0)
}

/// Indexes live records after those that it holds; returns the id up to which it came, if there are more.
fn index_some(index: Index<'_>) -> Result<Option<i64>> {
    // With the level that does shadow each, whatever the row says.
    const SQL: &str = "SELECT id, scope, level, CASE state WHEN 0 THEN ifnull((
                   SELECT min(h.level) FROM records h
                   WHERE h.scope = r.scope AND h.key = r.key AND h.state = 0
                     AND h.level > r.level), 4) END,
               doc, key, tags, content, state
               FROM records r WHERE id > ?1 ORDER BY id LIMIT ?2";
    let (db, after) = (index.db, index.held());
    let mut select = db.prepare_cached(SQL)?;
    let mut rows = select.query([after, RECORDS])?;
    let (mut records, mut bytes, mut last) = (0, 0, after);
    while let Some(row) = rows.next()? {
        last = risen(&last, row.get(0)?)?;
        bytes += size(row)?;
        if row.get::<_, u8>(8)? == 0 {
            let live = Live::from_row(row, index.language())?;
            add(db, live.doc, &live.text)?;
            set_place(db, &live, row.get(3)?)?;
            mend::tags(db, row)?;
        }
        records += 1;
        if bytes >= BYTES {
            return Ok(Some(last));
        }
    }
    Ok((records == RECORDS).then_some(last))
}

/// Keeps where the index has the record.
fn set_place(db: &Connection, live: &Live, shadow: u8) -> Result<()> {
    let sql = "UPDATE records SET shadow = ?2, doc = ?3 WHERE id = ?1";
    let values = params![live.id, shadow, live.doc.to_rowid()];
    db.prepare_cached(sql)?.execute(values)?;
    Ok(())
}

/// The bytes of the record's texts.
fn size(row: &Row<'_>) -> Result<usize> {
    let texts = (5..8).map(|column| {
        let text = row.get_ref(column)?.as_bytes();
        Ok(text.map_err(|_| unexpected("text"))?.len())
    });
    texts.sum()
}

fn number(db: &Connection, sql: &str) -> Result<u64> {
    let number: i64 = db.prepare_cached(sql)?.query_row([], |row| row.get(0))?;
    number.try_into().map_err(|_| unexpected("number"))
}
