//! Rules about the network path to the server.

use crate::explanation::Limit;
use crate::explanation::evidence::{DueTimeSource, Evidence};
use crate::measure::flow::LinkUse;
use crate::measure::run_record::KindRecord;
use filestone_workload::text::{counted, thousands, time_text};

/// Maximum number of connections; with more made at a time they wait for each other, so that the
/// connect time is not that of the path.
const CONNECTIONS_MAX: u64 = 16;

/// Bytes of messages relative to the speed of the link. Headers of TCP and IP add a few percent.
pub(super) fn link(evidence: &Evidence<'_>, most: f64) -> Option<Limit> {
    let used = LinkUse::of(evidence.record)?;
    let (moved, speed) = (used.mbit_per_s, used.speed_mbit_per_s);
    let verb = if used.is_sent { "sent" } else { "received" };
    let percent = used.percent();
    if percent < most {
        return None;
    }
    let told = Limit::new(
        format!(
            "the network: {} Mbit/s of messages were {verb} over a link of {} Mbit/s ({percent:.0} %, \
             without the headers of TCP and IP)",
            thousands(moved.round() as u64),
            thousands(speed as u64)
        ),
        "a faster link or a second one; what the server could do beyond it does not show here",
    );
    Some(
        told.with("moved_mbit_per_s", moved)
            .with("link_mbit_per_s", speed),
    )
}

/// A replay over TCP retransmits over new connections, which is a different case.
pub(super) fn retransmissions(evidence: &Evidence<'_>, most: f64) -> Option<Limit> {
    let kinds = || evidence.record.totals.kinds.iter();
    let again: u64 = kinds().map(|kind| kind.retransmissions).sum();
    let calls: u64 = kinds().map(|kind| kind.calls).sum();
    let percent = 100.0 * again as f64 / calls.max(1) as f64;
    let is_replay_over_tcp =
        evidence.record.replay.is_some() && !evidence.record.plan.target.is_udp();
    if is_replay_over_tcp || percent < most {
        return None;
    }
    let told = Limit::new(
        format!(
            "the network, or a server that drops calls: {} of {} ({percent:.1} %) were sent again \
             because no reply came in time",
            thousands(again),
            counted(calls, "call")
        ),
        "look for loss at both ends (netstat -s), then measure again",
    );
    Some(
        told.with("retransmissions", again as f64)
            .with("calls", calls as f64),
    )
}

/// Connecting takes one round trip that the server's kernel answers: the time of an operation
/// beyond that is spent in the server.
pub(super) fn round_trip(evidence: &Evidence<'_>, most: f64) -> Option<Limit> {
    let record = evidence.record;
    let made = record.connections.as_ref();
    let made = made.filter(|made| (1..=CONNECTIONS_MAX).contains(&made.made))?;
    let is_sequential = matches!(evidence.pace, DueTimeSource::Closed);
    if record.target.local || !is_sequential || !is_one_call_each(&record.totals.kinds) {
        return None;
    }
    let way_ns = made.connect_time_p50_ns as f64;
    let operation_ns = record.totals.service_time_ns.p50 as f64;
    let percent = 100.0 * way_ns / operation_ns.max(1.0);
    if percent < most {
        return None;
    }
    let told = Limit::new(
        format!(
            "the way to the server: to make a connection, which is one round trip, took {} at the \
             median, and an operation {}",
            time_text(way_ns),
            time_text(operation_ns)
        ),
        "measure from a host that is nearer to see the server's own time; more in flight hides the \
         way, but shortens nothing",
    );
    Some(
        told.with("connect_time_p50_ns", way_ns)
            .with("service_time_p50_ns", operation_ns),
    )
}

fn is_one_call_each(kinds: &[KindRecord]) -> bool {
    let measured = || kinds.iter().filter(|kind| kind.ledger.ended() > 0);
    measured().count() > 0 && measured().all(|kind| kind.calls <= kind.ledger.ended())
}
