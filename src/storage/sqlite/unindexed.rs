//! Search while the index is made anew: the records that it doesn't hold yet.
//!
//! They are read and analysed one by one, so that a search finds and scores exactly what it would with
//! the whole index. It costs what it costs to read them: some ten microseconds for each visible record
//! of the agent that isn't indexed yet.

use std::collections::BTreeSet;

use rusqlite::{Row, params};

use super::index::Index;
use super::rows::{View, tags_from_json, visible};
use super::search::Expired;
use crate::error::Result;
use crate::record::Tag;
use crate::search::analysis::{Analysis, DocumentTerms};

/// Adds what the view sees and the index doesn't hold.
pub(super) fn add(found: &mut Expired, index: Index<'_>, view: View, query: &str) -> Result<()> {
    const SQL: &str = concat!(
        "SELECT r.doc, r.key, r.tags, r.content FROM records r INDEXED BY records_live WHERE ",
        visible!(),
        " AND r.id > ?4"
    );
    keep_held(found, index)?;
    let analysis = Analysis::new(index.language());
    let query = analysis.query(query);
    let wanted: BTreeSet<&str> = query.iter().map(|term| term.term.as_str()).collect();
    let mut select = index.db.prepare_cached(SQL)?;
    let mut rows = select.query(params![view.scope, view.level(), view.now, index.held()])?;
    while let Some(row) = rows.next()? {
        found
            .shown
            .insert(row.get(0)?, terms(analysis, row, &wanted)?);
    }
    Ok(())
}

/// What the index doesn't hold needn't be hidden from it.
fn keep_held(found: &mut Expired, index: Index<'_>) -> Result<()> {
    let sql = "SELECT id <= ?2 FROM records WHERE doc = ?1";
    let mut select = index.db.prepare_cached(sql)?;
    let mut hidden = std::mem::take(&mut found.hidden);
    for doc in std::mem::take(&mut hidden) {
        if select.query_row([doc, index.held()], |row| row.get(0))? {
            found.hidden.insert(doc);
        }
    }
    Ok(())
}

/// The record's length, and those of its terms that the query asks for.
fn terms(analysis: Analysis, row: &Row<'_>, wanted: &BTreeSet<&str>) -> Result<DocumentTerms> {
    let text = |column| row.get_ref(column)?.as_str().map_err(rusqlite::Error::from);
    let tags = tags_from_json(text(2)?)?;
    let (key, content) = (text(1)?, text(3)?);
    let all = analysis.document(key, tags.iter().map(Tag::as_str), content);
    let asked = |(term, _): &&(String, u32)| wanted.contains(term.as_str());
    Ok(DocumentTerms {
        counts: all.counts.iter().filter(asked).cloned().collect(),
        length: all.length,
    })
}
