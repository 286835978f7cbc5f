//! All 22 procedures through the whole engine against the built-in server.

use crate::support::live::{checked, probe, serve};
use filestone_host::error::ErrorCategory;
use filestone_plan::plan::{ReadData, TransportKind};
use filestone_workload::operation::OpKind;

fn all_procedures_over(transport: TransportKind) {
    let server = serve(|_| {});
    for operation in OpKind::STATELESS {
        let mut plan = probe(*operation, transport, 500);
        plan.clients = 3;
        plan.workers = 2;
        let record = checked(&plan, &server);
        let ledger = &record.totals.ledger;
        assert_eq!(
            ledger.ok,
            500,
            "{}: {:?}",
            operation.name(),
            record.totals.kinds
        );
        assert_eq!(ledger.scheduled, 500, "{}", operation.name());
        for kind in &record.totals.kinds {
            assert_eq!(
                kind.ledger.ok,
                kind.ledger.scheduled,
                "{}: {:?}",
                operation.name(),
                kind.failures
            );
        }
    }
}

#[test]
fn all_22_procedures_succeed_over_tcp() {
    all_procedures_over(TransportKind::Tcp);
}

#[test]
fn all_22_procedures_succeed_over_udp() {
    all_procedures_over(TransportKind::Udp);
}

#[test]
fn messages_have_the_sizes_that_nct_saw() {
    let server = serve(|_| {});
    let null = checked(&probe(OpKind::Null, TransportKind::Tcp, 100), &server);
    let kind = null.measured().expect("a row for NULL");
    assert_eq!((kind.bytes_sent, kind.bytes_received), (4400, 2800));
    let mut plan = probe(OpKind::Read, TransportKind::Tcp, 100);
    plan.probe_mut().expect("a probe").size_bytes = 4096;
    let read = checked(&plan, &server);
    let kind = read.measured().expect("a row for READ");
    // 128 bytes and the data, and the record mark.
    assert_eq!(kind.bytes_received, 100 * (4 + 128 + 4096));
    assert_eq!(kind.data_bytes, 100 * 4096);
}

#[test]
fn large_reads_are_thrown_away_unread_and_counted_in_full() {
    let server = serve(|_| {});
    for (size, in_flight) in [(131_072u32, 8), (1 << 20, 2), (65_536, 1), (100_001, 3)] {
        let mut plan = probe(OpKind::Read, TransportKind::Tcp, 300);
        plan.probe_mut().expect("a probe").size_bytes = size;
        plan.in_flight = in_flight;
        let discarded = checked(&plan, &server);
        plan.read_data = Some(ReadData::Verify);
        let verified = checked(&plan, &server);
        for record in [discarded, verified] {
            let kind = record.measured().expect("a row for READ");
            assert_eq!(kind.ledger.ok, 300, "{size}: {:?}", kind.failures);
            if size.is_power_of_two() {
                assert_eq!(kind.data_bytes, 300 * u64::from(size));
            }
        }
    }
}

#[test]
fn data_that_are_not_the_files_are_noticed() {
    let server = serve(|options| {
        options.faults = vec!["corrupt=64,proc=read,p=0.2".parse().expect("a rule")];
    });
    let mut plan = probe(OpKind::Read, TransportKind::Tcp, 500);
    plan.read_data = Some(ReadData::Verify);
    plan.timeout_ns = crate::support::SECOND;
    let record = checked(&plan, &server);
    assert!(record.totals.ledger.ok < 500);
    assert_eq!(record.totals.ledger.scheduled, 500);
}

#[test]
fn writes_reach_the_file_and_the_directory_of_our_own_is_taken_away() {
    let server = serve(|_| {});
    let mut plan = probe(OpKind::Write, TransportKind::Tcp, 400);
    plan.probe_mut().expect("a probe").size_bytes = 131_072;
    let record = checked(&plan, &server);
    assert_eq!(
        record.measured().expect("a row for WRITE").data_bytes,
        400 * 131_072
    );
    // A listing of the export shows nothing but what was there before.
    let mut plan = probe(OpKind::Lookup, TransportKind::Tcp, 10);
    plan.target.nfs3_mut().expect("an NFS target").path = "/export".into();
    let record = checked(&plan, &server);
    assert_eq!(record.target.files, 3, "file, files and link");
}

#[test]
fn a_path_that_cannot_be_mounted_is_walked() {
    let server = serve(|options| options.strict_mount = true);
    let mut plan = probe(OpKind::GetAttr, TransportKind::Tcp, 10);
    plan.target.nfs3_mut().expect("an NFS target").path = "/export/files/file0000".into();
    let record = checked(&plan, &server);
    assert_eq!(
        (record.target.export.as_str(), record.target.walked.as_str()),
        ("/export", "files/file0000")
    );
    assert_eq!(record.target.object, "file");
}

#[test]
fn ipv6_works_as_ipv4_does() {
    let server = serve(|_| {});
    let address = server
        .addresses()
        .iter()
        .find(|address| address.is_ipv6())
        .copied()
        .expect("an IPv6 address");
    let plan = probe(OpKind::GetAttr, TransportKind::Tcp, 100);
    let stop = std::sync::atomic::AtomicBool::new(false);
    let record = crate::support::entry::run(
        &plan,
        Some(address),
        &stop,
        &mut filestone_host::control::NoObserver,
    )
    .expect("the run is made");
    assert_eq!(record.totals.ledger.ok, 100);
}

#[test]
fn a_run_that_is_stopped_while_it_is_prepared_leaves_nothing_behind() {
    let server = serve(|_| {});
    let plan = probe(OpKind::Write, TransportKind::Tcp, 10);
    let stop = std::sync::atomic::AtomicBool::new(true);
    let result = crate::support::entry::run(
        &plan,
        Some(server.address()),
        &stop,
        &mut filestone_host::control::NoObserver,
    );
    assert!(matches!(
        result,
        Err(filestone_host::error::RunError::Interrupted)
    ));
    let mut plan = probe(OpKind::Lookup, TransportKind::Tcp, 10);
    plan.target.nfs3_mut().expect("an NFS target").path = "/export".into();
    assert_eq!(
        checked(&plan, &server).target.files,
        3,
        "file, files and link"
    );
}

#[test]
fn asking_for_more_than_the_server_moves_is_a_caveat() {
    let server = serve(|_| {});
    let mut record = checked(&probe(OpKind::Read, TransportKind::Tcp, 10), &server);
    let says = |record: &filestone_measure::measure::RunRecord| {
        filestone_measure::measure::verdict::caveats::find(record)
            .iter()
            .any(|caveat| {
                matches!(
                    caveat,
                    filestone_measure::measure::Caveat::TransferBeyondServer { .. }
                )
            })
    };
    assert!(!says(&record));
    record.target.read_max_bytes = 1024;
    assert!(says(&record));
}

#[test]
fn a_plan_that_offers_nothing_or_less_is_refused() {
    let server = serve(|_| {});
    for load in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let mut plan = probe(OpKind::Null, TransportKind::Tcp, 10);
        plan.arrivals = filestone_plan::plan::ArrivalsPlan::Constant {
            offered_load_ops_per_s: load,
        };
        let result = crate::support::live::run_against(&plan, &server);
        let error = result.expect_err("a load that cannot be offered");
        assert_eq!(error.category(), ErrorCategory::Usage, "{load}");
    }
}
