//! Keeping the index of terms in step with the live records.

use rusqlite::{Connection, Row, params};

use super::error::index_damaged;
use super::layout::{Doc, slot};
use super::rows::{tags_from_json, unexpected};
use crate::error::{Error, ErrorKind, Result};
use crate::record::Tag;
use crate::search::analysis::{self, Analysis, Language};
use crate::search::{is_sampled, round_frequency, round_length};

/// Instead of an id in `meta`: the index is still being emptied.
pub(super) const NOTHING: i64 = -1;

/// A record as the index sees it: all its terms, those that it has more often by how often, rounded,
/// and its length.
#[derive(Debug, Default)]
pub(super) struct IndexText {
    language: Language,
    terms: [String; 4],
    pub(super) length: u8,
}

impl IndexText {
    /// The terms of a record; the same again whenever it is analysed, so that they can be deleted.
    pub(super) fn of(language: Language, key: &str, tags: &[Tag], content: &str) -> Self {
        let found = Analysis::new(language).document(key, tags.iter().map(Tag::as_str), content);
        let mut text = Self {
            language,
            length: round_length(found.length),
            ..Self::default()
        };
        for (term, count) in &found.counts {
            let frequency = usize::from(round_frequency(*count));
            let [all, more @ ..] = &mut text.terms;
            let more = frequency.checked_sub(1).and_then(|at| more.get_mut(at));
            for terms in [Some(all), more].into_iter().flatten() {
                terms.push_str(term);
                terms.push(' ');
            }
        }
        text
    }

    pub(super) fn language(&self) -> Language {
        self.language
    }

    /// The numbers and the terms of the record's rows.
    pub(super) fn rows(&self, doc: Doc) -> impl Iterator<Item = (i64, &str)> {
        let rows = (0..).zip(&self.terms);
        rows.filter(|(_, terms)| !terms.is_empty())
            .map(move |(frequency, terms)| (doc.to_row(frequency), terms.as_str()))
    }
}

/// What the file says of its index.
#[derive(Clone, Copy)]
pub(super) struct State {
    /// The version of the analysis that its terms are of; `None` if that is lost.
    pub(super) analysis: Option<u32>,
    /// While it is made anew: up to which id it holds the live records.
    pub(super) reindexed: Option<i64>,
    /// The number of its language; none for English.
    language: Option<i64>,
}

impl State {
    pub(super) fn read(db: &Connection) -> Result<Self> {
        let sql = "SELECT (SELECT value FROM meta WHERE name = 'analysis'),
                          (SELECT value FROM meta WHERE name = 'reindexed'),
                          (SELECT value FROM meta WHERE name = 'language')";
        Ok(db.prepare_cached(sql)?.query_row([], |row| {
            let analysis = row.get::<_, Option<i64>>(0)?;
            let reindexed = row.get::<_, Option<i64>>(1)?;
            Ok(Self {
                analysis: analysis.and_then(|version| version.try_into().ok()),
                reindexed: reindexed.map(|id| id.max(NOTHING)),
                language: row.get(2)?,
            })
        })?)
    }

    /// Whether it holds every live record by the terms of this release.
    pub(super) fn is_whole(self) -> bool {
        self.analysis == Some(analysis::VERSION) && self.reindexed.is_none()
    }

    /// Whether the file doesn't say of which analysis its index is.
    pub(super) fn is_lost(self) -> bool {
        self.analysis.is_none()
    }

    /// Whether its terms aren't of this release or a newer one.
    pub(super) fn is_older(self) -> bool {
        self.analysis < Some(analysis::VERSION)
    }

    /// The greatest id of a record that it may hold; `None` if its terms are of another release or it is
    /// just being emptied.
    pub(super) fn held(self) -> Option<i64> {
        let held = self.reindexed.unwrap_or(i64::MAX);
        let ours = self.analysis == Some(analysis::VERSION) && self.known_language().is_some();
        Some(held).filter(|held| ours && *held >= 0)
    }

    /// The language of its terms.
    pub(super) fn language(self) -> Result<Language> {
        self.known_language().ok_or_else(newer)
    }

    /// `None` for one that this release doesn't know.
    fn known_language(self) -> Option<Language> {
        self.language
            .map_or(Some(Language::default()), Language::of_number)
    }

    /// Refuses an index whose terms a newer release made.
    pub(super) fn refuse_newer(self) -> Result<()> {
        if self.analysis <= Some(analysis::VERSION) && self.known_language().is_some() {
            return Ok(());
        }
        Err(newer())
    }
}

fn newer() -> Error {
    let text = "a newer release has indexed the store; only that or a later one can search or \
                change it";
    Error::new(ErrorKind::NewerVersion, text)
}

/// The index as a transaction finds it: it holds the live records up to an id.
///
/// That is every live record, unless the index is just made [anew](super::reindex).
#[derive(Clone, Copy)]
pub(super) struct Index<'db> {
    pub(super) db: &'db Connection,
    held: i64,
    language: Language,
}

impl<'db> Index<'db> {
    /// The index, if its terms are of this release.
    pub(super) fn of(db: &'db Connection) -> Result<Self> {
        let state = State::read(db)?;
        state.refuse_newer()?;
        if state.is_lost() {
            return Err(index_damaged());
        }
        if state.is_older() {
            let text = "the store's index has become one of an older release; open the store anew";
            return Err(Error::corrupt(text));
        }
        let held = state.reindexed.unwrap_or(i64::MAX);
        let language = state.language()?;
        Ok(Self { db, held, language })
    }

    /// The language of its terms, and of those that it gets.
    pub(super) fn language(self) -> Language {
        self.language
    }

    /// Whether it holds every live record.
    pub(super) fn is_whole(self) -> bool {
        self.held == i64::MAX
    }

    /// The greatest id of a record that it may hold.
    pub(super) fn held(self) -> i64 {
        self.held
    }

    /// Adds the rows of the record with this id.
    pub(super) fn add(self, id: i64, doc: Doc, text: &IndexText) -> Result<()> {
        if id > self.held {
            return Ok(());
        }
        add(self.db, doc, text)
    }

    /// Removes the rows of the record with this id. FTS5 needs the same terms again for that.
    pub(super) fn remove(self, id: i64, doc: Doc, text: &IndexText) -> Result<()> {
        if id > self.held {
            return Ok(());
        }
        let sql = "INSERT INTO terms (terms, rowid, term) VALUES ('delete', ?1, ?2)";
        let mut delete = self.db.prepare_cached(sql)?;
        for (row, terms) in text.rows(doc) {
            delete.execute(params![row, terms])?;
        }
        count(self.db, doc, -1)
    }

    /// The next sequence number of a scope. When they are used up, its records are numbered anew.
    pub(super) fn next_seq(self, scope: i64) -> Result<i64> {
        let seq = take_seq(self.db, scope)?;
        if seq <= Doc::MAX_SEQ {
            return Ok(seq);
        }
        self.renumber(scope)?;
        match take_seq(self.db, scope)? {
            seq if seq <= Doc::MAX_SEQ => Ok(seq),
            _ => Err(Error::new(
                ErrorKind::Full,
                "the agent has more memories than the index holds",
            )),
        }
    }

    /// Numbers the live records of a scope from 0, in the order of their ids.
    fn renumber(self, scope: i64) -> Result<()> {
        // Numbers that none of them may be about to get.
        self.each_live(scope, |live| {
            self.remove(live.id, live.doc, &live.text)?;
            set_doc(self.db, live.id, live.id.wrapping_neg())
        })?;
        let sql = "UPDATE scopes SET next_seq = 0 WHERE id = ?1";
        self.db.execute(sql, [scope])?;
        self.each_live(scope, |live| {
            let seq = take_seq(self.db, scope)?;
            let doc = Doc { seq, ..live.doc };
            self.add(live.id, doc, &live.text)?;
            set_doc(self.db, live.id, doc.to_rowid())
        })
    }

    fn each_live(self, scope: i64, mut work: impl FnMut(&Live) -> Result<()>) -> Result<()> {
        const SQL: &str = "SELECT id, scope, level, shadow, doc, key, tags, content
                           FROM records NOT INDEXED WHERE scope = ?1 AND state = 0 ORDER BY id";
        let mut select = self.db.prepare(SQL)?;
        let mut rows = select.query([scope])?;
        while let Some(row) = rows.next()? {
            work(&Live::from_row(row, self.language)?)?;
        }
        Ok(())
    }
}

/// Whether the index overwrites what it removes, and merges its segments soon.
pub(super) fn has_options(db: &Connection) -> Result<bool> {
    let sql = "SELECT count(*) FROM terms_config
               WHERE (k, v) IN (VALUES ('secure-delete', 1), ('automerge', 2))";
    let count: i64 = db.prepare_cached(sql)?.query_row([], |row| row.get(0))?;
    Ok(count == 2)
}

/// A live record as the index must hold it.
pub(super) struct Live {
    pub(super) id: i64,
    pub(super) doc: Doc,
    pub(super) text: IndexText,
}

impl Live {
    /// Reads id, scope, level, shadow, number, key, tags and content. Of the stored number only the sequence
    /// number is taken.
    pub(super) fn from_row(row: &Row<'_>, language: Language) -> Result<Self> {
        let (key, content): (String, String) = (row.get(5)?, row.get(7)?);
        let tags = tags_from_json(&row.get::<_, String>(6)?)?;
        let text = IndexText::of(language, &key, &tags, &content);
        let doc = Doc {
            scope: row.get(1)?,
            slot: slot(row.get(2)?, row.get(3)?).ok_or_else(|| unexpected("shadow"))?,
            sampled: is_sampled(&key),
            seq: Doc::from_rowid(row.get(4)?).seq,
            length: text.length,
        };
        let id = row.get(0)?;
        Ok(Self { id, doc, text })
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

fn count(db: &Connection, doc: Doc, change: i64) -> Result<()> {
    let sql = "INSERT INTO index_stats (scope, slot, records) VALUES (?1, ?2, ?3)
               ON CONFLICT (scope, slot) DO UPDATE SET records = records + ?3";
    let counted = db
        .prepare_cached(sql)?
        .execute(params![doc.scope, doc.slot, change]);
    counted.map_err(damaged_number)?;
    let sql = "UPDATE scopes SET indexed = indexed + ?2 WHERE id = ?1";
    let counted = db.prepare_cached(sql)?.execute([doc.scope, change]);
    counted.map_err(damaged_number)?;
    Ok(())
}

/// A number of the index that can't be counted on is damage that making the index anew repairs.
fn damaged_number(error: rusqlite::Error) -> Error {
    match Error::from(error) {
        error if error.kind() == ErrorKind::Corrupt => index_damaged(),
        error => error,
    }
}

/// Changes the number under which the index knows a record.
pub(super) fn set_doc(db: &Connection, id: i64, doc: i64) -> Result<()> {
    let sql = "UPDATE records SET doc = ?2 WHERE id = ?1";
    db.prepare_cached(sql)?.execute([id, doc])?;
    Ok(())
}

fn take_seq(db: &Connection, scope: i64) -> Result<i64> {
    let sql = "UPDATE scopes SET next_seq = next_seq + 1 WHERE id = ?1 RETURNING next_seq - 1";
    let seq = db.prepare_cached(sql)?.query_row([scope], |row| row.get(0));
    match seq.map_err(damaged_number)? {
        seq if seq < 0 => Err(index_damaged()),
        seq => Ok(seq),
    }
}
