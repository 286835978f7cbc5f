//! Sentence at the top of a report whose load differs from the offered one.

use super::units::{calls_per_second, operations_per_second};
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::Shortfall;
use filestone_measure::measure::flow::LittlesLaw;
use filestone_measure::measure::verdict::{self, CheckSubject};
use filestone_workload::text::thousands;

/// Relative difference above which two rates are printed separately.
const SAME_RATE: f64 = 0.02;

/// The layers between a system call and the server take time, too.
const OF_MOUNT: &str = "The mount, or the server behind it, did not keep up with the offered load";

/// Returns the sentence; `None` if the load was achieved, or if the check is inconclusive.
pub fn sentence(record: &RunRecord) -> Option<String> {
    let checks = verdict::checks(record);
    let mut failed = checks.iter().filter(|check| check.fails());
    failed.find_map(|check| match check.subject {
        CheckSubject::Achieved {
            due_ops_per_s,
            achieved_ops_per_s,
            left_over,
            shortfall,
        } => {
            let who = match shortfall {
                Some(cause) => below(record, cause),
                None => above(record, left_over),
            };
            let achieved = achieved_ops_per_s;
            let rates = two_rates(record, achieved);
            let rate = if record.is_in_calls() {
                calls_per_second
            } else {
                operations_per_second
            };
            let of = format!("{} of {}", rate(achieved), rate(due_ops_per_s));
            let share = 100.0 * achieved / due_ops_per_s;
            Some(format!("{who}: {of} ({share:.1} %){rates}"))
        }
        _ => None,
    })
}

fn below(record: &RunRecord, cause: Shortfall) -> String {
    let who = match cause {
        Shortfall::Errors => "Operations that failed are missing from the offered load",
        Shortfall::Jukebox => {
            "The server asked to be called again later (NFS3ERR_JUKEBOX), and what it put off is \
             missing from the offered load"
        }
        Shortfall::Link => "The link to the server was full, and the offered load was not achieved",
        Shortfall::Connection => "Connections were down, and the offered load was not achieved",
        Shortfall::Generator => "The load generator did not keep up with the offered load",
        Shortfall::Slots => return all_taken(record),
        Shortfall::Server if record.is_in_calls() => OF_MOUNT,
        Shortfall::Server => "The server did not keep up with the offered load",
    };
    who.into()
}

/// Explains that all slots were in use; one run does not show whether more in flight would have
/// been answered.
fn all_taken(record: &RunRecord) -> String {
    format!(
        "As many operations were in flight as may be ({}), and the offered load was not achieved",
        thousands(LittlesLaw::of(record).slots as u64)
    )
}

fn above(record: &RunRecord, left_over: i64) -> String {
    if left_over < 1 {
        return "More was done than was offered".into();
    }
    let who = match verdict::of_warm_up(record) {
        Shortfall::Generator => "load generator",
        _ => "server",
    };
    format!(
        "The {who} did not keep up in the warm-up, and {} operations of it ended in the window",
        thousands(left_over.unsigned_abs())
    )
}

/// Explains the rate of operations due in the window and the rate of those that ended in it, which
/// differ in an overload.
fn two_rates(record: &RunRecord, achieved_ops_per_s: f64) -> String {
    let seconds = record.window_ns.max(1) as f64 / 1e9;
    let of_window = record.totals.ledger.ended() as f64 / seconds;
    let is_same = (of_window - achieved_ops_per_s).abs() <= SAME_RATE * achieved_ops_per_s;
    if is_same || record.is_in_calls() {
        return String::new();
    }
    format!(
        ". Tables and percentiles are of what was due in the window, {} of them; the achieved load \
         is what ended in it",
        operations_per_second(of_window)
    )
}
