//! A run: directories found and populated, background watched, a thread for each client, and the
//! set left as it was.

use super::caller::Caller;
use super::client::{Client, ClientEnd, Shared};
use super::clients::{ClientGroup, Clients, MixMailbox};
use super::directories::{Claim, Directories};
use super::error::MountError;
use super::kernel::Kernel;
use super::learn;
use super::pacer::Pacer;
use super::populate::{Populated, settle};
use super::record::{Measured, NotLeft, Timing, record};
use super::removal;
use super::watch::MixCoordinator;
use crate::clock::Clock;
use crate::control::Observer;
use crate::driver::connect::allow_open_files;
use crate::error::RunError;
use crate::processors::Meter;
use crate::target::local::tree::LocalTree;
use crate::threads::start_client;
use crate::time::{RealTime, Time};
use filestone_model::file_set::Layout;
use filestone_model::measure::RunRecord;
use filestone_model::measure::mix_record::FileSetRecord;
use filestone_model::mix::feedback::{Goal, Group};
use filestone_model::operation::OpKind;
use filestone_model::plan::{FeedbackArithmetic, MixCount, MixPlan, Plan, WorkloadPlan};
use filestone_model::time::Moment;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::sync_channel;
use std::time::SystemTime;

/// Each client keeps some hundred files open.
const OPEN_FILES_WANTED: u64 = 65_536;

/// Makes the run of `plan`, a mix on directories of this host.
///
/// An interrupted run, and one whose mount was lost in the middle, give a record that says so.
pub fn run_local(
    plan: &Plan,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<RunRecord, RunError> {
    let WorkloadPlan::Mix(mix) = &plan.workload else {
        return Err(RunError::Internal("the plan is no mix".into()));
    };
    plan.check()?;
    let counts = askable(mix)?;
    let layout = Layout::of(&mix.file_set, plan.clients)?;
    let directories = Directories::find(plan, mix)?;
    allow_open_files(OPEN_FILES_WANTED);
    let target = directories.target();
    let task = Task {
        plan,
        mix,
        kinds: mix.kinds().into_iter().map(|(kind, _)| kind).collect(),
        counts,
        layout,
        claims: directories.claim(mix)?,
        mounts: directories.mounts_of_clients(plan.clients),
        directories,
        stop,
        time: RealTime {
            clock: Clock::start(),
            stop,
        },
    };
    let prepared = task.prepare(observer);
    let measured = prepared.and_then(|prepared| {
        observer.prepared(&target);
        task.measure(prepared, observer)
    });
    let left = leave(task.claims, mix.remove_set);
    let mut measured = measured?;
    measured.file_set.removed = mix.remove_set && left.is_ok();
    Ok(record(plan, mix, target, measured, left))
}

/// What of the mix can be asked: no system call makes NULL, FSINFO or PATHCONF.
fn askable(mix: &MixPlan) -> Result<Vec<MixCount>, RunError> {
    let is_askable = |count: &&MixCount| {
        let silent = [OpKind::Null, OpKind::FsInfo, OpKind::PathConf];
        count.count > 0 && !silent.contains(&count.operation)
    };
    let counts: Vec<MixCount> = mix.counts.iter().filter(is_askable).copied().collect();
    if counts.is_empty() {
        return Err(MountError::NothingToCall {
            mix: mix.name.clone(),
        }
        .into());
    }
    match mix.local.arithmetic {
        FeedbackArithmetic::Exact => Ok(counts),
        FeedbackArithmetic::Nhfsstone => Ok(mix.counts.clone()),
    }
}

/// Gives the sets up, or takes them away; the first that could not be, and why.
fn leave(claims: Vec<Claim>, remove: bool) -> Result<(), NotLeft> {
    let mut first = Ok(());
    for claim in claims {
        let path = claim.directory.path.clone();
        let left = if remove {
            removal::remove(claim)
        } else {
            claim.give_up(&mut LocalTree).map_err(RunError::from)
        };
        first = first.and(left.map_err(|error| NotLeft {
            path,
            reason: error.to_string(),
        }));
    }
    first
}

/// What is to be done, and where.
pub(super) struct Task<'run, T> {
    pub plan: &'run Plan,
    pub mix: &'run MixPlan,
    /// All kinds of the mix, those included that no system call makes.
    pub kinds: Vec<OpKind>,
    /// What is asked.
    counts: Vec<MixCount>,
    pub layout: Layout,
    pub directories: Directories,
    /// One of each directory.
    pub claims: Vec<Claim>,
    /// Which mount's each client is.
    mounts: Vec<usize>,
    pub stop: &'run AtomicBool,
    pub time: T,
}

/// What a run is measured with.
struct Ready {
    callers: Vec<Caller>,
    groups: Vec<ClientGroup>,
    file_set: FileSetRecord,
    /// Calls of others, per second.
    background: f64,
}

impl<T: Time> Task<'_, T> {
    fn is_exact(&self) -> bool {
        self.mix.local.arithmetic == FeedbackArithmetic::Exact
    }

    fn prepare(&self, observer: &mut dyn Observer) -> Result<Ready, RunError> {
        let local = &self.mix.local;
        observer.preparing("checking the file set");
        let (mut callers, file_set) = self.populate()?;
        if local.feedback {
            observer.preparing("making what the client's caches cannot answer");
            self.freshen(&mut callers)?;
        }
        // What is still to be written would be background traffic.
        for claim in &self.claims {
            rustix::fs::syncfs(&claim.directory.handle).ok();
        }
        let mut background = 0.0;
        let all = Kernel::together(&self.directories.kernels);
        if let Some(all) = &all {
            observer.preparing("watching the traffic of others for 2 s");
            background = all.background(local.background_max_calls_per_s, self.stop, &self.time)?;
        }
        let groups = self.groups(all.as_ref())?;
        if local.feedback && self.is_exact() {
            observer.preparing("learning what system calls become on the wire");
            for (mount, group) in groups.iter().enumerate() {
                let of_mount = callers.iter_mut().zip(&self.mounts);
                let of_mount = of_mount.filter(|(_, of)| **of == mount);
                let callers = of_mount.map(|(caller, _)| caller).collect();
                let share = 1.0 / groups.len() as f64;
                learn::learn(group, callers, &self.counts, share, self.stop, &self.time)?;
            }
        }
        Ok(Ready {
            callers,
            groups,
            file_set,
            background,
        })
    }

    /// The clients of each mount, with their part of what is offered.
    fn groups(&self, all: Option<&Kernel>) -> Result<Vec<ClientGroup>, RunError> {
        let (plan, kernels) = (self.plan, &self.directories.kernels);
        let before = all.map(Kernel::read).transpose()?;
        let all = all.cloned().zip(before);
        let group = |mount: usize| {
            let clients = self.mounts.iter().filter(|of| **of == mount).count() as u32;
            let share = f64::from(clients) / f64::from(plan.clients.max(1));
            let arithmetic = Group::new(&Goal {
                counts: &self.counts,
                clients,
                load: plan.arrivals.offered_load().map(|load| load * share),
                calls: plan.count.map(|count| (count as f64 * share).ceil() as u64),
                seconds: plan.duration_ns.map(|nanos| nanos as f64 / 1e9),
                is_v4: self.directories.is_v4(mount),
            });
            let kernel = kernels.get(mount).filter(|_| self.mix.local.feedback);
            ClientGroup::new(arithmetic, kernel.cloned(), all.clone())
        };
        Ok((0..kernels.len().max(1)).map(group).collect())
    }

    fn measure(&self, ready: Ready, observer: &mut dyn Observer) -> Result<Measured, RunError> {
        let groups = &ready.groups;
        let mut measured = self.run(groups, ready.callers, observer)?;
        let mut populated = Populated::default();
        for caller in measured.callers.drain(..) {
            let settled = settle(caller.set(), &self.layout, &self.kinds, &mut populated);
            if let Err(error) = settled {
                measured.left_behind.get_or_insert(error.to_string());
            }
        }
        measured.file_set = ready.file_set;
        measured.background = ready.background;
        Ok(measured)
    }

    /// Runs a thread for each client, and watches them.
    fn run(
        &self,
        groups: &[ClientGroup],
        callers: Vec<Caller>,
        observer: &mut dyn Observer,
    ) -> Result<Measured, RunError> {
        let plan = self.plan;
        let mailboxes: Vec<MixMailbox> = callers.iter().map(|_| MixMailbox::default()).collect();
        let clients = Clients {
            groups,
            mailboxes: &mailboxes,
            group_of: &self.mounts,
        };
        let pacers = clients.groups_of_clients().zip(0..);
        let pacers: Vec<Pacer> = pacers
            .map(|(group, number)| Pacer::new(plan, self.mix, number, group.pause_ns()))
            .collect();
        observer.preparing("running");
        let time = RealTime {
            clock: Clock::start(),
            stop: self.stop,
        };
        let (started_at, meter) = (SystemTime::now(), Meter::start());
        let shared = Shared::of(plan, self.mix, self.stop);
        let mut coordinator = MixCoordinator::new(plan, self.mix, clients, &shared)?;
        let (done, ends) = sync_channel::<(ClientEnd, Caller)>(mailboxes.len().max(1));
        let ends = std::thread::scope(|scope| {
            let each = clients.groups_of_clients().zip(&mailboxes);
            let each = each.zip(callers.into_iter().zip(pacers));
            for (number, ((group, mailbox), (caller, pacer))) in (0..).zip(each) {
                let client = Client {
                    number,
                    caller,
                    pacer,
                    group,
                    mailbox,
                    shared: &shared,
                    time: time.clone(),
                    free_at: Moment::ZERO,
                };
                let done = done.clone();
                let body = move || {
                    let _ = done.send(client.run());
                };
                start_client(scope, plan, number as usize, number as usize, body)
                    .inspect_err(|_| clients.end())?;
            }
            drop(done);
            Ok::<_, RunError>(coordinator.watch(&ends, &time, observer))
        })?;
        let timing = Timing {
            started_at,
            used: meter.used(),
            clock: time.clock,
        };
        Ok(Measured::new(coordinator, ends, timing))
    }
}
