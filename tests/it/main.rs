//! Behaviour through the public API, a file for each topic.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod cases;
mod failing;
mod persona;
mod taint;
mod tools;
