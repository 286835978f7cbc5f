use super::*;
use filestone_host::error::ErrorCategory;
use filestone_measure::measure::Caveat;
use filestone_measure::measure::run_record::RunOutcome;
use filestone_report::fixtures;
use std::path::PathBuf;

const HERE: Environment = Environment::CANNED;

fn run_of(line: &str) -> SmbtortureRun {
    let words: Vec<String> = line.split_whitespace().map(String::from).collect();
    match command_line::parse(&words) {
        Ok(SmbtortureRequest::Run(run)) => *run,
        other => panic!("{line}: {other:?}"),
    }
}

fn plan_of(run: &SmbtortureRun) -> Result<Plan, Error> {
    let shares = shares(run)?;
    plan(
        run,
        &shares,
        &[Named::canned()],
        &DefaultCredentials::default(),
        &HERE,
    )
}

#[test]
fn command_lines_become_plans_without_a_password() {
    let mut text = String::new();
    for line in [
        "//fs/bench -N -p 4470 -t 10 bench.nbench",
        "//fs/bench/deep -U CORP/anna%secret -m SMB3_11 --option=clientminprotocol=SMB3_11 \
         --client-protection=sign --num-progs=8 -t 300 --seed=3 --option=torture:targetrate=5 \
         --option=torture:nretries=3 BENCH-NBENCH",
        "//fs/bench -N --option=torture:readonly=yes --num-progs=1 -t 60 bench.nbench",
    ] {
        let plan = plan_of(&run_of(line)).expect(line);
        plan.check().expect("a plan that may be followed");
        text.push_str(&serde_json::to_string_pretty(&plan).expect("a plan is JSON"));
        text.push('\n');
    }
    assert!(!text.contains("secret"));
    insta::assert_snapshot!(text);
}

#[test]
fn a_list_is_shared_out_as_far_as_there_are_clients() {
    let list = std::env::temp_dir().join(format!("filestone-unclist-{}", std::process::id()));
    let shares_in = |text: &str, clients: u32| {
        std::fs::write(&list, text).expect("a temporary file");
        let mut run = run_of("//fs/x -p 4470 -U anna -N bench.nbench");
        (run.list, run.clients) = (Some(list.clone()), clients);
        let shares = shares(&run);
        let _ = std::fs::remove_file(&list);
        shares.map(|shares| {
            let urls = shares.iter();
            let urls = urls.map(|share| {
                format!(
                    "{:?}@{}:{:?}/{}",
                    share.user,
                    share.host.as_deref().unwrap_or_default(),
                    share.port,
                    share.share
                )
            });
            urls.collect::<Vec<_>>().join(" ")
        })
    };
    let text = "//a/x\n//a/x\n//b:4471/y\n//c/z\n";
    let expected = r#"Some("anna")@a:Some(4470)/x Some("anna")@b:Some(4471)/y"#;
    assert_eq!(shares_in(text, 3).as_deref(), Ok(expected));
    assert!(shares_in("local:/x\n", 1).is_err());
    let mut missing = run_of("//fs/x bench.nbench");
    missing.list = Some(PathBuf::from("/nowhere/list"));
    assert!(shares(&missing).is_err());
}

#[test]
fn what_is_printed_has_smbtortures_form() {
    let run =
        run_of("//fs/bench -N --num-progs=2 -t 60 --option=torture:targetrate=5 bench.nbench");
    let mut text = banner(&run, "client.txt", 7);
    text.push_str(&released(&run));
    let whole = fixtures::replayed();
    let mut interrupted = whole.clone();
    interrupted.end = RunOutcome::Interrupted;
    // Most of it succeeded, but it does not count.
    let mut late = whole.clone();
    late.caveats = vec![Caveat::MixInvalid {
        deviation_percent: 12.0,
    }];
    for record in [
        whole,
        fixtures::replayed_with_mismatches(),
        interrupted,
        late,
    ] {
        text.push_str(&report(Test::Nbench, Ok(&record)));
        text.push_str("----\n");
    }
    let refused = Error {
        category: ErrorCategory::Target,
        message: "fs:445: SESSION_SETUP was answered STATUS_LOGON_FAILURE (0xc000006d)".into(),
        help: None,
    };
    text.push_str(&report(Test::Nbench, Err(&refused)));
    insta::assert_snapshot!(text);
}

#[test]
fn a_password_is_for_a_user() {
    let prepared = |line: &str| prepare(&run_of(line), "office", &HERE);
    let job = prepared("//fs/b -U anna%secret bench.nbench").expect("a user and a password");
    assert!(job.password.is_some());
    let guest = prepared("//fs/b -N bench.nbench").expect("a guest");
    assert_eq!(guest.password, None);
    let error = prepared("//fs/b -U anna bench.nbench").expect_err("no password");
    assert!(
        error.message.contains("no password for the user anna"),
        "{}",
        error.message
    );
}

#[test]
fn the_command_line_of_1999_runs_one_pass_and_prints_its_line() {
    for (name, line) in [
        ("NBW95", "//localhost/netbench -U% -N 32 NBW95"),
        ("NBWNT", "//localhost/netbench -U% -N32 nbwnt"),
    ] {
        let run = run_of(line);
        assert_eq!((run.test, run.clients), (Test::NetBench(name), 32));
        assert_eq!(run.login.user, None);
        let plan = plan_of(&run).expect(line);
        plan.check().expect("a plan that may be followed");
        assert_eq!((plan.duration_ns, plan.warm_up_ns), (None, 0));
        assert!(plan.replay().is_some_and(|replay| replay.run_once));
        let mut record = fixtures::replayed();
        record.window_ns = 2_000_000_000;
        let replay = record.replay.as_mut().expect("a replay");
        (replay.bytes_written, replay.bytes_read) = (60_000_000, 21_340_200);
        let expected =
            "\n\nThroughput 40.6701 MB/sec (NB=50.8376 MB/sec  406.701 MBit/sec)\nsuccess: ";
        assert_eq!(report(run.test, Ok(&record)), format!("{expected}{name}\n"));
    }
    // Before a word, -N is Samba 4's option for no password.
    assert_eq!(run_of("//fs/bench -N bench.nbench").clients, 4);
}
