//! Pacing and correcting in virtual time: system calls take as long as they are told to, and a
//! kernel counts what it is told to.

use super::caller::{Done, SystemCalls, UnmeasuredOperation};
use super::client::{Client, ClientEnd, Shared, Step};
use super::clients::{ClientGroup, Clients, MixMailbox};
use super::kernel::Kernel;
use super::mounted::Mounted;
use super::pacer::Pacer;
use super::watch::MixCoordinator;
use crate::control::Unobserved;
use crate::processors::ThreadMark;
use crate::time::{Time, VirtualTime};
use filestone_model::measure::Sample;
use filestone_model::measure::mix_record::CorrectionRecord;
use filestone_model::mix::feedback::{Calls, Goal, Group};
use filestone_model::operation::OpKind;
use filestone_model::plan::{
    ArrivalsPlan, FeedbackArithmetic, FileSetPlan, FileSizes, LocalMix, LocalTarget, MixCount,
    MixPlan, Plan, Popularity, TargetPlan, WorkloadPlan,
};
use filestone_model::time::Moment;
use rustix::io::Errno;
use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

const MS: u64 = 1_000_000;
const SECOND: u64 = 1000 * MS;
/// How often the simulated kernel's counters are written.
const WRITTEN_NANOS: u64 = 100 * MS;

/// nhfsstone's own mix.
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

/// A /proc with the counters of a whole host.
struct Proc {
    root: PathBuf,
    /// What reaches the wire of so many calls.
    passes: fn(OpKind, u64) -> u64,
    done: RefCell<Calls>,
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

/// System calls that all take as long, and that the kernel counts as one call each.
struct Fixed<'run> {
    time: VirtualTime,
    service_nanos: u64,
    proc: &'run Proc,
}

impl SystemCalls for Fixed<'_> {
    fn before(&self, _kind: OpKind) -> Option<UnmeasuredOperation> {
        None
    }

    fn carry_out(&mut self, kind: OpKind) -> Result<Done, Errno> {
        self.time.pass(self.service_nanos);
        self.proc.count(kind);
        Ok(Done::calls(kind, 1))
    }

    fn after(&self) -> Option<UnmeasuredOperation> {
        None
    }

    fn call_unmeasured(&mut self, unmeasured: UnmeasuredOperation) -> Result<Done, Errno> {
        Ok(Done::calls(unmeasured.kind, 1))
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

/// What a run came to.
struct Played {
    samples: Vec<Sample>,
    ends: Vec<ClientEnd>,
    corrections: Vec<CorrectionRecord>,
    asked: Calls,
    seen: Calls,
    now: Moment,
}

/// A run: the client whose clock is the earliest goes first, and then the coordinator.
fn run(plan: &Plan, service_nanos: u64, proc: &Proc, stop: &AtomicBool) -> Played {
    let WorkloadPlan::Mix(mix) = &plan.workload else {
        unreachable!("it is a mix")
    };
    let arithmetic = Group::new(&Goal {
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
    let group = ClientGroup::new(arithmetic, kernel.clone(), kernel.zip(before));
    let mailboxes: Vec<MixMailbox> = (0..plan.clients).map(|_| MixMailbox::default()).collect();
    let group_of = vec![0; plan.clients as usize];
    let clients = Clients {
        groups: std::slice::from_ref(&group),
        mailboxes: &mailboxes,
        group_of: &group_of,
    };
    let shared = Shared::of(plan, mix, stop);
    let mut going: Vec<_> = (0..plan.clients)
        .map(|number| {
            let time = VirtualTime::default();
            Client {
                number,
                caller: Fixed {
                    time: time.clone(),
                    service_nanos,
                    proc,
                },
                pacer: Pacer::new(plan, mix, number, group.pause_ns()),
                group: &group,
                mailbox: &mailboxes[number as usize],
                shared: &shared,
                time,
                free_at: Moment::ZERO,
            }
        })
        .collect();
    let mut coordinator =
        MixCoordinator::new(plan, mix, clients, &shared).expect("counters can be read");
    let mut ends = Vec::new();
    let (mut now, mut written) = (Moment::ZERO, Moment::ZERO);
    while let Some(first) = (0..going.len()).min_by_key(|index| going[*index].time.now()) {
        let client = &mut going[first];
        now = now.max(client.time.now());
        if now >= written {
            proc.write();
            written = now.after_nanos(WRITTEN_NANOS);
        }
        // Without feedback there is nothing to correct, and samples stay where they are.
        if mix.local.feedback {
            coordinator.turn(now, &mut Unobserved);
        }
        match client.step() {
            Step::Going => {}
            Step::Ended => ends.push(going.remove(first).end(None)),
            Step::Lost(why) => ends.push(going.remove(first).end(Some(why))),
        }
    }
    let mut samples = Vec::new();
    for mailbox in &mailboxes {
        mailbox.drain(Moment::NEVER, |sample| samples.push(*sample));
    }
    assert_eq!(coordinator.failed, None);
    Played {
        samples,
        ends,
        corrections: group.corrections().clone(),
        asked: group.arithmetic().asked(),
        seen: coordinator.seen(0).expect("counters").calls,
        now,
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
        let due = Moment::from_nanos(number * 10 * MS);
        assert_eq!((sample.due, sample.ready), (due, due));
        assert_eq!(sample.completion.sent, due);
        assert_eq!(sample.completion.done, due.after_nanos(3 * MS));
    }
    assert_eq!(outcome.ends[0].skipped, 0);
}

#[test]
fn what_comes_due_while_a_client_is_busy_waits_and_what_never_begins_is_counted() {
    let plan = blind(plan(&[(OpKind::Lookup, 1)], constant(100.0)));
    let proc = Proc::new(|_, calls| calls);
    // Operation n is due at 10 n ms and begins at 25 n ms: 40 begin within a second, 60 do not.
    let outcome = run(&plan, 25 * MS, &proc, &NEVER);
    assert_eq!(outcome.samples.len(), 40);
    for (number, sample) in (0..).zip(&outcome.samples) {
        assert_eq!(sample.due, Moment::from_nanos(number * 10 * MS));
        assert_eq!(sample.completion.sent, Moment::from_nanos(number * 25 * MS));
    }
    assert_eq!(outcome.ends[0].skipped, 60);
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
    assert_eq!(outcome.ends[0].skipped, 0);
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
    let mut plan = plan(&MIX, constant(0.01));
    plan.duration_ns = Some(600 * SECOND);
    let proc = Proc::new(|_, calls| calls);
    let outcome = run(&plan, MS, &proc, &AtomicBool::new(true));
    assert!(outcome.samples.is_empty());
    assert!(outcome.ends[0].was_stopped);
    assert_eq!(outcome.now, Moment::ZERO);
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
    // The first after one second, and then every two.
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
    // Chance alone makes one in 110 of 12,000.
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
    assert!(
        outcome
            .ends
            .iter()
            .all(|end| !end.was_stopped && end.skipped == 0)
    );
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

/// A time in which others make calls: one every ten milliseconds.
struct Busy<'run> {
    time: VirtualTime,
    proc: &'run Proc,
}

impl Time for Busy<'_> {
    fn now(&self) -> Moment {
        self.time.now()
    }

    fn wait(&self, until: Moment) {
        let calls = until.nanos_since(self.now()) / (10 * MS);
        (0..calls).for_each(|_| self.proc.count(OpKind::GetAttr));
        self.proc.write();
        self.time.wait(until);
    }

    fn processor_nanos(&self) -> u64 {
        0
    }

    fn thread_mark(&self) -> ThreadMark {
        self.time.thread_mark()
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
