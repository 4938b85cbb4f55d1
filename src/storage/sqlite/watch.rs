//! A second account of the index, by which a search notices that something of it is lost.
//!
//! FTS5 finds its way to a term by `terms_idx`, and learns from one row of `terms_data`, the *structure*,
//! which segments there are. Where rows of the first are missing, or the second is another, it finds less
//! and says nothing. So `index_facts` has how many rows `terms_idx` must have, and a copy of the structure.
//!
//! - Each search compares them. SQLite counts rows by the page, so that costs little.
//! - A transaction that writes brings them up to date before its commit, but only if they were right when it
//!   began: what another program or a bad sector did to the tables stays in sight.
//! - What is changed within a row of `terms_idx` or a block of `terms_data`, and isn't so wrong that FTS5
//!   notices, only [`check`](super::check) finds, which reads everything; or a search that finds nothing
//!   at all for it, which asks for what it must find.
//!
//! How many records of a scope the index has, `index_stats` says by slot and `scopes` in sum; a search
//! compares these, too.
//!
//! # What was rejected
//! - *Triggers on the tables of FTS5*: a statement with one opens a savepoint, at which FTS5 writes out
//!   what it holds, by that statement.
//! - *A look at each way that a search takes*: two more seeks for each term and segment.

use std::cell::Cell;

use rusqlite::{Connection, OptionalExtension as _};

use super::error::index_damaged;
use super::index::State;
use crate::error::Result;

/// What the tables of the index hold now, as a row of `index_facts`.
macro_rules! facts {
    () => {
        "SELECT 0, (SELECT count(*) FROM terms_idx), block FROM terms_data WHERE id = 10"
    };
}

pub(super) use facts;

/// What the connection that writes knows of the facts.
#[derive(Debug, Default)]
pub(super) struct Watch {
    /// Of which state of the file they are known to be right, but for what this connection wrote.
    known: Cell<Option<i64>>,
}

impl Watch {
    /// Looks at the facts, at the beginning of a transaction.
    pub(super) fn begin(&self, db: &Connection) -> Result<()> {
        let mut select = db.prepare_cached("PRAGMA data_version")?;
        let version = select.query_row([], |row| row.get(0))?;
        if self.known.get() != Some(version) {
            let is_right = matches!(is_right(db), Ok(true));
            self.known.set(Some(version).filter(|_| is_right));
        }
        Ok(())
    }

    /// Brings the facts up to date before the commit, if they were right before.
    pub(super) fn end(&self, db: &Connection) -> Result<()> {
        match self.known.get() {
            Some(_) => keep(db),
            None => Ok(()),
        }
    }
}

/// Makes the facts those of the index as it is now.
pub(super) fn keep(db: &Connection) -> Result<()> {
    // At a savepoint FTS5 writes out what it holds; it would do so at the commit, too late.
    db.prepare_cached("SAVEPOINT facts")?.execute([])?;
    db.prepare_cached("RELEASE facts")?.execute([])?;
    let sql = concat!(
        "REPLACE INTO index_facts SELECT * FROM (",
        facts!(),
        ") EXCEPT SELECT * FROM index_facts"
    );
    db.prepare_cached(sql)?.execute([])?;
    Ok(())
}

/// Refuses an index that isn't what the facts say.
pub(super) fn refuse_changed(db: &Connection) -> Result<()> {
    let is_emptied = State::read(db)?.held().is_none();
    if is_emptied || is_right(db)? {
        return Ok(());
    }
    Err(index_damaged())
}

/// Whether the facts are right.
pub(super) fn is_right(db: &Connection) -> Result<bool> {
    let sql = "SELECT ways = (SELECT count(*) FROM terms_idx)
                      AND structure = (SELECT block FROM terms_data WHERE id = 10)
               FROM index_facts";
    let mut select = db.prepare_cached(sql)?;
    let answer = select.query_row([], |row| row.get::<_, Option<bool>>(0));
    Ok(answer.optional()?.flatten() == Some(true))
}
