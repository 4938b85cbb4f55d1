//! A copy of the whole file while others write.
//!
//! SQLite's backup interface begins anew whenever another connection writes between two of its steps,
//! for ever under a constant writer. It does so because each step reads a snapshot of its own. Here one
//! read transaction lasts from the first step to the last, so the copy is of one moment and takes as
//! many steps as the file had pages. Meanwhile the WAL grows by what is written, so there are no pauses.
//!
//! Pages are copied as they are: what was deleted is not in them, since `secure_delete` overwrote it.
//! A backup of an encrypted store is encrypted with the same key, under a salt of its own.
//! `VACUUM INTO` would do as well, but tells no progress.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use super::key::{self, EncryptionKey};
use super::open;
use super::partial::{Partial, refuse_taken};
use super::pool::Pool;
use super::rows::unexpected;
use crate::error::{Error, ErrorKind, Result};
use crate::storage::{BackupProgress, Namespace};

/// How many pages a step copies, of 4 kB each.
const PAGES: i32 = 256;

/// How long a step waits for another connection.
const PATIENCE: Duration = Duration::from_secs(30);

pub(super) fn run(
    store: &Pool,
    target: &Path,
    key: Option<&EncryptionKey>,
    on_progress: &mut dyn FnMut(BackupProgress),
) -> Result<u64> {
    let target = open::absolute(target)?;
    refuse_taken(&target)?;
    let partial = Partial::beside(&target)?;
    let count = store
        .apart(|from| copy(&from, partial.path(), key, on_progress))
        .map_err(|error| open::named(&target, &error))?;
    partial.put_new()?;
    Ok(count)
}

fn copy(
    from: &Connection,
    to: &Path,
    key: Option<&EncryptionKey>,
    on_progress: &mut dyn FnMut(BackupProgress),
) -> Result<u64> {
    from.busy_timeout(PATIENCE)?;
    from.pragma_update(None, "query_only", "ON")?;
    from.execute_batch("BEGIN")?;
    let count = count(from)?;
    let mut copy = open_copy(to, key)?;
    copy_pages(from, &mut copy, on_progress)?;
    from.execute_batch("COMMIT")?;
    // The copied header asks for a WAL. Without one the file can be read where nothing can be written.
    copy.pragma_update(None, "journal_mode", "OFF")?;
    let mode: String = copy.query_row("PRAGMA journal_mode = DELETE", [], |row| row.get(0))?;
    if mode != "delete" {
        return Err(Error::internal("the backup still needs a WAL"));
    }
    copy.close().map_err(|(_, error)| error)?;
    Ok(count)
}

/// How many versions there are besides the sessions' own state.
pub(super) fn count(db: &Connection) -> Result<u64> {
    let sql = "SELECT count(*) FROM records
               WHERE scope NOT IN (SELECT id FROM scopes WHERE namespace = ?1)";
    let names = [Namespace::SESSION.as_str()];
    let count: i64 = db.query_row(sql, names, |row| row.get(0))?;
    u64::try_from(count).map_err(|_| unexpected("count"))
}

/// The file that only this process knows of: it needs no journal, and is synced at the end.
fn open_copy(to: &Path, key: Option<&EncryptionKey>) -> Result<Connection> {
    let copy = key::open(to, key)?;
    copy.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    copy.pragma_update(None, "journal_mode", "OFF")?;
    copy.pragma_update(None, "synchronous", "OFF")?;
    Ok(copy)
}

fn copy_pages(
    from: &Connection,
    to: &mut Connection,
    on_progress: &mut dyn FnMut(BackupProgress),
) -> Result<()> {
    let backup = Backup::new(from, to)?;
    loop {
        let step = backup.step(PAGES)?;
        let progress = backup.progress();
        let pages = |number: i32| u64::try_from(number).unwrap_or(0);
        on_progress(BackupProgress {
            done: pages(progress.pagecount - progress.remaining),
            total: pages(progress.pagecount),
        });
        match step {
            StepResult::Done => return Ok(()),
            StepResult::More => (),
            _ => {
                let text = "another connection held the store for longer than the busy timeout";
                return Err(Error::new(ErrorKind::Busy, text));
            }
        }
    }
}
