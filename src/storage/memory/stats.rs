//! Counts of what there is (clause 22).

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::{State, to_u64};
use crate::classification::Classification;
use crate::policy::HostGrant;
use crate::storage::{Counts, Namespace, Stats, VersionState};

impl State {
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
