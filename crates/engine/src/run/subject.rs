//! What a run of calls is made on: a target that has been found and prepared, and the
//! connected clients of each worker.
//!
//! What the clients speak is not known here, but everything between due and done is still one
//! loop for one type of backend: only a worker's beginning and end go through a `dyn`.

use super::coordinator::Exchange;
use crate::backend::sockets::Sockets;
use crate::clock::Clock;
use crate::control::Context;
use crate::error::RunError;
use crate::worker::{Member, Signals, Worker, WorkerEnd, own_books};
use filestone_model::client::Client;
use filestone_model::file_set::ClientSet;
use filestone_model::language::Operations;
use filestone_model::measure::ConnectionsRecord;
use filestone_model::measure::mix_record::FileSetRecord;
use filestone_model::measure::run_record::Target;
use filestone_model::plan::Plan;
use filestone_model::workload::{FileTable, Workload};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender};

/// A target that has been found, and prepared for a run of calls.
pub trait OpenTarget {
    /// What the record says of it.
    fn describe(&self) -> &Target;

    /// The files and names that operations speak of.
    fn table(&self) -> Arc<FileTable>;

    /// The clients' parts of a mix's file set.
    fn client_sets(&self) -> &[ClientSet] {
        &[]
    }

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

    /// Takes away what was prepared.
    fn clean_up(&mut self, _context: &mut Context<'_>) -> Result<(), RunError> {
        Ok(())
    }
}

/// The clients of a run, connected.
pub struct ConnectedClients {
    /// Those of each worker.
    pub workers: Vec<Box<dyn WorkerBody>>,
    /// How they were connected, where that was this program's to do.
    pub record: Option<ConnectionsRecord>,
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

    /// Runs the worker to its end; `None` if the run never began.
    fn run(self: Box<Self>, thread: WorkerThread<'_>) -> Option<WorkerEnd>;
}

/// What a worker's thread brings to the run.
pub struct WorkerThread<'run> {
    pub(super) plan: &'run Plan,
    pub(super) index: u32,
    pub(super) sink: Exchange,
    pub(super) signals: Signals<'run>,
    pub(super) workload: &'run (dyn Fn(u32) -> Box<dyn Workload> + Sync),
    /// Told when the worker is set up.
    pub(super) ready: SyncSender<()>,
    /// Gives the clock when all of them are.
    pub(super) started: Receiver<Clock>,
}

impl<C: Client<Language = Operations> + Send> WorkerBody for Sockets<C> {
    fn driver(&self) -> &'static str {
        Sockets::driver(self)
    }

    fn run(self: Box<Self>, thread: WorkerThread<'_>) -> Option<WorkerEnd> {
        let (plan, index) = (thread.plan, thread.index);
        let books = own_books(plan, thread.sink);
        let members = Member::of_worker(plan, index, thread.workload);
        let mut worker = Worker::new(plan, index, members, *self, books, thread.signals);
        let _ = thread.ready.send(());
        drop(thread.ready);
        let clock = thread.started.recv().ok()?;
        worker.backend_mut().start(clock);
        Some(worker.run())
    }
}
