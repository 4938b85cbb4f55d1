//! The one integration binary: a file for each behaviour.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by a panic"
)]

mod compile_fail;
mod conformance;
mod model;
mod providers;
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "it counts a few dozen words and records"
)]
mod reference;
mod two_stores;
