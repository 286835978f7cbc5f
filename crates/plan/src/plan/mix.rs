//! The mix workload: the operation mix, the file set that it works on, and the load control.

use crate::JsonSchema;
use crate::file_set::FileSetPlan;
use crate::plan::{LeftoverPolicy, TargetPlan};
use filestone_workload::choices;
use filestone_workload::kind::Role;
use filestone_workload::operation::{OpKind, Stability};
use serde::{Deserialize, Serialize};

/// Mix workload: operations sampled from a mix, on a generated file set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MixPlan {
    /// Name of a built-in mix, or path of the file that the mix was read from.
    pub name: String,
    /// Count of each kind of operation, in any unit: shares are counts divided by their sum, or by
    /// `calls`.
    pub counts: Vec<MixCount>,
    /// Total for nhfsstone's shares: the number of all calls in its mix file, if that differs from
    /// the sum of the counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
    /// Operations in the source of the mix that no procedure of NFSv3 corresponds to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(alias = "left_out")]
    pub skipped_operations: Vec<SkippedOperation>,
    /// Further directories on the same server or of this host. Client i uses directory i modulo
    /// their number; the plan's target is the first.
    pub more_targets: Vec<TargetPlan>,
    /// The file set that the operations work on.
    pub file_set: FileSetPlan,
    /// Maximum bytes per READ and WRITE; a shorter file takes one call.
    pub transfer_bytes: u32,
    /// Access to files: whole files or random transfers.
    pub access: Access,
    /// Stability level that WRITE requests.
    pub stability: Stability,
    /// Bytes of a page of READDIR or READDIRPLUS.
    pub listing_bytes: u32,
    /// Whether the file set is removed when the run ends.
    pub remove_set: bool,
    /// Policy for a file set that an earlier run has left.
    #[serde(default, skip_serializing_if = "LeftoverPolicy::refuses")]
    pub left_over: LeftoverPolicy,
    /// Options for mixes through a kernel mount.
    pub local: LocalMix,
}

impl MixPlan {
    /// A mix with these counts on this file set, as a base for others: whole files, 8 KiB per
    /// transfer, no skipped operations.
    pub fn new(name: &str, counts: Vec<MixCount>, file_set: FileSetPlan) -> Self {
        Self {
            name: name.into(),
            counts,
            calls: None,
            skipped_operations: vec![],
            more_targets: vec![],
            file_set,
            transfer_bytes: 8192,
            access: Access::default(),
            stability: Stability::default(),
            listing_bytes: 8192,
            remove_set: false,
            left_over: LeftoverPolicy::Refuse,
            local: LocalMix::default(),
        }
    }

    /// Returns the kinds of operation that a run of this mix produces, and their roles: those of
    /// the mix, and those that keep the file set in proportion.
    pub fn kinds(&self) -> Vec<(OpKind, Role)> {
        let asked = self.counts.iter().filter(|count| count.count > 0);
        let mut kinds: Vec<(OpKind, Role)> = asked
            .map(|count| (count.operation, Role::Measured))
            .collect();
        let counterparts = [
            (OpKind::MkDir, OpKind::RmDir),
            (OpKind::RmDir, OpKind::MkDir),
            (OpKind::SymLink, OpKind::Remove),
            (OpKind::Link, OpKind::Remove),
            (OpKind::MkNod, OpKind::Remove),
            (OpKind::Remove, OpKind::Create),
            (OpKind::Rename, OpKind::Create),
        ];
        for (kind, counterpart) in counterparts {
            let unmeasured = (counterpart, Role::Unmeasured);
            if kinds.contains(&(kind, Role::Measured)) && !kinds.contains(&unmeasured) {
                kinds.push(unmeasured);
            }
        }
        kinds
    }

    /// Returns the kind with the largest count.
    pub fn most_frequent(&self) -> OpKind {
        let most = self.counts.iter().max_by_key(|count| count.count);
        most.map_or(OpKind::Null, |count| count.operation)
    }

    /// Returns the share of a kind, from 0 to 1.
    pub fn share(&self, kind: OpKind) -> f64 {
        self.part(kind, 1.0)
    }

    /// Returns the share of a kind, from 0 to 100.
    pub fn percent(&self, kind: OpKind) -> f64 {
        self.part(kind, 100.0)
    }

    /// Returns the share of a kind as a part of `whole`, with one division, so that 29 of 100 is
    /// exactly 29.
    fn part(&self, kind: OpKind, whole: f64) -> f64 {
        let sum: u128 = match self.calls {
            Some(calls) => calls.into(),
            None => self
                .counts
                .iter()
                .map(|count| u128::from(count.count))
                .sum(),
        };
        let of_kind = self.counts.iter().filter(|count| count.operation == kind);
        let count: u128 = of_kind.map(|count| u128::from(count.count)).sum();
        if sum == 0 {
            0.0
        } else {
            whole * count as f64 / sum as f64
        }
    }
}

/// Count of one kind of operation in a mix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MixCount {
    /// The kind, a procedure of NFSv3.
    pub operation: OpKind,
    /// Count, relative to the others.
    pub count: u64,
}

impl MixCount {
    /// Returns the counts of a table.
    pub fn of(table: &[(OpKind, u64)]) -> Vec<Self> {
        let rows = table.iter().copied();
        rows.map(|(operation, count)| Self { operation, count })
            .collect()
    }
}

/// An operation in the source of the mix that the run does not execute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedOperation {
    /// Name of the operation in the source.
    pub operation: String,
    /// Count in the source.
    pub count: u64,
}

impl SkippedOperation {
    /// Returns the kind of operation, if mixes support it; in that case the target does not.
    pub fn kind(&self) -> Option<OpKind> {
        OpKind::from_name(&self.operation).filter(|kind| OpKind::STATELESS.contains(kind))
    }
}

choices! {
    /// Access to files in READ and WRITE.
    #[derive(Default)]
    pub enum Access {
        /// Whole files, sequentially: READ continues where the client's previous one ended
        Whole = "whole", default;
        /// Random transfers of random files
        Random = "random";
    }
}

/// Options of a mix through a kernel mount.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct LocalMix {
    /// Directory with the kernel's counters, if not `/proc`.
    pub proc_root: Option<String>,
    /// Whether the mix and the load are corrected during the run by what the kernel's client
    /// counters show on the wire.
    pub feedback: bool,
    /// Arithmetic of the correction.
    #[serde(default)]
    pub arithmetic: FeedbackArithmetic,
    /// Maximum number of NFS calls of this host per second before the run; with more, the run is
    /// refused.
    pub background_max_calls_per_s: u32,
}

/// Arithmetic for the choice, pacing and correction of a mix through a kernel mount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FeedbackArithmetic {
    /// Exact shares, exact due times, and the calls per system call estimated from the counters.
    #[default]
    Exact,
    /// nhfsstone's arithmetic: whole percents of the procedures of NFSv2, pauses of whole
    /// milliseconds.
    Nhfsstone,
}

/// Control of the offered load during the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "towards", rename_all = "kebab-case")]
pub enum SteeringPlan {
    /// Load points of a load–response curve.
    Curve(CurvePlan),
    /// Search for the highest load that meets an objective.
    Objective(ObjectivePlan),
}

/// A load–response curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CurvePlan {
    /// Number of load points, evenly spaced up to the peak.
    pub points: u32,
    /// Offered load of the highest point, in operations per second; `None` finds the peak.
    pub peak_ops_per_s: Option<f64>,
    /// Length of the measurement of each point, after its warm-up.
    pub point_ns: u64,
    /// Maximum length of a point's warm-up.
    pub warm_up_max_ns: u64,
    /// Whether the points are also visited downwards.
    pub down: bool,
}

/// Search for the highest load that meets a service level objective.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObjectivePlan {
    /// The objective.
    pub objective: Objective,
    /// Maximum length of the search.
    pub search_max_ns: u64,
    /// Precision of the search: it ends early if the interval is at most this share of the load
    /// wide.
    pub precision: f64,
}

/// An objective: a figure of the response time and its bound.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Objective {
    /// The figure.
    pub figure: Figure,
    /// The bound: the figure must stay below it.
    pub below_ns: u64,
}

/// A figure of the response time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "of", rename_all = "kebab-case")]
pub enum Figure {
    /// The mean.
    Mean,
    /// A quantile.
    Quantile {
        /// The quantile, from 0 to 1; 0.99 for p99.
        quantile: f64,
    },
}
