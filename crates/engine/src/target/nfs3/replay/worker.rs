//! Clients of a load over sockets: any number of them on the thread of one worker.

use super::site::Nfs3Site;
use crate::backend::connection::{ClientConnection, Link};
use crate::backend::sockets::Sockets;
use crate::backend::{Backend, BackendError};
use crate::control::LOOK_EVERY;
use crate::driver::{CallError, Patience};
use crate::replay::clients::{ClientEnd, all_lost};
use crate::replay::progress::Cancellations;
use crate::replay::replaying::Replaying;
use crate::replay::round_robin::RoundRobin;
use crate::run::{WorkerBody, WorkerThread};
use crate::target::nfs3::calls;
use crate::worker::Member;
use filestone_model::client::nfs3::load::LoadClient;
use filestone_model::client::nfs3::sequence::{Lost, Why};
use filestone_model::completions::Completions;
use filestone_model::load::LoadWork;
use filestone_model::operation::{Outcome, Ticket};
use filestone_model::session::rpc::RpcProcedure;
use filestone_model::workload::LoadFile;
use std::sync::Arc;
use std::time::Duration;

/// The clients of one worker.
pub struct LoadWorker {
    /// Their connections.
    pub sockets: Sockets<LoadClient>,
    /// What they ask.
    pub members: Vec<Member<LoadFile>>,
    /// What they have in common with those of other workers.
    pub replaying: Arc<Replaying<RoundRobin<Nfs3Site>>>,
    /// What ends their clean-up.
    pub cancellations: Cancellations,
    /// How long the server was waited for.
    pub patience: Patience,
}

impl WorkerBody for LoadWorker {
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
        let ends: Vec<ClientEnd> = workloads
            .map(|(workload, connection)| ended(workload, connection, patience))
            .collect();
        // What the clients say of their losses says more.
        end.lost = all_lost(plan, &end, &ends).or(end.lost);
        replaying.note(ends);
        finisher.finish(end);
        let mut clean_up = CleanUp::new(&mut sockets, &replaying, clients);
        if replaying.removes() {
            // What is left is taken away with the directory of all, and its reason told then.
            let _ = clean_up.run(&cancellations);
        }
        replaying.count_cleaned(clean_up.left);
    }
}

fn ended(
    workload: LoadFile,
    connection: &mut ClientConnection<LoadClient>,
    patience: Patience,
) -> ClientEnd {
    let lost = why_lost(connection, patience, workload.is_given_up());
    ClientEnd {
        ledger: workload.into_ledger(lost),
        mismatches: connection.client.take_mismatches(),
        busy_pauses: connection.client.take_busy_pauses(),
    }
}

/// Why the client of this connection could not go on, if it could not: one that was given up may
/// not know.
pub fn why_lost(
    connection: &mut ClientConnection<LoadClient>,
    patience: Patience,
    is_given_up: bool,
) -> Option<String> {
    let lost = connection.client.take_lost();
    // Nothing was cut off of one that waited for its next line.
    let idle = || Lost {
        procedure: RpcProcedure::NONE,
        why: Why::Disconnected,
    };
    let lost = lost
        .filter(|lost| lost.why != Why::Stopped)
        .or_else(|| is_given_up.then(idle))?;
    let Patience { timeout, reconnect } = patience;
    let loss = connection.loss.take();
    let loss = loss.map_or(CallError::Closed, CallError::from);
    let tried = connection.tried;
    let tried = tried.map_or(timeout, |tried| tried_for(tried, reconnect));
    let gone = if tried.is_zero() {
        loss
    } else {
        CallError::Gone {
            loss: Box::new(loss),
            tried,
        }
    };
    Some(calls::call_failed(connection.dial.address, lost, timeout, gone).to_string())
}

/// For how long it was tried, which is looked at now and then: what was asked for, and whole
/// seconds of what is beyond that.
fn tried_for(tried: Duration, reconnect: Duration) -> Duration {
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
struct CleanUp<'run> {
    sockets: &'run mut Sockets<LoadClient>,
    replaying: &'run Replaying<RoundRobin<Nfs3Site>>,
    stages: Vec<Stage>,
    /// Clients that are not done.
    left: u32,
}

impl<'run> CleanUp<'run> {
    fn new(
        sockets: &'run mut Sockets<LoadClient>,
        replaying: &'run Replaying<RoundRobin<Nfs3Site>>,
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
        let mut completed = Completions::default();
        let now = self.sockets.now();
        for connection in self.sockets.connections_mut().take(self.stages.len()) {
            connection
                .client
                .break_off(Why::Stopped, now, &mut completed);
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
                let ticket = Ticket { client, slot: 0 };
                self.sockets.submit(ticket, LoadWork::EndPass, now);
            }
        }
        while self.left > 0 && !cancellations.clean_up.is_cancelled() {
            let until = self.sockets.now().after(LOOK_EVERY);
            self.sockets.wait(until, &mut completed)?;
            for completion in completed.iter() {
                self.go_on(completion.ticket, completion.outcome);
            }
            completed.clear();
        }
        Ok(())
    }

    fn go_on(&mut self, ticket: Ticket, outcome: Outcome) {
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
