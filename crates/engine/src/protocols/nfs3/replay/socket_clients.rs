//! Replaying NFS clients over sockets, any number of them per worker thread.

use super::site::Nfs3Site;
use crate::backend::connection::{ConnectedClient, InitialConnection};
use crate::protocols::clients::{
    ConnectedSockets, connect_first, connect_sockets, dial_of, moment_of,
};
use crate::replay::over_sockets::workers;
use crate::replay::replaying::{ClientSpawner, Wanted};
use crate::replay::round_robin::RoundRobin;
use crate::run::ConnectedClients;
use filestone_host::connect::Dial;
use filestone_host::control::RunContext;
use filestone_host::error::RunError;
use filestone_plan::plan::Plan;
use filestone_protocol::client::nfs3::load::LoadClient;
use filestone_protocol::workload::LineSource;
use filestone_workload::time::Timestamp;

/// Spawns clients over sockets.
pub struct SocketClients;

impl<W: LineSource> ClientSpawner<RoundRobin<Nfs3Site>, W> for SocketClients {
    fn connect(
        &self,
        wanted: &Wanted<'_, RoundRobin<Nfs3Site>, W>,
        context: &mut RunContext<'_>,
    ) -> Result<ConnectedClients, RunError> {
        let (plan, sites) = (wanted.plan, &wanted.replaying.site);
        let dial = |place| dial_of_place(plan, sites, place);
        let moments = moments_of(wanted);
        let connected = connect_sockets_of(wanted, moments, context)?;
        let connect_times = connected.times_of_made();
        let mut sockets = connected.sockets;
        let mut take = |place: u32| sockets.get_mut(place as usize).and_then(Option::take);
        let moment = |number: u32| moments.map(|moments| moment_of(moments, number));
        let mut of_workers = Vec::new();
        for worker in 0..plan.workers.max(1) {
            let numbers: Vec<u32> = plan.clients_of_worker(worker).collect();
            let (mut clients, mut locks) = (Vec::new(), Vec::new());
            for (place, number) in (0..).zip(numbers.iter().copied()) {
                let made = sites.of(number).client_options(number, wanted.table);
                let mut client = LoadClient::new(&made);
                let own = numbers.len() as u32 + place;
                if let Some(socket) = take(plan.clients + number)
                    && let Some(client) = client.lock_manager(&made, place, own)
                {
                    locks.push(ConnectedClient {
                        client,
                        first: InitialConnection::Established(socket),
                        dial: dial(plan.clients + number),
                    });
                }
                let dial = dial(number);
                let first = take(number).map(InitialConnection::Established);
                let first = first.or_else(|| moment(number).map(InitialConnection::ScheduledAt));
                clients.extend(first.map(|first| ConnectedClient {
                    client,
                    first,
                    dial,
                }));
            }
            clients.append(&mut locks);
            of_workers.push(clients);
        }
        Ok(ConnectedClients {
            workers: workers(wanted, *sites.of(0).dial(), of_workers)?,
            record: Some(connected.record),
            connect_times,
        })
    }
}

/// Returns when each client connects, if the run can begin without connections. It cannot if
/// clients have second connections, to a lock manager.
fn moments_of<'w, W: LineSource>(
    wanted: &'w Wanted<'_, RoundRobin<Nfs3Site>, W>,
) -> Option<&'w [Timestamp]> {
    let locks = wanted.replaying.site.of(0).lock_manager().is_some();
    wanted.first_connections.as_deref().filter(|_| !locks)
}

fn connect_sockets_of<W: LineSource>(
    wanted: &Wanted<'_, RoundRobin<Nfs3Site>, W>,
    moments: Option<&[Timestamp]>,
    context: &mut RunContext<'_>,
) -> Result<ConnectedSockets, RunError> {
    let (plan, sites) = (wanted.plan, &wanted.replaying.site);
    let dial = |place| dial_of_place(plan, sites, place);
    if let Some(moments) = moments {
        return connect_first(plan, moments, dial, context);
    }
    let lock_managers = sites.of(0).lock_manager().is_some();
    let count = plan.clients * (1 + u32::from(lock_managers));
    connect_sockets(plan, count, dial, context)
}

/// Returns the connection parameters at index `place`: first the connections of all clients, then
/// those to their lock managers.
fn dial_of_place(plan: &Plan, sites: &RoundRobin<Nfs3Site>, place: u32) -> Dial {
    let number = place % plan.clients.max(1);
    let site = sites.of(number);
    let lock_manager = site.lock_manager().filter(|_| place >= plan.clients);
    dial_of(plan, number, *lock_manager.unwrap_or(site.dial()))
}
