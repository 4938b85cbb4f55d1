//! The lattice of levels: `PUBLIC < INTERNAL < CONFIDENTIAL < RESTRICTED`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind};

/// How sensitive a piece of information is.
///
/// The levels form a chain, `PUBLIC < INTERNAL < CONFIDENTIAL < RESTRICTED`, and information may
/// flow only upwards or stay where it is. A chain is the simplest lattice (Denning, *A Lattice Model
/// of Secure Information Flow*, 1976): [`join`](Self::join) is the higher of two levels,
/// [`meet`](Self::meet) the lower.
///
/// It reads and writes as the upper-case name, in serde too.
///
/// ```
/// use strandline::Classification::{self, Confidential, Public};
///
/// assert!(Public.can_flow_to(Confidential));
/// assert!(!Confidential.can_flow_to(Public));
/// assert_eq!(Public.join(Confidential), Confidential);
/// assert_eq!("confidential".parse::<Classification>()?, Confidential);
/// assert_eq!(Confidential.to_string(), "CONFIDENTIAL");
/// # Ok::<(), strandline::Error>(())
/// ```
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "UPPERCASE")]
pub enum Classification {
    /// Anyone may know it. Every session starts here.
    #[default]
    Public,
    /// For the organisation.
    Internal,
    /// For those who need it.
    Confidential,
    /// For the named few.
    Restricted,
}

impl Classification {
    /// Every level, lowest first.
    ///
    /// ```
    /// assert_eq!(strandline::Classification::ALL.len(), 4);
    /// ```
    pub const ALL: [Self; 4] = [
        Self::Public,
        Self::Internal,
        Self::Confidential,
        Self::Restricted,
    ];

    /// Whether information at this level may reach a reader or a record at `target`.
    ///
    /// True when `target` is equal or higher. This is the one comparison that every read and write
    /// of the crate goes through.
    ///
    /// ```
    /// use strandline::Classification::{Internal, Restricted};
    ///
    /// assert!(Internal.can_flow_to(Internal));
    /// assert!(!Restricted.can_flow_to(Internal));
    /// ```
    pub const fn can_flow_to(self, target: Self) -> bool {
        self.rank() <= target.rank()
    }

    /// The lowest level that both may flow to: the higher of the two.
    ///
    /// ```
    /// use strandline::Classification::{Internal, Public};
    ///
    /// assert_eq!(Public.join(Internal), Internal);
    /// ```
    #[must_use]
    pub const fn join(self, other: Self) -> Self {
        if self.can_flow_to(other) { other } else { self }
    }

    /// The highest level that may flow to both: the lower of the two.
    ///
    /// ```
    /// use strandline::Classification::{Internal, Public};
    ///
    /// assert_eq!(Public.meet(Internal), Public);
    /// ```
    #[must_use]
    pub const fn meet(self, other: Self) -> Self {
        if self.can_flow_to(other) { self } else { other }
    }

    /// The level's name: `"PUBLIC"`, `"INTERNAL"`, `"CONFIDENTIAL"` or `"RESTRICTED"`.
    ///
    /// ```
    /// assert_eq!(strandline::Classification::Public.as_str(), "PUBLIC");
    /// ```
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Public => "PUBLIC",
            Self::Internal => "INTERNAL",
            Self::Confidential => "CONFIDENTIAL",
            Self::Restricted => "RESTRICTED",
        }
    }

    /// The level as a number, 0 for `PUBLIC` to 3 for `RESTRICTED`: what a provider stores.
    ///
    /// ```
    /// assert_eq!(strandline::Classification::Restricted.rank(), 3);
    /// ```
    pub const fn rank(self) -> u8 {
        match self {
            Self::Public => 0,
            Self::Internal => 1,
            Self::Confidential => 2,
            Self::Restricted => 3,
        }
    }

    /// The level whose [`rank`](Self::rank) this is, or `None` above 3.
    ///
    /// ```
    /// use strandline::Classification;
    ///
    /// assert_eq!(Classification::from_rank(1), Some(Classification::Internal));
    /// assert_eq!(Classification::from_rank(4), None);
    /// ```
    pub const fn from_rank(rank: u8) -> Option<Self> {
        match rank {
            0 => Some(Self::Public),
            1 => Some(Self::Internal),
            2 => Some(Self::Confidential),
            3 => Some(Self::Restricted),
            _ => None,
        }
    }
}

impl fmt::Display for Classification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Classification {
    type Err = Error;

    /// Reads a level's name in any case.
    fn from_str(text: &str) -> Result<Self, Error> {
        Self::ALL
            .into_iter()
            .find(|level| level.as_str().eq_ignore_ascii_case(text))
            .ok_or_else(|| {
                Error::new(
                    ErrorKind::InvalidArgument,
                    "a classification must be one of PUBLIC, INTERNAL, CONFIDENTIAL, RESTRICTED",
                )
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chain_is_a_lattice() {
        for a in Classification::ALL {
            for b in Classification::ALL {
                assert_eq!(a.can_flow_to(b), a <= b);
                assert_eq!(a.join(b), a.max(b));
                assert_eq!(a.meet(b), a.min(b));
                assert!(a.can_flow_to(a.join(b)) && b.can_flow_to(a.join(b)));
                assert!(a.meet(b).can_flow_to(a) && a.meet(b).can_flow_to(b));
            }
        }
    }

    #[test]
    fn names_ranks_and_serde_round_trip() {
        for level in Classification::ALL {
            assert_eq!(level.as_str().parse::<Classification>().unwrap(), level);
            assert_eq!(Classification::from_rank(level.rank()), Some(level));
            let json = serde_json::to_string(&level).unwrap();
            assert_eq!(json, format!("\"{level}\""));
            assert_eq!(
                serde_json::from_str::<Classification>(&json).unwrap(),
                level
            );
        }
        assert!("SECRET".parse::<Classification>().is_err());
        assert!("".parse::<Classification>().is_err());
        assert!(serde_json::from_str::<Classification>("\"Public\"").is_err());
    }
}
