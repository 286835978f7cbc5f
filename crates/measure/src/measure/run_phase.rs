//! Which part of a run is going on, for whoever watches it.

use serde::{Deserialize, Serialize};

/// Which part of a run is going on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum RunPhase {
    /// The target is looked for, files are made, clients are connected.
    Preparing,
    /// Operations are sent that do not count.
    WarmUp,
    /// The measured window is open.
    Measure,
    /// What was in flight when it closed ends.
    Drain,
    /// What was made is taken away, and the record is made.
    CleanUp,
    /// The run is over.
    Finished,
}

impl RunPhase {
    /// All of them, in the order of time.
    pub const ALL: [Self; 6] = [
        Self::Preparing,
        Self::WarmUp,
        Self::Measure,
        Self::Drain,
        Self::CleanUp,
        Self::Finished,
    ];

    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Preparing => "preparing",
            Self::WarmUp => "warm-up",
            Self::Measure => "measure",
            Self::Drain => "drain",
            Self::CleanUp => "clean-up",
            Self::Finished => "finished",
        }
    }
}
