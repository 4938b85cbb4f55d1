//! Export to JSON lines, and back into any store.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use strandline::storage::{InMemory, Namespace, VersionState};
use strandline::{Classification, Draft, ErrorKind, List, Memory, MemoryStore, Search, Session};
use tempfile::TempDir;

use crate::keyed;
use crate::providers::Home;
use crate::sound::assert_sound;

/// A session at the level, named after it.
pub(crate) fn session(store: &MemoryStore, level: Classification) -> Session {
    let session = store.session(format!("at {level}"), "agent").taint(level);
    session.open().unwrap()
}

/// Keys at all levels with all states, tags, an expiry, other agents and namespaces.
pub(crate) fn fill(store: &MemoryStore) {
    let sessions = Classification::ALL.map(|level| session(store, level));
    for (place, session) in sessions.iter().enumerate() {
        let own = Draft::new(
            format!("own {place}"),
            format!("word{place} \"x\"\n\u{1F980}"),
        );
        store.save(session, own.tags(["Tag", "部署"])).unwrap();
        for content in ["first", "second"] {
            let draft = Draft::new("shared", format!("{content} at {}", session.taint()));
            store.save(session, draft.tag("both")).unwrap();
        }
        store.save(session, Draft::new("gone", "canary")).unwrap();
        if place % 2 == 0 {
            store.delete(session, "gone").unwrap();
        }
    }
    let at = "2999-01-01T00:00:00.123456789Z".parse().unwrap();
    let briefly = Draft::new("briefly", "until then").expires_at(at);
    store.save(&sessions[1], briefly).unwrap();
    let other = store.session("other", "other: agent").open().unwrap();
    store
        .save(&other, Draft::new("shared", "another agent's"))
        .unwrap();
    let todo = store.namespace(Namespace::TODO).unwrap();
    todo.save(&sessions[2], Draft::new("shared", "to do"))
        .unwrap();
    let raised = store.session("raised", "agent").open().unwrap();
    raised
        .raise(Classification::Confidential, "read the ledger")
        .unwrap();
}

pub(crate) fn exported(store: &MemoryStore) -> Vec<u8> {
    let mut file = Vec::new();
    store.host().export(&mut file).unwrap();
    file
}

/// A list, that of a tag, and what a search finds.
type Observed = (Vec<Memory>, Vec<Memory>, Vec<(Memory, f64)>);

/// What sessions of each level observe.
pub(crate) fn observed(store: &MemoryStore) -> Vec<Observed> {
    let observed = Classification::ALL.map(|level| {
        let session = session(store, level);
        let list = |list: List| store.list(&session, list).unwrap().memories;
        let hits = store
            .search(&session, Search::new("word2 second agent"))
            .unwrap();
        let hits = hits.into_iter().map(|hit| (hit.memory, hit.score));
        (
            list(List::new()),
            list(List::new().tag("tag")),
            hits.collect(),
        )
    });
    observed.into_iter().collect()
}

fn round_trip<A: Home, B: Home>() {
    let (from, to) = (A::new(), B::new());
    let old = from.open(keyed::builder());
    fill(&old);
    let expected = observed(&old);
    let file = exported(&old);
    let new = to.open(keyed::builder());
    let report = new.host().import(&file[..]).unwrap();
    assert_eq!((report.refused, report.renumbered, report.ended), (0, 0, 0));
    assert_eq!(report.problems, []);
    let lines = file.split(|&byte| byte == b'\n').count() - 1;
    let stored = report.imported + report.sessions;
    assert_eq!(stored, u64::try_from(lines).unwrap() - 1);
    assert_eq!(old.host().export(Vec::new()).unwrap(), report.imported);
    assert_eq!(exported(&new), file, "byte for byte, in its order");

    let again = new.host().import(&file[..]).unwrap();
    assert_eq!((again.imported, again.unchanged), (0, report.imported));
    assert_eq!(exported(&new), file);
    assert_eq!(observed(&new), expected);
    let history = |store: &MemoryStore| store.host().history("agent", "gone").unwrap();
    assert_eq!(history(&new), history(&old));
    let raised = new.session("raised", "agent").open().unwrap();
    assert_eq!(raised.taint(), Classification::Confidential);
    assert_eq!(raised.raises()[0].reason, "read the ledger");
    assert!(new.session("raised", "other agent").open().is_err());
}

#[test]
fn an_export_comes_back_from_each_provider_in_each() {
    round_trip::<Arc<InMemory>, Arc<InMemory>>();
    round_trip::<Arc<InMemory>, TempDir>();
    round_trip::<TempDir, Arc<InMemory>>();
    round_trip::<TempDir, TempDir>();
}

#[test]
fn an_imported_file_is_sound() {
    let (from, to) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let old = from.open(keyed::builder());
    fill(&old);
    let early = exported(&old);
    let session = session(&old, Classification::Internal);
    old.save(&session, Draft::new("own 1", "changed")).unwrap();
    old.delete(&session, "shared").unwrap();
    let new = to.open(keyed::builder());
    for file in [&early, &exported(&old), &early] {
        let report = new.host().import(&file[..]).unwrap();
        assert_eq!(report.problems, []);
    }
    assert_eq!(
        exported(&new),
        exported(&old),
        "the later of the two counts"
    );
    drop((session, new));
    assert_sound(&to.path().join("memory.db"));
}

#[test]
fn the_format_is_as_it_is_said() {
    let store = MemoryStore::open_in_memory().unwrap();
    let high = session(&store, Classification::Restricted);
    let saved = store.save(&high, Draft::new("k", "v").tag("T")).unwrap();
    store.delete(&high, "k").unwrap();
    let text = String::from_utf8(exported(&store)).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let header = serde_json::json!({"format": "strandline", "version": 1, "records": 2});
    assert_eq!(lines[0], header);
    assert_eq!(lines[1]["namespace"], "session");
    let ended_at = store.host().history("agent", "k").unwrap()[0].ended_at;
    let expected = serde_json::json!({
        "namespace": "memory", "agent": "agent", "key": "k", "classification": "RESTRICTED",
        "version": 1, "content": "v", "tags": ["T"], "created_at": saved.created_at,
        "updated_at": saved.updated_at, "expires_at": null, "session": "at RESTRICTED",
        "lineage_id": saved.lineage_id, "state": "deleted", "ended_at": ended_at,
    });
    assert_eq!(lines[2], expected);
    assert_eq!(lines.len(), 3);
}

#[test]
fn a_sessions_own_export_holds_what_it_sees() {
    let store = MemoryStore::open_in_memory().unwrap();
    fill(&store);
    for level in Classification::ALL {
        let session = session(&store, level);
        let mut file = Vec::new();
        let count = store.export(&session, &mut file).unwrap();
        let new = MemoryStore::open_in_memory().unwrap();
        let report = new.host().import(&file[..]).unwrap();
        assert_eq!((report.imported, report.problems.len()), (count, 0));
        let seen = store.list(&session, List::new()).unwrap().memories;
        assert_eq!(count, u64::try_from(seen.len()).unwrap());
        let reader = self::session(&new, level);
        assert_eq!(new.list(&reader, List::new()).unwrap().memories, seen);
        let text = String::from_utf8(file).unwrap();
        let higher = Classification::ALL
            .into_iter()
            .filter(|&other| other > level);
        for higher in higher {
            assert!(
                !text.contains(&format!("at {higher}")),
                "{level} has {higher}"
            );
        }
    }
    let high = session(&store, Classification::Restricted);
    let many = (0..250).map(|place| Draft::new(format!("many {place}"), "v"));
    store.save_all(&high, many).unwrap();
    assert!(store.export(&high, Vec::new()).unwrap() > 250);
}

#[test]
fn an_exported_file_is_its_owners_only_and_takes_the_place_of_another() {
    let folder = tempfile::tempdir().unwrap();
    let store = keyed::open(folder.path().join("memory.db")).unwrap();
    fill(&store);
    let path = folder.path().join("export.jsonl");
    fs::write(&path, "an older one").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let count = store.host().export_to(&path).unwrap();
    let text = fs::read(&path).unwrap();
    assert_eq!(text, exported(&store));
    assert!(count > 15);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    let names = fs::read_dir(folder.path()).unwrap();
    let partial = |name: String| name.contains("partial");
    let left =
        names.filter(|entry| partial(entry.as_ref().unwrap().file_name().into_string().unwrap()));
    assert_eq!(left.count(), 0);
}

#[test]
fn an_export_replaces_no_database() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let store = keyed::open(&path).unwrap();
    fill(&store);
    let refused = |store: &MemoryStore| store.host().export_to(&path).unwrap_err().kind();
    assert_eq!(refused(&store), strandline::ErrorKind::AlreadyExists);
    drop(store);
    let other = MemoryStore::open_in_memory().unwrap();
    assert_eq!(refused(&other), strandline::ErrorKind::AlreadyExists);
    assert_sound(&path);
}

/// Whatever takes a path to write to, beside a store that is open and has a WAL.
#[test]
fn nothing_is_written_over_what_belongs_to_a_database() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let store = keyed::open(&path).unwrap();
    fill(&store);
    let before = exported(&store);
    fs::create_dir(folder.path().join("sub")).unwrap();
    std::os::unix::fs::symlink(folder.path(), folder.path().join("sub/link")).unwrap();
    let other = MemoryStore::open_in_memory().unwrap();
    let copy = folder.path().join("copy.db");
    store.host().backup(&copy, |_| ()).unwrap();
    for name in [
        "memory.db",
        "memory.db-wal",
        "memory.db-shm",
        "memory.db-journal",
        "memory.db-WAL",
        "sub/../memory.db-wal",
        "sub/link/memory.db-wal",
    ] {
        let target = folder.path().join(name);
        for store in [&store, &other] {
            let host = store.host();
            let results = [
                host.export_to(&target).map(drop),
                host.export_audit_to(&target).map(drop),
            ];
            for result in results {
                assert_eq!(
                    result.unwrap_err().kind(),
                    ErrorKind::AlreadyExists,
                    "{name}"
                );
            }
        }
        let kinds = [ErrorKind::AlreadyExists, ErrorKind::Busy];
        let backup = store.host().backup(&target, |_| ()).unwrap_err().kind();
        let restored = keyed::restore_backup(&copy, &target).unwrap_err().kind();
        assert!(
            kinds.contains(&backup) && kinds.contains(&restored),
            "{name}"
        );
        if name != "memory.db" {
            let opened = keyed::open(&target).unwrap_err().kind();
            assert_eq!(opened, ErrorKind::AlreadyExists, "{name}");
        }
    }
    let locks = crate::files::locks(&path);
    // By any name, and without opening the file, at which SQLite's locks on it would go.
    for name in ["hard", "soft"] {
        let alias = folder.path().join(name);
        match name {
            "hard" => fs::hard_link(&path, &alias).unwrap(),
            _ => std::os::unix::fs::symlink(&path, &alias).unwrap(),
        }
        let error = store.host().export_to(&alias).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists, "{name}");
        let error = keyed::restore_backup(&alias, folder.path().join("new.db")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotAStore, "{name}");
        assert_eq!(crate::files::locks(&path), locks, "{name}");
        fs::remove_file(&alias).unwrap();
    }
    assert_eq!(exported(&store), before);
    drop(store);
    assert_eq!(exported(&keyed::open(&path).unwrap()), before);
    assert_sound(&path);

    // Such a name that belongs to no database is one like any other.
    let free = folder.path().join("notes-wal");
    assert!(other.host().export_to(&free).is_ok());
}

/// Saves whenever something is written.
struct Saving<'s>(&'s MemoryStore, &'s Session, Vec<u8>);
impl std::io::Write for Saving<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.2.extend_from_slice(bytes);
        self.0.save(self.1, Draft::new("k49", "after")).unwrap();
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn what_is_exported_is_of_one_moment() {
    let folder = tempfile::tempdir().unwrap();
    let store = keyed::open(folder.path().join("memory.db")).unwrap();
    let session = session(&store, Classification::Public);
    let drafts = (0..50).map(|place| Draft::new(format!("k{place}"), "before"));
    store.save_all(&session, drafts).unwrap();

    let mut writer = Saving(&store, &session, Vec::new());
    assert_eq!(store.host().export(&mut writer).unwrap(), 50);
    let file = writer.2;
    assert!(store.host().history("agent", "k49").unwrap().len() > 1);
    let new = MemoryStore::open_in_memory().unwrap();
    assert_eq!(new.host().import(&file[..]).unwrap().problems, []);
    let history = new.host().history("agent", "k49").unwrap();
    assert_eq!(history.len(), 1);
    assert_eq!(history[0].state, VersionState::Live);
    assert_eq!(history[0].memory.content, "before");
}

#[test]
fn a_writer_that_fails_is_an_error() {
    let store = MemoryStore::open_in_memory().unwrap();
    fill(&store);
    let mut small = [0_u8; 100];
    let error = store.host().export(&mut small[..]).unwrap_err();
    assert_eq!(error.kind(), strandline::ErrorKind::Io);
    let session = session(&store, Classification::Public);
    let error = store.export(&session, &mut small[..]).unwrap_err();
    assert_eq!(error.kind(), strandline::ErrorKind::Io);
}
