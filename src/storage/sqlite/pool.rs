//! The connections: one that writes, and a few that read.

use std::path::PathBuf;
use std::sync::{Condvar, Mutex};

use rusqlite::Connection;

use super::{SqliteOptions, open};
use crate::error::Result;
use crate::sync::unpoisoned;

/// The most connections that read at once. More readers wait for one.
const READERS: usize = 8;

/// A file's connections.
#[derive(Debug)]
pub(super) struct Pool {
    path: PathBuf,
    options: SqliteOptions,
    writer: Mutex<Connection>,
    readers: Mutex<Readers>,
    returned: Condvar,
}

#[derive(Debug, Default)]
struct Readers {
    idle: Vec<Connection>,
    open: usize,
    waiting: usize,
}

impl Pool {
    pub(super) fn new(path: PathBuf, options: SqliteOptions, writer: Connection) -> Self {
        let (writer, readers) = (Mutex::new(writer), Mutex::default());
        Self {
            path,
            options,
            writer,
            readers,
            returned: Condvar::new(),
        }
    }

    /// Runs `work` in one transaction, which is committed if it succeeds.
    pub(super) fn write<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let db = unpoisoned(self.writer.lock());
        let transaction = Transaction::begin(&db, "BEGIN IMMEDIATE")?;
        let result = work(&db)?;
        transaction.commit()?;
        Ok(result)
    }

    /// Runs `work`, which may be several statements, on one snapshot of the file.
    pub(super) fn snapshot<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        self.read(|db| {
            let transaction = Transaction::begin(db, "BEGIN")?;
            let result = work(db)?;
            transaction.commit()?;
            Ok(result)
        })
    }

    /// Runs `work`, which is one statement and so sees one snapshot anyway.
    pub(super) fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let reader = self.reader()?;
        work(reader.db.as_ref().ok_or_else(no_connection)?)
    }

    fn reader(&self) -> Result<Reader<'_>> {
        let mut readers = unpoisoned(self.readers.lock());
        loop {
            if let Some(db) = readers.idle.pop() {
                return Ok(Reader {
                    pool: self,
                    db: Some(db),
                });
            }
            if readers.open < READERS {
                break;
            }
            readers.waiting += 1;
            readers = unpoisoned(self.returned.wait(readers));
            readers.waiting -= 1;
        }
        readers.open += 1;
        drop(readers);
        // From here on the reader's drop keeps the count right, also if it can't be opened.
        let mut reader = Reader {
            pool: self,
            db: None,
        };
        let db = open::connect(&self.path, &self.options)?;
        db.pragma_update(None, "query_only", "ON")?;
        reader.db = Some(db);
        Ok(reader)
    }
}

fn no_connection() -> crate::Error {
    crate::Error::internal("the pool gave out a reader without its connection")
}

/// An open transaction, which is rolled back unless it is committed: also where its work panics.
///
/// Unlike rusqlite's own it keeps its statements prepared.
struct Transaction<'db>(&'db Connection);

impl<'db> Transaction<'db> {
    fn begin(db: &'db Connection, begin: &str) -> Result<Self> {
        db.prepare_cached(begin)?.execute([])?;
        Ok(Self(db))
    }

    fn commit(self) -> Result<()> {
        self.0.prepare_cached("COMMIT")?.execute([])?;
        Ok(())
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if self.0.is_autocommit() {
            return;
        }
        // Fails only where SQLite has rolled back by itself.
        drop(self.0.execute_batch("ROLLBACK"));
    }
}

/// A connection on loan.
struct Reader<'p> {
    pool: &'p Pool,
    db: Option<Connection>,
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        let mut readers = unpoisoned(self.pool.readers.lock());
        match self.db.take() {
            Some(db) => readers.idle.push(db),
            None => readers.open -= 1,
        }
        let wanted = readers.waiting > 0;
        drop(readers);
        // Asked first, since waking no one is a system call, too.
        if wanted {
            self.pool.returned.notify_one();
        }
    }
}
