//! Records as a search reads them, for the oracle and for a provider with faults.

use crate::search::analysis::Analysis;
use crate::search::{Beside, Found, Posting, Source, round_frequency, round_length};
use crate::{Memory, Result, Tag};

/// A record's place is its number.
pub(super) struct Texts<'m> {
    /// What has terms.
    pub(super) memories: Vec<&'m Memory>,
    /// How many records there are said to be.
    pub(super) records: usize,
    /// What stands next to each other, in the order of saving.
    pub(super) saved: Vec<&'m Memory>,
    /// Whether the records of all sessions stand in one row.
    pub(super) one_row: bool,
}

impl Texts<'_> {
    fn memory(&self, doc: i64) -> &Memory {
        self.memories[usize::try_from(doc).unwrap()]
    }

    fn doc(&self, memory: &Memory) -> i64 {
        let same = |other: &&&Memory| other.lineage_id == memory.lineage_id;
        let place = self.memories.iter().position(|other| same(&other));
        // One that has no terms has a number that no other has.
        let place = place.map(|place| i64::try_from(place).unwrap());
        place.unwrap_or_else(|| -1 - i64::from(memory.lineage_id.as_fields().0))
    }
}

impl Source for Texts<'_> {
    fn records(&self) -> Result<u64> {
        Ok(u64::try_from(self.records).unwrap())
    }

    fn look_up(&self, term: &str) -> Result<Found> {
        Ok(Found::All(self.having(term)?))
    }

    fn having(&self, term: &str) -> Result<Vec<Posting>> {
        let posting = |(doc, memory): (i64, &&Memory)| {
            let tags = memory.tags.iter().map(Tag::as_str);
            let found = Analysis::default().document(memory.key.as_str(), tags, &memory.content);
            let (_, count) = found.counts.iter().find(|(other, _)| other == term)?;
            Some(Posting {
                doc,
                frequency: round_frequency(*count),
                length: round_length(found.length),
            })
        };
        Ok((0..).zip(&self.memories).filter_map(posting).collect())
    }

    fn saved(&self, doc: i64) -> i64 {
        let memory = self.memory(doc);
        let same = |other: &&Memory| other.lineage_id == memory.lineage_id;
        let place = self.saved.iter().position(same);
        place.map_or(-1, |place| i64::try_from(place).unwrap())
    }

    fn read(&self, doc: i64, look: &mut dyn FnMut(&[&str])) -> Result<()> {
        let memory = self.memory(doc);
        let tags = memory.tags.iter().map(Tag::as_str);
        let texts: Vec<&str> = [memory.key.as_str()]
            .into_iter()
            .chain(tags)
            .chain([memory.content.as_str()])
            .collect();
        look(&texts);
        Ok(())
    }

    fn beside(&self, doc: i64) -> Result<Beside> {
        let memory = self.memory(doc);
        let with = |other: &&&Memory| self.one_row || other.session == memory.session;
        let row: Vec<i64> = self
            .saved
            .iter()
            .filter(with)
            .map(|m| self.doc(m))
            .collect();
        // A fault may have counted what isn't in the row.
        let Some(place) = row.iter().position(|other| *other == doc) else {
            return Ok(Beside::default());
        };
        Ok(Beside {
            before: row[..place].iter().rev().take(2).copied().collect(),
            after: row[place + 1..].iter().take(2).copied().collect(),
        })
    }
}
