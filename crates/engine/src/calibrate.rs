//! Measures the ceiling of filestone itself on this host, before it measures anything else.
//!
//! Measured are: the rate of a plain socket that exchanges the same bytes with the same server, and
//! how close the whole engine gets to it; the lateness of timed starts; the cost of the clock.

use crate::backend::null::Null;
pub use crate::protocols::Rate;
use crate::protocols::{BuiltIn, Job, Protocols, run};
use crate::worker::{IntervalSink, Worker, WorkerClient, WorkerControl, own_books};
use filestone_control::load_control::RemainingTime;
use filestone_host::clock::{Clock, ClockPrecision};
use filestone_host::control::{NoObserver, Observer, RunContext};
use filestone_host::error::RunError;
use filestone_host::processors::{Meter, ThreadMark};
use filestone_measure::measure::processors::{ProcessorsRecord, ThreadTime};
use filestone_measure::measure::run_record::Headroom;
use filestone_plan::plan::{ArrivalsPlan, Plan, ProbePlan, TargetPlan, WorkloadPlan};
use filestone_protocol::workload::{Next, Workload};
use filestone_workload::operation::{OpKind, Operation};
use filestone_workload::recording::{Distribution, IntervalBuffer};
use filestone_workload::time::Timestamp;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Length of a calibration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CalibrationLength {
    /// Under a second: enough for the headroom in a run record.
    Quick {
        /// Number of calls in flight, as in the run.
        in_flight: u32,
    },
    /// About ten seconds for each protocol: enough for a table for people.
    Thorough,
}

/// Calls in flight that show the ceiling of one worker if the run does not fix the number.
const IN_FLIGHT: u32 = 32;
/// Most calls in flight: more on one connection do not raise the rate.
const IN_FLIGHT_MAX: u32 = 1024;

impl CalibrationLength {
    /// Returns the calibration before a run: under a second. For a closed loop it measures one
    /// worker with as many calls in flight as the run has. For an open loop, whose number in flight
    /// depends on the server, and for a steered run it measures the ceiling.
    pub fn before(plan: &Plan) -> Self {
        let is_closed = plan.arrivals == ArrivalsPlan::Closed && plan.steering.is_none();
        let of_run = plan.clients.saturating_mul(plan.in_flight);
        Self::Quick {
            in_flight: if is_closed {
                of_run.clamp(1, IN_FLIGHT_MAX)
            } else {
                IN_FLIGHT
            },
        }
    }

    const fn in_flight(self) -> u32 {
        match self {
            Self::Quick { in_flight } => in_flight,
            Self::Thorough => IN_FLIGHT,
        }
    }
}

/// Target of a calibration.
#[derive(Debug, Clone)]
pub struct CalibrationTarget {
    /// A file of a built-in server, one per measured protocol.
    pub targets: Vec<TargetPlan>,
    /// The built-in server and its address.
    pub built_in: BuiltIn,
}

/// Rates of the same exchange with the same server over a plain socket and through the engine.
#[derive(Debug, Clone, PartialEq)]
pub struct ExchangeThroughput {
    /// Protocol: the layer of the target.
    pub layer: String,
    /// The operation.
    pub operation: OpKind,
    /// Name of the request in the protocol.
    pub request: String,
    /// Bytes of file data per call.
    pub size_bytes: u32,
    /// Calls in flight.
    pub in_flight: u32,
    /// Rate over a plain socket.
    pub raw: Rate,
    /// Rate through the whole engine, with everything recorded.
    pub engine: Rate,
}

impl ExchangeThroughput {
    /// Returns the engine's rate as a share of the plain socket's.
    pub fn share(&self) -> f64 {
        self.engine.ops_per_s / self.raw.ops_per_s.max(f64::MIN_POSITIVE)
    }
}

/// Lateness of timed starts at one rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimerLateness {
    /// Starts per second.
    pub starts_per_s: f64,
    /// Median, in nanoseconds.
    pub p50_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// 99.9th percentile.
    pub p99_9_ns: u64,
    /// Maximum.
    pub max_ns: u64,
    /// CPU time as a percentage of the elapsed time.
    pub busy_percent: f64,
}

/// Results of a calibration of filestone on this host.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// Cost and resolution of the clock.
    pub clock: ClockPrecision,
    /// Rates over a plain socket and through the engine.
    pub exchanges: Vec<ExchangeThroughput>,
    /// Lateness of timed starts, one entry per rate.
    pub lateness: Vec<TimerLateness>,
    /// Part that is stored in a run record, one entry per protocol.
    pub headroom: Vec<Headroom>,
    /// CPU time of this process and of others during the calibration.
    pub processors: Option<ProcessorsRecord>,
}

/// An exchange to measure.
#[derive(Debug, Clone, Copy)]
struct Case {
    operation: OpKind,
    size_bytes: u32,
    in_flight: u32,
}

impl Case {
    const fn null(in_flight: u32) -> Self {
        Self {
            operation: OpKind::Null,
            size_bytes: 0,
            in_flight,
        }
    }
}

/// Returns the exchanges, the rates of timed starts and the time for each measurement.
fn measurements(effort: CalibrationLength) -> (Vec<Case>, &'static [f64], Duration) {
    let in_flight = effort.in_flight();
    match effort {
        CalibrationLength::Quick { .. } => (
            vec![Case::null(in_flight)],
            &[10_000.0],
            Duration::from_millis(150),
        ),
        CalibrationLength::Thorough => (
            vec![
                Case::null(1),
                Case::null(IN_FLIGHT),
                Case::null(128),
                Case {
                    operation: OpKind::GetAttr,
                    ..Case::null(32)
                },
                Case {
                    operation: OpKind::Read,
                    size_bytes: 131_072,
                    in_flight: 8,
                },
            ],
            &[1000.0, 10_000.0, 100_000.0],
            Duration::from_millis(1000),
        ),
    }
}

/// Runs the calibration against a built-in server.
pub fn calibrate(
    against: &CalibrationTarget,
    effort: CalibrationLength,
    context: &mut RunContext<'_>,
) -> Result<Calibration, RunError> {
    let stop = context.stop;
    let of_headroom = effort.in_flight();
    let (cases, rates, time) = measurements(effort);
    let (meter, before) = (Meter::start(), ThreadMark::now());
    let count = against.targets.len() * cases.len();
    let all = (count + rates.len()) as u32;
    // An exchange is measured twice: over the plain socket, and through the engine.
    let left = time * (2 * count + rates.len()) as u32;
    let mut agenda = Agenda {
        begun: 0,
        all,
        left,
    };
    let mut workers = Vec::new();
    let mut exchanges = Vec::new();
    let protocols = Protocols::default();
    let targets = against.targets.iter();
    for (target, case) in targets.flat_map(|target| cases.iter().map(move |case| (target, case))) {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let name = protocols.request_of(target, case.operation);
        let what = format!(
            "{} {name} with {} in flight",
            target.layer(),
            case.in_flight
        );
        agenda.start(&what, 2 * time, context.observer);
        let plan = base_plan(target, *case, ArrivalsPlan::Closed, time);
        let (exchange, of_worker) = exchange(&plan, *case, against.built_in, stop)?;
        exchanges.push(exchange);
        workers.push(of_worker);
    }
    let mut lateness = Vec::new();
    for starts_per_s in rates {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        agenda.start(
            &format!("{starts_per_s} timed starts/s"),
            time,
            context.observer,
        );
        // The target receives no requests.
        if let Some(target) = against.targets.first() {
            lateness.push(measure_lateness(target, *starts_per_s, time, stop));
        }
    }
    let processors = costs_of(&workers, before, &meter);
    let clock = Clock::start().measure();
    let targets = against.targets.iter();
    let headroom = targets.map(|target| headroom_of(target, &exchanges, of_headroom, &lateness));
    let headroom = headroom.collect();
    Ok(Calibration {
        clock,
        exchanges,
        lateness,
        headroom,
        processors,
    })
}

/// Returns CPU time of this process and of others since `before`, in which these workers and the
/// calling thread measured.
fn costs_of(workers: &[ThreadTime], before: ThreadMark, meter: &Meter) -> Option<ProcessorsRecord> {
    // This thread measures everything that does not go through the engine.
    let (here, used) = (before.until(ThreadMark::now(), 0), meter.used());
    let measuring = workers.iter().fold(here, |sum, worker| ThreadTime {
        thread: 0,
        cpu_ns: sum.cpu_ns + worker.cpu_ns,
        waited_ns: sum.waited_ns + worker.waited_ns,
    });
    ProcessorsRecord::of(used, used.elapsed_ns, &[measuring])
}

/// Progress of a calibration: the current measurement, and the time of those that have not begun.
struct Agenda {
    begun: u32,
    all: u32,
    left: Duration,
}

impl Agenda {
    /// Reports the start of the next measurement, which takes `time`.
    fn start(&mut self, what: &str, time: Duration, observer: &mut dyn Observer) {
        self.begun += 1;
        let left = RemainingTime::About(self.left.as_nanos() as u64);
        let doing = format!("measurement {} of {}, {what}", self.begun, self.all);
        observer.steering(&doing, Some(left));
        self.left = self.left.saturating_sub(time);
    }
}

/// Returns the headroom of one target: the smallest exchange with `in_flight` calls, and starts at
/// 10,000 per second.
fn headroom_of(
    target: &TargetPlan,
    exchanges: &[ExchangeThroughput],
    in_flight: u32,
    lateness: &[TimerLateness],
) -> Headroom {
    let mut of_target = exchanges
        .iter()
        .filter(|exchange| exchange.layer == target.layer());
    let null = of_target
        .find(|exchange| (exchange.operation, exchange.in_flight) == (OpKind::Null, in_flight));
    let late = lateness
        .iter()
        .find(|lateness| lateness.starts_per_s == 10_000.0);
    Headroom {
        in_flight,
        exchange: null.map_or_else(String::new, |null| null.request.clone()),
        engine_ops_per_s: null.map_or(0.0, |null| null.engine.ops_per_s),
        raw_ops_per_s: null.map_or(0.0, |null| null.raw.ops_per_s),
        engine_cpu_ns_per_op: null.map_or(0.0, |null| null.engine.cpu_ns_per_op),
        raw_cpu_ns_per_op: null.map_or(0.0, |null| null.raw.cpu_ns_per_op),
        timer_lateness_p50_ns: late.map_or(0, |late| late.p50_ns),
        timer_lateness_p99_ns: late.map_or(0, |late| late.p99_ns),
    }
}

/// Measures an exchange; returns the rates and the CPU time of the engine's worker.
fn exchange(
    plan: &Plan,
    case: Case,
    built_in: BuiltIn,
    stop: &AtomicBool,
) -> Result<(ExchangeThroughput, ThreadTime), RunError> {
    let time = Duration::from_nanos(plan.duration_ns.unwrap_or_default());
    let job = Job {
        built_in,
        ..Job::new(plan)
    };
    let mut observer = NoObserver;
    let context = &mut RunContext::new(stop, &mut observer);
    let protocols = Protocols::default();
    let raw = protocols.over_plain_socket(&job, time, context)?;
    let record = run(&job, &protocols, context)?;
    let workers = record.totals.workers.iter();
    let worker = workers.map(|worker| worker.time(record.window_ns)).next();
    let engine = Rate {
        ops_per_s: record.totals.achieved_load_ops_per_s,
        cpu_ns_per_op: record.totals.client_cpu_ns_per_op,
        data_bytes_per_s: record.totals.goodput_bytes_per_s,
    };
    let exchange = ExchangeThroughput {
        layer: plan.target.layer().into(),
        operation: case.operation,
        request: protocols.request_of(&plan.target, case.operation),
        size_bytes: case.size_bytes,
        in_flight: case.in_flight,
        raw,
        engine,
    };
    Ok((exchange, worker.unwrap_or_default()))
}

fn base_plan(target: &TargetPlan, case: Case, arrivals: ArrivalsPlan, time: Duration) -> Plan {
    let workload = WorkloadPlan::Probe(ProbePlan {
        size_bytes: case.size_bytes.max(1),
        ..ProbePlan::new(case.operation)
    });
    Plan {
        arrivals,
        in_flight: case.in_flight,
        warm_up_ns: 20_000_000,
        duration_ns: Some(time.as_nanos() as u64),
        timeout_ns: 10_000_000_000,
        reconnect_ns: 1_000_000_000,
        ..Plan::new("calibrate", target.clone(), workload, 1)
    }
    .with_read_data(None)
}

/// Workload that issues NULL calls without end.
struct Nulls;

impl Workload for Nulls {
    fn next(&mut self, _slot: u32, _now: Timestamp) -> Next<Operation> {
        Next::Measured(Operation::Null)
    }
}

/// Interval sink that keeps the dispatch delay and the CPU time.
struct Keep<'d> {
    dispatch_delay: &'d mut Distribution<u64>,
    cpu_nanos: &'d mut u64,
}

impl IntervalSink for Keep<'_> {
    fn empty(&mut self) -> Option<Box<IntervalBuffer>> {
        None
    }

    fn full(&mut self, mut buffer: Box<IntervalBuffer>) {
        self.dispatch_delay.add(&mut buffer.dispatch_delay);
        *self.cpu_nanos += buffer.counts.cpu_nanos;
    }
}

/// Measures the lateness of the real worker loop at a rate, without a server.
fn measure_lateness(
    target: &TargetPlan,
    starts_per_s: f64,
    time: Duration,
    stop: &AtomicBool,
) -> TimerLateness {
    let arrivals = ArrivalsPlan::Constant {
        offered_load_ops_per_s: starts_per_s,
    };
    let mut plan = base_plan(target, Case::null(1024), arrivals, time);
    // One buffer for the whole measurement.
    plan.interval_ns = time.as_nanos() as u64 * 100;
    let mut dispatch_delay = Distribution::new();
    let mut cpu_nanos = 0;
    let sink = Keep {
        dispatch_delay: &mut dispatch_delay,
        cpu_nanos: &mut cpu_nanos,
    };
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    let end_run = AtomicBool::new(false);
    let backend = Null::sleeping(Clock::start(), 1024);
    let signals = WorkerControl {
        stop,
        end_run: &end_run,
        offer: None,
        live_workers: None,
    };
    let members = WorkerClient::of_worker(&plan, 0, |_| Nulls);
    let books = own_books(&plan, sink);
    let mut worker = Worker::new(&plan, 0, members, backend, books, signals);
    // The setup of the worker took time that is not lateness.
    *worker.backend_mut() = Null::sleeping(Clock::start(), 1024);
    worker.run();
    TimerLateness {
        starts_per_s,
        p50_ns: dispatch_delay.quantile(0.5),
        p99_ns: dispatch_delay.quantile(0.99),
        p99_9_ns: dispatch_delay.quantile(0.999),
        max_ns: dispatch_delay.max(),
        busy_percent: 100.0 * cpu_nanos as f64 / time.as_nanos() as f64,
    }
}
