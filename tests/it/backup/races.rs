//! Files that are put in the place of a store or of a backup meanwhile.

use super::*;

/// What SQLite has open is no longer what is at the path.
#[test]
fn a_store_that_was_replaced_is_neither_backed_up_nor_checked() {
    let (place, _) = Place::backed_up();
    let store = place.open();
    let target = place.folder.path().join("second.db");
    fs::rename(&place.backup, &place.path).unwrap();
    let error = store.host().backup(&target, |_| ()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.to_string().contains("replaced"), "{error}");
    assert!(!target.exists());
    assert_eq!(store.host().check().unwrap_err().kind(), ErrorKind::Io);
    let partial = |name: &String| name.ends_with("partial");
    assert!(!place.names().iter().any(partial));
}

#[test]
fn a_file_put_in_the_place_of_a_backup_in_the_making_is_not_taken_for_it() {
    let (place, content) = Place::backed_up();
    let store = place.open();
    let target = place.folder.path().join("second.db");
    let foreign = place.folder.path().join("foreign.db");
    fs::write(&foreign, "somebody's").unwrap();
    let error = store
        .host()
        .backup(&target, |_| {
            let partial = |name: &String| name.ends_with("partial");
            let name = place.names().into_iter().find(partial).unwrap();
            drop(fs::rename(&foreign, place.folder.path().join(name)));
        })
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(!target.exists());
    assert_eq!(exported(&store), content);
    store.host().backup(&target, |_| ()).unwrap();
}

#[test]
fn a_store_that_only_reads_is_not_backed_up_and_nothing_is_written() {
    let (place, _) = Place::backed_up();
    let store = keyed::builder().read_only().open(&place.path).unwrap();
    let target = place.folder.path().join("second.db");
    let (names, bytes) = (place.names(), fs::read(&place.path).unwrap());
    let error = store.host().backup(&target, |_| panic!("it began"));
    assert_eq!(error.unwrap_err().kind(), ErrorKind::ReadOnly);
    assert_eq!(place.names(), names);
    drop(store);
    assert!(fs::read(&place.path).unwrap() == bytes);
}

/// Restores all the time, here or in another process.
fn restore_until(place: &Path, stop: &dyn Fn() -> bool) -> u32 {
    let mut restored = 0;
    while !stop() {
        match keyed::restore_backup(place.with_file_name("backup.db"), place) {
            Ok(_) => restored += 1,
            Err(error) => assert_eq!(error.kind(), ErrorKind::Busy, "{error:?}"),
        }
    }
    restored
}

#[test]
#[ignore = "run by other tests in a process of its own"]
fn child_restores_all_the_time() {
    let Some((path, _)) = child::arguments() else {
        return;
    };
    let end = path.with_file_name("end");
    let restored = restore_until(&path, &|| end.exists());
    assert!(restored > 0);
}

/// A store is open in full or not at all: what was saved is in the file at its path.
#[test]
fn opens_that_race_a_restore_get_the_old_store_or_the_new() {
    let (place, _) = Place::backed_up();
    let name = "backup::races::child_restores_all_the_time";
    let mut other = child::command(name, &place.path, "").spawn().unwrap();
    child::go(&mut other);
    let stop = AtomicBool::new(false);
    let (mut opened, mut restored) = (0, 0);
    thread::scope(|scope| {
        let here = scope.spawn(|| restore_until(&place.path, &|| stop.load(Ordering::Relaxed)));
        for round in 0..2_000 {
            let store = match keyed::open(&place.path) {
                Ok(store) => store,
                Err(error) => {
                    let is_raced = [ErrorKind::Busy, ErrorKind::Io].contains(&error.kind());
                    assert!(is_raced, "{error:?}");
                    continue;
                }
            };
            let session = session(&store, Classification::Public);
            let key = format!("raced {round}");
            store.save(&session, Draft::new(&*key, "v")).unwrap();
            let db = keyed::raw(&place.path).unwrap();
            let sql = "SELECT count(*) FROM records WHERE key = ?1";
            let there: i64 = db.query_row(sql, [&key], |row| row.get(0)).unwrap();
            assert_eq!(there, 1, "it was saved where nobody finds it");
            opened += 1;
            if opened > 60 && round > 100 {
                break;
            }
        }
        stop.store(true, Ordering::Relaxed);
        restored = here.join().unwrap();
    });
    fs::write(place.folder.path().join("end"), "").unwrap();
    assert!(other.wait_with_output().unwrap().status.success());
    assert!(opened > 0, "nothing raced");
    eprintln!("{opened} opened, {restored} restored");
    assert_sound(&place.path);
}
