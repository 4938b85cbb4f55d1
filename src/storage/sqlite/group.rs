//! Writes of several threads that share a commit, and so a wait for the disk.
//!
//! A thread that comes while no one writes writes at once: it *leads*. Those that come meanwhile queue
//! up. The leader runs all that has queued in one transaction, commits it, makes the next in the queue
//! the leader, and only then tells each thread of its group what came of its write. So nobody ever
//! waits for others to come, and nothing is acknowledged that isn't durable.
//!
//! A write that fails leaves no trace, and the others' writes don't suffer: where one fails after it has
//! changed something, or the commit does, the transaction is rolled back and each write of the group
//! runs once more in a transaction of its own. That is rare and slow; a savepoint around each write
//! would be slow always, since FTS5 writes out what it holds at each. A panic is caught in the leader
//! and goes on in the thread whose write it was.
//!
//! The writes are owned values, since they run in another thread than the one that brought them.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::error::again;
use super::pool::Transaction;
use crate::error::{Error, Result};
use crate::sync::unpoisoned;

/// The most writes that share a commit.
const WRITES: usize = 64;

/// How long writes join a transaction. It bounds what the first of them waits for the others.
const JOINING: Duration = Duration::from_millis(20);

/// The writes that wait for a leader.
#[derive(Debug)]
pub(super) struct Group {
    queue: Mutex<Queue>,
    /// [`JOINING`], but in a test that no clock may end.
    pub(super) joining: Duration,
}

impl Default for Group {
    fn default() -> Self {
        Self {
            queue: Mutex::default(),
            joining: JOINING,
        }
    }
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Arc<dyn Job>>,
    /// Whether there is a leader.
    led: bool,
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queue").finish_non_exhaustive()
    }
}

/// A write whose thread waits for it.
trait Job: Send + Sync {
    /// Does the work and keeps what came of it. It may run again, if this was rolled back.
    fn run(&self, db: &Connection) -> Ran;

    /// Keeps this error instead.
    fn fail(&self, error: Error);

    /// Tells the thread what to do.
    fn tell(&self, turn: Turn);
}

/// What a run has left in its transaction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ran {
    /// What it was to do, or it refused before it did anything.
    Whole,
    /// Perhaps a part of it.
    Spoilt,
}

/// What a thread whose write is queued has to do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    Wait,
    Lead,
    Done,
}

struct Write<T, W> {
    work: W,
    state: Mutex<State<T>>,
    told: Condvar,
}

struct State<T> {
    turn: Turn,
    answer: Option<thread::Result<Result<T>>>,
}

impl<T, W> Write<T, W> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        unpoisoned(self.state.lock())
    }

    fn wait(&self) -> Turn {
        let waits = |state: &mut State<T>| state.turn == Turn::Wait;
        unpoisoned(self.told.wait_while(self.state(), waits)).turn
    }

    /// What came of it; a panic of the work goes on here.
    fn answer(&self) -> Result<T> {
        let answer = self.state().answer.take();
        match answer {
            Some(Ok(answer)) => answer,
            Some(Err(panic)) => resume_unwind(panic),
            None => Err(Error::internal("a write was neither done nor refused")),
        }
    }
}

impl<T, W> Job for Write<T, W>
where
    T: Send,
    W: Fn(&Connection) -> Result<T> + Send + Sync,
{
    fn run(&self, db: &Connection) -> Ran {
        let before = db.total_changes();
        let answer = catch_unwind(AssertUnwindSafe(|| (self.work)(db)));
        // An error without a cause is the work's own, not SQLite's.
        let refused = |error: &Error| {
            std::error::Error::source(error).is_none() && db.total_changes() == before
        };
        let ran = match &answer {
            Ok(Ok(_)) => Ran::Whole,
            Ok(Err(error)) if refused(error) => Ran::Whole,
            _ => Ran::Spoilt,
        };
        self.state().answer = Some(answer);
        ran
    }

    fn fail(&self, error: Error) {
        self.state().answer = Some(Ok(Err(error)));
    }

    fn tell(&self, turn: Turn) {
        self.state().turn = turn;
        self.told.notify_one();
    }
}

impl Group {
    /// Has `work` done in a transaction, by this thread or by another. `lead` is called if it is this
    /// one's turn to do all that waits.
    pub(super) fn write<T: Send + 'static>(
        &self,
        work: impl Fn(&Connection) -> Result<T> + Send + Sync + 'static,
        lead: impl FnOnce(Leader<'_>),
    ) -> Result<T> {
        let write = Arc::new(Write {
            work,
            state: Mutex::new(State {
                turn: Turn::Wait,
                answer: None,
            }),
            told: Condvar::new(),
        });
        if self.join(Arc::<Write<_, _>>::clone(&write)) || write.wait() == Turn::Lead {
            lead(Leader {
                group: self,
                taken: Vec::new(),
            });
        }
        write.answer()
    }

    /// How many writes no leader has taken yet.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        unpoisoned(self.queue.lock()).waiting.len()
    }

    /// Queues the write. Whether its thread leads.
    fn join(&self, write: Arc<dyn Job>) -> bool {
        let mut queue = unpoisoned(self.queue.lock());
        queue.waiting.push_back(write);
        !std::mem::replace(&mut queue.led, true)
    }
}

/// The thread that writes for all; its own write is the first in the queue. When it is dropped, the next
/// one leads, and the threads of its group go on.
pub(super) struct Leader<'g> {
    group: &'g Group,
    taken: Vec<Arc<dyn Job>>,
}

impl Leader<'_> {
    /// Does what waits. `end` is called before each commit.
    pub(super) fn write(
        &mut self,
        begin: impl Fn() -> Result<()>,
        end: impl Fn() -> Result<()>,
        db: &Connection,
    ) {
        let transaction = match Transaction::after(&begin, db) {
            Ok(transaction) => transaction,
            Err(error) => return self.fail(&error),
        };
        let start = Instant::now();
        while takes_more(self.taken.len(), start.elapsed(), self.group.joining) {
            let Some(job) = self.take() else { break };
            if job.run(db) == Ran::Spoilt {
                drop(transaction);
                return self.write_apart(&begin, &end, db);
            }
        }
        if let Err(error) = end().and_then(|()| transaction.commit()) {
            match self.taken.as_slice() {
                [only] => only.fail(error),
                _ => self.write_apart(&begin, &end, db),
            }
        }
    }

    /// Does again what was taken, each in a transaction of its own. What was alone has failed for good.
    fn write_apart(
        &self,
        begin: &impl Fn() -> Result<()>,
        end: &impl Fn() -> Result<()>,
        db: &Connection,
    ) {
        if self.taken.len() == 1 {
            return;
        }
        let mut jobs = self.taken.iter();
        while let Some(job) = jobs.next() {
            let transaction = match Transaction::after(begin, db) {
                Ok(transaction) => transaction,
                Err(error) => {
                    // The rest needn't wait as long again.
                    jobs.chain([job]).for_each(|job| job.fail(again(&error)));
                    return;
                }
            };
            if job.run(db) == Ran::Whole
                && let Err(error) = end().and_then(|()| transaction.commit())
            {
                job.fail(error);
            }
        }
    }

    /// The next that waits.
    fn take(&mut self) -> Option<Arc<dyn Job>> {
        let job = unpoisoned(self.group.queue.lock()).waiting.pop_front()?;
        self.taken.push(Arc::clone(&job));
        Some(job)
    }

    /// Nothing can be written: all that waits gets the error, for all have waited.
    fn fail(&mut self, error: &Error) {
        while let Some(job) = self.take() {
            job.fail(again(error));
        }
    }
}

/// Whether a leader that has taken so many takes the next. The first is its own: it is done however long
/// the thread was kept from running, or else nobody would ever lead again.
pub(super) fn takes_more(taken: usize, since: Duration, joining: Duration) -> bool {
    taken == 0 || (taken < WRITES && since < joining)
}

impl Drop for Leader<'_> {
    fn drop(&mut self) {
        let mut queue = unpoisoned(self.group.queue.lock());
        let next = queue.waiting.front().cloned();
        queue.led = next.is_some();
        drop(queue);
        // First of all, so that it writes while the others are woken.
        if let Some(next) = next {
            next.tell(Turn::Lead);
        }
        for job in &self.taken {
            job.tell(Turn::Done);
        }
    }
}
