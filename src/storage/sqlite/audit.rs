//! The audit: appended to by the writer, read by the host.

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Row, params, params_from_iter};

use super::rows::{level, micros, number, time, unexpected};
use super::write::to_i64;
use crate::audit::{Action, Decision, Digest, Entry, Facts, Link, Query, Trail};
use crate::error::Result;
use crate::record::MemoryKey;
use crate::session::{AgentId, SessionId};
use crate::storage::Namespace;

/// The columns that [`entry`] reads.
macro_rules! columns {
    () => {
        "seq, at, session, agent, namespace, action, decision, level, key, version, rule, detail, hash"
    };
}

/// The highest number that was ever given. SQLite keeps it in the transaction of each insertion, so
/// that a number isn't given again when the newest entries are gone.
pub(super) fn recorded(db: &Connection) -> Result<i64> {
    let sql = "SELECT max(coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit'), 0),
                          coalesce((SELECT max(seq) FROM audit), 0))";
    Ok(db.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
}

/// The highest number that was ever given, and the hash of the newest entry that there is.
fn head(db: &Connection) -> Result<(i64, Digest)> {
    let sql =
        "SELECT max(a.seq, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit'), 0)),
                      a.hash
               FROM audit a ORDER BY a.seq DESC LIMIT 1";
    let newest = db
        .prepare_cached(sql)?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    match newest {
        Some((seq, hash)) => Ok((seq, Digest::from_bytes(hash))),
        None => Ok((recorded(db)?, Digest::ZERO)),
    }
}

/// Adds an entry. The writer's transaction holds the file's only write lock, so the entry before it
/// stays the last, whatever other processes do.
pub(super) fn append(db: &Connection, facts: &Facts) -> Result<()> {
    let (last, previous) = head(db)?;
    let seq = last.saturating_add(1);
    let hash = Digest::of_entry(&previous, seq.unsigned_abs(), facts);
    let sql = concat!(
        "INSERT INTO audit (",
        columns!(),
        ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)"
    );
    db.prepare_cached(sql)?.execute(params![
        seq,
        micros(facts.at),
        facts.session.as_str(),
        facts.agent.as_str(),
        facts.namespace.as_str(),
        facts.action.as_str(),
        facts.decision as u8,
        facts.level.rank(),
        facts.key.as_ref().map(MemoryKey::as_str),
        number(facts.version.map(to_i64).transpose()?),
        facts.rule,
        facts.detail,
        hash.as_bytes(),
    ])?;
    Ok(())
}

/// Where entries are looked up, and what is asked of each.
struct Filter {
    index: &'static str,
    tests: Vec<String>,
    values: Vec<Value>,
}

impl Filter {
    fn of(query: &Query) -> Result<Self> {
        let mut filter = Self {
            index: index(query),
            tests: vec![String::from("TRUE")],
            values: Vec::new(),
        };
        let text = |text: &str| Value::Text(text.to_owned());
        let time = |time| Value::Integer(micros_up(time));
        let wanted = [
            ("agent =", query.agent.as_ref().map(|id| text(id.as_str()))),
            (
                "session =",
                query.session.as_ref().map(|id| text(id.as_str())),
            ),
            (
                "namespace =",
                query.namespace.as_ref().map(|name| text(name.as_str())),
            ),
            ("key =", query.key.as_ref().map(|key| text(key.as_str()))),
            (
                "level =",
                query.level.map(|level| Value::Integer(level.rank().into())),
            ),
            ("action =", query.action.map(|action| text(action.as_str()))),
            (
                "decision =",
                query.decision.map(|found| Value::Integer(found as i64)),
            ),
            ("at >=", query.from.map(time)),
            ("at <", query.until.map(time)),
            (
                "seq <",
                query
                    .before
                    .map(|seq| to_i64(seq.min(i64::MAX.unsigned_abs())))
                    .transpose()?
                    .map(Value::Integer),
            ),
        ];
        for (test, value) in wanted {
            if let Some(value) = value {
                filter.values.push(value);
                filter
                    .tests
                    .push(format!("{test} ?{}", filter.values.len()));
            }
        }
        Ok(filter)
    }
}

/// Which index finds the fewest entries; without one they are read from the newest on. The planner
/// would have to guess.
const fn index(query: &Query) -> &'static str {
    match query {
        Query {
            agent: Some(_),
            key: Some(_),
            ..
        } => "INDEXED BY audit_key",
        Query {
            session: Some(_), ..
        } => "INDEXED BY audit_session",
        Query { agent: Some(_), .. } => "INDEXED BY audit_agent",
        Query { from: Some(_), .. } | Query { until: Some(_), .. } => "INDEXED BY audit_time",
        _ => "NOT INDEXED",
    }
}

/// The first stored instant that isn't before this one.
fn micros_up(time: chrono::DateTime<chrono::Utc>) -> i64 {
    let whole = time.timestamp_subsec_nanos().is_multiple_of(1_000);
    micros(time).saturating_add(i64::from(!whole))
}

pub(super) fn audit(db: &Connection, query: &Query) -> Result<Vec<Entry>> {
    let Filter {
        index,
        tests,
        values,
    } = Filter::of(query)?;
    let limit = i64::try_from(query.limit).unwrap_or(i64::MAX);
    let mut select = db.prepare_cached(&format!(
        concat!(
            "SELECT ",
            columns!(),
            " FROM audit {} WHERE {} ORDER BY seq DESC LIMIT {}"
        ),
        index,
        tests.join(" AND "),
        limit
    ))?;
    let mut rows = select.query(params_from_iter(values))?;
    let mut entries = Vec::new();
    while let Some(row) = rows.next()? {
        entries.push(entry(row)?);
    }
    Ok(entries)
}

pub(super) fn trail(db: &Connection, after: u64, limit: usize) -> Result<Trail> {
    const SQL: &str = concat!(
        "SELECT ",
        columns!(),
        " FROM audit NOT INDEXED WHERE seq > ?1 ORDER BY seq LIMIT ?2"
    );
    // No entry has a number below 1, so one that does has to come to light.
    let after = match after {
        0 => i64::MIN,
        after => i64::try_from(after).unwrap_or(i64::MAX),
    };
    let limit = i64::try_from(limit.max(1)).unwrap_or(i64::MAX);
    let mut select = db.prepare_cached(SQL)?;
    let mut rows = select.query([after, limit])?;
    let mut links = Vec::new();
    while let Some(row) = rows.next()? {
        links.push(Link {
            seq: row.get::<_, i64>(0)?.try_into().unwrap_or(0),
            // The row is in memory by now, so nothing can be wrong but what is in it.
            entry: entry(row).ok(),
        });
    }
    Ok(Trail {
        links,
        recorded: recorded(db)?.try_into().unwrap_or(0),
    })
}

fn entry(row: &Row<'_>) -> Result<Entry> {
    Ok(Entry {
        seq: row
            .get::<_, i64>(0)?
            .try_into()
            .map_err(|_| unexpected("audit number"))?,
        facts: facts(row)?,
        hash: Digest::from_bytes(row.get(12)?),
    })
}

fn facts(row: &Row<'_>) -> Result<Facts> {
    let text = |column: usize| row.get::<_, String>(column);
    let key = row.get::<_, Option<String>>(8)?;
    Ok(Facts {
        at: time(row.get(1)?)?,
        session: exact(&text(2)?, SessionId::as_str, "session id")?,
        agent: exact(&text(3)?, AgentId::as_str, "agent id")?,
        namespace: exact(&text(4)?, Namespace::as_str, "namespace")?,
        action: Action::from_name(&text(5)?).ok_or_else(|| unexpected("action"))?,
        decision: decision(row.get(6)?)?,
        level: level(row.get(7)?)?,
        key: key
            .map(|key| exact(&key, MemoryKey::as_str, "key"))
            .transpose()?,
        version: version(row.get(9)?)?,
        rule: row.get(10)?,
        detail: row.get(11)?,
    })
}

/// What a text names, if that is how it is written: nothing may be another text and read the same.
fn exact<T: std::str::FromStr>(text: &str, name: fn(&T) -> &str, what: &str) -> Result<T> {
    let named = text.parse().ok().filter(|named| name(named) == text);
    named.ok_or_else(|| unexpected(what))
}

fn decision(number: u8) -> Result<Decision> {
    [Decision::Allowed, Decision::Refused]
        .into_iter()
        .find(|&decision| decision as u8 == number)
        .ok_or_else(|| unexpected("decision"))
}

fn version(number: Option<i64>) -> Result<Option<u64>> {
    number
        .map(|number| number.try_into().map_err(|_| unexpected("version")))
        .transpose()
}
