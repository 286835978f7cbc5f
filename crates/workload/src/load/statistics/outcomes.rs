//! Expected results of lines, counted by kind of operation and by status.

use super::contents::{ExpectedFailureCount, KindContents};
use crate::failure::StatusSpace;
use crate::kind::OpKind;
use crate::load::status;
use crate::load::verb::{table_order, word_of};
use crate::load::{Expected, Generation, Line};
use std::collections::BTreeMap;

/// Approximate memory use of a counted status.
const OUTCOME_WEIGHT: u64 = 64;

/// An expected failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Any,
    Nt(u32),
    Nfs(u32),
    Nlm(u32),
}

impl Outcome {
    /// Returns the expected failure of a line; `None` if it expects success.
    fn of(line: &Line) -> Option<Self> {
        match line.expected {
            Expected::Success | Expected::Number(0) | Expected::Anything => None,
            Expected::Failure | Expected::FailureOrShort => Some(Outcome::Any),
            Expected::Nt(number) => Some(Outcome::Nt(number)),
            Expected::Number(number) => Some(match line.action.kind() {
                OpKind::Lock4 | OpKind::Unlock4 | OpKind::Test4 => Outcome::Nlm(number),
                _ => Outcome::Nfs(number),
            }),
        }
    }

    fn name(self) -> String {
        match self {
            Outcome::Any => "any failure".into(),
            Outcome::Nt(number) => status::name(number),
            Outcome::Nfs(number) => StatusSpace::Nfs3.name(number),
            Outcome::Nlm(number) => StatusSpace::Nlm.name(number),
        }
    }
}

/// The outcomes of one kind of operation.
#[derive(Debug, Clone, Default)]
struct KindStatistics {
    count: u64,
    any_outcome: u64,
    failures: BTreeMap<Outcome, u64>,
}

/// The outcomes of all kinds.
#[derive(Debug)]
pub(super) struct OutcomeStatistics {
    kinds: Vec<KindStatistics>,
    weight: u64,
}

impl OutcomeStatistics {
    pub fn new() -> Self {
        Self {
            kinds: vec![KindStatistics::default(); OpKind::COUNT],
            weight: 0,
        }
    }

    /// Counts a line. Returns whether it is expected to succeed.
    pub fn add(&mut self, line: &Line) -> bool {
        let Some(kind) = self.kinds.get_mut(line.action.kind().index()) else {
            return true;
        };
        kind.count += 1;
        kind.any_outcome += u64::from(line.expected == Expected::Anything);
        let Some(outcome) = Outcome::of(line) else {
            return true;
        };
        let count = kind.failures.entry(outcome).or_insert_with(|| {
            self.weight += OUTCOME_WEIGHT;
            0
        });
        *count += 1;
        false
    }

    pub fn weight(&self) -> u64 {
        self.weight
    }

    /// Returns a row per kind that occurs, in dbench's order.
    pub fn kinds(&self, generation: Generation) -> Vec<KindContents> {
        let order = table_order(generation);
        let listed = order.iter();
        let others = OpKind::ALL.iter().filter(|kind| !order.contains(kind));
        listed
            .chain(others)
            .filter_map(|&kind| {
                let statistics = self.kinds.get(kind.index())?;
                (statistics.count > 0).then(|| KindContents {
                    verb: word_of(generation, kind),
                    operation: kind,
                    count: statistics.count,
                    any_outcome: statistics.any_outcome,
                    expected_failures: rows(&statistics.failures),
                })
            })
            .collect()
    }

    /// Returns the failures of all kinds together.
    pub fn failures(&self) -> Vec<ExpectedFailureCount> {
        let mut sums: BTreeMap<Outcome, u64> = BTreeMap::new();
        for (outcome, count) in self.kinds.iter().flat_map(|kind| &kind.failures) {
            *sums.entry(*outcome).or_default() += count;
        }
        rows(&sums)
    }
}

fn rows(failures: &BTreeMap<Outcome, u64>) -> Vec<ExpectedFailureCount> {
    let mut rows: Vec<ExpectedFailureCount> = failures
        .iter()
        .map(|(outcome, &count)| ExpectedFailureCount {
            status: outcome.name(),
            count,
        })
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.count));
    rows
}
