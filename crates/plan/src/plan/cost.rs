//! What is read of the server and of this host, so that the cost of an operation can be told.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is read, from where, and how often.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CostPlan {
    /// A process of this host that is the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<u32>,
    /// Whether the server's host is this one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub this_host: bool,
    /// Where a node_exporter on the server's host answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metrics: Option<String>,
    /// A line of sh that prints files of /proc of the server's host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Processors of the server's host that count; empty for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub processors: Vec<u32>,
    /// The interface of the server's host whose packets count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<String>,
    /// How long nothing is sent before the run, so that what the hosts do anyway is known.
    pub idle_ns: u64,
    /// From one reading to the next.
    pub interval_ns: u64,
}

impl CostPlan {
    /// Whether anything of the server is read.
    pub const fn reads_server(&self) -> bool {
        let is_named = self.metrics.is_some() || self.command.is_some();
        self.process.is_some() || self.this_host || is_named
    }

    /// Nothing but the packets that this host counts.
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
