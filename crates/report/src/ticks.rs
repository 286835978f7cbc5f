//! 100 ms rows of a record: nct's `raw` file and the sums over its trailing second.
//!
//! Ticks are stored only up to the last operation, so this module appends empty ones up to the end
//! of the window.

use crate::sanitize::printable_line;
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::run_record::TickRecord;
use filestone_plan::plan::TICK_NANOS;

/// Number of ticks in nct's running average.
const TICKS_PER_SECOND: usize = 10;

/// Sums over some ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sums {
    /// Completed operations.
    pub operations: u64,
    /// Bytes sent.
    pub bytes_sent: u64,
    /// Bytes received.
    pub bytes_received: u64,
}

impl Sums {
    /// Returns the sums over these ticks.
    pub fn of(ticks: &[TickRecord]) -> Self {
        let of_tick = |tick: &TickRecord| Self {
            operations: tick.ended,
            bytes_sent: tick.bytes_sent,
            bytes_received: tick.bytes_received,
        };
        let sums = ticks.iter().map(of_tick);
        sums.fold(Self::default(), |total, sums| total.and(&sums))
    }

    /// Adds two sums.
    pub fn and(self, others: &Self) -> Self {
        Self {
            operations: self.operations + others.operations,
            bytes_sent: self.bytes_sent + others.bytes_sent,
            bytes_received: self.bytes_received + others.bytes_received,
        }
    }
}

/// Returns the ticks that begin inside the measured window, without gaps at its end.
pub fn in_window(record: &RunRecord) -> Vec<TickRecord> {
    // A broken record must not size an allocation: a week of ticks is the most that the engine
    // stores.
    const TICKS_MAX: u64 = 7 * 24 * 36_000;
    let wanted = record.window_ns.div_ceil(TICK_NANOS).min(TICKS_MAX);
    let mut ticks: Vec<TickRecord> = record.ticks.iter().take(wanted as usize).copied().collect();
    for index in ticks.len() as u64..wanted {
        ticks.push(TickRecord {
            start_ns: index * TICK_NANOS,
            len_ns: TICK_NANOS,
            ended: 0,
            ok: Some(0),
            untimed_as_expected: 0,
            response_time_sum_ns: 0,
            response_time_min_ns: 0,
            response_time_max_ns: 0,
            bytes_sent: 0,
            bytes_received: 0,
        });
    }
    // The last tick may be cut short by the end of the window.
    if let Some(last) = ticks.last_mut() {
        last.len_ns = last
            .len_ns
            .min(record.window_ns - last.start_ns.min(record.window_ns));
    }
    ticks
}

/// Returns the sums over each full second of consecutive ticks.
pub fn trailing_seconds(ticks: &[TickRecord]) -> impl Iterator<Item = Sums> + '_ {
    ticks
        .windows(TICKS_PER_SECOND)
        .filter(|window| window.iter().all(|tick| tick.len_ns == TICK_NANOS))
        .map(Sums::of)
}

/// Formats nct's `raw` file: ten columns, one row per 100 ms.
pub fn raw(record: &RunRecord) -> String {
    let ticks = in_window(record);
    let mut text = format!(
        "# Created on {}\n# {} samples\n# {TICKS_PER_SECOND} samples/sec\n\
         # {} sample period (usecs)\n# time, duration, and latency in usecs\n\
         # send and recv in bytes\n#\n\
         # {:>8} {:>10} {:>10} {:>8} {:>8} {:>10} {:>10} {:>8} {:>10} {:>10}\n",
        printable_line(&record.started_at),
        ticks.len(),
        TICK_NANOS / 1000,
        "SAMPLE",
        "TIME",
        "DURATION",
        "LATENCY",
        "OPS",
        "SEND",
        "RECV",
        "OPSRA",
        "SENDRA",
        "RECVRA",
    );
    for (index, tick) in ticks.iter().enumerate() {
        let first = (index + 1).saturating_sub(TICKS_PER_SECOND);
        let trailing = Sums::of(&ticks[first..=index]);
        text.push_str(&format!(
            "  {:>8} {:>10} {:>10} {:>8} {:>8} {:>10} {:>10} {:>8} {:>10} {:>10}\n",
            index + 1,
            (tick.start_ns + tick.len_ns) / 1000,
            tick.len_ns / 1000,
            tick.response_time_sum_ns / 1000,
            tick.ended,
            tick.bytes_sent,
            tick.bytes_received,
            trailing.operations,
            trailing.bytes_sent,
            trailing.bytes_received,
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn the_raw_file_has_ncts_ten_columns() {
        let text = raw(&fixtures::plain());
        insta::assert_snapshot!(text);
    }

    #[test]
    fn ticks_without_operations_at_the_end_are_rows_too() {
        let mut record = fixtures::plain();
        record.ticks.truncate(12);
        record.window_ns = 1_950_000_000;
        let ticks = in_window(&record);
        assert_eq!(ticks.len(), 20);
        assert_eq!(ticks[19].len_ns, 50_000_000);
        assert_eq!(ticks[19].ended, 0);
        assert_eq!(trailing_seconds(&ticks).count(), 10);
    }
}
