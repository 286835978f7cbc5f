//! Pacing and corrections in virtual time, with the common run loop: durations of system calls and
//! counters of the kernel are simulated.

use super::caller::{Prerequisites, SyscallResult, SystemCalls, UnmeasuredOperation};
use super::clients::ClientGroup;
use super::feedback_controller::FeedbackController;
use super::kernel::Kernel;
use super::mounted::Mounted;
use super::workload::MountMix;
use crate::backend::blocking::Blocking;
use crate::run::{RunHook, RunSnapshot, Stage};
use crate::time::{Time, VirtualTime};
use crate::worker::{SampleSink, Worker, WorkerClient, WorkerControl, WorkerEnd, WorkerResult};
use filestone_host::control::NoObserver;
use filestone_measure::measure::mix_record::CorrectionRecord;
use filestone_plan::file_set::VolatileDirectory;
use filestone_plan::mix::feedback::{FeedbackTarget, Group, ProcedureCounts};
use filestone_plan::plan::{
    ArrivalsPlan, FeedbackArithmetic, FileSetPlan, FileSizes, LocalMix, LocalTarget, MixCount,
    MixPlan, Plan, Popularity, TargetPlan, WorkloadPlan,
};
use filestone_workload::operation::{OpKind, Outcome};
use filestone_workload::recording::interval::IntervalCounts;
use filestone_workload::recording::{Role, Sample};
use filestone_workload::time::Timestamp;
use rustix::io::Errno;
use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

const MS: u64 = 1_000_000;
const SECOND: u64 = 1000 * MS;
/// Interval at which the simulated kernel updates its counters.
const WRITTEN_NANOS: u64 = 100 * MS;

/// The default mix of nhfsstone.
const MIX: [(OpKind, u64); 10] = [
    (OpKind::GetAttr, 13),
    (OpKind::SetAttr, 1),
    (OpKind::Lookup, 34),
    (OpKind::ReadLink, 8),
    (OpKind::Read, 22),
    (OpKind::Write, 15),
    (OpKind::Create, 2),
    (OpKind::Remove, 1),
    (OpKind::ReadDir, 3),
    (OpKind::FsStat, 1),
];

/// A simulated /proc with the counters of a whole host.
struct Proc {
    root: PathBuf,
    /// Number of calls that reach the wire, given the number requested.
    passes: fn(OpKind, u64) -> u64,
    done: RefCell<ProcedureCounts>,
}

impl Proc {
    fn new(passes: fn(OpKind, u64) -> u64) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("filestone-test-proc-{}-{number}", std::process::id());
        let root = std::env::temp_dir().join(name);
        std::fs::create_dir_all(root.join("net/rpc")).expect("a temporary directory");
        let proc = Self {
            root,
            passes,
            done: RefCell::default(),
        };
        proc.write();
        proc
    }

    fn write(&self) {
        let done = self.done.borrow();
        let seen = |kind: &OpKind| (self.passes)(*kind, done[*kind]);
        let seen: Vec<u64> = OpKind::STATELESS.iter().map(seen).collect();
        let words: Vec<String> = seen.iter().map(u64::to_string).collect();
        let calls: u64 = seen.iter().sum();
        let text = format!(
            "net 0 0 0 0\nrpc {calls} 0 0\nproc3 22 {}\n",
            words.join(" ")
        );
        std::fs::write(self.root.join("net/rpc/nfs"), text).expect("a temporary file");
    }

    fn count(&self, kind: OpKind) {
        self.done.borrow_mut()[kind] += 1;
    }

    fn kernel(&self) -> Kernel {
        let mounted = Mounted {
            mount_point: "/mnt".into(),
            file_system: "nfs".into(),
            source: "server:/export".into(),
            options: vec![],
        };
        let (kernels, _) = Kernel::of_mounts(&self.root, &[mounted]).expect("counters");
        kernels.into_iter().next().expect("those of the host")
    }
}

impl Drop for Proc {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.root);
    }
}

/// System calls of a constant duration, each counted as one call by the kernel.
struct Fixed<'run> {
    time: VirtualTime,
    service_nanos: u64,
    proc: &'run Proc,
}

impl SystemCalls for Fixed<'_> {
    fn needs(&self) -> Prerequisites {
        Prerequisites::default()
    }

    fn operate(&mut self, kind: OpKind) -> Result<SyscallResult, Errno> {
        self.time.pass(self.service_nanos);
        self.proc.count(kind);
        Ok(SyscallResult::calls(kind, 1))
    }

    fn call_unmeasured(&mut self, unmeasured: UnmeasuredOperation) -> Result<SyscallResult, Errno> {
        Ok(SyscallResult::calls(unmeasured.kind, 1))
    }

    fn lost(&self) -> Option<String> {
        None
    }
}

fn plan(counts: &[(OpKind, u64)], arrivals: ArrivalsPlan) -> Plan {
    let file_set = FileSetPlan {
        name: "set".into(),
        files_per_client: 10,
        sizes: FileSizes::Fixed { bytes: 5000 },
        symbolic_links_per_client: 3,
        spare_names_per_client: 4,
        working_set_bytes: None,
        popularity: Popularity::Uniform,
    };
    let mix = MixPlan {
        local: LocalMix {
            proc_root: None,
            feedback: true,
            arithmetic: FeedbackArithmetic::Exact,
            background_max_calls_per_s: 10,
        },
        ..MixPlan::new("test", MixCount::of(counts), file_set)
    };
    let target = TargetPlan::Local(LocalTarget { directory: None });
    Plan {
        arrivals,
        duration_ns: Some(SECOND),
        ..Plan::new("test", target, WorkloadPlan::Mix(Box::new(mix)), 1)
    }
}

/// Results of a run.
struct Played {
    samples: Vec<Sample>,
    skipped: u64,
    end: WorkerEnd,
    lost: Vec<Option<String>>,
    corrections: Vec<CorrectionRecord>,
    asked: ProcedureCounts,
    seen: ProcedureCounts,
    now: Timestamp,
}

/// Keeps every sample.
struct Kept<'run> {
    samples: &'run mut Vec<Sample>,
    skipped: &'run mut u64,
    in_flight: &'run mut u64,
}

impl SampleSink for Kept<'_> {
    fn is_measured(&self, _due: Timestamp) -> bool {
        true
    }

    fn schedule(&mut self, _kind: OpKind, _role: Role, _times: u64) {}

    fn record(&mut self, sample: &Sample, _times: u32) {
        self.samples.push(*sample);
    }

    fn skip(&mut self, _kind: OpKind, _role: Role, times: u64) {
        *self.skipped += times;
    }

    fn leave_in_flight(&mut self, _kind: OpKind, _role: Role) {
        *self.in_flight += 1;
    }

    fn close_window(&mut self, _at: Timestamp) {}

    fn add(&mut self, _costs: &IntervalCounts) {}

    fn submit_interval(&mut self, _boundary: Timestamp) {}

    fn finish(self, _now: Timestamp) {}
}

/// Virtual time that updates the kernel's counters and calls the controller.
struct Attended<'run> {
    time: VirtualTime,
    proc: &'run Proc,
    written: Cell<Timestamp>,
    hook: RefCell<FeedbackController>,
}

impl Time for Attended<'_> {
    fn now(&self) -> Timestamp {
        let now = self.time.now();
        if now >= self.written.get() {
            self.proc.write();
            self.written.set(now.after_nanos(WRITTEN_NANOS));
        }
        let look = RunSnapshot {
            now,
            stage: Stage::Running,
            is_stopped: false,
            was_stopped: false,
            end_run: &NEVER,
        };
        self.hook.borrow_mut().poll(&look, &mut NoObserver);
        now
    }

    fn wait(&self, until: Timestamp) {
        self.time.wait(until);
    }

    fn processor_nanos(&self) -> u64 {
        0
    }
}

/// Runs clients with system calls of a constant duration.
fn run(plan: &Plan, service_nanos: u64, proc: &Proc, stop: &AtomicBool) -> Played {
    let caller = |time| Fixed {
        time,
        service_nanos,
        proc,
    };
    run_with(plan, caller, proc, stop)
}

/// Runs these clients on one thread.
fn run_with<C: SystemCalls>(
    plan: &Plan,
    caller: impl Fn(VirtualTime) -> C,
    proc: &Proc,
    stop: &AtomicBool,
) -> Played {
    let mix = plan.mix().expect("it is a mix");
    let arithmetic = Group::new(&FeedbackTarget {
        counts: &mix.counts,
        clients: plan.clients,
        load: plan.arrivals.offered_load(),
        calls: plan.count,
        seconds: plan.duration_ns.map(|nanos| nanos as f64 / 1e9),
        is_v4: false,
    });
    let kernel = mix.local.feedback.then(|| proc.kernel());
    let before = kernel
        .as_ref()
        .map(|kernel| kernel.read().expect("counters"));
    let all = kernel.clone().zip(before);
    let group = Arc::new(ClientGroup::new(arithmetic, kernel, all, plan.clients));
    group.restart().expect("counters can be read");
    let time = VirtualTime::default();
    let callers: Vec<C> = (0..plan.clients).map(|_| caller(time.clone())).collect();
    let members = (0..).zip(&callers).map(|(number, caller)| WorkerClient {
        number,
        workload: MountMix::new(plan, mix, number, Arc::clone(&group), caller.needs()),
    });
    let members = members.collect();
    let attended = Attended {
        time: time.clone(),
        proc,
        written: Cell::new(Timestamp::ZERO),
        hook: RefCell::new(FeedbackController::new(plan, mix, vec![Arc::clone(&group)])),
    };
    let backend = Blocking::new(callers, attended);
    let (mut samples, mut skipped, mut in_flight) = (Vec::new(), 0, 0);
    let books = Kept {
        samples: &mut samples,
        skipped: &mut skipped,
        in_flight: &mut in_flight,
    };
    let signals = WorkerControl {
        stop,
        end_run: &NEVER,
        offer: None,
        live_workers: None,
    };
    let worker = Worker::new(plan, 0, members, backend, books, signals);
    let WorkerResult { end, workloads, .. } = worker.run_and_keep();
    assert_eq!(group.failure(), None);
    // An operation stays unanswered only if the run ends.
    assert_eq!(in_flight > 0, end.lost.is_some());
    let (corrections, asked) = (group.corrections().clone(), group.arithmetic().asked());
    Played {
        samples,
        skipped,
        end,
        lost: workloads.into_iter().map(MountMix::into_loss).collect(),
        corrections,
        asked,
        seen: group.seen().expect("counters").calls,
        now: time.now(),
    }
}

static NEVER: AtomicBool = AtomicBool::new(false);

fn constant(offered_load_ops_per_s: f64) -> ArrivalsPlan {
    ArrivalsPlan::Constant {
        offered_load_ops_per_s,
    }
}

fn blind(mut plan: Plan) -> Plan {
    plan.mix_mut().expect("a mix").local.feedback = false;
    plan
}

#[test]
fn what_is_asked_in_time_waits_for_nothing() {
    let plan = blind(plan(&[(OpKind::Lookup, 1)], constant(100.0)));
    let proc = Proc::new(|_, calls| calls);
    let outcome = run(&plan, 3 * MS, &proc, &NEVER);
    assert_eq!(outcome.samples.len(), 100);
    for (number, sample) in (0..).zip(&outcome.samples) {
        let due = Timestamp::from_nanos(number * 10 * MS);
        assert_eq!((sample.due, sample.ready), (due, due));
        assert_eq!(sample.completion.sent, due);
        assert_eq!(sample.completion.done, due.after_nanos(3 * MS));
    }
    assert_eq!(outcome.skipped, 0);
}

#[test]
fn what_comes_due_while_a_client_is_busy_waits_and_what_never_begins_is_counted() {
    let plan = blind(plan(&[(OpKind::Lookup, 1)], constant(100.0)));
    let proc = Proc::new(|_, calls| calls);
    // Operation n is due at 10 n ms and starts at 25 n ms: 40 start within a second, 60 do not.
    let outcome = run(&plan, 25 * MS, &proc, &NEVER);
    assert_eq!(outcome.samples.len(), 40);
    for (number, sample) in (0..).zip(&outcome.samples) {
        assert_eq!(sample.due, Timestamp::from_nanos(number * 10 * MS));
        assert_eq!(
            sample.completion.sent,
            Timestamp::from_nanos(number * 25 * MS)
        );
    }
    assert_eq!(outcome.skipped, 60);
}

#[test]
fn a_closed_loop_asks_at_once() {
    let plan = blind(plan(&[(OpKind::Lookup, 1)], ArrivalsPlan::Closed));
    let proc = Proc::new(|_, calls| calls);
    let outcome = run(&plan, 4 * MS, &proc, &NEVER);
    assert_eq!(outcome.samples.len(), 250);
    assert!(
        outcome
            .samples
            .iter()
            .all(|sample| sample.due == sample.completion.sent)
    );
    assert_eq!(outcome.skipped, 0);
}

#[test]
fn constant_arrivals_of_clients_interleave() {
    let mut plan = blind(plan(&[(OpKind::Lookup, 1)], constant(100.0)));
    plan.clients = 4;
    let proc = Proc::new(|_, calls| calls);
    let mut outcome = run(&plan, MS, &proc, &NEVER);
    outcome.samples.sort_by_key(|sample| sample.due);
    let due = outcome.samples.iter().map(|sample| sample.due.nanos());
    assert!(due.eq((0..100).map(|number| number * 10 * MS)));
}

#[test]
fn a_run_that_is_stopped_ends_within_its_first_pause() {
    let arrivals = ArrivalsPlan::Poisson {
        offered_load_ops_per_s: 0.01,
    };
    let mut plan = plan(&MIX, arrivals);
    plan.duration_ns = Some(600 * SECOND);
    let proc = Proc::new(|_, calls| calls);
    let outcome = run(&plan, MS, &proc, &AtomicBool::new(true));
    assert!(outcome.samples.is_empty());
    assert!(outcome.end.is_interrupted);
    // Longest sleep of a worker, much less than the pause of some minutes.
    assert!(outcome.now <= Timestamp::from_nanos(50 * MS));
}

#[test]
fn a_cache_that_swallows_half_of_the_lookups_is_asked_twice_as_often() {
    let poisson = ArrivalsPlan::Poisson {
        offered_load_ops_per_s: 400.0,
    };
    let mut plan = plan(&MIX, poisson);
    (plan.clients, plan.duration_ns) = (3, Some(30 * SECOND));
    let proc = Proc::new(|kind, calls| {
        if kind == OpKind::Lookup {
            calls / 2
        } else {
            calls
        }
    });
    let outcome = run(&plan, MS, &proc, &NEVER);
    // The first after one second, then every two seconds.
    assert_eq!(outcome.corrections.len(), 15, "{:?}", outcome.corrections);
    let at = OpKind::Lookup;
    let (asked, seen) = (outcome.asked[at] as f64, outcome.seen[at] as f64);
    assert!((1.9..=2.01).contains(&(asked / seen)), "{asked} of {seen}");
    let all: u64 = outcome.seen.values().sum();
    for (kind, want_percent) in MIX {
        let got_percent = 100.0 * outcome.seen[kind] as f64 / all as f64;
        let off = (got_percent - want_percent as f64).abs();
        assert!(
            off < 1.0,
            "{kind:?}: {got_percent} instead of {want_percent}"
        );
    }
    // The standard deviation is one in 110 for 12,000 calls.
    assert!((all as f64 / 30.0 - 400.0).abs() < 12.0, "{all}");
}

#[test]
fn a_count_is_the_kernels_and_ends_the_run() {
    let mut plan = plan(&MIX, constant(400.0));
    (plan.clients, plan.count, plan.duration_ns) = (3, Some(600), None);
    let proc = Proc::new(|_, calls| calls);
    let outcome = run(&plan, MS, &proc, &NEVER);
    let calls: u64 = outcome.seen.values().sum();
    assert!((600..620).contains(&calls), "{calls}");
    assert_eq!((outcome.end.is_interrupted, outcome.skipped), (false, 0));
}

#[test]
fn nhfsstones_own_arithmetic_ends_by_the_kernels_count() {
    let mut plan = plan(&MIX, constant(150.0));
    (plan.clients, plan.count, plan.duration_ns) = (3, Some(600), None);
    plan.mix_mut().expect("a mix").local.arithmetic = FeedbackArithmetic::Nhfsstone;
    let proc = Proc::new(|_, calls| calls);
    let outcome = run(&plan, MS, &proc, &NEVER);
    proc.write();
    let calls: u64 = proc.done.borrow().values().sum();
    assert!((600..900).contains(&calls), "{calls}");
    assert!(!outcome.corrections.is_empty());
}

/// A client that lacks a directory before every RMDIR and a file after it, until its set is
/// removed.
struct Lacking {
    time: VirtualTime,
    needs: Prerequisites,
    gone_at: Timestamp,
}

impl Lacking {
    fn call(&mut self, kind: OpKind) -> Result<SyscallResult, Errno> {
        self.time.pass(MS);
        if self.time.now() >= self.gone_at {
            return Err(Errno::NOENT);
        }
        self.needs.lacks_directory = kind != OpKind::MkDir;
        self.needs.after = (kind == OpKind::RmDir).then_some(UnmeasuredOperation {
            kind: OpKind::Create,
            changing: VolatileDirectory::Created,
        });
        Ok(SyscallResult::calls(kind, 1))
    }
}

impl SystemCalls for Lacking {
    fn needs(&self) -> Prerequisites {
        self.needs
    }

    fn operate(&mut self, kind: OpKind) -> Result<SyscallResult, Errno> {
        self.call(kind)
    }

    fn call_unmeasured(&mut self, unmeasured: UnmeasuredOperation) -> Result<SyscallResult, Errno> {
        self.call(unmeasured.kind)
    }

    fn lost(&self) -> Option<String> {
        Some("gone".into())
    }
}

fn lacking(gone_at: Timestamp) -> Played {
    let plan = blind(plan(&[(OpKind::RmDir, 1)], constant(100.0)));
    let caller = |time| Lacking {
        time,
        needs: Prerequisites {
            lacks_directory: true,
            ..Prerequisites::default()
        },
        gone_at,
    };
    run_with(&plan, caller, &Proc::new(|_, calls| calls), &NEVER)
}

/// Each RMDIR, due every 10 ms, needs a MKDIR of 1 ms before it and a CREATE of 1 ms after it.
#[test]
fn what_keeps_the_set_in_its_proportions_is_done_around_an_operation_and_not_measured() {
    let outcome = lacking(Timestamp::MAX);
    assert_eq!((outcome.samples.len(), outcome.skipped), (300, 0));
    for (number, samples) in (0..).zip(outcome.samples.chunks(3)) {
        let at = |millis: u64| Timestamp::from_nanos((number * 10 + millis) * MS);
        let told = |sample: &Sample| {
            let moments = (sample.due, sample.ready, sample.completion.done);
            (sample.kind, sample.role, moments)
        };
        let told: Vec<_> = samples.iter().map(told).collect();
        assert_eq!(
            told,
            [
                (OpKind::MkDir, Role::Unmeasured, (at(0), at(0), at(1))),
                (OpKind::RmDir, Role::Measured, (at(0), at(1), at(2))),
                (OpKind::Create, Role::Unmeasured, (at(2), at(2), at(3))),
            ]
        );
    }
    let kinds = [OpKind::MkDir, OpKind::RmDir, OpKind::Create];
    assert!(kinds.into_iter().all(|kind| outcome.asked[kind] == 100));
}

#[test]
fn a_client_whose_set_is_gone_ends_with_the_reason_and_the_failure_in_the_books() {
    let outcome = lacking(Timestamp::from_nanos(12 * MS));
    let failed = |sample: &&Sample| matches!(sample.completion.outcome, Outcome::Failed(_));
    // The second RMDIR, at 11 ms, fails.
    assert_eq!(outcome.samples.iter().filter(failed).count(), 1);
    assert_eq!((outcome.samples.len(), outcome.skipped), (5, 0));
    assert_eq!(outcome.lost, [Some("gone".into())]);
    assert_eq!(outcome.now, Timestamp::from_nanos(12 * MS));
    assert!(!outcome.end.is_interrupted);
}

/// Virtual time with background traffic of one call every ten milliseconds.
struct Busy<'run> {
    time: VirtualTime,
    proc: &'run Proc,
}

impl Time for Busy<'_> {
    fn now(&self) -> Timestamp {
        self.time.now()
    }

    fn wait(&self, until: Timestamp) {
        let calls = until.nanos_since(self.now()) / (10 * MS);
        (0..calls).for_each(|_| self.proc.count(OpKind::GetAttr));
        self.proc.write();
        self.time.wait(until);
    }

    fn processor_nanos(&self) -> u64 {
        0
    }
}

#[test]
fn too_much_traffic_of_others_is_refused_in_the_originals_words() {
    let proc = Proc::new(|_, calls| calls);
    let time = Busy {
        time: VirtualTime::default(),
        proc: &proc,
    };
    let kernel = proc.kernel();
    let error = kernel.background(99, &NEVER, &time).expect_err("a refusal");
    let said = error.to_string();
    assert_eq!(said, "too much background activity (100 calls/sec)");
    let help = error.help().expect("help");
    assert!(
        help.contains("grew by 200 calls in 2 s without us"),
        "{help}"
    );
    assert_eq!(kernel.background(100, &NEVER, &time).ok(), Some(100.0));
}

/// A process that has reached its limit of open files.
struct Full;

impl SystemCalls for Full {
    fn needs(&self) -> Prerequisites {
        Prerequisites::default()
    }

    fn operate(&mut self, _: OpKind) -> Result<SyscallResult, Errno> {
        Err(Errno::MFILE)
    }

    fn call_unmeasured(&mut self, _: UnmeasuredOperation) -> Result<SyscallResult, Errno> {
        Err(Errno::MFILE)
    }

    fn lost(&self) -> Option<String> {
        None
    }
}

#[test]
fn a_host_without_open_files_ends_a_mix_and_answers_nothing() {
    let plan = blind(plan(&[(OpKind::Read, 1)], constant(100.0)));
    let outcome = run_with(&plan, |_| Full, &Proc::new(|_, calls| calls), &NEVER);
    assert!(outcome.samples.is_empty(), "{:?}", outcome.samples);
    let lost = outcome.end.lost.expect("the run ends");
    assert!(lost.is_of_this_host(), "{lost}");
}
