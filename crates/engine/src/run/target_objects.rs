//! The target of a run of calls, found and prepared, and the connected clients of each worker.
//!
//! This module does not depend on the clients' protocol, but everything between due and done is
//! still one loop for one type of backend: only start and end of a worker use a `dyn`.

use super::coordinator::{BufferExchange, DoneGuard};
use super::{Recording, RunHook};
use crate::backend::Backend;
use crate::backend::sockets::Sockets;
use crate::time::RealTime;
use crate::worker::{SampleSink, Worker, WorkerClient, WorkerControl, WorkerResult, own_books};
use filestone_host::clock::Clock;
use filestone_host::control::RunContext;
use filestone_host::error::RunError;
use filestone_measure::measure::Caveat;
use filestone_measure::measure::ConnectionsRecord;
use filestone_measure::measure::mix_record::FileSetRecord;
use filestone_measure::measure::run_record::{RunRecord, Target};
use filestone_plan::file_set::ClientSet;
use filestone_plan::plan::Plan;
use filestone_protocol::client::Client;
use filestone_protocol::workload::{FileTable, Workload, of_client};
use filestone_workload::language::Operations;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, SyncSender};

/// A target that has been found and prepared for a run of calls.
pub trait OpenTarget {
    /// Returns the target for the record.
    fn describe(&self) -> &Target;

    /// Returns the file set of a mix for the record.
    fn file_set(&self) -> Option<FileSetRecord> {
        None
    }

    /// Returns the path of the directory that the run has made and will remove.
    fn own_path(&self) -> Option<&str> {
        None
    }

    /// Connects and returns the clients of each worker.
    fn connect(
        &mut self,
        clock: &Clock,
        context: &mut RunContext<'_>,
    ) -> Result<ConnectedClients, RunError>;

    /// Returns the recording of `workers` workers.
    fn recording(&self, _workers: usize) -> Recording {
        Recording::Own
    }

    /// Returns a hook of the run in addition to the coordinator.
    fn hook(&self) -> Option<Box<dyn RunHook>> {
        None
    }

    /// Adds the parts of its kind of run and its caveats to the record.
    fn complete(&mut self, _record: &mut RunRecord) {}

    /// Removes the prepared objects.
    fn clean_up(&mut self, _context: &mut RunContext<'_>) -> Result<(), RunError> {
        Ok(())
    }

    /// Returns the caveat for a failed clean-up of `path`.
    fn left(&self, plan: &Plan, path: String, error: RunError) -> Caveat {
        let reason = match error {
            RunError::Interrupted => "interrupted before that was done".into(),
            error => error.to_string(),
        };
        if plan.mix().is_some_and(|mix| !mix.remove_set) {
            Caveat::FileSetStillClaimed { path, reason }
        } else {
            Caveat::Leftover { path, reason }
        }
    }
}

/// The connected clients of a run.
pub struct ConnectedClients {
    /// The clients of each worker.
    pub workers: Vec<Box<dyn WorkerBody>>,
    /// Connections of the clients, if filestone established them.
    pub record: Option<ConnectionsRecord>,
    /// Connection time of each client in nanoseconds, in the order of clients; empty if not needed.
    pub connect_times: Vec<Option<u64>>,
}

impl ConnectedClients {
    /// Returns the name of the mechanism that waits for completions in the first worker.
    pub(super) fn driver(&self) -> &'static str {
        self.workers.first().map_or("none", |body| body.driver())
    }
}

/// The connected clients of one worker.
pub trait WorkerBody: Send {
    /// Returns the name of the mechanism that waits for completions, for the record.
    fn driver(&self) -> &'static str;

    /// Returns the number of its first client, if its clients block.
    fn first_blocking(&self) -> Option<u32> {
        None
    }

    /// Runs the worker to its end and reports it; does nothing if the run never began.
    fn run(self: Box<Self>, thread: WorkerThread<'_>);
}

/// Inputs of a worker's thread.
pub struct WorkerThread<'run> {
    pub(super) plan: &'run Plan,
    pub(super) index: u32,
    pub(super) sink: BufferExchange,
    pub(super) recording: &'run Recording,
    pub(super) signals: WorkerControl<'run>,
    /// Receives a message when the worker is set up.
    pub(super) ready: SyncSender<()>,
    /// Supplies the clock when all workers are set up.
    pub(super) started: Receiver<Clock>,
}

/// A thread whose worker is set up and waits for the others.
pub struct ReadyWorker {
    ready: SyncSender<()>,
    started: Receiver<Clock>,
    done: DoneGuard,
}

impl<'run> WorkerThread<'run> {
    /// Returns the plan of the run.
    pub fn plan(&self) -> &'run Plan {
        self.plan
    }

    /// Returns the index of the worker.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Returns the flag that stops the run, set from outside.
    pub fn stop(&self) -> &'run AtomicBool {
        self.signals.stop
    }

    /// Returns a time source for the setup of the worker; the run's clock comes at the start.
    pub fn time(&self) -> RealTime<'run> {
        RealTime {
            clock: Clock::start(),
            stop: self.signals.stop,
        }
    }

    /// Runs a worker of these clients on this backend, with its own sample sink: the target has
    /// [`Recording::Own`].
    pub fn run<B, W>(
        self,
        members: Vec<WorkerClient<W>>,
        backend: B,
        start: impl FnOnce(&mut B, Clock, &'run AtomicBool),
    ) -> Option<(WorkerResult<B, W>, DoneGuard)>
    where
        B: Backend,
        W: Workload<B::Language>,
    {
        debug_assert!(matches!(self.recording, Recording::Own));
        let (plan, index, signals) = (self.plan, self.index, self.signals);
        let (set_up, sink) = self.set_up();
        let books = own_books(plan, sink);
        let worker = Worker::new(plan, index, members, backend, books, signals);
        set_up.run(worker, signals.stop, start)
    }

    /// Runs a worker with the recorder that all threads share: the target has
    /// [`Recording::Shared`]. A kind of worker has one of the two, so its loop is compiled once.
    pub fn run_shared<B, W>(
        self,
        members: Vec<WorkerClient<W>>,
        backend: B,
        start: impl FnOnce(&mut B, Clock, &'run AtomicBool),
    ) -> Option<(WorkerResult<B, W>, DoneGuard)>
    where
        B: Backend,
        W: Workload<B::Language>,
    {
        let Recording::Shared(recorder) = self.recording else {
            debug_assert!(false, "threads that share books have no recorder");
            return None;
        };
        let (plan, index, signals) = (self.plan, self.index, self.signals);
        let (set_up, sink) = self.set_up();
        // The exchange of buffers is not used.
        drop(sink);
        let worker = Worker::new(
            plan,
            index,
            members,
            backend,
            recorder.books(index),
            signals,
        );
        set_up.run(worker, signals.stop, start)
    }

    fn set_up(self) -> (ReadyWorker, BufferExchange) {
        let set_up = ReadyWorker {
            ready: self.ready,
            started: self.started,
            done: self.sink.finisher(),
        };
        (set_up, self.sink)
    }
}

impl ReadyWorker {
    /// Waits until all are set up, and runs the worker.
    fn run<'run, B, W, K>(
        self,
        mut worker: Worker<'run, B, W, K>,
        stop: &'run AtomicBool,
        start: impl FnOnce(&mut B, Clock, &'run AtomicBool),
    ) -> Option<(WorkerResult<B, W>, DoneGuard)>
    where
        B: Backend,
        W: Workload<B::Language>,
        K: SampleSink,
    {
        let _ = self.ready.send(());
        drop(self.ready);
        let clock = self.started.recv().ok()?;
        start(worker.backend_mut(), clock, stop);
        Some((worker.run_and_keep(), self.done))
    }
}

/// Objects of the target that a run's calls refer to.
#[derive(Debug, Clone, Default)]
pub struct TargetObjects {
    /// Files and names that operations refer to.
    pub table: Arc<FileTable>,
    /// The clients' parts of a mix's file set.
    pub sets: Arc<[ClientSet]>,
}

/// The clients of one worker of a probe or a mix.
pub struct CallWorker<C> {
    /// Connections of the clients.
    pub sockets: Sockets<C>,
    /// Objects that their operations refer to.
    pub subjects: TargetObjects,
}

impl<C: Client<Language = Operations> + Send> WorkerBody for CallWorker<C> {
    fn driver(&self) -> &'static str {
        self.sockets.driver()
    }

    fn run(self: Box<Self>, thread: WorkerThread<'_>) {
        let Self { sockets, subjects } = *self;
        let (plan, TargetObjects { table, sets }) = (thread.plan, &subjects);
        let workload = |client| of_client(plan, table, sets, client);
        let members = WorkerClient::of_worker(plan, thread.index, workload);
        let start = |sockets: &mut Sockets<C>, clock, _: &_| sockets.start(clock);
        if let Some((finished, finisher)) = thread.run(members, sockets, start) {
            finisher.finish(finished.end);
            let mut sockets = finished.backend;
            sockets.log_off();
        }
    }
}
