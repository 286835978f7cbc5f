//! Which caveats a record calls for.

use super::Caveat;
use crate::measure::mix_record::WireRecord;
use crate::measure::processors::ProcessorsRecord;
use crate::measure::replay_record::ReplayRecord;
use crate::measure::run_record::{KindRecord, RunEnd, RunRecord};
use crate::measure::sample::Role;
use crate::mix::feedback::CORRECTION_NS;
use crate::operation::OpKind;
use crate::plan::{ArrivalsPlan, TargetPlan};

/// A worker busier than this was the limit, or near it.
pub const BUSY_PERCENT: f64 = 95.0;
/// A thread that had no processor for longer than this was held up.
pub const WAITED_PERCENT: f64 = 5.0;
/// Lateness of our own above this share of the response time is worth a caveat.
pub const DISPATCH_SHARE: f64 = 0.01;
/// Achieved below this share of offered is worth one.
const ACHIEVED_SHARE: f64 = 0.99;
/// Of a mix: what a run must reach to count at all. LADDIS and SFS had rules of the kind.
const ACHIEVED_SHARE_OF_MIX: f64 = 0.98;
/// Standard deviations by which a count of random arrivals may be late.
const DEVIATIONS: f64 = 3.0;
/// Operations that should lie above a percentile before it is quoted.
pub const ABOVE_MIN: u64 = 100;
/// A clock dearer than this adds to what is measured.
const CLOCK_READ_NS: f64 = 50.0;

/// The reasons to doubt a record's numbers.
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
        RunEnd::Finished => {}
        RunEnd::Interrupted => caveats.push(Caveat::Interrupted {
            after_ns: record.window_ns,
        }),
        RunEnd::TargetLost { message } => caveats.push(Caveat::TargetLost {
            message: message.clone(),
        }),
    }
    find_errors(record, &mut caveats);
    match &record.replay {
        Some(replay) => find_in_replay(record, replay, &mut caveats),
        // A steered run goes to the limits on purpose; what it found says how it went.
        None if record.plan.steering.is_some() => find_waiting(record, &mut caveats),
        None => find_limits(record, &mut caveats),
    }
    if let Some(mix) = &record.mix {
        super::mix::find(record, mix, &mut caveats);
    }
    find_doubts(record, &mut caveats);
    caveats
}

/// What went wrong with operations and connections.
fn find_errors(record: &RunRecord, caveats: &mut Vec<Caveat>) {
    let totals = &record.totals;
    let ledger = &totals.ledger;
    let count = ledger.failed + ledger.timed_out + ledger.disconnected;
    // Of a replay, what failed is a mismatch, and has a caveat of its own.
    if count > 0 && record.replay.is_none() {
        caveats.push(Caveat::Unsuccessful {
            count,
            scheduled: ledger.scheduled,
            most_frequent: most_frequent(record, Role::Measured),
        });
    }
    let retransmissions: u64 = totals.kinds.iter().map(|kind| kind.retransmissions).sum();
    // Those of a replay went out again over new connections, which has a caveat of its own.
    if retransmissions > 0 && record.replay.is_none() {
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
    if totals.long_listings > 0 {
        caveats.push(Caveat::LongListings {
            count: totals.long_listings,
            excess_bytes_max: totals.listing_excess_bytes_max.into(),
        });
    }
    if totals.reconnections > 0 {
        caveats.push(Caveat::Reconnected {
            times: totals.reconnections,
            unusable_ns: totals.unusable_ns,
        });
    }
}

/// What went wrong most often with the operations of a role; where there are several kinds of
/// them, with which.
pub(super) fn most_frequent(record: &RunRecord, role: Role) -> String {
    let kinds = record.totals.kinds.iter();
    let kinds: Vec<&KindRecord> = kinds.filter(|kind| kind.role == role).collect();
    let causes = kinds.iter().flat_map(|kind| {
        let ledger = &kind.ledger;
        let failures = kind.failures.iter();
        failures
            .map(|failure| (failure.count, failure.failure.as_str()))
            .chain([
                (ledger.timed_out, "timed out"),
                (ledger.disconnected, "disconnected"),
            ])
            .map(|(count, cause)| (count, cause, kind.operation))
    });
    match causes.max_by_key(|(count, ..)| *count) {
        Some((_, cause, operation)) if kinds.len() > 1 => {
            format!("{cause} of {}", operation.name())
        }
        Some((_, cause, _)) => cause.to_string(),
        None => String::new(),
    }
}

/// What a replay did not do as its load file says. Its threads work in system
/// calls, so how busy they are says nothing about who was the limit.
fn find_in_replay(record: &RunRecord, replay: &ReplayRecord, caveats: &mut Vec<Caveat>) {
    if replay.jukebox_calls > 0 {
        caveats.push(Caveat::Jukebox {
            calls: replay.jukebox_calls,
            pauses_ns: replay.jukebox_pauses_ns,
        });
    }
    if replay.mismatch_count > 0 {
        caveats.push(Caveat::Mismatches {
            count: replay.mismatch_count,
            lines: replay.lines,
        });
    }
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

/// What of an open loop's load could be achieved, in operations per second: of random arrivals
/// for a time, chance decides how many are due. `None` for a closed loop.
///
/// Of a mix through a kernel mount it is what was offered, in calls per second: what is due is
/// corrected until that many are on the wire.
pub fn due_load_ops_per_s(record: &RunRecord) -> Option<f64> {
    if wire(record).is_some() {
        return record.totals.offered_load_ops_per_s;
    }
    match record.plan.arrivals {
        ArrivalsPlan::Poisson { .. } if record.plan.count.is_none() => {
            let scheduled = record.totals.ledger.scheduled as f64;
            Some(scheduled * 1e9 / record.window_ns.max(1) as f64)
        }
        _ => record.totals.offered_load_ops_per_s,
    }
}

/// What was achieved of [`due_load_ops_per_s`]: operations that ended, or calls on the wire where those are what is
/// offered.
pub fn achieved_load_ops_per_s(record: &RunRecord) -> f64 {
    match wire(record) {
        Some(wire) => wire.calls as f64 * 1e9 / record.window_ns.max(1) as f64,
        None => record.totals.achieved_load_ops_per_s,
    }
}

/// The same as a share: 1 at most, since what was left over from the warm-up and ended in the
/// window was not due in it. More calls on the wire than were offered are more.
pub fn achieved_share(record: &RunRecord) -> Option<f64> {
    let due = due_load_ops_per_s(record).filter(|due| *due > 0.0)?;
    let share = achieved_load_ops_per_s(record) / due;
    Some(match wire(record) {
        Some(_) => share,
        None => share.min(1.0),
    })
}

/// What was seen on the wire, of a mix through a kernel mount.
fn wire(record: &RunRecord) -> Option<&WireRecord> {
    record.mix.as_ref().and_then(|mix| mix.wire.as_ref())
}

/// The share of [`due_load_ops_per_s`] below which another load was measured. How long n random
/// arrivals take has the standard deviation 1/√n of itself.
pub fn achieved_share_min(record: &RunRecord) -> f64 {
    let share = match record.plan.mix() {
        None => ACHIEVED_SHARE,
        Some(_) => ACHIEVED_SHARE_OF_MIX,
    };
    if let (Some(wire), Some(load)) = (wire(record), record.totals.offered_load_ops_per_s) {
        // What came since the last two corrections has not been evened out.
        let since = 2.0 * load * CORRECTION_NS as f64 / 1e9;
        return share / (1.0 + DEVIATIONS * since.sqrt() / wire.calls.max(1) as f64);
    }
    match (record.plan.arrivals, record.plan.count) {
        (ArrivalsPlan::Poisson { .. }, Some(count)) => {
            share / (1.0 + DEVIATIONS / (count.max(1) as f64).sqrt())
        }
        _ => share,
    }
}

/// Whether the load generator, and not the server, set the numbers.
fn find_limits(record: &RunRecord, caveats: &mut Vec<Caveat>) {
    let (plan, totals) = (&record.plan, &record.totals);
    let offered = due_load_ops_per_s(record);
    let least = achieved_share_min(record);
    let achieved_load_ops_per_s = achieved_load_ops_per_s(record);
    let is_below = offered.is_some_and(|offered| achieved_load_ops_per_s < least * offered);
    // A worker that spins is always busy; an open loop spins before due moments.
    // There being busy says nothing unless load was lost.
    let busiest = totals
        .workers
        .iter()
        .max_by(|one, other| one.busy_percent.total_cmp(&other.busy_percent));
    if let Some(worker) = busiest.filter(|worker| worker.busy_percent >= BUSY_PERCENT)
        && ((offered.is_none() && !plan.busy_poll) || is_below)
    {
        caveats.push(Caveat::GeneratorWasTheLimit {
            worker: worker.worker,
            busy_percent: worker.busy_percent.min(100.0),
            workers: plan.workers,
        });
    }
    find_waiting(record, caveats);
    if let (Some(offered_load_ops_per_s), true) =
        (offered, is_below && record.end == RunEnd::Finished)
    {
        caveats.push(Caveat::AchievedBelowOffered {
            offered_load_ops_per_s,
            achieved_load_ops_per_s,
        });
    }
    if totals.ledger.skipped > 0 {
        caveats.push(Caveat::Skipped {
            count: totals.ledger.skipped,
            scheduled: totals.ledger.scheduled,
        });
    }
    let (delay, response) = (totals.dispatch_delay_ns.mean, totals.response_time_ns.mean);
    if offered.is_some() && delay > DISPATCH_SHARE * response {
        caveats.push(Caveat::DispatchDelay {
            mean_ns: delay,
            response_time_mean_ns: response,
        });
    }
}

/// Whether threads were kept waiting for a processor.
fn find_waiting(record: &RunRecord, caveats: &mut Vec<Caveat>) {
    if let Some(processors) = &record.processors {
        return find_waiting_for(processors, record, caveats);
    }
    // Records of versions that did not look at who had the processors.
    let workers = record.totals.workers.iter();
    let starved = workers.max_by(|one, other| one.waited_percent.total_cmp(&other.waited_percent));
    if let Some(worker) = starved.filter(|worker| worker.waited_percent >= WAITED_PERCENT) {
        caveats.push(Caveat::WaitedForProcessor {
            worker: worker.worker,
            waited_percent: worker.waited_percent.min(100.0),
        });
    }
}

/// Whether other programs kept a thread waiting.
pub fn waited_for_processor(processors: &ProcessorsRecord) -> Option<Caveat> {
    let waited_percent = processors.longest_waited_by_others_percent;
    (waited_percent >= WAITED_PERCENT).then_some(Caveat::WaitedForProcessor {
        worker: processors.longest_thread,
        waited_percent: waited_percent.min(100.0),
    })
}

/// Whether threads waited, and for whom. Where the load goes to another host, those of
/// ours that wait for each other show that this host is too small for them; a server on this
/// host has a caveat of its own, and of local file systems it is the load.
fn find_waiting_for(processors: &ProcessorsRecord, record: &RunRecord, caveats: &mut Vec<Caveat>) {
    if let Some(waited) = waited_for_processor(processors) {
        caveats.push(waited);
    } else if processors.waited_percent >= WAITED_PERCENT && !record.target.local {
        caveats.push(Caveat::WaitedForOwnThreads {
            threads: processors.threads,
            processors: processors.processors,
            waited_percent: processors.waited_percent.min(100.0),
        });
    }
}

/// What makes the numbers uncertain or unfit to be quoted.
fn find_doubts(record: &RunRecord, caveats: &mut Vec<Caveat>) {
    find_transfer(record, caveats);
    let count = record.totals.response_time_ns.count;
    let quantile = [(0.99, 100), (0.999, 1000)]
        .into_iter()
        .find(|(_, one_in)| count / one_in < ABOVE_MIN);
    if let Some((quantile, one_in)) = quantile {
        caveats.push(Caveat::FewAboveQuantile {
            quantile,
            above: count / one_in,
        });
    }
    if record.window_ns < 1_000_000_000 && record.plan.count.is_none() {
        caveats.push(Caveat::ShortRun {
            window_ns: record.window_ns,
        });
    }
    if record.tool.profile == "debug" {
        caveats.push(Caveat::DebugBuild);
    }
    if record.host.clock_read_ns > CLOCK_READ_NS {
        caveats.push(Caveat::SlowClock {
            source: record.host.clock_source.clone(),
            read_ns: record.host.clock_read_ns,
        });
    }
    if record.target.local && !matches!(record.plan.target, TargetPlan::Local(_)) {
        caveats.push(Caveat::Loopback {
            built_in: record.target.built_in,
        });
    }
}

/// Whether the server cut what was asked into pieces.
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
mod tests;
