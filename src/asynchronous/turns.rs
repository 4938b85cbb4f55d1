//! Whose turn it is within a session, decided before a call takes a place.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, Weak};

use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};

use crate::session::SessionId;
use crate::sync::unpoisoned;

/// The calls of a session go together; what changes its taint goes alone. They come in the order in which
/// they asked.
///
/// The session's own lock sees to that too, but a call waits for it in a thread and a place, which another
/// session would miss.
#[derive(Clone, Default)]
pub(super) struct Turns {
    sessions: Arc<Mutex<HashMap<SessionId, Weak<RwLock<()>>>>>,
}

impl Turns {
    pub(super) async fn with_others(&self, id: &SessionId) -> OwnedRwLockReadGuard<()> {
        self.of(id).read_owned().await
    }

    pub(super) async fn alone(&self, id: &SessionId) -> OwnedRwLockWriteGuard<()> {
        self.of(id).write_owned().await
    }

    fn of(&self, id: &SessionId) -> Arc<RwLock<()>> {
        let mut sessions = unpoisoned(self.sessions.lock());
        if let Some(turn) = sessions.get(id).and_then(Weak::upgrade) {
            return turn;
        }
        // Those that no call waits for or has, when there would be no more room.
        if sessions.len() == sessions.capacity() {
            sessions.retain(|_, turn| turn.strong_count() > 0);
        }
        let turn = Arc::new(RwLock::new(()));
        sessions.insert(id.clone(), Arc::downgrade(&turn));
        turn
    }
}

impl fmt::Debug for Turns {
    /// Without the sessions, whose ids not everyone may know who sees the store's `Debug`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turns").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::Turns;

    #[test]
    fn sessions_that_nothing_waits_for_take_no_room_and_none_is_shown() {
        let turns = Turns::default();
        let held = turns.of(&"held".parse().unwrap());
        for n in 0..10_000 {
            drop(turns.of(&format!("s-{n}").parse().unwrap()));
        }
        let sessions = turns.sessions.lock().unwrap();
        assert!(sessions.len() < 100, "{}", sessions.len());
        assert_eq!(
            sessions
                .values()
                .filter(|turn| turn.strong_count() > 0)
                .count(),
            1
        );
        drop((held, sessions));
        assert!(!format!("{turns:?}").contains("held"));
    }
}
