//! Tool calls and the persona section.

use serde_json::{Value, json};

use super::{AGENT, Front, KEYS, QUERIES, Run, TAGS, observe, pick};
use crate::noninterference::oracle::Handle;
use crate::noninterference::trace::Call;
use crate::storage::VersionState;
use crate::tools::{Persona, PersonaSection, ToolResult, Tools};
use crate::{MemoryStore, Result, Session};

/// The tool's name, and the arguments as a model sends them.
fn arguments(call: &Call) -> (&'static str, Value) {
    match call {
        Call::Save(text, level) => {
            let mut fields = json!({"key": text.key(), "content": text.content()});
            if !text.tags().is_empty() {
                fields["tags"] = json!(text.tags());
            }
            if let Some(level) = level {
                fields["classification"] = json!(level);
            }
            ("memory_save", fields)
        }
        Call::Get(key) => ("memory_get", json!({"key": pick(&KEYS, *key)})),
        Call::Search { query, limit } => {
            let query = pick(&QUERIES, *query);
            (
                "memory_search",
                json!({"query": query, "max_results": limit}),
            )
        }
        Call::List { tag } => {
            let tag = tag.map(|tag| pick(&TAGS, tag));
            ("memory_list", json!({"tag": tag}))
        }
        Call::Delete(key) => ("memory_delete", json!({"key": pick(&KEYS, *key)})),
        Call::Wrong(number) => match number % 3 {
            0 => ("memory_get", json!({"id": pick(&KEYS, *number)})),
            1 => ("memory_search", json!({"query": "tea", "max_results": 0})),
            _ => ("memory_list", json!(7)),
        },
    }
}

pub(super) fn call(store: &MemoryStore, session: &Session, call: &Call) -> ToolResult {
    let (name, arguments) = arguments(call);
    let tools = Tools::new(store.clone());
    tools.call(session, name, arguments).unwrap()
}

pub(super) fn persona(
    store: &MemoryStore,
    session: &Session,
    budget: usize,
) -> Result<PersonaSection> {
    Persona::new().budget(budget).load(store, session)
}

impl Run<'_> {
    pub(super) fn call(
        &mut self,
        who: Handle,
        store: &MemoryStore,
        session: &Session,
        request: &Call,
    ) {
        let result = call(store, session, request);
        let mut text = format!("{} {:?} {result:?}", result.output, result.error);
        if self.front == Some(Front::CallOfAllLevels) {
            text = format!("{text} of {}", live(store));
        }
        self.see("call", &text);
        if let Call::Save(draft, _) = request {
            // The output doesn't hold the record, so the host's history has to.
            let kept = store.host().history(AGENT, draft.key());
            self.oracle.called_save(who, draft, &result, kept.unwrap());
        } else {
            let wanted = self.oracle.call(who, request);
            self.oracle.answered(&result, wanted.as_ref());
        }
    }

    pub(super) fn persona(
        &mut self,
        who: Handle,
        store: &MemoryStore,
        session: &Session,
        budget: usize,
    ) {
        let mine = |other: &&Session| other.agent() == session.agent();
        let highest = self
            .sessions
            .values()
            .filter(mine)
            .max_by_key(|s| s.taint());
        let reply = match highest {
            Some(highest) if self.front == Some(Front::PersonaOfHighest) => {
                // Its own store's handle, or the store would refuse it.
                let opened = store.session(highest.id().as_str(), AGENT).open();
                opened.and_then(|highest| persona(store, &highest, budget))
            }
            _ => persona(store, session, budget),
        };
        let text = observe::reply(&reply, |section| format!("{} {section:?}", section.text));
        self.see("persona", &text);
        self.oracle.reminded(who, budget, &reply);
    }
}

/// How many live records the agent has, at every level.
fn live(store: &MemoryStore) -> usize {
    let versions = KEYS.map(|key| store.host().history(AGENT, key).unwrap());
    let live = |version: &&crate::storage::Version| version.state == VersionState::Live;
    versions.iter().flatten().filter(live).count()
}
