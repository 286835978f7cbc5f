//! Values of figures in one run: of whole runs, such as costs, and those of a ladder's rungs.

use super::ComparedRun;
use crate::cost::{CostCounter, MeasuredAt};
use crate::figure::FigureSample;
use crate::measure::RecordedInterval;
use crate::measure::cost_totals;
use crate::measure::figures::accuracy::time;
use crate::measure::stamps::{StampedTime, StampsRecord};
use filestone_plan::gate::{GateFigure, RunTotal};
use filestone_plan::plan::{Plan, unmeasured_for};
use filestone_workload::figure::{Quantity, RunFigure, Statistic, TimeKind};

/// Figures of whole runs of the points of a sweep, if their runs have them: not figures of
/// operations, but the CPU use of the load generator, or counters of other hosts.
pub const TOTALS: [RunTotal; 10] = [
    RunTotal::GeneratorBusy,
    RunTotal::WireBytes,
    RunTotal::WirePackets,
    RunTotal::ReplyPackets,
    RunTotal::ModelReplyPackets,
    RunTotal::WireRate,
    RunTotal::ServerCpu,
    RunTotal::ServerBusy,
    RunTotal::ServerSwitches,
    RunTotal::ServerInterrupts,
];

/// Figures that a ladder reports for each rung.
pub const LADDER_FIGURES: [GateFigure; 14] = [
    of_time(TimeKind::Response, Statistic::Mean),
    of_time(TimeKind::Response, Statistic::P50),
    of_time(TimeKind::Response, Statistic::P99),
    GateFigure::OfRun(RunTotal::QueueTime),
    EXCHANGE,
    GateFigure::OfRun(RunTotal::KernelOutTime),
    GateFigure::OfRun(RunTotal::BeyondTime),
    GateFigure::OfRun(RunTotal::KernelInTime),
    GateFigure::OfRun(RunTotal::ElsewhereTime),
    GateFigure::OfRun(RunTotal::ServerCpu),
    GateFigure::OfRun(RunTotal::ServerSwitches),
    GateFigure::OfRun(RunTotal::ServerInterrupts),
    GateFigure::OfRun(RunTotal::WireBytes),
    GateFigure::OfRun(RunTotal::WirePackets),
];

/// sent → done: from the system call that sends the call to the one that returns its reply.
const EXCHANGE: GateFigure = of_time(TimeKind::Service, Statistic::Mean);

const fn of_time(kind: TimeKind, statistic: Statistic) -> GateFigure {
    GateFigure::OfOperations(RunFigure::of_all(Quantity::Time(kind, statistic)))
}

impl ComparedRun {
    /// Returns the values of [`TOTALS`] and [`LADDER_FIGURES`] that the run has.
    pub fn samples(&self) -> Vec<(GateFigure, FigureSample)> {
        let all = TOTALS.map(GateFigure::OfRun).into_iter();
        let all = all.chain(LADDER_FIGURES);
        all.filter_map(|figure| Some((figure, self.sample(figure)?)))
            .collect()
    }

    /// Returns the value of a time or of a figure of whole runs, if the run has one.
    fn sample(&self, figure: GateFigure) -> Option<FigureSample> {
        match figure {
            GateFigure::OfOperations(figure) => self.time(&figure),
            GateFigure::OfRun(RunTotal::QueueTime) => {
                let waits = [&self.totals.slot_wait_ns, &self.totals.dispatch_delay_ns];
                self.if_any(exactly(waits.map(|wait| wait.mean).iter().sum()))
            }
            GateFigure::OfRun(RunTotal::KernelOutTime) => self.stamped(|times| times.kernel_out_ns),
            GateFigure::OfRun(RunTotal::BeyondTime) => self.stamped(|times| times.beyond_ns),
            GateFigure::OfRun(RunTotal::KernelInTime) => self.stamped(|times| times.kernel_in_ns),
            GateFigure::OfRun(RunTotal::ElsewhereTime) => self.elsewhere(),
            GateFigure::OfRun(RunTotal::GeneratorBusy) => {
                let workers = self.totals.workers.iter();
                let busy = workers.map(|worker| worker.busy_percent / 100.0);
                busy.max_by(f64::total_cmp).map(exactly)
            }
            GateFigure::OfRun(total) => {
                let achieved = self.totals.achieved_load_ops_per_s;
                let known = cost_totals::of(self.cost.as_ref()?, achieved, total)?;
                Some(FigureSample {
                    value: known.value,
                    half_width: Some(known.half_width),
                })
            }
        }
    }

    fn if_any(&self, sample: FigureSample) -> Option<FigureSample> {
        (self.totals.ledger.ok > 0).then_some(sample)
    }

    /// Returns a statistic of a time with the error that the run estimates.
    fn time(&self, figure: &RunFigure) -> Option<FigureSample> {
        let Quantity::Time(kind, statistic) = figure.quantity else {
            return None;
        };
        let times = self.totals.times(figure.operation, kind)?;
        let kept = self.totals.kept_interval(&figure.to_string());
        self.if_any(FigureSample {
            value: time(times, statistic),
            half_width: kept.and_then(|kept| match kept {
                RecordedInterval::TwoSided(figure) => Some(figure.half_width()),
                RecordedInterval::OneSided(_) => None,
            }),
        })
    }

    /// Returns a part of the time of calls with kernel timestamps. `None` for operations in pairs,
    /// since both operations have timestamps.
    fn stamped(&self, of: fn(&StampsRecord) -> StampedTime) -> Option<FigureSample> {
        let time = self.stamps.as_ref().map(of)?;
        let sample = FigureSample {
            value: time.mean,
            half_width: Some(time.half_width),
        };
        self.if_any(sample).filter(|_| !has_unmeasured(&self.plan))
    }

    /// Returns the exchange without the server's CPU time. This is only valid if all of the CPU
    /// time is within the exchange: one call at a time, no unmeasured operations, and no CPU time
    /// of the load generator included.
    fn elsewhere(&self) -> Option<FigureSample> {
        let plan = &self.plan;
        let is_one_at_a_time = plan.clients == 1 && plan.in_flight == 1;
        if !is_one_at_a_time || has_unmeasured(plan) || self.counts_generator() {
            return None;
        }
        let exchange = self.sample(EXCHANGE)?;
        let server = self.sample(GateFigure::OfRun(RunTotal::ServerCpu))?;
        Some(exchange.minus(server))
    }

    /// Returns whether the measured CPU time of the server includes that of the load generator.
    fn counts_generator(&self) -> bool {
        let cost = self.cost.as_ref();
        let of_process =
            cost.and_then(|cost| cost.figure(MeasuredAt::Server, CostCounter::ProcessCpu));
        let is_of_host = of_process.is_none_or(|figure| figure.per_operation.is_none());
        is_of_host && self.plan.cost.as_ref().is_some_and(|cost| cost.this_host)
    }
}

const fn exactly(value: f64) -> FigureSample {
    FigureSample {
        value,
        half_width: None,
    }
}

/// Returns whether each operation of a plan is paired with an unmeasured one.
pub fn has_unmeasured(plan: &Plan) -> bool {
    let probe = plan.probe();
    probe.is_some_and(|probe| !unmeasured_for(probe.operation).is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::{CostEstimate, CostFigure, CostRecord};
    use crate::measure::RunRecord;
    use crate::measure::mix_figures::tests::totals;
    use crate::measure::verdict::caveats::tests::run_of_30_s;
    use filestone_plan::plan::{CostPlan, ProbePlan, WorkloadPlan};
    use filestone_workload::operation::OpKind;

    fn of_server(counter: CostCounter, value: f64) -> CostFigure {
        CostFigure {
            measured_at: MeasuredAt::Server,
            counter,
            line: None,
            per_operation: Some(CostEstimate {
                value,
                half_width: 3.0,
            }),
            idle_per_s: None,
            load_per_s: None,
            reason: None,
        }
    }

    /// Calls of 50 µs, 1 µs of it spent in this program; the server worked 20 µs on each.
    fn record() -> RunRecord {
        let mut record = run_of_30_s(totals(30_000, 0, 0, 0), vec![]);
        record.totals.slot_wait_ns.mean = 400.0;
        record.totals.dispatch_delay_ns.mean = 600.0;
        record.totals.service_time_ns.mean = 49_000.0;
        record.totals.response_time_ns.mean = 50_000.0;
        record.plan.clients = 1;
        record.plan.in_flight = 1;
        record.plan.cost = Some(CostPlan::of_this_end(0, 100_000_000));
        record.cost = Some(CostRecord {
            sources: vec![],
            figures: vec![of_server(CostCounter::ProcessCpu, 20_000.0)],
            wire: None,
            calls: None,
        });
        record
    }

    /// CREATE, each followed by a REMOVE.
    fn of_pairs() -> ProbePlan {
        ProbePlan {
            file_size_bytes: 4096,
            ..ProbePlan::new(OpKind::Create)
        }
    }

    fn value(figure: GateFigure, record: &RunRecord) -> Option<f64> {
        ComparedRun::from(record)
            .sample(figure)
            .map(|known| known.value)
    }

    fn of_run(total: RunTotal, record: &RunRecord) -> Option<f64> {
        value(GateFigure::OfRun(total), record)
    }

    #[test]
    fn each_has_a_name_of_its_own() {
        let mut names = LADDER_FIGURES.map(|figure| figure.to_string()).to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), LADDER_FIGURES.len());
    }

    #[test]
    fn the_parts_are_what_they_are_on_paper() {
        let record = record();
        assert_eq!(value(LADDER_FIGURES[0], &record), Some(50_000.0));
        assert_eq!(of_run(RunTotal::QueueTime, &record), Some(1000.0));
        assert_eq!(value(EXCHANGE, &record), Some(49_000.0));
        assert_eq!(of_run(RunTotal::ServerCpu, &record), Some(20_000.0));
        assert_eq!(of_run(RunTotal::ElsewhereTime, &record), Some(29_000.0));
        assert_eq!(of_run(RunTotal::WireBytes, &record), None);
    }

    #[test]
    fn the_way_of_stamped_calls_is_told_where_all_are_of_one_kind() {
        let mut record = record();
        let time = |mean| StampedTime {
            mean,
            half_width: 1.0,
            p50: 0,
        };
        record.stamps = Some(StampsRecord {
            calls: 100,
            kernel_out_ns: time(2000.0),
            beyond_ns: time(40_000.0),
            kernel_in_ns: time(7000.0),
        });
        assert_eq!(of_run(RunTotal::KernelOutTime, &record), Some(2000.0));
        assert_eq!(of_run(RunTotal::BeyondTime, &record), Some(40_000.0));
        assert_eq!(of_run(RunTotal::KernelInTime, &record), Some(7000.0));
        record.plan.workload = WorkloadPlan::Probe(of_pairs());
        assert_eq!(of_run(RunTotal::BeyondTime, &record), None);
    }

    #[test]
    fn what_is_elsewhere_is_told_only_where_the_rest_is_the_calls_own() {
        let mut several = record();
        several.plan.in_flight = 2;
        assert_eq!(of_run(RunTotal::ElsewhereTime, &several), None);
        let mut pairs = record();
        pairs.plan.workload = WorkloadPlan::Probe(of_pairs());
        assert_eq!(of_run(RunTotal::ElsewhereTime, &pairs), None);
        let mut here = record();
        if let (Some(plan), Some(cost)) = (&mut here.plan.cost, &mut here.cost) {
            plan.this_host = true;
            cost.figures = vec![of_server(CostCounter::CpuBusy, 30_000.0)];
        }
        assert_eq!(of_run(RunTotal::ServerCpu, &here), Some(30_000.0));
        assert_eq!(of_run(RunTotal::ElsewhereTime, &here), None);
    }
}
