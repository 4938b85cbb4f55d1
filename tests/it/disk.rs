//! A disk that is watched, and that fails on request: `disk.c`, loaded into a child.
//!
//! It sits below SQLite's own file layer and the standard library alike, so it needs no `unsafe` code
//! and no other build of SQLite, and nothing but the C compiler that builds SQLite anyway.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Lets the child work on a disk that is watched; what it does in `folder` goes to `log`.
pub(crate) fn watched(command: &mut Command, tools: &Path, folder: &Path, log: Option<&Path>) {
    let library = tools.join("disk.so");
    if !library.exists() {
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/disk.c");
        let status = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o"])
            .arg(&library)
            .args([source, "-ldl"])
            .status()
            .unwrap();
        assert!(status.success());
    }
    command
        .env("LD_PRELOAD", &library)
        .env("STRANDLINE_DISK_ROOT", folder);
    if let Some(log) = log {
        command.env("STRANDLINE_DISK_LOG", log);
    }
}

/// Tells the disk something. Its answer: the calls since it was told to fail, and those that failed
/// (opening, reading, writing, syncing, cutting, removing).
pub(crate) fn tell(what: &str) -> Vec<u64> {
    let answer = fs::read_link(format!("/strandline/{what}")).unwrap();
    let answer = answer.into_os_string().into_string().unwrap();
    let numbers = answer.split(' ').map(|number| number.parse().unwrap());
    numbers.collect()
}
