//! The gate itself: sessions in, grants out.

mod record;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Weak};

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::grant::{HostGrant, ReadGrant, WriteGrant, Writing};
use super::noted::Reads;
use super::rule::{Request, Rule};
use crate::audit::{Action, Decision, Event, Facts};
use crate::classification::Classification;
use crate::clock::{Clock, to_micros};
use crate::error::{Error, ErrorKind, Result};
use crate::observe::{Observers, Probe};
use crate::record::{MemoryKey, check_limit};
use crate::session::{AgentId, Inner, Session, SessionId, SessionState, TaintHold};
use crate::storage::{Namespace, StorageProvider};
use crate::sync::{Mutex, unpoisoned};
use record::{CHANGES, refused_at_recorded_taint};

/// The longest reason of a raise, in bytes.
const REASON_BYTES: usize = 1_024;

/// Turns sessions into grants. One for each store, shared by its clones and namespaces.
pub(crate) struct Gate {
    provider: Arc<dyn StorageProvider>,
    rules: Vec<Arc<dyn Rule>>,
    clock: Arc<dyn Clock>,
    reads: Reads,
    observers: Observers,
    /// The sessions that are open now, so that every handle of an id shares one taint.
    live: Mutex<HashMap<SessionId, Weak<Inner>>>,
    /// The state of sessions whose last rise could not be recorded, also once their handles are gone.
    owed: Mutex<HashMap<SessionId, SessionState>>,
}

/// What a verb is about to do: the part of a [`Request`] that doesn't depend on the session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Act<'a> {
    pub(crate) action: Action,
    pub(crate) namespace: &'a Namespace,
    pub(crate) key: Option<&'a MemoryKey>,
    pub(crate) tool: Option<&'a str>,
    /// Where to note the level at which it is done.
    pub(super) probe: Option<&'a Probe>,
}

impl<'a> Act<'a> {
    pub(crate) fn new(action: Action, namespace: &'a Namespace) -> Self {
        Self {
            action,
            namespace,
            key: None,
            tool: None,
            probe: None,
        }
    }

    pub(crate) fn on(self, key: &'a MemoryKey) -> Self {
        Self {
            key: Some(key),
            ..self
        }
    }

    /// The level at which it is done is noted there.
    pub(crate) fn seen_by(self, probe: &'a Probe) -> Self {
        Self {
            probe: Some(probe),
            ..self
        }
    }

    pub(super) fn is_at(self, level: Classification) {
        if let Some(probe) = self.probe {
            probe.note(level);
        }
    }
}

impl fmt::Debug for Gate {
    /// Without the open sessions: whoever may see one store's `Debug` may not know of all of them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate").finish_non_exhaustive()
    }
}

impl Gate {
    pub(crate) fn new(
        provider: Arc<dyn StorageProvider>,
        rules: Vec<Arc<dyn Rule>>,
        clock: Arc<dyn Clock>,
        reads: Reads,
        observers: Observers,
    ) -> Self {
        Self {
            provider,
            rules,
            clock,
            reads,
            observers,
            live: Mutex::new(HashMap::new()),
            owed: Mutex::new(HashMap::new()),
        }
    }

    pub(crate) fn provider(&self) -> &dyn StorageProvider {
        &*self.provider
    }

    pub(crate) fn observers(&self) -> &Observers {
        &self.observers
    }

    pub(super) fn reads(&self) -> Reads {
        self.reads
    }

    pub(crate) fn now(&self) -> DateTime<Utc> {
        to_micros(self.clock.now())
    }

    /// Leave for the host; see [`HostGrant`].
    pub(crate) fn host(namespace: Namespace, agent: Option<AgentId>) -> HostGrant {
        HostGrant { namespace, agent }
    }

    /// Leave to read at the taint that the session has now.
    pub(crate) fn read(self: &Arc<Self>, session: &Session, act: Act<'_>) -> Result<ReadGrant> {
        let level = match self.settled_for(session, act)? {
            hold if planted!(ReadsAtCeiling) => hold.ceiling,
            hold => hold.taint,
        };
        act.is_at(level);
        self.judge(session.id(), session.agent(), act, level)?;
        Ok(ReadGrant {
            namespace: act.namespace.clone(),
            agent: session.agent().clone(),
            level,
            now: self.now(),
        })
    }

    /// Runs a write at the taint in force, which can't rise until it is done.
    ///
    /// Where another process has raised the session meanwhile, the provider refuses; the session
    /// then takes on that taint and the write is tried again, at the new level.
    pub(crate) fn write<T>(
        self: &Arc<Self>,
        session: &Session,
        act: Act<'_>,
        write: impl Fn(&WriteGrant<'_>) -> Result<T>,
    ) -> Result<T> {
        for _ in Classification::ALL {
            let result = {
                let hold = self.settled_for(session, act)?;
                hold.refuse_view()?;
                let level = hold.taint;
                act.is_at(level);
                self.judge(session.id(), session.agent(), act, level)?;
                write(&WriteGrant {
                    writing: Writing {
                        read: ReadGrant {
                            namespace: act.namespace.clone(),
                            agent: session.agent().clone(),
                            level,
                            now: self.now(),
                        },
                        session: session.id().clone(),
                        actor: session.agent().clone(),
                        action: act.action,
                        detail: None,
                        follows: None,
                    },
                    _hold: Some(hold).filter(|_| !planted!(HoldDropped)),
                })
            };
            match result {
                Err(error) if error.kind() == ErrorKind::TaintRaised => self.catch_up(session)?,
                done => return done,
            }
        }
        Err(refused_at_recorded_taint())
    }

    /// Asks the host's rules about one part of a write under way.
    pub(crate) fn judge_write(&self, grant: &WriteGrant<'_>, act: Act<'_>) -> Result<()> {
        let Writing { session, actor, .. } = grant.writing();
        self.judge(session, actor, act, grant.level())
    }

    /// Notes in the audit why a write under way came to nothing.
    pub(crate) fn refuse_write(
        &self,
        grant: &WriteGrant<'_>,
        act: Act<'_>,
        error: &Error,
    ) -> Result<()> {
        let Writing { session, actor, .. } = grant.writing();
        self.refuse(session, actor, act, grant.level(), error)
    }

    /// Notes in the audit what belongs to no write.
    pub(super) fn note(
        self: &Arc<Self>,
        session: &Session,
        act: Act<'_>,
        decision: Decision,
        detail: String,
    ) -> Result<()> {
        let level = self.settled(session)?.taint;
        self.append(session.id(), session.agent(), act, level, decision, detail)
    }

    /// Raises the session's taint to at least `level`; see [`Session::raise`].
    pub(crate) fn raise(
        &self,
        session: &Session,
        level: Classification,
        reason: &str,
    ) -> Result<Classification> {
        check_limit("reason", reason.len(), REASON_BYTES, "reason_bytes")?;
        let mut state = session.change();
        for _ in 0..CHANGES {
            if level <= state.taint {
                self.record(session.id(), session.agent(), &mut state, Action::Raise)?;
                return Ok(state.taint);
            }
            match self.rise(session, &mut state, level, reason) {
                Err(error) if error.kind() == ErrorKind::TaintRaised => (),
                Err(error) => return Err(error),
                Ok(()) => return Ok(state.taint),
            }
        }
        Err(refused_at_recorded_taint())
    }

    /// Decides on a rise, by what the store has of the session, and records it. Where another process
    /// changes the session before that, nothing has come of it.
    fn rise(
        &self,
        session: &Session,
        state: &mut SessionState,
        level: Classification,
        reason: &str,
    ) -> Result<()> {
        let (id, agent) = (session.id(), session.agent());
        // Another process may have set a ceiling. If that can't be read, the taint rises anyway.
        let known = self.absorb(id, state);
        if known.is_ok() && level <= state.taint {
            return self.record(id, agent, state, Action::Raise);
        }
        let act = Act::new(Action::Raise, &Namespace::SESSION);
        if !level.can_flow_to(state.ceiling) {
            let error = Error::new(
                ErrorKind::CeilingExceeded,
                format!("the session's ceiling is {}, below {level}", state.ceiling),
            );
            self.refuse(id, agent, act, level, &error)?;
            return Err(error);
        }
        self.judge(id, agent, act, level)?;
        let mut next = state.clone();
        next.rise(level, reason, self.now());
        let stored = match known {
            Ok(()) => self.store(id, agent, &mut next, Action::Raise),
            Err(error) => {
                self.owe(id, &next);
                Err(error)
            }
        };
        if !matches!(&stored, Err(error) if error.kind() == ErrorKind::TaintRaised) {
            *state = next;
        }
        stored
    }

    /// Opens or resumes the session of this id.
    pub(crate) fn open(
        self: &Arc<Self>,
        id: &SessionId,
        agent: &AgentId,
        taint: Classification,
        ceiling: Classification,
    ) -> Result<Session> {
        let mut live = unpoisoned(self.live.lock());
        live.retain(|_, session| session.strong_count() > 0);
        let known = live
            .get(id)
            .and_then(Weak::upgrade)
            .map(Session::from_inner);
        if let Some(session) = known {
            // It may be waited for, and the openings of other sessions need not wait with it.
            drop(live);
            self.same_agent(id, session.agent(), agent, taint)?;
            let mut state = session.change();
            // Another process may have raised it since.
            self.absorb(id, &mut state)?;
            self.admit(id, agent, &mut state, taint, ceiling)?;
            drop(state);
            return Ok(session);
        }
        let mut state = match self.load(id)? {
            Some((owner, state)) => {
                self.same_agent(id, &owner, agent, taint)?;
                state
            }
            None => SessionState::new(),
        };
        if let Some(owed) = unpoisoned(self.owed.lock()).get(id) {
            state.remember(owed);
        }
        self.admit(id, agent, &mut state, taint, ceiling)?;
        state.handed_out = true;
        let session = Session::new(id.clone(), agent.clone(), Arc::clone(self), state);
        live.insert(id.clone(), Arc::downgrade(session.inner()));
        Ok(session)
    }

    /// A session of no name that is at this level for good, only reads, and leaves no record.
    pub(crate) fn view(
        self: &Arc<Self>,
        agent: &AgentId,
        level: Classification,
    ) -> Result<Session> {
        let id = format!("view-{}", Uuid::new_v4()).parse()?;
        let act = Act::new(Action::Open, &Namespace::SESSION);
        self.judge(&id, agent, act, level)?;
        let state = SessionState::view(level);
        Ok(Session::new(id, agent.clone(), Arc::clone(self), state))
    }

    /// Refuses a session that another agent owns.
    fn same_agent(
        &self,
        id: &SessionId,
        owner: &AgentId,
        agent: &AgentId,
        level: Classification,
    ) -> Result<()> {
        if owner == agent {
            return Ok(());
        }
        let error = Error::new(
            ErrorKind::SessionMismatch,
            "the session id belongs to another agent",
        );
        let act = Act::new(Action::Open, &Namespace::SESSION);
        self.refuse(id, agent, act, level, &error)?;
        Err(error)
    }

    /// Applies what an opening asks for to the session's state, and records it. Where another process
    /// changes the session before that, it is decided anew.
    fn admit(
        &self,
        id: &SessionId,
        agent: &AgentId,
        state: &mut SessionState,
        taint: Classification,
        ceiling: Classification,
    ) -> Result<()> {
        for _ in 0..CHANGES {
            match self.try_admit(id, agent, state, taint, ceiling) {
                Err(error) if error.kind() == ErrorKind::TaintRaised => (),
                done => return done,
            }
            if let Some((owner, stored)) = self.load(id)? {
                // The first to open the id owns it.
                self.same_agent(id, &owner, agent, taint)?;
                state.absorb(&stored);
            }
        }
        Err(refused_at_recorded_taint())
    }

    fn try_admit(
        &self,
        id: &SessionId,
        agent: &AgentId,
        state: &mut SessionState,
        taint: Classification,
        ceiling: Classification,
    ) -> Result<()> {
        let act = Act::new(Action::Open, &Namespace::SESSION);
        let level = state.taint.join(taint);
        self.judge(id, agent, act, level)?;
        let mut next = state.clone();
        let admitted = next.tighten(ceiling).and_then(|()| {
            if level.can_flow_to(next.ceiling) {
                return Ok(());
            }
            Err(Error::new(
                ErrorKind::CeilingExceeded,
                format!("the session's ceiling is {}, below {level}", next.ceiling),
            ))
        });
        if let Err(error) = admitted {
            self.refuse(id, agent, act, level, &error)?;
            return Err(error);
        }
        next.rise(taint, "opened at this level", self.now());
        if next.recorded {
            let detail = String::from("resumed");
            return self.append(id, agent, act, level, Decision::Allowed, detail);
        }
        let stored = self.store(id, agent, &mut next, Action::Open);
        if !matches!(&stored, Err(error) if error.kind() == ErrorKind::TaintRaised) {
            *state = next;
        }
        stored
    }

    /// As [`settled`](Self::settled); a session at its end is refused in the audit.
    fn settled_for<'s>(
        self: &Arc<Self>,
        session: &'s Session,
        act: Act<'_>,
    ) -> Result<TaintHold<'s>> {
        let settled = self.settled(session);
        if let Err(error) = &settled
            && error.kind() == ErrorKind::CeilingExceeded
        {
            let level = session.taint();
            self.refuse(session.id(), session.agent(), act, level, error)?;
        }
        settled
    }

    /// The session's state, held once its taint is recorded.
    pub(super) fn settled<'s>(self: &Arc<Self>, session: &'s Session) -> Result<TaintHold<'s>> {
        if !Arc::ptr_eq(self, session.gate()) {
            return Err(Error::invalid(
                "the session must have been opened from this store",
            ));
        }
        loop {
            let hold = session.hold();
            hold.refuse_above_ceiling()?;
            if hold.recorded {
                return Ok(hold);
            }
            drop(hold);
            let mut state = session.change();
            self.record(session.id(), session.agent(), &mut state, Action::Raise)?;
        }
    }

    /// Asks the host's rules; a denial is noted in the audit.
    pub(super) fn judge(
        &self,
        session: &SessionId,
        agent: &AgentId,
        act: Act<'_>,
        level: Classification,
    ) -> Result<()> {
        let Act {
            action,
            namespace,
            key,
            tool,
            probe: _,
        } = act;
        let request = Request {
            action,
            session,
            agent,
            namespace,
            level,
            key,
            tool,
        };
        let denied = |rule: &Arc<dyn Rule>| Some((rule.name().to_owned(), rule.judge(&request)?));
        let Some((rule, denial)) = self.rules.iter().find_map(denied) else {
            return Ok(());
        };
        let error = Error::new(ErrorKind::Denied, format!("denied: {}", denial.reason()));
        let facts = self.facts(session, agent, act, level, Decision::Refused);
        self.provider.append(&Event::new(Facts {
            rule: Some(rule),
            detail: Some(error.to_string()),
            ..facts
        }))?;
        Err(error)
    }

    fn refuse(
        &self,
        session: &SessionId,
        agent: &AgentId,
        act: Act<'_>,
        level: Classification,
        error: &Error,
    ) -> Result<()> {
        self.append(
            session,
            agent,
            act,
            level,
            Decision::Refused,
            error.to_string(),
        )
    }

    fn append(
        &self,
        session: &SessionId,
        agent: &AgentId,
        act: Act<'_>,
        level: Classification,
        decision: Decision,
        detail: String,
    ) -> Result<()> {
        let facts = self.facts(session, agent, act, level, decision);
        self.provider.append(&Event::new(Facts {
            detail: Some(detail),
            ..facts
        }))
    }

    /// What an entry of this act holds, but for what came of it.
    pub(super) fn facts(
        &self,
        session: &SessionId,
        agent: &AgentId,
        act: Act<'_>,
        level: Classification,
        decision: Decision,
    ) -> Facts {
        Facts {
            at: self.now(),
            session: session.clone(),
            agent: agent.clone(),
            namespace: act.namespace.clone(),
            action: act.action,
            decision,
            level,
            key: act.key.cloned(),
            version: None,
            rule: None,
            detail: None,
        }
    }
}
