//! The rows of another program's table of keys and values, read without touching its file.
//!
//! A database without a WAL is opened as one that can't change: SQLite then takes no lock and makes no
//! file beside it. One with a WAL, or with the journal of a transaction that was cut off, is more than
//! its file; reading it takes locks, shared memory and perhaps a recovery. So these files are copied to
//! a folder of their own, which is removed afterwards, and read there.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use uuid::Uuid;

use super::open;
use super::partial::sidecars;
use crate::error::{Error, ErrorKind, Result};

/// A row of the table.
pub(crate) enum Pair<'r> {
    /// Its key and its value.
    Whole(&'r str, &'r [u8]),
    /// Its key; the value is none, a number, or too long.
    Bad(&'r str, &'static str),
    /// The key isn't a text.
    NoKey,
}

/// Hands out each row of the table `kv`.
#[expect(
    clippy::disallowed_methods,
    reason = "it's another program's file, which is not encrypted, and a copy that goes"
)]
pub(crate) fn pairs(
    path: &Path,
    longest: usize,
    each: &mut dyn FnMut(Pair<'_>) -> Result<()>,
) -> Result<()> {
    let path = open::absolute(path)?;
    let named = |error: Error| open::named(&path, &error);
    open::check_kind(&path).map_err(named)?;
    let [wal, _, journal] = sidecars(&path);
    if [&wal, &journal].iter().all(|beside| length(beside) == 0) {
        return read(&unchanging(&path).map_err(named)?, longest, each).map_err(named);
    }
    let copy = Copy::of(&path, &[wal, journal]).map_err(named)?;
    let db = Connection::open_with_flags(copy.database(), OpenFlags::SQLITE_OPEN_READ_WRITE);
    let db = db.map_err(|error| named(error.into()))?;
    read(&db, longest, each).map_err(named)
}

fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |info| info.len())
}

#[expect(
    clippy::disallowed_methods,
    reason = "another program's file is not encrypted"
)]
fn unchanging(path: &Path) -> Result<Connection> {
    let mut uri = String::from("file:");
    if cfg!(windows) {
        uri.push('/');
    }
    for &byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => uri.push(byte.into()),
            b'\\' if cfg!(windows) => uri.push('/'),
            byte if byte.is_ascii_alphanumeric() => uri.push(byte.into()),
            byte => drop(write!(uri, "%{byte:02X}")),
        }
    }
    uri.push_str("?immutable=1");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Ok(Connection::open_with_flags(uri, flags)?)
}

fn read(
    db: &Connection,
    longest: usize,
    each: &mut dyn FnMut(Pair<'_>) -> Result<()>,
) -> Result<()> {
    db.pragma_update(None, "trusted_schema", "OFF")?;
    db.pragma_update(None, "cell_size_check", "ON")?;
    refuse_without_table(db)?;
    let longest = i64::try_from(longest).unwrap_or(i64::MAX);
    let sql = "SELECT iif(octet_length(key) <= ?1, key, NULL),
               iif(octet_length(value) <= ?1, value, NULL), octet_length(value) > ?1 FROM kv";
    let mut select = db.prepare(sql)?;
    let mut rows = select.query([longest])?;
    while let Some(row) = rows.next()? {
        let key = match row.get_ref(0)? {
            ValueRef::Text(key) | ValueRef::Blob(key) => str::from_utf8(key).ok(),
            _ => None,
        };
        let is_long = row.get::<_, Option<bool>>(2)? == Some(true);
        each(match (key, row.get_ref(1)?) {
            (None, _) => Pair::NoKey,
            (Some(key), ValueRef::Text(value) | ValueRef::Blob(value)) => Pair::Whole(key, value),
            (Some(key), _) if is_long => Pair::Bad(key, "the value is too long"),
            (Some(key), _) => Pair::Bad(key, "the value must be a JSON text"),
        })?;
    }
    Ok(())
}

fn refuse_without_table(db: &Connection) -> Result<()> {
    let sql = "SELECT count(*) FROM pragma_table_info('kv') WHERE name IN ('key', 'value')";
    let columns: i64 = db.query_row(sql, [], |row| row.get(0))?;
    if columns == 2 {
        return Ok(());
    }
    let text = "it has no table `kv` with the columns `key` and `value`";
    Err(Error::new(ErrorKind::NotAStore, text))
}

/// A database and what belongs to it, in a folder for its owner only.
struct Copy(PathBuf);

impl Copy {
    fn of(path: &Path, beside: &[PathBuf]) -> Result<Self> {
        let folder = std::env::temp_dir().join(format!("strandline-{}", Uuid::new_v4().simple()));
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        let failed = |error: std::io::Error| open::io_error(path, &error);
        builder.create(&folder).map_err(failed)?;
        let copy = Self(folder);
        let [wal, _, journal] = sidecars(&copy.database());
        for _ in 0..10 {
            let before = changed(path, beside);
            fs::copy(path, copy.database()).map_err(failed)?;
            for (from, to) in beside.iter().zip([&wal, &journal]) {
                drop(fs::remove_file(to));
                if from.exists() {
                    fs::copy(from, to).map_err(failed)?;
                }
            }
            if before == changed(path, beside) {
                return Ok(copy);
            }
        }
        let text = "another program writes to it all the time";
        Err(Error::new(ErrorKind::Busy, text))
    }

    fn database(&self) -> PathBuf {
        self.0.join("copy.db")
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// When each of the files changed last, and how long it was.
fn changed(path: &Path, beside: &[PathBuf]) -> Vec<(u64, Option<SystemTime>)> {
    let files = std::iter::once(path).chain(beside.iter().map(PathBuf::as_path));
    let changed = |file: &Path| fs::metadata(file).and_then(|info| info.modified()).ok();
    files.map(|file| (length(file), changed(file))).collect()
}
