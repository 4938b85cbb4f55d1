//! Clause 7: no write below a session's recorded taint.

use std::thread;

use super::Subject;
use super::scene::{Actor, Scene, record};
use crate::audit::Action;
use crate::classification::Classification::{self, Confidential, Internal, Public, Restricted};
use crate::error::ErrorKind;
use crate::policy::WriteGrant;
use crate::storage::{Deletion, Namespace};

fn save_is_refused(actor: &Actor<'_>) -> bool {
    match actor.try_save(&[record("k", "florp")]) {
        Ok(_) => false,
        Err(error) if error.kind() == ErrorKind::TaintRaised => true,
        Err(error) => actor.fail(&format!("unexpected error {error:?}")),
    }
}

pub(super) fn c07_a_save_below_the_recorded_taint_is_refused<S: Subject>(scene: Scene<S>) {
    scene.record_taint("s-1", Confidential);
    for level in [Public, Internal] {
        let ada = scene.ada().up_to(level);
        ada.holds(save_is_refused(&ada), "a save below is refused");
    }
}

pub(super) fn c07_a_delete_below_the_recorded_taint_is_refused<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.save("k", "v");
    scene.record_taint("s-1", Internal);
    for key in ["k", "absent"] {
        let refused = ada.try_delete(key).map_err(|error| error.kind()).err();
        ada.same(
            refused,
            Some(ErrorKind::TaintRaised),
            "a delete below is refused",
        );
    }
    ada.same(ada.read("k").as_deref(), Some("v"), "nothing is deleted");
}

pub(super) fn c07_a_write_at_or_above_the_recorded_taint_is_not<S: Subject>(scene: Scene<S>) {
    scene.record_taint("s-1", Confidential);
    for level in [Confidential, Restricted] {
        let ada = scene.ada().up_to(level);
        ada.holds(!save_is_refused(&ada), "a save at or above is stored");
        ada.same(
            ada.delete("k"),
            Deletion::Done { version: 1 },
            "a delete at or above is done",
        );
    }
}

pub(super) fn c07_a_refused_write_changes_nothing<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    let kept = ada.save("k", "quux");
    scene.record_taint("s-1", Internal);
    let (history, audit) = (ada.history("k"), scene.whole_audit());
    ada.holds(save_is_refused(&ada.at(1)), "the save is refused");
    ada.holds(ada.at(1).try_delete("k").is_err(), "so is the delete");
    ada.same(ada.get("k"), Some(kept), "the record is as it was");
    ada.same(ada.history("k"), history, "so is the history");
    ada.same(ada.found("florp"), [""; 0], "so is the index");
    ada.same(scene.whole_audit(), audit, "so is the audit");
}

pub(super) fn c07_the_highest_recorded_taint_counts<S: Subject>(scene: Scene<S>) {
    // Written in rising order, as the ratchet has it, and the lower ones stay live.
    for level in [Public, Internal, Restricted] {
        scene.record_taint("s-1", level);
    }
    for level in Classification::ALL {
        let ada = scene.ada().up_to(level);
        ada.same(
            save_is_refused(&ada),
            level < Restricted,
            "only the highest taint may write",
        );
    }
}

pub(super) fn c07_a_session_record_can_not_be_written_lower<S: Subject>(scene: Scene<S>) {
    scene.record_taint("s-1", Confidential);
    let gate = scene
        .agent(Namespace::SESSION_OWNER)
        .within(Namespace::SESSION)
        .session("s-1")
        .up_to(Internal);
    let refused = gate.try_save(&[record("s-1", "{}")]);
    let kind = refused.map_err(|error| error.kind()).err();
    gate.same(kind, Some(ErrorKind::TaintRaised), "taint never falls");
    scene.record_taint("s-1", Confidential);
    scene.record_taint("s-1", Restricted);
}

/// The gate's own writer of `s-1`.
fn keeper<S: Subject>(scene: &Scene<S>, level: Classification) -> Actor<'_> {
    scene
        .agent(Namespace::SESSION_OWNER)
        .within(Namespace::SESSION)
        .session("s-1")
        .up_to(level)
}

pub(super) fn c07_a_session_record_that_changed_is_not_followed_blindly<S: Subject>(
    scene: Scene<S>,
) {
    let gate = keeper(&scene, Confidential);
    let first = gate.write_grant(Action::Open);
    scene.record_taint("s-1", Public);
    let second = gate.write_grant(Action::Raise);
    // At a level below, which alone refuses nothing.
    scene.record_taint("s-1", Public);
    let (history, audit) = (gate.history("s-1"), scene.whole_audit());
    for (grant, what) in [(first, "there was none"), (second, "there was another")] {
        let refused = scene.provider().save(&grant, &[record("s-1", "{}")]);
        let kind = refused.map_err(|error| error.kind()).err();
        gate.same(kind, Some(ErrorKind::TaintRaised), what);
    }
    gate.same(gate.history("s-1"), history, "nothing is stored");
    gate.same(scene.whole_audit(), audit, "nor noted");
    scene.record_taint("s-1", Confidential);
}

pub(super) fn c07_one_of_many_follows_a_session_record<S: Subject>(scene: Scene<S>) {
    scene.record_taint("s-1", Public);
    let gate = keeper(&scene, Public);
    let last = gate.history("s-1").into_iter().next();
    let last = last.map(|version| version.memory.lineage_id);
    let save = || {
        let grant = WriteGrant::forge(gate.read_grant(), gate.session.clone(), Action::Raise);
        let saved = gate
            .provider
            .save(&grant.following(last), &[record("s-1", "{}")]);
        usize::from(saved.is_ok())
    };
    let stored: usize = thread::scope(|scope| {
        let savers: Vec<_> = (0..6).map(|_| scope.spawn(save)).collect();
        savers
            .into_iter()
            .filter_map(|saver| saver.join().ok())
            .sum()
    });
    gate.same(
        stored,
        1,
        "one of those that follow the same version is stored",
    );
    gate.same(gate.history("s-1").len(), 2, "and only that one");
}

pub(super) fn c07_it_concerns_that_session_only<S: Subject>(scene: Scene<S>) {
    let others = [
        "s_1", "S-1", "s-", "s-11", "%", "s%", " s-1", "s-1 ", "s-1\0",
    ];
    scene.record_taint("s-1", Restricted);
    for other in others {
        let ada = scene.ada().session(other);
        ada.holds(!save_is_refused(&ada), "another session writes on");
    }
    let ada = scene.ada();
    ada.holds(save_is_refused(&ada), "the session itself doesn't");
    ada.holds(
        save_is_refused(&scene.agent("bob")),
        "nor does it for whatever agent",
    );
}

pub(super) fn c07_a_memory_is_no_session_record<S: Subject>(scene: Scene<S>) {
    // The same key elsewhere than among the gate's own records.
    let high = scene.ada().session("s-2").up_to(Restricted);
    high.save("s-1", "{}");
    high.within(Namespace::SESSION).save("s-1", "{}");
    let host = scene.agent(Namespace::SESSION_OWNER).session("s-2");
    host.up_to(Restricted).save("s-1", "{}");
    let ada = scene.ada();
    ada.holds(!save_is_refused(&ada), "only the gate's records count");
}
