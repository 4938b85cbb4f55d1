//! Clauses 11 and 13: texts of every kind, and silence about them.

use std::error::Error as StdError;

use super::Subject;
use super::scene::{Scene, everything, record, tag, tags_of, with_tags};
use crate::classification::Classification::Internal;
use crate::error::Error;
use crate::storage::{Deletion, NewRecord};

/// Texts that some store takes for something else. As keys they are all different.
pub(super) const TEXTS: [&str; 66] = [
    "%",
    "%%",
    "_",
    "a_1",
    "ab1",
    "a%",
    "a:b",
    "a/b",
    " a/b",
    "a/b ",
    "A/B",
    "a.b",
    "a_b",
    "a-b",
    "a\\b",
    "\\",
    "'",
    "''",
    "\"",
    "\"\"",
    "a\"b",
    "a'b",
    "`a`",
    "x') OR 1=1 --",
    "x\"; DROP TABLE records; --",
    "/* a */",
    "-- a",
    ";",
    "$.x",
    "$[0]",
    "?1",
    ":key",
    "@key",
    "*",
    "a*",
    "^a",
    "-a",
    "NEAR(a b)",
    "AND",
    "and",
    "NULL",
    "null",
    "0",
    "00",
    "0.0",
    "1e3",
    "{\"key\":1}",
    "[a]",
    "<a>&amp;</a>",
    "../../etc/passwd",
    "file:memory?mode=ro",
    "a\nb",
    "a\r\nb",
    "a\tb",
    "\0",
    "a\0",
    "a\0b",
    "\u{202e}detrevni",
    "שלום עולם",
    "مرحبا",
    "部署方案",
    "\u{1eb9}\u{301}",
    "👩\u{200d}👩\u{200d}👧 🇩🇪",
    "\u{feff}a",
    "\u{fffd}",
    "\u{10ffff}",
];

pub(super) fn c11_any_key_comes_back<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    for text in TEXTS {
        ada.same(
            ada.save(text, text).version,
            1,
            "each key is a key of its own",
        );
    }
    for text in TEXTS {
        let memory = ada.get(text);
        let content = memory.as_ref().map(|memory| memory.content.as_str());
        ada.same(content, Some(text), "each key has its own record");
        ada.same(
            memory.map(|memory| memory.key),
            Some(super::scene::key(text)),
            "and comes back as it was",
        );
        ada.same(ada.history(text).len(), 1, "and has its own history");
    }
    let total = ada.list(&everything()).records.len();
    ada.same(total, TEXTS.len(), "none replaced another");
}

pub(super) fn c11_any_content_comes_back<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    // Not normalised, either: content is kept as it was written.
    for text in TEXTS.into_iter().chain(["e\u{301}", "\u{e9}", " \n x \n "]) {
        ada.save("k", text);
        let content = ada.read("k");
        ada.same(content.as_deref(), Some(text), "content comes back exactly");
        let newest = ada.history("k").into_iter().next();
        ada.same(
            newest.map(|version| version.memory.content).as_deref(),
            Some(text),
            "from the history too",
        );
    }
}

pub(super) fn c11_any_tag_comes_back<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    for text in TEXTS {
        let saved = ada.save_record(with_tags("k", "v", &[text, "other"]));
        let expected = tag(text);
        ada.same(
            tags_of(&saved),
            [expected.as_str(), "other"],
            "a tag is returned as it was written",
        );
        let listed = ada.tagged(text);
        ada.same(listed, ["k"], "it lists the record");
        ada.same(
            ada.get("k").as_ref().map(tags_of),
            Some(vec![expected.as_str(), "other"]),
            "and is read as it was written",
        );
    }
    let all: Vec<NewRecord> = TEXTS.map(|text| with_tags(text, "v", &[text])).into();
    ada.save_all(&all);
    for text in TEXTS {
        let wanted = tag(text);
        let mut expected: Vec<&str> = TEXTS
            .into_iter()
            .filter(|other| tag(other) == wanted)
            .collect();
        expected.sort_unstable();
        let mut listed = ada.tagged(text);
        listed.retain(|key| key != "k");
        ada.same(listed, expected, "a tag lists the records that have it");
    }
}

pub(super) fn c11_any_query_is_answered<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.save("k", "florp");
    for text in TEXTS {
        ada.save("t", text);
        ada.same(
            ada.found(&format!("{text} florp"))
                .iter()
                .any(|key| key == "k"),
            true,
            "the words of a query are found, whatever is between them",
        );
    }
    let long = "florp quux \" * ".repeat(4_000);
    ada.holds(
        ada.found(&long).iter().any(|key| key == "k"),
        "a long query is answered",
    );
}

pub(super) fn c11_nothing_is_a_wildcard<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.save_all(&["a_1", "ab1", "a%", "abc"].map(|key| record(key, "v")));
    for key in [
        "%", "_", "a_", "a__", "ab%", "___", "*", "a*", "A_1", "a_1 ",
    ] {
        ada.same(ada.get(key), None, "get matches the whole key");
        ada.same(
            ada.delete(key),
            Deletion::NotFound,
            "delete matches the whole key",
        );
    }
    ada.same(
        ada.delete("a_1"),
        Deletion::Done { version: 1 },
        "`_` stands for itself",
    );
    ada.same(
        ada.keys(),
        ["a%", "ab1", "abc"],
        "and one record is deleted",
    );
}

pub(super) fn c11_long_keys_are_compared_whole<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    let stem = "k".repeat(65_535);
    let keys = ["a", "b", "c"].map(|end| format!("{stem}{end}"));
    for key in &keys {
        let end = key.get(65_535..).unwrap_or_default();
        ada.same(ada.save(key, end).version, 1, "the last byte counts");
    }
    for key in &keys {
        ada.same(
            ada.read(key).as_deref(),
            key.get(65_535..),
            "each has its own record",
        );
    }
    ada.same(ada.keys(), keys.clone(), "and its place in the list");
    ada.delete(&format!("{stem}a"));
    ada.same(ada.keys().len(), 2, "and is deleted alone");
}

pub(super) fn c11_large_contents_come_back<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    let large = "florp 部署 \u{10ffff}\0 ".repeat(20_000);
    ada.save("k", &large);
    ada.holds(
        ada.read("k").as_deref() == Some(large.as_str()),
        "a large content comes back exactly",
    );
    ada.same(ada.found("florp"), ["k"], "and is found");
}

pub(super) fn c13_debug_output_is_silent<S: Subject>(scene: Scene<S>) {
    let ada = scene.ada();
    ada.save_record(with_tags("canary-key", "canary-content", &["canary-tag"]));
    ada.search("canary-query", 1);
    ada.delete("canary-key");
    let debug = format!("{:?} {:#?}", scene.provider(), scene.provider());
    ada.holds(!debug.contains("canary"), "`Debug` shows no content");
}

pub(super) fn c13_errors_are_silent<S: Subject>(scene: Scene<S>) {
    scene.record_taint("s-1", Internal);
    let ada = scene.ada();
    let new = with_tags("canary-key", "canary-content", &["canary-tag"]);
    let errors = [
        ada.try_save(&[new]).err(),
        ada.try_delete("canary-key").err(),
    ];
    for error in errors {
        let Some(error) = error else {
            ada.fail("a write below the recorded taint is refused")
        };
        ada.holds(
            !told_by(&error).contains("canary"),
            "an error tells nothing of what was asked for",
        );
    }
}

/// All that an error and its causes say.
fn told_by(error: &Error) -> String {
    let first: Option<&(dyn StdError + 'static)> = error.source();
    let causes = std::iter::successors(first, |&cause| cause.source());
    let causes: Vec<String> = causes.map(|cause| format!("{cause} {cause:?}")).collect();
    format!("{error} {error:?} {}", causes.join(" "))
}
