//! Command lines of `filestone replay` and the resulting plans.

use super::*;
use crate::options::{CommandLine, FilestoneCommand};
use clap::Parser;
use filestone_plan::plan::LoadName;
use filestone_workload::load::Generation;

const HERE: Environment = Environment::CANNED;

fn named(name: &str, has_stamps: bool) -> Named {
    Named {
        name: LoadName {
            name: name.into(),
            operations: 1000,
            generation: Generation::Cifs,
        },
        kinds: vec![OpKind::NtCreateX, OpKind::Close, OpKind::ReadX],
        has_stamps,
        load: std::sync::Arc::new(filestone_workload::load::Load::empty(Generation::Cifs)),
    }
}

fn plans_of(line: &str) -> Result<Vec<Plan>, Error> {
    let words = ["filestone", "replay"]
        .into_iter()
        .chain(line.split_whitespace());
    match CommandLine::try_parse_from(words).expect(line).command {
        Some(FilestoneCommand::Replay(options)) => {
            let names = options.loads.as_deref().unwrap_or(LOAD_DEFAULT);
            let loads: Vec<Named> = names
                .split(',')
                .map(|name| named(name, name.starts_with("stamped")))
                .collect();
            plans(&options, &loads, &DefaultCredentials::default(), &HERE)
        }
        other => panic!("{line}: {other:?}"),
    }
}

fn plan_of(line: &str) -> Plan {
    plans_of(line).expect(line).remove(0)
}

fn text(plans: &[Plan]) -> String {
    serde_json::to_string_pretty(plans).expect("plans are JSON")
}

#[test]
fn the_plan_without_an_option() {
    insta::assert_snapshot!(text(&plans_of("").expect("nothing is needed")));
}

#[test]
fn the_plans_with_every_option() {
    let line = "a.load,b.load --layer local:/srv/x,tcp:[::1]:7004 --layer nfs://a/x+nfs://b:2050/x \
         -c 8 -d 30s --warm-up 3s --run-once --skip-cleanup --remove-leftover -R 10MB/s \
         --trunc-io 4K --on-mismatch stop --per-client-results --clients-per-thread 2 -sSFx \
         --no-resolve --one-byte-write-fix --stat-check --fake-io --direct \
         -T SO_KEEPALIVE --prefix ./deep --stable --enable-nlm --nlm-port 4045 --mount-port 635 \
         --reserved-port --uid 0 --gid 0 --seed 3 --timeout 5s -m 500ms --format json";
    insta::assert_snapshot!(text(&plans_of(line).expect("all of it goes together")));
}

#[test]
fn stamps_are_followed_unless_something_else_paces() {
    let pacing = |line: &str| plan_of(line).replay().expect("a replay").pacing;
    assert_eq!(pacing(""), Pacing::Closed);
    assert_eq!(pacing("stamped"), Pacing::Stamps { speed: 1.0 });
    assert_eq!(pacing("stamped --speed 2.5"), Pacing::Stamps { speed: 2.5 });
    assert_eq!(pacing("stamped --ignore-timestamps"), Pacing::Closed);
    assert_eq!(pacing("stamped -R 1MB"), Pacing::Rate { bytes_per_s: 1e6 });
    assert_eq!(
        pacing("office --total-rate 1MB/s -c 4"),
        Pacing::Rate {
            bytes_per_s: 250_000.0
        }
    );
}

#[test]
fn warm_up_is_a_fifth_but_one_pass_has_none() {
    let times = |line: &str| {
        let plan = plan_of(line);
        (
            plan.warm_up_ns / 1_000_000,
            plan.duration_ns.map(|ns| ns / 1_000_000),
        )
    };
    assert_eq!(times(""), (2_000, Some(10_000)));
    assert_eq!(times("-d 600"), (120_000, Some(600_000)));
    assert_eq!(times("-d 600 --warm-up 0"), (0, Some(600_000)));
    assert_eq!(times("--run-once"), (0, None));
    assert_eq!(times("--run-once -d 60"), (0, Some(60_000)));
}

#[test]
fn a_run_that_only_reads_takes_nothing_away() {
    let plan = plan_of("--layer smb://fs/bench --read-only --retries 3");
    let replay = plan.replay().expect("a replay");
    assert!(replay.read_only && replay.skip_cleanup);
    assert_eq!(replay.left_over, LeftoverPolicy::Refuse);
    assert_eq!(replay.smb.retries, 3);
    assert!(
        plans_of("--layer local:/srv/x --retries 3").is_err(),
        "no connections"
    );
}

#[test]
fn what_does_not_go_together_is_refused() {
    let mut text = String::new();
    for line in [
        "a,b,c -c 2",
        "--layer nfs://a/x+nfs://b/x",
        "--layer nfs://a/x+nfs://a/x -c 2",
        "--layer tcp:+tcp: -c 2",
        "--speed 2",
        "--clients-per-thread 2",
        "--layer tcp: --direct",
        "--stable",
        "--layer local: --prefix ./x",
        "--layer nfs: --port 2049",
        "--layer nfs://s:1/x --port 2",
    ] {
        let error = plans_of(line).expect_err(line);
        assert_eq!(error.exit_code(), 2);
        text.push_str(&format!("{line}\nerror: {}\n", error.message));
        if let Some(help) = error.help {
            text.push_str(&format!("help: {help}\n"));
        }
    }
    insta::assert_snapshot!(text);
}
