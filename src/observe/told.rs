//! What an observer is told of a result: whether it is one, and of how many it is.

use super::Outcome;
use crate::audit::{Anchor, Verification};
use crate::classification::Classification;
use crate::error::Result;
use crate::lineage::{Lineage, Why};
use crate::record::Memory;
use crate::session::Session;
use crate::storage::{Erased, ImportReport, Stats};
use crate::store::Page;
use crate::tools::ToolResult;

/// The end of a call.
pub(crate) trait Told {
    fn outcome(&self) -> Outcome;
    fn count(&self) -> u64;
}

impl<T: Count> Told for Result<T> {
    fn outcome(&self) -> Outcome {
        match self {
            Ok(_) => Outcome::Done,
            Err(error) => Outcome::Failed(error.kind()),
        }
    }

    fn count(&self) -> u64 {
        self.as_ref().map_or(0, Count::count)
    }
}

/// A tool's result, with the number of memories that it is of.
impl Told for (ToolResult, u64) {
    fn outcome(&self) -> Outcome {
        match &self.0.error {
            None => Outcome::Done,
            Some(error) => Outcome::Failed(error.kind()),
        }
    }

    fn count(&self) -> u64 {
        self.1
    }
}

/// Of how many memories, versions or entries a result is.
pub(crate) trait Count {
    fn count(&self) -> u64;
}

impl Count for u64 {
    fn count(&self) -> u64 {
        *self
    }
}

impl<T> Count for Vec<T> {
    fn count(&self) -> u64 {
        u64::try_from(self.len()).unwrap_or(u64::MAX)
    }
}

impl<T: Count> Count for Option<T> {
    fn count(&self) -> u64 {
        self.as_ref().map_or(0, Count::count)
    }
}

impl Count for Page {
    fn count(&self) -> u64 {
        self.memories.count()
    }
}

impl Count for Lineage {
    fn count(&self) -> u64 {
        self.steps.count()
    }
}

impl Count for Erased {
    fn count(&self) -> u64 {
        self.versions
    }
}

impl Count for ImportReport {
    fn count(&self) -> u64 {
        self.imported
    }
}

impl Count for Anchor {
    fn count(&self) -> u64 {
        self.entries
    }
}

impl Count for Verification {
    fn count(&self) -> u64 {
        match self {
            Self::Sound(anchor) => anchor.entries,
            Self::Broken(_) => 0,
        }
    }
}

macro_rules! count_as {
    ($number:literal: $($result:ty),+) => {
        $(impl Count for $result {
            fn count(&self) -> u64 {
                $number
            }
        })+
    };
}

count_as!(1: Memory, Why);
count_as!(0: Classification, Session, Stats);
