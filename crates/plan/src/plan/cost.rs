//! Counters of the server and of this host that are read to compute the cost of an operation.

use crate::JsonSchema;
use serde::{Deserialize, Serialize};

/// The counters that are read, their sources, and the interval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CostPlan {
    /// Process id of the server on this host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<u32>,
    /// Whether the server runs on this host.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub this_host: bool,
    /// URL of a node_exporter on the server's host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metrics: Option<String>,
    /// A shell command that prints files of /proc of the server's host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// CPUs of the server's host that count; empty for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub processors: Vec<u32>,
    /// Network interface of the server's host whose packets count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<String>,
    /// Length of the idle time before the run, for the measurement of the background activity of
    /// the hosts.
    pub idle_ns: u64,
    /// Interval between two readings.
    pub interval_ns: u64,
}

impl CostPlan {
    /// Whether any counters of the server are read.
    pub const fn reads_server(&self) -> bool {
        let is_named = self.metrics.is_some() || self.command.is_some();
        self.process.is_some() || self.this_host || is_named
    }

    /// A cost plan with only the packet counters of this host.
    pub const fn of_this_end(idle_ns: u64, interval_ns: u64) -> Self {
        Self {
            process: None,
            this_host: false,
            metrics: None,
            command: None,
            processors: vec![],
            interface: None,
            idle_ns,
            interval_ns,
        }
    }
}
