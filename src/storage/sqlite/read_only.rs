//! Opening a file to read it and nothing else.
//!
//! A connection that SQLite opened for reading can't change the file, whatever this crate asks it for. It takes
//! part in WAL mode like any other reader: it has its locks in the shared memory beside the file, so it reads
//! whole snapshots while others write. SQLite makes that memory, and an empty WAL, where there are none, and
//! a connection that only reads leaves them behind; the next one that writes takes them over.
//!
//! Where they can't be made, as on a read-only disk, the file is read as one that doesn't change. That is right
//! only where no WAL holds newer pages, and only as long as nobody writes. So the file's [`Stamp`] is
//! compared after each read: what was read while another process wrote is never handed out.

use std::fs;
use std::path::Path;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::key::{self, EncryptionKey};
use super::open::{Identity, Index, Opened};
use super::{SqliteOptions, open, schema};
use crate::error::{Error, ErrorKind, Result};

/// The connection, and the file's stamp if it is read as one that doesn't change.
pub(super) fn open(path: &Path, options: &SqliteOptions) -> Result<(Opened, Option<Stamp>)> {
    open::check_kind(path)?;
    let stamp = Stamp::of(path)?;
    let (mut db, frozen) = match looked_at(path, options) {
        Ok(db) => (db, None),
        Err(Looked::NoWal) if stamp.has_wal => return Err(wal_is_pending()),
        Err(Looked::NoWal) => (connect_frozen(path, options)?, Some(stamp)),
        Err(Looked::Failed(error)) => return Err(error),
    };
    schema::refuse_all_but_current(&mut db)?;
    if let Some(stamp) = &frozen {
        stamp.check(path)?;
    }
    let opened = Opened {
        db,
        file: Identity::of(path),
        index: Index::Whole,
    };
    Ok((opened, frozen))
}

/// Why a file can't be read in WAL mode.
enum Looked {
    /// What is beside it can't be made or opened.
    NoWal,
    Failed(Error),
}

impl From<Error> for Looked {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Reads from the file once, which opens what is beside it, before any setting does so.
fn looked_at(path: &Path, options: &SqliteOptions) -> Result<Connection, Looked> {
    let db = connect(path, options.key())?;
    db.busy_timeout(options.busy_timeout).map_err(Error::from)?;
    let look = db.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()));
    match look {
        Ok(()) => {
            open::settings(&db, options)?;
            Ok(db)
        }
        Err(error)
            if matches!(
                error.sqlite_error_code(),
                Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly)
            ) =>
        {
            Err(Looked::NoWal)
        }
        Err(error) => Err(Looked::Failed(error.into())),
    }
}

/// A connection that takes its place among those that share the file.
pub(super) fn connect(path: &Path, key: Option<&EncryptionKey>) -> Result<Connection> {
    key::open_as(path, OpenFlags::SQLITE_OPEN_READ_ONLY, key)
}

/// A connection that takes no locks, to a file that doesn't change.
pub(super) fn connect_frozen(path: &Path, options: &SqliteOptions) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let db = key::open_as(frozen_uri(path), flags, options.key())?;
    db.busy_timeout(options.busy_timeout)?;
    open::settings(&db, options)?;
    Ok(db)
}

/// The path as a URI, in which no character of it has a meaning.
fn frozen_uri(path: &Path) -> String {
    let mut uri = String::from("file:");
    #[cfg(not(unix))]
    uri.push('/');
    for byte in path_bytes(path) {
        if byte.is_ascii_alphanumeric() || b"/-_.:".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push('%');
            uri.extend(hex(byte >> 4));
            uri.extend(hex(byte & 15));
        }
    }
    uri.push_str("?immutable=1");
    uri
}

fn hex(digit: u8) -> Option<char> {
    char::from_digit(digit.into(), 16)
}

#[cfg(unix)]
fn path_bytes(path: &Path) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt as _;
    path.as_os_str().as_bytes().to_vec()
}

#[cfg(not(unix))]
fn path_bytes(path: &Path) -> Vec<u8> {
    path.to_string_lossy().replace('\\', "/").into_bytes()
}

/// What shows that a file was written to: its identity, size and times, and whether a WAL is in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    has_wal: bool,
    len: u64,
    modified: Option<std::time::SystemTime>,
    inode: Option<(u64, i64, i64)>,
}

impl Stamp {
    fn of(path: &Path) -> Result<Self> {
        let mut wal = path.as_os_str().to_owned();
        wal.push("-wal");
        let info = fs::metadata(path).map_err(|error| open::io_error(path, &error))?;
        Ok(Self {
            has_wal: fs::metadata(wal).is_ok_and(|wal| wal.len() > 0),
            len: info.len(),
            modified: info.modified().ok(),
            inode: inode(&info),
        })
    }

    /// Refuses what was read while the file changed.
    pub(super) fn check(&self, path: &Path) -> Result<()> {
        if Self::of(path)? == *self {
            return Ok(());
        }
        let text = "another process began to write to the store, which was opened where nothing can be \
                    written; open it anew";
        Err(Error::new(ErrorKind::Busy, text))
    }
}

#[cfg(unix)]
#[expect(
    clippy::unnecessary_wraps,
    reason = "other systems have no such numbers"
)]
fn inode(info: &fs::Metadata) -> Option<(u64, i64, i64)> {
    use std::os::unix::fs::MetadataExt as _;
    Some((info.ino(), info.ctime(), info.ctime_nsec()))
}

#[cfg(not(unix))]
fn inode(_: &fs::Metadata) -> Option<(u64, i64, i64)> {
    None
}

fn wal_is_pending() -> Error {
    let text = "what was last saved is still in the write-ahead log beside the file, which can be read only \
                where the folder can be written; open the store there once";
    Error::new(ErrorKind::ReadOnly, text)
}

/// What every write is answered.
pub(super) fn refused() -> Error {
    Error::new(ErrorKind::ReadOnly, "the store was opened for reading only")
}
