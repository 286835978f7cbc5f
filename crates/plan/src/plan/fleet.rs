//! What the clients of a fleet do, group by group: everything decided before the run.

use super::{Identities, LeftoverPolicy, ReplayPlan, SourceAddresses, TargetPlan};
use filestone_workload::kind::Role;
use filestone_workload::operation::OpKind;
use filestone_workload::payload::Pattern;
use filestone_workload::payload::unit::UNIT_MIN;
use filestone_workload::random::{RandomStream, RngExt, stream};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Files of one client at most.
pub const FILES_MAX: u32 = 1_000_000;
/// The longest read or write.
pub const TRANSFER_MAX: u64 = 1 << 30;
/// Groups of a fleet at most.
pub const GROUPS_MAX: usize = 1024;

/// Values from the least to the greatest, both included. Which of them is taken is drawn from the run's
/// seed, as the [`ValueDistribution`] of the group says.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ValueRange<T> {
    /// The least.
    pub min: T,
    /// The greatest.
    pub max: T,
}

impl<T: Copy> ValueRange<T> {
    /// Always this value.
    pub const fn always(value: T) -> Self {
        Self {
            min: value,
            max: value,
        }
    }
}

/// What is drawn for a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RandomField {
    /// Its length.
    FileSize = 0,
    /// Bytes of each read.
    ReadSize = 1,
    /// Bytes of each write.
    WriteSize = 2,
    /// The rate.
    Rate = 3,
}

/// How values between the least and the greatest are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ValueDistribution {
    /// Which are more likely than others.
    pub shape: DistributionShape,
    /// How often it is drawn.
    pub each: SampleScope,
}

impl ValueDistribution {
    /// Whether it is that of a plan that does not say.
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

/// Which values are more likely than others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum DistributionShape {
    /// All are as likely.
    #[default]
    Uniform,
    /// From a value to twice as much is as likely wherever that begins: small ones are more likely.
    LogUniform,
}

/// How often a value is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SampleScope {
    /// For each file of each client.
    #[default]
    File,
    /// For each client, once.
    Client,
}

/// For whom something is drawn, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RandomFieldFor {
    /// The run's seed.
    pub seed: u64,
    /// Which client.
    pub client: u32,
    /// Which of the files that it writes or reads one after the other.
    pub file: u64,
    /// How.
    pub drawing: ValueDistribution,
}

impl RandomFieldFor {
    /// What the order of its pieces is drawn from, where that is random.
    pub fn order(&self) -> u64 {
        let seed = self.seed ^ u64::from(self.client) << 32;
        stream(seed, RandomStream::Offsets, self.file).random()
    }

    /// From 0 to below 1.
    fn share(&self, what: RandomField) -> f64 {
        let seed = self.seed ^ (u64::from(self.client) << 2 | what as u64);
        let file = match self.drawing.each {
            SampleScope::File => self.file,
            SampleScope::Client => 0,
        };
        stream(seed, RandomStream::Fleet, file).random()
    }

    /// A whole number of this span.
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

    /// A number of this span.
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

    /// From `least`, which is more than 0, to below `end`.
    fn log_uniform(&self, what: RandomField, least: f64, end: f64) -> f64 {
        least * (end / least).powf(self.share(what))
    }
}

/// What a rate counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RateUnit {
    /// Bits of file data per second.
    BitsPerS,
    /// Reads and writes per second.
    OperationsPerS,
}

/// How much a client moves at most.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct RatePlan {
    /// What is counted.
    pub unit: RateUnit,
    /// How many of them per second.
    pub per_s: ValueRange<f64>,
}

/// What a client does with its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// It writes them, one after the other, and again.
    Write,
    /// It reads them: those of the writer that it is paired with, or its own, which it writes first.
    Read,
    /// It writes each, and reads it back.
    Both,
}

/// In which order the pieces of a file are moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum AccessPattern {
    /// From begin to end.
    #[default]
    Sequential,
    /// Each once, in an order that is drawn for each file.
    Random,
}

/// When a client has done enough. The file that it is at comes to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct QuiescePlan {
    /// After so many files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<u64>,
    /// After so many bytes, read and written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// After so long since it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_ns: Option<u64>,
    /// How long the file may take that it is at then; after that it is closed where it is.
    pub grace_ns: u64,
}

/// Clients that do the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct GroupPlan {
    /// What reports call it.
    pub name: String,
    /// How many clients.
    pub count: u32,
    /// What they do with their files.
    pub direction: Direction,
    /// The group, by its place, whose files they read: client *i* those of its client *i* modulo their
    /// number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<u32>,
    /// Targets by their places in the plan: client *i* has number *i* modulo how many there are. Those
    /// that read a group's files are where it is.
    pub targets: Vec<u32>,
    /// Where they connect from, likewise in turn.
    #[serde(default, skip_serializing_if = "SourceAddresses::is_empty")]
    pub sources: SourceAddresses,
    /// As whom they call.
    #[serde(default, skip_serializing_if = "Identities::is_empty")]
    pub identities: Identities,
    /// Bytes of each read.
    pub read_size: ValueRange<u64>,
    /// Bytes of each write: with checksums, of each unit.
    pub write_size: ValueRange<u64>,
    /// Bytes of each file.
    pub file_size: ValueRange<u64>,
    /// How sizes and rates are drawn that are from one value to another.
    #[serde(default, skip_serializing_if = "ValueDistribution::is_usual")]
    pub drawing: ValueDistribution,
    /// In which order the pieces of each are moved.
    #[serde(default)]
    pub offsets: AccessPattern,
    /// How many files each client has.
    pub files: u32,
    /// How much each client moves; without it as much as it can, one transfer after the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<RatePlan>,
    /// What data consist of.
    pub pattern: Pattern,
    /// Whether each unit has a checksum, which is looked at when it is read.
    pub checksums: bool,
    /// Whether writes are stable before they are answered.
    pub stable: bool,
    /// Whether data are made stable after each write.
    pub sync_after_write: bool,
    /// Whether they are before a file is closed.
    pub sync_before_close: bool,
    /// Whether files grow with each pass instead of being cut to nothing.
    pub append: bool,
    /// Whether a file is removed before it is written.
    pub unlink_first: bool,
    /// How the names of files begin.
    pub prefix: String,
    /// When a client has done enough.
    pub quiesce: QuiescePlan,
    /// How long a client tries again what fails, before it gives up.
    pub retry_ns: u64,
}

impl GroupPlan {
    /// As many clients as fast as they can, from which others are made.
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

    /// Whether its clients write before they do anything else.
    pub const fn writes(&self) -> bool {
        self.reads.is_none()
    }
}

/// Clients begin so many at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct RampPlan {
    /// How many more begin with each step.
    pub clients: u32,
    /// How long a step lasts.
    pub every_ns: u64,
}

/// When a ramp is stopped: as soon as a row of the report breaks one of these rules.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct HealthPlan {
    /// 99 % of the connections took longer to be made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connect_time_ns: Option<u64>,
    /// 99 % of the reads and writes of a row took no longer; more is ill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_time_ns: Option<u64>,
    /// Of the operations of a row, a larger share failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors: Option<f64>,
    /// More than 1 % of the operations of a row were sent so much later than they could have been, by
    /// the load generator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lateness_ns: Option<u64>,
}

/// What the clients of a fleet do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FleetPlan {
    /// The file that it was read from, or what it is.
    pub name: String,
    /// Its groups. Clients are numbered through them, one group after the other.
    pub groups: Vec<GroupPlan>,
    /// Further targets of the same protocol as the plan's, which is the first.
    pub more_targets: Vec<TargetPlan>,
    /// How clients begin; all at once without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ramp: Option<RampPlan>,
    /// What stops the ramp.
    #[serde(default)]
    pub health: HealthPlan,
    /// Clients that share a thread where their work blocks.
    pub clients_per_thread: u32,
    /// What becomes of a tree that an earlier run of ours has left over.
    pub left_over: LeftoverPolicy,
    /// Whether the files stay when the run ends.
    pub keep_files: bool,
}

/// A client as its group has it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GroupMember<'plan> {
    /// Its group.
    pub group: &'plan GroupPlan,
    /// The place of the group.
    pub place: usize,
    /// The client's number in it.
    pub number: u32,
}

impl FleetPlan {
    /// How many clients there are.
    pub fn clients(&self) -> u32 {
        let counts = self.groups.iter().map(|group| group.count);
        counts.fold(0, u32::saturating_add)
    }

    /// The number of the first client of a group.
    pub fn first_of(&self, place: usize) -> u32 {
        let before = self.groups.iter().take(place);
        before.fold(0, |first, group| first.saturating_add(group.count))
    }

    /// A client by its number.
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

    /// Whose files a client reads that has none of its own.
    pub fn writer_of(&self, client: u32) -> Option<u32> {
        let GroupMember { group, number, .. } = self.member(client)?;
        let place = group.reads? as usize;
        let writers = self.groups.get(place)?.count.max(1);
        Some(self.first_of(place) + number % writers)
    }

    /// The place of a client's target.
    pub fn target_of(&self, client: u32) -> u32 {
        let owner = self.writer_of(client).unwrap_or(client);
        let Some(GroupMember { group, number, .. }) = self.member(owner) else {
            return 0;
        };
        let places = group.targets.len().max(1);
        let place = group.targets.get(number as usize % places);
        place.copied().unwrap_or(0)
    }

    /// Clients in the order in which they begin, step by step: a writer before those that read its
    /// files, and of all groups in turn.
    pub fn order(&self) -> Vec<u32> {
        let mut clients: Vec<(u32, bool, usize, u32)> = Vec::new();
        for (place, group) in self.groups.iter().enumerate() {
            let first = self.first_of(place);
            let members = 0..group.count;
            clients.extend(members.map(|number| {
                // So far through its group, in parts of 2³², that groups of all lengths end together.
                let part = (u64::from(number) << 32) / u64::from(group.count.max(1));
                (part as u32, group.reads.is_some(), place, first + number)
            }));
        }
        clients.sort_unstable();
        clients.into_iter().map(|(.., client)| client).collect()
    }

    /// When each client begins, in nanoseconds since the run did.
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

    /// How many steps there are.
    pub fn steps(&self) -> u32 {
        self.ramp.map_or(1, |ramp| {
            self.clients().div_ceil(ramp.clients.max(1)).max(1)
        })
    }

    /// How many clients have begun with a step, counted from 0, and all before.
    pub fn clients_at(&self, step: u32) -> u32 {
        let all = self.clients();
        self.ramp.map_or(all, |ramp| {
            ramp.clients.saturating_mul(step.saturating_add(1)).min(all)
        })
    }

    /// The longest write.
    pub fn unit_max(&self) -> u64 {
        let sizes = self.groups.iter().map(|group| group.write_size.max);
        sizes.max().unwrap_or(0)
    }

    /// The kinds of operation that its clients make, those of data first.
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

    /// Whether any of its clients looks at checksums.
    pub fn verifies(&self) -> bool {
        let verifies = |group: &GroupPlan| group.checksums && group.direction != Direction::Write;
        self.groups.iter().any(verifies)
    }

    /// How a layer carries out what its clients ask: as it would a load that names files by path.
    pub fn as_replay(&self) -> ReplayPlan {
        let kinds = self.kinds();
        let kinds = [kinds.measured, kinds.unmeasured].concat();
        ReplayPlan {
            more_targets: self.more_targets.clone(),
            clients_per_thread: self.clients_per_thread,
            skip_cleanup: self.keep_files,
            left_over: self.left_over,
            resolve: false,
            // A client begins its file anew when something fails.
            ..ReplayPlan::new(vec![], kinds).without_retries()
        }
    }
}

/// The kinds of operation of a fleet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kinds {
    /// Those that are measured: reads and writes.
    pub measured: Vec<OpKind>,
    /// Those without which they could not be.
    pub unmeasured: Vec<OpKind>,
}

impl Kinds {
    /// Each with its role.
    pub fn in_roles(&self) -> Vec<(OpKind, Role)> {
        let measured = self.measured.iter().map(|kind| (*kind, Role::Measured));
        let unmeasured = self.unmeasured.iter().map(|kind| (*kind, Role::Unmeasured));
        measured.chain(unmeasured).collect()
    }
}

/// Why a fleet cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FleetPlanError {
    /// No clients.
    #[error("the fleet has no clients")]
    NoClients,
    /// Too many groups.
    #[error("a fleet has at most {GROUPS_MAX} groups")]
    ManyGroups,
    /// The clients of the plan are not those of its groups.
    #[error("the plan has {plan} clients, and its groups together {groups}")]
    Clients {
        /// Of the plan.
        plan: u32,
        /// Of its groups.
        groups: u32,
    },
    /// Something is wrong with a group.
    #[error("group \"{group}\": {what}")]
    Group {
        /// Which.
        group: String,
        /// What is wrong.
        what: String,
    },
    /// A step without clients or time.
    #[error("a ramp needs at least one client a step, and steps of at least 100 ms")]
    Ramp,
    /// A target without files.
    #[error("bare TCP only carries bytes: a fleet writes and reads files")]
    NoFiles,
    /// A part of the run is not to be counted.
    #[error("a fleet has no warm-up: its ramp is part of what is measured")]
    WarmUp,
}

impl FleetPlan {
    /// Whether it can be run by `clients` clients on `targets` targets.
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

    /// What is wrong with a group of it, on so many targets.
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

    /// Whether what is read at random offsets can be looked at: a checksum is one of a whole write.
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
        // One reader for four writers is among the first.
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
        // Ten doublings; of 10,000 draws 1,000 each, with a standard deviation of 30.
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
        // The order of a file's pieces is another matter.
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
