//! The fleet workload: groups of clients that write and read files.

use super::{Identities, LeftoverPolicy, ReplayPlan, SourceAddresses, TargetPlan};
use crate::JsonSchema;
use filestone_workload::kind::Role;
use filestone_workload::operation::OpKind;
use filestone_workload::payload::Pattern;
use filestone_workload::payload::unit::UNIT_MIN;
use filestone_workload::random::{RandomStream, RngExt, stream};
use serde::{Deserialize, Serialize};

/// Maximum number of files of one client.
pub const FILES_MAX: u32 = 1_000_000;
/// Maximum length of a read or write.
pub const TRANSFER_MAX: u64 = 1 << 30;
/// Maximum number of groups in a fleet.
pub const GROUPS_MAX: usize = 1024;

/// A range of values, both ends included. The actual values are sampled with the run's seed, from
/// the [`ValueDistribution`] of the group.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ValueRange<T> {
    /// The minimum.
    pub min: T,
    /// The maximum.
    pub max: T,
}

impl<T: Copy> ValueRange<T> {
    /// Returns a range of one value.
    pub const fn always(value: T) -> Self {
        Self {
            min: value,
            max: value,
        }
    }
}

/// A random property of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RandomField {
    /// Length of the file.
    FileSize = 0,
    /// Bytes of each read.
    ReadSize = 1,
    /// Bytes of each write.
    WriteSize = 2,
    /// The rate.
    Rate = 3,
}

/// Distribution of the values in a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ValueDistribution {
    /// Shape of the distribution.
    pub shape: DistributionShape,
    /// Scope of one sample.
    pub each: SampleScope,
}

impl ValueDistribution {
    /// Whether this is the default distribution.
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

/// Shape of a distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DistributionShape {
    /// Uniform distribution.
    #[default]
    Uniform,
    /// The logarithm is uniformly distributed: each doubling is equally likely, so small values are
    /// more likely.
    LogUniform,
}

/// Scope of one sample: how often a value is sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SampleScope {
    /// For each file of each client.
    #[default]
    File,
    /// Once for each client.
    Client,
}

/// Sampling of the random properties of one file of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RandomFieldFor {
    /// The run's seed.
    pub seed: u64,
    /// Number of the client.
    pub client: u32,
    /// Number of the file in the sequence that the client writes or reads.
    pub file: u64,
    /// The distribution.
    pub drawing: ValueDistribution,
}

impl RandomFieldFor {
    /// Returns the seed for the order of the file's pieces, for random offsets.
    pub fn order(&self) -> u64 {
        let seed = self.seed ^ u64::from(self.client) << 32;
        stream(seed, RandomStream::Offsets, self.file).random()
    }

    /// Returns a random number from 0 to below 1.
    fn share(&self, what: RandomField) -> f64 {
        let seed = self.seed ^ (u64::from(self.client) << 2 | what as u64);
        let file = match self.drawing.each {
            SampleScope::File => self.file,
            SampleScope::Client => 0,
        };
        stream(seed, RandomStream::Fleet, file).random()
    }

    /// Returns a random whole number in the range.
    pub fn whole(&self, what: RandomField, span: ValueRange<u64>) -> u64 {
        let width = span.max.saturating_sub(span.min);
        if width == 0 {
            return span.min;
        }
        match self.drawing.shape {
            DistributionShape::Uniform => {
                let above = (self.share(what) * (width as f64 + 1.0)) as u64;
                span.min + above.min(width)
            }
            DistributionShape::LogUniform => {
                let least = span.min.max(1) as f64;
                let drawn = self.log_uniform(what, least, span.max as f64 + 1.0);
                (drawn as u64).clamp(span.min, span.max)
            }
        }
    }

    /// Returns a random number in the range.
    pub fn number(&self, what: RandomField, span: ValueRange<f64>) -> f64 {
        if span.min >= span.max {
            return span.min;
        }
        match self.drawing.shape {
            DistributionShape::Uniform => span.min + self.share(what) * (span.max - span.min),
            DistributionShape::LogUniform => {
                let drawn = self.log_uniform(what, span.min, span.max);
                drawn.clamp(span.min, span.max)
            }
        }
    }

    /// Returns a log-uniform random number from `least`, which is more than 0, to below `end`.
    fn log_uniform(&self, what: RandomField, least: f64, end: f64) -> f64 {
        least * (end / least).powf(self.share(what))
    }
}

/// Unit of a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RateUnit {
    /// Bits of file data per second.
    BitsPerS,
    /// Reads and writes per second.
    OperationsPerS,
}

/// Maximum rate of a client.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RatePlan {
    /// Unit of the rate.
    pub unit: RateUnit,
    /// Rate per second, in `unit`.
    pub per_s: ValueRange<f64>,
}

/// Direction of the data transfer of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// The client writes its files sequentially, then starts over.
    Write,
    /// The client reads files: those of the writer that it is paired with, or its own, which it
    /// writes first.
    Read,
    /// The client writes each file and reads it back.
    Both,
}

/// Transfer order of the pieces of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AccessPattern {
    /// From start to end.
    #[default]
    Sequential,
    /// Each piece once, in an order that is random for each file.
    Random,
}

/// End condition of a client. The client completes its current file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct QuiescePlan {
    /// Number of files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<u64>,
    /// Number of bytes, read and written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Time since the client started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_ns: Option<u64>,
    /// Maximum time to complete the current file; after that the file is closed where it is.
    pub grace_ns: u64,
}

/// A group of clients with the same settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GroupPlan {
    /// Name in reports.
    pub name: String,
    /// Number of clients.
    pub count: u32,
    /// Direction of the data transfer.
    pub direction: Direction,
    /// Index of the group whose files these clients read: client *i* reads the files of that
    /// group's client *i* modulo their number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<u32>,
    /// Indices of the group's targets in the plan: client *i* uses number *i* modulo their number.
    /// A group that reads another group's files uses the targets of that group.
    pub targets: Vec<u32>,
    /// Source addresses, which the clients use in turn.
    #[serde(default, skip_serializing_if = "SourceAddresses::is_empty")]
    pub sources: SourceAddresses,
    /// Identities of the clients.
    #[serde(default, skip_serializing_if = "Identities::is_empty")]
    pub identities: Identities,
    /// Bytes of each read.
    pub read_size: ValueRange<u64>,
    /// Bytes of each write and, with checksums, of each unit.
    pub write_size: ValueRange<u64>,
    /// Bytes of each file.
    pub file_size: ValueRange<u64>,
    /// Distribution of sizes and rates that are ranges.
    #[serde(default, skip_serializing_if = "ValueDistribution::is_usual")]
    pub drawing: ValueDistribution,
    /// Transfer order of the pieces of a file.
    #[serde(default)]
    pub offsets: AccessPattern,
    /// Number of files of each client.
    pub files: u32,
    /// Maximum rate of each client; if absent, each transfer starts when the previous one ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<RatePlan>,
    /// Content of the data.
    pub pattern: Pattern,
    /// Whether each unit has a checksum, which is verified when the unit is read.
    pub checksums: bool,
    /// Whether the server must store writes on stable storage before it replies.
    pub stable: bool,
    /// Whether each write is followed by a sync.
    pub sync_after_write: bool,
    /// Whether files are synced before they are closed.
    pub sync_before_close: bool,
    /// Whether files grow with each iteration instead of being truncated to length 0.
    pub append: bool,
    /// Whether a file is removed before it is written.
    pub unlink_first: bool,
    /// Prefix of file names.
    pub prefix: String,
    /// End condition of a client.
    pub quiesce: QuiescePlan,
    /// Time for retries of a failed operation before the client aborts.
    pub retry_ns: u64,
}

impl GroupPlan {
    /// A group of clients without a rate limit, as a base for others.
    pub fn new(name: &str, count: u32, direction: Direction) -> Self {
        const SECOND: u64 = 1_000_000_000;
        Self {
            name: name.into(),
            count,
            direction,
            reads: None,
            targets: vec![0],
            sources: SourceAddresses::default(),
            identities: Identities::default(),
            read_size: ValueRange::always(4096),
            write_size: ValueRange::always(4096),
            file_size: ValueRange::always(1_000_000),
            drawing: ValueDistribution::default(),
            offsets: AccessPattern::Sequential,
            files: 2,
            rate: None,
            pattern: Pattern::Increasing,
            checksums: true,
            stable: false,
            sync_after_write: false,
            sync_before_close: false,
            append: false,
            unlink_first: false,
            prefix: name.into(),
            quiesce: QuiescePlan {
                grace_ns: 5 * SECOND,
                ..QuiescePlan::default()
            },
            retry_ns: 3_500_000_000,
        }
    }

    /// Whether the group's clients write before they do anything else.
    pub const fn writes(&self) -> bool {
        self.reads.is_none()
    }
}

/// Ramp-up: number of clients added per step, and step length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RampPlan {
    /// Number of clients that start with each step.
    pub clients: u32,
    /// Length of a step.
    pub every_ns: u64,
}

/// Health rules of a ramp. The ramp stops as soon as a row of the report breaks one of them.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct HealthPlan {
    /// Limit of the 99th percentile of the time to connect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connect_time_ns: Option<u64>,
    /// Limit of the 99th percentile of the response time of reads and writes in a row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_time_ns: Option<u64>,
    /// Limit of the share of failed operations in a row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors: Option<f64>,
    /// Limit of the 99th percentile of the sending delay that the load generator adds to the
    /// operations of a row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lateness_ns: Option<u64>,
}

/// Fleet workload: groups of clients that write and read files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetPlan {
    /// Path of the file that the fleet was read from, or a description.
    pub name: String,
    /// The groups. Clients are numbered consecutively over the groups, in their order.
    pub groups: Vec<GroupPlan>,
    /// Further targets of the same protocol as the plan's target, which is the first.
    pub more_targets: Vec<TargetPlan>,
    /// Ramp-up of the clients; without it all start at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ramp: Option<RampPlan>,
    /// Rules that stop the ramp.
    #[serde(default)]
    pub health: HealthPlan,
    /// Number of clients that share a thread if their operations block.
    pub clients_per_thread: u32,
    /// Policy for a tree that an earlier run of filestone has left over.
    pub left_over: LeftoverPolicy,
    /// Whether the files stay when the run ends.
    pub keep_files: bool,
}

/// A client as a member of its group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GroupMember<'plan> {
    /// The group.
    pub group: &'plan GroupPlan,
    /// Index of the group.
    pub place: usize,
    /// Number of the client in the group.
    pub number: u32,
}

impl FleetPlan {
    /// Returns the number of clients.
    pub fn clients(&self) -> u32 {
        let counts = self.groups.iter().map(|group| group.count);
        counts.fold(0, u32::saturating_add)
    }

    /// Returns the number of the first client of a group.
    pub fn first_of(&self, place: usize) -> u32 {
        let before = self.groups.iter().take(place);
        before.fold(0, |first, group| first.saturating_add(group.count))
    }

    /// Returns a client by its number.
    pub fn member(&self, client: u32) -> Option<GroupMember<'_>> {
        let mut number = client;
        for (place, group) in self.groups.iter().enumerate() {
            if number < group.count {
                return Some(GroupMember {
                    group,
                    place,
                    number,
                });
            }
            number -= group.count;
        }
        None
    }

    /// Returns the client whose files `client` reads, if it has no files itself.
    pub fn writer_of(&self, client: u32) -> Option<u32> {
        let GroupMember { group, number, .. } = self.member(client)?;
        let place = group.reads? as usize;
        let writers = self.groups.get(place)?.count.max(1);
        Some(self.first_of(place) + number % writers)
    }

    /// Returns the index of a client's target.
    pub fn target_of(&self, client: u32) -> u32 {
        let owner = self.writer_of(client).unwrap_or(client);
        let Some(GroupMember { group, number, .. }) = self.member(owner) else {
            return 0;
        };
        let places = group.targets.len().max(1);
        let place = group.targets.get(number as usize % places);
        place.copied().unwrap_or(0)
    }

    /// Returns the clients in starting order: a writer before the clients that read its files, and
    /// all groups in proportion to their sizes.
    pub fn order(&self) -> Vec<u32> {
        let mut clients: Vec<(u32, bool, usize, u32)> = Vec::new();
        for (place, group) in self.groups.iter().enumerate() {
            let first = self.first_of(place);
            let members = 0..group.count;
            clients.extend(members.map(|number| {
                // The position in its group, scaled to 2³², so that groups of all sizes end
                // together.
                let part = (u64::from(number) << 32) / u64::from(group.count.max(1));
                (part as u32, group.reads.is_some(), place, first + number)
            }));
        }
        clients.sort_unstable();
        clients.into_iter().map(|(.., client)| client).collect()
    }

    /// Returns the start time of each client, in nanoseconds since the start of the run.
    pub fn beginnings(&self) -> Vec<u64> {
        let order = self.order();
        let mut beginnings = vec![0; order.len()];
        let Some(ramp) = self.ramp else {
            return beginnings;
        };
        for (place, client) in (0_u64..).zip(order) {
            let step = place / u64::from(ramp.clients.max(1));
            if let Some(begins) = beginnings.get_mut(client as usize) {
                *begins = step.saturating_mul(ramp.every_ns);
            }
        }
        beginnings
    }

    /// Returns the number of steps.
    pub fn steps(&self) -> u32 {
        self.ramp.map_or(1, |ramp| {
            self.clients().div_ceil(ramp.clients.max(1)).max(1)
        })
    }

    /// Returns the number of clients that have started by a step, counted from 0.
    pub fn clients_at(&self, step: u32) -> u32 {
        let all = self.clients();
        self.ramp.map_or(all, |ramp| {
            ramp.clients.saturating_mul(step.saturating_add(1)).min(all)
        })
    }

    /// Returns the length of the longest write.
    pub fn unit_max(&self) -> u64 {
        let sizes = self.groups.iter().map(|group| group.write_size.max);
        sizes.max().unwrap_or(0)
    }

    /// Returns the kinds of operation of the fleet, data operations first.
    pub fn kinds(&self) -> Kinds {
        let any = |what: fn(&GroupPlan) -> bool| self.groups.iter().any(what);
        let mut measured = Vec::new();
        if any(|group| group.direction != Direction::Read) {
            measured.push(OpKind::WriteX);
        }
        if any(|group| group.direction != Direction::Write) {
            measured.push(OpKind::ReadX);
        }
        let mut unmeasured = vec![OpKind::NtCreateX, OpKind::Close];
        if any(GroupPlan::writes) {
            unmeasured.push(OpKind::MkDir);
        }
        if any(|group| group.direction == Direction::Read && group.reads.is_none()) {
            unmeasured.push(OpKind::WriteX);
        }
        if any(|group| group.unlink_first) {
            unmeasured.push(OpKind::Unlink);
        }
        if any(|group| group.sync_after_write || group.sync_before_close) {
            unmeasured.push(OpKind::Flush);
        }
        Kinds {
            measured,
            unmeasured,
        }
    }

    /// Whether any client verifies checksums.
    pub fn verifies(&self) -> bool {
        let verifies = |group: &GroupPlan| group.checksums && group.direction != Direction::Write;
        self.groups.iter().any(verifies)
    }

    /// Returns the equivalent replay, for the layer that executes the fleet: a load that names
    /// files by path.
    pub fn as_replay(&self) -> ReplayPlan {
        let kinds = self.kinds();
        let kinds = [kinds.measured, kinds.unmeasured].concat();
        ReplayPlan {
            more_targets: self.more_targets.clone(),
            clients_per_thread: self.clients_per_thread,
            skip_cleanup: self.keep_files,
            left_over: self.left_over,
            resolve: false,
            // A client restarts its file when an operation fails.
            ..ReplayPlan::new(vec![], kinds).without_retries()
        }
    }
}

/// The kinds of operation of a fleet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kinds {
    /// Measured kinds: reads and writes.
    pub measured: Vec<OpKind>,
    /// Unmeasured kinds, which the measured ones need.
    pub unmeasured: Vec<OpKind>,
}

impl Kinds {
    /// Returns the kinds with their roles.
    pub fn in_roles(&self) -> Vec<(OpKind, Role)> {
        let measured = self.measured.iter().map(|kind| (*kind, Role::Measured));
        let unmeasured = self.unmeasured.iter().map(|kind| (*kind, Role::Unmeasured));
        measured.chain(unmeasured).collect()
    }
}

/// Error returned when a fleet cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FleetPlanError {
    /// The fleet has no clients.
    #[error("the fleet has no clients")]
    NoClients,
    /// There are too many groups.
    #[error("a fleet has at most {GROUPS_MAX} groups")]
    ManyGroups,
    /// The plan and its groups differ in the number of clients.
    #[error("the plan has {plan} clients, and its groups together {groups}")]
    Clients {
        /// Number of clients in the plan.
        plan: u32,
        /// Number of clients in the groups.
        groups: u32,
    },
    /// A group is invalid.
    #[error("group \"{group}\": {what}")]
    Group {
        /// Name of the group.
        group: String,
        /// Description of the error.
        what: String,
    },
    /// A ramp step has no clients or no length.
    #[error("a ramp needs at least one client a step, and steps of at least 100 ms")]
    Ramp,
    /// The target has no files.
    #[error("bare TCP only carries bytes: a fleet writes and reads files")]
    NoFiles,
    /// The plan has a warm-up, which fleets do not support.
    #[error("a fleet has no warm-up: its ramp is part of what is measured")]
    WarmUp,
}

impl FleetPlan {
    /// Checks whether the fleet can be run by `clients` clients on `targets` targets.
    pub fn check(&self, clients: u32, targets: usize) -> Result<(), FleetPlanError> {
        if self.clients() == 0 {
            return Err(FleetPlanError::NoClients);
        }
        if self.groups.len() > GROUPS_MAX {
            return Err(FleetPlanError::ManyGroups);
        }
        if self.clients() != clients {
            return Err(FleetPlanError::Clients {
                plan: clients,
                groups: self.clients(),
            });
        }
        let is_idle = |ramp: &RampPlan| ramp.clients == 0 || ramp.every_ns < 100_000_000;
        if self.ramp.as_ref().is_some_and(is_idle) {
            return Err(FleetPlanError::Ramp);
        }
        for (place, group) in self.groups.iter().enumerate() {
            let is_twice = self
                .groups
                .iter()
                .take(place)
                .any(|other| other.name == group.name);
            let wrong = self.wrong_with(group, targets);
            let wrong = wrong.or_else(|| is_twice.then(|| "another group has this name".into()));
            if let Some(what) = wrong {
                let group = group.name.clone();
                return Err(FleetPlanError::Group { group, what });
            }
        }
        Ok(())
    }

    /// Returns a description of the first error of a group, for a plan with `targets` targets.
    pub fn wrong_with(&self, group: &GroupPlan, targets: usize) -> Option<String> {
        wrong_with_sizes(group)
            .or_else(|| wrong_with_rate(group))
            .or_else(|| self.wrong_with_pairing(group))
            .or_else(|| self.wrong_with_offsets(group))
            .or_else(|| {
                let is_known = |place: &u32| (*place as usize) < targets;
                let is_wrong = group.targets.is_empty() || !group.targets.iter().all(is_known);
                is_wrong.then(|| "its targets are not those of the plan".into())
            })
    }

    fn wrong_with_pairing(&self, group: &GroupPlan) -> Option<String> {
        let place = group.reads?;
        let writers = match self.groups.get(place as usize) {
            Some(writers) if writers.direction == Direction::Write && writers.count > 0 => writers,
            Some(other) => {
                return Some(format!(
                    "it reads what \"{}\" writes, which writes nothing for others",
                    other.name
                ));
            }
            None => return Some("it reads the files of a group that is not there".into()),
        };
        if group.direction != Direction::Read {
            return Some("only a group that reads can have the files of another".into());
        }
        if group.checksums && !writers.checksums {
            return Some(format!(
                "it looks at checksums, and \"{}\" writes none",
                writers.name
            ));
        }
        if writers.append {
            return Some(format!(
                "\"{}\" appends; its files cannot be read by others",
                writers.name
            ));
        }
        (group.files > writers.files).then(|| {
            format!(
                "it reads {} files of each writer, which has {}",
                group.files, writers.files
            )
        })
    }

    /// Checks that checksums can be verified with random offsets: a checksum covers a whole write.
    fn wrong_with_offsets(&self, group: &GroupPlan) -> Option<String> {
        if group.offsets == AccessPattern::Sequential {
            return None;
        }
        if group.append {
            return Some("files grow from begin to end: append needs offsets in order".into());
        }
        let owner = group
            .reads
            .and_then(|place| self.groups.get(place as usize));
        let owner = owner.unwrap_or(group);
        let (reads, writes) = (group.read_size, owner.write_size);
        let is_whole = reads.min == reads.max
            && writes.min == writes.max
            && reads.min.is_multiple_of(writes.min.max(1));
        let looks = group.checksums && group.direction != Direction::Write;
        (looks && !is_whole).then(|| {
            format!(
                "with checksums, reads at random offsets are of whole writes: read_size ({}..{}) is a \
                 multiple of the write_size of \"{}\" ({}..{}), one value each",
                reads.min, reads.max, owner.name, writes.min, writes.max
            )
        })
    }
}

fn wrong_with_sizes(group: &GroupPlan) -> Option<String> {
    let spans = [
        ("read_size", group.read_size, TRANSFER_MAX),
        ("write_size", group.write_size, TRANSFER_MAX),
        ("file_size", group.file_size, u64::MAX >> 1),
    ];
    for (name, span, most) in spans {
        if span.min == 0 || span.min > span.max || span.max > most {
            return Some(format!(
                "{name} is from 1 to {most} bytes, the least before the greatest"
            ));
        }
    }
    if !(1..=FILES_MAX).contains(&group.files) {
        return Some(format!("each client has 1 to {FILES_MAX} files"));
    }
    let shortest = group.write_size.min.min(group.file_size.min);
    if group.checksums && shortest < UNIT_MIN {
        return Some(format!(
            "with checksums, writes and files have {UNIT_MIN} bytes or more"
        ));
    }
    if group.append && group.direction != Direction::Write {
        return Some("only a group that writes can append".into());
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let is_prefix = !group.prefix.is_empty() && group.prefix.len() <= 64;
    if !is_prefix || !group.prefix.chars().all(is_name) || group.prefix.starts_with('.') {
        return Some(
            "a prefix has 1 to 64 letters, digits, '-', '_' and '.', the last not first".into(),
        );
    }
    None
}

fn wrong_with_rate(group: &GroupPlan) -> Option<String> {
    let ValueRange { min, max } = group.rate?.per_s;
    let is_rate = min.is_finite() && max.is_finite() && min > 0.0 && min <= max && max <= 1e15;
    (!is_rate).then(|| "a rate is more than 0, the least before the greatest".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::pairs;

    #[test]
    fn clients_are_numbered_through_the_groups() {
        let plan = pairs();
        assert_eq!((plan.clients(), plan.first_of(1)), (8, 4));
        let member = plan.member(5).expect("a reader");
        assert_eq!((member.group.name.as_str(), member.number), ("readers", 1));
        assert_eq!((plan.writer_of(5), plan.writer_of(1)), (Some(1), None));
        assert_eq!(plan.member(8), None);
    }

    #[test]
    fn readers_are_where_their_writers_are() {
        let mut plan = pairs();
        plan.groups[0].targets = vec![0, 1];
        plan.groups[1].targets = vec![0];
        let targets: Vec<u32> = (0..8).map(|client| plan.target_of(client)).collect();
        assert_eq!(targets, [0, 1, 0, 1, 0, 1, 0, 1]);
    }

    #[test]
    fn a_ramp_takes_of_all_groups_in_turn() {
        let mut plan = pairs();
        assert_eq!(plan.order(), [0, 4, 1, 5, 2, 6, 3, 7]);
        assert_eq!(plan.beginnings(), [0; 8]);
        plan.ramp = Some(RampPlan {
            clients: 3,
            every_ns: 1000,
        });
        assert_eq!(plan.beginnings(), [0, 0, 1000, 2000, 0, 1000, 1000, 2000]);
        assert_eq!(
            (plan.steps(), plan.clients_at(0), plan.clients_at(2)),
            (3, 3, 8)
        );
        plan.groups[1].count = 1;
        // The one reader of four writers is among the first clients.
        assert_eq!(plan.order(), [0, 4, 1, 2, 3]);
    }

    #[test]
    fn what_is_drawn_is_in_its_span_and_the_same_again() {
        let span = ValueRange { min: 10, max: 13 };
        let mut seen = [0; 4];
        for file in 0..4000 {
            let drawn = RandomFieldFor {
                seed: 1,
                client: 2,
                file,
                drawing: ValueDistribution::default(),
            };
            let value = drawn.whole(RandomField::FileSize, span);
            assert_eq!(value, drawn.whole(RandomField::FileSize, span));
            seen[(value - 10) as usize] += 1;
            let rate = drawn.number(RandomField::Rate, ValueRange { min: 1.0, max: 2.0 });
            assert!((1.0..2.0).contains(&rate));
        }
        // 1000 each, with a standard deviation of 27.
        assert!(
            seen.iter().all(|count| (850..1150).contains(count)),
            "{seen:?}"
        );
        let all = ValueRange {
            min: 0,
            max: u64::MAX,
        };
        let drawn = RandomFieldFor {
            seed: 1,
            client: 0,
            file: 0,
            drawing: ValueDistribution::default(),
        };
        assert!(drawn.whole(RandomField::ReadSize, all) > 0);
    }

    fn drawn_by(shape: DistributionShape, each: SampleScope) -> impl Fn(u64) -> RandomFieldFor {
        move |file| RandomFieldFor {
            seed: 1,
            client: 2,
            file,
            drawing: ValueDistribution { shape, each },
        }
    }

    #[test]
    fn each_doubling_is_as_likely_where_that_is_asked_for() {
        let drawn = drawn_by(DistributionShape::LogUniform, SampleScope::File);
        // Ten doublings with 1,000 of 10,000 samples each, and a standard deviation of 30.
        let mut seen = [0; 10];
        for file in 0..10_000 {
            let value = drawn(file).whole(RandomField::FileSize, ValueRange { min: 1, max: 1023 });
            seen[value.ilog2() as usize] += 1;
        }
        let is_near = |count: &i32| (850..1150).contains(count);
        assert!(seen.iter().all(is_near), "{seen:?}");
        let span = ValueRange { min: 0.5, max: 2.0 };
        let below = (0..10_000).filter(|file| drawn(*file).number(RandomField::Rate, span) < 1.0);
        assert!((4800..5200).contains(&below.count()));
        let all = ValueRange {
            min: 1,
            max: u64::MAX,
        };
        assert!((0..100).all(|file| drawn(file).whole(RandomField::ReadSize, all) > 0));
    }

    #[test]
    fn what_is_drawn_for_a_client_is_the_same_for_all_its_files() {
        let once = drawn_by(DistributionShape::Uniform, SampleScope::Client);
        let each = drawn_by(DistributionShape::Uniform, SampleScope::File);
        let span = ValueRange { min: 1, max: 1000 };
        let own = once(0).whole(RandomField::FileSize, span);
        assert_eq!(own, each(0).whole(RandomField::FileSize, span));
        assert!((0..100).all(|file| once(file).whole(RandomField::FileSize, span) == own));
        assert!((0..100).any(|file| each(file).whole(RandomField::FileSize, span) != own));
        // The order of a file's pieces is sampled independently.
        assert_ne!(once(0).order(), once(1).order());
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        type Change = fn(&mut FleetPlan);
        let cases: [(Change, &str); 14] = [
            (|plan| plan.groups[0].count = 0, "the plan has 8 clients"),
            (
                |plan| plan.groups[1].name = "writers".into(),
                "another group has this name",
            ),
            (
                |plan| plan.groups[1].reads = Some(7),
                "a group that is not there",
            ),
            (
                |plan| plan.groups[1].reads = Some(1),
                "writes nothing for others",
            ),
            (|plan| plan.groups[0].checksums = false, "writes none"),
            (|plan| plan.groups[0].append = true, "appends"),
            (|plan| plan.groups[1].files = 3, "reads 3 files"),
            (
                |plan| plan.groups[0].write_size.min = 5000,
                "the least before the greatest",
            ),
            (
                |plan| plan.groups[0].file_size = ValueRange::always(79),
                "80 bytes or more",
            ),
            (
                |plan| plan.groups[0].targets = vec![1],
                "not those of the plan",
            ),
            (|plan| plan.groups[0].prefix = "a/b".into(), "a prefix has"),
            (
                |plan| {
                    plan.groups[1].offsets = AccessPattern::Random;
                    plan.groups[1].read_size = ValueRange::always(6000);
                },
                "read_size (6000..6000) is a multiple of the write_size of \"writers\" (4096..4096)",
            ),
            (
                |plan| {
                    plan.groups[0].offsets = AccessPattern::Random;
                    plan.groups[0].append = true;
                },
                "append needs offsets in order",
            ),
            (
                |plan| {
                    plan.ramp = Some(RampPlan {
                        clients: 0,
                        every_ns: 1,
                    });
                },
                "a ramp needs",
            ),
        ];
        assert_eq!(pairs().check(8, 1), Ok(()));
        for (change, wanted) in cases {
            let mut plan = pairs();
            change(&mut plan);
            let error = plan.check(8, 1).expect_err(wanted).to_string();
            assert!(error.contains(wanted), "{error}");
        }
    }
}
