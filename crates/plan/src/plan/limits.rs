//! Limits of the fields of a plan, independent of its source.

use core::ops::RangeInclusive;
use filestone_wire::pattern;

/// Maximum number of clients of a run.
pub const CLIENTS_MAX: u32 = 1_000_000;
/// Maximum number of clients with one thread each.
pub const CLIENTS_OF_REPLAY_MAX: u32 = 65_536;
/// Maximum number of supplementary groups in a call (AUTH_SYS, RFC 5531, appendix A).
pub use filestone_wire::rpc::GIDS_MAX;
/// Maximum number of calls in flight per client: the xid has 16 bits left for generations.
pub const IN_FLIGHT_MAX: u32 = 1 << 16;
/// Maximum number of calls in flight of all clients.
pub const SLOTS_MAX: u64 = 16 << 20;
/// Maximum number of operations offered per second: one per nanosecond.
pub const OFFERED_MAX: f64 = 1e9;
/// Maximum number of connections started per second.
pub const CONNECT_RATE_MAX: f64 = 1e6;
/// Maximum file data per second of a client.
pub const RATE_MAX: f64 = 1e18;
/// Maximum bytes per call: the length of the pattern that data are compared with.
pub const SIZE_MAX: u32 = pattern::PERIOD as u32;
/// Maximum bytes per server-side copy, which may take several calls.
pub const COPY_SIZE_MAX: u32 = 1 << 30;
/// Maximum bytes per call in a datagram, which holds 65,507 bytes including the headers of the call
/// or the reply.
pub const DATAGRAM_SIZE_MAX: u32 = 63 << 10;
/// Minimum bytes of a page of a listing: at least one entry must fit.
pub const LISTING_MIN: u32 = 512;
/// Maximum length of an interval.
pub const INTERVAL_MAX_NANOS: u64 = 3_600_000_000_000;
/// Maximum length of a step of a search or a curve.
pub const STEP_MAX_NANOS: u64 = 86_400_000_000_000;
/// Maximum number of CPUs.
pub const PROCESSORS_MAX: u32 = 1024;
/// Maximum number of loads of a replay.
pub const LOADS_MAX: usize = 1024;
/// Range of the speed factor of time stamps.
pub const SPEED_RANGE: RangeInclusive<f64> = 0.5..=100.0;
/// Maximum number of data files of all clients together: the table of files is held in memory.
pub const FILES_OF_ALL_MAX: u64 = 10_000_000;
/// Maximum number of load points of a curve.
pub const POINTS_MAX: u32 = 1000;
/// Maximum number of loads in turn, without the zero load.
pub const LEVELS_MAX: u32 = 16;
/// Range of the precision of a search, as a share of the load.
pub const PRECISION_RANGE: RangeInclusive<f64> = 0.001..=0.5;
