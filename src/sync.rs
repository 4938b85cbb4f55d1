//! The locks of the session and the gate: `std`'s, or under `--cfg shuttle` the model checker's.

#[cfg(shuttle)]
pub(crate) use shuttle::sync::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};
#[cfg(not(shuttle))]
pub(crate) use std::sync::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};

use std::sync::PoisonError;

/// The guard even where a panic poisoned the lock: what these locks protect is replaced whole, so a
/// panic can't leave it half-changed.
pub(crate) fn unpoisoned<G>(result: Result<G, PoisonError<G>>) -> G {
    result.unwrap_or_else(PoisonError::into_inner)
}
