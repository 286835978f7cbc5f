//! Jobs of ranks that are threads of this process, against the built-in server: with clocks that are
//! wrong, ranks that die, stop and lag, and loads that are decided on.

use filestone_cluster::{
    Cluster, InProcess, JobError, JobOptions, OnRankLost, RankFailure, RankFault, Runner,
    Transport, TransportError, connect, serve,
};
use filestone_engine::protocols::BuiltIn;
use filestone_engine::{Job, Protocols};
use filestone_host::control::{NoObserver, Observer, RunContext};
use filestone_host::error::ErrorCategory;
use filestone_measure::measure::run_record::{IntervalRecord, RunOutcome};
use filestone_measure::measure::{ConnectionsRecord, RunPhase, RunRecord};
use filestone_plan::plan::{
    ArrivalsPlan, CurvePlan, FileSetPlan, FileSizes, Identities, MixCount, MixPlan, NfsTarget,
    Plan, Popularity, ProbePlan, SteeringPlan, TargetPlan, WorkloadPlan,
};
use filestone_server::{Options, Running, Server};
use filestone_setup::nfs3::mount::{MountCaller, mount};
use filestone_setup::workspace::marker::ProcessIdentity;
use filestone_workload::operation::OpKind;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const MS: u64 = 1_000_000;
const VERSION: &str = "0 (test)";

fn server(faults: &[&str]) -> Running {
    let faults = faults.iter().map(|fault| fault.parse().expect("a fault"));
    let options = Options {
        threads: 1,
        faults: faults.collect(),
        ..Options::default()
    };
    Server::start(options).expect("a free port on loopback")
}

/// GETATTRs by constant arrivals: 300/s for 600 ms, in intervals of 100 ms.
fn plan(clients: u32) -> Plan {
    let target = TargetPlan::Nfs3(NfsTarget::built_in("/export/files"));
    let workload = WorkloadPlan::Probe(ProbePlan {
        files_max: 10,
        ..ProbePlan::new(OpKind::GetAttr)
    });
    Plan {
        clients,
        arrivals: ArrivalsPlan::Constant {
            offered_load_ops_per_s: 300.0,
        },
        in_flight: 8,
        duration_ns: Some(600 * MS),
        interval_ns: 100 * MS,
        timeout_ns: 5000 * MS,
        ..Plan::new("probe", target, workload, 1)
    }
}

/// The same as a mix, with a file set that is removed.
fn mix(clients: u32) -> Plan {
    let set = FileSetPlan {
        name: "set".into(),
        files_per_client: 4,
        sizes: FileSizes::Fixed { bytes: 4096 },
        symbolic_links_per_client: 1,
        spare_names_per_client: 1,
        working_set_bytes: None,
        popularity: Popularity::Uniform,
    };
    let counts = MixCount::of(&[(OpKind::GetAttr, 60), (OpKind::Read, 40)]);
    let mix = MixPlan {
        remove_set: true,
        ..MixPlan::new("two", counts, set)
    };
    Plan {
        command: "mix".into(),
        target: TargetPlan::Nfs3(NfsTarget::built_in("/export")),
        workload: WorkloadPlan::Mix(Box::new(mix)),
        ..plan(clients)
    }
}

/// When a rank does something that a test waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Preparing,
    Ready,
    Measuring,
    CleaningUp,
    Ending,
}

/// Makes runs against this server; a rank may be stuck before or after that.
struct Here {
    server: SocketAddr,
    at: Option<(At, Box<dyn Fn() + Send + Sync>)>,
    /// Whether what was left cannot be cleaned up.
    refuses: Arc<AtomicBool>,
}

impl Here {
    fn job<'run>(&self, plan: &'run Plan) -> Job<'run> {
        Job {
            built_in: BuiltIn {
                nfs3: Some(self.server),
                ..BuiltIn::default()
            },
            ..Job::new(plan)
        }
    }

    fn reach(&self, at: At) {
        if let Some((wanted, act)) = &self.at
            && *wanted == at
        {
            act();
        }
    }
}

impl Runner for Here {
    fn run(
        &self,
        plan: &Plan,
        _calibrates: bool,
        context: &mut RunContext<'_>,
    ) -> Result<RunRecord, RankFailure> {
        let job = self.job(plan);
        self.reach(At::Preparing);
        let made = filestone_engine::run(&job, &Protocols::default(), context);
        self.reach(At::Ending);
        made.map_err(|error| RankFailure::new(error.category(), error.to_string(), None))
    }

    fn reclaim(
        &self,
        plan: &Plan,
        owner: &ProcessIdentity,
        limit: Duration,
        context: &mut RunContext<'_>,
    ) -> Result<(), RankFailure> {
        if self.refuses.load(Ordering::Relaxed) {
            let what = "the server is gone";
            return Err(RankFailure::new(ErrorCategory::Target, what, None));
        }
        let job = self.job(plan);
        let made = filestone_engine::reclaim(&job, &Protocols::default(), owner, limit, context);
        made.map_err(|error| RankFailure::new(error.category(), error.to_string(), None))
    }
}

const READY: &str = r#""Ready""#;
const CLEANING_UP: &str = r#"{"Phase":{"phase":"CleanUp"}}"#;

/// Something that happens once.
type Act = Box<dyn FnOnce() + Send>;

/// A rank's end that notes the moments at which it is told to begin, and acts when it is.
struct Noting {
    inner: InProcess,
    starts: Arc<Mutex<Vec<(u32, Instant)>>>,
    at_start: Option<Act>,
    /// The same before it says this.
    before: Option<(&'static str, Act)>,
}

/// What a message says; `None` of one with bytes in it.
fn read(message: &[u8]) -> Option<serde_json::Value> {
    rmp_serde::from_slice(message).ok()
}

impl Transport for Noting {
    fn rank(&self) -> u32 {
        self.inner.rank()
    }
    fn size(&self) -> u32 {
        self.inner.size()
    }
    fn send(&mut self, to: u32, message: &Arc<[u8]>) -> Result<(), TransportError> {
        let said = read(message).map(|said| said.to_string());
        let is_it = |(awaited, _): &mut (&str, Act)| said.as_deref() == Some(*awaited);
        if let Some((_, act)) = self.before.take_if(is_it) {
            act();
        }
        self.inner.send(to, message)
    }
    fn receive(&mut self) -> Option<(u32, Vec<u8>)> {
        let (from, bytes) = self.inner.receive()?;
        let value = read(&bytes).expect("nothing but words and numbers");
        if let Some(at_ns) = value.pointer("/Start/at_ns").and_then(|at| at.as_u64()) {
            let at = self.inner.instant_of(at_ns);
            self.starts.lock().expect("starts").push((self.rank(), at));
            if let Some(act) = self.at_start.take() {
                act();
            }
        }
        Some((from, bytes))
    }
    fn now_ns(&self) -> u64 {
        self.inner.now_ns()
    }
    fn instant_of(&self, at_ns: u64) -> Instant {
        self.inner.instant_of(at_ns)
    }
    fn leave(self: Box<Self>, _is_one_lost: bool) {}
}

/// So many ranks, of which the last one can be made to fail.
struct Ranks {
    cluster: Option<Cluster>,
    starts: Arc<Mutex<Vec<(u32, Instant)>>>,
    threads: Vec<JoinHandle<Result<bool, TransportError>>>,
    stops: Vec<Arc<AtomicBool>>,
    fault: RankFault,
    refuses: Arc<AtomicBool>,
    server: Running,
}

impl Ranks {
    fn new(ahead_ns: &[i64], options: JobOptions) -> Self {
        Self::failing(ahead_ns, options, |_| None)
    }

    /// The last rank does `act` at some moment.
    fn failing(
        ahead_ns: &[i64],
        options: JobOptions,
        act: impl Fn(RankFault) -> Option<(At, Box<dyn Fn() + Send + Sync>)>,
    ) -> Self {
        Self::failing_at(server(&[]), ahead_ns, options, act)
    }

    /// The same with another server.
    fn failing_at(
        server: Running,
        ahead_ns: &[i64],
        options: JobOptions,
        act: impl Fn(RankFault) -> Option<(At, Box<dyn Fn() + Send + Sync>)>,
    ) -> Self {
        let mut ends = connect(ahead_ns);
        let starts = Arc::new(Mutex::new(Vec::new()));
        let fault = ends.last().expect("ranks").1.clone();
        let (first, _) = ends.remove(0);
        let last = ahead_ns.len() as u32 - 1;
        let mut stops = Vec::new();
        let refuses = Arc::new(AtomicBool::new(false));
        let runner = |at| -> Arc<dyn Runner> {
            Arc::new(Here {
                server: server.address(),
                at,
                refuses: Arc::clone(&refuses),
            })
        };
        let threads = ends.into_iter().map(|(inner, fault)| {
            let is_last = inner.rank() == last;
            let at = if is_last { act(fault) } else { None };
            let (at, at_start, before) = match at {
                Some((At::Measuring, act)) => (None, Some(act), None),
                Some((At::Ready, act)) => (None, None, Some((READY, act))),
                Some((At::CleaningUp, act)) => (None, None, Some((CLEANING_UP, act))),
                other => (other, None, None),
            };
            let once = |act: Box<dyn Fn() + Send + Sync>| -> Act { Box::new(act) };
            let runner = runner(at);
            let mut noting = Noting {
                inner,
                starts: Arc::clone(&starts),
                at_start: at_start.map(once),
                before: before.map(|(awaited, act)| (awaited, once(act))),
            };
            let stop = Arc::new(AtomicBool::new(false));
            stops.push(Arc::clone(&stop));
            // A rank that was silenced ends as one that was given up.
            std::thread::spawn(move || serve(&mut noting, VERSION, &runner, &stop))
        });
        let threads = threads.collect();
        Self {
            cluster: Some(Cluster::new(Box::new(first), runner(None), options)),
            starts,
            threads,
            stops,
            fault,
            refuses,
            server,
        }
    }

    /// From now on, what lost ranks have left cannot be cleaned up.
    fn refuse_reclaim(&self) {
        self.refuses.store(true, Ordering::Relaxed);
    }

    fn run(&mut self, plan: &Plan) -> Result<RunRecord, JobError> {
        self.run_until(plan, &AtomicBool::new(false), &mut NoObserver)
    }

    fn run_until(
        &mut self,
        plan: &Plan,
        stop: &AtomicBool,
        observer: &mut dyn Observer,
    ) -> Result<RunRecord, JobError> {
        let cluster = self.cluster.as_mut().expect("a cluster");
        let record = cluster.run(plan, false, stop, observer)?;
        record.check().expect("it agrees with itself");
        Ok(record)
    }
}

impl Drop for Ranks {
    fn drop(&mut self) {
        self.fault.wake();
        if let Some(cluster) = self.cluster.take() {
            // Those that are lost hear no more of it.
            cluster.leave();
        }
        self.stops
            .iter()
            .for_each(|stop| stop.store(true, Ordering::Release));
        if !std::thread::panicking() {
            self.threads
                .drain(..)
                .for_each(|thread| drop(thread.join().expect("a rank")));
        }
    }
}

/// Ranks count as lost after 600 ms.
fn quick() -> JobOptions {
    JobOptions {
        watchdog: Duration::from_millis(600),
        ..JobOptions::new(VERSION)
    }
}

fn scheduled(record: &RunRecord) -> Vec<u64> {
    let hosts = &record.job.as_ref().expect("a job").hosts;
    hosts.iter().map(|host| host.ledger.scheduled).collect()
}

#[test]
fn a_job_is_one_run_whose_parts_add_up() {
    #[derive(Default)]
    struct Watching {
        rows: Vec<IntervalRecord>,
        counted: Vec<IntervalRecord>,
        phases: Vec<RunPhase>,
        connected: u64,
    }
    impl Observer for Watching {
        fn interval(&mut self, record: &IntervalRecord) {
            self.rows.push(record.clone());
        }
        fn counted_by_hosts(&mut self, interval: &IntervalRecord) {
            self.counted.push(interval.clone());
        }
        fn phase(&mut self, phase: RunPhase) {
            self.phases.push(phase);
        }
        fn connected(&mut self, connections: &ConnectionsRecord) {
            self.connected += connections.made;
        }
    }
    let mut ranks = Ranks::new(&[0, 0, 0], JobOptions::new(VERSION));
    let stop = AtomicBool::new(false);
    for _ in 0..2 {
        let mut watching = Watching::default();
        let record = ranks
            .run_until(&plan(6), &stop, &mut watching)
            .expect("a record");
        // 300/s for 600 ms.
        assert_eq!(record.totals.ledger.scheduled, 180);
        assert_eq!(scheduled(&record), [60, 60, 60]);
        assert_eq!((record.end, record.plan.clients), (RunOutcome::Finished, 6));
        assert_eq!(record.totals.offered_load_ops_per_s, Some(300.0));
        assert_eq!(record.plan.part, None);
        // What was told while it ran is what the record has.
        let told = watching.rows.len();
        assert!(told >= 5, "{told}");
        assert!(
            watching.rows == record.intervals[..told],
            "the first {told} intervals"
        );
        assert!(watching.counted == watching.rows);
        // Of all ranks together; of one rank, since all are in the same part of their runs.
        assert_eq!(watching.connected, 6);
        // A drain in which nothing is left to end may be over before anybody looks.
        watching.phases.retain(|phase| *phase != RunPhase::Drain);
        let measured = [RunPhase::Measure, RunPhase::CleanUp];
        assert!(
            watching.phases.ends_with(&measured),
            "{:?}",
            watching.phases
        );
    }
}

#[test]
fn rank_0_need_not_make_load_and_the_load_can_be_that_of_each_host() {
    let options = JobOptions {
        coordinator_only: true,
        per_host: true,
        ..JobOptions::new(VERSION)
    };
    let mut ranks = Ranks::new(&[0, 0, 0], options);
    let cluster = ranks.cluster.as_ref().expect("a cluster");
    let watched = cluster.plan_of_all(&plan(2));
    let record = ranks.run(&plan(2)).expect("a record");
    // Whoever watches is told of as many clients and threads as the record has in the end.
    let of = |plan: &Plan| (plan.clients, plan.workers, plan.arrivals);
    assert_eq!(of(&watched), of(&record.plan));
    assert_eq!(scheduled(&record), [180, 180]);
    assert_eq!(record.plan.clients, 4);
    assert_eq!(record.totals.offered_load_ops_per_s, Some(600.0));
}

#[test]
fn all_begin_at_one_moment_whatever_their_clocks_show() {
    let ahead = [0, 50 * MS as i64, -50 * MS as i64, 7 * MS as i64];
    let mut ranks = Ranks::new(&ahead, JobOptions::new(VERSION));
    let record = ranks.run(&plan(4)).expect("a record");
    let hosts = record.job.expect("a job").hosts;
    let uncertainty = |rank: u32| {
        let clock = hosts[rank as usize].clock.expect("a clock");
        Duration::from_nanos(clock.uncertainty_ns)
    };
    let starts = ranks.starts.lock().expect("starts").clone();
    assert_eq!(starts.len(), 3);
    for (one, at) in &starts {
        for (other, later) in &starts {
            let apart = later.saturating_duration_since(*at);
            let bound = uncertainty(*one) + uncertainty(*other);
            assert!(apart <= bound, "{one} and {other}: {apart:?} of {bound:?}");
        }
    }
}

/// What comes of a job of which a rank falls silent at this moment.
fn silenced(at: At, on_rank_lost: OnRankLost) -> Result<RunRecord, JobError> {
    let options = JobOptions {
        on_rank_lost,
        ..quick()
    };
    let mut ranks = Ranks::failing(&[0, 0, 0], options, |fault| {
        Some((at, Box::new(move || fault.silence())))
    });
    ranks.run(&plan(6))
}

#[test]
fn a_rank_that_dies_before_the_start_is_named_and_nothing_is_measured() {
    let made = silenced(At::Preparing, OnRankLost::End);
    let error = made.expect_err("no record");
    assert!(matches!(&error, JobError::Lost { rank: 2, .. }), "{error}");
    let text = error.to_string();
    assert!(
        text.contains("(rank 2) was lost (preparing): it has not been heard of for 0.6 s"),
        "{text}"
    );
}

#[test]
fn a_rank_that_dies_is_named_and_the_others_are_kept() {
    for (at, phases) in [
        (At::Measuring, ["measuring", "ending"]),
        (At::Ending, ["ending", "measuring"]),
    ] {
        let made = silenced(at, OnRankLost::End);
        let record = made.expect("the others' record");
        assert_eq!(scheduled(&record).len(), 2, "{at:?}");
        let job = record.job.expect("a job");
        let [lost] = job.lost.as_slice() else {
            panic!("{:?}", job.lost);
        };
        assert_eq!(lost.part, 2);
        assert!(phases.contains(&&*lost.phase), "{lost:?}");
        let is_told = |caveat: &filestone_measure::measure::Caveat| caveat.id() == "host-lost";
        assert!(record.caveats.iter().any(is_told));
    }
}

#[test]
fn a_job_can_go_on_without_a_rank_that_dies() {
    let made = silenced(At::Measuring, OnRankLost::Continue);
    let record = made.expect("the others' record");
    assert_eq!(record.end, RunOutcome::Finished);
    assert_eq!(scheduled(&record), [60, 60]);
}

/// Whether the server has a file set of this name.
fn has_set(server: SocketAddr, name: &str) -> bool {
    let target = NfsTarget {
        host: Some(server.ip().to_string()),
        port: Some(server.port()),
        ..NfsTarget::built_in("/export")
    };
    let caller = MountCaller {
        target: &target,
        timeout_ns: 5000 * MS,
        seed: 1,
        wants_link: false,
        source: None,
        identities: Identities::default(),
    };
    let (mut session, export) = mount(&caller, None).expect("it can be mounted");
    session
        .lookup(name, &export.handle, name.as_bytes())
        .is_ok()
}

/// A rank that is silent ends by itself after three times as long: by then, the job is long over.
fn of_a_second() -> JobOptions {
    JobOptions {
        watchdog: Duration::from_secs(1),
        ..quick()
    }
}

/// A mix that a silent rank does not come to the end of.
fn long_mix(remove_set: bool) -> Plan {
    let mut plan = mix(6);
    plan.duration_ns = Some(3_600_000 * MS);
    plan.mix_mut().expect("a mix").remove_set = remove_set;
    plan
}

#[test]
fn the_file_set_of_a_rank_that_is_lost_is_removed_or_given_up() {
    for at in [At::Ready, At::Measuring] {
        for removes in [true, false] {
            let mut ranks = Ranks::failing(&[0, 0, 0], of_a_second(), |fault| {
                Some((at, Box::new(move || fault.silence())))
            });
            match ranks.run(&long_mix(removes)) {
                Ok(record) => {
                    let job = record.job.expect("a job");
                    assert_eq!(job.lost.len(), 1, "{at:?}");
                    assert_eq!(job.lost[0].remains, None, "{at:?}");
                }
                Err(error) => assert_eq!(at, At::Ready, "{error}"),
            }
            for name in ["set-1of3", "set-2of3", "set-3of3"] {
                let has_set = has_set(ranks.server.address(), name);
                assert_eq!(has_set, !removes, "{at:?}, {name}");
            }
        }
    }
}

#[test]
fn a_rank_that_is_lost_does_not_keep_the_others_from_cleaning_up() {
    // They are still at it when it is lost.
    let slow = server(&["delay=700ms,proc=remove"]);
    let mut ranks = Ranks::failing_at(slow, &[0, 0, 0], quick(), |fault| {
        Some((At::CleaningUp, Box::new(move || fault.silence())))
    });
    let record = ranks.run(&mix(6)).expect("the others' record");
    assert_eq!(record.end, RunOutcome::Finished);
    let job = record.job.expect("a job");
    assert_eq!((job.hosts.len(), &*job.lost[0].phase), (2, "ending"));
    for host in &job.hosts {
        let left = host.caveats.iter().find(|caveat| caveat.id() == "leftover");
        assert_eq!(left, None, "{}", host.name);
    }
    for name in ["set-1of3", "set-2of3"] {
        assert!(!has_set(ranks.server.address(), name), "{name}");
    }
}

#[test]
fn what_of_a_lost_rank_cannot_be_removed_is_said_after_the_record_was_told() {
    #[derive(Default)]
    struct Told(Vec<RunRecord>);
    impl Observer for Told {
        fn measured(&mut self, record: &RunRecord) {
            self.0.push(record.clone());
        }
    }
    let options = JobOptions {
        on_rank_lost: OnRankLost::Continue,
        ..quick()
    };
    let mut ranks = Ranks::failing(&[0, 0, 0], options, |fault| {
        Some((At::Measuring, Box::new(move || fault.silence())))
    });
    ranks.refuse_reclaim();
    let mut plan = mix(6);
    plan.duration_ns = Some(2000 * MS);
    let (stop, mut told) = (AtomicBool::new(false), Told::default());
    let record = ranks.run_until(&plan, &stop, &mut told).expect("a record");
    let remains = |record: &RunRecord| record.job.as_ref().expect("a job").lost[0].remains.clone();
    let [before] = &told.0[..] else {
        panic!("{} records", told.0.len());
    };
    assert_eq!(remains(before), None);
    assert_eq!(remains(&record).as_deref(), Some("the server is gone"));
    let is_left = |caveat: &filestone_measure::measure::Caveat| caveat.id() == "leftover";
    assert!(record.caveats.iter().any(is_left), "{:?}", record.caveats);
    assert_eq!(scheduled(before), scheduled(&record));
}

#[test]
fn a_rank_that_wakes_up_after_it_was_lost_hears_so_and_ends() {
    let mut ranks = Ranks::failing(&[0, 0, 0], of_a_second(), |fault| {
        Some((At::Measuring, Box::new(move || fault.silence())))
    });
    ranks.run(&long_mix(true)).expect("the others' record");
    ranks.fault.wake();
    let last = ranks.threads.pop().expect("the last rank");
    let ended = last.join().expect("a rank");
    assert_eq!(ended, Err(TransportError::GivenUp));
    assert!(!has_set(ranks.server.address(), "set-3of3"));
}

#[test]
fn a_rank_that_lags_by_less_than_the_watchdog_is_part_of_the_job() {
    for at in [At::Preparing, At::Measuring, At::Ending] {
        let mut ranks = Ranks::failing(&[0, 0, 0], quick(), move |fault| {
            Some((at, Box::new(move || fault.delay(Duration::from_millis(20)))))
        });
        let record = ranks.run(&plan(6)).expect("a record");
        assert_eq!(scheduled(&record), [60, 60, 60], "{at:?}");
    }
}

#[test]
fn a_rank_whose_clock_answers_late_is_part_of_the_job() {
    let options = JobOptions {
        watchdog: Duration::from_secs(2),
        ..quick()
    };
    let mut ranks = Ranks::failing(&[0, 0, 0], options, move |fault| {
        let late = move || fault.delay(Duration::from_millis(100));
        Some((At::Preparing, Box::new(late)))
    });
    let record = ranks.run(&plan(6)).expect("a record");
    assert_eq!(scheduled(&record), [60, 60, 60]);
}

#[test]
fn a_stop_ends_the_job_in_order() {
    struct StopsAtFirst<'stop>(&'stop AtomicBool);
    impl Observer for StopsAtFirst<'_> {
        fn interval(&mut self, _record: &IntervalRecord) {
            self.0.store(true, Ordering::Release);
        }
    }
    let mut ranks = Ranks::new(&[0, 0], JobOptions::new(VERSION));
    let stop = AtomicBool::new(false);
    let long = Plan {
        duration_ns: Some(3_600_000 * MS),
        ..plan(2)
    };
    let record = ranks
        .run_until(&long, &stop, &mut StopsAtFirst(&stop))
        .expect("a record");
    assert_eq!(record.end, RunOutcome::Interrupted);
    assert_eq!(scheduled(&record).len(), 2);
    // And the ranks are there for the next one.
    let record = ranks.run(&plan(2)).expect("a record");
    assert_eq!(record.totals.ledger.scheduled, 180);
}

#[test]
fn the_load_of_all_ranks_is_steered_as_that_of_one_host() {
    let mut steered = mix(4);
    steered.duration_ns = None;
    steered.steering = Some(SteeringPlan::Curve(CurvePlan {
        points: 3,
        peak_ops_per_s: Some(300.0),
        point_ns: 400 * MS,
        warm_up_max_ns: 300 * MS,
        down: false,
    }));
    let mut ranks = Ranks::new(&[0, 0], JobOptions::new(VERSION));
    let record = ranks.run(&steered).expect("a record");
    let curve = record.curve.as_ref().expect("a curve");
    let loads = curve
        .points
        .iter()
        .map(|point| point.offered_load_ops_per_s);
    assert_eq!(
        loads.map(f64::round).collect::<Vec<_>>(),
        [100.0, 200.0, 300.0]
    );
    // Each rank had half of it.
    let [one, other] = scheduled(&record)[..] else {
        panic!("two ranks");
    };
    assert!(one.abs_diff(other) * 5 < one + other, "{one} and {other}");
    assert!(
        record
            .mix
            .as_ref()
            .is_some_and(|mix| mix.file_set.paths.len() == 2)
    );
}

#[test]
fn what_a_rank_cannot_do_is_its_hosts_error() {
    let mut ranks = Ranks::new(&[0, 0], JobOptions::new(VERSION));
    let mut nowhere = plan(2);
    nowhere.target.nfs3_mut().expect("NFS").path = "/export/not/there".into();
    let error = ranks.run(&nowhere).expect_err("no record");
    assert!(matches!(error, JobError::Failed { .. }), "{error}");
    let error = ranks.run(&plan(1)).expect_err("one client");
    assert_eq!(error.to_string(), "1 clients cannot be dealt to 2 hosts");
}

#[test]
fn a_rank_of_another_version_is_refused() {
    let options = JobOptions::new("1 (test)");
    let mut ranks = Ranks::new(&[0, 0], options);
    let error = ranks.run(&plan(2)).expect_err("no record").to_string();
    assert!(error.contains("it has filestone 0 (test)"), "{error}");
}

#[test]
fn a_rank_that_never_comes_is_told() {
    let mut ends = connect(&[0, 0]);
    let (first, _) = ends.remove(0);
    let options = JobOptions {
        greeting: Duration::from_millis(50),
        ..quick()
    };
    let server = server(&[]);
    let runner = Arc::new(Here {
        server: server.address(),
        at: None,
        refuses: Arc::default(),
    });
    let mut cluster = Cluster::new(Box::new(first), runner, options);
    let made = cluster.run(&plan(2), false, &AtomicBool::new(false), &mut NoObserver);
    assert!(matches!(made, Err(JobError::NotThere { rank: 1, .. })));
}
