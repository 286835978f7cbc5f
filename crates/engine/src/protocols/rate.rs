//! Rate of message exchanges, for comparing two methods.

/// Rate achieved by one method of exchanging messages.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// Exchanges per second.
    pub ops_per_s: f64,
    /// CPU time of the client per exchange, in nanoseconds.
    pub cpu_ns_per_op: f64,
    /// File data per second, in bytes.
    pub data_bytes_per_s: f64,
}
