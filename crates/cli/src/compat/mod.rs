//! The programs that filestone descends from: their command lines, what they print, and
//! their exit codes.

pub mod dbench;
mod ending;
pub mod getopt;
mod login;
pub mod nct;
pub mod nhfsstone;
mod replayed;
pub mod smbtorture;
pub mod tbench_srv;

/// Their names, as links to this program and words behind `filestone as` have them.
pub const NAMES: [&str; 6] = [
    "nct",
    "dbench",
    "tbench",
    "tbench_srv",
    "nhfsstone",
    "smbtorture",
];
