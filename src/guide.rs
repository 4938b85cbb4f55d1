//! Guides: from a first program to operating a store. There is no code in here.
//!
//! | guide | for |
//! |---|---|
//! | [`tutorial`] | whoever starts: from `cargo add` to a gated agent that resumes |
//! | [`cookbook`] | one task at a time, each as a program that runs |
//! | [`design`] | why it is built as it is: the way of a call, the invariants, what was rejected |
//! | [`provider`] | keeping records elsewhere than in SQLite, and proving that it is right |
//! | [`operating`] | backup, retention, sizes, several processes, errors, monitoring, upgrades |
//! | [`comparison`] | what other memory systems do better, and when to take one of them |
//! | [`faq`] | short answers |
//!
//! Every program in them is compiled and run by the crate's tests. The reference is in the modules
//! themselves: [`tools`](crate::tools), [`search`](crate::search), [`audit`](crate::audit),
//! [`lineage`](crate::lineage), [`policy`](crate::policy) and [`storage`](crate::storage).

#[doc = include_str!("guide/tutorial.md")]
pub mod tutorial {}

#[doc = include_str!("guide/cookbook.md")]
pub mod cookbook {}

#[doc = include_str!("guide/design.md")]
pub mod design {}

#[doc = include_str!("guide/provider.md")]
pub mod provider {}

#[doc = include_str!("guide/operating.md")]
pub mod operating {}

#[expect(clippy::doc_markdown, reason = "names of products aren't code")]
#[doc = include_str!("guide/comparison.md")]
pub mod comparison {}

#[doc = include_str!("guide/faq.md")]
pub mod faq {}
