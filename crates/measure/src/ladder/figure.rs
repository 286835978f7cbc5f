//! Figures that a ladder reports for each rung, and their values in a run.

use super::value::RungValue;
use crate::cost::{Counter, MeasuredAt};
use crate::measure::cost_totals;
use crate::measure::stamps::{StampedTime, StampsRecord};
use crate::measure::{RecordedInterval, RunRecord};
use filestone_plan::gate::RunTotal;
use filestone_plan::plan::{Plan, unmeasured_for};
use filestone_workload::figure::FigureUnit;

macro_rules! figures {
    ($($(#[$doc:meta])* $figure:ident = $name:literal, $unit:ident;)*) => {
        /// A figure that a ladder reports for each rung.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum LadderFigure { $($(#[$doc])* $figure,)* }

        impl LadderFigure {
            /// List of all figures.
            pub const ALL: &'static [Self] = &[$(Self::$figure,)*];

            /// Returns the name in documents.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$figure => $name,)* }
            }

            /// Returns the unit.
            pub const fn unit(self) -> FigureUnit {
                match self { $(Self::$figure => FigureUnit::$unit,)* }
            }
        }
    };
}

figures! {
    /// Mean response time: due → done.
    Response = "response_time.mean", Nanoseconds;
    /// Median response time.
    ResponseP50 = "response_time.p50", Nanoseconds;
    /// 99th percentile of the response time.
    ResponseP99 = "response_time.p99", Nanoseconds;
    /// due → sent: waiting in this program, for a slot or its turn.
    Queue = "queue_time.mean", Nanoseconds;
    /// sent → done: from the system call that sends the call to the one that returns its reply.
    Exchange = "service_time.mean", Nanoseconds;
    /// Part of the exchange of calls with kernel timestamps: in this host's kernel while sending.
    KernelOut = "kernel_out_time.mean", Nanoseconds;
    /// Part of the exchange in the network and at the server.
    Beyond = "beyond_time.mean", Nanoseconds;
    /// Part of the exchange in this host's kernel while receiving, including the wait until this
    /// program reads the reply.
    KernelIn = "kernel_in_time.mean", Nanoseconds;
    /// The exchange without the server's CPU time: the network, both kernels, and waiting.
    Elsewhere = "elsewhere_time", Nanoseconds;
    /// CPU time of the server.
    ServerCpu = "server_cpu_per_operation", Nanoseconds;
    /// Context switches of the server.
    ServerSwitches = "server_switches_per_operation", Number;
    /// Interrupts of the server's host.
    ServerInterrupts = "server_interrupts_per_operation", Number;
    /// Bytes on the network, headers included.
    WireBytes = "wire_bytes_per_operation", Bytes;
    /// Packets on the network.
    WirePackets = "packets_per_operation", Number;
}

impl LadderFigure {
    /// Returns the value in a run, if the run has one.
    pub fn of(self, record: &RunRecord) -> Option<RungValue> {
        let totals = &record.totals;
        let times = &totals.response_time_ns;
        let plain = |value: f64| RungValue {
            value,
            half_width: None,
        };
        let has_any = totals.ledger.ok > 0;
        let found = match self {
            Self::Response => self.kept(record, times.mean),
            Self::ResponseP50 => self.kept(record, times.p50 as f64),
            Self::ResponseP99 => self.kept(record, times.p99 as f64),
            Self::Queue => plain(totals.slot_wait_ns.mean + totals.dispatch_delay_ns.mean),
            Self::Exchange => self.kept(record, totals.service_time_ns.mean),
            Self::KernelOut => stamped(record, |stamps| stamps.kernel_out_ns)?,
            Self::Beyond => stamped(record, |stamps| stamps.beyond_ns)?,
            Self::KernelIn => stamped(record, |stamps| stamps.kernel_in_ns)?,
            Self::Elsewhere => return elsewhere(record).filter(|_| has_any),
            _ => return self.cost(record),
        };
        has_any.then_some(found)
    }

    /// Returns a time with the error that the run estimates.
    fn kept(self, record: &RunRecord, value: f64) -> RungValue {
        let kept = record.totals.kept_interval(self.name());
        RungValue {
            value,
            half_width: kept.and_then(|kept| match kept {
                RecordedInterval::TwoSided(figure) => Some(figure.half_width()),
                RecordedInterval::OneSided(_) => None,
            }),
        }
    }

    /// Returns a figure from the cost counters.
    fn cost(self, record: &RunRecord) -> Option<RungValue> {
        let achieved = record.totals.achieved_load_ops_per_s;
        let known = cost_totals::of(record.cost.as_ref()?, achieved, self.total()?)?;
        Some(RungValue {
            value: known.value,
            half_width: Some(known.half_width),
        })
    }

    /// Returns the cost that gates use under the same name, if there is one.
    fn total(self) -> Option<RunTotal> {
        let mut totals = RunTotal::ALL.iter().filter(|total| total.is_cost());
        totals.find(|total| total.name() == self.name()).copied()
    }

    /// Returns whether the figure includes the unmeasured operations that accompany the measured
    /// ones and cannot be separated from them.
    pub fn has_companions(self) -> bool {
        self.total().is_some()
    }
}

/// Returns a part of the time of calls with kernel timestamps. `None` for operations in pairs,
/// since both operations have timestamps.
fn stamped(record: &RunRecord, of: fn(&StampsRecord) -> StampedTime) -> Option<RungValue> {
    let time = record.stamps.as_ref().map(of)?;
    (!has_companion(&record.plan)).then_some(RungValue {
        value: time.mean,
        half_width: Some(time.half_width),
    })
}

/// Returns whether each operation of a plan's rung is paired with an unmeasured one.
pub fn has_companion(plan: &Plan) -> bool {
    let probe = plan.probe();
    probe.is_some_and(|probe| !unmeasured_for(probe.operation).is_empty())
}

/// Returns the exchange without the server's CPU time. This is only valid if all of the CPU time is
/// within the exchange: one call at a time, no unmeasured operations, and no CPU time of the load
/// generator included.
fn elsewhere(record: &RunRecord) -> Option<RungValue> {
    let plan = &record.plan;
    let is_one_at_a_time = plan.clients == 1 && plan.in_flight == 1;
    if !is_one_at_a_time || has_companion(plan) || counts_generator(record) {
        return None;
    }
    let exchange = LadderFigure::Exchange.of(record)?;
    let server = LadderFigure::ServerCpu.of(record)?;
    Some(exchange.minus(server))
}

/// Returns whether the measured CPU time of the server includes that of the load generator.
fn counts_generator(record: &RunRecord) -> bool {
    let cost = record.cost.as_ref();
    let of_process = cost.and_then(|cost| cost.figure(MeasuredAt::Server, Counter::ProcessCpu));
    let is_of_host = of_process.is_none_or(|figure| figure.per_operation.is_none());
    is_of_host && record.plan.cost.as_ref().is_some_and(|cost| cost.this_host)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::{CostEstimate, CostFigure, CostRecord};
    use crate::measure::mix_figures::tests::totals;
    use crate::measure::verdict::caveats::tests::run_of_30_s;
    use filestone_plan::plan::{CostPlan, LeftoverPolicy, ProbePlan, WorkloadPlan};
    use filestone_workload::operation::{OpKind, Stability};

    fn of_server(counter: Counter, value: f64) -> CostFigure {
        CostFigure {
            vantage: MeasuredAt::Server,
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
            figures: vec![of_server(Counter::ProcessCpu, 20_000.0)],
            wire: None,
            calls: None,
        });
        record
    }

    /// CREATE, each followed by a REMOVE.
    fn of_pairs() -> ProbePlan {
        ProbePlan {
            operation: OpKind::Create,
            size_bytes: 4096,
            random: false,
            stability: Stability::Unstable,
            file_size_bytes: 4096,
            files_max: 1,
            own_files: false,
            left_over: LeftoverPolicy::Refuse,
        }
    }

    fn value(figure: LadderFigure, record: &RunRecord) -> Option<f64> {
        figure.of(record).map(|known| known.value)
    }

    #[test]
    fn each_has_a_name_of_its_own() {
        let mut names: Vec<_> = LadderFigure::ALL.iter().map(|one| one.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), LadderFigure::ALL.len());
    }

    #[test]
    fn the_parts_are_what_they_are_on_paper() {
        let record = record();
        assert_eq!(value(LadderFigure::Response, &record), Some(50_000.0));
        assert_eq!(value(LadderFigure::Queue, &record), Some(1000.0));
        assert_eq!(value(LadderFigure::Exchange, &record), Some(49_000.0));
        assert_eq!(value(LadderFigure::ServerCpu, &record), Some(20_000.0));
        assert_eq!(value(LadderFigure::Elsewhere, &record), Some(29_000.0));
        assert_eq!(value(LadderFigure::WireBytes, &record), None);
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
        assert_eq!(value(LadderFigure::KernelOut, &record), Some(2000.0));
        assert_eq!(value(LadderFigure::Beyond, &record), Some(40_000.0));
        assert_eq!(value(LadderFigure::KernelIn, &record), Some(7000.0));
        record.plan.workload = WorkloadPlan::Probe(of_pairs());
        assert_eq!(value(LadderFigure::Beyond, &record), None);
    }

    #[test]
    fn what_is_elsewhere_is_told_only_where_the_rest_is_the_calls_own() {
        let mut several = record();
        several.plan.in_flight = 2;
        assert_eq!(value(LadderFigure::Elsewhere, &several), None);
        let mut pairs = record();
        pairs.plan.workload = WorkloadPlan::Probe(of_pairs());
        assert_eq!(value(LadderFigure::Elsewhere, &pairs), None);
        let mut here = record();
        if let (Some(plan), Some(cost)) = (&mut here.plan.cost, &mut here.cost) {
            plan.this_host = true;
            cost.figures = vec![of_server(Counter::CpuBusy, 30_000.0)];
        }
        assert_eq!(value(LadderFigure::ServerCpu, &here), Some(30_000.0));
        assert_eq!(value(LadderFigure::Elsewhere, &here), None);
    }
}
