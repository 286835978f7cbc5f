//! Finds the caveats of a record.

mod cost;
mod fleet;
mod hosts;
mod mix;
mod progress;
mod rate;

pub use progress::did_not_run;

use super::{Check, CheckSubject, checks, of_warm_up};
use crate::measure::absence::AbsenceCause;
use crate::measure::caveat::Caveat;
use crate::measure::caveat::thresholds::{
    CLOCK_READ_NS, SHORT_READS_PERCENT, WAITED_PERCENT, WINDOW_MIN_NS,
};
use crate::measure::flow::LittlesLaw;
use crate::measure::processors::ProcessorsRecord;
use crate::measure::replay_record::ReplayRecord;
use crate::measure::run_record::{RunOutcome, RunRecord, SessionIdentity};
use crate::measure::short_reads::ShortReads;
use crate::measure::unexpected;
use filestone_plan::plan::ArrivalsPlan;
use filestone_workload::failure::ReplyFault;
use filestone_workload::operation::OpKind;

/// Returns the caveats of a record.
pub fn find(record: &RunRecord) -> Vec<Caveat> {
    let mut caveats = Vec::new();
    let totals = &record.totals;
    if totals.ledger.missing() != 0 {
        caveats.push(Caveat::LedgerOutOfBalance {
            missing: totals.ledger.missing() as i64,
            scheduled: totals.ledger.scheduled,
        });
    }
    match &record.end {
        RunOutcome::Finished => {}
        RunOutcome::Interrupted => caveats.push(Caveat::Interrupted {
            after_ns: record.window_ns,
        }),
        RunOutcome::TargetLost { message } => caveats.push(Caveat::TargetLost {
            message: message.clone(),
        }),
    }
    find_errors(record, &mut caveats);
    caveats.extend(record.cost.iter().flat_map(cost::find));
    find_progress(record, &mut caveats);
    match &record.replay {
        Some(replay) => find_in_replay(record, replay, &mut caveats),
        None => find_waiting(record, &mut caveats),
    }
    if let Some(fleet) = &record.fleet {
        caveats.extend(fleet::find(record, fleet));
        caveats.extend(rate::of_fleet(record, fleet));
    }
    if let Some(wire) = record.mix.as_ref().and_then(|mix| mix.wire.as_ref()) {
        caveats.extend(mix::not_caused(wire));
    }
    let failed = checks(record);
    let failed = failed.iter().filter(|check| check.fails());
    // The caveat of unexpected outcomes is found in every run, whatever is checked in it.
    let failed = failed.filter(|check| !matches!(check.subject, CheckSubject::Unexpected { .. }));
    caveats.extend(failed.filter_map(|check| of_check(record, check)));
    if record.mix.is_some() {
        mix::find_unmeasured(record, &mut caveats);
    }
    find_doubts(record, &mut caveats);
    if let Some(job) = &record.job {
        let of_hosts = hosts::find(record, job, &caveats);
        caveats.extend(of_hosts);
    }
    caveats
}

/// Finds caveats about errors of operations and connections.
fn find_errors(record: &RunRecord, caveats: &mut Vec<Caveat>) {
    let totals = &record.totals;
    caveats.extend(unexpected::caveat(record));
    let forged = ReplyFault::Forged.to_string();
    let failures = totals.kinds.iter().flat_map(|kind| &kind.failures);
    let forged = failures.filter(|failure| failure.failure == forged);
    let count = forged.map(|failure| failure.count).sum();
    if count > 0 {
        caveats.push(Caveat::Forged { count });
    }
    if let Some(short) =
        ShortReads::of(record).filter(|short| short.percent() > SHORT_READS_PERCENT)
    {
        caveats.push(Caveat::ShortReads {
            count: short.count,
            reads: short.reads,
            mean_bytes: short.mean_bytes,
            size_bytes: short.size_bytes,
        });
    }
    let retransmissions: u64 = totals.kinds.iter().map(|kind| kind.retransmissions).sum();
    // A replay over TCP retransmits over new connections, which has a separate caveat.
    if retransmissions > 0 && (record.replay.is_none() || record.plan.target.is_udp()) {
        let calls = totals.kinds.iter().map(|kind| kind.calls).sum();
        caveats.push(Caveat::Retransmissions {
            count: retransmissions,
            calls,
        });
    }
    if totals.late_replies > 0 {
        caveats.push(Caveat::LateReplies {
            count: totals.late_replies,
        });
    }
    if totals.oversized_listings > 0 {
        caveats.push(Caveat::LongListings {
            count: totals.oversized_listings,
            excess_bytes_max: totals.oversized_listing_bytes_max.into(),
        });
    }
    let session = record.target.session.as_ref();
    let is_other = session.is_some_and(|session| session.account != SessionIdentity::User);
    if let Some(user) = record.plan.target.user().filter(|_| is_other) {
        let user = user.into();
        caveats.push(Caveat::NotTheUser { user });
    }
    if totals.reconnections > 0 {
        caveats.push(Caveat::Reconnected {
            times: totals.reconnections,
            unusable_ns: totals.disconnected_ns,
            losses: totals.losses.clone(),
        });
    }
    if totals.lost_clients > 0 {
        caveats.push(Caveat::ConnectionsLost {
            count: totals.lost_clients,
            clients: record.plan.clients.into(),
        });
    }
}

/// Finds deviations of a replay from its load file. Its threads work in system calls, so their CPU
/// use does not show whether the load generator was the bottleneck.
fn find_in_replay(record: &RunRecord, replay: &ReplayRecord, caveats: &mut Vec<Caveat>) {
    if replay.jukebox_calls > 0 {
        caveats.push(Caveat::Jukebox {
            calls: replay.jukebox_calls,
            pauses_ns: replay.jukebox_pauses_ns,
        });
    }
    caveats.extend(rate::of_replay(record));
    let mut lost = replay
        .clients
        .iter()
        .filter_map(|client| client.lost.as_ref());
    if let Some(first) = lost.next() {
        caveats.push(Caveat::ClientsLost {
            lost: 1 + lost.count() as u64,
            clients: replay.clients.len() as u64,
            first: first.clone(),
        });
    }
    find_waiting(record, caveats);
}

/// Returns the caveat of a check that fails.
pub(super) fn of_check(record: &RunRecord, check: &Check) -> Option<Caveat> {
    Some(match &check.subject {
        CheckSubject::MixInAll => Caveat::MixInvalid {
            deviation_percent: check.figure,
        },
        CheckSubject::MixOf(share) | CheckSubject::MixOnWireOf(share) => Caveat::MixOff {
            operation: share.operation,
            want_percent: share.want_percent,
            got_percent: share.got_percent,
            operations: share.off,
            of: share.of,
        },
        CheckSubject::Achieved { .. } => of_achieved(record, check)?,
        CheckSubject::DispatchDelay {
            response_time_mean_ns,
            ..
        } => Caveat::DispatchDelay {
            mean_ns: check.figure,
            response_time_mean_ns: *response_time_mean_ns,
        },
        CheckSubject::Headroom {
            worker,
            workers,
            processors,
        } => Caveat::GeneratorWasTheLimit {
            worker: *worker,
            busy_percent: check.figure,
            workers: *workers,
            processors: *processors,
        },
        CheckSubject::Unexpected { .. } => unexpected::caveat(record)?,
        CheckSubject::Skipped { scheduled } => Caveat::Skipped {
            count: check.figure as u64,
            scheduled: *scheduled,
        },
        CheckSubject::InFlight { counted, least, .. } => Caveat::LittlesLaw {
            in_flight_mean: *counted,
            in_flight_by_littles_law: *least,
        },
        CheckSubject::SteadyState { first_ns, last_ns } => Caveat::Drift {
            first_third_mean_ns: *first_ns,
            last_third_mean_ns: *last_ns,
        },
        CheckSubject::SamplesAbove(of) | CheckSubject::PercentileSpread(of) => {
            Caveat::TooFewSamples {
                quantile: of.quantile,
                above: of.above,
                count: of.count,
                from_ns: of.from_ns,
                to_ns: of.to_ns.unwrap_or(0),
            }
        }
    })
}

fn of_achieved(record: &RunRecord, check: &Check) -> Option<Caveat> {
    let CheckSubject::Achieved {
        due_ops_per_s,
        achieved_ops_per_s,
        left_over,
        shortfall,
    } = check.subject
    else {
        return None;
    };
    let (offered_load_ops_per_s, achieved_load_ops_per_s) = (due_ops_per_s, achieved_ops_per_s);
    Some(if check.figure < check.bound.ideal {
        Caveat::AchievedBelowOffered {
            offered_load_ops_per_s,
            achieved_load_ops_per_s,
            cause: shortfall,
        }
    } else {
        let warm_up_backlog = u64::try_from(left_over).unwrap_or(0);
        Caveat::AchievedAboveOffered {
            offered_load_ops_per_s,
            achieved_load_ops_per_s,
            warm_up_backlog,
            cause: (warm_up_backlog > 0).then(|| of_warm_up(record)),
        }
    })
}

/// Finds parts of the run without progress. A long interval is a stronger statement than that no
/// operation succeeded in it, unless something kept the load generator from running.
fn find_progress(record: &RunRecord, caveats: &mut Vec<Caveat>) {
    let long = progress::long_interval(record);
    let absent = did_not_run(record).filter(|absent| {
        let is_stopped = matches!(
            absent,
            Caveat::DidNotRun {
                cause: AbsenceCause::Stopped,
                ..
            }
        );
        !is_stopped || long.is_none()
    });
    caveats.extend(long);
    caveats.extend(absent);
    caveats.extend(progress::nothing_completed(record));
}

/// Finds threads that waited, and the reason. Threads of the load generator that wait for each
/// other show that this host is too small, if the load goes to another host. A server on this host
/// has a separate caveat; with local file systems it is the requested load.
fn find_waiting(record: &RunRecord, caveats: &mut Vec<Caveat>) {
    if let Some(waited) = waited_for_others(record) {
        caveats.push(waited);
    } else if let Some(processors) = &record.processors
        && processors.run_delay_percent >= WAITED_PERCENT
        && !record.target.local
    {
        caveats.push(Caveat::CpuRunDelaySelf {
            threads: processors.threads,
            processors: processors.processors,
            run_delay_percent: processors.run_delay_percent.min(100.0),
        });
    }
}

/// Returns the caveat if other programs made a thread of a run wait. With a quota as the reason, no
/// other program had the CPUs.
pub fn waited_for_others(record: &RunRecord) -> Option<Caveat> {
    if let Some(Caveat::DidNotRun {
        cause: AbsenceCause::Quota,
        ..
    }) = did_not_run(record)
    {
        return None;
    }
    if let Some(processors) = &record.processors {
        return waited_for_processor(processors);
    }
    // Records of versions that did not observe the use of the CPUs.
    let workers = record.totals.workers.iter();
    let starved =
        workers.max_by(|one, other| one.run_delay_percent.total_cmp(&other.run_delay_percent));
    let starved = starved.filter(|worker| worker.run_delay_percent >= WAITED_PERCENT)?;
    Some(Caveat::CpuRunDelay {
        worker: starved.worker,
        run_delay_percent: starved.run_delay_percent.min(100.0),
    })
}

/// Returns the caveat if other programs made a thread wait.
pub fn waited_for_processor(processors: &ProcessorsRecord) -> Option<Caveat> {
    let waited_percent = processors.longest_run_delay_by_others_percent;
    (waited_percent >= WAITED_PERCENT).then_some(Caveat::CpuRunDelay {
        worker: processors.longest_thread,
        run_delay_percent: waited_percent.min(100.0),
    })
}

/// Finds conditions that make the figures uncertain or unfit for publication.
fn find_doubts(record: &RunRecord, caveats: &mut Vec<Caveat>) {
    find_transfer(record, caveats);
    if record.window_ns < WINDOW_MIN_NS && record.plan.count.is_none() {
        caveats.push(Caveat::ShortRun {
            window_ns: record.window_ns,
        });
    }
    find_outlasted(record, caveats);
    if record.tool.profile == "debug" {
        caveats.push(Caveat::DebugBuild);
    }
    if record.host.clock_read_ns > CLOCK_READ_NS {
        caveats.push(Caveat::SlowClock {
            source: record.host.clock_source.clone(),
            read_ns: record.host.clock_read_ns,
        });
    }
    if let (false, Some(interface)) = (record.target.local, &record.target.namespace_link) {
        caveats.push(Caveat::MayShareHost {
            interface: interface.clone(),
        });
    }
    if record.target.local && !record.plan.target.is_directory() {
        caveats.push(Caveat::Loopback {
            built_in: record.target.built_in,
        });
    }
}

/// Finds a closed loop whose window ended before each slot had completed an operation: its rate
/// then depends on the ends of a few operations. Other caveats report that no operation succeeded,
/// or that many failed; a run with a fixed count has all its operations, however few.
fn find_outlasted(record: &RunRecord, caveats: &mut Vec<Caveat>) {
    let (plan, totals) = (&record.plan, &record.totals);
    let is_closed = plan.arrivals == ArrivalsPlan::Closed && !plan.has_lines();
    if !is_closed || plan.count.is_some() || record.end != RunOutcome::Finished {
        return;
    }
    let ended = totals.achieved_load_ops_per_s * record.window_ns as f64 / 1e9;
    let ended = ended.round() as u64 + totals.ledger.unsuccessful();
    let slots = LittlesLaw::of(record).slots as u64;
    // An operation that was due and did not end in the window was in flight at its end.
    if ended < slots && ended < totals.ledger.scheduled {
        caveats.push(Caveat::WindowTooShort {
            ended,
            slots,
            window_ns: record.window_ns,
        });
    }
}

/// Finds requests that the server split into several calls.
fn find_transfer(record: &RunRecord, caveats: &mut Vec<Caveat>) {
    let Some(probe) = record.plan.probe() else {
        return;
    };
    let server_max_bytes = match probe.operation {
        OpKind::Read => record.target.read_max_bytes,
        OpKind::Write | OpKind::Commit => record.target.write_max_bytes,
        _ => 0,
    };
    let size_bytes = u64::from(probe.size_bytes);
    if server_max_bytes > 0 && size_bytes > server_max_bytes {
        caveats.push(Caveat::TransferBeyondServer {
            size_bytes,
            server_max_bytes,
        });
    }
}

#[cfg(test)]
pub(crate) mod tests;
