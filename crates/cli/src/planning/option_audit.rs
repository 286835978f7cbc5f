//! Test of every option of every command against every protocol: the option works there, or it is
//! rejected there.
//!
//! An option that works is in the plan; that the engine reads it there was checked by hand. An
//! option without an entry fails the test, so that the author of a new option decides its meaning
//! on each protocol.

use super::doctor::contact;
use super::ladder::{echo_of, probe_of};
use crate::commands::inner::{self, WrappedCommand};
use crate::commands::probe;
use crate::error::Error;
use crate::inputs::credentials::DefaultCredentials;
use crate::options::FilestoneCommand;
use crate::options::ladder::LadderOptions;
use crate::planning::Environment;
use filestone_plan::plan::Plan;
use std::collections::HashMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// An option with its value, other words that the command line needs for it, and one letter for
/// each protocol of [`PROTOCOLS`]; a command may have only the first ones:
///
/// | letter | |
/// |---|---|
/// | w | it works |
/// | d | it works and is the default |
/// | r | it is rejected, with a message that names it and a protocol |
/// | c | it is rejected, because the command does not use it on any protocol |
/// | - | it selects the column |
struct Row(&'static str, &'static str, &'static str);

/// A command and its first words for each protocol.
struct Audited {
    command: &'static str,
    /// Words before the target, and the target with further words for each protocol.
    line: &'static str,
    targets: &'static [&'static str],
    /// Rows of this command only; of the rows for several commands it uses those whose options it
    /// has.
    rows: &'static [Row],
    shared: &'static [&'static [Row]],
}

/// Words for a target in messages that reject an option.
const PROTOCOLS: &[&str] = &["nfs", "datagram", "smb", "local", "tcp"];
const SERVERS: &[&str] = &[
    "nfs://s/e/f",
    "nfs://s/e/f --transport udp",
    "smb://u@s/b/f PASSWORD",
];

/// Discovery and protocol parameters of servers.
const SERVER: &[Row] = &[
    Row("--transport udp", "", "w-rrr"),
    Row("--port 2050", "", "wwrrr"),
    Row("--mount-port 635", "", "wwrrr"),
    Row("--reserved-port", "", "wwrrr"),
    Row("--source 127.0.0.7", "", "wwwrr"),
    Row("--uid 5", "", "wwrrr"),
    Row("--gid 5", "", "wwrrr"),
    Row("--gids 7", "", "wwrrr"),
    Row("--machine-name c%d", "", "wwrrr"),
    Row("--dialect 3.1.1", "", "rrwrr"),
    Row("--sign required", "", "rrwrr"),
    Row("--encrypt required", "", "rrwrr"),
    Row("--no-compound", "", "rrwrr"),
    Row("--oplock batch", "", "rrwrr"),
    Row("--durable", "", "rrwrr"),
    Row("--connections-per-client 2", "", "rrwrr"),
    Row("--password-file PASSWORD_FILE", "", "rrwrr"),
    Row("--authentication-file USER_FILE", "", "rrwrr"),
];

/// Load generator.
const GENERATOR: &[Row] = &[
    Row("--timeout 5s", "", "wwwr"),
    Row("--reconnect 2s", "", "wrwr"),
    Row("--on-lost continue", "", "wrwr"),
    Row("--connect-rate 50", "", "wwwr"),
    Row("--seed 3", "", "wwww"),
    Row("--busy-poll", "", "wwwr"),
];

const COST: &[Row] = &[
    Row("--cost", "", "wwwrw"),
    Row("--server-pid 1", "", "wwwww"),
    Row("--server-local", "", "wwwww"),
    Row("--server-metrics http://s/metrics", "", "wwwww"),
    Row("--server-command true", "", "wwwww"),
    Row("--server-cpus 0", "--server-local", "wwwww"),
    Row("--server-interface lo", "--server-local", "wwwww"),
    Row("--idle-baseline 7s", "--server-local", "wwwww"),
    Row("--cost-interval 7s", "--server-local", "wwwww"),
];

/// Amount of load of probes and ladders.
const CALLS: &[Row] = &[
    Row("--in-flight 2", "", "www"),
    Row("--clients 3", "", "www"),
    Row("--workers 7", "--clients 8", "www"),
    Row("--duration 3s", "", "www"),
    Row("--count 100", "", "www"),
    Row("--offered 500", "", "www"),
    Row("--arrivals poisson", "--offered 500", "www"),
    Row("--load-levels 3", "--offered 500", "www"),
    Row("--warm-up 3s", "", "www"),
    Row("--pin 0", "", "www"),
];

const PROBE: &[Row] = &[
    Row("--io-size 8K", "", "www"),
    Row("--random", "", "www"),
    Row("--data verify", "", "www"),
    Row("--data discard", "--io-size 32K", "drr"),
    Row("--verify", "", "www"),
    Row("--file-size 1M", "--create-files", "www"),
    Row("--create-files", "", "www"),
    Row("--remove-leftover", "", "www"),
    Row("--files 5", "", "www"),
    Row("--kernel-timestamps", "", "www"),
];

const LADDER: &[Row] = &[
    Row("--rungs read-4K", "", "www"),
    Row("--echo h:7", "", "www"),
    // Bytes and packets are always counted, and a single call at a time gets kernel timestamps.
    Row("--cost", "", "ddd"),
    Row("--kernel-timestamps", "--in-flight 2", "www"),
];

const MIX: &[Row] = &[
    Row("--proc /tmp", "", "rrrw"),
    Row("--no-feedback", "", "rrrw"),
    Row("--mix nhfsstone", "", "wwww"),
    Row("--in-flight 2", "", "wwwr"),
    Row("--workers 7", "", "wwwr"),
    Row("--pin 0", "", "wwwr"),
    Row("--clients 16", "", "wwww"),
    Row("--duration 3s", "", "wwww"),
    Row("--count 100", "", "wwww"),
    Row("--offered 500", "", "wwww"),
    Row("--arrivals constant", "", "wwww"),
    Row("--warm-up 3s", "", "wwww"),
    Row("--curve", "", "wwwr"),
    Row("--points 3", "--curve", "wwwr"),
    Row("--peak 500", "--curve", "wwwr"),
    Row("--point-duration 1s", "--curve", "wwwr"),
    Row("--point-warm-up 1s", "--curve", "wwwr"),
    Row("--ascending-only", "--curve", "wwwr"),
    Row("--slo p99<2ms", "", "wwwr"),
    Row("--precision 5%", "--slo p99<2ms", "wwwr"),
    Row("--search-timeout 5s", "--slo p99<2ms", "wwwr"),
    Row("--files 10", "", "wwww"),
    Row("--file-size 1K", "", "wwww"),
    Row("--working-set 64K", "", "wwww"),
    Row("--popularity zipf", "", "wwww"),
    Row("--file-set x", "", "wwww"),
    Row("--remove-file-set", "", "wwww"),
    Row("--remove-leftover", "", "wwww"),
    Row("--io-size 8K", "", "wwww"),
    Row("--data verify", "", "wwwr"),
    Row("--data discard", "", "drrr"),
    Row("--access random", "", "wwww"),
    Row("--stable file-sync", "", "wwwr"),
    Row("--durable", "", "rrcr"),
    Row("--connections-per-client 2", "", "rrwr"),
];

const REPLAY: &[Row] = &[
    Row("--clients 3", "", "wwwww"),
    Row("--duration 3s", "", "wwwww"),
    Row("--warm-up 3s", "", "wwwww"),
    Row("--run-once", "", "wwwww"),
    Row("--workers 7", "--clients 8", "wwwrr"),
    Row("--clients-per-thread 2", "--clients 4", "wwwww"),
    Row("--on-mismatch stop", "", "wwwwr"),
    Row("--on-mismatch smbtorture", "", "wwwwr"),
    Row("--trunc-io 4K", "", "wwwww"),
    Row("--read-only", "", "wwwww"),
    Row("--remove-leftover", "", "wwwwr"),
    Row("--skip-cleanup", "", "wwwwr"),
    Row("--timeout 5s", "", "wwwrw"),
    Row("--reconnect 2s", "", "wrwrr"),
    Row("--retries 3", "", "rrwrr"),
    Row("--on-lost continue", "", "wrwrr"),
    Row("--connect-rate 50", "", "wwwrr"),
    Row("--seed 3", "", "wwwww"),
    Row("--pin 0", "", "wwwww"),
    Row("--rate 10MB", "", "wwwww"),
    Row("--total-rate 10MB", "", "wwwww"),
    Row("--speed 2", "", "wwwww"),
    Row("--ignore-timestamps", "", "wwwww"),
    Row("--sync", "", "rrrwr"),
    Row("--sync-dir", "", "rrrwr"),
    Row("--fsync", "", "rrrwr"),
    Row("--xattr", "", "rrrwr"),
    Row("--no-resolve", "", "wwrwr"),
    Row("--one-byte-write-fix", "", "rrrwr"),
    Row("--stat-check", "", "rrrwr"),
    Row("--fake-io", "", "rrrwr"),
    Row("--direct", "", "rrrwr"),
    Row("--tcp-options SO_KEEPALIVE", "", "rrrrw"),
    Row("--prefix ./x", "", "rrrrw"),
    Row("--stable", "", "wwrrr"),
    Row("--enable-nlm", "", "wwrrr"),
    Row("--nlm-port 4045", "--enable-nlm", "wwrrr"),
    Row("--connections-per-client 2", "", "rrcrr"),
];

const FLEET: &[Row] = &[
    Row("--io-size 8K", "", "wwww"),
    Row("--file-size 2M", "", "wwww"),
    Row("--files 3", "", "wwww"),
    Row("--rate 1Mbit/s", "", "wwww"),
    Row("--pattern random", "", "wwww"),
    Row("--step 1", "", "wwww"),
    Row("--every 1s", "--step 1", "wwww"),
    Row("--duration 3s", "", "wwww"),
    Row("--workers 7", "", "wwwr"),
    Row("--clients-per-thread 3", "", "wwww"),
    Row("--pin 0", "", "wwww"),
    Row("--remove-leftover", "", "wwww"),
    Row("--keep-files", "", "wwww"),
    Row("--connections-per-client 2", "", "rrcr"),
];

const AUDITED: &[Audited] = &[
    Audited {
        command: "probe",
        line: "probe read",
        targets: SERVERS,
        rows: PROBE,
        shared: &[SERVER, GENERATOR, COST, CALLS],
    },
    Audited {
        command: "probe",
        line: "probe write",
        targets: SERVERS,
        rows: &[Row("--stable file-sync", "", "www")],
        shared: &[],
    },
    Audited {
        command: "ladder",
        line: "ladder",
        targets: SERVERS,
        rows: LADDER,
        shared: &[SERVER, GENERATOR, COST, CALLS],
    },
    Audited {
        command: "mix",
        line: "mix",
        targets: &[
            "nfs://s/e",
            "nfs://s/e --transport udp",
            "smb://u@s/b PASSWORD",
            "--layer local:/mnt/x",
        ],
        rows: MIX,
        shared: &[SERVER, GENERATOR, COST],
    },
    Audited {
        command: "replay",
        line: "replay LOAD --layer",
        targets: &[
            "nfs://s/e",
            "nfs://s/e --transport udp",
            "smb://u@s/b PASSWORD",
            "local:/mnt/x",
            "tcp:h",
        ],
        rows: REPLAY,
        shared: &[SERVER, COST],
    },
    Audited {
        command: "fleet",
        line: "fleet --readers 4 --writers 4",
        targets: &[
            "nfs://s/e",
            "nfs://s/e --transport udp",
            "smb://u@s/b PASSWORD",
            "local:/mnt/x",
        ],
        rows: FLEET,
        shared: &[SERVER, GENERATOR, COST],
    },
    Audited {
        command: "doctor",
        line: "doctor",
        targets: &[
            "nfs://s/e",
            "nfs://s/e --transport udp",
            "smb://u@s/b PASSWORD",
            "local:/mnt/x",
            "tcp:h",
        ],
        rows: &[],
        shared: &[SERVER],
    },
];

/// Options without relation to a target: output of results, number of runs, other measurements on
/// this host, subject of a command line, and options that select the columns here.
const OF_NO_PROTOCOL: &[&str] = &[
    "format",
    "output",
    "report-interval",
    "verbose",
    "per-client-results",
    "dry-run",
    "fail-on-caveat",
    "fail-if",
    "expect",
    "strict",
    "repeat",
    "repeat-until",
    "repeat-max",
    "pause",
    "live",
    "metrics",
    "metrics-linger",
    "no-calibrate",
    "list",
    "example",
    "ctl",
    "mount",
    "layer",
    "targets",
    "readers",
    "writers",
    "help",
    "version",
];

/// Options of a program built for many hosts, which control how a job starts.
const OF_JOBS: &[&str] = &[
    "per-host",
    "coordinator-only",
    "on-rank-lost",
    "rank-timeout",
];

/// Commands without their own target: they execute a command line of the other commands, read a
/// record, or are the server.
const WITHOUT_TARGET: &[&str] = &[
    "demo",
    "run",
    "check",
    "serve",
    "calibrate",
    "compare",
    "explain",
    "ab",
    "sweep",
    "history",
    "merge",
    "report",
    "compat",
    "completions",
    "schema",
    "help",
];

impl Row {
    fn name(&self) -> &str {
        let name = self.0.split(' ').next().unwrap_or_default();
        name.trim_start_matches("--")
    }
}

impl Audited {
    fn has(&self, option: &str) -> bool {
        let commands = crate::command();
        let own = commands.find_subcommand(self.command).expect("a command");
        own.get_arguments()
            .any(|own| own.get_long() == Some(option))
    }

    /// Returns the rows of the command; its own rows precede those of several commands.
    fn rows(&self) -> Vec<&Row> {
        let is_own = |row: &&Row| self.rows.iter().any(|own| own.name() == row.name());
        let shared = self.shared.iter().flat_map(|rows| rows.iter());
        let shared = shared.filter(|row| !is_own(row) && self.has(row.name()));
        self.rows.iter().chain(shared).collect()
    }
}

/// Files that command lines name, created for the test.
struct Files(PathBuf);

impl Files {
    fn make() -> Self {
        let folder = std::env::temp_dir().join(format!("filestone-audit-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        for (name, text) in [
            ("password", "pw\n"),
            ("user", "username = u\npassword = pw\ndomain = D\n"),
            (
                "stamped.load",
                "0.0 NTCreateX \"\\clients\\client1\\f\" 0x40 0x2 100 NT_STATUS_OK\n\
                 0.1 WriteX 100 0 4096 4096 NT_STATUS_OK\n\
                 0.2 ReadX 100 0 4096 4096 NT_STATUS_OK\n\
                 0.3 Close 100 NT_STATUS_OK\n",
            ),
        ] {
            let path = folder.join(name);
            std::fs::write(&path, text).expect("a file");
            // A file that others can read would cause a note for each command line.
            let own = std::fs::Permissions::from_mode(0o600);
            std::fs::set_permissions(&path, own).expect("its own");
        }
        Self(folder)
    }

    fn words(&self, line: &str) -> Vec<String> {
        let path = |name: &str| self.0.join(name).display().to_string();
        let password = || vec!["--password-file".into(), path("password")];
        let words = line.split_whitespace().flat_map(|word| match word {
            "PASSWORD" => password(),
            "PASSWORD_FILE" => vec![path("password")],
            "USER_FILE" => vec![path("user")],
            "LOAD" => vec![path("stamped.load")],
            word => vec![word.to_owned()],
        });
        words.collect()
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Returns the plan as text.
fn planned(words: &[String]) -> Result<String, Error> {
    let WrappedCommand::Read(command) = inner::read(words)? else {
        return Err(Error::usage("it only shows something"));
    };
    match &*command {
        FilestoneCommand::Doctor(options) => {
            let credentials = DefaultCredentials::read(&options.share.access)?;
            let contact = contact(options, &credentials, &Environment::CANNED)?;
            Ok(format!("{contact:?}"))
        }
        FilestoneCommand::Ladder(options) => of_rungs(options),
        command => {
            let measured = inner::measurement(command, words)?;
            let jobs = measured.jobs.iter();
            let jobs = jobs.map(|job| text(&job.plan, job.password.is_some()));
            Ok(jobs.collect())
        }
    }
}

fn text(plan: &Plan, has_password: bool) -> String {
    let plan = serde_json::to_string(plan).expect("a plan is JSON");
    format!("{plan} {has_password}\n")
}

/// Returns the plans of the rungs that have one; if there are none, the error of the first.
fn of_rungs(options: &LadderOptions) -> Result<String, Error> {
    let (mut texts, mut error) = (String::new(), None);
    for rung in options.rungs() {
        match probe::measurement(&probe_of(options, rung)) {
            Ok(measured) => {
                for job in measured.jobs {
                    texts += &text(&job.plan, job.password.is_some());
                    if let Some(address) = options.echo.as_ref().filter(|_| rung.name == "null") {
                        texts += &text(&echo_of(job.plan, address)?, false);
                    }
                }
            }
            Err(why) => error = error.or(Some(why)),
        }
    }
    match error {
        Some(error) if texts.is_empty() => Err(error),
        _ => Ok(texts),
    }
}

/// Describes the error of a table cell, if there is one.
fn wrong_with(
    files: &Files,
    audited: &Audited,
    row: &Row,
    column: usize,
    plans: &mut HashMap<String, Option<String>>,
) -> Option<String> {
    let letter = row.2.chars().nth(column).unwrap_or(' ');
    let target = audited.targets[column];
    let names_password = ["password-file", "authentication-file"].contains(&row.name());
    let target = target.replace("PASSWORD", if names_password { "" } else { "PASSWORD" });
    let mut line = format!("{} {target} {}", audited.line, row.1);
    if audited.has("seed") && row.name() != "seed" {
        line += " --seed 7";
    }
    // Most options are compared with the same line.
    let without = plans.entry(line.clone());
    let without = without.or_insert_with(|| planned(&files.words(&line)).ok());
    let with = planned(&files.words(&format!("{line} {}", row.0)));
    let is_named = |error: &Error| {
        let said = error.message.clone() + error.help.as_deref().unwrap_or_default();
        let of_option = [row.name(), row.1.split(' ').next().unwrap_or_default()];
        let mut names = of_option.iter().filter(|name| !name.is_empty());
        let names_option = names.any(|name| error.message.contains(name));
        let mut protocols = PROTOCOLS.iter();
        let said = said.to_lowercase();
        names_option && (letter == 'c' || protocols.any(|protocol| said.contains(protocol)))
    };
    let is_right = match (letter, &with) {
        ('-', _) => true,
        ('w', Ok(with)) => without.as_ref() != Some(with),
        ('d', Ok(with)) => without.as_ref() == Some(with),
        ('r' | 'c', Err(error)) => is_named(error),
        _ => false,
    };
    let came = match with {
        Ok(_) => "it is taken".to_owned(),
        Err(error) => error.message,
    };
    (!is_right).then(|| format!("{line} {}: expected {letter}: {came}", row.0))
}

#[test]
fn every_option_works_or_is_refused_on_every_protocol() {
    let files = Files::make();
    let (mut wrong, mut plans) = (Vec::new(), HashMap::new());
    for audited in AUDITED {
        for row in audited.rows() {
            let columns = 0..audited.targets.len();
            wrong.extend(
                columns.filter_map(|column| wrong_with(&files, audited, row, column, &mut plans)),
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_option_has_an_entry() {
    let commands = crate::command();
    let mut missing = Vec::new();
    for command in commands.get_subcommands() {
        let name = command.get_name();
        let is_here = |audited: &&Audited| audited.command == name;
        let rows: Vec<&Row> = AUDITED
            .iter()
            .filter(is_here)
            .flat_map(Audited::rows)
            .collect();
        if rows.is_empty() && WITHOUT_TARGET.contains(&name) {
            continue;
        }
        for option in command.get_arguments().filter_map(clap::Arg::get_long) {
            let is_about_none = [OF_NO_PROTOCOL, OF_JOBS].concat().contains(&option);
            if !is_about_none && !rows.iter().any(|row| row.name() == option) {
                missing.push(format!("{name} --{option}"));
            }
        }
    }
    assert!(
        missing.is_empty(),
        "say on which protocols they work, in {}: {missing:?}",
        Path::new(file!()).display()
    );
}
