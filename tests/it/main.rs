//! Behaviour through the public API, a file for each topic.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a test fails by panicking, and says why it was skipped"
)]

#[cfg(feature = "tokio")]
mod asynchronous;
mod audit;
mod backup;
#[cfg(target_os = "linux")]
mod broken_disk;
mod cases;
mod check;
mod child;
mod compile_fail;
mod conformance;
mod crash;
mod damage;
#[cfg(target_os = "linux")]
mod disk;
#[cfg(feature = "sqlcipher")]
mod encryption;
mod erasure;
mod explain;
mod export;
mod failing;
mod faults;
mod files;
mod format;
mod forms;
mod import;
mod inspect;
mod keyed;
mod language;
mod lineage;
#[cfg(feature = "mcp")]
mod mcp;
mod model;
mod observe;
mod persona;
#[cfg(target_os = "linux")]
mod power;
mod processes;
mod providers;
mod read_only;
mod reanalysis;
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "it counts a few dozen words and records"
)]
mod reference;
mod results;
#[expect(unreachable_pub, reason = "the fuzz targets use it, too")]
mod schema;
mod silence;
mod soak;
mod sound;
mod taint;
mod tidy;
mod tools;
mod triggerfish;
mod troubles;
mod two_stores;
