//! The same work by hand: rusqlite, prepared statements, and the tables as they are.

use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, Row, Statement, params};
use strandline::Classification;
use strandline::search::analysis::Analysis;
use strandline::search::{is_sampled, round_frequency, round_length};
use strandline::storage::Durability;
use uuid::Uuid;

use crate::data::Item;

/// A connection with the settings that the crate's own have.
#[expect(
    clippy::disallowed_methods,
    reason = "the benchmarks measure plain files"
)]
pub(crate) fn connect(path: &Path, durability: Durability) -> Connection {
    let db = Connection::open(path).unwrap();
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)
        .unwrap();
    let synchronous = match durability {
        Durability::Full => "FULL",
        Durability::Normal => "NORMAL",
    };
    db.execute_batch(&format!(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = {synchronous};
         PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA secure_delete = ON;
         PRAGMA foreign_keys = ON; PRAGMA cache_size = -8192;"
    ))
    .unwrap();
    db
}

/// The time that the hand's statements are given.
pub(crate) const NOW: i64 = 1_700_000_000_000_000;

/// A record as a caller would want it, with nothing checked.
#[expect(dead_code, reason = "reading them is the work")]
pub(crate) struct Record {
    pub(crate) key: String,
    pub(crate) content: String,
    pub(crate) level: u8,
    pub(crate) tags: String,
    pub(crate) version: i64,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
    pub(crate) expires_at: Option<i64>,
    pub(crate) session: String,
    pub(crate) lineage: [u8; 16],
}

pub(crate) const COLUMNS: &str =
    "key, content, level, tags, version, created_at, updated_at, expires_at, session, lineage";

pub(crate) fn record(row: &Row<'_>) -> rusqlite::Result<Record> {
    Ok(Record {
        key: row.get(0)?,
        content: row.get(1)?,
        level: row.get(2)?,
        tags: row.get(3)?,
        version: row.get(4)?,
        created_at: row.get(5)?,
        updated_at: row.get(6)?,
        expires_at: row.get(7)?,
        session: row.get(8)?,
        lineage: row.get(9)?,
    })
}

/// A page of the list, of all or of a tag.
pub(crate) fn list_sql(by_tag: bool) -> String {
    let (from, tag, key) = if by_tag {
        (
            "record_tags t CROSS JOIN records r ON r.id = t.record",
            "t.scope = ?1 AND t.tag = ?6 AND t.key > ?4",
            "t.key",
        )
    } else {
        (
            "records r",
            "r.scope = ?1 AND r.key > ?4 AND ?6 IS NULL",
            "r.key",
        )
    };
    let columns = COLUMNS.replace(", ", ", r.");
    format!(
        "SELECT r.{columns} FROM {from} WHERE {tag} AND r.state = 0 AND r.level <= ?2
         AND (r.expires_at IS NULL OR r.expires_at > ?3) ORDER BY {key} LIMIT ?5"
    )
}

/// The number of the first agent's memories.
pub(crate) fn scope(db: &Connection) -> i64 {
    scope_of(db, "agent-000")
}

/// The number of an agent's memories.
pub(crate) fn scope_of(db: &Connection, agent: &str) -> i64 {
    let sql = "SELECT id FROM scopes WHERE namespace = 'memory' AND agent = ?1";
    db.query_row(sql, [agent], |row| row.get(0)).unwrap()
}

/// The rows of [`add_ranked_index`] that a session of an agent at this level sees: one range, since no key
/// of the data is at two levels.
pub(crate) fn visible_rows(scope: i64, level: Classification) -> (i64, i64) {
    let first = scope << SCOPE_SHIFT;
    let above = i64::from(level.rank()) + 1;
    (first, first | ((above << LEVEL_SHIFT) - 1))
}

/// A row of the ranked index has its record's id below its level, and that below its scope.
const LEVEL_SHIFT: u32 = 40;
const SCOPE_SHIFT: u32 = 43;

/// The id of the record in a row of the ranked index.
pub(crate) fn id_of(row: i64) -> i64 {
    row & ((1 << LEVEL_SHIFT) - 1)
}

/// Adds an FTS5 table as one would ordinarily have it, over the same terms: with positions and sizes,
/// which its `rank` needs, and every repeat of a term.
pub(crate) fn add_ranked_index(db: &Connection) {
    let sql = "SELECT sql FROM sqlite_schema WHERE name = 'terms'";
    let ours: String = db.query_row(sql, [], |row| row.get(0)).unwrap();
    let ordinary = ours
        .replace("TABLE terms", "TABLE terms_raw")
        .replace("columnsize = 0", "columnsize = 1")
        .replace("detail = none", "detail = full");
    db.execute_batch(&ordinary).unwrap();
    let tx = db.unchecked_transaction().unwrap();
    let mut insert = tx
        .prepare("INSERT INTO terms_raw (rowid, term) VALUES (?1, ?2)")
        .unwrap();
    let sql = "SELECT (scope << 43) | (level << 40) | id, key, tags, content FROM records
               WHERE state = 0 AND scope IN (SELECT id FROM scopes WHERE namespace = 'memory')
               ORDER BY 1";
    let mut select = tx.prepare(sql).unwrap();
    let mut rows = select.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let text = |column| row.get::<_, String>(column).unwrap();
        let tags: Vec<String> = serde_json::from_str(&text(2)).unwrap();
        let terms = terms(&text(1), &tags, &text(3));
        insert
            .execute(params![row.get::<_, i64>(0).unwrap(), terms])
            .unwrap();
    }
    drop(rows);
    drop((select, insert));
    tx.commit().unwrap();
}

/// A query for `terms_raw`, as it would be put together by hand.
pub(crate) fn match_any(query: &str) -> String {
    let terms = Analysis::default().query(query);
    let quoted: Vec<String> = terms
        .iter()
        .map(|term| format!("\"{}\"", term.term))
        .collect();
    quoted.join(" OR ")
}

/// The terms of a record as text, each as often as the record has it.
fn terms(key: &str, tags: &[String], content: &str) -> String {
    let found = Analysis::default().document(key, tags.iter().map(String::as_str), content);
    let mut text = String::new();
    for (term, count) in &found.counts {
        for _ in 0..*count {
            text.push_str(term);
            text.push(' ');
        }
    }
    text
}

/// What is written for one memory, made ready outside the measured time.
pub(crate) struct Rows<'i> {
    item: &'i Item,
    tags: String,
    /// The rows of the index: how often the record has the terms, and the terms.
    terms: Vec<(i64, String)>,
    length: u8,
}

impl<'i> Rows<'i> {
    pub(crate) fn of(item: &'i Item) -> Self {
        let tags = [item.tag.clone()];
        let analysed = Analysis::default().document(&item.key, [item.tag.as_str()], &item.content);
        let terms = (0..4_u8).filter_map(|frequency| {
            let found = analysed
                .counts
                .iter()
                .filter(|(_, count)| frequency == 0 || frequency == round_frequency(*count));
            let terms: Vec<&str> = found.map(|(term, _)| term.as_str()).collect();
            (!terms.is_empty()).then(|| (i64::from(frequency), terms.join(" ")))
        });
        Self {
            item,
            tags: serde_json::to_string(&tags).unwrap(),
            terms: terms.collect(),
            length: round_length(analysed.length),
        }
    }
}

/// The statements of a save.
pub(crate) struct Saver<'db> {
    db: &'db Connection,
    scope: i64,
    begin: Statement<'db>,
    sequence: Statement<'db>,
    record: Statement<'db>,
    tag: Statement<'db>,
    terms: Statement<'db>,
    stats: Statement<'db>,
    audit: Statement<'db>,
    commit: Statement<'db>,
}

impl<'db> Saver<'db> {
    pub(crate) fn new(db: &'db Connection) -> Self {
        let prepare = |sql: &str| db.prepare(sql).unwrap();
        Self {
            db,
            scope: scope(db),
            begin: prepare("BEGIN IMMEDIATE"),
            sequence: prepare(
                "UPDATE scopes SET next_seq = next_seq + 1 WHERE id = ?1 RETURNING next_seq - 1",
            ),
            record: prepare(
                "INSERT INTO records (scope, level, key, version, content, tags, created_at,
                 updated_at, session, lineage, state, shadow, doc)
                 VALUES (?1, ?2, ?3, 1, ?4, ?5, ?6, ?6, ?7, ?8, 0, 4, ?9)",
            ),
            tag: prepare(
                "INSERT INTO record_tags (scope, tag, key, level, record)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
            ),
            terms: prepare("INSERT INTO terms (rowid, term) VALUES (?1, ?2)"),
            stats: prepare(
                "UPDATE index_stats SET records = records + 1 WHERE scope = ?1 AND slot = ?2",
            ),
            audit: prepare(
                "INSERT INTO audit (at, session, agent, namespace, action, decision, level, key,
                 version, hash)
                 VALUES (?1, ?2, ?3, 'memory', 'save', 0, ?4, ?5, 1, zeroblob(32))",
            ),
            commit: prepare("COMMIT"),
        }
    }

    pub(crate) fn save(&mut self, rows: &Rows<'_>) {
        let Rows {
            item,
            tags,
            terms,
            length,
        } = rows;
        let (level, session) = (item.level.rank(), item.level.as_str());
        let lineage = Uuid::new_v4();
        self.begin.execute([]).unwrap();
        let sequence: i64 = self
            .sequence
            .query_row([self.scope], |row| row.get(0))
            .unwrap();
        let half = (self.scope << 1) | i64::from(is_sampled(&item.key));
        let slot = (half << 4) | i64::from(level);
        let doc = ((((slot << 26) | sequence) << 8) | i64::from(*length)) << 2;
        self.record
            .execute(params![
                self.scope,
                level,
                item.key,
                item.content,
                tags,
                NOW,
                session,
                lineage.as_bytes(),
                doc
            ])
            .unwrap();
        let record = self.db.last_insert_rowid();
        self.tag
            .execute(params![self.scope, item.tag, item.key, level, record])
            .unwrap();
        for (frequency, terms) in terms {
            self.terms.execute(params![doc | frequency, terms]).unwrap();
        }
        self.stats.execute(params![self.scope, level]).unwrap();
        self.audit
            .execute(params![NOW, session, item.agent, level, item.key])
            .unwrap();
        self.commit.execute([]).unwrap();
    }
}
