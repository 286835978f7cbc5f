//! Load statistics: operations of one iteration of a load, without executing them.
//!
//! A [`LoadStatistics`] receives every line of an iteration of client 0 of 1, so loops and
//! expressions are evaluated, and tracks names and lengths as a file server would that starts empty
//! and behaves as the load expects. Nothing is sent. The result is [`LoadStatisticsData`].
//!
//! A line that is expected to fail has no effect; one with any outcome (`*`) is assumed to succeed.
//! Bytes are counted as in dbench: the requested ones.

pub mod contents;
mod effects;
mod handles;
mod outcomes;
mod sizes;
mod tree;

pub use contents::{LoadStatisticsData, TruncationReason};

use super::verb::word_of;
use super::{Generation, Line, Load, Script, ScriptAction};
use crate::operation::OpKind;
use contents::{DispositionCount, LevelCount, PacingContents, StampContents};
use handles::TrackedHandles;
use outcomes::OutcomeStatistics;
use sizes::TransferStatistics;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;
use tree::NameTree;

/// Maximum number of steps of an iteration that are counted; a load may have 2^63 repetitions.
pub const STEPS_MAX: u64 = 20_000_000;

/// Approximate maximum memory for names, handles and sizes; a load may create a new random name in
/// every iteration of a loop.
pub const MEMORY_MAX: u64 = 64 << 20;

/// Approximate memory use of a counted level.
const LEVEL_WEIGHT: u64 = 48;

/// Returns the statistics of one iteration of client 0 of 1.
pub fn of_pass(load: &Arc<Load>, seed: u64) -> LoadStatisticsData {
    let mut statistics = LoadStatistics::new(load.generation());
    let mut script = Script::new(Arc::clone(load), 0, 1, seed);
    loop {
        let flow = match script.next() {
            Ok(ScriptAction::Operation(line)) => statistics.add(&line),
            Ok(ScriptAction::Sleep(pause)) => statistics.pause(pause),
            Ok(ScriptAction::SetSequencePoint(_)) => statistics.sequence_point(),
            Ok(ScriptAction::WaitSequencePoint { .. }) => statistics.wait(),
            Ok(ScriptAction::EndOfPass) => return statistics.finish(),
            Err(error) => statistics.cut_off(error.into()),
        };
        if flow.is_break() {
            return statistics.finish();
        }
    }
}

/// Statistics of one iteration, line by line.
#[derive(Debug)]
pub struct LoadStatistics {
    generation: Generation,
    steps: u64,
    operations: u64,
    cut_off: Option<TruncationReason>,
    outcomes: OutcomeStatistics,
    reads: TransferStatistics,
    writes: TransferStatistics,
    tree: NameTree,
    handles: TrackedHandles,
    stamps: Option<Stamps>,
    pacing: PacingContents,
    dispositions: [u64; 6],
    levels: BTreeMap<(OpKind, u64), u64>,
}

#[derive(Debug, Clone, Copy)]
struct Stamps {
    operations: u64,
    first: Duration,
    last: Duration,
    smallest: Duration,
    largest: Duration,
}

impl LoadStatistics {
    /// Creates empty statistics.
    pub fn new(generation: Generation) -> Self {
        let fold_case = match generation {
            Generation::Dbench1 | Generation::Dbench2 | Generation::Cifs | Generation::Smb => true,
            Generation::Nfs => false,
        };
        Self {
            generation,
            steps: 0,
            operations: 0,
            cut_off: None,
            outcomes: OutcomeStatistics::new(),
            reads: TransferStatistics::default(),
            writes: TransferStatistics::default(),
            tree: NameTree::new(fold_case),
            handles: TrackedHandles::default(),
            stamps: None,
            pacing: PacingContents::default(),
            dispositions: [0; 6],
            levels: BTreeMap::new(),
        }
    }

    /// Counts an executed line. Breaks if the limit of memory or steps is reached.
    pub fn add(&mut self, line: &Line) -> ControlFlow<()> {
        self.operations += 1;
        if let Some(stamp) = line.stamp {
            self.stamp(stamp);
        }
        let succeeds = self.outcomes.add(line);
        self.count_arguments(&line.action);
        if succeeds {
            self.execute(&line.action);
        } else {
            self.mention(&line.action);
        }
        self.step()
    }

    /// Counts a pause (SLEEP).
    pub fn pause(&mut self, pause: Duration) -> ControlFlow<()> {
        self.pacing.pauses += 1;
        self.pacing.pauses_ns = self.pacing.pauses_ns.saturating_add(nanos(pause));
        self.step()
    }

    /// Counts a sequence point (SETSP).
    pub fn sequence_point(&mut self) -> ControlFlow<()> {
        self.pacing.sequence_points += 1;
        self.step()
    }

    /// Counts a wait for a sequence point (WAITSP).
    pub fn wait(&mut self) -> ControlFlow<()> {
        self.pacing.waits += 1;
        self.step()
    }

    /// Ends counting for this reason.
    pub fn cut_off(&mut self, why: TruncationReason) -> ControlFlow<()> {
        self.cut_off = Some(why);
        ControlFlow::Break(())
    }

    /// Returns the statistics.
    pub fn finish(self) -> LoadStatisticsData {
        let generation = self.generation;
        LoadStatisticsData {
            operations: self.operations,
            cut_off: self.cut_off,
            kinds: self.outcomes.kinds(generation),
            expected_failures: self.outcomes.failures(),
            reads: self.reads.finish(),
            writes: self.writes.finish(),
            tree: self.tree.finish(),
            handles: self.handles.finish(),
            stamps: self.stamps.map(|stamps| StampContents {
                operations: stamps.operations,
                first_ns: nanos(stamps.first),
                last_ns: nanos(stamps.last),
                span_ns: nanos(stamps.largest.saturating_sub(stamps.smallest)),
            }),
            pacing: self.pacing,
            dispositions: (0..)
                .zip(self.dispositions)
                .filter(|(_, count)| *count > 0)
                .map(|(disposition, count)| DispositionCount { disposition, count })
                .collect(),
            levels: self
                .levels
                .iter()
                .map(|(&(kind, level), &count)| LevelCount {
                    verb: word_of(generation, kind),
                    level,
                    count,
                })
                .collect(),
        }
    }

    /// Counts a step, if the limit is not reached.
    fn step(&mut self) -> ControlFlow<()> {
        self.steps += 1;
        if self.steps.saturating_add(self.tree.walked()) >= STEPS_MAX {
            return self.cut_off(TruncationReason::Steps);
        }
        let weight = self.tree.weight()
            + self.handles.weight()
            + self.outcomes.weight()
            + self.reads.weight()
            + self.writes.weight()
            + self.levels.len() as u64 * LEVEL_WEIGHT;
        if weight >= MEMORY_MAX {
            return self.cut_off(TruncationReason::Memory);
        }
        ControlFlow::Continue(())
    }

    fn stamp(&mut self, stamp: Duration) {
        let stamps = self.stamps.get_or_insert(Stamps {
            operations: 0,
            first: stamp,
            last: stamp,
            smallest: stamp,
            largest: stamp,
        });
        stamps.operations += 1;
        stamps.last = stamp;
        stamps.smallest = stamps.smallest.min(stamp);
        stamps.largest = stamps.largest.max(stamp);
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
