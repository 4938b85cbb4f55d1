//! A disk that fails at the n-th call, for every n of a workload, once or from then on.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use strandline::{Draft, Error, ErrorKind, MemoryStore};

use crate::keyed;
use crate::power::{draft, lost, open_full};
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

#[test]
#[ignore = "run by other tests in a process of its own"]
fn child_works_on_a_broken_disk() {
    let Some((root, how)) = child::arguments() else {
        return;
    };
    let mut failed = [0; 6];
    for n in 1.. {
        let folder = root.join(n.to_string());
        fs::create_dir(&folder).unwrap();
        let (path, mut said) = (folder.join("memory.db"), BTreeSet::new());
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
                // SQLCipher takes one that fails for a wrong key.
                ErrorKind::NotAStore | ErrorKind::WrongKey => keyed::IS_ON && how.starts_with("5/"),
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
    let (tools, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let test = "broken_disk::child_works_on_a_broken_disk";
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
