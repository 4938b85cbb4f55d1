//! Noninterference as a property (invariant I4), and faults planted to show that it has teeth.
//!
//! A [trace](trace) is a random sequence of what low sessions of one agent do, and of what high ones
//! do in between: sessions of the agent above the observer's level, and other agents at any level. It
//! runs twice, on two stores. The runs differ in the high parts only, which the second leaves out or
//! replaces by others. Every reply to a low session must be the same in both to the last bit: values,
//! order, scores, counts, versions, ids, times, cursors, errors, `Debug`, the state of sessions.
//! Random ids are compared by their order of appearance.
//!
//! Comparing two runs can't see a rule that both break alike, so each is also checked against an
//! [oracle], which works out what must be seen from what low sessions did (I3, I5).
//!
//! Not compared, because the contract says that they are shared: how long a call takes, running out of
//! space, and the ids of sessions, which the host chooses and which belong to whoever came first.
//!
//! The ordinary run has 256 traces for each provider. For more:
//!
//! ```text
//! STRANDLINE_TRACES=20000 cargo test --release --lib noninterference
//! ```
//!
//! A provider of another kind joins in with one [`place::Place`] and one test.

mod faults;
mod faulty;
mod observe;
mod oracle;
mod place;
mod run;
mod texts;
mod trace;

use proptest::test_runner::{Config, TestCaseError, TestCaseResult, TestRunner};

use place::Place;
use run::{Front, Side, run};
use trace::Trace;

/// What the comparison of two runs says, and what the oracle says of each.
struct Verdict {
    /// The first reply that differs, in both runs.
    interference: Option<(String, String)>,
    /// The first reply that isn't what the rules say.
    disagreement: Option<String>,
}

fn judge(place: &dyn Fn() -> Box<dyn Place>, trace: &Trace, front: Option<Front>) -> Verdict {
    let first = run(&*place(), trace, Side::First, front);
    let second = run(&*place(), trace, Side::Second, front);
    let mut interference = first
        .seen
        .iter()
        .zip(&second.seen)
        .find(|(first, second)| first != second)
        .map(|(first, second)| (first.clone(), second.clone()));
    if let Some(id) = first.ids.intersection(&second.ids).next() {
        let text = format!("{id} is in both runs, so it isn't random");
        interference.get_or_insert((text.clone(), text));
    }
    if first.seen.len() != second.seen.len() {
        let counts = [&first, &second].map(|run| format!("{} replies", run.seen.len()));
        interference.get_or_insert(counts.into());
    }
    let wrong = first.wrong.into_iter().chain(second.wrong).next();
    Verdict {
        interference,
        disagreement: wrong,
    }
}

/// How many traces to try.
fn traces() -> u32 {
    let wanted = std::env::var("STRANDLINE_TRACES").ok();
    wanted.map_or(256, |number| {
        number.parse().expect("STRANDLINE_TRACES is a number")
    })
}

fn holds(place: &dyn Fn() -> Box<dyn Place>, trace: &Trace) -> TestCaseResult {
    let verdict = judge(place, trace, None);
    if let Some((first, second)) = verdict.interference {
        let text = format!("a reply depends on what is hidden:\n1: {first}\n2: {second}");
        return Err(TestCaseError::fail(text));
    }
    if let Some(wrong) = verdict.disagreement {
        return Err(TestCaseError::fail(wrong));
    }
    Ok(())
}

/// The property, over fresh places of one kind.
fn check(place: impl Fn() -> Box<dyn Place>) {
    let config = Config {
        cases: traces(),
        source_file: Some(file!()),
        ..Config::default()
    };
    let tried = TestRunner::new(config).run(&trace::trace(), |trace| holds(&place, &trace));
    if let Err(error) = tried {
        panic!("{error}");
    }
}

#[test]
fn nothing_a_low_session_sees_depends_on_the_rest_in_memory() {
    check(place::in_memory);
}

#[test]
fn nothing_a_low_session_sees_depends_on_the_rest_in_sqlite() {
    check(place::sqlite);
}
