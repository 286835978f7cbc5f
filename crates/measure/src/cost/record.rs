//! What operations cost, of a run's record.

use super::counter::Counter;
use super::reading::CounterReading;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// At which end something was counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum MeasuredAt {
    /// At the server.
    Server,
    /// At this host, which made the load.
    LoadGenerator,
}

/// What the operations of a run cost.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CostRecord {
    /// What was read, and from where.
    pub sources: Vec<SourceRecord>,
    /// What each counter came to for each operation.
    pub figures: Vec<CostFigure>,
    /// What the messages came to on the way, by model and by counters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire: Option<WireCostRecord>,
    /// Calls that the server's kernel counted, and those that were made meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<CallsRecord>,
}

/// Calls between the first reading of the measured window and the last, at both ends.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CallsRecord {
    /// Those that the server's kernel counted.
    pub counted: u64,
    /// Those that were made, those that were sent again included.
    pub made: f64,
    /// By so many both may differ since readings do not meet the moments of calls: what was in
    /// flight then, and what may have ended meanwhile.
    pub uncertainty: f64,
}

/// The readings of one source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SourceRecord {
    /// What it is, such as `process 4711` or `http://server:9100/metrics`.
    pub name: String,
    /// Of which end.
    pub vantage: MeasuredAt,
    /// In the order in which they were made.
    pub readings: Vec<CounterReading>,
    /// How many more were tried in vain.
    #[serde(default)]
    pub failed: u64,
    /// Why the first of these was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_failure: Option<String>,
}

/// What one counter came to for each operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CostFigure {
    /// Of which end.
    pub vantage: MeasuredAt,
    /// What was counted.
    pub counter: Counter,
    /// Of interrupts, the line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// How much more there was of it for each operation; none where it cannot be told.
    pub per_operation: Option<CostEstimate>,
    /// How much there is of it in a second without any operation.
    pub idle_per_s: Option<f64>,
    /// How much there was of it in a second of the measured window; records of before it was kept
    /// have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_per_s: Option<f64>,
    /// Why it cannot be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A cost and half of its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CostEstimate {
    /// For each operation.
    pub value: f64,
    /// Half of the interval.
    pub half_width: f64,
}

/// What the messages of an operation came to on the way.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct WireCostRecord {
    /// The interface that they went through.
    pub interface: String,
    /// Its largest packet.
    pub mtu_bytes: u64,
    /// Bytes of all messages of an operation, record marks included, as the clients counted.
    pub message_bytes_per_operation: f64,
    /// Packets with data by the model.
    pub model_packets_per_operation: f64,
    /// Bytes of them by the model, without acknowledgements.
    pub model_bytes_per_operation: f64,
    /// Packets by the interface's counters, both ways.
    pub packets_per_operation: Option<CostEstimate>,
    /// Bytes, likewise.
    pub bytes_per_operation: Option<CostEstimate>,
    /// Packets that came back, by the interface's counters; none where it is its own other end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_packets_per_operation: Option<CostEstimate>,
    /// Packets of the replies by the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_reply_packets_per_operation: Option<f64>,
    /// Bytes in a second that went through the interface before the run, when nothing was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_bytes_per_s: Option<f64>,
    /// The same in the measured window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_bytes_per_s: Option<f64>,
    /// Packets that were counted and carry no data by the model: acknowledgements.
    pub acknowledgements_per_operation: Option<f64>,
    /// By how much the counted bytes differ from the model's with acknowledgements, as a share of
    /// these in percent.
    pub difference_percent: Option<f64>,
}

impl CostFigure {
    /// The figure, where it could be told.
    pub const fn known(&self) -> Option<CostEstimate> {
        self.per_operation
    }
}

impl CostEstimate {
    /// The sum of two that are not independent: the intervals add up.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self {
            value: self.value + other.value,
            half_width: self.half_width + other.half_width,
        }
    }

    /// So many times as much.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        Self {
            value: self.value * factor,
            half_width: self.half_width * factor.abs(),
        }
    }
}

impl CostRecord {
    /// The figure of a counter at an end, of all lines together.
    pub fn figure(&self, vantage: MeasuredAt, counter: Counter) -> Option<&CostFigure> {
        let mut figures = self.figures.iter();
        figures.find(|one| one.vantage == vantage && one.counter == counter && one.line.is_none())
    }

    /// Context switches of the server for each operation: of its process, both kinds, where that was
    /// read, else of its host.
    pub fn server_switches(&self) -> Option<CostFigure> {
        let of = |counter| self.figure(MeasuredAt::Server, counter);
        let process = of(Counter::ProcessVoluntary).zip(of(Counter::ProcessInvoluntary));
        let Some((voluntary, involuntary)) = process else {
            return of(Counter::ContextSwitches).cloned();
        };
        let both = voluntary.per_operation.zip(involuntary.per_operation);
        Some(CostFigure {
            per_operation: both.map(|(one, other)| one.with(other)),
            ..voluntary.clone()
        })
    }

    /// Processor time of the server for each operation: of its process where that was read, else of
    /// its host.
    pub fn server_cpu(&self) -> Option<&CostFigure> {
        let of = |counter| {
            let found = self.figure(MeasuredAt::Server, counter);
            found.filter(|figure| figure.per_operation.is_some())
        };
        of(Counter::ProcessCpu).or_else(|| of(Counter::CpuBusy))
    }
}
