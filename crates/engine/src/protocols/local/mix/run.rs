//! A run: finds, claims and prepares its directories, and restores them at the end.

use super::caller::OPEN_FILES_MAX;
use super::directories::Directories;
use super::error::MountError;
use super::target::{OpenMounts, leave};
use super::task::MountMixTask;
use crate::run::run_on;
use crate::time::RealTime;
use filestone_host::clock::Clock;
use filestone_host::control::{Observer, RunContext};
use filestone_host::environment::check_files_of_clients;
use filestone_host::error::RunError;
use filestone_measure::measure::RunRecord;
use filestone_plan::file_set::{Layout, VolatileDirectory};
use filestone_plan::plan::{FeedbackArithmetic, MixCount, MixPlan, Plan, WorkloadPlan};
use filestone_workload::operation::OpKind;
use std::sync::atomic::AtomicBool;

/// Number of files that a client opens briefly: a directory to list, and a file in it.
const OPENED_BRIEFLY: u64 = 2;

/// Returns the maximum number of files that all clients together have open.
fn files_of_clients(clients: u32, layout: &Layout) -> u64 {
    let of_client = |client| {
        let files = layout.working_files(client).min(OPEN_FILES_MAX as u32);
        let directories = 1 + layout.file_directories() + VolatileDirectory::ALL.len() as u32;
        u64::from(files + directories) + OPENED_BRIEFLY
    };
    (0..clients).map(of_client).sum()
}

/// Executes `plan`, a mix on directories of this host.
///
/// A run that is interrupted or loses its mount returns a record that contains this outcome.
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
    check_files_of_clients(plan, files_of_clients(plan.clients, &layout))?;
    let target = directories.target();
    let task = MountMixTask {
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
    match task.prepare(observer) {
        Ok(ready) => {
            let target = OpenMounts::new(task, ready, target);
            run_on(
                plan,
                Box::new(target),
                &mut RunContext::new(stop, observer),
                None,
            )
        }
        Err(error) => {
            // The first error is reported.
            let _ = leave(task.claims, mix.remove_set);
            Err(error)
        }
    }
}

/// Returns the operations of the mix that can be requested: no system call makes NULL, FSINFO or
/// PATHCONF.
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
