//! What a plan may ask for at most, wherever it comes from.

use core::ops::RangeInclusive;
use filestone_wire::pattern;

/// Clients of a run.
pub const CLIENTS_MAX: u32 = 1_000_000;
/// Clients where each has a thread.
pub const CLIENTS_OF_REPLAY_MAX: u32 = 65_536;
/// Supplementary groups that a call carries (AUTH_SYS, RFC 5531, appendix A).
pub use filestone_wire::rpc::GIDS_MAX;
/// Calls in flight per client: the xid has 16 bits left for generations.
pub const IN_FLIGHT_MAX: u32 = 1 << 16;
/// Calls in flight of all clients.
pub const SLOTS_MAX: u64 = 16 << 20;
/// Operations offered per second: one per nanosecond.
pub const OFFERED_MAX: f64 = 1e9;
/// Connections begun per second.
pub const CONNECT_RATE_MAX: f64 = 1e6;
/// File data per second of a client.
pub const RATE_MAX: f64 = 1e18;
/// Bytes per call: those that have a pattern to be compared with.
pub const SIZE_MAX: u32 = pattern::PERIOD as u32;
/// Bytes per copy that a server makes, in as many calls as it takes.
pub const COPY_SIZE_MAX: u32 = 1 << 30;
/// Bytes per call that fit into a datagram, which holds 65,507 bytes: the headers of the call
/// and the reply need some of them.
pub const DATAGRAM_SIZE_MAX: u32 = 63 << 10;
/// A page of a listing holds one entry at least.
pub const LISTING_MIN: u32 = 512;
/// Length of an interval.
pub const INTERVAL_MAX_NANOS: u64 = 3_600_000_000_000;
/// A step of a search or a curve.
pub const STEP_MAX_NANOS: u64 = 86_400_000_000_000;
/// Numbers of processors.
pub const PROCESSORS_MAX: u32 = 1024;
/// Loads of a replay.
pub const LOADS_MAX: usize = 1024;
/// How many times as fast time stamps are replayed.
pub const SPEED_RANGE: RangeInclusive<f64> = 0.5..=100.0;
/// Data files of all clients together: the table of them is held in memory.
pub const FILES_OF_ALL_MAX: u64 = 10_000_000;
/// Load points of a curve.
pub const POINTS_MAX: u32 = 1000;
/// Loads of a run in turn, besides none.
pub const LEVELS_MAX: u32 = 16;
/// How precise a search may be asked to be, as a share of the load.
pub const PRECISION_RANGE: RangeInclusive<f64> = 0.001..=0.5;
