//! Command line of smbtorture (Samba 4.17) for BENCH-NBENCH.
//!
//! Options and arguments may be in any order. Options of smbtorture that make no difference to this
//! test are ignored with a note; options that would make one and are not supported are rejected. A
//! password on the command line is never shown: messages show a word only up to a `%`.

mod settings;

use crate::compat::ending::CommandLineError;
use crate::compat::getopt::{Argument, OptionOrder, ParsedOption, ProgramSyntax, number};
use crate::compat::login::{self, Login, shown};
use crate::options::smb::{ShareLocation, SmbArguments};
use filestone_plan::plan::SmbProtection;
use filestone_workload::password::Password;
use settings::Settings;
use std::path::PathBuf;

/// smbtorture, with its help.
pub const PROGRAM: ProgramSyntax = ProgramSyntax {
    name: "smbtorture",
    usage: &["smbtorture [options] //HOST/SHARE TEST"],
    arguments: &[
        Argument {
            name: "//HOST/SHARE",
            help: "where the clients work; a path below it may follow",
        },
        Argument {
            name: "TEST",
            help: "bench.nbench, which is BENCH-NBENCH, too; NBW95 or NBWNT, one pass of a load \
                   file, as Samba 2.0 had them",
        },
    ],
    notes: NOTES,
    options: OPTIONS,
    order: OptionOrder::Anywhere,
};

const NOTES: &str = "
The load goes over SMB 2.0.2 to 3.1.1, the best that the server has. SMB1, the
only protocol of smbtorture's own BENCH-NBENCH, is not spoken: -m NT1 is
refused.

Every user of a host can read the passwords on its command lines. -A FILE or the
environment variable FILESTONE_PASSWORD keep them; then say -U USER without %.
";

/// Options of Samba 4.17. Options without a description make no difference to this test.
const OPTIONS: &str = "
-U, --user=USER             [DOMAIN/]USER[%PASSWORD]; a guest without it
-W, --workgroup=DOMAIN      whose user it is
-A, --authentication-file=FILE  user, password and domain stand in FILE
--password-file=FILE        the password is the first line of FILE (not smbtorture's)
--password=PASSWORD         the password
-N, --no-pass               the password is empty; before a number, as in Samba 2.0, --num-progs
--loadfile=FILES            load files, with commas between them (default: client.txt here, or \
    dbench's)
--num-progs=N               clients (default: 4; of NBW95 and NBWNT 1)
-t, --timelimit=SECONDS     length of the measured part (default: 600); a twentieth of it comes \
    before as warm-up
--unclist=FILE              shares for clients in turn, one //HOST/SHARE a line
-p, --smb-ports=PORT        port of the server (default: 445)
-m, --max-protocol=DIALECT  SMB2_02, SMB2_10, SMB3_00, SMB3_02 or SMB3_11: this dialect
--client-protection=WHAT    sign, encrypt or off
--option=NAME=VALUE         torture:targetrate (MB/s of each client), torture:nretries, \
    torture:readonly, clientminprotocol, clientmaxprotocol
--seed=N                    where all randomness comes from
--list                      print the tests
-V, --version               print the version
-?, --help                  print this help
--usage                     print this help
--list-suites
--fullname
--format=STRING
--basedir=DIR
--num-ops=N
--entries=N
-f, --failures=N
-D, --parse-dns=STRING
-X, --dangerous
--load-module=FILE
--shell
-T, --target=STRING
-a, --async
--num-async=N
--maximum-runtime=SECONDS
--extra-user=STRING
--load-list=STRING
-d, --debuglevel=LEVEL
--debug-stdout
-s, --configfile=FILE
-l, --log-basename=FILE
--leak-report
--leak-report-full
-R, --name-resolve=ORDER
-O, --socket-options=OPTIONS
-n, --netbiosname=NAME
--netbios-scope=SCOPE
--realm=REALM
--pw-nt-hash
-P, --machine-pass
--simple-bind-dn=DN
--use-kerberos=WHEN
--use-krb5-ccache=FILE
--use-winbind-ccache
-k, --kerberos=WHEN
";

const HELP: &str = "filestone compat smbtorture --help lists the options";

/// smbtorture's exit code for all errors.
pub const FAILURE: u8 = 1;
/// Names of the supported tests; matched without regard to case.
const NAMES: [(&str, Test); 5] = [
    ("bench.nbench", Test::Nbench),
    ("bench-nbench", Test::Nbench),
    ("bench.nbench.nbench", Test::Nbench),
    ("NBW95", Test::NetBench("NBW95")),
    ("NBWNT", Test::NetBench("NBWNT")),
];
const CLIENTS_DEFAULT: u32 = 4;
const TIME_LIMIT_DEFAULT: u64 = 600;
/// Maximum time limit: a century, whose nanoseconds fit 64 bits.
const TIME_LIMIT_MAX: u64 = 100 * 365 * 86_400;

/// Action that the command line requests.
#[derive(Debug)]
pub enum SmbtortureRequest {
    /// Print help (`--help`, `-?` or `--usage`).
    Help,
    /// List the tests (`--list` or `--list-suites`).
    List,
    /// Print the version (`-V`).
    Version,
    /// Run BENCH-NBENCH.
    Run(Box<SmbtortureRun>),
}

/// A test that runs a load file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Test {
    /// BENCH-NBENCH of Samba 4, with a time limit.
    Nbench,
    /// NBW95 or NBWNT of Samba 2.0, by its name: one iteration of the load file, and a NetBench
    /// figure.
    NetBench(&'static str),
}

/// A run with its options.
#[derive(Debug)]
pub struct SmbtortureRun {
    /// Test to run.
    pub test: Test,
    /// Target share, unless there is a list.
    pub share: ShareLocation,
    /// `--unclist`.
    pub list: Option<PathBuf>,
    /// `-p`.
    pub port: Option<u16>,
    /// User that logs on.
    pub login: Login,
    /// Number of clients (`--num-progs`).
    pub clients: u32,
    /// Time limit (`-t`), in seconds.
    pub time_limit: u64,
    /// `--loadfile`; `None` for the original's default.
    pub load_file: Option<String>,
    /// `--seed`.
    pub seed: Option<u64>,
    /// SMB dialect and session options.
    pub smb: SmbArguments,
    /// `torture:targetrate`, in bytes per second and client.
    pub rate: Option<f64>,
    /// `torture:nretries`.
    pub retries: Option<u32>,
    /// `torture:readonly`.
    pub read_only: bool,
    /// Notes on ignored or possibly misunderstood parts of the command line, one line each.
    pub remarks: Vec<String>,
}

/// Options and arguments in the order of the command line.
#[derive(Default)]
struct Words {
    instead: Option<SmbtortureRequest>,
    list: Option<PathBuf>,
    port: Option<u16>,
    login: Login,
    clients: Option<u32>,
    time_limit: Option<u64>,
    load_file: Option<String>,
    seed: Option<u64>,
    smb: SmbArguments,
    settings: Settings,
    remarks: Vec<String>,
}

fn refusal(what: impl Into<String>, help: impl Into<String>) -> CommandLineError {
    CommandLineError {
        message: what.into(),
        help: Some(help.into()),
        code: FAILURE,
    }
}

/// Returns the error for an invalid value.
fn wrong(option: &str, value: &str, expected: &str) -> CommandLineError {
    let value = shown(value);
    refusal(format!("{option} {value}: expected {expected}"), HELP)
}

/// Parses a command line without the program's name.
pub fn parse(arguments: &[String]) -> Result<SmbtortureRequest, CommandLineError> {
    let arguments = with_clients(arguments);
    let read = PROGRAM
        .read(&arguments)
        .map_err(|what| refusal(what, HELP))?;
    let mut words = Words::default();
    for given in &read.given {
        words.set(given)?;
    }
    match words.instead {
        Some(request) => Ok(request),
        None => words
            .run(&read.arguments)
            .map(|run| SmbtortureRequest::Run(Box::new(run))),
    }
}

/// Translates the command line to Samba 4: `-N 32` and `-N32` of 1999 are its number of clients. A
/// number is neither a share nor a test, so that `-N` for no password keeps its meaning.
fn with_clients(arguments: &[String]) -> Vec<String> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    let mut words = Vec::with_capacity(arguments.len());
    let mut rest = arguments.iter().peekable();
    while let Some(word) = rest.next() {
        let clients = match word.strip_prefix("-N") {
            Some("") => rest.next_if(|next| is_number(next)).map(String::as_str),
            Some(behind) => Some(behind).filter(|behind| is_number(behind)),
            None => None,
        };
        words.push(match clients {
            Some(clients) => format!("--num-progs={clients}"),
            None => word.clone(),
        });
    }
    words
}

impl Words {
    fn set(&mut self, given: &ParsedOption<'_>) -> Result<(), CommandLineError> {
        let ParsedOption { option, value, .. } = given;
        let option_shown = &given.shown;
        let value = *value;
        let wrong = |expected: &str| wrong(option_shown, value, expected);
        match option.long {
            "user" => self.log_on_as(value),
            "workgroup" => self.login.domain = Some(value.into()),
            "password" => self.take_password(Password::new(value.into()), "--password"),
            "no-pass" => self.login.password = Some(Password::new(String::new())),
            "authentication-file" => self.smb.access.authentication_file = Some(value.into()),
            "password-file" => self.smb.access.password_file = Some(value.into()),
            "loadfile" => self.load_file = Some(value.into()),
            "unclist" => self.list = Some(value.into()),
            "num-progs" => {
                let clients = number(value).and_then(|clients| u32::try_from(clients).ok());
                let clients = clients.filter(|clients| *clients > 0);
                self.clients = Some(clients.ok_or_else(|| wrong("clients, at least 1"))?);
            }
            "timelimit" => {
                let limit = number(value).filter(|limit| (1..=TIME_LIMIT_MAX).contains(limit));
                self.time_limit = Some(limit.ok_or_else(|| wrong("seconds, at least 1"))?);
            }
            "smb-ports" => {
                let port = number(value).and_then(|port| u16::try_from(port).ok());
                let port = port.filter(|port| *port > 0);
                self.port = Some(port.ok_or_else(|| wrong("one port, from 1 to 65535"))?);
            }
            "seed" => self.seed = Some(number(value).ok_or_else(|| wrong("a number"))?),
            "max-protocol" => self.set_option(&format!("client max protocol={value}"))?,
            "option" => self.set_option(value)?,
            "client-protection" => self.protect(value)?,
            "use-kerberos" | "kerberos" => refuse_kerberos(given)?,
            "pw-nt-hash" | "machine-pass" | "shell" => {
                return Err(refusal(
                    format!("{option_shown}: filestone has no such way"),
                    "a user logs on with a password: -U USER and -A FILE or FILESTONE_PASSWORD",
                ));
            }
            "help" | "usage" => self.instead = Some(SmbtortureRequest::Help),
            "list" | "list-suites" => self.instead = Some(SmbtortureRequest::List),
            "version" => self.instead = Some(SmbtortureRequest::Version),
            _ => self.remarks.push(format!("{option_shown} is passed over")),
        }
        Ok(())
    }

    fn log_on_as(&mut self, value: &str) {
        let Login {
            user,
            domain,
            password,
        } = Login::read(value);
        self.login.user = user;
        self.login.domain = domain.or_else(|| self.login.domain.take());
        if let Some(password) = password {
            self.take_password(password, "-U");
        }
    }

    fn take_password(&mut self, password: Password, option: &str) {
        let is_empty = password.reveal().is_empty();
        self.login.password = Some(password);
        if !is_empty {
            self.remarks.push(format!(
                "{option}: every user of this host can read a password on a command line; -A FILE \
                 or FILESTONE_PASSWORD keep it"
            ));
        }
    }

    /// Parses `--option=NAME=VALUE`; names are case-insensitive and their blanks are ignored.
    fn set_option(&mut self, text: &str) -> Result<(), CommandLineError> {
        let (name, value) = text.split_once('=').ok_or_else(|| {
            refusal(
                format!("Error setting option '{}'", shown(text)),
                "expected --option=NAME=VALUE",
            )
        })?;
        if !self.settings.set(name, value)? {
            self.remarks
                .push(format!("--option={} is passed over", shown(name)));
        }
        Ok(())
    }

    fn protect(&mut self, value: &str) -> Result<(), CommandLineError> {
        let (sign, encrypt) = match value.to_ascii_lowercase().as_str() {
            "sign" => (SmbProtection::Required, SmbProtection::IfRequired),
            "encrypt" => (SmbProtection::IfRequired, SmbProtection::Required),
            "off" => (SmbProtection::Off, SmbProtection::Off),
            _ => {
                return Err(wrong("--client-protection", value, "sign, encrypt or off"));
            }
        };
        (self.smb.sign, self.smb.encrypt) = (Some(sign), Some(encrypt));
        Ok(())
    }

    fn run(self, arguments: &[&str]) -> Result<SmbtortureRun, CommandLineError> {
        let (place, tests) = arguments.split_first().ok_or_else(|| {
            refusal(
                "no share is named",
                "filestone compat smbtorture //HOST/SHARE bench.nbench",
            )
        })?;
        let share = login::share(place, FAILURE)?;
        let test = one_of_ours(tests)?;
        let Settings {
            rate,
            retries,
            read_only,
            ..
        } = self.settings;
        let mut remarks = self.remarks;
        let dialect = self.settings.dialect(&mut remarks)?;
        remarks.extend(self.settings.remarks);
        if let (Test::NetBench(name), Some(_)) = (test, self.time_limit) {
            return Err(refusal(
                format!("-t: {name} is one pass of its load file, however long it takes"),
                "leave -t out; bench.nbench runs for a time",
            ));
        }
        let clients_default = match test {
            Test::Nbench => CLIENTS_DEFAULT,
            Test::NetBench(_) => 1,
        };
        Ok(SmbtortureRun {
            test,
            share,
            list: self.list,
            port: self.port,
            login: self.login,
            clients: self.clients.unwrap_or(clients_default),
            time_limit: self.time_limit.unwrap_or(TIME_LIMIT_DEFAULT),
            load_file: self.load_file,
            seed: self.seed,
            smb: SmbArguments {
                dialect,
                ..self.smb
            },
            rate,
            retries,
            read_only,
            remarks,
        })
    }
}

/// Rejects Kerberos if it is required; if it is optional, it is not used.
fn refuse_kerberos(given: &ParsedOption<'_>) -> Result<(), CommandLineError> {
    let is_wanted = ["required", "yes", "true", "1", "on"];
    if !is_wanted.contains(&given.value.to_ascii_lowercase().as_str()) {
        return Ok(());
    }
    Err(refusal(
        format!("{}: Kerberos is not spoken", given.shown),
        "clients log on by NTLMv2: -U USER and a password",
    ))
}

/// Returns the supported test among `tests`; smbtorture has hundreds of other tests.
fn one_of_ours(tests: &[&str]) -> Result<Test, CommandLineError> {
    let help = "bench.nbench, which is BENCH-NBENCH, NBW95 and NBWNT are the tests that are here; \
                filestone probe asks single operations of a share";
    let mut chosen = None;
    for test in tests {
        let is_it = |(name, _): &&(&str, Test)| name.eq_ignore_ascii_case(test);
        let Some((_, test)) = NAMES.iter().find(is_it) else {
            let what = format!("Unknown torture operation '{}'", shown(test));
            return Err(refusal(what, help));
        };
        if chosen.is_some_and(|chosen| chosen != *test) {
            return Err(refusal(
                "several tests are named",
                "run them one after the other",
            ));
        }
        chosen = Some(*test);
    }
    chosen.ok_or_else(|| refusal("no test is named", help))
}

#[cfg(test)]
mod tests;
