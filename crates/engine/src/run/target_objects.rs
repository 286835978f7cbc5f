//! What a run of calls is made on: a target that has been found and prepared, and the
//! connected clients of each worker.
//!
//! What the clients speak is not known here, but everything between due and done is still one
//! loop for one type of backend: only a worker's beginning and end go through a `dyn`.

use super::coordinator::{DoneGuard, Exchange};
use super::{Recording, RunHook};
use crate::backend::Backend;
use crate::backend::sockets::Sockets;
use crate::clock::Clock;
use crate::control::Context;
use crate::error::RunError;
use crate::time::RealTime;
use crate::worker::{SampleSink, Worker, WorkerClient, WorkerControl, WorkerResult, own_books};
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

/// A target that has been found, and prepared for a run of calls.
pub trait OpenTarget {
    /// What the record says of it.
    fn describe(&self) -> &Target;

    /// What the record of a mix says of its file set.
    fn file_set(&self) -> Option<FileSetRecord> {
        None
    }

    /// What the run has made there and takes away again.
    fn own_path(&self) -> Option<&str> {
        None
    }

    /// The clients of each worker, connected.
    fn connect(
        &mut self,
        clock: &Clock,
        context: &mut Context<'_>,
    ) -> Result<ConnectedClients, RunError>;

    /// Where its workers, so many, enter what they measure.
    fn recording(&self, _workers: usize) -> Recording {
        Recording::Own
    }

    /// Who attends to the run, besides the coordinator.
    fn attendant(&self) -> Option<Box<dyn RunHook>> {
        None
    }

    /// Adds to the record what only its kind of run has to tell, and its caveats.
    fn complete(&mut self, _record: &mut RunRecord) {}

    /// Takes away what was prepared.
    fn clean_up(&mut self, _context: &mut Context<'_>) -> Result<(), RunError> {
        Ok(())
    }

    /// What is said of a clean-up of `path` that was not done.
    fn left(&self, plan: &Plan, path: String, error: RunError) -> Caveat {
        let reason = match error {
            RunError::Interrupted => "interrupted before that was done".into(),
            error => error.to_string(),
        };
        if plan.mix().is_some_and(|mix| !mix.remove_set) {
            Caveat::FileSetStillClaimed { path, reason }
        } else {
            Caveat::LeftBehind { path, reason }
        }
    }
}

/// The clients of a run, connected.
pub struct ConnectedClients {
    /// Those of each worker.
    pub workers: Vec<Box<dyn WorkerBody>>,
    /// How they were connected, where that was this program's to do.
    pub record: Option<ConnectionsRecord>,
    /// How long each of them took, in the order of clients; none where nobody wants to know.
    pub connect_times: Vec<Option<u64>>,
}

impl ConnectedClients {
    /// What waits for completions in the first worker.
    pub(super) fn driver(&self) -> &'static str {
        self.workers.first().map_or("none", |body| body.driver())
    }
}

/// The connected clients of one worker.
pub trait WorkerBody: Send {
    /// What waits for completions, for the record.
    fn driver(&self) -> &'static str;

    /// The first of its clients, if they block.
    fn first_blocking(&self) -> Option<u32> {
        None
    }

    /// Runs the worker to its end, and says so; nothing, if the run never began.
    fn run(self: Box<Self>, thread: WorkerThread<'_>);
}

/// What a worker's thread brings to the run.
pub struct WorkerThread<'run> {
    pub(super) plan: &'run Plan,
    pub(super) index: u32,
    pub(super) sink: Exchange,
    pub(super) recording: &'run Recording,
    pub(super) signals: WorkerControl<'run>,
    /// Told when the worker is set up.
    pub(super) ready: SyncSender<()>,
    /// Gives the clock when all of them are.
    pub(super) started: Receiver<Clock>,
}

/// A thread whose worker is set up, and waits for the others.
pub struct ReadyWorker {
    ready: SyncSender<()>,
    started: Receiver<Clock>,
    done: DoneGuard,
}

impl<'run> WorkerThread<'run> {
    /// What is run.
    pub fn plan(&self) -> &'run Plan {
        self.plan
    }

    /// Which of the workers it is.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Set from outside: the run is to end.
    pub fn stop(&self) -> &'run AtomicBool {
        self.signals.stop
    }

    /// A time to set the worker up with; the run's comes when it starts.
    pub fn time(&self) -> RealTime<'run> {
        RealTime {
            clock: Clock::start(),
            stop: self.signals.stop,
        }
    }

    /// Runs a worker of these clients on this backend, with its own books: the target has
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

    /// Likewise, with the books that all threads share: the target has [`Recording::Shared`]. A kind of
    /// worker has one of the two, so its loop is compiled once.
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
        // Nothing goes over the exchange of buffers.
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

    fn set_up(self) -> (ReadyWorker, Exchange) {
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

/// What the calls of a run are about.
#[derive(Debug, Clone, Default)]
pub struct TargetObjects {
    /// The files and names that operations speak of.
    pub table: Arc<FileTable>,
    /// The clients' parts of a mix's file set.
    pub sets: Arc<[ClientSet]>,
}

/// The clients of one worker of a probe or a mix.
pub struct CallWorker<C> {
    /// Their connections.
    pub sockets: Sockets<C>,
    /// What they ask for.
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
        }
    }
}
