//! End of `filestone --help`, and of the page filestone(1). Each part is a topic, too.

const EXIT_CODES: &str = "\
Exit codes:
  0    measured
  1    measured, but a gate of --fail-if fails, or there is a caveat that
       --fail-on-caveat names; of doctor, a warning or a problem was found;
       of compare, ab and history, it is worse
  2    the command line or a file named in it is wrong
  3    the target could not be measured, was lost in the middle, or nothing succeeded
  4    this host refused something (a file, a socket, a full disk)
  70   a bug of filestone
  125  compare, ab: the runs do not tell, or a server did not start; git bisect run skips it
  130  interrupted by ^C; what was measured up to then is reported
A second ^C ends filestone at once.";

const UNITS: &str = "\
Units, in what is asked and in what is printed:
  K, M, G, T and KiB, MiB, GiB, TiB   powers of 1024: 64K = 64KiB = 65,536 bytes
  kB, MB, GB, TB                      powers of 1000: 64kB = 64,000 bytes
The tables of `compat nct` have nct's megabytes, which were 2^20 bytes; dbench's were 10^6.";

const ENVIRONMENT: &str = "\
Environment variables:
  COLUMNS               width of the text that is printed
  NO_COLOR              no colours, if it is set
  TERM                  no view of a run on the terminal, if it is empty or dumb
  FILESTONE_PASSWORD    password for SMB, instead of --password-file
  FILESTONE_SMB_KEYLOG  file to which session keys of SMB are appended, for Wireshark
  XDG_RUNTIME_DIR       directory for the sockets of fleets, in its subdirectory filestone";

const FILES: &str = "\
Files:
  DIR/run.json, DIR/report.html, ...  what -o DIR writes: filestone help output
  made-by-filestone                   marks a directory that a run has made on a target
  /tmp/filestone-UID                  directory for the sockets of fleets without XDG_RUNTIME_DIR";

/// The parts, each with its name as a topic and its subject.
pub const PARTS: [(&str, &str, &str); 4] = [
    ("exit-codes", "exit codes of every command", EXIT_CODES),
    ("units", "units of sizes and rates", UNITS),
    ("environment", "environment variables", ENVIRONMENT),
    ("files", "files that filestone makes", FILES),
];

/// Returns all parts.
pub fn text() -> String {
    PARTS.map(|(_, _, text)| text).join("\n\n")
}
