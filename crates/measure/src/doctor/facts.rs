//! What is gathered of a host and a target. `None` is: not known here.

use crate::measure::run_record::InterfaceRecord;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;

/// All that is gathered.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Facts {
    /// Of this host.
    pub host: HostFacts,
    /// Of the target, if there is one.
    pub target: Option<TargetFacts>,
}

/// Of this host, and of this process on it.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct HostFacts {
    /// Whether this program was compiled without optimisation.
    pub is_debug_build: Option<bool>,
    /// Its processors.
    pub processors: Option<ProcessorFacts>,
    /// How much processor time this process may have.
    pub processor_quota: Option<ProcessorQuota>,
    /// What decides on the processors' frequency.
    pub frequency: Option<FrequencyFacts>,
    /// The clock that runs are timed with.
    pub clock: Option<ClockFacts>,
    /// Open files of a process.
    pub open_files: Option<OpenFileFacts>,
    /// Ports that connections from one address towards one server may have.
    pub local_ports: Option<u64>,
    /// Ports that servers take for a sign of root.
    pub reserved_ports: Option<ReservedPortFacts>,
    /// Buffers of sockets.
    pub socket_buffers: Option<SocketBufferFacts>,
    /// Memory and swap.
    pub memory: Option<MemoryFacts>,
    /// What went on while it was looked at.
    pub look: Option<ActivityFacts>,
}

/// Processors of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ProcessorFacts {
    /// Those that are online.
    pub online: u32,
    /// Those that this process may run on.
    pub allowed: u32,
}

/// How much processor time a control group may have.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ProcessorQuota {
    /// As much as there is.
    Unlimited,
    /// As much as so many processors have.
    Processors(f64),
}

/// What decides on the processors' frequency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FrequencyFacts {
    /// The governors of all processors, each once.
    pub governors: Vec<String>,
    /// The driver below them.
    pub driver: Option<String>,
}

/// The clock that runs are timed with.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ClockFacts {
    /// The kernel's own.
    pub source: Option<String>,
    /// Whether ours reads the processor's counter, and does not ask the kernel.
    pub reads_counter: bool,
    /// What one reading costs.
    pub read_ns: f64,
    /// The smallest step seen.
    pub step_ns: f64,
}

/// Open files of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct OpenFileFacts {
    /// The limit that is in force.
    pub soft: u64,
    /// How far this process may raise it, which a run does by itself.
    pub hard: u64,
    /// Clients of a server in another process that it is enough for.
    pub clients: u64,
}

/// Ports below 1024 that connections may come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ReservedPortFacts {
    /// How many there are.
    pub count: u64,
    /// Whether this process may use them.
    pub are_allowed: bool,
}

/// The largest buffers of sockets, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SocketBufferFacts {
    /// tcp_rmem: as far as the kernel lets what is received grow.
    pub stream_receive_bytes: u64,
    /// tcp_wmem: likewise of what is sent.
    pub stream_send_bytes: u64,
    /// rmem_max: what a program may ask for, which is what datagrams have.
    pub receive_bytes: u64,
    /// wmem_max: likewise of what is sent.
    pub send_bytes: u64,
}

/// Memory and swap, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct MemoryFacts {
    /// Of the host.
    pub total_bytes: u64,
    /// To be had without swapping.
    pub available_bytes: u64,
    /// Swap that there is.
    pub swap_total_bytes: u64,
    /// Swap that is in use.
    pub swap_used_bytes: u64,
}

/// What went on while it was looked at.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ActivityFacts {
    /// How long it was looked at.
    pub elapsed_ns: u64,
    /// Processors that were looked at: those that this process may use.
    pub processors: u32,
    /// What other programs used of them, as a share of one processor.
    pub others_percent: Option<f64>,
    /// Which of them used most, the busiest first.
    pub busiest: Vec<ProgramShare>,
    /// What other virtual machines took, as a share of one processor.
    pub stolen_percent: Option<f64>,
    /// Pages that went to swap or came from it.
    pub swapped_pages: Option<u64>,
    /// Interfaces that carried packets, but for loopback.
    pub traffic: Option<Vec<InterfaceTraffic>>,
    /// How late sleeps of a millisecond ended.
    pub wake_up: Option<WakeUpFacts>,
    /// Programs that had or wanted a processor, on average over a minute.
    pub load_average: Option<f64>,
}

/// What a program used of the processors.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ProgramShare {
    /// Its name.
    pub name: String,
    /// Its process.
    pub process: i32,
    /// As a share of one processor.
    pub percent: f64,
}

/// What an interface carried, both ways together.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct InterfaceTraffic {
    /// Its name.
    pub interface: String,
    /// Packets per second.
    pub packets_per_s: f64,
    /// Bytes per second.
    pub bytes_per_s: f64,
}

/// How late sleeps ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct WakeUpFacts {
    /// How many there were.
    pub count: u64,
    /// Median lateness.
    pub p50_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// The latest.
    pub max_ns: u64,
}

/// Of a target.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TargetFacts {
    /// In the words of the command line.
    pub name: String,
    /// Whether it comes from ports below 1024 that this is asked of.
    pub wants_reserved_ports: bool,
    /// Whether calls travel as datagrams.
    pub uses_datagrams: bool,
    /// Why it cannot be measured, if it cannot.
    pub failure: Option<TargetFailure>,
    /// The way there.
    pub way: Option<NetworkPathFacts>,
    /// How long it took to connect.
    pub connect: Option<RoundTrips>,
    /// How long a call that does nothing took.
    pub call: Option<RoundTrips>,
    /// What it was asked for beside what a run needs, and has or not.
    pub services: Vec<ServiceFacts>,
    /// What a port mapper says is there; `None` if there is none.
    pub programs: Option<Vec<ProgramFacts>>,
    /// By how many connections a client may have its session, and by which interfaces.
    pub channels: Option<ChannelFacts>,
    /// What it moves in one call.
    pub transfers: Option<TransferFacts>,
    /// What it says of names and times.
    pub names: Option<NameFacts>,
    /// What the caller may do there.
    pub rights: Option<RightsFacts>,
    /// Room.
    pub space: Option<SpaceFacts>,
    /// What is mounted there, of a directory of this host.
    pub file_system: Option<FileSystemFacts>,
    /// Whether what is written is durable is known only by writing.
    pub durability_is_untold: bool,
}

/// Why a target cannot be measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TargetFailure {
    /// What went wrong, as a run would say it.
    pub what: String,
    /// What to do.
    pub help: Option<String>,
    /// Whether it was not reached at all.
    pub is_unreachable: bool,
}

/// Whether a target with an address of its own shares this host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// Nothing says that it does.
    #[default]
    NotKnownHere,
    /// It is reached by a link between network namespaces (a veth, or a bridge of such) without a router, so it
    /// may.
    PerhapsThisHost,
    /// Another network namespace of this host has its address.
    NamespaceOfThisHost,
}

/// The way to a target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct NetworkPathFacts {
    /// Where the target is.
    pub address: String,
    /// Whether that is this host.
    pub is_this_host: bool,
    /// What else is known of whether it shares this host.
    pub place: Place,
    /// The interface that packets leave by.
    pub interface: Option<String>,
    /// Largest packet of that interface, in bytes.
    pub mtu_bytes: Option<u64>,
    /// Largest packet of the whole way, as far as the kernel knows it.
    pub path_mtu_bytes: Option<u64>,
    /// The first router, if there is one between.
    pub gateway: Option<String>,
    /// Megabits per second of the interface.
    pub link_mbit_per_s: Option<u64>,
    /// Whether the interface is a radio.
    pub is_wireless: bool,
}

/// Times of the same exchange, several times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct RoundTrips {
    /// How many there were.
    pub count: u64,
    /// The fastest.
    pub min_ns: u64,
    /// The median.
    pub p50_ns: u64,
    /// The slowest.
    pub max_ns: u64,
}

impl RoundTrips {
    /// Of these times; `None` of none.
    pub fn of(mut nanos: Vec<u64>) -> Option<Self> {
        nanos.sort_unstable();
        let (min_ns, max_ns) = (*nanos.first()?, *nanos.last()?);
        Some(Self {
            count: nanos.len() as u64,
            min_ns,
            p50_ns: nanos.get(nanos.len() / 2).copied().unwrap_or(max_ns),
            max_ns,
        })
    }
}

/// A service of a target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ServiceFacts {
    /// Its name and version, in the words of its standard.
    pub name: String,
    /// Its port; `None` if it was not found.
    pub port: Option<u16>,
    /// What is not possible without it.
    pub needed_for: String,
}

/// A program that a port mapper knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ProgramFacts {
    /// Its number.
    pub number: u32,
    /// Its name, if it is one that files are served with.
    pub name: Option<String>,
    /// Its versions, in order.
    pub versions: Vec<u32>,
}

/// Whether a client may have several connections for its session (SMB 3.x, multichannel).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ChannelFacts {
    /// Why it may not, if it may not.
    pub refusal: Option<ChannelRefusal>,
    /// The interfaces that the server names; none if it does not say.
    pub interfaces: Vec<InterfaceRecord>,
}

/// Why a client may not have several connections.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ChannelRefusal {
    /// Why not.
    pub why: String,
    /// What to do if it shall.
    pub help: String,
}

/// What a server moves in one call, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TransferFacts {
    /// The most that is read.
    pub read_max_bytes: u64,
    /// What it prefers to be read.
    pub read_preferred_bytes: u64,
    /// The most that is written.
    pub write_max_bytes: u64,
    /// What it prefers to be written.
    pub write_preferred_bytes: u64,
}

/// What a server says of names and times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct NameFacts {
    /// Bytes of a name.
    pub length_max: u64,
    /// Hard links to an object.
    pub links_max: u64,
    /// Whether names differ by more than case.
    pub is_case_insensitive: bool,
    /// The precision of times; 0 if it does not say.
    pub time_step_ns: u64,
}

/// What a caller may do at the path under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct RightsFacts {
    /// The user that is asked about.
    pub user: u32,
    /// Whether it may read.
    pub may_read: bool,
    /// Whether it may change and add.
    pub may_change: bool,
}

/// Room, in bytes and in files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SpaceFacts {
    /// In all.
    pub total_bytes: u64,
    /// To be had by this caller.
    pub available_bytes: u64,
    /// Files that may still be made; `None` where that is not bounded.
    pub available_files: Option<u64>,
}

/// What is mounted at a directory of this host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FileSystemFacts {
    /// Its type, such as `ext4`.
    pub kind: String,
    /// What is mounted.
    pub source: Option<String>,
    /// Where.
    pub mount_point: String,
    /// How.
    pub options: Vec<String>,
    /// Where its files are.
    pub medium: FileMedium,
}

/// Where the files of a file system are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum FileMedium {
    /// In memory alone.
    Memory,
    /// On another host.
    Network,
    /// In another program of this host.
    Program,
    /// On storage of this host, as far as its type tells.
    Storage,
}
