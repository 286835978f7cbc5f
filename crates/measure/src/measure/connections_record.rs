//! Setup of the connections of a run's clients.

use crate::JsonSchema;
use serde::{Deserialize, Serialize};

/// Connections made before a run, one per client.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ConnectionsRecord {
    /// Number of connections.
    pub made: u64,
    /// Time to make all of them in nanoseconds, including the pauses of a pace.
    pub took_ns: u64,
    /// Median connect time in nanoseconds, from the first attempt to the established connection.
    pub connect_time_p50_ns: u64,
    /// 99th percentile of the connect times.
    pub connect_time_p99_ns: u64,
    /// Maximum connect time.
    pub connect_time_max_ns: u64,
    /// Attempts that the server refused and that were repeated.
    pub refused_attempts: u64,
    /// Memory use of the clients, if it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<ClientMemory>,
}

/// Resident memory of the load generator, and of the built-in server if it is in the same process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ClientMemory {
    /// Before the clients were created.
    pub before_bytes: u64,
    /// After all of them were connected.
    pub after_bytes: u64,
    /// At the end of the run.
    pub end_bytes: u64,
}

impl ClientMemory {
    /// Returns the memory per client.
    pub fn per_client(&self, clients: u64) -> u64 {
        self.after_bytes.saturating_sub(self.before_bytes) / clients.max(1)
    }
}

impl ConnectionsRecord {
    /// Creates the record from the connect times and the total time, in nanoseconds.
    pub fn of(mut times: Vec<u64>, took_ns: u64, refused_attempts: u64) -> Self {
        times.sort_unstable();
        // Smallest time that at least `of_hundred` percent do not exceed.
        let percentile = |of_hundred: usize| {
            let rank = (times.len() * of_hundred).div_ceil(100);
            times.get(rank.saturating_sub(1)).copied()
        };
        Self {
            made: times.len() as u64,
            took_ns,
            connect_time_p50_ns: percentile(50).unwrap_or_default(),
            connect_time_p99_ns: percentile(99).unwrap_or_default(),
            connect_time_max_ns: times.last().copied().unwrap_or_default(),
            refused_attempts,
            memory: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_times_that_were_measured() {
        let record = ConnectionsRecord::of((1..=200).rev().collect(), 5000, 3);
        let times = (
            record.connect_time_p50_ns,
            record.connect_time_p99_ns,
            record.connect_time_max_ns,
        );
        assert_eq!((record.made, times), (200, (100, 198, 200)));
        let one = ConnectionsRecord::of(vec![7], 7, 0);
        let times = (one.connect_time_p50_ns, one.connect_time_p99_ns);
        assert_eq!((times, one.connect_time_max_ns), ((7, 7), 7));
        assert_eq!(
            ConnectionsRecord::of(vec![], 0, 0),
            ConnectionsRecord::default()
        );
    }
}
