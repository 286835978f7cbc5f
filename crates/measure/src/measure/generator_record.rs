//! What a record says of its load generator: its host, what it can do there, and how its run ended.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The host of the load generator.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Host {
    /// Kernel name and release.
    pub kernel: String,
    /// Processor model.
    pub cpu: String,
    /// Processors that this process may use.
    pub cpus: u32,
    /// Frequency governor, if the kernel says.
    pub governor: Option<String>,
    /// The kernel's clock source.
    pub clock_source: String,
    /// What one reading of the clock costs, in nanoseconds.
    pub clock_read_ns: f64,
    /// Smallest step seen between two readings, in nanoseconds.
    pub clock_step_ns: f64,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// What waited for completions in the first worker: `epoll`, or `recv` for a single connection.
    pub driver: String,
}

/// What the tool itself can do on this host (`filestone calibrate`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Headroom {
    /// Calls in flight: those of a closed loop, 32 of others and in records of method 1.
    #[serde(default = "Headroom::in_flight_of_method_1")]
    pub in_flight: u32,
    /// What was exchanged with the built-in server: the emptiest request of the run's protocol.
    #[serde(default = "Headroom::exchange_of_method_1")]
    pub exchange: String,
    /// Exchanges per second through the whole engine.
    pub engine_ops_per_s: f64,
    /// The same bytes over a plain socket.
    pub raw_ops_per_s: f64,
    /// Client processor time per operation through the engine, in nanoseconds.
    pub engine_cpu_ns_per_op: f64,
    /// Client processor time per operation over the plain socket, in nanoseconds.
    pub raw_cpu_ns_per_op: f64,
    /// Median lateness of timed starts at 10,000 per second, in nanoseconds.
    pub timer_lateness_p50_ns: u64,
    /// 99th percentile of the same.
    pub timer_lateness_p99_ns: u64,
}

impl Headroom {
    const fn in_flight_of_method_1() -> u32 {
        32
    }

    /// Whatever protocol a run was of.
    fn exchange_of_method_1() -> String {
        "NULL".into()
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub enum RunOutcome {
    /// As planned.
    Finished,
    /// Somebody stopped it.
    Interrupted,
    /// The server was gone.
    TargetLost {
        /// What happened.
        message: String,
    },
}
