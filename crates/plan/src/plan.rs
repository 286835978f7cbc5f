//! Everything decided before a run: a [`Plan`] can be printed, stored and run again.

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

use crate::gate::GatesPlan;
use filestone_workload::failure::Mismatch;
use filestone_workload::kind::Role;
use filestone_workload::load::Generation;
use filestone_workload::load::refusals::LayerKind;
use filestone_workload::operation::{OpKind, Stability};
pub use filestone_workload::recording::TICK_NANOS;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// When operations are due.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "process", rename_all = "lowercase")]
pub enum ArrivalsPlan {
    /// Each slot starts its next operation when its last one ends.
    Closed,
    /// Operations are due at equal distances, whatever the server does.
    Constant {
        /// All clients together.
        offered_load_ops_per_s: f64,
    },
    /// Operations are due at exponentially distributed distances.
    Poisson {
        /// All clients together.
        offered_load_ops_per_s: f64,
    },
    /// Operations are due at equal distances, at no load and at several in turn, of which each is as
    /// much more than the one below; in random order, cycle by cycle.
    Levels(LevelsPlan),
}

impl ArrivalsPlan {
    /// The offered load of an open loop, of several in turn their mean; `None` for a closed one.
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

    /// The same arrivals at so many operations per second, on average; a closed loop stays one.
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

    /// The same arrivals at so many times the load.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        let load = self.offered_load();
        load.map_or(self, |load| self.offering(load * factor))
    }
}

/// What is asked: one operation, repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ProbePlan {
    /// Which operation.
    pub operation: OpKind,
    /// Bytes per READ, WRITE, COMMIT or copy, and wanted per page of READDIR.
    pub size_bytes: u32,
    /// Whether offsets and files are chosen at random instead of one after the other.
    pub random: bool,
    /// How safely WRITE must store.
    pub stability: Stability,
    /// Length of the files that WRITE, COMMIT and copies work on.
    pub file_size_bytes: u64,
    /// How many entries of a directory are visited at most.
    pub files_max: u32,
    /// Whether what changes nothing, too, works on files of the run's own, one for each client, which
    /// are as long as [`Self::file_size_bytes`] where they are read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own_files: bool,
    /// What becomes of directories that probes have left over that were killed.
    #[serde(default, skip_serializing_if = "LeftoverPolicy::refuses")]
    pub left_over: LeftoverPolicy,
}

impl ProbePlan {
    /// Whether an operation changes nothing and works on files, so that these can be the run's own.
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

    /// Length of the file that a client's copies are of: whole operations, at least one.
    pub fn copied_bytes(&self) -> u64 {
        let len = u64::from(self.size_bytes.max(1));
        (self.file_size_bytes / len).max(1) * len
    }

    /// The kinds of operation that a run of this plan produces, and their roles.
    pub fn kinds(&self) -> Vec<(OpKind, Role)> {
        let mut kinds = vec![(self.operation, Role::Measured)];
        let unmeasured = unmeasured_for(self.operation).iter();
        kinds.extend(unmeasured.map(|kind| (*kind, Role::Unmeasured)));
        kinds
    }
}

/// What clients ask.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "source", rename_all = "kebab-case")]
pub enum WorkloadPlan {
    /// One operation, repeated.
    Probe(ProbePlan),
    /// The lines of a load file.
    LoadFile(ReplayPlan),
    /// Operations drawn from a mix.
    Mix(Box<MixPlan>),
    /// Files that are written and read, group by group of clients.
    Fleet(Box<FleetPlan>),
}

impl WorkloadPlan {
    /// Bytes per READ and WRITE of a probe or a mix.
    pub fn transfer_bytes(&self) -> Option<u32> {
        match self {
            WorkloadPlan::Probe(probe) => Some(probe.size_bytes),
            WorkloadPlan::Mix(mix) => Some(mix.transfer_bytes),
            WorkloadPlan::LoadFile(_) | WorkloadPlan::Fleet(_) => None,
        }
    }
}

/// When the lines of a load file are due.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "by", rename_all = "kebab-case")]
pub enum Pacing {
    /// Each line when the one before it has ended.
    Closed,
    /// When its time stamp says so, so many times as fast; a line without a stamp
    /// when the one before it has ended.
    Stamps {
        /// 2 replays an hour in half an hour.
        speed: f64,
    },
    /// As a client would that moves so much file data per second.
    Rate {
        /// Of each client.
        bytes_per_s: f64,
    },
}

/// What happens when a line ends otherwise than the load file expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum OnMismatch {
    /// It is counted, and the client goes on.
    #[default]
    Count,
    /// It is counted, and ends this client.
    Stop,
    /// It is counted, and ends this client where it ends one of smbtorture's: at a success instead
    /// of a failure or the other way round, MKDIR aside, and at a read of another length.
    Smbtorture,
}

impl OnMismatch {
    /// Whether a client ends whose line has ended so.
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

/// What becomes of a tree in the target that an earlier run of ours has left over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LeftoverPolicy {
    /// It stays, and nothing is started.
    #[default]
    Refuse,
    /// It is taken away if its run is certainly over. On a server, a run on
    /// another host may go on. Beside what another program has left, the run works in a
    /// place of its own.
    RemoveIfOver,
    /// It is taken away unless its run certainly goes on.
    Remove,
}

impl LeftoverPolicy {
    /// It is an error, the default.
    // serde hands out references.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    pub fn refuses(&self) -> bool {
        *self == Self::Refuse
    }

    /// It is removed, if the command line says so.
    pub const fn removing(is_removed: bool) -> Self {
        if is_removed {
            Self::Remove
        } else {
            Self::Refuse
        }
    }
}

/// A load by its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LoadName {
    /// Path of the load file, or the name of a load that filestone makes itself.
    pub name: String,
    /// Operations in one pass of it, so that another file of that name is noticed.
    pub operations: u64,
    /// Whose grammar it has, and so how it spells its operations.
    pub generation: Generation,
}

/// What is asked: the lines of a load file, and how a layer carries them out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ReplayPlan {
    /// The loads; client i replays load i modulo their number.
    pub loads: Vec<LoadName>,
    /// The kinds of operation in them.
    pub kinds: Vec<OpKind>,
    /// Further targets of the same protocol as the plan's: client i uses target i
    /// modulo their number, the plan's own being the first.
    pub more_targets: Vec<TargetPlan>,
    /// Clients that share a thread and take turns, line by line.
    pub clients_per_thread: u32,
    /// The first client's number in names: 0 as dbench's, 1 as smbtorture's.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub first_number: u32,
    /// When lines are due.
    pub pacing: Pacing,
    /// Whether each client makes one pass and ends.
    pub run_once: bool,
    /// Whether the clients' trees stay when the run ends.
    pub skip_cleanup: bool,
    /// What becomes of a tree that an earlier run of ours has left over.
    pub left_over: LeftoverPolicy,
    /// Whether what changes something is left out, and the tree that is there already is read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub read_only: bool,
    /// Reads and writes are cut to so many bytes.
    pub trunc_io_bytes: Option<u64>,
    /// What a result other than the expected one does.
    pub on_mismatch: OnMismatch,
    /// Whether names are looked for without regard to case when the exact name is
    /// not there, as Samba does.
    pub resolve: bool,
    /// How the local layer works.
    pub local: LocalReplay,
    /// How the NFS layer works.
    pub nfs3: Nfs3Replay,
    /// How the TCP layer works.
    pub tcp: TcpReplay,
    /// How the SMB layer works.
    #[serde(default, skip_serializing_if = "SmbReplay::is_usual")]
    pub smb: SmbReplay,
}

// serde hands out references.
#[allow(clippy::trivially_copy_pass_by_ref)]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl ReplayPlan {
    /// A replay of these loads, from which others are made: as fast as answers come, again and
    /// again, each client on a thread of its own.
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
    /// The same, but a line whose connection was lost has failed.
    #[must_use]
    pub fn without_retries(self) -> Self {
        Self {
            smb: SmbReplay { retries: 0 },
            ..self
        }
    }
}

/// How the local layer carries out a load; the names are dbench's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LocalReplay {
    /// Files are opened with O_SYNC.
    pub sync: bool,
    /// The directory is synchronised after unlink, rmdir and rename.
    pub sync_directories: bool,
    /// fsync after every write.
    pub fsync: bool,
    /// Samba's DOS attributes are kept in extended attributes.
    pub xattr: bool,
    /// One-byte writes that only extend a file become ftruncate.
    pub one_byte_write_fix: bool,
    /// stat comes before calls that it may make pointless.
    pub stat_check: bool,
    /// Reads and writes are only counted.
    pub fake_io: bool,
    /// Files are opened with O_DIRECT.
    pub direct: bool,
}

/// How the NFS layer carries out a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Nfs3Replay {
    /// Writes are FILE_SYNC instead of UNSTABLE with COMMIT.
    pub stable: bool,
    /// Locks are asked of the server's lock manager.
    pub enable_nlm: bool,
    /// Its port, if the server and its port mapper are not to be asked.
    #[serde(default)]
    pub nlm_port: Option<u16>,
}

/// How the TCP layer carries out a load.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TcpReplay {
    /// What stands before names, for their length: `.` as dbench's default.
    pub prefix: String,
    /// Socket options in dbench's words.
    pub socket_options: String,
}

/// How the SMB layer carries out a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SmbReplay {
    /// How often a line is tried again whose connection was lost, on another one: files that were
    /// open are opened again before, and locked again.
    pub retries: u32,
}

impl Default for SmbReplay {
    /// Once: smbtorture's `torture:nretries`.
    fn default() -> Self {
        Self { retries: 1 }
    }
}

impl SmbReplay {
    fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

/// What has to be done, uncounted, so that an operation can be repeated for ever.
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

/// A run, fully decided. All times in nanoseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Plan {
    /// The command that made this plan.
    pub face: String,
    /// Where operations go.
    pub target: TargetPlan,
    /// What is asked.
    pub workload: WorkloadPlan,
    /// When operations are due; a load file has its own pacing.
    pub arrivals: ArrivalsPlan,
    /// Simulated clients, each with its own connection.
    pub clients: u32,
    /// Calls in flight per client at most.
    pub in_flight: u32,
    /// Threads of the load generator.
    pub workers: u32,
    /// What is not measured at the beginning.
    pub warm_up_ns: u64,
    /// Length of the measured window; `None` when `count` ends the run.
    pub duration_ns: Option<u64>,
    /// Measured operations of all clients together; `None` when only time ends the run.
    pub count: Option<u64>,
    /// How long a call may stay unanswered.
    pub timeout_ns: u64,
    /// How long a lost connection is tried again before its client counts as lost.
    pub reconnect_ns: u64,
    /// How the clients are connected.
    #[serde(default, skip_serializing_if = "ConnectionPlan::is_usual")]
    pub connections: ConnectionPlan,
    /// Length of one interval: a row of the report, unless `row_ns` is longer.
    pub interval_ns: u64,
    /// Length of a row that reports join intervals for; `None` if a row is an interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row_ns: Option<u64>,
    /// Where all randomness comes from.
    pub seed: u64,
    /// Whether workers spin instead of sleeping.
    pub busy_poll: bool,
    /// Processors that workers are bound to, one after the other; empty for no binding.
    pub pin: Vec<u32>,
    /// What becomes of the data that READ brings; `None` where nothing is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_data: Option<ReadData>,
    /// How the offered load is steered while the run lasts; `None` leaves it as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steering: Option<SteeringPlan>,
    /// What a run is held to.
    #[serde(default, skip_serializing_if = "GatesPlan::is_none")]
    pub gates: GatesPlan,
    /// Statuses with which an operation may fail as expected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expect: Vec<ExpectedStatus>,
    /// What is read so that the cost of an operation can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<CostPlan>,
    /// Whether the kernel stamps a sample of the calls on their way.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stamps: bool,
    /// Which part of a job of several hosts this is; `None` if it is all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<JobPartition>,
}

impl Plan {
    /// A closed loop of one client with one call in flight, without an end, which other plans
    /// are made of.
    pub fn new(face: &str, target: TargetPlan, workload: WorkloadPlan, seed: u64) -> Self {
        const SECOND: u64 = 1_000_000_000;
        Self {
            face: face.into(),
            target,
            workload,
            arrivals: ArrivalsPlan::Closed,
            clients: 1,
            in_flight: 1,
            workers: 1,
            warm_up_ns: 0,
            duration_ns: None,
            count: None,
            // The Linux client's default for TCP mounts (`timeo=600`).
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

    /// The probe that is asked, if it is one.
    pub fn probe(&self) -> Option<&ProbePlan> {
        match &self.workload {
            WorkloadPlan::Probe(probe) => Some(probe),
            WorkloadPlan::LoadFile(_) | WorkloadPlan::Mix(_) | WorkloadPlan::Fleet(_) => None,
        }
    }

    /// The probe that is asked, to be changed.
    pub fn probe_mut(&mut self) -> Option<&mut ProbePlan> {
        match &mut self.workload {
            WorkloadPlan::Probe(probe) => Some(probe),
            WorkloadPlan::LoadFile(_) | WorkloadPlan::Mix(_) | WorkloadPlan::Fleet(_) => None,
        }
    }

    /// The load file that is replayed, if there is one.
    pub fn replay(&self) -> Option<&ReplayPlan> {
        match &self.workload {
            WorkloadPlan::Probe(_) | WorkloadPlan::Mix(_) | WorkloadPlan::Fleet(_) => None,
            WorkloadPlan::LoadFile(replay) => Some(replay),
        }
    }

    /// The load file that is replayed, to be changed.
    pub fn replay_mut(&mut self) -> Option<&mut ReplayPlan> {
        match &mut self.workload {
            WorkloadPlan::Probe(_) | WorkloadPlan::Mix(_) | WorkloadPlan::Fleet(_) => None,
            WorkloadPlan::LoadFile(replay) => Some(replay),
        }
    }

    /// The mix that is asked, if there is one.
    pub fn mix(&self) -> Option<&MixPlan> {
        match &self.workload {
            WorkloadPlan::Probe(_) | WorkloadPlan::LoadFile(_) | WorkloadPlan::Fleet(_) => None,
            WorkloadPlan::Mix(mix) => Some(mix),
        }
    }

    /// The mix that is asked, to be changed.
    pub fn mix_mut(&mut self) -> Option<&mut MixPlan> {
        match &mut self.workload {
            WorkloadPlan::Probe(_) | WorkloadPlan::LoadFile(_) | WorkloadPlan::Fleet(_) => None,
            WorkloadPlan::Mix(mix) => Some(mix),
        }
    }

    /// The fleet that is run, if there is one.
    pub fn fleet(&self) -> Option<&FleetPlan> {
        match &self.workload {
            WorkloadPlan::Probe(_) | WorkloadPlan::LoadFile(_) | WorkloadPlan::Mix(_) => None,
            WorkloadPlan::Fleet(fleet) => Some(fleet),
        }
    }

    /// Whether its clients say by themselves when each of their operations is due.
    pub fn has_lines(&self) -> bool {
        match &self.workload {
            WorkloadPlan::Probe(_) | WorkloadPlan::Mix(_) => false,
            WorkloadPlan::LoadFile(_) | WorkloadPlan::Fleet(_) => true,
        }
    }

    /// Where a client connects from; `None` leaves it to the host.
    pub fn source_of(&self, client: u32) -> Option<IpAddr> {
        let member = self.fleet().and_then(|fleet| fleet.member(client));
        match member {
            Some(member) if !member.group.sources.is_empty() => {
                member.group.sources.of_client(member.number)
            }
            _ => self.connections.sources.of_client(self.number_of(client)),
        }
    }

    /// Where what prepares the target that `is_target` recognizes, and cleans it up, connects from:
    /// as the first client there does.
    pub fn source_for(&self, is_target: impl Fn(&TargetPlan) -> bool) -> Option<IpAddr> {
        let place = self.targets().position(is_target);
        let first = self.fleet().zip(place).and_then(|(fleet, place)| {
            let mut clients = 0..fleet.clients();
            clients.find(|client| fleet.target_of(*client) as usize == place)
        });
        self.source_of(first.unwrap_or(0))
    }

    /// How many addresses its clients connect from; 0 leaves it to the host.
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

    /// As whom its clients call.
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

    /// Its own target, and those that clients use besides.
    pub fn targets(&self) -> impl Iterator<Item = &TargetPlan> {
        let more = match &self.workload {
            WorkloadPlan::Probe(_) => &[],
            WorkloadPlan::LoadFile(replay) => replay.more_targets.as_slice(),
            WorkloadPlan::Mix(mix) => mix.more_targets.as_slice(),
            WorkloadPlan::Fleet(fleet) => fleet.more_targets.as_slice(),
        };
        std::iter::once(&self.target).chain(more)
    }

    /// The kinds of operation that a run of this plan produces, and their roles.
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

    /// The kind that the run is about; of a load file, the first one in it, of a mix the
    /// most frequent.
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

    /// This plan as the probe of an NFS server, if that is what it is.
    pub fn as_probe_run(&self) -> Option<ProbeRun<'_>> {
        Some(ProbeRun {
            plan: self,
            probe: self.probe()?,
            target: self.target.nfs3()?,
        })
    }

    /// Connections of each client.
    pub fn sockets_per_client(&self) -> u64 {
        let lock_managers = u64::from(self.replay().is_some_and(|replay| replay.nfs3.enable_nlm));
        u64::from(self.target.connections_per_client()) + lock_managers
    }

    /// What the loss of a client does: that of the only one ends the run.
    pub fn on_lost(&self) -> OnLost {
        let usual = if self.clients == 1 {
            OnLost::End
        } else {
            OnLost::Retry
        };
        self.connections.on_lost.unwrap_or(usual)
    }

    /// The layer that executes its loads.
    pub fn layer_kind(&self) -> LayerKind {
        let locks = self.replay().is_some_and(|replay| replay.nfs3.enable_nlm);
        self.target.layer_kind(locks)
    }

    /// The number that makes client `client` of this plan what it is: that in the job, where this
    /// is a part of one.
    pub fn number_of(&self, client: u32) -> u32 {
        self.part.map_or(client, |part| part.number_of(client))
    }

    /// The clients, arrivals and count of the whole job, which are the plan's own where it is no
    /// part of one.
    pub fn whole(&self) -> JobPartition {
        self.part.unwrap_or(JobPartition {
            index: 0,
            parts: 1,
            clients: self.clients,
            arrivals: self.arrivals,
            count: self.count,
        })
    }

    /// Measured operations of client `index`: the remainder goes to the first ones.
    pub fn count_of_client(&self, index: u32) -> Option<u64> {
        let clients = u64::from(self.clients.max(1));
        self.count
            .map(|count| count / clients + u64::from(u64::from(index) < count % clients))
    }

    /// The most operations of its own that a client of this run begins: those of the count, or of the
    /// offered load and the time, with six standard deviations of Poisson arrivals; `None` where
    /// the server's speed decides, or a load that is searched for.
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

    /// The clients of worker `worker`: every `workers`-th one.
    pub fn clients_of_worker(&self, worker: u32) -> impl Iterator<Item = u32> + use<> {
        (worker..self.clients).step_by(self.workers.max(1) as usize)
    }
}

/// A plan that is known to be the probe of an NFS server.
#[derive(Debug, Clone, Copy)]
pub struct ProbeRun<'plan> {
    /// The whole plan.
    pub plan: &'plan Plan,
    /// What is asked.
    pub probe: &'plan ProbePlan,
    /// Where operations go.
    pub target: &'plan NfsTarget,
}

/// A probe run is a plan with less to ask about.
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
        // 400 operations of four clients in a second: 100 each, and 6 x 10.
        assert_eq!(of(poisson(400.0), 0, second, None), Some(160));
        assert_eq!(of(poisson(400.0), 1_000_000_000, second, None), Some(320));
        // The first of four clients begins the one of a count.
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
