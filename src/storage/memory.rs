//! The provider in memory (being written).

use super::{
    Deletion, Hit, ListPage, ListRequest, NewRecord, SearchRequest, StorageProvider, Version,
};
use crate::audit;
use crate::error::{Error, Result};
use crate::policy::{HostGrant, ReadGrant, WriteGrant};
use crate::record::{Memory, MemoryKey};

/// Records in memory.
#[derive(Debug, Default)]
pub struct InMemory {}

impl InMemory {
    /// An empty provider.
    pub fn new() -> Self {
        Self::default()
    }
}

fn unwritten() -> Error {
    Error::internal("being written")
}

impl StorageProvider for InMemory {
    fn is_durable(&self) -> bool {
        false
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
