//! Clause 9: lists, pages and tags.

use super::Subject;
use super::scene::{Actor, Scene, everything, key, keys_of, record, tag, with_tags};
use super::text::TEXTS;
use crate::classification::Classification::{Internal, Restricted};
use crate::storage::{ListPage, ListRequest, NewRecord};

/// The keys of all pages of this length.
fn by_pages(actor: &Actor<'_>, label: Option<&str>, limit: usize) -> Vec<String> {
    let mut keys = Vec::new();
    let mut after = None;
    loop {
        let ListPage { records, more, .. } = actor.list(&ListRequest {
            tag: label.map(tag),
            after: after.take(),
            limit,
            count: false,
        });
        let full = records.len() == limit;
        actor.holds(full || !more, "only the last page is short");
        after = records.last().map(|memory| memory.key.clone());
        let page = keys_of(&records);
        let ascends = page.is_empty() || keys.last() < page.first();
        actor.holds(ascends, "a page starts after the one before");
        keys.extend(page);
        if !more {
            return keys;
        }
        actor.holds(after.is_some(), "a page that more follow isn't empty");
    }
}

pub(super) fn c09_keys_are_in_byte_order<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.save_all(&TEXTS.map(|text| record(text, "v")));
    let mut expected = TEXTS;
    expected.sort_unstable_by_key(|text| text.as_bytes());
    ada.same(ada.keys(), expected, "keys ascend in byte order");
    ada.same(by_pages(&ada, None, 1), expected, "over pages too");
}

pub(super) fn c09_pages_hold_each_record_once<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    // All saved at one time, so nothing but the key can tell them apart.
    let keys: Vec<String> = (0..300).map(|place| format!("k{place:03}")).collect();
    let records: Vec<NewRecord> = keys.iter().rev().map(|key| record(key, "v")).collect();
    ada.save_all(&records);
    for place in (0..300).step_by(3) {
        // Hidden ones between them, and over some of them.
        ada.up_to(Restricted).save(&format!("k{place:03}a"), "w");
    }
    ada.same(by_pages(&ada, None, 13), keys, "each comes once");
}

pub(super) fn c09_more_is_exact<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.save_all(&["a", "b", "c"].map(|key| record(key, "v")));
    for (limit, more) in [
        (1, true),
        (2, true),
        (3, false),
        (4, false),
        (usize::MAX, false),
    ] {
        let page = ada.list(&ListRequest {
            limit,
            ..everything()
        });
        ada.same(page.more, more, "`more` says whether another follows");
        ada.same(
            page.records.len(),
            limit.min(3),
            "a page is as full as it can be",
        );
    }
}

pub(super) fn c09_after_need_not_be_there<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.save_all(&["a", "b", "c", "d"].map(|key| record(key, "v")));
    ada.up_to(Internal).save("bb", "hidden");
    ada.delete("c");
    let from = |after: &str| {
        let page = ada.list(&ListRequest {
            after: Some(key(after)),
            ..everything()
        });
        keys_of(&page.records)
    };
    ada.same(from("b"), ["d"], "the key itself isn't repeated");
    ada.same(from("bb"), ["d"], "a hidden key is a place too");
    ada.same(from("c"), ["d"], "so is a deleted one");
    ada.same(from("0"), ["a", "b", "d"], "and one before all");
    ada.same(from("e"), [""; 0], "nothing follows the last");
}

pub(super) fn c09_tags_compare_without_case<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.save_record(with_tags("k", "v", &["Health", "Straße"]));
    ada.save_record(with_tags("l", "v", &["HEALTH"]));
    for text in ["health", "HEALTH", " Health "] {
        ada.same(ada.tagged(text), ["k", "l"], "case doesn't count");
    }
    for text in ["straße", "STRASSE", "STRAẞE"] {
        ada.same(ada.tagged(text), ["k"], "in any script");
    }
}

pub(super) fn c09_tags_compare_whole<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.save_record(with_tags("k", "v", &["a_1", "x,y"]));
    ada.save_record(with_tags("l", "v", &["ab1", "a_12"]));
    ada.save_record(with_tags("m", "v", &["x"]));
    ada.same(ada.tagged("a_1"), ["k"], "`_` stands for itself");
    ada.same(ada.tagged("x"), ["m"], "a comma stands for itself");
    for text in [
        "a%",
        "%",
        "a",
        "a_",
        "_",
        "*",
        "y",
        "\"x\"",
        "$.x",
        "x') OR 1=1 --",
    ] {
        ada.same(ada.tagged(text), [""; 0], "nothing matches in part");
    }
}

pub(super) fn c09_pages_of_a_tag_hold_each_record_once<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    let keys: Vec<String> = (0..40).map(|place| format!("k{place:02}")).collect();
    let records: Vec<NewRecord> = (0..)
        .zip(&keys)
        .map(|(place, key)| match place % 3 {
            0 => with_tags(key, "v", &["t", "other"]),
            1 => with_tags(key, "v", &["other", "T"]),
            _ => with_tags(key, "v", &["other"]),
        })
        .collect();
    ada.save_all(&records);
    let expected: Vec<String> = (0..)
        .zip(keys)
        .filter_map(|(place, key)| (place % 3 != 2).then_some(key))
        .collect();
    ada.same(by_pages(&ada, Some("t"), 4), expected, "each comes once");
}

pub(super) fn c09_total_counts_the_whole_list<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    for place in 0..6 {
        let tags: &[&str] = if place < 4 { &["t"] } else { &[] };
        ada.save_record(with_tags(&format!("k{place}"), "v", tags));
    }
    ada.up_to(Internal)
        .save_record(with_tags("k9", "v", &["t"]));
    for after in [None, Some("k2"), Some("z")] {
        for (label, total) in [(None, 6), (Some("T"), 4), (Some("absent"), 0)] {
            let request = ListRequest {
                tag: label.map(tag),
                after: after.map(key),
                limit: 1,
                count: true,
            };
            ada.same(
                ada.list(&request).total,
                Some(total),
                "`total` counts the visible records with the tag from the first page on",
            );
            let uncounted = ListRequest {
                count: false,
                ..request
            };
            ada.same(ada.list(&uncounted).total, None, "if it is asked for");
        }
    }
}
