//! Guides. There is no code in here.
//!
//! | guide | for |
//! |---|---|
//! | [`tutorial`] | whoever starts: from `cargo add` to a gated agent that resumes |
//! | [`cookbook`] | one task at a time, each as a program that runs |
//!
//! Every program in them is compiled and run by the crate's tests.

#[doc = include_str!("guide/tutorial.md")]
pub mod tutorial {}

#[doc = include_str!("guide/cookbook.md")]
pub mod cookbook {}
