//! What low sessions must see, worked out from what low sessions did: the other half of the property.
//!
//! Comparing two runs finds what depends on hidden records. It can't find a rule that is broken in
//! both alike, such as a list that shows what get hides, so each run is checked against this as well
//! (invariants I3 and I5).

mod tools;

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::observe;
use super::texts::Texts;
use super::trace::{AGENT, Text};
use crate::search::analysis::Analysis;
use crate::search::{Explainer, find};
use crate::storage::{self, SearchRequest};
use crate::{Classification, ErrorKind, Hit, Memory, Page, Result, Tag};

/// A low session's handle: its number, and which store it goes through.
pub(super) type Handle = (u8, u8);

/// All that low sessions wrote, and their taints.
#[derive(Default)]
pub(super) struct Oracle {
    rows: Vec<(Memory, bool)>,
    /// What a handle knows of its session's taint.
    known: BTreeMap<Handle, Classification>,
    /// The taint that a session has in the store.
    recorded: BTreeMap<u8, Classification>,
    pub(super) now: DateTime<Utc>,
    /// What was not as it must be.
    pub(super) wrong: Vec<String>,
}

impl Oracle {
    /// The agent's visible records at a level, by key.
    fn visible(&self, level: Classification) -> Vec<&Memory> {
        let mut seen: BTreeMap<&str, &Memory> = BTreeMap::new();
        for (memory, live) in &self.rows {
            let unexpired = memory.expires_at.is_none_or(|at| at > self.now);
            if *live && unexpired && memory.classification.can_flow_to(level) {
                let shown = seen.entry(memory.key.as_str()).or_insert(memory);
                if memory.classification > shown.classification {
                    *shown = memory;
                }
            }
        }
        seen.into_values().collect()
    }

    /// The taint that a handle knows of.
    pub(super) fn level(&self, who: Handle) -> Classification {
        self.known.get(&who).copied().unwrap_or_default()
    }

    fn expect(&mut self, what: &str, got: &str, wanted: &str) {
        if got != wanted {
            self.wrong
                .push(format!("{what}:\n  got    {got}\n  wanted {wanted}"));
        }
    }

    /// A session was opened or resumed, and asked for at least this taint; a refusal raises nothing.
    pub(super) fn opened(
        &mut self,
        who: Handle,
        asked: Classification,
        ok: bool,
        got: Classification,
    ) {
        let recorded = self.recorded.get(&who.0).copied().unwrap_or_default();
        let wanted = if ok { recorded.join(asked) } else { recorded };
        self.expect("taint", got.as_str(), wanted.as_str());
        self.recorded.insert(who.0, wanted);
        self.known.insert(who, wanted);
    }

    /// A handle raised its session. Where its taint was as high already, it learnt nothing.
    pub(super) fn raised(
        &mut self,
        who: Handle,
        asked: Classification,
        ok: bool,
        got: Classification,
    ) {
        let known = self.level(who);
        if asked.can_flow_to(known) {
            self.expect("taint", got.as_str(), known.as_str());
        } else {
            self.opened(who, asked, ok, got);
        }
    }

    /// A handle wrote, so it knows of every raise now. Returns the level to write at.
    fn writes(&mut self, who: Handle) -> Classification {
        let recorded = self.recorded.get(&who.0).copied().unwrap_or_default();
        self.known.insert(who, recorded);
        recorded
    }

    pub(super) fn forget_handles(&mut self) {
        self.known.clear();
    }

    pub(super) fn saved(&mut self, who: Handle, texts: &[&Text], reply: &Result<Vec<Memory>>) {
        if texts.iter().any(|text| text.words.is_empty()) {
            let kind = reply.as_ref().err().map(crate::Error::kind);
            let wanted = Some(ErrorKind::InvalidArgument);
            return self.expect("a blank save", &format!("{kind:?}"), &format!("{wanted:?}"));
        }
        let level = if texts.is_empty() {
            self.level(who)
        } else {
            self.writes(who)
        };
        let Ok(saved) = reply else {
            return self.expect(
                "a save",
                &observe::reply(reply, |_| String::new()),
                "a memory",
            );
        };
        if saved.len() != texts.len() {
            return self.expect("saved", &saved.len().to_string(), &texts.len().to_string());
        }
        for (text, saved) in texts.iter().zip(saved) {
            let wanted = self.save(who, level, text, saved);
            self.expect("saved", &observe::memory(saved), &observe::memory(&wanted));
        }
    }

    fn save(&mut self, who: Handle, level: Classification, text: &Text, saved: &Memory) -> Memory {
        let now = self.now;
        let same = |m: &Memory| m.key.as_str() == text.key() && m.classification == level;
        let earlier = self.rows.iter().filter(|(memory, _)| same(memory)).count();
        let live = self
            .rows
            .iter_mut()
            .find(|(memory, live)| *live && same(memory));
        let mut created_at = now;
        if let Some((memory, live)) = live {
            *live = false;
            if memory.expires_at.is_none_or(|at| at > now) {
                created_at = memory.created_at;
            }
        }
        let mut tags: Vec<Tag> = Vec::new();
        for tag in text.tags() {
            let tag: Tag = tag.parse().unwrap();
            if !tags.contains(&tag) {
                tags.push(tag);
            }
        }
        let memory = Memory {
            key: text.key().parse().unwrap(),
            content: text.content(),
            classification: level,
            tags,
            agent: AGENT.parse().unwrap(),
            version: u64::try_from(earlier).unwrap() + 1,
            created_at,
            updated_at: now.max(created_at),
            expires_at: text
                .expires_in
                .map(|seconds| now + chrono::Duration::seconds(seconds)),
            session: format!("low-{}", who.0).parse().unwrap(),
            lineage_id: saved.lineage_id,
        };
        self.rows.push((memory.clone(), true));
        memory
    }

    pub(super) fn deleted(&mut self, who: Handle, key: &str, reply: &Result<()>) {
        let wanted = self.delete(who, key);
        let kind = reply.as_ref().err().map(crate::Error::kind);
        self.expect("deleted", &format!("{kind:?}"), &format!("{wanted:?}"));
    }

    /// Deletes, or says why it must be refused.
    fn delete(&mut self, who: Handle, key: &str) -> Option<ErrorKind> {
        let level = self.writes(who);
        let visible = self.visible(level);
        let seen = visible.iter().find(|memory| memory.key.as_str() == key);
        match seen.map(|memory| memory.classification) {
            None => return Some(ErrorKind::NotFound),
            Some(other) if other != level => return Some(ErrorKind::WrongLevel),
            Some(_) => (),
        }
        let same = |m: &Memory| m.key.as_str() == key && m.classification == level;
        let mut rows = self.rows.iter_mut();
        let row = rows.find(|(memory, live)| *live && same(memory));
        row.unwrap().1 = false;
        None
    }

    pub(super) fn got(&mut self, who: Handle, key: &str, reply: &Result<Option<Memory>>) {
        let visible = self.visible(self.level(who));
        let wanted = visible
            .into_iter()
            .find(|memory| memory.key.as_str() == key);
        let wanted = observe::maybe(wanted);
        self.expect(
            "got",
            &observe::reply(reply, |found| observe::maybe(found.as_ref())),
            &wanted,
        );
    }

    /// All pages of a list.
    pub(super) fn listed(&mut self, who: Handle, tag: Option<&str>, reply: &Result<Vec<Page>>) {
        let tag: Option<Tag> = tag.map(|tag| tag.parse().unwrap());
        let visible = self.visible(self.level(who)).into_iter();
        let tagged = visible.filter(|m| tag.as_ref().is_none_or(|tag| m.tags.contains(tag)));
        let wanted: Vec<Memory> = tagged.cloned().collect();
        let total = u64::try_from(wanted.len()).unwrap();
        let got = observe::reply(reply, |pages| {
            let all: Vec<Memory> = pages
                .iter()
                .flat_map(|page| page.memories.clone())
                .collect();
            let totals: Vec<_> = pages.iter().map(|page| page.total == Some(total)).collect();
            format!("{} {totals:?}", observe::memories(&all))
        });
        let pages = reply.as_ref().map_or(1, Vec::len);
        let wanted = format!("{} {:?}", observe::memories(&wanted), vec![true; pages]);
        self.expect("listed", &got, &wanted);
    }

    pub(super) fn found(
        &mut self,
        who: Handle,
        query: &str,
        limit: usize,
        reply: &Result<Vec<Hit>>,
    ) {
        let why = Explainer::new(query, Analysis::default());
        let explained = |hit: storage::Hit| Hit {
            explanation: Some(why.explain(&hit.memory)),
            memory: hit.memory,
            score: hit.score,
        };
        let wanted = self.search(who, query, limit);
        let wanted: Vec<Hit> = wanted.into_iter().map(explained).collect();
        let got = observe::reply(reply, |hits| observe::hits(hits));
        self.expect("found", &got, &observe::hits(&wanted));
    }

    /// The hits of a query over the visible records and nothing else.
    fn search(&self, who: Handle, query: &str, limit: usize) -> Vec<storage::Hit> {
        let memories = self.visible(self.level(who));
        let seen = |memory: &&Memory| memories.iter().any(|m| m.lineage_id == memory.lineage_id);
        let saved = self.rows.iter().map(|(memory, _)| memory).filter(seen);
        let texts = Texts {
            saved: saved.collect(),
            records: memories.len(),
            memories,
            one_row: false,
        };
        let request = SearchRequest {
            query: query.to_owned(),
            limit,
            neighbours: true,
        };
        let found = find(&texts, &request).unwrap().into_iter();
        found
            .map(|found| storage::Hit {
                memory: texts.memories[usize::try_from(found.doc).unwrap()].clone(),
                score: found.score,
            })
            .collect()
    }
}
