//! Save and delete.

use uuid::Builder;

use super::{Action, Fault, Faulty, LOW, Row};
use crate::policy::{HostGrant, ReadGrant, WriteGrant};
use crate::record::MemoryKey;
use crate::storage::{Deletion, Namespace, NewRecord, StorageProvider as _, Version};
use crate::{Classification, Error, ErrorKind, Memory, Result};

pub(super) fn save(
    of: &Faulty,
    grant: &WriteGrant<'_>,
    records: &[NewRecord],
) -> Result<Vec<Memory>> {
    if *grant.namespace() == Namespace::SESSION {
        let mut journal = of.journal();
        let captured = journal.captured.entry(grant.session().clone());
        captured.or_insert(grant.level());
        return match of.fault {
            Some(Fault::SessionsForgotten) => Ok(Vec::new()),
            _ => of.records.save(grant, records),
        };
    }
    let mut records = records.to_vec();
    for record in &mut records {
        prepare(of, grant, record)?;
    }
    let mut saved = match forged(of, grant) {
        Some(grant) => of.records.save(&grant, &records)?,
        None => of.records.save(grant, &records)?,
    };
    for memory in &mut saved {
        let mut journal = of.journal();
        let next = journal.sequence.len();
        journal.sequence.insert(memory.lineage_id, next);
        journal.latest = journal.latest.max(grant.now());
        let latest = journal.latest;
        drop(journal);
        if of.has(Fault::UpdatedAtNeverBack) {
            memory.updated_at = memory.updated_at.max(latest);
        }
        falsify(of, grant, memory);
    }
    Ok(saved)
}

/// What a fault does to a record before it is stored.
fn prepare(of: &Faulty, grant: &WriteGrant<'_>, record: &mut NewRecord) -> Result<()> {
    let same_key = |row: &Row| row.memory.key == record.key;
    let rows = || of.rows(grant.namespace(), grant.agent());
    match of.fault {
        Some(Fault::SaveRefusedBelowHigher) => {
            let higher = |row: &&Row| !row.deleted && row.memory.classification > grant.level();
            if rows().iter().filter(higher).any(same_key) {
                return Err(Error::new(ErrorKind::Denied, "the key is taken"));
            }
        }
        Some(Fault::SequentialIds | Fault::SequentialIdsDressedUp) => {
            let mut journal = of.journal();
            journal.ids += 1;
            let bytes = journal.ids.to_be_bytes();
            record.lineage_id = match of.fault {
                Some(Fault::SequentialIds) => uuid::Uuid::from_bytes(bytes),
                _ => Builder::from_random_bytes(bytes).into_uuid(),
            };
        }
        Some(Fault::DeletedTagsReturn) => {
            let rows = rows();
            let deleted = rows.iter().filter(|row| row.deleted && same_key(row));
            for row in deleted.filter(|row| row.memory.classification == grant.level()) {
                let tags = row
                    .memory
                    .tags
                    .iter()
                    .filter(|tag| !record.tags.contains(tag));
                record.tags.extend(tags.cloned().collect::<Vec<_>>());
            }
        }
        Some(Fault::SaveTouchesAllLevels) => {
            for row in rows().iter().filter(|row| !row.deleted && same_key(row)) {
                if row.memory.classification != grant.level() {
                    delete_at(of, grant, row)?;
                }
            }
        }
        _ => (),
    }
    Ok(())
}

/// A grant of another level than the gate's, for a session without a recorded taint.
fn forged(of: &Faulty, grant: &WriteGrant<'_>) -> Option<WriteGrant<'static>> {
    let level = match of.fault {
        Some(Fault::TaintCaptured) => *of.journal().captured.get(grant.session())?,
        Some(Fault::WritesOneLevelDown) => {
            Classification::from_rank(grant.level().rank().saturating_sub(1))?
        }
        _ => return None,
    };
    Some(forge(grant, level))
}

fn forge(grant: &WriteGrant<'_>, level: Classification) -> WriteGrant<'static> {
    let (namespace, agent) = (grant.namespace().clone(), grant.agent().clone());
    let read = ReadGrant::forge(namespace, agent, level, grant.now());
    let nobody = format!("nobody-{LOW}").parse().unwrap();
    WriteGrant::forge(read, nobody, Action::Save)
}

fn delete_at(of: &Faulty, grant: &WriteGrant<'_>, row: &Row) -> Result<()> {
    let grant = forge(grant, row.memory.classification);
    of.records.delete(&grant, &row.memory.key).map(drop)
}

/// What a fault makes of the reply to a save.
fn falsify(of: &Faulty, grant: &WriteGrant<'_>, memory: &mut Memory) {
    let history = |agent: &str| {
        let host = HostGrant::forge(grant.namespace().clone(), Some(agent.parse().unwrap()));
        of.records.history(&host, &memory.key).unwrap()
    };
    let own = || history(grant.agent().as_str());
    let count = |versions: &[Version]| u64::try_from(versions.len()).unwrap();
    match of.fault {
        Some(Fault::VersionsOverLevels) => memory.version = count(&own()),
        Some(Fault::VersionsOverAgents) => {
            let others = super::OTHERS.map(|agent| count(&history(agent)));
            memory.version += others.iter().sum::<u64>();
        }
        Some(Fault::CreatedAtOtherLevel) => {
            let times = own().into_iter().map(|version| version.memory.created_at);
            memory.created_at = times.min().unwrap();
        }
        _ => (),
    }
}

pub(super) fn delete(of: &Faulty, grant: &WriteGrant<'_>, key: &MemoryKey) -> Result<Deletion> {
    let rows = of.rows(grant.namespace(), grant.agent());
    let same_key = |row: &&Row| !row.deleted && row.memory.key == *key;
    let done = match forged(of, grant) {
        Some(grant) => of.records.delete(&grant, key)?,
        None => of.records.delete(grant, key)?,
    };
    match (of.fault, done) {
        (Some(Fault::DeletesAllLevels), Deletion::Done { .. }) => {
            for row in rows.iter().filter(same_key) {
                delete_at(of, grant, row)?;
            }
        }
        (Some(fault), Deletion::NotFound) => {
            let higher = rows
                .iter()
                .filter(same_key)
                .map(|row| row.memory.classification);
            if let Some(level) = higher.max().filter(|&level| level > grant.level()) {
                if fault == Fault::DeleteTellsOfHigher {
                    return Ok(Deletion::WrongLevel(level));
                }
                if fault == Fault::DeleteNamesHigher {
                    let text = format!("there is no memory below {level} under this key");
                    return Err(Error::new(ErrorKind::NotFound, text));
                }
            }
        }
        _ => (),
    }
    Ok(done)
}
