//! The file: what may be at the path, who may read it, and what is refused untouched.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use strandline::{Classification, Draft, Error, ErrorKind};

use crate::child;
use crate::keyed;

fn saved(path: &Path) {
    let store = keyed::open(path).unwrap();
    let session = store.session("s-1", "agent").open().unwrap();
    store.save(&session, Draft::new("k", "kept")).unwrap();
}

/// The error of opening what is at the path, which names the path.
fn refused(path: &Path) -> Error {
    let error = keyed::open(path).unwrap_err();
    let text = error.to_string();
    assert!(text.contains(path.to_str().unwrap()), "{text}");
    error
}

/// The same, and that no byte of the files changed.
fn refused_untouched(files: &[&Path]) -> Error {
    let bytes = |file: &&Path| fs::read(file).unwrap();
    let before: Vec<Vec<u8>> = files.iter().map(bytes).collect();
    let error = refused(files[0]);
    assert!(files.iter().map(bytes).eq(before));
    error
}

/// The locks on a file, where the system lists them. It makes the list in pieces, so that one reading of
/// it, while others come and go, can miss a lock or give it twice.
pub(crate) fn locks(path: &Path) -> BTreeSet<String> {
    use std::os::unix::fs::MetadataExt as _;

    let place = format!(":{} ", fs::metadata(path).unwrap().ino());
    let mut found = BTreeSet::new();
    for _ in 0..20 {
        let all = fs::read_to_string("/proc/locks").unwrap_or_default();
        let of_file = all.lines().filter(|line| line.contains(&place));
        let without_number = of_file.filter_map(|line| line.split_once(": "));
        found.extend(without_number.map(|(_, lock)| lock.to_owned()));
    }
    found
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn files_and_folders_are_their_owners_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new").join("deeper").join("memory.db");
    // The mask of most systems lets others read; a child is given it, since threads share it.
    let child = child::command("files::child_shows_modes", &path, "");
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "umask 022; exec \"$0\" \"$@\""])
        .arg(child.get_program());
    shell.args(child.get_args());
    for (name, value) in child.get_envs() {
        shell.env(name, value.unwrap());
    }
    shell
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped());
    child::run_all([shell]);
}

#[test]
#[ignore = "run by other tests in a process of its own"]
fn child_shows_modes() {
    let Some((path, _)) = child::arguments() else {
        return;
    };
    let store = keyed::builder().create_folders().open(&path).unwrap();
    let session = store.session("s-1", "agent").open().unwrap();
    store.save(&session, Draft::new("k", "v")).unwrap();
    assert!(store.get(&session, "k").unwrap().is_some());
    for file in [
        path.clone(),
        path.with_extension("db-wal"),
        path.with_extension("db-shm"),
    ] {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
    for folder in path.ancestors().skip(1).take(2) {
        assert_eq!(mode(folder), 0o700, "{}", folder.display());
    }
    fs::write(path.with_extension("txt"), "").unwrap();
    assert_eq!(
        mode(&path.with_extension("txt")),
        0o644,
        "the mask was not set"
    );
}

#[test]
fn a_path_is_never_a_special_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("unused");
    let mut child = child::command("files::child_opens_special_names", &path, "");
    child.current_dir(folder.path());
    child::run_all([child]);
    let mut names: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, SPECIAL_NAMES);
}

const SPECIAL_NAMES: [&str; 4] = [
    ":memory:",
    "file::memory:?cache=shared",
    "file:x?mode=memory",
    "temp'%00.db?nolock=1",
];

#[test]
#[ignore = "run by other tests in a process of its own"]
fn child_opens_special_names() {
    if child::arguments().is_none() {
        return;
    }
    for name in SPECIAL_NAMES {
        saved(Path::new(name));
    }
}

#[test]
fn what_cannot_hold_a_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing").join("memory.db");
    assert_eq!(refused(&missing).kind(), ErrorKind::Io);
    assert!(!missing.parent().unwrap().exists());

    assert_eq!(refused(folder.path()).kind(), ErrorKind::NotAStore);

    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    assert_eq!(refused(&file.join("memory.db")).kind(), ErrorKind::Io);

    let empty = keyed::open("").unwrap_err();
    assert_eq!(empty.kind(), ErrorKind::InvalidArgument);
    assert!(empty.to_string().contains("`path`"));
}

#[test]
fn an_empty_file_becomes_a_store() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    fs::write(&path, "").unwrap();
    saved(&path);
}

#[test]
fn other_files_are_refused_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &[u8]| -> PathBuf {
        fs::write(folder.path().join(name), content).unwrap();
        folder.path().join(name)
    };
    let text = file(
        "text",
        "a file of words that is longer than a header. "
            .repeat(9)
            .as_bytes(),
    );
    assert_eq!(refused_untouched(&[&text]).kind(), ErrorKind::NotAStore);
    let short = file("short", b"hi");
    assert_eq!(refused_untouched(&[&short]).kind(), ErrorKind::NotAStore);
    let header = file("header", b"SQLite format 3\0");
    assert_eq!(refused_untouched(&[&header]).kind(), ErrorKind::NotAStore);
}

#[test]
fn a_truncated_store_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    saved(&path);
    let whole = fs::read(&path).unwrap();
    for length in [50, 4_096, 10_000, whole.len() / 2] {
        let cut = folder.path().join(format!("cut-{length}.db"));
        fs::write(&cut, &whole[..length]).unwrap();
        let kind = refused(&cut).kind();
        assert!(
            matches!(kind, ErrorKind::NotAStore | ErrorKind::Corrupt),
            "{length}: {kind:?}"
        );
    }
}

#[test]
fn other_databases_are_refused_untouched() {
    let folder = tempfile::tempdir().unwrap();
    for (name, sql) in [
        (
            "plain",
            "CREATE TABLE notes (text); INSERT INTO notes VALUES ('mine');",
        ),
        (
            "versioned",
            "CREATE TABLE notes (text); PRAGMA user_version = 1;",
        ),
        (
            "branded",
            "CREATE TABLE notes (text); PRAGMA application_id = 77;",
        ),
        (
            "wal",
            "PRAGMA journal_mode = WAL; CREATE TABLE notes (text);",
        ),
        (
            "same tables",
            "CREATE TABLE records (id); CREATE TABLE scopes (id);",
        ),
    ] {
        let path = folder.path().join(name);
        keyed::raw(&path).unwrap().execute_batch(sql).unwrap();
        assert_eq!(
            refused_untouched(&[&path]).kind(),
            ErrorKind::NotAStore,
            "{name}"
        );
    }
}

#[test]
fn what_another_program_left_in_its_wal_stays_there() {
    let (folder, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = folder.path().join("other.db");
    let other = keyed::raw(&path).unwrap();
    other
        .execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE notes (text)")
        .unwrap();
    let copies = copy_with_wal(&path, copy.path());
    assert_eq!(
        refused_untouched(&[&copies[0], &copies[1]]).kind(),
        ErrorKind::NotAStore
    );
}

/// Copies a database that is open, as a crash would leave it. This drops the locks that its connection
/// has, which no one else here asks for.
fn copy_with_wal(path: &Path, folder: &Path) -> [PathBuf; 2] {
    let wal = PathBuf::from(format!("{}-wal", path.display()));
    [path, &wal].map(|file| {
        let copy = folder.join(file.file_name().unwrap());
        fs::copy(file, &copy).unwrap();
        copy
    })
}

#[test]
fn a_newer_store_is_refused_untouched() {
    let (folder, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = folder.path().join("memory.db");
    saved(&path);
    let newer = keyed::raw(&path).unwrap();
    newer
        .execute_batch("PRAGMA user_version = 2; CREATE TABLE later (x)")
        .unwrap();
    // Its header still says 1, the WAL says 2.
    let copies = copy_with_wal(&path, copy.path());
    if !keyed::IS_ON {
        assert_eq!(fs::read(&copies[0]).unwrap()[60..64], [0, 0, 0, 1]);
    }
    let error = refused_untouched(&[&copies[0], &copies[1]]);
    assert_eq!(error.kind(), ErrorKind::NewerVersion);

    drop(newer);
    let error = refused_untouched(&[&path]);
    assert_eq!(error.kind(), ErrorKind::NewerVersion);
    assert!(!path.with_extension("db-wal").exists());
}

/// Whoever has the file can add what runs when a memory is saved, or holds other things than it says.
const ADDED: [&str; 7] = [
    "CREATE TRIGGER lower AFTER INSERT ON records BEGIN
         UPDATE records SET level = 0 WHERE id = new.id; END",
    "CREATE TABLE more (x)",
    "CREATE VIEW seen AS SELECT * FROM records",
    "CREATE UNIQUE INDEX one ON records (content)",
    "CREATE INDEX also ON records (content)",
    "ALTER TABLE records ADD COLUMN more TEXT",
    "DROP TABLE reads; CREATE TABLE reads (reader, record, after)",
];

#[test]
fn a_store_to_which_something_was_added_is_refused_untouched() {
    for added in ADDED {
        let folder = tempfile::tempdir().unwrap();
        let (path, backup) = (
            folder.path().join("memory.db"),
            folder.path().join("backup.db"),
        );
        saved(&path);
        let change = |path: &Path| keyed::raw(path).unwrap().execute_batch(added).unwrap();
        fs::copy(&path, &backup).unwrap();
        change(&backup);
        let error = keyed::restore_backup(&backup, &path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotAStore, "{added}");
        change(&path);
        assert_eq!(
            refused_untouched(&[&path]).kind(),
            ErrorKind::NotAStore,
            "{added}"
        );
    }
    // What SQLite keeps for itself is nobody's.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    saved(&path);
    keyed::raw(&path).unwrap().execute_batch("ANALYZE").unwrap();
    saved(&path);
}

#[test]
fn no_trigger_runs_that_is_added_to_an_open_store() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let store = keyed::open(&path).unwrap();
    let high = store
        .session("s-1", "agent")
        .taint(Classification::Restricted)
        .open()
        .unwrap();
    keyed::raw(&path).unwrap().execute_batch(ADDED[0]).unwrap();
    store.save(&high, Draft::new("k", "secret")).unwrap();
    let low = store.session("s-2", "agent").open().unwrap();
    assert!(store.get(&low, "k").unwrap().is_none());
    assert!(store.get(&high, "k").unwrap().is_some());
}

#[test]
fn a_wal_without_its_file_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let wal = folder.path().join("memory.db-wal");
    fs::write(&wal, "what was saved last").unwrap();
    assert_eq!(refused(&path).kind(), ErrorKind::Io);
    assert_eq!(fs::read(&wal).unwrap(), b"what was saved last");
    assert!(!path.exists());
}

/// SQLite would go on by the WAL, until that is brought into the file.
#[test]
fn nothing_is_acknowledged_into_a_file_that_was_emptied() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let store = keyed::open(&path).unwrap();
    let session = store.session("s-1", "agent").open().unwrap();
    store.save(&session, Draft::new("k", "kept")).unwrap();
    assert!(
        fs::metadata(folder.path().join("memory.db-wal"))
            .unwrap()
            .len()
            > 0
    );
    let whole = fs::read(&path).unwrap();
    fs::File::create(&path).unwrap();
    let error = store
        .save(&session, Draft::new("other", "lost"))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    // Once its content is back, it goes on.
    fs::write(&path, whole).unwrap();
    store.save(&session, Draft::new("other", "kept")).unwrap();
}

#[test]
fn without_shared_memory_it_does_not_open() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    fs::create_dir(path.with_extension("db-shm")).unwrap();
    let kind = refused(&path).kind();
    assert!(
        matches!(kind, ErrorKind::Io | ErrorKind::ReadOnly),
        "{kind:?}"
    );
}

/// Once lost: whoever closes any descriptor of a file drops all locks that its process has on it, and
/// with them SQLite's word that the file is in use.
#[test]
#[cfg(target_os = "linux")]
fn opening_a_file_again_keeps_the_locks_on_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let store = keyed::open(&path).unwrap();
    let session = store.session("s", "agent").open().unwrap();
    store.save(&session, Draft::new("k", "v")).unwrap();
    let before = locks(&path);
    if before.is_empty() {
        eprintln!("skipped: this system doesn't list its locks");
        return;
    }
    drop(keyed::open(&path).unwrap());
    assert_eq!(locks(&path), before);
}
