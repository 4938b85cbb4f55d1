//! The tables, and how a file comes to have them.
//!
//! `PRAGMA user_version` counts the migrations that a file has been through. Each runs in a
//! transaction of its own together with the new number, so a file is always at a whole version, and
//! processes that open it at once run each migration once.

use rusqlite::{Connection, TransactionBehavior, params};

use super::index::State;
use super::reindex;
use crate::error::{Error, ErrorKind, Result};
use crate::search::analysis;

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

/// - `meta` has numbers of the whole file: those of `reindex` and of `erase`.
/// - A *scope* is one agent's records in one namespace.
/// - A record's `state` is 0 live, 1 superseded, 2 deleted. `shadow` is the next higher level at
///   which its key is live, 4 if there is none. Both `shadow` and `doc` (see `layout`) are
///   kept up for live records only.
/// - `tags` is a JSON array; `record_tags` has the folded tags of live records.
/// - `terms` is an inverted index of live records and nothing else, of all or (see `reindex`) of those
///   up to an id. It stores no text, no positions and no sizes. Its tokenizer takes a term of the
///   analysis as it is.
/// - `removed_versions` has the highest number that a key had at a level, where its version was removed.
/// - `index_stats` counts what `terms` holds, by scope and slot.
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
    refuse_newer(user_version(db)?)?;
    State::read(db)?.refuse_newer()
}

/// Brings the file to [`VERSION`], and begins to make its index anew if that is of an older analysis.
/// Whether the index is whole.
pub(super) fn migrate(db: &mut Connection) -> Result<bool> {
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
            }
            tx.pragma_update(None, "user_version", version + 1)?;
        }
        tx.commit()?;
    }
    refuse_newer_file(db)?;
    if State::read(db)?.analysis < analysis::VERSION {
        let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if State::read(&tx)?.analysis < analysis::VERSION {
            reindex::restart(&tx)?;
        }
        tx.commit()?;
    }
    Ok(State::read(db)?.is_whole())
}

fn user_version(db: &Connection) -> Result<u32> {
    Ok(db.pragma_query_value(None, "user_version", |row| row.get(0))?)
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
