//! Transaction ids begin somewhere else on each connection, of one run and of the next.

use crate::support::entry::run;
use crate::support::live::{probe, serve};
use crate::support::mixes::{ALL_22, mix};
use crate::support::relay::{Relay, Seen};
use filestone_host::control::NoObserver;
use filestone_plan::plan::TransportKind;
use filestone_wire::nfs3;
use filestone_workload::operation::OpKind;
use std::collections::HashSet;
use std::sync::atomic::AtomicBool;

#[test]
fn no_two_connections_of_two_runs_of_one_seed_begin_alike() {
    let server = serve(|_| {});
    let relay = Relay::start(server.address(), |_, _| {});
    let mut plans = [
        probe(OpKind::Create, TransportKind::Tcp, 40),
        mix(ALL_22, filestone_plan::plan::ArrivalsPlan::Closed, 40),
    ];
    for plan in &mut plans {
        plan.clients = 3;
        for _ in 0..2 {
            let record = run(
                plan,
                Some(relay.address()),
                &AtomicBool::new(false),
                &mut NoObserver,
            );
            assert_eq!(record.expect("the run is made").totals.ledger.ok, 40);
        }
    }
    let connections: Vec<Vec<Seen>> = relay
        .connections()
        .into_iter()
        .filter(|calls| !calls.is_empty())
        .collect();
    // Three clients in each of four runs, and what finds, makes and clears their files.
    assert!(connections.len() > 20, "{}", connections.len());
    let has_mount = |calls: &Vec<Seen>| calls.iter().any(|seen| seen.program != nfs3::PROGRAM);
    assert!(connections.iter().any(has_mount));
    let first: HashSet<u32> = connections.iter().map(|calls| calls[0].xid).collect();
    assert_eq!(first.len(), connections.len());
}
