//! Figures with their units, as printed in reports.

use filestone_workload::text::thousands;

/// Formats nanoseconds in microseconds: with one decimal, like nct, but without it from 0.1 s on,
/// where it is meaningless and the columns would run together.
pub fn micros(nanos: f64) -> String {
    match nanos / 1000.0 {
        micros if micros < 99_999.95 => format!("{micros:.1}"),
        micros => format!("{micros:.0}"),
    }
}

/// Formats an upper bound of a time in whole microseconds, its precision.
pub fn at_most(nanos: Option<u64>) -> String {
    nanos.map_or("-".into(), |nanos| thousands(nanos / 1000))
}

/// Converts nanoseconds to seconds.
pub fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

/// Formats operations or calls per second: whole numbers if a tenth is meaningless.
pub fn load(per_s: f64) -> String {
    if per_s < 1000.0 {
        format!("{per_s:.1}")
    } else {
        thousands(per_s.round() as u64)
    }
}

/// Formats a load.
pub fn operations_per_second(per_s: f64) -> String {
    format!("{} operations/s", load(per_s))
}

/// Formats a rate of calls on the wire.
pub fn calls_per_second(per_s: f64) -> String {
    format!("{} calls/s", load(per_s))
}

/// Formats a rate of bytes.
pub fn bytes_per_second(rate: f64) -> String {
    format!("{:.1} MB/s ({:.1} MiB/s)", rate / 1e6, rate / 1_048_576.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn microseconds_take_eight_columns_until_a_hundred_seconds() {
        let shown = [49.9, 99_999_949.0, 99_999_950.0, 99_999_999_000.0].map(micros);
        assert_eq!(shown, ["0.0", "99999.9", "100000", "99999999"]);
    }
}
