//! Generations of load files, by program.

use crate::JsonSchema;
use serde::{Deserialize, Serialize};

/// The program that load files of this form belong to.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Generation {
    /// dbench 1: a sniffer's REQUEST and REPLY lines.
    Dbench1,
    /// dbench 2: one operation per line, no quotes, no status.
    Dbench2,
    /// dbench 3 to 5 and smbtorture, CIFS-style verbs.
    Cifs,
    /// dbench 4 (git) and 5, NFSv3 verbs.
    Nfs,
    /// dbench 4 (git) and 5, verbs of its smb backend: open files are named by path.
    Smb,
}

impl Generation {
    /// Returns the name in machine-readable output.
    pub const fn name(self) -> &'static str {
        match self {
            Generation::Dbench1 => "dbench1",
            Generation::Dbench2 => "dbench2",
            Generation::Cifs => "cifs",
            Generation::Nfs => "nfs",
            Generation::Smb => "smb",
        }
    }

    /// Returns a description for text output.
    pub const fn description(self) -> &'static str {
        match self {
            Generation::Dbench1 => "a load of dbench 1, requests and replies",
            Generation::Dbench2 => "a load of dbench 2, without statuses",
            Generation::Cifs => "a load of dbench 3 to 5, CIFS-style",
            Generation::Nfs => "a load of dbench 5, NFSv3",
            Generation::Smb => "a load of dbench 5, SMB by path",
        }
    }

    /// Whether the files are opened, and then named by handles.
    pub const fn opens_files(self) -> bool {
        !matches!(self, Generation::Nfs)
    }
}
