//! The clients of a load, over sockets: any number of them on each worker's thread.

use super::site::Nfs3Site;
use crate::backend::connection::ConnectedClient as Connection;
use crate::backend::sockets::{SocketOptions, Sockets};
use crate::control::Context;
use crate::driver::{CallError, Dial, Patience};
use crate::error::RunError;
use crate::replay::connected::{ConnectedClient, ConnectedWorker, Counts, Ended};
use crate::replay::replaying::{Crew, Wanted};
use crate::replay::round_robin::RoundRobin;
use crate::run::{ConnectedClients, Recording, WorkerBody};
use crate::target::clients::{connect_sockets, dial_of};
use crate::target::nfs3::calls;
use crate::worker::Member;
use filestone_model::client::nfs3::load::LoadClient;
use filestone_model::client::nfs3::sequence::{Lost, Why};
use filestone_model::completions::Completions;
use filestone_model::plan::Plan;
use filestone_model::session::rpc::RpcProcedure;
use filestone_model::time::Moment;
use filestone_wire::pattern;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

/// Clients over sockets.
pub struct OverSockets;

impl ConnectedClient for LoadClient {
    fn break_off(&mut self, now: Moment, completed: &mut Completions) {
        LoadClient::break_off(self, Why::Stopped, now, completed);
    }

    fn take_counts(&mut self, ended: Ended<'_>) -> Counts {
        let lost = self.take_lost().filter(|lost| lost.why != Why::Stopped);
        // Nothing was cut off of one that waited for its next line.
        let idle = || Lost {
            procedure: RpcProcedure::NONE,
            why: Why::Disconnected,
        };
        let lost = lost.or_else(|| ended.is_given_up.then(idle));
        Counts {
            mismatches: self.take_mismatches(),
            busy_pauses: self.take_busy_pauses(),
            lost: lost.map(|lost| in_words(lost, ended)),
        }
    }
}

/// Why a client could not go on.
fn in_words(lost: Lost, ended: Ended<'_>) -> String {
    let Patience { timeout, reconnect } = ended.patience;
    let loss = ended.loss.map_or(CallError::Closed, CallError::from);
    let tried = ended
        .tried
        .map_or(timeout, |tried| tried_for(tried, reconnect));
    let gone = if tried.is_zero() {
        loss
    } else {
        CallError::Gone {
            loss: Box::new(loss),
            tried,
        }
    };
    calls::call_failed(ended.dial.address, lost, timeout, gone).to_string()
}

/// For how long it was tried, which is looked at now and then: what was asked for, and whole
/// seconds of what is beyond that.
fn tried_for(tried: Duration, reconnect: Duration) -> Duration {
    reconnect + Duration::from_secs(tried.saturating_sub(reconnect).as_secs())
}

impl Crew<RoundRobin<Nfs3Site>> for OverSockets {
    fn recording(&self, _plan: &Plan, _workers: usize) -> Recording {
        Recording::Own
    }

    fn connect(
        &self,
        wanted: &Wanted<'_, RoundRobin<Nfs3Site>>,
        context: &mut Context<'_>,
    ) -> Result<ConnectedClients, RunError> {
        let (plan, sites) = (wanted.plan, &wanted.replaying.site);
        let lock_managers = sites.of(0).lock_manager().is_some();
        let count = plan.clients * (1 + u32::from(lock_managers));
        let dial = |place| dial_of_place(plan, sites, place);
        let connected = connect_sockets(plan, count, dial, context)?;
        let mut sockets: Vec<Option<OwnedFd>> = connected.sockets.into_iter().map(Some).collect();
        let mut take = |place: u32| sockets.get_mut(place as usize).and_then(Option::take);
        let options = SocketOptions {
            dial: *sites.of(0).dial(),
            pattern: pattern::table().into(),
            busy_poll: plan.busy_poll,
            reconnect_nanos: plan.reconnect_ns,
            on_lost: plan.on_lost(),
        };
        let mut workers: Vec<Box<dyn WorkerBody>> = Vec::new();
        for worker in 0..plan.workers.max(1) {
            let numbers: Vec<u32> = plan.clients_of_worker(worker).collect();
            let (mut clients, mut locks) = (Vec::new(), Vec::new());
            for (place, number) in (0..).zip(numbers.iter().copied()) {
                let made = sites.of(number).client_options(number, &options.pattern);
                let mut client = LoadClient::new(&made);
                let own = numbers.len() as u32 + place;
                if let Some(socket) = take(plan.clients + number)
                    && let Some(client) = client.lock_manager(&made, place, own)
                {
                    locks.push(Connection {
                        client,
                        socket,
                        dial: dial(plan.clients + number),
                    });
                }
                let dial = dial(number);
                clients.extend(take(number).map(|socket| Connection {
                    client,
                    socket,
                    dial,
                }));
            }
            clients.append(&mut locks);
            let member = |number: u32| Member {
                number,
                workload: (wanted.workload)(number),
            };
            workers.push(Box::new(ConnectedWorker {
                sockets: Sockets::new(wanted.clock.clone(), options.clone(), clients)?,
                members: numbers.into_iter().map(member).collect(),
                replaying: Arc::clone(wanted.replaying),
                cancellations: wanted.cancellations.clone(),
                patience: Patience {
                    timeout: Duration::from_nanos(plan.timeout_ns),
                    reconnect: Duration::from_nanos(plan.reconnect_ns),
                },
            }));
        }
        Ok(ConnectedClients {
            workers,
            record: Some(connected.record),
        })
    }
}

/// How the connection at that place is made: first those of all clients, then those to their
/// lock managers.
fn dial_of_place(plan: &Plan, sites: &RoundRobin<Nfs3Site>, place: u32) -> Dial {
    let number = place % plan.clients.max(1);
    let site = sites.of(number);
    let lock_manager = site.lock_manager().filter(|_| place >= plan.clients);
    dial_of(plan, number, *lock_manager.unwrap_or(site.dial()))
}
