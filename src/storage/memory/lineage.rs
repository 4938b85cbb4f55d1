//! Which versions each session has read, and what follows from it.

use std::collections::{BTreeMap, HashMap};

use super::{Row, State};
use crate::audit::{Decision, Entry};
use crate::lineage::{Origin, Reading, VersionId};
use crate::session::SessionId;
use crate::storage::Namespace;

/// Of each session and version, the number of the newest entry of the audit at the first read.
pub(super) type Reads = BTreeMap<SessionId, HashMap<VersionId, u64>>;

/// The version that an entry says was stored.
fn stored(entry: &Entry) -> Option<VersionId> {
    let facts = &entry.facts;
    let stores = facts.action.stores() && facts.decision == Decision::Allowed;
    stores.then(|| VersionId::of_entry(facts)).flatten()
}

impl State {
    /// Keeps what a read found (clauses 12 and 18).
    pub(super) fn note_read(&mut self, reading: &Reading) {
        if let Some(facts) = reading.facts() {
            self.append(facts.clone());
        }
        let after = self.audit.last().map_or(0, |entry| entry.seq);
        for version in reading.versions() {
            if self.row(version).is_some() {
                let reads = self.reads.entry(reading.session().clone()).or_default();
                reads.entry(version.clone()).or_insert(after);
            }
        }
    }

    fn row(&self, version: &VersionId) -> Option<&Row> {
        let slots = self.scope(&version.namespace, &version.agent);
        let rows = slots.get(&version.key)?.levels.get(&version.level)?;
        rows.iter()
            .find(|row| row.version.memory.version == version.version)
    }

    fn origin(&self, version: VersionId) -> Option<Origin> {
        if version.namespace == Namespace::SESSION {
            return None;
        }
        let memory = &self.row(&version)?.version.memory;
        Some(Origin::of(version, memory))
    }

    /// What the version's session had read before it saved it.
    pub(super) fn sources(&self, version: &VersionId, limit: usize) -> Vec<Origin> {
        let saves = self.audit.iter().rev();
        let save = saves
            .filter(|entry| entry.facts.key.as_ref() == Some(&version.key))
            .find(|entry| stored(entry).as_ref() == Some(version));
        let (Some(save), Some(_)) = (save, self.row(version)) else {
            return Vec::new();
        };
        let reads = self.reads.get(&save.facts.session).into_iter().flatten();
        let mut earlier: Vec<_> = reads
            .filter(|(_, after)| **after < save.seq)
            .map(|(id, after)| (*after, self.row(id).map(|row| row.order), id))
            .collect();
        earlier.sort_by_key(|(after, order, _)| (*after, *order));
        let ids = earlier.into_iter().map(|(_, _, id)| id.clone());
        ids.filter_map(|id| self.origin(id)).take(limit).collect()
    }

    /// What sessions saved after they had read the version.
    pub(super) fn derivations(&self, version: &VersionId, limit: usize) -> Vec<Origin> {
        if self.row(version).is_none() {
            return Vec::new();
        }
        let later = self.audit.iter().filter(|entry| {
            let reads = self.reads.get(&entry.facts.session);
            let after = reads.and_then(|reads| reads.get(version));
            after.is_some_and(|after| entry.seq > *after)
        });
        let saved = later.filter_map(stored);
        saved.filter_map(|id| self.origin(id)).take(limit).collect()
    }
}
