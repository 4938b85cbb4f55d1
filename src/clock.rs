//! Where the store learns what time it is.

use std::fmt::Debug;

use chrono::{DateTime, Utc};

/// The store's only source of time.
///
/// Creation and update times and expiry all compare against it. Swap it in tests, or where a
/// runtime replays its past.
///
/// ```
/// use std::sync::Arc;
/// use chrono::{DateTime, Utc};
/// use strandline::{Clock, Draft, MemoryStore};
///
/// #[derive(Debug)]
/// struct Noon;
/// impl Clock for Noon {
///     fn now(&self) -> DateTime<Utc> {
///         "2026-01-01T12:00:00Z".parse().expect("a valid time")
///     }
/// }
///
/// let store = MemoryStore::builder().clock(Arc::new(Noon)).open_in_memory()?;
/// let session = store.session("s-1", "agent").open()?;
/// let saved = store.save(&session, Draft::new("k", "said at noon"))?;
/// assert_eq!(saved.created_at, Noon.now());
/// # Ok::<(), strandline::Error>(())
/// ```
pub trait Clock: Debug + Send + Sync {
    /// The time now. Stored with microsecond precision.
    fn now(&self) -> DateTime<Utc>;
}

/// The machine's own clock.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that asks the machine"
    )]
    fn now(&self) -> DateTime<Utc> {
        Utc::now()
    }
}

/// The time cut to whole microseconds, the precision that is stored.
pub(crate) fn to_micros(time: DateTime<Utc>) -> DateTime<Utc> {
    DateTime::from_timestamp_micros(time.timestamp_micros()).unwrap_or(time)
}
