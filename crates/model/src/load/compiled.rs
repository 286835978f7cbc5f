//! A load file, compiled: compact, immutable, shared by all clients.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which program's load files look like this.
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
}

/// A load file, compiled.
#[derive(Debug)]
pub struct Load {
    generation: Generation,
}

impl Load {
    /// An empty load of that generation.
    pub fn empty(generation: Generation) -> Self {
        Self { generation }
    }

    /// Whose grammar it has.
    pub fn generation(&self) -> Generation {
        self.generation
    }
}
