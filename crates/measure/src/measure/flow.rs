//! Operations under way, and how many may be.

use super::run_record::{KindRecord, RunRecord};
use super::sample::Role;

/// From this share of all slots on they are all taken, in percent.
pub const SLOTS_TAKEN_PERCENT: f64 = 90.0;

/// Operations under way, by Little's law: rate × mean time = number in flight. Operations that are
/// not measured are among them, for they have slots, too.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LittlesLaw {
    /// Operations that ended per second.
    pub ops_per_s: f64,
    /// Mean time from sent to done.
    pub mean_ns: f64,
    /// Operations in flight on average.
    pub in_flight: f64,
    /// Operations that may be in flight.
    pub slots: f64,
    /// Whether there are unmeasured ones among them.
    pub has_unmeasured: bool,
}

impl LittlesLaw {
    /// Of a run's window.
    pub fn of(record: &RunRecord) -> Self {
        let kinds = &record.totals.kinds;
        // Those that did not end well had slots, too.
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
        // What the warm-up left over had slots, too, though its times are not among those counted.
        let left_over = record.totals.left_over(record.window_ns).max(0);
        let ops_per_s = (count as f64 + left_over as f64) * 1e9 / window_ns;
        Self {
            ops_per_s,
            mean_ns,
            // What ends after the window counts in full, so that it may come out a little more.
            in_flight: (ops_per_s * mean_ns / 1e9).min(slots),
            slots,
            has_unmeasured: kinds.iter().any(is_unmeasured),
        }
    }

    /// Whether so many percent of the slots, or more, were taken on average.
    pub fn takes(&self, percent: f64) -> bool {
        100.0 * self.in_flight >= percent * self.slots
    }
}

/// From this share of its speed on a link is full, in percent: headers of TCP and IP come on top.
pub const LINK_FULL_PERCENT: f64 = 85.0;

/// What went over the link to the server in the direction that had more of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkUse {
    /// Whether that is what was sent.
    pub is_sent: bool,
    /// Bytes of messages.
    pub mbit_per_s: f64,
    /// What the link's speed is said to be.
    pub speed_mbit_per_s: f64,
}

impl LinkUse {
    /// `None` if this host does not say how fast it is.
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

    /// The share of its speed, in percent.
    pub fn percent(&self) -> f64 {
        100.0 * self.mbit_per_s / self.speed_mbit_per_s
    }
}

/// Whether a client does one thing after the other, as one of a replay or of a directory does: a
/// slot is a client.
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
