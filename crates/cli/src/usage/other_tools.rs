//! Table of words of other benchmarks and their equivalents in filestone. Corrected command lines
//! are made from it, and docs/coming-from.md must agree with it.
//!
//! The benchmarks are fio, dbench, elbencho, nfsstone, iperf, ab, wrk and vegeta. The table omits
//! words that filestone has too, whatever they mean elsewhere.

/// Replacement of a foreign word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Equivalent {
    /// An option with the same value.
    Option(&'static str),
    /// Fixed words; a value is dropped.
    Words(&'static str),
    /// The value is the load and becomes an argument.
    Load,
    /// The value is an operation: fio's `--rw=randread`.
    Operation,
    /// The value is the target.
    Target,
    /// Removed without replacement: the word has no meaning in filestone.
    Nothing,
}

/// An option of other programs.
#[derive(Debug)]
pub struct ForeignOption {
    /// Spellings.
    pub words: Vec<&'static str>,
    /// Commands to which the entry applies.
    pub commands: Vec<&'static str>,
    /// Equivalent in filestone.
    pub ours: Equivalent,
    /// Whether it has a value.
    pub has_value: bool,
    /// Explanation for the user.
    pub reason: &'static str,
}

/// Options; the first match counts. Columns: commands, words (with `=` if a value follows),
/// equivalent, explanation for the user.
const OPTIONS: &str = "
probe | --bs= --block-size= --blocksize= --block= -b= | --io-size= | bytes per call
mix | --bs= --block-size= --blocksize= --block= -b= --size= | --io-size= | bytes per READ and WRITE at most
probe mix | --filesize= | --file-size= | how long a file is
probe mix | --nrfiles= | --files= | how many files there are
probe mix | --iodepth= --io-depth= --qd= --queue-depth= --depth= | --in-flight= | calls in flight per client
probe mix replay | --numjobs= --threads= --nprocs= --connections= --concurrency= --parallel= -P= | --clients= | each client has a connection of its own
probe mix replay | --runtime= --time= --timelimit= -t= | --duration= | how long to measure
probe mix replay | --ramp_time= --ramp-time= --warmup= --warmup-time= | --warm-up= | how long to run before measuring
probe mix | --rate= --rate_iops= --rate-iops= --iops= --qps= -R= | --offered= | operations due per second, of all clients together, not bytes
probe mix | --requests= --number_ios= --number-ios= -n= | --count= | operations, of all clients together
probe mix replay | --json --json-output -J | --format json | the run record on standard output
probe mix replay | --output-format= | --format= | what is printed; filestone report RECORD --format csv makes the other forms
probe mix replay | --repeats= --loops= --runs= --iterations= | --repeat= | several runs, each with a record of its own
probe mix replay | --interval= --livint= --status-interval= -i= | --report-interval= | time between rows
probe | --rw= --readwrite= --operation= --op= | OPERATION | the operation is the first word of probe
probe | --rand --randrw --randread | --random | offsets and files at random
mix | --rand --random --randrw --randread | --access random | any part of any file
probe mix | --fsync= --fdatasync= --end_fsync= | --stable file-sync | each WRITE is on stable storage before it is answered
probe mix | --sync --osync | --stable file-sync | each WRITE is on stable storage before it is answered
mix | --verify | --data verify | data that are read are compared
probe mix | --udp -u | --transport udp | one datagram per message
replay | --loadfile= -l= | LOAD | the load file is the first word of replay
probe mix replay | --filename= --directory= --path= --host= --hosts= -D= | TARGET | where operations go: nfs://host/path, host:/path, or local:DIR
probe mix replay | --ioengine= | NOTHING | filestone speaks NFS itself, with no kernel's input and output between
probe mix replay | --name= --eta= --thread= --invalidate= --randrepeat= --norandommap= | NOTHING | it has no sense here
probe mix | --direct= | NOTHING | no page cache of this host is between filestone and the server
probe mix replay | --time_based --time-based --group_reporting --group-reporting | NOTHING | it is always so
";

/// An operation of other programs, or a command.
#[derive(Debug)]
pub struct ForeignOperation {
    /// Spellings.
    pub words: Vec<&'static str>,
    /// Command and its words.
    pub ours: Vec<&'static str>,
    /// Explanation for the user.
    pub reason: &'static str,
}

/// Operations. Columns: words in place of a command or an operation, the command and its words in
/// filestone, explanation for the user.
const OPERATIONS: &str = "
stat fstat lstat | probe getattr | NFS has GETATTR for stat(2); fsstat is about a whole file system
fsync fdatasync sync flush | probe commit | NFS has COMMIT for fsync(2)
randread rand-read random-read | probe read --random | READ at random offsets
randwrite rand-write random-write | probe write --random | WRITE at random offsets
seqread seq-read cat | probe read | READ from one end of a file to the other
seqwrite seq-write | probe write | WRITE from one end of a file to the other
rw readwrite | mix --mix read-mostly | several operations at once are a mix
randrw | mix --mix read-mostly --access random | several operations at once are a mix
ls list getdents | probe readdir | NFS has READDIR for names, and READDIRPLUS for ls -l
open | probe lookup | NFSv3 has no OPEN: clients look the name up
unlink rm delete rmfiles delfiles | probe remove | NFS has REMOVE for unlink(2)
touch mkfile mkfiles | probe create | a new file, made by CREATE
mv | probe rename | NFS has RENAME for rename(2)
mkdirs | probe mkdir | NFS has MKDIR
rmdirs deldirs | probe rmdir | NFS has RMDIR
chmod chown truncate utimes | probe setattr | NFS has SETATTR for all attributes
statfs df statvfs | probe fsstat | NFS has FSSTAT for statvfs(3)
ping noop | probe null | NULL asks for nothing but an answer
server | serve | the built-in server
nfsstone nhfsrun | mix --mix nhfsstone | nhfsstone's mix
";

/// Splits a table into rows with `CELLS` cells each.
fn rows<const CELLS: usize>(table: &'static str) -> impl Iterator<Item = [&'static str; CELLS]> {
    table.lines().filter_map(|line| {
        let cells: Vec<&str> = line.split(" | ").collect();
        cells.try_into().ok()
    })
}

fn words(cell: &'static str) -> Vec<&'static str> {
    cell.split(' ').collect()
}

/// Returns all options.
pub fn options() -> impl Iterator<Item = ForeignOption> {
    rows(OPTIONS).map(|[commands, given, ours, reason]| ForeignOption {
        words: given
            .split(' ')
            .map(|word| word.trim_end_matches('='))
            .collect(),
        commands: words(commands),
        ours: match ours {
            "LOAD" => Equivalent::Load,
            "OPERATION" => Equivalent::Operation,
            "TARGET" => Equivalent::Target,
            "NOTHING" => Equivalent::Nothing,
            ours => ours
                .strip_suffix('=')
                .map_or(Equivalent::Words(ours), Equivalent::Option),
        },
        has_value: given.ends_with('='),
        reason,
    })
}

/// Returns all operations.
pub fn operations() -> impl Iterator<Item = ForeignOperation> {
    rows(OPERATIONS).map(|[given, ours, reason]| ForeignOperation {
        words: words(given),
        ours: words(ours),
        reason,
    })
}

/// Returns the option of that name for a command.
pub fn foreign_option(word: &str, command: &str) -> Option<ForeignOption> {
    let mut fitting = options().filter(|option| option.commands.contains(&command));
    fitting.find(|option| option.words.contains(&word))
}

/// Returns the operation of that name.
pub fn foreign_operation(word: &str) -> Option<ForeignOperation> {
    let word = word.to_ascii_lowercase();
    operations().find(|operation| operation.words.contains(&&*word))
}
