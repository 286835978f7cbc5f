//! Steps before a run: measures background traffic, groups clients by mounts, and calibrates the
//! calls of each operation.

use super::caller::SyscallExecutor;
use super::clients::ClientGroup;
use super::directories::{Claim, Directories};
use super::kernel::Kernel;
use super::learn;
use crate::time::RealTime;
use filestone_host::control::Observer;
use filestone_host::error::RunError;
use filestone_measure::measure::mix_record::FileSetRecord;
use filestone_plan::file_set::Layout;
use filestone_plan::mix::feedback::{FeedbackTarget, Group};
use filestone_plan::plan::{FeedbackArithmetic, MixCount, MixPlan, Plan};
use filestone_workload::operation::OpKind;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Task of a run and its directories.
pub(super) struct MountMixTask<'run> {
    pub plan: &'run Plan,
    pub mix: &'run MixPlan,
    /// All kinds of the mix, including those that no system call makes.
    pub kinds: Vec<OpKind>,
    /// Operations that can be requested.
    pub counts: Vec<MixCount>,
    pub layout: Layout,
    pub directories: Directories,
    /// Claim of each directory.
    pub claims: Vec<Claim>,
    /// Mount of each client.
    pub mounts: Vec<usize>,
    pub stop: &'run AtomicBool,
    pub time: RealTime<'run>,
}

/// Inputs of the measured run.
pub(super) struct PreparedRun {
    pub callers: Vec<SyscallExecutor>,
    pub groups: Vec<Arc<ClientGroup>>,
    pub file_set: FileSetRecord,
    /// Calls of other processes per second.
    pub background: f64,
}

impl MountMixTask<'_> {
    fn is_exact(&self) -> bool {
        self.mix.local.arithmetic == FeedbackArithmetic::Exact
    }

    /// Prepares the inputs of the measured run.
    pub fn prepare(&self, observer: &mut dyn Observer) -> Result<PreparedRun, RunError> {
        let local = &self.mix.local;
        observer.preparing("checking the file set");
        let (mut callers, file_set) = self.populate()?;
        if local.feedback {
            observer.preparing("making what the client's caches cannot answer");
            self.freshen(&mut callers)?;
        }
        // Dirty data would cause background traffic.
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
                learn::calibrate(group, callers, &self.counts, share, self.stop, &self.time)?;
            }
        }
        Ok(PreparedRun {
            callers,
            groups,
            file_set,
            background,
        })
    }

    /// Creates the client group of each mount, with its share of the offered load.
    fn groups(&self, all: Option<&Kernel>) -> Result<Vec<Arc<ClientGroup>>, RunError> {
        let (plan, kernels) = (self.plan, &self.directories.kernels);
        let before = all.map(Kernel::read).transpose()?;
        let all = all.cloned().zip(before);
        let group = |mount: usize| {
            let clients = self.mounts.iter().filter(|of| **of == mount).count() as u32;
            let share = f64::from(clients) / f64::from(plan.clients.max(1));
            let arithmetic = Group::new(&FeedbackTarget {
                counts: &self.counts,
                clients,
                load: plan.arrivals.offered_load().map(|load| load * share),
                calls: plan.count.map(|count| (count as f64 * share).ceil() as u64),
                seconds: plan.duration_ns.map(|nanos| nanos as f64 / 1e9),
                is_v4: self.directories.is_v4(mount),
            });
            let kernel = kernels.get(mount).filter(|_| self.mix.local.feedback);
            let all = all.clone();
            Arc::new(ClientGroup::new(
                arithmetic,
                kernel.cloned(),
                all,
                plan.clients,
            ))
        };
        Ok((0..kernels.len().max(1)).map(group).collect())
    }
}
