//! One run: prepare, warm up, measure, drain, clean up.
//!
//! The coordinator is the calling thread. It starts the workers, merges the
//! intervals that they hand over, and makes the record.

mod check;
mod coordinator;
mod course;
mod materials;
mod steered;

pub(crate) use check::check_pin;
pub(crate) use course::Course;

use crate::backend::sockets::Sockets;
pub use crate::control::{Observer, Unobserved};

use crate::clock::Clock;
use crate::control::Context;
use crate::error::RunError;
use crate::prepare::{Prepared, prepare, prepare_mix};
use crate::processors::Meter;
use crate::worker::{Offer, Signals, Worker};
use coordinator::{BUFFERS_PER_WORKER, Coordinator, FromWorker};
use filestone_model::client::Nfs3Client;
use filestone_model::measure::Caveat;
use filestone_model::measure::run_record::{Headroom, RunRecord, Tool};
use filestone_model::plan::{ArrivalsPlan, Asked, NfsRun, Plan, ProbeRun, SteeringPlan};
use filestone_model::steering::curve::CurveSteering;
use filestone_model::steering::{LoadRange, ObjectiveSearch, Steering};
use materials::Materials;
use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::SystemTime;
use steered::Steered;

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
    run_within(None, plan, built_in, stop, observer)
}

/// Makes the run of `plan`. `headroom` is what the load generator can do here, if that
/// was measured: a steered run looks no further.
pub fn run_within(
    headroom: Option<&Headroom>,
    plan: &Plan,
    built_in: Option<SocketAddr>,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<RunRecord, RunError> {
    let limit = headroom.map(|headroom| headroom.engine_ops_per_s);
    let mut steer = |steering| run_steered(plan, built_in, stop, observer, steering);
    match &plan.steering {
        None => steer(None),
        Some(SteeringPlan::Curve(curve)) => {
            let mut steering = CurveSteering::new(curve, limit);
            let mut record = steer(Some(&mut steering))?;
            let curve = steering.conclude();
            record.caveats.extend(curve.doubts());
            record.curve = Some(curve);
            Ok(record)
        }
        Some(SteeringPlan::Objective(objective)) => {
            let default = LoadRange::default();
            let range = LoadRange {
                highest: limit.unwrap_or(default.highest),
                ..default
            };
            let mut steering = ObjectiveSearch::new(objective, range);
            let mut record = steer(Some(&mut steering))?;
            record.objective = Some(steering.conclude());
            Ok(record)
        }
    }
}

/// Makes the run of `plan`, and lets `steering` decide on the offered load after every
/// interval.
pub fn run_steered(
    plan: &Plan,
    built_in: Option<SocketAddr>,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
    steering: Option<&mut dyn Steering>,
) -> Result<RunRecord, RunError> {
    let mut steering = steering;
    let mut begun = plan.clone();
    if let Some(steering) = &mut steering {
        begun.arrivals = offering(&plan.arrivals, steering.first())?;
    }
    let asked = plan;
    let plan = &nfs_run(&begun)?;
    check::check(plan)?;
    let context = &mut Context::new(stop, observer);
    let mut prepared = match plan.asked {
        Asked::Probe(_) => prepare(&probe_run(plan)?, built_in, context)?,
        Asked::Mix(mix) => prepare_mix(plan, mix, built_in, context)?,
    };
    context.observer.prepared(&prepared.target);
    let measured = measure(plan, &mut prepared, context, steering);
    let own_path = prepared.own_path().unwrap_or_default().to_string();
    let cleaned = prepared.clean_up(context);
    let mut record = measured?;
    record.plan = asked.clone();
    if let (Some(mix), Some(set)) = (&mut record.mix, prepared.file_set()) {
        mix.file_set.removed = set.record.removed;
    }
    if let Err(error) = cleaned {
        let reason = match error {
            RunError::Interrupted => "interrupted before that was done".into(),
            error => error.to_string(),
        };
        let path = own_path;
        let stays = plan.mix().is_some_and(|mix| !mix.remove_set);
        record.caveats.push(if stays {
            Caveat::FileSetStillClaimed { path, reason }
        } else {
            Caveat::LeftBehind { path, reason }
        });
    }
    Ok(record)
}

/// The same arrivals at another load.
fn offering(
    arrivals: &ArrivalsPlan,
    offered_load_ops_per_s: f64,
) -> Result<ArrivalsPlan, RunError> {
    match arrivals {
        ArrivalsPlan::Constant { .. } => Ok(ArrivalsPlan::Constant {
            offered_load_ops_per_s,
        }),
        ArrivalsPlan::Poisson { .. } => Ok(ArrivalsPlan::Poisson {
            offered_load_ops_per_s,
        }),
        ArrivalsPlan::Closed => Err(RunError::Unsuitable(
            "a closed loop has no offered load that could be steered".into(),
            Some("use --arrivals poisson or constant".into()),
        )),
    }
}

/// The plan as what the event loop runs.
fn nfs_run(plan: &Plan) -> Result<NfsRun<'_>, RunError> {
    plan.as_nfs_run().ok_or_else(|| {
        RunError::Unsuitable(
            "only NFS servers are loaded call by call".into(),
            Some(
                "load files are replayed on other targets, and mixes on local: directories".into(),
            ),
        )
    })
}

/// The plan as a probe of an NFS server.
pub(crate) fn probe_run(plan: &Plan) -> Result<ProbeRun<'_>, RunError> {
    plan.as_probe_run().ok_or_else(|| {
        RunError::Unsuitable(
            "only load files are replayed against targets other than NFS servers".into(),
            Some("a probe takes a target of protocol nfs3".into()),
        )
    })
}

/// The workers' clients, connected.
fn connect(
    plan: &NfsRun<'_>,
    materials: &Materials,
    clock: &Clock,
    context: &mut Context<'_>,
) -> Result<Vec<Sockets<Nfs3Client>>, RunError> {
    if plan.clients > 1 {
        context.preparing(&format!("connecting {} clients", plan.clients));
    }
    (0..plan.workers)
        .map(|worker| materials.backend(plan, worker, clock, context.stop))
        .collect()
}

fn measure(
    plan: &NfsRun<'_>,
    prepared: &mut Prepared,
    context: &mut Context<'_>,
    steering: Option<&mut dyn Steering>,
) -> Result<RunRecord, RunError> {
    let materials = &Materials::of(plan, prepared);
    let clock = Clock::start();
    let backends = connect(plan, materials, &clock, context)?;
    let driver = backends.first().map_or("none", Sockets::driver);
    context.preparing("running");
    let workers = backends.len();
    let (full, from_workers) = sync_channel(workers * (BUFFERS_PER_WORKER + 1) + 1);
    let mut coordinator = Coordinator::new(plan);
    let halt = &AtomicBool::new(false);
    let load = plan.arrivals.offered_load();
    let offer = &Offer::new(load.unwrap_or_default(), plan.workers);
    let mut steered = steering.map(|steering| Steered::new(steering, offer, plan));
    let signals = Signals {
        stop: context.stop,
        halt,
        offer: steered.is_some().then_some(offer),
    };
    let (started_at, used) = std::thread::scope(|scope| -> Result<_, RunError> {
        // Channels and not a barrier: where not all threads can be started, the
        // others must not wait for ever.
        let (ready, all_ready) = sync_channel(workers);
        let mut starts = Vec::with_capacity(workers);
        for (index, backend) in backends.into_iter().enumerate() {
            let sink = coordinator.exchange(plan, index, full.clone());
            let (start, started) = sync_channel::<Clock>(1);
            starts.push(start);
            let (ready, full) = (ready.clone(), full.clone());
            let body = move || {
                settle(plan, index);
                let make = |client| materials.workload(plan, client);
                let mut worker = Worker::new(plan, index as u32, backend, sink, signals, make);
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
        let meter = Meter::start();
        let begin = |start: &SyncSender<Clock>| drop(start.send(clock.clone()));
        starts.iter().for_each(begin);
        let steering = (halt, steered.as_mut());
        coordinator.collect(&from_workers, workers, steering, context.observer);
        Ok((started_at, meter.used()))
    })?;
    let set = prepared.file_set().map(|set| set.record.clone());
    let (found, of_set) = ((&prepared.target, driver), (set, used));
    Ok(coordinator.into_record(plan, found, of_set, &clock, started_at))
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
    // Whether this process may run there was checked before the run.
    let _ = rustix::thread::sched_setaffinity(None, &cpus);
}
