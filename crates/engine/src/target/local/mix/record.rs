//! What a run came to, and the record that is made of it.

use super::caller::Caller;
use super::client::ClientEnd;
use super::clients::ClientGroup;
use super::watch::MixCoordinator;
use crate::clock::Clock;
use crate::run::RunHeader;
use filestone_model::measure::mix_record::{
    CorrectionRecord, CountedAsRecord, FileSetRecord, MixOperationRecord, MixRecord,
    WireLimitRecord, WireOperationRecord, WireOtherRecord, WireRecord,
};
use filestone_model::measure::processors::{ProcessorTime, ProcessorsRecord, ThreadTime};
use filestone_model::measure::run_record::{RunEnd, RunRecord, Target};
use filestone_model::measure::verdict::caveats;
use filestone_model::measure::{Assembly, Caveat};
use filestone_model::mix::Counters;
use filestone_model::mix::feedback::{Calls, counted_as};
use filestone_model::operation::OpKind;
use filestone_model::plan::{FeedbackArithmetic, MixPlan, Plan};
use filestone_model::time::Moment;
use std::time::SystemTime;

/// What a run came to, before it is a record.
pub(super) struct Measured {
    assembly: Assembly,
    timing: Timing,
    window_end: Moment,
    end: RunEnd,
    lost: Vec<String>,
    clients: u64,
    together: Together,
    pub callers: Vec<Caller>,
    pub file_set: FileSetRecord,
    pub background: f64,
    pub left_behind: Option<String>,
    /// What the clients' threads came to.
    threads: Vec<ThreadTime>,
}

/// When a run was, by which clock, and who had the processors meanwhile.
pub(super) struct Timing {
    pub started_at: SystemTime,
    pub used: ProcessorTime,
    pub clock: Clock,
}

/// Something that could not be taken away or given up, and why.
pub(super) struct NotLeft {
    pub path: String,
    pub reason: String,
}

/// What the kernel counted of all mounts together.
struct Seen {
    counters: Counters,
    source: String,
}

impl Seen {
    fn and(self, more: Seen) -> Seen {
        Seen {
            counters: self.counters.plus(&more.counters),
            source: format!("{}; {}", self.source, more.source),
        }
    }
}

/// What the clients of all mounts came to together.
struct Together {
    /// Calls that were asked, by procedure.
    asked: Calls,
    /// Calls on the wire; `None` without feedback.
    seen: Option<Seen>,
    corrections: Vec<CorrectionRecord>,
    /// What could not be caused.
    limits: Vec<WireLimitRecord>,
    /// Whether all mounts are of NFSv4.
    is_v4: bool,
}

impl Together {
    fn of(coordinator: &MixCoordinator<'_>) -> Self {
        let mut together = Self {
            asked: Calls::default(),
            seen: None,
            corrections: Vec::new(),
            limits: Vec::new(),
            is_v4: true,
        };
        for (index, group) in coordinator.clients.groups.iter().enumerate() {
            // A mount that is gone has no counters any more.
            together.add(group, coordinator.seen(index).unwrap_or_default());
        }
        together
            .corrections
            .sort_by_key(|correction| correction.at_ns);
        together
    }

    /// Adds what the clients of one mount came to.
    fn add(&mut self, group: &ClientGroup, counters: Counters) {
        let arithmetic = group.arithmetic();
        let of_group = arithmetic.asked();
        for (kind, sum) in self.asked.iter_mut() {
            *sum = sum.saturating_add(of_group[kind]);
        }
        self.corrections.append(&mut group.corrections());
        let Some(kernel) = &group.kernel else {
            return;
        };
        add_limits(&mut self.limits, arithmetic.limits());
        self.is_v4 &= arithmetic.is_v4();
        let more = Seen {
            counters,
            source: kernel.source(),
        };
        self.seen = Some(match self.seen.take() {
            None => more,
            Some(sum) => sum.and(more),
        });
    }
}

impl Measured {
    pub fn new(
        mut coordinator: MixCoordinator<'_>,
        ends: Vec<(ClientEnd, Caller)>,
        timing: Timing,
    ) -> Self {
        let (mut ends, callers): (Vec<ClientEnd>, Vec<Caller>) = ends.into_iter().unzip();
        ends.sort_by_key(|end| end.client);
        Self {
            window_end: coordinator.close(&ends),
            end: end_of(&ends, coordinator.failed.take()),
            together: Together::of(&coordinator),
            assembly: coordinator.assembly,
            timing,
            lost: ends.iter().filter_map(|end| end.lost.clone()).collect(),
            clients: ends.len() as u64,
            callers,
            file_set: FileSetRecord::default(),
            background: 0.0,
            left_behind: None,
            threads: ends.iter().map(|end| end.thread).collect(),
        }
    }
}

/// How the run ended: lost if the counters, or all clients, are.
fn end_of(ends: &[ClientEnd], failed: Option<String>) -> RunEnd {
    let mut lost = ends.iter().filter_map(|end| end.lost.clone());
    let is_lost = ends.iter().all(|end| end.lost.is_some());
    if let Some(message) = failed.or_else(|| lost.next().filter(|_| is_lost)) {
        RunEnd::TargetLost { message }
    } else if ends.iter().any(|end| end.was_stopped) {
        RunEnd::Interrupted
    } else {
        RunEnd::Finished
    }
}

/// The same procedure on several mounts is one.
fn add_limits(all: &mut Vec<WireLimitRecord>, more: Vec<WireLimitRecord>) {
    for limit in more {
        match all.iter_mut().find(|one| one.operation == limit.operation) {
            Some(one) => {
                one.wanted_per_s += limit.wanted_per_s;
                one.at_most_per_s += limit.at_most_per_s;
            }
            None => all.push(limit),
        }
    }
}

/// The record of a run. `left` is what could not be taken away or given up, and why.
pub(super) fn record(
    plan: &Plan,
    mix: &MixPlan,
    target: Target,
    measured: Measured,
    left: Result<(), NotLeft>,
) -> RunRecord {
    let window_start = Moment::from_nanos(plan.warm_up_ns);
    let window_ns = measured.window_end.nanos_since(window_start);
    let (intervals, ticks, mut totals) = measured.assembly.conclude(plan, measured.window_end);
    // Its clients are its threads; how busy they are says nothing.
    totals.workers.clear();
    let together = measured.together;
    let mut mix_record = mix_record(mix, &together);
    mix_record.file_set = measured.file_set;
    mix_record.in_flight_mean = totals.in_flight_mean;
    mix_record.in_flight_by_littles_law =
        totals.achieved_load_ops_per_s * totals.service_time_ns.mean / 1e9;
    if let Some(wire) = &mut mix_record.wire {
        wire.background_calls_per_s = measured.background;
        wire.corrections = together.corrections;
        let is_exact = mix.local.arithmetic == FeedbackArithmetic::Exact;
        if is_exact {
            wire.limits = limits(mix, wire, &together.limits, window_ns);
        }
    }
    let header = RunHeader {
        plan,
        target,
        clock: &measured.timing.clock,
        driver: "threads",
        started_at: measured.timing.started_at,
        window_ns,
        end: measured.end,
    };
    let mut record = RunRecord {
        mix: Some(mix_record),
        processors: ProcessorsRecord::of(measured.timing.used, window_ns, &measured.threads),
        ..header.record(intervals, ticks, totals)
    };
    record.caveats = caveats::find(&record);
    if together.seen.is_none() {
        let directory = record.target.export.clone();
        record.caveats.push(Caveat::NotSeenOnTheWire { directory });
    }
    if let Some(first) = measured
        .lost
        .first()
        .filter(|_| record.end == RunEnd::Finished)
    {
        record.caveats.push(Caveat::ClientsLost {
            lost: measured.lost.len() as u64,
            clients: measured.clients,
            first: first.clone(),
        });
    }
    let named = |reason| NotLeft {
        path: mix.file_set.name.clone(),
        reason,
    };
    let left = left.err().or(measured.left_behind.map(named));
    let stays = left.map(|left| what_stays(mix, left));
    record.caveats.extend(stays);
    record
}

/// A set that was to be removed, or to be left for the next run.
fn what_stays(mix: &MixPlan, NotLeft { path, reason }: NotLeft) -> Caveat {
    if mix.remove_set {
        Caveat::LeftBehind { path, reason }
    } else {
        Caveat::FileSetStillClaimed { path, reason }
    }
}

fn percent(part: u64, of: u64) -> f64 {
    100.0 * part as f64 / of.max(1) as f64
}

/// What was wanted, asked and seen. Without counters, what was asked is what there is.
fn mix_record(mix: &MixPlan, together: &Together) -> MixRecord {
    let asked = &together.asked;
    let asked_in_all: u64 = asked.values().sum();
    let seen = together.seen.as_ref();
    let mut record = MixRecord {
        asked_calls: seen.is_none().then_some(asked_in_all),
        wire: seen.map(|seen| wire_record(mix, asked, together.is_v4, seen)),
        ..MixRecord::default()
    };
    for kind in OpKind::STATELESS {
        let at = |calls: &Calls| calls[*kind];
        let row = match &record.wire {
            None => MixOperationRecord {
                operation: *kind,
                want_percent: mix.percent(*kind),
                got_percent: percent(at(asked), asked_in_all),
                count: at(asked),
            },
            Some(wire) => {
                let mut rows = wire.operations.iter();
                let Some(row) = rows.find(|row| row.operation == *kind) else {
                    continue;
                };
                MixOperationRecord {
                    operation: *kind,
                    want_percent: row.want_percent,
                    got_percent: row.got_percent,
                    count: row.seen,
                }
            }
        };
        if row.want_percent > 0.0 {
            record.operations.push(row);
        }
    }
    record.off_by_percent = record.off_by();
    record
}

/// All calls that the kernel counted, each in one row.
fn wire_record(mix: &MixPlan, asked: &Calls, is_v4: bool, seen: &Seen) -> WireRecord {
    let counters = &seen.counters;
    let mut wire = WireRecord {
        source: seen.source.clone(),
        calls: counters.total,
        ..WireRecord::default()
    };
    let time_ns = |millis: u64| counters.is_timed.then(|| millis.saturating_mul(1_000_000));
    for kind in OpKind::STATELESS {
        let counted_here = |of: &&OpKind| counted_as(**of, is_v4) == *kind;
        let wanted = OpKind::STATELESS.iter().filter(counted_here);
        let want_percent: f64 = wanted.map(|of| mix.percent(*of)).sum();
        if counted_as(*kind, is_v4) != *kind && mix.share(*kind) > 0.0 {
            wire.counted_as.push(CountedAsRecord {
                operation: *kind,
                counted_as: counted_as(*kind, is_v4),
            });
        }
        let (asked, seen) = (asked[*kind], counters.calls[*kind]);
        if asked > 0 || seen > 0 || want_percent > 0.0 {
            wire.operations.push(WireOperationRecord {
                operation: *kind,
                asked,
                seen,
                time_ns: time_ns(counters.millis[*kind]),
                want_percent,
                got_percent: percent(seen, counters.total),
            });
        }
    }
    let others = counters.others.iter().filter(|(_, other)| other.calls > 0);
    wire.others = others
        .map(|(name, other)| WireOtherRecord {
            name: name.clone(),
            seen: other.calls,
            time_ns: time_ns(other.millis),
            got_percent: percent(other.calls, counters.total),
        })
        .collect();
    wire
}

/// What could not be caused: by what was learnt of the client, and by what came of it. What no
/// system call makes is always of it.
fn limits(
    mix: &MixPlan,
    wire: &WireRecord,
    learnt: &[WireLimitRecord],
    window_ns: u64,
) -> Vec<WireLimitRecord> {
    let seconds = window_ns.max(1) as f64 / 1e9;
    let load = wire.calls as f64 / seconds;
    let of = |row: &WireOperationRecord| {
        let silent = [OpKind::Null, OpKind::FsInfo, OpKind::PathConf];
        let mut learnt = learnt.iter();
        let learnt = learnt.find(|limit| limit.operation == row.operation);
        let at_most_per_s = match learnt {
            Some(limit) => limit.at_most_per_s,
            None if silent.contains(&row.operation) && mix.share(row.operation) > 0.0 => 0.0,
            None => return None,
        };
        let seen_per_s = row.seen as f64 / seconds;
        let limit = WireLimitRecord {
            operation: row.operation,
            wanted_per_s: row.want_percent / 100.0 * load,
            at_most_per_s: at_most_per_s.max(seen_per_s),
        };
        limit.is_short(load).then_some(limit)
    };
    wire.operations.iter().filter_map(of).collect()
}
