//! What a model must get back.

use serde_json::{Value, json};

use super::{Handle, Oracle};
use crate::noninterference::trace::{Call, KEYS, QUERIES, TAGS, Text, pick};
use crate::storage::Version;
use crate::tools::{PersonaSection, ToolResult};
use crate::{Classification, Memory, Result, Tag};

impl Oracle {
    /// A save through the tool, and every version of the key after it.
    pub(in crate::noninterference) fn called_save(
        &mut self,
        who: Handle,
        text: &Text,
        result: &ToolResult,
        versions: Vec<Version>,
    ) {
        // A model sets no expiry.
        let text = Text {
            expires_in: None,
            ..text.clone()
        };
        let level = self.recorded.get(&who.0).copied().unwrap_or_default();
        let stored = versions.into_iter().map(|version| version.memory);
        let stored = stored
            .filter(|memory| memory.classification == level)
            .max_by_key(|memory| memory.version);
        let reply = match (&result.error, stored) {
            (Some(error), _) => Err(crate::Error::new(error.kind(), error.to_string())),
            (None, Some(memory)) => Ok(vec![memory]),
            (None, None) => Err(crate::Error::internal("nothing was stored at the level")),
        };
        self.saved(who, &[&text], &reply);
        if result.error.is_none() {
            let wanted = json!({"saved": true, "key": text.key(), "classification": level});
            self.answered(result, Some(&wanted));
        }
    }

    /// The output that a call must have; `None` for an error.
    pub(in crate::noninterference) fn call(&mut self, who: Handle, call: &Call) -> Option<Value> {
        match call {
            Call::Save(..) | Call::Wrong(_) => None,
            Call::Get(key) => {
                let key = pick(&KEYS, *key);
                let mut seen = self.visible(self.level(who)).into_iter();
                let found = seen.find(|memory| memory.key.as_str() == key);
                let mut output = found.map_or_else(|| json!({"key": key}), listed);
                output["found"] = json!(found.is_some());
                Some(output)
            }
            Call::Search { query, limit } => {
                let query = pick(&QUERIES, *query);
                let hits = self.search(who, query, *limit);
                let hits = hits.iter().map(|hit| fields(&hit.memory));
                Some(json!({"results": hits.collect::<Vec<_>>(), "query": query}))
            }
            Call::List { tag } => {
                let tag: Option<Tag> = tag.map(|tag| pick(&TAGS, tag).parse().unwrap());
                let seen = self.visible(self.level(who)).into_iter();
                let seen = seen.filter(|m| tag.as_ref().is_none_or(|tag| m.tags.contains(tag)));
                Some(json!({"memories": seen.map(listed).collect::<Vec<_>>()}))
            }
            Call::Delete(key) => {
                let key = pick(&KEYS, *key);
                let done = self.delete(who, key).is_none();
                done.then(|| json!({"deleted": true, "key": key}))
            }
        }
    }

    pub(in crate::noninterference) fn answered(
        &mut self,
        result: &ToolResult,
        wanted: Option<&Value>,
    ) {
        let got = if result.is_error() {
            String::from("an error")
        } else {
            result.output.to_string()
        };
        let wanted = wanted.map_or_else(|| String::from("an error"), ToString::to_string);
        self.expect("answered", &got, &wanted);
    }

    pub(in crate::noninterference) fn reminded(
        &mut self,
        who: Handle,
        budget: usize,
        reply: &Result<PersonaSection>,
    ) {
        let wanted: [Tag; 2] = ["rule", "persona"].map(|tag| tag.parse().unwrap());
        let seen = self.visible(self.level(who)).into_iter();
        let seen = seen.filter(|m| wanted.iter().any(|tag| m.tags.contains(tag)));
        let (count, level) = seen.fold((0, Classification::Public), |(n, level), m| {
            (n + 1, level.join(m.classification))
        });
        let got = match reply {
            Ok(section) => {
                let fits = section.text.chars().count() <= budget;
                let low = section.level.can_flow_to(level);
                format!("{} {fits} {low}", section.included + section.left_out)
            }
            Err(error) => format!("{:?}", error.kind()),
        };
        self.expect("persona", &got, &format!("{count} true true"));
    }
}

fn fields(memory: &Memory) -> Value {
    json!({
        "key": memory.key,
        "content": memory.content,
        "classification": memory.classification,
        "tags": memory.tags,
    })
}

fn listed(memory: &Memory) -> Value {
    let mut fields = fields(memory);
    fields["updated_at"] = json!(memory.updated_at);
    fields
}
