//! Clients of a load over sockets: any number of them on the thread of one worker.

use super::clients::{ClientEnd, loss_of};
use super::progress::Cancellations;
use super::replaying::{ReplayState, Wanted};
use super::site::WorkDir;
use crate::backend::connection::{ClientConnection, ConnectedClient, Link};
use crate::backend::sockets::{SocketOptions, Sockets};
use crate::backend::{Backend, BackendError, WaitLimit};
use crate::run::{WorkerBody, WorkerThread};
use crate::worker::WorkerClient;
use filestone_host::connect::Dial;
use filestone_host::control::LOOK_EVERY;
use filestone_host::error::RunError;
use filestone_measure::measure::Mismatches;
use filestone_protocol::client::Client;
use filestone_protocol::session::rpc::JukeboxWaits;
use filestone_protocol::workload::LineSource;
use filestone_setup::driver::RetryLimit;
use filestone_workload::completions::CompletionBatch;
use filestone_workload::load::{Lines, LoadWork};
use filestone_workload::operation::{Outcome, SlotId};
use filestone_workload::time::Timestamp;
use std::sync::Arc;
use std::time::Duration;

/// A client of a load whose calls use sockets.
pub trait LoadConnection: Client<Language = Lines> + Send + Sized + 'static {
    /// Aborts the current work: the run must end.
    fn stop(&mut self, now: Timestamp, completed: &mut CompletionBatch);

    /// Returns the mismatches since the last call.
    fn take_mismatches(&mut self) -> Mismatches;

    /// Returns the time during which the server was not ready, since the last call.
    fn take_busy_pauses(&mut self) -> JukeboxWaits {
        JukeboxWaits::default()
    }

    /// Returns the reason why the client of this connection could not continue, if it could not: a
    /// client that was given up may not have one itself.
    fn why_lost(
        connection: &mut ClientConnection<Self>,
        patience: RetryLimit,
        is_given_up: bool,
    ) -> Option<String>;
}

/// The clients of one worker.
struct LoadWorker<S: WorkDir, C: LoadConnection, W: LineSource> {
    /// Connections of the clients.
    sockets: Sockets<C>,
    /// Workloads of the clients.
    members: Vec<WorkerClient<W>>,
    /// State shared with the clients of other workers.
    replaying: Arc<ReplayState<S, W::ClientTotals>>,
    /// Cancellations that end the clean-up.
    cancellations: Cancellations,
}

/// Creates the workers of a replay with their clients; the first connects to `dial`.
pub fn workers<S: WorkDir, C: LoadConnection, W: LineSource>(
    wanted: &Wanted<'_, S, W>,
    dial: Dial,
    of_workers: Vec<Vec<ConnectedClient<C>>>,
) -> Result<Vec<Box<dyn WorkerBody>>, RunError> {
    let plan = wanted.plan;
    let options = SocketOptions::of(plan, dial, Arc::clone(wanted.table));
    let member = |number: u32| WorkerClient {
        number,
        workload: (wanted.workload)(number),
    };
    let body = |(worker, clients)| -> Result<Box<dyn WorkerBody>, RunError> {
        Ok(Box::new(LoadWorker {
            sockets: Sockets::new(wanted.clock.clone(), options.clone(), clients)?,
            members: plan.clients_of_worker(worker).map(member).collect(),
            replaying: Arc::clone(wanted.replaying),
            cancellations: wanted.cancellations.clone(),
        }))
    };
    (0..).zip(of_workers).map(body).collect()
}

impl<S: WorkDir, C: LoadConnection, W: LineSource> WorkerBody for LoadWorker<S, C, W> {
    fn driver(&self) -> &'static str {
        self.sockets.driver()
    }

    fn run(self: Box<Self>, thread: WorkerThread<'_>) {
        let Self {
            sockets,
            members,
            replaying,
            cancellations,
        } = *self;
        let plan = thread.plan();
        let patience = RetryLimit {
            timeout: Duration::from_nanos(plan.timeout_ns),
            reconnect: Duration::from_nanos(plan.reconnect_ns),
        };
        let start = |sockets: &mut Sockets<_>, clock, _: &_| sockets.start(clock);
        let Some((finished, finisher)) = thread.run(members, sockets, start) else {
            return;
        };
        let (mut end, mut sockets) = (finished.end, finished.backend);
        let clients = finished.workloads.len() as u32;
        let workloads = finished
            .workloads
            .into_iter()
            .zip(sockets.connections_mut());
        let ends: Vec<ClientEnd<W::ClientTotals>> = workloads
            .map(|(workload, connection)| ended(workload, connection, patience))
            .collect();
        end.lost = loss_of(plan, &mut end, &ends);
        replaying.note(ends);
        finisher.finish(end);
        let mut clean_up = CleanUp::new(&mut sockets, &replaying, clients);
        if replaying.removes() {
            // The removal of the common directory removes the rest, and reports the error.
            let _ = clean_up.run(&cancellations);
        }
        replaying.count_cleaned(clean_up.left);
        sockets.log_off();
    }
}

fn ended<C: LoadConnection, W: LineSource>(
    workload: W,
    connection: &mut ClientConnection<C>,
    patience: RetryLimit,
) -> ClientEnd<W::ClientTotals> {
    let lost = C::why_lost(connection, patience, workload.is_given_up());
    ClientEnd {
        account: workload.into_account(lost),
        mismatches: connection.client.take_mismatches(),
        busy_pauses: connection.client.take_busy_pauses(),
    }
}

/// Returns the time of reconnection attempts for the report: the configured limit, plus whole
/// seconds of what exceeds it, since the time is polled.
pub fn tried_for(tried: Duration, reconnect: Duration) -> Duration {
    reconnect + Duration::from_secs(tried.saturating_sub(reconnect).as_secs())
}

/// Clean-up stage of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The client closes its open files.
    EndsPass,
    /// The client removes its tree.
    Removes,
    /// The client is clean, or cannot continue.
    Done,
}

/// Clean-up of clients that remove their trees concurrently.
struct CleanUp<'run, S, C, A> {
    sockets: &'run mut Sockets<C>,
    replaying: &'run ReplayState<S, A>,
    stages: Vec<Stage>,
    /// Number of clients that are not done.
    left: u32,
}

impl<'run, S: WorkDir, C: LoadConnection, A> CleanUp<'run, S, C, A> {
    fn new(
        sockets: &'run mut Sockets<C>,
        replaying: &'run ReplayState<S, A>,
        clients: u32,
    ) -> Self {
        Self {
            sockets,
            replaying,
            stages: vec![Stage::EndsPass; clients as usize],
            left: clients,
        }
    }

    fn run(&mut self, cancellations: &Cancellations) -> Result<(), BackendError> {
        let mut completed = CompletionBatch::default();
        let now = self.sockets.now();
        for connection in self.sockets.connections_mut().take(self.stages.len()) {
            connection.client.stop(now, &mut completed);
        }
        completed.clear();
        let connections = self.sockets.connections_mut().zip(&mut self.stages);
        for (connection, stage) in connections {
            // Do not wait once more for a server that is gone.
            if !matches!(connection.link, Link::Up(_)) {
                *stage = Stage::Done;
                self.left -= 1;
                self.replaying.count_cleaned(1);
            }
        }
        for client in 0..self.stages.len() as u32 {
            if self.stages[client as usize] != Stage::Done {
                let ticket = SlotId { client, slot: 0 };
                self.sockets.submit(ticket, LoadWork::EndPass, now);
            }
        }
        while self.left > 0 && !cancellations.clean_up.is_cancelled() {
            let until = WaitLimit::sharp(self.sockets.now().after(LOOK_EVERY));
            self.sockets.wait(until, &mut completed)?;
            for completion in completed.iter() {
                self.resume(completion.ticket, completion.outcome);
            }
            completed.clear();
        }
        Ok(())
    }

    fn resume(&mut self, ticket: SlotId, outcome: Outcome) {
        let Some(stage) = self.stages.get_mut(ticket.client as usize) else {
            return;
        };
        *stage = match (*stage, outcome) {
            (Stage::Done, _) => return,
            // The server's reply to the closes does not matter.
            (Stage::EndsPass, Outcome::Ok | Outcome::Failed(_)) => Stage::Removes,
            (Stage::EndsPass | Stage::Removes, _) => Stage::Done,
        };
        if *stage == Stage::Removes {
            let now = self.sockets.recent();
            return self.sockets.submit(ticket, LoadWork::RemoveTree, now);
        }
        self.left -= 1;
        self.replaying.count_cleaned(1);
    }
}
