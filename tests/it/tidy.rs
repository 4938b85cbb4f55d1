//! Promises about the code itself.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The crates that the default features may bring to a program on Linux. A new name is a decision: it
/// takes a reason in CONTRIBUTING.md, or is what a direct dependency began to need.
const CRATES: &str = "bitflags block-buffer cfg-if chrono cpufeatures crypto-common digest
    fallible-iterator fallible-streaming-iterator foldhash getrandom hashbrown hashlink hybrid-array
    iana-time-zone itoa libc libsqlite3-sys memchr num-traits proc-macro2 quote rusqlite serde
    serde_core serde_derive serde_json sha1_smol sha2 smallvec snowball_stemmers_rs syn thiserror
    thiserror-impl tinyvec typenum unicode-ident unicode-normalization unicode-segmentation uuid zmij";

/// The longest file, docs included.
const MOST_LINES: usize = 600;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// What cargo answers in this package.
fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .current_dir(root())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8(output.stdout).unwrap()
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
        let fixed =
            "tree --locked -e normal --target x86_64-unknown-linux-gnu --prefix none --format {p}";
        let fixed: Vec<&str> = fixed.split(' ').collect();
        let text = cargo(&[&fixed, arguments].concat());
        let names = text.lines().filter_map(|line| line.split(' ').next());
        names
            .map(str::to_owned)
            .filter(|name| name != "strandline")
            .collect()
    };
    let allowed: BTreeSet<String> = CRATES.split_whitespace().map(str::to_owned).collect();
    let all = tree(&[]);
    assert!(all.contains("rusqlite"));
    let new: Vec<_> = all.difference(&allowed).collect();
    assert!(new.is_empty(), "not on the list of crates: {new:?}");
    let guide = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    for name in tree(&["--depth", "1", "--all-features"]) {
        assert!(
            guide.contains(&format!("`{name}`")),
            "CONTRIBUTING.md doesn't say why {name}"
        );
    }
}

/// The oldest Rust that the manifest promises is enough for whatever is compiled with any feature. That
/// our own code asks no more of the standard library is clippy's `incompatible_msrv`.
#[test]
fn no_dependency_needs_a_newer_rust() {
    let text = cargo(&[
        "metadata",
        "--locked",
        "--all-features",
        "--format-version",
        "1",
    ]);
    let metadata: serde_json::Value = serde_json::from_str(&text).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let version = |package: &serde_json::Value| -> Vec<u32> {
        let version = package["rust_version"].as_str().unwrap_or("1");
        let parts = version.split('.').map(|part| part.parse().unwrap());
        // 1.89 is 1.89.0.
        parts.chain([0, 0]).take(3).collect()
    };
    let own = packages.iter().find(|p| p["name"] == "strandline").unwrap();
    let own = version(own);
    assert!(own >= vec![1, 89] && packages.len() > 40);
    let newer: Vec<_> = packages.iter().filter(|p| version(p) > own).collect();
    assert!(newer.is_empty(), "newer than {own:?}: {newer:?}");
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

#[test]
fn the_table_of_errors_names_every_kind() {
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let (source, guide) = (read("src/error.rs"), read("src/guide/operating.md"));
    let kinds = source.lines().filter_map(|line| {
        let (kind, code) = line.trim().strip_prefix("Self::")?.split_once(" => ")?;
        code.starts_with('"').then_some(kind)
    });
    let kinds: Vec<_> = kinds.collect();
    assert!(kinds.len() > 15, "{kinds:?}");
    let (_, table) = guide.split_once("\n# Errors\n").unwrap();
    let rows: String = table.lines().filter(|line| line.starts_with('|')).collect();
    let missing = kinds
        .iter()
        .filter(|kind| !rows.contains(&format!("`{kind}`")));
    assert_eq!(missing.collect::<Vec<_>>(), Vec::<&&str>::new());
}
