//! Ancestor programs of filestone: their command lines, output and exit codes.

pub mod dbench;
mod ending;
pub mod getopt;
mod login;
pub mod nct;
pub mod nhfsstone;
mod replayed;
pub mod smbtorture;
pub mod tbench_srv;

/// Names of the ancestors, for links to this program and behind `filestone compat`.
pub const NAMES: [&str; 6] = [
    "nct",
    "dbench",
    "tbench",
    "tbench_srv",
    "nhfsstone",
    "smbtorture",
];
