//! A store's file with some of its bytes changed: it is opened, used by every verb, checked, exported and repaired.
//!
//! No damage is a panic, a hang or a fault of the crate; and none shows a record above a session's level, or
//! to another agent, as long as the pages that say whose and how high it is are whole. Nothing guards those
//! themselves: whoever can write the file can change a level in it.
//!
//! Input: patches of four bytes, a place and a value. With the highest bit of the place set it counts the bytes
//! that aren't zero.
#![no_main]

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use chrono::{DateTime, Utc};
use libfuzzer_sys::fuzz_target;
use rusqlite::{Connection, OpenFlags};
use strandline::lineage::{Trace, VersionId};
use strandline::storage::Namespace;
use strandline::tools::Persona;
use strandline::{
    Classification, Draft, Error, ErrorKind, List, Memory, MemoryStore, Result, Search, Session,
    audit,
};
use strandline_fuzz::{builder, folder, seeds};

const FILE: &[u8] = include_bytes!("../../fixtures/v1.db");
const PAGE: usize = 4_096;
const AGENTS: [&str; 2] = ["agent", "other agent"];
const KEYS: [&str; 6] = [
    "user-name",
    "secret",
    "ledger",
    "briefly",
    "部署",
    "deleted",
];
const QUERY: &str = "the combination, ledger, until noon, doubloons, Ada, Charles 部署";

/// A record of the file, and who may see its content.
struct Known {
    agent: String,
    level: Classification,
    content: String,
}

struct Seed {
    /// Where the bytes are that aren't zero.
    filled: Vec<usize>,
    records: Vec<Known>,
    /// The pages that say what the tables are, whose each scope is, and what each record holds.
    authority: BTreeSet<usize>,
}

static SEED: LazyLock<Seed> = LazyLock::new(|| {
    let folder = folder();
    let path = folder.path().join("seed.db");
    std::fs::write(&path, FILE).expect("the file can be written");
    let db = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY);
    let records = records(&db.expect("the seed opens"));
    let filled = (0..FILE.len()).filter(|place| FILE[*place] != 0).collect();
    Seed {
        filled,
        authority: authority(&path, &records),
        records,
    }
});

fn records(db: &Connection) -> Vec<Known> {
    let sql = "SELECT s.agent, r.level, r.content FROM records r JOIN scopes s ON s.id = r.scope
        WHERE s.namespace = 'memory'";
    let mut select = db.prepare(sql).expect("it is SQL");
    let known = |row: &rusqlite::Row<'_>| {
        Ok(Known {
            agent: row.get(0)?,
            level: Classification::ALL[usize::from(row.get::<_, u8>(1)?)],
            content: row.get(2)?,
        })
    };
    let found = select.query_map([], known).expect("it runs");
    found.collect::<rusqlite::Result<_>>().expect("each row")
}

fn authority(path: &Path, records: &[Known]) -> BTreeSet<usize> {
    let db = Connection::open(path).expect("the seed opens");
    let sql = "SELECT rootpage FROM sqlite_master WHERE tbl_name IN ('records', 'scopes')";
    let mut select = db.prepare(sql).expect("it is SQL");
    let roots = select
        .query_map([], |row| row.get::<_, u32>(0))
        .expect("it runs");
    let roots = roots.map(|root| root.expect("a page") as usize - 1);
    // A text is in its record and nowhere else but in what is derived from it, which does no harm here.
    let texts = records.iter().flat_map(|known| {
        let text = known.content.as_bytes();
        FILE.windows(text.len())
            .enumerate()
            .filter(move |(_, bytes)| *bytes == text)
    });
    let texts = texts.map(|(place, _)| place / PAGE);
    roots.chain(texts).chain([0]).collect()
}

/// The damaged file, and whether all of its authority is whole.
fn damaged(data: &[u8]) -> (Vec<u8>, bool) {
    let (mut file, mut is_whole) = (FILE.to_vec(), true);
    for patch in data.chunks_exact(4).take(64) {
        let place =
            usize::from(patch[0] & 0x7f) << 16 | usize::from(patch[1]) << 8 | usize::from(patch[2]);
        let place = if patch[0] & 0x80 == 0 {
            place % file.len()
        } else {
            SEED.filled[place % SEED.filled.len()]
        };
        is_whole &= file[place] == patch[3] || !SEED.authority.contains(&(place / PAGE));
        file[place] = patch[3];
    }
    (file, is_whole)
}

/// The value, or nothing where the file doesn't let it be read.
fn read<T>(result: Result<T>) -> Option<T> {
    let known = |error: &Error| {
        use ErrorKind::*;
        matches!(
            error.kind(),
            Corrupt
                | NotAStore
                // Without its first page a file may be an encrypted one.
                | WrongKey
                | NewerVersion
                | NotFound
                | WrongLevel
                | SessionMismatch
                | CeilingExceeded
                | InvalidArgument
        )
    };
    // Where the tables of the index are damaged, SQLite says it of the statement and not of the file.
    let of_index = |error: &Error| {
        error.kind() == ErrorKind::Internal
            && error.to_string() == "SQLite refused a statement of this crate"
    };
    result
        .inspect_err(|error| assert!(known(error) || of_index(error), "{error:?}"))
        .ok()
}

struct Visit<'s> {
    store: &'s MemoryStore,
    session: Session,
    is_whole: bool,
}

impl Visit<'_> {
    fn see<'m>(&self, memories: impl IntoIterator<Item = &'m Memory>) {
        for memory in memories {
            assert!(
                memory.classification <= self.session.taint(),
                "above the taint"
            );
            assert_eq!(&memory.agent, self.session.agent(), "another agent's");
            self.see_text(&memory.content);
        }
    }

    fn see_text(&self, text: &str) {
        let (agent, taint) = (self.session.agent().as_str(), self.session.taint());
        let may = |known: &&Known| known.agent == agent && known.level <= taint;
        let mut secret = SEED.records.iter().filter(|known| !may(known));
        // "Ada" is a part of other texts, which may be seen.
        let found = secret.any(|known| known.content.len() > 6 && text.contains(&known.content));
        assert!(
            !self.is_whole || !found,
            "a text above the session, out of whole pages"
        );
    }

    fn read(&self) {
        let (store, session) = (self.store, &self.session);
        for key in KEYS {
            self.see(read(store.get(session, key)).iter().flatten());
        }
        let search = Search::new(QUERY).max_results(20).explain();
        let hits = read(store.search(session, search)).unwrap_or_default();
        self.see(hits.iter().map(|hit| &hit.memory));
        for list in [List::new().count(), List::new().tag("persona").limit(1)] {
            let page = read(store.list(session, list));
            self.see(page.iter().flat_map(|page| &page.memories));
        }
        let mut file = Vec::new();
        read(store.export(session, &mut file));
        self.see_text(&String::from_utf8_lossy(&file));
        if let Some(section) = read(Persona::new().load(store, session)) {
            self.see_text(&section.text);
        }
    }

    fn write(&self) {
        let (store, session) = (self.store, &self.session);
        let draft = Draft::new("briefly", "until one").tag("persona");
        if let Some(saved) = read(store.save(session, draft)) {
            self.see([&saved]);
        }
        read(store.delete(session, "user-name"));
        if let Some(restored) = read(store.host().restore(session, "briefly", 1)) {
            self.see([&restored]);
        }
        let taint = session.taint();
        read(session.raise(Classification::Confidential, "to see more"));
        assert!(session.taint() >= taint, "a taint that fell");
    }
}

fn visit(store: &MemoryStore, is_whole: bool) {
    for agent in AGENTS {
        for level in [Classification::Public, Classification::Internal] {
            let id = format!("new {agent} {}", level.as_str());
            if let Some(session) = read(store.session(id, agent).taint(level).open()) {
                Visit {
                    store,
                    session,
                    is_whole,
                }
                .read();
            }
        }
    }
    for id in ["at PUBLIC", "raised"] {
        if let Some(session) = read(store.session(id, "agent").open()) {
            let visit = Visit {
                store,
                session,
                is_whole,
            };
            visit.read();
            visit.write();
            visit.read();
        }
    }
}

fn keep(store: &MemoryStore) {
    let host = store.host();
    read(host.check());
    read(host.verify(None));
    read(host.stats());
    read(host.audit(&audit::Query::default()));
    read(host.export_audit(Vec::new()));
    read(host.export(Vec::new()));
    for version in read(host.history("agent", "user-name")).unwrap_or_default() {
        let id = VersionId::of(Namespace::MEMORY, &version.memory);
        read(host.why(&id));
        read(host.derived_from(&id, &Trace::default()));
        read(host.derived_into(&id, &Trace::default()));
    }
}

fn end(store: &MemoryStore, backup: &Path) {
    let host = store.host();
    read(host.reindex());
    read(host.check());
    read(host.backup(backup, |_| ()));
    read(host.erase("agent", "secret"));
    read(host.erase_agent("other agent"));
    read(host.purge(DateTime::<Utc>::MAX_UTC));
    read(host.check());
}

fn run(data: &[u8]) {
    let (file, is_whole) = damaged(data);
    let folder = folder();
    let path = folder.path().join("memory.db");
    std::fs::write(&path, file).expect("the file can be written");
    for round in 0..2 {
        let opened = builder()
            .busy_timeout(Duration::from_millis(50))
            .open(&path);
        let Some(store) = read(opened) else {
            return;
        };
        visit(&store, is_whole);
        keep(&store);
        end(&store, &folder.path().join(format!("backup {round}.db")));
    }
}

fn first_inputs() -> Vec<Vec<u8>> {
    let mut seeds = vec![Vec::new()];
    for page in 0..FILE.len() / PAGE {
        let patch = |place: usize, value: u8| {
            let place = u32::try_from(page * PAGE + place)
                .expect("a small file")
                .to_be_bytes();
            [place[1], place[2], place[3], value]
        };
        seeds.push([patch(0, 13), patch(4, 255), patch(9, 1)].concat());
        seeds.push(patch(PAGE - 5, 200).to_vec());
    }
    seeds
}

fuzz_target!(init: seeds(first_inputs), |data: &[u8]| run(data));
