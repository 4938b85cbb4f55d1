//! The numbers from which further ones are given.

use rusqlite::Connection;

use super::super::erase::is_ahead;
use super::Findings;
use crate::error::Result;
use crate::storage::ProblemKind;

/// Adds those that are too low, so that a number would be given twice, or higher than anything explains.
pub(super) fn compare(db: &Connection, found: &mut Findings) -> Result<()> {
    found.add(ProblemKind::Numbers, ids(db)?, None);
    // A number is kept for a version that there was, and of that the audit has an entry.
    let sql = "SELECT count(*) FROM removed_versions v JOIN scopes s ON s.id = v.scope
               WHERE NOT EXISTS (
                   SELECT 1 FROM audit a INDEXED BY audit_key
                   WHERE a.agent = s.agent AND a.key = v.key AND a.namespace = s.namespace
                     AND a.level = v.level AND a.version = v.version AND a.decision = 0)";
    let unexplained: i64 = db.query_row(sql, [], |row| row.get(0))?;
    found.add(ProblemKind::Numbers, unexplained.unsigned_abs(), None);
    found.add(ProblemKind::Numbers, u64::from(is_ahead(db)?), None);
    Ok(())
}

/// Each record that is stored has an entry in the audit, so the number of the last record isn't above
/// that of the last entry.
fn ids(db: &Connection) -> Result<u64> {
    let sql = "SELECT (SELECT ifnull(max(seq), 0) FROM sqlite_sequence WHERE name = 'records'),
                      (SELECT ifnull(max(seq), 0) FROM sqlite_sequence WHERE name = 'audit'),
                      (SELECT ifnull(max(id), 0) FROM records),
                      (SELECT ifnull(max(seq), 0) FROM audit)";
    let numbers = |row: &rusqlite::Row<'_>| {
        Ok::<[i64; 4], _>([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?])
    };
    let [records, entries, last_record, last_entry] = db.query_row(sql, [], numbers)?;
    let wrong = [
        records < last_record,
        entries < last_entry,
        records > entries.max(last_entry),
    ];
    Ok(wrong.into_iter().map(u64::from).sum())
}
