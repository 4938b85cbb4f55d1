//! Clause 17: the chain of the audit.

use super::Subject;
use super::audit::{append, refusal};
use super::scene::{Scene, key, parsed, record, second};
use crate::audit::{Action, Decision, Digest, Entry, Facts};
use crate::classification::Classification::Internal;
use crate::storage::Namespace;

/// All entries, oldest first.
fn entries(scene: &Scene<impl Subject>) -> Vec<Entry> {
    let links = scene.trail(0, 10_000).links;
    links.into_iter().filter_map(|link| link.entry).collect()
}

/// Fails unless each entry is chained to the one before it.
fn assert_chained(scene: &Scene<impl Subject>, count: usize) {
    let ada = scene.ada();
    let entries = entries(scene);
    ada.same(entries.len(), count, "every entry is in the trail");
    let mut previous = Digest::ZERO;
    for (entry, seq) in entries.iter().zip(1..) {
        ada.same(entry.seq, seq, "by rising number");
        let expected = Digest::of_entry(&previous, seq, &entry.facts);
        ada.same(entry.hash, expected, "with a hash over the one before");
        previous = entry.hash;
    }
    let mut newest_first = entries;
    newest_first.reverse();
    ada.same(
        scene.whole_audit(),
        newest_first,
        "and a query returns the same entries",
    );
}

fn write_a_bit(scene: &Scene<impl Subject>) {
    let ada = scene.ada();
    ada.save_all(&[record("k", "v"), record("l", "v")]);
    append(scene, &refusal(&ada));
    ada.delete("k");
}

pub(super) fn c17_each_entry_is_chained_to_the_one_before<S: Subject>(scene: Scene<S>) {
    write_a_bit(&scene);
    scene.note_read("s-1", Some(refusal(&scene.ada())), &[]);
    assert_chained(&scene, 5);
}

pub(super) fn c17_each_fact_is_in_the_hash<S: Subject>(scene: Scene<S>) {
    let facts = Facts {
        key: Some(key("ab")),
        version: Some(1),
        rule: Some("r".into()),
        ..refusal(&scene.ada())
    };
    let changed = [
        Facts {
            at: second(1),
            ..facts.clone()
        },
        Facts {
            session: parsed("s-2".parse()),
            ..facts.clone()
        },
        Facts {
            agent: parsed("bob".parse()),
            ..facts.clone()
        },
        Facts {
            namespace: Namespace::TODO,
            ..facts.clone()
        },
        Facts {
            action: Action::Get,
            ..facts.clone()
        },
        Facts {
            decision: Decision::Allowed,
            ..facts.clone()
        },
        Facts {
            level: Internal,
            ..facts.clone()
        },
        Facts {
            key: None,
            ..facts.clone()
        },
        Facts {
            key: Some(key("a")),
            ..facts.clone()
        },
        Facts {
            version: None,
            ..facts.clone()
        },
        Facts {
            version: Some(2),
            ..facts.clone()
        },
        Facts {
            rule: None,
            ..facts.clone()
        },
        Facts {
            rule: Some(String::new()),
            ..facts.clone()
        },
        Facts {
            detail: None,
            ..facts.clone()
        },
        // A text moves from one fact to the next.
        Facts {
            rule: facts.detail.clone(),
            detail: facts.rule.clone(),
            ..facts.clone()
        },
    ];
    let mut hashes = vec![Digest::of_entry(&Digest::ZERO, 1, &facts)];
    hashes.push(Digest::of_entry(&Digest::ZERO, 2, &facts));
    for facts in changed {
        let other = scene.another();
        append(&other, &facts);
        hashes.extend(entries(&other).iter().map(|entry| entry.hash));
    }
    append(&scene, &facts);
    let ada = scene.ada();
    let first = entries(&scene).first().map(|entry| entry.hash);
    ada.same(
        first,
        hashes.first().copied(),
        "the same facts, the same hash",
    );
    hashes.sort_unstable_by_key(|hash| *hash.as_bytes());
    let count = hashes.len();
    hashes.dedup();
    ada.same(hashes.len(), count, "other facts, another hash");
}

pub(super) fn c17_the_chain_holds_with_many_writers<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    std::thread::scope(|scope| {
        for session in ["s-1", "s-2", "s-3", "s-4"] {
            let actor = ada.session(session);
            scope.spawn(move || {
                for _ in 0..15 {
                    actor.save_all(&[record("k", "v"), record("l", "v")]);
                }
            });
        }
    });
    assert_chained(&scene, 4 * 15 * 2);
}

pub(super) fn c17_the_chain_goes_on_after_a_reopening<S: Subject>(scene: Scene<S>) {
    write_a_bit(&scene);
    let scene = scene.reopen();
    let kept = if scene.provider().is_durable() { 4 } else { 0 };
    write_a_bit(&scene);
    assert_chained(&scene, kept + 4);
}

pub(super) fn c17_a_trail_is_in_order_and_cut<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    let numbers = |after, limit| -> Vec<u64> {
        let links = scene.trail(after, limit).links;
        links.iter().map(|link| link.seq).collect()
    };
    ada.same(numbers(0, 10), [0; 0], "an empty audit has none");
    ada.same(scene.trail(0, 10).recorded, 0, "and counts none");
    write_a_bit(&scene);
    ada.same(numbers(0, 3), [1, 2, 3], "the first come first");
    ada.same(numbers(3, 3), [4], "then those after the last one");
    ada.same(numbers(1, 2), [2, 3], "at most so many");
    ada.same(numbers(1, 0), [2], "and one at least");
    ada.same(numbers(4, 3), [0; 0], "and none after the end");
    ada.same(numbers(u64::MAX, 3), [0; 0], "nor after any other number");
    ada.same(scene.trail(3, 1).recorded, 4, "all are counted");
}
