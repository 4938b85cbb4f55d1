//! Restore, purge, erasure and check.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::Host;
use crate::audit::Action;
use crate::error::{Error, ErrorKind, Result};
use crate::observe::Operation;
use crate::policy::{Act, Gate};
use crate::record::{Memory, parse_key};
use crate::session::{AgentId, Session};
use crate::storage::{Erase, Erased, Erasure, Problem, Restore, Version};

/// # Erasure
///
/// A deletion by a session is soft, and a save keeps what it replaces: both stay in the history.
/// [`purge`](Self::purge) removes what has ended, by age; [`erase`](Self::erase),
/// [`erase_agent`](Self::erase_agent) and [`erase_session`](Self::erase_session) remove everything
/// they name, also what is live. When such a call has returned with
/// [`complete`](Erased::complete), no byte of the removed contents and tags is left in the database
/// file, its write-ahead log or its search index, nor in a backup that is made from then on. The
/// index is cleaned and the file rewritten for that, as large as it then is.
///
/// The versions are removed in short transactions, between which others write. Rewriting the file at
/// the end is one transaction, during which other writers wait and readers don't: about a second
/// for 100 MB. It needs as much free disk space as the file takes, twice; and a temporary
/// copy of it, in memory up to 256 MB and from then on in the folder for temporary files. If the
/// process ends before the call does, the next such call finishes the work, even if it finds
/// nothing else to remove.
///
/// What stays:
/// - **The audit's entries**, with the keys, version numbers and times of what was removed, the reasons
///   of raises and the ids of agents and sessions; and the highest number that each removed key had, so
///   that its numbers go on. Neither holds contents or tags. So don't put into a key what may have to
///   be erased.
/// - **The taint of sessions**, also those of an erased agent: a conversation that goes on still knows
///   what it read, and must not start again at `PUBLIC`.
/// - **The same text under another key, or saved by another session.** It is erased only with that.
///   An agent whose session goes on can save anew what it still has in its context.
/// - **What SQLite doesn't reach**: earlier backups and exports, copies that a file system keeps
///   (snapshots, journals), blocks that an SSD has put aside, the swap space. Encrypt the disk
///   if those matter.
impl Host {
    /// Makes an earlier version of a key the live one again, as a new version at the session's taint.
    ///
    /// The version may have been superseded or deleted, or be the live one, but must be at exactly the
    /// session's level. The new version has its content, tags and expiry. It belongs to this session
    /// and is stored through the gate like any save; its entry in the audit says which version it was
    /// made of.
    ///
    /// # Errors
    /// [`NotFound`](ErrorKind::NotFound) if the key has no such version at the session's level,
    /// whatever there is at others, or it was purged or erased;
    /// [`InvalidArgument`](ErrorKind::InvalidArgument) if the version has expired, since nobody could
    /// read it, or for a key that can't exist; [`Denied`](ErrorKind::Denied) by a host rule; or an error
    /// of the storage.
    ///
    /// ```
    /// use strandline::{Classification, Draft, ErrorKind, MemoryStore};
    ///
    /// let store = MemoryStore::open_in_memory()?;
    /// let session = store.session("s-1", "agent").open()?;
    /// store.save(&session, Draft::new("k", "one"))?;
    /// store.save(&session, Draft::new("k", "two"))?;
    /// let restored = store.host().restore(&session, "k", 1)?;
    /// assert_eq!((restored.version, restored.content.as_str()), (3, "one"));
    ///
    /// session.raise(Classification::Internal, "opened the wiki")?;
    /// let error = store.host().restore(&session, "k", 1).unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::NotFound); // it is at PUBLIC
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn restore(&self, session: &Session, key: &str, version: u64) -> Result<Memory> {
        let observers = self.gate.observers();
        observers.watch(Operation::Restore, None, Some(session), |probe| {
            let key = parse_key(key, &self.limits)?;
            let act = Act::new(Action::Restore, &self.namespace)
                .on(&key)
                .seen_by(probe);
            let request = Restore {
                key: key.clone(),
                version,
                lineage_id: Uuid::new_v4(),
            };
            self.gate.write(session, act, |grant| {
                let error = match self.gate.provider().restore(grant, &request) {
                    Ok(Some(memory)) => return Ok(memory),
                    Ok(None) => {
                        let text = "the key has no such version at the session's level";
                        Error::new(ErrorKind::NotFound, text)
                    }
                    Err(error) if error.kind() == ErrorKind::InvalidArgument => error,
                    Err(error) => return Err(error),
                };
                self.gate.refuse_write(grant, act, &error)?;
                Err(error)
            })
        })
    }

    /// A part of the [history](Self::history) of a key that may be long: at most `limit` versions, of
    /// those that come after the one whose lineage id is `after`, or else from the newest on.
    ///
    /// # Errors
    /// [`NotFound`](ErrorKind::NotFound) if the key has no version `after`, which may have been purged
    /// meanwhile; [`InvalidArgument`](ErrorKind::InvalidArgument) for a `limit` of 0; or as
    /// [`history`](Self::history).
    ///
    /// ```
    /// use strandline::{Draft, MemoryStore};
    ///
    /// let store = MemoryStore::open_in_memory()?;
    /// let session = store.session("s-1", "agent").open()?;
    /// store.save_all(&session, (1..=5).map(|i| Draft::new("k", format!("version {i}"))))?;
    /// let host = store.host();
    /// let first = host.history_page("agent", "k", None, 3)?;
    /// assert_eq!(first[0].memory.version, 5);
    /// let last = first.last().map(|version| version.memory.lineage_id);
    /// let second = host.history_page("agent", "k", last, 3)?;
    /// assert_eq!(second.len(), 2); // fewer than asked for: the end
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn history_page(
        &self,
        agent: &str,
        key: &str,
        after: Option<Uuid>,
        limit: usize,
    ) -> Result<Vec<Version>> {
        self.watch(Operation::History, || {
            if limit == 0 {
                let text = "`limit` must be a whole number of at least 1";
                return Err(Error::invalid(text));
            }
            let grant = Gate::host(self.namespace.clone(), Some(agent.parse()?));
            let key = parse_key(key, &self.limits)?;
            let provider = self.gate.provider();
            provider.history_page(&grant, &key, after, limit)
        })
    }

    /// Removes for good what ended before a time, of every agent.
    ///
    /// That is every version that was superseded or deleted before `before`, and every live memory
    /// that expired before it. What ended exactly then stays, and so does every memory that has not
    /// expired, whatever `before` is. It concerns the store's namespace alone.
    ///
    /// # Errors
    /// Those of the storage. What was removed until then stays so; the same call again goes on.
    ///
    /// ```
    /// use chrono::{TimeDelta, Utc};
    /// use strandline::{Draft, MemoryStore};
    ///
    /// let store = MemoryStore::open_in_memory()?;
    /// let session = store.session("s-1", "agent").open()?;
    /// store.save(&session, Draft::new("k", "one"))?;
    /// store.save(&session, Draft::new("k", "two"))?;
    /// # #[allow(clippy::disallowed_methods)]
    /// let in_a_minute = Utc::now() + TimeDelta::minutes(1);
    /// let purged = store.host().purge(in_a_minute)?;
    /// assert_eq!((purged.versions, purged.complete), (1, true));
    /// assert_eq!(store.host().history("agent", "k")?.len(), 1);
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn purge(&self, before: DateTime<Utc>) -> Result<Erased> {
        self.watch(Operation::Purge, || self.remove(None, Erase::ended(before)))
    }

    /// Removes for good what ended before a time, of one agent; else as [`purge`](Self::purge).
    ///
    /// # Errors
    /// [`InvalidArgument`](ErrorKind::InvalidArgument) for an agent that can't exist, or as
    /// [`purge`](Self::purge).
    ///
    /// ```
    /// use strandline::{Draft, MemoryStore};
    ///
    /// let store = MemoryStore::open_in_memory()?;
    /// let session = store.session("s-1", "agent").open()?;
    /// store.save(&session, Draft::new("k", "one"))?;
    /// store.delete(&session, "k")?;
    /// let long_ago = "2020-01-01T00:00:00Z".parse().unwrap();
    /// assert_eq!(store.host().purge_agent("agent", long_ago)?.versions, 0);
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn purge_agent(&self, agent: &str, before: DateTime<Utc>) -> Result<Erased> {
        self.watch(Operation::Purge, || {
            self.remove(Some(agent.parse()?), Erase::ended(before))
        })
    }

    /// Erases every version of one key of an agent, at every level, in the store's namespace.
    ///
    /// # Errors
    /// [`InvalidArgument`](ErrorKind::InvalidArgument) for an agent or key that can't exist, or those
    /// of the storage. What was removed until then stays so; the same call again goes on.
    ///
    /// ```
    /// use strandline::{Draft, MemoryStore};
    ///
    /// let store = MemoryStore::open_in_memory()?;
    /// let session = store.session("s-1", "agent").open()?;
    /// store.save(&session, Draft::new("k", "one"))?;
    /// assert_eq!(store.host().erase("agent", "k")?.versions, 1);
    /// assert!(store.get(&session, "k")?.is_none());
    /// assert!(store.host().history("agent", "k")?.is_empty());
    /// assert_eq!(store.save(&session, Draft::new("k", "anew"))?.version, 2);
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn erase(&self, agent: &str, key: &str) -> Result<Erased> {
        self.watch(Operation::Erase, || {
            self.remove(Some(agent.parse()?), Erase::Key(key.parse()?))
        })
    }

    /// Erases every version of every key of an agent, in every namespace.
    ///
    /// The taint of the agent's sessions stays; see [Erasure](#erasure).
    ///
    /// # Errors
    /// As [`erase`](Self::erase).
    ///
    /// ```
    /// use strandline::{Draft, MemoryStore};
    ///
    /// let store = MemoryStore::open_in_memory()?;
    /// let session = store.session("s-1", "agent").open()?;
    /// store.save_all(&session, (0..3).map(|i| Draft::new(format!("k{i}"), "v")))?;
    /// assert_eq!(store.host().erase_agent("agent")?.versions, 3);
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn erase_agent(&self, agent: &str) -> Result<Erased> {
        self.watch(Operation::Erase, || {
            self.remove(Some(agent.parse()?), Erase::Agent)
        })
    }

    /// Erases every version that a session saved, in every namespace.
    ///
    /// A version that one of them had superseded stays superseded. The session's taint stays; see
    /// [Erasure](#erasure).
    ///
    /// # Errors
    /// [`InvalidArgument`](ErrorKind::InvalidArgument) for a session that can't exist, or as
    /// [`erase`](Self::erase).
    ///
    /// ```
    /// use strandline::{Draft, MemoryStore};
    ///
    /// let store = MemoryStore::open_in_memory()?;
    /// let one = store.session("s-1", "agent").open()?;
    /// let other = store.session("s-2", "agent").open()?;
    /// store.save(&one, Draft::new("a", "said in the one"))?;
    /// store.save(&other, Draft::new("b", "said in the other"))?;
    /// assert_eq!(store.host().erase_session("s-1")?.versions, 1);
    /// assert!(store.get(&other, "a")?.is_none());
    /// assert!(store.get(&one, "b")?.is_some());
    /// # Ok::<(), strandline::Error>(())
    /// ```
    pub fn erase_session(&self, session: &str) -> Result<Erased> {
        self.watch(Operation::Erase, || {
            self.remove(None, Erase::Session(session.parse()?))
        })
    }

    fn remove(&self, agent: Option<AgentId>, what: Erase) -> Result<Erased> {
        let grant = Gate::host(self.namespace.clone(), agent);
        let now = self.gate.now();
        self.gate.provider().erase(&grant, &Erasure { what, now })
    }

    /// Compares what is kept with itself, and says what is wrong: nothing, if all is well.
    ///
    /// The records are compared with what is derived from them: which of them shadow which, the tags,
    /// each term in the search index, the counts. Numbers of the audit's entries must have no gap,
    /// and SQLite checks its file. It reads everything, so it takes a while: about 40 seconds for a
    /// million short memories. Others read and write meanwhile; its memory doesn't grow with the file.
    ///
    /// [`reindex`](Self::reindex) makes all of `Index`, `Terms` and `Counts` right again.
    ///
    /// # Errors
    /// Those of the storage that keep it from looking. Damage is a [`Problem`], not an error.
    ///
    /// ```
    /// use strandline::{Draft, MemoryStore};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let store = MemoryStore::open(folder.path().join("memory.db"))?;
    /// let session = store.session("s-1", "agent").open()?;
    /// store.save(&session, Draft::new("user-name", "Ada").tag("persona"))?;
    /// assert!(store.host().check()?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn check(&self) -> Result<Vec<Problem>> {
        self.watch(Operation::Check, || {
            let grant = Gate::host(self.namespace.clone(), None);
            self.gate.provider().check(&grant)
        })
    }
}
