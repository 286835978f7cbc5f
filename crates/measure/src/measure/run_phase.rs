//! Phase of a run, for display.

use serde::{Deserialize, Serialize};

/// Phase of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum RunPhase {
    /// The target is checked, files are created, clients connect.
    Preparing,
    /// Operations are sent but do not count.
    WarmUp,
    /// The measured window is open.
    Measure,
    /// Operations in flight at the end of the window complete.
    Drain,
    /// Created files are removed, and the record is completed.
    CleanUp,
    /// The run is over.
    Finished,
}

impl RunPhase {
    /// List of all phases in chronological order.
    pub const ALL: [Self; 6] = [
        Self::Preparing,
        Self::WarmUp,
        Self::Measure,
        Self::Drain,
        Self::CleanUp,
        Self::Finished,
    ];

    /// Returns the name of the phase.
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
