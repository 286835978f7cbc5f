//! dbench command lines from test suites.

use super::*;

fn parse_line(program: DbenchProgram, line: &str) -> Result<DbenchRequest, CommandLineError> {
    let words: Vec<String> = line.split_whitespace().map(String::from).collect();
    parse(program, &words)
}

fn run_of(line: &str) -> DbenchRun {
    match parse_line(DbenchProgram::Dbench, line) {
        Ok(DbenchRequest::Run(run)) => *run,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn defaults_are_those_of_dbench_4() {
    assert_eq!(
        run_of("4"),
        DbenchRun {
            version: DbenchVersion::Four,
            backend: DbenchBackend::Fileio,
            processes: 4,
            time_limit: 600,
            warm_up: 120,
            options: DbenchOptions {
                clients_per_process: 1,
                load_file: None,
                directory: ".".into(),
                tcp_options: None,
                rate: None,
                trunc_io: None,
                flags: Flags::default(),
            },
            passed_over: vec![],
        }
    );
}

#[test]
fn letters_and_values_come_getopts_way() {
    let run =
        run_of("-sSFx -t10 8 -D/mnt/test -c client.txt -R 2.5 --fake-io --clients-per-process=2");
    assert_eq!((run.time_limit, run.warm_up, run.processes), (10, 2, 8));
    assert_eq!(run.options.clients_per_process, 2);
    assert_eq!(run.options.directory, "/mnt/test");
    assert_eq!(run.options.load_file.as_deref(), Some("client.txt"));
    assert_eq!(run.options.rate, Some(2_500_000.0));
    let local = LocalReplay {
        sync: true,
        sync_directories: true,
        fsync: true,
        xattr: true,
        fake_io: true,
        ..LocalReplay::default()
    };
    let set = Flags {
        local,
        ..Flags::default()
    };
    assert_eq!(run.options.flags, set);
    assert_eq!(run_of("-st 7 1").time_limit, 7);
    assert_eq!(run_of("--timelimit 7 -- 1").time_limit, 7);
    assert_eq!(run_of("--time=7 1").time_limit, 7);
}

#[test]
fn five_is_told_by_its_backend() {
    let run = run_of(
        "-B nfs --nfs=nfs://a/x,nfs://b/y -c nfs.load --trunc-io=4096 --run-once --warmup 0 \
         --machine-readable --enable-nlm --per-client-results --skip-cleanup -t 60 2",
    );
    assert_eq!(run.version, DbenchVersion::Five);
    let DbenchBackend::Nfs(targets) = &run.backend else {
        panic!("{run:?}");
    };
    assert_eq!(targets.len(), 2);
    assert_eq!((run.options.trunc_io, run.warm_up), (Some(4096), 0));
    assert!(
        run.options.flags.machine_readable
            && run.options.flags.run_once
            && run.options.flags.enable_nlm
    );
    let run = run_of("--backend sockio --server far -c x 3");
    assert_eq!(run.backend, sockio("far", None));
}

#[test]
fn tbench_names_its_server_behind_the_number() {
    for (line, server) in [
        ("-t 5 4 far", "far"),
        ("4", "localhost"),
        ("4 --server near", "near"),
    ] {
        match parse_line(DbenchProgram::Tbench, line) {
            Ok(DbenchRequest::Run(run)) => {
                assert_eq!(run.backend, sockio(server, None));
                assert_eq!(run.version, DbenchVersion::Four);
            }
            other => panic!("{line}: {other:?}"),
        }
    }
    // Version 1 used -t for the socket options.
    match parse_line(DbenchProgram::Tbench, "-t SO_SNDBUF=8192,TCP_NODELAY 1") {
        Ok(DbenchRequest::Run(run)) => {
            assert_eq!(
                run.options.tcp_options.as_deref(),
                Some("SO_SNDBUF=8192,TCP_NODELAY")
            );
            assert_eq!(run.time_limit, 600);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_the_originals_pass_over_is_passed_over_and_said() {
    let run = run_of("4 5 six");
    assert_eq!(run.processes, 4);
    assert_eq!(
        run.passed_over,
        ["further arguments are passed over: 5 six"]
    );
    let run = run_of("-t 0x10 2x");
    assert_eq!((run.processes, run.time_limit), (2, 16));
    assert_eq!(run.passed_over, ["NPROCS 2x: taken as 2"]);
    match parse_line(DbenchProgram::Tbench, "1 far further") {
        Ok(DbenchRequest::Run(run)) => {
            assert_eq!(run.backend, sockio("far", None));
            assert_eq!(
                run.passed_over,
                ["further arguments are passed over: further"]
            );
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn help_is_asked_for_in_three_ways() {
    for line in ["--help", "-?", "--usage 4"] {
        assert_eq!(
            parse_line(DbenchProgram::Dbench, line),
            Ok(DbenchRequest::Help)
        );
    }
}

#[test]
fn refusals_have_dbenchs_exit_codes() {
    let mut text = String::new();
    for line in [
        "",
        "0",
        "four",
        "--nosuch 1",
        "--s 1",
        "-q 1",
        "-t",
        "-t 0 1",
        "-t x 1",
        "-R fast 1",
        "-R nan 1",
        "--sync=yes 1",
        "--clients-per-process 0 1",
        "--nfs nfs://a/x -c x 1",
        "-B fileio 1",
        "-B nfs -c x 1",
        "-B nfs --nfs //a -c x 1",
        "-B scsi --scsi /dev/sg0 -c x 1",
        "-B iscsi -c x 1",
        "-B smb -c x 1",
        "-B smb --smb-share //fs/bench -c x 1",
        "-B smb --smb-share fs/bench --smb-user anna%secret -c x 1",
        "-B smb --smb-share //anna%secret@fs/bench --smb-user anna -c x 1",
        "--smb-share //fs/bench --smb-user anna%secret -c x 1",
        "-B block -c x 1",
        "-B floppy -c x 1",
    ] {
        let refusal = parse_line(DbenchProgram::Dbench, line).expect_err(line);
        text.push_str(&format!(
            "$ dbench {line}\nerror: {}\nhelp: {}\nexit code {}\n\n",
            refusal.message,
            refusal.help.as_deref().unwrap_or("-"),
            refusal.code
        ));
        let said = format!("{} {:?}", refusal.message, refusal.help);
        assert!(!said.contains("secret"), "{said}");
    }
    insta::assert_snapshot!(text);
}

fn sockio(host: &str, port: Option<u16>) -> DbenchBackend {
    let host = Some(host.to_owned());
    DbenchBackend::Sockio(TcpTarget { host, port })
}

#[test]
fn a_server_of_tbench_may_name_a_port() {
    let backend = |server: &str| match parse(DbenchProgram::Tbench, &["1".into(), server.into()]) {
        Ok(DbenchRequest::Run(run)) => Some(run.backend),
        _ => None,
    };
    assert_eq!(backend("[::1]:7777"), Some(sockio("::1", Some(7777))));
    assert_eq!(backend("far:7777"), Some(sockio("far", Some(7777))));
    assert_eq!(backend("[::1]"), Some(sockio("::1", None)));
    assert_eq!(backend("::1"), Some(sockio("::1", None)));
    assert_eq!(backend("far:x"), None);
    assert_eq!(backend(""), None);
}
