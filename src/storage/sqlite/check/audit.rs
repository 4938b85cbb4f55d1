//! The audit in itself, and against the versions that are stored.

use std::collections::HashSet;

use rusqlite::{Connection, Row, params};
use uuid::Uuid;

use super::super::audit::trail;
use super::Findings;
use crate::audit::{Verification, Walk};
use crate::error::Result;
use crate::storage::{Namespace, ProblemKind};

/// How many entries are read at a time.
const BATCH: usize = 256;

/// Whether the chain is whole, and each version has the entry of its storing.
pub(super) fn compare(db: &Connection, found: &mut Findings) -> Result<()> {
    found.add(ProblemKind::Audit, u64::from(!is_chained(db)?), None);
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

fn is_chained(db: &Connection) -> Result<bool> {
    let mut walk = Walk::new(None);
    let mut after = 0;
    loop {
        let part = trail(db, after, BATCH)?;
        let last = part.links.last().map_or(0, |link| link.seq);
        part.links.into_iter().for_each(|link| walk.feed(link));
        // What has no number above 0 is no entry, and nothing after it is looked at twice.
        if last == 0 {
            return Ok(matches!(walk.finish(part.recorded), Verification::Sound(_)));
        }
        after = last;
    }
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
