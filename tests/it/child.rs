//! Other processes: this test binary again, running one of its ignored tests.

use std::env;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Names the file that a child works on, and marks it as a child.
const PATH: &str = "STRANDLINE_TEST_PATH";
const ARGUMENT: &str = "STRANDLINE_TEST_ARGUMENT";

/// A process that runs the ignored test of this name. It starts when its standard input says so.
pub(crate) fn command(test: &str, path: &Path, argument: &str) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args([
            "--exact",
            test,
            "--ignored",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(PATH, path)
        .env(ARGUMENT, argument)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// The path and the argument, in a child; `None` where the test is run by itself.
pub(crate) fn arguments() -> Option<(PathBuf, String)> {
    let path = env::var_os(PATH)?.into();
    let mut go = String::new();
    std::io::stdin().read_line(&mut go).unwrap();
    Some((path, env::var(ARGUMENT).unwrap()))
}

/// Says something to the parent, in one write.
pub(crate) fn say(line: &str) {
    std::io::stderr()
        .write_all(format!("{line}\n").as_bytes())
        .unwrap();
}

/// Lets the child begin.
pub(crate) fn go(child: &mut Child) {
    child.stdin.take().unwrap().write_all(b"go\n").unwrap();
}

/// Starts the children, lets them all begin at once, and waits until each has succeeded.
pub(crate) fn run_all(commands: impl IntoIterator<Item = Command>) {
    let mut children: Vec<Child> = commands
        .into_iter()
        .map(|mut command| command.spawn().unwrap())
        .collect();
    children.iter_mut().for_each(go);
    for child in children {
        let output = child.wait_with_output().unwrap();
        let ran = String::from_utf8_lossy(&output.stdout).contains("1 passed");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && ran, "a child failed: {error}");
    }
}
