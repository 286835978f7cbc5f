//! One client's walk through a load: where it is, what its random strings,
//! previous numbers and loops are, and what the next line asks with all of that
//! worked out.
//!
//! Nothing here waits or reads a clock: pauses, stamps and sequence points are
//! handed out as [`Next`] and are the runner's business.

use super::Load;
use super::action::Action;
use super::expected::Expected;
use std::sync::Arc;
use std::time::Duration;

/// What a client does next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Next<'script> {
    /// Carry out a line.
    Operation(Line<'script>),
    /// Wait so long (SLEEP); times of later stamps count from its end.
    Sleep(Duration),
    /// Publish this sequence point of this client (SETSP).
    SetSequencePoint(u64),
    /// Go on when that client's sequence point is this one or a later one (WAITSP).
    WaitSequencePoint {
        /// Which client.
        client: u32,
        /// Which point.
        point: u64,
    },
    /// The file is at its end; asked again, it begins anew.
    EndOfPass,
}

/// A line to carry out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line<'script> {
    /// Its number in the file, from 1.
    pub number: u32,
    /// When it is due, counted from the begin of the pass or from the last
    /// directive that restarts the clock; `None` without a stamp.
    pub stamp: Option<Duration>,
    /// What it asks.
    pub action: Action<'script>,
    /// What should come of it.
    pub expected: Expected,
    /// What writes take their data from, over and over; never empty.
    pub data: &'script [u8],
}

/// A name or number that cannot be used, met while the load runs: only random
/// strings and expressions can come to that.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct ScriptError {
    /// Its number in the file.
    pub line: u32,
    /// What is wrong with it.
    pub what: String,
}

/// One client's walk through a load.
#[derive(Debug, Clone)]
pub struct Script {
    load: Arc<Load>,
    client: u32,
    clients: u32,
}

impl Script {
    /// The walk of client `client` (from 0) of `clients`; `seed` decides all
    /// random numbers and strings.
    pub fn new(load: Arc<Load>, client: u32, clients: u32, seed: u64) -> Self {
        let _ = seed;
        Self {
            load,
            client,
            clients,
        }
    }

    /// What comes next. Never loops without handing something out.
    pub fn next(&mut self) -> Result<Next<'_>, ScriptError> {
        let _ = (&self.load, self.client, self.clients);
        Ok(Next::EndOfPass)
    }
}
