//! What all workers need, made once before they start.

use crate::backend::sockets::{SocketOptions, Sockets};
use crate::clock::Clock;
use crate::control::go_on;
use crate::driver::first_xid;
use crate::error::RunError;
use crate::nfs3::mount::{self, Caller};
use crate::prepare::Prepared;
use filestone_model::client::Nfs3Client;
use filestone_model::client::nfs3::{Reading, Shared, Templates, Verify};
use filestone_model::file_set::ClientSet;
use filestone_model::plan::{Asked, NfsRun, ReadData};
use filestone_model::workload::{FileTable, MixWorkload, Probe, Workload};
use filestone_wire::pattern;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How long one connection may take to be made before the run.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// What all workers need, made once.
pub struct Materials {
    shared: Shared,
    table: Arc<FileTable>,
    options: SocketOptions,
    /// The clients' parts of a mix's file set.
    sets: Vec<ClientSet>,
    /// What becomes of the data that are read.
    read_data: Option<ReadData>,
    /// What compares them, of which each client gets its own.
    verify: Option<Verify>,
}

impl Materials {
    pub fn of(plan: &NfsRun<'_>, prepared: &mut Prepared) -> Self {
        let pattern: Arc<[u8]> = pattern::table().into();
        let table = Arc::new(std::mem::take(&mut prepared.table));
        let sets = prepared.file_set().map(|set| set.clients.clone());
        let sets = sets.unwrap_or_default();
        let shared = Shared {
            templates: Arc::new(Templates::new(&mount::credentials(&Caller::new(
                plan,
                plan.target,
            )))),
            table: Arc::clone(&table),
            pattern: Arc::clone(&pattern),
            timeout_nanos: plan.timeout_ns,
            transport: plan.target.transport,
        };
        let options = SocketOptions {
            dial: prepared.dial,
            pattern,
            busy_poll: plan.busy_poll,
            reconnect_nanos: plan.reconnect_ns,
        };
        // A plan from elsewhere may leave it open.
        let read_data = plan.read_data.or_else(|| plan.usual_read_data());
        let block_len = match plan.asked {
            Asked::Probe(probe) => probe.size_bytes,
            Asked::Mix(mix) => mix.transfer_bytes,
        };
        let verify = || Verify::new(Arc::clone(&table), Arc::clone(&shared.pattern), block_len);
        Self {
            verify: (read_data == Some(ReadData::Verify)).then(verify),
            read_data,
            shared,
            table,
            options,
            sets,
        }
    }

    fn client(&self, plan: &NfsRun<'_>) -> Nfs3Client {
        Nfs3Client::new(
            self.shared.clone(),
            plan.in_flight,
            self.reading(),
            first_xid(),
        )
    }

    fn reading(&self) -> Reading {
        match (self.read_data, &self.verify) {
            (None, _) => Reading::Nothing,
            (Some(ReadData::Discard), _) => Reading::Discard,
            (Some(ReadData::Verify), Some(verify)) => Reading::Verify(Box::new(verify.again())),
            (Some(ReadData::Deliver | ReadData::Verify), _) => Reading::Deliver,
        }
    }

    /// What one client asks.
    pub fn workload(&self, plan: &NfsRun<'_>, client: u32) -> Box<dyn Workload> {
        let table = Arc::clone(&self.table);
        match plan.asked {
            Asked::Probe(probe) => {
                Box::new(Probe::new(probe, table, client, plan.in_flight, plan.seed))
            }
            Asked::Mix(mix) => {
                let set = self.sets.get(client as usize).cloned();
                // A set is prepared for every client of the plan.
                let set = set.expect("every client has a part of the file set");
                let (slots, seed) = (plan.in_flight, plan.seed);
                let workload = MixWorkload::new(mix, table, set, client, slots, seed);
                match plan.count {
                    // Operations of a warm-up are not counted, and nobody knows how many.
                    Some(count) if plan.warm_up_ns == 0 => {
                        Box::new(workload.counted(mix, (client, plan.clients), seed, count))
                    }
                    _ => Box::new(workload),
                }
            }
        }
    }

    /// The clients of one worker, connected.
    fn connect(
        &self,
        plan: &NfsRun<'_>,
        worker: u32,
        stop: &AtomicBool,
    ) -> Result<Vec<(Nfs3Client, std::os::fd::OwnedFd)>, RunError> {
        let dial = self.options.dial;
        plan.clients_of_worker(worker)
            .map(|_| {
                go_on(stop)?;
                match dial.connect(CONNECT_TIMEOUT) {
                    Ok(socket) => Ok((self.client(plan), socket)),
                    Err(source) => Err(RunError::Connect {
                        address: dial.address,
                        source,
                    }),
                }
            })
            .collect()
    }

    /// The connected clients of one worker, as what its loop runs on.
    pub fn backend(
        &self,
        plan: &NfsRun<'_>,
        worker: u32,
        clock: &Clock,
        stop: &AtomicBool,
    ) -> Result<Sockets<Nfs3Client>, RunError> {
        let clients = self.connect(plan, worker, stop)?;
        Ok(Sockets::new(clock.clone(), self.options.clone(), clients)?)
    }
}
