//! Whole versions out of the provider, and into it (clause 21).

use chrono::{DateTime, Utc};

use super::terms::Terms;
use super::{Row, Slots, State};
use crate::record::{Memory, Tag};
use crate::search::analysis::Analysis;
use crate::storage::transfer::Place;
use crate::storage::{Imported, StoredVersion, VersionState};

impl State {
    /// Every version, in the order of storing.
    pub(super) fn versions(&self) -> Vec<StoredVersion> {
        let agents = self
            .scopes
            .iter()
            .flat_map(|(namespace, agents)| agents.values().map(move |slots| (namespace, slots)));
        let mut all: Vec<_> = agents
            .flat_map(|(namespace, slots)| rows(slots).map(move |row| (namespace, row)))
            .collect();
        all.sort_by_key(|(_, row)| row.order);
        let version = |(namespace, row): (&_, &Row)| StoredVersion {
            namespace: Clone::clone(namespace),
            version: row.version.clone(),
        };
        all.into_iter().map(version).collect()
    }

    /// Takes over one version.
    pub(super) fn import(&mut self, new: &StoredVersion, at: DateTime<Utc>) -> Imported {
        match self.known(new) {
            None => self.admit(new, at),
            Some(known) if !known.is_same(new) => Imported::Conflict,
            Some(known) if new.ends(known.version.state) => {
                self.end(new, &known.version.memory, at)
            }
            Some(_) => Imported::Unchanged,
        }
    }

    /// What is there under the version's lineage id.
    fn known(&self, new: &StoredVersion) -> Option<StoredVersion> {
        let id = new.version.memory.lineage_id;
        self.scopes.iter().find_map(|(namespace, agents)| {
            let mut rows = agents.values().flat_map(rows);
            let row = rows.find(|row| row.version.memory.lineage_id == id)?;
            Some(StoredVersion {
                namespace: namespace.clone(),
                version: row.version.clone(),
            })
        })
    }

    /// The versions of the key at the level, and the highest number of one that was removed.
    fn rows_of(&mut self, new: &StoredVersion) -> (&mut Vec<Row>, u64) {
        let Memory {
            agent,
            key,
            classification,
            ..
        } = &new.version.memory;
        let agents = self.scopes.entry(new.namespace.clone()).or_default();
        let slots = agents.entry(agent.clone()).or_default();
        let slot = slots.entry(key.clone()).or_default();
        let removed = slot.removed.get(classification).copied();
        let rows = slot.levels.entry(*classification).or_default();
        (rows, removed.unwrap_or_default())
    }

    fn admit(&mut self, new: &StoredVersion, at: DateTime<Utc>) -> Imported {
        let (order, analysis) = (self.stored, self.analysis);
        let (rows, removed) = self.rows_of(new);
        let version = place(rows, removed, new.version.memory.version).admit(&new.version, at);
        let is_live = version.state == VersionState::Live;
        if is_live && let Some(live) = rows.iter_mut().rfind(|row| row.is_live()) {
            live.end(VersionState::Superseded, at);
        }
        let number = version.memory.version;
        let terms = if is_live {
            terms(analysis, &version.memory)
        } else {
            Terms::default()
        };
        let before = rows.partition_point(|row| row.version.memory.version < number);
        let row = Row {
            version,
            order,
            terms,
        };
        rows.insert(before, row);
        self.stored = order.saturating_add(1);
        self.append(new.facts(number, at));
        Imported::Stored { version: number }
    }

    fn end(&mut self, new: &StoredVersion, known: &Memory, at: DateTime<Utc>) -> Imported {
        let (state, ended_at) = (new.version.state, new.version.ended_at);
        let (rows, _) = self.rows_of(new);
        if let Some(row) = rows
            .iter_mut()
            .find(|row| row.version.memory.lineage_id == known.lineage_id)
        {
            row.end(state, ended_at.unwrap_or(at));
        }
        self.append(new.facts(known.version, at));
        Imported::Ended
    }
}

fn rows(slots: &Slots) -> impl Iterator<Item = &Row> {
    slots
        .values()
        .flat_map(|slot| slot.levels.values().flatten())
}

fn place(rows: &[Row], removed: u64, number: u64) -> Place {
    let highest = rows.last().map_or(0, |row| row.version.memory.version);
    let live = rows.iter().rfind(|row| row.is_live());
    let deleted = rows
        .iter()
        .filter(|row| row.version.state == VersionState::Deleted);
    Place {
        highest: highest.max(removed),
        is_taken: rows.iter().any(|row| row.version.memory.version == number),
        live: live.map(|row| row.version.memory.updated_at),
        deleted: deleted.filter_map(|row| row.version.ended_at).max(),
    }
}

pub(super) fn terms(analysis: Analysis, memory: &Memory) -> Terms {
    let tags = memory.tags.iter().map(Tag::as_str);
    let content = &memory.content;
    analysis.document(memory.key.as_str(), tags, content).into()
}
