//! A replay's threads: every client gets its layer and its turn, and cleans up
//! after itself. The coordinator (`watch`) is the calling thread.

use super::client::{Client, Shared, Step};
use super::layer::Layer;
use super::mailbox::ReplayMailbox;
use super::record::{Measured, ThreadEnd};
use super::site::{Site, Trees};
use super::watch::{Cancellations, ReplayCoordinator, buffer, clean_up_limits};
use crate::clock::Clock;
use crate::control::{Observer, go_on};
use crate::control::{cancel_clean_up_on, cancel_on};
use crate::error::RunError;
use crate::threads::start_client;
use crate::time::{RealTime, Time};
use filestone_model::load::{Load, Script};
use filestone_model::measure::run_record::RunRecord;
use filestone_model::measure::{Caveat, Recorder};
use filestone_model::plan::{Plan, ReplayPlan};
use filestone_model::time::Moment;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

/// Why a clean-up that was stopped left something.
const BROKEN_OFF: &str = "the clean-up was broken off: it was interrupted, or took much longer \
     than the run; --remove-leftover goes on with it";

/// Replays `loads` on `site` as `plan` says.
pub fn replay_on<S: Site>(
    plan: &Plan,
    replay: &ReplayPlan,
    loads: &[Arc<Load>],
    mut site: S,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<RunRecord, RunError> {
    let began = Instant::now();
    let target = site.target();
    if let Some(remark) = site.remark() {
        observer.remark(&remark);
    }
    observer.prepared(&target);
    let cancellations = Cancellations::default();
    site.cancel_with(&cancellations.work, &cancellations.clean_up);
    let measured = measure(plan, replay, loads, &site, stop, &cancellations, observer);
    // What could not even begin has nothing that is worth keeping.
    let trees = if replay.skip_cleanup && measured.is_ok() {
        Trees::Keep
    } else {
        Trees::Remove
    };
    let run = Moment::ZERO.after_nanos(duration_nanos(began.elapsed()));
    let limits = clean_up_limits(Duration::from_nanos(plan.timeout_ns), run);
    let released = cancel_clean_up_on(stop, limits, &cancellations.clean_up, || {
        site.release(trees)
    });
    let mut measured = measured?;
    if trees == Trees::Remove && released.is_ok() {
        // A client's tree can be in use by another one until all have ended.
        measured.left_behind = None;
    }
    let mut record = measured.into_record(plan, target);
    if let Err(error) = released {
        let reason = match error {
            RunError::Interrupted => BROKEN_OFF.into(),
            error => error.to_string(),
        };
        record.caveats.push(Caveat::LeftBehind {
            path: crate::workspace::test_directory::CLIENTS.into(),
            reason,
        });
    }
    Ok(record)
}

fn duration_nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn measure<S: Site>(
    plan: &Plan,
    replay: &ReplayPlan,
    loads: &[Arc<Load>],
    site: &S,
    stop: &AtomicBool,
    cancellations: &Cancellations,
    observer: &mut dyn Observer,
) -> Result<Measured, RunError> {
    let mut layers = cancel_on(stop, &cancellations.work, || {
        layers(plan, site, stop, observer)
    })?;
    layers
        .iter_mut()
        .for_each(|layer| layer.cancel_with(&cancellations.work));
    let clock = Clock::start();
    let shared = shared(plan, replay, stop);
    let mailboxes: Vec<ReplayMailbox> = (0..plan.clients).map(|_| ReplayMailbox::new()).collect();
    let per_thread = replay.clients_per_thread.max(1) as usize;
    let threads = (plan.clients as usize).div_ceil(per_thread);
    let mut coordinator = ReplayCoordinator::new(plan, per_thread, &mailboxes, &shared);
    observer.preparing("running");
    let (done, all_done) = sync_channel::<ThreadEnd>(threads);
    let mut layers = layers.into_iter();
    let (clock, started_at, ends) = std::thread::scope(|scope| {
        // Channels and not a barrier: where not all threads can be started, the
        // others must not wait for ever.
        let mut starts = Vec::with_capacity(threads);
        for thread in 0..threads {
            let first = thread * per_thread;
            let members: Vec<(u32, S::Layer)> = (first as u32..)
                .zip(layers.by_ref().take(per_thread))
                .collect();
            let (start, started) = sync_channel::<Clock>(1);
            starts.push(start);
            let (done, shared, mailboxes) = (done.clone(), &shared, &mailboxes);
            let body = move || {
                // Ends early only if another thread could not be started.
                let Ok(clock) = started.recv() else { return };
                let time = RealTime { clock, stop };
                let members = members
                    .into_iter()
                    .map(|(number, layer)| {
                        let load = &loads[number as usize % loads.len()];
                        let script = Script::new(Arc::clone(load), number, plan.clients, plan.seed);
                        let mailbox = &mailboxes[number as usize];
                        let (pacing, time) = (replay.pacing, time.clone());
                        Client::new(number, script, layer, pacing, time, mailbox, shared)
                    })
                    .collect();
                let clean_up = (!replay.skip_cleanup).then_some(site);
                let _ = done.send(run_thread(members, mailboxes, clean_up));
            };
            start_client(scope, plan, thread, first, body)?;
        }
        drop(done);
        let started_at = SystemTime::now();
        let clock = clock.restarted();
        let begin = |start: &SyncSender<Clock>| drop(start.send(clock.clone()));
        starts.iter().for_each(begin);
        let ends = coordinator.watch(&clock, &all_done, cancellations, observer);
        Ok::<_, RunError>((clock, started_at, ends))
    })?;
    Ok(coordinator.conclude(replay, clock, started_at, ends))
}

/// All clients' ways to the site, made one after the other.
fn layers<S: Site>(
    plan: &Plan,
    site: &S,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<Vec<S::Layer>, RunError> {
    if plan.clients > 1 {
        observer.preparing(&format!("preparing {} clients", plan.clients));
    }
    (0..plan.clients)
        .map(|client| {
            go_on(stop)?;
            site.layer(client)
        })
        .collect()
}

fn shared<'run>(plan: &Plan, replay: &ReplayPlan, stop: &'run AtomicBool) -> Shared<'run> {
    let window_start = Moment::from_nanos(plan.warm_up_ns);
    let window_end = plan
        .duration_ns
        .map_or(Moment::NEVER, |duration| window_start.after_nanos(duration));
    let recorder = Recorder::new(Box::new(buffer(plan)), window_start, window_end);
    Shared {
        stop,
        recorder: Mutex::new(recorder),
        window_start,
        window_end,
        points: (0..plan.clients).map(|_| AtomicU64::new(0)).collect(),
        run_once: replay.run_once,
        on_mismatch: replay.on_mismatch,
        trunc_io_bytes: replay.trunc_io_bytes,
    }
}

/// Runs the clients of one thread, line by line in turn, and cleans up after them.
fn run_thread<S: Site, T: Time>(
    members: Vec<Client<'_, S::Layer, T>>,
    mailboxes: &[ReplayMailbox],
    clean_up: Option<&S>,
) -> ThreadEnd {
    let mut running = members;
    let (mut ends, mut layers) = (Vec::new(), Vec::new());
    while !running.is_empty() {
        let mut index = 0;
        while index < running.len() {
            match running[index].step() {
                Step::Going => index += 1,
                Step::Ended => {
                    let (end, layer) = running.remove(index).finish();
                    layers.push((end.record.client, layer));
                    ends.push(end);
                }
            }
        }
    }
    let mut left_behind = None;
    if clean_up.is_some() && layers.len() > 1 {
        for (_, layer) in &mut layers {
            // What one of them has open may be in the tree of another. A layer that is
            // lost says so again when it is to clean up.
            layer.end_pass().ok();
        }
    }
    for (number, mut layer) in layers {
        if let Some(site) = clean_up
            && let Err(lost) = site.clean_up(number, &mut layer)
        {
            let what = if lost.is_stop() {
                BROKEN_OFF.into()
            } else {
                lost.what
            };
            left_behind.get_or_insert((number, what));
        }
        mailboxes[number as usize]
            .is_clean
            .store(true, Ordering::Release);
    }
    ThreadEnd { ends, left_behind }
}
