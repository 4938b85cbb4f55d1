//! Promises about the code itself.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The crates that the default features may bring, this one included.
const MOST_CRATES: usize = 45;

/// The longest file, docs included.
const MOST_LINES: usize = 600;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("target") {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn no_file_is_too_long_to_hold_one_idea() {
    let mut files = Vec::new();
    for folder in ["src", "tests", "benches", "examples"] {
        rust_files(&root().join(folder), &mut files);
    }
    assert!(files.len() > 50);
    let long: Vec<_> = files
        .iter()
        .filter(|path| fs::read_to_string(path).unwrap().lines().count() > MOST_LINES)
        .collect();
    assert!(long.is_empty(), "over {MOST_LINES} lines: {long:?}");
}

#[test]
fn the_root_has_few_names() {
    let text = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let names: usize = text
        .split(';')
        .filter_map(|item| item.trim_start().strip_prefix("pub use "))
        .map(|item| {
            item.split(',')
                .filter(|name| !name.trim().is_empty())
                .count()
        })
        .sum();
    assert!((15..25).contains(&names), "{names} names at the root");
}

#[test]
fn the_default_features_bring_few_crates_and_each_direct_one_is_explained() {
    let tree = |arguments: &[&str]| -> BTreeSet<String> {
        let output = Command::new(env!("CARGO"))
            .args([
                "tree", "--locked", "-e", "normal", "--prefix", "none", "--format", "{p}",
            ])
            .args(arguments)
            .current_dir(root())
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let text = String::from_utf8(output.stdout).unwrap();
        let names = text.lines().filter_map(|line| line.split(' ').next());
        names
            .map(str::to_owned)
            .filter(|name| name != "strandline")
            .collect()
    };
    let all = tree(&[]);
    assert!(
        all.contains("rusqlite") && all.len() < MOST_CRATES,
        "{} crates: {all:?}",
        all.len()
    );
    let guide = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    for name in tree(&["--depth", "1", "--all-features"]) {
        assert!(
            guide.contains(&format!("`{name}`")),
            "CONTRIBUTING.md doesn't say why {name}"
        );
    }
}

/// Under the feature `sqlcipher` the whole suite runs on encrypted files, so none opens a file but by `keyed`.
#[test]
fn tests_open_files_with_their_key() {
    let mut files = Vec::new();
    rust_files(&root().join("tests/it"), &mut files);
    // Put together, so that this file isn't found.
    let doors = [
        ["MemoryStore::", "open("],
        ["MemoryStore::", "builder()"],
        ["Connection::", "open("],
        ["SqliteOptions::", "default()"],
        ["Host::", "restore_backup"],
    ]
    .map(|door| door.concat());
    let mut found = Vec::new();
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        let mut before = "";
        for line in text.lines() {
            let is_open = doors.iter().any(|door| line.contains(door.as_str()));
            if is_open && ![before, line].iter().any(|line| line.contains("// plain:")) {
                found.push(format!("{}: {}", path.display(), line.trim()));
            }
            before = line;
        }
    }
    assert!(found.is_empty(), "use `keyed`:\n{}", found.join("\n"));
}
