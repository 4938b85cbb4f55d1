//! Opening the file: what may be there, who may read it, and the settings of a connection.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::ErrorKind as IoKind;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, MAIN_DB};

use super::partial::{refuse_sidecar, sidecars};
use super::{Durability, SqliteOptions, key, read_only, schema};
use crate::error::{Error, ErrorKind, Result};
use crate::sync::unpoisoned;

/// The size that the WAL goes back to when it has been larger. It's usually 4 MB.
const WAL_BYTES: u32 = 8 << 20;

/// A file that was opened.
pub(super) struct Opened {
    /// The connection that writes.
    pub(super) db: Connection,
    pub(super) file: Identity,
    pub(super) index: Index,
}

/// What has to be done before the index can be used.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Index {
    Whole,
    /// It is being made anew.
    Begun,
    /// The same, since it was damaged.
    Lost,
}

/// Opens or creates the store at `path`; returns its absolute path, too.
pub(super) fn open(path: &Path, options: &SqliteOptions) -> Result<(PathBuf, Opened)> {
    let path = absolute(path)?;
    match open_absolute(&path, options) {
        Ok(opened) => Ok((path, opened)),
        Err(error) => Err(named(&path, &error)),
    }
}

/// The path as an absolute one, so that none is one of SQLite's special names, such as `:memory:`.
pub(crate) fn absolute(path: &Path) -> Result<PathBuf> {
    if path.as_os_str().is_empty() {
        return Err(Error::invalid("`path` must not be empty"));
    }
    std::path::absolute(path).map_err(|error| io_error(path, &error))
}

/// The error with the path in its text.
pub(crate) fn named(path: &Path, error: &Error) -> Error {
    let text = format!("{}: {error}", path.display());
    let named = Error::new(error.kind(), text);
    match std::error::Error::source(error) {
        Some(source) => named.with_source(source.to_string()),
        None => named,
    }
}

fn open_absolute(path: &Path, options: &SqliteOptions) -> Result<Opened> {
    create(path, options)?;
    check_kind(path)?;
    let file = Identity::of(path);
    let mut db = connect_raw(path, options)?;
    let look = || settings(&db, options).and_then(|()| schema::refuse_others(&db));
    key::untouched(&db, path, look).map_err(|error| key::explained(error, path, options.key()))?;
    enter_wal_mode(&db, options.busy_timeout)?;
    // Whoever puts another file in its place has it locked until it is done, and we may have waited for
    // that. From here on nobody can.
    file.check(path)?;
    let index = schema::migrate(&mut db, options.language)?;
    Ok(Opened { db, file, index })
}

const CANT_WRITE: &str = "it or its folder can't be written";

/// A connection with the settings that all of ours have.
pub(super) fn connect(path: &Path, options: &SqliteOptions) -> Result<Connection> {
    let db = connect_raw(path, options)?;
    settings(&db, options)?;
    Ok(db)
}

/// A connection that hasn't read anything yet.
fn connect_raw(path: &Path, options: &SqliteOptions) -> Result<Connection> {
    let db = if options.read_only {
        read_only::connect(path, options.key())?
    } else {
        connect_to_write(path, options.key())?
    };
    db.busy_timeout(options.busy_timeout)?;
    Ok(db)
}

fn connect_to_write(path: &Path, key: Option<&key::EncryptionKey>) -> Result<Connection> {
    let db = key::open(path, key)?;
    // SQLite opens for reading what it can't open for writing, and fails later.
    if db.is_readonly(MAIN_DB)? {
        return Err(Error::new(ErrorKind::ReadOnly, CANT_WRITE));
    }
    Ok(db)
}

/// The settings of a connection.
pub(super) fn settings(db: &Connection, options: &SqliteOptions) -> Result<()> {
    // Keeps a cached statement's plan whatever its parameters are. Without it SQLite compiles most of
    // ours anew at each use, since it might plan otherwise for other values.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    db.set_prepared_statement_cache_capacity(64);
    refuse_code(db)?;
    db.pragma_update(None, "cell_size_check", "ON")?;
    db.pragma_update(None, "secure_delete", "ON")?;
    db.pragma_update(None, "foreign_keys", "ON")?;
    db.pragma_update(None, "cache_size", -8_192)?;
    // What readers that lagged behind made the WAL grow to, it doesn't keep.
    db.pragma_update(None, "journal_size_limit", WAL_BYTES)?;
    let synchronous = match options.durability {
        Durability::Full => "FULL",
        Durability::Normal => "NORMAL",
    };
    db.pragma_update(None, "synchronous", synchronous)?;
    Ok(())
}

/// Lets nothing run that is in the file: no release keeps a trigger or a view there.
pub(super) fn refuse_code(db: &Connection) -> Result<()> {
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    db.pragma_update(None, "trusted_schema", "OFF")?;
    Ok(())
}

/// Held while a file is made. Nothing else in this module opens the file but SQLite, since closing any
/// descriptor of a file drops all POSIX locks that the process has on it, SQLite's too; and nobody in
/// this process has locks on a file that is only just being made.
static MAKING: Mutex<()> = Mutex::new(());

/// Makes the file, empty and for its owner only, unless something is there.
fn create(path: &Path, options: &SqliteOptions) -> Result<()> {
    if options.create_folders
        && let Some(folder) = path.parent()
    {
        create_folder(folder)?;
    }
    refuse_sidecar(path)?;
    let _making = unpoisoned(MAKING.lock());
    refuse_lost(path)?;
    match new_file().open(path) {
        Err(error) if error.kind() == IoKind::AlreadyExists => Ok(()),
        Err(error) => Err(io_error(path, &error)),
        Ok(_) => Ok(()),
    }
}

/// Refuses to make a file beside what SQLite left of another one of that name: memories may be in it.
fn refuse_lost(path: &Path) -> Result<()> {
    let [wal, _, journal] = sidecars(path);
    let has_content = |path: PathBuf| fs::metadata(path).is_ok_and(|info| info.len() > 0);
    // Whoever makes the file makes it before what is beside it.
    if (!has_content(wal) && !has_content(journal)) || path.exists() {
        return Ok(());
    }
    let text = "the file is gone, but its WAL is there and holds what was saved last; put the file \
                back, or move the WAL away to begin anew";
    Err(Error::new(ErrorKind::Io, text))
}

#[cfg(unix)]
pub(super) fn new_file() -> fs::OpenOptions {
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut options = File::options();
    options.write(true).create_new(true).mode(0o600);
    options
}

#[cfg(not(unix))]
pub(super) fn new_file() -> fs::OpenOptions {
    let mut options = File::options();
    options.write(true).create_new(true);
    options
}

fn create_folder(folder: &Path) -> Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
        .create(folder)
        .map_err(|error| io_error(folder, &error))
}

/// Refuses what isn't a file.
pub(super) fn check_kind(path: &Path) -> Result<()> {
    let info = fs::metadata(path).map_err(|error| io_error(path, &error))?;
    if info.is_file() {
        return Ok(());
    }
    let text = "there is something that is not a file";
    Err(Error::new(ErrorKind::NotAStore, text))
}

/// Which file is at a path: what SQLite's descriptors still refer to after it was moved or deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity(Option<(u64, u64)>);

impl Identity {
    pub(super) fn of(path: &Path) -> Self {
        Self::of_info(fs::metadata(path).ok().as_ref())
    }

    /// Where the system has no such numbers, it doesn't let a file be deleted that is open either.
    pub(super) fn of_info(info: Option<&fs::Metadata>) -> Self {
        #[cfg(unix)]
        return Self(info.map(|info| {
            use std::os::unix::fs::MetadataExt as _;
            (info.dev(), info.ino())
        }));
        #[cfg(not(unix))]
        return Self(info.map(|_| (0, 0)));
    }

    /// Refuses to go on with a file that is no longer at the path: what is written to it is lost.
    ///
    /// Nor with one that was emptied: a store has a page at least, and SQLite would go on by its WAL.
    pub(super) fn check(self, path: &Path) -> Result<()> {
        let found = fs::metadata(path).ok();
        let is_empty = found.as_ref().is_some_and(|info| info.len() == 0);
        if Self::of_info(found.as_ref()) == self && !is_empty {
            return Ok(());
        }
        let text = "the store's file was deleted, moved, replaced or emptied since it was opened; put it back \
                    or open the store anew";
        Err(Error::new(ErrorKind::Io, text))
    }
}

/// The files that this process has open as stores, and how often. Opening and closing one of them in
/// any other way would drop SQLite's POSIX locks on it.
static OPEN: Mutex<BTreeMap<(u64, u64), usize>> = Mutex::new(BTreeMap::new());

/// Says that a file is open, as long as it lives.
#[derive(Debug)]
pub(super) struct InUse(Identity);

impl InUse {
    pub(super) fn new(file: Identity) -> Self {
        if let Some(id) = file.0 {
            *unpoisoned(OPEN.lock()).entry(id).or_default() += 1;
        }
        Self(file)
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        let Some(id) = self.0.0 else { return };
        let mut open = unpoisoned(OPEN.lock());
        if let Some(count) = open.get_mut(&id) {
            *count = count.saturating_sub(1);
        }
        open.retain(|_, count| *count > 0);
    }
}

/// Whether this process has the file open as a store, whatever name it is called by.
pub(super) fn is_in_use(path: &Path) -> bool {
    let id = Identity::of(path).0;
    cfg!(unix) && id.is_some_and(|id| unpoisoned(OPEN.lock()).contains_key(&id))
}

/// Turns WAL mode on. SQLite doesn't wait here, whatever the busy timeout, so this does.
fn enter_wal_mode(db: &Connection, timeout: Duration) -> Result<()> {
    let start = Instant::now();
    loop {
        let mode =
            db.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0));
        match mode {
            Ok(mode) if mode.eq_ignore_ascii_case("wal") => return Ok(()),
            Ok(_) => {
                let text = "the file system can't share memory, which WAL mode needs";
                return Err(Error::new(ErrorKind::Io, text));
            }
            Err(error) if is_busy(&error) && start.elapsed() < timeout => {
                thread::sleep(Duration::from_millis(2));
            }
            Err(error) => return Err(error.into()),
        }
    }
}

pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
    )
}

pub(crate) fn io_error(path: &Path, error: &std::io::Error) -> Error {
    let (kind, text) = match error.kind() {
        IoKind::NotFound => (ErrorKind::Io, "it or its folder doesn't exist"),
        IoKind::PermissionDenied | IoKind::ReadOnlyFilesystem => (ErrorKind::ReadOnly, CANT_WRITE),
        IoKind::AlreadyExists => (ErrorKind::AlreadyExists, "there is something already"),
        IoKind::NotADirectory => (ErrorKind::Io, "a part of its path is not a folder"),
        IoKind::StorageFull | IoKind::QuotaExceeded => (ErrorKind::Full, "the disk is full"),
        _ if path.is_dir() => (ErrorKind::NotAStore, "there is a folder, not a file"),
        _ => (ErrorKind::Io, "it can't be read or written"),
    };
    Error::new(kind, text).with_source(error.to_string())
}
