//! What a store must answer, told as naively as possible: one vector of versions, nothing kept
//! sorted, nothing indexed, every question answered by looking at everything.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use strandline::Classification as Level;
use strandline::ErrorKind::*;
use strandline::Limits;
use strandline::search::{B, K1, MAX_FREQUENCY, length_of, round_length};
use strandline::storage::VersionState::{Deleted, Live, Superseded};

use crate::model::{Kept, Known, Outcome, Row, Sheet};

#[derive(Default)]
pub(crate) struct Reference {
    pub(crate) limits: Limits,
    pub(crate) now: DateTime<Utc>,
    pub(crate) sessions: BTreeMap<String, Known>,
    pub(crate) versions: Vec<Kept>,
}

impl Reference {
    pub(crate) fn open(
        &mut self,
        id: &str,
        agent: &str,
        taint: Level,
        ceiling: Level,
    ) -> Outcome<()> {
        let known = self.sessions.get(id).cloned();
        let mut known = known.unwrap_or_else(|| Known::new(agent));
        if known.agent != agent || known.taint > ceiling {
            return Err(SessionMismatch);
        }
        known.ceiling = known.ceiling.min(ceiling);
        if taint > known.ceiling {
            return Err(CeilingExceeded);
        }
        known.rise(taint, self.now);
        self.sessions.insert(id.to_owned(), known);
        Ok(())
    }

    pub(crate) fn raise(&mut self, id: &str, level: Level) -> Outcome<Level> {
        let now = self.now;
        let known = self.sessions.get_mut(id).expect("a known session");
        if level > known.ceiling {
            return Err(CeilingExceeded);
        }
        known.rise(level, now);
        Ok(known.taint)
    }

    /// The live, unexpired versions of the agent, up to the taint, that no higher one hides; by key.
    fn visible(&self, id: &str) -> Vec<Row> {
        let asks = &self.sessions[id];
        let mut readable = Vec::new();
        for (row, state, _) in &self.versions {
            let lasts = row.expires.is_none_or(|at| at > self.now);
            if *state == Live && lasts && row.agent == asks.agent && row.level <= asks.taint {
                readable.push(row.clone());
            }
        }
        let mut visible = readable.clone();
        visible.retain(|row| {
            let hides = |other: &Row| other.key == row.key && other.level > row.level;
            !readable.iter().any(hides)
        });
        visible.sort_by(|a, b| a.key.cmp(&b.key));
        visible
    }

    pub(crate) fn save(&mut self, id: &str, sheets: &[Sheet]) -> Outcome<Vec<Row>> {
        let most = self.limits;
        for (place, sheet) in sheets.iter().enumerate() {
            let blank = sheet.key.is_empty() || sheet.words.is_empty();
            let long = sheet.words.join(" ").len() > most.content_bytes;
            match place < most.batch {
                true if blank => return Err(InvalidArgument),
                true if !long && without_repeats(&sheet.tags).len() <= most.tags => {}
                _ => return Err(LimitExceeded),
            }
        }
        Ok(sheets.iter().map(|sheet| self.store(id, sheet)).collect())
    }

    fn store(&mut self, id: &str, sheet: &Sheet) -> Row {
        let (asks, now) = (&self.sessions[id], self.now);
        let lifetime = sheet.lifetime.map(TimeDelta::seconds);
        let mut row = Row {
            agent: asks.agent.clone(),
            key: sheet.key.into(),
            level: asks.taint,
            content: sheet.words.join(" "),
            tags: without_repeats(&sheet.tags),
            version: 1,
            created: now,
            updated: now,
            expires: lifetime.map(|lifetime| now + lifetime),
            session: id.to_owned(),
        };
        for (old, state, ended) in &mut self.versions {
            if (&old.agent, &old.key, old.level) != (&row.agent, &row.key, row.level) {
                continue;
            }
            row.version += 1;
            if *state == Live && old.expires.is_none_or(|at| at > now) {
                row.created = old.created;
                row.updated = now.max(old.created);
            }
            if *state == Live {
                (*state, *ended) = (Superseded, Some(now));
            }
        }
        self.versions.push((row.clone(), Live, None));
        row
    }

    pub(crate) fn get(&self, id: &str, key: &str) -> Option<Row> {
        self.visible(id).into_iter().find(|row| row.key == key)
    }

    pub(crate) fn list(&self, id: &str, tag: Option<&str>) -> Vec<Row> {
        let mut rows = self.visible(id);
        let has = |row: &Row, tag| row.tags.iter().any(|own| own.eq_ignore_ascii_case(tag));
        rows.retain(|row| tag.is_none_or(|tag| has(row, tag)));
        rows
    }

    /// What is found, by key, with the scores of the formula in `strandline::search`.
    pub(crate) fn search(&self, id: &str, query: &[&str]) -> Vec<(Row, f64)> {
        let visible = self.visible(id);
        let records = visible.len() as f64;
        let average = visible.iter().map(length).sum::<f64>() / records;
        let score = |row: &Row, word: &str| {
            let having = visible.iter().filter(|row| frequency(row, word) > 0.0);
            let n = having.count() as f64;
            let idf = (1.0 + (records - n + 0.5) / (n + 0.5)).ln();
            let norm = K1 * (1.0 - B + B * length(row) / average);
            let f = frequency(row, word);
            idf * f * (K1 + 1.0) / (f + norm)
        };
        // A word that the query has twice is added twice: that is its weight.
        let scored = |row: Row| {
            (
                row.clone(),
                query.iter().map(|word| score(&row, word)).sum(),
            )
        };
        let all = visible.iter().cloned().map(scored);
        all.filter(|(_, score)| *score > 0.0).collect()
    }

    pub(crate) fn delete(&mut self, id: &str, key: &str) -> Outcome<()> {
        let seen = self.get(id, key).ok_or(NotFound)?;
        if seen.level != self.sessions[id].taint {
            return Err(WrongLevel);
        }
        for (row, state, ended) in &mut self.versions {
            if *row == seen && *state == Live {
                (*state, *ended) = (Deleted, Some(self.now));
            }
        }
        Ok(())
    }

    pub(crate) fn history(&self, agent: &str, key: &str) -> Vec<Kept> {
        let mut versions: Vec<Kept> = self.versions.iter().rev().cloned().collect();
        versions.retain(|(row, ..)| row.agent == agent && row.key == key);
        versions
    }
}

fn without_repeats(tags: &[&str]) -> Vec<String> {
    let first = |tag: &&str| tags.iter().position(|own| own.eq_ignore_ascii_case(tag));
    let firsts = tags
        .iter()
        .enumerate()
        .filter(|(place, tag)| first(tag) == Some(*place));
    firsts.map(|(_, tag)| (*tag).to_owned()).collect()
}

fn words(row: &Row) -> Vec<String> {
    let text = format!("{} {} {}", row.key, row.tags.join(" "), row.content);
    text.split_whitespace().map(str::to_lowercase).collect()
}

fn length(row: &Row) -> f64 {
    f64::from(length_of(round_length(words(row).len() as u32)))
}

fn frequency(row: &Row, word: &str) -> f64 {
    let count = words(row).iter().filter(|other| *other == word).count();
    (count as f64).min(f64::from(MAX_FREQUENCY))
}
