//! What it takes to explain hits as large as memories may be.

use std::fs;

use strandline::{Draft, Search};

use crate::child;
use crate::keyed;

/// Texts of up to 1 MiB that match, are cut into words, or are one letter, as often as they can.
fn texts() -> [String; 5] {
    [
        "cat ".repeat(262_000),
        "cat-cat_cat.".repeat(87_000),
        format!("cat {}", "\u{1f1e6}".repeat(262_000)),
        format!("cat{}", "\u{301}".repeat(520_000)),
        format!("cat {}", "猫が好き".repeat(87_000)),
    ]
}

/// The most memory that the process had, in bytes.
fn peak() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let number = line.unwrap().split_whitespace().nth(1).unwrap();
    number.parse::<usize>().unwrap() << 10
}

#[test]
#[ignore = "run by another test in a process of its own"]
fn child_explains() {
    if child::arguments().is_none() {
        return;
    }
    let store = keyed::builder().open_in_memory().unwrap();
    let session = store.session("s", "agent").open().unwrap();
    for (number, text) in texts().iter().cycle().take(20).enumerate() {
        let key = format!("k{number}");
        store
            .save(&session, Draft::new(key, text.as_str()))
            .unwrap();
    }
    let search = || Search::new("cat 好き").max_results(20);
    assert_eq!(store.search(&session, search()).unwrap().len(), 20);
    let before = peak();
    let hits = store.search(&session, search().explain()).unwrap();
    let more = peak() - before;
    for hit in &hits {
        let why = hit.explanation.as_ref().unwrap();
        assert!((1..=3).contains(&why.fragments.len()) || hit.memory.content.contains('\u{301}'));
    }
    // Each is analysed once more, and what that takes is given back before the next.
    assert!(more < 150 << 20, "{more}");
}

#[test]
#[cfg(target_os = "linux")]
fn many_large_hits_are_explained_one_after_the_other_in_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let command = child::command("explain::child_explains", folder.path(), "");
    child::run_all([command]);
}
