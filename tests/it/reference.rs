//! What a store must answer, told as naively as possible: one vector of versions, nothing kept
//! sorted, nothing indexed, every question answered by looking at everything.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use strandline::Classification as Level;
use strandline::ErrorKind::*;
use strandline::Limits;
use strandline::search::{
    B, K1, LENGTH, NEAR, NEXT, PARTS, RESERVE, SHARING, frequency_of, length_of, round_frequency,
    round_length,
};
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
        let parts: Vec<Vec<f64>> = parts(query, &visible);
        let score = |place: usize| {
            let row = self.beside(&visible, place);
            let own = &parts[place];
            let lent = |part: usize| {
                let shares = row.iter().map(|(share, other)| {
                    share * parts[*other].get(part).copied().unwrap_or_default()
                });
                shares.sum::<f64>()
            };
            let part = |at: usize| if own[at] > 0.0 { own[at] } else { lent(at) };
            (0..own.len()).map(part).sum::<f64>()
        };
        let all = (0..visible.len()).map(|place| (visible[place].clone(), score(place)));
        all.filter(|(_, score)| *score > 0.0).collect()
    }

    /// How many versions were saved before a live one.
    pub(crate) fn saved(&self, row: &Row) -> Option<usize> {
        let mut versions = self.versions.iter();
        versions.position(|(other, state, _)| *state == Live && other == row)
    }

    /// The visible records of the same session saved next to one, and what share of them it gets.
    fn beside(&self, visible: &[Row], place: usize) -> Vec<(f64, usize)> {
        let session = &visible[place].session;
        let saved = self.versions.iter().filter(|(_, state, _)| *state == Live);
        let places = saved.filter_map(|(row, ..)| visible.iter().position(|other| other == row));
        let row: Vec<usize> = places
            .filter(|at| visible[*at].session == *session)
            .collect();
        let own = row.iter().position(|other| *other == place).unwrap();
        let others = row.iter().enumerate();
        let shares = others.filter_map(|(at, other)| match at.abs_diff(own) {
            1 => Some((NEXT, *other)),
            2 => Some((NEAR, *other)),
            _ => None,
        });
        shares.collect()
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

/// What each record gets of each word of the query and of each part of a word: nothing at all if it
/// has no word.
fn parts(query: &[&str], visible: &[Row]) -> Vec<Vec<f64>> {
    let words = weighed(query.iter().map(|word| ((*word).to_owned(), 1.0)));
    let grams = weighed(query.iter().flat_map(|word| {
        let grams = grams(word);
        let weight = PARTS / (grams.len() as f64).powf(SHARING);
        grams.into_iter().map(move |gram| (gram, weight))
    }));
    let word_counts: Vec<Vec<usize>> = visible
        .iter()
        .map(|row| counts(&words, &self::words(row)))
        .collect();
    let found = |counts: &Vec<usize>| counts.iter().any(|count| *count > 0);
    let has: Vec<bool> = word_counts.iter().map(found).collect();
    let gram_counts = visible.iter().zip(&has).map(|(row, has)| {
        let of_row: Vec<String> = self::words(row)
            .iter()
            .flat_map(|word| self::grams(word))
            .collect();
        if *has {
            counts(&grams, &of_row)
        } else {
            vec![0; grams.len()]
        }
    });
    let gram_counts: Vec<Vec<usize>> = gram_counts.collect();
    let candidates = has.iter().filter(|has| **has).count() as f64;
    let word_idf = idf(&word_counts, words.len(), visible.len() as f64 + RESERVE);
    let gram_idf = idf(&gram_counts, grams.len(), candidates);
    let row_parts = |at: usize| {
        if !has[at] {
            return Vec::new();
        }
        let norm = K1 * (1.0 - B + B * length(&visible[at]) / LENGTH);
        let part = |weight: f64, f: f64| weight * f * (K1 + 1.0) / (f + norm);
        let of_words = words.iter().zip(&word_idf).zip(&word_counts[at]);
        let of_words =
            of_words.map(|(((_, weight), idf), count)| part(weight * idf, frequency(*count)));
        let of_grams = grams.iter().zip(&gram_idf).zip(&gram_counts[at]);
        let of_grams =
            of_grams.map(|(((_, weight), idf), count)| part(weight * idf, *count as f64));
        of_words.chain(of_grams).collect()
    };
    (0..visible.len()).map(row_parts).collect()
}

/// Each text once, with the sum of its weights.
fn weighed(texts: impl Iterator<Item = (String, f64)>) -> Vec<(String, f64)> {
    let mut all: Vec<(String, f64)> = Vec::new();
    for (text, weight) in texts {
        match all.iter_mut().find(|(other, _)| *other == text) {
            Some((_, sum)) => *sum += weight,
            None => all.push((text, weight)),
        }
    }
    all
}

fn counts(wanted: &[(String, f64)], texts: &[String]) -> Vec<usize> {
    let count = |wanted: &str| texts.iter().filter(|text| *text == wanted).count();
    wanted.iter().map(|(text, _)| count(text)).collect()
}

fn idf(counts: &[Vec<usize>], texts: usize, records: f64) -> Vec<f64> {
    let having = |at: usize| counts.iter().filter(|counts| counts[at] > 0).count() as f64;
    let idf = |n: f64| (1.0 + (records - n + 0.5) / (n + 0.5)).ln();
    (0..texts).map(|at| idf(having(at))).collect()
}

/// The parts of four letters of a word.
fn grams(word: &str) -> Vec<String> {
    let letters: Vec<char> = format!("_{}_", word.to_lowercase()).chars().collect();
    letters
        .windows(4)
        .map(|part| part.iter().collect())
        .collect()
}

fn length(row: &Row) -> f64 {
    f64::from(length_of(round_length(words(row).len() as u32)))
}

fn frequency(count: usize) -> f64 {
    let rounded = frequency_of(round_frequency(count as u32));
    if count == 0 { 0.0 } else { f64::from(rounded) }
}
