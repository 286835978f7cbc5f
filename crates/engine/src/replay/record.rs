//! What a replay came to, and the record that is made of it.

use super::client::ClientEnd;
use super::layer::Repeats;
use super::mismatches::Mismatches;
use crate::clock::Clock;
use crate::run::RunHeader;
use filestone_model::measure::processors::{ProcessorTime, ProcessorsRecord, ThreadTime};
use filestone_model::measure::replay_record::ReplayRecord;
use filestone_model::measure::run_record::{RunEnd, RunRecord, Target};
use filestone_model::measure::verdict::caveats;
use filestone_model::measure::{Assembly, Caveat};
use filestone_model::operation::OpKind;
use filestone_model::plan::{Plan, ReplayPlan};
use filestone_model::time::Moment;
use std::time::{Duration, SystemTime};

/// What a run came to, before it is a record.
pub(super) struct Measured {
    pub(super) assembly: Assembly,
    pub(super) times: RunTimes,
    pub(super) end: RunEnd,
    pub(super) replay: ReplayRecord,
    /// Operations that clients began in the window, counted where they began.
    pub(super) begun: u64,
    repeats: Repeats,
    /// Who had the processors while the window was open, if it opened; and what the clients'
    /// threads came to.
    processors: (Option<ProcessorTime>, Vec<ThreadTime>),
    pub(super) left_behind: Option<(u32, String)>,
}

/// When a run began and ended.
pub(super) struct RunTimes {
    pub(super) clock: Clock,
    pub(super) started_at: SystemTime,
    pub(super) window_end: Moment,
}

/// What a client's thread says at its end.
pub(super) struct ThreadEnd {
    pub(super) ends: Vec<ClientEnd>,
    /// The first client whose tree could not be taken away, and why.
    pub(super) left_behind: Option<(u32, String)>,
}

impl ThreadEnd {
    /// What the thread came to; its clients tell the same thread's.
    fn time(&self) -> Option<ThreadTime> {
        let of_clients = self.ends.iter().map(|end| end.thread);
        of_clients.reduce(|one, other| ThreadTime {
            thread: one.thread.min(other.thread),
            cpu_ns: one.cpu_ns.max(other.cpu_ns),
            waited_ns: one.waited_ns.max(other.waited_ns),
        })
    }
}

impl Measured {
    /// Puts together what the books and the clients say.
    pub(super) fn new(
        assembly: Assembly,
        plan: &Plan,
        replay: &ReplayPlan,
        times: RunTimes,
        threads: Vec<ThreadEnd>,
        processors: Option<ProcessorTime>,
    ) -> Self {
        let of_threads = threads.iter().filter_map(ThreadEnd::time).collect();
        let (ends, left_behind) = sort(threads);
        Self {
            assembly,
            times,
            end: how_it_ended(&ends),
            begun: ends.iter().map(|end| end.begun).sum(),
            repeats: repeats(&ends),
            processors: (processors, of_threads),
            replay: replay_record(ends, plan, replay),
            left_behind,
        }
    }

    /// The record of the run.
    pub(super) fn into_record(self, plan: &Plan, target: Target) -> RunRecord {
        let window_start = Moment::from_nanos(plan.warm_up_ns);
        let (intervals, ticks, mut totals) = self.assembly.conclude(plan, self.times.window_end);
        // Its clients are its threads; how busy they are says nothing.
        totals.workers.clear();
        totals.reconnections = self.repeats.reconnections;
        totals.unusable_ns = nanos(self.repeats.unusable);
        let moved = |wanted: &[OpKind]| {
            let kinds = totals.kinds.iter();
            let of_kind = kinds.filter(|kind| wanted.contains(&kind.operation));
            of_kind.map(|kind| kind.data_bytes).sum()
        };
        let mut replay = self.replay;
        replay.bytes_written = moved(&[OpKind::WriteX, OpKind::Write, OpKind::OpenX]);
        replay.bytes_read = moved(&[OpKind::ReadX, OpKind::Read]);
        let header = RunHeader {
            plan,
            target,
            clock: &self.times.clock,
            driver: "threads",
            started_at: self.times.started_at,
            window_ns: self.times.window_end.nanos_since(window_start),
            end: self.end,
        };
        let (used, threads) = self.processors;
        let mut record = RunRecord {
            replay: Some(replay),
            processors: used
                .and_then(|used| ProcessorsRecord::of(used, header.window_ns, &threads)),
            ..header.record(intervals, ticks, totals)
        };
        record.caveats = caveats::find(&record);
        let missing = self.begun as i64 - record.totals.ledger.scheduled as i64;
        if missing != 0 {
            record.caveats.push(Caveat::LedgerOutOfBalance {
                missing,
                scheduled: self.begun,
            });
        }
        if let Some((client, reason)) = self.left_behind {
            record.caveats.push(Caveat::LeftBehind {
                path: format!(
                    "{}/client{client}",
                    crate::workspace::test_directory::CLIENTS
                ),
                reason,
            });
        }
        record
    }
}

fn repeats(ends: &[ClientEnd]) -> Repeats {
    let of_clients = ends.iter().map(|end| end.repeats);
    of_clients.fold(Repeats::default(), Repeats::and)
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// A client that saw the stop was stopped; one that had come to its end before had
/// not been.
fn how_it_ended(ends: &[ClientEnd]) -> RunEnd {
    if ends.iter().any(|end| end.was_stopped) {
        return RunEnd::Interrupted;
    }
    let all_lost = ends.iter().all(|end| end.record.lost.is_some());
    match ends.iter().find_map(|end| end.record.lost.clone()) {
        Some(message) if all_lost => RunEnd::TargetLost { message },
        _ => RunEnd::Finished,
    }
}

/// The ends of all clients by their numbers, and the first that left its tree.
fn sort(threads: Vec<ThreadEnd>) -> (Vec<ClientEnd>, Option<(u32, String)>) {
    let (mut ends, mut left_behind) = (Vec::new(), None);
    for thread in threads {
        ends.extend(thread.ends);
        left_behind = left_behind.or(thread.left_behind);
    }
    ends.sort_by_key(|end| end.record.client);
    (ends, left_behind)
}

fn replay_record(ends: Vec<ClientEnd>, plan: &Plan, replay: &ReplayPlan) -> ReplayRecord {
    let mut record = ReplayRecord {
        threads: plan.clients.div_ceil(replay.clients_per_thread.max(1)),
        ..ReplayRecord::default()
    };
    let repeats = repeats(&ends);
    record.jukebox_calls = repeats.busy_calls;
    record.jukebox_pauses_ns = nanos(repeats.busy_pauses);
    let mut mismatches = Mismatches::default();
    for end in ends {
        record.lines += end.record.lines;
        record.passes += end.passes;
        mismatches.merge(end.mismatches);
        record.clients.push(end.record);
    }
    record.mismatch_count = mismatches.count();
    record.mismatches = mismatches.into_records();
    record
}
