//! Selects a client's next operation and its time.
//!
//! ```text
//!   closed      at once
//!   open        when it is due: one pause of the group's length after the previous due time
//!   nhfsstone   after a pause that begins when the previous operation has ended
//! ```

use super::caller::SyscallResult;
use filestone_measure::measure::mix_record::CorrectionRecord;
use filestone_plan::mix::feedback::nhfsstone::{
    self, FIRST_SAMPLE_SECONDS, LoadParameters, Process, ProcessAction,
};
use filestone_plan::mix::feedback::{Group, ProcedureCounts};
use filestone_plan::plan::{ArrivalsPlan, FeedbackArithmetic, MixPlan, Plan};
use filestone_workload::operation::OpKind;
use filestone_workload::random::{Generator, RandomStream, RngExt, exponential, stream};
use filestone_workload::time::Timestamp;

/// Maximum number of operations per client that are counted as due but not started.
const SKIPPED_MAX: u64 = 10_000_000;

/// Paces one client.
pub(super) struct ClientPacer {
    pace: Pace,
    /// Random intervals between due times.
    arrivals: Generator,
    /// Random selection of operations.
    deck: Generator,
}

enum Pace {
    Closed,
    Open { due_ns: f64, is_poisson: bool },
    Nhfsstone { process: Box<Process>, random: u64 },
}

impl ClientPacer {
    /// Creates the pacer of a client of `plan`, whose group begins with this mean pause.
    pub fn new(plan: &Plan, mix: &MixPlan, client: u32, pause_ns: f64) -> Self {
        let mut arrivals = stream(plan.seed, RandomStream::Arrivals, client.into());
        let mut deck = stream(plan.seed, RandomStream::Deck, client.into());
        let load = plan.arrivals.offered_load();
        let pace = match (mix.local.arithmetic, load, plan.arrivals) {
            (_, None, _) | (_, _, ArrivalsPlan::Closed | ArrivalsPlan::Levels(_)) => Pace::Closed,
            (FeedbackArithmetic::Nhfsstone, Some(load), _) => {
                let seconds = arrivals.random_range(0..FIRST_SAMPLE_SECONDS);
                let process = Process::new(task(plan, mix, load), 1000 * seconds);
                Pace::Nhfsstone {
                    process: Box::new(process),
                    random: number(&mut deck),
                }
            }
            (FeedbackArithmetic::Exact, _, ArrivalsPlan::Constant { .. }) => Pace::Open {
                due_ns: pause_ns * f64::from(client) / f64::from(plan.clients.max(1)),
                is_poisson: false,
            },
            (FeedbackArithmetic::Exact, _, ArrivalsPlan::Poisson { .. }) => Pace::Open {
                due_ns: exponential(&mut arrivals, pause_ns),
                is_poisson: true,
            },
        };
        Self {
            pace,
            arrivals,
            deck,
        }
    }

    /// Returns the due time of the next operation, for a client that became free at `free_at`.
    pub fn due(&self, free_at: Timestamp) -> Timestamp {
        match &self.pace {
            Pace::Closed => free_at,
            Pace::Open { due_ns, .. } => Timestamp::from_nanos(due_ns.round() as u64),
            Pace::Nhfsstone { process, random } => {
                free_at.after_nanos(process.sleep_ms(*random).saturating_mul(1_000_000))
            }
        }
    }

    /// Selects the kind of the next operation.
    pub fn choose(&mut self, group: &mut Group) -> Option<OpKind> {
        match &self.pace {
            Pace::Closed | Pace::Open { .. } => group.choose(self.deck.random()),
            Pace::Nhfsstone { process, random } => process.choose(*random),
        }
    }

    /// Advances to the next operation. nhfsstone's arithmetic counts claimed calls, including those
    /// that keep the set balanced. The original claimed one more READ at the end of a file and two
    /// more calls after a write; its system calls made these, filestone's do not.
    pub fn end(&mut self, claimed: &[SyscallResult], pause_ns: f64) {
        self.advance(pause_ns);
        if let Pace::Nhfsstone { process, random } = &mut self.pace {
            for (kind, calls) in claimed.iter().flat_map(|done| done.claims) {
                process.claim(kind, calls);
            }
            *random = number(&mut self.deck);
        }
    }

    fn advance(&mut self, mean_ns: f64) {
        if let Pace::Open { due_ns, is_poisson } = &mut self.pace {
            *due_ns += if *is_poisson {
                exponential(&mut self.arrivals, mean_ns)
            } else {
                mean_ns
            };
        }
    }

    /// Whether the pacer detects the end of the run itself.
    pub fn counts_by_itself(&self) -> bool {
        matches!(self.pace, Pace::Nhfsstone { .. })
    }

    /// With nhfsstone's arithmetic, returns whether the counters must be read after an operation
    /// that ended at `now`.
    pub fn wants_counters(&mut self, now: Timestamp) -> bool {
        match &mut self.pace {
            Pace::Closed | Pace::Open { .. } => false,
            Pace::Nhfsstone { process, .. } => {
                process.end() == ProcessAction::Clock && process.is_due(milliseconds(now))
            }
        }
    }

    /// With nhfsstone's arithmetic, makes a correction from the counters; `None` at the end of the
    /// run.
    pub fn correct(&mut self, now: Timestamp, seen: &ProcedureCounts) -> Option<CorrectionRecord> {
        match &mut self.pace {
            Pace::Closed | Pace::Open { .. } => None,
            Pace::Nhfsstone { process, .. } => process.correct(milliseconds(now), seen),
        }
    }

    /// Returns the number of operations still due between `opened` and `end`, and skips them.
    pub fn skip(&mut self, opened: Timestamp, end: Timestamp, pause_ns: f64) -> u64 {
        let mut count = 0;
        while pause_ns > 0.0 && count < SKIPPED_MAX {
            let Pace::Open { due_ns, .. } = &self.pace else {
                break;
            };
            let due = Timestamp::from_nanos(due_ns.round() as u64);
            if due >= end {
                break;
            }
            count += u64::from(due >= opened);
            self.advance(pause_ns);
        }
        count
    }
}

/// Returns the equivalent parameters of nhfsstone.
fn task(plan: &Plan, mix: &MixPlan, load: f64) -> LoadParameters {
    let seconds = plan.duration_ns.map(|nanos| nanos as f64 / 1e9);
    let by_time = seconds.map_or(u64::MAX, |seconds| (seconds * load).round() as u64);
    LoadParameters {
        processes: plan.clients,
        load: (load.round() as u32).max(1),
        calls: plan.count.unwrap_or(by_time),
        percents: match mix.calls {
            Some(calls) => nhfsstone::percents_of(&mix.counts, calls.into()),
            None => nhfsstone::percents(&mix.counts),
        },
    }
}

/// Returns a random number in the range of random(3).
fn number(generator: &mut Generator) -> u64 {
    generator.random::<u64>() >> 33
}

fn milliseconds(now: Timestamp) -> i64 {
    i64::try_from(now.nanos() / 1_000_000).unwrap_or(i64::MAX)
}
