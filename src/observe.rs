//! What a store is asked to do, for the host's metrics and traces. No text of a memory is in it.
//!
//! An [`Observer`] is told of each call when it is over: the operation, the level, how many memories it
//! was of, how long it took and what it came to. That is all it is told. Keys, contents, tags, queries,
//! reasons and arguments can't be in a [`Call`], which has no field for text; nor is the agent or the
//! session, whose names are the host's own and often a person's. A host that wants them knows them where it makes
//! the call.
//!
//! ```
//! use std::sync::Arc;
//! use std::sync::atomic::{AtomicU64, Ordering};
//! use strandline::observe::{Call, Observer, Operation, Outcome};
//! use strandline::{Classification, Draft, ErrorKind, MemoryStore};
//!
//! #[derive(Debug, Default)]
//! struct Misses(AtomicU64);
//! impl Observer for Misses {
//!     fn called(&self, call: &Call) {
//!         if call.operation == Operation::Get && call.outcome == Outcome::Done && call.count == 0 {
//!             self.0.fetch_add(1, Ordering::Relaxed);
//!         }
//!     }
//! }
//!
//! let misses = Arc::new(Misses::default());
//! let store = MemoryStore::builder().observer(misses.clone()).open_in_memory()?;
//! let high = store.session("s-1", "agent").taint(Classification::Internal).open()?;
//! store.save(&high, Draft::new("door-code", "4711"))?;
//! let low = store.session("s-2", "agent").open()?;
//! assert!(store.get(&low, "door-code")?.is_none()); // above its taint, and so a miss
//! assert_eq!(misses.0.load(Ordering::Relaxed), 1);
//! # Ok::<(), strandline::Error>(())
//! ```
//!
//! A recipe with [counters for Prometheus](crate::guide::cookbook#count-calls-for-prometheus) is in the cookbook.
//!
//! # When, and how often
//!
//! Once for each call of a public method that reads or writes through the store: the verbs of a
//! [`MemoryStore`](crate::MemoryStore), opening and raising a [`Session`](crate::Session), and the methods of a
//! [`Host`](crate::Host). A call of one of the five [tools](crate::tools) is told of twice, as the verb and then as
//! [`Operation::ToolCall`], or only as that if the gate or the tool refused it. A name that is none of the
//! five is no call. A [`Persona`](crate::tools::Persona) reads by lists. What makes or replaces a store has none yet that
//! observers belong to, so nobody is told of it: opening the store, [`Host::restore_backup`](crate::Host::restore_backup),
//! and changing the key. Each is one call of the host's own, which has its result;
//! [`on_reindex`](crate::StoreBuilder::on_reindex) and [`on_repair`](crate::StoreBuilder::on_repair) tell what an opening
//! did besides.
//!
//! The observer runs in the thread of the call, after it, and before the caller has the result: be quick. The call
//! holds no lock and no transaction any more. (A call made from inside another one, by a host rule, say, is
//! over before that other one is.) What the observer does changes nothing about it:
//!
//! - A panic of the observer is caught. Where panics abort, it ends the process.
//! - An observer may call the store. Of calls that it makes itself nobody is told.
//!
//! Nothing is measured without an observer.
//!
//! # Who may see it
//!
//! The host. Durations, and the counts of what it does itself, tell of memories above a session; show them
//! to none.
#![cfg_attr(feature = "tracing", doc = include_str!("observe/tracing.md"))]

mod observers;
#[cfg(feature = "tracing")]
mod span;
mod told;

use std::fmt::Debug;
use std::time::Duration;

pub(crate) use observers::{Observers, Probe};
#[cfg(all(feature = "tracing", any(feature = "mcp", feature = "tokio")))]
pub(crate) use span::in_span;
pub(crate) use told::{Count, Told};

use crate::classification::Classification;
use crate::error::ErrorKind;

/// Is told of each call of a store, when it is over.
///
/// Give it to [`StoreBuilder::observer`](crate::StoreBuilder::observer). [The module](self) says when it is called.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use strandline::observe::{Call, Observer};
/// use strandline::{Draft, MemoryStore};
///
/// #[derive(Debug, Default)]
/// struct Log(Mutex<Vec<String>>);
/// impl Observer for Log {
///     fn called(&self, call: &Call) {
///         let line = format!("{} {}", call.operation.as_str(), call.outcome.code());
///         self.0.lock().unwrap().push(line);
///     }
/// }
///
/// let log = Arc::new(Log::default());
/// let store = MemoryStore::builder().observer(log.clone()).open_in_memory()?;
/// let session = store.session("s-1", "agent").open()?;
/// store.save(&session, Draft::new("k", "v"))?;
/// assert!(store.delete(&session, "no-such-key").is_err());
/// assert_eq!(*log.0.lock().unwrap(), ["open ok", "save ok", "delete not_found"]);
/// # Ok::<(), strandline::Error>(())
/// ```
pub trait Observer: Debug + Send + Sync {
    /// A call is over.
    fn called(&self, call: &Call);
}

/// A call that is over.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use strandline::observe::{Call, Observer};
/// use strandline::{Classification, Draft, List, MemoryStore};
///
/// #[derive(Debug, Default)]
/// struct Last(Mutex<Option<Call>>);
/// impl Observer for Last {
///     fn called(&self, call: &Call) {
///         *self.0.lock().unwrap() = Some(*call);
///     }
/// }
///
/// let last = Arc::new(Last::default());
/// let store = MemoryStore::builder().observer(last.clone()).open_in_memory()?;
/// let session = store.session("s-1", "agent").taint(Classification::Internal).open()?;
/// store.save_all(&session, (0..3).map(|i| Draft::new(format!("k{i}"), "v")))?;
/// store.list(&session, List::new().limit(2))?;
/// let call = last.0.lock().unwrap().expect("there were calls");
/// assert_eq!((call.level, call.count), (Some(Classification::Internal), 2));
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Call {
    /// What was asked for.
    pub operation: Operation,
    /// The tool's name, for [`Operation::ToolCall`]: one of the five.
    pub tool: Option<&'static str>,
    /// The session's taint: the one that the gate read for this call, which for a write is the level of what
    /// was saved. `None` for what the host does without a session, and for an opening that failed.
    pub level: Option<Classification>,
    /// How many memories, versions or entries came back or were written; [`Operation`] says which. 0 for a call
    /// that failed.
    pub count: u64,
    /// How long it took, by a clock that is never set back.
    pub duration: Duration,
    /// What it came to.
    pub outcome: Outcome,
}

/// What a call came to.
///
/// ```
/// use strandline::ErrorKind;
/// use strandline::observe::Outcome;
///
/// assert_eq!(Outcome::Done.code(), "ok");
/// assert_eq!(Outcome::Failed(ErrorKind::Denied).code(), "denied");
/// assert_eq!(Outcome::Done.error(), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// It did what was asked for, or found that there is nothing.
    Done,
    /// It failed, or was refused: by a host rule as [`Denied`](ErrorKind::Denied), by the session's ceiling as
    /// [`CeilingExceeded`](ErrorKind::CeilingExceeded).
    Failed(ErrorKind),
    /// It panicked: in a provider, a host rule, or a reader or writer that it was given.
    Panicked,
}

impl Outcome {
    /// A stable, lower-case code: `"ok"`, that of the [error's kind](ErrorKind::code), or `"panic"`.
    ///
    /// ```
    /// assert_eq!(strandline::observe::Outcome::Panicked.code(), "panic");
    /// ```
    pub const fn code(self) -> &'static str {
        match self {
            Self::Done => "ok",
            Self::Failed(kind) => kind.code(),
            Self::Panicked => "panic",
        }
    }

    /// The error's kind, if it failed with one.
    ///
    /// ```
    /// use strandline::ErrorKind;
    /// use strandline::observe::Outcome;
    ///
    /// assert_eq!(Outcome::Failed(ErrorKind::Busy).error(), Some(ErrorKind::Busy));
    /// ```
    pub const fn error(self) -> Option<ErrorKind> {
        match self {
            Self::Failed(kind) => Some(kind),
            Self::Done | Self::Panicked => None,
        }
    }
}

macro_rules! operations {
    ($($(#[doc = $doc:literal])+ $name:ident = $code:literal,)+) => {
        /// What a store was asked to do. Each variant says what [`Call::count`] counts.
        ///
        /// ```
        /// use strandline::observe::Operation;
        ///
        /// assert_eq!(Operation::SaveAll.as_str(), "save_all");
        /// assert!(Operation::ALL.contains(&Operation::Backup));
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Operation {
            $($(#[doc = $doc])+ $name,)+
        }

        impl Operation {
            /// All of them, so that a counter can begin at zero.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// A stable, lower-case name.
            ///
            /// ```
            /// assert_eq!(strandline::observe::Operation::ToolCall.as_str(), "tool_call");
            /// ```
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)+
                }
            }
        }
    };
}

operations! {
    /// [`SessionBuilder::open`](crate::SessionBuilder::open). It counts nothing.
    Open = "open",
    /// [`Session::raise`](crate::Session::raise). It counts nothing.
    Raise = "raise",
    /// [`MemoryStore::save`](crate::MemoryStore::save): 1.
    Save = "save",
    /// [`MemoryStore::save_all`](crate::MemoryStore::save_all): what was saved.
    SaveAll = "save_all",
    /// [`MemoryStore::get`](crate::MemoryStore::get): 1, or 0 where there is none.
    Get = "get",
    /// [`MemoryStore::search`](crate::MemoryStore::search): the hits.
    Search = "search",
    /// [`MemoryStore::list`](crate::MemoryStore::list): the memories of the page.
    List = "list",
    /// [`MemoryStore::delete`](crate::MemoryStore::delete): 1.
    Delete = "delete",
    /// [`MemoryStore::export`](crate::MemoryStore::export): the memories. The level is that of the last page.
    Export = "export",
    /// [`Tools::call`](crate::tools::Tools::call): as the verb.
    ToolCall = "tool_call",
    /// [`Host::view`](crate::Host::view). It counts nothing.
    View = "view",
    /// [`Host::restore`](crate::Host::restore), in a session: 1.
    Restore = "restore",
    /// [`Host::history`](crate::Host::history) and [`history_page`](crate::Host::history_page): the versions.
    History = "history",
    /// [`Host::audit`](crate::Host::audit): the entries.
    Audit = "audit",
    /// [`Host::verify`](crate::Host::verify): the entries, if they are sound.
    Verify = "verify",
    /// [`Host::export_audit`](crate::Host::export_audit) and
    /// [`export_audit_to`](crate::Host::export_audit_to): the entries.
    ExportAudit = "export_audit",
    /// [`Host::derived_from`](crate::Host::derived_from): the versions found.
    DerivedFrom = "derived_from",
    /// [`Host::derived_into`](crate::Host::derived_into): the versions found.
    DerivedInto = "derived_into",
    /// [`Host::why`](crate::Host::why): 1, or 0 where the audit doesn't know.
    Why = "why",
    /// [`Host::purge`](crate::Host::purge) and [`purge_agent`](crate::Host::purge_agent): the versions.
    Purge = "purge",
    /// [`Host::erase`](crate::Host::erase), [`erase_agent`](crate::Host::erase_agent) and
    /// [`erase_session`](crate::Host::erase_session): the versions.
    Erase = "erase",
    /// [`Host::export`](crate::Host::export) and [`export_to`](crate::Host::export_to): the versions.
    ExportStore = "export_store",
    /// [`Host::import`](crate::Host::import) and
    /// [`import_triggerfish`](crate::Host::import_triggerfish): the versions that are new.
    Import = "import",
    /// [`Host::backup`](crate::Host::backup): the versions.
    Backup = "backup",
    /// [`Host::reindex`](crate::Host::reindex): the live records.
    Reindex = "reindex",
    /// [`Host::check`](crate::Host::check): the problems.
    Check = "check",
    /// [`Host::stats`](crate::Host::stats) and [`agent_stats`](crate::Host::agent_stats). It counts nothing.
    Stats = "stats",
    /// [`Host::holdings`](crate::Host::holdings): the holdings.
    Holdings = "holdings",
}
