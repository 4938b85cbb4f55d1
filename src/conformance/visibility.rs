//! Clauses 2 and 3: what a grant sees, and the level that it writes at.

use chrono::TimeDelta;

use super::Subject;
use super::scene::{
    Actor, Scene, everything, expiring, key, keys_of, record, second, tag, with_tags,
};
use crate::classification::Classification::{self, Confidential, Internal, Public, Restricted};
use crate::storage::{Hit, ListPage, ListRequest, NewRecord};

pub(super) fn c02_get_returns_the_highest_readable<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    // In neither rising nor falling order.
    for level in [Confidential, Public, Restricted, Internal] {
        ada.up_to(level).save("k", level.as_str());
    }
    for level in Classification::ALL {
        let seen = ada.up_to(level).get("k").map(|memory| memory.content);
        ada.same(
            seen.as_deref(),
            Some(level.as_str()),
            "get returns the version of the highest readable level",
        );
    }
}

pub(super) fn c02_list_returns_the_highest_readable<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    for level in Classification::ALL {
        ada.up_to(level).save("k", level.as_str());
    }
    ada.save("l", "only at the bottom");
    let page = ada.up_to(Confidential).list(&everything());
    ada.same(keys_of(&page.records), ["k", "l"], "each key comes once");
    let content = page.records.first().map(|memory| memory.content.as_str());
    ada.same(
        content,
        Some("CONFIDENTIAL"),
        "with the highest readable version",
    );
    ada.same(page.total, Some(2), "and is counted once");
}

pub(super) fn c02_search_does_not_find_what_is_shadowed<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    let high = ada.up_to(Internal);
    ada.save("k", "florp");
    high.save("k", "quux");
    ada.same(
        high.found("florp"),
        [""; 0],
        "words of the shadowed version find it",
    );
    ada.same(
        high.found("quux"),
        ["k"],
        "words of the shadowing version find it",
    );
    ada.same(ada.found("florp"), ["k"], "it is there for the lower grant");
    ada.same(
        ada.found("quux"),
        [""; 0],
        "the lower grant finds nothing higher",
    );
}

pub(super) fn c02_a_tag_of_a_shadowed_record_lists_nothing<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    let high = ada.up_to(Internal);
    ada.save_record(with_tags("k", "v", &["blue"]));
    high.save_record(with_tags("k", "w", &["green"]));
    let blue = ListRequest {
        tag: Some(tag("blue")),
        ..everything()
    };
    let page = high.list(&blue);
    ada.same(
        page.records,
        [],
        "the tag of the shadowed version lists nothing",
    );
    ada.same(page.total, Some(0), "nor does it count");
    ada.same(ada.tagged("blue"), ["k"], "it is there for the lower grant");
}

pub(super) fn c02_nothing_above_the_grant_is_there<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    for (place, level) in Classification::ALL.into_iter().enumerate() {
        ada.up_to(level)
            .save_record(with_tags(&format!("k{place}"), "florp", &["t"]));
    }
    for (place, level) in Classification::ALL.into_iter().enumerate() {
        let reader = ada.up_to(level);
        let readable: Vec<String> = (0..=place).map(|place| format!("k{place}")).collect();
        ada.same(
            reader.keys(),
            readable.clone(),
            "list holds what is at or below",
        );
        ada.same(
            reader.tagged("t"),
            readable.clone(),
            "so does a list by tag",
        );
        let total = u64::try_from(readable.len()).ok();
        ada.same(reader.list(&everything()).total, total, "so does the count");
        let mut found = reader.found("florp");
        found.sort();
        ada.same(found, readable.clone(), "so does search");
        for other in 0..Classification::ALL.len() {
            let key = format!("k{other}");
            let there = reader.get(&key).is_some();
            ada.same(there, readable.contains(&key), "so does get");
        }
    }
}

pub(super) fn c02_a_page_is_filled_after_hidden_records_are_left_out<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    for place in 0..20 {
        ada.up_to(Restricted)
            .save(&format!("a{place:02}"), "hidden");
    }
    ada.save_all(&[record("b1", "v"), record("b2", "v")]);
    ada.up_to(Restricted).save("c", "hidden");
    let page = ada.list(&ListRequest {
        limit: 2,
        ..everything()
    });
    ada.same(
        keys_of(&page.records),
        ["b1", "b2"],
        "hidden records take no place on the page",
    );
    ada.holds(!page.more, "what follows is hidden, so nothing follows");
}

pub(super) fn c02_a_search_is_filled_after_hidden_records_are_left_out<S: Subject>(
    scene: Scene<S>,
) {
    let ada = scene.ada();
    for place in 0..20 {
        ada.up_to(Restricted)
            .save(&format!("a{place:02}"), "florp florp florp");
    }
    for place in 0..20 {
        let key = format!("b{place:02}");
        ada.save_record(expiring(&key, "florp florp florp", -1));
    }
    ada.save("c", "florp among several other words");
    let hits = ada.search("florp", 1);
    let keys: Vec<_> = hits.iter().map(|hit| hit.memory.key.as_str()).collect();
    ada.same(keys, ["c"], "hidden records take no place among the hits");
}

/// All that a grant can observe of a scope.
#[derive(Debug, PartialEq)]
struct Observed {
    got: Vec<Option<(String, u64)>>,
    pages: Vec<(Vec<String>, bool, Option<u64>)>,
    hits: Vec<(String, u64)>,
}

fn observe(reader: &Actor<'_>) -> Observed {
    let got = (0..12).map(|place| {
        let memory = reader.get(&format!("k{place}"))?;
        Some((memory.content, memory.version))
    });
    let pages = [None, Some("odd")].into_iter().flat_map(|label| {
        [None, Some("k1"), Some("k5")].map(|after| {
            let ListPage {
                records,
                more,
                total,
            } = reader.list(&ListRequest {
                tag: label.map(tag),
                after: after.map(key),
                limit: 2,
                count: true,
            });
            (keys_of(&records), more, total)
        })
    });
    let bits = |hit: Hit| (hit.memory.content, hit.score.to_bits());
    Observed {
        got: got.collect(),
        pages: pages.collect(),
        hits: reader
            .search("florp quux blorb", 5)
            .into_iter()
            .map(bits)
            .collect(),
    }
}

pub(super) fn c02_hidden_records_change_nothing_observable<S: Subject>(scene: Scene<S>) {
    let plain = scene.another();
    let visible = |place: usize| -> NewRecord {
        let words = ["florp", "florp quux", "blorb quux wibblo"];
        let content = words.get(place % words.len()).copied().unwrap_or_default();
        let tags: &[&str] = if place.is_multiple_of(2) {
            &[]
        } else {
            &["odd"]
        };
        with_tags(&format!("k{place}"), content, tags)
    };
    for place in 0..8 {
        let hidden = scene.ada().up_to(Restricted);
        hidden.save_record(with_tags(&format!("k{place}"), "florp florp", &["odd"]));
        hidden.save_record(with_tags(&format!("k0{place}"), "quux blorb", &["odd"]));
        scene.agent("bob").save(&format!("k{place}"), "florp blorb");
        for scene in [&scene, &plain] {
            scene.ada().save_record(visible(place));
        }
        hidden.save(&format!("k{place}"), "blorb");
        hidden.delete(&format!("k0{place}"));
    }
    for (grant, other) in [(scene.ada(), plain.ada())].iter().flat_map(|(a, b)| {
        [Public, Internal, Confidential].map(|level| (a.up_to(level), b.up_to(level)))
    }) {
        grant.same(
            observe(&grant),
            observe(&other),
            "records above the grant and of other agents change no answer",
        );
    }
}

pub(super) fn c02_an_expired_record_is_not_there<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    let fleeting = NewRecord {
        expires_at: Some(second(10)),
        ..with_tags("k", "florp", &["t"])
    };
    ada.save_record(fleeting);
    ada.save_record(expiring("past", "florp", -10));
    ada.same(ada.keys(), ["k"], "what expires later is there");
    ada.same(ada.found("florp"), ["k"], "and is found");
    let later = ada.at(11);
    ada.same(later.get("k"), None, "get returns what is expired");
    let page = later.list(&everything());
    ada.same(page.records, [], "list returns what is expired");
    ada.same(page.total, Some(0), "list counts what is expired");
    ada.same(later.tagged("t"), [""; 0], "a tag lists what is expired");
    ada.same(
        later.found("florp"),
        [""; 0],
        "search finds what is expired",
    );
}

pub(super) fn c02_an_expired_record_shadows_nothing<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    let high = ada.up_to(Internal);
    ada.save_record(with_tags("k", "florp", &["t"]));
    high.save_record(expiring("k", "quux", 10));
    ada.same(
        high.read("k").as_deref(),
        Some("quux"),
        "it shadows while it lasts",
    );
    let later = high.at(10);
    ada.same(
        later.read("k").as_deref(),
        Some("florp"),
        "get sees the lower version again",
    );
    ada.same(later.tagged("t"), ["k"], "so does list");
    ada.same(later.found("florp"), ["k"], "so does search");
    ada.same(later.found("quux"), [""; 0], "the expired one isn't found");
}

pub(super) fn c02_expiry_is_an_instant<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.save_record(expiring("k", "florp", 10));
    let mut before = ada.clone();
    before.now = second(10) - TimeDelta::microseconds(1);
    ada.holds(
        before.get("k").is_some(),
        "a microsecond before, it is there",
    );
    ada.holds(ada.at(10).get("k").is_none(), "at the very time, it is not");
    ada.holds(
        ada.at(9).get("k").is_some(),
        "a clock set back brings it back",
    );
    ada.same(
        ada.get("k").and_then(|memory| memory.expires_at),
        Some(second(10)),
        "the time comes back as given",
    );
}

pub(super) fn c03_every_record_is_at_the_level_of_the_grant<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    for level in Classification::ALL {
        let writer = ada.up_to(level);
        let keys = [format!("{level}-1"), format!("{level}-2")];
        let batch: Vec<NewRecord> = keys.iter().map(|key| record(key, "v")).collect();
        for saved in writer.save_all(&batch) {
            ada.same(saved.classification, level, "save returns the level");
        }
        for key in &keys {
            let stored = ada.up_to(Restricted).get(key);
            let stored = stored.map(|memory| memory.classification);
            ada.same(stored, Some(level), "the level is the grant's");
        }
    }
}
