//! Progress of a replay, observed once a second while it runs.

/// Phase of a replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgressPhase {
    /// The measured window has not opened yet.
    WarmUp,
    /// The measured window is open, or its last lines are still running.
    Execute,
    /// Clients remove their trees.
    CleanUp,
}

/// Progress of a replay: dbench's row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// The phase.
    pub phase: ProgressPhase,
    /// Number of all clients; in the clean-up, of those that are not clean yet.
    pub clients: u32,
    /// Lines that a client has executed, on average, over all iterations of the load file.
    pub line: u64,
    /// Bytes of file data per second since the phase began; in the clean-up, those of the phase
    /// before.
    pub bytes_per_s: f64,
    /// Seconds since the phase began; in the clean-up, as in dbench, since the window opened.
    pub seconds: f64,
    /// Longest response time of an operation that ended since the last row, or that is still in
    /// flight.
    pub latency_max_ns: u64,
}
