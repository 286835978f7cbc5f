//! A thread of clients that block, as a worker of the run.

use super::clients::{LayerClient, loss_of};
use super::layer::Layer;
use super::replaying::{ClientSpawner, ReplayState, Wanted};
use super::site::BlockingWorkDir;
use crate::backend::blocking::Blocking;
use crate::run::{ConnectedClients, Recording, WorkerBody, WorkerThread};
use crate::time::RealTime;
use crate::worker::{SharedRecorder, WorkerClient};
use filestone_host::control::{RunContext, cancel_on, check_cancelled};
use filestone_host::error::RunError;
use filestone_plan::plan::Plan;
use filestone_protocol::workload::LineSource;
use std::sync::Arc;

/// Spawner of clients that block, on separate threads.
pub struct Threads;

impl<S: BlockingWorkDir, W: LineSource> ClientSpawner<S, W> for Threads {
    fn recording(&self, plan: &Plan, workers: usize) -> Recording {
        Recording::Shared(SharedRecorder::new(plan, workers))
    }

    /// Creates the layers of all clients, one after the other.
    fn connect(
        &self,
        wanted: &Wanted<'_, S, W>,
        context: &mut RunContext<'_>,
    ) -> Result<ConnectedClients, RunError> {
        let (clients, replaying) = (wanted.plan.clients, wanted.replaying);
        if clients > 1 {
            context.preparing(&format!("preparing {clients} clients"));
        }
        let stop = context.stop;
        let work = &wanted.cancellations.work;
        let layer = |client| {
            check_cancelled(stop)?;
            let mut layer = replaying.site.layer(client)?;
            layer.cancel_with(work);
            Ok(layer)
        };
        let layers = cancel_on(stop, work, || (0..clients).map(layer).collect());
        let layers: Result<Vec<S::Layer>, RunError> = layers;
        let mut layers = layers?.into_iter();
        let per_thread = wanted.replay.clients_per_thread.max(1);
        let thread = |first: u32| -> Box<dyn WorkerBody> {
            let layers: Vec<S::Layer> = layers.by_ref().take(per_thread as usize).collect();
            let members = first..first + layers.len() as u32;
            Box::new(LayerThread {
                first,
                workloads: members.map(wanted.workload).collect(),
                layers,
                table: Arc::clone(wanted.table),
                replaying: Arc::clone(replaying),
            })
        };
        Ok(ConnectedClients {
            workers: (0..clients)
                .step_by(per_thread as usize)
                .map(thread)
                .collect(),
            record: None,
            connect_times: Vec::new(),
        })
    }
}

/// The clients of one thread.
pub struct LayerThread<S: BlockingWorkDir, W: LineSource> {
    /// Number of the first client; the others follow it.
    pub first: u32,
    pub workloads: Vec<W>,
    pub layers: Vec<S::Layer>,
    /// Table that contains the data of writes.
    pub table: Arc<[u8]>,
    pub replaying: Arc<ReplayState<S, W::ClientTotals>>,
}

impl<S: BlockingWorkDir, W: LineSource> WorkerBody for LayerThread<S, W> {
    fn driver(&self) -> &'static str {
        "threads"
    }

    fn first_blocking(&self) -> Option<u32> {
        Some(self.first)
    }

    fn run(self: Box<Self>, thread: WorkerThread<'_>) {
        let Self {
            first,
            workloads,
            layers,
            table,
            replaying,
        } = *self;
        let members = (first..).zip(workloads);
        let members = members.map(|(number, workload)| WorkerClient { number, workload });
        let (plan, stop) = (thread.plan(), thread.stop());
        let clients = layers.into_iter();
        let clients = clients
            .map(|layer| LayerClient::new(layer, Arc::clone(&table), stop))
            .collect();
        let backend = Blocking::new(clients, thread.time());
        let start = |backend: &mut Blocking<_, _>, clock, stop| {
            backend.start(RealTime { clock, stop });
        };
        let Some((finished, finisher)) = thread.run_shared(members.collect(), backend, start)
        else {
            return;
        };
        let mut end = finished.end;
        end.time.thread = first;
        let clients = finished.backend.into_clients().into_iter();
        let ends = clients.zip(finished.workloads);
        let (ends, layers): (Vec<_>, Vec<_>) =
            ends.map(|(client, workload)| client.end(workload)).unzip();
        end.lost = loss_of(plan, &mut end, &ends);
        replaying.note(ends);
        finisher.finish(end);
        replaying.clean_up(first, layers);
    }
}
