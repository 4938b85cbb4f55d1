//! Clause 10: searches.

use super::Subject;
use super::scene::{Actor, Scene, everything, expiring, record, with_tags};
use crate::classification::Classification::Internal;
use crate::record::{Memory, Tag};
use crate::search::analysis::{Analysis, DocumentTerms};
use crate::search::{
    B, CLOSE, COMMON, K1, LENGTH, NEAR, NEXT, PARTS, RESERVE, SAMPLE, SHARING, frequency_of,
    is_sampled, length_of, round_frequency, round_length,
};
use crate::storage::{Hit, Namespace, NewRecord};

/// Words that no language has, so that no stemmer or stop list knows them.
const WORDS: [&str; 6] = ["florp", "quux", "blorb", "wibblo", "vantik", "zmork"];

fn word(place: usize) -> &'static str {
    WORDS.get(place % WORDS.len()).copied().unwrap_or_default()
}

/// Numbers without an order: a linear congruential sequence.
fn numbers() -> impl Iterator<Item = usize> {
    std::iter::successors(Some(1_u32), |last| {
        Some(last.wrapping_mul(1_664_525).wrapping_add(1_013_904_223))
    })
    .map(|number| usize::from(number.to_be_bytes()[0]))
}

/// Records of 1 to 90 words.
fn library() -> Vec<NewRecord> {
    let mut numbers = numbers();
    let mut next = move || numbers.next().unwrap_or_default();
    (0..40)
        .map(|place| {
            let length = 1 + next() % 90;
            let words: Vec<&str> = (0..length).map(|_| word(next())).collect();
            let tags: &[&str] = if place % 5 == 0 { &["vantik"] } else { &[] };
            with_tags(&format!("k{place:02}"), &words.join(" "), tags)
        })
        .collect()
}

/// What a record gets of each term and each part of a word by the formula in [`crate::search`], written
/// out plainly: nothing at all if it has no term. The records are in the order of saving, if there are
/// more than come close.
pub(super) fn parts(analysis: Analysis, query: &str, visible: &[Memory]) -> Vec<Vec<f64>> {
    let documents: Vec<DocumentTerms> = visible
        .iter()
        .map(|memory| document(analysis, memory))
        .collect();
    let texts: Vec<Vec<String>> = visible.iter().map(grams_of).collect();
    let count = |document: &DocumentTerms, term: &str| {
        let found = document.counts.iter().find(|(other, _)| other == term);
        found.map_or(0, |(_, count)| *count)
    };
    let norm = |document: &DocumentTerms| {
        let length = f64::from(length_of(round_length(document.length)));
        K1 * (1.0 - B + B * length / LENGTH)
    };
    let part = |weight: f64, f: f64, norm: f64| weight * f * (K1 + 1.0) / (f + norm);
    let records: f64 = documents.iter().map(|_| 1.0).sum();
    let mut parts = vec![Vec::new(); documents.len()];
    for term in analysis.query(query) {
        let has = |document: &DocumentTerms| count(document, &term.term) > 0;
        let having: f64 = documents.iter().filter(|d| has(d)).map(|_| 1.0).sum();
        let both = visible.iter().zip(&documents);
        let sampled = both.filter(|(memory, d)| has(d) && is_sampled(memory.key.as_str()));
        let sampled: f64 = sampled.map(|_| to_f64(SAMPLE)).sum();
        let is_common = records > to_f64(COMMON) && sampled > to_f64(COMMON);
        let having = if is_common { sampled } else { having };
        let idf = (1.0 + (records + RESERVE - having + 0.5) / (having + 0.5)).ln();
        for (parts, document) in parts.iter_mut().zip(&documents) {
            let count = count(document, &term.term);
            let f = f64::from(frequency_of(round_frequency(count))) * f64::from(count.min(1));
            let common = term.weight * idf * f64::from(count.min(1));
            let rare = part(term.weight * idf, f, norm(document));
            parts.push(if is_common { common } else { rare });
        }
    }
    let close = close(&parts);
    let candidates: f64 = close.iter().filter(|close| **close).map(|_| 1.0).sum();
    for (gram, weight) in grams_of_query(query) {
        let found = |text: &Vec<String>| text.iter().filter(|other| **other == gram).count();
        let count = |text| u32::try_from(found(text)).map_or(0.0, f64::from);
        let having = texts
            .iter()
            .zip(&close)
            .filter(|(text, close)| **close && found(text) > 0);
        let having: f64 = having.map(|_| 1.0).sum();
        let idf = (1.0 + (candidates - having + 0.5) / (having + 0.5)).ln();
        let all = parts.iter_mut().zip(&texts).zip(&documents).zip(&close);
        for (((parts, text), document), close) in all {
            let f = count(text) * f64::from(u8::from(*close));
            parts.push(part(weight * idf, f, norm(document)));
        }
    }
    for parts in &mut parts {
        if parts.iter().all(|part| *part <= 0.0) {
            parts.clear();
        }
    }
    parts
}

/// Which of the records are read again: the best by their terms, of equal ones the last.
fn close(parts: &[Vec<f64>]) -> Vec<bool> {
    let sum = |at: &usize| {
        parts
            .get(*at)
            .map_or(0.0, |parts| parts.iter().sum::<f64>())
    };
    let mut best: Vec<usize> = (0..parts.len()).rev().filter(|at| sum(at) > 0.0).collect();
    best.sort_by(|a, b| sum(b).total_cmp(&sum(a)));
    best.truncate(CLOSE);
    (0..parts.len()).map(|at| best.contains(&at)).collect()
}

fn to_f64(number: u64) -> f64 {
    u32::try_from(number).map_or(f64::INFINITY, f64::from)
}

fn document(analysis: Analysis, memory: &Memory) -> DocumentTerms {
    let tags = memory.tags.iter().map(Tag::as_str);
    analysis.document(memory.key.as_str(), tags, &memory.content)
}

/// The parts of four letters of a word.
fn grams_of_word(word: &str) -> Vec<String> {
    let letters: Vec<char> = format!("_{}_", word.to_lowercase()).chars().collect();
    let windows = letters.windows(4.min(letters.len()));
    windows.map(|window| window.iter().collect()).collect()
}

fn grams_of(memory: &Memory) -> Vec<String> {
    let tags = memory.tags.iter().map(Tag::as_str);
    let texts = tags.chain([memory.key.as_str(), &memory.content]);
    let words = texts.flat_map(|text| text.split(|c: char| !c.is_alphanumeric()));
    words
        .filter(|word| !word.is_empty())
        .flat_map(grams_of_word)
        .collect()
}

/// The parts of a query's words, in the order in which they first come, and how much each counts.
fn grams_of_query(query: &str) -> Vec<(String, f64)> {
    let mut all: Vec<(String, f64)> = Vec::new();
    for word in query.split(' ') {
        let grams = grams_of_word(word);
        let letters: f64 = grams.iter().map(|_| 1.0).sum();
        for gram in grams {
            match all.iter_mut().find(|(other, _)| *other == gram) {
                Some((_, weight)) => *weight += PARTS / letters.powf(SHARING),
                None => all.push((gram, PARTS / letters.powf(SHARING))),
            }
        }
    }
    all
}

/// Fails unless these are the hits that have a score, with their scores.
fn same_scores(ada: &Actor<'_>, hits: &[Hit], visible: &[Memory], scores: &[f64]) {
    let expected: Vec<(&Memory, f64)> = visible
        .iter()
        .zip(scores.iter().copied())
        .filter(|(_, score)| *score > 0.0)
        .collect();
    ada.same(hits.len(), expected.len(), "each match is found once");
    for hit in hits {
        let same = |(memory, _): &&(&Memory, f64)| memory.key == hit.memory.key;
        let by_formula = expected.iter().find(same).map_or(0.0, |(_, score)| *score);
        ada.holds(
            (hit.score - by_formula).abs() <= by_formula * 1e-9,
            "a score is what the formula says",
        );
    }
}

pub(super) fn scores(hits: &[Hit]) -> Vec<(String, u64)> {
    let scored = |hit: &Hit| (hit.memory.key.as_str().to_owned(), hit.score.to_bits());
    hits.iter().map(scored).collect()
}

fn sorted(mut keys: Vec<String>) -> Vec<String> {
    keys.sort();
    keys
}

pub(super) fn c10_any_word_may_match<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.save_all(&[
        record("a", "florp quux"),
        record("b", "quux blorb"),
        record("c", "wibblo"),
    ]);
    ada.same(
        sorted(ada.found("florp blorb vantik")),
        ["a", "b"],
        "one shared word is enough, and needed",
    );
    ada.same(
        ada.found("vantik"),
        [""; 0],
        "a word that no record has finds nothing",
    );
    ada.same(
        sorted(ada.found("FLORP Blorb")),
        ["a", "b"],
        "case doesn't count",
    );
}

/// Words of several languages in forms that one stemmer joins and the other doesn't.
pub(super) fn c10_terms_are_of_the_providers_language<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    let texts = ["Häuser", "canciones", "kept", "házakban", "was it", "don't"];
    let records: Vec<_> = (0..)
        .zip(texts)
        .map(|(place, text)| record(&format!("k{place}"), text))
        .collect();
    ada.save_all(&records);
    let visible = ada.list(&everything()).records;
    let analysis = analysis_of(&ada);
    for query in ["Haus", "canción", "keep", "ház", "was", "it"] {
        let asked = analysis.query(query);
        let shares = |memory: &&Memory| {
            let has = document(analysis, memory).counts;
            asked
                .iter()
                .any(|asked| has.iter().any(|(term, _)| *term == asked.term))
        };
        let expected = visible.iter().filter(shares);
        let expected: Vec<_> = expected.map(|m| m.key.as_str().to_owned()).collect();
        let found = sorted(ada.found(query));
        ada.same(found, expected, "records and queries are of one language");
    }
    ada.same(analysis_of(&ada), analysis, "the language stays");
}

/// The analysis for the language that the provider says.
pub(super) fn analysis_of(ada: &Actor<'_>) -> Analysis {
    Analysis::new(ada.done(ada.provider.language()))
}

pub(super) fn c10_keys_tags_and_content_are_searched<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.save_all(&[
        record("florp", "v"),
        with_tags("a", "v", &["Florp"]),
        record("b", "some florp"),
        record("c", "v"),
    ]);
    ada.same(
        sorted(ada.found("florp")),
        ["a", "b", "florp"],
        "each place is searched",
    );
}

pub(super) fn c10_scores_are_by_the_formula<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.save_all(&library());
    let visible = ada.list(&everything()).records;
    for query in [
        "florp",
        "quux blorb",
        "vantik zmork florp absent",
        "blorb blorb wibblo",
        "k07 quux",
        "florps quuxian",
        "florp vant ikz",
    ] {
        let parts = parts(analysis_of(&ada), query, &visible);
        let scores: Vec<f64> = parts.iter().map(|parts| parts.iter().sum()).collect();
        same_scores(&ada, &ada.search(query, 1_000), &visible, &scores);
    }
}

pub(super) fn c10_neighbours_lend_what_a_record_lacks<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    // In an order of saving that isn't that of the keys, and by two sessions in turns.
    let (one, two) = (ada.session("one"), ada.session("two"));
    let mut saved: Vec<(usize, String)> = Vec::new();
    for place in 0..9 {
        let record = library().swap_remove(place * 7 % 10);
        saved.push((place % 2, record.key.as_str().to_owned()));
        [&one, &two]
            .get(place % 2)
            .unwrap_or(&&one)
            .save_record(record);
    }
    let visible = ada.list(&everything()).records;
    for query in ["florp", "zmork k07 quux", "blorb wibblo vantik k00"] {
        let parts = parts(analysis_of(&ada), query, &visible);
        let of = |key: &str| {
            let place = visible.iter().position(|memory| memory.key.as_str() == key);
            place
                .and_then(|place| parts.get(place))
                .cloned()
                .unwrap_or_default()
        };
        let score = |memory: &Memory| {
            let key = memory.key.as_str();
            let session = saved
                .iter()
                .find(|(_, other)| other == key)
                .map(|(s, _)| *s);
            let row: Vec<&str> = saved
                .iter()
                .filter(|(other, _)| Some(*other) == session)
                .map(|(_, key)| key.as_str())
                .collect();
            let place = row
                .iter()
                .position(|other| *other == key)
                .unwrap_or_default();
            let lent = |part: usize| -> f64 {
                let shares = row.iter().enumerate().map(|(other, key)| {
                    let share = match other.abs_diff(place) {
                        1 => NEXT,
                        2 => NEAR,
                        _ => 0.0,
                    };
                    share * of(key).get(part).copied().unwrap_or_default()
                });
                shares.sum()
            };
            let own = of(key);
            let parts = own.iter().enumerate();
            parts
                .map(|(at, part)| if *part > 0.0 { *part } else { lent(at) })
                .sum()
        };
        let scores: Vec<f64> = visible.iter().map(score).collect();
        same_scores(&ada, &ada.search_beside(query), &visible, &scores);
    }
}

pub(super) fn c10_hidden_neighbours_lend_nothing<S: Subject>(scene: Scene<S>) {
    let plain = scene.another();
    fill(&scene, true);
    fill(&plain, false);
    for query in ["florp quux", "blorb k03", "wibblo vantik zmork"] {
        let found = |scene: &Scene<S>| scores(&scene.ada().up_to(Internal).search_beside(query));
        scene.ada().same(
            found(&scene),
            found(&plain),
            "what can't be seen neither lends nor stands between",
        );
    }
}

pub(super) fn c10_the_best_is_first<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.save_all(&library());
    for query in ["florp quux", "blorb", "zmork vantik k11"] {
        let hits = ada.search(query, 1_000);
        let descending = hits.is_sorted_by(|a, b| a.score >= b.score);
        ada.holds(descending, "scores descend");
        let positive = hits.iter().all(|hit| hit.score > 0.0);
        ada.holds(positive, "and are all above 0");
    }
    ada.save("rare", "gnarv among quux and quux");
    let first = ada.found("quux gnarv").into_iter().next();
    ada.same(
        first.as_deref(),
        Some("rare"),
        "the rarest word counts most",
    );
}

pub(super) fn c10_of_equal_scores_the_last_saved_is_first<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    for (key, seconds) in [("k2", 5), ("k4", 9), ("k1", 5), ("k3", 7)] {
        ada.at(seconds).save(key, "florp");
    }
    let hits = ada.search("florp", 10);
    let top = hits.first().map(|hit| hit.score);
    let equal = hits.iter().all(|hit| Some(hit.score) == top);
    ada.holds(equal, "like records score the same");
    ada.same(
        ada.found("florp"),
        ["k3", "k1", "k4", "k2"],
        "the last saved is first, whatever the clock says",
    );
    ada.at(4).save("k4", "florp");
    ada.same(
        ada.found("florp"),
        ["k4", "k3", "k1", "k2"],
        "it is the version that counts, not the key's first",
    );
}

pub(super) fn c10_a_limit_keeps_the_best<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.save_all(&library());
    let all = scores(&ada.search("florp wibblo", 1_000));
    for limit in [1, 2, 7, 39, usize::MAX] {
        let some = scores(&ada.search("florp wibblo", limit));
        ada.same(
            some.as_slice(),
            all.get(..limit).unwrap_or(&all),
            "the first of all hits, with their scores",
        );
    }
}

pub(super) fn c10_a_limit_cuts_equal_scores_in_order<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    for place in 0..9 {
        ada.at(place).save(&format!("k{place}"), "florp");
    }
    let best: Vec<String> = ada
        .search("florp", 3)
        .into_iter()
        .map(|hit| hit.memory.key.into())
        .collect();
    ada.same(
        best,
        ["k8", "k7", "k6"],
        "the last saved of equals are kept",
    );
}

/// What a session at `INTERNAL` is to see, and around it, if `hidden`, all that it may not.
fn fill<S: Subject>(scene: &Scene<S>, hidden: bool) {
    let ada = scene.ada();
    let reader = ada.up_to(Internal);
    for (place, new) in (0..).zip(library()) {
        let other = library().swap_remove((place + 7) % 40);
        let twin = |key: &str| NewRecord {
            key: super::scene::key(key),
            ..other.clone()
        };
        if hidden {
            let key = new.key.as_str();
            ada.save_record(twin(key)); // shadowed
            ada.up_to(crate::Classification::Restricted)
                .save_record(twin(key));
            reader.save_record(twin(key)); // superseded
            scene.agent("bob").up_to(Internal).save_record(twin(key));
            reader.within(Namespace::TODO).save_record(twin(key));
            reader.save_record(expiring(&format!("e{key}"), &other.content, 0));
            reader.save_record(twin(&format!("d{key}")));
            reader.delete(&format!("d{key}"));
        }
        reader.save_record(new);
    }
}

pub(super) fn c10_hidden_records_count_in_no_score<S: Subject>(scene: Scene<S>) {
    let plain = scene.another();
    fill(&scene, true);
    fill(&plain, false);
    for query in ["florp quux", "blorb", "wibblo vantik zmork"] {
        let found = |scene: &Scene<S>| scores(&scene.ada().up_to(Internal).search(query, 10));
        scene.ada().same(
            found(&scene),
            found(&plain),
            "what can't be seen changes no score, to the last bit",
        );
    }
}

pub(super) fn c10_replaced_text_is_not_found<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.save_record(with_tags("k", "florp", &["blorb"]));
    ada.save("k", "quux");
    ada.same(ada.found("florp blorb"), [""; 0], "the old text is gone");
    for _ in 0..3 {
        ada.save("k", "wibblo");
    }
    ada.same(ada.found("wibblo"), ["k"], "the new one is found once");
}

pub(super) fn c10_no_query_is_syntax<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.save_record(with_tags("k", "florp quux", &["tag"]));
    for query in [
        "\"florp",
        "florp\"",
        "\"quux florp\"",
        "NEAR(florp absent)",
        "NEAR(florp",
        "florp AND absent",
        "florp NOT quux",
        "florp OR",
        "-florp",
        "+florp",
        "^florp",
        "key:florp",
        "content : florp",
        "{key tags} : florp",
        "(florp",
        "florp)",
        "florp + absent",
        "'florp",
        "florp; DROP TABLE records; --",
        "florp') OR 1=1 --",
        "$.florp",
        "florp\0quux",
        "florp\nquux",
        "@florp #quux",
        "[florp] `quux` ~ 50%",
    ] {
        ada.same(ada.found(query), ["k"], "a query is words");
    }
    for query in ["flor*", "flor%", "flor_", "*", "%", "_lorp", "^", "k OR"] {
        let found = ada.found(query);
        let expected: &[&str] = if query == "k OR" { &["k"] } else { &[] };
        ada.same(found, expected, "nothing in it is a wildcard");
    }
}

pub(super) fn c10_a_query_without_words_finds_nothing<S: Subject>(scene: Scene<S>) {
    let ada: Actor<'_> = scene.ada();
    ada.save_all(&[record("k", "florp"), record("\"", "\" * - ?")]);
    for query in ["", " ", "\n\t", "\"", "\"\"", "*", "-", "?!", "()", "\0"] {
        ada.same(ada.found(query), [""; 0], "no word, no hit");
    }
}
