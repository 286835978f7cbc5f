//! The command lines of dbench and tbench, 1 to 5.0, read as they read them.
//!
//! Options and arguments may stand in any order; letters may stand together
//! (`-sS`, `-t10`), long options take `=value` or the next word and may be cut
//! short as long as they are one option's. `-t` of version 1 was tbench's socket
//! options; a value that is no number is taken for them.

use crate::target::{self, Target};

/// Which of the two names it was called by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    /// File system calls, unless `-B` says otherwise.
    Dbench,
    /// Bare TCP.
    Tbench,
}

/// What the program was asked to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// `--help`, `-?` or `--usage`.
    Help,
    /// Run a load.
    Run(Run),
}

/// Why it will not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// One line in our form.
    pub what: String,
    /// What to do.
    pub help: Option<String>,
    /// The original's exit code.
    pub code: u8,
}

/// What carries the load out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Backend {
    /// `fileio`: in this directory.
    Fileio,
    /// `sockio`: this server, on port 7003.
    Sockio(String),
    /// `nfs`: these exports, for clients in turn.
    Nfs(Vec<Target>),
}

/// Whose form the output has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// 4.0 and before: no `-B`.
    Four,
    /// 5.0.
    Five,
}

/// A run with its options.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Whose form the output has.
    pub version: Version,
    /// What carries the load out.
    pub backend: Backend,
    /// NPROCS.
    pub processes: u32,
    /// `--clients-per-process`.
    pub clients_per_process: u32,
    /// `-t`, in seconds.
    pub time_limit: u64,
    /// `--warmup`, in seconds; a fifth of the time limit without it.
    pub warm_up: u64,
    /// `-c`; `None` for the original's default.
    pub load_file: Option<String>,
    /// `-D`.
    pub directory: String,
    /// `-T`.
    pub tcp_options: Option<String>,
    /// `-R`, in bytes per second and client.
    pub rate: Option<f64>,
    /// `--trunc-io`.
    pub trunc_io: Option<u64>,
    /// Options without a value.
    pub flags: Flags,
}

/// Options without a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs)] // named as the options are
pub struct Flags {
    pub sync: bool,
    pub sync_dir: bool,
    pub fsync: bool,
    pub xattr: bool,
    pub no_resolve: bool,
    pub one_byte_write_fix: bool,
    pub stat_check: bool,
    pub fake_io: bool,
    pub skip_cleanup: bool,
    pub per_client_results: bool,
    pub run_once: bool,
    pub enable_nlm: bool,
    pub machine_readable: bool,
}

/// Whether an option takes a value, and whether only 5.0 has it.
struct Known {
    long: &'static str,
    short: Option<char>,
    takes_value: bool,
}

const fn flag(long: &'static str, short: Option<char>) -> Known {
    Known {
        long,
        short,
        takes_value: false,
    }
}

const fn valued(long: &'static str, short: Option<char>) -> Known {
    Known {
        long,
        short,
        takes_value: true,
    }
}

/// The options of all versions.
const KNOWN: &[Known] = &[
    valued("backend", Some('B')),
    valued("timelimit", Some('t')),
    valued("loadfile", Some('c')),
    valued("directory", Some('D')),
    valued("tcp-options", Some('T')),
    valued("target-rate", Some('R')),
    flag("sync", Some('s')),
    flag("sync-dir", Some('S')),
    flag("fsync", Some('F')),
    flag("xattr", Some('x')),
    flag("no-resolve", None),
    valued("clients-per-process", None),
    valued("trunc-io", None),
    flag("one-byte-write-fix", None),
    flag("stat-check", None),
    flag("fake-io", None),
    flag("skip-cleanup", None),
    flag("per-client-results", None),
    valued("server", None),
    valued("nfs", None),
    flag("enable-nlm", None),
    flag("run-once", None),
    valued("scsi", None),
    flag("allow-scsi-writes", None),
    valued("iscsi", None),
    valued("iscsi-initiatorname", None),
    valued("warmup", None),
    flag("machine-readable", None),
    valued("smb-share", None),
    valued("smb-user", None),
    valued("block", None),
    // Versions 2 and 3 said more with it.
    flag("verbose", Some('v')),
    flag("help", Some('?')),
    flag("usage", None),
];

/// dbench's exit code when there is no backend, no load file, or it cannot start.
const CANNOT_START: u8 = 10;
/// dbench's exit code for everything else.
const FAILURE: u8 = 1;
/// dbench's default of `-t`.
const TIME_LIMIT_DEFAULT: u64 = 600;
/// A century: nanoseconds of it fit 64 bits.
const TIME_LIMIT_MAX: u64 = 100 * 365 * 86_400;

fn refusal(what: impl Into<String>) -> Refusal {
    Refusal {
        what: what.into(),
        help: None,
        code: FAILURE,
    }
}

/// Options and arguments as they stand.
#[derive(Default)]
struct Words<'line> {
    backend: Option<&'line str>,
    time_limit: Option<u64>,
    warm_up: Option<u64>,
    load_file: Option<&'line str>,
    directory: Option<&'line str>,
    tcp_options: Option<&'line str>,
    rate: Option<f64>,
    trunc_io: Option<u64>,
    clients_per_process: Option<u32>,
    server: Option<&'line str>,
    nfs: Option<&'line str>,
    flags: Flags,
    is_help: bool,
    /// An option that chooses a backend that is not here.
    unsupported: Option<&'static str>,
    positional: Vec<&'line str>,
}

/// Reads a command line without the program's name.
pub fn parse(program: Program, arguments: &[String]) -> Result<Request, Refusal> {
    let words = split(arguments)?;
    if words.is_help {
        return Ok(Request::Help);
    }
    run(program, words).map(Request::Run)
}

fn split(arguments: &[String]) -> Result<Words<'_>, Refusal> {
    let mut words = Words::default();
    let mut rest = arguments.iter().map(String::as_str);
    while let Some(word) = rest.next() {
        if word == "--" {
            words.positional.extend(rest.by_ref());
        } else if let Some(long) = word.strip_prefix("--") {
            let (name, attached) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (long, None),
            };
            let known = long_option(name)?;
            let shown = format!("--{}", known.long);
            let value = match (known.takes_value, attached) {
                (false, Some(_)) => return Err(refusal(format!("{shown} takes no value"))),
                (false, None) => "",
                (true, Some(value)) => value,
                (true, None) => rest.next().ok_or_else(|| missing(&shown))?,
            };
            words.set(known, &shown, value)?;
        } else if word.len() > 1 && word.starts_with('-') {
            words.cluster(&word[1..], &mut rest)?;
        } else {
            words.positional.push(word);
        }
    }
    Ok(words)
}

fn missing(option: &str) -> Refusal {
    refusal(format!("{option}: a value is missing"))
}

/// An option by its name, or by the beginning of one option's name.
fn long_option(name: &str) -> Result<&'static Known, Refusal> {
    if let Some(known) = KNOWN.iter().find(|known| known.long == name) {
        return Ok(known);
    }
    let mut begun = KNOWN.iter().filter(|known| known.long.starts_with(name));
    match (begun.next(), begun.next()) {
        (Some(known), None) if !name.is_empty() => Ok(known),
        (Some(one), Some(other)) if !name.is_empty() => Err(refusal(format!(
            "--{name}: this may be --{} or --{}",
            one.long, other.long
        ))),
        _ => Err(refusal(format!("--{name}: dbench has no such option"))),
    }
}

impl<'line> Words<'line> {
    /// Reads letters that stand together, such as `sSt10`.
    fn cluster(
        &mut self,
        text: &'line str,
        rest: &mut impl Iterator<Item = &'line str>,
    ) -> Result<(), Refusal> {
        for (place, letter) in text.char_indices() {
            let known = KNOWN.iter().find(|known| known.short == Some(letter));
            let shown = format!("-{letter}");
            let Some(known) = known else {
                return Err(refusal(format!("{shown}: dbench has no such option")));
            };
            if known.takes_value {
                let attached = &text[place + letter.len_utf8()..];
                let value = match attached {
                    "" => rest.next().ok_or_else(|| missing(&shown))?,
                    attached => attached,
                };
                return self.set(known, &shown, value);
            }
            self.set(known, &shown, "")?;
        }
        Ok(())
    }

    fn set(
        &mut self,
        known: &'static Known,
        shown: &str,
        value: &'line str,
    ) -> Result<(), Refusal> {
        let wrong = |expected: &str| refusal(format!("{shown} {value}: expected {expected}"));
        match known.long {
            "backend" => self.backend = Some(value),
            // tbench 1 called its socket options so.
            "timelimit" if value.starts_with(|letter: char| letter.is_ascii_uppercase()) => {
                self.tcp_options = Some(value);
            }
            "timelimit" => {
                let limit = value.parse().ok();
                let limit = limit.filter(|limit| (1..=TIME_LIMIT_MAX).contains(limit));
                self.time_limit = Some(limit.ok_or_else(|| wrong("seconds, at least 1"))?);
            }
            "warmup" => {
                let time = value.parse().ok().filter(|time| *time <= TIME_LIMIT_MAX);
                self.warm_up = Some(time.ok_or_else(|| wrong("seconds"))?);
            }
            "loadfile" => self.load_file = Some(value),
            "directory" => self.directory = Some(value),
            "tcp-options" => self.tcp_options = Some(value),
            "target-rate" => {
                let rate = value.parse::<f64>().ok();
                let rate = rate.filter(|rate| (0.0..=1e9).contains(rate));
                let rate = rate.ok_or_else(|| wrong("MB per second"))?;
                self.rate = (rate > 0.0).then_some(rate * 1e6);
            }
            "trunc-io" => {
                let bytes = value.parse::<u64>().map_err(|_| wrong("bytes"))?;
                self.trunc_io = (bytes > 0).then_some(bytes);
            }
            "clients-per-process" => {
                let clients = value.parse().ok().filter(|clients| *clients > 0);
                let clients = clients.ok_or_else(|| wrong("a number of clients"))?;
                self.clients_per_process = Some(clients);
            }
            "server" => self.server = Some(value),
            "nfs" => self.nfs = Some(value),
            "scsi" | "allow-scsi-writes" => self.unsupported = Some("scsi"),
            "iscsi" | "iscsi-initiatorname" => self.unsupported = Some("iscsi"),
            "smb-share" | "smb-user" => self.unsupported = Some("smb"),
            "block" => self.unsupported = Some("block"),
            "help" | "usage" => self.is_help = true,
            name => self.flags.set(name),
        }
        Ok(())
    }
}

impl Flags {
    fn set(&mut self, name: &str) {
        let flag = match name {
            "sync" => &mut self.sync,
            "sync-dir" => &mut self.sync_dir,
            "fsync" => &mut self.fsync,
            "xattr" => &mut self.xattr,
            "no-resolve" => &mut self.no_resolve,
            "one-byte-write-fix" => &mut self.one_byte_write_fix,
            "stat-check" => &mut self.stat_check,
            "fake-io" => &mut self.fake_io,
            "skip-cleanup" => &mut self.skip_cleanup,
            "per-client-results" => &mut self.per_client_results,
            "run-once" => &mut self.run_once,
            "enable-nlm" => &mut self.enable_nlm,
            "machine-readable" => &mut self.machine_readable,
            // -v changes nothing.
            _ => return,
        };
        *flag = true;
    }
}

fn run(program: Program, words: Words<'_>) -> Result<Run, Refusal> {
    let (processes, server) = match (program, words.positional.as_slice()) {
        (_, []) => {
            return Err(Refusal {
                help: Some("say how many clients there are to be, such as `dbench 4`".into()),
                ..refusal("You need to specify NPROCS")
            });
        }
        (_, [processes]) => (*processes, None),
        (Program::Tbench, [processes, server]) => (*processes, Some(*server)),
        (_, [.., extraneous]) => {
            return Err(refusal(format!("too many arguments: {extraneous}")));
        }
    };
    let count = processes.parse::<u32>().ok().filter(|count| *count > 0);
    let Some(processes) = count else {
        return Err(refusal(format!(
            "NPROCS {processes}: expected a number of processes of at least 1"
        )));
    };
    let version = match (program, words.backend, words.unsupported) {
        (Program::Dbench, None, None) if words.nfs.is_none() => Version::Four,
        (Program::Tbench, ..) => Version::Four,
        _ => Version::Five,
    };
    let backend = backend(program, &words, server)?;
    if version == Version::Five && words.load_file.is_none() {
        return Err(Refusal {
            code: CANNOT_START,
            help: Some("-c names it; `-c office` is a load of filestone's own".into()),
            ..refusal("No loadfile was specified. Aborting.")
        });
    }
    let time_limit = words.time_limit.unwrap_or(TIME_LIMIT_DEFAULT);
    Ok(Run {
        version,
        backend,
        processes,
        clients_per_process: words.clients_per_process.unwrap_or(1),
        time_limit,
        warm_up: words.warm_up.unwrap_or(time_limit / 5),
        load_file: words.load_file.map(String::from),
        directory: words.directory.unwrap_or(".").into(),
        tcp_options: words.tcp_options.map(String::from),
        rate: words.rate,
        trunc_io: words.trunc_io,
        flags: words.flags,
    })
}

fn backend(program: Program, words: &Words<'_>, server: Option<&str>) -> Result<Backend, Refusal> {
    let cannot_start = |what: String, help: &str| Refusal {
        what,
        help: Some(help.into()),
        code: CANNOT_START,
    };
    let host = || server.or(words.server).unwrap_or("localhost").to_string();
    match (program, words.backend) {
        (Program::Tbench, None | Some("sockio")) => Ok(Backend::Sockio(host())),
        (_, Some("sockio")) => Ok(Backend::Sockio(host())),
        (_, Some("fileio")) => Ok(Backend::Fileio),
        (_, Some("nfs")) => match words.nfs {
            Some(list) => exports(list).map(Backend::Nfs),
            None => Err(cannot_start(
                "-B nfs: no server was named".into(),
                "--nfs nfs://server/path names one, or several with commas between them",
            )),
        },
        (_, Some(name @ ("scsi" | "iscsi" | "smb" | "block"))) => Err(cannot_start(
            format!("-B {name}: this backend is not supported"),
            "fileio, sockio and nfs are",
        )),
        (_, Some(name)) => Err(Refusal {
            help: Some("expected fileio, sockio or nfs".into()),
            ..refusal(format!("Unknown backend '{name}'"))
        }),
        (_, None) if words.nfs.is_some() || words.unsupported.is_some() => Err(cannot_start(
            "No backend was specified. Aborting.".into(),
            "-B names it: fileio, sockio or nfs",
        )),
        (Program::Dbench, None) => Ok(Backend::Fileio),
    }
}

fn exports(list: &str) -> Result<Vec<Target>, Refusal> {
    let targets = list.split(',').map(|url| {
        target::parse(url).map_err(|expected| refusal(format!("--nfs {url}: {expected}")))
    });
    targets.collect()
}

#[cfg(test)]
mod tests;
