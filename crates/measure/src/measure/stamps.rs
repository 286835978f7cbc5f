//! Times of calls by the kernel timestamps of their packets, on a sample of the calls.
//!
//! ```text
//!   sent ──▶ transmitted ─ ─ ─ network, server, network ─ ─ ─▶ arrived ──▶ taken
//!     │ out: this host's kernel │           beyond            │ in: this host's kernel,
//!     │                         │                             │ and waiting for this thread
//! ```

use crate::JsonSchema;
use filestone_workload::statistics::Estimate;
use filestone_workload::time::Timestamp;
use serde::{Deserialize, Serialize};

/// A call with kernel timestamps of its packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StampedCall {
    /// Time of the send.
    pub sent: Timestamp,
    /// From the system call that sends the call until its last packet is passed to the network driver.
    pub out_ns: u64,
    /// From then on until the first packet of the reply arrives from the driver.
    pub beyond_ns: u64,
    /// From then on until this program has read the whole reply.
    pub in_ns: u64,
}

/// Times of calls in the kernel, in the network and at the server.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StampsRecord {
    /// Number of calls with kernel timestamps.
    pub calls: u64,
    /// Time in this host's kernel while sending.
    pub kernel_out_ns: StampedTime,
    /// Time in the network and at the server.
    pub beyond_ns: StampedTime,
    /// Time of the reply in this host's kernel, including the wait until this program reads it.
    pub kernel_in_ns: StampedTime,
}

/// A part of the time of calls with kernel timestamps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StampedTime {
    /// The mean, in nanoseconds.
    pub mean: f64,
    /// Half of the 95 % interval of the mean, in nanoseconds.
    pub half_width: f64,
    /// The median, in nanoseconds.
    pub p50: u64,
}

impl StampsRecord {
    /// Computes the times of the calls that were sent in the window; `None` with fewer than two.
    pub fn of(calls: &[StampedCall], opened: Timestamp, closed: Timestamp) -> Option<Self> {
        let in_window = calls
            .iter()
            .filter(|call| call.sent >= opened && call.sent < closed);
        let calls: Vec<&StampedCall> = in_window.collect();
        let time = |of: fn(&StampedCall) -> u64| {
            StampedTime::of(calls.iter().map(|call| of(call)).collect())
        };
        Some(Self {
            calls: calls.len() as u64,
            kernel_out_ns: time(|call| call.out_ns)?,
            beyond_ns: time(|call| call.beyond_ns)?,
            kernel_in_ns: time(|call| call.in_ns)?,
        })
    }
}

impl StampedTime {
    fn of(mut times: Vec<u64>) -> Option<Self> {
        let values: Vec<f64> = times.iter().map(|ns| *ns as f64).collect();
        let mean = Estimate::of_independent(&values)?;
        let (_, p50, _) = times.select_nth_unstable(values.len() / 2);
        Some(Self {
            mean: mean.value,
            half_width: mean.half_width(),
            p50: *p50,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(second: u64, out_ns: u64, beyond_ns: u64, in_ns: u64) -> StampedCall {
        StampedCall {
            sent: Timestamp::from_nanos(second * 1_000_000_000),
            out_ns,
            beyond_ns,
            in_ns,
        }
    }

    /// Send times 10, 12 and 14: mean 12, standard error 2/√3, and t of two degrees 4.3027. Calls before the
    /// window and after it do not count.
    #[test]
    fn calls_of_the_window_count() {
        let calls = [
            call(0, 999, 999, 999),
            call(1, 10, 100, 7),
            call(2, 12, 100, 7),
            call(3, 14, 400, 7),
            call(4, 999, 999, 999),
        ];
        let (opened, closed) = (calls[1].sent, calls[4].sent);
        let found = StampsRecord::of(&calls, opened, closed).expect("three");
        assert_eq!(found.calls, 3);
        assert_eq!(
            (found.kernel_out_ns.mean, found.kernel_out_ns.p50),
            (12.0, 12)
        );
        let expected = 4.3027 * 2.0 / 3f64.sqrt();
        assert!((found.kernel_out_ns.half_width - expected).abs() < 0.001);
        assert_eq!((found.beyond_ns.mean, found.beyond_ns.p50), (200.0, 100));
        assert_eq!(
            (found.kernel_in_ns.mean, found.kernel_in_ns.half_width),
            (7.0, 0.0)
        );
        assert_eq!(StampsRecord::of(&calls[..2], opened, closed), None);
    }
}
