//! The built-in server's share, by filestone's own client of SMB: what is asked is answered, in
//! every dialect, as guest and as user, signed and encrypted, and faults are seen as what they are.

use filestone_engine::control::{Context, Unobserved};
use filestone_engine::target::BuiltIn;
use filestone_engine::{Job, Protocols, RunError};
use filestone_model::measure::{Ledger, RunRecord};
use filestone_model::operation::OpKind;
use filestone_model::password::Password;
use filestone_model::plan::{ArrivalsPlan, Plan, SmbDialect, SmbProtection, SmbTarget, TargetPlan};
use filestone_server::{Options, Protection, Running, Server, SmbOptions, User};
use std::sync::atomic::AtomicBool;

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
    let job = Job {
        built_in: BuiltIn {
            smb: server.smb_addresses().first().copied(),
            ..BuiltIn::default()
        },
        ..Job::new(plan)
    };
    let (stop, password) = (AtomicBool::new(false), Password::new("mellon".into()));
    let mut silent = Unobserved;
    let context = Context::new(&stop, &mut silent);
    let mut context = context.with_password(Some(&password));
    filestone_engine::run(&job, &Protocols::default(), &mut context)
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
            share(&mut plan).signing = SmbProtection::IfAsked;
            share(&mut plan).encryption = SmbProtection::Required;
            all_succeed(&plan, &users);
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

/// Six ECHOs of a user who signs, with a fault.
fn ledger_with(fault: &str) -> Ledger {
    let server = start(anna(), &[fault]);
    let mut plan = plan(OpKind::Null, "");
    plan.timeout_ns = 200 * MS;
    plan.count = Some(6);
    share(&mut plan).user = Some("anna".into());
    share(&mut plan).signing = SmbProtection::Required;
    run(&plan, &server).expect("a run").totals.ledger
}

#[test]
fn faults_are_seen_as_what_they_are() {
    let failed = ledger_with("error=STATUS_DISK_FULL,proc=echo");
    assert_eq!((failed.ok, failed.failed), (0, 6), "{failed:?}");
    let late = ledger_with("delay=20ms,proc=echo");
    assert_eq!(late.ok, 6, "{late:?}");
    for fault in ["drop,proc=echo", "pending,proc=echo"] {
        let unanswered = ledger_with(fault);
        assert_eq!(
            (unanswered.ok, unanswered.timed_out),
            (0, 6),
            "{fault}: {unanswered:?}"
        );
    }
    for fault in ["signature", "disconnect", "oversize"] {
        let spoilt = ledger_with(&format!("{fault},proc=echo"));
        assert_eq!(spoilt.ok, 0, "{fault}: {spoilt:?}");
    }
}
