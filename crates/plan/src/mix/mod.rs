//! Operation mixes: file formats, built-in mixes, and the sequence of operations of one client.
//!
//! A mix is a count per procedure of NFSv3. Shares are exact: nothing is rounded to a percent, so
//! an operation of 0.01 % is executed once in ten thousand operations.

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

/// A mix, from a file or built in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mix {
    /// Name of a built-in mix, or of the file.
    pub name: String,
    /// Count of each procedure; those with count 0 may be missing.
    pub counts: Vec<MixCount>,
    /// Total number of calls, if the source contains it in addition to the counts: nhfsstone
    /// computes its shares from it.
    pub calls: Option<u64>,
    /// Operations in the source that no procedure of NFSv3 corresponds to.
    pub left_out: Vec<SkippedOperation>,
    /// Sentences about the origin of the counts: which table of the file was used, which were not,
    /// and how reliable they are.
    pub notes: Vec<String>,
}

impl Mix {
    /// Returns the sum of all counts.
    pub fn sum(&self) -> u128 {
        self.counts
            .iter()
            .map(|count| u128::from(count.count))
            .sum()
    }

    /// Returns nhfsstone's total for shares, if that is not the sum of all counts.
    pub fn calls_beside_sum(&self) -> Option<u64> {
        let left_out = self.left_out.iter().map(|left| u128::from(left.count));
        let counted = self.sum() + left_out.sum::<u128>();
        self.calls
            .filter(|calls| *calls > 0 && u128::from(*calls) != counted)
    }

    /// Returns the count of a kind.
    pub fn count(&self, kind: OpKind) -> u64 {
        let of_kind = self.counts.iter().filter(|count| count.operation == kind);
        of_kind.fold(0, |sum, count| sum.saturating_add(count.count))
    }

    /// Returns the share of a kind, from 0 to 1.
    pub fn share(&self, kind: OpKind) -> f64 {
        match self.sum() {
            0 => 0.0,
            sum => self.count(kind) as f64 / sum as f64,
        }
    }

    /// Returns the operations and their shares in percent, the largest first; equal ones are in the
    /// order of the procedures.
    pub fn percent_rows(&self) -> Vec<(OpKind, f64)> {
        let asked = OpKind::STATELESS
            .iter()
            .filter(|kind| self.count(**kind) > 0);
        let mut rows: Vec<(OpKind, u64)> = asked.map(|kind| (*kind, self.count(*kind))).collect();
        rows.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        // One division, so that 14 of 100 is exactly 14.
        let sum = self.sum() as f64;
        let percent = |(kind, count): (OpKind, u64)| (kind, 100.0 * count as f64 / sum);
        rows.into_iter().map(percent).collect()
    }

    /// Returns the counts for a plan: in the order of the procedures, without those that are 0.
    pub fn to_plan_counts(&self) -> Vec<MixCount> {
        let asked = OpKind::STATELESS.iter().map(|kind| MixCount {
            operation: *kind,
            count: self.count(*kind),
        });
        asked.filter(|count| count.count > 0).collect()
    }
}
