//! One run: prepare, warm up, measure, drain, clean up.
//!
//! The coordinator is the calling thread. It starts the workers, merges the
//! intervals that they hand over, and makes the record.

use crate::backend::sockets::{SocketOptions, Sockets};
use crate::clock::Clock;
use crate::error::RunError;
use crate::host;
use crate::prepare::mount::Caller;
use crate::prepare::{Prepared, go_on, mount, prepare};
use crate::transport::allow_open_files;
use crate::worker::{IntervalSink, Worker, WorkerEnd, new_buffer};
use filestone_model::client::Nfs3Client;
use filestone_model::client::nfs3::{Shared, Templates, Verify, failure};
use filestone_model::measure::run_record::{self, IntervalRecord, RunEnd, RunRecord, Target, Tool};
use filestone_model::measure::{Assembly, Caveat, IntervalBuffer, caveat};
use filestone_model::operation::OpKind;
use filestone_model::plan::{Plan, ProbeRun, TransportKind};
use filestone_model::random::{Purpose, stream};
use filestone_model::time::Moment;
use filestone_model::workload::{FileTable, Probe, Workload};
use filestone_wire::pattern;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, SystemTime};

/// How long one connection may take to be made before the run.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Interval buffers per worker: one being filled, the others on their way.
const BUFFERS_PER_WORKER: usize = 3;
/// Files that a process has open besides its connections.
const OTHER_FILES: u64 = 64;

/// Calls in flight per client at most: the xid has 16 bits left for generations.
const IN_FLIGHT_MAX: u32 = 1 << 16;
/// Calls in flight of all clients at most.
const SLOTS_MAX: u64 = 16 << 20;

/// Operations per second that may be offered at most: one per nanosecond.
const OFFERED_MAX: f64 = 1e9;

/// Is told how a run goes on, on the coordinating thread.
pub trait Observer {
    /// What is being done before or after the measured run.
    fn preparing(&mut self, _what: &str) {}
    /// The target has been found and everything is looked up.
    fn prepared(&mut self, _target: &Target) {}
    /// An interval is complete.
    fn interval(&mut self, _record: &IntervalRecord) {}
    /// A second of a replay has passed.
    fn progress(&mut self, _progress: &crate::replay::Progress) {}
}

/// An observer that looks away.
pub struct Unobserved;

impl Observer for Unobserved {}

/// What a worker sends to the coordinator.
enum FromWorker {
    Interval(usize, Box<IntervalBuffer>),
    Done(usize, WorkerEnd),
}

/// A worker's side of the exchange of buffers. Both channels have room for all
/// buffers there are, so nothing here waits or allocates.
struct Exchange {
    worker: usize,
    full: SyncSender<FromWorker>,
    empty: Receiver<Box<IntervalBuffer>>,
}

impl IntervalSink for Exchange {
    fn empty(&mut self) -> Option<Box<IntervalBuffer>> {
        self.empty.try_recv().ok()
    }

    fn full(&mut self, buffer: Box<IntervalBuffer>) {
        // The coordinator outlives the workers; were it gone, nobody would want it.
        let _ = self.full.send(FromWorker::Interval(self.worker, buffer));
    }
}

/// Makes the run of `plan`. `built_in` is where the built-in server listens, for
/// a plan without a host.
///
/// An interrupted run, and one whose server was lost in the middle, give a
/// record that says so.
pub fn run(
    plan: &Plan,
    built_in: Option<SocketAddr>,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<RunRecord, RunError> {
    let plan = &probe_run(plan)?;
    check(plan)?;
    let mut prepared = prepare(plan, built_in, stop, observer)?;
    observer.prepared(&prepared.target);
    let measured = measure(plan, &mut prepared, stop, observer);
    let own_path = prepared.own_path().unwrap_or_default().to_string();
    let cleaned = prepared.clean_up(observer);
    let mut record = measured?;
    if let Err(error) = cleaned {
        record.caveats.push(Caveat::LeftBehind {
            path: own_path,
            reason: error.to_string(),
        });
    }
    Ok(record)
}

/// The plan as what the event loop runs.
pub(crate) fn probe_run(plan: &Plan) -> Result<ProbeRun<'_>, RunError> {
    plan.as_probe_run().ok_or_else(|| {
        RunError::Unsuitable(
            "only load files are replayed against targets other than NFS servers".into(),
            Some("a probe takes a target of protocol nfs3".into()),
        )
    })
}

/// What a plan must be, whatever the target.
fn check(plan: &ProbeRun<'_>) -> Result<(), RunError> {
    check_counts(plan)?;
    check_transfer(plan)?;
    check_host(plan)
}

fn refuse(what: String, help: &str) -> Result<(), RunError> {
    Err(RunError::Unsuitable(what, Some(help.into())))
}

/// Clients, workers, calls in flight, and an end.
fn check_counts(plan: &Plan) -> Result<(), RunError> {
    if plan.clients == 0 || plan.in_flight == 0 || plan.workers == 0 {
        return refuse(
            "clients, calls in flight and workers must each be at least 1".into(),
            "see --help",
        );
    }
    if plan.in_flight > IN_FLIGHT_MAX
        || u64::from(plan.in_flight) * u64::from(plan.clients) > SLOTS_MAX
    {
        return refuse(
            format!(
                "{} calls in flight for each of {} clients are more than this program keeps count of",
                plan.in_flight, plan.clients
            ),
            "at most 65,536 per client and 16 million in all (--in-flight, --clients)",
        );
    }
    if plan.workers > plan.clients {
        return refuse(
            format!(
                "{} workers for {} clients: a client belongs to one worker",
                plan.workers, plan.clients
            ),
            "use at least as many clients (--clients) as workers (--workers)",
        );
    }
    if let Some(load) = plan.arrivals.offered_load()
        && !(load > 0.0 && load <= OFFERED_MAX)
    {
        return refuse(
            format!("--offered {load}: the offered load must be more than 0 operations per second"),
            "at most 1,000,000,000",
        );
    }
    if plan.duration_ns.is_none() && plan.count.is_none() {
        return refuse(
            "the run would never end".into(),
            "say how long (--duration) or how many (--count)",
        );
    }
    Ok(())
}

/// Bytes per call.
fn check_transfer(plan: &ProbeRun<'_>) -> Result<(), RunError> {
    let (size, operation) = (plan.probe.size_bytes, plan.probe.operation);
    if size == 0 || size as usize > pattern::PERIOD {
        return refuse(
            format!(
                "--size {size}: {} takes 1 byte to 1 MiB per call",
                operation.name()
            ),
            "the largest transfer that servers take is usually 1 MiB",
        );
    }
    let moves_data = matches!(operation, OpKind::Read | OpKind::Write | OpKind::Commit);
    if plan.target.transport == TransportKind::Udp && moves_data && size > 63 * 1024 {
        return refuse(
            format!("--size {size}: a datagram holds at most 63 KiB of file data"),
            "use a smaller --size, or --transport tcp",
        );
    }
    Ok(())
}

/// The processors that threads are bound to.
pub(crate) fn check_pin(plan: &Plan) -> Result<(), RunError> {
    if let Some(cpu) = plan
        .pin
        .iter()
        .find(|cpu| **cpu as usize >= rustix::thread::CpuSet::MAX_CPU)
    {
        return refuse(
            format!("--pin {cpu}: there is no such processor"),
            "processors are numbered from 0",
        );
    }
    Ok(())
}

/// What this host must have for it.
fn check_host(plan: &Plan) -> Result<(), RunError> {
    check_pin(plan)?;
    let needed = u64::from(plan.clients) + OTHER_FILES;
    let allowed = allow_open_files(needed);
    if allowed < needed {
        return Err(RunError::System {
            what: format!(
                "open {} connections: this process may have {allowed} open files",
                plan.clients
            ),
            source: std::io::Error::from_raw_os_error(rustix::io::Errno::MFILE.raw_os_error()),
        });
    }
    Ok(())
}

/// What all workers need, made once.
struct Materials {
    shared: Shared,
    table: Arc<FileTable>,
    options: SocketOptions,
}

impl Materials {
    fn of(plan: &ProbeRun<'_>, prepared: &mut Prepared) -> Self {
        let pattern: Arc<[u8]> = pattern::table().into();
        let table = Arc::new(std::mem::take(&mut prepared.table));
        let shared = Shared {
            templates: Arc::new(Templates::new(&mount::credentials(&Caller::new(
                plan,
                plan.target,
            )))),
            table: Arc::clone(&table),
            pattern: Arc::clone(&pattern),
            timeout_nanos: plan.timeout_ns,
            transport: plan.target.transport,
        };
        let options = SocketOptions {
            dial: prepared.dial,
            pattern,
            busy_poll: plan.busy_poll,
            reconnect_nanos: plan.reconnect_ns,
        };
        Self {
            shared,
            table,
            options,
        }
    }

    fn client(&self, plan: &ProbeRun<'_>, client: u32) -> Nfs3Client {
        let workload = plan.probe;
        let reads = workload.operation == OpKind::Read;
        let verify = (reads && workload.verify).then(|| {
            Box::new(Verify::new(
                Arc::clone(&self.table),
                Arc::clone(&self.shared.pattern),
                workload.size_bytes,
            ))
        });
        let read_len = if reads { workload.size_bytes } else { 0 };
        let mut xids = stream(plan.seed ^ xid_salt(), Purpose::Xid, u64::from(client));
        Nfs3Client::new(
            self.shared.clone(),
            plan.in_flight,
            read_len,
            verify,
            &mut xids,
        )
    }

    fn workload(&self, plan: &ProbeRun<'_>, client: u32) -> Box<dyn Workload> {
        Box::new(Probe::new(
            plan.probe,
            Arc::clone(&self.table),
            client,
            plan.in_flight,
            plan.seed,
        ))
    }

    /// The clients of one worker, connected.
    fn connect(
        &self,
        plan: &ProbeRun<'_>,
        worker: u32,
        stop: &AtomicBool,
    ) -> Result<Vec<(Nfs3Client, std::os::fd::OwnedFd)>, RunError> {
        let dial = self.options.dial;
        plan.clients_of_worker(worker)
            .map(|client| {
                go_on(stop)?;
                match dial.connect(CONNECT_TIMEOUT) {
                    Ok(socket) => Ok((self.client(plan, client), socket)),
                    Err(source) => Err(RunError::Connect {
                        address: dial.address,
                        source,
                    }),
                }
            })
            .collect()
    }

    /// The connected clients of one worker, as what its loop runs on.
    fn backend(
        &self,
        plan: &ProbeRun<'_>,
        worker: u32,
        clock: &Clock,
        stop: &AtomicBool,
    ) -> Result<Sockets<Nfs3Client>, RunError> {
        let clients = self.connect(plan, worker, stop)?;
        Ok(Sockets::new(clock.clone(), self.options.clone(), clients)?)
    }
}

/// First xids must differ between runs, even of one plan: a server's
/// duplicate-request cache may remember the last one.
fn xid_salt() -> u64 {
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    now.as_nanos() as u64 ^ u64::from(std::process::id()) << 40
}

fn measure(
    plan: &ProbeRun<'_>,
    prepared: &mut Prepared,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<RunRecord, RunError> {
    let materials = Materials::of(plan, prepared);
    if plan.clients > 1 {
        observer.preparing(&format!("connecting {} clients", plan.clients));
    }
    let clock = Clock::start();
    let workers = plan.workers as usize;
    let backends = (0..plan.workers)
        .map(|worker| materials.backend(plan, worker, &clock, stop))
        .collect::<Result<Vec<_>, _>>()?;
    let driver = backends.first().map_or("none", Sockets::driver);
    observer.preparing("running");
    let (full, from_workers) = sync_channel(workers * (BUFFERS_PER_WORKER + 1) + 1);
    let mut coordinator = Coordinator::new(plan);
    let halt = &AtomicBool::new(false);
    let started_at = std::thread::scope(|scope| -> Result<SystemTime, RunError> {
        // Channels and not a barrier: where not all threads can be started, the
        // others must not wait for ever.
        let (ready, all_ready) = sync_channel(workers);
        let mut starts = Vec::with_capacity(workers);
        for (index, backend) in backends.into_iter().enumerate() {
            let sink = coordinator.exchange(plan, index, full.clone());
            let (start, started) = sync_channel::<Clock>(1);
            starts.push(start);
            let (materials, ready, full) = (&materials, ready.clone(), full.clone());
            let body = move || {
                settle(plan, index);
                let make = |client| materials.workload(plan, client);
                let mut worker = Worker::new(plan, index as u32, backend, sink, (stop, halt), make);
                let _ = ready.send(());
                drop(ready);
                let Ok(clock) = started.recv() else { return };
                worker.backend_mut().start(clock);
                let _ = full.send(FromWorker::Done(index, worker.run()));
            };
            std::thread::Builder::new()
                .name(format!("filestone-w{index}"))
                .spawn_scoped(scope, body)
                .map_err(|source| RunError::System {
                    what: "start a thread".into(),
                    source,
                })?;
        }
        drop((full, ready));
        // Ends early only if a worker is gone, which the scope then says.
        all_ready.iter().take(workers).for_each(drop);
        let started_at = SystemTime::now();
        let clock = clock.restarted();
        for start in starts {
            let _ = start.send(clock.clone());
        }
        coordinator.collect(&from_workers, workers, halt, observer);
        Ok(started_at)
    })?;
    Ok(coordinator.into_record(plan, &prepared.target, driver, &clock, started_at))
}

/// What made a record: this program.
pub(crate) fn tool() -> Tool {
    let profile = if cfg!(debug_assertions) {
        "debug"
    } else {
        "release"
    };
    Tool {
        name: "filestone".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        profile: profile.into(),
    }
}

/// Makes the calling thread a good place to measure from.
pub(crate) fn settle(plan: &Plan, index: usize) {
    // A sleeping thread would otherwise be woken up to 50 µs late on purpose.
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    if plan.pin.is_empty() {
        return;
    }
    let mut cpus = rustix::thread::CpuSet::new();
    cpus.set(plan.pin[index % plan.pin.len()] as usize);
    // A processor that is not there leaves the thread where it was; the record's
    // host says how many there are.
    let _ = rustix::thread::sched_setaffinity(None, &cpus);
}

/// Merges what the workers hand over.
struct Coordinator {
    assembly: Assembly,
    /// Empty buffers that each worker has, and how to give it more; `None` when it
    /// has finished.
    spares: Vec<Option<(usize, SyncSender<Box<IntervalBuffer>>)>>,
    ends: Vec<WorkerEnd>,
}

impl Coordinator {
    fn new(plan: &Plan) -> Self {
        Self {
            assembly: Assembly::new(plan),
            spares: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// A worker's side of the exchange, with its first empty buffers.
    fn exchange(&mut self, plan: &Plan, worker: usize, full: SyncSender<FromWorker>) -> Exchange {
        let (give, empty) = sync_channel(plan.workers as usize * BUFFERS_PER_WORKER);
        for _ in 0..BUFFERS_PER_WORKER {
            let _ = give.send(Box::new(new_buffer(plan)));
        }
        self.spares.push(Some((BUFFERS_PER_WORKER, give)));
        Exchange {
            worker,
            full,
            empty,
        }
    }

    fn collect(
        &mut self,
        from_workers: &Receiver<FromWorker>,
        workers: usize,
        halt: &AtomicBool,
        observer: &mut dyn Observer,
    ) {
        while self.ends.len() < workers {
            let Ok(message) = from_workers.recv() else {
                return;
            };
            match message {
                FromWorker::Interval(worker, buffer) => {
                    if let Some(Some((spares, _))) = self.spares.get_mut(worker) {
                        *spares = spares.saturating_sub(1);
                    }
                    let merged = self.assembly.take(worker, buffer);
                    merged.into_iter().for_each(|buffer| self.give_back(buffer));
                }
                FromWorker::Done(worker, end) => {
                    // The others' intervals must not wait for one that has
                    // nothing more to say.
                    self.assembly.finish(worker);
                    if let Some(spares) = self.spares.get_mut(worker) {
                        *spares = None;
                    }
                    if end.lost.is_some() {
                        halt.store(true, Ordering::Relaxed);
                    }
                    self.ends.push(end);
                }
            }
            while let Some((record, buffer)) = self.assembly.complete() {
                observer.interval(&record);
                self.give_back(buffer);
            }
        }
    }

    /// Gives an empty buffer to the worker that has the fewest.
    fn give_back(&mut self, mut buffer: Box<IntervalBuffer>) {
        buffer.reset(Moment::ZERO);
        let running = self.spares.iter_mut().flatten();
        if let Some((spares, give)) = running.min_by_key(|(spares, _)| *spares) {
            *spares += 1;
            // A worker that finishes meanwhile needs none.
            let _ = give.try_send(buffer);
        }
    }

    fn into_record(
        self,
        plan: &Plan,
        target: &Target,
        driver: &str,
        clock: &Clock,
        started_at: SystemTime,
    ) -> RunRecord {
        let window_start = Moment::from_nanos(plan.warm_up_ns);
        let window_end = self
            .ends
            .iter()
            .map(|end| end.window_end)
            .max()
            .unwrap_or(window_start);
        let (intervals, ticks, mut totals) =
            self.assembly.conclude(plan, window_end, failure::name);
        totals.reconnections = self.ends.iter().map(|end| end.reconnections).sum();
        totals.unusable_ns = self.ends.iter().map(|end| end.unusable_nanos).sum();
        let lost = self.ends.iter().find_map(|end| end.lost.as_ref());
        let end = match lost {
            Some(error) => RunEnd::TargetLost {
                message: error.to_string(),
            },
            None if self.ends.iter().any(|end| end.is_interrupted) => RunEnd::Interrupted,
            None => RunEnd::Finished,
        };
        let window_at = started_at + Duration::from_nanos(plan.warm_up_ns);
        let mut record = RunRecord {
            format: run_record::FORMAT,
            method: run_record::METHOD,
            tool: tool(),
            started_at: humantime::format_rfc3339_millis(window_at).to_string(),
            plan: plan.clone(),
            host: host::describe(clock, driver),
            target: target.clone(),
            headroom: None,
            replay: None,
            mix: None,
            curve: None,
            objective: None,
            end,
            window_ns: window_end.nanos_since(window_start),
            totals,
            intervals,
            ticks,
            caveats: Vec::new(),
        };
        record.caveats = caveat::find(&record);
        record
    }
}
