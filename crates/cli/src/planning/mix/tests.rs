use super::*;
use crate::options::{CommandLine, FilestoneCommand};
use clap::Parser;
use filestone_plan::plan::{MixCount, SkippedOperation};
use filestone_workload::operation::OpKind;

const HERE: Environment = Environment::CANNED;

fn three_kinds() -> Mix {
    Mix {
        calls: None,
        name: "three-kinds".into(),
        counts: [
            (OpKind::GetAttr, 50),
            (OpKind::Lookup, 30),
            (OpKind::Read, 20),
        ]
        .map(|(operation, count)| MixCount { operation, count })
        .to_vec(),
        left_out: vec![SkippedOperation {
            operation: "open".into(),
            count: 3,
        }],
        notes: vec![],
    }
}

fn plan_of(line: &str) -> Result<Plan, Error> {
    let words = ["filestone", "mix"]
        .into_iter()
        .chain(line.split_whitespace());
    match CommandLine::try_parse_from(words).expect(line).command {
        Some(FilestoneCommand::Mix(options)) => plan(
            &options,
            three_kinds(),
            &DefaultCredentials::default(),
            &HERE,
        ),
        other => panic!("{line}: {other:?}"),
    }
}

fn plan_text(line: &str) -> String {
    serde_json::to_string_pretty(&plan_of(line).expect(line)).expect("a plan is JSON")
}

#[test]
fn the_plan_of_a_bare_mix() {
    insta::assert_snapshot!(plan_text(""));
}

#[test]
fn the_plan_with_every_option() {
    insta::assert_snapshot!(plan_text(
        "nfs://[::1]:2050/a nfs://[::1]:2050/b --transport udp --mount-port 635 --reserved-port \
         --uid 0 --gid 0 --offered 2k/s --arrivals constant --count 1000 -d 2m -c 16 -j 4 -w 2 \
         --warm-up 3s --timeout 5s --seed 3 --busy-poll --pin 0-1 --files 100 \
         --file-size 8K --working-set 1M --popularity zipf:0.9 --file-set mine --remove-file-set \
         --io-size 8K --access random --stable file-sync -m 500ms -o out --format json -v"
    ));
}

#[test]
fn the_plan_of_a_curve_and_of_a_search() {
    insta::assert_snapshot!(plan_text(
        "s:/x --curve --points 5 --peak 5k --point-duration 2s --point-warm-up 3s --ascending-only"
    ));
    insta::assert_snapshot!(plan_text(
        "s:/x --slo p99<2ms --precision 5% --search-timeout 30s --arrivals constant"
    ));
}

#[test]
fn the_plan_through_a_mount() {
    insta::assert_snapshot!(plan_text(
        "--layer local:/mnt/a+local:/mnt/b --proc /tmp/proc --no-feedback -c 4"
    ));
}

#[test]
fn defaults_depend_on_what_is_asked() {
    let plan = |line| plan_of(line).expect(line);
    assert_eq!(plan("").in_flight, 128);
    assert_eq!(plan("--arrivals closed").in_flight, 1);
    assert_eq!(plan("--arrivals closed -j 4").in_flight, 4);
    assert_eq!(plan("--count 5").duration_ns, None);
    assert_eq!(plan("--count 5 -d 1").duration_ns, Some(SECOND));
    assert_eq!(plan("s:/a -c 3").workers, 3);
    assert_eq!(plan("--curve").interval_ns, STEERED_INTERVAL);
    assert_eq!(plan("--curve -m 1").interval_ns, SECOND);
    let many: Vec<String> = (0..12).map(|number| format!("s:/{number}")).collect();
    assert_eq!(plan(&many.join(" ")).clients, 12);
}

#[test]
fn what_does_not_go_together_is_refused() {
    let mut text = String::new();
    for line in [
        "a:/x b:/x",
        "a:/x a:/x",
        "nfs://a:1/x nfs://a:2/y",
        "a:/x a:/y -c 1",
        "--arrivals closed --offered 5",
        "--curve --arrivals closed",
        "--curve --offered 5",
        "--curve --count 5",
        "--curve -d 5",
        "--curve --warm-up 5",
        "--slo p99<2ms --offered 5",
        "--slo p99<2ms -d 5",
        "--slo p99<2ms --warm-up 5",
        "--transport udp --io-size 64K",
        "--data discard --io-size 8K",
        "--data discard --transport udp",
        "--data verify --layer local:/mnt",
        "-c 1000 --files 100000",
        "-w 9",
        "--port 2049",
        "--layer local:",
        "--layer tcp:host",
        "--layer nfs://s/x",
        "--layer local:/a,local:/b",
        "--layer local:/a+local:/a",
        "--layer local:/a --curve",
        "--layer local:/a --slo p99<2ms",
        "--layer local:/a --arrivals closed",
        "--layer local:/a -j 4",
        "--layer local:/a --port 4",
        "--layer local:/a --transport tcp",
    ] {
        let error = plan_of(line).expect_err(line);
        assert_eq!(error.exit_code(), 2, "{line}");
        text.push_str(&format!("{line}\nerror: {}\n", error.message));
        if let Some(help) = error.help {
            text.push_str(&format!("help: {help}\n"));
        }
    }
    insta::assert_snapshot!(text);
}

fn share() -> TargetPlan {
    plan_of("smb://srv/x").expect("a plan").target
}

fn asked(counts: &[(OpKind, u64)]) -> Mix {
    let mix = Mix {
        counts: MixCount::of(counts),
        ..three_kinds()
    };
    kinds::asked_of(&share(), protocols::known(), mix)
}

#[test]
fn what_a_share_has_not_is_left_out_of_its_mix_and_said() {
    let counts = [
        (OpKind::Lookup, 60),
        (OpKind::ReadLink, 10),
        (OpKind::Read, 30),
        (OpKind::MkNod, 0),
    ];
    let mix = asked(&counts);
    let percents = mix.percent_rows().into_iter();
    let percents: Vec<(OpKind, f64)> = percents.collect();
    let expected = [
        (OpKind::Lookup, 100.0 * 60.0 / 90.0),
        (OpKind::Read, 100.0 * 30.0 / 90.0),
    ];
    assert_eq!(percents, expected);
    let left: Vec<(&str, u64)> = mix
        .left_out
        .iter()
        .map(|left| (left.operation.as_str(), left.count))
        .collect();
    assert_eq!(left, [("open", 3), ("readlink", 10)]);
    let mix = mix_plan(mix, &FileSetOptions::default());
    let plan = Plan::new("mix", share(), WorkloadPlan::Mix(Box::new(mix)), 1);
    assert_eq!(
        missing_note(&plan).as_deref(),
        Some("left out of the mix, because smb has none: readlink 10.0 %")
    );
}

#[test]
fn the_spare_names_of_a_file_set_are_in_proportion_to_the_operations_of_the_run() {
    let counts = [
        (OpKind::GetAttr, 94),
        (OpKind::Create, 3),
        (OpKind::Remove, 3),
    ];
    let of = |line: &str| {
        let words = ["filestone", "mix", "srv:/x", "--in-flight=8"].into_iter();
        let command = CommandLine::try_parse_from(words.chain(line.split_whitespace()));
        let Some(FilestoneCommand::Mix(options)) = command.expect(line).command else {
            panic!("{line}: another command");
        };
        let plan = plan(
            &options,
            asked(&counts),
            &DefaultCredentials::default(),
            &HERE,
        );
        let plan = plan.expect(line);
        plan.mix().map(|mix| mix.file_set.spare_names_per_client)
    };
    // One operation takes one name; twice the number is always enough.
    assert_eq!(of("--count 1 --warm-up 0s"), Some(2));
    // If the server determines the load, the slots determine the number, as before.
    let unlimited = of("--arrivals closed --clients 4 --duration 1h");
    assert_eq!(of("--offered 100k --clients 4 --duration 1h"), unlimited);
    assert!(of("--offered 4 --clients 4 --duration 1s --warm-up 0s") < unlimited);
    assert_eq!(of("--curve"), of("--slo p99<20ms"));
}

#[test]
fn a_mix_of_nothing_that_a_share_has_stays_for_the_run_to_refuse() {
    let counts = [(OpKind::ReadLink, 10), (OpKind::SymLink, 1)];
    assert_eq!(asked(&counts).to_plan_counts(), MixCount::of(&counts));
}

#[test]
fn nothing_is_left_out_of_a_mix_of_nfs() {
    assert_eq!(missing_note(&plan_of("srv:/x").expect("a plan")), None);
}

#[test]
fn directories_of_one_share_are_worked_in_and_those_of_two_are_not() {
    let plan = plan_of("smb://anna@srv/x/a smb://anna@srv/x/b").expect("a plan");
    assert_eq!(plan.targets().count(), 2);
    plan.check().expect("it can be followed");
    let refused = plan_of("smb://anna@srv/x/a smb://anna@srv/y").expect_err("two shares");
    let refused = format!("{refused:?}");
    assert!(refused.contains("smb://anna@srv/y"), "{refused}");
}
