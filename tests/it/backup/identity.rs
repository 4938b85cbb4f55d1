//! Which file it is that a backup takes the place of.

use std::os::unix::fs::symlink;

use super::*;

fn is_same_file(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let id = |path: &Path| {
        let info = fs::metadata(path).unwrap();
        (info.dev(), info.ino())
    };
    id(one) == id(other)
}

/// Waits until the copy of the backup is whole, or all is over.
fn wait_for_copy(place: &Place, is_over: impl Fn() -> bool) {
    let size = fs::metadata(&place.backup).unwrap().len();
    let is_whole = |name: &String| {
        let info = fs::metadata(place.folder.path().join(name));
        name.ends_with(".partial") && info.is_ok_and(|info| info.len() == size)
    };
    while !is_over() && !place.names().iter().any(is_whole) {
        thread::sleep(Duration::from_millis(1));
    }
}

/// Somebody has the target open, and another store is put there before that ends.
#[test]
fn a_store_put_in_the_place_of_the_target_meanwhile_is_not_replaced() {
    let (place, _) = Place::backed_up();
    let mut refused = 0;
    for round in 0..20 {
        let other = place.folder.path().join("other.db");
        let store = keyed::open(&other).unwrap();
        let session = session(&store, Classification::Public);
        store.save(&session, Draft::new("other", "v")).unwrap();
        let content = exported(&store);
        drop((session, store));
        let holder = keyed::raw(&place.path).unwrap();
        holder.execute_batch("BEGIN IMMEDIATE").unwrap();
        let restored = thread::scope(|scope| {
            let restoring = scope.spawn(|| keyed::restore_backup(&place.backup, &place.path));
            wait_for_copy(&place, || restoring.is_finished());
            // Checked by then, it waits for the target.
            thread::sleep(Duration::from_millis(20 + round * 5));
            fs::rename(&other, &place.path).unwrap();
            drop(holder);
            restoring.join().unwrap()
        });
        // One that had not looked at the target yet, or waited too long, tells nothing.
        let Err(error) = restored else { continue };
        assert_eq!(error.kind(), ErrorKind::Busy, "{error}");
        refused += u32::from(error.to_string().contains("was put in the place"));
        assert_eq!(exported(&place.open()), content);
    }
    assert!(refused > 0, "it never came in between");
}

#[test]
fn a_link_that_leads_nowhere_or_to_what_is_no_store_is_not_replaced() {
    let (place, _) = Place::backed_up();
    let folder = tempfile::tempdir().unwrap();
    let notes = folder.path().join("notes.txt");
    fs::write(&notes, "words ".repeat(500)).unwrap();
    let cases = [
        (folder.path().join("missing.db"), ErrorKind::Io),
        (folder.path().join("folder"), ErrorKind::NotAStore),
        (notes.clone(), ErrorKind::NotAStore),
    ];
    fs::create_dir(folder.path().join("folder")).unwrap();
    for (leads_to, kind) in cases {
        let link = place.folder.path().join("link.db");
        symlink(&leads_to, &link).unwrap();
        let error = keyed::restore_backup(&place.backup, &link).unwrap_err();
        assert_eq!(error.kind(), kind, "{}", leads_to.display());
        assert_eq!(fs::read_link(&link).unwrap(), leads_to);
        fs::remove_file(&link).unwrap();
        assert_eq!(place.names(), ["backup.db", "memory.db"]);
    }
    assert_eq!(fs::read(&notes).unwrap(), "words ".repeat(500).as_bytes());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

/// Where the target is the backup by another name, the store is a file of its own afterwards: what is saved
/// in it doesn't change the backup.
#[test]
fn a_backup_that_is_also_the_target_is_left_alone_by_the_store() {
    let (place, content) = Place::backed_up();
    let before = fs::read(&place.backup).unwrap();
    fs::remove_file(&place.path).unwrap();
    fs::hard_link(&place.backup, &place.path).unwrap();
    keyed::restore_backup(&place.backup, &place.path).unwrap();
    assert!(!is_same_file(&place.backup, &place.path));
    let store = place.open();
    assert_eq!(exported(&store), content);
    let session = session(&store, Classification::Public);
    store.save(&session, Draft::new("later", "v")).unwrap();
    drop((session, store));
    assert_eq!(fs::read(&place.backup).unwrap(), before);

    // By its own name, or a link to it, it becomes the store.
    let link = place.folder.path().join("link.db");
    symlink(&place.backup, &link).unwrap();
    for (from, to) in [
        (&place.backup, &place.backup),
        (&link, &place.backup),
        (&place.backup, &link),
    ] {
        keyed::restore_backup(from, to).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(place.names(), ["backup.db", "link.db", "memory.db"]);
        assert_sound(&place.backup);
    }
    assert_eq!(exported(&keyed::open(&place.backup).unwrap()), content);
}

/// SQLite's locks are the file's; its WAL has the name that it was opened by.
#[test]
fn a_store_that_is_open_by_another_name_is_not_replaced() {
    let (place, _) = Place::backed_up();
    let alias = place.folder.path().join("alias.db");
    fs::hard_link(&place.path, &alias).unwrap();
    let store = keyed::open(&alias).unwrap();
    let session = session(&store, Classification::Public);
    store.save(&session, Draft::new("later", "v")).unwrap();
    let error = keyed::restore_backup(&place.backup, &place.path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Busy);
    child::run_all([child::command(
        "backup::child_finds_it_open",
        &place.path,
        "",
    )]);
    assert!(is_same_file(&alias, &place.path));
    drop((session, store));
    let store = keyed::open(&alias).unwrap();
    let session = self::session(&store, Classification::Public);
    assert!(store.get(&session, "later").unwrap().is_some());
}

/// A store would begin with what has the name of its WAL. What can be removed is, see above.
#[test]
fn what_is_beside_the_target_and_can_not_be_removed_refuses_the_backup() {
    let (place, content) = Place::backed_up();
    for ending in ["-wal", "-shm", "-journal"] {
        for there in [true, false] {
            let kept = fs::read(&place.path).unwrap();
            if !there {
                fs::remove_file(&place.path).unwrap();
            }
            let folder = beside(&place.path, ending);
            fs::create_dir(&folder).unwrap();
            let error = keyed::restore_backup(&place.backup, &place.path).unwrap_err();
            assert_ne!(error.kind(), ErrorKind::Internal, "{ending}: {error}");
            assert_eq!(place.path.exists(), there, "{ending}");
            fs::remove_dir(&folder).unwrap();
            fs::write(&place.path, kept).unwrap();
            assert_eq!(place.names(), ["backup.db", "memory.db"], "{ending}");
        }
    }
    assert_eq!(exported(&place.open()), content);
}
