//! Saves and deletions. Each runs in the transaction that the pool opened.

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use uuid::Uuid;

use super::audit::append;
use super::index::{Index, IndexText};
use super::layout::{Doc, UNSHADOWED, slot};
use super::read;
use super::rows::{
    View, level, micros, number, scope_id, tags_from_json, tags_to_json, time, unexpected,
};
use crate::error::{Error, ErrorKind, Result};
use crate::policy::Writing;
use crate::record::{Memory, MemoryKey, Tag};
use crate::search::analysis::Language;
use crate::search::is_sampled;
use crate::session::AgentId;
use crate::storage::{Deletion, Namespace, NewRecord, Restore};

/// What a live record becomes when it ends.
#[derive(Clone, Copy)]
pub(super) enum End {
    Superseded = 1,
    Deleted = 2,
}

/// A live record under the key that is written, as far as the index needs it.
pub(super) struct Live {
    pub(super) id: i64,
    level: u8,
    shadow: u8,
    doc: Doc,
    version: u64,
    created_at: i64,
    expires_at: Option<i64>,
    tags: Vec<Tag>,
    content: String,
}

impl Live {
    /// What the index has of it.
    fn text(&self, key: &MemoryKey, language: Language) -> IndexText {
        IndexText::of(language, key.as_str(), &self.tags, &self.content)
    }
}

/// The records with what the index will hold of them.
pub(super) fn analyse(records: &[NewRecord], language: Language) -> Vec<(NewRecord, IndexText)> {
    let text = |r: &NewRecord| IndexText::of(language, r.key.as_str(), &r.tags, &r.content);
    records
        .iter()
        .map(|record| (record.clone(), text(record)))
        .collect()
}

pub(super) fn save(
    db: &Connection,
    grant: &Writing,
    records: &[(NewRecord, IndexText)],
) -> Result<Vec<Memory>> {
    let index = Index::of(db)?;
    refuse_stale_taint(db, grant)?;
    let scope = make_scope(db, grant.namespace(), grant.agent())?;
    let save = |(record, text): &(NewRecord, IndexText)| {
        let memory = store(index, grant, scope, record, text)?;
        append(db, &grant.facts(&memory.key, memory.version))?;
        Ok(memory)
    };
    records.iter().map(save).collect()
}

/// Makes an earlier version the live one again, as a new version.
pub(super) fn restore(
    db: &Connection,
    grant: &Writing,
    request: &Restore,
) -> Result<Option<Memory>> {
    let index = Index::of(db)?;
    refuse_stale_taint(db, grant)?;
    let Some(scope) = scope_id(db, grant.namespace(), grant.agent())? else {
        return Ok(None);
    };
    let Some(old) = read::version(db, scope, grant, request)? else {
        return Ok(None);
    };
    if old.expires_at.is_some_and(|at| at <= grant.now()) {
        return Err(Error::restores_expired());
    }
    let text = IndexText::of(index.language(), old.key.as_str(), &old.tags, &old.content);
    let record = NewRecord {
        key: old.key,
        content: old.content,
        tags: old.tags,
        expires_at: old.expires_at,
        lineage_id: request.lineage_id,
    };
    let memory = store(index, grant, scope, &record, &text)?;
    append(
        db,
        &grant.restored(&memory.key, memory.version, request.version),
    )?;
    Ok(Some(memory))
}

/// Stores a record, but for its entry in the audit.
fn store(
    index: Index<'_>,
    grant: &Writing,
    scope: i64,
    record: &NewRecord,
    text: &IndexText,
) -> Result<Memory> {
    let db = index.db;
    // Taken first: renumbering the scope changes the rows that are read next.
    let seq = index.next_seq(scope)?;
    let live = live_versions(db, scope, &record.key)?;
    let memory = next_version(db, grant, scope, record, &live)?;
    store_live(index, scope, seq, &memory, text, &live, micros(grant.now()))?;
    Ok(memory)
}

/// Stores a live version in place of the one that it supersedes.
pub(super) fn store_live(
    index: Index<'_>,
    scope: i64,
    seq: i64,
    memory: &Memory,
    text: &IndexText,
    live: &[Live],
    now: i64,
) -> Result<()> {
    // Another process may have set the file to another language since the text was analysed.
    let again = (text.language() != index.language()).then(|| {
        let key = memory.key.as_str();
        IndexText::of(index.language(), key, &memory.tags, &memory.content)
    });
    let text = again.as_ref().unwrap_or(text);
    let rank = memory.classification.rank();
    let shadow = displace(index, scope, &memory.key, live, rank, now)?;
    let doc = Doc {
        scope,
        slot: slot(rank, shadow).ok_or_else(|| unexpected("shadow"))?,
        sampled: is_sampled(memory.key.as_str()),
        seq,
        length: text.length,
    };
    let id = insert(index.db, scope, memory, Standing::Live { doc, shadow })?;
    index.add(id, doc, text)
}

/// The version that follows the live ones under its key (clause 4).
fn next_version(
    db: &Connection,
    grant: &Writing,
    scope: i64,
    record: &NewRecord,
    live: &[Live],
) -> Result<Memory> {
    let (rank, now) = (grant.level().rank(), micros(grant.now()));
    let old = superseded(live, rank);
    // Not the live one's: an import may have brought later ones that had ended.
    let last = last_version(db, scope, &record.key, rank)?;
    let unexpired = old.filter(|old| old.expires_at.is_none_or(|at| at > now));
    let created_at = unexpired.map_or(now, |old| old.created_at);
    Ok(Memory {
        key: record.key.clone(),
        content: record.content.clone(),
        classification: grant.level(),
        tags: record.tags.clone(),
        agent: grant.agent().clone(),
        version: following(last)?,
        created_at: time(created_at)?,
        updated_at: time(now.max(created_at))?,
        expires_at: record.expires_at,
        session: grant.session().clone(),
        lineage_id: record.lineage_id,
    })
}

/// The live record that a save at this level supersedes.
fn superseded(live: &[Live], rank: u8) -> Option<&Live> {
    live.iter()
        .find(|old| old.level == rank || planted!(SupersedesAnyLevel))
}

/// Makes way for a record at a level: ends the one it supersedes and shades those below.
/// Returns which level shadows the new one.
fn displace(
    index: Index<'_>,
    scope: i64,
    key: &MemoryKey,
    live: &[Live],
    rank: u8,
    now: i64,
) -> Result<u8> {
    if let Some(old) = superseded(live, rank) {
        end(index, scope, key, old, End::Superseded, now)?;
    }
    for lower in live
        .iter()
        .filter(|lower| lower.level < rank && lower.shadow > rank && !planted!(ShadowKeptOnSave))
    {
        shade(index, key, lower, rank)?;
    }
    let above = live.iter().map(|other| other.level);
    Ok(above
        .filter(|&other| other > rank)
        .min()
        .unwrap_or(UNSHADOWED))
}

pub(super) fn delete(db: &Connection, grant: &Writing, key: &MemoryKey) -> Result<Deletion> {
    let index = Index::of(db)?;
    refuse_stale_taint(db, grant)?;
    let Some(scope) = scope_id(db, grant.namespace(), grant.agent())? else {
        return Ok(Deletion::NotFound);
    };
    let (rank, now) = (grant.level().rank(), micros(grant.now()));
    let live = live_versions(db, scope, key)?;
    let unexpired = |old: &&Live| old.expires_at.is_none_or(|at| at > now);
    let Some(old) = live.iter().filter(unexpired).find(|old| old.level == rank) else {
        let view = View {
            scope,
            session: grant.level(),
            now,
        };
        let seen = read::get_in(db, view, grant.agent(), key)?;
        return Ok(seen.map_or(Deletion::NotFound, |m| {
            Deletion::WrongLevel(m.classification)
        }));
    };
    withdraw(index, scope, key, old, &live, End::Deleted, now)?;
    append(db, &grant.facts(key, old.version))?;
    Ok(Deletion::Done {
        version: old.version,
    })
}

/// Ends the live record of this id as deleted, unless it isn't live any more.
pub(super) fn end_live(
    index: Index<'_>,
    scope: i64,
    key: &MemoryKey,
    id: i64,
    now: i64,
) -> Result<()> {
    let live = live_versions(index.db, scope, key)?;
    let Some(old) = live.iter().find(|old| old.id == id) else {
        return Ok(());
    };
    withdraw(index, scope, key, old, &live, End::Deleted, now)
}

/// Ends one of the live records under a key without another in its place: what it shadowed shows again.
pub(super) fn withdraw(
    index: Index<'_>,
    scope: i64,
    key: &MemoryKey,
    old: &Live,
    live: &[Live],
    state: End,
    now: i64,
) -> Result<()> {
    end(index, scope, key, old, state, now)?;
    for lower in live
        .iter()
        .filter(|lower| lower.shadow == old.level && !planted!(ShadowKeptOnDelete))
    {
        shade(index, key, lower, old.shadow)?;
    }
    Ok(())
}

/// Clause 7: a session whose recorded taint is higher writes no more at this level.
fn refuse_stale_taint(db: &Connection, grant: &Writing) -> Result<()> {
    let sql = "SELECT level FROM records
               WHERE scope = (SELECT id FROM scopes WHERE namespace = ?1 AND agent = ?2)
                 AND key = ?3 AND state = 0
               ORDER BY level DESC LIMIT 1";
    let names = [
        Namespace::SESSION.as_str(),
        Namespace::SESSION_OWNER,
        grant.session().as_str(),
    ];
    let mut select = db.prepare_cached(sql)?;
    let recorded: Option<u8> = select.query_row(names, |row| row.get(0)).optional()?;
    match recorded.map(level).transpose()? {
        Some(taint) if taint > grant.level() && !planted!(StaleTaintAccepted) => Err(Error::new(
            ErrorKind::TaintRaised,
            format!("the session's taint is {taint}, above {}", grant.level()),
        )),
        _ if grant.is_of_session() => grant.refuse_overtaken(last_of_session(db, names)?),
        _ => Ok(()),
    }
}

/// The version of a session's record that was stored last.
fn last_of_session(db: &Connection, names: [&str; 3]) -> Result<Option<Uuid>> {
    let sql = "SELECT lineage FROM records
               WHERE scope = (SELECT id FROM scopes WHERE namespace = ?1 AND agent = ?2)
                 AND key = ?3
               ORDER BY id DESC LIMIT 1";
    let last: Option<[u8; 16]> = db
        .prepare_cached(sql)?
        .query_row(names, |row| row.get(0))
        .optional()?;
    Ok(last.map(Uuid::from_bytes))
}

pub(super) fn make_scope(db: &Connection, namespace: &Namespace, agent: &AgentId) -> Result<i64> {
    if let Some(scope) = scope_id(db, namespace, agent)? {
        return Ok(scope);
    }
    let sql = "INSERT INTO scopes (namespace, agent) VALUES (?1, ?2) RETURNING id";
    let names = [namespace.as_str(), agent.as_str()];
    let scope = db.prepare_cached(sql)?.query_row(names, |row| row.get(0))?;
    if scope > Doc::MAX_SCOPE {
        let text = "the store has as many agents and namespaces as its index holds: 4,194,303";
        return Err(Error::new(ErrorKind::Full, text));
    }
    Ok(scope)
}

/// The live records under a key, at most one a level.
pub(super) fn live_versions(db: &Connection, scope: i64, key: &MemoryKey) -> Result<Vec<Live>> {
    let sql = "SELECT id, level, shadow, doc, version, created_at, expires_at, tags, content
               FROM records WHERE scope = ?1 AND key = ?2 AND state = 0 ORDER BY level";
    let mut select = db.prepare_cached(sql)?;
    let mut rows = select.query(params![scope, key.as_str()])?;
    let mut live = Vec::new();
    while let Some(row) = rows.next()? {
        live.push(live_version(row)?);
    }
    Ok(live)
}

fn live_version(row: &Row<'_>) -> Result<Live> {
    let tags = tags_from_json(
        row.get_ref(7)?
            .as_str()
            .map_err(|_| unexpected("tag list"))?,
    )?;
    Ok(Live {
        id: row.get(0)?,
        level: row.get(1)?,
        shadow: row.get(2)?,
        doc: Doc::from_rowid(row.get(3)?),
        version: row
            .get::<_, i64>(4)?
            .try_into()
            .map_err(|_| unexpected("version"))?,
        created_at: row.get(5)?,
        expires_at: row.get(6)?,
        tags,
        content: row.get(8)?,
    })
}

/// The number after another. There is always one for what this crate wrote.
fn following(version: u64) -> Result<u64> {
    let next = version
        .checked_add(1)
        .filter(|next| i64::try_from(*next).is_ok());
    next.ok_or_else(|| unexpected("version"))
}

/// The highest version that a key ever had at a level; 0 if none.
pub(super) fn last_version(db: &Connection, scope: i64, key: &MemoryKey, rank: u8) -> Result<u64> {
    let sql = "SELECT max(version) FROM (
                   SELECT max(version) AS version FROM records
                   WHERE scope = ?1 AND key = ?2 AND level = ?3
                   UNION ALL
                   SELECT version FROM removed_versions
                   WHERE scope = ?1 AND key = ?2 AND level = ?3)";
    let mut select = db.prepare_cached(sql)?;
    let last: Option<i64> =
        select.query_row(params![scope, key.as_str(), rank], |row| row.get(0))?;
    last.unwrap_or(0)
        .try_into()
        .map_err(|_| unexpected("version"))
}

/// Ends a live record; its row stays.
fn end(
    index: Index<'_>,
    scope: i64,
    key: &MemoryKey,
    old: &Live,
    end: End,
    now: i64,
) -> Result<()> {
    let db = index.db;
    index.remove(old.id, old.doc, &old.text(key, index.language()))?;
    let sql = "UPDATE records SET state = ?2, ended_at = ?3, doc = NULL WHERE id = ?1";
    db.prepare_cached(sql)?
        .execute(params![old.id, end as u8, now])?;
    let sql = "DELETE FROM record_tags WHERE scope = ?1 AND tag = ?2 AND key = ?3 AND level = ?4";
    let mut delete = db.prepare_cached(sql)?;
    for tag in &old.tags {
        delete.execute(params![scope, tag.folded(), key.as_str(), old.level])?;
    }
    Ok(())
}

/// Notes which level next shadows a live record, and moves its index row accordingly.
fn shade(index: Index<'_>, key: &MemoryKey, live: &Live, shadow: u8) -> Result<()> {
    let slot = slot(live.level, shadow).ok_or_else(|| unexpected("shadow"))?;
    let doc = Doc { slot, ..live.doc };
    let text = live.text(key, index.language());
    index.remove(live.id, live.doc, &text)?;
    index.add(live.id, doc, &text)?;
    let sql = "UPDATE records SET shadow = ?2, doc = ?3 WHERE id = ?1";
    let mut update = index.db.prepare_cached(sql)?;
    update.execute(params![live.id, shadow, doc.to_rowid()])?;
    Ok(())
}

/// Where a new version stands.
#[derive(Clone, Copy)]
pub(super) enum Standing {
    Live { doc: Doc, shadow: u8 },
    Ended { state: End, at: Option<i64> },
}

/// Stores a new version, with its tags if it is live. Returns its id.
pub(super) fn insert(
    db: &Connection,
    scope: i64,
    memory: &Memory,
    standing: Standing,
) -> Result<i64> {
    let rank = memory.classification.rank();
    let (doc, shadow, state, ended_at) = match standing {
        Standing::Live { doc, shadow } => (Some(doc.to_rowid()), shadow, 0, None),
        Standing::Ended { state, at } => (None, UNSHADOWED, state as u8, at),
    };
    let sql = "INSERT INTO records (scope, level, key, version, content, tags, created_at,
               updated_at, expires_at, session, lineage, state, shadow, doc, ended_at)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)";
    db.prepare_cached(sql)?.execute(params![
        scope,
        rank,
        memory.key.as_str(),
        to_i64(memory.version)?,
        memory.content,
        tags_to_json(&memory.tags)?,
        micros(memory.created_at),
        micros(memory.updated_at),
        number(memory.expires_at.map(micros)),
        memory.session.as_str(),
        memory.lineage_id.as_bytes(),
        state,
        shadow,
        number(doc),
        number(ended_at),
    ])?;
    let record = db.last_insert_rowid();
    if doc.is_some() {
        insert_tags(db, scope, record, memory)?;
    }
    Ok(record)
}

fn insert_tags(db: &Connection, scope: i64, record: i64, memory: &Memory) -> Result<()> {
    let rank = memory.classification.rank();
    let sql = "INSERT INTO record_tags (scope, tag, key, level, record)
               VALUES (?1, ?2, ?3, ?4, ?5)";
    let mut insert = db.prepare_cached(sql)?;
    for tag in &memory.tags {
        insert.execute(params![
            scope,
            tag.folded(),
            memory.key.as_str(),
            rank,
            record
        ])?;
    }
    Ok(())
}

pub(super) fn to_i64(number: u64) -> Result<i64> {
    number
        .try_into()
        .map_err(|_| Error::internal("a version number is too large"))
}
