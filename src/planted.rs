//! Faults that the crate's own tests plant in the product code, to show that they are noticed.
//!
//! Outside of those tests `planted!(..)` is the constant `false`.

/// Whether the running test planted this fault.
macro_rules! planted {
    ($fault:ident) => {{
        #[cfg(test)]
        let planted = crate::planted::is(crate::planted::Fault::$fault);
        #[cfg(not(test))]
        let planted = false;
        planted
    }};
}

#[cfg(test)]
pub(crate) use in_tests::{Fault, is, with};

#[cfg(test)]
mod in_tests {
    use std::cell::Cell;

    /// A fault in the product code. Each is one line at its place.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Fault {
        /// The gate lets go of the taint before it writes.
        HoldDropped,
        /// The gate reads at the session's ceiling.
        ReadsAtCeiling,
        /// SQLite: a lower record stays in its slot of the index when a higher one is saved.
        ShadowKeptOnSave,
        /// SQLite: a lower record stays in its slot when the higher one is deleted.
        ShadowKeptOnDelete,
        /// SQLite: the number of records is counted over all levels.
        CorpusOfAllLevels,
        /// SQLite: postings are read from all slots.
        PostingsOfAllLevels,
        /// SQLite: ranking doesn't know of expiry.
        ExpiryUnranked,
        /// SQLite: a record's neighbours are those that the highest session would see.
        NeighboursOfAllLevels,
        /// SQLite: equal scores go by the index's row number.
        TiesByRow,
        /// SQLite: a save supersedes the key's live record at any level.
        SupersedesAnyLevel,
        /// SQLite: a write below the session's recorded taint is stored.
        StaleTaintAccepted,
    }

    thread_local! {
        static PLANTED: Cell<Option<Fault>> = const { Cell::new(None) };
    }

    pub(crate) fn is(fault: Fault) -> bool {
        PLANTED.get() == Some(fault)
    }

    /// Runs `work` with the fault planted, in this thread only.
    pub(crate) fn with<T>(fault: Option<Fault>, work: impl FnOnce() -> T) -> T {
        struct Restore(Option<Fault>);
        impl Drop for Restore {
            fn drop(&mut self) {
                PLANTED.set(self.0);
            }
        }
        let _restore = Restore(PLANTED.replace(fault));
        work()
    }
}
