//! Clients of a load over sockets: any number of them on the thread of one worker.

use super::clients::{ClientEnd, all_lost};
use super::progress::Cancellations;
use super::replaying::Replaying;
use super::site::Site;
use crate::backend::connection::{ClientConnection, Link, Loss};
use crate::backend::sockets::Sockets;
use crate::backend::{Backend, BackendError};
use crate::control::LOOK_EVERY;
use crate::driver::{Dial, Patience};
use crate::run::{WorkerBody, WorkerThread};
use crate::worker::Member;
use filestone_model::client::Client;
use filestone_model::completions::Completions;
use filestone_model::load::{Lines, LoadWork};
use filestone_model::measure::Mismatches;
use filestone_model::operation::{Outcome, Ticket};
use filestone_model::session::rpc::BusyPauses;
use filestone_model::time::Moment;
use filestone_model::workload::LoadFile;
use std::sync::Arc;
use std::time::Duration;

/// One client of a load over a connection.
pub trait ConnectedClient: Client<Language = Lines> + Send + 'static {
    /// What is going on ends here: nobody waits for it any longer.
    fn break_off(&mut self, now: Moment, completed: &mut Completions);

    /// What it has counted by itself.
    fn take_counts(&mut self, ended: Ended<'_>) -> Counts;
}

/// What is known of a client that has ended.
#[derive(Debug)]
pub struct Ended<'a> {
    /// Where its server is.
    pub dial: &'a Dial,
    /// How long the server was waited for.
    pub patience: Patience,
    /// Why its connection is down, or was last.
    pub loss: Option<Loss>,
    /// For how long its connection was tried again before it was given up.
    pub tried: Option<Duration>,
    /// Whether it was given up before it had come to its end.
    pub is_given_up: bool,
}

/// What a client over a connection has counted by itself.
#[derive(Debug, Default)]
pub struct Counts {
    /// Its mismatches by kind.
    pub mismatches: Mismatches,
    /// How long its server was not ready.
    pub busy_pauses: BusyPauses,
    /// Why it cannot go on.
    pub lost: Option<String>,
}

/// The clients of one worker.
pub struct ConnectedWorker<C, S> {
    /// Their connections.
    pub sockets: Sockets<C>,
    /// What they ask.
    pub members: Vec<Member<LoadFile>>,
    /// What they have in common with those of other workers.
    pub replaying: Arc<Replaying<S>>,
    /// What ends their clean-up.
    pub cancellations: Cancellations,
    /// How long the server was waited for.
    pub patience: Patience,
}

impl<C: ConnectedClient, S: Site> WorkerBody for ConnectedWorker<C, S> {
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
        let start = |sockets: &mut Sockets<C>, clock, _: &_| sockets.start(clock);
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
        let mut clean_up = CleanUp::new(&mut sockets, clients);
        if replaying.removes() {
            // What is left is taken away with the directory of all, and its reason told then.
            let _ = clean_up.run(&replaying, &cancellations);
        }
        replaying.count_cleaned(clean_up.left);
    }
}

fn ended<C: ConnectedClient>(
    workload: LoadFile,
    connection: &mut ClientConnection<C>,
    patience: Patience,
) -> ClientEnd {
    let Counts {
        mismatches,
        busy_pauses,
        lost,
    } = connection.client.take_counts(Ended {
        dial: &connection.dial,
        patience,
        loss: connection.loss.take(),
        tried: connection.tried,
        is_given_up: workload.is_given_up(),
    });
    ClientEnd {
        ledger: workload.into_ledger(lost),
        mismatches,
        busy_pauses,
    }
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
struct CleanUp<'run, C> {
    sockets: &'run mut Sockets<C>,
    stages: Vec<Stage>,
    /// Clients that are not done.
    left: u32,
}

impl<'run, C: ConnectedClient> CleanUp<'run, C> {
    fn new(sockets: &'run mut Sockets<C>, clients: u32) -> Self {
        Self {
            sockets,
            stages: vec![Stage::EndsPass; clients as usize],
            left: clients,
        }
    }

    fn run<S: Site>(
        &mut self,
        replaying: &Replaying<S>,
        cancellations: &Cancellations,
    ) -> Result<(), BackendError> {
        let mut completed = Completions::default();
        let now = self.sockets.now();
        for connection in self.sockets.connections_mut().take(self.stages.len()) {
            connection.client.break_off(now, &mut completed);
        }
        completed.clear();
        let connections = self.sockets.connections_mut().zip(&mut self.stages);
        for (connection, stage) in connections {
            // A server that is gone is not waited for once more.
            if !matches!(connection.link, Link::Up(_)) {
                *stage = Stage::Done;
                self.left -= 1;
                replaying.count_cleaned(1);
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
                self.go_on(completion.ticket, completion.outcome, replaying);
            }
            completed.clear();
        }
        Ok(())
    }

    fn go_on<S: Site>(&mut self, ticket: Ticket, outcome: Outcome, replaying: &Replaying<S>) {
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
        replaying.count_cleaned(1);
    }
}
