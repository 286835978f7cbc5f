//! One run of calls: prepare, warm up, measure, drain, clean up.
//!
//! The coordinator is the calling thread. It starts the workers, merges the intervals that they
//! submit, and writes the record.

mod coordinator;
mod job_hook;
mod run_hook;
mod sampler;
mod steered;
mod target_objects;

pub use coordinator::Recording;
pub use run_hook::{RunHook, RunSnapshot, Stage};
pub use target_objects::{
    CallWorker, ConnectedClients, OpenTarget, TargetObjects, WorkerBody, WorkerThread,
};

use crate::threads::start_worker;
use crate::worker::{LiveWorkers, OfferedLoad, WorkerControl};
use coordinator::{BUFFERS_PER_WORKER, Coordinator, CoordinatorContext, RunFacts};
use filestone_control::load_control::{LoadController, Steering};
use filestone_host::clock::Clock;
use filestone_host::control::RunContext;
use filestone_host::environment::check_environment;
use filestone_host::error::RunError;
use filestone_host::readings;
use filestone_host::system;
use filestone_host::way;
use filestone_measure::doctor::facts::SameHostEvidence;
use filestone_measure::measure::connections_record::{ClientMemory, ConnectionsRecord};
use filestone_measure::measure::figures::{self, BatchMeans};
use filestone_measure::measure::run_record::{Headroom, RunRecord, Target, Tool};
use filestone_measure::measure::verdict::caveats;
use filestone_plan::plan::{ArrivalsPlan, Plan};
use filestone_plan::plan::{Field, LevelsPlanError, PlanError, SteeringPlanError};
use job_hook::JobHook;
use sampler::Sampler;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::Scope;
use std::time::SystemTime;
use steered::LoadControllerHook;

/// Finds the target of a plan and prepares the objects of its operations.
pub type OpenTargetFn<'a> = dyn for<'plan> Fn(&'plan Plan, &mut RunContext<'_>) -> Result<Box<dyn OpenTarget + 'plan>, RunError>
    + 'a;

/// Runs `plan` on the target that `open` opens. `headroom` is the measured ceiling of the load
/// generator on this host, if known: a steered run does not search beyond it.
///
/// An interrupted run, and one whose server was lost during the run, return a record with that
/// information.
pub fn by_calls(
    plan: &Plan,
    headroom: Option<&Headroom>,
    open: &OpenTargetFn<'_>,
    context: &mut RunContext<'_>,
) -> Result<RunRecord, RunError> {
    let limit = headroom.map(|headroom| headroom.engine_ops_per_s);
    let Some(steering) = &plan.steering else {
        return run_steered(plan, open, context, None);
    };
    let mut steering = Steering::new(steering, limit);
    let mut record = run_steered(plan, open, context, Some(steering.controller()))?;
    steering.finish(&mut record);
    Ok(record)
}

/// Runs `plan` and lets `steering` set the offered load after every interval.
pub fn run_steered(
    plan: &Plan,
    open: &OpenTargetFn<'_>,
    context: &mut RunContext<'_>,
    mut steering: Option<&mut dyn LoadController>,
) -> Result<RunRecord, RunError> {
    let mut begun = plan.clone();
    if let Some(steering) = &mut steering {
        begun.arrivals = offering(&plan.arrivals, steering.first())?;
    }
    begun.check()?;
    check_environment(&begun)?;
    let target = open(&begun, context)?;
    let mut record = run_on(&begun, target, context, steering)?;
    record.plan = plan.clone();
    Ok(record)
}

/// Runs `plan` on an open target, and cleans up afterwards.
pub fn run_on(
    plan: &Plan,
    mut target: Box<dyn OpenTarget + '_>,
    context: &mut RunContext<'_>,
    steering: Option<&mut dyn LoadController>,
) -> Result<RunRecord, RunError> {
    context.observer.prepared(target.describe());
    let measured = measure(plan, &mut *target, context, steering);
    let path = target.own_path().unwrap_or_default().to_string();
    let cleaned = target.clean_up(context);
    let mut record = match (measured, &cleaned) {
        (Err(error), Err(reason)) if !matches!(reason, RunError::Interrupted) => {
            return Err(error.leaving(
                &path,
                reason,
                "remove it by hand, or run the command again with --remove-leftover",
            ));
        }
        (measured, _) => measured?,
    };
    target.complete(&mut record);
    check_path(&mut record.target);
    record.totals = figures::with_headline(&BatchMeans::of(&record));
    let own = std::mem::take(&mut record.caveats);
    record.caveats = caveats::find(&record);
    record.caveats.extend(own);
    if let (Some(mix), Some(set)) = (&mut record.mix, target.file_set()) {
        mix.file_set.removed = set.removed;
    }
    if let Err(error) = cleaned {
        record.caveats.push(target.left(plan, path, error));
    }
    Ok(record)
}

/// Adds the facts of this host on the network path to a target: whether it leads to another network
/// namespace of this host, or may do so, and the speed of the interface.
fn check_path(target: &mut Target) {
    let Ok(address) = target.address.parse() else {
        return;
    };
    if target.local {
        return;
    }
    let way = way::to(address, None);
    match way.place {
        SameHostEvidence::NamespaceOfThisHost => target.local = true,
        SameHostEvidence::PerhapsThisHost => target.namespace_link = way.interface,
        SameHostEvidence::NotKnownHere => {
            let speed = way.link_mbit_per_s;
            let speed = speed.and_then(|speed| u32::try_from(speed).ok());
            target.link_mbit_per_s = speed.filter(|speed| *speed > 0);
        }
    }
}

/// Returns the same arrivals at another load.
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
        ArrivalsPlan::Levels(_) => Err(PlanError::Levels(LevelsPlanError::OnlyProbes).into()),
        ArrivalsPlan::Closed => {
            Err(PlanError::Steering(SteeringPlanError::Closed(Field::Curve)).into())
        }
    }
}

fn measure(
    plan: &Plan,
    target: &mut dyn OpenTarget,
    context: &mut RunContext<'_>,
    steering: Option<&mut dyn LoadController>,
) -> Result<RunRecord, RunError> {
    let sources = readings::open(plan, target.describe())?;
    let clock = Clock::start();
    let mut clients = connect(target, &clock, context)?;
    let driver = clients.driver();
    context.preparing("running");
    let workers = clients.workers.len();
    let (full, from_workers) = sync_channel(workers * (BUFFERS_PER_WORKER + 1) + 1);
    let recording = &target.recording(workers);
    let mut coordinator = Coordinator::new(plan, recording);
    let (end_run, live_workers) = (&AtomicBool::new(false), &LiveWorkers::new(workers as u32));
    let offer = &OfferedLoad::of(plan);
    let mut steered = steering.map(|steering| LoadControllerHook::new(steering, offer, plan));
    let signals = WorkerControl {
        stop: context.stop,
        end_run,
        offer: (steered.is_some() || context.controller.is_some()).then_some(offer),
        live_workers: Some(live_workers),
    };
    let mut hook = target.hook();
    let (started_at, clock, watch) = std::thread::scope(|scope| -> Result<_, RunError> {
        let thread = |index, ready, started| WorkerThread {
            plan,
            index: index as u32,
            sink: coordinator.exchange(index, full.clone()),
            recording,
            signals,
            ready,
            started,
        };
        let starts = start_all(scope, plan, clients.workers, thread)?;
        drop(full);
        check_memory(&mut clients.record, |memory| &mut memory.after_bytes);
        let mut watch = sources.map(|sources| Sampler::start(plan, sources, context));
        let controller = context.controller.as_deref_mut();
        let mut conducted = JobHook::after_start(controller, context.stop, offer, plan);
        let (started_at, clock) = (SystemTime::now(), clock.restarted());
        let begin = |start: &SyncSender<Clock>| drop(start.send(clock.clone()));
        starts.iter().for_each(begin);
        let own = hook.as_mut();
        let own = own.map(|own| &mut **own as &mut dyn RunHook);
        let some = [attending(&mut steered), own, attending(&mut watch)];
        let all = some.into_iter().chain([attending(&mut conducted)]);
        let surveyed = CoordinatorContext {
            clock: &clock,
            stop: context.stop,
            end_run,
            attendants: all.flatten().collect(),
            observer: &mut *context.observer,
        };
        coordinator.collect(&from_workers, surveyed);
        Ok((started_at, clock, watch))
    })?;
    check_memory(&mut clients.record, |memory| &mut memory.end_bytes);
    let mut record = coordinator.into_record(RunFacts {
        target: target.describe(),
        driver,
        connections: clients.record,
        file_set: target.file_set(),
        clock: &clock,
        started_at,
    })?;
    record.cost = watch.map(|watch| watch.finish(&record));
    Ok(record)
}

/// Connects the clients and reports their connections.
fn connect(
    target: &mut dyn OpenTarget,
    clock: &Clock,
    context: &mut RunContext<'_>,
) -> Result<ConnectedClients, RunError> {
    let clients = target.connect(clock, context)?;
    if let Some(made) = &clients.record {
        context.observer.connected(made);
    }
    Ok(clients)
}

/// Returns the hook, if there is one.
fn attending<A: RunHook>(it: &mut Option<A>) -> Option<&mut dyn RunHook> {
    it.as_mut().map(|it| it as &mut dyn RunHook)
}

/// Stores the current memory use of this process.
fn check_memory(made: &mut Option<ConnectionsRecord>, place: fn(&mut ClientMemory) -> &mut u64) {
    let memory = made.as_mut().and_then(|made| made.memory.as_mut());
    if let Some(memory) = memory {
        *place(memory) = system::resident_bytes();
    }
}

/// Starts a thread for each worker, and waits until all are set up. A worker runs as soon as it
/// receives the clock.
fn start_all<'scope, 'run: 'scope>(
    scope: &'scope Scope<'scope, '_>,
    plan: &'run Plan,
    bodies: Vec<Box<dyn WorkerBody>>,
    mut thread: impl FnMut(usize, SyncSender<()>, Receiver<Clock>) -> WorkerThread<'run>,
) -> Result<Vec<SyncSender<Clock>>, RunError> {
    // Channels instead of a barrier: if some threads cannot be started, the others must not wait
    // for ever.
    let workers = bodies.len();
    let (ready, all_ready) = sync_channel(workers);
    let mut starts = Vec::with_capacity(workers);
    for (index, body) in bodies.into_iter().enumerate() {
        let (start, started) = sync_channel::<Clock>(1);
        starts.push(start);
        let thread = thread(index, ready.clone(), started);
        start_worker(scope, plan, index, body.first_blocking(), move || {
            body.run(thread)
        })?;
    }
    drop(ready);
    // Ends early only if a worker is gone, which the scope then reports.
    all_ready.iter().take(workers).for_each(drop);
    Ok(starts)
}

/// Returns the description of this program, for records.
pub fn tool() -> Tool {
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
