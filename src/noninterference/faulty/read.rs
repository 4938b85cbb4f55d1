//! Get, list and search, over all rows at once.

use super::{Fault, Faulty, Row, like};
use crate::noninterference::texts::Texts;
use crate::policy::ReadGrant;
use crate::record::MemoryKey;
use crate::search::{Candidate, find};
use crate::storage::{Hit, ListPage, ListRequest, SearchRequest};
use crate::{Memory, Tag};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verb {
    Get,
    List,
    Search,
}

/// The rows of the agents that the grant is taken to mean, by key and level.
fn rows_of(of: &Faulty, grant: &ReadGrant) -> Vec<Row> {
    let mine = grant.agent().as_str();
    let same: Option<fn(&str, &str) -> bool> = match of.fault {
        Some(Fault::AgentsAsPattern) => Some(like),
        Some(Fault::AgentsWithoutCase) => Some(str::eq_ignore_ascii_case),
        _ => None,
    };
    let mut rows = match same {
        Some(_) => of.all_rows(grant.namespace()),
        None => of.rows(grant.namespace(), grant.agent()),
    };
    rows.retain(|row| same.is_none_or(|same| same(mine, row.memory.agent.as_str())));
    rows.sort_by(|a, b| {
        let place = |row: &Row| (row.memory.key.clone(), row.memory.classification);
        place(a).cmp(&place(b))
    });
    rows
}

/// What the grant shows of the rows, by key.
fn visible(of: &Faulty, grant: &ReadGrant, verb: Verb, rows: &[Row]) -> Vec<Memory> {
    let may_read = |row: &Row| row.memory.classification.can_flow_to(grant.level());
    let unexpired = |row: &Row| row.memory.expires_at.is_none_or(|at| at > grant.now());
    let (any_level, any_time, any_version) = match verb {
        Verb::Get => (Fault::GetIgnoresLevel, Fault::GetIgnoresExpiry, None),
        Verb::List => (
            Fault::ListIgnoresLevel,
            Fault::ListIgnoresExpiry,
            Some(Fault::ListShowsShadowed),
        ),
        Verb::Search => (
            Fault::SearchIgnoresLevel,
            Fault::SearchIgnoresExpiry,
            Some(Fault::SearchFindsShadowed),
        ),
    };
    let finds_deleted = of.has(Fault::SearchFindsDeleted) && verb == Verb::Search;
    let shown = |row: &Row| {
        (may_read(row) || of.has(any_level))
            && (unexpired(row) || of.has(any_time))
            && (!row.deleted || finds_deleted)
    };
    let shadows = |row: &Row| {
        shown(row)
            || (of.has(Fault::ShadowedFromAbove) && unexpired(row) && !row.deleted)
            || (of.has(Fault::ShadowedByDeleted) && may_read(row) && row.deleted)
            || (of.has(Fault::ShadowedByExpired) && may_read(row) && !row.deleted)
    };
    let shadowed = |row: &Row| {
        let higher = |other: &&Row| {
            other.memory.key == row.memory.key
                && other.memory.classification > row.memory.classification
        };
        rows.iter().filter(higher).any(shadows)
    };
    let all_versions = any_version.is_some_and(|fault| of.has(fault));
    let seen = rows.iter().filter(|row| shown(row));
    seen.filter(|row| all_versions || !shadowed(row))
        .map(|row| row.memory.clone())
        .collect()
}

pub(super) fn get(of: &Faulty, grant: &ReadGrant, key: &MemoryKey) -> Option<Memory> {
    let rows = rows_of(of, grant);
    let same = |memory: &Memory| match of.fault {
        Some(Fault::KeysAsPattern) => like(key.as_str(), memory.key.as_str()),
        Some(Fault::KeysWithoutCase) => memory.key.as_str().eq_ignore_ascii_case(key.as_str()),
        _ => memory.key == *key,
    };
    visible(of, grant, Verb::Get, &rows).into_iter().find(same)
}

pub(super) fn list(of: &Faulty, grant: &ReadGrant, request: &ListRequest) -> ListPage {
    let rows = rows_of(of, grant);
    let has = |memory: &Memory, tag: &Tag| match of.fault {
        Some(Fault::TagsAsPattern) => memory
            .tags
            .iter()
            .any(|other| like(tag.as_str(), other.as_str())),
        Some(Fault::TagsWithCase) => memory
            .tags
            .iter()
            .any(|other| other.as_str() == tag.as_str()),
        Some(Fault::TagOfHiddenVersion) => {
            let same_key = |row: &&Row| row.memory.key == memory.key;
            rows.iter()
                .filter(same_key)
                .any(|row| row.memory.tags.contains(tag))
        }
        _ => memory.tags.contains(tag),
    };
    let tagged = |memory: &Memory| request.tag.as_ref().is_none_or(|tag| has(memory, tag));
    let follows = |memory: &Memory| {
        request
            .after
            .as_ref()
            .is_none_or(|after| memory.key > *after)
    };
    let mut wanted = if of.has(Fault::TagFindsShadowed) {
        let rows: Vec<Row> = rows
            .iter()
            .filter(|row| tagged(&row.memory))
            .cloned()
            .collect();
        visible(of, grant, Verb::List, &rows)
    } else {
        visible(of, grant, Verb::List, &rows)
    };
    wanted.retain(tagged);
    let total = if of.has(Fault::TotalOfHidden) {
        rows.iter().filter(|row| tagged(&row.memory)).count()
    } else {
        wanted.len()
    };
    if of.has(Fault::CursorIsOffset) {
        let after = request.after.as_ref();
        let passed = |row: &&Row| after.is_some_and(|after| row.memory.key <= *after);
        let offset = rows.iter().filter(passed).count().min(wanted.len());
        wanted.drain(..offset);
    } else {
        wanted.retain(follows);
    }
    if of.has(Fault::ListLimitBeforeFilter) {
        let all = of.all_rows(grant.namespace());
        let mut keys: Vec<_> = all
            .iter()
            .map(|row| &row.memory)
            .filter(|m| follows(m))
            .collect();
        keys.sort_by(|a, b| (&a.key, a.classification).cmp(&(&b.key, b.classification)));
        keys.truncate(request.limit);
        wanted.retain(|memory| keys.iter().any(|m| m.lineage_id == memory.lineage_id));
    }
    let mut more = wanted.len() > request.limit;
    wanted.truncate(request.limit);
    if of.has(Fault::MoreOfHidden) {
        let last = wanted.last().map(|memory| memory.key.clone());
        more = rows.iter().any(|row| Some(&row.memory.key) > last.as_ref());
    }
    ListPage {
        records: wanted,
        more,
        total: request.count.then(|| u64::try_from(total).unwrap()),
    }
}

pub(super) fn search(of: &Faulty, grant: &ReadGrant, request: &SearchRequest) -> Vec<Hit> {
    let rows = rows_of(of, grant);
    let visible = visible(of, grant, Verb::Search, &rows);
    let hidden = hidden(of, grant, &rows, &visible);
    let cut_later = of.has(Fault::SearchLimitBeforeFilter);
    let counted = cut_later || of.has(Fault::FrequencyOfHidden);
    let one_more = matches!(
        of.fault,
        Some(Fault::CountOfHidden | Fault::CountOfShadowed)
    );
    let among = |all: bool| visible.iter().chain(hidden.iter().filter(move |_| all));
    let beside = of.has(Fault::HiddenBetween);
    let mut saved: Vec<&Memory> = among(beside).collect();
    saved.sort_by_key(|memory| of.journal().sequence.get(&memory.lineage_id).copied());
    let texts = Texts {
        // The visible ones come first, so a candidate's number says which kind it is.
        memories: among(counted).collect(),
        records: among(counted || one_more).count(),
        saved,
        one_row: beside || of.has(Fault::NeighboursOfAnySession),
    };
    let all = SearchRequest {
        limit: if cut_later { request.limit } else { usize::MAX },
        ..request.clone()
    };
    let found = find(&texts, &all).unwrap();
    let hit = |found: Candidate| {
        Some(Hit {
            memory: visible.get(usize::try_from(found.doc).ok()?)?.clone(),
            score: found.score,
        })
    };
    let mut hits: Vec<Hit> = found.into_iter().filter_map(hit).collect();
    if of.has(Fault::TiesBySequence) {
        let journal = of.journal();
        // As a hash table of row numbers would have them.
        let number = |hit: &Hit| journal.sequence.get(&hit.memory.lineage_id).unwrap() % 4;
        hits.sort_by_key(number);
        hits.sort_by(|a, b| b.score.total_cmp(&a.score));
    }
    if of.has(Fault::TiesBySession) {
        hits.sort_by(|a, b| a.memory.session.cmp(&b.memory.session));
        hits.sort_by(|a, b| b.score.total_cmp(&a.score));
    }
    hits.truncate(request.limit);
    hits
}

/// What a fault counts in besides the visible.
fn hidden(of: &Faulty, grant: &ReadGrant, rows: &[Row], visible: &[Memory]) -> Vec<Memory> {
    let seen = |memory: &Memory| visible.iter().any(|m| m.lineage_id == memory.lineage_id);
    let live = rows
        .iter()
        .filter(|row| !row.deleted)
        .map(|row| row.memory.clone());
    let may_read = |memory: &Memory| memory.classification.can_flow_to(grant.level());
    live.filter(|memory| !seen(memory))
        .filter(|memory| !of.has(Fault::CountOfShadowed) || may_read(memory))
        .collect()
}
