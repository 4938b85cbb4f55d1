//! Clause 22: counts.

use super::Subject;
use super::scene::{Scene, expiring, second};
use crate::classification::Classification::{self, Internal, Public};
use crate::policy::HostGrant;
use crate::storage::{Counts, Namespace, Stats};

fn stats(scene: &Scene<impl Subject>, namespace: Namespace, agent: Option<&str>) -> Stats {
    let agent = agent.and_then(|agent| agent.parse().ok());
    let grant = HostGrant::forge(namespace, agent);
    scene.ada().done(scene.provider().stats(&grant, second(60)))
}

fn at(stats: &Stats, level: Classification) -> Counts {
    stats.levels.get(&level).copied().unwrap_or_default()
}

pub(super) fn c22_versions_are_counted_by_level_and_state<S: Subject>(scene: Scene<S>) {
    let (ada, bob) = (scene.ada(), scene.agent("bob"));
    ada.save("k", "first");
    ada.save("k", "second");
    ada.save("gone", "v");
    ada.delete("gone");
    ada.save_record(expiring("past", "v", 60));
    ada.save_record(expiring("later", "v", 61));
    ada.up_to(Internal).save("k", "above");
    bob.save("k", "v");
    bob.within(Namespace::TODO).save("k", "v");
    let all = stats(&scene, Namespace::MEMORY, None);
    let expected = Counts {
        live: 3,
        expired: 1,
        superseded: 1,
        deleted: 1,
    };
    ada.same(at(&all, Public), expected, "each counts where it belongs");
    ada.same(at(&all, Internal).live, 1, "and at its level");
    ada.same(all.levels.len(), 4, "every level is there");
    let of_bob = stats(&scene, Namespace::MEMORY, Some("bob"));
    let expected = Counts {
        live: 1,
        ..Counts::default()
    };
    ada.same(at(&of_bob, Public), expected, "one agent's count alone");
    let grant = HostGrant::forge(Namespace::MEMORY, None);
    let held = ada.done(scene.provider().holdings(&grant, second(60)));
    let counts: Vec<_> = held
        .iter()
        .map(|held| (held.agent.as_str().len(), held.level, held.memories))
        .collect();
    ada.same(
        counts.len(),
        3,
        "each agent at each level where it has something",
    );
    ada.same(
        counts.iter().map(|(_, _, memories)| memories).sum::<u64>(),
        4,
        "and only what is live and unexpired",
    );
    let nobody = stats(&scene, Namespace::MEMORY, Some("nobody"));
    ada.same(at(&nobody, Public), Counts::default(), "or nobody's");
}

pub(super) fn c22_agents_sessions_and_entries_are_counted<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    let none = stats(&scene, Namespace::MEMORY, None);
    ada.same(
        (none.agents, none.sessions, none.audit_entries),
        (0, 0, 0),
        "none at first",
    );
    ada.save("k", "v");
    scene.agent("bob").save("k", "v");
    scene.agent("carol").within(Namespace::TODO).save("k", "v");
    scene.record_taint("s-1", Public);
    scene.record_taint("s-1", Internal);
    scene.record_taint("s-2", Public);
    let all = stats(&scene, Namespace::MEMORY, None);
    ada.same(
        (all.agents, all.sessions, all.audit_entries),
        (2, 2, 6),
        "each counts once",
    );
}

pub(super) fn c22_only_what_is_durable_has_sizes<S: Subject>(scene: Scene<S>) {
    let sizes = stats(&scene, Namespace::MEMORY, None).sizes;
    let has = sizes.is_some_and(|sizes| sizes.database_bytes + sizes.wal_bytes > 0);
    scene
        .ada()
        .same(has, sizes.is_some(), "a size isn't nothing");
    scene.ada().holds(
        scene.provider().is_durable() || sizes.is_none(),
        "what isn't durable takes no space on disk",
    );
}
