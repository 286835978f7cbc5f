//! Runs the clients of a probe or a mix on one thread and logs them off.

use crate::backend::sockets::Sockets;
use crate::replay::over_sockets::LEAVE_MAX;
use crate::run::{TargetObjects, WorkerBody, WorkerThread};
use crate::worker::WorkerClient;
use filestone_protocol::client::smb2::Smb2Client;
use filestone_protocol::workload::of_client;
use filestone_workload::language::Operations;

/// A client connection of a probe or a mix.
pub type ShareConnection = Smb2Client<Operations>;

/// The clients of one worker.
pub struct ShareWorker {
    /// Connections of the clients.
    pub sockets: Sockets<ShareConnection>,
    /// Objects of the operations.
    pub subjects: TargetObjects,
}

impl WorkerBody for ShareWorker {
    fn driver(&self) -> &'static str {
        self.sockets.driver()
    }

    fn run(self: Box<Self>, thread: WorkerThread<'_>) {
        let Self { sockets, subjects } = *self;
        let plan = thread.plan();
        let workload = |client| of_client(plan, &subjects.table, &subjects.sets, client);
        let members = WorkerClient::of_worker(plan, thread.index(), workload);
        let start = |sockets: &mut Sockets<ShareConnection>, clock, _: &_| sockets.start(clock);
        let Some((finished, finisher)) = thread.run(members, sockets, start) else {
            return;
        };
        let mut sockets = finished.backend;
        finisher.finish(finished.end);
        sockets.log_off(LEAVE_MAX, |client, now, output| client.log_off(now, output));
    }
}
