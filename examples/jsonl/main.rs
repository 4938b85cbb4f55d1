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
//! | `audit` | `agent`?, `key`?, `session`?, `limit`? | `{"entries":[...]}`, newest first |
//! | `reindex` | | makes the search index anew: `{"records"}` |
//! | `stats` | `agent`? | `{"levels":{"PUBLIC":{"live","expired","superseded","deleted"},...},"agents","sessions","audit_entries","sizes"}` |
//! | `clock` | `now` | fixes the store's clock |
//!
//! `id` names a session of this program; times are RFC 3339.

mod driver;
mod fields;
mod serve;
mod stats;

use std::error::Error;
use std::io;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1);
    let path = path.ok_or("usage: jsonl PATH, where PATH may be :memory:")?;
    let mut driver = driver::Driver::open(&path)?;
    serve::serve(io::stdin().lock(), io::stdout().lock(), &mut driver)?;
    Ok(())
}
