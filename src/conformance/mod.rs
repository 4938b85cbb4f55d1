//! The suite that every [`StorageProvider`] must pass: ours, and one of your own.
//!
//! It needs the feature `conformance`, which belongs among the dev-dependencies. A provider says how
//! a fresh one is made, by implementing [`Subject`]; [`conformance!`](crate::conformance!) then
//! expands to one `#[test]` for each statement of the [contract](StorageProvider#contract). A test's
//! name starts with the number of its clause, and so does the message of a failure. There is one
//! list of them, in the macro; nobody picks from it.
//!
//! In a file under `tests/`:
//!
//! ```
//! use strandline::conformance::Subject;
//! use strandline::storage::{InMemory, StorageProvider};
//!
//! /// Stands for your own provider.
//! struct Mine(InMemory);
//!
//! impl Subject for Mine {
//!     fn fresh() -> Self {
//!         Self(InMemory::new())
//!     }
//!
//!     fn provider(&self) -> &dyn StorageProvider {
//!         &self.0
//!     }
//!
//!     fn reopen(self) -> Self {
//!         Self::fresh() // it isn't durable; otherwise: drop it, and open the same storage again
//!     }
//! }
//!
//! mod mine {
//!     strandline::conformance!(super::Mine);
//! }
//! # strandline::conformance::check::<Mine>("c01_agents_are_apart");
//! ```
//!
//! and then `cargo test`. A provider that wraps another runs the suite too: forwarding is where
//! wrappers fail.

#![expect(
    clippy::panic,
    reason = "a clause that doesn't hold fails its test by a panic"
)]
#![expect(
    clippy::needless_pass_by_value,
    reason = "every clause has one signature, so that one list holds them all"
)]

mod audit;
mod chain;
mod common;
mod delete;
mod durable;
mod erase;
mod history;
mod lineage;
mod list;
mod ratchet;
mod reindex;
mod restore;
mod scene;
mod scope;
mod search;
mod stats;
mod text;
mod threads;
mod transfer;
mod versions;
mod visibility;

use scene::Scene;

use crate::storage::StorageProvider;

/// A provider under test, with what it needs to live: a folder, a server.
///
/// Tests run at the same time in many threads, so each fresh one needs storage of its own. The
/// [module](self) shows how it is used.
///
/// ```
/// use strandline::conformance::{Subject, check};
/// use strandline::storage::{Sqlite, SqliteOptions, StorageProvider};
/// use tempfile::TempDir;
///
/// /// A provider with the folder that it lives in.
/// struct File(Sqlite, TempDir);
///
/// impl File {
///     fn open(folder: TempDir) -> Self {
///         let path = folder.path().join("memory.db");
///         Self(Sqlite::open(path, &SqliteOptions::default()).expect("it opens"), folder)
///     }
/// }
///
/// impl Subject for File {
///     fn fresh() -> Self {
///         Self::open(TempDir::new().expect("a folder"))
///     }
///
///     fn provider(&self) -> &dyn StorageProvider {
///         &self.0
///     }
///
///     fn reopen(self) -> Self {
///         let Self(provider, folder) = self;
///         drop(provider);
///         Self::open(folder)
///     }
/// }
///
/// check::<File>("c02_nothing_above_the_grant_is_there");
/// ```
pub trait Subject: Sized {
    /// A provider that holds nothing.
    fn fresh() -> Self;

    /// The provider.
    fn provider(&self) -> &dyn StorageProvider;

    /// Drops the provider, and opens it again over the same storage.
    ///
    /// One that [isn't durable](StorageProvider::is_durable) comes back empty; the suite checks it.
    #[must_use]
    fn reopen(self) -> Self;
}

/// Makes one `#[test]` for each statement of the contract of a
/// [`StorageProvider`](crate::storage::StorageProvider), for this [`Subject`](crate::conformance::Subject).
///
/// Call it in a module of its own for each provider, with a path that is right inside that module.
/// The [module `conformance`](mod@crate::conformance) shows how.
///
/// ```
/// use strandline::conformance::Subject;
/// use strandline::storage::{InMemory, StorageProvider};
///
/// struct Mine(InMemory);
/// # impl Subject for Mine {
/// #     fn fresh() -> Self { Self(InMemory::new()) }
/// #     fn provider(&self) -> &dyn StorageProvider { &self.0 }
/// #     fn reopen(self) -> Self { Self::fresh() }
/// # }
///
/// mod mine {
///     strandline::conformance!(super::Mine); // the tests `mine::c01_agents_are_apart` and so on
/// }
/// # strandline::conformance::check::<Mine>("c01_agents_are_apart");
/// ```
#[macro_export]
macro_rules! conformance {
    ($subject:ty) => {
        $crate::conformance! { @list tests $subject }
    };
    // The one list of all clauses: by file, and in each file by name.
    (@list $($to:tt)*) => {
        $crate::conformance! { @$($to)* ;
            scope {
                c01_an_unwritten_scope_is_empty
                c01_agents_are_apart
                c01_namespaces_are_apart
                c01_agent_names_are_exact
                c01_names_do_not_run_together
            }
            visibility {
                c02_get_returns_the_highest_readable
                c02_list_returns_the_highest_readable
                c02_search_does_not_find_what_is_shadowed
                c02_a_tag_of_a_shadowed_record_lists_nothing
                c02_nothing_above_the_grant_is_there
                c02_a_page_is_filled_after_hidden_records_are_left_out
                c02_a_search_is_filled_after_hidden_records_are_left_out
                c02_hidden_records_change_nothing_observable
                c02_an_expired_record_is_not_there
                c02_an_expired_record_shadows_nothing
                c02_expiry_is_an_instant
                c03_every_record_is_at_the_level_of_the_grant
            }
            versions {
                c04_a_record_holds_what_was_saved
                c04_versions_count_per_key_and_level
                c04_a_later_version_keeps_nothing_but_the_creation
                c04_created_at_is_that_of_the_superseded_record
                c04_an_expired_record_does_not_lend_its_creation
                c04_a_deleted_record_does_not_lend_its_creation
                c04_the_count_goes_on_after_a_deletion
                c04_updated_at_is_not_before_created_at
                c04_other_levels_and_keys_stay
                c06_saved_records_come_back_in_order
                c06_a_key_that_comes_twice_gets_two_versions
                c06_a_save_of_nothing_is_nothing
                c06_a_refused_batch_leaves_no_trace
            }
            history {
                c05_history_has_every_version
                c05_history_has_every_level
                c05_an_earlier_version_is_never_altered
                c05_an_expired_version_stays
                c05_a_deleted_version_stays
                c05_the_newest_is_first
                c05_history_is_of_one_key_and_agent
                c05_a_grant_without_an_agent_has_no_history
                c05_pages_hold_each_version_once
            }
            ratchet {
                c07_a_save_below_the_recorded_taint_is_refused
                c07_a_delete_below_the_recorded_taint_is_refused
                c07_a_write_at_or_above_the_recorded_taint_is_not
                c07_a_refused_write_changes_nothing
                c07_the_highest_recorded_taint_counts
                c07_a_session_record_can_not_be_written_lower
                c07_a_session_record_that_changed_is_not_followed_blindly
                c07_one_of_many_follows_a_session_record
                c07_it_concerns_that_session_only
                c07_a_memory_is_no_session_record
            }
            delete {
                c08_a_deleted_record_is_gone
                c08_it_says_which_version
                c08_what_it_shadowed_shows_again
                c08_it_works_at_each_level
                c08_a_lower_record_is_at_the_wrong_level
                c08_a_higher_record_is_not_found
                c08_an_absent_record_is_not_found
                c08_an_expired_record_is_not_found
                c08_nothing_else_is_deleted
            }
            list {
                c09_keys_are_in_byte_order
                c09_pages_hold_each_record_once
                c09_more_is_exact
                c09_after_need_not_be_there
                c09_tags_compare_without_case
                c09_tags_compare_whole
                c09_pages_of_a_tag_hold_each_record_once
                c09_total_counts_the_whole_list
            }
            common {
                c10_a_common_term_counts_once
                c10_hidden_records_change_no_common_term
            }
            search {
                c10_any_word_may_match
                c10_terms_are_of_the_providers_language
                c10_keys_tags_and_content_are_searched
                c10_scores_are_by_the_formula
                c10_neighbours_lend_what_a_record_lacks
                c10_hidden_neighbours_lend_nothing
                c10_the_best_is_first
                c10_of_equal_scores_the_last_saved_is_first
                c10_a_limit_keeps_the_best
                c10_a_limit_cuts_equal_scores_in_order
                c10_hidden_records_count_in_no_score
                c10_replaced_text_is_not_found
                c10_no_query_is_syntax
                c10_a_query_without_words_finds_nothing
            }
            text {
                c11_any_key_comes_back
                c11_any_content_comes_back
                c11_any_tag_comes_back
                c11_any_query_is_answered
                c11_nothing_is_a_wildcard
                c11_long_keys_are_compared_whole
                c11_large_contents_come_back
                c13_debug_output_is_silent
                c13_errors_are_silent
            }
            audit {
                c12_each_saved_record_leaves_an_entry
                c12_each_deleted_record_leaves_an_entry
                c12_what_was_not_done_leaves_no_entry
                c12_an_appended_event_is_an_entry
                c12_numbers_have_no_gaps
                c12_the_newest_entry_is_first
                c12_a_query_narrows
                c12_names_in_a_query_are_exact
                c12_a_query_narrows_by_what_was_done
                c12_times_in_a_query_are_half_open
                c12_pages_hold_each_entry_once
            }
            threads {
                c14_one_new_key_saved_twice_at_once
                c14_many_writers_lose_nothing
                c14_readers_see_whole_batches
                c14_readers_see_whole_replacements
            }
            durable {
                c15_records_are_there_again
                c15_history_is_there_again
                c15_audit_is_there_again
                c15_the_recorded_taint_is_there_again
                c15_the_lineage_is_there_again
            }
            reindex {
                c16_it_counts_the_live_records
                c16_no_answer_changes
                c16_readers_and_writers_go_on
            }
            chain {
                c17_each_entry_is_chained_to_the_one_before
                c17_each_fact_is_in_the_hash
                c17_the_chain_holds_with_many_writers
                c17_the_chain_goes_on_after_a_reopening
                c17_a_trail_is_in_order_and_cut
            }
            lineage {
                c18_a_reading_leaves_its_entry
                c18_what_was_read_before_is_a_source
                c18_what_was_saved_after_is_derived
                c18_the_first_read_counts
                c18_reads_are_of_one_session
                c18_a_version_is_one_of_its_key_and_level
                c18_what_there_is_not_has_no_lineage
                c18_a_limit_keeps_the_first
                c18_no_other_method_depends_on_it
            }
            transfer {
                c21_versions_come_in_the_order_of_storing
                c21_the_first_refusal_ends_it
                c21_what_is_imported_is_as_it_was
                c21_importing_twice_changes_nothing
                c21_what_is_there_is_never_changed
                c21_an_end_is_taken_over_and_no_beginning
                c21_the_one_saved_later_is_live
                c21_an_older_version_is_the_last_stored_all_the_same
                c21_a_taken_number_becomes_the_next
                c21_a_deleted_key_does_not_come_back
                c21_an_earlier_number_fills_its_gap
                c21_a_recorded_taint_never_falls
                c21_each_leaves_an_entry
                c21_a_backup_is_whole_or_unsupported
            }
            restore {
                c19_a_restored_version_is_a_new_one
                c19_a_restore_supersedes_as_a_save_does
                c19_a_version_of_another_level_is_not_restored
                c19_a_version_that_never_was_is_not_restored
                c19_an_expired_version_is_not_restored
                c19_a_restore_below_the_recorded_taint_is_refused
                c19_a_restore_leaves_an_entry
            }
            erase {
                c19_a_purge_removes_what_ended_before
                c19_a_purge_removes_what_expired_before
                c19_a_purge_is_of_its_agent_and_namespace
                c19_an_erased_key_is_gone_at_every_level
                c19_an_erased_agent_is_gone_in_every_namespace
                c19_an_erased_session_takes_all_that_it_saved
                c19_what_an_erased_record_shadowed_shows_again
                c19_erased_text_is_not_found
                c19_a_grant_without_an_agent_erases_no_key
                c19_no_session_record_is_erased
                c19_numbers_go_on
                c19_an_erasure_leaves_an_entry
                c20_nothing_is_wrong_with_what_was_written
            }
            stats {
                c22_versions_are_counted_by_level_and_state
                c22_agents_sessions_and_entries_are_counted
                c22_only_what_is_durable_has_sizes
            }
        }
    };
    (@tests $subject:ty ; $($file:ident { $($clause:ident)* })*) => {
        $($(
            #[test]
            fn $clause() {
                $crate::conformance::check::<$subject>(stringify!($clause));
            }
        )*)*
    };
    (@table $subject:ty ; $($file:ident { $($clause:ident)* })*) => {
        vec![$($((
            stringify!($clause),
            $file::$clause as Clause<$subject>,
        ),)*)*]
    };
    (@names ; $($file:ident { $($clause:ident)* })*) => {
        vec![$($(stringify!($clause),)*)*]
    };
}

/// What the suite runs for one clause.
type Clause<S> = fn(Scene<S>);

/// The names of all clauses, for a test harness other than `#[test]`.
///
/// ```
/// assert!(strandline::conformance::names().contains(&"c02_expiry_is_an_instant"));
/// ```
pub fn names() -> Vec<&'static str> {
    conformance!(@list names)
}

/// Runs one clause against a fresh provider.
///
/// [`conformance!`](crate::conformance!) calls it; call it yourself only from a test harness that
/// has no `#[test]`, and then for each of [`names`].
///
/// # Panics
/// If the clause doesn't hold, or there is no clause of that name.
///
/// ```
/// use strandline::conformance::{Subject, check, names};
/// use strandline::storage::{InMemory, StorageProvider};
///
/// struct Mine(InMemory);
/// impl Subject for Mine {
///     fn fresh() -> Self {
///         Self(InMemory::new())
///     }
///     fn provider(&self) -> &dyn StorageProvider {
///         &self.0
///     }
///     fn reopen(self) -> Self {
///         Self::fresh()
///     }
/// }
///
/// for clause in names().into_iter().filter(|name| name.starts_with("c01")) {
///     check::<Mine>(clause);
/// }
/// ```
pub fn check<S: Subject>(clause: &str) {
    let table: Vec<(&'static str, Clause<S>)> = conformance!(@list table S);
    let found = table.into_iter().find(|(name, _)| *name == clause);
    let Some((name, run)) = found else {
        panic!("the suite has no clause `{clause}`");
    };
    run(Scene::new(name));
}
