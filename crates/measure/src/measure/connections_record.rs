//! How the connections of a run's clients were made.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The connections that were made before a run, one for each client.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ConnectionsRecord {
    /// How many were made.
    pub made: u64,
    /// How long all of them took together, pauses of a pace included.
    pub took_ns: u64,
    /// From the first attempt until the connection was there: half of them took no longer.
    pub connect_time_p50_ns: u64,
    /// 99 % of them took no longer.
    pub connect_time_p99_ns: u64,
    /// The longest of these times.
    pub connect_time_max_ns: u64,
    /// Attempts that the server refused, which were made again.
    pub refused_attempts: u64,
    /// What the clients take of memory, if that was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<ClientMemory>,
}

/// Resident memory of the load generator, and of the built-in server if it is in the same process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ClientMemory {
    /// Before the clients were made.
    pub before_bytes: u64,
    /// When all of them were connected.
    pub after_bytes: u64,
    /// At the end of the run.
    pub end_bytes: u64,
}

impl ClientMemory {
    /// What each of so many clients takes.
    pub fn per_client(&self, clients: u64) -> u64 {
        self.after_bytes.saturating_sub(self.before_bytes) / clients.max(1)
    }
}

impl ConnectionsRecord {
    /// Of connections that took `times`, in nanoseconds each, and `took_ns` together.
    pub fn of(mut times: Vec<u64>, took_ns: u64, refused_attempts: u64) -> Self {
        times.sort_unstable();
        // The time that so many of a hundred do not exceed.
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
