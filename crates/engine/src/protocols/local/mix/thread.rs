//! A worker thread with a single client.

use super::caller::SyscallExecutor;
use super::workload::MountMix;
use crate::backend::BackendError;
use crate::backend::blocking::Blocking;
use crate::run::{WorkerBody, WorkerThread};
use crate::time::RealTime;
use crate::worker::WorkerClient;
use std::sync::mpsc::Sender;

/// A client of the mix.
pub(super) struct CallerThread {
    pub number: u32,
    pub workload: MountMix,
    pub caller: SyscallExecutor,
    pub ended: Sender<MixClientEnd>,
}

/// End of a client.
pub(super) struct MixClientEnd {
    pub number: u32,
    /// Reason why it could not continue.
    pub lost: Option<String>,
    /// Caller, needed to restore its set.
    pub caller: SyscallExecutor,
}

impl WorkerBody for CallerThread {
    fn driver(&self) -> &'static str {
        "threads"
    }

    fn first_blocking(&self) -> Option<u32> {
        Some(self.number)
    }

    fn run(self: Box<Self>, thread: WorkerThread<'_>) {
        let Self {
            number,
            workload,
            caller,
            ended,
        } = *self;
        let members = vec![WorkerClient { number, workload }];
        let backend = Blocking::new(vec![caller], thread.time());
        let start = |backend: &mut Blocking<_, _>, clock, stop| {
            backend.start(RealTime { clock, stop });
        };
        let Some((finished, finisher)) = thread.run_shared(members, backend, start) else {
            return;
        };
        let mut end = finished.end;
        let callers = finished.backend.into_clients().into_iter();
        for (caller, workload) in callers.zip(finished.workloads) {
            let lost = workload.into_loss();
            let of_client = lost.clone().map(|what| BackendError::Clients { what });
            end.lost = end.lost.take().or(of_client);
            // The main thread receives these when the run has ended.
            let _ = ended.send(MixClientEnd {
                number,
                lost,
                caller,
            });
        }
        finisher.finish(end);
    }
}
