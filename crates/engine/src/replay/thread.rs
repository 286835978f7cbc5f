//! A thread of clients that block, as a worker of the run.

use super::clients::{LayerClient, all_lost};
use super::replaying::Replaying;
use super::site::Site;
use crate::backend::blocking::Blocking;
use crate::run::{WorkerBody, WorkerThread};
use crate::time::RealTime;
use crate::worker::Member;
use filestone_model::workload::LoadFile;
use std::sync::Arc;

/// The clients of one thread.
pub struct LayerThread<S: Site> {
    /// The first of them; the others follow it.
    pub first: u32,
    pub workloads: Vec<LoadFile>,
    pub layers: Vec<S::Layer>,
    pub replaying: Arc<Replaying<S>>,
}

impl<S: Site> WorkerBody for LayerThread<S> {
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
            replaying,
        } = *self;
        let members = (first..).zip(workloads);
        let members = members.map(|(number, workload)| Member { number, workload });
        let stop = thread.stop();
        let clients = layers.into_iter();
        let clients = clients.map(|layer| LayerClient::new(layer, stop)).collect();
        let backend = Blocking::new(clients, thread.time());
        let start = |backend: &mut Blocking<_, _>, clock, stop| {
            backend.start(RealTime { clock, stop });
        };
        let Some((finished, finisher)) = thread.run(members.collect(), backend, start) else {
            return;
        };
        let mut end = finished.end;
        end.time.thread = first;
        let clients = finished.backend.into_clients().into_iter();
        let ends = clients.zip(finished.workloads);
        let (ends, layers): (Vec<_>, Vec<_>) =
            ends.map(|(client, workload)| client.end(workload)).unzip();
        end.lost = all_lost(&ends);
        replaying.note(ends);
        finisher.finish(end);
        replaying.clean_up(first, layers);
    }
}
