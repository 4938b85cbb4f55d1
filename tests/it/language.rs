//! The language that a store is set to.

use std::path::Path;
use std::sync::{Arc, Mutex};

use strandline::search::analysis::Language;
use strandline::storage::{Durability, InMemory, Sqlite, SqliteOptions, StorageProvider};
use strandline::{Classification, Draft, MemoryStore, Search, Session, StoreBuilder};

use crate::keyed;

use Language::{English, German, Hungarian, Turkish};

fn builder() -> StoreBuilder {
    keyed::builder().durability(Durability::Normal)
}

fn low(store: &MemoryStore) -> Session {
    store.session("low", "agent").open().unwrap()
}

/// Forms of one German and one Hungarian word, and one above the session.
fn fill(store: &MemoryStore) {
    let session = low(store);
    for (key, text) in [
        ("de", "die Häuser"),
        ("hu", "a házakban"),
        ("en", "it was kept"),
    ] {
        store.save(&session, Draft::new(key, text)).unwrap();
    }
    let above = store
        .session("high", "agent")
        .taint(Classification::Internal);
    let above = above.open().unwrap();
    let draft = Draft::new("above", "Häusern, házakban, keeping");
    store.save(&above, draft).unwrap();
}

fn found(store: &MemoryStore, query: &str) -> Vec<String> {
    let hits = store.search(&low(store), Search::new(query)).unwrap();
    hits.into_iter()
        .map(|hit| hit.memory.key.as_str().to_owned())
        .collect()
}

#[track_caller]
fn is_of(store: &MemoryStore, language: Language) {
    let german: &[&str] = if language == German { &["de"] } else { &[] };
    assert_eq!(found(store, "Haus"), german, "{language}");
    let english: &[&str] = if language == English { &["en"] } else { &[] };
    assert_eq!(found(store, "keeping"), english, "{language}");
}

#[test]
fn both_providers_search_in_the_language_that_was_chosen() {
    let folder = tempfile::tempdir().unwrap();
    for language in [English, German, Hungarian] {
        let builder = || builder().language(language);
        let path = folder.path().join(language.code());
        for store in [
            builder().open_in_memory().unwrap(),
            builder().open(path).unwrap(),
        ] {
            fill(&store);
            is_of(&store, language);
            assert!(store.host().check().unwrap().is_empty());
        }
    }
}

#[test]
fn scores_are_the_same_in_both_providers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let both = [
        builder().language(German).open(path).unwrap(),
        builder().language(German).open_in_memory().unwrap(),
    ];
    let scores = both.map(|store| {
        fill(&store);
        let hits = store.search(&low(&store), Search::new("In welchen Häusern?"));
        let scores: Vec<_> = hits
            .unwrap()
            .iter()
            .map(|hit| hit.score.to_bits())
            .collect();
        scores
    });
    assert_eq!(scores[0], scores[1]);
    assert!(!scores[0].is_empty());
}

#[test]
fn a_file_keeps_its_language() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    fill(&builder().language(German).open(&path).unwrap());
    let steps = Arc::new(Mutex::new(0));
    let open = |builder: StoreBuilder| {
        let count = Arc::clone(&steps);
        let store = builder.on_reindex(move |_| *count.lock().unwrap() += 1);
        store.open(&path).unwrap()
    };
    for again in [builder(), builder().language(German)] {
        is_of(&open(again), German);
        assert_eq!(*steps.lock().unwrap(), 0, "nothing is made anew");
    }
    is_of(&open(builder().language(English)), English);
    assert!(*steps.lock().unwrap() > 0);
    let store = open(builder());
    is_of(&store, English);
    assert!(store.host().check().unwrap().is_empty());
}

#[test]
fn who_has_the_file_open_goes_over_to_its_new_language() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let first = builder().language(German).open(&path).unwrap();
    fill(&first);
    let second = builder().language(Hungarian).open(&path).unwrap();
    for store in [&first, &second] {
        is_of(store, Hungarian);
    }
    let session = low(&first);
    first.save(&session, Draft::new("hu", "könyvek")).unwrap();
    first.save(&session, Draft::new("de", "Häuser")).unwrap();
    first.delete(&session, "en").unwrap();
    for store in [&first, &second] {
        assert_eq!(found(store, "könyv"), ["hu"]);
        is_of(store, Hungarian);
        assert!(store.host().check().unwrap().is_empty());
    }
    drop(builder().language(English).open(&path).unwrap());
    let restored = first.host().reindex().unwrap();
    assert!(restored > 0);
    assert_eq!(found(&first, "keeping"), Vec::<String>::new()); // deleted
    assert!(second.host().check().unwrap().is_empty());
}

#[test]
fn an_explanation_marks_forms_in_the_language() {
    let store = builder().language(German).open_in_memory().unwrap();
    fill(&store);
    let search = Search::new("Haus").explain();
    let hits = store.search(&low(&store), search).unwrap();
    let why = hits[0].explanation.as_ref().unwrap();
    assert_eq!(why.words[0].text, "Haus");
}

/// An export says nothing of it, so the store that takes it keeps its own; a backup is the file.
#[test]
fn an_import_keeps_the_language_of_its_store_and_a_backup_that_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let german = builder().language(German).open(path("de.db")).unwrap();
    fill(&german);
    let mut lines = Vec::new();
    german.host().export(&mut lines).unwrap();
    for to in [
        builder().language(Turkish).open_in_memory().unwrap(),
        builder().language(Turkish).open(path("tr.db")).unwrap(),
    ] {
        to.host().import(lines.as_slice()).unwrap();
        is_of(&to, Turkish);
        assert!(to.host().check().unwrap().is_empty());
    }
    german.host().backup(path("copy.db"), |_| ()).unwrap();
    is_of(&builder().open(path("copy.db")).unwrap(), German);
}

#[test]
fn a_provider_says_its_language() {
    let folder = tempfile::tempdir().unwrap();
    let open = |path: &Path, language| {
        let options = SqliteOptions {
            language,
            ..keyed::options()
        };
        Sqlite::open(path, &options).unwrap()
    };
    let path = folder.path().join("memory.db");
    let first = open(&path, None);
    assert_eq!(first.language().unwrap(), English);
    let second = open(&path, Some(Turkish));
    assert_eq!(first.language().unwrap(), Turkish);
    assert_eq!(second.language().unwrap(), Turkish);
    assert_eq!(InMemory::new().language().unwrap(), English);
    let memory = InMemory::with_language(German);
    assert_eq!(memory.language().unwrap(), German);
}
