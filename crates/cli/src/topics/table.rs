//! Pages of docs/ that are built into the program, and the words that lead to a part of one.
//!
//! docs/design is left out: it is written for developers, who have the repository.

use crate::packed::packed_text;
use std::sync::LazyLock;

/// A page of docs/.
#[derive(Debug)]
pub struct DocumentationPage {
    /// Path below docs/, without `.md`.
    pub path: &'static str,
    /// Subject, in one line.
    pub about: &'static str,
    /// Text in Markdown.
    pub markdown: LazyLock<String>,
}

impl DocumentationPage {
    /// Returns the page's name as a topic.
    pub fn name(&self) -> &'static str {
        self.path
            .rsplit_once('/')
            .map_or(self.path, |(_, name)| name)
    }

    /// Returns the folder below docs/; empty for docs/ itself.
    pub fn folder(&self) -> &'static str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }
}

macro_rules! pages {
    ($($path:literal $about:literal)*) => {
        /// List of all pages.
        pub static PAGES: [DocumentationPage; [$($path),*].len()] = [$(DocumentationPage {
            path: $path,
            about: $about,
            markdown: LazyLock::new(|| packed_text!($path, ".md")),
        }),*];
    };
}

/// Folders below docs/, with a heading for the list of topics.
pub const FOLDERS: [(&str, &str); 4] = [
    ("reference", "Reference"),
    ("", "Overviews"),
    ("tutorials", "Tutorials"),
    ("loads", "Loads"),
];

pages! {
    "reference/ab" "two servers, or two settings, in alternating runs"
    "reference/ancestors" "command lines of nct, dbench, nhfsstone, smbtorture"
    "reference/check" "check load files and mixes without a run"
    "reference/cluster" "one run on many hosts, with MPI or without"
    "reference/compare" "whether runs are better or worse than others"
    "reference/cost" "packets, bytes and processor time of each operation"
    "reference/curve" "load-response curves: points, knee, peak"
    "reference/doctor" "findings about this host and the target, and fixes"
    "reference/explain" "limits of a run: rules, thresholds, evidence"
    "reference/file-set" "files that a mix works on"
    "reference/fleet" "plans of many clients, and changes while they run"
    "reference/gates" "conditions that make a run fail: --fail-if"
    "reference/history" "a figure over many runs, and where it changed"
    "reference/ladder" "operations from NULL to READDIRPLUS, one after the other"
    "reference/live" "the page of a run for browsers: --live"
    "reference/live-terminal" "the view of a run on the terminal"
    "reference/load-file" "the language of load files"
    "reference/lowering" "the calls that each line of a load becomes"
    "reference/metrics" "metrics for Prometheus, and the Grafana dashboard"
    "reference/mix" "mixes of operations: options, report, figures"
    "reference/mix-file" "files with a mix: nfsstat, /proc, Samba, lists"
    "reference/mix-local" "mixes through a kernel mount"
    "reference/objective" "the highest load that keeps an objective: --slo"
    "reference/pictures" "pictures that --output draws, and how to read them"
    "reference/probe" "one operation, repeated: options, report, figures"
    "reference/protocols" "TCP, UDP, NFSv3 and SMB as filestone uses them"
    "reference/repeats" "repeated runs: --repeat"
    "reference/replay" "replays of load files: layers, report, figures"
    "reference/reports" "reports, the run record, percentiles, 95 % intervals"
    "reference/server" "the built-in server: options, faults, limits"
    "reference/smb" "shares of SMB servers as targets: users, options"
    "reference/smb-hostile" "answers of the built-in server to hostile SMB messages"
    "reference/sweep" "runs over the values of one or two options"
    "reference/tbench" "bare TCP: the exchanges of tbench"
    "reference/validity" "verdicts and caveats: every rule, with its threshold"
    "benchmarks" "the overhead of filestone, measured"
    "coming-from" "options of fio, dbench and elbencho, translated"
    "glossary" "terms, and their names in the literature"
    "limits" "limits of the tool and of its figures"
    "mixes" "the built-in mixes and their sources"
    "packages" "packages: what they hold, how to install them"
    "tutorials/administrator" "which of two servers, and how large"
    "tutorials/bisect" "which commit made a server slower"
    "tutorials/performance-engineer" "a figure that can be published"
    "tutorials/server-developer" "tests of an NFS server under development"
    "loads/build" "a source tree being compiled"
    "loads/database" "a small transactional database"
    "loads/mail" "a mail server for eight users"
    "loads/office" "one person's work on the file server of a department"
    "loads/untar" "an archive of 1,600 files being unpacked"
}

/// Words that are not the name of a page or a heading, with the page or `page#heading` that they
/// refer to.
pub const ALIASES: &[(&str, &str)] = &[
    ("baseline", "compare"),
    ("calibrate", "limits#of-the-tool"),
    ("caveats", "validity"),
    ("compat", "ancestors"),
    ("confidence", "reports#how-well-a-figure-is-known"),
    ("csv", "reports"),
    ("dashboard", "metrics"),
    ("dbench", "ancestors"),
    ("elbencho", "coming-from"),
    ("exits", "exit-codes"),
    ("faults", "server#faults"),
    ("fio", "coming-from"),
    ("grafana", "metrics"),
    ("histograms", "reports#percentiles"),
    ("html", "reports#reporthtml"),
    ("intervals", "reports#how-well-a-figure-is-known"),
    ("json", "reports#the-run-record"),
    ("kubernetes", "cluster#kubernetes"),
    ("latency", "glossary#load-and-time"),
    ("layers", "replay#layers"),
    ("load-files", "load-file"),
    ("loads", "replay#loads"),
    ("merge", "cluster#without-mpi"),
    ("mix-files", "mix-file"),
    ("mpi", "cluster"),
    ("nct", "ancestors"),
    ("nfs", "protocols"),
    ("nfsstat", "mix-file#nfsstat"),
    ("nhfsstone", "ancestors"),
    ("output", "reports#output-dir"),
    ("password", "smb#who-logs-on"),
    ("passwords", "smb#who-logs-on"),
    ("percentiles", "reports#percentiles"),
    ("prometheus", "metrics"),
    ("record", "reports#the-run-record"),
    ("report", "reports"),
    ("rows", "reports#rows"),
    ("schema", "reports#the-run-record"),
    ("serve", "server"),
    ("slo", "objective"),
    ("smbtorture", "ancestors"),
    ("tcp", "protocols"),
    ("terms", "glossary"),
    ("udp", "protocols"),
    ("valid", "validity"),
    ("verdict", "validity"),
    ("warm-up", "glossary#load-and-time"),
    ("words", "glossary"),
];
