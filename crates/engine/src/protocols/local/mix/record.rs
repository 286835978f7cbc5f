//! Parts of the record that are specific to a mix through a mount.

use super::clients::ClientGroup;
use filestone_measure::measure::Caveat;
use filestone_measure::measure::mix_record::{
    CorrectionRecord, CountedAsRecord, FileSetRecord, MixOperationRecord, MixRecord,
    WireLimitRecord, WireOperationRecord, WireOtherRecord, WireRecord,
};
use filestone_measure::measure::run_record::{RunOutcome, RunRecord};
use filestone_plan::mix::Counters;
use filestone_plan::mix::feedback::{ProcedureCounts, counted_as};
use filestone_plan::plan::{FeedbackArithmetic, MixPlan};
use filestone_workload::operation::OpKind;
use std::sync::Arc;

/// Results of a run that are specific to a mix through a mount.
pub(super) struct MountMixResult {
    pub together: AllMounts,
    /// Reasons why clients could not continue.
    pub lost: Vec<String>,
    pub clients: u64,
    pub file_set: FileSetRecord,
    /// Calls of other processes per second.
    pub background: f64,
    /// Result of the clean-up: removal, release or repair of the set.
    pub left: Result<(), CleanUpFailure>,
}

/// An object that could not be removed or released, and the reason.
pub(super) struct CleanUpFailure {
    pub path: String,
    pub reason: String,
}

/// Counters of all mounts, added up.
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

/// Results of the clients of all mounts, added up.
pub(super) struct AllMounts {
    /// Requested calls by procedure.
    asked: ProcedureCounts,
    /// Calls on the wire; `None` without feedback.
    seen: Option<Seen>,
    corrections: Vec<CorrectionRecord>,
    /// Calls that could not be caused.
    limits: Vec<WireLimitRecord>,
    /// Whether all mounts are of NFSv4.
    is_v4: bool,
    /// Error of reading the counters.
    failure: Option<String>,
}

impl AllMounts {
    pub fn of(groups: &[Arc<ClientGroup>]) -> Self {
        let mut together = Self {
            asked: ProcedureCounts::default(),
            seen: None,
            corrections: Vec::new(),
            limits: Vec::new(),
            is_v4: true,
            failure: groups.iter().find_map(|group| group.failure()),
        };
        for group in groups {
            // A mount that is gone has no counters any more.
            together.add(group, group.seen().unwrap_or_default());
        }
        together
            .corrections
            .sort_by_key(|correction| correction.at_ns);
        together
    }

    /// Adds the results of one mount's clients.
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

/// Adds up the limits of the same procedure on several mounts.
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

/// Completes the record with the parts specific to a mix through a mount, and adds caveats.
pub(super) fn complete(record: &mut RunRecord, mix: &MixPlan, result: MountMixResult) {
    let MountMixResult { together, lost, .. } = result;
    let totals = &record.totals;
    let mut mix_record = mix_record(mix, &together);
    mix_record.file_set = result.file_set;
    mix_record.in_flight_mean = totals.in_flight_mean;
    mix_record.in_flight_by_littles_law =
        totals.achieved_load_ops_per_s * totals.service_time_ns.mean / 1e9;
    if let Some(wire) = &mut mix_record.wire {
        wire.background_calls_per_s = result.background;
        wire.corrections = together.corrections;
        if mix.local.arithmetic == FeedbackArithmetic::Exact {
            wire.limits = limits(mix, wire, &together.limits, record.window_ns);
        }
    }
    record.mix = Some(mix_record);
    if let Some(message) = together.failure {
        record.end = RunOutcome::TargetLost { message };
    }
    if together.seen.is_none() {
        let directory = record.target.export.clone();
        record.caveats.push(Caveat::NotSeenOnTheWire { directory });
    }
    if let Some(first) = lost.first().filter(|_| record.end == RunOutcome::Finished) {
        record.caveats.push(Caveat::ClientsLost {
            lost: lost.len() as u64,
            clients: result.clients,
            first: first.clone(),
        });
    }
    let left = result.left.err().map(|left| what_stays(mix, left));
    record.caveats.extend(left);
}

/// Returns the caveat for a set that could not be removed, or released for the next run.
fn what_stays(mix: &MixPlan, CleanUpFailure { path, reason }: CleanUpFailure) -> Caveat {
    if mix.remove_set {
        Caveat::Leftover { path, reason }
    } else {
        Caveat::FileSetStillClaimed { path, reason }
    }
}

fn percent(part: u64, of: u64) -> f64 {
    100.0 * part as f64 / of.max(1) as f64
}

/// Returns target, requested and observed calls. Without counters, only requested calls are known.
fn mix_record(mix: &MixPlan, together: &AllMounts) -> MixRecord {
    let asked = &together.asked;
    let asked_in_all: u64 = asked.values().sum();
    let seen = together.seen.as_ref();
    let mut record = MixRecord {
        asked_calls: seen.is_none().then_some(asked_in_all),
        wire: seen.map(|seen| wire_record(mix, asked, together.is_v4, seen)),
        ..MixRecord::default()
    };
    for kind in OpKind::STATELESS {
        let at = |calls: &ProcedureCounts| calls[*kind];
        let row = match &record.wire {
            None => MixOperationRecord {
                operation: *kind,
                expected_percent: mix.percent(*kind),
                actual_percent: percent(at(asked), asked_in_all),
                count: at(asked),
            },
            Some(wire) => {
                let mut rows = wire.operations.iter();
                let Some(row) = rows.find(|row| row.operation == *kind) else {
                    continue;
                };
                MixOperationRecord {
                    operation: *kind,
                    expected_percent: row.expected_percent,
                    actual_percent: row.actual_percent,
                    count: row.seen,
                }
            }
        };
        if row.expected_percent > 0.0 {
            record.operations.push(row);
        }
    }
    record.deviation_percent = record.off_by();
    record
}

/// Returns all calls counted by the kernel, one row each.
fn wire_record(mix: &MixPlan, asked: &ProcedureCounts, is_v4: bool, seen: &Seen) -> WireRecord {
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
                expected_percent: want_percent,
                actual_percent: percent(seen, counters.total),
            });
        }
    }
    let others = counters.others.iter().filter(|(_, other)| other.calls > 0);
    wire.others = others
        .map(|(name, other)| WireOtherRecord {
            name: name.clone(),
            seen: other.calls,
            time_ns: time_ns(other.millis),
            actual_percent: percent(other.calls, counters.total),
        })
        .collect();
    wire
}

/// Returns the calls that could not be caused, according to the calibration and to the result.
/// Procedures that no system call makes are always included.
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
            wanted_per_s: row.expected_percent / 100.0 * load,
            at_most_per_s: at_most_per_s.max(seen_per_s),
        };
        limit.is_short(load).then_some(limit)
    };
    wire.operations.iter().filter_map(of).collect()
}
