//! Clients of a load over sockets: any number of them on the thread of one worker.

use super::clients::{ClientEnd, loss_of};
use super::progress::Cancellations;
use super::replaying::ReplayState;
use super::site::WorkDir;
use crate::backend::connection::{ClientConnection, Link};
use crate::backend::sockets::Sockets;
use crate::backend::{Backend, BackendError, WaitLimit};
use crate::control::LOOK_EVERY;
use crate::driver::RetryLimit;
use crate::run::{WorkerBody, WorkerThread};
use crate::worker::WorkerClient;
use filestone_measure::measure::Mismatches;
use filestone_protocol::client::{Client, Output};
use filestone_protocol::session::rpc::JukeboxWaits;
use filestone_protocol::workload::LineSource;
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

    /// Logs off from the server; returns whether a completion reports the end.
    fn leave(&mut self, _now: Timestamp, _out: &mut Output) -> bool {
        false
    }
}

/// The clients of one worker.
pub struct LoadWorker<S: WorkDir, C: LoadConnection, W: LineSource> {
    /// Connections of the clients.
    pub sockets: Sockets<C>,
    /// Workloads of the clients.
    pub members: Vec<WorkerClient<W>>,
    /// State shared with the clients of other workers.
    pub replaying: Arc<ReplayState<S, W::ClientTotals>>,
    /// Cancellations that end the clean-up.
    pub cancellations: Cancellations,
    /// Time limits of waiting for the server.
    pub patience: RetryLimit,
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
            patience,
        } = *self;
        let plan = thread.plan();
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
        sockets.log_off(LEAVE_MAX, C::leave);
    }
}

/// Time limit for logging off from a server.
pub const LEAVE_MAX: Duration = Duration::from_secs(2);

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
