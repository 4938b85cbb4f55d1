//! Counts of what there is (clause 22).

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::State;
use crate::classification::Classification;
use crate::policy::HostGrant;
use crate::storage::{Counts, Holding, Namespace, Stats, VersionState};

impl State {
    /// What each agent has at each level, by agent and level (clause 22).
    pub(super) fn holdings(&self, grant: &HostGrant, now: DateTime<Utc>) -> Vec<Holding> {
        let mut found: BTreeMap<_, Holding> = BTreeMap::new();
        let scopes = self.scopes.get(grant.namespace()).into_iter().flatten();
        let wanted = |agent| grant.agent().is_none_or(|wanted| wanted == agent);
        for (agent, slots) in scopes.filter(|(agent, _)| wanted(*agent)) {
            let levels = slots.values().flat_map(|slot| &slot.levels);
            let rows = levels.flat_map(|(level, rows)| rows.iter().map(move |row| (level, row)));
            let live = rows.filter(|(_, row)| {
                row.version.state == VersionState::Live && row.is_unexpired(now)
            });
            for (level, row) in live {
                let memory = &row.version.memory;
                let holding = found.entry((agent, level)).or_insert_with(|| Holding {
                    agent: agent.clone(),
                    level: *level,
                    memories: 0,
                    content_bytes: 0,
                    newest: memory.updated_at,
                });
                holding.memories += 1;
                holding.content_bytes += to_u64(memory.content.len());
                holding.newest = holding.newest.max(memory.updated_at);
            }
        }
        found.into_values().collect()
    }

    /// Counts what there is (clause 22).
    pub(super) fn stats(&self, grant: &HostGrant, now: DateTime<Utc>) -> Stats {
        let scopes = |namespace| self.scopes.get(namespace).into_iter().flatten();
        let mut levels: BTreeMap<_, Counts> = Classification::ALL
            .map(|level| (level, Counts::default()))
            .into();
        let wanted = |agent| grant.agent().is_none_or(|wanted| wanted == agent);
        let slots = scopes(grant.namespace()).filter(|(agent, _)| wanted(*agent));
        let rows = slots.flat_map(|(_, slots)| slots.values().flat_map(|slot| &slot.levels));
        for (level, row) in rows.flat_map(|(level, rows)| rows.iter().map(move |row| (level, row)))
        {
            let counts = levels.entry(*level).or_default();
            let count = match row.version.state {
                VersionState::Live if row.is_unexpired(now) => &mut counts.live,
                VersionState::Live => &mut counts.expired,
                VersionState::Superseded => &mut counts.superseded,
                VersionState::Deleted => &mut counts.deleted,
            };
            *count = count.saturating_add(1);
        }
        Stats {
            levels,
            agents: to_u64(scopes(grant.namespace()).count()),
            sessions: to_u64(
                scopes(&Namespace::SESSION)
                    .map(|(_, slots)| slots.len())
                    .sum(),
            ),
            audit_entries: to_u64(self.audit.len()),
            sizes: None,
        }
    }
}

pub(super) fn to_u64(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
