//! What a run came to, and the record that is made of it.

use super::caller::Caller;
use super::client::{ClientEnd, Company, Shared};
use super::watch::Coordinator;
use crate::clock::Clock;
use crate::error::RunError;
use crate::run::Course;
use filestone_model::measure::mix_record::{
    CorrectionRecord, FileSetRecord, MixOperationRecord, MixRecord, WireOperationRecord, WireRecord,
};
use filestone_model::measure::run_record::{RunEnd, RunRecord, Target};
use filestone_model::measure::{Assembly, Caveat, caveat};
use filestone_model::mix::Counters;
use filestone_model::mix::feedback::{Calls, place};
use filestone_model::operation::{Failure, OpKind};
use filestone_model::plan::{MixPlan, Plan};
use filestone_model::time::Moment;
use std::time::SystemTime;

/// What a run came to, before it is a record.
pub(super) struct Measured {
    assembly: Assembly,
    clock: Clock,
    started_at: SystemTime,
    window_end: Moment,
    end: RunEnd,
    lost: Vec<String>,
    clients: u64,
    /// Calls that were asked, by procedure.
    asked: Calls,
    /// Calls on the wire, and where they were counted; `None` without feedback.
    seen: Option<(Counters, String)>,
    corrections: Vec<CorrectionRecord>,
    pub callers: Vec<Caller>,
    pub file_set: FileSetRecord,
    pub background: f64,
    pub left_behind: Option<String>,
}

impl Measured {
    pub fn new(
        mut coordinator: Coordinator<'_>,
        (companies, shared): (&[Company], &Shared<'_>),
        started_at: SystemTime,
        ends: Vec<(ClientEnd, Caller)>,
    ) -> Result<Self, RunError> {
        let (mut ends, callers): (Vec<ClientEnd>, Vec<Caller>) = ends.into_iter().unzip();
        ends.sort_by_key(|end| end.client);
        let window_end = coordinator.close(&ends);
        let mut asked = Calls::default();
        let mut corrections = Vec::new();
        let mut seen: Option<(Counters, String)> = None;
        for (place, company) in companies.iter().enumerate() {
            for (sum, calls) in asked.iter_mut().zip(company.group().asked()) {
                *sum = sum.saturating_add(*calls);
            }
            corrections.append(&mut company.corrections());
            if let Some(kernel) = &company.kernel {
                // A mount that is gone has no counters any more.
                let more = coordinator.seen(place).unwrap_or_default();
                seen = Some(match seen {
                    None => (more, kernel.source()),
                    Some((sum, source)) => {
                        (sum.plus(&more), format!("{source}; {}", kernel.source()))
                    }
                });
            }
        }
        corrections.sort_by_key(|correction| correction.at_ns);
        let lost: Vec<String> = ends.iter().filter_map(|end| end.lost.clone()).collect();
        let lost_all = coordinator.failed.clone();
        let lost_all = lost_all.or(lost.first().filter(|_| lost.len() == ends.len()).cloned());
        let end = if let Some(message) = lost_all {
            RunEnd::TargetLost { message }
        } else if ends.iter().any(|end| end.was_stopped) {
            RunEnd::Interrupted
        } else {
            RunEnd::Finished
        };
        Ok(Self {
            assembly: coordinator.assembly,
            clock: shared.clock.clone(),
            started_at,
            window_end,
            end,
            lost,
            clients: ends.len() as u64,
            asked,
            seen,
            corrections,
            callers,
            file_set: FileSetRecord::default(),
            background: 0.0,
            left_behind: None,
        })
    }
}

/// The record of a run. `left` is what could not be taken away or given up, and why.
pub(super) fn record(
    plan: &Plan,
    mix: &MixPlan,
    target: Target,
    measured: Measured,
    left: Result<(), (String, String)>,
) -> RunRecord {
    let window_start = Moment::from_nanos(plan.warm_up_ns);
    let window_ns = measured.window_end.nanos_since(window_start);
    let (intervals, ticks, mut totals) =
        measured
            .assembly
            .conclude(plan, measured.window_end, failure_name);
    // Its clients are its threads; how busy they are says nothing.
    totals.workers.clear();
    let mut mix_record = mix_record(mix, &measured.asked, measured.seen.as_ref());
    mix_record.file_set = measured.file_set;
    mix_record.in_flight_mean = totals.in_flight_mean;
    mix_record.in_flight_by_littles_law =
        totals.achieved_load_ops_per_s * totals.service_time_ns.mean / 1e9;
    if let Some(wire) = &mut mix_record.wire {
        wire.background_calls_per_s = measured.background;
        wire.corrections = measured.corrections;
    }
    let course = Course {
        plan,
        target,
        clock: (&measured.clock, "threads"),
        started_at: measured.started_at,
        window_ns,
        end: measured.end,
    };
    let mut record = RunRecord {
        mix: Some(mix_record),
        ..course.record((intervals, ticks, totals))
    };
    record.caveats = caveat::find(&record);
    compare_calls_with_offered(&mut record, measured.seen.as_ref(), &measured.asked);
    if measured.seen.is_none() {
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
    let named = |reason| (mix.file_set.name.clone(), reason);
    let left = left.err().or(measured.left_behind.map(named));
    let stays = left.map(|left| what_stays(mix, left));
    record.caveats.extend(stays);
    record
}

/// A set that was to be removed, or to be left for the next run.
fn what_stays(mix: &MixPlan, (path, reason): (String, String)) -> Caveat {
    if mix.remove_set {
        Caveat::LeftBehind { path, reason }
    } else {
        Caveat::FileSetStillClaimed { path, reason }
    }
}

/// What is offered are calls, and an operation can be several of them: whether the offered load
/// was achieved is for the calls to say.
fn compare_calls_with_offered(
    record: &mut RunRecord,
    seen: Option<&(Counters, String)>,
    asked: &Calls,
) {
    let is_about_operations =
        |caveat: &Caveat| matches!(caveat, Caveat::AchievedBelowOffered { .. });
    record.caveats.retain(|caveat| !is_about_operations(caveat));
    let Some(offered) = record.plan.arrivals.offered_load() else {
        return;
    };
    let calls = seen.map_or_else(|| asked.iter().sum(), |(counters, _)| counters.total);
    let achieved = calls as f64 * 1e9 / record.window_ns.max(1) as f64;
    if achieved < caveat::achieved_share_min(record) * offered {
        record.caveats.push(Caveat::AchievedBelowOffered {
            offered_load_ops_per_s: offered,
            achieved_load_ops_per_s: achieved,
        });
    }
}

/// What was wanted, asked and seen. Without counters, what was asked is what there is.
fn mix_record(mix: &MixPlan, asked: &Calls, seen: Option<&(Counters, String)>) -> MixRecord {
    let asked_in_all: u64 = asked.iter().sum();
    let percent = |part: u64, of: u64| 100.0 * part as f64 / of.max(1) as f64;
    let (got, of): (&Calls, u64) = match seen {
        Some((counters, _)) => (&counters.calls, counters.total),
        None => (asked, asked_in_all),
    };
    let mut record = MixRecord::default();
    let mut wire = seen.map(|(counters, source)| WireRecord {
        source: source.clone(),
        calls: counters.total,
        ..WireRecord::default()
    });
    let mut known = 0;
    for kind in OpKind::PROCEDURES {
        let at = |calls: &Calls| place(*kind).map_or(0, |place| calls[place]);
        let (want_percent, got_percent) = (100.0 * mix.share(*kind), percent(at(got), of));
        known += at(got);
        record.off_by_percent += (got_percent - want_percent).abs();
        if want_percent > 0.0 {
            record.operations.push(MixOperationRecord {
                operation: *kind,
                want_percent,
                got_percent,
                count: at(got),
            });
        }
        if let Some(wire) = &mut wire
            && (at(asked) > 0 || at(got) > 0 || want_percent > 0.0)
        {
            wire.operations.push(WireOperationRecord {
                operation: *kind,
                asked: at(asked),
                seen: at(got),
                want_percent,
                got_percent,
            });
        }
    }
    // Calls that are like no procedure of NFSv3 were wanted by nobody.
    record.off_by_percent += percent(of.saturating_sub(known), of);
    record.wire = wire;
    record
}

/// What the operating system calls a failure.
fn failure_name(failure: Failure) -> String {
    match failure {
        Failure::Status(number) => {
            let number = i32::try_from(number).unwrap_or(i32::MAX);
            std::io::Error::from_raw_os_error(number).to_string()
        }
        Failure::Rejected(_)
        | Failure::Denied(_)
        | Failure::BadReply(_)
        | Failure::Unexpected(_) => format!("{failure:?}"),
    }
}
