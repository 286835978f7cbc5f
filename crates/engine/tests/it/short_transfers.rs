//! Servers that answer READ and WRITE with success and move less than was asked, or
//! nothing: no operation that did not do what was asked is counted as done.

use crate::support::entry::run;
use crate::support::live::{probe, serve};
use crate::support::mixes::mix;
use crate::support::relay::{Change, Relay, Seen};
use filestone_host::control::NoObserver;
use filestone_measure::measure::RunRecord;
use filestone_plan::plan::{ArrivalsPlan, Plan, TransportKind};
use filestone_wire::nfs3::{PROGRAM, Procedure};
use filestone_workload::operation::OpKind;
use std::sync::atomic::AtomicBool;

const CONTRADICTION: &str = "reply that contradicts its call";
const SHORT: &str = "short transfer: less data than asked for";
/// RPC header, status, and attributes with the word that says that they are there.
const READ_AMOUNT_AT: usize = 24 + 4 + 4 + 84;

fn is(seen: Seen, procedure: Procedure) -> bool {
    seen.program == PROGRAM && seen.procedure == procedure.number()
}

/// Changes the count of a WRITE reply, which ends with it, committed and the verifier.
fn change_written(seen: Seen, reply: &mut [u8], change: fn(u32) -> u32) {
    if is(seen, Procedure::Write)
        && let Some(at) = reply.len().checked_sub(16)
        && let Some(place) = reply[at..].first_chunk_mut::<4>()
    {
        *place = change(u32::from_be_bytes(*place)).to_be_bytes();
    }
}

/// Cuts the data of a READ reply to so many bytes, a multiple of four.
fn cut_read(seen: Seen, reply: &mut Vec<u8>, count: u32, eof: bool) {
    if is(seen, Procedure::Read) {
        let data = reply.split_off(READ_AMOUNT_AT + 12);
        reply.truncate(READ_AMOUNT_AT);
        for word in [count, eof.into(), count] {
            reply.extend_from_slice(&word.to_be_bytes());
        }
        reply.extend_from_slice(&data[..count as usize]);
    }
}

fn run_through(plan: &Plan, change: Change) -> RunRecord {
    let server = serve(|_| {});
    let relay = Relay::start(server.address(), change);
    let stop = AtomicBool::new(false);
    let record = run(plan, Some(relay.address()), &stop, &mut NoObserver);
    let record = record.expect("the run is made");
    record.check().expect("the record agrees with itself");
    record
}

/// Failures of a kind, by name and number, and the operations that succeeded.
fn failures(record: &RunRecord, kind: OpKind) -> (Vec<(String, u64)>, u64) {
    let mut kinds = record.totals.kinds.iter();
    let kind = kinds.find(|row| row.operation == kind).expect("a row");
    let failures = kind.failures.iter();
    let failures = failures.map(|failure| (failure.failure.clone(), failure.count));
    (failures.collect(), kind.ledger.ok)
}

#[test]
fn a_write_of_nothing_or_of_a_part_is_no_success() {
    let changes: [(Change, &str); 4] = [
        (
            |seen, reply| change_written(seen, reply, |_| 0),
            CONTRADICTION,
        ),
        (
            |seen, reply| change_written(seen, reply, |count| count + 1),
            CONTRADICTION,
        ),
        (
            |seen, reply| change_written(seen, reply, |count| count - 1),
            SHORT,
        ),
        (|seen, reply| change_written(seen, reply, |_| 1), SHORT),
    ];
    for (change, name) in changes {
        let plan = probe(OpKind::Write, TransportKind::Tcp, 100);
        let record = run_through(&plan, change);
        let expected = (vec![(name.to_owned(), 100)], 0);
        assert_eq!(failures(&record, OpKind::Write), expected);
        assert_eq!(record.totals.goodput_bytes_per_s, 0.0);
    }
}

#[test]
fn a_read_of_less_than_there_is_is_no_success() {
    let changes: [(Change, &str); 4] = [
        (|seen, reply| cut_read(seen, reply, 0, false), CONTRADICTION),
        (|seen, reply| cut_read(seen, reply, 0, true), CONTRADICTION),
        (
            |seen, reply| cut_read(seen, reply, 400, true),
            CONTRADICTION,
        ),
        (|seen, reply| cut_read(seen, reply, 400, false), SHORT),
    ];
    // Received whole, and thrown away from the head on.
    for (change, name) in changes {
        for size in [4096, 65_536] {
            let mut plan = probe(OpKind::Read, TransportKind::Tcp, 100);
            plan.probe_mut().expect("a probe").size_bytes = size;
            let record = run_through(&plan, change);
            let expected = (vec![(name.to_owned(), 100)], 0);
            assert_eq!(failures(&record, OpKind::Read), expected, "{size}");
        }
    }
}

#[test]
fn a_mix_counts_short_transfers_as_probes_do_and_its_set_is_made_all_the_same() {
    let counts = &[(OpKind::Read, 1), (OpKind::Write, 1)];
    let plan = mix(counts, ArrivalsPlan::Closed, 100);
    let record = run_through(&plan, |seen, reply| {
        // Half of what is long; the rest, sent again, comes to an end.
        change_written(
            seen,
            reply,
            |count| if count < 1000 { count } else { count / 2 },
        );
    });
    assert_eq!(
        failures(&record, OpKind::Write),
        (vec![(SHORT.to_owned(), 50)], 0)
    );
    // What the set was made of is there, to the last byte.
    assert_eq!(failures(&record, OpKind::Read), (vec![], 50));
}
