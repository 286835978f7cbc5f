//! Cost of operations in a run record.

use super::counter::CostCounter;
use super::reading::CounterReading;
use crate::JsonSchema;
use serde::{Deserialize, Serialize};

/// End where a counter was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MeasuredAt {
    /// At the server.
    Server,
    /// At this host, which generated the load.
    LoadGenerator,
}

/// Cost of the operations of a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct CostRecord {
    /// Sources of readings, with the readings.
    pub sources: Vec<SourceRecord>,
    /// Cost per operation of each counter.
    pub figures: Vec<CostFigure>,
    /// Size of the messages on the network, by model and by counters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire: Option<WireCostRecord>,
    /// Calls counted by the server's kernel, and calls made in the same time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<CallsRecord>,
}

/// Calls between the first and the last reading of the measured window, at both ends.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CallsRecord {
    /// Calls that the server's kernel counted.
    pub counted: u64,
    /// Calls that clients made, including retransmissions.
    pub made: f64,
    /// Maximum difference of both numbers due to the time of the readings: calls in flight at a
    /// reading, and calls of the ticks during which it was made.
    pub uncertainty: f64,
}

/// Readings of one source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SourceRecord {
    /// Name of the source, such as `process 4711` or `http://server:9100/metrics`.
    pub name: String,
    /// End where the source was read.
    #[serde(alias = "vantage")]
    pub measured_at: MeasuredAt,
    /// Readings in chronological order.
    pub readings: Vec<CounterReading>,
    /// Number of failed readings.
    #[serde(default)]
    pub failed: u64,
    /// Reason of the first failed reading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_failure: Option<String>,
}

/// Cost per operation of one counter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CostFigure {
    /// End where the counter was read.
    #[serde(alias = "vantage")]
    pub measured_at: MeasuredAt,
    /// The counter.
    pub counter: CostCounter,
    /// Interrupt line; only present if the figure is of one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// Advance of the counter per operation; absent if unknown.
    pub per_operation: Option<CostEstimate>,
    /// Advance of the counter per second without any operation.
    pub idle_per_s: Option<f64>,
    /// Advance of the counter per second of the measured window; absent in records of older
    /// versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_per_s: Option<f64>,
    /// Reason why the cost is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A cost and half of its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CostEstimate {
    /// Cost per operation.
    pub value: f64,
    /// Half of the interval.
    pub half_width: f64,
}

/// Size of the messages of an operation on the network.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct WireCostRecord {
    /// Interface that the messages passed through.
    pub interface: String,
    /// MTU of the interface in bytes.
    pub mtu_bytes: u64,
    /// Bytes of all messages of an operation, record marks included, as the clients counted.
    pub message_bytes_per_operation: f64,
    /// Packets with data by the model.
    pub model_packets_per_operation: f64,
    /// Bytes of these packets by the model, without acknowledgements.
    pub model_bytes_per_operation: f64,
    /// Packets by the interface's counters, both directions.
    pub packets_per_operation: Option<CostEstimate>,
    /// Bytes by the interface's counters, both directions.
    pub bytes_per_operation: Option<CostEstimate>,
    /// Received packets by the interface's counters; absent for the loopback interface, which is
    /// both ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_packets_per_operation: Option<CostEstimate>,
    /// Packets of the replies by the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_reply_packets_per_operation: Option<f64>,
    /// Bytes per second through the interface before the run, without load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_bytes_per_s: Option<f64>,
    /// Bytes per second through the interface in the measured window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_bytes_per_s: Option<f64>,
    /// Counted packets that carry no data by the model: acknowledgements.
    pub acknowledgements_per_operation: Option<f64>,
    /// Difference between the counted bytes and those of the model with acknowledgements, in
    /// percent of the latter.
    pub difference_percent: Option<f64>,
}

impl CostFigure {
    /// Returns the cost per operation, if known.
    pub const fn known(&self) -> Option<CostEstimate> {
        self.per_operation
    }
}

impl CostEstimate {
    /// Returns the sum of two costs that are not independent: the intervals add up.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self {
            value: self.value + other.value,
            half_width: self.half_width + other.half_width,
        }
    }

    /// Returns the cost multiplied by a factor.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        Self {
            value: self.value * factor,
            half_width: self.half_width * factor.abs(),
        }
    }
}

impl CostRecord {
    /// Returns the figure of a counter at an end, over all lines.
    pub fn figure(&self, vantage: MeasuredAt, counter: CostCounter) -> Option<&CostFigure> {
        let mut figures = self.figures.iter();
        figures
            .find(|one| one.measured_at == vantage && one.counter == counter && one.line.is_none())
    }

    /// Returns the server's context switches per operation: both kinds of its process if measured,
    /// else those of its host.
    pub fn server_switches(&self) -> Option<CostFigure> {
        let of = |counter| self.figure(MeasuredAt::Server, counter);
        let process = of(CostCounter::ProcessVoluntary).zip(of(CostCounter::ProcessInvoluntary));
        let Some((voluntary, involuntary)) = process else {
            return of(CostCounter::ContextSwitches).cloned();
        };
        let both = voluntary.per_operation.zip(involuntary.per_operation);
        Some(CostFigure {
            per_operation: both.map(|(one, other)| one.with(other)),
            ..voluntary.clone()
        })
    }

    /// Returns the server's CPU time per operation: that of its process if measured, else that of
    /// its host.
    pub fn server_cpu(&self) -> Option<&CostFigure> {
        let of = |counter| {
            let found = self.figure(MeasuredAt::Server, counter);
            found.filter(|figure| figure.per_operation.is_some())
        };
        of(CostCounter::ProcessCpu).or_else(|| of(CostCounter::CpuBusy))
    }
}
