//! Thresholds of the rules, in the order of the rules. They are apart from the detection, which
//! uses the caveats.

/// nhfsstone's limit for the sum of |got − want| over all operations.
pub const INVALID_PERCENT: f64 = 10.0;
/// Maximum deviation from Little's law, in percent.
pub const LITTLE_PERCENT: f64 = 5.0;
/// CPU use in percent above which a worker was the bottleneck, or near it.
pub const BUSY_PERCENT: f64 = 95.0;
/// Multiple of the planned length above which an interval counts as too long.
pub const INTERVAL_TIMES: u64 = 2;
/// Minimum number of consecutive ticks without a success that are examined.
pub const EMPTY_TICKS: u64 = 3;
/// Share of the window in percent from which a thread without a CPU counts as delayed.
pub const WAITED_PERCENT: f64 = 5.0;
/// Share of the response time above which the load generator's delay is too large.
pub const DISPATCH_SHARE: f64 = 0.01;
/// Share, in percent, above which the times are mainly those of the load generator, so that the run
/// is invalid.
pub const LATE_PERCENT_MAX: f64 = 33.0;
/// Maximum difference of the achieved from the due load, in percent.
pub const ACHIEVED_OFF_PERCENT: f64 = 1.0;
/// Shortfall in percent above which clients count as having missed their rate.
pub const RATE_OFF_PERCENT: f64 = 2.0;
/// Share of unexpected outcomes among the completed operations, in percent, above which there is a
/// caveat.
pub const UNEXPECTED_PERCENT: f64 = 1.0;
/// Share, in percent, above which a run is invalid. A single unexpected outcome is always just a
/// caveat, since with few operations its share is not meaningful.
pub const UNEXPECTED_PERCENT_MAX: f64 = 5.0;
/// Maximum difference between the bytes of an interface and those of the model, in percent.
pub const WIRE_OFF_PERCENT: f64 = 1.0;
/// Maximum traffic through the interface before the run, in percent of the traffic during the run.
pub const IDLE_TRAFFIC_PERCENT: f64 = 1.0;
/// Maximum difference between the calls counted by the server and those made, in percent.
pub const CALLS_OFF_PERCENT: f64 = 0.1;
/// Share of short READs in percent above which the run measures something other than the requested
/// READs.
pub const SHORT_READS_PERCENT: f64 = 1.0;
/// Maximum deviation of an operation's count from its share, relative to the share.
pub const OFF_SHARE: f64 = 0.02;
/// Share of unmeasured operations among all calls, in percent, above which there is a caveat.
pub const UNMEASURED_PERCENT: u64 = 2;
/// Change from the first to the last third, in percent, above which there is a drift.
pub const DRIFT_PERCENT: f64 = 10.0;
/// Maximum ratio of the upper to the lower end of a percentile's confidence interval.
pub const SPREAD_MAX: f64 = 2.0;
/// Share of an offered load from which the server counts as keeping up.
pub const KEPT_UP: f64 = 0.98;
/// Share of the response time spent waiting before being sent, above which there is a caveat.
pub const WAITED_SHARE: f64 = 0.05;
/// Minimum length of a load point, in relaxation times of its queue; with 30, the mean waiting time
/// has a standard deviation of 18 %.
pub const RELAXATIONS_MIN: f64 = 30.0;
/// Minimum number of relaxation times for the loads of a search near its result; with fewer, the
/// queues had hardly begun to grow, and no result is given.
pub const SEARCH_RELAXATIONS_MIN: f64 = 10.0;
/// Minimum window in nanoseconds; in a shorter one scheduling delays dominate.
pub const WINDOW_MIN_NS: u64 = 1_000_000_000;
/// Ratio to the median of the others from which a host's mean response time counts as slower.
pub const SLOWER_TIMES: f64 = 1.5;
/// Cost of a clock reading in nanoseconds above which it adds to measured times.
pub const CLOCK_READ_NS: f64 = 50.0;
