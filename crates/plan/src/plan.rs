//! The plan of a run, with every decision taken before it starts. A [`Plan`] can be printed, stored
//! and run again.

mod check;
mod connections;
mod cost;
mod expected;
mod field;
mod fleet;
mod identities;
mod levels;
pub mod limits;
mod mix;
mod objective;
mod part;
mod ranges;
mod read_data;
mod sources;
mod stored;
mod target;

pub use crate::file_set::{FileSetPlan, FileSizes, Popularity, SizeClass};
pub use check::{
    ConnectionPlanError, FieldName, LevelsPlanError, MissingFigure, MixPlanError, PlanError,
    ReplayPlanError, SharedKind, SharingError, SteeringPlanError, missing_in,
};
pub use connections::{ConnectionPlan, OnLost};
pub use cost::CostPlan;
pub use expected::{EXPECTED_MAX, ExpectedStatus, NoSuchStatus};
pub use field::Field;
pub use fleet::{
    AccessPattern, Direction, DistributionShape, FILES_MAX, FleetPlan, FleetPlanError, GroupMember,
    GroupPlan, HealthPlan, Kinds, QuiescePlan, RampPlan, RandomField, RandomFieldFor, RatePlan,
    RateUnit, SampleScope, ValueDistribution, ValueRange,
};
pub use identities::{
    CLIENT_NUMBER, CreateModes, GroupIdentities, GroupIdentity, IdRanges, Identities,
    supplementary_gids,
};
pub use levels::LevelsPlan;
pub use mix::{
    Access, CurvePlan, FeedbackArithmetic, Figure, LocalMix, MixCount, MixPlan, Objective,
    ObjectivePlan, SkippedOperation, SteeringPlan,
};
pub use objective::ObjectiveError;
pub use part::JobPartition;
pub use ranges::RangeItem;
pub use ranges::Ranges;
pub use read_data::{ReadData, ReadDataError};
pub use sources::SourceAddresses;
pub use stored::stored_bytes;
pub use target::{
    CHANNELS_MAX, Interface, LocalTarget, NfsTarget, OtherTarget, SMB_PORT, SmbDialect, SmbOplock,
    SmbProtection, SmbTarget, TargetPlan, TargetPlanError, TcpTarget, TransportKind, bracketed,
};

use crate::JsonSchema;
use crate::gate::GatesPlan;
use filestone_workload::choices;
use filestone_workload::failure::Mismatch;
use filestone_workload::kind::Role;
use filestone_workload::load::Generation;
use filestone_workload::load::refusals::LayerKind;
use filestone_workload::operation::{OpKind, Stability};
pub use filestone_workload::recording::TICK_NANOS;
use filestone_workload::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use std::ops::Range;

/// Arrival process: when operations are due.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "process", rename_all = "lowercase")]
pub enum ArrivalsPlan {
    /// Closed loop: each slot starts its next operation when its last one ends.
    Closed,
    /// Open loop: operations are due at equal intervals, independent of the server.
    Constant {
        /// Offered load of all clients together, in operations per second.
        offered_load_ops_per_s: f64,
    },
    /// Open loop: operations are due at exponentially distributed intervals.
    Poisson {
        /// Offered load of all clients together, in operations per second.
        offered_load_ops_per_s: f64,
    },
    /// Operations are due at equal intervals, at several evenly spaced loads including no load, in
    /// random order within each cycle.
    Levels(LevelsPlan),
}

impl ArrivalsPlan {
    /// Returns the offered load of an open loop, the mean if there are several, and `None` for a
    /// closed loop.
    pub fn offered_load(&self) -> Option<f64> {
        match *self {
            ArrivalsPlan::Closed => None,
            ArrivalsPlan::Constant {
                offered_load_ops_per_s,
            }
            | ArrivalsPlan::Poisson {
                offered_load_ops_per_s,
            } => Some(offered_load_ops_per_s),
            ArrivalsPlan::Levels(levels) => Some(levels.mean_ops_per_s()),
        }
    }

    /// Returns the same arrival process with the given mean offered load. A closed loop stays
    /// unchanged.
    #[must_use]
    pub const fn offering(self, offered_load_ops_per_s: f64) -> Self {
        match self {
            Self::Closed => Self::Closed,
            Self::Constant { .. } => Self::Constant {
                offered_load_ops_per_s,
            },
            Self::Poisson { .. } => Self::Poisson {
                offered_load_ops_per_s,
            },
            Self::Levels(levels) => Self::Levels(LevelsPlan {
                highest_load_ops_per_s: 2.0 * offered_load_ops_per_s,
                ..levels
            }),
        }
    }

    /// Returns the same arrival process with the offered load multiplied by `factor`.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        let load = self.offered_load();
        load.map_or(self, |load| self.offering(load * factor))
    }
}

/// Probe workload: one operation, repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProbePlan {
    /// The operation.
    pub operation: OpKind,
    /// Bytes per READ, WRITE, COMMIT or copy, and page size requested by READDIR.
    pub size_bytes: u32,
    /// Whether offsets and files are chosen at random instead of sequentially.
    pub random: bool,
    /// Stability level that WRITE requests.
    pub stability: Stability,
    /// Length of the files that WRITE, COMMIT and copies work on, in bytes.
    pub file_size_bytes: u64,
    /// Maximum number of directory entries that are visited.
    pub files_max: u32,
    /// Whether read-only operations, too, work on files that the run creates, one per client, with
    /// [`Self::file_size_bytes`] bytes if they are read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own_files: bool,
    /// Policy for directories left over by killed probes.
    #[serde(default, skip_serializing_if = "LeftoverPolicy::refuses")]
    pub left_over: LeftoverPolicy,
}

impl ProbePlan {
    /// A probe of an operation as a base for others: 4 KiB, sequential, one entry.
    pub const fn new(operation: OpKind) -> Self {
        Self {
            operation,
            size_bytes: 4096,
            random: false,
            stability: Stability::Unstable,
            file_size_bytes: 0,
            files_max: 1,
            own_files: false,
            left_over: LeftoverPolicy::Refuse,
        }
    }

    /// Whether an operation is read-only and works on files, so that the run can create files for
    /// it.
    pub const fn can_have_own_files(operation: OpKind) -> bool {
        matches!(
            operation,
            OpKind::GetAttr
                | OpKind::Lookup
                | OpKind::Access
                | OpKind::Read
                | OpKind::ReadDir
                | OpKind::ReadDirPlus
        )
    }

    /// Returns the length of a client's source file for copies: a whole number of operations, at
    /// least one.
    pub fn copied_bytes(&self) -> u64 {
        let len = u64::from(self.size_bytes.max(1));
        (self.file_size_bytes / len).max(1) * len
    }

    /// Returns the kinds of operation that a run of this plan produces, and their roles.
    pub fn kinds(&self) -> Vec<(OpKind, Role)> {
        let mut kinds = vec![(self.operation, Role::Measured)];
        let unmeasured = unmeasured_for(self.operation).iter();
        kinds.extend(unmeasured.map(|kind| (*kind, Role::Unmeasured)));
        kinds
    }
}

/// The workload of the clients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "source", rename_all = "kebab-case")]
pub enum WorkloadPlan {
    /// A single operation that is repeated.
    Probe(ProbePlan),
    /// The lines of a load file.
    LoadFile(ReplayPlan),
    /// Operations sampled from a mix.
    Mix(Box<MixPlan>),
    /// Files that are written and read, by groups of clients.
    Fleet(Box<FleetPlan>),
}

impl WorkloadPlan {
    /// Returns the bytes per READ and WRITE of a probe or a mix.
    pub fn transfer_bytes(&self) -> Option<u32> {
        match self {
            WorkloadPlan::Probe(probe) => Some(probe.size_bytes),
            WorkloadPlan::Mix(mix) => Some(mix.transfer_bytes),
            WorkloadPlan::LoadFile(_) | WorkloadPlan::Fleet(_) => None,
        }
    }
}

/// Pacing of a replay: when the lines of a load file are due.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "by", rename_all = "kebab-case")]
pub enum Pacing {
    /// Each line is due when the line before it has ended.
    Closed,
    /// Each line is due at its time stamp, divided by `speed`; a line without a time stamp is due
    /// when the line before it has ended.
    Stamps {
        /// Speed factor: 2 replays an hour in half an hour.
        speed: f64,
    },
    /// Lines are due so that each client moves file data at a fixed rate.
    Rate {
        /// Bytes per second of each client.
        bytes_per_s: f64,
    },
}

choices! {
    /// Reaction to a line that ends otherwise than the load file expects; each is counted.
    #[derive(Default)]
    pub enum OnMismatch {
        /// The client continues
        Count = "count", default;
        /// The client ends
        Stop = "stop";
        /// The client ends where a client of smbtorture would: at a success instead of a failure or
        /// a failure instead of a success (except for MKDIR), and at a read of a different length
        Smbtorture = "smbtorture";
    }
}

impl OnMismatch {
    /// Whether a mismatch of an operation of this kind ends the client.
    pub const fn ends_client(self, kind: OpKind, mismatch: Mismatch) -> bool {
        match self {
            OnMismatch::Count => false,
            OnMismatch::Stop => true,
            OnMismatch::Smbtorture => match mismatch {
                Mismatch::Failed | Mismatch::Succeeded => !matches!(kind, OpKind::MkDir),
                Mismatch::WrongLength => matches!(kind, OpKind::ReadX),
                Mismatch::OtherFailure | Mismatch::WrongAccess | Mismatch::WrongData => false,
            },
        }
    }
}

/// Policy for a tree that an earlier run of filestone has left in the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LeftoverPolicy {
    /// The tree stays, and the run is refused.
    #[default]
    Refuse,
    /// The tree is removed if its run has certainly ended. On a server, the run of another host may
    /// still be active. The run uses a separate directory next to a tree that another program left.
    RemoveIfOver,
    /// The tree is removed unless its run is certainly active.
    Remove,
}

impl LeftoverPolicy {
    /// Whether leftovers are an error, which is the default.
    // serde passes references.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    pub fn refuses(&self) -> bool {
        *self == Self::Refuse
    }

    /// Returns [`Self::Remove`] if the command line requests removal.
    pub const fn removing(is_removed: bool) -> Self {
        if is_removed {
            Self::Remove
        } else {
            Self::Refuse
        }
    }
}

/// The name of a load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoadName {
    /// Path of the load file, or the name of a load that filestone generates.
    pub name: String,
    /// Number of operations in one iteration, so that a different file of the same name is
    /// detected.
    pub operations: u64,
    /// Program whose grammar the load file follows, and so the spelling of its operations.
    pub generation: Generation,
}

/// Replay workload: the lines of load files, and how a layer executes them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReplayPlan {
    /// The loads; client i replays load i modulo their number.
    pub loads: Vec<LoadName>,
    /// The kinds of operation in the loads.
    pub kinds: Vec<OpKind>,
    /// Further targets of the same protocol as the plan's target. Client i uses target i modulo
    /// their number; the plan's target is the first.
    pub more_targets: Vec<TargetPlan>,
    /// Number of clients that share a thread and take turns, line by line.
    pub clients_per_thread: u32,
    /// Number of the first client in names: 0 as in dbench, 1 as in smbtorture.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub first_number: u32,
    /// When lines are due.
    pub pacing: Pacing,
    /// Whether each client ends after one iteration of its load.
    pub run_once: bool,
    /// Whether the clients' trees stay when the run ends.
    pub skip_cleanup: bool,
    /// Policy for a tree that an earlier run of filestone has left over.
    pub left_over: LeftoverPolicy,
    /// Whether modifying operations are skipped, and the existing tree is read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub read_only: bool,
    /// Maximum bytes of a read or write; longer ones are truncated.
    pub trunc_io_bytes: Option<u64>,
    /// Reaction to a result that differs from the expected one.
    pub on_mismatch: OnMismatch,
    /// Whether a name that does not exist as written is looked up without regard to case, as Samba
    /// does.
    pub resolve: bool,
    /// Options of the local layer.
    pub local: LocalReplay,
    /// Options of the NFS layer.
    pub nfs3: Nfs3Replay,
    /// Options of the TCP layer.
    pub tcp: TcpReplay,
    /// Options of the SMB layer.
    #[serde(default, skip_serializing_if = "SmbReplay::is_usual")]
    pub smb: SmbReplay,
}

// serde passes references.
#[allow(clippy::trivially_copy_pass_by_ref)]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl ReplayPlan {
    /// A replay of these loads as a base for others: closed loop, repeated, one thread per client.
    pub fn new(loads: Vec<LoadName>, kinds: Vec<OpKind>) -> Self {
        Self {
            loads,
            kinds,
            more_targets: vec![],
            clients_per_thread: 1,
            first_number: 0,
            pacing: Pacing::Closed,
            run_once: false,
            skip_cleanup: false,
            left_over: LeftoverPolicy::default(),
            read_only: false,
            trunc_io_bytes: None,
            on_mismatch: OnMismatch::default(),
            resolve: true,
            local: LocalReplay::default(),
            nfs3: Nfs3Replay::default(),
            tcp: TcpReplay::default(),
            smb: SmbReplay::default(),
        }
    }
}

impl ReplayPlan {
    /// Returns the same replay without retries: a line fails if its connection is lost.
    #[must_use]
    pub fn without_retries(self) -> Self {
        Self {
            smb: SmbReplay { retries: 0 },
            ..self
        }
    }
}

/// Options of the local layer for replays, with dbench's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct LocalReplay {
    /// Whether files are opened with O_SYNC.
    pub sync: bool,
    /// Whether the directory is synchronised after unlink, rmdir and rename.
    pub sync_directories: bool,
    /// Whether every write is followed by fsync.
    pub fsync: bool,
    /// Whether Samba's DOS attributes are kept in extended attributes.
    pub xattr: bool,
    /// Whether one-byte writes that only extend a file are replaced by ftruncate.
    pub one_byte_write_fix: bool,
    /// Whether stat precedes calls that its result may make unnecessary.
    pub stat_check: bool,
    /// Whether reads and writes are only counted.
    pub fake_io: bool,
    /// Whether files are opened with O_DIRECT.
    pub direct: bool,
}

/// Options of the NFS layer for replays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Nfs3Replay {
    /// Whether writes are FILE_SYNC instead of UNSTABLE with COMMIT.
    pub stable: bool,
    /// Whether locks are requested from the server's lock manager.
    pub enable_nlm: bool,
    /// Port of the lock manager, if the server's port mapper is not to be queried.
    #[serde(default)]
    pub nlm_port: Option<u16>,
}

/// Options of the TCP layer for replays.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TcpReplay {
    /// Prefix of names, which affects their length: `.` as dbench's default.
    pub prefix: String,
    /// Socket options in dbench's syntax.
    pub socket_options: String,
}

/// Options of the SMB layer for replays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SmbReplay {
    /// Number of retries, on another connection, of a line whose connection was lost. Files that
    /// were open are opened again first, and their locks are acquired again.
    pub retries: u32,
}

impl Default for SmbReplay {
    /// Once, as smbtorture's `torture:nretries`.
    fn default() -> Self {
        Self { retries: 1 }
    }
}

impl SmbReplay {
    fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

/// Returns the unmeasured operations that must run so that an operation can be repeated
/// indefinitely.
pub const fn unmeasured_for(operation: OpKind) -> &'static [OpKind] {
    match operation {
        OpKind::Create | OpKind::SymLink | OpKind::MkNod | OpKind::Link => &[OpKind::Remove],
        OpKind::MkDir => &[OpKind::RmDir],
        OpKind::Remove | OpKind::Rename => &[OpKind::Create],
        OpKind::RmDir => &[OpKind::MkDir],
        OpKind::Commit => &[OpKind::Write],
        OpKind::Lock => &[OpKind::Open, OpKind::Unlock],
        _ => &[],
    }
}

/// A complete plan of a run, with all times in nanoseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// The command that made this plan.
    #[serde(alias = "face")]
    pub command: String,
    /// The target of the operations.
    pub target: TargetPlan,
    /// The workload.
    pub workload: WorkloadPlan,
    /// When operations are due; a load file has its own pacing.
    pub arrivals: ArrivalsPlan,
    /// Number of simulated clients, each with its own connection.
    pub clients: u32,
    /// Maximum number of calls in flight per client.
    pub in_flight: u32,
    /// Number of threads of the load generator.
    pub workers: u32,
    /// Length of the warm-up at the start, which is not measured.
    pub warm_up_ns: u64,
    /// Length of the measured window; `None` when `count` ends the run.
    pub duration_ns: Option<u64>,
    /// Number of measured operations of all clients together; `None` when only time ends the run.
    pub count: Option<u64>,
    /// Timeout of a call.
    pub timeout_ns: u64,
    /// Time for attempts to reconnect a lost connection before its client counts as lost.
    pub reconnect_ns: u64,
    /// Connection settings of the clients.
    #[serde(default, skip_serializing_if = "ConnectionPlan::is_usual")]
    pub connections: ConnectionPlan,
    /// Length of one interval: a row of the report, unless `row_ns` is longer.
    pub interval_ns: u64,
    /// Length of a report row that joins several intervals; `None` if a row is an interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row_ns: Option<u64>,
    /// Seed of all random streams.
    pub seed: u64,
    /// Whether workers spin instead of sleeping.
    pub busy_poll: bool,
    /// CPUs to which workers are pinned, in turn; empty for no pinning.
    pub pin: Vec<u32>,
    /// Handling of data returned by READ; `None` if nothing is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_data: Option<ReadData>,
    /// Load control during the run, for a curve or an objective; `None` keeps the offered load as
    /// planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steering: Option<SteeringPlan>,
    /// The gates of the run.
    #[serde(default, skip_serializing_if = "GatesPlan::is_none")]
    pub gates: GatesPlan,
    /// Failure statuses that count as expected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expect: Vec<ExpectedStatus>,
    /// Counters that are read to compute the cost of an operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<CostPlan>,
    /// Whether the kernel takes timestamps of a sample of the calls.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stamps: bool,
    /// The part of a job of several hosts; `None` if the plan is the whole job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<JobPartition>,
}

impl Plan {
    /// Returns the measured window; its end is [`Timestamp::MAX`] if the plan has no duration.
    pub fn window(&self) -> Range<Timestamp> {
        let start = Timestamp::from_nanos(self.warm_up_ns);
        let end = |duration| start.after_nanos(duration);
        start..self.duration_ns.map_or(Timestamp::MAX, end)
    }

    /// A closed loop of one client with one call in flight and no end, as a base for other plans.
    pub fn new(face: &str, target: TargetPlan, workload: WorkloadPlan, seed: u64) -> Self {
        const SECOND: u64 = 1_000_000_000;
        Self {
            command: face.into(),
            target,
            workload,
            arrivals: ArrivalsPlan::Closed,
            clients: 1,
            in_flight: 1,
            workers: 1,
            warm_up_ns: 0,
            duration_ns: None,
            count: None,
            // Default of the Linux client for TCP mounts (`timeo=600`).
            timeout_ns: 60 * SECOND,
            reconnect_ns: 10 * SECOND,
            connections: ConnectionPlan::default(),
            interval_ns: SECOND,
            row_ns: None,
            seed,
            busy_poll: false,
            pin: vec![],
            read_data: None,
            steering: None,
            gates: GatesPlan::default(),
            expect: vec![],
            cost: None,
            stamps: false,
            part: None,
        }
    }

    /// Returns the probe, if the workload is one.
    pub fn probe(&self) -> Option<&ProbePlan> {
        match &self.workload {
            WorkloadPlan::Probe(probe) => Some(probe),
            WorkloadPlan::LoadFile(_) | WorkloadPlan::Mix(_) | WorkloadPlan::Fleet(_) => None,
        }
    }

    /// Returns the probe for modification, if the workload is one.
    pub fn probe_mut(&mut self) -> Option<&mut ProbePlan> {
        match &mut self.workload {
            WorkloadPlan::Probe(probe) => Some(probe),
            WorkloadPlan::LoadFile(_) | WorkloadPlan::Mix(_) | WorkloadPlan::Fleet(_) => None,
        }
    }

    /// Returns the replay, if the workload is one.
    pub fn replay(&self) -> Option<&ReplayPlan> {
        match &self.workload {
            WorkloadPlan::Probe(_) | WorkloadPlan::Mix(_) | WorkloadPlan::Fleet(_) => None,
            WorkloadPlan::LoadFile(replay) => Some(replay),
        }
    }

    /// Returns the replay for modification, if the workload is one.
    pub fn replay_mut(&mut self) -> Option<&mut ReplayPlan> {
        match &mut self.workload {
            WorkloadPlan::Probe(_) | WorkloadPlan::Mix(_) | WorkloadPlan::Fleet(_) => None,
            WorkloadPlan::LoadFile(replay) => Some(replay),
        }
    }

    /// Returns the mix, if the workload is one.
    pub fn mix(&self) -> Option<&MixPlan> {
        match &self.workload {
            WorkloadPlan::Probe(_) | WorkloadPlan::LoadFile(_) | WorkloadPlan::Fleet(_) => None,
            WorkloadPlan::Mix(mix) => Some(mix),
        }
    }

    /// Returns the mix for modification, if the workload is one.
    pub fn mix_mut(&mut self) -> Option<&mut MixPlan> {
        match &mut self.workload {
            WorkloadPlan::Probe(_) | WorkloadPlan::LoadFile(_) | WorkloadPlan::Fleet(_) => None,
            WorkloadPlan::Mix(mix) => Some(mix),
        }
    }

    /// Returns the fleet, if the workload is one.
    pub fn fleet(&self) -> Option<&FleetPlan> {
        match &self.workload {
            WorkloadPlan::Probe(_) | WorkloadPlan::LoadFile(_) | WorkloadPlan::Mix(_) => None,
            WorkloadPlan::Fleet(fleet) => Some(fleet),
        }
    }

    /// Whether the workload itself determines when each operation of a client is due.
    pub fn has_lines(&self) -> bool {
        match &self.workload {
            WorkloadPlan::Probe(_) | WorkloadPlan::Mix(_) => false,
            WorkloadPlan::LoadFile(_) | WorkloadPlan::Fleet(_) => true,
        }
    }

    /// Returns the address that a client connects from; `None` leaves the choice to the host.
    pub fn source_of(&self, client: u32) -> Option<IpAddr> {
        let member = self.fleet().and_then(|fleet| fleet.member(client));
        match member {
            Some(member) if !member.group.sources.is_empty() => {
                member.group.sources.of_client(member.number)
            }
            _ => self.connections.sources.of_client(self.number_of(client)),
        }
    }

    /// Returns the source address for preparation and clean-up of the target that `is_target`
    /// recognizes: the address of the first client on that target.
    pub fn source_for(&self, is_target: impl Fn(&TargetPlan) -> bool) -> Option<IpAddr> {
        let place = self.targets().position(is_target);
        let first = self.fleet().zip(place).and_then(|(fleet, place)| {
            let mut clients = 0..fleet.clients();
            clients.find(|client| fleet.target_of(*client) as usize == place)
        });
        self.source_of(first.unwrap_or(0))
    }

    /// Returns the number of addresses that the clients connect from; 0 leaves the choice to the
    /// host.
    pub fn source_count(&self) -> u128 {
        let groups = self.fleet().map_or(&[][..], |fleet| &fleet.groups);
        let of_groups = groups.iter().map(|group| {
            let count = group.sources.count();
            count.min(u128::from(group.count))
        });
        match of_groups.sum() {
            0 => self.connections.sources.count(),
            count => count,
        }
    }

    /// Returns the identities of the clients.
    pub fn callers(&self) -> GroupIdentities {
        let own = self.connections.identities.clone();
        let Some(fleet) = self.fleet() else {
            return GroupIdentities::all(own);
        };
        let groups = fleet.groups.iter().enumerate().map(|(place, group)| {
            let identities = if group.identities.is_empty() {
                own.clone()
            } else {
                group.identities.clone()
            };
            GroupIdentity {
                first: fleet.first_of(place),
                identities,
            }
        });
        GroupIdentities::of_groups(groups.collect())
    }

    /// Returns the plan's target and the further targets of its workload.
    pub fn targets(&self) -> impl Iterator<Item = &TargetPlan> {
        let more = match &self.workload {
            WorkloadPlan::Probe(_) => &[],
            WorkloadPlan::LoadFile(replay) => replay.more_targets.as_slice(),
            WorkloadPlan::Mix(mix) => mix.more_targets.as_slice(),
            WorkloadPlan::Fleet(fleet) => fleet.more_targets.as_slice(),
        };
        std::iter::once(&self.target).chain(more)
    }

    /// Returns the kinds of operation that a run of this plan produces, and their roles.
    pub fn kinds(&self) -> Vec<(OpKind, Role)> {
        match &self.workload {
            WorkloadPlan::Mix(mix) => mix.kinds(),
            WorkloadPlan::Probe(probe) => probe.kinds(),
            WorkloadPlan::Fleet(fleet) => fleet.kinds().in_roles(),
            WorkloadPlan::LoadFile(replay) => replay
                .kinds
                .iter()
                .map(|kind| (*kind, Role::Measured))
                .collect(),
        }
    }

    /// Returns the main kind of operation: of a load file the first one in it, of a mix the most
    /// frequent.
    pub fn measured_kind(&self) -> OpKind {
        match &self.workload {
            WorkloadPlan::Probe(probe) => probe.operation,
            WorkloadPlan::LoadFile(replay) => replay.kinds.first().copied().unwrap_or(OpKind::Null),
            WorkloadPlan::Mix(mix) => mix.most_frequent(),
            WorkloadPlan::Fleet(fleet) => {
                let kinds = fleet.kinds().measured;
                kinds.first().copied().unwrap_or(OpKind::Null)
            }
        }
    }

    /// Returns this plan as the probe of an NFS server, if it is one.
    pub fn as_probe_run(&self) -> Option<ProbeRun<'_>> {
        Some(ProbeRun {
            plan: self,
            probe: self.probe()?,
            target: self.target.nfs3()?,
        })
    }

    /// Returns the number of sockets of each client.
    pub fn sockets_per_client(&self) -> u64 {
        let lock_managers = u64::from(self.replay().is_some_and(|replay| replay.nfs3.enable_nlm));
        u64::from(self.target.connections_per_client()) + lock_managers
    }

    /// Returns what the loss of a client does. By default the loss of the only client ends the run.
    pub fn on_lost(&self) -> OnLost {
        let usual = if self.clients == 1 {
            OnLost::End
        } else {
            OnLost::Retry
        };
        self.connections.on_lost.unwrap_or(usual)
    }

    /// Returns the layer that executes the plan's loads.
    pub fn layer_kind(&self) -> LayerKind {
        let locks = self.replay().is_some_and(|replay| replay.nfs3.enable_nlm);
        self.target.layer_kind(locks)
    }

    /// Returns the number of client `client` in the whole job; the same number if the plan is not a
    /// part.
    pub fn number_of(&self, client: u32) -> u32 {
        self.part.map_or(client, |part| part.number_of(client))
    }

    /// Returns the clients, arrivals and count of the whole job, which equal those of the plan if
    /// the plan is not a part.
    pub fn whole(&self) -> JobPartition {
        self.part.unwrap_or(JobPartition {
            index: 0,
            parts: 1,
            clients: self.clients,
            arrivals: self.arrivals,
            count: self.count,
        })
    }

    /// Returns the number of measured operations of client `index`. The remainder goes to the first
    /// clients.
    pub fn count_of_client(&self, index: u32) -> Option<u64> {
        let clients = u64::from(self.clients.max(1));
        self.count
            .map(|count| count / clients + u64::from(u64::from(index) < count % clients))
    }

    /// Returns the maximum number of operations that one client of this run starts: from the count,
    /// or from the offered load and the time, with six standard deviations of Poisson arrivals.
    /// `None` if the server's speed or a load search determines the number.
    pub fn operations_of_client_max(&self) -> Option<u64> {
        let load = match self.arrivals {
            _ if self.steering.is_some() => None,
            ArrivalsPlan::Levels(levels) => Some(levels.highest_load_ops_per_s),
            arrivals => arrivals.offered_load(),
        };
        let due_in = |ns: u64| {
            let mean = load? * ns as f64 / 1e9 / f64::from(self.clients.max(1));
            Some((mean + 6.0 * mean.sqrt()).ceil() as u64)
        };
        let of_warm_up = match self.warm_up_ns {
            0 => 0,
            ns => due_in(ns)?,
        };
        let of_window = match (self.count_of_client(0), self.duration_ns.and_then(due_in)) {
            (Some(count), Some(due)) => count.min(due),
            (count, due) => count.or(due)?,
        };
        Some(of_warm_up.saturating_add(of_window))
    }

    /// Returns the clients of worker `worker`: every `workers`-th one.
    pub fn clients_of_worker(&self, worker: u32) -> impl Iterator<Item = u32> + use<> {
        (worker..self.clients).step_by(self.workers.max(1) as usize)
    }
}

/// A plan whose workload is a probe and whose target is an NFS server.
#[derive(Debug, Clone, Copy)]
pub struct ProbeRun<'plan> {
    /// The whole plan.
    pub plan: &'plan Plan,
    /// The probe.
    pub probe: &'plan ProbePlan,
    /// The target.
    pub target: &'plan NfsTarget,
}

/// Gives access to the other fields of the plan.
impl core::ops::Deref for ProbeRun<'_> {
    type Target = Plan;

    fn deref(&self) -> &Plan {
        self.plan
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::example;

    #[test]
    fn shares_of_the_count_add_up_to_the_count() {
        let mut plan = example();
        plan.clients = 7;
        plan.count = Some(100);
        let shares: Vec<u64> = (0..7)
            .filter_map(|client| plan.count_of_client(client))
            .collect();
        assert_eq!(shares.iter().sum::<u64>(), 100);
        assert_eq!(shares, [15, 15, 14, 14, 14, 14, 14]);
    }

    #[test]
    fn a_client_begins_at_most_what_its_count_or_its_load_and_time_allow() {
        let poisson = |offered_load_ops_per_s| ArrivalsPlan::Poisson {
            offered_load_ops_per_s,
        };
        let of = |arrivals, warm_up_ns, duration_ns, count| {
            let run = Plan {
                clients: 4,
                arrivals,
                warm_up_ns,
                duration_ns,
                count,
                ..example()
            };
            run.operations_of_client_max()
        };
        let second = Some(1_000_000_000);
        // 400 operations of four clients in a second: 100 each, plus 6 x 10.
        assert_eq!(of(poisson(400.0), 0, second, None), Some(160));
        assert_eq!(of(poisson(400.0), 1_000_000_000, second, None), Some(320));
        // The first of four clients starts the one operation of a count.
        assert_eq!(of(poisson(400.0), 0, None, Some(1)), Some(1));
        assert_eq!(of(ArrivalsPlan::Closed, 0, second, Some(9)), Some(3));
        assert_eq!(of(ArrivalsPlan::Closed, 0, second, None), None);
        assert_eq!(of(ArrivalsPlan::Closed, 1, None, Some(9)), None);
    }

    #[test]
    fn every_client_belongs_to_one_worker() {
        let mut plan = example();
        plan.clients = 5;
        plan.workers = 2;
        let mut all: Vec<u32> = (0..2)
            .flat_map(|worker| plan.clients_of_worker(worker))
            .collect();
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn smbtortures_clients_end_where_it_ended_them() {
        use Mismatch::{Failed, OtherFailure, Succeeded, WrongLength};
        for (kind, mismatch, ends) in [
            (OpKind::NtCreateX, Failed, true),
            (OpKind::Unlink, Succeeded, true),
            (OpKind::MkDir, Failed, false),
            (OpKind::NtCreateX, OtherFailure, false),
            (OpKind::ReadX, WrongLength, true),
            (OpKind::WriteX, WrongLength, false),
        ] {
            let policy = OnMismatch::Smbtorture;
            assert_eq!(
                policy.ends_client(kind, mismatch),
                ends,
                "{kind:?} {mismatch:?}"
            );
            assert!(OnMismatch::Stop.ends_client(kind, mismatch));
            assert!(!OnMismatch::Count.ends_client(kind, mismatch));
        }
    }
}
