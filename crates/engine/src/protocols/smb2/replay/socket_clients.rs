//! Replaying SMB clients over sockets, any number of them per worker thread.

use super::site::ShareSite;
use crate::backend::connection::{ClientConnection, ConnectedClient, InitialConnection};
use crate::protocols::clients::{connect_first, connect_sockets, dial_of, moment_of};
use crate::replay::over_sockets::{LoadConnection, tried_for, workers};
use crate::replay::replaying::{ClientSpawner, Wanted};
use crate::replay::round_robin::RoundRobin;
use crate::run::ConnectedClients;
use filestone_host::control::RunContext;
use filestone_host::error::RunError;
use filestone_measure::measure::Mismatches;
use filestone_plan::plan::Plan;
use filestone_protocol::client::smb2::{
    ChannelPosition, Smb2Client, Smb2ClientOptions, SmbClientErrorKind, replaying,
};
use filestone_protocol::workload::LineSource;
use filestone_setup::driver::{CallError, RetryLimit};
use filestone_setup::smb2::SmbError;
use filestone_setup::smb2::connection::{
    ConnectedShare, EstablishedConnection, Reaching, why_in_words,
};
use filestone_setup::smb2::logging_on::all;
use filestone_setup::smb2::terms::of_another_client;
use filestone_workload::completions::CompletionBatch;
use filestone_workload::load::Lines;
use filestone_workload::time::{Timestamp, nanos_of};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Instant;

/// A connection of a replaying client.
type Replayer = Smb2Client<Lines>;

/// Concurrent requests of a client: those of its line, and those that reconnect.
const SLOTS: u32 = 2;

/// Spawns clients over sockets.
pub struct OverSockets;

impl<W: LineSource> ClientSpawner<RoundRobin<ShareSite>, W> for OverSockets {
    fn connect(
        &self,
        wanted: &Wanted<'_, RoundRobin<ShareSite>, W>,
        context: &mut RunContext<'_>,
    ) -> Result<ConnectedClients, RunError> {
        let (plan, sites) = (wanted.plan, &wanted.replaying.site);
        let dial = |number| dial_of(plan, number, sites.of(number).reaching().dial);
        let moments = wanted.first_connections.as_deref();
        let connected = match moments {
            Some(moments) => connect_first(plan, moments, dial, context)?,
            None => connect_sockets(plan, plan.clients, dial, context)?,
        };
        let mut of_workers: Vec<Vec<_>> = (0..plan.workers.max(1)).map(|_| Vec::new()).collect();
        let count = of_workers.len();
        let logging_on = LoggingOn {
            plan,
            table: wanted.table,
            sites,
        };
        let sockets = connected.sockets.into_iter().zip(connected.times);
        let joining = (0..).zip(sockets);
        let joining = joining.map(|(number, (socket, connect_nanos))| Joining {
            number,
            socket,
            connect_nanos,
        });
        let mut connect_times = Vec::with_capacity(plan.clients as usize);
        let log_on = |next: Joining, is_anybody_in| {
            let number = next.number;
            match logging_on.log_on(next) {
                // The server has accepted others, so this client is retried during the run.
                Err(_) if is_anybody_in && moments.is_some() => Ok(logging_on.left(number)),
                result => result.map_err(SmbError::into_run_error),
            }
        };
        for joined in all(joining.collect(), context, Joined::is_in, log_on)? {
            let number = joined.number;
            connect_times.push(joined.made.as_ref().map(|(_, took)| *took));
            let client = logging_on.client(joined, moment_of(moments.unwrap_or_default(), number));
            of_workers[number as usize % count].push(client);
        }
        Ok(ConnectedClients {
            workers: workers(wanted, sites.of(0).reaching().dial, of_workers)?,
            record: Some(connected.record),
            connect_times,
        })
    }
}

/// A client before logon, with a connected socket and its connect time, or without a socket if it
/// connects later.
struct Joining {
    number: u32,
    socket: Option<OwnedFd>,
    connect_nanos: u64,
}

/// A client after logon, with the time since its first connection attempt; or one that will connect
/// during the run.
struct Joined {
    number: u32,
    /// Connection parameters of the client, used for reconnecting.
    reaching: Reaching,
    made: Option<(EstablishedConnection, u64)>,
}

impl Joined {
    /// Whether the server has accepted the client.
    const fn is_in(&self) -> bool {
        self.made.is_some()
    }
}

/// Logon of clients.
struct LoggingOn<'w> {
    plan: &'w Plan,
    table: &'w Arc<[u8]>,
    sites: &'w RoundRobin<ShareSite>,
}

impl LoggingOn<'_> {
    /// Returns a client that will connect during the run.
    fn left(&self, number: u32) -> Joined {
        Joined {
            number,
            reaching: self.reaching(number),
            made: None,
        }
    }

    fn log_on(&self, joining: Joining) -> Result<Joined, SmbError> {
        let mut joined = self.left(joining.number);
        if let Some(socket) = joining.socket {
            let began = Instant::now();
            let connection = ConnectedShare::over(&joined.reaching, socket, SLOTS)?;
            let made = connection.into_connection()?;
            let took = nanos_of(began.elapsed());
            joined.made = Some((made, joining.connect_nanos.saturating_add(took)));
        }
        Ok(joined)
    }

    /// Creates the client; it connects at `moment` if it has no connection yet.
    fn client(&self, joined: Joined, moment: Timestamp) -> ConnectedClient<Replayer> {
        let Joined {
            number,
            reaching,
            made,
        } = joined;
        let (session, first) = match made {
            Some((made, _)) => (made.session, InitialConnection::Established(made.socket)),
            None => (
                reaching.session(SLOTS),
                InitialConnection::ScheduledAt(moment),
            ),
        };
        let options = Smb2ClientOptions {
            way: Arc::clone(&reaching.way),
            pattern: Arc::clone(self.table),
            timeout_nanos: self.plan.timeout_ns,
            lane: ChannelPosition::ALONE,
        };
        let actor = replaying(self.sites.of(number).load_options(number, reaching.way));
        ConnectedClient {
            client: Smb2Client::over(session, options, [actor]),
            first,
            dial: reaching.dial,
        }
    }

    fn reaching(&self, number: u32) -> Reaching {
        let own = self.sites.of(number).reaching();
        Reaching {
            dial: dial_of(self.plan, number, own.dial),
            way: of_another_client(&own.way),
            ..own.clone()
        }
    }
}

impl LoadConnection for Replayer {
    fn stop(&mut self, now: Timestamp, completed: &mut CompletionBatch) {
        self.break_off(&SmbClientErrorKind::Stopped, now, completed);
    }

    fn take_mismatches(&mut self) -> Mismatches {
        self.take_mismatches()
    }

    fn why_lost(
        connection: &mut ClientConnection<Self>,
        patience: RetryLimit,
        is_given_up: bool,
    ) -> Option<String> {
        let lost = connection.client.take_lost();
        // A client whose line the server did not answer continues with the next.
        let lost = lost.filter(|lost| {
            !matches!(
                lost.reason,
                SmbClientErrorKind::Stopped | SmbClientErrorKind::Refused(_)
            )
        });
        if lost.is_none() && !is_given_up {
            return None;
        }
        let RetryLimit { timeout, reconnect } = patience;
        let address = connection.dial.address;
        let (request, why) = match lost {
            Some(lost) => (lost.procedure.shown(), lost.reason),
            None => (String::new(), SmbClientErrorKind::Disconnected),
        };
        let why = match why {
            SmbClientErrorKind::Disconnected => {
                let loss = connection.loss.take();
                let loss = loss.map_or(CallError::Closed, CallError::from);
                let tried = connection.tried;
                let tried = tried.map_or(timeout, |tried| tried_for(tried, reconnect));
                format!("{loss}; it was tried again for {tried:?}")
            }
            why => why_in_words(why, timeout).to_string(),
        };
        let about = if request.is_empty() {
            String::new()
        } else {
            format!("{request}: ")
        };
        Some(format!("{address}: {about}{why}"))
    }
}
