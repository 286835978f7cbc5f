//! READs of a probe that were short because of the end of the file, computed from the bytes of all
//! READs.
//!
//! Short READs succeed with every protocol: NFS returns `eof` with fewer bytes or none; SMB returns
//! fewer bytes, or END_OF_FILE if there are none. Each lacks at most its requested size, so the
//! minimum number of short READs is the total number of lacking bytes divided by that size.

use super::run_record::RunRecord;
use filestone_workload::kind::OpKind;

/// READs that were short.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShortReads {
    /// Minimum number of short READs.
    pub count: u64,
    /// Number of READs that succeeded.
    pub reads: u64,
    /// Mean number of bytes returned per READ.
    pub mean_bytes: f64,
    /// Requested bytes per READ.
    pub size_bytes: u32,
}

impl ShortReads {
    /// Computes the short READs of a run; `None` if no READ was short, or if the run is not a probe
    /// of READ.
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

    /// Returns the minimum share of READs that were short, in percent.
    pub fn percent(&self) -> f64 {
        100.0 * self.count as f64 / self.reads.max(1) as f64
    }
}
