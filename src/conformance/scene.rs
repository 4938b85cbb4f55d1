//! What the clauses are told with: a provider, and actors who come to it with forged grants.

use std::fmt::Debug;

use chrono::{DateTime, TimeDelta, Utc};
use uuid::Uuid;

use super::Subject;
use crate::audit::{Action, Entry, Facts, Query, Trail};
use crate::classification::Classification;
use crate::error::{Error, Result};
use crate::lineage::{Origin, Reading, VersionId};
use crate::policy::{HostGrant, ReadGrant, WriteGrant};
use crate::record::{Memory, MemoryKey, Tag};
use crate::session::{AgentId, SessionId};
use crate::storage::{
    Deletion, Hit, Imported, ListPage, ListRequest, Namespace, NewRecord, SearchRequest,
    StorageProvider, StoredVersion, Version,
};

/// A provider of its own for one clause, and the clause's name for its failures.
pub(super) struct Scene<S> {
    clause: &'static str,
    subject: S,
}

impl<S: Subject> Scene<S> {
    pub(super) fn new(clause: &'static str) -> Self {
        Self {
            clause,
            subject: S::fresh(),
        }
    }

    /// Another provider, empty too.
    pub(super) fn another(&self) -> Self {
        Self::new(self.clause)
    }

    pub(super) fn reopen(self) -> Self {
        Self {
            clause: self.clause,
            subject: self.subject.reopen(),
        }
    }

    pub(super) fn provider(&self) -> &dyn StorageProvider {
        self.subject.provider()
    }

    /// An agent with a `PUBLIC` session, in the namespace of memories, at second 0.
    pub(super) fn agent(&self, agent: &str) -> Actor<'_> {
        Actor {
            clause: self.clause,
            provider: self.provider(),
            namespace: Namespace::MEMORY,
            agent: parsed(agent.parse()),
            session: parsed("s-1".parse()),
            level: Classification::Public,
            now: second(0),
        }
    }

    /// The agent of most clauses.
    pub(super) fn ada(&self) -> Actor<'_> {
        self.agent("ada")
    }

    /// Records this taint for a session, as the gate does.
    pub(super) fn record_taint(&self, session: &str, level: Classification) {
        self.agent(Namespace::SESSION_OWNER)
            .within(Namespace::SESSION)
            .session(session)
            .up_to(level)
            .save(session, "{}");
    }

    /// Every version there is, in the order of storing.
    pub(super) fn versions(&self) -> Vec<StoredVersion> {
        let grant = HostGrant::forge(Namespace::MEMORY, None);
        let mut all = Vec::new();
        let mut each = |version, _| {
            all.push(version);
            Ok(())
        };
        let done = self.provider().versions(&grant, &mut each);
        self.ada().done(done);
        all
    }

    /// Takes over versions at a second.
    pub(super) fn import(&self, seconds: i64, versions: &[StoredVersion]) -> Vec<Imported> {
        let grant = HostGrant::forge(Namespace::MEMORY, None);
        let imported = self.provider().import(&grant, second(seconds), versions);
        self.ada().done(imported)
    }

    /// The audit's entries, newest first.
    pub(super) fn audit(&self, query: &Query) -> Vec<Entry> {
        let grant = HostGrant::forge(Namespace::MEMORY, None);
        self.ada().done(self.provider().audit(&grant, query))
    }

    /// All of the audit's entries, newest first.
    pub(super) fn whole_audit(&self) -> Vec<Entry> {
        self.audit(&Query {
            limit: 10_000,
            ..Query::default()
        })
    }
}

impl<S: Subject> Scene<S> {
    /// A stretch of the audit as it is stored.
    pub(super) fn trail(&self, after: u64, limit: usize) -> Trail {
        let grant = HostGrant::forge(Namespace::MEMORY, None);
        self.ada().done(self.provider().trail(&grant, after, limit))
    }

    /// Notes that the session has read these versions.
    pub(super) fn note_read(&self, session: &str, facts: Option<Facts>, ids: &[VersionId]) {
        let reading = Reading::new(parsed(session.parse()), facts, ids.to_vec());
        self.ada().done(self.provider().note_read(&reading));
    }

    /// All that the version's session had read before.
    pub(super) fn sources(&self, version: &VersionId) -> Vec<Origin> {
        let grant = HostGrant::forge(Namespace::MEMORY, None);
        self.ada()
            .done(self.provider().sources(&grant, version, 1_000))
    }

    /// All that was saved after reading the version.
    pub(super) fn derivations(&self, version: &VersionId) -> Vec<Origin> {
        let grant = HostGrant::forge(Namespace::MEMORY, None);
        self.ada()
            .done(self.provider().derivations(&grant, version, 1_000))
    }
}

/// Somebody with a grant, which is forged at each call.
#[derive(Clone)]
pub(super) struct Actor<'p> {
    clause: &'static str,
    pub(super) provider: &'p dyn StorageProvider,
    pub(super) namespace: Namespace,
    pub(super) agent: AgentId,
    pub(super) session: SessionId,
    pub(super) level: Classification,
    pub(super) now: DateTime<Utc>,
}

impl Actor<'_> {
    /// The same at another level.
    pub(super) fn up_to(&self, level: Classification) -> Self {
        Self {
            level,
            ..self.clone()
        }
    }

    /// The same at another second.
    pub(super) fn at(&self, seconds: i64) -> Self {
        Self {
            now: second(seconds),
            ..self.clone()
        }
    }

    /// The same in another namespace.
    pub(super) fn within(&self, namespace: Namespace) -> Self {
        Self {
            namespace,
            ..self.clone()
        }
    }

    /// The same in another session.
    pub(super) fn session(&self, session: &str) -> Self {
        Self {
            session: parsed(session.parse()),
            ..self.clone()
        }
    }

    pub(super) fn read_grant(&self) -> ReadGrant {
        ReadGrant::forge(
            self.namespace.clone(),
            self.agent.clone(),
            self.level,
            self.now,
        )
    }

    pub(super) fn write_grant(&self, action: Action) -> WriteGrant<'static> {
        let grant = WriteGrant::forge(self.read_grant(), self.session.clone(), action);
        if grant.writing().is_of_session() {
            let last = self.history(self.session.as_str()).into_iter().next();
            return grant.following(last.map(|version| version.memory.lineage_id));
        }
        grant
    }

    pub(super) fn try_save(&self, records: &[NewRecord]) -> Result<Vec<Memory>> {
        self.provider.save(&self.write_grant(Action::Save), records)
    }

    pub(super) fn save_all(&self, records: &[NewRecord]) -> Vec<Memory> {
        let saved = self.done(self.try_save(records));
        self.same(
            saved.len(),
            records.len(),
            "a save returns each stored record",
        );
        saved
    }

    pub(super) fn save_record(&self, record: NewRecord) -> Memory {
        let saved = self.save_all(&[record]).pop();
        saved.unwrap_or_else(|| self.fail("a save of one record returned none"))
    }

    pub(super) fn save(&self, key: &str, content: &str) -> Memory {
        self.save_record(record(key, content))
    }

    pub(super) fn get(&self, key: &str) -> Option<Memory> {
        let found = self.provider.get(&self.read_grant(), &parsed(key.parse()));
        self.done(found)
    }

    /// The content of what is visible under the key.
    pub(super) fn read(&self, key: &str) -> Option<String> {
        self.get(key).map(|memory| memory.content)
    }

    pub(super) fn list(&self, request: &ListRequest) -> ListPage {
        self.done(self.provider.list(&self.read_grant(), request))
    }

    /// The keys of the whole list.
    pub(super) fn keys(&self) -> Vec<String> {
        keys_of(&self.list(&everything()).records)
    }

    /// The keys of those with the tag.
    pub(super) fn tagged(&self, tag: &str) -> Vec<String> {
        let page = self.list(&ListRequest {
            tag: Some(parsed(tag.parse())),
            ..everything()
        });
        keys_of(&page.records)
    }

    pub(super) fn search(&self, query: &str, limit: usize) -> Vec<Hit> {
        self.search_with(query, limit, false)
    }

    /// A search in which neighbours lend.
    pub(super) fn search_beside(&self, query: &str) -> Vec<Hit> {
        self.search_with(query, 1_000, true)
    }

    pub(super) fn search_with(&self, query: &str, limit: usize, neighbours: bool) -> Vec<Hit> {
        let request = SearchRequest {
            query: query.to_owned(),
            limit,
            neighbours,
        };
        self.done(self.provider.search(&self.read_grant(), &request))
    }

    /// The keys of everything that a search finds, best first.
    pub(super) fn found(&self, query: &str) -> Vec<String> {
        let hits = self.search(query, 1_000);
        hits.iter()
            .map(|hit| hit.memory.key.as_str().to_owned())
            .collect()
    }

    pub(super) fn try_delete(&self, key: &str) -> Result<Deletion> {
        let grant = self.write_grant(Action::Delete);
        self.provider.delete(&grant, &parsed(key.parse()))
    }

    pub(super) fn delete(&self, key: &str) -> Deletion {
        self.done(self.try_delete(key))
    }

    /// Every version of the key, as the host sees it.
    pub(super) fn history(&self, key: &str) -> Vec<Version> {
        let grant = HostGrant::forge(self.namespace.clone(), Some(self.agent.clone()));
        self.done(self.provider.history(&grant, &parsed(key.parse())))
    }

    /// What the provider answered, which must not be an error.
    #[track_caller]
    pub(super) fn done<T>(&self, answer: Result<T>) -> T {
        answer.unwrap_or_else(|error| self.fail(&format!("unexpected error {error:?}")))
    }

    /// Fails the clause unless both are the same.
    #[track_caller]
    pub(super) fn same<A, B>(&self, found: A, expected: B, what: &str)
    where
        A: PartialEq<B> + Debug,
        B: Debug,
    {
        assert_eq!(found, expected, "clause {}: {what}", self.clause);
    }

    /// Fails the clause unless this holds.
    #[track_caller]
    pub(super) fn holds(&self, condition: bool, what: &str) {
        assert!(condition, "clause {}: {what}", self.clause);
    }

    #[track_caller]
    pub(super) fn fail(&self, what: &str) -> ! {
        panic!("clause {}: {what}", self.clause)
    }
}

/// A record without tags that doesn't expire.
pub(super) fn record(key: &str, content: &str) -> NewRecord {
    NewRecord {
        key: parsed(key.parse()),
        content: content.to_owned(),
        tags: Vec::new(),
        expires_at: None,
        lineage_id: Uuid::new_v4(),
    }
}

/// A record with tags.
pub(super) fn with_tags(key: &str, content: &str, tags: &[&str]) -> NewRecord {
    NewRecord {
        tags: tags.iter().map(|tag| parsed(tag.parse())).collect(),
        ..record(key, content)
    }
}

/// A record that expires at a second.
pub(super) fn expiring(key: &str, content: &str, seconds: i64) -> NewRecord {
    NewRecord {
        expires_at: Some(second(seconds)),
        ..record(key, content)
    }
}

/// A request for all records on one page.
pub(super) fn everything() -> ListRequest {
    ListRequest {
        tag: None,
        after: None,
        limit: 100_000,
        count: true,
    }
}

/// The time so many seconds after the suite's second 0.
pub(super) fn second(seconds: i64) -> DateTime<Utc> {
    let start = DateTime::from_timestamp(1_800_000_000, 0).unwrap_or_default();
    start + TimeDelta::seconds(seconds)
}

pub(super) fn key(text: &str) -> MemoryKey {
    parsed(text.parse())
}

pub(super) fn tag(text: &str) -> Tag {
    parsed(text.parse())
}

pub(super) fn tags_of(memory: &Memory) -> Vec<&str> {
    memory.tags.iter().map(Tag::as_str).collect()
}

pub(super) fn keys_of(memories: &[Memory]) -> Vec<String> {
    let keys = memories.iter().map(|memory| memory.key.as_str().to_owned());
    keys.collect()
}

/// What the suite itself wrote, which is well formed.
#[track_caller]
pub(super) fn parsed<T>(result: Result<T, Error>) -> T {
    result.unwrap_or_else(|error| panic!("the suite's own text is refused: {error}"))
}
