//! Clauses 4 and 6: versions, their times, and batches.

use super::Subject;
use super::scene::{Actor, Scene, everything, expiring, record, second, tags_of, with_tags};
use crate::classification::Classification::{self, Internal, Public};
use crate::error::ErrorKind;
use crate::record::Memory;
use crate::storage::{Deletion, NewRecord, VersionState};

pub(super) fn c04_a_record_holds_what_was_saved<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada().session("s-17").up_to(Internal).at(5);
    let new = NewRecord {
        expires_at: Some(second(100)),
        ..with_tags("k", "some text", &["Zebra", "apple", "Mango"])
    };
    let saved = ada.save_record(new.clone());
    let expected = Memory {
        key: new.key.clone(),
        content: new.content.clone(),
        classification: Internal,
        tags: new.tags.clone(),
        agent: ada.agent.clone(),
        version: 1,
        created_at: second(5),
        updated_at: second(5),
        expires_at: Some(second(100)),
        session: ada.session.clone(),
        lineage_id: new.lineage_id,
    };
    ada.same(&saved, &expected, "save returns what it was given");
    ada.same(
        tags_of(&saved),
        ["Zebra", "apple", "Mango"],
        "tags keep their order and case",
    );
    let got = ada.get("k");
    ada.same(got.as_ref(), Some(&expected), "get returns the same");
    let listed = ada.list(&everything()).records.pop();
    ada.same(listed.as_ref(), Some(&expected), "list returns the same");
    let found = ada.search("some", 1).pop().map(|hit| hit.memory);
    ada.same(found.as_ref(), Some(&expected), "search returns the same");
    let version = ada.history("k").pop().map(|version| version.memory);
    ada.same(
        version.as_ref(),
        Some(&expected),
        "history returns the same",
    );
}

pub(super) fn c04_versions_count_per_key_and_level<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    for number in 1..=3 {
        for level in Classification::ALL {
            for key in ["k", "l"] {
                let saved = ada.up_to(level).save(key, "v");
                ada.same(
                    saved.version,
                    number,
                    "each key counts its versions for each level",
                );
            }
        }
    }
}

pub(super) fn c04_a_later_version_keeps_nothing_but_the_creation<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    let first = NewRecord {
        expires_at: Some(second(100)),
        ..with_tags("k", "florp", &["old"])
    };
    ada.save_record(first);
    let other = ada.session("s-2").at(1);
    let second_version = other.save("k", "quux");
    ada.same(
        tags_of(&second_version),
        [""; 0],
        "the old tags don't return",
    );
    ada.same(
        second_version.expires_at,
        None,
        "the old expiry doesn't return",
    );
    ada.same(
        &second_version.session,
        &other.session,
        "the session is the one that saved",
    );
    ada.same(ada.at(200).read("k").as_deref(), Some("quux"), "it lasts");
    ada.same(ada.tagged("old"), [""; 0], "the old tag lists nothing");
    ada.same(ada.found("florp"), [""; 0], "the old words find nothing");
}

pub(super) fn c04_created_at_is_that_of_the_superseded_record<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.at(1).save("k", "one");
    ada.at(5).save("k", "two");
    let third = ada.at(9).save("k", "three");
    ada.same(third.created_at, second(1), "created when first saved");
    ada.same(third.updated_at, second(9), "updated when last saved");
    let other = ada.at(9).up_to(Internal).save("k", "other");
    ada.same(
        other.created_at,
        second(9),
        "another level's creation is its own",
    );
}

pub(super) fn c04_an_expired_record_does_not_lend_its_creation<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.at(1).save_record(expiring("k", "one", 5));
    let next = ada.at(5).save("k", "two");
    ada.same(next.version, 2, "the count goes on");
    ada.same(
        (next.created_at, next.updated_at),
        (second(5), second(5)),
        "it is created anew",
    );
    let states: Vec<_> = ada.history("k").iter().map(|found| found.state).collect();
    ada.same(
        states,
        [VersionState::Live, VersionState::Superseded],
        "the expired record is superseded",
    );
}

pub(super) fn c04_a_deleted_record_does_not_lend_its_creation<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.at(1).save_record(with_tags("k", "florp", &["old"]));
    ada.at(2).delete("k");
    let next = ada.at(3).save("k", "quux");
    ada.same(next.created_at, second(3), "it is created anew");
    ada.same(tags_of(&next), [""; 0], "the old tags don't return");
    ada.same(ada.tagged("old"), [""; 0], "nor do they list it");
    ada.same(ada.found("florp"), [""; 0], "nor do the old words find it");
}

pub(super) fn c04_the_count_goes_on_after_a_deletion<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    for number in 1..=3 {
        ada.same(ada.save("k", "v").version, number, "the count goes on");
        ada.same(
            ada.delete("k"),
            Deletion::Done { version: number },
            "the version is deleted",
        );
    }
}

pub(super) fn c04_updated_at_is_not_before_created_at<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.at(10).save("k", "one");
    let times = |memory: &Memory| (memory.created_at, memory.updated_at);
    let back = ada.at(4).save("k", "two");
    ada.same(
        times(&back),
        (second(10), second(10)),
        "where the clock was set back",
    );
    let forth = ada.at(12).save("k", "three");
    ada.same(times(&forth), (second(10), second(12)), "where it runs on");
}

pub(super) fn c04_other_levels_and_keys_stay<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    let secret = ada.up_to(Internal).save("k", "secret");
    let other = ada.save("l", "other");
    ada.at(1).save("k", "public");
    ada.same(
        ada.up_to(Internal).get("k"),
        Some(secret),
        "the higher record under the key is as it was",
    );
    ada.same(ada.get("l"), Some(other), "so is the other key's");
    ada.same(
        ada.read("k").as_deref(),
        Some("public"),
        "the lower grant reads its own",
    );
}

pub(super) fn c06_saved_records_come_back_in_order<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    let keys = ["m", "a", "z", "b"];
    let saved = ada.save_all(&keys.map(|key| record(key, key)));
    let returned: Vec<_> = saved.iter().map(|memory| memory.key.as_str()).collect();
    ada.same(returned, keys, "in the order of the argument");
    ada.same(ada.keys(), ["a", "b", "m", "z"], "and all are stored");
}

pub(super) fn c06_a_key_that_comes_twice_gets_two_versions<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    let saved = ada.save_all(&[record("k", "florp"), record("l", "v"), record("k", "quux")]);
    let versions: Vec<_> = saved.iter().map(|memory| memory.version).collect();
    ada.same(versions, [1, 1, 2], "each gets a version");
    ada.same(ada.read("k").as_deref(), Some("quux"), "the last is live");
    ada.same(
        ada.found("florp"),
        [""; 0],
        "the first isn't found any more",
    );
    let states: Vec<_> = ada.history("k").iter().map(|found| found.state).collect();
    ada.same(
        states,
        [VersionState::Live, VersionState::Superseded],
        "both are in the history",
    );
}

pub(super) fn c06_a_save_of_nothing_is_nothing<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.same(ada.save_all(&[]), [], "nothing comes back");
    ada.same(ada.keys(), [""; 0], "nothing is stored");
    ada.same(scene.whole_audit(), [], "nothing is in the audit");
}

pub(super) fn c06_a_refused_batch_leaves_no_trace<S: Subject>(scene: Scene<S>) {
    scene.record_taint("s-1", Internal);
    let ada = scene.ada();
    let before = scene.whole_audit();
    let refused = ada.try_save(&[record("k", "florp"), record("l", "florp")]);
    let kind = refused.map_err(|error| error.kind()).err();
    ada.same(kind, Some(ErrorKind::TaintRaised), "the batch is refused");
    let everywhere: [Actor<'_>; 2] = [Public, Internal].map(|level| ada.up_to(level));
    for reader in everywhere {
        ada.same(reader.keys(), [""; 0], "no record is stored");
        ada.same(reader.found("florp"), [""; 0], "no record is indexed");
    }
    ada.same(ada.history("k"), [], "no version is in the history");
    ada.same(scene.whole_audit(), before, "no entry is in the audit");
}
