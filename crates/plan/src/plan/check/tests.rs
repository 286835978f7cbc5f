use super::*;
use crate::examples::{example, example_mix, example_replay};
use crate::plan::{
    ArrivalsPlan, CostPlan, CurvePlan, Figure, LocalTarget, MixCount, MixPlan, Objective,
    ObjectivePlan, OnLost, Pacing, Popularity, ReadData, ReplayPlan, SmbDialect, SmbOplock,
    SmbProtection, SmbTarget, SteeringPlan, TransportKind,
};
use filestone_workload::operation::OpKind;

type Change = fn(&mut Plan);

/// Returns the messages for the changed plans; empty if all are valid.
fn refusals(plan: impl Fn() -> Plan, changes: &[Change]) -> String {
    let texts = changes.iter().map(|change| {
        let mut plan = plan();
        change(&mut plan);
        let error = plan.check().expect_err("a plan that nothing could follow");
        let help = error.help(Field::quoted_key);
        let help = help.map_or(String::new(), |help| format!("  help: {help}\n"));
        format!("{error}\n{help}")
    });
    texts.collect()
}

fn mix_of(plan: &mut Plan) -> &mut MixPlan {
    plan.mix_mut().expect("a mix")
}

fn replay_of(plan: &mut Plan) -> &mut ReplayPlan {
    plan.replay_mut().expect("a replay")
}

fn by_udp(plan: &mut Plan) {
    plan.target.nfs3_mut().expect("NFS").transport = TransportKind::Udp;
}

fn on_a_mount(plan: &mut Plan) {
    plan.target = TargetPlan::Local(LocalTarget {
        directory: Some("/mnt".into()),
    });
    (plan.workers, plan.in_flight) = (1, 1);
}

fn on_a_share(plan: &mut Plan) -> &mut SmbTarget {
    plan.target = TargetPlan::Smb(SmbTarget::new("fs", "bench"));
    let TargetPlan::Smb(target) = &mut plan.target else {
        panic!("it was made just now");
    };
    target
}

#[test]
fn what_every_plan_must_be() {
    for plan in [example(), example_mix(), example_replay()] {
        assert_eq!(plan.check(), Ok(()));
    }
    let text = refusals(
        example,
        &[
            |plan| plan.clients = 0,
            |plan| plan.clients = 2_000_000,
            |plan| plan.in_flight = 70_000,
            |plan| (plan.clients, plan.in_flight) = (100_000, 60_000),
            |plan| plan.workers = 9,
            |plan| plan.pin = vec![0, 1024],
            |plan| plan.duration_ns = None,
            |plan| plan.timeout_ns = 0,
            |plan| plan.interval_ns = 150_000_000,
            |plan| {
                plan.arrivals = ArrivalsPlan::Constant {
                    offered_load_ops_per_s: f64::NAN,
                }
            },
            |plan| plan.probe_mut().expect("a probe").size_bytes = 0,
            |plan| plan.probe_mut().expect("a probe").size_bytes = (1 << 20) + 1,
            |plan| {
                by_udp(plan);
                plan.probe_mut().expect("a probe").size_bytes = 65_536;
            },
            |plan| plan.read_data = Some(ReadData::Discard),
            |plan| plan.probe_mut().expect("a probe").operation = OpKind::NtCreateX,
            on_a_mount,
            |plan| plan.steering = Some(curve()),
            |plan| plan.connections.connections_per_s = Some(0.0),
            |plan| plan.connections.connections_per_s = Some(2e6),
            |plan| plan.connections.sources = "10.0.0.1,::1".parse().expect("addresses"),
            |plan| plan.connections.identities.uids = "1000-1999".parse().expect("numbers"),
            |plan| plan.connections.identities.machine_name = Some("client%s".into()),
            |plan| {
                let target = plan.target.nfs3_mut().expect("NFS");
                target.supplementary_gids = "1-17".parse().expect("numbers");
            },
        ],
    );
    insta::assert_snapshot!(text);
}

#[test]
fn what_a_target_must_be() {
    let mut plan = example();
    on_a_share(&mut plan).path = "a b/c".into();
    assert_eq!(plan.check(), Ok(()));
    let text = refusals(
        example,
        &[
            |plan| on_a_share(plan).share.clear(),
            |plan| on_a_share(plan).share = "a\\b".into(),
            |plan| on_a_share(plan).path = "a//b".into(),
            |plan| on_a_share(plan).path = "../b".into(),
            |plan| on_a_share(plan).connections_per_client = 0,
            |plan| on_a_share(plan).connections_per_client = 33,
            |plan| on_a_share(plan).connections_per_client = 2,
            |plan| {
                let target = on_a_share(plan);
                target.dialect = Some(SmbDialect::Smb210);
                target.connections_per_client = 2;
            },
            |plan| {
                let target = on_a_share(plan);
                target.dialect = Some(SmbDialect::Smb210);
                target.encryption = SmbProtection::Required;
            },
            |plan| {
                let target = on_a_share(plan);
                target.dialect = Some(SmbDialect::Smb202);
                target.oplock = SmbOplock::Lease;
            },
            |plan| on_a_share(plan).durable = true,
            |plan| {
                on_a_share(plan);
                plan.connections.identities.uids = "5".parse().expect("a number");
            },
        ],
    );
    insta::assert_snapshot!(text);
}

#[test]
fn what_a_replay_must_be() {
    let text = refusals(
        example_replay,
        &[
            |plan| replay_of(plan).loads.clear(),
            |plan| {
                let load = replay_of(plan).loads[0].clone();
                replay_of(plan).loads = vec![load; 3];
            },
            |plan| plan.clients = 70_000,
            |plan| replay_of(plan).clients_per_thread = 0,
            |plan| replay_of(plan).clients_per_thread = 3,
            |plan| {
                let server = example().target;
                replay_of(plan).more_targets = vec![server];
            },
            |plan| replay_of(plan).more_targets = vec![plan.target.clone()],
            |plan| {
                let other = |path: &str| {
                    TargetPlan::Local(LocalTarget {
                        directory: Some(path.into()),
                    })
                };
                replay_of(plan).more_targets = vec![other("/a"), other("/b")];
            },
            |plan| replay_of(plan).pacing = Pacing::Stamps { speed: 0.0 },
            |plan| replay_of(plan).pacing = Pacing::Rate { bytes_per_s: -1.0 },
            |plan| replay_of(plan).trunc_io_bytes = Some(0),
            |plan| replay_of(plan).read_only = true,
            |plan| {
                let replay = replay_of(plan);
                (replay.read_only, replay.skip_cleanup) = (true, true);
                replay.kinds = vec![OpKind::WriteX];
            },
            |plan| plan.duration_ns = None,
            |plan| plan.count = Some(1),
            |plan| plan.workers = 2,
            |plan| plan.connections.connections_per_s = Some(10.0),
            |plan| plan.connections.on_lost = Some(OnLost::End),
            |plan| plan.connections.sources = "::1".parse().expect("an address"),
            |plan| plan.connections.identities.gids = "5".parse().expect("a number"),
        ],
    );
    insta::assert_snapshot!(text);
}

#[test]
fn what_a_mix_must_be() {
    let text = refusals(
        example_mix,
        &[
            |plan| mix_of(plan).counts[0].operation = OpKind::OpenX,
            |plan| {
                let first = mix_of(plan).counts[0];
                mix_of(plan).counts.push(first);
            },
            |plan| mix_of(plan).counts.clear(),
            |plan| {
                let counts = mix_of(plan).counts.iter_mut();
                counts.for_each(|count| count.count = u64::MAX);
            },
            |plan| {
                mix_of(plan).counts = vec![MixCount {
                    operation: OpKind::Null,
                    count: 0,
                }];
            },
            |plan| plan.target = TargetPlan::Local(LocalTarget { directory: None }),
            |plan| {
                let mut other = plan.target.clone();
                other.nfs3_mut().expect("NFS").host = Some("elsewhere".into());
                mix_of(plan).more_targets = vec![other];
            },
            |plan| mix_of(plan).more_targets = vec![plan.target.clone()],
            |plan| {
                let paths = 0..8;
                let others = paths.map(|path| {
                    let mut other = plan.target.clone();
                    other.nfs3_mut().expect("NFS").path = format!("/{path}");
                    other
                });
                let others = others.collect();
                mix_of(plan).more_targets = others;
            },
            |plan| {
                on_a_mount(plan);
                plan.in_flight = 2;
            },
            |plan| {
                on_a_mount(plan);
                plan.workers = 2;
            },
            |plan| {
                on_a_mount(plan);
                plan.cost = Some(CostPlan::of_this_end(0, 1_000_000_000));
            },
            |plan| {
                on_a_mount(plan);
                plan.arrivals = ArrivalsPlan::Closed;
                mix_of(plan).local.feedback = true;
            },
            |plan| mix_of(plan).transfer_bytes = 0,
            |plan| mix_of(plan).transfer_bytes = 2 << 20,
            |plan| mix_of(plan).listing_bytes = 0,
            |plan| {
                by_udp(plan);
                mix_of(plan).transfer_bytes = 1 << 20;
            },
            |plan| mix_of(plan).file_set.name = "../x".into(),
            |plan| mix_of(plan).file_set.files_per_client = 0,
            |plan| mix_of(plan).file_set.files_per_client = u32::MAX,
            |plan| mix_of(plan).file_set.symbolic_links_per_client = 0,
            |plan| mix_of(plan).file_set.working_set_bytes = Some(0),
            |plan| {
                mix_of(plan).file_set.popularity = Popularity::Zipf { exponent: f64::NAN };
            },
        ],
    );
    insta::assert_snapshot!(text);
}

fn curve() -> SteeringPlan {
    SteeringPlan::Curve(CurvePlan {
        points: 10,
        peak_ops_per_s: None,
        point_ns: 1,
        warm_up_max_ns: 1,
        down: true,
    })
}

fn curve_of(plan: &mut Plan) -> &mut CurvePlan {
    match plan.steering.get_or_insert_with(curve) {
        SteeringPlan::Curve(curve) => curve,
        SteeringPlan::Objective(_) => panic!("a curve"),
    }
}

fn search(figure: Figure, below_ns: u64, precision: f64) -> Option<SteeringPlan> {
    Some(SteeringPlan::Objective(ObjectivePlan {
        objective: Objective { figure, below_ns },
        search_max_ns: 1,
        precision,
    }))
}

#[test]
fn what_can_be_steered() {
    let steered = || Plan {
        steering: Some(curve()),
        duration_ns: None,
        ..example_mix()
    };
    assert_eq!(steered().check(), Ok(()));
    let mut mean = steered();
    mean.steering = search(Figure::Mean, 1, 0.02);
    assert_eq!(mean.check(), Ok(()));
    let text = refusals(
        steered,
        &[
            |plan| plan.arrivals = ArrivalsPlan::Closed,
            |plan| plan.count = Some(1),
            |plan| {
                plan.count = Some(1);
                plan.steering = search(Figure::Mean, 1, 0.02);
            },
            |plan| on_a_mount(plan),
            |plan| curve_of(plan).points = u32::MAX,
            |plan| curve_of(plan).peak_ops_per_s = Some(f64::NAN),
            |plan| curve_of(plan).point_ns = 0,
            |plan| curve_of(plan).warm_up_max_ns = u64::MAX,
            |plan| plan.steering = search(Figure::Quantile { quantile: 1.0 }, 1, 0.02),
            |plan| plan.steering = search(Figure::Mean, 0, 0.02),
            |plan| plan.steering = search(Figure::Mean, 1, 0.9),
        ],
    );
    insta::assert_snapshot!(text);
}

#[test]
fn a_gate_is_about_what_the_run_will_have() {
    let with = |plan: Plan, gate: &str| {
        let mut plan = plan;
        plan.gates.fail_if = vec![gate.parse().expect(gate)];
        plan
    };
    let open = |mut plan: Plan| {
        plan.arrivals = ArrivalsPlan::Constant {
            offered_load_ops_per_s: 100.0,
        };
        plan
    };
    let steered_by = curve;
    let curve = || {
        let mut plan = open(example_mix());
        plan.duration_ns = None;
        plan.steering = Some(steered_by());
        plan
    };
    let mut local = open(example_mix());
    on_a_mount(&mut local);
    for (plan, gate) in [
        (example(), "null.response_time.p99 > 2ms"),
        (open(example()), "achieved < 0.98 * offered"),
        (example_replay(), "mismatches"),
        (curve(), "curve.peak < 1000/s"),
        (curve(), "read.errors"),
    ] {
        assert_eq!(gates::check(&with(plan, gate)), Ok(()), "{gate}");
    }
    let mut text = String::new();
    for (plan, gate) in [
        (example(), "1ms < write.response_time.p99"),
        (example_mix(), "commit.errors"),
        (example(), "achieved < 0.98 * offered"),
        (local, "achieved < 0.98 * offered"),
        (curve(), "achieved < 0.98 * offered"),
        (curve(), "response_time.p99 > 2ms"),
        (curve(), "objective.load < 20/s"),
        (example(), "curve.knee < 20/s"),
        (example(), "mismatches"),
        (example_replay(), "generator_busy > 80%"),
    ] {
        let error = gates::check(&with(plan, gate)).expect_err(gate);
        let help = error.help(Field::quoted_key).unwrap_or_default();
        text.push_str(&format!("{error}\nhelp: {help}\n\n"));
    }
    insta::assert_snapshot!(text);
    let mut many = example();
    many.gates.fail_if = vec!["errors".parse().expect("a gate"); 65];
    let said = gates::check(&many).expect_err("too many").to_string();
    assert_eq!(said, "\"gates\" 65: expected a number from 0 to 64");
}
