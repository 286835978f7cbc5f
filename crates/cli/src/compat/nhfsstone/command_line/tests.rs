use super::*;

fn parse_line(line: &str) -> Result<NhfsstoneRequest, CommandLineError> {
    let words: Vec<String> = line.split_whitespace().map(String::from).collect();
    parse(&words)
}

fn run_of(line: &str) -> NhfsstoneRun {
    match parse_line(line) {
        Ok(NhfsstoneRequest::Run(run)) => run,
        other => panic!("{line}: {other:?}"),
    }
}

fn refused(line: &str) -> CommandLineError {
    match parse_line(line) {
        Err(refusal) => refusal,
        Ok(request) => panic!("{line}: {request:?}"),
    }
}

#[test]
fn defaults_are_nhfsstones() {
    let expected = NhfsstoneRun {
        calls: 5000,
        load: 30,
        processes: 7,
        mix_file: None,
        only: None,
        directories: vec![TargetDirectory::Mounted(".".into())],
        is_verbose: false,
    };
    assert_eq!(run_of(""), expected);
}

#[test]
fn letters_may_stand_together_and_values_are_the_next_words() {
    let run = run_of("-vlp 100 3 -m mix.txt -c 900 /mnt/a -v /mnt/b");
    assert!(run.is_verbose);
    assert_eq!((run.load, run.processes, run.calls), (100, 3, 900));
    assert_eq!(run.mix_file, Some("mix.txt".into()));
    let directories = ["/mnt/a", "-v", "/mnt/b"];
    assert_eq!(
        run.directories,
        directories.map(|path| TargetDirectory::Mounted(path.into()))
    );
    assert_eq!(
        run_of("-- -v").directories,
        [TargetDirectory::Mounted("-v".into())]
    );
}

#[test]
fn a_time_is_so_many_calls_unless_calls_are_given() {
    assert_eq!(run_of("-t 60").calls, 1800);
    assert_eq!(run_of("-t 60 -l 2000").calls, 120_000);
    assert_eq!(run_of("-t 60 -c 10").calls, 10);
    assert_eq!(
        run_of("-t 2147483647 -l 2147483647").calls,
        NUMBER_MAX * NUMBER_MAX
    );
}

#[test]
fn values_must_be_numbers_and_the_words_are_nhfsstones() {
    for (line, what) in [
        ("-c ten", "illegal calls value ten"),
        ("-c 0", "illegal calls value 0"),
        ("-t 0", "illegal time value 0"),
        ("-l -3", "illegal load value -3"),
        ("-l 0", "illegal load value 0"),
        ("-l +3", "illegal load value +3"),
        ("-l 30x", "illegal load value 30x"),
        ("-p 0", "illegal procs value 0"),
        ("-p x", "illegal procs value x"),
        ("-t 1.5", "illegal time value 1.5"),
        ("-T 18", "illegal test value 18"),
        ("-T root", "illegal test value root"),
        (
            "-c 99999999999999999999",
            "illegal calls value 99999999999999999999",
        ),
    ] {
        assert_eq!(refused(line).message, what);
    }
    assert_eq!(refused("-l").message, "-l: a value is missing");
    assert_eq!(refused("-l").code, 1);
    assert!(refused("-x").message.contains("no such option"));
}

#[test]
fn a_value_may_stand_behind_its_letter() {
    let run = run_of("-vl30 -c100 -p2 -mmix.txt -t60 /mnt");
    assert!(run.is_verbose);
    assert_eq!((run.load, run.calls, run.processes), (30, 100, 2));
    assert_eq!(run.mix_file, Some("mix.txt".into()));
    assert_eq!(refused("-l30x").message, "illegal load value 30x");
    assert_eq!(run_of("-T17").only, Some(OpKind::FsStat));
}

#[test]
fn one_operation_is_named_by_its_number_in_nfsv2() {
    assert_eq!(run_of("-T 0").only, Some(OpKind::Null));
    assert_eq!(run_of("-T 4").only, Some(OpKind::Lookup));
    assert_eq!(run_of("-T 17").only, Some(OpKind::FsStat));
    let help = refused("-T 7").help.unwrap_or_default();
    assert!(help.ends_with("7 is wrcache"), "{help}");
}

#[test]
fn a_directory_may_be_one_of_a_server() {
    let target = |host: &str, port, path: &str| {
        TargetDirectory::Server(ParsedTarget {
            scheme: None,
            host: host.into(),
            port,
            path: path.into(),
            arguments: Default::default(),
        })
    };
    assert_eq!(
        run_of("nfs://srv:2050/x srv:/y [::1]:/z").directories,
        [
            target("srv", Some(2050), "/x"),
            target("srv", None, "/y"),
            target("::1", None, "/z"),
        ]
    );
    for path in ["./a:/b", "/a:/b", ":/b", "a:b"] {
        let mounted = [TargetDirectory::Mounted(path.into())];
        assert_eq!(run_of(path).directories, mounted);
    }
    assert!(
        refused("smb://srv/share")
            .message
            .starts_with("smb://srv/share: expected nfs://")
    );
    assert!(
        refused("/mnt srv:/x")
            .message
            .starts_with("some directories are mounted")
    );
}

#[test]
fn the_help_names_every_option_but_the_hidden_one() {
    let help = PROGRAM.help();
    for letter in ['c', 'l', 'm', 'p', 't', 'v'] {
        assert!(help.contains(&format!("\n  -{letter} ")), "{letter}");
    }
    assert!(!help.contains("-T"), "{help}");
}

#[test]
fn help_comes_before_everything() {
    assert_eq!(parse_line("-h"), Ok(NhfsstoneRequest::Help));
    assert_eq!(parse_line("-v --help"), Ok(NhfsstoneRequest::Help));
}
