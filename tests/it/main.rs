//! The one integration binary: a file for each behaviour.

#![expect(clippy::expect_used, reason = "a test fails by a panic")]

mod conformance;
mod providers;
