//! What the store keeps of a session: read, and written where nobody else has changed it meanwhile.

use uuid::Uuid;

use super::Gate;
use crate::audit::Action;
use crate::error::{Error, ErrorKind, Result};
use crate::policy::grant::{ReadGrant, WriteGrant, Writing};
use crate::session::{AgentId, Session, SessionId, SessionState};
use crate::storage::{Namespace, NewRecord};
use crate::sync::unpoisoned;

/// How often a change of a session is tried anew. Each time another process has changed it, which taints
/// and ceilings allow of 7 times; the rest is for imports.
pub(super) const CHANGES: usize = 16;

impl Gate {
    /// What the store has of a session.
    pub(super) fn load(&self, id: &SessionId) -> Result<Option<(AgentId, SessionState)>> {
        let grant = Self::host(Namespace::SESSION, Some(Namespace::SESSION_OWNER.parse()?));
        SessionState::from_history(&self.provider.history(&grant, &id.as_str().parse()?)?)
    }

    /// Takes on what another process recorded of the session.
    pub(super) fn catch_up(&self, session: &Session) -> Result<()> {
        let mut state = session.change();
        self.absorb(session.id(), &mut state)
    }

    pub(super) fn absorb(&self, id: &SessionId, state: &mut SessionState) -> Result<()> {
        if let Some((_, stored)) = self.load(id)? {
            state.absorb(&stored);
        }
        Ok(())
    }

    /// Writes the session's record, unless the store has it already. What other processes changed
    /// meanwhile it takes on.
    pub(super) fn record(
        &self,
        id: &SessionId,
        agent: &AgentId,
        state: &mut SessionState,
        action: Action,
    ) -> Result<()> {
        for _ in 0..CHANGES {
            if state.recorded {
                return Ok(());
            }
            match self.store(id, agent, state, action) {
                Err(error) if error.kind() == ErrorKind::TaintRaised => {
                    self.absorb(id, state)?;
                    state.refuse_above_ceiling()?;
                }
                done => return done,
            }
        }
        Err(refused_at_recorded_taint())
    }

    /// Writes the session's record, if nothing was stored of the session since this state was read.
    pub(super) fn store(
        &self,
        id: &SessionId,
        agent: &AgentId,
        state: &mut SessionState,
        action: Action,
    ) -> Result<()> {
        let record = NewRecord {
            key: id.as_str().parse()?,
            content: state.to_content(agent)?,
            tags: Vec::new(),
            expires_at: None,
            lineage_id: Uuid::new_v4(),
        };
        let lineage_id = record.lineage_id;
        let grant = WriteGrant {
            writing: Writing {
                read: ReadGrant {
                    namespace: Namespace::SESSION,
                    agent: Namespace::SESSION_OWNER.parse()?,
                    level: state.taint,
                    now: self.now(),
                },
                session: id.clone(),
                actor: agent.clone(),
                action,
                detail: state.raises.last().map(|raise| raise.reason.clone()),
                follows: state.last,
            },
            _hold: None,
        };
        match self.provider.save(&grant, &[record]) {
            Ok(_) => {
                unpoisoned(self.owed.lock()).remove(id);
                state.last = Some(lineage_id);
                state.recorded = true;
                Ok(())
            }
            Err(error) => {
                if error.kind() != ErrorKind::TaintRaised {
                    self.owe(id, state);
                }
                Err(error)
            }
        }
    }

    /// Keeps a state that could not be recorded, for when no handle is left that knows of it.
    pub(super) fn owe(&self, id: &SessionId, state: &SessionState) {
        if state.handed_out {
            unpoisoned(self.owed.lock()).insert(id.clone(), state.clone());
        }
    }
}

pub(super) fn refused_at_recorded_taint() -> Error {
    Error::corrupt(
        "what the store says of the session contradicts itself: its file is damaged, or its provider is at fault",
    )
}
