//! Random traces: what low sessions do, and around it what they must not notice.

use proptest::prelude::*;

use crate::Classification;

/// The observed agent.
pub(super) const AGENT: &str = "agent_1";

/// Agents whose names a sloppy comparison takes for [`AGENT`].
pub(super) const OTHERS: [&str; 4] = ["agentX1", "AGENT_1", "agent_", "%"];

/// Few keys, so that levels and agents collide; some that a sloppy comparison joins, and the id of a
/// session.
pub(super) const KEYS: [&str; 6] = ["k", "K", "a_1", "aX1", "%", "low-0"];

pub(super) const TAGS: [&str; 5] = ["rule", "r_le", "RULE", "persona", "%"];

const WORDS: [&str; 6] = ["tea", "milk", "deploy", "deploys", "部署", "k"];

pub(super) const QUERIES: [&str; 5] = [
    "tea",
    "milk tea?",
    "deploy OR k",
    "rule 部署",
    "% \"a_1\" *",
];

/// How many low sessions there are. The last one may leave: see [`Trace::leave_at`].
pub(super) const LOW: u8 = 3;

/// The low session that may rise above the observer.
pub(super) const LEAVER: u8 = LOW - 1;

/// What two runs do. They differ in [`Step::High`] only.
#[derive(Clone, Debug)]
pub(super) struct Trace {
    /// The observer's level: low sessions never rise above it, but for the one that leaves.
    pub(super) level: Classification,
    /// The step at which the last low session rises above the level; from there on what it does is
    /// no longer observed and happens in the first run only.
    pub(super) leave_at: usize,
    /// Whether the second run replaces what the high sessions do, or does nothing in its place.
    pub(super) replace: bool,
    /// Whether sessions also go through a second store over the same records.
    pub(super) two_stores: bool,
    pub(super) steps: Vec<Step>,
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Time passes, or is set back.
    Tick(i64),
    /// Every handle is dropped, and the store is opened again.
    Restart,
    Low(Deed),
    High {
        first: Deed,
        second: Deed,
    },
}

/// An operation and who does it: a number that the run maps to a session.
#[derive(Clone, Debug)]
pub(super) struct Deed {
    pub(super) who: u8,
    /// Which of the stores it goes through, where there are two.
    pub(super) handle: u8,
    pub(super) op: Op,
}

#[derive(Clone, Debug)]
pub(super) enum Op {
    Save(Text),
    SaveAll(Vec<Text>),
    Delete(u8),
    Get(u8),
    Search {
        query: u8,
        limit: usize,
    },
    List {
        tag: Option<u8>,
        limit: usize,
    },
    Raise(Classification),
    Open(Classification, Classification),
    /// Everything that can be read.
    Look,
    /// What a model calls.
    Call(Call),
    /// The section of the prompt, with room for so many characters.
    Persona(usize),
}

/// A tool call.
#[derive(Clone, Debug)]
pub(super) enum Call {
    /// With a level that the model chose, which has no effect.
    Save(Text, Option<Classification>),
    Get(u8),
    Search {
        query: u8,
        limit: usize,
    },
    List {
        tag: Option<u8>,
    },
    Delete(u8),
    /// One that is refused.
    Wrong(u8),
}

/// A draft. Without words it is one that is refused.
#[derive(Clone, Debug)]
pub(super) struct Text {
    pub(super) key: u8,
    pub(super) words: Vec<u8>,
    pub(super) tags: Vec<u8>,
    /// In seconds from now.
    pub(super) expires_in: Option<i64>,
}

impl Text {
    pub(super) fn key(&self) -> &'static str {
        pick(&KEYS, self.key)
    }

    pub(super) fn content(&self) -> String {
        let words = self.words.iter().map(|&word| pick(&WORDS, word));
        words.collect::<Vec<_>>().join(" ")
    }

    pub(super) fn tags(&self) -> Vec<&'static str> {
        self.tags.iter().map(|&tag| pick(&TAGS, tag)).collect()
    }
}

/// The number's choice of a vocabulary.
pub(super) fn pick(words: &[&'static str], number: u8) -> &'static str {
    words[usize::from(number) % words.len()]
}

pub(super) fn trace() -> impl Strategy<Value = Trace> {
    let level = prop_oneof![
        3 => Just(Classification::Public),
        5 => Just(Classification::Internal),
        3 => Just(Classification::Confidential),
        1 => Just(Classification::Restricted),
    ];
    let steps = prop::collection::vec(step(), 2..24);
    let two_stores = prop::bool::weighted(0.25);
    (level, 0..30_usize, any::<bool>(), two_stores, steps).prop_map(
        |(level, leave_at, replace, two_stores, steps)| Trace {
            level,
            leave_at,
            replace,
            two_stores,
            steps,
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => prop_oneof![-15..0_i64, 1..25_i64].prop_map(Step::Tick),
        1 => Just(Step::Restart),
        9 => deed(LOW).prop_map(Step::Low),
        10 => (deed(super::run::HIGH), deed(super::run::HIGH))
            .prop_map(|(first, second)| Step::High { first, second }),
    ]
}

fn deed(people: u8) -> impl Strategy<Value = Deed> {
    (0..people, 0..2_u8, op()).prop_map(|(who, handle, op)| Deed { who, handle, op })
}

fn op() -> impl Strategy<Value = Op> {
    let limit = || prop_oneof![Just(1_usize), Just(2), Just(100)];
    prop_oneof![
        14 => text().prop_map(Op::Save),
        2 => prop::collection::vec(text(), 0..4).prop_map(Op::SaveAll),
        7 => key().prop_map(Op::Delete),
        1 => key().prop_map(Op::Get),
        2 => (any::<u8>(), limit()).prop_map(|(query, limit)| Op::Search { query, limit }),
        2 => (prop::option::of(any::<u8>()), limit()).prop_map(|(tag, limit)| Op::List { tag, limit }),
        3 => classification().prop_map(Op::Raise),
        1 => (classification(), classification()).prop_map(|(taint, ceiling)| Op::Open(taint, ceiling)),
        1 => Just(Op::Look),
        4 => call().prop_map(Op::Call),
        1 => prop_oneof![Just(500_usize), Just(4_000)].prop_map(Op::Persona),
    ]
}

fn call() -> impl Strategy<Value = Call> {
    let level = prop::option::of(classification());
    prop_oneof![
        3 => (text(), level).prop_map(|(text, level)| Call::Save(text, level)),
        1 => key().prop_map(Call::Get),
        1 => (any::<u8>(), 1..4_usize).prop_map(|(query, limit)| Call::Search { query, limit }),
        1 => prop::option::of(any::<u8>()).prop_map(|tag| Call::List { tag }),
        1 => key().prop_map(Call::Delete),
        1 => any::<u8>().prop_map(Call::Wrong),
    ]
}

fn text() -> impl Strategy<Value = Text> {
    let words = prop_oneof![
        20 => prop::collection::vec(any::<u8>(), 1..5),
        // The same text again and again, so that scores are equal.
        10 => Just(vec![0]),
        5 => prop::collection::vec(any::<u8>(), 20..40),
        1 => Just(Vec::new()),
    ];
    let tags = prop::collection::vec(any::<u8>(), 0..3);
    let expires_in = prop::option::weighted(0.25, -3..20_i64);
    (key(), words, tags, expires_in).prop_map(|(key, words, tags, expires_in)| Text {
        key,
        words,
        tags,
        expires_in,
    })
}

/// More than one key in two is the same, so that levels and agents meet in it.
fn key() -> impl Strategy<Value = u8> {
    prop_oneof![3 => Just(0), 2 => any::<u8>()]
}

fn classification() -> impl Strategy<Value = Classification> {
    prop::sample::select(Classification::ALL.to_vec())
}
