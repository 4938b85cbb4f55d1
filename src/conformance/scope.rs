//! Clause 1: a grant reaches its own namespace and agent.

use super::Subject;
use super::scene::{Scene, everything, with_tags};
use super::text::TEXTS;
use crate::storage::{Deletion, Namespace};

pub(super) fn c01_an_unwritten_scope_is_empty<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    let page = ada.list(&everything());
    ada.same(ada.get("k"), None, "get finds nothing");
    ada.same(page.records, [], "list holds nothing");
    ada.holds(!page.more, "nothing follows nothing");
    ada.same(page.total, Some(0), "list counts nothing");
    ada.same(ada.search("florp", 10), [], "search finds nothing");
    ada.same(
        ada.delete("k"),
        Deletion::NotFound,
        "there is nothing to delete",
    );
    ada.same(ada.history("k"), [], "nothing has a history");
    ada.same(scene.whole_audit(), [], "the audit has no entry");
}

pub(super) fn c01_agents_are_apart<S: Subject>(scene: Scene<S>) {
    let (ada, bob) = (scene.agent("ada"), scene.agent("bob"));
    ada.save_record(with_tags("k", "florp of ada", &["t"]));
    ada.same(bob.get("k"), None, "get reads another agent's record");
    ada.same(
        bob.list(&everything()).total,
        Some(0),
        "list counts another agent's record",
    );
    ada.same(
        bob.tagged("t"),
        [""; 0],
        "a tag lists another agent's record",
    );
    ada.same(
        bob.found("florp"),
        [""; 0],
        "search finds another agent's record",
    );
    ada.same(
        bob.history("k"),
        [],
        "history tells another agent's versions",
    );

    ada.same(
        bob.save("k", "florp of bob").version,
        1,
        "versions count per agent",
    );
    ada.same(
        ada.read("k").as_deref(),
        Some("florp of ada"),
        "the other's save alters nothing",
    );
    ada.same(
        bob.delete("k"),
        Deletion::Done { version: 1 },
        "bob deletes his own",
    );
    ada.same(
        bob.delete("k"),
        Deletion::NotFound,
        "bob can't delete ada's",
    );
    ada.same(
        ada.found("florp"),
        ["k"],
        "ada's record is there after bob's deletion",
    );
}

pub(super) fn c01_namespaces_are_apart<S: Subject>(scene: Scene<S>) {
    let memories = scene.ada();
    let todos = memories.within(Namespace::TODO);
    memories.save_record(with_tags("k", "florp", &["t"]));
    memories.same(todos.get("k"), None, "get reads another namespace");
    memories.same(todos.keys(), [""; 0], "list reads another namespace");
    memories.same(
        todos.found("florp"),
        [""; 0],
        "search reads another namespace",
    );
    memories.same(todos.history("k"), [], "history reads another namespace");
    memories.same(
        todos.save("k", "todo").version,
        1,
        "versions count per namespace",
    );
    memories.same(
        todos.delete("k"),
        Deletion::Done { version: 1 },
        "the todo is deleted",
    );
    memories.same(
        memories.read("k").as_deref(),
        Some("florp"),
        "the memory stays",
    );
}

pub(super) fn c01_agent_names_are_exact<S: Subject>(scene: Scene<S>) {
    for name in TEXTS {
        scene.agent(name).save("k", name);
    }
    for name in TEXTS {
        let agent = scene.agent(name);
        agent.same(
            agent.read("k").as_deref(),
            Some(name),
            "each agent has its own record",
        );
        agent.same(agent.list(&everything()).total, Some(1), "and no other's");
        agent.same(agent.history("k").len(), 1, "and no other's history");
    }
    let wild = scene.agent("%");
    wild.same(
        wild.delete("k"),
        Deletion::Done { version: 1 },
        "`%` is an agent",
    );
    let left = TEXTS
        .iter()
        .filter(|name| scene.agent(name).get("k").is_some());
    wild.same(
        left.count(),
        TEXTS.len() - 1,
        "deleting as `%` deletes that agent's record only",
    );
}

pub(super) fn c01_names_do_not_run_together<S: Subject>(scene: Scene<S>) {
    // Each pair would be one name if its parts were glued with the character between them.
    let pairs = [
        (("a", "b-c", "k"), ("a-b", "c", "k")),
        (("a", "b_c", "k"), ("a_b", "c", "k")),
        (("a", "b:c", "k"), ("a", "b", "c:k")),
        (("a", "b\0c", "k"), ("a", "b", "c\0k")),
        (("a", "b/c", "k"), ("a", "b", "c/k")),
        (("a", "bc", "k"), ("a", "b", "ck")),
    ];
    for pair in pairs {
        let scene = scene.another();
        for (namespace, agent, key) in [pair.0, pair.1] {
            let namespace = super::scene::parsed(namespace.parse());
            let actor = scene.agent(agent).within(namespace);
            actor.same(actor.save(key, agent).version, 1, "each is a new record");
            actor.same(
                actor.read(key).as_deref(),
                Some(agent),
                "and read back as such",
            );
            actor.same(actor.keys(), [key], "and alone in its scope");
        }
    }
}
