//! Words of other benchmarks, and what they are here: one table, from which corrected command
//! lines are made, and which docs/coming-from.md must agree with.
//!
//! fio, dbench, elbencho, nfsstone, iperf, ab, wrk and vegeta. Words that we have, too, are not in
//! it, whatever they mean elsewhere.

/// What stands in place of a foreign word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ours {
    /// An option with the same value.
    Option(&'static str),
    /// These words; a value is dropped.
    Words(&'static [&'static str]),
    /// The value is an operation: fio's `--rw=randread`.
    Operation,
    /// The value is where operations go.
    Target,
    /// The value says how often the whole is done, which is the shell's part.
    Repetitions,
    /// Nothing: it has no sense here.
    Nothing,
}

/// An option of other programs.
#[derive(Debug)]
pub struct ForeignOption {
    /// As it is typed.
    pub words: &'static [&'static str],
    /// The commands for which this holds.
    pub commands: &'static [&'static str],
    /// What it is there.
    pub ours: Ours,
    /// Whether it has a value.
    pub has_value: bool,
    /// What a person should know.
    pub reason: &'static str,
}

const ALL: &[&str] = &["probe", "mix", "replay"];
const CALLS: &[&str] = &["probe", "mix"];

const fn option(
    words: &'static [&'static str],
    commands: &'static [&'static str],
    ours: Ours,
    reason: &'static str,
) -> ForeignOption {
    let has_value = true;
    ForeignOption {
        words,
        commands,
        ours,
        has_value,
        reason,
    }
}

const fn flag(
    words: &'static [&'static str],
    commands: &'static [&'static str],
    ours: Ours,
    reason: &'static str,
) -> ForeignOption {
    let has_value = false;
    ForeignOption {
        words,
        commands,
        ours,
        has_value,
        reason,
    }
}

/// Options, the first that fits counts.
pub const OPTIONS: &[ForeignOption] = &[
    option(
        &["--bs", "--block-size", "--blocksize", "--block", "-b"],
        &["probe"],
        Ours::Option("--size"),
        "bytes per call",
    ),
    option(
        &[
            "--bs",
            "--block-size",
            "--blocksize",
            "--block",
            "-b",
            "--size",
        ],
        &["mix"],
        Ours::Option("--transfer"),
        "bytes per READ and WRITE at most",
    ),
    option(
        &["--filesize"],
        CALLS,
        Ours::Option("--file-size"),
        "how long a file is",
    ),
    option(
        &["--nrfiles"],
        CALLS,
        Ours::Option("--files"),
        "how many files there are",
    ),
    option(
        &[
            "--iodepth",
            "--io-depth",
            "--qd",
            "--queue-depth",
            "--depth",
        ],
        CALLS,
        Ours::Option("--in-flight"),
        "calls in flight per client",
    ),
    option(
        &[
            "--numjobs",
            "--threads",
            "--nprocs",
            "--connections",
            "--concurrency",
            "--parallel",
            "-P",
        ],
        ALL,
        Ours::Option("--clients"),
        "each client has a connection of its own",
    ),
    option(
        &["--runtime", "--time", "--timelimit", "-t"],
        ALL,
        Ours::Option("--duration"),
        "how long to measure",
    ),
    option(
        &["--ramp_time", "--ramp-time", "--warmup", "--warmup-time"],
        ALL,
        Ours::Option("--warm-up"),
        "how long to run before measuring",
    ),
    option(
        &[
            "--rate",
            "--rate_iops",
            "--rate-iops",
            "--iops",
            "--qps",
            "-R",
        ],
        CALLS,
        Ours::Option("--offered"),
        "operations due per second, of all clients together, not bytes",
    ),
    option(
        &["--requests", "--number_ios", "--number-ios", "-n"],
        CALLS,
        Ours::Option("--count"),
        "operations, of all clients together",
    ),
    flag(
        &["--json", "--json-output", "-J"],
        ALL,
        Ours::Words(&["--as", "json"]),
        "the run record on standard output",
    ),
    option(
        &["--format", "--output-format"],
        ALL,
        Ours::Option("--as"),
        "what is printed; filestone report RECORD --as csv makes the other forms",
    ),
    option(
        &["--repeat", "--repeats", "--loops", "--runs", "--iterations"],
        ALL,
        Ours::Repetitions,
        "a run is one record, and repeating it is the shell's part",
    ),
    option(
        &["--interval", "--livint", "--status-interval", "-i"],
        ALL,
        Ours::Option("--mark"),
        "time between rows",
    ),
    option(
        &["--rw", "--readwrite", "--operation", "--op"],
        &["probe"],
        Ours::Operation,
        "the operation is the first word of probe",
    ),
    flag(
        &["--rand", "--randrw", "--randread"],
        &["probe"],
        Ours::Words(&["--random"]),
        "offsets and files at random",
    ),
    flag(
        &["--rand", "--random", "--randrw", "--randread"],
        &["mix"],
        Ours::Words(&["--access", "random"]),
        "any part of any file",
    ),
    option(
        &["--fsync", "--fdatasync", "--end_fsync"],
        CALLS,
        Ours::Words(&["--stable", "file-sync"]),
        "each WRITE is on stable storage before it is answered",
    ),
    flag(
        &["--sync", "--osync"],
        CALLS,
        Ours::Words(&["--stable", "file-sync"]),
        "each WRITE is on stable storage before it is answered",
    ),
    flag(
        &["--verify"],
        &["mix"],
        Ours::Words(&["--data", "verify"]),
        "data that are read are compared",
    ),
    flag(
        &["--udp", "-u"],
        CALLS,
        Ours::Words(&["--transport", "udp"]),
        "one datagram per message",
    ),
    option(
        &["--loadfile", "-l"],
        &["replay"],
        Ours::Words(&[]),
        "the load file is the first word of replay",
    ),
    option(
        &[
            "--filename",
            "--directory",
            "--path",
            "--host",
            "--hosts",
            "-D",
        ],
        ALL,
        Ours::Target,
        "where operations go: nfs://host/path, host:/path, or local:DIR",
    ),
    option(
        &["--ioengine"],
        ALL,
        Ours::Nothing,
        "filestone speaks NFS itself, with no kernel's input and output between",
    ),
    option(
        &[
            "--name",
            "--eta",
            "--thread",
            "--invalidate",
            "--randrepeat",
            "--norandommap",
        ],
        ALL,
        Ours::Nothing,
        "it has no sense here",
    ),
    option(
        &["--direct"],
        CALLS,
        Ours::Nothing,
        "no page cache of this host is between filestone and the server",
    ),
    flag(
        &[
            "--time_based",
            "--time-based",
            "--group_reporting",
            "--group-reporting",
        ],
        ALL,
        Ours::Nothing,
        "it is always so",
    ),
];

/// An operation of other programs, or a command.
#[derive(Debug)]
pub struct ForeignOperation {
    /// As it is typed.
    pub words: &'static [&'static str],
    /// The command and its words.
    pub ours: &'static [&'static str],
    /// What a person should know.
    pub reason: &'static str,
}

const fn operation(
    words: &'static [&'static str],
    ours: &'static [&'static str],
    reason: &'static str,
) -> ForeignOperation {
    ForeignOperation {
        words,
        ours,
        reason,
    }
}

/// What stands where a command or an operation is expected.
pub const OPERATIONS: &[ForeignOperation] = &[
    operation(
        &["stat", "fstat", "lstat"],
        &["probe", "getattr"],
        "NFS has GETATTR for stat(2); fsstat is about a whole file system",
    ),
    operation(
        &["fsync", "fdatasync", "sync", "flush"],
        &["probe", "commit"],
        "NFS has COMMIT for fsync(2)",
    ),
    operation(
        &["randread", "rand-read", "random-read"],
        &["probe", "read", "--random"],
        "READ at random offsets",
    ),
    operation(
        &["randwrite", "rand-write", "random-write"],
        &["probe", "write", "--random"],
        "WRITE at random offsets",
    ),
    operation(
        &["seqread", "seq-read", "cat"],
        &["probe", "read"],
        "READ from one end of a file to the other",
    ),
    operation(
        &["seqwrite", "seq-write"],
        &["probe", "write"],
        "WRITE from one end of a file to the other",
    ),
    operation(
        &["rw", "readwrite"],
        &["mix", "--mix", "read-mostly"],
        "several operations at once are a mix",
    ),
    operation(
        &["randrw"],
        &["mix", "--mix", "read-mostly", "--access", "random"],
        "several operations at once are a mix",
    ),
    operation(
        &["ls", "list", "getdents"],
        &["probe", "readdir"],
        "NFS has READDIR for names, and READDIRPLUS for ls -l",
    ),
    operation(
        &["open"],
        &["probe", "lookup"],
        "NFSv3 has no OPEN: clients look the name up",
    ),
    operation(
        &["unlink", "rm", "delete", "rmfiles", "delfiles"],
        &["probe", "remove"],
        "NFS has REMOVE for unlink(2)",
    ),
    operation(
        &["touch", "mkfile", "mkfiles"],
        &["probe", "create"],
        "a new file, made by CREATE",
    ),
    operation(
        &["mv"],
        &["probe", "rename"],
        "NFS has RENAME for rename(2)",
    ),
    operation(&["mkdirs"], &["probe", "mkdir"], "NFS has MKDIR"),
    operation(&["rmdirs", "deldirs"], &["probe", "rmdir"], "NFS has RMDIR"),
    operation(
        &["chmod", "chown", "truncate", "utimes"],
        &["probe", "setattr"],
        "NFS has SETATTR for all attributes",
    ),
    operation(
        &["statfs", "df", "statvfs"],
        &["probe", "fsstat"],
        "NFS has FSSTAT for statvfs(3)",
    ),
    operation(
        &["ping", "noop"],
        &["probe", "null"],
        "NULL asks for nothing but an answer",
    ),
    operation(&["server"], &["serve"], "the built-in server"),
    operation(
        &["nfsstone", "nhfsrun"],
        &["mix", "--mix", "nhfsstone"],
        "nhfsstone's mix",
    ),
];

/// The option of that name for a command.
pub fn foreign_option(word: &str, command: &str) -> Option<&'static ForeignOption> {
    let mut fitting = OPTIONS
        .iter()
        .filter(|option| option.commands.contains(&command));
    fitting.find(|option| option.words.contains(&word))
}

/// The operation of that name.
pub fn foreign_operation(word: &str) -> Option<&'static ForeignOperation> {
    let word = word.to_ascii_lowercase();
    let mut operations = OPERATIONS.iter();
    operations.find(|operation| operation.words.contains(&&*word))
}
