//! A store's memories for any MCP client, on stdin and stdout.
//!
//! `cargo run --features mcp --example mcp_server -- STORE [--agent A] [--taint L] [--ceiling L]`
//!
//! `STORE` is the file, made if there is none. The agent is `assistant` if it isn't named; the taint at which
//! the connection starts is PUBLIC and its ceiling RESTRICTED. A level is one of PUBLIC, INTERNAL,
//! CONFIDENTIAL and RESTRICTED. Only the protocol goes to stdout; what went wrong goes to stderr.

#![expect(clippy::print_stderr, reason = "stdout belongs to the protocol")]

use std::error::Error;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use strandline::mcp::Server;
use strandline::mcp::rmcp::ServiceExt;
use strandline::{Classification, MemoryStore};

const USAGE: &str = "usage: mcp_server STORE [--agent A] [--taint L] [--ceiling L]";

struct Options {
    path: PathBuf,
    agent: String,
    taint: Classification,
    ceiling: Classification,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("mcp_server: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let options = Options::parse(std::env::args_os().skip(1))?;
    let store = MemoryStore::builder()
        .create_folders()
        .open(&options.path)?;
    let server = Server::new(store, options.agent)
        .taint(options.taint)
        .ceiling(options.ceiling);
    // A process serves one connection, so it has one session.
    let connection = server.connect()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let stdio = (tokio::io::stdin(), tokio::io::stdout());
        connection.serve(stdio).await?.waiting().await?;
        Ok(())
    })
}

impl Options {
    fn parse(mut arguments: impl Iterator<Item = OsString>) -> Result<Self, Box<dyn Error>> {
        let path = arguments.next().ok_or(USAGE)?;
        if path.to_string_lossy().starts_with('-') {
            return Err(USAGE.into());
        }
        let mut options = Self {
            path: path.into(),
            agent: String::from("assistant"),
            taint: Classification::Public,
            ceiling: Classification::Restricted,
        };
        while let Some(name) = arguments.next() {
            let value = arguments.next().and_then(|value| value.into_string().ok());
            let value = value.ok_or(USAGE)?;
            match name.to_str() {
                Some("--agent") => options.agent = value,
                Some("--taint") => options.taint = value.parse()?,
                Some("--ceiling") => options.ceiling = value.parse()?,
                _ => return Err(USAGE.into()),
            }
        }
        Ok(options)
    }
}
