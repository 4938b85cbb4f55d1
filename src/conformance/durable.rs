//! Clause 15: what was acknowledged is there after a reopening; what isn't durable is gone.

use super::Subject;
use super::lineage::id;
use super::scene::{Actor, Scene, expiring, record, with_tags};
use crate::classification::Classification::{self, Internal};
use crate::error::ErrorKind;
use crate::record::Memory;
use crate::storage::{Hit, Version};

/// What is there again after a reopening: all of it, or for a provider that isn't durable nothing.
fn kept<T: Default>(scene: &Scene<impl Subject>, before: T) -> T {
    if scene.provider().is_durable() {
        before
    } else {
        T::default()
    }
}

pub(super) fn fill(ada: &Actor<'_>) {
    let high = ada.up_to(Internal);
    ada.save_record(with_tags("a", "florp quux", &["Health", "b"]));
    ada.save_record(with_tags("b", "florp", &["health"]));
    high.save("b", "florp above");
    ada.at(1).save("c", "first");
    ada.at(2).save("c", "florp second");
    ada.save("d", "florp deleted");
    ada.at(3).delete("d");
    ada.save_record(expiring("e", "florp", 60));
    ada.save_all(&["f", "g\0'%"].map(|key| record(key, key)));
}

/// What a reader at each level observes.
pub(super) fn observe(ada: &Actor<'_>) -> Vec<(Vec<Memory>, Vec<String>, Vec<Hit>)> {
    let observed = Classification::ALL.map(|level| {
        let reader = ada.up_to(level);
        let listed = reader.list(&super::scene::everything()).records;
        (
            listed,
            reader.tagged("HEALTH"),
            reader.search("florp quux", 10),
        )
    });
    observed.into_iter().collect()
}

pub(super) fn c15_records_are_there_again<S: Subject>(scene: Scene<S>) {
    fill(&scene.ada());
    let before = observe(&scene.ada());
    let scene = scene.reopen();
    let ada = scene.ada();
    let nothing = || vec![(Vec::new(), Vec::new(), Vec::new()); Classification::ALL.len()];
    let expected = if scene.provider().is_durable() {
        before
    } else {
        nothing()
    };
    ada.same(
        observe(&ada),
        expected,
        "lists, tags, hits and scores are as they were",
    );
    let version = kept(&scene, 2) + 1;
    ada.same(ada.save("c", "third").version, version, "versions count on");
    let version = kept(&scene, 1) + 1;
    ada.same(
        ada.save("d", "again").version,
        version,
        "after a deletion too",
    );
}

pub(super) fn c15_history_is_there_again<S: Subject>(scene: Scene<S>) {
    fill(&scene.ada());
    let all = |ada: &Actor<'_>| -> Vec<Version> {
        let keys = ["a", "b", "c", "d", "e", "f", "g\0'%"];
        keys.into_iter().flat_map(|key| ada.history(key)).collect()
    };
    let before = all(&scene.ada());
    let scene = scene.reopen();
    scene.ada().same(
        all(&scene.ada()),
        kept(&scene, before),
        "every version is as it was",
    );
}

pub(super) fn c15_audit_is_there_again<S: Subject>(scene: Scene<S>) {
    fill(&scene.ada());
    let before = scene.whole_audit();
    let scene = scene.reopen();
    let ada = scene.ada();
    let expected = kept(&scene, before);
    let next = expected.first().map_or(0, |entry| entry.seq) + 1;
    ada.same(scene.whole_audit(), expected, "every entry is as it was");
    ada.save("k", "v");
    let newest = scene.whole_audit().first().map(|entry| entry.seq);
    ada.same(newest, Some(next), "and their numbers go on");
}

pub(super) fn c15_the_recorded_taint_is_there_again<S: Subject>(scene: Scene<S>) {
    scene.record_taint("s-1", Internal);
    let scene = scene.reopen();
    let refused = scene.ada().try_save(&[record("k", "v")]).err();
    let kind = refused.map(|error| error.kind());
    scene.ada().same(
        kind,
        kept(&scene, Some(ErrorKind::TaintRaised)),
        "a restart lowers no taint",
    );
}

pub(super) fn c15_the_lineage_is_there_again<S: Subject>(scene: Scene<S>) {
    let source = scene.ada().save("notes", "v");
    scene.note_read("s-2", None, &[id(&source)]);
    let saved = id(&scene.ada().session("s-2").save("summary", "v"));
    let before = scene.sources(&saved);
    let scene = scene.reopen();
    scene.ada().holds(before.len() == 1, "there was one");
    scene.ada().same(
        scene.sources(&saved),
        kept(&scene, before),
        "what was read before is known again",
    );
}
