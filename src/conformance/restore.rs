//! Clause 19: an earlier version becomes the live one again.

use uuid::Uuid;

use super::Subject;
use super::scene::{Actor, Scene, expiring, key, tags_of, with_tags};
use crate::audit::Action;
use crate::classification::Classification::{Internal, Public};
use crate::error::{ErrorKind, Result};
use crate::record::Memory;
use crate::storage::{Restore, VersionState};

fn try_restore(actor: &Actor<'_>, name: &str, version: u64) -> Result<Option<Memory>> {
    let request = Restore {
        key: key(name),
        version,
        lineage_id: Uuid::new_v4(),
    };
    let grant = actor.write_grant(Action::Restore);
    actor.provider.restore(&grant, &request)
}

fn restore(actor: &Actor<'_>, name: &str, version: u64) -> Option<Memory> {
    actor.done(try_restore(actor, name, version))
}

pub(super) fn c19_a_restored_version_is_a_new_one<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    let first = ada.at(1).save_record(with_tags("k", "zorb", &["Old"]));
    ada.at(2).save("k", "quux");
    let other = ada.session("s-2").at(3);
    let Some(restored) = restore(&other, "k", 1) else {
        ada.fail("a superseded version is restored");
    };
    ada.same(restored.version, 3, "it gets a number of its own");
    ada.same(restored.content.as_str(), "zorb", "the old content");
    ada.same(tags_of(&restored), ["Old"], "the old tags");
    ada.same(restored.session.as_str(), "s-2", "and the new session");
    ada.holds(restored.lineage_id != first.lineage_id, "and a new id");
    ada.same(ada.get("k"), Some(restored), "it is what is read");
    ada.same(ada.found("zorb"), ["k"], "it is found");
    ada.same(ada.tagged("old"), ["k"], "and listed");
    ada.same(ada.found("quux"), [""; 0], "what it superseded isn't");
    let states: Vec<_> = ada.history("k").iter().map(|found| found.state).collect();
    let (live, old) = (VersionState::Live, VersionState::Superseded);
    ada.same(states, [live, old, old], "the old version stays");
}

pub(super) fn c19_a_restore_supersedes_as_a_save_does<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    let first = ada.at(1).save("k", "v");
    let again = restore(&ada.at(2), "k", 1);
    let times = again.map(|memory| (memory.version, memory.created_at));
    ada.same(
        times,
        Some((2, first.created_at)),
        "the live one is restored over itself",
    );
    ada.at(3).delete("k");
    let again = restore(&ada.at(4), "k", 1).map(|memory| (memory.version, memory.created_at));
    ada.same(again, Some((3, ada.at(4).now)), "over a deleted one");
    ada.up_to(Internal).save("k", "above");
    restore(&ada.at(5), "k", 2);
    ada.same(
        ada.up_to(Internal).read("k").as_deref(),
        Some("above"),
        "it stays shadowed",
    );
}

pub(super) fn c19_a_version_of_another_level_is_not_restored<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.save("k", "low");
    let high = ada.up_to(Internal);
    high.save("k2", "high");
    high.save("k2", "higher");
    ada.same(restore(&high, "k", 1), None, "neither a lower one");
    ada.same(restore(&ada, "k2", 1), None, "nor a higher one");
    ada.same(
        restore(&scene.agent("bob"), "k", 1),
        None,
        "nor another agent's",
    );
    ada.same(ada.keys(), ["k"], "and nothing was stored");
}

pub(super) fn c19_a_version_that_never_was_is_not_restored<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.same(restore(&ada, "k", 1), None, "in an empty scope");
    ada.save("k", "v");
    for version in [0, 2, u64::MAX] {
        ada.same(restore(&ada, "k", version), None, "of any number");
    }
    ada.same(ada.history("k").len(), 1, "nothing was stored");
    ada.same(scene.whole_audit().len(), 1, "and nothing noted");
}

pub(super) fn c19_an_expired_version_is_not_restored<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.save_record(expiring("k", "briefly", 60));
    ada.save("k", "for ever");
    let restored = restore(&ada.at(59), "k", 1);
    ada.same(
        restored.and_then(|memory| memory.expires_at),
        Some(ada.at(60).now),
        "what has not expired keeps its time",
    );
    let error = try_restore(&ada.at(60), "k", 1).err();
    ada.same(
        error.map(|error| error.kind()),
        Some(ErrorKind::InvalidArgument),
        "what has expired is refused",
    );
    ada.same(ada.history("k").len(), 3, "and nothing was stored");
}

pub(super) fn c19_a_restore_below_the_recorded_taint_is_refused<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.save("k", "one");
    ada.save("k", "two");
    scene.record_taint("s-1", Internal);
    let error = try_restore(&ada, "k", 1).err();
    ada.same(
        error.map(|error| error.kind()),
        Some(ErrorKind::TaintRaised),
        "as a save would be",
    );
    ada.same(ada.history("k").len(), 2, "and nothing was stored");
}

pub(super) fn c19_a_restore_leaves_an_entry<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.save("k", "one");
    ada.save("k", "two");
    restore(&ada.at(5), "k", 1);
    let Some(entry) = scene.whole_audit().into_iter().next() else {
        ada.fail("the audit is empty");
    };
    let facts = entry.facts;
    ada.same(facts.action, Action::Restore, "its action");
    ada.same(facts.level, Public, "its level");
    ada.same((facts.version, facts.at), (Some(3), ada.at(5).now), "of it");
    ada.same(facts.detail.as_deref(), Some("version 1"), "what it was");
}
