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

/// A client of a load whose calls go over sockets.
pub trait LoadConnection: Client<Language = Lines> + Send + Sized + 'static {
    /// Breaks off what it is doing: the run is to end.
    fn stop(&mut self, now: Timestamp, completed: &mut CompletionBatch);

    /// Results other than its load expects, since this was asked last.
    fn take_mismatches(&mut self) -> Mismatches;

    /// How long its server was not ready since this was asked last.
    fn take_busy_pauses(&mut self) -> JukeboxWaits {
        JukeboxWaits::default()
    }

    /// Why the client of this connection could not go on, if it could not: one that was given up
    /// may not know.
    fn why_lost(
        connection: &mut ClientConnection<Self>,
        patience: RetryLimit,
        is_given_up: bool,
    ) -> Option<String>;

    /// Takes leave of its server; whether a completion says when that is done.
    fn leave(&mut self, _now: Timestamp, _out: &mut Output) -> bool {
        false
    }
}

/// The clients of one worker.
pub struct LoadWorker<S: WorkDir, C: LoadConnection, W: LineSource> {
    /// Their connections.
    pub sockets: Sockets<C>,
    /// What they ask.
    pub members: Vec<WorkerClient<W>>,
    /// What they have in common with those of other workers.
    pub replaying: Arc<ReplayState<S, W::ClientTotals>>,
    /// What ends their clean-up.
    pub cancellations: Cancellations,
    /// How long the server was waited for.
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
            // What is left is taken away with the directory of all, and its reason told then.
            let _ = clean_up.run(&cancellations);
        }
        replaying.count_cleaned(clean_up.left);
        sockets.log_off(LEAVE_MAX, C::leave);
    }
}

/// How long a server is waited for when clients take their leave.
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

/// For how long it was tried, which is looked at now and then: what was asked for, and whole
/// seconds of what is beyond that.
pub fn tried_for(tried: Duration, reconnect: Duration) -> Duration {
    reconnect + Duration::from_secs(tried.saturating_sub(reconnect).as_secs())
}

/// How far a client is with cleaning up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It closes what is open.
    EndsPass,
    /// It takes its tree away.
    Removes,
    /// It is done, or can do no more.
    Done,
}

/// Clients that take their trees away, all at the same time.
struct CleanUp<'run, S, C, A> {
    sockets: &'run mut Sockets<C>,
    replaying: &'run ReplayState<S, A>,
    stages: Vec<Stage>,
    /// Clients that are not done.
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
            // A server that is gone is not waited for once more.
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
            // What the server says of what is closed does not matter.
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
