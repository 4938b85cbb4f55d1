//! Clauses 19 and 20: versions are removed for good, and nothing is wrong afterwards.

use super::Subject;
use super::durable::fill;
use super::scene::{Actor, Scene, expiring, key, parsed, second, with_tags};
use crate::audit::{Action, Query};
use crate::classification::Classification::{self, Internal, Restricted};
use crate::policy::HostGrant;
use crate::record::MemoryKey;
use crate::storage::{Erase, Erased, Erasure, Namespace};

/// Lets the host remove what it names, at this actor's time and in its namespace. How many versions.
fn remove(actor: &Actor<'_>, agent: Option<&str>, what: Erase) -> u64 {
    let agent = agent.map(|agent| parsed(agent.parse()));
    let grant = HostGrant::forge(actor.namespace.clone(), agent);
    let request = Erasure {
        what,
        now: actor.now,
    };
    let Erased { versions, complete } = actor.done(actor.provider.erase(&grant, &request));
    actor.holds(complete, "nobody reads, so nothing is left");
    versions
}

fn purge(actor: &Actor<'_>, seconds: i64) -> u64 {
    let before = second(seconds);
    remove(actor, None, Erase::Ended { before })
}

fn check(scene: &Scene<impl Subject>) {
    let grant = HostGrant::forge(Namespace::MEMORY, None);
    let ada = scene.ada();
    let problems = ada.done(scene.provider().check(&grant));
    ada.same(problems, [], "nothing is wrong");
}

fn contents(actor: &Actor<'_>, name: &str) -> Vec<String> {
    let versions = actor.history(name).into_iter();
    versions.map(|version| version.memory.content).collect()
}

pub(super) fn c19_a_purge_removes_what_ended_before<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.at(1).save("k", "one");
    ada.at(2).save("k", "two");
    ada.at(3).save("k", "three");
    ada.at(1).save("d", "deleted");
    ada.at(3).delete("d");
    ada.same(purge(&ada.at(9), 2), 0, "what ended just then stays");
    ada.same(purge(&ada.at(9), 3), 1, "what ended before goes");
    ada.same(contents(&ada, "k"), ["three", "two"], "the oldest");
    ada.same(purge(&ada.at(9), 100), 2, "and then the others");
    ada.same(contents(&ada, "k"), ["three"], "but for the live one");
    ada.same(contents(&ada, "d"), [""; 0], "nothing of the deleted one");
    ada.same(purge(&ada.at(9), 100), 0, "and no more");
    check(&scene);
}

pub(super) fn c19_a_purge_removes_what_expired_before<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.save("k", "lasting");
    ada.up_to(Internal)
        .save_record(expiring("k", "briefly", 10));
    ada.save_record(expiring("later", "longer", 50));
    ada.same(purge(&ada.at(20), 10), 0, "what expired just then stays");
    ada.same(purge(&ada.at(20), 100), 1, "what will expire stays, too");
    ada.same(contents(&ada, "k"), ["lasting"], "what has expired goes");
    ada.same(
        ada.up_to(Internal).found("lasting briefly"),
        ["k"],
        "what it lay over is found",
    );
    ada.same(ada.up_to(Internal).keys(), ["k", "later"], "and listed");
    check(&scene);
}

pub(super) fn c19_a_purge_is_of_its_agent_and_namespace<S: Subject>(scene: Scene<S>) {
    let (ada, bob) = (scene.ada(), scene.agent("bob"));
    let cron = ada.within(Namespace::CRON);
    for actor in [&ada, &bob, &cron] {
        actor.save("k", "one");
        actor.save("k", "two");
    }
    let before = second(9);
    let purged = remove(&ada, Some("bob"), Erase::Ended { before });
    ada.same(purged, 1, "only the agent's");
    let left = [&ada, &bob, &cron].map(|actor| actor.history("k").len());
    ada.same(left, [2, 1, 2], "others' stay");
    ada.same(purge(&ada, 9), 1, "without an agent, every agent's");
    ada.same(cron.history("k").len(), 2, "in the namespace");
}

pub(super) fn c19_an_erased_key_is_gone_at_every_level<S: Subject>(scene: Scene<S>) {
    let (ada, bob) = (scene.ada(), scene.agent("bob"));
    for level in Classification::ALL {
        ada.up_to(level).save("k", "old");
        ada.up_to(level)
            .save_record(with_tags("k", "zorb", &["tag"]));
        ada.up_to(level).save("K", "kept");
    }
    bob.save("k", "bob's");
    ada.within(Namespace::TODO).save("k", "todo");
    let erased = remove(&ada, Some("ada"), Erase::Key(key("k")));
    ada.same(erased, 8, "every version");
    let top = ada.up_to(Restricted);
    ada.same(top.history("k"), [], "nothing is left in the history");
    ada.same(top.get("k"), None, "or read");
    ada.same(top.tagged("tag"), [""; 0], "or listed");
    ada.same(top.keys(), ["K"], "other keys stay");
    ada.same(bob.read("k").as_deref(), Some("bob's"), "other agents'");
    let todo = ada.within(Namespace::TODO).read("k");
    ada.same(todo.as_deref(), Some("todo"), "other namespaces'");
    check(&scene);
}

pub(super) fn c19_an_erased_agent_is_gone_in_every_namespace<S: Subject>(scene: Scene<S>) {
    let (ada, bob) = (scene.ada(), scene.agent("bob"));
    fill(&ada);
    ada.within(Namespace::CRON).save("job", "v");
    bob.save("k", "bob's");
    let erased = remove(&ada, Some("ada"), Erase::Agent);
    ada.holds(erased > 1, "all versions are counted");
    ada.same(ada.up_to(Restricted).keys(), [""; 0], "no memory is left");
    ada.same(ada.within(Namespace::CRON).keys(), [""; 0], "and no job");
    ada.same(bob.keys(), ["k"], "other agents stay");
    ada.save("k", "anew");
    ada.same(ada.found("anew"), ["k"], "and the agent can go on");
    check(&scene);
}

pub(super) fn c19_an_erased_session_takes_all_that_it_saved<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    let other = ada.session("s-2");
    ada.save("k", "by the one");
    other.save("k", "by the other");
    ada.save("k", "by the one again");
    ada.within(Namespace::CRON).save("job", "by the one");
    other.save("k2", "by the other");
    ada.save("k3", "by the one");
    let session = parsed("s-1".parse());
    let erased = remove(&ada, None, Erase::Session(session));
    ada.same(erased, 4, "in every namespace");
    ada.same(contents(&ada, "k"), ["by the other"], "versions of others");
    ada.same(ada.keys(), ["k2"], "what was superseded doesn't return");
    check(&scene);
}

pub(super) fn c19_what_an_erased_record_shadowed_shows_again<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.save("k", "zorb");
    ada.up_to(Internal).session("s-2").save("k", "quux");
    let top = ada.up_to(Restricted);
    top.session("s-3").save("k", "florp");
    for (session, expected) in [("s-3", "quux"), ("s-2", "zorb")] {
        let session = parsed(session.parse());
        remove(&ada, None, Erase::Session(session));
        ada.same(top.read("k").as_deref(), Some(expected), "it is read");
        ada.same(top.found(expected), ["k"], "and found");
        check(&scene);
    }
}

pub(super) fn c19_erased_text_is_not_found<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    for number in 0..50 {
        let name = format!("k{number}");
        ada.save_record(with_tags(&name, "zorb florp", &["quux"]));
    }
    ada.save("kept", "florp");
    for number in 0..50 {
        remove(&ada, Some("ada"), Erase::Key(key(&format!("k{number}"))));
    }
    ada.same(ada.found("zorb quux k7"), [""; 0], "neither its words");
    ada.same(ada.found("florp"), ["kept"], "others' are");
    check(&scene);
}

pub(super) fn c19_a_grant_without_an_agent_erases_no_key<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.save("k", "v");
    ada.same(remove(&ada, None, Erase::Key(key("k"))), 0, "no key");
    ada.same(remove(&ada, None, Erase::Agent), 0, "and no agent");
    ada.same(ada.keys(), ["k"], "an empty grant reaches nothing");
}

pub(super) fn c19_no_session_record_is_erased<S: Subject>(scene: Scene<S>) {
    scene.record_taint("s-1", Internal);
    scene.record_taint("s-1", Internal);
    let host = scene
        .agent(Namespace::SESSION_OWNER)
        .within(Namespace::SESSION);
    let (owner, session) = (Some(Namespace::SESSION_OWNER), parsed("s-1".parse()));
    purge(&host.at(99), 99);
    for what in [
        Erase::Key(key("s-1")),
        Erase::Agent,
        Erase::Session(session),
    ] {
        host.same(remove(&host, owner, what), 0, "whatever is asked for");
    }
    host.same(host.history("s-1").len(), 2, "a taint is for ever");
}

pub(super) fn c19_numbers_go_on<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.save("k", "1");
    ada.save("k", "2");
    ada.up_to(Internal).save("k", "1 above");
    ada.at(1).delete("k");
    purge(&ada.at(9), 9);
    ada.same(ada.save("k", "3").version, 3, "after a purge");
    remove(&ada, Some("ada"), Erase::Key(key("k")));
    ada.same(ada.save("k", "4").version, 4, "after an erasure");
    let high = ada.up_to(Internal).save("k", "2 above");
    ada.same(high.version, 2, "at each level by itself");
    remove(&ada, Some("ada"), Erase::Agent);
    ada.same(ada.save("k", "5").version, 5, "again");
    ada.same(ada.save("new", "1").version, 1, "a new key starts at 1");
}

pub(super) fn c19_an_erasure_leaves_an_entry<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.save("k", "zorb");
    ada.save("k", "quux");
    remove(&ada.at(7), Some("ada"), Erase::Key(key("k")));
    purge(&ada.at(8), 8);
    let entries = scene.audit(&Query {
        limit: 2,
        ..Query::default()
    });
    let facts: Vec<_> = entries
        .iter()
        .map(|entry| (entry.facts.action, entry.facts.at))
        .collect();
    let expected = [(Action::Purge, second(8)), (Action::Erase, second(7))];
    ada.same(facts, expected, "also where there was nothing");
    let erased = entries.last().map(|entry| &entry.facts);
    let key = erased.and_then(|facts| facts.key.as_ref());
    ada.same(key.map(MemoryKey::as_str), Some("k"), "with the key");
    let detail = erased.and_then(|facts| facts.detail.as_deref());
    ada.same(detail, Some("versions removed: 2"), "and how many");
    let all = scene.whole_audit();
    let numbers: Vec<u64> = all.iter().rev().map(|entry| entry.seq).collect();
    ada.same(numbers, [1, 2, 3, 4], "no earlier entry is removed");
}

pub(super) fn c20_nothing_is_wrong_with_what_was_written<S: Subject>(scene: Scene<S>) {
    check(&scene);
    let ada = scene.ada();
    fill(&ada);
    check(&scene);
    for level in Classification::ALL {
        let actor = ada.up_to(level);
        actor.save_record(with_tags("shared", "部署 zorb", &["A tag", "b"]));
        actor.save_record(expiring("briefly", "v", 5));
    }
    ada.at(9).up_to(Internal).delete("shared");
    check(&scene);
    purge(&ada.at(20), 20);
    check(&scene);
}
