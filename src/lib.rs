//! Persistent, cross-session memory for AI agents that is *classification-gated*.

#[macro_use]
mod planted;

mod classification;
mod clock;
mod error;
#[cfg(test)]
mod noninterference;
mod record;
mod session;
mod store;
mod sync;

pub mod audit;
pub mod policy;
pub mod search;
pub mod storage;
pub mod tools;

pub use classification::Classification;
pub use clock::Clock;
pub use error::{Error, ErrorKind, Result};
pub use record::{Draft, Limits, Memory, MemoryKey, Tag};
pub use session::{AgentId, Raise, Session, SessionId};

pub use store::{Cursor, Host, List, MemoryStore, Page, Search, SessionBuilder, StoreBuilder};
