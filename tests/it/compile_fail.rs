//! What must not compile: reading or writing without a session, making a grant, choosing a level.
//!
//! Each file of `tests/compile_fail/` has the compiler's output beside it. What must agree are the
//! codes and lines of the errors: wording changes from one compiler to the next, and a test that
//! falls with it would teach people to write the files anew without reading them. So copies are
//! compiled, with new output beside them, and only that much is compared. To keep new output, after
//! reading it: `TRYBUILD=overwrite cargo test --test it compile_fail`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/compile_fail");
const COPIES: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/compile_fail");

#[test]
fn these_do_not_compile() {
    let names = copy_the_cases();
    // trybuild learns from the environment that it shall write output and not compare it.
    let run = Command::new(env::current_exe().expect("this program's path"))
        .args(["--exact", "compile_fail::compile_the_copies", "--ignored"])
        .env("TRYBUILD", "overwrite")
        .output()
        .expect("the copies are compiled");
    let told = [run.stdout, run.stderr].concat();
    let told = String::from_utf8_lossy(&told);
    assert!(run.status.success(), "some of them compile:\n{told}");
    assert!(told.contains("1 passed"), "none was tried:\n{told}");
    let keep = env::var_os("TRYBUILD").is_some_and(|mode| mode == "overwrite");
    for name in names {
        let output = Path::new(COPIES).join(&name).with_extension("stderr");
        let expected = Path::new(CASES).join(&name).with_extension("stderr");
        if keep {
            let text = fs::read_to_string(&output).expect("the compiler's output");
            let text = text.replace(COPIES, "tests/compile_fail");
            fs::write(&expected, text).expect("the output is kept");
        }
        let (output, expected) = (errors(&output), errors(&expected));
        assert!(!expected.is_empty(), "{} has no error", name.display());
        assert_eq!(output, expected, "{} fails otherwise", name.display());
    }
}

#[test]
#[ignore = "`these_do_not_compile` runs it, in a process of its own"]
fn compile_the_copies() {
    let cases = Path::new(COPIES).join("*.rs");
    trybuild::TestCases::new().compile_fail(cases);
}

/// Copies the cases alone, and returns their names.
fn copy_the_cases() -> Vec<PathBuf> {
    if Path::new(COPIES).exists() {
        fs::remove_dir_all(COPIES).expect("the old copies go");
    }
    fs::create_dir_all(COPIES).expect("a folder for copies");
    let mut names = Vec::new();
    for case in fs::read_dir(CASES).expect("the cases") {
        let path = case.expect("a case").path();
        if path.extension().is_some_and(|end| end == "rs") {
            let name = PathBuf::from(path.file_name().expect("a name"));
            fs::copy(&path, Path::new(COPIES).join(&name)).expect("a copy");
            names.push(name);
        }
    }
    assert!(!names.is_empty(), "there are cases");
    names
}

/// The code and line of each error in a compiler's output.
fn errors(path: &Path) -> BTreeSet<(String, String)> {
    let text = fs::read_to_string(path).expect("the compiler's output");
    let mut found = BTreeSet::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some((code, _)) = line
            .strip_prefix("error")
            .and_then(|rest| rest.split_once(':'))
        else {
            continue;
        };
        let place = lines.find_map(|line| line.trim_start().strip_prefix("--> "));
        let line = place.and_then(|place| place.rsplit(':').nth(1));
        found.insert((code.to_owned(), line.unwrap_or_default().to_owned()));
    }
    found
}
