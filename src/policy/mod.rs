//! The gate: the only place that decides what a session may read and write.
//!
//! Each call goes through it. It reads the session's taint at that moment, asks the host's
//! [`Rule`]s, which can only deny, and hands the provider a grant that says whose records, up to
//! which level, and what time it is. Grants have no public constructor, so code that has a provider
//! but no session can neither read nor write (invariant I1):
//!
//! ```compile_fail
//! use strandline::policy::ReadGrant;
//! let grant = ReadGrant { level: strandline::Classification::Restricted };
//! ```
//!
//! A [`WriteGrant`] keeps the session's taint from rising while it is alive, so a write commits at a
//! taint that was in force at its commit (invariant I2).

mod gate;
mod grant;
mod hook;
mod noted;
#[cfg(all(test, shuttle))]
mod races;
mod rule;

pub(crate) use gate::{Act, Gate};
pub(crate) use grant::Writing;
pub use grant::{HostGrant, ReadGrant, WriteGrant};
pub(crate) use hook::ToolCall;
#[cfg(test)]
pub(crate) use hook::is_level;
pub(crate) use noted::Reads;
pub use rule::{Denial, Request, Rule};
