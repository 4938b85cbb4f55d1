//! Clause 16: the search index is made anew, and nobody can tell.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::Subject;
use super::durable::{fill, observe};
use super::scene::{Scene, expiring};
use super::threads::beside;
use crate::classification::Classification::Internal;
use crate::policy::HostGrant;
use crate::storage::Namespace;

fn reindex(scene: &Scene<impl Subject>) -> u64 {
    let grant = HostGrant::forge(Namespace::MEMORY, None);
    scene.ada().done(scene.provider().reindex(&grant))
}

pub(super) fn c16_it_counts_the_live_records<S: Subject>(scene: Scene<S>) {
    let (ada, bob) = (scene.ada(), scene.agent("bob"));
    ada.same(reindex(&scene), 0, "there are none at first");
    ada.save("k", "first");
    ada.save("k", "second");
    ada.same(reindex(&scene), 1, "a superseded version doesn't count");
    ada.up_to(Internal).save("k", "above");
    bob.within(Namespace::TODO).save("k", "v");
    ada.save_record(expiring("e", "v", 60));
    ada.at(60).same(reindex(&scene), 4, "every live one does");
    ada.delete("k");
    ada.same(reindex(&scene), 3, "a deleted one doesn't");
}

pub(super) fn c16_no_answer_changes<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    fill(&ada);
    let (before, audit) = (observe(&ada), scene.whole_audit());
    reindex(&scene);
    ada.same(observe(&ada), before, "reads answer as before");
    ada.same(scene.whole_audit(), audit, "it leaves no entry");
    ada.save("a", "zorb");
    ada.delete("b");
    ada.same(ada.found("zorb"), ["a"], "new text is found");
    ada.holds(
        !ada.found("quux").contains(&"a".to_owned()),
        "old text isn't",
    );
    ada.same(
        ada.up_to(Internal).found("above"),
        ["b"],
        "what is higher stays",
    );
}

pub(super) fn c16_readers_and_writers_go_on<S: Subject>(scene: Scene<S>) {
    let (ada, bob, carol) = (scene.ada(), scene.agent("bob"), scene.agent("carol"));
    fill(&ada);
    let before = observe(&ada);
    let remake = || {
        for round in 0..10 {
            bob.save(&format!("k{round}"), "florp");
            reindex(&scene);
        }
    };
    let saved = AtomicUsize::new(0);
    let go_on = || {
        ada.same(observe(&ada), before.clone(), "reads answer as before");
        let number = saved.fetch_add(1, Ordering::SeqCst);
        carol.save(&format!("k{number}"), "florp");
    };
    beside(remake, go_on);
    let saved = saved.into_inner().min(1_000);
    ada.same(carol.found("florp").len(), saved, "no write is lost");
    ada.same(bob.found("florp").len(), 10, "none between two either");
}
