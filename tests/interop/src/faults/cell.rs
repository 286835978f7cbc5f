//! The cells of the matrix.

use serde::Deserialize;
use std::fmt;
use std::time::Duration;

/// Fault of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Stopped, and continued within the time-out.
    Paused,
    /// Stopped, and continued when the run has given up or ended.
    Frozen,
    /// Killed, and restarted immediately without any state.
    Restarted,
    /// Killed, and not restarted before the run has ended.
    Gone,
    /// Unreachable until the run has ended, with its state intact.
    CutOff,
    /// The connection of one client is closed, and for a while no other can be made.
    OneCutOff,
    /// The server has no space left.
    Full,
    /// Calls are slow, but faster than the time-out.
    Slow,
    /// Calls take longer than the time-out.
    TooSlow,
    /// Files of another program appear in the directories of the run.
    Planted,
}

/// A phase of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    Prepare,
    WarmUp,
    Measure,
    Drain,
    CleanUp,
}

/// Command of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CommandKind {
    Probe,
    /// A mix that removes its file set.
    Mix,
    /// A mix whose file set stays.
    KeptSet,
    Replay,
    Fleet,
}

/// A run of the matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    pub fault: Fault,
    pub phase: Phase,
    pub face: CommandKind,
}

impl Fault {
    pub const ALL: [Self; 10] = {
        use Fault::*;
        [
            Paused, Frozen, Restarted, Gone, CutOff, OneCutOff, Full, Slow, TooSlow, Planted,
        ]
    };

    pub const fn name(self) -> &'static str {
        match self {
            Self::Paused => "paused",
            Self::Frozen => "frozen",
            Self::Restarted => "restarted",
            Self::Gone => "gone",
            Self::CutOff => "cut off",
            Self::OneCutOff => "one lost",
            Self::Full => "full",
            Self::Slow => "slow",
            Self::TooSlow => "too slow",
            Self::Planted => "planted",
        }
    }

    /// Returns the duration of the fault; `None` until the run has ended.
    pub const fn duration(self) -> Option<Duration> {
        match self {
            Self::Paused => Some(Duration::from_millis(500)),
            Self::Restarted => Some(Duration::from_millis(300)),
            Self::OneCutOff | Self::Slow | Self::TooSlow => Some(Duration::from_millis(2500)),
            Self::Frozen | Self::Gone | Self::CutOff | Self::Full | Self::Planted => None,
        }
    }
}

impl Phase {
    pub const ALL: [Self; 5] = {
        use Phase::*;
        [Prepare, WarmUp, Measure, Drain, CleanUp]
    };

    pub const fn name(self) -> &'static str {
        match self {
            Self::Prepare => "prepare",
            Self::WarmUp => "warm-up",
            Self::Measure => "measure",
            Self::Drain => "drain",
            Self::CleanUp => "clean-up",
        }
    }
}

impl CommandKind {
    pub const ALL: [Self; 5] = {
        use CommandKind::*;
        [Probe, Mix, KeptSet, Replay, Fleet]
    };

    pub const fn name(self) -> &'static str {
        match self {
            Self::Probe => "probe",
            Self::Mix => "mix",
            Self::KeptSet => "kept set",
            Self::Replay => "replay",
            Self::Fleet => "fleet",
        }
    }
}

impl Cell {
    /// Returns all cells, row by row.
    pub fn all() -> Vec<Self> {
        let rows = Fault::ALL
            .into_iter()
            .flat_map(|fault| Phase::ALL.map(|phase| (fault, phase)));
        rows.flat_map(|(fault, phase)| CommandKind::ALL.map(|face| Self { fault, phase, face }))
            .filter(Self::exists)
            .collect()
    }
}

impl Cell {
    /// Whether the cell exists; for example, a fleet has no warm-up.
    fn exists(&self) -> bool {
        self.face != CommandKind::Fleet || self.phase != Phase::WarmUp
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (fault, phase, face) = (self.fault.name(), self.phase.name(), self.face.name());
        write!(f, "{fault} {phase} {face}")
    }
}
