//! What is replayed: the lines of load files, or those that the clients of a fleet decide on.

use super::clients::ClientEnd;
use super::progress::Cancellations;
use crate::run::RunHook;
use filestone_measure::measure::RunRecord;
use filestone_plan::plan::{Plan, ReplayPlan};
use filestone_protocol::workload::load_file::SharedLoad;
use filestone_protocol::workload::{LineSource, LoadFile};
use filestone_workload::load::{DataTable, Load, Script};
use filestone_workload::time::Timestamp;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

/// What is replayed: who asks what, and what is told of it.
pub trait ReplayWorkload {
    /// One of its clients.
    type Client: LineSource;

    /// Client `number`.
    fn client(&self, number: u32) -> Self::Client;

    /// What data are taken from that are written.
    fn table(&self) -> Arc<[u8]>;

    /// Whether clients take their trees away as soon as they are done, each its own: nobody else has
    /// any use for it.
    fn cleans_client_by_client(&self) -> bool {
        true
    }

    /// When each client is to have its connection, if the run can begin without it: at 0, before that,
    /// if it can be made. Layers that cannot do that make them all before.
    fn first_connections(&self) -> Option<Vec<Timestamp>> {
        None
    }

    /// Its clients are connected, which took so long of each, where this program does that; those
    /// without a time are not yet.
    fn connected(&mut self, _times: Vec<Option<u64>>) {}

    /// Who attends to it. `cleaned` counts the clients that have cleaned up.
    fn attendant(
        &self,
        cleaned: &Arc<AtomicU32>,
        cancellations: &Cancellations,
    ) -> Box<dyn RunHook>;

    /// Adds to the record what the clients have counted by themselves.
    fn complete(
        &mut self,
        record: &mut RunRecord,
        threads: u32,
        ends: Vec<ClientEnd<<Self::Client as LineSource>::ClientTotals>>,
    );
}

/// Load files.
pub struct Loads<'run> {
    plan: &'run Plan,
    replay: &'run ReplayPlan,
    loads: &'run [Arc<Load>],
    table: DataTable,
    shared: Arc<SharedLoad>,
}

impl<'run> Loads<'run> {
    /// These, of which there is at least one.
    pub fn new(plan: &'run Plan, replay: &'run ReplayPlan, loads: &'run [Arc<Load>]) -> Self {
        Self {
            plan,
            replay,
            loads,
            table: DataTable::of(loads),
            shared: Arc::new(SharedLoad::new(plan, replay)),
        }
    }
}

impl ReplayWorkload for Loads<'_> {
    type Client = LoadFile;

    fn client(&self, number: u32) -> LoadFile {
        let index = number as usize % self.loads.len();
        let load = Arc::clone(&self.loads[index]);
        let script = Script::new(load, number, self.plan.clients, self.plan.seed)
            .counted_from(self.replay.first_number)
            .with_patterns_at(self.table.places_of(index));
        LoadFile::new(number, script, self.replay.pacing, Arc::clone(&self.shared))
    }

    fn table(&self) -> Arc<[u8]> {
        Arc::clone(self.table.bytes())
    }

    fn attendant(
        &self,
        cleaned: &Arc<AtomicU32>,
        cancellations: &Cancellations,
    ) -> Box<dyn RunHook> {
        Box::new(super::progress::ReplayProgress::new(
            self.plan,
            Arc::clone(&self.shared),
            Arc::clone(cleaned),
            cancellations.clone(),
        ))
    }

    fn complete(
        &mut self,
        record: &mut RunRecord,
        threads: u32,
        ends: Vec<ClientEnd<<LoadFile as LineSource>::ClientTotals>>,
    ) {
        super::record::complete(record, threads, ends);
    }
}
