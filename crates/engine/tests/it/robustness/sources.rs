//! Clients that connect from addresses of their own.

use super::run_at;
use crate::support::live::{probe, serve};
use crate::support::relay::{Fate, Relay};
use filestone_host::control::NoObserver;
use filestone_measure::measure::RunRecord;
use filestone_plan::plan::{Plan, TransportKind};
use filestone_wire::nfs3::Procedure;
use filestone_workload::operation::OpKind;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::AtomicBool;

const FROM: &str = "127.9.0.1-127.9.0.2";

fn clients_from(sources: &str) -> Plan {
    let mut plan = probe(OpKind::GetAttr, TransportKind::Tcp, 200);
    (plan.clients, plan.workers) = (5, 2);
    plan.connections.sources = sources.parse().expect("addresses");
    plan
}

fn run(plan: &Plan, address: SocketAddr) -> RunRecord {
    run_at(plan, address, &AtomicBool::new(false), &mut NoObserver)
}

/// How many connections came from this address.
fn count(peers: &[SocketAddr], address: &str) -> usize {
    let address: IpAddr = address.parse().expect("an address");
    peers.iter().filter(|peer| peer.ip() == address).count()
}

#[test]
fn clients_and_what_is_prepared_for_them_come_from_their_addresses() {
    let server = serve(|_| {});
    let relay = Relay::to(server.address(), |_| Fate::Pass);
    let record = run(&clients_from(FROM), relay.address());
    assert_eq!(record.totals.ledger.ok, 200);
    let peers = relay.peers();
    assert_eq!(count(&peers, "127.9.0.2"), 2, "clients 1 and 3");
    // Clients 0, 2 and 4, and before them who looked for their files.
    assert_eq!(count(&peers, "127.9.0.1"), peers.len() - 2);
    assert!(peers.len() > 5, "{peers:?}");
}

#[test]
fn a_client_comes_back_from_where_it_came() {
    let server = serve(|_| {});
    let mut replies = 0;
    let relay = Relay::to(server.address(), move |seen| {
        replies += u32::from(seen.nfs() == Some(Procedure::Getattr));
        if replies == 150 {
            Fate::Cut(0)
        } else {
            Fate::Pass
        }
    });
    let record = run(&clients_from(FROM), relay.address());
    assert!(record.totals.reconnections >= 1);
    let peers = relay.peers();
    let known = count(&peers, "127.9.0.1") + count(&peers, "127.9.0.2");
    assert_eq!(known, peers.len(), "{peers:?}");
}

#[test]
fn udp_goes_out_from_the_addresses_too() {
    let server = serve(|_| {});
    let mut plan = clients_from(FROM);
    plan.target.nfs3_mut().expect("an NFS target").transport = TransportKind::Udp;
    let record = run(&plan, server.address());
    assert_eq!(record.totals.ledger.ok, 200);
}
