//! Behaviour through the public API, a file for each topic.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod cases;
mod compile_fail;
mod conformance;
mod failing;
mod model;
mod persona;
mod providers;
mod reanalysis;
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "it counts a few dozen words and records"
)]
mod reference;
mod silence;
mod taint;
mod tidy;
mod tools;
mod two_stores;
