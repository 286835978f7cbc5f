//! A fleet, made by hand.

use super::{SECOND, plan, record};
use filestone_model::load::Mismatch;
use filestone_model::measure::RunRecord;
use filestone_model::measure::fleet_record::{
    ChangeKind, ChangeRecord, ClientState, FleetCounters, FleetRecord, GroupRecord, HealthFinding,
    HealthRule, LatencyBounds, LostClient, SettingChange, SettingsGeneration, StateCount,
    StepRecord,
};
use filestone_model::measure::replay_record::MismatchRecord;
use filestone_model::operation::OpKind;
use filestone_model::plan::{
    Direction, FleetPlan, GroupPlan, HealthPlan, LeftoverPolicy, RampPlan, WorkloadPlan,
};

/// A fleet of two steps, which a rule stopped in the second.
pub fn fleet() -> RunRecord {
    let writers = GroupPlan::new("writers", 25, Direction::Write);
    let readers = GroupPlan {
        reads: Some(0),
        ..GroupPlan::new("readers", 25, Direction::Read)
    };
    let mut plan = plan(OpKind::Null);
    plan.face = "fleet".into();
    plan.clients = 50;
    plan.in_flight = 1;
    plan.workload = WorkloadPlan::Fleet(Box::new(FleetPlan {
        name: "plan.toml".into(),
        groups: vec![writers, readers],
        more_targets: vec![],
        ramp: Some(RampPlan {
            clients: 25,
            every_ns: SECOND,
        }),
        health: HealthPlan::default(),
        clients_per_thread: 1,
        left_over: LeftoverPolicy::default(),
        keep_files: false,
    }));
    let mut record = record(plan.with_read_data(None), 2, 60, 100_000);
    let step = |clients: u32, checksum_errors| StepRecord {
        clients,
        start_ns: u64::from(clients / 25 - 1) * SECOND,
        end_ns: u64::from(clients / 25) * SECOND,
        settings: Some(SettingsGeneration::default()),
        connect_time_p99_ns: Some(300_000),
        achieved_load_ops_per_s: 600.0 * f64::from(clients),
        goodput_bytes_per_s: 2_400_000.0 * f64::from(clients),
        response_time_ns: record.totals.response_time_ns.clone(),
        errors: checksum_errors * 3,
        checksum_errors,
        memory_bytes: (9 << 20) + u64::from(clients) * 16_384,
        server_memory_bytes: None,
    };
    let group = |name: &str, counters: FleetCounters| GroupRecord {
        name: name.into(),
        clients: 25,
        states: vec![
            StateCount {
                state: ClientState::Running,
                clients: 24,
            },
            StateCount {
                state: ClientState::Failed,
                clients: 1,
            },
        ],
        counters,
        read_bits_per_s: 8e6,
        write_bits_per_s: 0.0,
        read_bits_per_s_20s: 8e6,
        write_bits_per_s_20s: 0.0,
        response_time_at_most: Some(LatencyBounds {
            count: counters.reads,
            p50_ns: Some(128_000),
            p99_ns: Some(160_000),
        }),
        client_bytes_min: 40_960,
        client_bytes_max: 81_920,
    };
    let counters = FleetCounters {
        reads: 9000,
        bytes_read: 36_864_000,
        files_read: 150,
        checksum_errors: 2,
        failures: 7,
        failing_ns: 3 * SECOND,
        ..FleetCounters::default()
    };
    record.fleet = Some(FleetRecord {
        steps: vec![step(25, 0), step(50, 2)],
        stopped_by: Some(HealthFinding {
            rule: HealthRule::Errors,
            clients: 50,
            at_ns: 2 * SECOND,
            value: 0.025,
            limit: 0.01,
        }),
        groups: vec![
            group("writers", FleetCounters::default()),
            group("readers", counters),
        ],
        mismatches: vec![MismatchRecord {
            operation: OpKind::ReadX,
            mismatch: Mismatch::WrongData,
            expected: "what was written".into(),
            got: "a unit with another checksum".into(),
            count: 2,
            lines: vec![31],
        }],
        lost: vec![LostClient {
            client: 3,
            why: "it could not open a file".into(),
        }],
        busy_calls: 0,
        changes: vec![],
    });
    record
}

/// The same, which was changed four times in its second step.
pub fn changed_fleet() -> RunRecord {
    let mut record = fleet();
    let setting = |key: &str, from: &str, to: &str| SettingChange {
        key: key.into(),
        from: from.into(),
        to: to.into(),
        clients: 12,
    };
    let change = |number: u32, millis: u64, what, which: &str, clients| ChangeRecord {
        number,
        at_ns: millis * (SECOND / 1000),
        what,
        which: which.into(),
        clients,
        settled_ns: Some((millis + 47) * (SECOND / 1000)),
        settings: vec![],
    };
    let changes = vec![
        ChangeRecord {
            settings: vec![
                setting("rate", "5Mbit/s", "2.5Mbit/s"),
                setting("file_size", "1MB", "64KiB..1MiB"),
            ],
            ..change(1, 1250, ChangeKind::Set, "writers[0..11]", 12)
        },
        change(2, 1500, ChangeKind::Quiesce, "readers", 25),
        change(3, 1750, ChangeKind::Start, "readers/3", 1),
        ChangeRecord {
            settled_ns: None,
            ..change(4, 1990, ChangeKind::Stop, "writers/7,*ers/1?", 21)
        },
    ];
    if let Some(fleet) = &mut record.fleet {
        fleet.changes = changes;
        if let Some(step) = fleet.steps.last_mut() {
            step.settings = Some(SettingsGeneration::new(0, 4));
            step.server_memory_bytes = Some(47 << 20);
        }
    }
    for (interval, last) in record.intervals.iter_mut().zip([0, 4]) {
        interval.settings = Some(SettingsGeneration::new(0, last));
    }
    record
}
