//! A process that is killed loses nothing that it acknowledged.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::Path;
use std::thread;
use std::time::Duration;

use strandline::storage::VersionState;
use strandline::{Classification, Draft, MemoryStore};
use uuid::Uuid;

use crate::child;
use crate::keyed;
use crate::sound::assert_sound;

const KILLS: usize = 50;

#[test]
fn every_acknowledged_save_survives_fifty_kills() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let mut acknowledged = BTreeSet::new();
    for round in 0..KILLS {
        acknowledged.extend(save_until_killed(&path, round));
        if round % 10 == 9 {
            assert_all_there(&path, &acknowledged);
        }
    }
    assert!(acknowledged.len() > KILLS, "the children saved too little");
}

/// Kills a child at a random moment; returns what it said it had saved.
fn save_until_killed(path: &Path, round: usize) -> Vec<(usize, usize)> {
    let name = "crash::child_saves_until_it_is_killed";
    let mut child = child::command(name, path, &round.to_string())
        .spawn()
        .unwrap();
    child::go(&mut child);
    let mut said = child.stderr.take().unwrap();
    let mut text = Vec::new();
    if round >= 5 {
        // After the file is open. The first few are killed while they make it, or soon after.
        text.resize(1, 0);
        said.read_exact(&mut text).unwrap();
    }
    wait_up_to(60);
    child.kill().unwrap();
    child.wait().unwrap();
    said.read_to_end(&mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let number = |line: &str| {
        line.parse()
            .unwrap_or_else(|_| panic!("the child failed: {text}"))
    };
    whole.lines().map(|line| (round, number(line))).collect()
}

/// Number `n` writes a key of its own at one level, a shared key, and a pair in one transaction; then
/// says so.
#[test]
#[ignore = "run by other tests in a process of its own"]
fn child_saves_until_it_is_killed() {
    let Some((path, round)) = child::arguments() else {
        return;
    };
    let store = keyed::open(path).unwrap();
    let sessions = Classification::ALL.map(|level| {
        store
            .session(format!("{round}-{level}"), "agent")
            .taint(level)
            .open()
            .unwrap()
    });
    for number in 0.. {
        let session = &sessions[number % 4];
        let name = format!("{round}-{number}");
        let draft = |key: String| Draft::new(key, format!("number {name} of many")).tag("Some tag");
        store.save(session, draft(format!("own {name}"))).unwrap();
        store.save(session, draft(String::from("shared"))).unwrap();
        let pair = [
            draft(format!("first {name}")),
            draft(format!("second {name}")),
        ];
        store.save_all(session, pair).unwrap();
        if number % 3 == 2 {
            store.delete(session, &format!("second {name}")).unwrap();
        }
        child::say(&number.to_string());
    }
}

fn assert_all_there(path: &Path, acknowledged: &BTreeSet<(usize, usize)>) {
    assert_sound(path);
    let store = keyed::open(path).unwrap();
    let session = store
        .session("check", "agent")
        .taint(Classification::Restricted)
        .open()
        .unwrap();
    let shared = store.host().history("agent", "shared").unwrap();
    let shared: BTreeSet<&str> = shared
        .iter()
        .map(|version| version.memory.content.as_str())
        .collect();
    for (round, number) in acknowledged {
        let content = format!("number {round}-{number} of many");
        let own = store
            .get(&session, &format!("own {round}-{number}"))
            .unwrap();
        assert_eq!(own.map(|memory| memory.content), Some(content.clone()));
        assert!(shared.contains(content.as_str()));
        assert!(
            store
                .get(&session, &format!("first {round}-{number}"))
                .unwrap()
                .is_some()
        );
        let second = store
            .host()
            .history("agent", &format!("second {round}-{number}"))
            .unwrap();
        let expected = if number % 3 == 2 {
            VersionState::Deleted
        } else {
            VersionState::Live
        };
        assert_eq!(second[0].state, expected);
    }
    assert_pairs_whole(&store, acknowledged);
}

/// Also of what was not acknowledged, a pair is there or not: never half.
fn assert_pairs_whole(store: &MemoryStore, acknowledged: &BTreeSet<(usize, usize)>) {
    let there = |key: &str| !store.host().history("agent", key).unwrap().is_empty();
    for round in 0..KILLS {
        let said = acknowledged.range((round, 0)..=(round, usize::MAX)).count();
        for number in [said, said + 1] {
            let pair = ["first", "second"].map(|name| there(&format!("{name} {round}-{number}")));
            assert_eq!(pair[0], pair[1]);
        }
    }
}

/// A moment up to so many milliseconds from now.
fn wait_up_to(milliseconds: u64) {
    let random = u64::try_from(Uuid::new_v4().as_u128() % 1_000_000).unwrap();
    thread::sleep(Duration::from_nanos(milliseconds * random));
}

#[test]
fn a_kill_while_the_file_is_made_leaves_one_that_opens() {
    for _ in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        let name = "processes::child_saves";
        let mut child = child::command(name, &path, "distinct 1 1").spawn().unwrap();
        child::go(&mut child);
        wait_up_to(25);
        child.kill().unwrap();
        child.wait().unwrap();
        let store = keyed::open(&path).unwrap();
        let session = store.session("check", "agent").open().unwrap();
        store.save(&session, Draft::new("k", "v")).unwrap();
        drop((session, store));
        assert_sound(&path);
    }
}

#[test]
fn a_kill_while_the_index_is_made_anew_leaves_one_that_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let store = keyed::open(&path).unwrap();
    let session = store.session("check", "agent").open().unwrap();
    let drafts = (0..500).map(|i| Draft::new(format!("k{i}"), format!("word {i}")));
    store.save_all(&session, drafts).unwrap();
    drop((session, store));
    for _ in 0..5 {
        // As an earlier release with another analysis would have left it.
        let db = keyed::raw(&path).unwrap();
        db.execute("UPDATE meta SET value = 0 WHERE name = 'analysis'", [])
            .unwrap();
        db.execute("INSERT INTO terms (terms) VALUES ('delete-all')", [])
            .unwrap();
        drop(db);
        let name = "processes::child_saves";
        let mut child = child::command(name, &path, "distinct 1 1").spawn().unwrap();
        child::go(&mut child);
        wait_up_to(400);
        child.kill().unwrap();
        child.wait().unwrap();
        drop(keyed::open(&path).unwrap());
        assert_sound(&path);
    }
}
