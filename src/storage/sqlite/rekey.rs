//! Another key for a store, or its first, or none.
//!
//! 1. The store is locked against everybody, and its WAL is brought into it, as for a backup that takes its
//!    place. That fails where anybody has it open, so no connection is left that has the old key.
//! 2. Its tables are copied to a new file of the new key beside it, and the copy is checked.
//! 3. The copy takes its name. A kill before that leaves the store as it was, and after it as it is to be.
//!
//! # What was rejected
//! *`PRAGMA rekey`*, which encrypts the file in place: a kill leaves a journal of the old key that has to be
//! rolled back with that one, other connections fail at their next read, and it neither encrypts a plain
//! file nor decrypts one.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use rusqlite::ffi::{
    self, SQLITE_BUSY, SQLITE_CANTOPEN, SQLITE_CONSTRAINT, SQLITE_CORRUPT, SQLITE_ERROR,
    SQLITE_FULL, SQLITE_IOERR, SQLITE_LOCKED, SQLITE_NOMEM, SQLITE_NOTADB, SQLITE_PERM,
    SQLITE_PROTOCOL, SQLITE_READONLY,
};

use super::backup::count;
use super::key::{self, EncryptionKey};
use super::partial::{Partial, remove_sidecars};
use super::{open, restore, schema};
use crate::error::{Error, ErrorKind, Result};

/// Gives the store at `path` another key.
pub(crate) fn rekey(
    path: &Path,
    old: Option<&EncryptionKey>,
    new: Option<&EncryptionKey>,
) -> Result<()> {
    let path = open::absolute(path)?;
    // The file that a link leads to is what has the locks, and what is replaced.
    let path = fs::canonicalize(&path).unwrap_or(path);
    let named = |error: Error| open::named(&path, &error);
    open::check_kind(&path).map_err(named)?;
    let db = restore::lock(&path, old)
        .and_then(|lock| lock.ok_or_else(|| Error::new(ErrorKind::Io, "it was just removed")))
        .map_err(named)?;
    let expected = examine(&db, &path, old).map_err(named)?;
    let copy = Partial::beside(&path)?;
    copy_tables(&db, copy.path(), new).map_err(|error| named(key::explained(error, &path, old)))?;
    if restore::check(copy.path(), new).map_err(named)? != expected {
        let text = "the copy of the other key lacks versions; nothing was changed";
        return Err(named(Error::internal(text)));
    }
    remove_sidecars(&path).map_err(|error| named(open::io_error(&path, &error)))?;
    copy.replace()?;
    drop(db);
    Ok(())
}

/// Refuses what is no whole store of ours. How many versions it holds.
fn examine(db: &Connection, path: &Path, key: Option<&EncryptionKey>) -> Result<u64> {
    schema::refuse_all_but_ours(db)
        .and_then(|()| restore::check_pages(db))
        .and_then(|_| count(db))
        .map_err(|error| key::explained(error, path, key))
}

fn copy_tables(db: &Connection, to: &Path, key: Option<&EncryptionKey>) -> Result<()> {
    let to = to.to_str();
    let to = to.ok_or_else(|| Error::invalid("`path` must be Unicode for a change of the key"))?;
    match key {
        Some(key) => db.execute(&key.in_sql("ATTACH ?1 AS copy KEY "), [to])?,
        None => db.execute("ATTACH ?1 AS copy KEY ''", [to])?,
    };
    // Only this process knows of the file. It needs no journal, and is synced at the end.
    db.query_row("PRAGMA copy.journal_mode = OFF", [], |_| Ok(()))?;
    db.execute_batch("PRAGMA copy.synchronous = OFF")?;
    db.query_row("SELECT sqlcipher_export('copy')", [], |_| Ok(()))
        .map_err(with_its_code)?;
    for number in ["application_id", "user_version"] {
        let value: i64 = db.pragma_query_value(None, number, |row| row.get(0))?;
        db.execute_batch(&format!("PRAGMA copy.{number} = {value}"))?;
    }
    Ok(db.execute_batch("DETACH copy")?)
}

/// SQLite's text of each code that may come from a file, as its function `sqlite3ErrStr` has it.
const SAID: [(&str, i32); 11] = [
    ("access permission denied", SQLITE_PERM),
    ("database is locked", SQLITE_BUSY),
    ("database table is locked", SQLITE_LOCKED),
    ("locking protocol", SQLITE_PROTOCOL),
    ("out of memory", SQLITE_NOMEM),
    ("attempt to write a readonly database", SQLITE_READONLY),
    ("disk I/O error", SQLITE_IOERR),
    ("database disk image is malformed", SQLITE_CORRUPT),
    ("database or disk is full", SQLITE_FULL),
    ("unable to open database file", SQLITE_CANTOPEN),
    ("file is not a database", SQLITE_NOTADB),
];

fn code_of(text: &str) -> Option<i32> {
    // With the table and the columns, as "UNIQUE constraint failed: records.doc".
    if text.contains("constraint failed") {
        return Some(SQLITE_CONSTRAINT);
    }
    let found = SAID.iter().find(|(said, _)| text == *said);
    found.map(|(_, code)| *code)
}

/// The export runs statements of its own, and hands on what befell one of them as a text alone.
fn with_its_code(error: rusqlite::Error) -> Error {
    if let rusqlite::Error::SqliteFailure(failure, Some(text)) = &error
        && failure.extended_code == SQLITE_ERROR
        && let Some(code) = code_of(text)
    {
        return rusqlite::Error::SqliteFailure(ffi::Error::new(code), None).into();
    }
    error.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::sqlite::{Sqlite, SqliteOptions};

    /// A store's connection to which a new file is attached, and that file.
    fn attached() -> (tempfile::TempDir, Connection, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        let options = SqliteOptions::default();
        drop(Sqlite::open(&path, &options).unwrap());
        let db = key::open(&path, options.key()).unwrap();
        let copy = folder.path().join("copy.db");
        fs::write(&copy, "").unwrap();
        let sql = options.key().unwrap().in_sql("ATTACH ?1 AS copy KEY ");
        db.execute(&sql, [copy.to_str().unwrap()]).unwrap();
        (folder, db, copy)
    }

    fn export(db: &Connection, to: &str) -> ErrorKind {
        let sql = format!("SELECT sqlcipher_export('{to}')");
        let failed = db.query_row(&sql, [], |_| Ok(())).unwrap_err();
        with_its_code(failed).kind()
    }

    #[test]
    fn what_befalls_an_export_keeps_its_kind() {
        let (_folder, db, _) = attached();
        db.execute_batch("PRAGMA copy.max_page_count = 3").unwrap();
        assert_eq!(export(&db, "copy"), ErrorKind::Full);

        let (_folder, db, copy) = attached();
        let other = key::open(&copy, SqliteOptions::default().key()).unwrap();
        other.execute_batch("BEGIN EXCLUSIVE").unwrap();
        db.busy_timeout(std::time::Duration::ZERO).unwrap();
        assert_eq!(export(&db, "copy"), ErrorKind::Busy);

        let (_folder, db, _) = attached();
        db.execute_batch("PRAGMA query_only = ON").unwrap();
        assert_eq!(export(&db, "copy"), ErrorKind::ReadOnly);

        let (_folder, db, _) = attached();
        let sql = "CREATE TABLE copy.meta (name UNIQUE, value CHECK (0));
                   INSERT INTO copy.meta SELECT name, value FROM main.meta";
        assert!(db.execute_batch(sql).is_err());
        assert_eq!(export(&db, "copy"), ErrorKind::Internal, "it is there");
        assert_eq!(
            code_of("UNIQUE constraint failed: meta.name"),
            Some(SQLITE_CONSTRAINT)
        );

        let (folder, db, _) = attached();
        let path = folder.path().join("memory.db");
        let mut bytes = fs::read(&path).unwrap();
        for byte in bytes.iter_mut().skip(2 * 4_096).step_by(4_096) {
            *byte = !*byte;
        }
        fs::write(&path, bytes).unwrap();
        assert_eq!(export(&db, "copy"), ErrorKind::Corrupt);

        assert_eq!(export(&db, "nowhere"), ErrorKind::Internal, "our own fault");
    }
}
