//! Restore, purge, erasure and check of what is kept in memory.

use uuid::Uuid;

use super::{Row, Slot, State, import, terms, to_u64};
use crate::error::{Error, Result};
use crate::policy::{HostGrant, WriteGrant};
use crate::record::Memory;
use crate::session::AgentId;
use crate::storage::{
    Erase, Erased, Erasure, Namespace, NewRecord, Problem, ProblemKind, Restore, Version,
    VersionState,
};

pub(super) fn restore(
    state: &mut State,
    grant: &WriteGrant<'_>,
    request: &Restore,
) -> Result<Option<Memory>> {
    state.check_taint(grant)?;
    let slots = state.scope(grant.namespace(), grant.agent());
    let rows = slots
        .get(&request.key)
        .and_then(|slot| slot.levels.get(&grant.level()));
    let numbered = |row: &&Row| row.version.memory.version == request.version;
    let Some(row) = rows.and_then(|rows| rows.iter().find(numbered)) else {
        return Ok(None);
    };
    if !row.is_unexpired(grant.now()) {
        return Err(Error::restores_expired());
    }
    let old = &row.version.memory;
    let new = NewRecord {
        key: old.key.clone(),
        content: old.content.clone(),
        tags: old.tags.clone(),
        expires_at: old.expires_at,
        lineage_id: request.lineage_id,
    };
    let terms = terms(state.analysis, &new);
    let memory = state.insert(grant, &new, terms);
    let facts = grant.restored(&memory.key, memory.version, request.version);
    state.append(facts);
    Ok(Some(memory))
}

pub(super) fn erase(state: &mut State, grant: &HostGrant, request: &Erasure) -> Result<Erased> {
    let mut versions = 0_u64;
    for (namespace, agents) in &mut state.scopes {
        if *namespace == Namespace::SESSION {
            continue;
        }
        for (agent, slots) in agents {
            for (key, slot) in slots.iter_mut() {
                let in_reach = reaches(grant, request, namespace, agent)
                    && !matches!(&request.what, Erase::Key(erased) if erased != key);
                if in_reach {
                    versions += slot.remove(|row| is_meant(request, row));
                }
            }
        }
    }
    state.append(request.facts(grant, versions)?);
    Ok(Erased {
        versions,
        complete: true,
    })
}

/// Whether the request concerns an agent in a namespace.
fn reaches(grant: &HostGrant, request: &Erasure, namespace: &Namespace, agent: &AgentId) -> bool {
    let of_agent = grant.agent() == Some(agent);
    match request.what {
        Erase::Ended { .. } => {
            namespace == grant.namespace() && (of_agent || grant.agent().is_none())
        }
        Erase::Key(_) => namespace == grant.namespace() && of_agent,
        Erase::Agent => of_agent,
        Erase::Session(_) => true,
    }
}

/// Whether the request means this version, of all that it reaches.
fn is_meant(request: &Erasure, row: &Row) -> bool {
    let Row { version, .. } = row;
    match &request.what {
        Erase::Ended { before } => match version.state {
            VersionState::Live => {
                let expires_at = version.memory.expires_at;
                !row.is_unexpired(request.now) && expires_at.is_some_and(|at| at < *before)
            }
            _ => version.ended_at.is_some_and(|at| at < *before),
        },
        Erase::Session(session) => version.memory.session == *session,
        Erase::Key(_) | Erase::Agent => true,
    }
}

impl Slot {
    /// Removes the versions that are meant, and keeps their highest numbers. How many they were.
    fn remove(&mut self, is_meant: impl Fn(&Row) -> bool) -> u64 {
        let mut count = 0;
        for (level, rows) in &mut self.levels {
            let before = rows.len();
            if let Some(last) = rows.iter().rev().find(|row| is_meant(row)) {
                let number = self.removed.entry(*level).or_default();
                *number = last.version.memory.version.max(*number);
            }
            rows.retain(|row| !is_meant(row));
            count += to_u64(before - rows.len());
        }
        count
    }
}

/// The only thing that is derived from a record are its terms.
pub(super) fn check(state: &State) -> Vec<Problem> {
    let slots = state.scopes.values().flat_map(|agents| agents.values());
    let live = slots.flat_map(|slots| slots.values()).flat_map(Slot::live);
    let terms = |row: &Row| import::terms(state.analysis, &row.version.memory);
    let is_wrong = |row: &&Row| !terms(row).is_same(&row.terms);
    let wrong: Vec<&Row> = live.map(|(_, row)| row).filter(is_wrong).collect();
    let problem = wrong.first().map(|first| Problem {
        kind: ProblemKind::Terms,
        count: to_u64(wrong.len()),
        record: Some(first.version.memory.lineage_id),
    });
    problem.into_iter().collect()
}

/// The part of a history that follows this version.
pub(super) fn page(all: Vec<Version>, after: Option<Uuid>, limit: usize) -> Result<Vec<Version>> {
    let from = match after {
        None => 0,
        Some(after) => {
            let place = all.iter().position(|row| row.memory.lineage_id == after);
            place.ok_or_else(Error::no_such_version)?.saturating_add(1)
        }
    };
    Ok(all.into_iter().skip(from).take(limit).collect())
}
