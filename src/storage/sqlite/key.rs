//! The key of an encrypted file, and the one way by which this provider opens a database of ours.
//!
//! Every connection to a store, a backup or a copy of one is made by [`open`], so that none is made
//! without the key. The lint `disallowed_methods` refuses rusqlite's own way anywhere else.
//!
//! SQLCipher encrypts each page of the file, its WAL and its journal, with a code of its own that shows
//! whether anyone has changed it. The first page begins with the file's salt, so nothing in the file says
//! that it is a database.

use std::fs;
use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::error::is_no_database;
#[cfg(feature = "sqlcipher")]
pub use cipher::EncryptionKey;

use crate::error::{Error, ErrorKind, Result};

/// There is no key without the feature.
#[cfg(not(feature = "sqlcipher"))]
#[derive(Clone, Debug)]
pub(crate) enum EncryptionKey {}

#[cfg(not(feature = "sqlcipher"))]
impl EncryptionKey {
    fn unlock(&self, _: &Connection) -> Result<()> {
        match *self {}
    }
}

/// SQLCipher's pages, in bytes. An encrypted file is a number of whole ones.
const PAGE: u64 = 4_096;

/// A connection to the file at `path`, which must be there. Nothing of it has been read yet.
pub(super) fn open(path: &Path, key: Option<&EncryptionKey>) -> Result<Connection> {
    open_as(path, OpenFlags::SQLITE_OPEN_READ_WRITE, key)
}

/// The same, with these flags.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place that opens what may be encrypted"
)]
pub(super) fn open_as(
    path: impl AsRef<Path>,
    flags: OpenFlags,
    key: Option<&EncryptionKey>,
) -> Result<Connection> {
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags)?;
    if let Some(key) = key {
        key.unlock(&db)?;
    }
    // No text of a record goes into a file elsewhere, and a full disk there is no error here.
    db.pragma_update(None, "temp_store", "MEMORY")?;
    Ok(db)
}

/// The same error; or one that says so, if the file couldn't be read for lack of its key, or of a disk that
/// can be read.
///
/// An encrypted file looks like random bytes, so which it is can't always be told. It isn't looked into:
/// to close a file drops all locks that this process has on it, SQLite's too.
pub(super) fn explained(error: Error, path: &Path, key: Option<&EncryptionKey>) -> Error {
    if !is_no_database(&error) {
        return error;
    }
    // SQLCipher takes a random salt where it can't read that of the file, and then finds no database. So it
    // is asked once more, and tells the one from the other.
    match key.map(|key| read(path, Some(key))) {
        Some(Ok(())) => return Error::new(ErrorKind::Io, "the store's file can't be read"),
        Some(Err(again)) if again.kind() == ErrorKind::Io => return again,
        _ => (),
    }
    let in_pages = fs::metadata(path).is_ok_and(|info| info.len() % PAGE == 0);
    let text = match key.map(|_| read(path, None)) {
        Some(Err(other)) if other.kind() == ErrorKind::Io => return other,
        Some(seen) if !matches!(&seen, Err(error) if is_no_database(error)) => {
            "it is not encrypted; open it without a key"
        }
        Some(_) if in_pages => "the key is not that of the file, or it is no store at all",
        None if in_pages => {
            "it is encrypted, and opening it takes its key, or it is no store at all"
        }
        _ => return error,
    };
    Error::new(ErrorKind::WrongKey, text)
}

/// Reads from the file, by a connection of its own.
fn read(path: &Path, key: Option<&EncryptionKey>) -> Result<()> {
    let db = open(path, key)?;
    untouched(&db, path, || {
        Ok(db.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?)
    })
}

/// Looks at a file before it's known to be ours: where the look fails, nothing is written to it, not even
/// a WAL that another program left, which SQLite would bring into it when the connection is closed.
pub(super) fn untouched<T>(
    db: &Connection,
    path: &Path,
    look: impl FnOnce() -> Result<T>,
) -> Result<T> {
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    let seen = look();
    if seen.is_ok() || wal_is_empty(path) {
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    }
    seen
}

/// Whether closing the file brings nothing into it, and only removes the empty WAL that reading made.
fn wal_is_empty(path: &Path) -> bool {
    let mut wal = path.as_os_str().to_owned();
    wal.push("-wal");
    fs::metadata(wal).is_ok_and(|wal| wal.len() == 0)
}

#[cfg(feature = "sqlcipher")]
mod cipher {
    use std::fmt;
    use std::sync::{Arc, Once};

    use rusqlite::Connection;
    use zeroize::Zeroizing;

    use crate::error::{Error, Result};

    /// The key of an encrypted store, for [`StoreBuilder::key`](crate::StoreBuilder::key).
    ///
    /// Take [`raw`](Self::raw) where a keyring or a secrets store keeps 32 random bytes for you, and
    /// [`passphrase`](Self::passphrase) where a person types it. Whoever has a key can read all levels of all agents
    /// of its store. To change it, close the store and call [`StoreBuilder::rekey`](crate::StoreBuilder::rekey),
    /// which also encrypts a store that has been plain; backups that were made before keep their key.
    /// `SECURITY.md` says what encryption gives and what not.
    ///
    /// Clones share the key; it's overwritten with zeros when the last one is dropped. `Debug` doesn't show it, and
    /// no error or log holds it. What SQLCipher needs of it is in its own memory while a file is open.
    ///
    /// ```
    /// use strandline::storage::EncryptionKey;
    ///
    /// let key = EncryptionKey::passphrase("correct horse battery staple")?;
    /// assert!(!format!("{key:?}").contains("horse"));
    /// # Ok::<(), strandline::Error>(())
    /// ```
    #[derive(Clone)]
    pub struct EncryptionKey(Arc<Zeroizing<String>>);

    impl EncryptionKey {
        /// A key of 32 random bytes, used as it is. The faster one: there's nothing to derive.
        ///
        /// The caller's own copy of the bytes is the caller's to overwrite.
        ///
        /// ```
        /// use strandline::MemoryStore;
        /// use strandline::storage::EncryptionKey;
        ///
        /// let folder = tempfile::tempdir()?;
        /// let key = EncryptionKey::raw(&[7; 32]); // from the system's keyring, say
        /// let store = MemoryStore::builder().key(key).open(folder.path().join("memory.db"))?;
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub fn raw(bytes: &[u8; 32]) -> Self {
            // As long as it will be: a text that grows leaves copies behind.
            let mut literal = Zeroizing::new(String::with_capacity(2 * bytes.len() + 5));
            literal.push_str("\"x'");
            for byte in bytes {
                for digit in [byte >> 4, byte & 15] {
                    literal.push(char::from_digit(digit.into(), 16).unwrap_or('0'));
                }
            }
            literal.push_str("'\"");
            Self(Arc::new(literal))
        }

        /// A passphrase, of which each connection derives the key by 256,000 rounds of PBKDF2 with HMAC-SHA512.
        ///
        /// That takes a good tenth of a second for each of a store's connections, of which there are up
        /// to nine, opened when they are first needed, and one more for each backup and check.
        ///
        /// # Errors
        /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) for one that is empty, has a zero byte, or
        /// begins with `x'` and ends with `'`, which SQLCipher would take for a raw key.
        ///
        /// ```
        /// use strandline::storage::EncryptionKey;
        ///
        /// assert!(EncryptionKey::passphrase("it's \"quoted\"; DROP TABLE records").is_ok());
        /// assert!(EncryptionKey::passphrase("").is_err());
        /// ```
        pub fn passphrase(passphrase: &str) -> Result<Self> {
            let bytes = passphrase.as_bytes();
            if bytes.is_empty() || bytes.contains(&0) {
                return Err(Error::invalid(
                    "`passphrase` must be a text without zero bytes",
                ));
            }
            if matches!(bytes, [b'x' | b'X', b'\'', .., b'\'']) {
                let text = "`passphrase` must not look like a raw key; make one by `raw`";
                return Err(Error::invalid(text));
            }
            let mut literal = Zeroizing::new(String::with_capacity(2 * bytes.len() + 2));
            literal.push('\'');
            for letter in passphrase.chars() {
                if letter == '\'' {
                    literal.push('\'');
                }
                literal.push(letter);
            }
            literal.push('\'');
            Ok(Self(Arc::new(literal)))
        }

        /// Gives the key to a connection that hasn't read anything yet.
        pub(super) fn unlock(&self, db: &Connection) -> Result<()> {
            static QUIET: Once = Once::new();
            // SQLCipher writes what it can't read to the process's standard error, which isn't ours.
            let mut quiet = Ok(());
            QUIET.call_once(|| quiet = db.execute_batch("PRAGMA cipher_log_level = NONE"));
            quiet?;
            Ok(db.execute_batch(&self.in_sql("PRAGMA key = "))?)
        }

        /// The statement with the key after it. rusqlite hands it to SQLite without a copy.
        pub(in crate::storage::sqlite) fn in_sql(&self, statement: &str) -> Zeroizing<String> {
            let mut sql = Zeroizing::new(String::with_capacity(statement.len() + self.0.len()));
            sql.push_str(statement);
            sql.push_str(&self.0);
            sql
        }
    }

    impl fmt::Debug for EncryptionKey {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.debug_tuple("EncryptionKey").finish_non_exhaustive()
        }
    }
}
