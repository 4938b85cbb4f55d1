//! What one grant sees, as a search reads it.

use std::cell::OnceCell;
use std::collections::HashMap;

use super::{Row, to_u64};
use crate::error::Result;
use crate::record::Tag;
use crate::search::analysis::{Analysis, Language};
use crate::search::{
    Beside, COMMON, Found, Posting, SAMPLE, Source, is_sampled, round_frequency, round_length,
};
use crate::session::SessionId;

/// What a grant sees, by key; a row's place is its number.
pub(super) struct Seen<'s> {
    analysis: Analysis,
    rows: Vec<&'s Row>,
    /// The rows of each session in the order of saving.
    sessions: OnceCell<HashMap<&'s SessionId, Vec<i64>>>,
}

impl<'s> Seen<'s> {
    pub(super) fn of(rows: Vec<&'s Row>, analysis: Analysis) -> Self {
        Self {
            analysis,
            rows,
            sessions: OnceCell::new(),
        }
    }

    pub(super) fn row(&self, doc: i64) -> Option<&'s Row> {
        let place = usize::try_from(doc).ok()?;
        self.rows.get(place).copied()
    }

    fn sessions(&self) -> &HashMap<&'s SessionId, Vec<i64>> {
        self.sessions.get_or_init(|| {
            let mut sessions = HashMap::<_, Vec<_>>::new();
            for (doc, row) in (0..).zip(&self.rows) {
                let session = &row.version.memory.session;
                sessions.entry(session).or_default().push(doc);
            }
            for docs in sessions.values_mut() {
                docs.sort_by_key(|doc| self.row(*doc).map(|row| row.order));
            }
            sessions
        })
    }
}

impl Source for Seen<'_> {
    fn language(&self) -> Language {
        self.analysis.language()
    }

    fn records(&self) -> Result<u64> {
        Ok(to_u64(self.rows.len()))
    }

    fn look_up(&self, term: &str) -> Result<Found> {
        let having = self.having(term)?;
        let sampled = |posting: &&Posting| {
            let row = self.row(posting.doc);
            row.is_some_and(|row| is_sampled(row.version.memory.key.as_str()))
        };
        let count = to_u64(having.iter().filter(sampled).count()).saturating_mul(SAMPLE);
        if count > COMMON && self.records()? > COMMON {
            return Ok(Found::Common(count));
        }
        Ok(Found::All(having))
    }

    fn having(&self, term: &str) -> Result<Vec<Posting>> {
        let posting = |(doc, row): (i64, &&Row)| {
            Some(Posting {
                doc,
                frequency: round_frequency(row.count_of(term)?),
                length: round_length(row.terms.length),
            })
        };
        Ok((0..).zip(&self.rows).filter_map(posting).collect())
    }

    fn saved(&self, doc: i64) -> i64 {
        let order = self.row(doc).map(|row| row.order);
        order
            .and_then(|order| i64::try_from(order).ok())
            .unwrap_or_default()
    }

    fn read(&self, doc: i64, look: &mut dyn FnMut(&[&str])) -> Result<()> {
        if let Some(row) = self.row(doc) {
            let memory = &row.version.memory;
            let mut texts = vec![memory.key.as_str()];
            texts.extend(memory.tags.iter().map(Tag::as_str));
            texts.push(&memory.content);
            look(&texts);
        }
        Ok(())
    }

    fn beside(&self, doc: i64) -> Result<Beside> {
        let Some(row) = self.row(doc) else {
            return Ok(Beside::default());
        };
        let session = self.sessions().get(&row.version.memory.session);
        let docs = session.map_or(&[][..], Vec::as_slice);
        let earlier = |other: &i64| {
            self.row(*other)
                .is_some_and(|other| other.order < row.order)
        };
        let (before, from) = docs.split_at(docs.partition_point(earlier));
        Ok(Beside {
            before: before.iter().rev().take(2).copied().collect(),
            after: from.iter().skip(1).take(2).copied().collect(),
        })
    }
}
