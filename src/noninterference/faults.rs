//! The planted faults, each with the half of the property that must catch it.

use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::faulty::{Fault, Faulty};
use super::place::{self, Place, Shared};
use super::run::Front;
use super::trace::{Trace, trace};
use super::{Verdict, judge};
use crate::planted;
use std::sync::Arc;

/// A fault is caught within so many traces or counts as missed.
const TRACES: usize = 1_000;

/// What must catch a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    /// Comparing two runs.
    Comparison,
    /// The oracle; both runs are wrong alike.
    Oracle,
}
use By::{Comparison, Oracle};

/// In a provider.
const PROVIDER: &[(Fault, By)] = &[
    (Fault::GetIgnoresLevel, Comparison),
    (Fault::ListIgnoresLevel, Comparison),
    (Fault::SearchIgnoresLevel, Comparison),
    (Fault::GetIgnoresExpiry, Oracle),
    (Fault::ListIgnoresExpiry, Oracle),
    (Fault::SearchIgnoresExpiry, Oracle),
    (Fault::SearchFindsShadowed, Oracle),
    (Fault::ListShowsShadowed, Oracle),
    (Fault::TagFindsShadowed, Oracle),
    (Fault::TagOfHiddenVersion, Comparison),
    (Fault::ShadowedFromAbove, Comparison),
    (Fault::ShadowedByDeleted, Oracle),
    (Fault::ShadowedByExpired, Oracle),
    (Fault::SearchFindsDeleted, Oracle),
    (Fault::TagsAsPattern, Oracle),
    (Fault::TagsWithCase, Oracle),
    (Fault::KeysAsPattern, Oracle),
    (Fault::KeysWithoutCase, Oracle),
    (Fault::AgentsAsPattern, Comparison),
    (Fault::AgentsWithoutCase, Comparison),
    (Fault::ListLimitBeforeFilter, Comparison),
    (Fault::SearchLimitBeforeFilter, Comparison),
    (Fault::TotalOfHidden, Comparison),
    (Fault::MoreOfHidden, Comparison),
    (Fault::CursorIsOffset, Comparison),
    (Fault::CountOfHidden, Comparison),
    (Fault::FrequencyOfHidden, Comparison),
    (Fault::CountOfShadowed, Oracle),
    (Fault::HiddenBetween, Comparison),
    (Fault::NeighboursOfAnySession, Oracle),
    (Fault::TiesBySequence, Comparison),
    (Fault::TiesBySession, Oracle),
    (Fault::VersionsOverLevels, Comparison),
    (Fault::VersionsOverAgents, Comparison),
    (Fault::CreatedAtOtherLevel, Comparison),
    (Fault::UpdatedAtNeverBack, Comparison),
    (Fault::SequentialIds, Comparison),
    (Fault::SequentialIdsDressedUp, Comparison),
    (Fault::DeletedTagsReturn, Oracle),
    (Fault::SaveRefusedBelowHigher, Comparison),
    (Fault::SaveTouchesAllLevels, Comparison),
    (Fault::DeleteTellsOfHigher, Comparison),
    (Fault::DeleteNamesHigher, Comparison),
    (Fault::DeletesAllLevels, Comparison),
    (Fault::TaintCaptured, Comparison),
    (Fault::SessionsForgotten, Comparison),
    (Fault::SessionsShareTaint, Comparison),
    (Fault::WritesOneLevelDown, Comparison),
];

/// In front of the store.
const FRONT: &[(Front, By)] = &[
    (Front::CursorOfRows, Comparison),
    (Front::DebugOfSessions, Comparison),
    (Front::PageOfSessions, Comparison),
    (Front::CallOfAllLevels, Comparison),
    (Front::PersonaOfHighest, Comparison),
    (Front::ExplainedFromAbove, Comparison),
];

/// In the gate and in the SQLite provider themselves.
const ENGINE: &[(planted::Fault, By)] = &[
    (planted::Fault::ReadsAtCeiling, Comparison),
    (planted::Fault::ShadowKeptOnSave, Oracle),
    (planted::Fault::ShadowKeptOnDelete, Oracle),
    (planted::Fault::CorpusOfAllLevels, Comparison),
    (planted::Fault::PostingsOfAllLevels, Comparison),
    (planted::Fault::ExpiryUnranked, Oracle),
    (planted::Fault::NeighboursOfAllLevels, Comparison),
    (planted::Fault::TiesByRow, Oracle),
    (planted::Fault::SupersedesAnyLevel, Comparison),
    (planted::Fault::StaleTaintAccepted, Oracle),
];

/// The traces that every fault is tried on: the same in each run of the tests.
fn fixed_traces() -> Vec<Trace> {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let strategy = trace();
    let mut next = || strategy.new_tree(&mut runner).unwrap().current();
    (0..TRACES).map(|_| next()).collect()
}

/// Tries the traces until the half that must catch the fault does. Returns what went wrong, if any.
fn hunt<'t>(
    name: &str,
    by: By,
    traces: impl IntoIterator<Item = &'t Trace>,
    judge: impl Fn(&Trace) -> Verdict,
) -> Option<String> {
    for (at, trace) in traces.into_iter().enumerate() {
        let verdict = judge(trace);
        let caught = match by {
            Comparison => verdict.interference.is_some(),
            Oracle => verdict.disagreement.is_some(),
        };
        if caught {
            println!("{name}: caught by {by:?} in trace {at}");
            return None;
        }
    }
    Some(format!("{name}: not caught by {by:?} in {TRACES} traces"))
}

fn assert_none_missed(missed: impl Iterator<Item = String>) {
    let missed: Vec<String> = missed.collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn each_fault_of_a_provider_is_caught() {
    let traces = fixed_traces();
    assert_none_missed(PROVIDER.iter().filter_map(|&(fault, by)| {
        let place = || -> Box<dyn Place> { Box::new(Shared(Arc::new(Faulty::new(Some(fault))))) };
        hunt(&format!("{fault:?}"), by, &traces, |trace| {
            judge(&place, trace, None)
        })
    }));
}

#[test]
fn each_fault_in_front_of_the_store_is_caught() {
    let traces = fixed_traces();
    assert_none_missed(FRONT.iter().filter_map(|&(fault, by)| {
        hunt(&format!("{fault:?}"), by, &traces, |trace| {
            judge(&place::in_memory, trace, Some(fault))
        })
    }));
}

#[test]
fn each_fault_in_the_gate_and_in_sqlite_is_caught() {
    let traces = fixed_traces();
    assert_none_missed(ENGINE.iter().filter_map(|&(fault, by)| {
        let shows =
            |trace: &&Trace| fault != planted::Fault::StaleTaintAccepted || trace.two_stores;
        let traces = traces.iter().filter(shows);
        hunt(&format!("{fault:?}"), by, traces, |trace| {
            planted::with(Some(fault), || judge(&place::sqlite, trace, None))
        })
    }));
}

#[test]
fn the_provider_of_the_faults_has_none_by_itself() {
    super::check(|| Box::new(Shared(Arc::new(Faulty::new(None)))));
}
