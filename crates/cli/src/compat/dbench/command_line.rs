//! Command lines of dbench and tbench, versions 1 to 5.0, parsed like the originals.
//!
//! Options and arguments may be in any order. `-t` of version 1 set tbench's socket options; a
//! value that is not a number is taken for socket options. Words that the originals ignore (further
//! arguments, letters behind a number of processes) are ignored with a note.

use crate::compat::ending::CommandLineError;
use crate::compat::getopt::{self, Argument, OptionOrder, ParsedOption, number};
use crate::compat::login::{Login, share};
use crate::options::layer_targets::peer_of;
use crate::options::smb::ShareLocation;
use crate::options::target::{self, ParsedTarget};
use filestone_plan::plan::{LocalReplay, TcpTarget};

/// Name under which the program was called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DbenchProgram {
    /// dbench: file system calls, unless `-B` selects another backend.
    Dbench,
    /// tbench: bare TCP.
    Tbench,
}

/// Action that the command line requests.
#[derive(Debug, Clone, PartialEq)]
pub enum DbenchRequest {
    /// Print help (`--help`, `-?` or `--usage`).
    Help,
    /// Run a load file.
    Run(Box<DbenchRun>),
}

/// Backend that executes the load file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DbenchBackend {
    /// `fileio`: this directory.
    Fileio,
    /// `sockio`: this server, on port 7003 unless it names another.
    Sockio(TcpTarget),
    /// `nfs`: these exports, assigned to clients in turn.
    Nfs(Vec<ParsedTarget>),
    /// `smb`: this share, with this user.
    Smb(Box<ShareLocation>, Login),
}

/// Version whose output format is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DbenchVersion {
    /// 4.0 and before: no `-B`.
    Four,
    /// 5.0.
    Five,
}

/// A run with its options.
#[derive(Debug, Clone, PartialEq)]
pub struct DbenchRun {
    /// Version whose output format is used.
    pub version: DbenchVersion,
    /// Backend that executes the load file.
    pub backend: DbenchBackend,
    /// Number of processes (NPROCS).
    pub processes: u32,
    /// Time limit (`-t`), in seconds.
    pub time_limit: u64,
    /// Warm-up (`--warmup`), in seconds; default: a fifth of the time limit.
    pub warm_up: u64,
    /// Options that apply to every backend.
    pub options: DbenchOptions,
    /// Notes on ignored parts of the command line, one line each; the original ignores them too.
    pub passed_over: Vec<String>,
}

/// Options as given.
#[derive(Debug, Clone, PartialEq)]
pub struct DbenchOptions {
    /// `--clients-per-process`.
    pub clients_per_process: u32,
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

impl Default for DbenchOptions {
    fn default() -> Self {
        Self {
            clients_per_process: 1,
            load_file: None,
            directory: ".".into(),
            tcp_options: None,
            rate: None,
            trunc_io: None,
            flags: Flags::default(),
        }
    }
}

/// Options without a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs)] // named as the options are
pub struct Flags {
    /// Options for the use of files on this host.
    pub local: LocalReplay,
    pub no_resolve: bool,
    pub skip_cleanup: bool,
    pub per_client_results: bool,
    pub run_once: bool,
    pub enable_nlm: bool,
    pub machine_readable: bool,
}

/// Options of all versions. Options without a description belong to backends that are not
/// supported; versions 2 and 3 printed more with `-v`.
const OPTIONS: &str = "
-B, --backend=NAME       fileio, sockio, nfs or smb (default: fileio; tbench: sockio)
-t, --timelimit=SECONDS  length of the measured part (default: 600)
-c, --loadfile=FILES     load files, with commas between them (default: client.txt here, or \
    dbench's)
-D, --directory=DIR      where files are made (default: .)
-T, --tcp-options=LIST   socket options (default: TCP_NODELAY SO_REUSEADDR)
-R, --target-rate=RATE   MB/sec of each client
-s, --sync               open files with O_SYNC
-S, --sync-dir           synchronise directories after changes
-F, --fsync              fsync after every write
-x, --xattr              keep DOS attributes in extended attributes
--no-resolve             no search for names without regard to case
--clients-per-process=N  clients that take turns in one thread (default: 1)
--trunc-io=BYTES         cut reads and writes
--one-byte-write-fix     one-byte writes that extend a file become ftruncate
--stat-check             stat before calls that it may make pointless
--fake-io                only count reads and writes
--skip-cleanup           leave the clients' trees
--per-client-results     a table for every client, too
--server=HOST            of sockio (default: localhost)
--nfs=URLS               of nfs: nfs://server/path, with commas between several
--enable-nlm             locks by the lock manager
--smb-share=SHARE        of smb: //server/share, and a path below it
--smb-user=USER          of smb: [DOMAIN/]USER%PASSWORD; without %PASSWORD the environment variable \
    FILESTONE_PASSWORD has it
--run-once               one pass of the load file
--warmup=SECONDS         before the measured part (default: a fifth of it)
--machine-readable       rows for programs
-v, --verbose            taken, and without effect
-?, --help               print this help
--usage                  print this help
--scsi=DEVICE
--allow-scsi-writes
--iscsi=URL
--iscsi-initiatorname=NAME
--block=DEVICE
";

const NPROCS: Argument = Argument {
    name: "NPROCS",
    help: "processes: threads here, with a client each",
};

/// dbench, with its help.
pub const DBENCH: getopt::ProgramSyntax = getopt::ProgramSyntax {
    name: "dbench",
    usage: &["dbench [options] NPROCS"],
    arguments: &[NPROCS],
    notes: "",
    options: OPTIONS,
    order: OptionOrder::Anywhere,
};

/// tbench, with its help.
pub const TBENCH: getopt::ProgramSyntax = getopt::ProgramSyntax {
    name: "tbench",
    usage: &["tbench [options] NPROCS [SERVER]"],
    arguments: &[
        NPROCS,
        Argument {
            name: "SERVER",
            help: "where tbench_srv runs, on port 7003 unless :PORT follows (default: localhost)",
        },
    ],
    ..DBENCH
};

impl DbenchProgram {
    /// Returns the options and arguments of the program.
    pub const fn known(self) -> &'static getopt::ProgramSyntax {
        match self {
            Self::Dbench => &DBENCH,
            Self::Tbench => &TBENCH,
        }
    }
}

/// dbench's exit code when there is no backend or no load file, or when it cannot start.
const CANNOT_START: u8 = 10;
/// dbench's exit code for all other errors.
const FAILURE: u8 = 1;
/// dbench's default of `-t`.
const TIME_LIMIT_DEFAULT: u64 = 600;
/// Maximum time limit: a century, whose nanoseconds fit 64 bits.
const TIME_LIMIT_MAX: u64 = 100 * 365 * 86_400;

/// Warning for a password on the command line.
const SEEN: &str = "--smb-user: every user of this host can read a password on a command line; \
    FILESTONE_PASSWORD keeps it";

fn refusal(what: impl Into<String>) -> CommandLineError {
    CommandLineError {
        message: what.into(),
        help: None,
        code: FAILURE,
    }
}

/// Options and arguments in the order of the command line.
#[derive(Default)]
struct Words<'line> {
    backend: Option<&'line str>,
    time_limit: Option<u64>,
    warm_up: Option<u64>,
    server: Option<&'line str>,
    nfs: Option<&'line str>,
    share: Option<&'line str>,
    user: Option<&'line str>,
    options: DbenchOptions,
    is_help: bool,
    /// An option that selects an unsupported backend.
    unsupported: Option<&'static str>,
    positional: Vec<&'line str>,
}

/// Parses a command line without the program's name.
pub fn parse(
    program: DbenchProgram,
    arguments: &[String],
) -> Result<DbenchRequest, CommandLineError> {
    let read = program.known().read(arguments).map_err(refusal)?;
    let mut words = Words {
        positional: read.arguments,
        ..Words::default()
    };
    for given in &read.given {
        words.set(given)?;
    }
    if words.is_help {
        return Ok(DbenchRequest::Help);
    }
    run(program, words).map(|run| DbenchRequest::Run(Box::new(run)))
}

impl<'line> Words<'line> {
    fn set(&mut self, given: &ParsedOption<'line>) -> Result<(), CommandLineError> {
        let ParsedOption {
            option,
            shown,
            value,
        } = given;
        let value = *value;
        let options = &mut self.options;
        let wrong = |expected: &str| refusal(format!("{shown} {value}: expected {expected}"));
        match option.long {
            "backend" => self.backend = Some(value),
            // tbench 1 used this name for its socket options.
            "timelimit" if value.starts_with(|letter: char| letter.is_ascii_uppercase()) => {
                options.tcp_options = Some(value.into());
            }
            "timelimit" => {
                let limit = number(value);
                let limit = limit.filter(|limit| (1..=TIME_LIMIT_MAX).contains(limit));
                self.time_limit = Some(limit.ok_or_else(|| wrong("seconds, at least 1"))?);
            }
            "warmup" => {
                let time = number(value).filter(|time| *time <= TIME_LIMIT_MAX);
                self.warm_up = Some(time.ok_or_else(|| wrong("seconds"))?);
            }
            "loadfile" => options.load_file = Some(value.into()),
            "directory" => options.directory = value.into(),
            "tcp-options" => options.tcp_options = Some(value.into()),
            "target-rate" => {
                let rate = value.parse::<f64>().ok();
                let rate = rate.filter(|rate| (0.0..=1e9).contains(rate));
                let rate = rate.ok_or_else(|| wrong("MB per second"))?;
                options.rate = (rate > 0.0).then_some(rate * 1e6);
            }
            "trunc-io" => {
                let bytes = number(value).ok_or_else(|| wrong("bytes"))?;
                options.trunc_io = (bytes > 0).then_some(bytes);
            }
            "clients-per-process" => {
                let clients = number(value).and_then(|clients| clients.try_into().ok());
                let clients = clients.filter(|clients| *clients > 0);
                let clients = clients.ok_or_else(|| wrong("a number of clients"))?;
                options.clients_per_process = clients;
            }
            "server" => self.server = Some(value),
            "nfs" => self.nfs = Some(value),
            "scsi" | "allow-scsi-writes" => self.unsupported = Some("scsi"),
            "iscsi" | "iscsi-initiatorname" => self.unsupported = Some("iscsi"),
            "smb-share" => self.share = Some(value),
            "smb-user" => self.user = Some(value),
            "block" => self.unsupported = Some("block"),
            "help" | "usage" => self.is_help = true,
            name => options.flags.set(name),
        }
        Ok(())
    }
}

impl Words<'_> {
    /// Whether there are options of a backend that connects to a server.
    fn names_a_server(&self) -> bool {
        self.nfs.is_some() || self.share.is_some() || self.user.is_some()
    }
}

impl Flags {
    fn set(&mut self, name: &str) {
        let flag = match name {
            "sync" => &mut self.local.sync,
            "sync-dir" => &mut self.local.sync_directories,
            "fsync" => &mut self.local.fsync,
            "xattr" => &mut self.local.xattr,
            "no-resolve" => &mut self.no_resolve,
            "one-byte-write-fix" => &mut self.local.one_byte_write_fix,
            "stat-check" => &mut self.local.stat_check,
            "fake-io" => &mut self.local.fake_io,
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

fn run(program: DbenchProgram, words: Words<'_>) -> Result<DbenchRun, CommandLineError> {
    let (processes, arguments) = match words.positional.split_first() {
        Some((processes, arguments)) => (*processes, arguments),
        None => {
            return Err(CommandLineError {
                help: Some("say how many clients there are to be, such as `dbench 4`".into()),
                ..refusal("You need to specify NPROCS")
            });
        }
    };
    let (server, further) = match (program, arguments) {
        (DbenchProgram::Tbench, [server, further @ ..]) => (Some(*server), further),
        (_, further) => (None, further),
    };
    let mut passed_over = Vec::new();
    if !further.is_empty() {
        let further = further.join(" ");
        passed_over.push(format!("further arguments are passed over: {further}"));
    }
    let processes = processes_of(processes, &mut passed_over)?;
    let version = match (program, words.backend, words.unsupported) {
        (DbenchProgram::Dbench, None, None) if !words.names_a_server() => DbenchVersion::Four,
        (DbenchProgram::Tbench, ..) => DbenchVersion::Four,
        _ => DbenchVersion::Five,
    };
    let backend = backend(program, &words, server)?;
    if version == DbenchVersion::Five && words.options.load_file.is_none() {
        return Err(CommandLineError {
            code: CANNOT_START,
            help: Some("-c names it; `-c office` is a load of filestone's own".into()),
            ..refusal("No loadfile was specified. Aborting.")
        });
    }
    if let DbenchBackend::Smb(_, login) = &backend
        && login
            .password
            .as_ref()
            .is_some_and(|it| !it.reveal().is_empty())
    {
        passed_over.push(SEEN.into());
    }
    let time_limit = words.time_limit.unwrap_or(TIME_LIMIT_DEFAULT);
    Ok(DbenchRun {
        version,
        backend,
        processes,
        time_limit,
        warm_up: words.warm_up.unwrap_or(time_limit / 5),
        options: words.options,
        passed_over,
    })
}

/// Parses NPROCS: the leading digits count, as atoi reads them.
fn processes_of(text: &str, passed_over: &mut Vec<String>) -> Result<u32, CommandLineError> {
    let end = text.find(|letter: char| !letter.is_ascii_digit());
    let (digits, behind) = text.split_at(end.unwrap_or(text.len()));
    let count = digits.parse::<u32>().ok().filter(|count| *count > 0);
    let count = count.ok_or_else(|| {
        refusal(format!(
            "NPROCS {text}: expected a number of processes of at least 1"
        ))
    })?;
    if !behind.is_empty() {
        passed_over.push(format!("NPROCS {text}: taken as {count}"));
    }
    Ok(count)
}

fn backend(
    program: DbenchProgram,
    words: &Words<'_>,
    server: Option<&str>,
) -> Result<DbenchBackend, CommandLineError> {
    let cannot_start = |what: String, help: &str| CommandLineError {
        message: what,
        help: Some(help.into()),
        code: CANNOT_START,
    };
    let host = || peer(server.or(words.server).unwrap_or("localhost"));
    match (program, words.backend) {
        (DbenchProgram::Tbench, None | Some("sockio")) => host().map(DbenchBackend::Sockio),
        (_, Some("sockio")) => host().map(DbenchBackend::Sockio),
        (_, Some("fileio")) => Ok(DbenchBackend::Fileio),
        (_, Some("nfs")) => match words.nfs {
            Some(list) => exports(list).map(DbenchBackend::Nfs),
            None => Err(cannot_start(
                "-B nfs: no server was named".into(),
                "--nfs nfs://server/path names one, or several with commas between them",
            )),
        },
        (_, Some("smb")) => match (words.share, words.user) {
            (Some(place), Some(user)) => {
                let place = share(place, CANNOT_START)?;
                Ok(DbenchBackend::Smb(Box::new(place), Login::read(user)))
            }
            (None, _) => Err(cannot_start(
                "-B smb: no share was named".into(),
                "--smb-share //server/share names one",
            )),
            (_, None) => Err(cannot_start(
                "-B smb: no user was named".into(),
                "--smb-user USER and FILESTONE_PASSWORD name one; --smb-user % is a guest",
            )),
        },
        (_, Some(name @ ("scsi" | "iscsi" | "block"))) => Err(cannot_start(
            format!("-B {name}: this backend is not supported"),
            "fileio, sockio, nfs and smb are",
        )),
        (_, Some(name)) => Err(CommandLineError {
            help: Some("expected fileio, sockio, nfs or smb".into()),
            ..refusal(format!("Unknown backend '{name}'"))
        }),
        (_, None) if words.names_a_server() || words.unsupported.is_some() => Err(cannot_start(
            "No backend was specified. Aborting.".into(),
            "-B names it: fileio, sockio, nfs or smb",
        )),
        (DbenchProgram::Dbench, None) => Ok(DbenchBackend::Fileio),
    }
}

/// Parses `HOST` or `HOST:PORT`, with an IPv6 address in brackets if a port follows. The originals
/// have a fixed port.
fn peer(text: &str) -> Result<TcpTarget, CommandLineError> {
    let is_address = !text.starts_with('[') && text.matches(':').count() > 1;
    if is_address {
        let (host, port) = (Some(text.to_owned()), None);
        return Ok(TcpTarget { host, port });
    }
    let peer = peer_of(text).ok().filter(|peer| peer.host.is_some());
    peer.ok_or_else(|| CommandLineError {
        help: Some("expected HOST or HOST:PORT, such as [::1]:7003".into()),
        ..refusal(format!("SERVER {text}: this is no server"))
    })
}

fn exports(list: &str) -> Result<Vec<ParsedTarget>, CommandLineError> {
    let targets = list.split(',').map(|url| {
        target::parse(url).map_err(|expected| refusal(format!("--nfs {url}: {expected}")))
    });
    targets.collect()
}

#[cfg(test)]
mod tests;
