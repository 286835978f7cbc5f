//! What one way of exchanging messages achieves, for comparing two.

/// What one way of exchanging messages achieves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// Exchanges per second.
    pub ops_per_s: f64,
    /// Processor time of the client per exchange, in nanoseconds.
    pub cpu_ns_per_op: f64,
    /// File data per second.
    pub data_bytes_per_s: f64,
}
