//! Keeping the index of terms in step with the live records.

use rusqlite::{Connection, params};

use super::layout::{Doc, slot};
use super::rows::{tags_from_json, unexpected};
use crate::error::{Error, ErrorKind, Result};
use crate::record::Tag;
use crate::search::{MAX_FREQUENCY, analysis, length_of, round_length};

// `IndexText` has a field for each.
const _: () = assert!(MAX_FREQUENCY == 3);

/// A record as the index sees it: its terms by how often it has them, and how many there are.
#[derive(Debug, Default)]
pub(super) struct IndexText {
    once: String,
    twice: String,
    more: String,
    pub(super) length: u8,
}

impl IndexText {
    /// The terms of a record; the same again whenever it is analysed, so that they can be deleted.
    pub(super) fn of(key: &str, tags: &[Tag], content: &str) -> Self {
        let found = analysis::document(key, tags.iter().map(Tag::as_str), content);
        let mut text = Self {
            length: round_length(found.length),
            ..Self::default()
        };
        for (term, count) in &found.counts {
            let terms = match count {
                0 | 1 => &mut text.once,
                2 => &mut text.twice,
                _ => &mut text.more,
            };
            terms.push_str(term);
            terms.push(' ');
        }
        text
    }

    /// The numbers and the terms of the record's rows.
    pub(super) fn rows(&self, doc: Doc) -> impl Iterator<Item = (i64, &str)> {
        let terms = [
            (1, &self.once),
            (2, &self.twice),
            (MAX_FREQUENCY, &self.more),
        ];
        let rows = terms.into_iter().filter(|(_, terms)| !terms.is_empty());
        rows.map(move |(frequency, terms)| (doc.to_row(frequency), terms.as_str()))
    }
}

/// Adds a record's rows.
pub(super) fn add(db: &Connection, doc: Doc, text: &IndexText) -> Result<()> {
    let sql = "INSERT INTO terms (rowid, term) VALUES (?1, ?2)";
    let mut insert = db.prepare_cached(sql)?;
    for (row, terms) in text.rows(doc) {
        insert.execute(params![row, terms])?;
    }
    count(db, doc, 1)
}

/// Removes a record's rows. FTS5 needs the same terms again for that.
pub(super) fn remove(db: &Connection, doc: Doc, text: &IndexText) -> Result<()> {
    let sql = "INSERT INTO terms (terms, rowid, term) VALUES ('delete', ?1, ?2)";
    let mut delete = db.prepare_cached(sql)?;
    for (row, terms) in text.rows(doc) {
        delete.execute(params![row, terms])?;
    }
    count(db, doc, -1)
}

fn count(db: &Connection, doc: Doc, sign: i64) -> Result<()> {
    let sql = "INSERT INTO index_stats (scope, slot, records, length) VALUES (?1, ?2, ?3, ?4)
               ON CONFLICT (scope, slot) DO UPDATE
               SET records = records + ?3, length = length + ?4";
    let length = sign * i64::from(length_of(doc.length));
    db.prepare_cached(sql)?
        .execute(params![doc.scope, doc.slot, sign, length])?;
    Ok(())
}

/// The next sequence number of a scope. When they are used up, the rows are numbered anew.
pub(super) fn next_seq(db: &Connection, scope: i64) -> Result<i64> {
    let seq = take_seq(db, scope)?;
    if seq <= Doc::MAX_SEQ {
        return Ok(seq);
    }
    rebuild(db)?;
    match take_seq(db, scope)? {
        seq if seq <= Doc::MAX_SEQ => Ok(seq),
        _ => Err(Error::new(
            ErrorKind::Full,
            "the agent has more memories than the index holds",
        )),
    }
}

/// Makes the whole index anew from the records, numbering the rows of each scope from 0.
pub(super) fn rebuild(db: &Connection) -> Result<()> {
    db.execute_batch(
        "INSERT INTO terms (terms) VALUES ('delete-all');
         DELETE FROM index_stats;
         UPDATE scopes SET next_seq = 0;
         UPDATE records SET doc = -id WHERE state = 0;",
    )?;
    let mut live = db.prepare(
        "SELECT id, scope, level, shadow, key, tags, content FROM records
         WHERE state = 0 ORDER BY id",
    )?;
    let mut set_doc = db.prepare("UPDATE records SET doc = ?2 WHERE id = ?1")?;
    let mut rows = live.query([])?;
    while let Some(row) = rows.next()? {
        let tags = tags_from_json(&row.get::<_, String>(5)?)?;
        let text = IndexText::of(&row.get::<_, String>(4)?, &tags, &row.get::<_, String>(6)?);
        let scope = row.get(1)?;
        let doc = Doc {
            scope,
            slot: slot(row.get(2)?, row.get(3)?).ok_or_else(|| unexpected("shadow"))?,
            seq: take_seq(db, scope)?,
            length: text.length,
        };
        add(db, doc, &text)?;
        set_doc.execute(params![row.get::<_, i64>(0)?, doc.to_rowid()])?;
    }
    Ok(())
}

fn take_seq(db: &Connection, scope: i64) -> Result<i64> {
    let sql = "UPDATE scopes SET next_seq = next_seq + 1 WHERE id = ?1 RETURNING next_seq - 1";
    Ok(db
        .prepare_cached(sql)?
        .query_row([scope], |row| row.get(0))?)
}
