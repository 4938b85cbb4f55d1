//! A loss of power, at every sync of a workload and between: images of what the disk may then hold.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use strandline::audit::Verification;
use strandline::search::analysis::Language;
use strandline::storage::{Durability, VersionState};
use strandline::{Classification, Draft, MemoryStore, Session, StoreBuilder};

use crate::keyed;
use crate::sound::{assert_sound, language};
use crate::{child, disk};

const ROUNDS: usize = 10;

fn open(path: &Path, durability: Durability) -> (MemoryStore, Session) {
    open_by(keyed::builder().durability(durability), path)
}

fn open_by(builder: StoreBuilder, path: &Path) -> (MemoryStore, Session) {
    let store = builder.open(path).unwrap();
    let session = store
        .session("s", "agent")
        .taint(Classification::Internal)
        .open()
        .unwrap();
    (store, session)
}

pub(crate) fn open_full(path: &Path) -> (MemoryStore, Session) {
    open(path, Durability::Full)
}

pub(crate) fn draft(key: &str, round: usize) -> Draft {
    let text = format!("number {round} of many, {}", "some words ".repeat(50));
    Draft::new(format!("{key} {round}"), text).tag("Some tag")
}

/// An export of two memories, of which one has ended.
pub(crate) fn export(round: usize) -> String {
    let mut lines = String::from("{\"format\":\"strandline\",\"version\":1}\n");
    for version in 1..=2 {
        let ended = (version == 1).then_some("2026-01-02T00:00:00Z");
        let line = serde_json::json!({
            "namespace": "memory", "agent": "agent", "key": format!("imported {round}"),
            "classification": "INTERNAL", "version": version, "content": "some words of elsewhere",
            "tags": ["Some tag"], "created_at": "2026-01-01T00:00:00Z",
            "updated_at": format!("2026-01-0{version}T00:00:00Z"), "expires_at": null,
            "session": "elsewhere", "lineage_id": uuid::Uuid::new_v4(),
            "state": if ended.is_some() { "superseded" } else { "live" }, "ended_at": ended,
        });
        lines.push_str(&line.to_string());
        lines.push('\n');
    }
    lines
}

/// The language that the file is set to in a round; no two rounds have the same.
fn language_in(round: usize) -> Language {
    if round < 4 {
        Language::German
    } else {
        Language::Hungarian
    }
}

/// Of what one agent has, removes all that has ended, which is one key.
pub(crate) fn purge(store: &MemoryStore, round: usize) -> strandline::Result<()> {
    let session = store.session("another's", "tidy").open()?;
    store.save(&session, draft("purged", round))?;
    store.delete(&session, &format!("purged {round}"))?;
    let later = "2100-01-01T00:00:00Z".parse().unwrap();
    assert_eq!(store.host().purge_agent("tidy", later)?.versions, 1);
    Ok(())
}

#[test]
#[ignore = "run by other tests in a process of its own"]
fn child_works() {
    let Some((path, argument)) = child::arguments() else {
        return;
    };
    let durability = match argument.as_str() {
        "full" => Durability::Full,
        _ => Durability::Normal,
    };
    let (mut store, mut session) = open(&path, durability);
    let said = |what: &str, round: usize| {
        disk::tell(&format!("mark/{what} {round}"));
    };
    for round in 0..ROUNDS {
        store.save(&session, draft("own", round)).unwrap();
        said("own", round);
        let shared = Draft::new("shared", format!("number {round}"));
        store.save(&session, shared).unwrap();
        said("shared", round);
        let pair = ["first", "second"].map(|key| draft(key, round));
        store.save_all(&session, pair).unwrap();
        said("pair", round);
        store.delete(&session, &format!("second {round}")).unwrap();
        said("delete", round);
        match round % 4 {
            0 => {
                store.save(&session, draft("erased", round)).unwrap();
                let erased = store.host().erase("agent", &format!("erased {round}"));
                assert_eq!(erased.unwrap().versions, 1);
                said("erase", round);
                purge(&store, round).unwrap();
                said("purge", round);
            }
            1 => {
                // The WAL begins anew, over its old frames.
                checkpoint(&path, durability);
                let lines = export(round);
                let report = store.host().import(lines.as_bytes()).unwrap();
                assert_eq!(report.imported, 2);
                said("import", round);
            }
            2 => {
                let copy = path.with_file_name(format!("copy-{round}"));
                store.host().backup(&copy, |_| ()).unwrap();
                said("backup", round);
                keyed::encrypt_anew(&copy).unwrap();
            }
            3 => {
                drop((session, store));
                let builder = keyed::builder().durability(durability);
                (store, session) = open_by(builder.language(language_in(round)), &path);
                said("language", round);
            }
            _ => (),
        }
    }
}

fn checkpoint(path: &Path, durability: Durability) {
    let db = keyed::raw(path).unwrap();
    let level = if durability == Durability::Full { 2 } else { 1 };
    db.pragma_update(None, "synchronous", level).unwrap();
    db.query_row("PRAGMA wal_checkpoint(RESTART)", [], |_| Ok(()))
        .unwrap();
}

/// What was done to the disk.
enum Act {
    Make(String),
    Write(String, usize, Vec<u8>),
    Cut(String, usize),
    Sync(String),
    Remove(String),
    Link(String, String),
    Rename(String, String),
    Mark(String),
}

fn acts(mut log: &[u8], folder: &Path) -> Vec<Act> {
    let mut acts = Vec::new();
    let name = |path: &str| {
        let path = Path::new(path).strip_prefix(folder);
        path.map_or(String::new(), |name| name.to_str().unwrap().to_owned())
    };
    while !log.is_empty() {
        let end = log.iter().position(|byte| *byte == b'\n').unwrap();
        let line = std::str::from_utf8(&log[..end]).unwrap();
        log = &log[end + 1..];
        let parts: Vec<&str> = line.splitn(4, ' ').collect();
        let (a, b): (usize, usize) = (parts[1].parse().unwrap(), parts[2].parse().unwrap());
        let path = name(parts[3]);
        let two = || {
            let (from, to) = parts[3].split_once('\t').unwrap();
            (name(from), name(to))
        };
        acts.push(match parts[0] {
            "O" => Act::Make(path),
            "W" => {
                let (data, rest) = log.split_at(b);
                log = rest;
                Act::Write(path, a, data.to_vec())
            }
            "T" => Act::Cut(path, a),
            "S" => Act::Sync(path),
            "U" => Act::Remove(path),
            "L" => Act::Link(two().0, two().1),
            "R" => Act::Rename(two().0, two().1),
            "M" => Act::Mark(parts[3].to_owned()),
            other => panic!("{other}"),
        });
    }
    acts
}

/// A change of a file that isn't synced yet.
enum Change {
    Write(usize, Vec<u8>),
    Cut(usize),
}

impl Change {
    fn apply(&self, file: &mut Vec<u8>) {
        match self {
            Self::Cut(size) => file.resize(*size, 0),
            Self::Write(at, data) => {
                file.resize(file.len().max(at + data.len()), 0);
                file[*at..at + data.len()].copy_from_slice(data);
            }
        }
    }
}

/// A disk of one folder: what is safe, and what isn't yet.
#[derive(Default)]
struct Disk {
    files: Vec<(Vec<u8>, Vec<Change>)>,
    names: BTreeMap<String, usize>,
    /// The names as of the folder's last sync, and each state of them since.
    safe: BTreeMap<String, usize>,
    since: Vec<BTreeMap<String, usize>>,
}

impl Disk {
    fn act(&mut self, act: &Act) {
        match act {
            Act::Make(name) => {
                self.files.push(Default::default());
                self.names.insert(name.clone(), self.files.len() - 1);
            }
            Act::Write(name, at, data) => self.change(name, Change::Write(*at, data.clone())),
            Act::Cut(name, size) => self.change(name, Change::Cut(*size)),
            Act::Sync(name) if name.is_empty() => {
                self.safe = self.names.clone();
                self.since.clear();
            }
            Act::Sync(name) => {
                if let Some(file) = self.names.get(name) {
                    let (safe, changes) = &mut self.files[*file];
                    changes.drain(..).for_each(|change| change.apply(safe));
                }
            }
            Act::Remove(name) => drop(self.names.remove(name)),
            Act::Link(from, to) => drop(self.names.insert(to.clone(), self.names[from])),
            Act::Rename(from, to) => {
                let file = self.names.remove(from).unwrap();
                self.names.insert(to.clone(), file);
            }
            Act::Mark(_) => (),
        }
        if matches!(
            act,
            Act::Make(_) | Act::Remove(_) | Act::Link(..) | Act::Rename(..)
        ) {
            self.since.push(self.names.clone());
        }
    }

    fn change(&mut self, name: &str, change: Change) {
        if let Some(file) = self.names.get(name) {
            self.files[*file].1.push(change);
        }
    }

    /// What a loss of power now may leave, written into a folder.
    fn image(&self, kind: Kind, random: &mut Random, folder: &Path) {
        let names = match kind {
            Kind::Dropped => &self.safe,
            Kind::Kept => &self.names,
            _ => match random.below(self.since.len() + 1) {
                0 => &self.safe,
                n => &self.since[n - 1],
            },
        };
        for (name, file) in names {
            let (safe, changes) = &self.files[*file];
            let mut bytes = safe.clone();
            let last = random.below(changes.len() + 1);
            for (number, change) in changes.iter().enumerate() {
                match kind {
                    Kind::Kept => change.apply(&mut bytes),
                    Kind::Cut if number < last => change.apply(&mut bytes),
                    Kind::Dropped | Kind::Cut => (),
                    Kind::Torn(sector) => torn(change, sector, random, &mut bytes),
                }
            }
            fs::write(folder.join(name), bytes).unwrap();
        }
    }
}

/// Applies some of the change's sectors, each with an even chance: also a later one without an earlier.
fn torn(change: &Change, sector: usize, random: &mut Random, bytes: &mut Vec<u8>) {
    let Change::Write(at, data) = change else {
        if random.below(2) == 0 {
            change.apply(bytes);
        }
        return;
    };
    let mut from = 0;
    while from < data.len() {
        let next = ((at + from) / sector + 1) * sector - at;
        let to = next.min(data.len());
        if random.below(2) == 0 {
            Change::Write(at + from, data[from..to].to_vec()).apply(bytes);
        }
        from = to;
    }
}

#[derive(Clone, Copy)]
enum Kind {
    /// Nothing that isn't synced is there.
    Dropped,
    /// All is.
    Kept,
    /// The first so many changes of each file are.
    Cut,
    /// Any sectors of any changes are.
    Torn(usize),
}

const KINDS: [Kind; 5] = [
    Kind::Dropped,
    Kind::Kept,
    Kind::Cut,
    Kind::Torn(512),
    Kind::Torn(4096),
];

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }
}

/// Runs the workload on a watched disk. What it did.
fn recorded(durability: &str) -> Vec<Act> {
    let (tools, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let log = tools.path().join("log");
    let path = folder.path().join("memory.db");
    let mut command = child::command("power::child_works", &path, durability);
    disk::watched(&mut command, tools.path(), folder.path(), Some(&log));
    child::run_all([command]);
    let mut acts = acts(&fs::read(log).unwrap(), folder.path());
    acts.retain(|act| !matches!(act, Act::Make(n) | Act::Write(n, ..) | Act::Cut(n, _) | Act::Remove(n) | Act::Sync(n) if n.ends_with("-shm")));
    acts
}

/// Fails unless the store is whole. How many acknowledged acts it doesn't know of.
pub(crate) fn lost(folder: &Path, said: &BTreeSet<String>) -> usize {
    let path = folder.join("memory.db");
    let (store, session) = open(&path, Durability::Full);
    let host = store.host();
    assert!(matches!(host.verify(None).unwrap(), Verification::Sound(_)));
    let has = |key: &str, round: usize| {
        let key = format!("{key} {round}");
        !host.history("agent", &key).unwrap().is_empty()
    };
    for round in 0..ROUNDS {
        assert_eq!(has("first", round), has("second", round), "half a batch");
    }
    for round in 0..ROUNDS {
        let imported = host.history("agent", &format!("imported {round}"));
        assert!([0, 2].contains(&imported.unwrap().len()), "half an import");
    }
    let shared = host.history("agent", "shared").unwrap();
    let is_there = |said: &str| {
        let (what, round) = said.split_once(' ').unwrap();
        let round: usize = round.parse().unwrap();
        let second = || host.history("agent", &format!("second {round}")).unwrap();
        match what {
            "own" => store
                .get(&session, &format!("own {round}"))
                .unwrap()
                .is_some(),
            "shared" => {
                let text = format!("number {round}");
                shared.iter().any(|version| version.memory.content == text)
            }
            "pair" => has("second", round),
            "delete" => second()
                .first()
                .is_some_and(|v| v.state == VersionState::Deleted),
            "erase" => !has("erased", round),
            "purge" => {
                let key = format!("purged {round}");
                host.history("tidy", &key).unwrap().is_empty()
            }
            "import" => has("imported", round),
            "language" => {
                let now = language(&keyed::raw(&path).unwrap());
                now == language_in(round) || now == language_in(round + 4)
            }
            _ => is_backup_whole(&folder.join(format!("copy-{round}"))),
        }
    };
    let lost = said.iter().filter(|said| !is_there(said)).count();
    drop((session, host, store));
    assert_sound(&path);
    lost
}

fn is_backup_whole(path: &Path) -> bool {
    if path.exists() {
        assert_sound(path);
    }
    path.exists()
}

/// Loses power at each sync, before and after it, and at some acts between. The images, and how many
/// acknowledged acts each lost; `None` where it wasn't whole.
fn lose_power(acts: &[Act], are_syncs_done: bool) -> Vec<Option<usize>> {
    let (mut disk, mut said, mut random) = (Disk::default(), BTreeSet::new(), Random(7));
    let mut images = Vec::new();
    for act in acts {
        let is_sync = matches!(act, Act::Sync(_));
        if is_sync || random.below(40) == 0 {
            for kind in KINDS {
                let folder = tempfile::tempdir().unwrap();
                disk.image(kind, &mut random, folder.path());
                let check = AssertUnwindSafe(|| lost(folder.path(), &said));
                images.push(catch_unwind(check).ok());
            }
        }
        if let Act::Mark(what) = act {
            said.insert(what.clone());
        }
        if are_syncs_done || !is_sync {
            disk.act(act);
        }
    }
    images
}

#[test]
fn a_loss_of_power_loses_nothing_that_was_acknowledged() {
    let acts = recorded("full");
    let began = std::time::Instant::now();
    let images = lose_power(&acts, true);
    eprintln!(
        "{} acts, {} images, {:?}",
        acts.len(),
        images.len(),
        began.elapsed()
    );
    assert!(images.len() > 300);
    assert!(images.iter().all(|lost| *lost == Some(0)), "{images:?}");
}

#[test]
fn without_full_durability_the_last_saves_go_and_the_file_is_whole() {
    let images = lose_power(&recorded("normal"), true);
    assert!(images.iter().all(Option::is_some), "{images:?}");
    assert!(images.iter().any(|lost| *lost > Some(0)));
}

#[test]
fn a_disk_that_never_syncs_would_be_noticed() {
    let images = lose_power(&recorded("full"), false);
    assert!(images.iter().any(|lost| *lost != Some(0)));
    assert!(images.iter().any(Option::is_none));
}
