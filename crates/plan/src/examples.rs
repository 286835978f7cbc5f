//! Plans for the tests of several crates.

use crate::plan::*;
use filestone_workload::load::Generation;
use filestone_workload::operation::OpKind;

/// A probe of NULL on the built-in server for one second.
pub fn example() -> Plan {
    example_probe(OpKind::Null)
}

/// A probe of an operation on the built-in server for one second.
pub fn example_probe(operation: OpKind) -> Plan {
    let target = TargetPlan::Nfs3(NfsTarget::built_in("/export"));
    let workload = WorkloadPlan::Probe(ProbePlan {
        file_size_bytes: 1 << 26,
        files_max: 10_000,
        ..ProbePlan::new(operation)
    });
    Plan {
        duration_ns: Some(1_000_000_000),
        ..Plan::new("probe", target, workload, 1)
    }
}

/// A directory of a server.
pub fn example_server(path: &str) -> TargetPlan {
    TargetPlan::Nfs3(NfsTarget {
        host: Some("server".into()),
        port: Some(2049),
        uid: 1000,
        gid: 1000,
        ..NfsTarget::built_in(path)
    })
}

/// A load file with time stamps.
pub fn example_trace() -> LoadName {
    LoadName {
        name: "trace.load".into(),
        operations: 500,
        generation: Generation::Nfs,
    }
}

/// A mix of three operations by eight clients.
pub fn example_mix() -> Plan {
    let counts = MixCount::of(&[
        (OpKind::GetAttr, 60),
        (OpKind::ReadLink, 10),
        (OpKind::Read, 30),
    ]);
    let file_set = FileSetPlan {
        name: "set".into(),
        files_per_client: 10,
        sizes: FileSizes::Fixed { bytes: 4096 },
        symbolic_links_per_client: 2,
        spare_names_per_client: 2,
        working_set_bytes: None,
        popularity: Popularity::Uniform,
    };
    Plan {
        command: "mix".into(),
        clients: 8,
        in_flight: 4,
        arrivals: ArrivalsPlan::Poisson {
            offered_load_ops_per_s: 1000.0,
        },
        workload: WorkloadPlan::Mix(Box::new(MixPlan {
            transfer_bytes: 4096,
            listing_bytes: 4096,
            ..MixPlan::new("example", counts, file_set)
        })),
        ..example()
    }
}

/// A replay of a load file by two clients on a local directory.
pub fn example_replay() -> Plan {
    let office = LoadName {
        name: "office".into(),
        operations: 1,
        generation: Generation::Cifs,
    };
    let replay = ReplayPlan::new(vec![office], vec![OpKind::Read]);
    Plan {
        command: "replay".into(),
        target: TargetPlan::Local(LocalTarget {
            directory: Some("/x".into()),
        }),
        clients: 2,
        workload: WorkloadPlan::LoadFile(replay),
        ..example()
    }
}

/// Four writers, and four readers of their files.
pub fn pairs() -> FleetPlan {
    let readers = GroupPlan {
        reads: Some(0),
        ..GroupPlan::new("readers", 4, Direction::Read)
    };
    FleetPlan {
        name: "pairs".into(),
        groups: vec![GroupPlan::new("writers", 4, Direction::Write), readers],
        more_targets: vec![],
        ramp: None,
        health: HealthPlan::default(),
        clients_per_thread: 1,
        left_over: LeftoverPolicy::default(),
        keep_files: false,
    }
}
