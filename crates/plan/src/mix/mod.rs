//! Operation mixes: where they are read from, which ones are built in, and what one client
//! draws from them.
//!
//! A mix is a count per procedure of NFSv3. Shares are exact: nothing is rounded to a percent,
//! so an operation of 0.01 % is asked once in ten thousand.

mod built_in;
pub mod counters;
mod error;
pub mod feedback;
mod kernel;
mod line;
mod name;
mod nfsstat;
mod parse;
mod plain;
mod samba;
mod section;
pub mod shuffled_mix;

pub use built_in::{BuiltInMix, DEFAULT, built_in, names};
pub use counters::{Counters, UnmappedCalls};
pub use error::MixError;
pub use kernel::Mount;
pub use parse::{parse, parse_mount};
pub use shuffled_mix::ShuffledMix;

use crate::plan::{MixCount, SkippedOperation};
use filestone_workload::operation::OpKind;

/// A mix, read or built in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mix {
    /// What it is called: the name of a mix of our own, or that of a file.
    pub name: String,
    /// How often each procedure is asked; those that are never asked may be missing.
    pub counts: Vec<MixCount>,
    /// How many calls there were, where the source says so besides counting each procedure:
    /// nhfsstone takes its shares of them.
    pub calls: Option<u64>,
    /// What its source counted and NFSv3 has nothing like.
    pub left_out: Vec<SkippedOperation>,
    /// Where the counts come from, a sentence each: which table of the file was taken and
    /// which were not, what must be known about them.
    pub notes: Vec<String>,
}

impl Mix {
    /// All counts together.
    pub fn sum(&self) -> u128 {
        self.counts
            .iter()
            .map(|count| u128::from(count.count))
            .sum()
    }

    /// What nhfsstone takes its shares of, if that is not the sum of all counts.
    pub fn calls_beside_sum(&self) -> Option<u64> {
        let left_out = self.left_out.iter().map(|left| u128::from(left.count));
        let counted = self.sum() + left_out.sum::<u128>();
        self.calls
            .filter(|calls| *calls > 0 && u128::from(*calls) != counted)
    }

    /// How often a kind is asked.
    pub fn count(&self, kind: OpKind) -> u64 {
        let of_kind = self.counts.iter().filter(|count| count.operation == kind);
        of_kind.fold(0, |sum, count| sum.saturating_add(count.count))
    }

    /// The share of a kind, from 0 to 1.
    pub fn share(&self, kind: OpKind) -> f64 {
        match self.sum() {
            0 => 0.0,
            sum => self.count(kind) as f64 / sum as f64,
        }
    }

    /// The operations and their shares in percent, the largest first, and of equals in the
    /// order of the procedures.
    pub fn percent_rows(&self) -> Vec<(OpKind, f64)> {
        let asked = OpKind::STATELESS
            .iter()
            .filter(|kind| self.count(**kind) > 0);
        let mut rows: Vec<(OpKind, u64)> = asked.map(|kind| (*kind, self.count(*kind))).collect();
        rows.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        // One division, so that 14 of 100 is 14 and not a little more.
        let sum = self.sum() as f64;
        let percent = |(kind, count): (OpKind, u64)| (kind, 100.0 * count as f64 / sum);
        rows.into_iter().map(percent).collect()
    }

    /// The counts in the order of the procedures, without those that are never asked: what
    /// a plan takes.
    pub fn to_plan_counts(&self) -> Vec<MixCount> {
        let asked = OpKind::STATELESS.iter().map(|kind| MixCount {
            operation: *kind,
            count: self.count(*kind),
        });
        asked.filter(|count| count.count > 0).collect()
    }
}
