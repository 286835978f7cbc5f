//! Directories of this host with a populated file set, as the target of a run. Each client has a
//! thread, and the set is restored at the end.

use super::caller::SystemCalls;
use super::directories::Claim;
use super::feedback_controller::FeedbackController;
use super::populate::{Populated, settle};
use super::record::{AllMounts, CleanUpFailure, MountMixResult, complete};
use super::removal;
use super::task::{MountMixTask, PreparedRun};
use super::thread::{CallerThread, MixClientEnd};
use super::workload::MountMix;
use crate::protocols::local::tree::LocalTree;
use crate::run::{ConnectedClients, OpenTarget, Recording, RunHook, WorkerBody};
use crate::worker::SharedRecorder;
use filestone_host::clock::Clock;
use filestone_host::control::RunContext;
use filestone_host::error::RunError;
use filestone_measure::measure::run_record::{RunRecord, Target};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Target of a run.
pub(super) struct OpenMounts<'run> {
    task: MountMixTask<'run>,
    ready: PreparedRun,
    target: Target,
    ended: Sender<MixClientEnd>,
    ends: Receiver<MixClientEnd>,
    /// Set when the run has ended.
    result: Option<MountMixResult>,
}

impl<'run> OpenMounts<'run> {
    pub fn new(task: MountMixTask<'run>, ready: PreparedRun, target: Target) -> Self {
        let (ended, ends) = channel();
        Self {
            task,
            ready,
            target,
            ended,
            ends,
            result: None,
        }
    }

    /// Restores the volatile names to those present at the start; returns the first error. Consumes
    /// the clients, because their open files must be closed before the set is removed: an NFS
    /// client renames an open file that is removed, and its directory is not empty then.
    fn settle(&self, ends: Vec<MixClientEnd>) -> Result<(), RunError> {
        let (layout, kinds) = (&self.task.layout, &self.task.kinds);
        let mut populated = Populated::default();
        let settled = ends
            .iter()
            .map(|end| settle(end.caller.set(), layout, kinds, &mut populated));
        settled.fold(Ok(()), Result::and)
    }
}

impl OpenTarget for OpenMounts<'_> {
    fn describe(&self) -> &Target {
        &self.target
    }

    fn recording(&self, workers: usize) -> Recording {
        Recording::Shared(SharedRecorder::new(self.task.plan, workers))
    }

    fn hook(&self) -> Option<Box<dyn RunHook>> {
        let groups = self.ready.groups.clone();
        let correcting = FeedbackController::new(self.task.plan, self.task.mix, groups);
        Some(Box::new(correcting))
    }

    fn connect(
        &mut self,
        _clock: &Clock,
        _context: &mut RunContext<'_>,
    ) -> Result<ConnectedClients, RunError> {
        let MountMixTask {
            plan, mix, mounts, ..
        } = &self.task;
        let groups = &self.ready.groups;
        groups.iter().try_for_each(|group| group.restart())?;
        let of_clients = mounts.iter().filter_map(|mount| groups.get(*mount));
        let callers = self.ready.callers.drain(..);
        let threads = (0..).zip(of_clients.zip(callers));
        let threads = threads.map(|(number, (group, caller))| {
            let group = Arc::clone(group);
            Box::new(CallerThread {
                number,
                workload: MountMix::new(plan, mix, number, group, caller.needs()),
                caller,
                ended: self.ended.clone(),
            }) as Box<dyn WorkerBody>
        });
        Ok(ConnectedClients {
            workers: threads.collect(),
            connect_times: Vec::new(),
            record: None,
        })
    }

    fn clean_up(&mut self, _context: &mut RunContext<'_>) -> Result<(), RunError> {
        // Calls of the restoration are not part of the mix.
        let together = AllMounts::of(&self.ready.groups);
        let mut ends: Vec<MixClientEnd> = self.ends.try_iter().collect();
        ends.sort_by_key(|end| end.number);
        let lost = ends.iter().filter_map(|end| end.lost.clone()).collect();
        let clients = ends.len() as u64;
        let mix = self.task.mix;
        let settled = self.settle(ends).map_err(|error| CleanUpFailure {
            path: mix.file_set.name.clone(),
            reason: error.to_string(),
        });
        let left = leave(std::mem::take(&mut self.task.claims), mix.remove_set);
        self.ready.file_set.removed = mix.remove_set && left.is_ok();
        self.result = Some(MountMixResult {
            together,
            lost,
            clients,
            file_set: std::mem::take(&mut self.ready.file_set),
            background: self.ready.background,
            left: left.and(settled),
        });
        Ok(())
    }

    fn complete(&mut self, record: &mut RunRecord) {
        if let Some(result) = self.result.take() {
            complete(record, self.task.mix, result);
        }
    }
}

/// Releases or removes the sets; returns the first failure.
pub(super) fn leave(claims: Vec<Claim>, remove: bool) -> Result<(), CleanUpFailure> {
    let mut first = Ok(());
    for claim in claims {
        let path = claim.directory.path.clone();
        let left = if remove {
            removal::remove(claim)
        } else {
            claim.release(&mut LocalTree).map_err(RunError::from)
        };
        first = first.and(left.map_err(|error| CleanUpFailure {
            path,
            reason: error.to_string(),
        }));
    }
    first
}
