//! The arguments, and the views.

use std::error::Error as StdError;
use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};
use lexopt::prelude::*;
use serde_json::{Value as Json, json};
use strandline::audit::{Decision, Entry, Query, Verification};
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
                  Nothing above it is shown, nor counted, nor told by a gap: an entry of the audit has its
                  number and hash at RESTRICTED only.
  --stats         with overview: totals of the whole store too
  --limit N       at most so many lines (20); a search has no more than 100
  --tag TAG       with list: only memories with this tag
  --json          JSON lines; the default where the output isn't a terminal
  --text          text, also where it isn't

verify and --stats look at every level at once, so they take --level RESTRICTED.
Exit codes: 0 fine, 1 damage was found, 2 wrong usage, 3 the store can't be read or the output not written.
";

type Outcome = Result<u8, Box<dyn StdError>>;

struct Options {
    words: Vec<String>,
    level: Classification,
    limit: Option<usize>,
    tag: Option<String>,
    stats: bool,
    json: bool,
    query: Query,
}

impl Options {
    fn sees_all(&self) -> bool {
        self.level == Classification::Restricted
    }

    fn limit(&self) -> usize {
        self.limit.unwrap_or(20)
    }
}

/// Does what the arguments say; the exit code.
pub(crate) fn run(arguments: impl IntoIterator<Item = OsString>, screen: &mut Screen) -> u8 {
    let outcome = follow(arguments, screen).and_then(|code| {
        screen.out.flush()?;
        Ok(code)
    });
    match outcome {
        Ok(code) => code,
        // A reader that has closed the pipe has seen enough.
        Err(error) if is_closed_pipe(&*error) => 0,
        Err(error) => {
            drop(screen.say(&format!("{error}{}", hint_of(&*error))));
            code_of(&*error)
        }
    }
}

fn follow(arguments: impl IntoIterator<Item = OsString>, screen: &mut Screen) -> Outcome {
    let parsed = parse(arguments, screen).map_err(|error| Usage(error.to_string()))?;
    if let Some((path, options)) = parsed {
        return show(&path, &options, screen);
    }
    write!(screen.out, "{HELP}")?;
    Ok(0)
}

fn is_closed_pipe(error: &(dyn StdError + 'static)) -> bool {
    error
        .downcast_ref::<std::io::Error>()
        .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

fn hint_of(error: &(dyn StdError + 'static)) -> &'static str {
    let kind = error
        .downcast_ref::<strandline::Error>()
        .map(strandline::Error::kind);
    match kind {
        Some(ErrorKind::WrongKey) => "; this program takes no key",
        _ if error.is::<Usage>() => "; try --help",
        _ => "",
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
struct Usage(String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
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
        limit: None,
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
            Long("limit") => options.limit = Some(parser.value()?.parse()?),
            Long("tag") => options.tag = Some(parser.value()?.string()?),
            Long("agent") => options.query.agent = Some(parser.value()?.string()?.parse()?),
            Long("key") => options.query.key = Some(parser.value()?.string()?.parse()?),
            Long("session") => options.query.session = Some(parser.value()?.string()?.parse()?),
            Value(value) if path.is_none() => path = Some(PathBuf::from(value)),
            Value(value) => options.words.push(value.string()?),
            _ => return Err(argument.unexpected().into()),
        }
    }
    if options.limit == Some(0) {
        return Err("--limit must be at least 1".into());
    }
    let path = path.ok_or("which STORE?")?;
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
        let text = "there is no such view, or its arguments are too many or too few";
        return Err(Usage(text.into()).into());
    }
    let wrong = unheeded(words.first().copied().unwrap_or("overview"), options);
    if let Some(wrong) = wrong {
        return Err(Usage(wrong.into()).into());
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

/// What is wrong with the options: one that the view doesn't heed would leave the impression that it does.
fn unheeded(view: &str, options: &Options) -> Option<&'static str> {
    let query = &options.query;
    let narrowed = query.agent.is_some() || query.key.is_some() || query.session.is_some();
    if options.tag.is_some() && view != "list" {
        Some("--tag goes with list")
    } else if narrowed && view != "audit" {
        Some("--agent, --key and --session go with audit")
    } else if options.stats && view != "overview" {
        Some("--stats goes with overview")
    } else if options.stats && !options.sees_all() {
        Some("--stats counts every level: it takes --level RESTRICTED")
    } else if view == "verify" && !options.sees_all() {
        Some("verify reads every level: it takes --level RESTRICTED")
    } else if view == "verify" && options.limit.is_some() {
        Some("--limit doesn't go with verify")
    } else if view == "search" && options.limit() > 100 {
        Some("--limit of a search is at most 100")
    } else {
        None
    }
}

fn overview(store: &MemoryStore, options: &Options, screen: &mut Screen) -> Outcome {
    let mut found = screen.during("counting", || store.host().holdings())?;
    found.retain(|holding| holding.level.can_flow_to(options.level));
    if options.json {
        for holding in found.iter().take(options.limit()) {
            screen.json(&serde_json::to_value(holding)?)?;
        }
        screen.left_out(options.limit(), found.len())?;
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
        let rows: Vec<_> = found.iter().take(options.limit()).map(row).collect();
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
    let mut shown = 0;
    let mut after = None;
    loop {
        let mut list = List::new().limit(options.limit() - shown).count();
        if let Some(tag) = &options.tag {
            list = list.tag(tag);
        }
        if let Some(cursor) = after {
            list = list.after(cursor);
        }
        let page = store.list(&view, list)?;
        for memory in &page.memories {
            show_memory(memory, options, screen)?;
        }
        shown += page.memories.len();
        after = page.next;
        if after.is_none() || shown >= options.limit() {
            let total = page.total.map_or(Ok(0), usize::try_from)?;
            return counted(shown, total, options, screen);
        }
    }
}

fn show_memory(memory: &Memory, options: &Options, screen: &mut Screen) -> std::io::Result<()> {
    if options.json {
        return screen.json(&memory_json(memory));
    }
    let mut line = vec![level(memory.classification), (PLAIN, " ".into())];
    line.extend(screen.name(BOLD, memory.key.as_str()));
    line.push((PLAIN, format!("  {}", escaped(&memory.content))));
    screen.line(&line)
}

/// How many of how many, after the last line of a view.
fn counted(shown: usize, total: usize, options: &Options, screen: &mut Screen) -> Outcome {
    if options.json {
        screen.left_out(shown, total)?;
    } else {
        let text = format!("{shown} of {total} up to {}", options.level);
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
    let search = Search::new(query).max_results(options.limit()).explain();
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
            let start = fragment.range.start;
            let text = hit.memory.content.get(fragment.range.clone());
            let shifted = |found: &std::ops::Range<usize>| found.start - start..found.end - start;
            let matches: Vec<_> = fragment.matches.iter().map(shifted).collect();
            let pieces = marked(text.unwrap_or_default(), &matches);
            screen.line_with_first_match("       ", pieces)?;
        }
    }
    let text = match hits.len() {
        0 => "nothing",
        found if found == options.limit() => "the best; there may be more (--limit)",
        _ => "all",
    };
    ended(text, options, screen)
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
    for version in versions.iter().take(options.limit()) {
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
    let shown = versions.len().min(options.limit());
    counted(shown, versions.len(), options, screen)
}

fn audit(store: &MemoryStore, options: &Options, screen: &mut Screen) -> Outcome {
    let mut query = Query {
        limit: 500,
        ..options.query.clone()
    };
    let mut shown = 0;
    loop {
        let page = store.host().audit(&query)?;
        let Some(last) = page.last().map(|entry| entry.seq) else {
            let text = if shown > 0 { "all" } else { "nothing" };
            return ended(text, options, screen);
        };
        for entry in page
            .iter()
            .filter(|entry| entry.facts.level.can_flow_to(options.level))
        {
            if shown == options.limit() {
                if options.json {
                    screen.say("there are more (--limit)")?;
                }
                return ended("there are more (--limit)", options, screen);
            }
            shown += 1;
            show_entry(entry, options, screen)?;
        }
        query.before = Some(last);
    }
}

/// The last line of a view, as text.
fn ended(text: &str, options: &Options, screen: &mut Screen) -> Outcome {
    if !options.json {
        screen.line(&[(DIM, format!("{text}, up to {}", options.level))])?;
    }
    Ok(0)
}

fn show_entry(entry: &Entry, options: &Options, screen: &mut Screen) -> std::io::Result<()> {
    let facts = &entry.facts;
    if options.json {
        // Numbers have gaps where entries are above the level, and a hash is over those before it.
        return screen.json(&if options.sees_all() {
            serde_json::to_value(entry)?
        } else {
            serde_json::to_value(facts)?
        });
    }
    let mut line = Vec::new();
    if options.sees_all() {
        line.push((DIM, format!("{:>7} ", entry.seq)));
    }
    let (session, key) = (facts.session.as_str(), facts.key.as_ref());
    // What is done with a session has its id as the key.
    let key = key.map_or("", |key| key.as_str());
    let key = if key == session { "" } else { key };
    let action = format!("{:?}", facts.action).to_lowercase();
    line.extend([
        (DIM, format!("{} ", time(facts.at))),
        level(facts.level),
        (BOLD, format!(" {action:<8} ")),
    ]);
    if facts.decision == Decision::Refused {
        line.push((BAD, "refused ".into()));
    }
    let who = [facts.agent.as_str(), session, key].map(escaped).join(" ");
    line.push((PLAIN, format!("{}  ", who.trim_end())));
    line.push((
        DIM,
        facts.detail.as_deref().map(escaped).unwrap_or_default(),
    ));
    screen.line(&line)
}

fn verify(store: &MemoryStore, options: &Options, screen: &mut Screen) -> Outcome {
    let host = store.host();
    let chain = screen.during("verifying the audit", || host.verify(None))?;
    let problems = screen.during("checking the file", || host.check())?;
    let sound = chain.is_sound() && problems.is_empty();
    if options.json {
        let chain = match &chain {
            Verification::Sound(anchor) => {
                json!({"ok": true, "entries": anchor.entries, "anchor": anchor.to_string()})
            }
            Verification::Broken(flaw) => json!({"ok": false, "first_bad": flaw.seq}),
        };
        screen.json(&json!({"ok": sound, "chain": chain, "problems": problems}))?;
        return Ok(u8::from(!sound));
    }
    match &chain {
        Verification::Sound(anchor) => {
            let what = format!("the audit's chain of {} entries", anchor.entries);
            screen.line(&[(GOOD, "sound ".into()), (PLAIN, what)])?;
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
