//! One run of a trace.

mod low;
mod tools;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use chrono::{DateTime, Duration, Utc};
use uuid::Uuid;

use super::observe::{self, Names};
use super::oracle::Oracle;
use super::place::Place;
use super::trace::{AGENT, Deed, KEYS, LEAVER, OTHERS, Op, QUERIES, Step, TAGS, Text, Trace, pick};
use crate::{
    Classification, Clock, Cursor, Draft, List, MemoryStore, Page, Result, Search, Session,
};

/// How many high sessions there are: the low one that left, two of the observed agent, and one at
/// each level of each other agent.
pub(super) const HIGH: u8 = 3 + 4 * 4;

/// Which of the two runs it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    First,
    Second,
}

/// A fault in front of the store, where no provider can plant it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Front {
    /// A cursor holds the number of records ever stored.
    CursorOfRows,
    /// The store's `Debug` names the sessions that are open.
    DebugOfSessions,
    /// A page of a list says how many of the store's sessions are above the reader's.
    PageOfSessions,
    /// What a tool returns says how many records the agent has at any level.
    CallOfAllLevels,
    /// The persona section is loaded by whichever session of the agent is highest.
    PersonaOfHighest,
    /// A hit is explained by the highest version of its key, whoever may read it.
    ExplainedFromAbove,
}

/// What a run showed.
pub(super) struct Outcome {
    /// Each reply to a low session, in order.
    pub(super) seen: Vec<String>,
    /// Where a reply wasn't what the rules say.
    pub(super) wrong: Vec<String>,
    /// The random ids in the replies.
    pub(super) ids: BTreeSet<Uuid>,
}

#[derive(Debug)]
struct TestClock(AtomicI64);

impl Clock for TestClock {
    fn now(&self) -> DateTime<Utc> {
        DateTime::from_timestamp(self.0.load(Ordering::Relaxed), 0).unwrap()
    }
}

/// Who does something.
#[derive(Clone, Debug)]
struct Person {
    id: String,
    agent: &'static str,
    /// The taint that the session is first opened at.
    taint: Classification,
    /// The taint that it then rises to.
    rises: Classification,
}

struct Run<'p> {
    place: &'p dyn Place,
    trace: &'p Trace,
    front: Option<Front>,
    /// Whether reads leave entries in the audit, and what was read is kept.
    noted: bool,
    clock: Arc<TestClock>,
    stores: BTreeMap<u8, MemoryStore>,
    sessions: BTreeMap<(String, u8), Session>,
    /// The sessions that were ever opened.
    known: BTreeSet<String>,
    /// The high sessions that have risen to where they belong.
    risen: BTreeSet<String>,
    saves: usize,
    names: Names,
    seen: Vec<String>,
    oracle: Oracle,
}

/// Does what the trace says, as the first or the second run. The second also notes reads for the host,
/// which can't be observed either.
pub(super) fn run(place: &dyn Place, trace: &Trace, side: Side, front: Option<Front>) -> Outcome {
    let clock = Arc::new(TestClock(AtomicI64::new(1_000_000)));
    let mut run = Run {
        place,
        trace,
        front,
        noted: side == Side::Second,
        clock,
        stores: BTreeMap::new(),
        sessions: BTreeMap::new(),
        known: BTreeSet::new(),
        risen: BTreeSet::new(),
        saves: 0,
        names: Names::default(),
        seen: Vec::new(),
        oracle: Oracle::default(),
    };
    for (at, step) in trace.steps.iter().enumerate() {
        run.step(at, step, side);
    }
    run.look_around();
    Outcome {
        seen: run.seen,
        wrong: run.oracle.wrong,
        ids: run.names.ids(),
    }
}

impl Run<'_> {
    fn step(&mut self, at: usize, step: &Step, side: Side) {
        let left = at >= self.trace.leave_at;
        self.oracle.now = self.clock.now();
        match step {
            Step::Tick(seconds) => {
                self.clock.0.fetch_add(*seconds, Ordering::Relaxed);
            }
            Step::Restart => self.restart(),
            Step::Low(deed) if deed.who == LEAVER && left && self.may_leave() => {
                if side == Side::First {
                    self.high(
                        &Deed {
                            who: 0,
                            ..deed.clone()
                        },
                        true,
                    );
                }
            }
            Step::Low(deed) => self.low(deed),
            Step::High { first, second } => match side {
                Side::First => self.high(first, left),
                Side::Second if self.trace.replace => self.high(second, left),
                Side::Second => (),
            },
        }
        self.oracle.now = self.clock.now();
    }

    /// Whether any session of the agent can be above the observer.
    fn may_leave(&self) -> bool {
        self.trace.level != Classification::Restricted
    }

    /// The low sessions that are low at the end.
    fn remaining(&self) -> std::ops::Range<u8> {
        let leaves = self.may_leave() && self.trace.leave_at < self.trace.steps.len();
        0..if leaves { LEAVER } else { LEAVER + 1 }
    }

    /// All that can be read in the end, once for each taint that there is.
    fn look_around(&mut self) {
        let mut looked = BTreeSet::new();
        for who in self.remaining() {
            let mut does = |op| {
                self.low(&Deed { who, handle: 0, op });
                self.oracle.level((who, 0))
            };
            if looked.insert(does(Op::Get(0))) {
                does(Op::Look);
            }
        }
    }

    fn restart(&mut self) {
        self.sessions.clear();
        self.stores.clear();
        self.oracle.forget_handles();
    }

    fn handle(&self, deed: &Deed) -> u8 {
        if self.trace.two_stores {
            deed.handle
        } else {
            0
        }
    }

    fn store(&mut self, handle: u8) -> MemoryStore {
        let open = || {
            let clock = Arc::clone(&self.clock);
            MemoryStore::builder()
                .clock(clock)
                .audit_reads(self.noted)
                .lineage(self.noted)
                .with_provider(self.place.open())
        };
        self.stores.entry(handle).or_insert_with(open).clone()
    }

    /// The person's session; opens it if need be, and says whether it did.
    fn session(&mut self, person: &Person, handle: u8) -> (Result<Session>, bool) {
        let place = (person.id.clone(), handle);
        if let Some(session) = self.sessions.get(&place) {
            return (Ok(session.clone()), false);
        }
        let mut builder = self.store(handle).session(&person.id, person.agent);
        if self.known.insert(person.id.clone()) {
            builder = builder.taint(person.taint);
        }
        let session = builder.open();
        if let Ok(session) = &session {
            self.sessions.insert(place, session.clone());
        }
        (session, true)
    }

    fn low_person(&self, who: u8) -> Person {
        let taint = if who == 1 {
            self.trace.level
        } else {
            Classification::Public
        };
        Person {
            id: format!("low-{who}"),
            agent: AGENT,
            taint,
            rises: taint,
        }
    }

    fn high_person(&self, who: u8, left: bool) -> Person {
        let above = Classification::from_rank(self.trace.level.rank() + 1);
        match (who, above) {
            (0, Some(_)) if left => Person {
                rises: Classification::Restricted,
                ..self.low_person(LEAVER)
            },
            (0 | 1, Some(above)) => Person {
                id: String::from("high-1"),
                agent: AGENT,
                taint: above,
                rises: above,
            },
            (2, Some(_)) => Person {
                id: String::from("high-2"),
                agent: AGENT,
                taint: Classification::Public,
                rises: Classification::Restricted,
            },
            (other, _) => {
                let agent = pick(&OTHERS, other / 4);
                let level = Classification::from_rank(other % 4).unwrap();
                Person {
                    id: format!("{agent} at {level}"),
                    agent,
                    taint: level,
                    rises: level,
                }
            }
        }
    }

    /// What low sessions must not notice. It may fail; it must not panic.
    fn high(&mut self, deed: &Deed, left: bool) {
        let person = self.high_person(deed.who, left);
        let handle = self.handle(deed);
        let store = self.store(handle);
        let Ok(session) = self.session(&person, handle).0 else {
            return;
        };
        if self.risen.insert(person.id.clone()) && session.raise(person.rises, "left").is_err() {
            self.risen.remove(&person.id);
            return;
        }
        match &deed.op {
            Op::Save(text) => drop(self.save(&store, &session, text)),
            Op::SaveAll(texts) => drop(self.save_all(&store, &session, texts)),
            Op::Delete(key) => drop(store.delete(&session, pick(&KEYS, *key))),
            Op::Get(key) => drop(store.get(&session, pick(&KEYS, *key))),
            Op::Search { query, limit } => {
                drop(store.search(&session, query_of(*query, *limit)));
            }
            Op::List { tag, limit } => {
                let tag = tag.map(|tag| pick(&TAGS, tag));
                drop(pages(&store, &session, tag, *limit));
            }
            Op::Raise(level) => drop(session.raise(*level, "more")),
            Op::Open(taint, ceiling) => {
                let opens = store.session(&person.id, person.agent);
                drop(opens.taint(*taint).ceiling(*ceiling).open());
            }
            Op::Look => self.meddle(&store, &session),
            Op::Call(call) => drop(tools::call(&store, &session, call)),
            Op::Persona(budget) => drop(tools::persona(&store, &session, *budget)),
        }
    }

    /// Another agent's try to take over the low sessions that there are.
    fn meddle(&mut self, store: &MemoryStore, session: &Session) {
        if session.agent().as_str() == AGENT {
            return;
        }
        for id in self.known.iter().filter(|id| id.starts_with("low-")) {
            let taken = store.session(id, session.agent().as_str());
            if taken.taint(session.taint()).open().is_ok() {
                let text = "another agent opened a session that is taken";
                self.oracle.wrong.push(String::from(text));
            }
        }
    }

    fn draft(&self, text: &Text) -> Draft {
        let draft = Draft::new(text.key(), text.content()).tags(text.tags());
        match text.expires_in {
            Some(seconds) => draft.expires_at(self.clock.now() + Duration::seconds(seconds)),
            None => draft,
        }
    }

    fn save(
        &mut self,
        store: &MemoryStore,
        session: &Session,
        text: &Text,
    ) -> Result<crate::Memory> {
        self.saves += 1;
        store.save(session, self.draft(text))
    }

    fn save_all(
        &mut self,
        store: &MemoryStore,
        session: &Session,
        texts: &[Text],
    ) -> Result<Vec<crate::Memory>> {
        self.saves += texts.len();
        let drafts: Vec<Draft> = texts.iter().map(|text| self.draft(text)).collect();
        store.save_all(session, drafts)
    }

    fn see(&mut self, what: &str, text: &str) {
        let text = self.names.rename(text);
        self.seen
            .push(format!("{}: {what}: {text}", self.seen.len()));
    }
}

fn query_of(query: u8, limit: usize) -> Search {
    Search::new(pick(&QUERIES, query))
        .max_results(limit)
        .explain()
}

/// Every page of a list. A cursor goes through its text, as it does between processes.
fn pages(
    store: &MemoryStore,
    session: &Session,
    tag: Option<&str>,
    limit: usize,
) -> Result<Vec<Page>> {
    let mut pages = Vec::new();
    let mut after: Option<Cursor> = None;
    loop {
        let mut list = List::new().limit(limit).count();
        if let Some(tag) = tag {
            list = list.tag(tag);
        }
        if let Some(after) = after {
            list = list.after(after);
        }
        let page = store.list(session, list)?;
        after = page
            .next
            .as_ref()
            .map(|next| next.to_string().parse().unwrap());
        pages.push(page);
        // A list never has more pages than there are keys, unless it is at fault.
        if after.is_none() || pages.len() > 2 * KEYS.len() {
            return Ok(pages);
        }
    }
}
