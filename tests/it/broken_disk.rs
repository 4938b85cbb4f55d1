//! A disk that fails at the n-th call, for every n of a workload, once or from then on.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use strandline::search::analysis::Language;
use strandline::{Draft, Error, ErrorKind, MemoryStore};

use crate::keyed;
use crate::power::{draft, export, lost, open_full, purge};
use crate::{child, disk};

/// What there is to do, each with the name under which it is looked for. It stops at nothing.
fn work(path: &Path, said: &mut BTreeSet<String>) -> (Option<MemoryStore>, Vec<Error>) {
    let mut errors = Vec::new();
    let opened = keyed::open(path).and_then(|store| {
        let session = store.session("s", "agent");
        let session = session.taint(strandline::Classification::Internal).open()?;
        Ok((store, session))
    });
    let (store, session) = match opened {
        Ok(opened) => opened,
        Err(error) => return (None, vec![error]),
    };
    let mut note = |name: &str, done: Result<(), Error>| match done {
        Ok(()) => drop(said.insert(name.to_owned())),
        Err(error) => errors.push(error),
    };
    let own = store.save(&session, draft("own", 0));
    note("own 0", own.map(drop));
    let shared = store.save(&session, Draft::new("shared", "number 0"));
    note("shared 0", shared.map(drop));
    let pair = ["first", "second"].map(|key| draft(key, 0));
    let pair = store.save_all(&session, pair);
    let is_pair = pair.is_ok();
    note("pair 0", pair.map(drop));
    if is_pair {
        note("delete 0", store.delete(&session, "second 0").map(drop));
    }
    let copy = path.with_file_name("copy-0");
    let backup = store.host().backup(&copy, |_| ()).map(drop);
    let is_backup = backup.is_ok();
    note("backup 0", backup);
    if is_backup {
        note("rekey 0", keyed::encrypt_anew(&copy));
    }
    drop(session);
    (Some(store), errors)
}

/// What the host does with a store that there is: it takes over another one's memories, removes old versions,
/// and sets another language.
fn keep(path: &Path, said: &mut BTreeSet<String>) -> (Option<MemoryStore>, Vec<Error>) {
    let mut errors = Vec::new();
    let store = match keyed::open(path) {
        Ok(store) => store,
        Err(error) => return (None, vec![error]),
    };
    let mut note = |name: &str, done: Result<(), Error>| match done {
        Ok(()) => drop(said.insert(name.to_owned())),
        Err(error) => errors.push(error),
    };
    let imported = store.host().import(export(0).as_bytes());
    note("import 0", imported.map(drop));
    note("purge 0", purge(&store, 0));
    let german = keyed::builder().language(Language::German);
    note("language 0", german.open(path).map(drop));
    (Some(store), errors)
}

#[test]
#[ignore = "run by other tests in a process of its own"]
fn child_works_on_a_broken_disk() {
    if let Some((root, how)) = child::arguments() {
        at_each_call(&root, &how, &BTreeSet::new(), work);
    }
}

#[test]
#[ignore = "run by other tests in a process of its own"]
fn child_keeps_a_store_on_a_broken_disk() {
    let Some((root, how)) = child::arguments() else {
        return;
    };
    let (path, mut said) = (root.join("memory.db"), BTreeSet::new());
    drop(work(&path, &mut said));
    said.remove("backup 0");
    said.remove("rekey 0");
    at_each_call(&root, &how, &said, keep);
}

/// What is done with a store at a path: what of it was acknowledged, and what failed.
type Work = fn(&Path, &mut BTreeSet<String>) -> (Option<MemoryStore>, Vec<Error>);

/// Does it anew for each of its calls, which fails; with a copy of the store that is in the folder, if there is
/// one, and of which this was acknowledged.
fn at_each_call(root: &Path, how: &str, before: &BTreeSet<String>, work: Work) {
    let mut failed = [0; 6];
    for n in 1.. {
        let folder = root.join(n.to_string());
        fs::create_dir(&folder).unwrap();
        let (path, mut said) = (folder.join("memory.db"), before.clone());
        if !before.is_empty() {
            fs::copy(root.join("memory.db"), &path).unwrap();
        }
        disk::tell(&format!("fail/{n}/{how}"));
        let (store, errors) = work(&path, &mut said);
        let answer = disk::tell("fail/0/0/0");
        for (all, now) in failed.iter_mut().zip(&answer[1..]) {
            *all += now;
        }
        for error in errors {
            // SQLite takes a read that fails for a damaged file, and what it can't open to write it opens to
            // read.
            let is_typed = match error.kind() {
                ErrorKind::Io | ErrorKind::Full => true,
                ErrorKind::Corrupt | ErrorKind::ReadOnly => how.starts_with("5/"),
                _ => false,
            };
            assert!(is_typed, "call {n}, {how}: {error:?}");
        }
        let (store, session) = match store {
            Some(store) => {
                let session = store.session("s", "agent").open().unwrap();
                (store, session)
            }
            None => open_full(&path),
        };
        let after = store.save(&session, Draft::new("own 1", "after"));
        after.unwrap_or_else(|error| panic!("call {n}, {how}: {error:?}"));
        said.insert(String::from("own 1"));
        drop((session, store));
        assert_eq!(lost(&folder, &said), 0, "call {n}, {how}");
        fs::remove_dir_all(&folder).unwrap();
        if answer[1..].iter().all(|failed| *failed == 0) {
            break;
        }
    }
    fs::write(root.join("failed"), format!("{failed:?}")).unwrap();
}

/// The failed calls by kind: opening, reading, writing, syncing, cutting, removing.
fn failures(how: &str) -> Vec<u64> {
    failures_of("broken_disk::child_works_on_a_broken_disk", how)
}

fn failures_of(test: &str, how: &str) -> Vec<u64> {
    let (tools, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut command = child::command(test, folder.path(), how);
    disk::watched(&mut command, tools.path(), folder.path(), None);
    child::run_all([command]);
    let failed = fs::read_to_string(folder.path().join("failed")).unwrap();
    serde_json::from_str(&failed).unwrap()
}

const EIO: u8 = 5;
const ENOSPC: u8 = 28;

#[test]
fn a_call_that_fails_once_breaks_nothing() {
    let failed = failures(&format!("{EIO}/0"));

    assert!(failed.iter().all(|count| *count > 0), "{failed:?}");
    assert!(failed.iter().sum::<u64>() > 100);
}

#[test]
fn a_disk_that_fails_for_a_while_breaks_nothing() {
    let failed = failures(&format!("{EIO}/1"));

    assert!(failed.iter().all(|count| *count > 0), "{failed:?}");
}

#[test]
fn a_full_disk_at_any_call_breaks_nothing() {
    for is_lasting in 0..2 {
        let failed = failures(&format!("{ENOSPC}/{is_lasting}"));

        assert!(failed[2] > 50 && failed[3] > 5, "{failed:?}");
    }
}

#[test]
fn no_failure_of_the_disk_breaks_an_import_a_purge_or_a_change_of_the_language() {
    let test = "broken_disk::child_keeps_a_store_on_a_broken_disk";
    for how in [
        format!("{EIO}/0"),
        format!("{EIO}/1"),
        format!("{ENOSPC}/1"),
    ] {
        let failed = failures_of(test, &how);

        assert!(failed[2] > 10 && failed[3] > 3, "{failed:?}");
    }
}

/// A store that is new, one that was closed, and one whose WAL a crash left.
#[test]
#[ignore = "run by other tests in a process of its own"]
fn child_opens_on_a_full_disk() {
    let Some((root, _)) = child::arguments() else {
        return;
    };
    let path = |name: &str| root.join(name).join("memory.db");
    for name in ["new", "closed", "left"] {
        fs::create_dir(root.join(name)).unwrap();
    }
    let mut said = BTreeSet::new();
    let (store, _) = work(&path("closed"), &mut said);
    for file in ["memory.db", "memory.db-wal"] {
        fs::copy(root.join("closed").join(file), root.join("left").join(file)).unwrap();
    }
    drop(store);
    said.retain(|what| !what.starts_with("backup") && !what.starts_with("rekey"));
    for name in ["new", "closed", "left"] {
        disk::tell("fail/1/28/1");
        let opened = keyed::open(path(name)).and_then(|store| store.session("s", "agent").open());
        disk::tell("fail/0/0/0");
        let error = opened.unwrap_err();
        // SQLite doesn't say why it can't make a file.
        let is_typed = [ErrorKind::Full, ErrorKind::Io].contains(&error.kind());
        assert!(is_typed, "{name}: {error:?}");
        let acknowledged = if name == "new" {
            &BTreeSet::new()
        } else {
            &said
        };
        assert_eq!(lost(&root.join(name), acknowledged), 0, "{name}");
    }
}

#[test]
fn opening_on_a_full_disk_says_so_and_works_once_there_is_space() {
    let (tools, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let test = "broken_disk::child_opens_on_a_full_disk";
    let mut command = child::command(test, folder.path(), "");
    disk::watched(&mut command, tools.path(), folder.path(), None);
    child::run_all([command]);
}
