//! Mixes through the whole engine: what comes out is the mix, nothing fails, and what is
//! asked follows from the seed and not from how fast it is answered.

use crate::support::hooked::Hooked;
use crate::support::live::{checked, serve};
use crate::support::mixes::{ALL_22, mix};
use filestone_engine::backend::Backend;
use filestone_engine::worker::{
    IntervalSink, Worker, WorkerClient, WorkerControl, new_buffer, own_books,
};
use filestone_measure::measure::RunRecord;
use filestone_plan::file_set::{ChangingDirectories, ClientSet};
use filestone_plan::plan::{ArrivalsPlan, Plan};
use filestone_protocol::workload::{FileEntry, FileTable, MixWorkload, ObjectKind};
use filestone_testing::Simulated;
use filestone_testing::queueing::ServiceDistribution;
use filestone_workload::operation::{DirectoryCursor, OpKind, Operation, SlotId};
use filestone_workload::recording::{IntervalBuffer, Role};
use filestone_workload::time::Timestamp;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

const OPEN: ArrivalsPlan = ArrivalsPlan::Poisson {
    offered_load_ops_per_s: 4000.0,
};

/// Nothing failed, and each kind's count is its share, give or take a card for each client.
fn is_right(plan: &Plan, record: &RunRecord) {
    let ledger = &record.totals.ledger;
    assert_eq!(ledger.ok, ledger.scheduled, "{:#?}", record.caveats);
    let mix = plan.mix().expect("a mix");
    for kind in record
        .totals
        .kinds
        .iter()
        .filter(|kind| kind.role == Role::Measured)
    {
        let expected = mix.share(kind.operation) * ledger.scheduled as f64;
        let off = (kind.ledger.ok as f64 - expected).abs();
        let grain = 6.0 * f64::from(plan.clients);
        assert!(
            off <= grain,
            "{:?}: {} instead of {expected}",
            kind.operation,
            kind.ledger.ok
        );
    }
}

#[test]
fn all_procedures_in_one_mix_come_out_in_their_shares_and_none_fails() {
    let server = serve(|_| {});
    for arrivals in [ArrivalsPlan::Closed, OPEN] {
        let mut plan = mix(ALL_22, arrivals, 4000);
        plan.clients = 3;
        plan.workers = 2;
        let record = checked(&plan, &server);
        assert_eq!(record.totals.ledger.scheduled, 4000);
        is_right(&plan, &record);
    }
}

#[test]
fn every_procedure_alone_is_a_mix() {
    let server = serve(|_| {});
    for kind in OpKind::STATELESS {
        let plan = mix(&[(*kind, 1)], ArrivalsPlan::Closed, 600);
        is_right(&plan, &checked(&plan, &server));
    }
}

#[test]
fn in_flight_is_counted_as_littles_law_has_it() {
    let server = serve(|_| {});
    let mut plan = mix(&[(OpKind::GetAttr, 1)], ArrivalsPlan::Closed, 20_000);
    plan.in_flight = 8;
    let record = checked(&plan, &server);
    // A closed loop keeps its slots busy but for the moments between two operations.
    let in_flight = record.totals.in_flight_mean;
    assert!((6.0..=8.01).contains(&in_flight), "{in_flight}");
}

/// Cookies are the server's: they are outside of what a seed decides.
fn without_cookie(mut operation: Operation) -> Operation {
    if let Operation::ReadDirectory { cursor, .. } | Operation::ReadDirectoryPlus { cursor, .. } =
        &mut operation
    {
        *cursor = DirectoryCursor::default();
    }
    operation
}

#[allow(clippy::vec_box)] // boxes are what is exchanged
struct Discard(#[allow(clippy::vec_box)] Vec<Box<IntervalBuffer>>);

impl IntervalSink for Discard {
    fn empty(&mut self) -> Option<Box<IntervalBuffer>> {
        self.0.pop()
    }
    fn full(&mut self, mut buffer: Box<IntervalBuffer>) {
        buffer.reset(Timestamp::ZERO);
        self.0.push(buffer);
    }
}

/// A file set that exists only in the table.
fn imagined(clients: u32) -> (Arc<FileTable>, Vec<ClientSet>) {
    let mut table = FileTable::default();
    let add = |table: &mut FileTable, kind, len| {
        table.add(FileEntry {
            len,
            kind,
            has_pattern: true,
        })
    };
    for file in 0..40 {
        table.add_name(format!("{file:03}").as_bytes());
    }
    let sets = (0..clients).map(|_| {
        let mut directory = || add(&mut table, ObjectKind::Directory, 0);
        let (root, files) = (directory(), directory());
        let changing = ChangingDirectories {
            created: directory(),
            links: directory(),
            symbolic_links: directory(),
            nodes: directory(),
            directories: directory(),
        };
        let first = table.len();
        for file in 0..40 {
            add(&mut table, ObjectKind::File, 1000 + 3000 * file);
        }
        let links = table.len();
        for _ in 0..5 {
            add(&mut table, ObjectKind::SymbolicLink, 10);
        }
        ClientSet {
            root,
            directories: files.0..files.0 + 1,
            files: first..first + 40,
            names: 0..40,
            working_files: 40,
            symbolic_links: links..links + 5,
            changing,
            spare_names: 64,
        }
    });
    let sets = sets.collect();
    (Arc::new(table), sets)
}

/// How often each operation was asked, per client, unmeasured ones included.
fn asked(plan: &Plan, service: ServiceDistribution) -> BTreeMap<(u32, String), u32> {
    let (table, sets) = imagined(plan.clients);
    let mut multiset = BTreeMap::new();
    for worker in 0..plan.workers {
        let server = Simulated::new(crate::support::server(service, Some(3)), 1);
        let note = |ticket: SlotId, operation, _| {
            let client = worker + ticket.client * plan.workers;
            let operation = without_cookie(operation);
            *multiset
                .entry((client, format!("{operation:?}")))
                .or_default() += 1;
        };
        let backend = Hooked(server, note, Simulated::wait);
        let spare = (0..3).map(|_| Box::new(new_buffer(plan))).collect();
        let signals = WorkerControl {
            stop: &AtomicBool::new(false),
            end_run: &AtomicBool::new(false),
            offer: None,
            live_workers: None,
        };
        let make = |client: u32| {
            let mix = plan.mix().expect("a mix");
            let set = sets[client as usize].clone();
            let table = Arc::clone(&table);
            MixWorkload::new(mix, table, set, client, plan.in_flight, plan.seed)
        };
        let members = WorkerClient::of_worker(plan, worker, make);
        let books = own_books(plan, Discard(spare));
        Worker::new(plan, worker, members, backend, books, signals).run();
    }
    multiset
}

#[test]
fn the_same_seed_asks_the_same_multiset_of_operations() {
    const MS: u64 = 1_000_000;
    let mut plan = mix(ALL_22, OPEN, 16_000);
    plan.clients = 8;
    // Of random arrivals, the seed says how many each client has.
    let at_random = asked(&plan, ServiceDistribution::Fixed { ns: MS / 10 });
    assert_eq!(at_random.values().sum::<u32>() / 16_000, 1);
    plan.workers = 2;
    assert!(
        asked(
            &plan,
            ServiceDistribution::Exponential {
                mean_ns: 0.2 * MS as f64
            }
        ) == at_random,
        "two workers, a slower server, random arrivals"
    );
    plan.workers = 1;
    let constant = ArrivalsPlan::Constant {
        offered_load_ops_per_s: 8000.0,
    };
    plan.arrivals = constant;
    let one_worker = asked(&plan, ServiceDistribution::Fixed { ns: MS / 10 });
    assert_eq!(one_worker.values().sum::<u32>() / 16_000, 1);
    plan.workers = 2;
    assert!(
        asked(&plan, ServiceDistribution::Fixed { ns: MS / 10 }) == one_worker,
        "two workers"
    );
    assert!(
        asked(
            &plan,
            ServiceDistribution::Exponential {
                mean_ns: 0.2 * MS as f64
            }
        ) == one_worker,
        "a slower server that answers out of order"
    );
    plan.arrivals = ArrivalsPlan::Closed;
    assert!(
        asked(&plan, ServiceDistribution::Fixed { ns: MS }) == one_worker,
        "a closed loop"
    );
    // The same client, alone.
    plan.arrivals = constant;
    plan.workers = 1;
    plan.clients = 1;
    plan.count = Some(2000);
    let mut alone = one_worker.clone();
    alone.retain(|(client, _), _| *client == 0);
    assert!(
        asked(&plan, ServiceDistribution::Fixed { ns: MS / 10 }) == alone,
        "one client"
    );
    plan.seed += 1;
    assert!(
        asked(&plan, ServiceDistribution::Fixed { ns: MS / 10 }) != alone,
        "another seed"
    );
}
