//! Clause 18: the lineage.

use std::slice::from_ref;

use super::Subject;
use super::audit::refusal;
use super::durable::{fill, observe};
use super::scene::{Scene, key};
use crate::audit::Facts;
use crate::classification::Classification::Internal;
use crate::lineage::{Origin, VersionId};
use crate::policy::HostGrant;
use crate::record::Memory;
use crate::storage::Namespace;

/// A memory's id in the namespace of memories.
pub(super) fn id(memory: &Memory) -> VersionId {
    VersionId::of(Namespace::MEMORY, memory)
}

fn keys(origins: &[Origin]) -> Vec<&str> {
    let keys = origins.iter().map(|origin| origin.id.key.as_str());
    keys.collect()
}

pub(super) fn c18_a_reading_leaves_its_entry<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    let saved = id(&ada.save("k", "v"));
    let facts = refusal(&ada);
    scene.note_read("s-1", Some(facts.clone()), &[]);
    scene.note_read("s-1", Some(facts.clone()), from_ref(&saved));
    scene.note_read("s-1", Some(facts.clone()), from_ref(&saved));
    scene.note_read("s-2", None, &[saved]);
    let entries = scene.whole_audit();
    let found: Vec<&Facts> = entries.iter().take(3).map(|entry| &entry.facts).collect();
    ada.same(found, [&facts; 3], "as it was, each time");
    ada.same(entries.len(), 4, "and only where it has one");
}

pub(super) fn c18_what_was_read_before_is_a_source<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    let (a, b) = (ada.at(1).save("a", "v"), ada.save("b", "v"));
    let late = ada.save("late", "v");
    let cron = ada.within(Namespace::CRON).save("c", "v");
    let cron = VersionId::of(Namespace::CRON, &cron);
    let reader = ada.session("s-2");
    let nothing = id(&reader.save("0", "v"));
    scene.note_read("s-2", None, &[cron]);
    scene.note_read("s-2", None, &[id(&b), id(&a)]);
    let saved = id(&reader.save("d", "v"));
    scene.note_read("s-2", None, &[id(&late)]);
    let found = scene.sources(&saved);
    // The first two reads lie after the same entry, so the order of storing decides.
    ada.same(
        keys(&found),
        ["a", "b", "c"],
        "all that was read, and no more",
    );
    let expected = Origin {
        id: id(&a),
        lineage_id: a.lineage_id,
        session: a.session.clone(),
        at: a.updated_at,
    };
    ada.same(found.first(), Some(&expected), "with whence it came");
    ada.same(
        scene.sources(&nothing),
        [],
        "what came before has no source",
    );
    let later = id(&reader.save("e", "v"));
    ada.same(
        keys(&scene.sources(&later)),
        ["a", "b", "c", "late"],
        "the first read first",
    );
}

pub(super) fn c18_what_was_saved_after_is_derived<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    let source = id(&ada.save("a", "v"));
    let reader = ada.session("s-2");
    reader.save("before", "v");
    scene.note_read("s-2", None, from_ref(&source));
    reader.save_all(&[
        super::scene::record("y", "v"),
        super::scene::record("x", "v"),
    ]);
    reader.within(Namespace::TODO).save("todo", "v");
    reader.delete("x");
    scene.record_taint("s-2", Internal);
    let high = reader.up_to(Internal);
    high.save("y", "v");
    let found = scene.derivations(&source);
    ada.same(
        keys(&found),
        ["y", "x", "todo", "y"],
        "in the order of saving, deleted or not, and no session's state",
    );
    let levels: Vec<_> = found.iter().map(|origin| origin.id.level).collect();
    ada.same(levels.last(), Some(&Internal), "at every level");
}

pub(super) fn c18_the_first_read_counts<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    let source = id(&ada.save("a", "v"));
    let reader = ada.session("s-2");
    scene.note_read("s-2", None, from_ref(&source));
    let saved = id(&reader.save("k", "v"));
    scene.note_read("s-2", None, from_ref(&source));
    scene.note_read("s-2", None, &[source.clone(), source.clone()]);
    ada.same(
        keys(&scene.sources(&saved)),
        ["a"],
        "a later one is no news",
    );
    ada.same(keys(&scene.derivations(&source)), ["k"], "either way");
}

pub(super) fn c18_reads_are_of_one_session<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    let source = id(&ada.save("a", "v"));
    scene.note_read("s-2", None, from_ref(&source));
    let other = id(&ada.session("s-3").save("other", "v"));
    let near = id(&ada.session("s-2 ").save("near", "v"));
    let own = id(&ada.session("s-2").save("own", "v"));
    ada.same(scene.sources(&other), [], "another session hasn't read it");
    ada.same(scene.sources(&near), [], "nor one with a name like it");
    ada.same(keys(&scene.sources(&own)), ["a"], "the one has");
    ada.same(keys(&scene.derivations(&source)), ["own"], "and no other");
}

pub(super) fn c18_a_version_is_one_of_its_key_and_level<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    let first = id(&ada.save("k", "one"));
    let second = id(&ada.save("k", "two"));
    let high = id(&ada.up_to(Internal).save("k", "high"));
    let bobs = id(&scene.agent("bob").save("k", "bob's"));
    scene.note_read("s-2", None, from_ref(&first));
    let reader = ada.session("s-2");
    let saved = id(&reader.save("k", "three"));
    let found = scene.sources(&saved);
    let ids: Vec<_> = found.iter().map(|origin| &origin.id).collect();
    ada.same(ids, [&first], "the version that was read");
    for other in [second, high, bobs] {
        ada.same(scene.derivations(&other), [], "and none beside it");
    }
    ada.same(
        scene.sources(&first),
        [],
        "nor has the one its own successor",
    );
}

pub(super) fn c18_what_there_is_not_has_no_lineage<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    let saved = id(&ada.save("k", "v"));
    let absent = |change: fn(&mut VersionId)| {
        let mut version = saved.clone();
        change(&mut version);
        version
    };
    let absent = [
        absent(|version| version.version = 2),
        absent(|version| version.level = Internal),
        absent(|version| version.key = key("K")),
        absent(|version| version.namespace = Namespace::TODO),
    ];
    scene.note_read("s-1", None, &absent);
    ada.save("later", "v");
    for version in &absent {
        ada.same(scene.sources(version), [], "no source");
        ada.same(scene.derivations(version), [], "no derivation");
    }
    let later = id(&ada.save("k", "v"));
    ada.same(
        scene.sources(&later),
        [],
        "what wasn't there when it was noted was not read",
    );
}

pub(super) fn c18_a_limit_keeps_the_first<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    let sources = ["a", "b", "c"].map(|key| id(&ada.save(key, "v")));
    scene.note_read("s-2", None, &sources);
    let reader = ada.session("s-2");
    let saved = ["x", "y", "z"].map(|key| id(&reader.save(key, "v")));
    let grant = HostGrant::forge(Namespace::MEMORY, None);
    let [_, _, last] = &saved;
    let [first, ..] = &sources;
    for (limit, back, forward) in [
        (0, &[][..], &[][..]),
        (2, &["a", "b"], &["x", "y"]),
        (9, &["a", "b", "c"], &["x", "y", "z"]),
    ] {
        let found = ada.done(scene.provider().sources(&grant, last, limit));
        ada.same(keys(&found), back, "the first read");
        let found = ada.done(scene.provider().derivations(&grant, first, limit));
        ada.same(keys(&found), forward, "the first saved");
    }
}

pub(super) fn c18_no_other_method_depends_on_it<S: Subject>(scene: Scene<S>) {
    let (noted, plain) = (scene.another(), scene);
    for scene in [&noted, &plain] {
        fill(&scene.ada());
    }
    for key in ["a", "b", "c"] {
        let ids: Vec<_> = noted.ada().get(key).iter().map(id).collect();
        noted.note_read("s-1", None, &ids);
    }
    let keys = |scene: &Scene<S>| -> Vec<_> {
        let seen = observe(&scene.ada()).into_iter();
        seen.map(|(listed, tagged, hits)| {
            let listed = super::scene::keys_of(&listed);
            let scores: Vec<_> = hits.iter().map(|hit| hit.score).collect();
            (listed, tagged, scores)
        })
        .collect()
    };
    plain
        .ada()
        .same(keys(&noted), keys(&plain), "every answer is as without it");
    let count = |scene: &Scene<S>| scene.whole_audit().len();
    plain
        .ada()
        .same(count(&noted), count(&plain), "and so is the audit");
}
