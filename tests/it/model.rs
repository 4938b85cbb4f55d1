//! Random sequences of operations on a store, compared at each step with a naive reference.
//!
//! `PROPTEST_CASES=10000 cargo test --test it model` runs more of them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use chrono::{DateTime, TimeDelta, Utc};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use strandline::storage::{InMemory, VersionState};
use strandline::{
    Classification, Clock, Cursor, Draft, Error, ErrorKind, Hit, Limits, List, Memory, MemoryStore,
    Page, Search, Session,
};
use tempfile::TempDir;

use crate::keyed;
use crate::providers::Home;
use crate::reference::Reference;

pub(crate) type Outcome<T> = Result<T, ErrorKind>;

/// A memory without its random id, and with a `Debug` that shows what differs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) agent: String,
    pub(crate) key: String,
    pub(crate) level: Classification,
    pub(crate) content: String,
    pub(crate) tags: Vec<String>,
    pub(crate) version: u64,
    pub(crate) created: DateTime<Utc>,
    pub(crate) updated: DateTime<Utc>,
    pub(crate) expires: Option<DateTime<Utc>>,
    pub(crate) session: String,
}

impl From<Memory> for Row {
    fn from(memory: Memory) -> Self {
        Self {
            agent: memory.agent.into(),
            key: memory.key.into(),
            level: memory.classification,
            content: memory.content,
            tags: memory.tags.into_iter().map(String::from).collect(),
            version: memory.version,
            created: memory.created_at,
            updated: memory.updated_at,
            expires: memory.expires_at,
            session: memory.session.into(),
        }
    }
}

/// A version, what has become of it, and when.
pub(crate) type Kept = (Row, VersionState, Option<DateTime<Utc>>);

/// What is asked to be saved; the lifetime is in seconds from then.
#[derive(Clone, Debug)]
pub(crate) struct Sheet {
    pub(crate) key: &'static str,
    pub(crate) words: Vec<&'static str>,
    pub(crate) tags: Vec<&'static str>,
    pub(crate) lifetime: Option<i64>,
}

/// A session as the store must remember it. A rise is its two levels and when.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Known {
    pub(crate) agent: String,
    pub(crate) taint: Classification,
    pub(crate) ceiling: Classification,
    pub(crate) raises: Vec<(Classification, Classification, DateTime<Utc>)>,
}

impl Known {
    pub(crate) fn new(agent: &str) -> Self {
        Self {
            agent: agent.to_owned(),
            taint: Classification::Public,
            ceiling: Classification::Restricted,
            raises: Vec::new(),
        }
    }

    pub(crate) fn rise(&mut self, level: Classification, now: DateTime<Utc>) {
        if level > self.taint {
            self.raises.push((self.taint, level, now));
            self.taint = level;
        }
    }
}

/// Words that the analysis neither stems nor drops nor splits. `""` stands for a blank text.
const KEYS: [&str; 7] = ["kelb", "Kelb", "morv", "zimt", "dront", "pulk", ""];
const WORDS: [&str; 6] = ["florp", "quux", "blorb", "wibblo", "zmork", "kelb"];
const QUERY: [&str; 8] = [
    "florp", "quux", "blorb", "wibblo", "zmork", "kelb", "tolb", "absent",
];
const TAGS: [&str; 5] = ["tolb", "Tolb", "tol", "grav", "smirk"];
const AGENTS: [&str; 2] = ["ada", "Ada"];
const SESSIONS: [&str; 6] = ["s-0", "s-1", "s-2", "s-3", "s_0", "S-0"];

const LIMITS: Limits = Limits {
    key_bytes: 64,
    content_bytes: 250,
    tags: 2,
    tag_bytes: 16,
    query_bytes: 64,
    max_results: 50,
    page: 4,
    batch: 4,
    batch_bytes: 10_000,
};

#[derive(Clone, Debug)]
enum Op {
    Open(&'static str, &'static str, Classification, Classification),
    /// Lets go of the handle, so that the next opening reads the session from the store.
    Close(&'static str),
    Raise(&'static str, Classification),
    Save(&'static str, Sheet),
    SaveAll(&'static str, Vec<Sheet>),
    Get(&'static str, &'static str),
    Search(&'static str, Vec<&'static str>, usize),
    List(&'static str, Option<&'static str>, Option<usize>),
    /// One page from where some earlier page, of whatever session and tag, ended.
    Continue(&'static str, Option<&'static str>, usize),
    Delete(&'static str, &'static str),
    /// Moves the clock by microseconds, either way.
    Wait(i64),
    /// Drops the store and every session, and resumes them from what is stored.
    Reopen,
    History(&'static str, &'static str),
}

fn sheet() -> impl Strategy<Value = Sheet> {
    let lifetime = prop_oneof![
        3 => Just(None),
        2 => select(vec![-5, 0, 1, 10, 40]).prop_map(Some),
    ];
    let words = prop_oneof![
        1 => Just(Vec::new()),
        9 => vec(select(&WORDS), 1..6),
        2 => vec(select(&WORDS), 6..50),
    ];
    (select(&KEYS), words, vec(select(&TAGS), 0..4), lifetime).prop_map(
        |(key, words, tags, lifetime)| Sheet {
            key,
            words,
            tags,
            lifetime,
        },
    )
}

fn op() -> impl Strategy<Value = Op> {
    let level = || select(&Classification::ALL);
    let id = || select(&SESSIONS[..4]);
    let key = || select(&KEYS);
    let tag = || proptest::option::of(select(&TAGS));
    prop_oneof![
        2 => (select(&SESSIONS), select(&AGENTS), level(), level())
            .prop_map(|(id, agent, taint, ceiling)| Op::Open(id, agent, taint, ceiling)),
        1 => select(&SESSIONS).prop_map(Op::Close),
        2 => (select(&SESSIONS), level()).prop_map(|(id, level)| Op::Raise(id, level)),
        9 => (id(), sheet()).prop_map(|(id, sheet)| Op::Save(id, sheet)),
        3 => (id(), vec(sheet(), 0..6)).prop_map(|(id, sheets)| Op::SaveAll(id, sheets)),
        4 => (id(), key()).prop_map(|(id, key)| Op::Get(id, key)),
        6 => (id(), vec(select(&QUERY), 0..5), 0..5_usize)
            .prop_map(|(id, words, max)| Op::Search(id, words, max)),
        4 => (id(), tag(), proptest::option::of(0..5_usize))
            .prop_map(|(id, tag, limit)| Op::List(id, tag, limit)),
        2 => (id(), tag(), 1..5_usize).prop_map(|(id, tag, limit)| Op::Continue(id, tag, limit)),
        5 => (id(), key()).prop_map(|(id, key)| Op::Delete(id, key)),
        4 => prop_oneof![1 => -30_000_001..0_i64, 2 => 0..25_000_000_i64].prop_map(Op::Wait),
        1 => Just(Op::Reopen),
        2 => (select(&AGENTS), select(&KEYS[..6])).prop_map(|(agent, key)| Op::History(agent, key)),
    ]
}

/// A clock that the test sets.
#[derive(Debug)]
struct TestClock(AtomicI64);

impl Clock for TestClock {
    fn now(&self) -> DateTime<Utc> {
        let micros = self.0.load(Ordering::SeqCst);
        DateTime::from_timestamp_micros(micros).expect("a time in range")
    }
}

/// A store, the reference beside it, and the handles that are open on the store.
struct Play<H> {
    home: H,
    clock: Arc<TestClock>,
    store: MemoryStore,
    sessions: BTreeMap<&'static str, Session>,
    reference: Reference,
    /// Where a page ended, and the key that it ended with.
    place: Option<(Cursor, String)>,
}

impl<H: Home> Play<H> {
    fn new() -> Self {
        let home = H::new();
        let clock = Arc::new(TestClock(AtomicI64::new(1_800_000_000_000_000)));
        let store = open(&home, &clock);
        let mut play = Self {
            home,
            reference: Reference {
                limits: LIMITS,
                now: clock.now(),
                ..Reference::default()
            },
            clock,
            store,
            sessions: BTreeMap::new(),
            place: None,
        };
        let levels = [
            Classification::Public,
            Classification::Internal,
            Classification::Restricted,
            Classification::Internal,
        ];
        for (place, level) in levels.into_iter().enumerate() {
            let agent = AGENTS[place / 3];
            play.open(SESSIONS[place], agent, level, Classification::Restricted);
        }
        play
    }

    fn step(&mut self, op: &Op) {
        match op {
            Op::Open(id, agent, taint, ceiling) => self.open(id, agent, *taint, *ceiling),
            Op::Close(id) => drop(self.sessions.remove(id)),
            Op::Wait(micros) => {
                self.clock.0.fetch_add(*micros, Ordering::SeqCst);
                self.reference.now = self.clock.now();
            }
            Op::Reopen => self.reopen(),
            Op::History(agent, key) => self.history(agent, key),
            Op::Raise(id, _)
            | Op::Save(id, _)
            | Op::SaveAll(id, _)
            | Op::Get(id, _)
            | Op::Search(id, ..)
            | Op::List(id, ..)
            | Op::Continue(id, ..)
            | Op::Delete(id, _) => {
                if let Some(session) = self.sessions.get(id).cloned() {
                    self.act(id, &session, op);
                }
            }
        }
        self.compare_sessions();
    }

    fn act(&mut self, id: &str, session: &Session, op: &Op) {
        match op {
            Op::Raise(_, level) => {
                let raised = session.raise(*level, "why").map_err(|error| error.kind());
                assert_eq!(raised, self.reference.raise(id, *level));
            }
            Op::Save(_, sheet) => {
                let saved = self.store.save(session, draft(sheet, self.clock.now()));
                let expected = self.reference.save(id, std::slice::from_ref(sheet));
                assert_eq!(rows(saved.map(|memory| vec![memory])), expected);
            }
            Op::SaveAll(_, sheets) => {
                let drafts = sheets.iter().map(|sheet| draft(sheet, self.clock.now()));
                let saved = self.store.save_all(session, drafts);
                assert_eq!(rows(saved), self.reference.save(id, sheets));
            }
            Op::Get(_, key) => {
                let got = self
                    .store
                    .get(session, key)
                    .map(|found| found.map(Row::from));
                let expected = match *key {
                    "" => Err(ErrorKind::InvalidArgument),
                    key => Ok(self.reference.get(id, key)),
                };
                assert_eq!(got.map_err(|error| error.kind()), expected);
            }
            Op::Delete(_, key) => {
                let deleted = self.store.delete(session, key);
                let expected = match *key {
                    "" => Err(ErrorKind::InvalidArgument),
                    key => self.reference.delete(id, key),
                };
                assert_eq!(deleted.map_err(|error| error.kind()), expected);
            }
            Op::Search(_, words, max) => self.search(id, session, words, *max),
            Op::List(_, tag, limit) => self.list(id, session, *tag, *limit),
            Op::Continue(_, tag, limit) => self.go_on(id, session, *tag, *limit),
            _ => {}
        }
    }

    fn open(
        &mut self,
        id: &'static str,
        agent: &str,
        taint: Classification,
        ceiling: Classification,
    ) {
        let opened = self.store.session(id, agent);
        let opened = opened.taint(taint).ceiling(ceiling).open();
        let expected = self.reference.open(id, agent, taint, ceiling);
        let kind = opened.as_ref().map(|_| ()).map_err(Error::kind);
        assert_eq!(kind, expected);
        if let Ok(session) = opened {
            self.sessions.insert(id, session);
        }
    }

    fn reopen(&mut self) {
        let ids: Vec<&'static str> = self.sessions.keys().copied().collect();
        self.sessions.clear();
        // A store of its own for a moment, so that the file is let go of first.
        self.store = MemoryStore::open_in_memory().expect("a store in memory");
        self.store = open(&self.home, &self.clock);
        for id in ids {
            let agent = self.reference.sessions[id].agent.clone();
            self.open(
                id,
                &agent,
                Classification::Public,
                Classification::Restricted,
            );
        }
    }

    fn compare_sessions(&self) {
        for (id, session) in &self.sessions {
            let known = Known {
                agent: session.agent().as_str().to_owned(),
                taint: session.taint(),
                ceiling: session.ceiling(),
                raises: session
                    .raises()
                    .into_iter()
                    .map(|raise| (raise.from, raise.to, raise.at))
                    .collect(),
            };
            assert_eq!(known, self.reference.sessions[*id]);
        }
    }

    fn search(&self, id: &str, session: &Session, words: &[&str], max: usize) {
        let query = || Search::new(words.join(" "));
        let some = self.store.search(session, query().max_results(max));
        let some = some.map_err(|error| error.kind());
        if max == 0 {
            assert_eq!(some, Err(ErrorKind::InvalidArgument));
            return;
        }
        let all = self.store.search(session, query().max_results(50));
        let all = all.expect("a search of the same words");
        let saved = |hit: &Hit| self.reference.saved(&Row::from(hit.memory.clone()));
        let ordered = |a: &Hit, b: &Hit| {
            let later = || saved(b).cmp(&saved(a));
            b.score.total_cmp(&a.score).then_with(later).is_lt()
        };
        assert!(
            all.is_sorted_by(ordered),
            "best first, then the last saved first"
        );
        assert_eq!(some, Ok(all.iter().take(max).cloned().collect()));

        let expected = self.reference.search(id, words);
        let mut found: Vec<(Row, f64)> = all
            .into_iter()
            .map(|hit| (Row::from(hit.memory), hit.score))
            .collect();
        found.sort_by(|(a, _), (b, _)| a.key.cmp(&b.key));
        let agree = |(a, b): (&(Row, f64), &(Row, f64))| {
            a.0 == b.0 && (a.1 - b.1).abs() <= a.1.max(b.1) * 1e-9
        };
        let alike = expected.len() == found.len() && expected.iter().zip(&found).all(agree);
        assert!(alike, "found {found:#?}, expected {expected:#?}");
    }

    fn list(&mut self, id: &str, session: &Session, tag: Option<&str>, limit: Option<usize>) {
        let request = || {
            let list = tag.map_or_else(List::new, |tag| List::new().tag(tag));
            limit
                .map_or(list.clone(), |limit| list.limit(limit))
                .count()
        };
        if limit == Some(0) {
            let refused = self
                .store
                .list(session, request())
                .map_err(|error| error.kind());
            assert_eq!(refused, Err(ErrorKind::InvalidArgument));
            return;
        }
        let expected = self.reference.list(id, tag);
        let mut listed: Vec<Row> = Vec::new();
        let mut next = None;
        loop {
            let request = match next.take() {
                Some(cursor) => request().after(cursor),
                None => request(),
            };
            let page = self.store.list(session, request).expect("a list");
            assert_eq!(page.total, u64::try_from(expected.len()).ok());
            self.keep_place(&page);
            listed.extend(page.memories.into_iter().map(Row::from));
            assert_eq!(page.next.is_some(), listed.len() < expected.len());
            next = page.next;
            if next.is_none() {
                break;
            }
        }
        assert_eq!(listed, expected);
    }

    fn go_on(&mut self, id: &str, session: &Session, tag: Option<&str>, limit: usize) {
        let Some((cursor, key)) = self.place.clone() else {
            return;
        };
        let text = cursor.to_string();
        let cursor: Cursor = text.parse().expect("a cursor's text");
        let list = tag.map_or_else(List::new, |tag| List::new().tag(tag));
        let page = self.store.list(session, list.limit(limit).after(cursor));
        let page = page.expect("a page");
        let mut expected = self.reference.list(id, tag);
        expected.retain(|row| row.key > key);
        assert_eq!(page.next.is_some(), expected.len() > limit);
        expected.truncate(limit);
        self.keep_place(&page);
        let listed: Vec<Row> = page.memories.into_iter().map(Row::from).collect();
        assert_eq!(listed, expected);
    }

    fn keep_place(&mut self, page: &Page) {
        if let Some((cursor, last)) = page.next.as_ref().zip(page.memories.last()) {
            self.place = Some((cursor.clone(), last.key.as_str().to_owned()));
        }
    }

    fn history(&self, agent: &str, key: &str) {
        let versions = self.store.host().history(agent, key).expect("a history");
        let versions: Vec<Kept> = versions
            .into_iter()
            .map(|found| (Row::from(found.memory), found.state, found.ended_at))
            .collect();
        assert_eq!(versions, self.reference.history(agent, key));
    }
}

fn open(home: &impl Home, clock: &Arc<TestClock>) -> MemoryStore {
    let builder = keyed::builder().limits(LIMITS);
    home.open(builder.clock(Arc::<TestClock>::clone(clock)))
}

fn draft(sheet: &Sheet, now: DateTime<Utc>) -> Draft {
    let draft = Draft::new(sheet.key, sheet.words.join(" ")).tags(sheet.tags.iter().copied());
    match sheet.lifetime {
        Some(seconds) => draft.expires_at(now + TimeDelta::seconds(seconds)),
        None => draft,
    }
}

fn rows(saved: strandline::Result<Vec<Memory>>) -> Outcome<Vec<Row>> {
    let saved = saved.map_err(|error| error.kind())?;
    Ok(saved.into_iter().map(Row::from).collect())
}

fn play<H: Home>(ops: &[Op]) {
    let mut play = Play::<H>::new();
    for op in ops {
        play.step(op);
    }
    play.step(&Op::Reopen);
    for agent in AGENTS {
        for key in &KEYS[..6] {
            play.history(agent, key);
        }
    }
}

fn cases(ordinary: u32) -> ProptestConfig {
    match std::env::var("PROPTEST_CASES") {
        Ok(_) => ProptestConfig::default(),
        Err(_) => ProptestConfig::with_cases(ordinary),
    }
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn in_memory_agrees_with_the_reference(ops in vec(op(), 1..80)) {
        play::<Arc<InMemory>>(&ops);
    }
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn sqlite_agrees_with_the_reference(ops in vec(op(), 1..80)) {
        play::<TempDir>(&ops);
    }
}
