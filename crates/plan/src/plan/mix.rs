//! What `mix` adds to a plan: the operation mix, the file set that it works on, and
//! how the offered load is steered.

use crate::file_set::FileSetPlan;
use crate::plan::{LeftoverPolicy, TargetPlan};
use filestone_workload::kind::Role;
use filestone_workload::operation::{OpKind, Stability};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is asked: operations drawn from a mix, on a file set of our own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct MixPlan {
    /// The name of a mix of our own, or the path of the file that it was read from.
    pub name: String,
    /// How often each kind is asked, in any unit: shares are counts over their sum, or over
    /// `calls`.
    pub counts: Vec<MixCount>,
    /// What nhfsstone takes the shares of: all calls that its mix file says there were, if
    /// those are not the sum of its counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
    /// What the source of the mix counted and no procedure of NFSv3 is like.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<SkippedOperation>,
    /// Further directories on the same server, or of this host: client i uses directory i
    /// modulo their number, the plan's own target being the first.
    pub more_targets: Vec<TargetPlan>,
    /// What the operations work on.
    pub file_set: FileSetPlan,
    /// Bytes per READ and WRITE at most; a shorter file takes one call.
    pub transfer_bytes: u32,
    /// How a file is read and written.
    pub access: Access,
    /// How safely WRITE must store.
    pub stability: Stability,
    /// Bytes of a page of READDIR or READDIRPLUS.
    pub listing_bytes: u32,
    /// Whether the file set is removed when the run ends.
    pub remove_set: bool,
    /// What becomes of a file set that an earlier run has left.
    #[serde(default, skip_serializing_if = "LeftoverPolicy::refuses")]
    pub left_over: LeftoverPolicy,
    /// How the mix goes through a kernel mount.
    pub local: LocalMix,
}

impl MixPlan {
    /// A mix of these counts on this file set, from which others are made: whole files, 8 KiB at
    /// a time, with nothing left out.
    pub fn new(name: &str, counts: Vec<MixCount>, file_set: FileSetPlan) -> Self {
        Self {
            name: name.into(),
            counts,
            calls: None,
            left_out: vec![],
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

    /// The kinds of operation that a run of this mix produces, and their roles: those of
    /// the mix, and what keeps the file set in its proportions.
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

    /// The kind with the largest count.
    pub fn most_frequent(&self) -> OpKind {
        let most = self.counts.iter().max_by_key(|count| count.count);
        most.map_or(OpKind::Null, |count| count.operation)
    }

    /// The share of a kind, from 0 to 1.
    pub fn share(&self, kind: OpKind) -> f64 {
        self.part(kind, 1.0)
    }

    /// The share of a kind, from 0 to 100.
    pub fn percent(&self, kind: OpKind) -> f64 {
        self.part(kind, 100.0)
    }

    /// What a kind has of a whole: one division, so that 29 of 100 is 29 and not a little less.
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

/// How often one kind of operation is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct MixCount {
    /// Which kind: a procedure of NFSv3.
    pub operation: OpKind,
    /// How often, relative to the others.
    pub count: u64,
}

impl MixCount {
    /// The counts of a table.
    pub fn of(table: &[(OpKind, u64)]) -> Vec<Self> {
        let rows = table.iter().copied();
        rows.map(|(operation, count)| Self { operation, count })
            .collect()
    }
}

/// An operation of the mix's source that is not asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SkippedOperation {
    /// Its name there.
    pub operation: String,
    /// How often it was counted.
    pub count: u64,
}

impl SkippedOperation {
    /// Which kind of operation it is, if a mix can ask it: then it is the target that has it not.
    pub fn kind(&self) -> Option<OpKind> {
        OpKind::from_name(&self.operation).filter(|kind| OpKind::STATELESS.contains(kind))
    }
}

/// How a file is read and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// Whole files, transfer after transfer: READ goes on where the client's last one ended.
    #[default]
    Whole,
    /// Any transfer of any file.
    Random,
}

/// How a mix goes through a kernel mount.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LocalMix {
    /// Where the kernel's counters are, if not in `/proc`.
    pub proc_root: Option<String>,
    /// Whether the mix and the load are corrected, every five seconds, by what the kernel's
    /// client counters show on the wire.
    pub feedback: bool,
    /// By whose arithmetic.
    #[serde(default)]
    pub arithmetic: FeedbackArithmetic,
    /// NFS calls of this host per second, before the run, above which it is not begun.
    pub background_max_calls_per_s: u32,
}

/// How a mix through a kernel mount is chosen, paced and corrected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum FeedbackArithmetic {
    /// Exact shares, operations due at exact moments, what a call is worth learnt from the counters.
    #[default]
    Exact,
    /// nhfsstone's: whole percents of the procedures of NFSv2, pauses of whole milliseconds.
    Nhfsstone,
}

/// How the offered load is steered while the run lasts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "towards", rename_all = "kebab-case")]
pub enum SteeringPlan {
    /// Through load points, for a load–response curve.
    Curve(CurvePlan),
    /// To the highest load that keeps an objective.
    Objective(ObjectivePlan),
}

/// A load–response curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CurvePlan {
    /// Load points, evenly spaced up to the peak.
    pub points: u32,
    /// The highest point's offered load; `None` finds the peak.
    pub peak_ops_per_s: Option<f64>,
    /// Measured at each point, after its warm-up.
    pub point_ns: u64,
    /// How long a point's warm-up may take before it is measured as it is.
    pub warm_up_max_ns: u64,
    /// Whether the points are visited downwards, too.
    pub down: bool,
}

/// A service level objective.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ObjectivePlan {
    /// What must hold.
    pub objective: Objective,
    /// How long the search may take.
    pub search_max_ns: u64,
    /// The search ends earlier when the interval is no wider than this share of the load.
    pub precision: f64,
}

/// What must hold at a load: a figure of the response time below a bound.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Objective {
    /// Which figure.
    pub figure: Figure,
    /// What it must stay below.
    pub below_ns: u64,
}

/// A figure of the response time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "of", rename_all = "kebab-case")]
pub enum Figure {
    /// Its mean.
    Mean,
    /// A quantile.
    Quantile {
        /// 0.99 for p99.
        quantile: f64,
    },
}
