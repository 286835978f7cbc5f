//! Facts gathered about a host and a target. `None` means unknown.

use crate::JsonSchema;
use crate::measure::run_record::InterfaceRecord;
use serde::Serialize;

/// Facts gathered about this host and a target.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct Facts {
    /// Facts about this host.
    pub host: HostFacts,
    /// Facts about the target, if there is one.
    pub target: Option<TargetFacts>,
}

/// Facts about this host and this process.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct HostFacts {
    /// Whether this program was compiled without optimization.
    pub is_debug_build: Option<bool>,
    /// CPUs of the host.
    pub processors: Option<ProcessorFacts>,
    /// CPU quota of this process.
    pub processor_quota: Option<ProcessorQuota>,
    /// CPU frequency scaling.
    pub frequency: Option<FrequencyFacts>,
    /// Clock used for timing runs.
    pub clock: Option<ClockFacts>,
    /// Limits of open files.
    pub open_files: Option<OpenFileFacts>,
    /// Number of local ports for connections from one address to one server.
    pub local_ports: Option<u64>,
    /// Ports below 1024, which servers accept as proof of root.
    pub reserved_ports: Option<ReservedPortFacts>,
    /// Limits of socket buffers.
    pub socket_buffers: Option<SocketBufferFacts>,
    /// Memory and swap.
    pub memory: Option<MemoryFacts>,
    /// Activity of the host during the check.
    pub look: Option<ActivityFacts>,
}

/// CPUs of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProcessorFacts {
    /// Number of CPUs that are online.
    pub online: u32,
    /// Number of CPUs that this process may run on.
    pub allowed: u32,
}

/// CPU quota of a control group.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProcessorQuota {
    /// No quota.
    Unlimited,
    /// CPU time of this number of CPUs.
    Processors(f64),
}

/// CPU frequency scaling.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FrequencyFacts {
    /// Governors of all CPUs, without duplicates.
    pub governors: Vec<String>,
    /// Scaling driver.
    pub driver: Option<String>,
}

/// Clock used for timing runs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ClockFacts {
    /// Clock source of the kernel.
    pub source: Option<String>,
    /// Whether filestone reads the CPU's counter directly, without a call of the kernel.
    pub reads_counter: bool,
    /// Cost of one reading in nanoseconds.
    pub read_ns: f64,
    /// Smallest observed step in nanoseconds.
    pub step_ns: f64,
}

/// Limits of open files of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OpenFileFacts {
    /// Current limit.
    pub soft: u64,
    /// Maximum limit, to which a run raises the current one by itself.
    pub hard: u64,
    /// Number of clients that the maximum limit is enough for, with a server in another process.
    pub clients: u64,
}

/// Ports below 1024 that connections may come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReservedPortFacts {
    /// Number of ports.
    pub count: u64,
    /// Whether this process may use these ports.
    pub are_allowed: bool,
}

/// Maximum sizes of socket buffers, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SocketBufferFacts {
    /// tcp_rmem: maximum receive buffer of a TCP socket.
    pub stream_receive_bytes: u64,
    /// tcp_wmem: maximum send buffer of a TCP socket.
    pub stream_send_bytes: u64,
    /// rmem_max: largest receive buffer that a program may request, used for datagrams.
    pub receive_bytes: u64,
    /// wmem_max: largest send buffer that a program may request, used for datagrams.
    pub send_bytes: u64,
}

/// Memory and swap, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MemoryFacts {
    /// Total memory of the host.
    pub total_bytes: u64,
    /// Memory available without swapping.
    pub available_bytes: u64,
    /// Total swap.
    pub swap_total_bytes: u64,
    /// Swap in use.
    pub swap_used_bytes: u64,
}

/// Activity of the host during the check.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct ActivityFacts {
    /// Duration of the check in nanoseconds.
    pub elapsed_ns: u64,
    /// Number of observed CPUs: those that this process may use.
    pub processors: u32,
    /// CPU use of other programs, in percent of one CPU.
    pub others_percent: Option<f64>,
    /// Programs with the highest CPU use, highest first.
    pub busiest: Vec<ProgramShare>,
    /// CPU time used by other virtual machines (steal), in percent of one CPU.
    pub stolen_percent: Option<f64>,
    /// Number of pages that were swapped in or out.
    pub swapped_pages: Option<u64>,
    /// Interfaces with traffic, except loopback.
    pub traffic: Option<Vec<InterfaceTraffic>>,
    /// Delay of wake-ups from sleeps of one millisecond.
    pub wake_up: Option<WakeUpFacts>,
    /// Load average over a minute: programs that run or wait for a CPU.
    pub load_average: Option<f64>,
}

/// CPU use of a program.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ProgramShare {
    /// Name of the program.
    pub name: String,
    /// Process id.
    pub process: i32,
    /// In percent of one CPU.
    pub percent: f64,
}

/// Traffic of an interface, both directions together.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct InterfaceTraffic {
    /// Name of the interface.
    pub interface: String,
    /// Packets per second.
    pub packets_per_s: f64,
    /// Bytes per second.
    pub bytes_per_s: f64,
}

/// Delay of wake-ups from sleep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WakeUpFacts {
    /// Number of sleeps.
    pub count: u64,
    /// Median delay in nanoseconds.
    pub p50_ns: u64,
    /// 99th percentile in nanoseconds.
    pub p99_ns: u64,
    /// Maximum in nanoseconds.
    pub max_ns: u64,
}

/// Facts about a target.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct TargetFacts {
    /// Target as written on the command line.
    pub name: String,
    /// Whether connections to the target must come from ports below 1024 (`--reserved-port`).
    pub wants_reserved_ports: bool,
    /// Whether calls are sent as datagrams.
    pub uses_datagrams: bool,
    /// Reason why the target cannot be measured, if it cannot.
    pub failure: Option<TargetFailure>,
    /// Network path to the target.
    pub way: Option<NetworkPathFacts>,
    /// Times to connect.
    pub connect: Option<RoundTrips>,
    /// Times of a call that does nothing.
    pub call: Option<RoundTrips>,
    /// Services that a run does not need, and whether the target has them.
    pub services: Vec<ServiceFacts>,
    /// Programs registered with the port mapper; `None` if there is no port mapper.
    pub programs: Option<Vec<ProgramFacts>>,
    /// Multichannel support: connections per session, and interfaces of the server.
    pub channels: Option<ChannelFacts>,
    /// Transfer sizes.
    pub transfers: Option<TransferFacts>,
    /// Properties of names and times.
    pub names: Option<NameFacts>,
    /// Access rights of the caller.
    pub rights: Option<RightsFacts>,
    /// Free space.
    pub space: Option<SpaceFacts>,
    /// Mounted file system, if the target is a directory of this host.
    pub file_system: Option<FileSystemFacts>,
    /// Whether the durability of writes can only be found out by writing.
    pub durability_is_untold: bool,
}

/// Reason why a target cannot be measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TargetFailure {
    /// Error, as a run would report it.
    pub what: String,
    /// Text of the `help:` line.
    pub help: Option<String>,
    /// Whether the target could not be reached at all.
    pub is_unreachable: bool,
}

/// Evidence that a target with another address is on this host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Place")]
pub enum SameHostEvidence {
    /// No evidence.
    #[default]
    NotKnownHere,
    /// The target may be on this host: it is reached by a link between network namespaces (a veth,
    /// or a bridge of such) without a router.
    PerhapsThisHost,
    /// Another network namespace of this host has the target's address.
    NamespaceOfThisHost,
}

/// Network path to a target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NetworkPathFacts {
    /// Address of the target.
    pub address: String,
    /// Whether the address is one of this host.
    pub is_this_host: bool,
    /// Other evidence that the target is on this host.
    pub place: SameHostEvidence,
    /// Outgoing interface.
    pub interface: Option<String>,
    /// MTU of the interface, in bytes.
    pub mtu_bytes: Option<u64>,
    /// MTU of the path, in bytes, as cached by the kernel.
    pub path_mtu_bytes: Option<u64>,
    /// First router, if there is one on the path.
    pub gateway: Option<String>,
    /// Speed of the interface in megabits per second.
    pub link_mbit_per_s: Option<u64>,
    /// Whether the interface is wireless.
    pub is_wireless: bool,
}

/// Times of repeated equal exchanges, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RoundTrips {
    /// Number of exchanges.
    pub count: u64,
    /// Minimum.
    pub min_ns: u64,
    /// Median.
    pub p50_ns: u64,
    /// Maximum.
    pub max_ns: u64,
}

impl RoundTrips {
    /// Computes the statistics of these times; `None` if there are none.
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ServiceFacts {
    /// Name and version of the service, as in its standard.
    pub name: String,
    /// Port; `None` if the service was not found.
    pub port: Option<u16>,
    /// Features that need the service.
    pub needed_for: String,
}

/// A program registered with a port mapper.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProgramFacts {
    /// Program number.
    pub number: u32,
    /// Program name, if it is part of a file service.
    pub name: Option<String>,
    /// Versions in ascending order.
    pub versions: Vec<u32>,
}

/// Multichannel: several connections per session (SMB 3.x).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChannelFacts {
    /// Reason why multichannel is not available, if it is not.
    pub refusal: Option<ChannelRefusal>,
    /// Interfaces that the server reports; empty if it reports none.
    pub interfaces: Vec<InterfaceRecord>,
}

/// Reason why multichannel is not available.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChannelRefusal {
    /// Reason.
    pub why: String,
    /// Instructions to enable multichannel.
    pub help: String,
}

/// Transfer sizes of a server per call, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TransferFacts {
    /// Maximum size of a read.
    pub read_max_bytes: u64,
    /// Preferred size of a read.
    pub read_preferred_bytes: u64,
    /// Maximum size of a write.
    pub write_max_bytes: u64,
    /// Preferred size of a write.
    pub write_preferred_bytes: u64,
}

/// Properties of names and times of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NameFacts {
    /// Maximum length of a name in bytes.
    pub length_max: u64,
    /// Maximum number of hard links to an object.
    pub links_max: u64,
    /// Whether names are case-insensitive.
    pub is_case_insensitive: bool,
    /// Resolution of times in nanoseconds; 0 if the server does not report it.
    pub time_step_ns: u64,
}

/// Access rights of a caller at the path under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RightsFacts {
    /// User id.
    pub user: u32,
    /// Whether the user may read.
    pub may_read: bool,
    /// Whether the user may change and create.
    pub may_change: bool,
}

/// Free space, in bytes and in files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SpaceFacts {
    /// Total size.
    pub total_bytes: u64,
    /// Size available to this caller.
    pub available_bytes: u64,
    /// Number of files that can still be created; `None` if unlimited.
    pub available_files: Option<u64>,
}

/// File system mounted at a directory of this host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileSystemFacts {
    /// Type, such as `ext4`.
    pub kind: String,
    /// Mounted device or source.
    pub source: Option<String>,
    /// Mount point.
    pub mount_point: String,
    /// Mount options.
    pub options: Vec<String>,
    /// Medium of its files.
    pub medium: FileMedium,
}

/// Medium that the files of a file system are stored on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FileMedium {
    /// Memory.
    Memory,
    /// Another host.
    Network,
    /// Another program on this host.
    Program,
    /// Storage of this host, according to the type of the file system.
    Storage,
}
