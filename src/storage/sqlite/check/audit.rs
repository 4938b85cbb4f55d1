//! The audit in itself, and against the versions that are stored.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use uuid::Uuid;

use super::super::audit::trail;
use super::Findings;
use crate::audit::{Verification, Walk};
use crate::error::Result;
use crate::storage::{Erasure, Namespace, ProblemKind};

/// How many entries are read at a time.
const BATCH: usize = 256;

/// Whether the chain is whole, each version has the entry of its storing, and each such entry its version or
/// that of a removal.
pub(super) fn compare(db: &Connection, found: &mut Findings) -> Result<()> {
    let (is_chained, removed) = walk(db)?;
    found.add(ProblemKind::Audit, u64::from(!is_chained), None);
    stored_and_gone(db, removed, found)?;
    let sql = "SELECT s.namespace, s.agent, r.key, r.level, r.version, r.lineage
               FROM scopes s CROSS JOIN records r INDEXED BY records_version ON r.scope = s.id
               ORDER BY s.id, r.key, r.level, r.version";
    let mut select = db.prepare(sql)?;
    let mut rows = select.query([])?;
    let mut owner = Owner::default();
    let mut entries = HashSet::new();
    while let Some(row) = rows.next()? {
        let next = Owner::read(row)?;
        if next != owner {
            owner = next;
            entries = owner.entries(db)?;
        }
        if !entries.contains(&(row.get(3)?, row.get(4)?)) {
            found.add(ProblemKind::Audit, 1, row.get(5).map(Uuid::from_bytes).ok());
        }
    }
    Ok(())
}

/// Whether the chain is whole, and how many versions were removed by what it says.
fn walk(db: &Connection) -> Result<(bool, u64)> {
    let mut walk = Walk::new(None);
    let (mut after, mut removed) = (0, 0_u64);
    loop {
        let part = trail(db, after, BATCH)?;
        let last = part.links.last().map_or(0, |link| link.seq);
        for link in part.links {
            let entry = link.entry.as_ref();
            let count = entry.map_or(0, |entry| Erasure::removed(&entry.facts));
            removed = removed.saturating_add(count);
            walk.feed(link);
        }
        // What has no number above the last is no entry, and nothing after it is looked at twice.
        if last <= after {
            let is_chained = matches!(walk.finish(part.recorded), Verification::Sound(_));
            return Ok((is_chained, removed));
        }
        after = last;
    }
}

/// Adds the versions that were stored, by their entries, and are neither there nor removed.
///
/// Where some versions of a key were removed only their number is known, so they are counted in all.
fn stored_and_gone(db: &Connection, removed: u64, found: &mut Findings) -> Result<()> {
    let sql = "SELECT agent, key, namespace, level, version FROM audit INDEXED BY audit_key
               WHERE key IS NOT NULL AND decision = 0 AND version IS NOT NULL
                 AND action IN ('open', 'raise', 'save', 'restore', 'import')
               ORDER BY agent, key";
    let mut select = db.prepare(sql)?;
    let mut rows = select.query([])?;
    let mut owner = (String::new(), String::new());
    let mut versions = BTreeSet::new();
    let (mut stored, mut low) = (0_u64, 0_u64);
    while let Some(row) = rows.next()? {
        let next = (row.get(0)?, row.get(1)?);
        if next != owner {
            low += low_numbers(db, &owner, &versions)?;
            (owner, versions) = (next, BTreeSet::new());
        }
        let version: (String, u8, i64) = (row.get(2)?, row.get(3)?, row.get(4)?);
        // What has ended by an import has a second entry.
        stored += u64::from(versions.insert(version));
    }
    low += low_numbers(db, &owner, &versions)?;
    found.add(ProblemKind::Numbers, low, None);
    let sql = "SELECT count(*) FROM records";
    let held: i64 = db.query_row(sql, [], |row| row.get(0))?;
    let known = removed.saturating_add(held.unsigned_abs());
    let gone = stored.saturating_sub(known);
    found.add(ProblemKind::Audit, gone, None);
    Ok(())
}

/// How many levels of a key will give a number once more that a version there had.
fn low_numbers(
    db: &Connection,
    (agent, key): &(String, String),
    versions: &BTreeSet<(String, u8, i64)>,
) -> Result<u64> {
    let mut highest = BTreeMap::new();
    for (namespace, level, version) in versions {
        highest.insert((namespace, *level), *version);
    }
    let sql = "SELECT ?5 > max(
                   ifnull((SELECT max(version) FROM records
                           WHERE scope = s.id AND key = ?3 AND level = ?4), 0),
                   ifnull((SELECT version FROM removed_versions
                           WHERE scope = s.id AND key = ?3 AND level = ?4), 0))
               FROM scopes s WHERE s.namespace = ?1 AND s.agent = ?2";
    let mut select = db.prepare_cached(sql)?;
    let mut low = 0;
    for ((namespace, level), version) in highest {
        let is_session = namespace == Namespace::SESSION.as_str();
        let agent = if is_session {
            Namespace::SESSION_OWNER
        } else {
            agent
        };
        let is_low = select.query_row(params![namespace, agent, key, level, version], |row| {
            row.get::<_, bool>(0)
        });
        low += u64::from(is_low.optional()?.unwrap_or(true));
    }
    Ok(low)
}

/// Whose versions follow each other.
#[derive(Default, PartialEq)]
struct Owner {
    namespace: String,
    agent: String,
    key: String,
}

impl Owner {
    fn read(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            namespace: row.get(0)?,
            agent: row.get(1)?,
            key: row.get(2)?,
        })
    }

    /// The levels and numbers of the versions that the audit says were stored. The state of a session has
    /// its id as key; its entries name the session's own agent.
    fn entries(&self, db: &Connection) -> Result<HashSet<(u8, i64)>> {
        let session = self.namespace == Namespace::SESSION.as_str();
        let owner = if session {
            "INDEXED BY audit_session WHERE session = ?3 AND ?1 = ?1"
        } else {
            "INDEXED BY audit_key WHERE agent = ?1 AND key = ?3"
        };
        let sql = format!(
            "SELECT level, version FROM audit {owner} AND namespace = ?2 AND decision = 0
             AND action <> 'delete' AND version IS NOT NULL"
        );
        let mut select = db.prepare_cached(&sql)?;
        let mut rows = select.query(params![self.agent, self.namespace, self.key])?;
        let mut entries = HashSet::new();
        while let Some(row) = rows.next()? {
            let entry = (row.get(0)?, row.get(1)?);
            entries.insert(entry);
        }
        Ok(entries)
    }
}
