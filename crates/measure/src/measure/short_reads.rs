//! READs of a probe that the end of a file cut short, from the bytes that all of them brought.
//!
//! Such READs are done, whatever the protocol: NFS says `eof`, with fewer bytes or none; SMB answers with fewer
//! bytes, or with END_OF_FILE where there is none. Each of them lacks at most all that it asked for, so that
//! no fewer of them were short than what all lack together would fill.

use super::run_record::RunRecord;
use filestone_workload::kind::OpKind;

/// READs that were cut short.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShortReads {
    /// At least so many were.
    pub count: u64,
    /// Of so many that succeeded.
    pub reads: u64,
    /// Bytes that one of them brought, on average.
    pub mean_bytes: f64,
    /// Bytes that each asked for.
    pub size_bytes: u32,
}

impl ShortReads {
    /// Those of a run; `None` if no READ of it was short, or if it is no probe of READ.
    pub fn of(record: &RunRecord) -> Option<Self> {
        let probe = record.plan.probe()?;
        let kind = record.measured()?;
        let reads = kind.ledger.ok;
        let asked = u128::from(probe.size_bytes) * u128::from(reads);
        let lacking = asked.saturating_sub(kind.data_bytes.into());
        if kind.operation != OpKind::Read || probe.operation != OpKind::Read || lacking == 0 {
            return None;
        }
        Some(Self {
            count: lacking.div_ceil(probe.size_bytes.max(1).into()) as u64,
            reads,
            mean_bytes: kind.data_bytes as f64 / reads.max(1) as f64,
            size_bytes: probe.size_bytes,
        })
    }

    /// The share of READs that were short at the least, in percent.
    pub fn percent(&self) -> f64 {
        100.0 * self.count as f64 / self.reads.max(1) as f64
    }
}
