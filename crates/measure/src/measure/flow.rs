//! Operations in flight, and their maximum.

use super::run_record::{KindRecord, RunRecord};
use filestone_workload::recording::sample::Role;

/// Share of slots in use, in percent, from which all slots count as in use.
pub const SLOTS_TAKEN_PERCENT: f64 = 90.0;

/// Operations in flight, by Little's law: rate × mean time = number in flight. Unmeasured
/// operations are included, for they use slots, too.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LittlesLaw {
    /// Operations that ended per second.
    pub ops_per_s: f64,
    /// Mean time from sent to done.
    pub mean_ns: f64,
    /// Mean number of operations in flight.
    pub in_flight: f64,
    /// Maximum number of operations in flight.
    pub slots: f64,
    /// Whether unmeasured operations are among them.
    pub has_unmeasured: bool,
}

impl LittlesLaw {
    /// Computes the values for the window of a run.
    pub fn of(record: &RunRecord) -> Self {
        let kinds = &record.totals.kinds;
        // Failed operations used slots, too.
        let (count, sum) = kinds.iter().fold((0, 0.0), |(count, sum), kind| {
            let (times, failed) = (&kind.service_time_ns, kind.failed_service_sum_ns);
            (
                count + times.count + kind.failed_time_ns.count,
                sum + times.sum as f64 + failed as f64,
            )
        });
        let window_ns = record.window_ns.max(1) as f64;
        let is_unmeasured =
            |kind: &KindRecord| kind.role == Role::Unmeasured && kind.ledger.ended() > 0;
        let slots = slots(record);
        let mean_ns = sum / count.max(1) as f64;
        // Operations left over by the warm-up used slots, too, though their times are not counted.
        let left_over = record.totals.left_over(record.window_ns).max(0);
        let ops_per_s = (count as f64 + left_over as f64) * 1e9 / window_ns;
        Self {
            ops_per_s,
            mean_ns,
            // Operations that end after the window count in full, so that the result may be
            // slightly too high.
            in_flight: (ops_per_s * mean_ns / 1e9).min(slots),
            slots,
            has_unmeasured: kinds.iter().any(is_unmeasured),
        }
    }

    /// Returns whether at least `percent` of the slots were in use on average.
    pub fn takes(&self, percent: f64) -> bool {
        100.0 * self.in_flight >= percent * self.slots
    }
}

/// Share of its speed, in percent, from which a link is full: headers of TCP and IP come on top.
pub const LINK_FULL_PERCENT: f64 = 85.0;

/// Use of the link to the server in the direction with more traffic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkUse {
    /// Whether the direction is that of sent messages.
    pub is_sent: bool,
    /// Rate of messages in megabits per second.
    pub mbit_per_s: f64,
    /// Reported speed of the link in megabits per second.
    pub speed_mbit_per_s: f64,
}

impl LinkUse {
    /// Computes the use of the link; `None` if this host does not report its speed.
    pub fn of(record: &RunRecord) -> Option<Self> {
        let speed = f64::from(record.target.link_mbit_per_s?);
        let kinds = || record.totals.kinds.iter();
        let seconds = record.window_ns.max(1) as f64 / 1e9;
        let mbit_per_s = |bytes: u64| bytes as f64 * 8.0 / 1e6 / seconds;
        let sent = mbit_per_s(kinds().map(|kind| kind.bytes_sent).sum());
        let received = mbit_per_s(kinds().map(|kind| kind.bytes_received).sum());
        Some(Self {
            is_sent: sent > received,
            mbit_per_s: sent.max(received),
            speed_mbit_per_s: speed,
        })
    }

    /// Returns the share of the link's speed, in percent.
    pub fn percent(&self) -> f64 {
        100.0 * self.mbit_per_s / self.speed_mbit_per_s
    }
}

/// Returns whether each client executes its operations sequentially, as in a replay or a directory,
/// so that a slot is a client.
pub fn is_one_each(record: &RunRecord) -> bool {
    record.plan.has_lines() || record.plan.target.is_directory()
}

fn slots(record: &RunRecord) -> f64 {
    let plan = &record.plan;
    let each = if is_one_each(record) {
        1
    } else {
        plan.in_flight
    };
    f64::from(plan.clients) * f64::from(each)
}
