//! SQLite's failures as this crate's errors.

use std::error::Error as _;

use rusqlite::ffi::{ErrorCode, SQLITE_CORRUPT_VTAB, SQLITE_NOMEM, SQLITE_NOTADB, code_to_str};

use crate::error::{Error, ErrorKind};

/// What SQLite said, by its code alone: its own messages quote SQL and may quote values.
#[derive(Debug, thiserror::Error)]
#[error("SQLite error {code}: {}", code_to_str(*code))]
struct SqliteCode {
    code: i32,
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::Error as E;
        match error {
            E::SqliteFailure(failure, message) => from_code(failure, &message.unwrap_or_default()),
            E::SqlInputError { error, msg, .. } => from_code(error, &msg),
            E::FromSqlConversionFailure(..)
            | E::IntegralValueOutOfRange(..)
            | E::Utf8Error(..)
            | E::InvalidColumnType(..) => {
                Self::corrupt("the store's file holds a value that this crate never writes")
            }
            E::QueryReturnedNoRows => Self::corrupt("the store's file lacks a row it must have"),
            // The rest are misuses of rusqlite, whose messages name columns and parameters.
            _ => Self::internal("a statement of the SQLite provider is wrong"),
        }
    }
}

/// The same error once more, for another write that it befell.
pub(super) fn again(error: &Error) -> Error {
    let copy = Error::new(error.kind(), error.to_string());
    let source = error.source().and_then(|source| source.downcast_ref());
    match source {
        Some(SqliteCode { code }) => copy.with_source(SqliteCode { code: *code }),
        None => copy,
    }
}

/// The search index doesn't agree with the records.
pub(super) fn index_damaged() -> Error {
    Error::corrupt("the store's search index is damaged").with_source(SqliteCode {
        code: SQLITE_CORRUPT_VTAB,
    })
}

/// What SQLite says of a header that no SQLite wrote.
const UNKNOWN_FORMAT: &str = "unsupported file format";

/// What SQLite says of a sum of numbers that are too large.
const OVERFLOW: &str = "integer overflow";

/// Whether SQLite's message is of an index whose tables or settings FTS5 can't read. It has a code of its
/// own only for what it finds within them; the general one comes from no other table of ours.
fn is_of_index(message: &str) -> bool {
    message.starts_with("invalid fts5 file format")
        || message.starts_with("vtable constructor failed")
        || message.starts_with("no such fts5 table")
        || message == "SQL logic error"
        || message
            .strip_prefix("no such table: ")
            .is_some_and(|table| table.trim_start_matches("main.").starts_with("terms"))
}

/// Whether SQLite's message is of a schema that isn't ours any more: our statements fit ours.
fn is_of_schema(message: &str) -> bool {
    let starts = [
        "no such table",
        "no such index",
        "no such column",
        "no query solution",
        "malformed database schema",
    ];
    starts.iter().any(|start| message.starts_with(start))
        || message.contains(" has no column named ")
}

/// Whether the error may come from a damaged index, so that making it anew may help.
///
/// FTS5 also runs out of memory where a damaged index names a size. Where memory really is short,
/// making the index fails, too, and changes nothing.
pub(super) fn is_index_damage(error: &Error) -> bool {
    matches!(code(error), Some(SQLITE_CORRUPT_VTAB | SQLITE_NOMEM))
}

/// Whether SQLite found no database in the file. It finds none in an encrypted one without its key.
pub(super) fn is_no_database(error: &Error) -> bool {
    code(error) == Some(SQLITE_NOTADB)
}

fn code(error: &Error) -> Option<i32> {
    let source = error.source().and_then(|source| source.downcast_ref());
    source.map(|SqliteCode { code }| *code)
}

fn from_code(failure: rusqlite::ffi::Error, message: &str) -> Error {
    if failure.extended_code == SQLITE_CORRUPT_VTAB || is_of_index(message) {
        return index_damaged();
    }
    let (kind, message) = match failure.code {
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => (
            ErrorKind::Busy,
            "another connection held the store for longer than the busy timeout",
        ),
        ErrorCode::DiskFull => (
            ErrorKind::Full,
            "the disk is full; nothing of this was written",
        ),
        ErrorCode::ReadOnly | ErrorCode::PermissionDenied => (
            ErrorKind::ReadOnly,
            "the store's file or its folder can't be written",
        ),
        ErrorCode::DatabaseCorrupt => (ErrorKind::Corrupt, "the store's file is damaged"),
        ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch => (
            ErrorKind::Corrupt,
            "the store's file holds something that rules out what was to be written",
        ),
        _ if is_of_schema(message) => (
            ErrorKind::Corrupt,
            "the store's file lacks a table or an index that it must have",
        ),
        _ if message == UNKNOWN_FORMAT => (
            ErrorKind::Corrupt,
            "the file's header names a format that SQLite doesn't have",
        ),
        _ if message == OVERFLOW => (
            ErrorKind::Corrupt,
            "the store's file holds a number that this crate never writes",
        ),
        ErrorCode::NotADatabase => (ErrorKind::NotAStore, "the file is not a strandline store"),
        ErrorCode::SystemIoFailure => (ErrorKind::Io, "the store's file can't be read or written"),
        ErrorCode::CannotOpen => (
            ErrorKind::Io,
            "the store's file, or one that SQLite keeps beside it, can't be opened",
        ),
        ErrorCode::TooBig | ErrorCode::OutOfMemory => (
            ErrorKind::Io,
            "there is not enough memory for this operation",
        ),
        _ => (
            ErrorKind::Internal,
            "SQLite refused a statement of this crate",
        ),
    };
    Error::new(kind, message).with_source(SqliteCode {
        code: failure.extended_code,
    })
}
