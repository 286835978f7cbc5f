//! smbtorture command lines from Samba's documents and scripts.

use super::*;
use filestone_plan::plan::SmbDialect;

fn parse_line(line: &str) -> Result<SmbtortureRequest, CommandLineError> {
    let words: Vec<String> = line.split_whitespace().map(String::from).collect();
    parse(&words)
}

fn run_of(line: &str) -> SmbtortureRun {
    match parse_line(line) {
        Ok(SmbtortureRequest::Run(run)) => *run,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn defaults_are_those_of_smbtorture() {
    let run = run_of("//fs/bench BENCH-NBENCH");
    assert_eq!((run.clients, run.time_limit), (4, 600));
    assert_eq!(
        (run.share.host.as_deref(), run.share.share.as_str()),
        (Some("fs"), "bench")
    );
    assert_eq!((run.load_file, run.rate, run.retries), (None, None, None));
    assert_eq!((run.login.user, run.login.password), (None, None));
    assert_eq!(run.smb.dialect, None);
    assert!(run.remarks.is_empty());
}

#[test]
fn options_stand_anywhere_and_settings_have_no_case() {
    let run = run_of(
        "-t7 //fs/bench --num-progs=3 -p 4470 --loadfile a,b bench.NBENCH --seed 9 \
         --option=Torture:TargetRate=2.5 --option=torture:nretries=4 --client-protection=encrypt",
    );
    assert_eq!((run.clients, run.time_limit, run.port), (3, 7, Some(4470)));
    assert_eq!(
        (run.rate, run.retries, run.seed),
        (Some(2.5e6), Some(4), Some(9))
    );
    assert_eq!(run.load_file.as_deref(), Some("a,b"));
    assert_eq!(run.smb.encrypt, Some(SmbProtection::Required));
}

#[test]
fn users_are_written_in_many_ways() {
    let secret = || Some(Password::new("se%cret".into()));
    for (written, user, domain, password) in [
        ("-Uanna%se%cret", Some("anna"), None, secret()),
        ("-U CORP/anna%se%cret", Some("anna"), Some("CORP"), secret()),
        ("--user=CORP\\anna", Some("anna"), Some("CORP"), None),
        (
            "-W CORP -U anna -N",
            Some("anna"),
            Some("CORP"),
            Some(Password::new(String::new())),
        ),
        ("-U anna --password=se%cret", Some("anna"), None, secret()),
        (
            "-U anna%",
            Some("anna"),
            None,
            Some(Password::new(String::new())),
        ),
        ("-U %", None, None, Some(Password::new(String::new()))),
    ] {
        let run = run_of(&format!("{written} //fs/bench bench.nbench"));
        assert_eq!(run.login.user.as_deref(), user, "{written}");
        assert_eq!(run.login.domain.as_deref(), domain, "{written}");
        assert_eq!(run.login.password, password, "{written}");
    }
}

#[test]
fn a_protocol_is_a_dialect_and_a_range_its_newest() {
    for (written, dialect, is_remarked) in [
        ("-m SMB3", None, false),
        ("-m default", None, false),
        ("--option=clientminprotocol=NT1", None, false),
        (
            "-m SMB3_11 --option=clientminprotocol=SMB3_11",
            Some(SmbDialect::Smb311),
            false,
        ),
        (
            "-m SMB2 --option=clientminprotocol=SMB2",
            Some(SmbDialect::Smb210),
            false,
        ),
        ("-m SMB2_02", Some(SmbDialect::Smb202), false),
        ("--max-protocol=SMB3_00", Some(SmbDialect::Smb300), true),
        (
            "--option=clientMinProtocol=SMB3_02",
            Some(SmbDialect::Smb311),
            true,
        ),
        ("-m SMB4", None, true),
    ] {
        let run = run_of(&format!("{written} //fs/bench bench.nbench"));
        assert_eq!(run.smb.dialect, dialect, "{written}");
        assert_eq!(
            !run.remarks.is_empty(),
            is_remarked,
            "{written}: {:?}",
            run.remarks
        );
    }
}

#[test]
fn a_setting_may_have_blanks_in_its_name() {
    let line = [
        "//fs/bench",
        "bench.nbench",
        "--option=Client Max Protocol=NT1",
    ];
    let refusal = parse(&line.map(String::from)).expect_err("SMB1");
    assert!(refusal.message.contains("SMB1"), "{}", refusal.message);
}

#[test]
fn what_makes_no_difference_is_passed_over_and_said() {
    let run = run_of("-d 3 --fullname --option=torture:progress=no -k no //fs/b bench.nbench");
    assert_eq!(
        run.remarks,
        [
            "-d is passed over",
            "--fullname is passed over",
            "--option=torture:progress is passed over"
        ]
    );
}

#[test]
fn help_and_the_list_come_without_a_share() {
    for line in ["--help", "-?", "--usage"] {
        assert!(
            matches!(parse_line(line), Ok(SmbtortureRequest::Help)),
            "{line}"
        );
    }
    assert!(matches!(parse_line("--list"), Ok(SmbtortureRequest::List)));
    assert!(matches!(parse_line("-V"), Ok(SmbtortureRequest::Version)));
}

#[test]
fn the_help_names_every_option_and_how_to_keep_a_password() {
    insta::assert_snapshot!(PROGRAM.help());
}

#[test]
fn refusals_say_what_there_is_and_show_no_password() {
    let mut text = String::new();
    for line in [
        "",
        "//fs/bench",
        "//fs/bench smb2.connect",
        "//fs/bench bench.nbench rpc.echo",
        "fs/bench bench.nbench",
        "//fs bench.nbench",
        "smb.conf anna%secret bench.nbench",
        "//fs/bench anna%secret bench.nbench",
        "//anna:secret@fs/bench bench.nbench",
        "-m NT1 //fs/bench bench.nbench",
        "-m SMB2_02 --option=clientminprotocol=SMB3 //fs/bench bench.nbench",
        "--option=anna%secret //fs/bench bench.nbench",
        "--option=torture:targetrate=fast //fs/bench bench.nbench",
        "--option=torture:readonly=perhaps //fs/bench bench.nbench",
        "--option=torture:nretries=-1 //fs/bench bench.nbench",
        "--client-protection=anna%secret //fs/bench bench.nbench",
        "--num-progs=0 //fs/bench bench.nbench",
        "--num-progs anna%secret //fs/bench bench.nbench",
        "-t 0 //fs/bench bench.nbench",
        "-t ten //fs/bench bench.nbench",
        "-t 10 //fs/bench nbw95",
        "-p 445,139 //fs/bench bench.nbench",
        "-k yes //fs/bench bench.nbench",
        "--use-kerberos=required //fs/bench bench.nbench",
        "--pw-nt-hash //fs/bench bench.nbench",
        "--usr=anna%secret //fs/bench bench.nbench",
        "-u anna%secret //fs/bench bench.nbench",
        "-U",
    ] {
        let refusal = parse_line(line).expect_err(line);
        let help = refusal.help.as_deref().unwrap_or("-");
        assert!(!refusal.message.contains("secret"), "{}", refusal.message);
        text.push_str(&format!(
            "$ smbtorture {line}\nerror: {}\nhelp: {help}\nexit code {}\n\n",
            refusal.message, refusal.code
        ));
    }
    insta::assert_snapshot!(text);
}
