//! Clause 10: searches for what very many records have.

use super::Subject;
use super::scene::{Scene, everything, record};
use super::search::{analysis_of, parts, scores};
use crate::classification::Classification::{Internal, Restricted};
use crate::record::Memory;
use crate::search::CLOSE;
use crate::storage::NewRecord;

/// More records than make a term common: each has the first word, some have rarer ones too.
fn crowd() -> Vec<NewRecord> {
    let content = |place: usize| {
        let mut words = vec!["florp"; 1 + place % 3];
        for (word, every) in [("quux", 40), ("blorb", 700), ("wibblo", 2)] {
            if place % every == 1 {
                words.push(word);
            }
        }
        words.join(" ")
    };
    (0..9_000)
        .map(|place| record(&format!("k{place:04}"), &content(place)))
        .collect()
}

pub(super) fn c10_a_common_term_counts_once<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    for batch in crowd().chunks(1_000) {
        ada.save_all(batch);
    }
    // Keys are in the order of saving.
    let visible = ada.list(&everything()).records;
    for query in [
        "florp",
        "florp quux",
        "blorb florp",
        "blorb quux florp wibblo",
        "florp wibblo",
        "florp absent florp",
    ] {
        let sum = |parts: Vec<f64>| parts.iter().sum::<f64>();
        let scores = parts(analysis_of(&ada), query, &visible)
            .into_iter()
            .map(sum);
        let mut all: Vec<(&Memory, f64)> = visible.iter().zip(scores).rev().collect();
        all.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        for (hit, (memory, score)) in ada.search(query, 150).iter().zip(&all) {
            ada.holds(
                (hit.score - score).abs() <= score * 1e-9,
                "a score is what the formula says",
            );
            let tied = all
                .iter()
                .filter(|(_, other)| (other - score).abs() <= score * 1e-9);
            let like: Vec<&str> = tied.map(|(memory, _)| memory.key.as_str()).collect();
            let key = hit.memory.key.as_str();
            ada.holds(
                *key == *memory.key.as_str() || like.contains(&key),
                "the best are found, however many have a word",
            );
        }
    }
    let latest = ada.search("florp", 3);
    ada.same(
        latest
            .iter()
            .map(|hit| hit.memory.key.as_str())
            .collect::<Vec<_>>(),
        ["k8996", "k8990", "k8984"],
        "of those that have nothing else the last saved are looked at",
    );
}

/// The last of those that come close has parts of a word that is asked for, and lends them to the one
/// before it, unless it isn't known that this has a common term.
pub(super) fn c10_hidden_records_change_no_common_term<S: Subject>(scene: Scene<S>) {
    let plain = scene.another();
    let mut crowd = crowd();
    let last = crowd.len() - CLOSE;
    if let Some(record) = crowd.get_mut(last) {
        record.content.push_str(" vantikol");
    }
    for scene in [&scene, &plain] {
        for batch in crowd.chunks(1_000) {
            scene.ada().up_to(Internal).save_all(batch);
        }
    }
    let hidden: Vec<_> = (0..3 * CLOSE)
        .map(|place| record(&format!("h{place}"), "florp wibblo"))
        .collect();
    scene.ada().up_to(Restricted).save_all(&hidden);
    for query in [
        "florp",
        "florp vantikus",
        "wibblo florp vantikus",
        "quux florp vantikus",
    ] {
        let found = |scene: &Scene<S>, limit, beside| {
            let reader = scene.ada().up_to(Internal);
            scores(&reader.search_with(query, limit, beside))
        };
        for beside in [false, true] {
            let all = found(&plain, 300, beside);
            for limit in [10, 150, 300] {
                let first = all.get(..limit.min(all.len())).unwrap_or_default();
                scene.ada().same(
                    found(&scene, limit, beside).as_slice(),
                    first,
                    "however far back a search looks, what can't be seen and the limit change nothing",
                );
            }
        }
    }
}
