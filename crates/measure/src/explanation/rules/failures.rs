//! Failures that took so large a part of the run that its figures describe them.

use crate::explanation::Limit;
use crate::explanation::evidence::Evidence;
use crate::measure::run_record::RunOutcome;
use crate::measure::shortfall::Shortfall;
use crate::measure::unexpected;
use filestone_workload::text::{counted, thousands, time_text};

pub(super) fn target_lost(evidence: &Evidence<'_>, _: f64) -> Option<Limit> {
    let RunOutcome::TargetLost { message } = &evidence.record.end else {
        return None;
    };
    let window_ns = evidence.record.window_ns as f64;
    let told = Limit::new(
        format!(
            "the loss of the target, which ended the run after {}: {message}",
            time_text(window_ns)
        ),
        "see what the server did at that moment",
    );
    Some(told.with("window_ns", window_ns))
}

/// An operation without a reply keeps its slot until it times out. The part within the window is
/// unknown if the timeout exceeds the window.
pub(super) fn time_outs(evidence: &Evidence<'_>, most: f64) -> Option<Limit> {
    let timed_out = evidence.record.totals.ledger.timed_out;
    let timeout_ns = evidence.record.plan.timeout_ns as f64;
    let percent = 100.0 * evidence.share_of_slots(timed_out as f64 * timeout_ns);
    if percent < most || evidence.record.plan.timeout_ns > evidence.record.window_ns {
        return None;
    }
    let told = Limit::new(
        format!(
            "time-outs: {} without an answer, given up after {} each, took {:.0} % of the time that \
             the slots had",
            counted(timed_out, "operation"),
            time_text(timeout_ns),
            percent.min(100.0)
        ),
        "find out what became of them, in the server's log and on the network: nothing else of this \
         run says much before they are gone",
    );
    Some(
        told.with("timed_out", timed_out as f64)
            .with("slot_time_percent", percent),
    )
}

/// A smaller share is not a bottleneck, unless it causes the shortfall of an open loop. In a
/// replay, failures are mismatches.
pub(super) fn errors(evidence: &Evidence<'_>, most: f64) -> Option<Limit> {
    let (count, ended) = unexpected::counts(evidence.record);
    let percent = unexpected::percent(count, ended);
    let are_missing = matches!(
        evidence.shortfall(),
        Some(Shortfall::Errors | Shortfall::Jukebox)
    );
    if evidence.record.replay.is_some() || (percent < most && !are_missing) {
        return None;
    }
    let outcomes = unexpected::outcomes(evidence.record);
    let mostly = outcomes.first().map_or_else(String::new, |most| {
        format!(", mostly {} of {}", most.outcome, most.operation.name())
    });
    let told = Limit::new(
        format!(
            "errors: {} of {} ({percent:.1} %) ended otherwise than expected{mostly}; they are neither in \
             the achieved load nor among the response times",
            thousands(count),
            counted(ended, "operation"),
        ),
        "mend what makes them fail, then measure again: to refuse an operation is often less work for \
         a server than to do it",
    );
    Some(
        told.with("unsuccessful", count as f64)
            .with("ended", ended as f64)
            .with("unsuccessful_percent", percent),
    )
}

pub(super) fn mismatches(evidence: &Evidence<'_>, most: f64) -> Option<Limit> {
    let replay = evidence.record.replay.as_ref()?;
    let (count, lines) = (replay.mismatch_count, replay.lines);
    let percent = 100.0 * count as f64 / lines.max(1) as f64;
    if percent < most {
        return None;
    }
    let told = Limit::new(
        format!(
            "results other than the load file expects: {} of {} ({percent:.1} %), so that the \
             target did other work than the load's",
            thousands(count),
            counted(lines, "line"),
        ),
        "see the table of mismatches, which names the lines, and mend the load or the target first",
    );
    Some(
        told.with("mismatches", count as f64)
            .with("lines", lines as f64),
    )
}

pub(super) fn lost_clients(evidence: &Evidence<'_>, most: f64) -> Option<Limit> {
    let record = evidence.record;
    let replay = record.replay.as_ref();
    let of_replay = replay.map(|replay| {
        let clients = replay.clients.iter();
        clients.filter(|client| client.lost.is_some()).count() as u64
    });
    let lost = of_replay.unwrap_or(record.totals.lost_clients);
    let clients = u64::from(record.plan.clients);
    let percent = 100.0 * lost as f64 / clients.max(1) as f64;
    if percent < most {
        return None;
    }
    let told = Limit::new(
        format!(
            "the loss of clients: {} of {} ({percent:.0} %) ended early, and their load is missing \
             from then on",
            thousands(lost),
            counted(clients, "client"),
        ),
        "see why the first of them ended, and measure again when none does",
    );
    Some(
        told.with("lost_clients", lost as f64)
            .with("clients", clients as f64),
    )
}

/// Clients of a replay wait and retry; in other runs such a reply is an error.
pub(super) fn jukebox(evidence: &Evidence<'_>, most: f64) -> Option<Limit> {
    let replay = evidence.record.replay.as_ref()?;
    let percent = 100.0 * evidence.share_of_clients(replay.jukebox_pauses_ns as f64);
    if percent < most {
        return None;
    }
    let told = Limit::new(
        format!(
            "calls that the server put off (NFS3ERR_JUKEBOX): {}, and the pauses before they were made \
             again took {percent:.0} % of the clients' time",
            counted(replay.jukebox_calls, "call"),
        ),
        "look for what keeps the server: a tape, a lease, its grace period",
    );
    Some(
        told.with("jukebox_calls", replay.jukebox_calls as f64)
            .with("client_time_percent", percent),
    )
}

pub(super) fn connections(evidence: &Evidence<'_>, most: f64) -> Option<Limit> {
    let totals = &evidence.record.totals;
    let percent = 100.0 * evidence.share_of_clients(totals.disconnected_ns as f64);
    if percent < most {
        return None;
    }
    let told = Limit::new(
        format!(
            "connections that were down for {percent:.0} % of the clients' time; {} made again",
            counted(totals.reconnections, "connection"),
        ),
        "look for what cuts them: the server's log, a firewall, the network",
    );
    Some(
        told.with("client_time_percent", percent)
            .with("reconnections", totals.reconnections as f64),
    )
}
