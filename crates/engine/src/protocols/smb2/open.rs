//! A share as the target of a probe or a mix.

use crate::backend::connection::{ConnectedClient, InitialConnection};
use crate::backend::sockets::SocketOptions;
use crate::protocols::clients::{connect_sockets, dial_of, workers};
use crate::run::{ConnectedClients, OpenTarget, TargetObjects};
use filestone_host::clock::Clock;
use filestone_host::connect::Dial;
use filestone_host::control::RunContext;
use filestone_host::error::RunError;
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::mix_record::FileSetRecord;
use filestone_measure::measure::run_record::Target;
use filestone_plan::plan::{Plan, ReadData, SmbTarget};
use filestone_protocol::client::Verify;
use filestone_protocol::client::smb2::{
    ALL_OF_FILE, ChannelPosition, ClientState, HandlePolicy, HeldFile, OperationOptions, SharePath,
    Smb2Client, Smb2ClientOptions, WATCHES_TAKE_NANOS, operating,
};
use filestone_setup::smb2::connection::{ConnectedShare, Reaching};
use filestone_setup::smb2::prepared::PreparedShare;
use filestone_setup::smb2::terms::{keeping, of_connections};
use filestone_setup::smb2::{SmbError, logging_on};
use filestone_workload::language::Operations;
use filestone_workload::operation::{FileId, OpKind};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

/// A client connection of a probe or a mix.
type ShareConnection = Smb2Client<Operations>;

/// A connected share with the objects prepared for a run.
pub struct OpenShare<'run> {
    plan: &'run Plan,
    target: &'run SmbTarget,
    prepared: PreparedShare,
    /// Oplock, lease and durability settings of the clients.
    keeping: HandlePolicy,
}

/// Address of a connection, and its position among the channels of its client.
struct Laid {
    dial: Dial,
    lane: ChannelPosition,
}

/// A client before logon over its connections.
struct Joining {
    number: u32,
    worker: u32,
    /// Index among the clients of its worker.
    place: u32,
    /// Index of its first additional connection among those of its worker.
    first_beside: u32,
    sockets: Vec<Option<OwnedFd>>,
}

fn no_connection() -> RunError {
    RunError::Internal("a client without a connection".into())
}

impl<'run> OpenShare<'run> {
    /// Returns the share with the objects prepared on it.
    pub fn new(plan: &'run Plan, target: &'run SmbTarget, prepared: PreparedShare) -> Self {
        Self {
            plan,
            target,
            prepared,
            keeping: keeping(target),
        }
    }

    /// Creates clients over connected sockets, which are ordered by connection: the first of all
    /// clients, the second of all clients, and so on. For each worker, returns the first
    /// connections of its clients, followed by the additional ones.
    fn clients(
        &self,
        sockets: Vec<Option<OwnedFd>>,
        context: &mut RunContext<'_>,
    ) -> Result<Vec<Vec<ConnectedClient<ShareConnection>>>, RunError> {
        let (plan, count) = (self.plan, self.target.connections_per_client);
        let mut sockets = sockets;
        let mut take = |place: u32| sockets.get_mut(place as usize).and_then(Option::take);
        let mut joining = Vec::new();
        for worker in 0..plan.workers.max(1) {
            let numbers: Vec<u32> = plan.clients_of_worker(worker).collect();
            for (place, number) in (0..).zip(numbers.iter().copied()) {
                let of_channel = |channel| take(channel * plan.clients + number);
                joining.push(Joining {
                    number,
                    worker,
                    place,
                    first_beside: numbers.len() as u32 + place * (count - 1),
                    sockets: (0..count).map(of_channel).collect(),
                });
            }
        }
        let (mut own, mut beside): (Vec<_>, Vec<_>) =
            (0..plan.workers.max(1)).map(|_| (vec![], vec![])).unzip();
        let options = self.operation_options();
        let is_in = |_: &_| true;
        let log_on = |next, _| self.log_on(next, &options);
        for (worker, channels) in logging_on::all(joining, context, is_in, log_on)? {
            let mut channels = channels.into_iter();
            let to = |of: &mut Vec<Vec<_>>, clients: &mut dyn Iterator<Item = _>| {
                if let Some(of) = of.get_mut(worker as usize) {
                    of.extend(clients);
                }
            };
            to(&mut own, &mut channels.by_ref().take(1));
            to(&mut beside, &mut channels);
        }
        for (own, beside) in own.iter_mut().zip(&mut beside) {
            own.append(beside);
        }
        Ok(own)
    }

    /// Logs a client on over its connections, each bound to the session of the first.
    fn log_on(
        &self,
        joining: Joining,
        options: &OperationOptions,
    ) -> Result<(u32, Vec<ConnectedClient<ShareConnection>>), RunError> {
        let count = self.target.connections_per_client;
        let ways = of_connections(&self.prepared.connection.reaching().way, count);
        let first = ways.first().ok_or_else(no_connection)?;
        let state = ClientState::new(Arc::clone(first)).verifying(self.verify());
        let mut clients = Vec::with_capacity(count as usize);
        for (way, socket) in ways.into_iter().zip(joining.sockets) {
            let channel = way.channel();
            let lane = ChannelPosition {
                count,
                first: joining.first_beside,
                primary: (channel > 0).then_some(joining.place),
            };
            let socket = socket.ok_or_else(no_connection)?;
            let dial = self.dial(joining.number, channel);
            let laid = Laid { dial, lane };
            let state = state.over(way);
            clients.push(self.client(joining.number, socket, &laid, &state, options)?);
        }
        Ok((joining.worker, clients))
    }

    /// Returns the parameters of a client's connection; source addresses are assigned round robin.
    fn dial(&self, number: u32, channel: u32) -> Dial {
        let number = number * self.target.connections_per_client + channel;
        dial_of(self.plan, number, self.prepared.connection.reaching().dial)
    }

    /// Creates a connection of a client over a connected socket.
    fn client(
        &self,
        number: u32,
        socket: OwnedFd,
        way: &Laid,
        state: &ClientState,
        options: &OperationOptions,
    ) -> Result<ConnectedClient<ShareConnection>, RunError> {
        let Laid { dial, lane } = *way;
        let reaching = Reaching {
            dial,
            way: Arc::clone(&state.way),
            ..self.prepared.connection.reaching().clone()
        };
        let slots = || (state.way.channel()..self.plan.in_flight).step_by(lane.count as usize);
        let made = ConnectedShare::over(&reaching, socket, slots().count() as u32 + 1);
        let made = made.and_then(|mut connection| {
            self.open_first(&mut connection, state, slots(), number)?;
            connection.into_connection()
        });
        let made = made.map_err(SmbError::into_run_error)?;
        let client_options = Smb2ClientOptions {
            way: reaching.way,
            pattern: reaching.pattern,
            timeout_nanos: self.plan.timeout_ns,
            lane,
        };
        let actors = operating(options, slots(), state);
        Ok(ConnectedClient {
            client: Smb2Client::over(made.session, client_options, actors),
            first: InitialConnection::Established(made.socket),
            dial,
        })
    }

    /// Opens the files of these slots of a client before the measurement, because otherwise its
    /// first operations would do so.
    fn open_first(
        &self,
        connection: &mut ConnectedShare,
        client: &ClientState,
        slots: impl Iterator<Item = u32>,
        number: u32,
    ) -> Result<(), SmbError> {
        match self.plan.probe().map(|probe| probe.operation) {
            Some(OpKind::Notify) => self.watch(connection, client, slots),
            Some(OpKind::Lock) => self.open_to_lock(connection, client, slots, number),
            // All connections of a client share its files.
            Some(OpKind::Copy) if client.way.channel() == 0 => {
                self.open_to_copy(connection, client, number)
            }
            _ => Ok(()),
        }
    }

    /// Returns the path of a file of the run.
    fn path_of(&self, file: Option<FileId>) -> Option<&SharePath> {
        self.prepared.files.paths.get(file?)
    }

    fn kept<'p>(&'p self, file: FileId, path: &'p str) -> HeldFile<'p> {
        HeldFile {
            file,
            path,
            access: ALL_OF_FILE,
            keeping: &self.keeping,
        }
    }

    /// Opens the client's file for each slot, so that slots do not share locks.
    fn open_to_lock(
        &self,
        connection: &mut ConnectedShare,
        client: &ClientState,
        slots: impl Iterator<Item = u32>,
        number: u32,
    ) -> Result<(), SmbError> {
        let own = self.prepared.files.table.own_file(number);
        let (Some(file), Some(path)) = (own, self.path_of(own)) else {
            return Ok(());
        };
        let kept = self.kept(file, path);
        let slots: Vec<u32> = slots.collect();
        let opened = connection.call(async |link| {
            client.opens.see_losses(client.way.losses());
            for slot in &slots {
                client.open(link, &kept, *slot).await?;
            }
            Ok(())
        });
        opened.map_err(|unmet| unmet.at(path, "CREATE"))
    }

    /// Opens both files of a client and requests the resume key of the source.
    fn open_to_copy(
        &self,
        connection: &mut ConnectedShare,
        client: &ClientState,
        number: u32,
    ) -> Result<(), SmbError> {
        let table = &self.prepared.files.table;
        let (source, own) = (table.subject_of(number), table.own_file(number));
        let (Some(source), Some(own)) = (source, own) else {
            return Ok(());
        };
        let source_path = self.path_of(Some(source)).map(|path| &**path);
        let own_path = self.path_of(Some(own)).map(|path| &**path);
        let mut asked = ("", "CREATE");
        let held = connection.call(async |link| {
            client.opens.see_losses(client.way.losses());
            if let Some(path) = source_path {
                asked = (path, "IOCTL for a copy");
                client.hold_source(link, &self.kept(source, path)).await?;
            }
            if let Some(path) = own_path {
                asked = (path, "CREATE");
                client.hold(link, &self.kept(own, path)).await?;
            }
            Ok(())
        });
        let (path, request) = asked;
        held.map_err(|unmet| unmet.at(path, request))
    }

    /// Makes the server record changes for each of these slots of a client, if the run measures
    /// change notifications.
    fn watch(
        &self,
        connection: &mut ConnectedShare,
        client: &ClientState,
        slots: impl Iterator<Item = u32>,
    ) -> Result<(), SmbError> {
        let Some(directory) = self.watched() else {
            return Ok(());
        };
        let slots: Vec<u32> = slots.collect();
        let watched = connection.call(async |link| {
            client.opens.see_losses(client.way.losses());
            for slot in &slots {
                client.watch(link, directory, *slot).await?;
            }
            Ok(())
        });
        watched.map_err(|unmet| unmet.at(directory, "CHANGE_NOTIFY"))
    }

    /// Returns the directory whose changes are reported, if the run measures change notifications.
    fn watched(&self) -> Option<&str> {
        let probe = self.plan.probe()?;
        let own = self.prepared.objects.directory()?;
        (probe.operation == OpKind::Notify).then_some(own)
    }

    fn operation_options(&self) -> OperationOptions {
        OperationOptions {
            files: Arc::clone(&self.prepared.files),
            holds_files: self.plan.mix().is_none(),
            keeping: self.keeping.clone(),
        }
    }

    /// Returns the verifier of read data, if enabled.
    fn verify(&self) -> Option<Verify> {
        let read_data = self.plan.read_data.or_else(|| self.plan.usual_read_data());
        let verifies = read_data == Some(ReadData::Verify);
        verifies.then(|| {
            Verify::new(
                Arc::clone(&self.prepared.files.table),
                Arc::clone(&self.prepared.connection.reaching().pattern),
                self.plan.workload.transfer_bytes().unwrap_or_default(),
            )
        })
    }
}

impl OpenTarget for OpenShare<'_> {
    fn describe(&self) -> &Target {
        &self.prepared.record
    }

    fn file_set(&self) -> Option<FileSetRecord> {
        self.prepared.objects.record()
    }

    fn own_path(&self) -> Option<&str> {
        self.prepared.objects.path()
    }

    fn connect(
        &mut self,
        clock: &Clock,
        context: &mut RunContext<'_>,
    ) -> Result<ConnectedClients, RunError> {
        let (plan, own) = (self.plan, self.prepared.connection.reaching().dial);
        let clients = plan.clients.max(1);
        let left = self.prepared.connection.leave();
        left.map_err(SmbError::into_run_error)?;
        let dial = |place| self.dial(place % clients, place / clients);
        let count = plan.clients * self.target.connections_per_client;
        let connected = connect_sockets(plan, count, dial, context)?;
        let pattern = Arc::clone(&self.prepared.connection.reaching().pattern);
        let options = SocketOptions::of(plan, own, pattern);
        let of_workers = self.clients(connected.sockets, context)?;
        if self.watched().is_some() {
            let rested = self
                .prepared
                .connection
                .wait(Duration::from_nanos(WATCHES_TAKE_NANOS));
            rested.map_err(|unmet| unmet.at(&self.target.to_string(), "").into_run_error())?;
        }
        let subjects = TargetObjects {
            table: Arc::clone(&self.prepared.files.table),
            sets: self.prepared.objects.sets(),
        };
        Ok(ConnectedClients {
            workers: workers(plan, &options, &subjects, clock, of_workers)?,
            connect_times: Vec::new(),
            record: Some(connected.record),
        })
    }

    fn complete(&mut self, record: &mut RunRecord) {
        if let Some(session) = &mut record.target.session {
            session.durable = self.keeping.handles();
        }
    }

    fn clean_up(&mut self, context: &mut RunContext<'_>) -> Result<(), RunError> {
        self.prepared.clean_up(context)
    }
}
