//! Connects the clients of all workers.

mod connecting;
mod first;

use crate::backend::connection::{ConnectedClient, InitialConnection};
use crate::backend::sockets::{SocketOptions, Sockets};
use crate::run::{CallWorker, ConnectedClients, TargetObjects, WorkerBody};
pub use connecting::ConnectedSockets;
use connecting::{ConnectSpec, OnConnectError, connect_many};
use filestone_host::clock::Clock;
use filestone_host::connect::Dial;
use filestone_host::control::RunContext;
use filestone_host::error::RunError;
use filestone_host::system;
use filestone_measure::measure::connections_record::ClientMemory;
use filestone_plan::plan::Plan;
use filestone_protocol::client::Client;
use filestone_workload::language::Operations;
pub use first::{connect_first, moment_of};
use std::time::Duration;

/// Returns `dial` with the source address of client `client` of `plan`.
pub fn dial_of(plan: &Plan, client: u32, dial: Dial) -> Dial {
    Dial {
        source: plan.source_of(client),
        ..dial
    }
}

/// Connects `count` sockets as the plan specifies.
pub fn connect_sockets(
    plan: &Plan,
    count: u32,
    dial: impl Fn(u32) -> Dial,
    context: &mut RunContext<'_>,
) -> Result<ConnectedSockets, RunError> {
    connect_wanted(plan, count, OnConnectError::Fail, dial, context)
}

/// Connects `count` sockets; those that the server refuses are left out.
fn connect_sockets_that_can_be(
    plan: &Plan,
    count: u32,
    dial: impl Fn(u32) -> Dial,
    context: &mut RunContext<'_>,
) -> Result<ConnectedSockets, RunError> {
    connect_wanted(plan, count, OnConnectError::Skip, dial, context)
}

fn connect_wanted(
    plan: &Plan,
    count: u32,
    lack: OnConnectError,
    dial: impl Fn(u32) -> Dial,
    context: &mut RunContext<'_>,
) -> Result<ConnectedSockets, RunError> {
    let wanted = ConnectSpec {
        count,
        per_s: plan.connections.connections_per_s,
        timeout: Duration::from_nanos(plan.timeout_ns),
        lack,
    };
    let memory = ClientMemory {
        before_bytes: system::resident_bytes(),
        ..ClientMemory::default()
    };
    let mut connected = connect_many(&wanted, dial, context)?;
    connected.record.memory = Some(memory);
    Ok(connected)
}

/// Connects one socket for each client of `plan` and creates the clients with `make`; `subjects`
/// are the objects that they work on.
pub fn connect<C: Client<Language = Operations> + Send + 'static>(
    plan: &Plan,
    options: &SocketOptions,
    subjects: &TargetObjects,
    clock: &Clock,
    context: &mut RunContext<'_>,
    make: impl Fn(u32) -> C,
) -> Result<ConnectedClients, RunError> {
    let dial = |client| dial_of(plan, client, options.dial);
    let connected = connect_sockets(plan, plan.clients, dial, context)?;
    let mut of_workers: Vec<_> = (0..plan.workers.max(1)).map(|_| Vec::new()).collect();
    let count = of_workers.len();
    // Round robin over the workers, in client order, as in the plan.
    for (number, socket) in (0..).zip(connected.sockets.into_iter().flatten()) {
        of_workers[number as usize % count].push(ConnectedClient {
            client: make(number),
            first: InitialConnection::Established(socket),
            dial: dial(number),
        });
    }
    Ok(ConnectedClients {
        workers: workers(plan, options, subjects, clock, of_workers)?,
        record: Some(connected.record),
        connect_times: Vec::new(),
    })
}

/// Creates the workers of a probe or a mix with their clients.
pub fn workers<C: Client<Language = Operations> + Send + 'static>(
    plan: &Plan,
    options: &SocketOptions,
    subjects: &TargetObjects,
    clock: &Clock,
    of_workers: Vec<Vec<ConnectedClient<C>>>,
) -> Result<Vec<Box<dyn WorkerBody>>, RunError> {
    let body = |clients| -> Result<Box<dyn WorkerBody>, RunError> {
        let mut sockets = Sockets::new(clock.clone(), options.clone(), clients)?;
        if plan.stamps {
            sockets.stamp();
        }
        let subjects = subjects.clone();
        Ok(Box::new(CallWorker { sockets, subjects }))
    };
    of_workers.into_iter().map(body).collect()
}
