//! Sessions, and their connections to the share, that an SMB server ends at random: what prepares a run
//! and cleans up after it goes on over others, finds everything as it is, and leaves nothing.

use crate::file_set::bench::Bench;
use crate::support::live::{run_on_share as run, serve};
use crate::support::mixes::mix;
use crate::support::replays::{load, plan as replay_plan};
use filestone_measure::measure::Caveat;
use filestone_plan::plan::{
    ArrivalsPlan, Plan, SmbProtection, SmbTarget, TargetPlan, WorkloadPlan,
};
use filestone_server::{Running, SmbOptions, User};
use filestone_wire::smb2::Command;
use filestone_workload::load::Load;
use filestone_workload::operation::OpKind;
use std::sync::Arc;

const MS: u64 = 1_000_000;

const ENDS: [&str; 3] = ["session-deleted", "share-closed", "session-expired"];

/// Files of the server: some pages of a listing.
const FILES: u32 = 200;

/// How often a request ends its session.
const PROBABILITIES: [&str; 2] = ["0.01", "0.02"];

const LOAD: &str = r#"
Mkdir "\clients\client1" *
Mkdir "\clients\client1\sub" *
NTCreateX "\clients\client1\sub\own" 0x40 0x5 10 NT_STATUS_OK
WriteX 10 0 100 100 NT_STATUS_OK
Close 10 NT_STATUS_OK
"#;

/// How requests go out.
#[derive(Debug, Clone, Copy)]
enum Manner {
    /// A guest's, those that belong together in one compound.
    Compounds,
    /// The same one by one: a session may end between two of them.
    Single,
    /// A user's, who signs: what says that the session is gone is not signed.
    Signed,
}

const MANNERS: [Manner; 3] = [Manner::Compounds, Manner::Single, Manner::Signed];

impl Manner {
    fn target(self, path: &str) -> TargetPlan {
        let usual = SmbTarget::built_in(path);
        TargetPlan::Smb(match self {
            Manner::Compounds => usual,
            Manner::Single => SmbTarget {
                compounds: false,
                ..usual
            },
            Manner::Signed => SmbTarget {
                user: Some("anna".into()),
                signing: SmbProtection::Required,
                ..usual
            },
        })
    }

    fn serve(self, seed: u64, fault: Option<&str>) -> Running {
        let anna = User {
            name: "anna".into(),
            password: "mellon".into(),
        };
        let users = match self {
            Manner::Compounds | Manner::Single => Vec::new(),
            Manner::Signed => vec![anna],
        };
        serve(|options| {
            options.smb = Some(SmbOptions {
                users,
                // Files are written, and directories listed, in several requests.
                transfer_max: 65_536,
                transact_max: 4096,
                ..SmbOptions::default()
            });
            let faults = fault.iter().map(|fault| fault.parse().expect("a fault"));
            options.faults = faults.collect();
            options.initial_tree.small_file_count = FILES;
            options.seed = seed;
        })
    }
}

/// What is in the directory that the share is.
fn names(server: &Running) -> Vec<String> {
    Bench::new(server).names("")
}

/// A run that leaves the server as it was, and how often a share was connected to for it.
fn connected(plan: &Plan, loads: &[Arc<Load>], manner: Manner, fault: Option<&str>) -> u64 {
    let server = manner.serve(1, fault);
    let (before, what) = (names(&server), format!("{manner:?}, {fault:?}"));
    let record = run(plan, loads, &server).unwrap_or_else(|error| panic!("{what}: {error}"));
    record.check().expect("the record agrees with itself");
    let mut caveats = record.caveats.iter();
    let left = caveats.find(|caveat| matches!(caveat, Caveat::Leftover { .. }));
    assert_eq!(left, None, "{what}");
    assert_eq!(names(&server), before, "{what}");
    server.stop().requests(Command::TreeConnect)
}

/// The same with each end of a session, all together with more connections than they take without.
fn check(loads: &[Arc<Load>], plan: impl Fn(Manner) -> Plan) {
    let (mut all, mut usual) = (0, 0);
    for manner in MANNERS {
        let plan = plan(manner);
        let runs = (ENDS.len() * PROBABILITIES.len()) as u64;
        usual += runs * connected(&plan, loads, manner, None);
        for end in ENDS {
            for probability in PROBABILITIES {
                let fault = format!("{end},p={probability}");
                all += connected(&plan, loads, manner, Some(&fault));
            }
        }
    }
    assert!(all > usual, "{all} instead of {usual}");
}

#[test]
fn the_file_set_of_a_mix_is_made_and_removed() {
    let counts = [
        (OpKind::GetAttr, 4),
        (OpKind::Lookup, 2),
        (OpKind::Read, 2),
        (OpKind::Write, 1),
        (OpKind::Create, 1),
        (OpKind::Remove, 1),
        (OpKind::ReadDir, 1),
    ];
    check(&[], |manner| {
        let mut plan = mix(&counts, ArrivalsPlan::Closed, 50);
        plan.target = manner.target("");
        (plan.clients, plan.in_flight) = (3, 2);
        if let WorkloadPlan::Mix(mix) = &mut plan.workload {
            mix.file_set.files_per_client = 30;
            mix.file_set.symbolic_links_per_client = 0;
            mix.file_set.sizes = "150K".parse().expect("file sizes");
            mix.remove_set = true;
        }
        plan
    });
}

#[test]
fn the_directory_of_a_probe_is_made_and_removed() {
    for (operation, path, count) in [
        (OpKind::Create, "", 200),
        (OpKind::Write, "", 200),
        (OpKind::Lock, "", 200),
        (OpKind::Access, "files", 200),
    ] {
        check(&[], |manner| {
            let mut plan = crate::support::plan(ArrivalsPlan::Closed, 2, 1);
            let probe = plan.probe_mut().expect("a probe");
            (probe.operation, probe.files_max) = (operation, 1000);
            plan.target = manner.target(path);
            (plan.clients, plan.duration_ns, plan.count) = (4, None, Some(count));
            plan.timeout_ns = 10_000 * MS;
            plan
        });
    }
}

#[test]
fn the_place_of_a_replay_is_claimed_and_removed() {
    let load = load(LOAD);
    check(&[Arc::clone(&load)], |manner| {
        let mut plan = replay_plan(manner.target(""), &load, 12);
        plan.timeout_ns = 10_000 * MS;
        plan
    });
}

/// What a listing finds that was begun again is what there is, and nothing of it twice.
#[test]
fn a_directory_is_listed_to_its_end() {
    let manner = Manner::Compounds;
    let mut plan = crate::support::plan(ArrivalsPlan::Closed, 1, 1);
    let probe = plan.probe_mut().expect("a probe");
    (probe.operation, probe.files_max) = (OpKind::Access, 1_000_000);
    plan.target = manner.target("files");
    (plan.duration_ns, plan.count, plan.timeout_ns) = (None, Some(5), 10_000 * MS);
    let files = |seed: u64, fault: &str| {
        let server = manner.serve(seed, Some(fault));
        let record = run(&plan, &[], &server).expect("the run is made");
        record.target.files
    };
    for end in ENDS {
        let fault = format!("{end},proc=query_directory,p=0.02");
        for seed in 1..=6 {
            assert_eq!(files(seed, &fault), u64::from(FILES), "{end}, {seed}");
        }
    }
}
