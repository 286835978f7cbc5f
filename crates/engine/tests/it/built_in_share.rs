//! The built-in server's share, by filestone's own client of SMB: what is asked is answered, in
//! every dialect, as guest and as user, signed and encrypted, and faults are seen as what they are.

use crate::support::live::run_on_share;
use filestone_host::error::RunError;
use filestone_measure::measure::run_record::{FailureCount, RunOutcome};
use filestone_measure::measure::{Caveat, RunRecord};
use filestone_plan::plan::{
    ArrivalsPlan, Plan, ReadData, SmbDialect, SmbOplock, SmbProtection, SmbTarget, TargetPlan,
};
use filestone_server::{Options, Protection, Running, Server, SmbOptions, User};
use filestone_wire::smb2::Command;
use filestone_workload::operation::OpKind;

const MS: u64 = 1_000_000;

fn start(smb: SmbOptions, faults: &[&str]) -> Running {
    let faults = faults.iter().map(|fault| fault.parse().expect("a fault"));
    Server::start(Options {
        smb: Some(smb),
        faults: faults.collect(),
        memory_limit: 64 << 20,
        ..Options::default()
    })
    .expect("a free port on loopback")
}

fn anna() -> SmbOptions {
    SmbOptions {
        users: vec![User {
            name: "anna".into(),
            password: "mellon".into(),
        }],
        ..SmbOptions::default()
    }
}

/// Twenty operations of two clients.
fn plan(operation: OpKind, path: &str) -> Plan {
    let mut plan = crate::support::plan(ArrivalsPlan::Closed, 2, 2);
    let probe = plan.probe_mut().expect("a probe");
    probe.operation = operation;
    (probe.files_max, probe.file_size_bytes) = (100, 1 << 20);
    plan.duration_ns = None;
    plan.count = Some(20);
    plan.timeout_ns = 2_000 * MS;
    plan.target = TargetPlan::Smb(SmbTarget::built_in(path));
    plan
}

fn share(plan: &mut Plan) -> &mut SmbTarget {
    match &mut plan.target {
        TargetPlan::Smb(target) => target,
        _ => unreachable!("it is a share"),
    }
}

fn run(plan: &Plan, server: &Running) -> Result<RunRecord, RunError> {
    run_on_share(plan, &[], server)
}

fn all_succeed(plan: &Plan, server: &Running) {
    let record = run(plan, server).expect("a run");
    let ledger = &record.totals.ledger;
    assert_eq!(ledger.ok, ledger.scheduled, "{ledger:?}");
    assert_eq!(ledger.scheduled, 20);
}

#[test]
fn every_dialect_is_spoken_with_a_guest_and_with_a_user() {
    let (guests, users) = (start(SmbOptions::default(), &[]), start(anna(), &[]));
    for dialect in SmbDialect::ALL {
        let mut plan = plan(OpKind::Null, "");
        share(&mut plan).dialect = Some(*dialect);
        all_succeed(&plan, &guests);
        share(&mut plan).user = Some("anna".into());
        all_succeed(&plan, &users);
        share(&mut plan).signing = SmbProtection::Required;
        all_succeed(&plan, &users);
        if *dialect >= SmbDialect::Smb300 {
            share(&mut plan).signing = SmbProtection::IfRequired;
            share(&mut plan).encryption = SmbProtection::Required;
            all_succeed(&plan, &users);
        }
    }
}

/// A session or its tree that ends while the connection stays is set up again, which is counted,
/// with the reason, and no operation fails.
#[test]
fn sessions_that_end_in_mid_run_are_set_up_again() {
    for fault in ["session-deleted", "share-closed", "session-expired"] {
        for (operation, command, path) in [
            (OpKind::Read, "read", "file"),
            (OpKind::GetAttr, "query_info", "files"),
            (OpKind::Write, "write", ""),
        ] {
            for signing in [SmbProtection::IfRequired, SmbProtection::Required] {
                let rule = format!("{fault},proc={command},p=0.05");
                let server = start(anna(), &[&rule]);
                let mut plan = plan(operation, path);
                plan.count = Some(200);
                share(&mut plan).user = Some("anna".into());
                share(&mut plan).signing = signing;
                let record = run(&plan, &server).expect("a run");
                let (totals, what) = (&record.totals, format!("{rule}, {signing:?}"));
                let ledger = &totals.ledger;
                assert_eq!(ledger.ok + ledger.disconnected, 200, "{what}: {ledger:?}");
                assert!(totals.reconnections > 0, "{what}");
                let [loss] = totals.losses.as_slice() else {
                    panic!("one reason: {:?}", totals.losses);
                };
                assert!(loss.count >= totals.reconnections, "{what}");
                assert!(loss.reason.contains("ended the session"), "{}", loss.reason);
                let is_told = |caveat: &Caveat| caveat.sentence().0.contains("ended the session");
                assert!(record.caveats.iter().any(is_told), "{:?}", record.caveats);
            }
        }
    }
}

#[test]
fn what_a_client_asks_is_answered() {
    let server = start(SmbOptions::default(), &[]);
    for (operation, path) in [
        (OpKind::GetAttr, "files"),
        (OpKind::Lookup, "files"),
        (OpKind::ReadDir, "files"),
        (OpKind::Read, "file"),
        (OpKind::Write, ""),
        (OpKind::Create, ""),
        (OpKind::Remove, ""),
    ] {
        all_succeed(&plan(operation, path), &server);
    }
    // READ of both clients, and what the run found there before.
    let counters = server.stop();
    assert!(counters.requests_total() > 140, "{counters:?}");
    assert_eq!(counters.refused, 0);
}

/// One byte of every second response of READ is changed, of files whose data are known, and of files
/// that are remembered as they were read first.
#[test]
fn data_that_are_verified_are_compared() {
    let server = start(SmbOptions::default(), &["corrupt,proc=read,p=0.5"]);
    for (is_known, path, files) in [(true, "file", 1), (true, "files", 4), (false, "files", 4)] {
        let mut plan = plan(OpKind::Read, path);
        (plan.clients, plan.workers, plan.count) = (1, 1, Some(100));
        let probe = plan.probe_mut().expect("a probe");
        (probe.size_bytes, probe.files_max) = (4096, files);
        if !is_known {
            let address = server.smb_addresses().first().copied().expect("it listens");
            share(&mut plan).host = Some(address.ip().to_string());
            share(&mut plan).port = Some(address.port());
        }
        plan.read_data = Some(ReadData::Verify);
        let record = run(&plan, &server).expect("a run");
        let kind = record.measured().expect("a measured row");
        let mut wrong = kind.failures.iter();
        let wrong = wrong.find(|failure| failure.failure.contains("wrong data"));
        let wrong = wrong.map_or(0, |failure| failure.count);
        assert!(wrong > 20, "{path}, {is_known}: {:?}", kind.failures);
        plan.read_data = Some(ReadData::Deliver);
        let record = run(&plan, &server).expect("a run");
        let kind = record.measured().expect("a measured row");
        let is_compared = |failure: &FailureCount| failure.failure.contains("wrong data");
        assert!(
            !kind.failures.iter().any(is_compared),
            "{:?}",
            kind.failures
        );
    }
}

/// Every operation, of a server that grants few credits, and takes little at once.
#[test]
fn a_server_that_takes_little_at_once_is_asked_for_no_more() {
    let limits = [1, 2, 8].map(|credits| (credits, 1 << 20, 1 << 20));
    let small = [(8192, 4096, 65_536), (8192, 16_384, 4096), (1, 4096, 4096)];
    for (credits, transact_max, transfer_max) in limits.into_iter().chain(small) {
        let server = start(
            SmbOptions {
                credits,
                transact_max,
                transfer_max,
                ..SmbOptions::default()
            },
            &[],
        );
        for (operation, path) in [
            (OpKind::Null, ""),
            (OpKind::GetAttr, "files"),
            (OpKind::SetAttr, ""),
            (OpKind::Lookup, "files"),
            (OpKind::Access, "files"),
            (OpKind::Read, "file"),
            (OpKind::Write, ""),
            (OpKind::Create, ""),
            (OpKind::MkDir, ""),
            (OpKind::Remove, ""),
            (OpKind::RmDir, ""),
            (OpKind::Rename, ""),
            (OpKind::ReadDir, "files"),
            (OpKind::FsStat, ""),
            (OpKind::FsInfo, ""),
            (OpKind::Commit, ""),
            (OpKind::Lock, ""),
            (OpKind::SessionSetup, ""),
            (OpKind::TreeConnect, ""),
        ] {
            let mut plan = plan(operation, path);
            plan.in_flight = 8;
            plan.probe_mut().expect("a probe").size_bytes = 4096;
            let record = run(&plan, &server).expect("a run");
            let what = format!("{operation:?}, {credits} credits, {transact_max}, {transfer_max}");
            let ledger = &record.totals.ledger;
            assert_eq!(
                (ledger.scheduled, ledger.ok),
                (20, 20),
                "{what}: {ledger:?}"
            );
            assert_eq!(record.totals.reconnections, 0, "{what}");
        }
    }
}

/// A transfer that the server would refuse, or never grant the credits for, is refused with both
/// numbers.
#[test]
fn a_transfer_beyond_what_the_server_takes_is_refused_before_the_run() {
    for (credits, transfer_max, dialect, size, said) in [
        (
            8,
            1 << 20,
            None,
            1 << 20,
            "takes 16 credits, and the server grants 8 at most",
        ),
        (
            8192,
            65_536,
            None,
            65_537,
            "and the server takes 65,536 bytes in one",
        ),
        (
            8192,
            1 << 20,
            Some(SmbDialect::Smb202),
            65_537,
            "the server takes 65,536 bytes in one",
        ),
    ] {
        let server = start(
            SmbOptions {
                credits,
                transfer_max,
                ..SmbOptions::default()
            },
            &[],
        );
        for (operation, path) in [(OpKind::Read, "file"), (OpKind::Write, "")] {
            let mut plan = plan(operation, path);
            plan.probe_mut().expect("a probe").size_bytes = size;
            share(&mut plan).dialect = dialect;
            let error = run(&plan, &server).expect_err("it is refused").to_string();
            assert!(error.contains(said), "{error}");
            plan.probe_mut().expect("a probe").size_bytes = 65_536;
            all_succeed(&plan, &server);
        }
    }
}

/// Whatever has prepared the run has left before its clients come: every session is given up, that of
/// the preparation, too.
#[test]
fn a_run_has_no_more_sessions_at_a_time_than_clients() {
    let server = start(SmbOptions::default(), &[]);
    let mut plan = plan(OpKind::Null, "");
    (plan.clients, plan.workers, plan.count) = (20, 2, Some(100));
    let record = run(&plan, &server).expect("a run");
    assert_eq!(record.totals.ledger.ok, 100);
    let counters = server.stop();
    // One prepares, and logs off; no other is made besides those of the clients.
    assert_eq!(counters.requests(Command::TreeConnect), 21);
    assert_eq!(counters.requests(Command::Logoff), 21);
}

/// Nothing depends on how the server answers who leaves, and still it has to be the server.
#[test]
fn whoever_answers_in_the_place_of_the_server_is_told_of_when_the_preparation_leaves() {
    for command in ["tree_disconnect", "logoff"] {
        let server = start(anna(), &[&format!("signature,proc={command}")]);
        let mut plan = plan(OpKind::Null, "");
        share(&mut plan).user = Some("anna".into());
        share(&mut plan).signing = SmbProtection::Required;
        let error = run(&plan, &server).expect_err("the answer is forged");
        assert!(
            error.to_string().contains("signature"),
            "{command}: {error}"
        );
        assert!(error.help().is_some(), "{command}");
    }
}

#[test]
fn who_is_not_known_is_not_let_in() {
    let server = start(anna(), &[]);
    let mut plan = plan(OpKind::Null, "");
    assert!(run(&plan, &server).is_err(), "a guest");
    share(&mut plan).user = Some("berta".into());
    assert!(run(&plan, &server).is_err());
    let encrypted = start(
        SmbOptions {
            encryption: Protection::Required,
            ..anna()
        },
        &[],
    );
    share(&mut plan).user = Some("anna".into());
    all_succeed(&plan, &encrypted);
    share(&mut plan).dialect = Some(SmbDialect::Smb210);
    assert!(run(&plan, &encrypted).is_err(), "it cannot encrypt");
}

/// What one client has an oplock or a lease of is taken back when the other opens it, and given back
/// at once: an open that waited for that until the server gives up would time out.
#[test]
fn what_another_client_opens_is_given_back() {
    for oplock in [SmbOplock::Batch, SmbOplock::Lease] {
        let server = start(SmbOptions::default(), &[]);
        let mut plan = plan(OpKind::Read, "file");
        plan.clients = 2;
        share(&mut plan).oplock = oplock;
        all_succeed(&plan, &server);
        let counters = server.stop();
        let given_back = counters.requests(Command::OplockBreak);
        assert!(given_back > 0, "{oplock:?}: {counters:?}");
    }
}

/// What a client reports that asks one thing after the other, of a server with a fault.
fn reported(operation: OpKind, user: Option<&str>, fault: &str) -> String {
    let smb = user.map_or_else(SmbOptions::default, |_| anna());
    let server = start(smb, &[fault]);
    let mut plan = plan(operation, "file");
    (plan.clients, plan.workers, plan.in_flight) = (1, 1, 1);
    (plan.timeout_ns, plan.count) = (200 * MS, Some(3));
    plan.probe_mut().expect("a probe").size_bytes = 4096;
    share(&mut plan).user = user.map(Into::into);
    if user.is_some() {
        share(&mut plan).signing = SmbProtection::Required;
    }
    let record = match run(&plan, &server) {
        Ok(record) => record,
        Err(error) => return without_port(&error.to_string()),
    };
    let totals = &record.totals;
    let ledger = &totals.ledger;
    assert_eq!(ledger.missing(), 0, "{ledger:?}");
    let counts = [
        ("ok", ledger.ok),
        ("failed", ledger.failed),
        ("timed out", ledger.timed_out),
        ("disconnected", ledger.disconnected),
        ("skipped", ledger.skipped),
    ];
    let counts = counts.iter().filter(|(_, count)| *count > 0);
    let mut said: Vec<String> = counts
        .map(|(what, count)| format!("{count} {what}"))
        .collect();
    // How often these were is a matter of when the run ended.
    said.extend((totals.late_replies > 0).then(|| "late replies".into()));
    said.extend((totals.reconnections > 0).then(|| "connected again".into()));
    let kind = record.measured().expect("a measured row");
    said.extend(kind.failures.iter().map(|failure| failure.failure.clone()));
    if record.end != RunOutcome::Finished {
        said.push(without_port(&format!("{:?}", record.end)));
    }
    said.join("; ")
}

#[test]
fn delayed_responses_are_late_and_a_frozen_server_makes_an_open_loop_wait() {
    let server = start(SmbOptions::default(), &["delay=20ms,proc=echo"]);
    let late = run(&plan(OpKind::Null, ""), &server).expect("a run").totals;
    assert_eq!(late.ledger.ok, 20);
    assert!(late.response_time_ns.min >= 20 * MS);
    let server = start(SmbOptions::default(), &["freeze=300ms@400ms"]);
    let mut plan = plan(OpKind::Null, "");
    (plan.count, plan.duration_ns) = (None, Some(1000 * MS));
    (plan.in_flight, plan.timeout_ns) = (16, 5_000 * MS);
    plan.arrivals = ArrivalsPlan::Constant {
        offered_load_ops_per_s: 1000.0,
    };
    let frozen = run(&plan, &server).expect("a run").totals;
    let ledger = &frozen.ledger;
    assert_eq!((ledger.scheduled, ledger.ok + ledger.skipped), (1000, 1000));
    assert!(
        frozen.response_time_ns.max >= 200 * MS,
        "{:?}",
        frozen.response_time_ns.max
    );
}

/// Ports differ from run to run.
fn without_port(text: &str) -> String {
    let mut parts = text.split("127.0.0.1:");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |whole, part| {
        let rest = part.trim_start_matches(|digit: char| digit.is_ascii_digit());
        format!("{whole}SERVER{rest}")
    })
}

/// Each fault of the server, and what a client says of it: a guest, whose messages are as they
/// are, and a user who signs.
#[test]
fn every_fault_is_seen_as_what_it_is() {
    let faults = [
        "delay=20ms,proc=echo",
        "delay=exp:1ms,proc=echo",
        "error=STATUS_DISK_FULL,proc=echo",
        "drop,proc=echo",
        "pending,proc=echo",
        "disconnect,proc=echo",
        "truncate=4,proc=echo",
        "truncate=100000,proc=echo",
        "oversize,proc=echo",
        "unasked,proc=echo",
        "signature,proc=echo",
    ];
    let mut table = String::new();
    for (user, who) in [(None, "guest"), (Some("anna"), "user")] {
        for fault in faults {
            let said = reported(OpKind::Null, user, fault);
            table.push_str(&format!("{who:<5} {fault:<33} {said}\n"));
        }
    }
    // What is changed at random is known for certain where all is signed.
    for fault in [
        "corrupt,proc=echo",
        "corrupt=3,proc=read",
        "truncate=1000,proc=read",
    ] {
        let operation = if fault.ends_with("read") {
            OpKind::Read
        } else {
            OpKind::Null
        };
        let said = reported(operation, Some("anna"), fault);
        table.push_str(&format!("user  {fault:<33} {said}\n"));
    }
    insta::assert_snapshot!(table);
}
