//! Publishes what the observer of a run receives.

use crate::event::{
    CaveatText, Changed, Event, Failures, IntervalFigures, LatencySummary, NoteText,
    OperationFigures, Point, PointFigure, ReplayProgress, RunBegun, RunEnded, ServerShare,
    SourceRates, SteeringStatus,
};
use crate::feed::Feed;
use filestone_control::load_control::{RemainingTime, SteeredPoint};
use filestone_host::control::{GeneratorUsage, Observer, ServerRates};
use filestone_host::control_socket::FleetControl;
use filestone_host::system;
use filestone_measure::measure::fleet_record::ChangeRecord;
use filestone_measure::measure::progress::{Progress, ProgressPhase};
use filestone_measure::measure::run_record::{IntervalRecord, KindRecord, RunOutcome, Target};
use filestone_measure::measure::{Caveat, RunRecord, Validity};
use filestone_plan::plan::Plan;
use filestone_workload::recording::sample::Role;
use std::cmp::Reverse;
use std::sync::Arc;

/// Maximum number of failures listed per run.
const FAILURES_MAX: usize = 100;

/// Observer that publishes the events of one run.
pub struct Publisher {
    feed: Feed,
    number: u32,
    /// Usage of the load generator in the interval that comes next.
    share: Option<GeneratorUsage>,
    /// Number of loads measured.
    points: u32,
}

impl Publisher {
    /// Publishes the start of run `number` of a command; `name` is empty for a single run.
    pub fn start(feed: &Feed, number: u32, name: &str, plan: &Plan) -> Self {
        feed.publish(Event::RunBegun(Arc::new(RunBegun {
            number,
            name: name.into(),
            plan: plan.clone(),
        })));
        Self {
            feed: feed.clone(),
            number,
            share: None,
            points: 0,
        }
    }

    /// Publishes that the run has ended. `advice` returns the help text of a caveat.
    pub fn end(self, record: &RunRecord, advice: &dyn Fn(&Caveat) -> Option<String>) {
        let ended = ended(self.number, record, advice);
        self.feed.publish(Event::RunEnded(Arc::new(ended)));
    }

    /// Publishes that the run failed and has no record.
    pub fn fail(self, why: &str) {
        let ended = RunEnded {
            number: self.number,
            end: "failed".into(),
            validity: String::new(),
            why: Some(why.into()),
            caveats: vec![],
            window_ns: 0,
            all: OperationFigures::default(),
            achieved_load_ops_per_s: 0.0,
            failures: vec![],
        };
        self.feed.publish(Event::RunEnded(Arc::new(ended)));
    }
}

impl Observer for Publisher {
    fn preparing(&mut self, what: &str) {
        let what = what.into();
        self.feed.publish(Event::Preparing(NoteText { what }));
    }

    fn note(&mut self, what: &str) {
        let what = what.into();
        self.feed.publish(Event::Remark(NoteText { what }));
    }

    fn prepared(&mut self, target: &Target) {
        let target = Arc::new(target.clone());
        self.feed.publish(Event::Prepared(target));
    }

    fn wants_generator(&self) -> bool {
        true
    }

    fn generator(&mut self, share: &GeneratorUsage) {
        self.share = Some(share.clone());
    }

    fn interval(&mut self, record: &IntervalRecord) {
        let share = self.share.take();
        let figures = IntervalFigures {
            resident_bytes: system::resident_bytes(),
            dispatch_delay_ns: share.and_then(|share| LatencySummary::of(&share.dispatch_delay_ns)),
            ..IntervalFigures::of(record)
        };
        self.feed.publish(Event::Interval(Arc::new(figures)));
    }

    fn steering(&mut self, what: &str, left: Option<RemainingTime>) {
        self.feed
            .publish(Event::Steering(SteeringStatus::new(what, left)));
    }

    fn point(&mut self, point: &SteeredPoint) {
        self.points += 1;
        let figure = |name: &str, unit: &str, value: f64, half: Option<f64>| PointFigure {
            name: name.into(),
            unit: unit.into(),
            value,
            low: half.map(|half| value - half),
            high: half.map(|half| value + half),
        };
        let achieved = figure("achieved", "ops/s", point.achieved_load_ops_per_s, None);
        let times = point.response_times_ns.iter();
        let times = times.map(|(name, value, half)| figure(name, "ns", *value, *half));
        self.feed.publish(Event::Point(Arc::new(Point {
            series: format!("load points, run {}", self.number),
            name: format!(
                "{}: {:.0}/s, {}",
                self.points, point.offered_load_ops_per_s, point.part
            ),
            part: point.part.into(),
            at: Some(point.offered_load_ops_per_s),
            axis: "offered load".into(),
            runs: 1,
            figures: std::iter::once(achieved).chain(times).collect(),
        })));
    }

    fn progress(&mut self, progress: &Progress) {
        let phase = match progress.phase {
            ProgressPhase::WarmUp => "warm-up",
            ProgressPhase::Execute => "execute",
            ProgressPhase::CleanUp => "clean-up",
        };
        self.feed.publish(Event::Progress(ReplayProgress {
            phase: phase.into(),
            clients: progress.clients,
            line: progress.line,
            bytes_per_s: progress.bytes_per_s,
            seconds: progress.seconds,
            response_time_max_ns: progress.latency_max_ns,
        }));
    }

    fn server(&mut self, rates: &[ServerRates]) {
        let source = |rates: &ServerRates| {
            let per_s = rates.per_s.iter();
            let per_s = per_s.map(|(counter, rate)| (counter.name().to_owned(), *rate));
            SourceRates {
                source: rates.source.clone(),
                per_s: per_s.collect(),
            }
        };
        let sources = rates.iter().map(source).collect();
        let share = ServerShare { sources };
        self.feed.publish(Event::Server(Arc::new(share)));
    }

    fn controllable(&mut self, control: &FleetControl) {
        self.feed.controllable(control.clone());
    }

    fn changed(&mut self, change: &ChangeRecord) {
        let clients = change.clients;
        let settings = change.settings.iter();
        let settings: Vec<String> = settings
            .map(|setting| format!("{} {} → {}", setting.key, setting.from, setting.to))
            .collect();
        let which = format!(
            "{} {}: {clients} clients",
            change.action.name(),
            change.selector
        );
        let what = [which, settings.join(", ")];
        let what: Vec<String> = what.into_iter().filter(|part| !part.is_empty()).collect();
        self.feed.publish(Event::Changed(Arc::new(Changed {
            number: change.number,
            at_ns: change.sent_ns,
            what: what.join("; "),
        })));
    }
}

/// Converts the record of a run into the event of its end.
fn ended(number: u32, record: &RunRecord, advice: &dyn Fn(&Caveat) -> Option<String>) -> RunEnded {
    let text_of = |caveat: &Caveat| CaveatText {
        id: caveat.id().into(),
        sentence: caveat.sentence().0,
        help: advice(caveat),
    };
    let end = match &record.end {
        RunOutcome::Finished => "finished",
        RunOutcome::Interrupted => "interrupted",
        RunOutcome::TargetLost { .. } => "target-lost",
    };
    let why = match &record.end {
        RunOutcome::TargetLost { message } => Some(message.clone()),
        RunOutcome::Finished | RunOutcome::Interrupted => None,
    };
    let validity = record.validity.map(Validity::name);
    let totals = &record.totals;
    let measured = |kind: &&KindRecord| kind.role == Role::Measured;
    RunEnded {
        number,
        end: end.into(),
        validity: validity.unwrap_or_default().into(),
        why,
        caveats: record.caveats.iter().map(text_of).collect(),
        window_ns: record.window_ns,
        all: OperationFigures {
            scheduled: totals.ledger.scheduled,
            ok: totals.ledger.ok,
            unsuccessful: totals.ledger.unsuccessful(),
            skipped: totals.ledger.skipped,
            data_bytes: totals
                .kinds
                .iter()
                .filter(measured)
                .map(|kind| kind.data_bytes)
                .sum(),
            response_time_ns: LatencySummary::of(&totals.response_time_ns),
        },
        achieved_load_ops_per_s: totals.achieved_load_ops_per_s,
        failures: failures(&totals.kinds),
    }
}

fn failures(kinds: &[KindRecord]) -> Vec<Failures> {
    let of_kind = |kind: &KindRecord| -> Vec<Failures> {
        let failures = kind.failures.iter().map(|failure| Failures {
            operation: kind.operation.name().into(),
            failure: failure.failure.clone(),
            count: failure.count,
        });
        failures.collect()
    };
    let mut all: Vec<Failures> = kinds.iter().flat_map(of_kind).collect();
    all.sort_by_key(|failures| Reverse(failures.count));
    all.truncate(FAILURES_MAX);
    all
}

#[cfg(test)]
pub(crate) fn plan_of_tests() -> Plan {
    use filestone_plan::plan::{LocalTarget, ReplayPlan, TargetPlan, WorkloadPlan};
    use filestone_workload::operation::OpKind;
    let target = TargetPlan::Local(LocalTarget { directory: None });
    let replay = ReplayPlan::new(vec![], vec![OpKind::GetAttr]);
    Plan::new("replay", target, WorkloadPlan::LoadFile(replay), 1)
}
