//! The most that options take, and plans that are read from files.

/// Most calls in flight per connection.
pub const IN_FLIGHT_MAX: u32 = 65_536;
/// Most simulated clients.
pub const CLIENTS_MAX: u32 = 1_000_000;
/// Most clients of a replay: each has a thread, or a share of one.
pub const CLIENTS_OF_REPLAY_MAX: u32 = 65_536;
/// Most bytes of one READ or WRITE: more than servers take.
pub const SIZE_MAX: u32 = 1 << 20;

/// Longest time between rows: an interval's ticks are held in memory.
pub const MARK_MAX_NANOS: u64 = 3_600_000_000_000;
