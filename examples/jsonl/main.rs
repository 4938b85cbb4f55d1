//! A store on stdin and stdout, as JSON lines, so that any language and any test can drive it.
//!
//! `cargo run --example jsonl -- memory.db`, or `:memory:` for a store that ends with the program.
//! A request is one line, an object with the field `op`; the reply is one line,
//! `{"ok":true,"result":...}` or `{"ok":false,"error":{"code":"...","message":"..."}}`. A line that
//! can't be served gets an error, and the next is served.
//!
//! | op | fields | result |
//! |---|---|---|
//! | `session` | `id`, `agent`, `taint`?, `ceiling`? | opens or resumes a session: `{"taint"}` |
//! | `raise` | `id`, `level`, `reason`? | `{"taint"}` |
//! | `call` | `id`, `tool`, `arguments`? | a tool call as a model sends it: `{"is_error", "output"}` |
//! | `save` | `id`, `key`, `content`, `tags`?, `expires_at`? | the record |
//! | `get` | `id`, `key` | the record, or `{"found":false}` |
//! | `search` | `id`, `query`, `max_results`?, `explain`? | `{"results":[...]}`: records with `score` and, if `explain` is true, `explanation` |
//! | `list` | `id`, `tag`?, `limit`?, `cursor`? | `{"memories":[...],"next"}`; without `limit` to the end |
//! | `delete` | `id`, `key` | `{"deleted":true,"key"}` |
//! | `history` | `agent`, `key` | `{"versions":[...]}`, newest first |
//! | `audit` | `agent`?, `key`?, `session`?, `namespace`?, `level`?, `action`?, `decision`?, `from`?, `until`?, `before`?, `limit`? | `{"entries":[...]}`, newest first |
//! | `verify` | `anchor`? | `{"ok":true,"entries","head","anchor"}`, or `{"ok":false,"first_bad","problem"}` |
//! | `export_audit` | `path` | the audit as JSON lines: `{"count","anchor"}` |
//! | `verify_export` | `path`, `anchor`? | as `verify`, of such a file |
//! | `why` | `agent`, `key`, `level`?, `version`? | why it has its level: `{"saved","cause"}`, both entries |
//! | `derived_from` `derived_into` | `agent`, `key`, `level`?, `version`?, `depth`?, `limit`? | `{"steps":[...],"complete"}` |
//! | `restore` | `id`, `key`, `version` | the new live record |
//! | `purge` | `before`, `agent`? | removes what ended before: `{"purged","complete"}` |
//! | `erase` | `agent` and `key`, `agent`, or `session` | removes all of it: `{"erased","complete"}` |
//! | `check` | | `{"ok","problems":[{"kind","count","record"}]}` |
//! | `reindex` | | makes the search index anew: `{"records"}` |
//! | `export` | `path` | every version as JSON lines, to a file: `{"count"}`, without the sessions' own state |
//! | `import` | `path`, `format`? | `jsonl` (default) or `triggerfish`: `{"count","unchanged","refused","ignored","ended","renumbered","sessions","problems":[{"line","reason"}]}` |
//! | `backup` | `path` | the whole store, to a new file: `{"count"}` |
//! | `stats` | `agent`? | `{"levels":{"PUBLIC":{"live","expired","superseded","deleted"},...},"agents","sessions","audit_entries","sizes"}` |
//! | `clock` | `now` | fixes the store's clock |
//!
//! `id` names a session of this program; times are RFC 3339. `from` is included, `until` isn't; `before` is
//! the `seq` of the last entry of the page before. Without `level` and `version` the last stored version of
//! a key is meant.
//!
//! Flags before the path: `--audit-reads` lets reads leave entries in the audit, too; with `--lineage` the
//! store keeps what each session has read, which `derived_from` and `derived_into` need;
//! `--no-neighbours` ranks without what was saved beside a memory; `--language de` sets the store to a language
//! (ISO 639-1) that its memories are in.

mod audit;
mod driver;
mod fields;
mod serve;
mod stats;
mod transfer;
mod upkeep;

use std::error::Error;
use std::ffi::OsString;
use std::io;

use strandline::MemoryStore;

const USAGE: &str = "usage: jsonl [--audit-reads] [--lineage] [--no-neighbours] [--language CODE] PATH, \
                     where PATH may be :memory:";

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let path = arguments.pop().ok_or(USAGE)?;
    let mut options = MemoryStore::builder();
    let mut arguments = arguments.into_iter();
    while let Some(flag) = arguments.next() {
        options = match flag.to_str() {
            Some("--audit-reads") => options.audit_reads(true),
            Some("--lineage") => options.lineage(true),
            Some("--no-neighbours") => options.neighbours(false),
            Some("--language") => {
                let code = arguments.next().ok_or(USAGE)?;
                options.language(code.to_str().ok_or(USAGE)?.parse()?)
            }
            _ => return Err(USAGE.into()),
        };
    }
    let mut driver = driver::Driver::open(&path, options)?;
    serve::serve(io::stdin().lock(), io::stdout().lock(), &mut driver)?;
    Ok(())
}
