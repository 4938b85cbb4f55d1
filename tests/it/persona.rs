//! What a session is reminded of.

use std::sync::{Arc, Mutex};

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;
use strandline::tools::{Persona, PersonaSection};
use strandline::{Classification, Clock, Draft, MemoryStore, Session};

use crate::keyed;

/// Each look is a second later than the last.
#[derive(Debug)]
struct Ticking(Mutex<DateTime<Utc>>);

impl Clock for Ticking {
    fn now(&self) -> DateTime<Utc> {
        let mut now = self.0.lock().unwrap();
        *now += TimeDelta::seconds(1);
        *now
    }
}

fn store() -> MemoryStore {
    let start = Mutex::new("2026-01-01T00:00:00Z".parse().unwrap());
    let builder = keyed::builder().clock(Arc::new(Ticking(start)));
    builder.open_in_memory().unwrap()
}

fn session(store: &MemoryStore, taint: Classification) -> Session {
    let id = format!("at-{taint}");
    store.session(id, "agent").taint(taint).open().unwrap()
}

fn save(store: &MemoryStore, session: &Session, key: &str, content: &str, tags: &[&str]) {
    let draft = Draft::new(key, content).tags(tags.iter().copied());
    store.save(session, draft).unwrap();
}

fn keys(section: &PersonaSection) -> Vec<String> {
    let lines = section.text.lines().filter(|line| line.starts_with('{'));
    let rows = lines.map(|line| serde_json::from_str::<Value>(line).unwrap());
    rows.map(|row| row["key"].as_str().unwrap().to_owned())
        .collect()
}

fn load(store: &MemoryStore, session: &Session) -> PersonaSection {
    Persona::new().load(store, session).unwrap()
}

#[test]
fn by_tag_then_newest_first_and_each_once() {
    let store = store();
    let low = session(&store, Classification::Public);
    save(&store, &low, "a-project", "c", &["project"]);
    save(&store, &low, "old-rule", "c", &["rule"]);
    save(&store, &low, "both", "c", &["project", "Preference"]);
    save(&store, &low, "who", "c", &["persona", "project"]);
    save(&store, &low, "new-rule", "c", &["RULE"]);
    save(&store, &low, "other", "c", &["rules", "misc"]);
    save(&store, &low, "no-tag", "rule", &[]);
    save(&store, &low, "b-project", "c", &["project"]);
    let section = load(&store, &low);
    let expected = [
        "new-rule",
        "old-rule",
        "both",
        "who",
        "b-project",
        "a-project",
    ];
    assert_eq!(keys(&section), expected);
    assert_eq!((section.included, section.left_out), (6, 0));

    save(&store, &low, "old-rule", "said again", &["rule"]);
    assert_eq!(keys(&load(&store, &low))[0], "old-rule");
}

#[test]
fn nothing_above_the_taint_and_shadowing_as_everywhere() {
    let store = store();
    let low = session(&store, Classification::Public);
    let high = session(&store, Classification::Confidential);
    save(&store, &low, "name", "Ada", &["persona"]);
    save(&store, &low, "tone", "plain", &["preference"]);
    let before = load(&store, &low);
    save(&store, &high, "name", "Ada Lovelace", &["persona"]);
    save(&store, &high, "tone", "untagged at the higher level", &[]);
    save(&store, &high, "ledger", "nine million", &["rule"]);
    assert_eq!(load(&store, &low), before);
    assert_eq!(before.level, Classification::Public);

    let section = load(&store, &high);
    assert_eq!(keys(&section), ["ledger", "name"]);
    assert!(section.text.contains("Ada Lovelace"));
    assert_eq!(section.level, Classification::Confidential);
    assert!(
        section
            .text
            .lines()
            .nth(1)
            .unwrap()
            .contains("CONFIDENTIAL")
    );
}

#[test]
fn the_level_is_that_of_what_is_in_it() {
    let store = store();
    let low = session(&store, Classification::Public);
    let high = session(&store, Classification::Restricted);
    save(&store, &low, "name", "Ada", &["persona"]);
    assert_eq!(load(&store, &high).level, Classification::Public);
    low.raise(Classification::Internal, "opened the wiki")
        .unwrap();
    save(&store, &low, "team", "Engines", &["project"]);
    assert_eq!(load(&store, &low).level, Classification::Internal);
}

#[test]
fn what_does_not_fit_is_left_out_whole() {
    let store = store();
    let low = session(&store, Classification::Public);
    save(&store, &low, "short", "brief", &["rule"]);
    save(&store, &low, "long", &"word ".repeat(1_000), &["rule"]);
    save(&store, &low, "last", "also brief", &["project"]);
    let section = load(&store, &low);
    assert_eq!(keys(&section), ["short", "last"]);
    assert_eq!((section.included, section.left_out), (2, 1));
    assert!(section.text.contains("1 more left out"));
    assert!(section.text.chars().count() <= Persona::DEFAULT_BUDGET);

    let all = Persona::new().budget(20_000).load(&store, &low).unwrap();
    assert_eq!(all.left_out, 0);
    assert!(!all.text.contains("left out"));
    let none = Persona::new().budget(10).load(&store, &low).unwrap();
    assert_eq!(
        (none.text.as_str(), none.included, none.left_out),
        ("", 0, 3)
    );
}

#[test]
fn the_budget_counts_characters_not_bytes() {
    let store = store();
    let low = session(&store, Classification::Public);
    save(&store, &low, "k", &"部".repeat(1_500), &["rule"]);
    let section = Persona::new().budget(2_200).load(&store, &low).unwrap();
    assert_eq!(section.included, 1);
    assert!(section.text.len() > 4_500);
}

#[test]
fn more_memories_than_a_page_holds() {
    let store = store();
    let low = session(&store, Classification::Public);
    let many = (0..2_345).map(|i| Draft::new(format!("k{i}"), "c").tag("rule"));
    store.save_all(&low, many).unwrap();
    let section = load(&store, &low);
    assert!(section.text.chars().count() <= Persona::DEFAULT_BUDGET);
    assert_eq!(section.included + section.left_out, 2_345);
    assert!(section.included > 30, "{}", section.included);
}

#[test]
fn nothing_remembered_is_no_section() {
    let store = store();
    let low = session(&store, Classification::Public);
    save(&store, &low, "fact", "untagged", &[]);
    let section = load(&store, &low);
    assert_eq!(
        (section.text.as_str(), section.included, section.left_out),
        ("", 0, 0)
    );
}

#[test]
fn deleted_and_expired_memories_do_not_come_back() {
    let store = store();
    let low = session(&store, Classification::Public);
    save(&store, &low, "gone", "canary", &["rule"]);
    store.delete(&low, "gone").unwrap();
    let past = "2025-01-01T00:00:00Z".parse().unwrap();
    let expired = Draft::new("late", "canary").tag("rule").expires_at(past);
    store.save(&low, expired).unwrap();
    let other = store.session("other", "someone else").open().unwrap();
    save(&store, &other, "theirs", "canary", &["rule"]);
    assert_eq!(load(&store, &low).text, "");
}
