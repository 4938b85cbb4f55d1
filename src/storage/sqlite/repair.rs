//! A damaged index: noticed, made anew once, and reported.

use std::fmt;
use std::sync::Arc;
use std::thread;

use rusqlite::{Connection, Row, params};

use super::error::{index_damaged, is_index_damage};
use super::index::State;
use super::layout::Doc;
use super::rows::{View, tags_from_json, visible};
use super::{OnReindex, Sqlite, reindex};
use crate::error::{Error, Result};
use crate::policy::ReadGrant;
use crate::record::Tag;
use crate::search::analysis::Analysis;
use crate::storage::{Hit, SearchRequest};
use crate::sync::unpoisoned;

/// Whom a store warns that it found its search index damaged and has made it anew. The default is nobody.
///
/// Nothing is lost by it, since the index is made of the records; but something has damaged the file.
/// [`Host::check`](crate::Host::check) says whether there is more.
///
/// ```
/// use strandline::storage::{OnRepair, SqliteOptions};
///
/// let options = SqliteOptions {
///     on_repair: OnRepair::new(|| eprintln!("the search index was damaged and is made anew")),
///     ..SqliteOptions::default()
/// };
/// ```
#[derive(Clone, Default)]
pub struct OnRepair(Option<Arc<dyn Fn() + Send + Sync>>);

impl OnRepair {
    /// Calls the function once for each repair, after it, in a thread of its own: whoever found the
    /// damage may hold a session meanwhile.
    ///
    /// ```
    /// let silent = strandline::storage::OnRepair::new(|| ());
    /// ```
    pub fn new(warn: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(warn)))
    }

    pub(super) fn warn(&self) {
        if let Some(warn) = self.0.clone() {
            // Where there can be no further thread, the repair counts for more than the warning.
            drop(thread::Builder::new().spawn(move || warn()));
        }
    }
}

impl fmt::Debug for OnRepair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OnRepair").finish_non_exhaustive()
    }
}

impl Sqlite {
    /// Runs `work`; where it finds the index damaged, makes the index anew and runs it once more.
    pub(super) fn with_sound_index<T>(&self, work: impl Fn() -> Result<T>) -> Result<T> {
        match work() {
            Err(error) if is_index_damage(&error) => {
                self.pool.refuse_read_only().map_err(|_| unrepaired())?;
                self.repair(work)
            }
            done => done,
        }
    }

    fn repair<T>(&self, work: impl Fn() -> Result<T>) -> Result<T> {
        let _repairing = unpoisoned(self.repairing.lock());
        // Somebody else may just have repaired it.
        match work() {
            Err(error) if is_index_damage(&error) => (),
            done => return done,
        }
        // Nobody is told how far it is: a save or a delete holds its session's taint meanwhile.
        reindex::anew(&self.pool, &OnReindex::default())?;
        self.options.on_repair.warn();
        work()
    }
}

fn unrepaired() -> Error {
    let text = "the store's search index is damaged; a search in a store that is open for writing makes \
                it anew";
    Error::corrupt(text)
}

/// How many terms of a record are looked for.
const TERMS: usize = 8;

/// The longest content of a record that is looked for, in bytes.
const CONTENT: i64 = 16_384;

/// A record that the session sees, of the first or last few keys of its agent.
macro_rules! sample {
    ($order:literal) => {
        concat!(
            "SELECT r.doc, r.key, r.tags, r.content FROM (
                 SELECT id FROM records INDEXED BY records_live
                 WHERE scope = ?1 AND state = 0 ORDER BY key ",
            $order,
            " LIMIT 64) few CROSS JOIN records r ON r.id = few.id WHERE ",
            visible!(),
            " AND octet_length(r.content) <= ?4 LIMIT 1"
        )
    };
}

/// Refuses an empty answer that may be a damaged index's: FTS5 doesn't notice where it lacks the way to its
/// terms, and nobody else that there are fewer counts than records.
///
/// It looks for two records that the session sees, which costs as much as a search or two more.
pub(super) fn refuse_silence(
    db: &Connection,
    grant: &ReadGrant,
    request: &SearchRequest,
    found: Vec<Hit>,
) -> Result<Vec<Hit>> {
    if !found.is_empty() || Analysis::default().query(&request.query).is_empty() {
        return Ok(found);
    }
    let Some(view) = View::of(db, grant)? else {
        return Ok(found);
    };
    let state = State::read(db)?;
    if !state.is_whole() {
        return Ok(found);
    }
    let analysis = Analysis::new(state.language()?);
    for sql in [sample!("ASC"), sample!("DESC")] {
        let mut select = db.prepare_cached(sql)?;
        let mut rows = select.query(params![view.scope, view.level(), view.now, CONTENT])?;
        if let Some(row) = rows.next()?
            && !is_found(db, analysis, row)?
        {
            return Err(index_damaged());
        }
    }
    Ok(found)
}

/// Whether the index counts the record and has some of its terms.
fn is_found(db: &Connection, analysis: Analysis, row: &Row<'_>) -> Result<bool> {
    let doc: i64 = row.get(0)?;
    let place = Doc::from_rowid(doc);
    let sql = "SELECT 1 FROM index_stats WHERE scope = ?1 AND slot = ?2 AND records > 0";
    let mut counted = db.prepare_cached(sql)?;
    if !counted.exists(params![place.scope, place.slot])? {
        return Ok(false);
    }
    let tags = tags_from_json(&row.get::<_, String>(2)?)?;
    let (key, content): (String, String) = (row.get(1)?, row.get(3)?);
    let terms = analysis.document(&key, tags.iter().map(Tag::as_str), &content);
    let step = (terms.counts.len() / TERMS).max(1);
    let phrases = terms.counts.iter().step_by(step).take(TERMS);
    let phrases: Vec<String> = phrases.map(|(term, _)| format!("\"{term}\"")).collect();
    if phrases.is_empty() {
        return Ok(true);
    }
    let sql = "SELECT 1 FROM terms WHERE terms MATCH ?1 AND rowid = ?2";
    let mut select = db.prepare_cached(sql)?;
    Ok(select.exists(params![phrases.join(" AND "), doc])?)
}
