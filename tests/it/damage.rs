//! Every table and column of the file is damaged in turn: no panic, no error that blames this crate, and
//! what is derived from the records comes back.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;

use chrono::{DateTime, Utc};
use rusqlite::types::Value;
use rusqlite::{Connection, params};
use strandline::storage::Durability;
use strandline::{
    Classification, Draft, Error, ErrorKind, List, MemoryStore, Search, Session, audit,
};

use crate::keyed;

const KEYS: usize = 60;

fn open(path: &Path) -> Result<(MemoryStore, Vec<Session>), Error> {
    let builder = keyed::builder().durability(Durability::Normal);
    let store = builder.lineage(true).open(path)?;
    let session = |level: Classification| {
        let session = store.session(level.as_str(), "agent").taint(level);
        session.open()
    };
    let sessions = Classification::ALL.into_iter().map(session);
    let sessions = sessions.collect::<Result<_, _>>()?;
    Ok((store, sessions))
}

/// A word of letters, that no other number has.
fn word(number: usize) -> String {
    let letters = format!("{number:05}");
    let letter = |digit: u8| char::from(digit - b'0' + b'b');
    format!("w{}", letters.bytes().map(letter).collect::<String>())
}

/// A store with a row in every table, whose index has several blocks and segments.
fn fill(path: &Path) {
    let (store, sessions) = open(path).unwrap();
    for (place, session) in sessions.iter().enumerate() {
        let draft = |number: usize| {
            let words: Vec<_> = (0..20)
                .map(|w| word(number * 40 + place * 20 + w))
                .collect();
            let draft = Draft::new(format!("key {number}"), words.join(" "));
            draft.tag(format!("tag {}", number % 5))
        };
        let keys = (place * 5..KEYS - place * 5).map(draft);
        store.save_all(session, keys).unwrap();
        let again = (30..34)
            .map(|number| draft(number + 100))
            .map(|draft| draft.tag("again"));
        store.save_all(session, again.clone()).unwrap();
        store.save_all(session, again).unwrap();
        store
            .delete(session, &format!("key {}", 20 + place))
            .unwrap();
        store
            .save(
                session,
                Draft::new(format!("gone {place}"), "it is removed"),
            )
            .unwrap();
        store
            .host()
            .erase("agent", &format!("gone {place}"))
            .unwrap();
        store.search(session, Search::new(word(40 * 31))).unwrap();
    }
}

/// What the sessions find, list and get.
#[derive(Debug, PartialEq)]
struct Seen {
    found: Vec<Vec<(String, u64)>>,
    listed: Vec<(Vec<String>, Option<u64>)>,
}

fn look(store: &MemoryStore, sessions: &[Session]) -> Result<Seen, Error> {
    let (mut found, mut listed) = (Vec::new(), Vec::new());
    for session in [&sessions[0], &sessions[3]] {
        for number in (0..KEYS * 40).step_by(397) {
            let query = format!("{} key {}", word(number), word(number + 20));
            let hits = store.search(session, Search::new(query).max_results(70))?;
            let hit =
                |hit: &strandline::Hit| (hit.memory.key.as_str().to_owned(), hit.score.to_bits());
            found.push(hits.iter().map(hit).collect());
        }
        for tag in ["", "tag 1", "tag 4", "again"] {
            let list = List::new().limit(200).count();
            let list = if tag.is_empty() { list } else { list.tag(tag) };
            let page = store.list(session, list)?;
            let keys = page
                .memories
                .iter()
                .map(|memory| memory.key.as_str().to_owned());
            listed.push((keys.collect(), page.total));
        }
    }
    Ok(Seen { found, listed })
}

fn contents(store: &MemoryStore, sessions: &[Session]) -> Result<Vec<Option<String>>, Error> {
    let mut contents = Vec::new();
    for session in sessions {
        for number in 0..KEYS {
            let memory = store.get(session, &format!("key {number}"))?;
            contents.push(memory.map(|memory| memory.content));
        }
    }
    Ok(contents)
}

/// Everything else that there is to call; each may fail, but by damage.
fn call_all(store: &MemoryStore, sessions: &[Session], path: &Path) -> Vec<Error> {
    let host = store.host();
    let later: DateTime<Utc> = "2100-01-01T00:00:00Z".parse().unwrap();
    let mut out = Vec::new();
    let beside = path.with_extension("backup");
    let results: [Result<(), Error>; 20] = [
        store
            .save(
                &sessions[1],
                Draft::new("key 15", "other words").tag("tag 1"),
            )
            .map(drop),
        store
            .save(&sessions[2], Draft::new("new", "other words"))
            .map(drop),
        store.delete(&sessions[0], "key 5"),
        store.delete(&sessions[2], "key 30"),
        host.restore(&sessions[0], "key 31", 1).map(drop),
        sessions_raise(store),
        host.history("agent", "key 31").map(drop),
        host.history_page("agent", "key 31", None, 2).map(drop),
        host.audit(&audit::Query::default()).map(drop),
        host.verify(None).map(drop),
        host.export(&mut out).map(drop),
        host.export_audit(&mut Vec::new()).map(drop),
        host.import(out.as_slice()).map(drop),
        host.backup(&beside, |_| ()).map(drop),
        host.stats().map(drop),
        host.agent_stats("agent").map(drop),
        host.erase("agent", "key 40").map(drop),
        host.purge(later).map(drop),
        host.erase_session("s-other").map(drop),
        host.erase_agent("agent").map(drop),
    ];
    results.into_iter().filter_map(Result::err).collect()
}

fn sessions_raise(store: &MemoryStore) -> Result<(), Error> {
    let session = store.session("another", "agent").open()?;
    session.raise(Classification::Internal, "a reason")?;
    store.save(&session, Draft::new("raised", "text"))?;
    Ok(())
}

/// One way to damage a file.
#[derive(Clone, Debug)]
struct Damage {
    table: String,
    column: Option<String>,
    sql: String,
}

impl Damage {
    /// Does it; whether it changed anything.
    fn apply(&self, path: &Path) -> bool {
        let db = keyed::raw(path).unwrap();
        db.execute_batch("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON")
            .unwrap();
        // A constraint may keep a value out that a broken page could hold.
        matches!(db.execute(&self.sql, []), Ok(1..))
    }

    fn is_of(&self, tables: &[&str]) -> bool {
        tables.contains(&self.table.as_str())
    }

    fn is_of_column(&self, table: &str, columns: &[&str]) -> bool {
        let column = self.column.as_deref();
        self.table == table && column.is_some_and(|column| columns.contains(&column))
    }

    /// Whether memories are read from what is damaged.
    fn is_of_memories(&self) -> bool {
        let kept = self.is_of_column("records", &["doc"])
            || self.is_of_column("scopes", &["next_seq", "indexed"]);
        self.is_of(&["records", "scopes"]) && !kept
    }

    /// Whether it can be made anew from the records.
    fn is_derived(&self) -> bool {
        self.is_of(&[
            "terms_data",
            "terms_idx",
            "terms_config",
            "index_stats",
            "index_facts",
            "record_tags",
            "meta",
        ]) || self.is_of_column("scopes", &["next_seq", "indexed"])
            || self.is_of_column("records", &["doc", "shadow"])
    }

    /// Whether every search must notice it by itself.
    fn is_noticed(&self) -> bool {
        let lost =
            self.is_of(&["terms_data", "terms_idx", "terms_config"]) && self.column.is_none();
        lost || self.is_of(&["index_facts"])
            || self.is_of_column("index_stats", &["records"])
            || (self.is_of(&["index_stats"]) && self.column.is_none())
            || self.is_of_column("scopes", &["indexed"])
    }

    /// Whether nothing in the file tells that it is otherwise than it was.
    fn is_untold(&self) -> bool {
        self.is_of(&["reads", "readers", "meta"])
            || self.is_of_column(
                "records",
                &[
                    "id",
                    "created_at",
                    "updated_at",
                    "expires_at",
                    "session",
                    "lineage",
                    "ended_at",
                ],
            )
    }
}

/// Every damage there is to do.
fn damages(path: &Path) -> Vec<Damage> {
    let db = keyed::raw(path).unwrap();
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0";
    let mut select = db.prepare(sql).unwrap();
    let tables = select.query_map([], |row| row.get(0)).unwrap();
    let mut all = Vec::new();
    for table in tables.map(Result::<String, _>::unwrap) {
        of_table(&db, &table, &mut all);
    }
    all
}

fn of_table(db: &Connection, table: &str, all: &mut Vec<Damage>) {
    let sql = "SELECT name, pk FROM pragma_table_info(?1)";
    let mut select = db.prepare(sql).unwrap();
    let columns = select.query_map(params![table], |row| Ok((row.get(0)?, row.get(1)?)));
    let columns: Vec<(String, u32)> = columns.unwrap().map(Result::unwrap).collect();
    let keys: Vec<&str> = columns
        .iter()
        .filter(|(_, pk)| *pk > 0)
        .map(|(name, _)| &**name)
        .collect();
    let key = if keys.is_empty() {
        String::from("rowid")
    } else {
        keys.join(", ")
    };
    let one = |place| {
        let end = ["", " DESC"][place];
        let order: Vec<_> = key.split(", ").map(|key| format!("{key}{end}")).collect();
        format!(
            "({key}) = (SELECT {key} FROM {table} ORDER BY {} LIMIT 1)",
            order.join(", ")
        )
    };
    let rows = [String::from("true"), one(0), one(1)];
    let mut add = |column: Option<&str>, sql: String| {
        let column = column.map(str::to_owned);
        all.push(Damage {
            table: table.to_owned(),
            column,
            sql,
        });
    };
    for rows in &rows {
        add(None, format!("DELETE FROM {table} WHERE {rows}"));
    }
    for (column, _) in &columns {
        let sql = format!("SELECT {column} FROM {table} WHERE {column} IS NOT NULL LIMIT 1");
        let value = db
            .query_row(&sql, [], |row| row.get(0))
            .unwrap_or(Value::Integer(0));
        let others: &[&str] = match value {
            Value::Blob(_) => &[
                "x''",
                "zeroblob(length({}))",
                "substr({}, 1, length({}) / 2)",
            ],
            Value::Text(_) => &["''", "'[1'", "substr({}, 1, length({}) / 2)"],
            _ => &["-9223372036854775808", "9223372036854775807", "0", "-1"],
        };
        for other in others {
            let other = other.replace("{}", column);
            for rows in &rows[2..] {
                add(
                    Some(column),
                    format!(
                        "UPDATE OR IGNORE {table} SET {column} = {other}
                         WHERE {rows} AND {column} IS NOT {other}"
                    ),
                );
            }
            add(
                Some(column),
                format!(
                    "UPDATE OR IGNORE {table} SET {column} = {other} WHERE {column} IS NOT {other}"
                ),
            );
        }
    }
}

/// What was there before anything was damaged.
struct Before {
    file: PathBuf,
    seen: Seen,
    contents: Vec<Option<String>>,
}

impl Before {
    fn copy(&self, path: &Path) {
        for beside in ["db", "db-wal", "db-shm", "backup"] {
            drop(fs::remove_file(path.with_extension(beside)));
        }
        fs::copy(&self.file, path).unwrap();
    }

    /// Faults that came to light, each as a text.
    fn try_open(&self, damage: &Damage, path: &Path) -> Vec<String> {
        let mut faults = Faults::default();
        self.copy(path);
        let (store, sessions) = open(path).unwrap();
        assert_eq!(look(&store, &sessions).unwrap(), self.seen);
        if !damage.apply(path) {
            return faults.0;
        }
        let contents = contents(&store, &sessions);
        if !damage.is_of_memories() && contents.as_ref().ok() != Some(&self.contents) {
            faults.add(format!("memories are lost: {:?}", contents.as_ref().err()));
        }
        faults.note("get", contents);
        let told = faults.note("check", store.host().check());
        if !damage.is_untold() && told.is_some_and(|told| told.is_empty()) {
            faults.add("it isn't told".to_owned());
        }
        let seen = faults.note("look", look(&store, &sessions));
        if damage.is_noticed() && seen.map(|seen| seen.found) != Some(self.seen.found.clone()) {
            faults.add("it isn't noticed".to_owned());
        }
        for error in call_all(&store, &sessions, path) {
            faults.note::<()>("a call", Err(error));
        }
        faults.0
    }

    fn try_closed(&self, damage: &Damage, path: &Path) -> Vec<String> {
        let mut faults = Faults::default();
        self.copy(path);
        if !damage.apply(path) {
            return faults.0;
        }
        let Some((store, sessions)) = faults.note("open", open(path)) else {
            if !damage.is_of_memories() && !damage.is_of(&["audit", "sqlite_sequence"]) {
                faults.add(String::from("it doesn't open"));
            }
            return faults.0;
        };
        let counted = faults.note("reindex", store.host().reindex());
        let seen = faults.note("look", look(&store, &sessions));
        if damage.is_derived() {
            if counted.is_none() || seen.as_ref() != Some(&self.seen) {
                faults.add("it isn't repaired".to_owned());
            }
            let told = faults.note("check", store.host().check());
            if damage.table != "meta" && told.is_none_or(|told| !told.is_empty()) {
                faults.add("something is left".to_owned());
            }
        }
        for error in call_all(&store, &sessions, path) {
            faults.note::<()>("a call", Err(error));
        }
        faults.0
    }
}

#[derive(Default)]
struct Faults(Vec<String>);

impl Faults {
    fn add(&mut self, text: String) {
        self.0.push(text);
    }

    fn note<T>(&mut self, what: &str, result: Result<T, Error>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                if error.kind() == ErrorKind::Internal {
                    self.add(format!("{what}: {error:?}"));
                }
                None
            }
        }
    }
}

/// Those of the tables that are asked for; else what is lost whole, and a part of the rest.
fn chosen(all: Vec<Damage>) -> Vec<Damage> {
    let asked = std::env::var("STRANDLINE_DAMAGES").ok();
    let is_chosen = |(place, damage): &(usize, Damage)| match &asked {
        Some(tables) => tables.split(',').any(|table| damage.table == table),
        None => damage.sql.ends_with("true") || place % 29 == 0,
    };
    let chosen = all.into_iter().enumerate().filter(is_chosen);
    chosen.map(|(_, damage)| damage).collect()
}

#[test]
fn whatever_is_damaged_is_no_panic_and_no_bug_and_what_is_derived_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("base.db");
    fill(&file);
    let (store, sessions) = open(&file).unwrap();
    let before = Before {
        seen: look(&store, &sessions).unwrap(),
        contents: contents(&store, &sessions).unwrap(),
        file: file.clone(),
    };
    assert_eq!(store.host().check().unwrap(), []);
    drop((sessions, store));
    let all = damages(&file);
    assert!(all.len() > 300, "{}", all.len());
    let all = chosen(all);
    let (next, faults) = (Mutex::new(all.iter()), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for worker in 0..4 {
            let path = folder.path().join(format!("{worker}.db"));
            let (next, faults, before) = (&next, &faults, &before);
            scope.spawn(move || {
                loop {
                    let Some(damage) = next.lock().unwrap().next() else {
                        return;
                    };
                    let tries: [(&str, &dyn Fn() -> Vec<String>); 2] = [
                        ("open", &|| before.try_open(damage, &path)),
                        ("closed", &|| before.try_closed(damage, &path)),
                    ];
                    for (when, attempt) in tries {
                        let run = std::panic::AssertUnwindSafe(attempt);
                        let found = std::panic::catch_unwind(run);
                        let found = found.unwrap_or_else(|_| vec![String::from("a panic")]);
                        let sql = &damage.sql;
                        let found = found.iter().map(|fault| format!("{when}: {sql}: {fault}"));
                        faults.lock().unwrap().extend(found);
                    }
                }
            });
        }
    });
    let faults = faults.into_inner().unwrap();
    assert!(
        faults.is_empty(),
        "{}:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

/// Changes the records while these of their indexes, all of which have a name like this, are out of sight: they keep what
/// they were.
pub(crate) fn change_behind_the_indexes(path: &Path, like: &str, change: &str) {
    let them = format!(
        "tbl_name = 'records' AND type = 'index' AND sql IS NOT NULL AND name LIKE '{like}'"
    );
    let db = keyed::raw(path).unwrap();
    let hidden =
        format!("SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema WHERE {them}");
    let mut select = db.prepare(&hidden).unwrap();
    let row = |row: &rusqlite::Row<'_>| (0..5).map(|column| row.get::<_, Value>(column)).collect();
    let rows = select.query_map([], row).unwrap();
    let indexes: Vec<Vec<Value>> = rows.collect::<rusqlite::Result<_>>().unwrap();
    assert!(!indexes.is_empty());
    let hide = format!("PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE {them}");
    db.execute_batch(&hide).unwrap();
    let db = keyed::raw(path).unwrap();
    assert_eq!(db.execute(change, []).unwrap(), 1);
    db.execute_batch("PRAGMA writable_schema = ON").unwrap();
    let sql = "INSERT INTO sqlite_schema VALUES (?1, ?2, ?3, ?4, ?5)";
    for index in indexes {
        db.execute(sql, rusqlite::params_from_iter(index)).unwrap();
    }
}

/// A header of an unknown format once was a fault of this crate.
#[test]
fn no_byte_of_the_header_is_taken_for_a_fault_of_this_crate() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    drop(open(&path).unwrap());
    let whole = fs::read(&path).unwrap();
    let mut kinds = std::collections::BTreeSet::new();
    for (place, byte) in (16..100).flat_map(|place| [0, 1, 5, 255].map(|byte| (place, byte))) {
        let mut bytes = whole.clone();
        bytes[place] = byte;
        fs::write(&path, bytes).unwrap();
        let done = open(&path).and_then(|(store, sessions)| {
            store.save(&sessions[1], Draft::new("k", "v"))?;
            store.search(&sessions[1], Search::new("v")).map(drop)
        });
        if let Err(error) = done {
            assert_ne!(
                error.kind(),
                ErrorKind::Internal,
                "{place} {byte}: {error:?}"
            );
            kinds.insert(error.kind().code());
        }
        for ending in ["-wal", "-shm"] {
            drop(fs::remove_file(path.with_extension(format!("db{ending}"))));
        }
    }
    assert!(kinds.contains(if keyed::IS_ON { "wrong_key" } else { "corrupt" }));
}

/// What goes on from the rows that it has seen must not go round where they stay.
#[test]
fn nothing_goes_round_in_a_damaged_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    fill(&path);
    // It belongs to somebody else, but not by the indexes that lead to it.
    let moved =
        "UPDATE records SET scope = (SELECT min(id) FROM scopes WHERE namespace = 'session')
                 WHERE id = (SELECT max(id) FROM records)";
    change_behind_the_indexes(&path, "%", moved);
    let (done, ended) = std::sync::mpsc::channel();
    thread::spawn(move || {
        let store = keyed::open(&path).unwrap();
        let host = store.host();
        let found = host.check().unwrap();
        let erased = host.erase_agent("agent");
        done.send((found, erased)).unwrap();
    });
    let ended = ended.recv_timeout(std::time::Duration::from_secs(300));
    let (found, erased) = ended.expect("it goes round");
    assert_ne!(found, []);
    assert_eq!(erased.unwrap_err().kind(), ErrorKind::Corrupt);
    drop(folder);
}
