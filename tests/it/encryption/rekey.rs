//! The key of a store is changed.

use super::*;

/// What there is of a store after its key was changed is what there was before.
#[test]
fn a_store_gets_another_key_its_first_or_none() {
    let keys = [
        plain(),
        keyed::builder(),
        other(),
        plain().key(EncryptionKey::passphrase("p").unwrap()),
    ];
    let keys = keys.iter().zip([
        None,
        Some(keyed::key()),
        Some(EncryptionKey::raw(&[9; 32])),
        EncryptionKey::passphrase("p").ok(),
    ]);
    let keys: Vec<_> = keys.collect();
    for (at, (from, _)) in keys.iter().enumerate() {
        for (to, new) in [&keys[(at + 1) % 4], &keys[(at + 2) % 4]] {
            let (folder, path) = place();
            let (content, end) = filled(from, &path);
            let seen = observed(&(*from).clone().open(&path).unwrap());
            from.rekey(&path, new.clone()).unwrap();
            assert_eq!(files(folder.path()).len(), 1, "only the store is left");
            let error = (*from).clone().open(&path).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::WrongKey);
            let store = (*to).clone().open(&path).unwrap();
            assert_eq!(exported(&store), content);
            assert_eq!(observed(&store).len(), seen.len());
            assert!(observed(&store) == seen);
            assert!(matches!(
                store.host().verify(Some(&end)).unwrap(),
                Verification::Sound(_)
            ));
            assert_eq!(store.host().check().unwrap(), []);
            assert_eq!(mode(&path), 0o600);
            let bytes = fs::read(&path).unwrap();
            assert_eq!(bytes.starts_with(b"SQLite format 3\0"), new.is_none());
            let session = store.session("s", "agent").open().unwrap();
            store.save(&session, Draft::new("shared", "after")).unwrap();
        }
    }
}

fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
#[ignore = "run by other tests in a process of its own"]
fn child_keeps_it_open() {
    let Some((path, _)) = child::arguments() else {
        return;
    };
    let store = keyed::open(&path).unwrap();
    child::say("open");
    thread::sleep(Duration::from_secs(60));
    drop(store);
}

#[test]
fn a_store_that_is_open_anywhere_keeps_its_key() {
    let (folder, path) = place();
    let (content, _) = filled(&keyed::builder(), &path);
    let new = || Some(EncryptionKey::raw(&[9; 32]));
    let store = keyed::open(&path).unwrap();
    let refused = keyed::builder().rekey(&path, new()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Busy);
    let session = store.session("s", "agent").open().unwrap();
    store.save(&session, Draft::new("k", "v")).unwrap();
    store.host().erase("agent", "k").unwrap();
    drop((session, store));

    let mut child = child::command("encryption::rekey::child_keeps_it_open", &path, "")
        .spawn()
        .unwrap();
    child::go(&mut child);
    let mut said = [0; 4];
    std::io::Read::read_exact(child.stderr.as_mut().unwrap(), &mut said).unwrap();
    let refused = keyed::builder().rekey(&path, new()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Busy);
    child.kill().unwrap();
    child.wait().unwrap();
    // What it left is brought in.
    keyed::builder().rekey(&path, new()).unwrap();
    assert_eq!(files(folder.path()).len(), 1);
    let store = other().open(&path).unwrap();
    let lines = |bytes: &[u8]| bytes.split(|byte| *byte == b'\n').count();
    assert!(lines(&exported(&store)) >= lines(&content));
    assert_eq!(store.host().check().unwrap(), []);
}

#[test]
fn a_key_is_not_changed_where_something_is_wrong() {
    let (folder, path) = place();
    let new = || Some(EncryptionKey::raw(&[9; 32]));
    let missing = keyed::builder().rekey(&path, new()).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::Io);
    assert!(!path.exists());
    fs::write(&path, "").unwrap();
    let empty = untouched(folder.path(), &path, || {
        keyed::builder().rekey(&path, new())
    });
    assert_eq!(empty.kind(), ErrorKind::NotAStore);
    fs::remove_file(&path).unwrap();

    filled(&keyed::builder(), &path);
    for builder in [plain(), other()] {
        let error = untouched(folder.path(), &path, || builder.rekey(&path, new()));
        assert_eq!(error.kind(), ErrorKind::WrongKey);
    }
    let whole = fs::read(&path).unwrap();
    for at in [4_096 + 100, whole.len() / 2, whole.len() - 100] {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        fs::write(&path, &bytes).unwrap();
        let error = keyed::builder().rekey(&path, new()).unwrap_err();
        // Its first page may say by now that it needs no WAL; its content is as it was.
        assert!(fs::read(&path).unwrap()[4_096..] == bytes[4_096..]);
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{at}");
    }
}

#[test]
#[ignore = "run by other tests in a process of its own"]
fn child_changes_the_key() {
    let Some((path, _)) = child::arguments() else {
        return;
    };
    for round in 0.. {
        let (from, to) = if round % 2 == 0 {
            (keyed::builder(), 9)
        } else {
            (other(), 0x5a)
        };
        from.rekey(&path, Some(EncryptionKey::raw(&[to; 32])))
            .unwrap();
        child::say("done");
    }
}

#[test]
fn a_kill_leaves_a_whole_store_of_one_of_the_keys() {
    for round in 0..12 {
        let (_folder, path) = place();
        let (content, end) = filled(&keyed::builder(), &path);
        let mut child = child::command("encryption::rekey::child_changes_the_key", &path, "")
            .spawn()
            .unwrap();
        child::go(&mut child);
        let mut said = [0; 4];
        std::io::Read::read_exact(child.stderr.as_mut().unwrap(), &mut said).unwrap();
        thread::sleep(Duration::from_millis(7 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        let opened = [keyed::builder(), other()].map(|builder| builder.open(&path));
        let [one, two] = opened;
        let store = match (one, two) {
            (Ok(store), Err(error)) | (Err(error), Ok(store)) => {
                assert_eq!(error.kind(), ErrorKind::WrongKey);
                store
            }
            both => panic!("{both:?}"),
        };
        assert_eq!(exported(&store), content);
        assert!(matches!(
            store.host().verify(Some(&end)).unwrap(),
            Verification::Sound(_)
        ));
        assert_eq!(store.host().check().unwrap(), []);
    }
}
