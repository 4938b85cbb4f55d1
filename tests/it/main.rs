//! Behaviour through the public API, a file for each topic.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a test fails by panicking, and says why it was skipped"
)]

mod child;
mod crash;
mod faults;
mod files;
mod format;
mod processes;
mod sound;
