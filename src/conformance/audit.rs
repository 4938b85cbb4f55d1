//! Clause 12: the audit.

use super::Subject;
use super::scene::{Actor, Scene, key, parsed, record, second};
use super::text::TEXTS;
use crate::audit::{Action, Decision, Entry, Event, Facts, Query};
use crate::classification::Classification::{Internal, Restricted};
use crate::storage::{Namespace, StorageProvider};

fn facts(entries: &[Entry]) -> Vec<&Facts> {
    entries.iter().map(|entry| &entry.facts).collect()
}

fn numbers(entries: &[Entry]) -> Vec<u64> {
    entries.iter().map(|entry| entry.seq).collect()
}

/// Facts of something that was refused.
pub(super) fn refusal(actor: &Actor<'_>) -> Facts {
    Facts {
        at: actor.now,
        session: actor.session.clone(),
        agent: actor.agent.clone(),
        namespace: actor.namespace.clone(),
        action: Action::ToolCall,
        decision: Decision::Refused,
        level: actor.level,
        key: None,
        version: None,
        rule: None,
        detail: Some("it's not \"allowed\" \0 部署".into()),
    }
}

pub(super) fn append(scene: &Scene<impl Subject>, facts: &Facts) {
    let provider: &dyn StorageProvider = scene.provider();
    scene
        .ada()
        .done(provider.append(&Event::new(facts.clone())));
}

pub(super) fn c12_each_saved_record_leaves_an_entry<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada().up_to(Internal).session("s-9").at(7);
    ada.save("k", "one");
    let batch = [record("l", "v"), record("k", "two"), record("l", "w")];
    ada.save_all(&batch);
    let grant = ada.write_grant(Action::Save);
    let mut expected: Vec<Facts> = [("k", 1), ("l", 1), ("k", 2), ("l", 2)]
        .map(|(name, version)| grant.facts(&key(name), version))
        .into();
    expected.reverse();
    let entries = scene.whole_audit();
    let expected: Vec<&Facts> = expected.iter().collect();
    ada.same(facts(&entries), expected, "one for each record, in order");
}

pub(super) fn c12_each_deleted_record_leaves_an_entry<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.save("k", "one");
    ada.save("k", "two");
    let later = ada.session("s-2").at(3);
    later.delete("k");
    let entries = scene.whole_audit();
    let expected = later.write_grant(Action::Delete).facts(&key("k"), 2);
    let newest = entries.first().map(|entry| &entry.facts);
    ada.same(
        newest,
        Some(&expected),
        "with the grant's facts and the deleted version",
    );
    ada.same(entries.len(), 3, "and no more than one");
}

pub(super) fn c12_what_was_not_done_leaves_no_entry<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.save("k", "v");
    let before = scene.whole_audit();
    ada.delete("absent");
    ada.up_to(Internal).delete("k");
    ada.get("k");
    ada.keys();
    ada.found("v");
    ada.history("k");
    ada.same(
        scene.whole_audit(),
        before,
        "deletions that found nothing and reads leave none",
    );
}

pub(super) fn c12_an_appended_event_is_an_entry<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada().up_to(Restricted).at(5);
    let bare = refusal(&ada);
    let full = Facts {
        action: Action::Delete,
        decision: Decision::Allowed,
        key: Some(key("k")),
        version: Some(3),
        rule: Some("no writes \0 on Sundays".into()),
        detail: None,
        ..bare.clone()
    };
    append(&scene, &bare);
    append(&scene, &full);
    let entries = scene.whole_audit();
    ada.same(facts(&entries), [&full, &bare], "each is kept as it was");
    ada.same(numbers(&entries), [2, 1], "and numbered");
}

pub(super) fn c12_numbers_have_no_gaps<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    scene.record_taint("s-2", Internal);
    for place in 0..4 {
        ada.save_all(&[record("k", "v"), record("l", "v")]);
        ada.holds(
            ada.session("s-2").try_save(&[record("k", "v")]).is_err(),
            "a refused save takes no number",
        );
        append(&scene, &refusal(&ada));
        ada.delete(if place % 2 == 0 { "k" } else { "absent" });
    }
    let mut found = numbers(&scene.whole_audit());
    found.reverse();
    let expected: Vec<u64> = (1..=15).collect();
    ada.same(found, expected, "numbers rise from 1 by one");
}

pub(super) fn c12_the_newest_entry_is_first<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    // Newest is what was stored last, whatever the clock said.
    for seconds in [5, 9, 2] {
        ada.at(seconds).save("k", "v");
    }
    let entries = scene.whole_audit();
    ada.same(numbers(&entries), [3, 2, 1], "by number, descending");
    let times: Vec<_> = entries.iter().map(|entry| entry.facts.at).collect();
    ada.same(
        times,
        [second(2), second(9), second(5)],
        "with the times they were told",
    );
    let limited = scene.audit(&Query {
        limit: 2,
        ..Query::default()
    });
    ada.same(numbers(&limited), [3, 2], "a limit keeps the newest");
}

pub(super) fn c12_a_query_narrows<S: Subject>(scene: Scene<S>) {
    let (ada, bob) = (scene.agent("ada"), scene.agent("bob").session("s-2"));
    ada.save("k", "v"); // 1
    bob.save("k", "v"); // 2
    ada.session("s-3").within(Namespace::TODO).save("k", "v"); // 3
    bob.save("l", "v"); // 4
    append(&scene, &refusal(&ada)); // 5, without a key
    let asked = |agent: Option<&Actor<'_>>, session: Option<&str>, name: Option<&str>| {
        numbers(&scene.audit(&Query {
            agent: agent.map(|actor| actor.agent.clone()),
            session: session.map(|id| parsed(id.parse())),
            key: name.map(key),
            ..Query::default()
        }))
    };
    ada.same(
        asked(None, None, None),
        [5, 4, 3, 2, 1],
        "all, of every agent and namespace",
    );
    ada.same(asked(Some(&ada), None, None), [5, 3, 1], "of an agent");
    ada.same(asked(None, Some("s-2"), None), [4, 2], "of a session");
    ada.same(asked(None, None, Some("k")), [3, 2, 1], "of a key");
    ada.same(
        asked(Some(&ada), Some("s-3"), Some("k")),
        [3],
        "of all three together",
    );
    ada.same(asked(Some(&bob), Some("s-1"), None), [0; 0], "of none");
}

pub(super) fn c12_names_in_a_query_are_exact<S: Subject>(scene: Scene<S>) {
    for text in TEXTS {
        scene.agent(text).session(text).save(text, "v");
    }
    for text in TEXTS {
        let actor = scene.agent(text).session(text);
        let by = [
            Query {
                agent: Some(actor.agent.clone()),
                ..Query::default()
            },
            Query {
                session: Some(actor.session.clone()),
                ..Query::default()
            },
            Query {
                key: Some(key(text)),
                ..Query::default()
            },
        ];
        for query in by {
            let entries = scene.audit(&query);
            let keys: Vec<_> = entries.iter().map(|entry| &entry.facts.key).collect();
            actor.same(keys, [&Some(key(text))], "one name, one entry");
        }
    }
}

pub(super) fn c12_a_query_narrows_by_what_was_done<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.save("k", "v"); // 1
    ada.up_to(Internal).within(Namespace::TODO).save("k", "v"); // 2
    ada.delete("k"); // 3
    append(&scene, &refusal(&ada.up_to(Internal))); // 4
    let asked = |query: Query| numbers(&scene.audit(&query));
    let level = asked(Query {
        level: Some(Internal),
        ..Query::default()
    });
    ada.same(level, [4, 2], "of a level exactly");
    let namespace = asked(Query {
        namespace: Some(Namespace::TODO),
        ..Query::default()
    });
    ada.same(namespace, [2], "of a namespace");
    let action = asked(Query {
        action: Some(Action::Save),
        ..Query::default()
    });
    ada.same(action, [2, 1], "of a kind");
    let decision = |decision| Query {
        decision: Some(decision),
        ..Query::default()
    };
    ada.same(asked(decision(Decision::Refused)), [4], "what was refused");
    ada.same(
        asked(decision(Decision::Allowed)),
        [3, 2, 1],
        "what was allowed",
    );
    let all = asked(Query {
        agent: Some(ada.agent.clone()),
        session: Some(ada.session.clone()),
        key: Some(key("k")),
        level: Some(Internal),
        action: Some(Action::Save),
        decision: Some(Decision::Allowed),
        namespace: Some(Namespace::TODO),
        ..Query::default()
    });
    ada.same(all, [2], "of all of that together");
}

pub(super) fn c12_times_in_a_query_are_half_open<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    // The clock was set back in between.
    for seconds in [10, 20, 5, 30] {
        ada.at(seconds).save("k", "v");
    }
    let tick = chrono::TimeDelta::nanoseconds(1);
    let asked = |from, until| {
        numbers(&scene.audit(&Query {
            from,
            until,
            ..Query::default()
        }))
    };
    let (ten, twenty) = (second(10), second(20));
    ada.same(
        asked(Some(ten), Some(twenty)),
        [1],
        "the start is in, the end is out",
    );
    ada.same(
        asked(Some(ten), None),
        [4, 2, 1],
        "from a time on, by number",
    );
    ada.same(asked(None, Some(twenty)), [3, 1], "up to a time, by number");
    ada.same(
        asked(Some(ten + tick), Some(twenty + tick)),
        [2],
        "also between two stored instants",
    );
    ada.same(asked(Some(twenty), Some(ten)), [0; 0], "no time at all");
    let of_session = scene.audit(&Query {
        session: Some(ada.session.clone()),
        from: Some(ten),
        until: Some(second(30)),
        ..Query::default()
    });
    ada.same(numbers(&of_session), [2, 1], "together with other parts");
}

pub(super) fn c12_pages_hold_each_entry_once<S: Subject>(scene: Scene<S>) {
    let (ada, bob) = (scene.ada(), scene.agent("bob").session("s-2"));
    for _ in 0..10 {
        ada.save("k", "v");
        bob.save("k", "v");
    }
    let queries = [
        Query::default(),
        Query {
            agent: Some(bob.agent.clone()),
            ..Query::default()
        },
        Query {
            from: Some(second(0)),
            ..Query::default()
        },
    ];
    for mut query in queries {
        let expected = numbers(&scene.audit(&query));
        query.limit = 3;
        let mut found = Vec::new();
        loop {
            let page = scene.audit(&query);
            query.before = page.last().map(|entry| entry.seq);
            found.extend(numbers(&page));
            if query.before.is_none() {
                break;
            }
            bob.save("l", "meanwhile");
        }
        ada.same(
            found,
            expected,
            "each once and in order, and nothing that is stored meanwhile",
        );
    }
    let none = Query {
        before: Some(1),
        ..Query::default()
    };
    ada.same(
        numbers(&scene.audit(&none)),
        [0; 0],
        "nothing is before the first",
    );
    let all = Query {
        before: Some(u64::MAX),
        limit: 1,
        ..Query::default()
    };
    ada.same(
        scene.audit(&all).len(),
        1,
        "all are before a number above all",
    );
}
