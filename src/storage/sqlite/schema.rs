//! The tables, and how a file comes to have them.
//!
//! `PRAGMA user_version` counts the migrations that a file has been through. Each runs in a
//! transaction of its own together with the new number, so a file is always at a whole version, and
//! processes that open it at once run each migration once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use rusqlite::{Connection, TransactionBehavior, params};

use super::index::State;
use super::watch::facts;
use super::{open, reindex};
use crate::error::{Error, ErrorKind, Result};
use crate::search::analysis::{self, Language};

/// Marks the file as ours: `STRL`.
pub(super) const APPLICATION_ID: u32 = 0x5354_524C;

/// One script for each version, in order. Never change one that was released; add another.
const MIGRATIONS: [&str; 1] = [V1];

/// The version that this release reads and writes.
pub(super) const VERSION: u32 = 1;
const _: () = assert!(MIGRATIONS.len() == VERSION as usize);

macro_rules! terms_table {
    () => {
        r#"
CREATE VIRTUAL TABLE terms USING fts5 (
    term, content = '', columnsize = 0, detail = none,
    tokenize = "ascii tokenchars '_-.@+#/:&$%'"
);
INSERT INTO terms (terms, rank) VALUES ('secure-delete', 1);
INSERT INTO terms (terms, rank) VALUES ('automerge', 2);
"#
    };
}

/// - `meta` has numbers of the whole file: those of `reindex` and of `erase`, and as `language` the two
///   letters of its code, the first one times 256.
/// - A *scope* is one agent's records in one namespace; `indexed` is the sum of its `index_stats`.
/// - A record's `state` is 0 live, 1 superseded, 2 deleted. `shadow` is the next higher level at
///   which its key is live, 4 if there is none. Both `shadow` and `doc` (see `layout`) are
///   kept up for live records only.
/// - `tags` is a JSON array; `record_tags` has the folded tags of live records.
/// - `terms` is an inverted index of live records and nothing else, of all or (see `reindex`) of those
///   up to an id. It stores no text, no positions and no sizes. Its tokenizer takes a term of the
///   analysis as it is.
/// - `removed_versions` has the highest number that a key had at a level, where its version was removed.
/// - `index_stats` counts what `terms` holds, by scope and slot.
/// - `index_facts` is one row of what there must be in the tables of `terms` (see `watch`).
/// - `audit` is the chain that the module `audit` describes. SQLite keeps the highest number ever given
///   in `sqlite_sequence`, so a lost end shows.
/// - `reads` has, of each session and version, after which entry of the audit the one first read the
///   other. `record` is an id of `records`, whose row may be gone.
const V1: &str = concat!(
    r#"
CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE scopes (
    id        INTEGER PRIMARY KEY,
    namespace TEXT NOT NULL,
    agent     TEXT NOT NULL,
    next_seq  INTEGER NOT NULL DEFAULT 0,
    indexed   INTEGER NOT NULL DEFAULT 0,
    UNIQUE (namespace, agent)
) STRICT;

CREATE TABLE records (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    scope      INTEGER NOT NULL REFERENCES scopes (id),
    level      INTEGER NOT NULL CHECK (level BETWEEN 0 AND 3),
    key        TEXT    NOT NULL,
    version    INTEGER NOT NULL CHECK (version > 0),
    content    TEXT    NOT NULL,
    tags       TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    expires_at INTEGER,
    session    TEXT    NOT NULL,
    lineage    BLOB    NOT NULL,
    state      INTEGER NOT NULL CHECK (state BETWEEN 0 AND 2),
    ended_at   INTEGER,
    shadow     INTEGER NOT NULL CHECK (shadow BETWEEN 1 AND 4),
    doc        INTEGER CHECK ((doc IS NOT NULL) = (state = 0))
) STRICT;
CREATE UNIQUE INDEX records_version ON records (scope, key, level, version);
CREATE UNIQUE INDEX records_live ON records (scope, key, level) WHERE state = 0;
CREATE UNIQUE INDEX records_doc ON records (doc) WHERE doc IS NOT NULL;
CREATE INDEX records_lineage ON records (lineage);
CREATE INDEX records_session ON records (scope, session, id) WHERE state = 0;
CREATE INDEX records_expiry ON records (scope, expires_at)
    WHERE state = 0 AND expires_at IS NOT NULL;

CREATE TABLE record_tags (
    scope  INTEGER NOT NULL,
    tag    TEXT    NOT NULL,
    key    TEXT    NOT NULL,
    level  INTEGER NOT NULL,
    record INTEGER NOT NULL,
    PRIMARY KEY (scope, tag, key, level)
) STRICT, WITHOUT ROWID;

CREATE TABLE removed_versions (
    scope   INTEGER NOT NULL REFERENCES scopes (id),
    level   INTEGER NOT NULL,
    key     TEXT    NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (scope, key, level)
) STRICT, WITHOUT ROWID;
"#,
    terms_table!(),
    r#"
CREATE TABLE index_facts (
    id        INTEGER PRIMARY KEY CHECK (id = 0),
    ways      INTEGER NOT NULL,
    structure BLOB    NOT NULL
) STRICT;
INSERT INTO index_facts
"#,
    facts!(),
    r#";

CREATE TABLE index_stats (
    scope   INTEGER NOT NULL REFERENCES scopes (id),
    slot    INTEGER NOT NULL,
    records INTEGER NOT NULL,
    PRIMARY KEY (scope, slot)
) STRICT, WITHOUT ROWID;

CREATE TABLE audit (
    seq       INTEGER PRIMARY KEY AUTOINCREMENT,
    at        INTEGER NOT NULL,
    session   TEXT    NOT NULL,
    agent     TEXT    NOT NULL,
    namespace TEXT    NOT NULL,
    action    TEXT    NOT NULL,
    decision  INTEGER NOT NULL,
    level     INTEGER NOT NULL,
    key       TEXT,
    version   INTEGER,
    rule      TEXT,
    detail    TEXT,
    hash      BLOB    NOT NULL
) STRICT;
CREATE INDEX audit_session ON audit (session);
CREATE INDEX audit_agent ON audit (agent);
CREATE INDEX audit_key ON audit (agent, key) WHERE key IS NOT NULL;
CREATE INDEX audit_time ON audit (at);

CREATE TABLE readers (
    id      INTEGER PRIMARY KEY,
    session TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE reads (
    reader INTEGER NOT NULL REFERENCES readers (id),
    record INTEGER NOT NULL,
    after  INTEGER NOT NULL,
    PRIMARY KEY (reader, record)
) STRICT, WITHOUT ROWID;
CREATE INDEX reads_record ON reads (record);
"#
);

/// Makes the index, empty. The options are kept by name in its own table `terms_config`.
pub(super) const TERMS: &str = terms_table!();

/// Refuses another program's database, and what a newer release wrote, without writing anything.
pub(super) fn refuse_others(db: &Connection) -> Result<()> {
    // One snapshot: another process may be making the tables just now.
    let tx = db.unchecked_transaction()?;
    let number = |name| tx.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    match (number("application_id")?, number("user_version")?) {
        (0, 0) => refuse_foreign(&tx),
        (ours, _) if ours == i64::from(APPLICATION_ID) => refuse_newer_file(&tx),
        _ => Err(foreign()),
    }
}

/// Refuses whatever isn't a store, also an empty file.
pub(super) fn refuse_all_but_ours(db: &Connection) -> Result<()> {
    refuse_others(db)?;
    if user_version(db)? == 0 {
        return Err(Error::new(ErrorKind::NotAStore, "there is no store in it"));
    }
    Ok(())
}

/// Refuses whatever can't be read as it is: what isn't a store, and a store or an index of another release.
pub(super) fn refuse_all_but_current(db: &mut Connection) -> Result<()> {
    refuse_all_but_ours(db)?;
    let what = if user_version(db)? < VERSION {
        "file"
    } else if State::read(db)?.is_older() {
        "search index"
    } else {
        return Ok(());
    };
    let text = format!(
        "the store's {what} is of an older release and has to be made anew first; open it for writing once"
    );
    Err(Error::new(ErrorKind::ReadOnly, text))
}

/// Refuses another program's database; a store of any release, or nothing, is all right.
pub(super) fn refuse_foreign_file(db: &Connection) -> Result<()> {
    match refuse_others(db) {
        Err(error) if error.kind() == ErrorKind::NewerVersion => Ok(()),
        other => other,
    }
}

/// Refuses what a newer release wrote.
fn refuse_newer(version: u32) -> Result<()> {
    if version <= VERSION {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::NewerVersion,
        format!("the store has format {version}; this release reads up to {VERSION}"),
    ))
}

/// Refuses a store that a newer release wrote or indexed.
fn refuse_newer_file(db: &Connection) -> Result<()> {
    let version = user_version(db)?;
    refuse_newer(version)?;
    if version == VERSION {
        refuse_foreign_objects(db)?;
    }
    State::read(db)?.refuse_newer()
}

/// Brings the file to [`VERSION`], and begins to make its index anew if that is of an older analysis or of
/// another language than the one asked for. What the index is then.
pub(super) fn migrate(db: &mut Connection, language: Option<Language>) -> Result<open::Index> {
    while user_version(db)? < VERSION {
        let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let version = user_version(&tx)?;
        refuse_newer(version)?;
        if version == 0 {
            refuse_foreign(&tx)?;
        }
        if let Some(script) = usize::try_from(version)
            .ok()
            .and_then(|at| MIGRATIONS.get(at))
        {
            tx.execute_batch(script)?;
            if version == 0 {
                tx.pragma_update(None, "application_id", APPLICATION_ID)?;
                set_meta(&tx, "analysis", analysis::VERSION.into())?;
                set_language(&tx, language.unwrap_or_default())?;
            }
            tx.pragma_update(None, "user_version", version + 1)?;
        }
        tx.commit()?;
    }
    refuse_newer_file(db)?;
    let is_lost = State::read(db)?.is_lost();
    if is_outdated(db, language)? {
        let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have done it, or a newer release have come.
        refuse_newer_file(&tx)?;
        if is_outdated(&tx, language)? {
            if let Some(language) = language {
                set_language(&tx, language)?;
            }
            reindex::restart(&tx)?;
        }
        tx.commit()?;
    }
    Ok(match State::read(db)?.is_whole() {
        _ if is_lost => open::Index::Lost,
        true => open::Index::Whole,
        false => open::Index::Begun,
    })
}

/// Whether the index has other terms than this release would make of the records in this language, or in
/// whichever the file has.
fn is_outdated(db: &Connection, language: Option<Language>) -> Result<bool> {
    let state = State::read(db)?;
    let other = match language {
        Some(language) => state.language()? != language,
        None => false,
    };
    Ok(other || state.is_older())
}

fn set_language(db: &Connection, language: Language) -> Result<()> {
    set_meta(db, "language", language.number().into())
}

fn user_version(db: &Connection) -> Result<u32> {
    Ok(db.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

/// A table, an index or a trigger, and the statement that made it.
type Objects = BTreeMap<String, (String, String)>;

/// What a file has, but for what is SQLite's own, and for how FTS5 makes its own tables.
fn objects(db: &Connection) -> Result<Objects> {
    let sql = "SELECT name, type, iif(substr(name, 1, 6) = 'terms_', '', ifnull(sql, ''))
               FROM sqlite_schema
               WHERE substr(name, 1, 7) <> 'sqlite_'";
    let mut select = db.prepare(sql)?;
    let objects = select.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?;
    Ok(objects.collect::<rusqlite::Result<_>>()?)
}

/// What a file of this release has.
fn expected() -> Result<&'static Objects> {
    static MADE: OnceLock<Objects> = OnceLock::new();
    if let Some(made) = MADE.get() {
        return Ok(made);
    }
    let db = Connection::open_in_memory()?;
    db.execute_batch(&MIGRATIONS.concat())?;
    let made = objects(&db)?;
    Ok(MADE.get_or_init(|| made))
}

/// Refuses a file of this version in which something was added or made otherwise: a trigger that lowers
/// the level of what is saved, a column of another meaning. What is missing is for [`complete`].
fn refuse_foreign_objects(db: &Connection) -> Result<()> {
    let expected = expected()?;
    let is_ours = |(name, made)| expected.get(name) == Some(made);
    if objects(db)?.iter().all(is_ours) {
        return Ok(());
    }
    let text = "a table, an index, a trigger or a view was added to the store, or made otherwise than a \
                store's; remove it, or restore a backup";
    Err(Error::new(ErrorKind::NotAStore, text))
}

/// How many tables and indexes the file lacks, has otherwise, or has besides.
pub(super) fn differences(db: &Connection) -> Result<usize> {
    let (found, expected) = (objects(db)?, expected()?);
    let names: BTreeSet<&String> = found.keys().chain(expected.keys()).collect();
    let differs = |name: &&&String| found.get(**name) != expected.get(**name);
    Ok(names.iter().filter(differs).count())
}

/// The tables that hold nothing but what the records say, besides FTS5's own.
const DERIVED: [&str; 3] = ["index_facts", "index_stats", "record_tags"];

/// Makes what is missing and can be made of the rest.
pub(super) fn complete(db: &Connection) -> Result<()> {
    let found = objects(db)?;
    let expected = expected()?;
    let missing = expected
        .iter()
        .filter(|(name, _)| !found.contains_key(*name));
    for (name, (kind, sql)) in missing {
        if kind == "index" || DERIVED.contains(&name.as_str()) {
            db.execute_batch(sql)?;
        }
    }
    Ok(())
}

/// Keeps a number of the whole file.
pub(super) fn set_meta(db: &Connection, name: &str, value: i64) -> Result<()> {
    let sql = "INSERT OR REPLACE INTO meta (name, value) VALUES (?1, ?2)";
    db.prepare_cached(sql)?.execute(params![name, value])?;
    Ok(())
}

/// Only an empty database may become a store.
fn refuse_foreign(db: &Connection) -> Result<()> {
    let tables: i64 = db.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if tables == 0 {
        return Ok(());
    }
    Err(foreign())
}

fn foreign() -> Error {
    let text = "the file is another program's SQLite database";
    Error::new(ErrorKind::NotAStore, text)
}
