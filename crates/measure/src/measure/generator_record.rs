//! The load generator in a record: its host, its capacity on that host, and the end of the run.

use crate::JsonSchema;
use serde::{Deserialize, Serialize};

/// The host of the load generator.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Host {
    /// Kernel name and release.
    pub kernel: String,
    /// CPU model.
    pub cpu: String,
    /// Number of CPUs that this process may use.
    pub cpus: u32,
    /// CPU frequency governor, if the kernel reports one.
    pub governor: Option<String>,
    /// Clock source of the kernel.
    pub clock_source: String,
    /// Cost of one reading of the clock, in nanoseconds.
    pub clock_read_ns: f64,
    /// Smallest step observed between two readings, in nanoseconds.
    pub clock_step_ns: f64,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// System call that waited for completions in the first worker: `epoll`, or `recv` for a single
    /// connection.
    pub driver: String,
}

/// Capacity of the tool itself on this host (`filestone calibrate`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Headroom {
    /// Calls in flight: those of a closed loop; 32 with other loads and in records of method 1.
    #[serde(default = "Headroom::in_flight_of_method_1")]
    pub in_flight: u32,
    /// Request exchanged with the built-in server: the emptiest one of the run's protocol.
    #[serde(default = "Headroom::exchange_of_method_1")]
    pub exchange: String,
    /// Exchanges per second through the whole engine.
    pub engine_ops_per_s: f64,
    /// Exchanges of equal size per second over a plain socket.
    pub raw_ops_per_s: f64,
    /// Client CPU time per operation through the engine, in nanoseconds.
    pub engine_cpu_ns_per_op: f64,
    /// Client CPU time per operation over the plain socket, in nanoseconds.
    pub raw_cpu_ns_per_op: f64,
    /// Median delay of timed starts at 10,000 per second, in nanoseconds.
    pub timer_lateness_p50_ns: u64,
    /// 99th percentile of the delay of timed starts at 10,000 per second, in nanoseconds.
    pub timer_lateness_p99_ns: u64,
}

impl Headroom {
    const fn in_flight_of_method_1() -> u32 {
        32
    }

    /// Protocol-independent default of records of method 1.
    fn exchange_of_method_1() -> String {
        "NULL".into()
    }
}

/// End of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub enum RunOutcome {
    /// As planned.
    Finished,
    /// The user stopped the run.
    Interrupted,
    /// The server was lost.
    TargetLost {
        /// Error message.
        message: String,
    },
}
