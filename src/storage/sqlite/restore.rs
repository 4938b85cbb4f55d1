//! A backup in the place of a store.
//!
//! 1. The backup is copied beside the target, and the copy is checked: what was checked is what is put
//!    in place.
//! 2. The target, if there is one, is locked against everybody. That fails where anybody has it open: a
//!    connection in WAL mode holds a shared lock as long as it lives.
//! 3. Its WAL is brought into it and goes. So the target is whole without what is beside it, at every
//!    moment until the copy takes its name, and nothing old is beside the copy after.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode};

use super::backup::count;
use super::key::{self, EncryptionKey};
use super::open::Identity;
use super::partial::{Partial, remove_sidecars, sidecars};
use super::rows::page_size;
use super::{SqliteOptions, open, reindex, schema};
use crate::error::{Error, ErrorKind, Result};

/// How the check of the file begins what it says of the search index.
const INDEX_FAULTS: [&str; 3] = [
    "fts5: ",
    "malformed inverted index",
    "unable to validate the inverted",
];

/// How long others have to close the target.
const PATIENCE: Duration = Duration::from_millis(200);

/// Puts a backup in place of the target, both of which have the same key. How many versions it holds.
pub(crate) fn restore(backup: &Path, target: &Path, options: &SqliteOptions) -> Result<u64> {
    let key = options.key();
    let (backup, target) = (open::absolute(backup)?, open::absolute(target)?);
    // The file that a link leads to is what has the locks, and what is replaced.
    let target = fs::canonicalize(&target).unwrap_or(target);
    let refused = |error: Error| open::named(&backup, &error);
    refuse_unfinished(&backup).map_err(refused)?;
    open::check_kind(&backup).map_err(refused)?;
    let mut copy = Partial::beside(&target)?;
    File::open(&backup)
        .and_then(|mut from| io::copy(&mut from, copy.file()))
        .map_err(|error| refused(open::io_error(&backup, &error)))?;
    let count = check(copy.path(), key).map_err(refused)?;
    let lock = lock(&target, key).map_err(|error| open::named(&target, &error))?;
    remove_sidecars(&target)
        .map_err(|error| open::named(&target, &open::io_error(&target, &error)))?;
    if lock.is_some() {
        copy.replace()?;
    } else {
        // Whoever made a store there meanwhile keeps it.
        copy.put_new()?;
    }
    drop(lock);
    Ok(count)
}

/// Refuses a file beside which a part of its content is, or may soon be: a store that is open has a
/// `-shm`. In this process its locks would go when the file is closed after copying.
fn refuse_unfinished(backup: &Path) -> Result<()> {
    let [wal, shm, journal] = sidecars(backup);
    let has_content = |path| fs::metadata(path).is_ok_and(|info| info.len() > 0);
    if has_content(wal) || has_content(journal) || shm.exists() || open::is_in_use(backup) {
        let text = "it is a store in use, or was cut off; restore from what `backup` made";
        return Err(Error::new(ErrorKind::NotAStore, text));
    }
    Ok(())
}

/// Refuses what is no whole store of ours. How many versions it holds.
pub(super) fn check(path: &Path, key: Option<&EncryptionKey>) -> Result<u64> {
    check_raw(path, key).map_err(|error| key::explained(error, path, key))
}

fn check_raw(path: &Path, key: Option<&EncryptionKey>) -> Result<u64> {
    let db = key::open(path, key)?;
    db.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    open::refuse_code(&db)?;
    db.pragma_update(None, "cell_size_check", "ON")?;
    schema::refuse_all_but_ours(&db)?;
    refuse_cut(&db, path)?;
    let is_index_sound = check_pages(&db)?;
    // A store that was closed and copied asks for a WAL.
    db.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(()))?;
    if !is_index_sound {
        // Opening the store makes the index anew.
        reindex::restart(&db)?;
    }
    let count = count(&db)?;
    db.close().map_err(|(_, error)| error)?;
    Ok(count)
}

/// Refuses a file that ends within a page. SQLite would take zeros for what is missing.
fn refuse_cut(db: &Connection, path: &Path) -> Result<()> {
    let size = u64::try_from(page_size(db)?).unwrap_or(u64::MAX);
    let bytes = fs::metadata(path)
        .map_err(|error| open::io_error(path, &error))?
        .len();
    if bytes.checked_rem(size) == Some(0) {
        return Ok(());
    }
    Err(Error::corrupt("the file is damaged: it ends within a page"))
}

/// Refuses damage. Whether the search index is sound as well.
pub(super) fn check_pages(db: &Connection) -> Result<bool> {
    let mut check = db.prepare("PRAGMA integrity_check(100)")?;
    let mut found = check.query([])?;
    let mut is_index_sound = true;
    while let Some(row) = found.next()? {
        let text: String = row.get(0)?;
        if INDEX_FAULTS.iter().any(|fault| text.starts_with(fault)) {
            is_index_sound = false;
        } else if text != "ok" {
            return Err(Error::corrupt("the file is damaged"));
        }
    }
    Ok(is_index_sound)
}

/// Holds the target against everybody else, its WAL brought into it; `None` if nothing is there.
pub(super) fn lock(target: &Path, key: Option<&EncryptionKey>) -> Result<Option<Connection>> {
    match fs::symlink_metadata(target) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(open::io_error(target, &error)),
        Ok(_) => open::check_kind(target)?,
    }
    let file = Identity::of(target);
    let db = key::open(target, key)?;
    db.busy_timeout(PATIENCE)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    db.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    let locked = lock_all(&db);
    // Another file may have taken its place, of which nothing is locked. SQLite may call the former read-only.
    if Identity::of(target) != file {
        return Err(Error::new(
            ErrorKind::Busy,
            "something else was put in the place of the store meanwhile",
        ));
    }
    match locked {
        Err(error) if error.kind() == ErrorKind::Busy => Err(Error::new(
            ErrorKind::Busy,
            "the store is open somewhere; close it before it is replaced",
        )),
        // What is damaged is what one restores.
        Err(error) if error.kind() != ErrorKind::Corrupt => Err(key::explained(error, target, key)),
        _ => Ok(Some(db)),
    }
}

fn lock_all(db: &Connection) -> Result<()> {
    db.execute_batch("BEGIN EXCLUSIVE; ROLLBACK")?;
    schema::refuse_foreign_file(db)?;
    match db.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(())) {
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
            Err(error.into())
        }
        done => Ok(done?),
    }
}
