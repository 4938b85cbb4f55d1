//! Clause 8: soft deletion.

use super::Subject;
use super::scene::{Scene, everything, expiring, record, with_tags};
use super::text::TEXTS;
use crate::classification::Classification::{self, Confidential, Internal, Public};
use crate::storage::{Deletion, Namespace};

pub(super) fn c08_a_deleted_record_is_gone<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.save_record(with_tags("k", "florp", &["t"]));
    ada.save_record(with_tags("l", "florp", &["t"]));
    ada.delete("k");
    ada.same(ada.get("k"), None, "get returns a deleted record");
    let page = ada.list(&everything());
    ada.same(ada.keys(), ["l"], "list returns a deleted record");
    ada.same(page.total, Some(1), "list counts a deleted record");
    ada.same(ada.tagged("t"), ["l"], "a tag lists a deleted record");
    ada.same(ada.found("florp"), ["l"], "search finds a deleted record");
}

pub(super) fn c08_it_says_which_version<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    for _ in 0..3 {
        ada.save("k", "v");
    }
    ada.same(
        ada.delete("k"),
        Deletion::Done { version: 3 },
        "the live version is deleted",
    );
    ada.same(
        ada.delete("k"),
        Deletion::NotFound,
        "no earlier version comes back to life",
    );
}

pub(super) fn c08_what_it_shadowed_shows_again<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    let high = ada.up_to(Internal);
    ada.save_record(with_tags("k", "florp", &["t"]));
    high.save("k", "quux");
    high.delete("k");
    high.same(
        high.read("k").as_deref(),
        Some("florp"),
        "get sees the lower record",
    );
    high.same(high.tagged("t"), ["k"], "list sees it");
    high.same(high.found("florp"), ["k"], "search finds it");
    high.same(
        high.delete("k"),
        Deletion::WrongLevel(Public),
        "and a second deletion doesn't reach it",
    );
}

pub(super) fn c08_it_works_at_each_level<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    for level in Classification::ALL {
        ada.up_to(level).save("k", level.as_str());
    }
    let mut left = Classification::ALL.to_vec();
    for level in [Internal, Classification::Restricted, Public, Confidential] {
        ada.same(
            ada.up_to(level).delete("k"),
            Deletion::Done { version: 1 },
            "each level deletes its own",
        );
        left.retain(|other| *other != level);
        let seen = ada.up_to(Classification::Restricted).get("k");
        ada.same(
            seen.map(|memory| memory.classification),
            left.last().copied(),
            "and none of another level",
        );
    }
}

pub(super) fn c08_a_lower_record_is_at_the_wrong_level<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    for level in [Public, Internal] {
        ada.up_to(level).save("k", level.as_str());
    }
    ada.same(
        ada.up_to(Confidential).delete("k"),
        Deletion::WrongLevel(Internal),
        "it says at which level the visible record is",
    );
    ada.same(
        ada.up_to(Internal).read("k").as_deref(),
        Some("INTERNAL"),
        "and deletes nothing",
    );
}

pub(super) fn c08_a_higher_record_is_not_found<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    let high = ada.up_to(Internal);
    high.save("k", "v");
    ada.same(
        ada.delete("k"),
        Deletion::NotFound,
        "what is above is as if it weren't there",
    );
    ada.same(high.read("k").as_deref(), Some("v"), "and stays");
}

pub(super) fn c08_an_absent_record_is_not_found<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.save("k", "v");
    ada.same(ada.delete("l"), Deletion::NotFound, "the key isn't there");
    ada.delete("k");
    ada.same(ada.delete("k"), Deletion::NotFound, "it is deleted already");
}

pub(super) fn c08_an_expired_record_is_not_found<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    let high = ada.up_to(Internal);
    ada.save_record(expiring("k", "v", 5));
    ada.same(
        ada.at(5).delete("k"),
        Deletion::NotFound,
        "an expired record is as if it weren't there",
    );
    ada.save("l", "low");
    high.save_record(expiring("l", "high", 5));
    ada.same(
        high.at(5).delete("l"),
        Deletion::WrongLevel(Public),
        "and what it shadowed counts",
    );
    ada.same(
        high.at(4).delete("l"),
        Deletion::Done { version: 1 },
        "before its time it can be deleted",
    );
}

pub(super) fn c08_nothing_else_is_deleted<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    let (high, bob) = (ada.up_to(Internal), scene.agent("bob"));
    let todo = ada.within(Namespace::TODO);
    let records = TEXTS.map(|text| record(text, text));
    for actor in [&ada, &high, &bob, &todo] {
        actor.save_all(&records);
    }
    for (done, text) in (1..).zip(TEXTS) {
        ada.same(
            ada.delete(text),
            Deletion::Done { version: 1 },
            "each is there to delete",
        );
        ada.same(
            ada.keys().len(),
            TEXTS.len() - done,
            "one deletion deletes one record",
        );
    }
    for actor in [&high, &bob, &todo] {
        actor.same(
            actor.keys().len(),
            TEXTS.len(),
            "records of another level, agent or namespace stay",
        );
    }
}
