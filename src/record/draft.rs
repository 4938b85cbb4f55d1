//! What a caller asks to save. It has no level: the gate sets that.

use std::fmt;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::limits::{Limits, check};
use super::{MemoryKey, Tag};
use crate::clock::to_micros;
use crate::error::{Error, Result};
use crate::storage::NewRecord;

/// A memory to be saved.
///
/// There is no level in it: a memory is stored at the taint of the session that saves it (rule 1).
/// It is validated by [`MemoryStore::save`](crate::MemoryStore::save). `Debug` shows sizes only.
///
/// ```
/// use strandline::{Draft, MemoryStore};
///
/// let store = MemoryStore::open_in_memory()?;
/// let session = store.session("s-1", "agent").open()?;
/// let draft = Draft::new("dentist", "Lisa, on Monday")
///     .tags(["health", "appointment"])
///     .expires_at("2030-01-01T00:00:00Z".parse().expect("a valid time"));
/// let saved = store.save(&session, draft)?;
/// assert_eq!(saved.tags.len(), 2);
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone)]
pub struct Draft {
    key: String,
    content: String,
    tags: Vec<String>,
    expires_at: Option<DateTime<Utc>>,
}

impl Draft {
    /// A draft without tags that doesn't expire.
    ///
    /// ```
    /// let draft = strandline::Draft::new("user-name", "Ada");
    /// ```
    pub fn new(key: impl Into<String>, content: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            content: content.into(),
            tags: Vec::new(),
            expires_at: None,
        }
    }

    /// Adds one tag. A tag that is there already, in any case, is dropped.
    ///
    /// ```
    /// let draft = strandline::Draft::new("k", "v").tag("project");
    /// ```
    #[must_use]
    pub fn tag(self, tag: impl Into<String>) -> Self {
        self.tags([tag])
    }

    /// Adds tags. Tags that are there already, in any case, are dropped.
    ///
    /// ```
    /// let draft = strandline::Draft::new("k", "v").tags(["rule", "project"]);
    /// ```
    #[must_use]
    pub fn tags<T: Into<String>>(mut self, tags: impl IntoIterator<Item = T>) -> Self {
        self.tags.extend(tags.into_iter().map(Into::into));
        self
    }

    /// Hides the memory from every read from this time on. A time in the past hides it at once.
    ///
    /// ```
    /// let at = "2030-01-01T00:00:00Z".parse().expect("a valid time");
    /// let draft = strandline::Draft::new("k", "v").expires_at(at);
    /// ```
    #[must_use]
    pub fn expires_at(mut self, time: DateTime<Utc>) -> Self {
        self.expires_at = Some(time);
        self
    }
}

impl fmt::Debug for Draft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Draft")
            .field("key_bytes", &self.key.len())
            .field("content_bytes", &self.content.len())
            .field("tags", &self.tags.len())
            .field("expires_at", &self.expires_at)
            .finish()
    }
}

/// The record that a draft asks for, checked against the limits.
pub(crate) fn validate(draft: Draft, limits: &Limits) -> Result<NewRecord> {
    let key = parse_key(&draft.key, limits)?;
    if draft.content.trim().is_empty() {
        return Err(Error::invalid("`content` must be a text that isn't blank"));
    }
    check(
        "content",
        draft.content.len(),
        limits.content_bytes,
        "content_bytes",
    )?;
    let mut tags: Vec<Tag> = Vec::new();
    for text in &draft.tags {
        let tag = parse_tag(text, limits)?;
        if !tags.contains(&tag) {
            tags.push(tag);
            // At each tag, so that a million of them cost no more than the first few.
            check("tags", tags.len(), limits.tags, "tags")?;
        }
    }
    Ok(NewRecord {
        key,
        content: draft.content,
        tags,
        expires_at: draft.expires_at.map(to_micros),
        lineage_id: Uuid::new_v4(),
    })
}

/// The key in `text`, checked against the limits.
pub(crate) fn parse_key(text: &str, limits: &Limits) -> Result<MemoryKey> {
    // Checked before normalising too, so that a huge text costs no more than its length.
    check(
        "key",
        text.len(),
        limits.key_bytes.saturating_mul(4),
        "key_bytes",
    )?;
    let key: MemoryKey = text.parse()?;
    check("key", key.as_str().len(), limits.key_bytes, "key_bytes")?;
    Ok(key)
}

/// The tag in `text`, checked against the limits.
pub(crate) fn parse_tag(text: &str, limits: &Limits) -> Result<Tag> {
    check(
        "tag",
        text.len(),
        limits.tag_bytes.saturating_mul(4),
        "tag_bytes",
    )?;
    let tag: Tag = text.parse()?;
    check("tag", tag.as_str().len(), limits.tag_bytes, "tag_bytes")?;
    Ok(tag)
}
