//! What is stored: memories, their keys and tags, the drafts callers write, and the limits.

mod draft;
mod key;
mod limits;
mod memory;
mod tag;
mod text;

pub use draft::Draft;
pub(crate) use draft::{parse_key, parse_tag, validate};
pub use key::MemoryKey;
pub use limits::Limits;
pub(crate) use limits::check as check_limit;
pub use memory::Memory;
pub use tag::Tag;
pub(crate) use text::nfc;
