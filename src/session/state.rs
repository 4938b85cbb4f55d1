//! The part of a session that is kept in the store.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{AgentId, Raise};
use crate::classification::Classification;
use crate::error::{Error, ErrorKind, Result};
use crate::storage::Version;

/// A session's taint and how it came about.
///
/// It is kept as a record of the namespace `session`, classified at the taint. Since one key may
/// live at several levels, the highest live level of that key is the highest taint ever recorded,
/// whatever was written since: the ratchet holds in the store too.
#[derive(Clone, Debug)]
pub(crate) struct SessionState {
    pub(crate) taint: Classification,
    pub(crate) ceiling: Classification,
    pub(crate) raises: Vec<Raise>,
    /// The version of its record that was stored last, as far as is known.
    pub(crate) last: Option<Uuid>,
    /// Whether the store has this state.
    pub(crate) recorded: bool,
    /// Whether the host has a handle of the session.
    pub(crate) handed_out: bool,
    /// Whether it is a view of the host's: nothing of it is stored, and nothing is written in it.
    pub(crate) is_view: bool,
}

/// The record's content.
#[derive(Serialize, Deserialize)]
struct Stored {
    agent: AgentId,
    taint: Classification,
    ceiling: Classification,
    raises: Vec<Raise>,
}

impl SessionState {
    /// A session that has read nothing yet.
    pub(crate) fn new() -> Self {
        Self {
            taint: Classification::Public,
            ceiling: Classification::Restricted,
            raises: Vec::new(),
            last: None,
            recorded: false,
            handed_out: false,
            is_view: false,
        }
    }

    /// That of a view at a level, which it can't leave. There is nothing to record of it.
    pub(crate) fn view(level: Classification) -> Self {
        Self {
            taint: level,
            ceiling: level,
            recorded: true,
            is_view: true,
            ..Self::new()
        }
    }

    pub(crate) fn refuse_view(&self) -> Result<()> {
        if self.is_view {
            let text = "a view of the host's only reads";
            return Err(Error::new(ErrorKind::ReadOnly, text));
        }
        Ok(())
    }

    /// Whether another process raised the session above a ceiling that this one set meanwhile. Such
    /// a session is at an end: it neither reads nor writes.
    pub(crate) fn refuse_above_ceiling(&self) -> Result<()> {
        if self.taint.can_flow_to(self.ceiling) {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::CeilingExceeded,
            format!(
                "the session's taint, {}, is above its ceiling, {}",
                self.taint, self.ceiling
            ),
        ))
    }

    /// Takes on a rise that a handle, since dropped, could not record.
    pub(crate) fn remember(&mut self, owed: &Self) {
        self.ceiling = self.ceiling.meet(owed.ceiling);
        if owed.taint > self.taint {
            self.taint = owed.taint;
            self.raises.clone_from(&owed.raises);
            self.recorded = false;
        }
    }

    /// Takes on a higher taint; never a lower.
    pub(crate) fn rise(&mut self, level: Classification, reason: &str, at: DateTime<Utc>) {
        if level > self.taint {
            self.raises.push(Raise {
                from: self.taint,
                to: level,
                reason: reason.to_owned(),
                at,
            });
            self.taint = level;
            self.recorded = false;
        }
    }

    /// Sets a ceiling, or a lower one than before.
    pub(crate) fn tighten(&mut self, ceiling: Classification) -> Result<()> {
        let ceiling = ceiling.meet(self.ceiling);
        if !self.taint.can_flow_to(ceiling) {
            return Err(Error::new(
                ErrorKind::SessionMismatch,
                format!(
                    "the session's taint, {}, is above the ceiling {ceiling}",
                    self.taint
                ),
            ));
        }
        if ceiling < self.ceiling {
            self.ceiling = ceiling;
            self.recorded = false;
        }
        Ok(())
    }

    /// Takes on what the store has of the session.
    pub(crate) fn absorb(&mut self, stored: &Self) {
        if stored.taint > self.taint {
            self.taint = stored.taint;
            self.raises.clone_from(&stored.raises);
        }
        self.ceiling = self.ceiling.meet(stored.ceiling);
        self.last = stored.last;
        let same = (self.taint, self.ceiling) == (stored.taint, stored.ceiling);
        self.recorded = same && stored.recorded;
    }

    /// The content of the session's record.
    pub(crate) fn to_content(&self, agent: &AgentId) -> Result<String> {
        serde_json::to_string(&Stored {
            agent: agent.clone(),
            taint: self.taint,
            ceiling: self.ceiling,
            raises: self.raises.clone(),
        })
        .map_err(|e| Error::internal("a session's state can't be written as JSON").with_source(e))
    }

    /// Reads the session back from every version of its record, newest first: its agent and state.
    ///
    /// The agent is whoever opened it first. The taint is the highest level that any version has or
    /// names, so no later record can lower it.
    pub(crate) fn from_history(versions: &[Version]) -> Result<Option<(AgentId, Self)>> {
        let mut owner = None;
        let mut state = Self {
            last: versions.first().map(|version| version.memory.lineage_id),
            ..Self::new()
        };
        for version in versions.iter().rev() {
            let level = version.memory.classification;
            let stored: Stored = serde_json::from_str(&version.memory.content).map_err(|_| {
                // Without its source: serde's message would quote the content.
                Error::corrupt("a session's record is not the JSON that it was saved as")
            })?;
            let taint = stored
                .raises
                .iter()
                .fold(stored.taint.join(level), |taint, raise| {
                    taint.join(raise.to)
                });
            state.ceiling = state.ceiling.meet(stored.ceiling);
            state.recorded = state.taint.join(taint).can_flow_to(state.taint.join(level));
            state.taint = state.taint.join(taint);
            // Two processes may each have recorded rises that the other didn't know of.
            for raise in stored.raises {
                if state.raises.iter().all(|known| known.to != raise.to) {
                    state.raises.push(raise);
                }
            }
            owner.get_or_insert(stored.agent);
        }
        Ok(owner.map(|owner| (owner, state)))
    }
}
