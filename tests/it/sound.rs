//! Whether a store's file is whole: its index against its records, analysed anew.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::Connection;
use strandline::search::analysis::{Analysis, Language};
use strandline::search::round_frequency;

use crate::keyed;

/// Fails unless everything that is derived from the records agrees with them.
pub(crate) fn assert_sound(path: &Path) {
    assert_tidy(path);
    assert_audit(&keyed::raw(path).unwrap());
}

/// The same where versions were purged or erased, of which the audit still has the entries.
pub(crate) fn assert_tidy(path: &Path) {
    let db = keyed::raw(path).unwrap();
    let sound: String = db
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(sound, "ok");
    db.execute(
        "INSERT INTO terms (terms, rank) VALUES ('integrity-check', 1)",
        [],
    )
    .unwrap();
    assert_eq!(
        count(&db, "SELECT count(*) FROM pragma_foreign_key_check"),
        0
    );
    assert_index(&db);
    assert_shadows(&db);
}

/// The rows of each term, and how many records there are, by scope and slot.
type Terms = BTreeMap<String, Vec<i64>>;
type Stats = BTreeMap<i64, i64>;

fn assert_index(db: &Connection) {
    let (mut terms, mut stats) = (Terms::new(), Stats::new());
    let mut tags = Vec::new();
    let analysis = Analysis::new(language(db));
    let sql = "SELECT key, tags, content, doc, scope, level, id FROM records WHERE state = 0";
    let mut select = db.prepare(sql).unwrap();
    let mut rows = select.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let text = |column| row.get::<_, String>(column).unwrap();
        let number = |column| row.get::<_, i64>(column).unwrap();
        let own_tags: Vec<strandline::Tag> = serde_json::from_str(&text(1)).unwrap();
        let (key, content, doc) = (text(0), text(2), number(3));
        let names = own_tags.iter().map(strandline::Tag::as_str);
        let found = analysis.document(&key, names, &content);
        for (term, count) in found.counts {
            let rows = terms.entry(term).or_default();
            rows.push(doc);
            if count > 1 {
                rows.push(doc + i64::from(round_frequency(count)));
            }
        }
        let (scope, slot) = (doc >> 41, (doc >> 36) & 0b1111);
        *stats.entry((scope << 4) | slot).or_default() += 1;
        for tag in &own_tags {
            tags.push((
                number(4),
                tag.folded().to_owned(),
                key.clone(),
                number(5),
                number(6),
            ));
        }
    }
    for rows in terms.values_mut() {
        rows.sort_unstable();
    }
    tags.sort();
    assert_eq!(indexed_terms(db), terms);
    assert_eq!(index_stats(db), stats);
    assert_eq!(record_tags(db), tags);
}

/// The language of the file's index.
pub(crate) fn language(db: &Connection) -> Language {
    let sql = "SELECT count(value), max(value) FROM meta WHERE name = 'language'";
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1).unwrap_or_default()));
    let (known, letters): (i64, i64) = db.query_row(sql, [], row).unwrap();
    if known == 0 {
        return Language::default(); // a file of before there was a choice
    }
    let is_it = |language: &&Language| {
        let [first, second] = *language.code().as_bytes() else {
            return false;
        };
        i64::from(first) * 256 + i64::from(second) == letters
    };
    *Language::ALL.iter().find(is_it).unwrap()
}

fn indexed_terms(db: &Connection) -> Terms {
    db.execute_batch(
        "CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab('main', 'terms', 'instance')",
    )
    .unwrap();
    let mut terms = Terms::new();
    let mut select = db
        .prepare("SELECT term, doc FROM temp.vocabulary ORDER BY doc")
        .unwrap();
    let mut rows = select.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        terms
            .entry(row.get(0).unwrap())
            .or_default()
            .push(row.get(1).unwrap());
    }
    terms
}

fn index_stats(db: &Connection) -> Stats {
    let sql = "SELECT scope << 4 | slot, records FROM index_stats WHERE records <> 0";
    let mut select = db.prepare(sql).unwrap();
    let stat = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    select
        .query_map([], stat)
        .unwrap()
        .map(Result::unwrap)
        .collect()
}

fn record_tags(db: &Connection) -> Vec<(i64, String, String, i64, i64)> {
    let sql = "SELECT scope, tag, key, level, record FROM record_tags";
    let mut select = db.prepare(sql).unwrap();
    let tag = |row: &rusqlite::Row<'_>| {
        Ok((
            row.get(0)?,
            row.get(1)?,
            row.get(2)?,
            row.get(3)?,
            row.get(4)?,
        ))
    };
    let mut tags: Vec<_> = select
        .query_map([], tag)
        .unwrap()
        .map(Result::unwrap)
        .collect();
    tags.sort();
    tags
}

/// `shadow` is the next higher level at which the key is live.
fn assert_shadows(db: &Connection) {
    let wrong = "SELECT count(*) FROM records r WHERE state = 0 AND shadow <> coalesce((
        SELECT min(h.level) FROM records h
        WHERE h.scope = r.scope AND h.key = r.key AND h.state = 0 AND h.level > r.level), 4)";
    assert_eq!(count(db, wrong), 0);
}

/// The audit has no gap, and an entry for each version of a memory, for keys of which none was removed.
fn assert_audit(db: &Connection) {
    let entries = count(db, "SELECT count(*) FROM audit");
    assert_eq!(
        count(db, "SELECT coalesce(max(seq), 0) FROM audit"),
        entries
    );
    let saved = "SELECT count(*) FROM (SELECT DISTINCT agent, key, level, version FROM audit a
                     WHERE namespace = 'memory' AND action IN ('save', 'import', 'restore')
                       AND decision = 0 AND NOT EXISTS (
                           SELECT 1 FROM removed_versions r JOIN scopes s ON s.id = r.scope
                           WHERE s.namespace = 'memory' AND s.agent = a.agent AND r.key = a.key))";
    let versions = "SELECT count(*) FROM records o WHERE scope IN (
                        SELECT id FROM scopes WHERE namespace = 'memory')
                    AND NOT EXISTS (SELECT 1 FROM removed_versions r
                                    WHERE r.scope = o.scope AND r.key = o.key)";
    assert_eq!(count(db, saved), count(db, versions));
}

fn count(db: &Connection, sql: &str) -> i64 {
    db.query_row(sql, [], |row| row.get(0)).unwrap()
}
