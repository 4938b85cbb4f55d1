//! What a read leaves behind, where the host asks for it.

use std::sync::Arc;

use super::gate::{Act, Gate};
use super::grant::ReadGrant;
use crate::audit::{Action, Decision, Facts};
use crate::error::Result;
use crate::lineage::{Reading, VersionId};
use crate::record::Memory;
use crate::session::Session;

/// What is kept of reads.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reads {
    /// An entry in the audit for each.
    pub(crate) audit: bool,
    /// Which versions each session got.
    pub(crate) lineage: bool,
}

impl Gate {
    /// Notes what a read found, before the session gets it.
    pub(crate) fn note_read<'m>(
        self: &Arc<Self>,
        session: &Session,
        act: Act<'_>,
        grant: &ReadGrant,
        found: impl IntoIterator<Item = &'m Memory>,
    ) -> Result<()> {
        let Reads { audit, lineage } = self.reads();
        if !audit && !lineage {
            return Ok(());
        }
        let id = |memory| VersionId::of(grant.namespace().clone(), memory);
        let mut versions: Vec<VersionId> = found.into_iter().map(id).collect();
        let facts = audit.then(|| {
            let level = grant.level();
            Facts {
                version: match versions.first() {
                    Some(only) if act.action == Action::Get => Some(only.version),
                    _ => None,
                },
                detail: Some(format!("found {}", versions.len())),
                ..self.facts(session.id(), session.agent(), act, level, Decision::Allowed)
            }
        });
        if !lineage {
            versions.clear();
        }
        if facts.is_none() && versions.is_empty() {
            return Ok(());
        }
        let reading = Reading::new(session.id().clone(), facts, versions);
        self.provider().note_read(&reading)
    }
}
