use super::*;

fn parse_line(line: &str) -> Result<NctRequest, String> {
    let words: Vec<String> = line.split_whitespace().map(String::from).collect();
    parse(&words)
}

fn measure_of(line: &str) -> Measure {
    match parse_line(line) {
        Ok(NctRequest::Measure(measure)) => measure,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn options_come_getopts_way() {
    let measure = measure_of("-vvd10 -j 32 -m1 -o out -p2050 -T svg -t 2 read me@srv:/f 128k");
    assert_eq!(
        measure,
        Measure {
            command: NctCommand::Read,
            target: ParsedTarget {
                scheme: None,
                host: "srv".into(),
                port: None,
                path: "/f".into(),
                arguments: Default::default(),
            },
            length: 131_072,
            options: NctOptions {
                duration: 10,
                jobs: 32,
                mark: 1,
                directory: Some("out".into()),
                port: 2050,
                terminal: "svg".into(),
                threads: 2,
                verbosity: 2,
            },
        }
    );
}

#[test]
fn long_options_may_be_cut_short_as_long_as_they_are_one_options() {
    let long = "--duration 10 --jobs_max=32 --mark 1 --outdir=out --port 2050 --term svg \
                --tds_max 2 read srv:/f";
    let short = "--d 10 --jobs=32 --ma 1 --o=out --po 2050 --te svg --td 2 read srv:/f";
    let letters = "-d 10 -j 32 -m 1 -o out -p 2050 -T svg -t 2 read srv:/f";
    assert_eq!(measure_of(long), measure_of(letters));
    assert_eq!(measure_of(short), measure_of(letters));
    let said = parse_line("--t 2 null srv").expect_err("two options begin so");
    assert_eq!(said, "--t: this may be --term or --tds_max");
    assert_eq!(parse_line("--h"), Ok(NctRequest::Help(None)));
}

#[test]
fn numbers_may_be_hexadecimal_and_octal() {
    let Measure {
        length, options, ..
    } = measure_of("-d 0x10 -j 010 -p 0x801 read srv:/f 0x2k");
    assert_eq!((options.duration, options.jobs), (16, 8));
    assert_eq!((options.port, length), (2049, 2048));
}

#[test]
fn no_time_and_no_jobs_are_taken() {
    let options = measure_of("-d0 -j0 null srv").options;
    assert_eq!((options.duration, options.jobs), (0, 0));
}

#[test]
fn the_argument_that_is_one_too_many_is_named() {
    let said = |line| parse_line(line).expect_err("one too many");
    assert_eq!(said("read srv:/f 4096 7"), "extraneous argument \"7\"");
    assert_eq!(
        said("getattr srv:/f 4096 7"),
        "extraneous argument \"4096\""
    );
    assert_eq!(said("read srv:/f 4096 7 8"), "extraneous argument \"7\"");
}

#[test]
fn defaults_are_ncts() {
    let Measure {
        length,
        options,
        target,
        ..
    } = measure_of("null -v srv");
    assert_eq!((options.duration, options.jobs, options.mark), (60, 1, 0));
    assert_eq!((options.port, options.threads, length), (2049, 1, 4096));
    assert_eq!((target.path.as_str(), options.verbosity), ("/", 1));
    assert_eq!(measure_of("-t 500 null srv").options.threads, 128);
}

#[test]
fn lower_case_suffixes_are_powers_of_1024_and_upper_case_of_1000() {
    for (text, value) in [
        ("128k", Some(131_072)),
        ("128K", Some(128_000)),
        ("1b", Some(512)),
        ("2w", Some(8)),
        ("1M", Some(1_000_000)),
        ("1m", Some(1_048_576)),
        ("7", Some(7)),
        ("k", None),
        ("1kb", None),
        ("-1", None),
        ("99999999p", None),
    ] {
        assert_eq!(number(text), value, "{text}");
    }
}

#[test]
fn durations_reach_from_seconds_to_centuries() {
    for (text, value) in [
        ("10", Some(10)),
        ("10s", Some(10)),
        ("2m", Some(120)),
        ("1h", Some(3600)),
        ("1w", Some(604_800)),
        ("1c", Some(3_153_600_000)),
        ("9c", None),
        ("m", None),
        ("1x", None),
        ("", None),
    ] {
        assert_eq!(seconds(text), value, "{text}");
    }
}

#[test]
fn help_and_version_come_before_everything() {
    assert_eq!(parse_line("-h"), Ok(NctRequest::Help(None)));
    assert_eq!(parse_line("-V"), Ok(NctRequest::Version));
    assert_eq!(parse_line("--version"), Ok(NctRequest::Version));
    assert_eq!(
        parse_line("read -h"),
        Ok(NctRequest::Help(Some(NctCommand::Read)))
    );
    assert_eq!(parse_line("shell"), Ok(NctRequest::Shell));
}

#[test]
fn what_nct_does_not_take_is_refused() {
    for line in [
        "",
        "-x null srv",
        "-d",
        "-d 1x null srv",
        "-j 2000 null srv",
        "-T a/b null srv",
        "write srv:/f",
        "null",
        "null srv:/f 4096",
        "read srv:/f 100",
        "read srv:/f 1m",
        "read srv:f",
        "--fast null srv",
        "--t 4 null srv",
        "--duration null srv",
        "-d 08 null srv",
    ] {
        assert!(parse_line(line).is_err(), "{line}");
    }
}
