//! How these tests open files: with a key wherever stores can have one.
//!
//! With the feature `sqlcipher` every store of the suite is encrypted, and a test that looks into a file
//! from outside does so with the same key. Without it all of them are plain. A test that opens a plain file under the
//! feature, too, says why in a comment that begins with `plain:`; `tidy` looks for it.

use std::path::Path;

use rusqlite::Connection;
use strandline::storage::SqliteOptions;
use strandline::{MemoryStore, Result, StoreBuilder};

/// Whether stores have a key.
pub(crate) const IS_ON: bool = cfg!(feature = "sqlcipher");

#[cfg(feature = "sqlcipher")]
pub(crate) fn key() -> strandline::storage::EncryptionKey {
    strandline::storage::EncryptionKey::raw(&[0x5a; 32])
}

pub(crate) fn builder() -> StoreBuilder {
    let builder = MemoryStore::builder(); // plain: gets its key below
    #[cfg(feature = "sqlcipher")]
    let builder = builder.key(key());
    builder
}

pub(crate) fn open(path: impl AsRef<Path>) -> Result<MemoryStore> {
    builder().open(path)
}

pub(crate) fn options() -> SqliteOptions {
    SqliteOptions {
        #[cfg(feature = "sqlcipher")]
        key: Some(key()),
        ..SqliteOptions::default() // plain: has its key above
    }
}

/// A look into a store's file, or another program's, from outside.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place that opens what has a key"
)]
pub(crate) fn raw(path: impl AsRef<Path>) -> rusqlite::Result<Connection> {
    let db = Connection::open(path)?; // plain: gets its key below
    if IS_ON {
        db.execute_batch(&format!("PRAGMA key = \"x'{}'\"", "5a".repeat(32)))?;
    }
    Ok(db)
}

pub(crate) fn restore_backup(backup: impl AsRef<Path>, target: impl AsRef<Path>) -> Result<u64> {
    #[cfg(feature = "sqlcipher")]
    return builder().restore_backup(backup, target);
    #[cfg(not(feature = "sqlcipher"))]
    strandline::Host::restore_backup(backup, target) // plain: there are no keys
}

/// The bytes of a store's file, decrypted: each page as it is, with what was removed from it and not overwritten,
/// and so the pages that nothing uses.
pub(crate) fn image(path: &Path) -> Vec<u8> {
    if !IS_ON {
        return std::fs::read(path).unwrap();
    }
    let mut db = raw(path).unwrap();
    db.serialize(rusqlite::MAIN_DB).unwrap().to_vec()
}

/// Encrypts a closed store anew, with the same key.
#[cfg_attr(
    not(feature = "sqlcipher"),
    expect(clippy::unnecessary_wraps, reason = "it fails where there are keys")
)]
pub(crate) fn encrypt_anew(path: &Path) -> Result<()> {
    #[cfg(feature = "sqlcipher")]
    builder().rekey(path, Some(key()))?;
    assert!(path.exists());
    Ok(())
}

/// Gives the key to a plain file.
pub(crate) fn adopt(path: &Path) {
    #[cfg(feature = "sqlcipher")]
    MemoryStore::builder() // plain: so far
        .rekey(path, Some(key()))
        .unwrap();
    assert!(path.exists());
}
