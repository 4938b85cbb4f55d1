//! Replies as text, down to the last bit, so that they can be compared.

use std::collections::{BTreeMap, BTreeSet};

use uuid::{Uuid, Variant};

use crate::{Hit, Memory, Page, Result, Session};

/// What came back: the value by `show`, or everything that an error tells.
pub(super) fn reply<T>(result: &Result<T>, show: impl FnOnce(&T) -> String) -> String {
    match result {
        Ok(value) => show(value),
        Err(error) => format!("{} | {error} | {error:?}", error.kind().code()),
    }
}

pub(super) fn memory(memory: &Memory) -> String {
    format!("{} {memory:?}", serde_json::to_string(memory).unwrap())
}

pub(super) fn maybe(found: Option<&Memory>) -> String {
    found.map_or_else(|| String::from("none"), memory)
}

pub(super) fn memories(memories: &[Memory]) -> String {
    let lines: Vec<String> = memories.iter().map(memory).collect();
    format!("[{}]", lines.join(", "))
}

pub(super) fn hits(hits: &[Hit]) -> String {
    let hit = |hit: &Hit| {
        format!(
            "{:016x} {} {} {hit:?}",
            hit.score.to_bits(),
            memory(&hit.memory),
            serde_json::to_string(&hit.explanation).unwrap(),
        )
    };
    let lines: Vec<String> = hits.iter().map(hit).collect();
    format!("[{}]", lines.join(", "))
}

pub(super) fn page(page: &Page) -> String {
    let next = page.next.as_ref().map(ToString::to_string);
    format!("{} {next:?} {page:?}", memories(&page.memories))
}

pub(super) fn session(session: &Session) -> String {
    let raises = session.raises();
    format!(
        "{session:?} {} {} {} {raises:?}",
        session.taint(),
        session.ceiling(),
        serde_json::to_string(&raises).unwrap(),
    )
}

/// Gives random ids the names that their order of appearance gives them.
///
/// Version 4 ids only: any other kind, such as one counted up, is compared as it is.
#[derive(Default)]
pub(super) struct Names {
    names: BTreeMap<Uuid, usize>,
}

impl Names {
    pub(super) fn rename(&mut self, text: &str) -> String {
        let mut renamed = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((at, id)) = find_random_id(rest) {
            let next = self.names.len();
            let name = *self.names.entry(id).or_insert(next);
            renamed = renamed + &rest[..at] + "<id " + &name.to_string() + ">";
            rest = &rest[at + ID..];
        }
        renamed + rest
    }

    /// The ids themselves. No two runs share one if they are random.
    pub(super) fn ids(self) -> BTreeSet<Uuid> {
        self.names.into_keys().collect()
    }
}

/// The length of an id as text.
const ID: usize = 36;

/// The first random id in the text, and where it starts.
fn find_random_id(text: &str) -> Option<(usize, Uuid)> {
    text.match_indices('-').find_map(|(hyphen, _)| {
        let start = hyphen.checked_sub(8)?;
        let id = Uuid::try_parse(text.get(start..start + ID)?).ok()?;
        let random = id.get_version_num() == 4 && id.get_variant() == Variant::RFC4122;
        random.then_some((start, id))
    })
}
