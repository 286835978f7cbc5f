//! Workloads of a replay: load files, or the operations of a fleet's clients.

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

/// Workload of a replay: load files or a fleet.
pub trait ReplayWorkload {
    /// A client of the workload.
    type Client: LineSource;

    /// Returns client `number`.
    fn client(&self, number: u32) -> Self::Client;

    /// Returns the table that contains the data of writes.
    fn table(&self) -> Arc<[u8]>;

    /// Returns whether each client removes its tree as soon as it is done: no other client uses it.
    fn cleans_client_by_client(&self) -> bool {
        true
    }

    /// Returns the connection time of each client, if the run can begin without the connections; 0
    /// means before the run, if possible. Layers without this support connect all clients before
    /// the run.
    fn first_connections(&self) -> Option<Vec<Timestamp>> {
        None
    }

    /// Reports that the clients are connected, with the time that each connection took, if
    /// filestone establishes them; clients without a time are not connected yet.
    fn connected(&mut self, _times: Vec<Option<u64>>) {}

    /// Returns the hook of the run. `cleaned` counts the clients that have cleaned up.
    fn hook(&self, cleaned: &Arc<AtomicU32>, cancellations: &Cancellations) -> Box<dyn RunHook>;

    /// Adds the totals of the clients to the record.
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
    /// Returns the workload of at least one load.
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

    fn hook(&self, cleaned: &Arc<AtomicU32>, cancellations: &Cancellations) -> Box<dyn RunHook> {
        Box::new(super::progress::ReplayProgressHook::new(
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
