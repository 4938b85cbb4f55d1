//! The provider over SQLite (being written).

use std::path::Path;
use std::time::Duration;

use super::{
    Deletion, Hit, ListPage, ListRequest, NewRecord, SearchRequest, StorageProvider, Version,
};
use crate::audit;
use crate::error::{Error, Result};
use crate::policy::{HostGrant, ReadGrant, WriteGrant};
use crate::record::{Memory, MemoryKey};

/// What an acknowledged write survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The loss of power.
    #[default]
    Full,
    /// The end of the process only.
    Normal,
}

/// Options.
#[derive(Clone, Debug)]
pub struct SqliteOptions {
    /// What an acknowledged write survives.
    pub durability: Durability,
    /// How long to wait for another connection.
    pub busy_timeout: Duration,
    /// Whether to make missing folders.
    pub create_folders: bool,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self {
            durability: Durability::Full,
            busy_timeout: Duration::from_secs(30),
            create_folders: false,
        }
    }
}

/// Records in a SQLite file.
#[derive(Debug)]
pub struct Sqlite {}

impl Sqlite {
    /// Opens.
    ///
    /// # Errors
    /// Yes.
    pub fn open(_: impl AsRef<Path>, _: &SqliteOptions) -> Result<Self> {
        Err(unwritten())
    }
}

fn unwritten() -> Error {
    Error::internal("being written")
}
impl StorageProvider for Sqlite {
    fn is_durable(&self) -> bool {
        true
    }
    fn get(&self, _: &ReadGrant, _: &MemoryKey) -> Result<Option<Memory>> {
        Err(unwritten())
    }
    fn list(&self, _: &ReadGrant, _: &ListRequest) -> Result<ListPage> {
        Err(unwritten())
    }
    fn search(&self, _: &ReadGrant, _: &SearchRequest) -> Result<Vec<Hit>> {
        Err(unwritten())
    }
    fn save(&self, _: &WriteGrant<'_>, _: &[NewRecord]) -> Result<Vec<Memory>> {
        Err(unwritten())
    }
    fn delete(&self, _: &WriteGrant<'_>, _: &MemoryKey) -> Result<Deletion> {
        Err(unwritten())
    }
    fn append(&self, _: &audit::Event) -> Result<()> {
        Err(unwritten())
    }
    fn history(&self, _: &HostGrant, _: &MemoryKey) -> Result<Vec<Version>> {
        Err(unwritten())
    }
    fn audit(&self, _: &HostGrant, _: &audit::Query) -> Result<Vec<audit::Entry>> {
        Err(unwritten())
    }
}
