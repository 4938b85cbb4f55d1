//! The operations.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use strandline::search::{Explanation, Fragment, MatchedWord};
use strandline::storage::Version;
use strandline::tools::Tools;
use strandline::{
    Clock, Draft, Error, Hit, List, Memory, MemoryStore, Page, Result, Search, Session,
    StoreBuilder, Tag,
};

use super::audit;
use super::fields::{Fields, invalid};
use super::stats;
use super::transfer;
use super::upkeep;

/// A store, and the sessions that were opened on it by name.
#[derive(Debug)]
pub(crate) struct Driver {
    store: MemoryStore,
    tools: Tools,
    clock: Arc<SettableClock>,
    sessions: HashMap<String, Session>,
}

/// The machine's clock until it is set, then the time that it was set to.
#[derive(Debug, Default)]
struct SettableClock(Mutex<Option<DateTime<Utc>>>);

impl SettableClock {
    fn set(&self, now: DateTime<Utc>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
    }
}

impl Clock for SettableClock {
    #[expect(clippy::disallowed_methods, reason = "this is the store's clock")]
    fn now(&self) -> DateTime<Utc> {
        let set = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        set.unwrap_or_else(Utc::now)
    }
}

impl Driver {
    /// Opens the store at the path, or one in memory for `:memory:`.
    pub(crate) fn open(path: &OsStr, options: StoreBuilder) -> Result<Self> {
        let clock = Arc::new(SettableClock::default());
        let builder = options.clock(Arc::<SettableClock>::clone(&clock));
        let store = if path == ":memory:" {
            builder.open_in_memory()?
        } else {
            builder.open(path)?
        };
        Ok(Self {
            tools: Tools::new(store.clone()),
            store,
            clock,
            sessions: HashMap::new(),
        })
    }

    /// The reply to one line.
    pub(crate) fn answer(&mut self, line: &[u8]) -> String {
        match Fields::parse(line).and_then(|fields| self.run(fields)) {
            Ok(result) => json!({"ok": true, "result": result}).to_string(),
            Err(error) => failure(&error),
        }
    }

    fn run(&mut self, mut fields: Fields) -> Result<Value> {
        let op = fields.text("op")?;
        match op.as_str() {
            "session" => self.session(fields),
            "raise" => self.raise(fields),
            "call" => self.call(fields),
            "save" => self.save(fields),
            "get" => self.get(fields),
            "search" => self.search(fields),
            "list" => self.list(fields),
            "delete" => self.delete(fields),
            "history" => self.history(fields),
            "audit" => audit::audit(&self.store.host(), fields),
            "verify" => audit::verify(&self.store.host(), fields),
            "export_audit" => audit::export(&self.store.host(), fields),
            "verify_export" => audit::verify_export(fields),
            "why" => audit::why(&self.store.host(), fields),
            "derived_from" => audit::derived_from(&self.store.host(), fields),
            "derived_into" => audit::derived_into(&self.store.host(), fields),
            "reindex" => self.reindex(fields),
            "export" => transfer::export(&self.store, fields),
            "import" => transfer::import(&self.store, fields),
            "backup" => transfer::backup(&self.store, fields),
            "stats" => stats::stats(&self.store.host(), fields),
            "clock" => self.set_clock(fields),
            "restore" => self.restore(fields),
            _ => upkeep::run(&self.store.host(), &op, fields),
        }
    }

    /// The open session that the field `id` names.
    fn asking(&self, fields: &mut Fields) -> Result<&Session> {
        let id = fields.text("id")?;
        let session = self.sessions.get(&id);
        session.ok_or_else(|| invalid("no session of this `id` is open; send op `session` first"))
    }

    fn session(&mut self, mut fields: Fields) -> Result<Value> {
        let id = fields.text("id")?;
        let mut builder = self.store.session(id.as_str(), fields.text("agent")?);
        if let Some(taint) = fields.optional_level("taint")? {
            builder = builder.taint(taint);
        }
        if let Some(ceiling) = fields.optional_level("ceiling")? {
            builder = builder.ceiling(ceiling);
        }
        fields.finish()?;
        let session = builder.open()?;
        let taint = session.taint();
        self.sessions.insert(id, session);
        Ok(json!({"taint": taint}))
    }

    fn raise(&self, mut fields: Fields) -> Result<Value> {
        let session = self.asking(&mut fields)?;
        let level = fields.optional_level("level")?;
        let level = level.ok_or_else(|| invalid("`level` is missing"))?;
        let reason = fields.optional_text("reason")?.unwrap_or_default();
        fields.finish()?;
        Ok(json!({"taint": session.raise(level, &reason)?}))
    }

    fn call(&self, mut fields: Fields) -> Result<Value> {
        let session = self.asking(&mut fields)?;
        let tool = fields.text("tool")?;
        let arguments = fields.value("arguments");
        fields.finish()?;
        let result = self.tools.call(session, &tool, arguments);
        let result = result.ok_or_else(|| invalid("`tool` is none of the memory tools"))?;
        Ok(json!({"is_error": result.is_error(), "output": result.output}))
    }

    fn save(&self, mut fields: Fields) -> Result<Value> {
        let session = self.asking(&mut fields)?;
        let mut draft = Draft::new(fields.text("key")?, fields.text("content")?);
        draft = draft.tags(fields.texts("tags")?);
        if let Some(time) = fields.optional_time("expires_at")? {
            draft = draft.expires_at(time);
        }
        fields.finish()?;
        Ok(record(&self.store.save(session, draft)?))
    }

    fn get(&self, mut fields: Fields) -> Result<Value> {
        let session = self.asking(&mut fields)?;
        let key = fields.text("key")?;
        fields.finish()?;
        let memory = self.store.get(session, &key)?;
        Ok(memory.map_or_else(|| json!({"found": false}), |memory| record(&memory)))
    }

    fn search(&self, mut fields: Fields) -> Result<Value> {
        let session = self.asking(&mut fields)?;
        let mut search = Search::new(fields.text("query")?);
        if let Some(number) = fields.optional_number("max_results")? {
            search = search.max_results(number);
        }
        if fields.optional_flag("explain")? {
            search = search.explain();
        }
        fields.finish()?;
        let hits = self.store.search(session, search)?;
        let hits = hits.iter().map(found);
        Ok(json!({"results": hits.collect::<Vec<_>>()}))
    }

    fn list(&self, mut fields: Fields) -> Result<Value> {
        let session = self.asking(&mut fields)?;
        let tag = fields.optional_text("tag")?;
        let limit = fields.optional_number("limit")?;
        let mut cursor = fields.optional_text("cursor")?;
        fields.finish()?;
        let mut rows = Vec::new();
        loop {
            let page = self.page(session, tag.as_deref(), limit, cursor.as_deref())?;
            rows.extend(page.memories.iter().map(record));
            cursor = page.next.map(|next| next.to_string());
            if limit.is_some() || cursor.is_none() {
                return Ok(json!({"memories": rows, "next": cursor}));
            }
        }
    }

    fn page(
        &self,
        session: &Session,
        tag: Option<&str>,
        limit: Option<usize>,
        cursor: Option<&str>,
    ) -> Result<Page> {
        let mut list = List::new().limit(limit.unwrap_or(usize::MAX));
        if let Some(tag) = tag {
            list = list.tag(tag);
        }
        if let Some(cursor) = cursor {
            list = list.after(cursor.parse()?);
        }
        self.store.list(session, list)
    }

    fn delete(&self, mut fields: Fields) -> Result<Value> {
        let session = self.asking(&mut fields)?;
        let key = fields.text("key")?;
        fields.finish()?;
        self.store.delete(session, &key)?;
        Ok(json!({"deleted": true, "key": key}))
    }

    fn history(&self, mut fields: Fields) -> Result<Value> {
        let (agent, key) = (fields.text("agent")?, fields.text("key")?);
        fields.finish()?;
        let versions = self.store.host().history(&agent, &key)?;
        let versions: Vec<_> = versions.iter().map(version).collect();
        Ok(json!({"versions": versions}))
    }

    fn restore(&self, mut fields: Fields) -> Result<Value> {
        let session = self.asking(&mut fields)?;
        let key = fields.text("key")?;
        let version = fields.optional_number("version")?;
        let version = version.ok_or_else(|| invalid("`version` is missing"))?;
        fields.finish()?;
        let version = u64::try_from(version).unwrap_or(u64::MAX);
        Ok(record(&self.store.host().restore(session, &key, version)?))
    }

    fn reindex(&self, fields: Fields) -> Result<Value> {
        fields.finish()?;
        Ok(json!({"records": self.store.host().reindex()?}))
    }

    fn set_clock(&self, mut fields: Fields) -> Result<Value> {
        let now = fields.optional_time("now")?;
        let now = now.ok_or_else(|| invalid("`now` is missing"))?;
        fields.finish()?;
        self.clock.set(now);
        Ok(json!({"now": now}))
    }
}

/// The reply to a line that is too long to be read.
pub(crate) fn too_long(limit: usize) -> String {
    failure(&invalid(format!("the line is longer than {limit} bytes")))
}

fn failure(error: &Error) -> String {
    let code = error.kind().code();
    json!({"ok": false, "error": {"code": code, "message": error.to_string()}}).to_string()
}

fn record(memory: &Memory) -> Value {
    json!({
        "key": memory.key,
        "content": memory.content,
        "classification": memory.classification,
        "tags": memory.tags.iter().map(Tag::as_str).collect::<Vec<_>>(),
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
        "expires_at": memory.expires_at,
        "version": memory.version,
    })
}

/// What a search found: a record with its score and, where it was asked for, why it matched.
fn found(hit: &Hit) -> Value {
    let mut row = record(&hit.memory);
    if let Value::Object(row) = &mut row {
        row.insert("score".to_owned(), hit.score.into());
        if let Some(why) = &hit.explanation {
            row.insert("explanation".to_owned(), explanation(why, &hit.memory));
        }
    }
    row
}

/// An explanation with its fragments as text. Ranges are `[start, end]` in bytes of UTF-8.
fn explanation(why: &Explanation, memory: &Memory) -> Value {
    let word = |word: &MatchedWord| json!({"word": word.text, "fields": word.fields});
    let fragment = |fragment: &Fragment| {
        json!({
            "text": memory.content.get(fragment.range.clone()),
            "range": [fragment.range.start, fragment.range.end],
            "matches": pairs(&fragment.matches),
        })
    };
    json!({
        "words": why.words.iter().map(word).collect::<Vec<_>>(),
        "key": pairs(&why.key),
        "tags": why.tags.iter().map(|tag| pairs(tag)).collect::<Vec<_>>(),
        "fragments": why.fragments.iter().map(fragment).collect::<Vec<_>>(),
    })
}

fn pairs(ranges: &[Range<usize>]) -> Vec<[usize; 2]> {
    ranges
        .iter()
        .map(|range| [range.start, range.end])
        .collect()
}

/// A version of the history: a record with what became of it.
fn version(version: &Version) -> Value {
    let mut row = record(&version.memory);
    if let Value::Object(row) = &mut row {
        row.insert("state".to_owned(), json!(version.state));
        row.insert("ended_at".to_owned(), json!(version.ended_at));
    }
    row
}
