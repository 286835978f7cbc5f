//! Encoding of an interval for the transfer from a host to the coordinator: derived values are
//! omitted, and histograms are bytes, because merging many hosts means decoding a megabyte per
//! second.

use filestone_measure::measure::run_record::{IntervalKindRecord, IntervalRecord};
use filestone_workload::kind::{OpKind, Role};
use filestone_workload::recording::EncodedDistribution;
use filestone_workload::recording::distribution::HistogramError;
use filestone_workload::recording::ledger::Ledger;
use serde::{Deserialize, Serialize};

/// An interval of a host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EncodedInterval {
    /// Values over all kinds of operation; its own list of kinds is empty.
    pub whole: IntervalRecord,
    /// Rows by kind of operation and role.
    pub kinds: Vec<EncodedKind>,
}

/// A kind of operation in an interval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EncodedKind {
    /// Kind of operation.
    pub operation: OpKind,
    /// Role of the operations.
    pub role: Role,
    /// Operations by outcome.
    pub ledger: Ledger,
    /// File data moved.
    pub data_bytes: u64,
    /// due → done, in nanoseconds.
    pub response_time: EncodedDistribution,
    /// sent → done, in nanoseconds.
    pub service_time: EncodedDistribution,
}

impl TryFrom<&IntervalRecord> for EncodedInterval {
    type Error = HistogramError;

    fn try_from(interval: &IntervalRecord) -> Result<Self, HistogramError> {
        let IntervalRecord {
            start_ns,
            end_ns,
            phase,
            settings,
            ledger,
            bytes_sent,
            bytes_received,
            client_cpu_ns,
            kinds,
        } = interval;
        Ok(Self {
            whole: IntervalRecord {
                start_ns: *start_ns,
                end_ns: *end_ns,
                phase: *phase,
                settings: *settings,
                ledger: *ledger,
                bytes_sent: *bytes_sent,
                bytes_received: *bytes_received,
                client_cpu_ns: *client_cpu_ns,
                kinds: Vec::new(),
            },
            kinds: kinds.iter().map(encoded).collect::<Result<_, _>>()?,
        })
    }
}

fn encoded(row: &IntervalKindRecord) -> Result<EncodedKind, HistogramError> {
    Ok(EncodedKind {
        operation: row.operation,
        role: row.role,
        ledger: row.ledger,
        data_bytes: row.data_bytes,
        response_time: row.response_time_ns.encoded()?,
        service_time: row.service_time_ns.encoded()?,
    })
}
