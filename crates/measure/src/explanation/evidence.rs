//! Figures of a record that the rules evaluate.

use super::generator::GeneratorPart;
use crate::measure::flow::{LittlesLaw, is_one_each};
use crate::measure::run_record::{RunOutcome, RunRecord};
use crate::measure::shortfall::Shortfall;
use crate::measure::verdict::{
    Check, CheckSubject, InconclusiveReason, Verdict, checks, generator_use,
};
use filestone_plan::plan::Pacing;
use filestone_workload::text::{counted, thousands, time_text};

/// Minimum window in nanoseconds; a shorter one does not show the state of a CPU or server.
const WINDOW_MIN_NS: u64 = 1_000_000_000;
/// Minimum number of operations; fewer depend too much on chance.
const ENDED_MIN: u64 = 30;
/// Maximum duration of an operation as a share of the window; above it, operations at the ends of
/// the window dominate.
const SERVICE_SHARE_MAX: f64 = 0.05;

/// Source of the times when operations become due.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DueTimeSource {
    /// Completion of the previous operation in the same slot.
    Closed,
    /// Offered load in operations per second.
    Offered,
    /// Rate in bytes per second of each client.
    Rate(f64),
    /// Time stamps of a load file.
    Stamps,
    /// Control loop of the run, such as a curve or a search.
    Steered,
}

/// A record, with figures that several rules use.
pub struct Evidence<'record> {
    pub record: &'record RunRecord,
    pub checks: Vec<Check>,
    pub generator: GeneratorPart,
    pub pace: DueTimeSource,
    pub flow: LittlesLaw,
}

impl<'record> Evidence<'record> {
    pub fn of(record: &'record RunRecord) -> Self {
        let checks = checks(record);
        Self {
            generator: GeneratorPart::by(record, &checks),
            pace: pace(record),
            flow: LittlesLaw::of(record),
            checks,
            record,
        }
    }

    /// Returns why the run is too short for an explanation.
    pub fn too_short(&self) -> Option<String> {
        let (window_ns, ended) = (self.record.window_ns, self.ended());
        if window_ns < WINDOW_MIN_NS {
            let window = time_text(window_ns as f64);
            return Some(format!(
                "the measured window is {window} long, of 1 s at least"
            ));
        }
        if ended < ENDED_MIN {
            let ended = counted(ended, "operation");
            return Some(format!("{ended} ended, of {ENDED_MIN} at least"));
        }
        let share = self.flow.mean_ns / window_ns as f64;
        (share > SERVICE_SHARE_MAX && self.pace != DueTimeSource::Steered).then(|| {
            format!(
                "an operation takes {} on average, and the measured window is {} long, of {} at \
                 least",
                time_text(self.flow.mean_ns),
                time_text(window_ns as f64),
                time_text(self.flow.mean_ns / SERVICE_SHARE_MAX)
            )
        })
    }

    /// Returns the number of operations that ended, measured or not.
    fn ended(&self) -> u64 {
        let kinds = self.record.totals.kinds.iter();
        kinds.map(|kind| kind.ledger.ended()).sum()
    }

    /// Returns the check of the achieved load; only of an open loop.
    pub fn achieved(&self) -> Option<&Check> {
        let mut checks = self.checks.iter();
        checks.find(|check| matches!(check.subject, CheckSubject::Achieved { .. }))
    }

    /// Returns whether the due load was achieved; for a run that ended early, until its end.
    pub fn is_load_achieved(&self) -> bool {
        self.achieved().is_some_and(|check| match check.verdict {
            Verdict::Inconclusive(InconclusiveReason::EndedEarly) => {
                check.bound.evaluate(check.figure, check.chance) == Verdict::Passes
            }
            verdict => verdict == Verdict::Passes,
        })
    }

    /// Returns the cause of a shortfall; `None` if there was none, or if the cause is unknown.
    pub fn shortfall(&self) -> Option<Shortfall> {
        let failed = self.achieved().filter(|check| check.fails())?;
        match failed.subject {
            CheckSubject::Achieved { shortfall, .. } => shortfall,
            _ => None,
        }
    }

    /// Returns whether operations took up all slots: in a closed loop, or if missing slots caused
    /// the shortfall.
    pub fn waits_for_slots(&self) -> bool {
        match self.pace {
            DueTimeSource::Closed | DueTimeSource::Rate(_) | DueTimeSource::Stamps => true,
            DueTimeSource::Offered => self.shortfall() == Some(Shortfall::Slots),
            DueTimeSource::Steered => false,
        }
    }

    /// Returns whether each client executes its operations sequentially, so that a slot is a
    /// client.
    pub fn is_one_each(&self) -> bool {
        is_one_each(self.record)
    }

    /// Returns whether the target is a directory of this host, used by system calls.
    pub fn is_directory(&self) -> bool {
        self.record.plan.target.is_directory()
    }

    /// Returns a sum over all slots as a share of their time.
    pub fn share_of_slots(&self, nanos: f64) -> f64 {
        nanos / (self.flow.slots.max(1.0) * self.record.window_ns.max(1) as f64)
    }

    /// Returns a sum over all clients as a share of their time.
    pub fn share_of_clients(&self, nanos: f64) -> f64 {
        let clients = f64::from(self.record.plan.clients.max(1));
        nanos / (clients * self.record.window_ns.max(1) as f64)
    }

    /// Describes Little's law with its figures.
    pub fn little(&self) -> String {
        let LittlesLaw {
            ops_per_s,
            mean_ns,
            has_unmeasured,
            ..
        } = self.flow;
        let unmeasured = if has_unmeasured {
            ", unmeasured operations included"
        } else {
            ""
        };
        format!(
            "{}/s × {}, Little's law{unmeasured}",
            rate(ops_per_s),
            time_text(mean_ns)
        )
    }

    /// Describes the CPU use of the load generator.
    pub fn busy(&self) -> String {
        match generator_use(self.record) {
            Some(used) => format!("{:.0} % busy", used.percent),
            None => "busy for an unknown share of the time".into(),
        }
    }

    /// Returns what is missing for an explanation when no rule applies.
    pub fn missing(&self) -> String {
        if self.record.plan.steering.is_some() {
            return self.missing_of_steered();
        }
        match self.achieved() {
            Some(check) => missing_of_load(check),
            None => self.missing_of_loop(),
        }
    }

    fn missing_of_steered(&self) -> String {
        match (self.record.end == RunOutcome::Finished, &self.record.curve) {
            (false, _) => "the run ended before it had found what it looked for".into(),
            (true, Some(_)) => {
                "its load points are too few, or their mean response times are not known well \
                 enough, to say where the curve bends; longer points (--point-duration) or more of \
                 them would"
                    .into()
            }
            (true, None) => "no load was found on either side of the objective".into(),
        }
    }

    /// Describes a loop whose slots were not all in use, although nothing else is at its limit.
    fn missing_of_loop(&self) -> String {
        let percent = 100.0 * self.flow.in_flight / self.flow.slots.max(1.0);
        let rest = match (self.pace, self.record.replay.is_some()) {
            (DueTimeSource::Stamps, _) => {
                "lines were late against their time stamps, and not so late that the clients would be \
                 the limit"
            }
            (_, true) => {
                "the rest of the time is not in the record: pauses of the load, and the clients' own \
                 work between two lines"
            }
            (_, false) => "what happened in the rest of the time is not in the record",
        };
        format!(
            "{} of the {} operations that may be in flight were, on average ({percent:.0} %; {}); {rest}",
            amount(self.flow.in_flight),
            thousands(self.flow.slots as u64),
            self.little()
        )
    }
}

/// Describes a load that was neither clearly achieved nor clearly missed.
fn missing_of_load(check: &Check) -> String {
    let achieved = |chance: &str| {
        format!(
            "{:.1} %{chance} of the load that was due was achieved",
            check.figure
        )
    };
    match check.verdict {
        Verdict::Inconclusive(InconclusiveReason::TooShort { times }) => format!(
            "{}, and {:.0} % are asked for; a run {} times as long would tell",
            achieved(&format!(" (± {:.1})", check.chance)),
            check.bound.least.unwrap_or(0.0),
            times.ceil()
        ),
        Verdict::Inconclusive(_) => {
            format!("{}, but the run ended before its time", achieved(""))
        }
        _ if check.figure > check.bound.ideal => format!(
            "{}: what ended in the window was in part the backlog of the warm-up; a longer one \
             (--warm-up) or a lower load would tell",
            achieved("")
        ),
        _ => achieved(""),
    }
}

fn pace(record: &RunRecord) -> DueTimeSource {
    if record.plan.steering.is_some() {
        return DueTimeSource::Steered;
    }
    match record.plan.replay().map(|replay| replay.pacing) {
        Some(Pacing::Rate { bytes_per_s }) => DueTimeSource::Rate(bytes_per_s),
        Some(Pacing::Stamps { .. }) => DueTimeSource::Stamps,
        Some(Pacing::Closed) => DueTimeSource::Closed,
        None if record.plan.arrivals.offered_load().is_some() => DueTimeSource::Offered,
        None => DueTimeSource::Closed,
    }
}

/// Formats a rate with thousands separators; small ones with decimals.
pub(super) fn rate(per_second: f64) -> String {
    match per_second {
        _ if per_second < 10.0 => format!("{per_second:.2}"),
        _ if per_second < 100.0 => format!("{per_second:.1}"),
        _ => thousands(per_second.round() as u64),
    }
}

/// Formats a mean number of operations with three digits.
pub(super) fn amount(number: f64) -> String {
    match number {
        _ if number < 10.0 => format!("{number:.2}"),
        _ if number < 100.0 => format!("{number:.1}"),
        _ => thousands(number.round() as u64),
    }
}
