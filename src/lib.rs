//! Persistent, cross-session memory for AI agents that is *classification-gated*: a session never
//! reads above its taint and never writes below it.
//!
//! An agent saves facts, preferences and context that outlive its conversations. Some of what it
//! learns is not for every later conversation to know. This crate keeps memories in one SQLite file
//! and puts a gate before every read and write, so that the answer to *who may know this?* never
//! depends on a model's good will.
//!
//! # The primary type
//!
//! [`MemoryStore`] is the one door: [`save`](MemoryStore::save), [`get`](MemoryStore::get),
//! [`search`](MemoryStore::search), [`list`](MemoryStore::list) and
//! [`delete`](MemoryStore::delete). Each takes the [`Session`] that asks.
//!
//! ```text
//!   model's tool call
//!         │
//!         ▼
//!      tools ───────► gate ─────────► MemoryStore ────► StorageProvider ────► SQLite
//!   parse, refuse     taint now       five verbs        records with          WAL, FTS5
//!   what is unclear   ─► grant        shadowing         their level
//!                     audit
//!                       ▲
//!                       │ raise: only ever upwards
//!                    Session ◄── the host, before it shows the session anything classified
//! ```
//!
//! # A whole program
//!
//! ```
//! use strandline::{Classification, Draft, MemoryStore, Search};
//!
//! let folder = tempfile::tempdir()?;
//! let store = MemoryStore::open(folder.path().join("memory.db"))?;
//!
//! // A session starts at PUBLIC. Before the host shows it something classified, it raises it.
//! let sales = store.session("conversation-1", "assistant").open()?;
//! store.save(&sales, Draft::new("user-name", "Ada").tag("persona"))?;
//! sales.raise(Classification::Confidential, "opened the ledger")?;
//! store.save(&sales, Draft::new("user-name", "Ada, who owes us 9 doubloons"))?;
//!
//! // The same key now exists at two levels. A session sees the highest that it may read ...
//! let seen = store.get(&sales, "user-name")?.map(|memory| memory.content);
//! assert_eq!(seen.as_deref(), Some("Ada, who owes us 9 doubloons"));
//!
//! // ... and a new session, at PUBLIC, no trace of the other.
//! let next = store.session("conversation-2", "assistant").open()?;
//! let seen = store.get(&next, "user-name")?.map(|memory| memory.content);
//! assert_eq!(seen.as_deref(), Some("Ada"));
//! assert!(store.search(&next, Search::new("who owes doubloons?"))?.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Guides
//!
//! A [tutorial](guide::tutorial), a [cookbook](guide::cookbook), the [design](guide::design) with its
//! invariants, how to write a [provider](guide::provider), how to [operate](guide::operating) a store, a
//! [comparison](guide::comparison) with other memory systems, and a [FAQ](guide::faq).
//!
//! # How the parts relate
//!
//! - A [`Classification`] is one of four levels. Information may flow upwards only.
//! - A [`Session`] belongs to one agent and has a *taint*: the highest level it has touched. It only
//!   rises, is kept in the store, and is read live at each call. A new session starts at `PUBLIC`,
//!   also one that a schedule triggers.
//! - The [gate](policy) turns a session into a grant for one call. The host can add rules that deny;
//!   nothing can widen what it allows.
//! - A [`Draft`] is saved as a [`Memory`] at the session's taint. It can't name a level.
//! - [Tools](tools) are what a model gets: definitions, and one dispatcher from name and JSON
//!   arguments to a JSON result. [`Persona`](tools::Persona) makes a prompt section of what is
//!   remembered.
//! - A [`Host`] handle reads the history of a key and the [audit], proves that no entry of it was changed,
//!   traces the [lineage] of a version, makes backups, exports and imports. Tools can't reach it.
//! - An [`Observer`](observe::Observer) is told of each call, for the host's metrics.
//! - A [`StorageProvider`](storage::StorageProvider) keeps the records: in SQLite, in memory, or
//!   wherever you implement it. [Namespaces](storage::Namespace) let a runtime keep its cron jobs and
//!   todos behind the same gate.
//! - [Search](search) is full-text, over exactly what the session can see. On request each [`Hit`] says
//!   [why it matched](search::Explanation).
//!
//! # What it is not
//!
//! It doesn't find out how sensitive a source is: the host says so by raising a session. It doesn't
//! hide how long a call takes or how large the file is. It is no vector store; search is by words and
//! their stems. It encrypts the file only with the feature `sqlcipher` and a key. The threat model is in the
//! repository's `SECURITY.md`.
//!
//! # Guarantees
//!
//! Nothing that a session can observe depends on a record above its taint or on another agent's
//! records: no value, order, score, count, cursor, error or byte of a tool's result. This is tested as
//! *noninterference* (Goguen and Meseguer, *Security Policies and Security Models*, 1982): the same
//! trace is run twice with only those records changed, and everything observed must be equal.
//!
//! # Features
//!
//! - `conformance`: the suite of tests that every storage provider must pass.
//! - `mcp`: the five tools as a server of the Model Context Protocol, which a runtime mounts or a desktop
//!   application starts; see the module `mcp`. It brings the official SDK `rmcp`, and tokio.
//! - `sqlcipher`: stores that are encrypted at rest, opened with `StoreBuilder::key`; see
//!   `storage::EncryptionKey`. It builds SQLCipher in place of SQLite, and OpenSSL, which takes some minutes
//!   once, `make` and `perl`.
//! - `tokio`: the verbs as async functions that block no thread of the runtime; see the module
//!   `asynchronous`. It brings tokio.
//! - `tracing`: a span for each call, with the names of OpenTelemetry's conventions; see [`observe`]. It brings
//!   the crate `tracing`.

#![cfg_attr(docsrs, feature(doc_cfg))]
#[macro_use]
mod planted;

#[cfg(any(feature = "mcp", feature = "tokio"))]
mod blocking;
mod classification;
mod clock;
mod error;
#[cfg(test)]
mod noninterference;
mod record;
mod session;
mod store;
mod sync;

#[cfg(feature = "tokio")]
pub mod asynchronous;
pub mod audit;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod guide;
pub mod lineage;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod observe;
pub mod policy;
pub mod search;
pub mod storage;
pub mod tools;

pub use classification::Classification;
pub use clock::Clock;
pub use error::{Error, ErrorKind, Result};
pub use record::{Draft, Limits, Memory, MemoryKey, Tag};
pub use session::{AgentId, Raise, Session, SessionId};
pub use store::{Cursor, Hit, Host, List, MemoryStore, Page, Search, SessionBuilder, StoreBuilder};

/// The README's program, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
