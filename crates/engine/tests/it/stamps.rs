//! Where calls were while they were under way, by the kernel's time stamps, against a server that waits a
//! known time. Nothing here is about how fast this host is: only about what must be in which part.

use crate::support::live::{checked, probe, serve};
use filestone_plan::plan::TransportKind;
use filestone_server::faults::FaultRule;
use filestone_workload::operation::OpKind;

const WAIT_NS: u64 = 3_000_000;

/// 3 ms are waited by the server, so no stamped call has less between its packets; and with what this
/// host's kernel takes it is still one call, of the response times that there are.
fn a_wait_of_the_server_is_beyond(transport: TransportKind) {
    let rule: FaultRule = "delay=3ms,proc=getattr".parse().expect("a fault");
    let server = serve(|options| options.faults = vec![rule]);
    let mut plan = probe(OpKind::GetAttr, transport, 200);
    plan.in_flight = 1;
    assert_eq!(checked(&plan, &server).stamps, None);
    plan.stamps = true;
    let record = checked(&plan, &server);
    let stamps = record.stamps.expect("this kernel stamps");
    assert!(stamps.calls >= 100, "{stamps:?}");
    assert!(stamps.beyond_ns.p50 >= WAIT_NS, "{stamps:?}");
    assert!(stamps.beyond_ns.mean >= WAIT_NS as f64, "{stamps:?}");
    let parts = [stamps.kernel_out_ns, stamps.beyond_ns, stamps.kernel_in_ns];
    let all: f64 = parts.iter().map(|part| part.mean).sum();
    let longest = record.totals.service_time_ns.max as f64;
    assert!(all <= longest + 1e5, "{all} of {longest}: {stamps:?}");
}

#[test]
fn a_wait_of_the_server_is_beyond_over_tcp() {
    a_wait_of_the_server_is_beyond(TransportKind::Tcp);
}

#[test]
fn a_wait_of_the_server_is_beyond_over_udp() {
    a_wait_of_the_server_is_beyond(TransportKind::Udp);
}

/// Of long replies, whose data are thrown away unread, and with several in flight, where which packet is
/// whose is not known: operations go as without.
#[test]
fn what_is_stamped_goes_as_without() {
    let server = serve(|_| {});
    let mut plan = probe(OpKind::Read, TransportKind::Tcp, 2000);
    plan.stamps = true;
    plan.probe_mut().expect("a probe").size_bytes = 128 << 10;
    for (in_flight, clients) in [(1, 1), (4, 1), (2, 3)] {
        (plan.in_flight, plan.clients) = (in_flight, clients);
        let record = checked(&plan, &server);
        assert_eq!(record.totals.ledger.ok, 2000, "{in_flight} {clients}");
    }
}
