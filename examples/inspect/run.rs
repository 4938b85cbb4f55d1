//! The arguments, and the views.

use std::error::Error as StdError;
use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};
use lexopt::prelude::*;
use serde_json::{Value as Json, json};
use strandline::audit::{Entry, Query, Verification};
use strandline::{Classification, ErrorKind, List, Memory, MemoryStore, Search};

use super::screen::{BAD, BOLD, DIM, GOOD, PLAIN, Piece, Screen, escaped, marked, of_level};

const HELP: &str = "\
usage: inspect STORE [VIEW] [OPTIONS]

Looks at a store without changing it.

  overview                what each agent has at each level (the default)
  list AGENT              the memories of an agent
  search AGENT WORDS...   a search, with the words that matched
  history AGENT KEY       every version of a key
  audit                   what was decided, newest first; --agent, --key, --session narrow it
  verify                  the audit's chain, and the whole file

  --level LEVEL   look as from this level: PUBLIC (the default), INTERNAL, CONFIDENTIAL, RESTRICTED.
                  Nothing above it is shown, nor counted.
  --stats         with overview: totals of the whole store too. They count EVERY level.
  --limit N       at most so many lines (20)
  --tag TAG       with list: only memories with this tag
  --json          JSON lines; the default where the output isn't a terminal
  --text          text, also where it isn't

verify reads every level, and says what is damaged, never what it holds.
Exit codes: 0 fine, 1 damage was found, 2 wrong usage, 3 the store can't be read.
";

type Outcome = Result<u8, Box<dyn StdError>>;

struct Options {
    words: Vec<String>,
    level: Classification,
    limit: usize,
    tag: Option<String>,
    stats: bool,
    json: bool,
    query: Query,
}

/// Does what the arguments say; the exit code.
pub(crate) fn run(arguments: impl IntoIterator<Item = OsString>, screen: &mut Screen) -> u8 {
    let parsed = match parse(arguments, screen) {
        Ok(Some(parsed)) => parsed,
        Ok(None) => return u8::from(write!(screen.out, "{HELP}").is_err()),
        Err(error) => {
            let text = escaped(&error.to_string());
            drop(writeln!(screen.err, "inspect: {text}; try --help"));
            return 2;
        }
    };
    match show(&parsed.0, &parsed.1, screen) {
        Ok(code) => code,
        Err(error) => {
            drop(screen.out.flush());
            drop(writeln!(
                screen.err,
                "inspect: {}",
                escaped(&error.to_string())
            ));
            code_of(&*error)
        }
    }
}

fn code_of(error: &(dyn StdError + 'static)) -> u8 {
    match error
        .downcast_ref::<strandline::Error>()
        .map(strandline::Error::kind)
    {
        Some(ErrorKind::Corrupt) => 1,
        Some(ErrorKind::InvalidArgument | ErrorKind::LimitExceeded) => 2,
        _ if error.is::<Usage>() => 2,
        _ => 3,
    }
}

#[derive(Debug)]
struct Usage(&'static str);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl StdError for Usage {}

fn parse(
    arguments: impl IntoIterator<Item = OsString>,
    screen: &Screen,
) -> Result<Option<(PathBuf, Options)>, Box<dyn StdError>> {
    let mut parser = lexopt::Parser::from_args(arguments);
    let mut path = None;
    let mut options = Options {
        words: Vec::new(),
        level: Classification::Public,
        limit: 20,
        tag: None,
        stats: false,
        json: !screen.is_terminal,
        query: Query::default(),
    };
    while let Some(argument) = parser.next()? {
        match argument {
            Short('h') | Long("help") => return Ok(None),
            Long("json") => options.json = true,
            Long("text") => options.json = false,
            Long("stats") => options.stats = true,
            Long("level") => options.level = parser.value()?.string()?.parse()?,
            Long("limit") => options.limit = parser.value()?.parse()?,
            Long("tag") => options.tag = Some(parser.value()?.string()?),
            Long("agent") => options.query.agent = Some(parser.value()?.string()?.parse()?),
            Long("key") => options.query.key = Some(parser.value()?.string()?.parse()?),
            Long("session") => options.query.session = Some(parser.value()?.string()?.parse()?),
            Value(value) if path.is_none() => path = Some(PathBuf::from(value)),
            Value(value) => options.words.push(value.string()?),
            _ => return Err(argument.unexpected().into()),
        }
    }
    if options.limit == 0 {
        return Err(Usage("--limit must be at least 1").into());
    }
    let path = path.ok_or(Usage("which STORE?"))?;
    Ok(Some((path, options)))
}

fn show(path: &PathBuf, options: &Options, screen: &mut Screen) -> Outcome {
    let words: Vec<&str> = options.words.iter().map(String::as_str).collect();
    let is_view = matches!(
        words.as_slice(),
        [] | ["overview" | "audit" | "verify"]
            | ["list", _]
            | ["history", _, _]
            | ["search", _, _, ..]
    );
    if !is_view {
        return Err(Usage("there is no such view, or it lacks an argument; try --help").into());
    }
    let builder = MemoryStore::builder().busy_timeout(Duration::from_secs(5));
    let store = builder.read_only().open(path)?;
    match words.as_slice() {
        ["list", agent] => list(&store, agent, options, screen),
        ["search", agent, query @ ..] => search(&store, agent, &query.join(" "), options, screen),
        ["history", agent, key] => history(&store, agent, key, options, screen),
        ["audit"] => audit(&store, options, screen),
        ["verify"] => verify(&store, options, screen),
        _ => overview(&store, options, screen),
    }
}

fn overview(store: &MemoryStore, options: &Options, screen: &mut Screen) -> Outcome {
    let mut found = screen.during("counting", || store.host().holdings())?;
    found.retain(|holding| holding.level.can_flow_to(options.level));
    if options.json {
        for holding in &found {
            screen.json(&serde_json::to_value(holding)?)?;
        }
    } else {
        let row = |holding: &strandline::storage::Holding| {
            vec![
                (BOLD, escaped(holding.agent.as_str())),
                level(holding.level),
                (PLAIN, holding.memories.to_string()),
                (PLAIN, bytes(holding.content_bytes)),
                (DIM, time(holding.newest)),
            ]
        };
        let rows: Vec<_> = found.iter().take(options.limit).map(row).collect();
        screen.table(&["agent", "level", " memories", " size", "newest"], &rows)?;
        let memories: u64 = found.iter().map(|holding| holding.memories).sum();
        let more = found.len().saturating_sub(rows.len());
        let more = if more > 0 {
            format!(", {more} lines not shown (--limit)")
        } else {
            String::new()
        };
        let total = format!("{memories} memories up to {}{more}", options.level);
        screen.line(&[(DIM, total)])?;
    }
    if options.stats {
        totals(store, options, screen)?;
    }
    Ok(0)
}

fn totals(
    store: &MemoryStore,
    options: &Options,
    screen: &mut Screen,
) -> Result<(), Box<dyn StdError>> {
    let stats = screen.during("counting", || store.host().stats())?;
    if options.json {
        return Ok(screen.json(&json!({ "stats": stats }))?);
    }
    let numbers = [
        ("agents", stats.agents),
        ("sessions", stats.sessions),
        ("audit entries", stats.audit_entries),
    ];
    let mut rows: Vec<Vec<Piece>> = Vec::new();
    for (name, number) in numbers {
        rows.push(vec![(PLAIN, name.into()), (PLAIN, number.to_string())]);
    }
    if let Some(sizes) = stats.sizes {
        let sizes = [
            ("file", sizes.database_bytes),
            ("write-ahead log", sizes.wal_bytes),
            ("search index", sizes.index_bytes),
            ("free in the file", sizes.free_bytes),
        ];
        for (name, size) in sizes {
            rows.push(vec![(PLAIN, name.into()), (PLAIN, bytes(size))]);
        }
    }
    screen.line(&[])?;
    Ok(screen.table(&["whole store", " "], &rows)?)
}

fn list(store: &MemoryStore, agent: &str, options: &Options, screen: &mut Screen) -> Outcome {
    let view = store.host().view(agent, options.level)?;
    let mut list = List::new().limit(options.limit).count();
    if let Some(tag) = &options.tag {
        list = list.tag(tag);
    }
    let page = store.list(&view, list)?;
    for memory in &page.memories {
        if options.json {
            screen.json(&memory_json(memory))?;
        } else {
            screen.line(&[
                level(memory.classification),
                (BOLD, format!(" {}", escaped(memory.key.as_str()))),
                (PLAIN, format!("  {}", escaped(&memory.content))),
            ])?;
        }
    }
    if !options.json {
        let total = page.total.unwrap_or_default();
        let text = format!("{} of {total} up to {}", page.memories.len(), options.level);
        screen.line(&[(DIM, text)])?;
    }
    Ok(0)
}

fn search(
    store: &MemoryStore,
    agent: &str,
    query: &str,
    options: &Options,
    screen: &mut Screen,
) -> Outcome {
    let view = store.host().view(agent, options.level)?;
    let search = Search::new(query).max_results(options.limit).explain();
    let hits = store.search(&view, search)?;
    for hit in &hits {
        let why = hit.explanation.as_ref();
        if options.json {
            let more = [("score", json!(hit.score)), ("explanation", json!(why))];
            screen.json(&with(memory_json(&hit.memory), more))?;
            continue;
        }
        let mut head = vec![
            (DIM, format!("{:6.2} ", hit.score)),
            level(hit.memory.classification),
        ];
        head.push((PLAIN, " ".into()));
        head.extend(marked(
            hit.memory.key.as_str(),
            why.map_or(&[], |why| &why.key),
        ));
        screen.line(&head)?;
        for fragment in why.into_iter().flat_map(|why| &why.fragments) {
            let mut line = vec![(PLAIN, "       ".into())];
            let start = fragment.range.start;
            let text = hit.memory.content.get(fragment.range.clone());
            let shifted = |found: &std::ops::Range<usize>| found.start - start..found.end - start;
            let matches: Vec<_> = fragment.matches.iter().map(shifted).collect();
            line.extend(marked(text.unwrap_or_default(), &matches));
            screen.line(&line)?;
        }
    }
    if hits.is_empty() && !options.json {
        screen.line(&[(DIM, format!("nothing up to {}", options.level))])?;
    }
    Ok(0)
}

fn history(
    store: &MemoryStore,
    agent: &str,
    key: &str,
    options: &Options,
    screen: &mut Screen,
) -> Outcome {
    let mut versions = store.host().history(agent, key)?;
    versions.retain(|version| version.memory.classification.can_flow_to(options.level));
    for version in versions.iter().take(options.limit) {
        let state = serde_json::to_value(version.state)?;
        let state = state.as_str().unwrap_or_default().to_owned();
        if options.json {
            let more = [("state", json!(state))];
            screen.json(&with(memory_json(&version.memory), more))?;
        } else {
            screen.line(&[
                level(version.memory.classification),
                (BOLD, format!(" {:>3} {state:<10} ", version.memory.version)),
                (DIM, time(version.memory.updated_at)),
                (PLAIN, format!("  {}", escaped(&version.memory.content))),
            ])?;
        }
    }
    if versions.is_empty() && !options.json {
        screen.line(&[(DIM, format!("nothing up to {}", options.level))])?;
    }
    Ok(0)
}

fn audit(store: &MemoryStore, options: &Options, screen: &mut Screen) -> Outcome {
    let mut query = Query {
        limit: 500,
        ..options.query.clone()
    };
    let mut left = options.limit;
    loop {
        let page = store.host().audit(&query)?;
        let Some(last) = page.last().map(|entry| entry.seq) else {
            return Ok(0);
        };
        for entry in page
            .iter()
            .filter(|entry| entry.facts.level.can_flow_to(options.level))
        {
            if left == 0 {
                return Ok(0);
            }
            left -= 1;
            show_entry(entry, options, screen)?;
        }
        query.before = Some(last);
    }
}

fn show_entry(entry: &Entry, options: &Options, screen: &mut Screen) -> std::io::Result<()> {
    let facts = &entry.facts;
    if options.json {
        return screen.json(&serde_json::to_value(entry)?);
    }
    let key = facts
        .key
        .as_ref()
        .map(|key| escaped(key.as_str()))
        .unwrap_or_default();
    let detail = facts.detail.as_deref().map(escaped).unwrap_or_default();
    screen.line(&[
        (DIM, format!("{:>7} {} ", entry.seq, time(facts.at))),
        level(facts.level),
        (
            BOLD,
            format!(" {:<8} ", format!("{:?}", facts.action).to_lowercase()),
        ),
        (
            PLAIN,
            format!(
                "{} {} {key}  ",
                escaped(facts.agent.as_str()),
                escaped(facts.session.as_str())
            ),
        ),
        (DIM, detail),
    ])
}

fn verify(store: &MemoryStore, options: &Options, screen: &mut Screen) -> Outcome {
    let host = store.host();
    let chain = screen.during("verifying the audit", || host.verify(None))?;
    let problems = screen.during("checking the file", || host.check())?;
    let sound = chain.is_sound() && problems.is_empty();
    if options.json {
        let chain = match &chain {
            Verification::Sound(anchor) => json!({"ok": true, "entries": anchor.entries}),
            Verification::Broken(flaw) => json!({"ok": false, "first_bad": flaw.seq}),
        };
        screen.json(&json!({"ok": sound, "chain": chain, "problems": problems}))?;
        return Ok(u8::from(!sound));
    }
    match &chain {
        Verification::Sound(anchor) => {
            screen.line(&[
                (GOOD, "sound ".into()),
                (PLAIN, format!("the audit's {} entries", anchor.entries)),
            ])?;
        }
        Verification::Broken(flaw) => {
            screen.line(&[
                (BAD, "BROKEN ".into()),
                (PLAIN, format!("the audit, first at entry {}", flaw.seq)),
            ])?;
        }
    }
    for problem in &problems {
        let text = format!("{:?}, at least {} times", problem.kind, problem.count);
        screen.line(&[(BAD, "DAMAGE ".into()), (PLAIN, text)])?;
    }
    if problems.is_empty() {
        screen.line(&[
            (GOOD, "sound ".into()),
            (PLAIN, "the file, its records and its index".into()),
        ])?;
    }
    Ok(u8::from(!sound))
}

fn memory_json(memory: &Memory) -> Json {
    json!({
        "key": memory.key.as_str(), "content": memory.content,
        "classification": memory.classification, "tags": memory.tags,
        "version": memory.version, "updated_at": memory.updated_at,
    })
}

/// The object with more fields.
fn with<const N: usize>(mut object: Json, more: [(&str, Json); N]) -> Json {
    if let Json::Object(fields) = &mut object {
        fields.extend(more.map(|(name, value)| (name.to_owned(), value)));
    }
    object
}

fn level(level: Classification) -> Piece {
    let name = level.as_str();
    (of_level(name), format!("{name:<12}"))
}

fn time(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Secs, true)
}

fn bytes(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} B"),
        10_000..10_000_000 => format!("{} kB", bytes / 1_000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}
