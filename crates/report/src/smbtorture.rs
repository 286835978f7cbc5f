//! smbtorture's output of BENCH-NBENCH: the row of every second and the line that scripts parse.
//! The format equals that of Samba 4.17, byte by byte; the values match their labels where
//! smbtorture's did not:
//!
//! - *latency* is the longest response time since the last row. smbtorture printed the delay of a
//!   line behind its schedule, and so 0 for a load file without one;
//! - the throughput is file data of the measured window over its length. smbtorture used the
//!   requested bytes of reads and writes, and printed `-0` for a run that failed at once.

use crate::dbench::{general, megabytes_per_second, netbench_scale};
use crate::rows::{ProgressRow, is_printed};
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::progress::{Progress, ProgressPhase};

/// Returns the formatter of a replay's rows.
pub fn rows() -> ProgressRow {
    Box::new(row)
}

/// Formats the row of a second; `None` during the first second of a phase.
fn row(progress: &Progress) -> Option<String> {
    if !is_printed(progress) {
        return None;
    }
    let Progress {
        phase,
        clients,
        line,
        seconds,
        ..
    } = *progress;
    let rate = progress.bytes_per_s / 1e6;
    let (phase, latency) = match phase {
        ProgressPhase::WarmUp => ("warmup", String::new()),
        ProgressPhase::Execute => {
            let latency = progress.latency_max_ns as f64 / 1e6;
            ("execute", format!("latency {latency:.2} msec"))
        }
        ProgressPhase::CleanUp => ("cleanup", String::new()),
    };
    Some(format!(
        "{clients:>4}  {line:>8}  {rate:.2} MB/sec  {phase} {seconds:.0} sec  {latency} \n"
    ))
}

/// Formats the line that scripts parse.
pub fn throughput(record: &RunRecord) -> String {
    let rate = general(megabytes_per_second(record));
    format!("Throughput {rate} MB/sec\n")
}

/// Formats the line of NBW95 and NBWNT, with NetBench's figures. Samba's were constants over the
/// time of the run; these use the transferred bytes.
pub fn netbench(record: &RunRecord) -> String {
    let rate = megabytes_per_second(record);
    format!(
        "Throughput {} MB/sec ({})\n",
        general(rate),
        netbench_scale(rate)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_smbtortures_byte_by_byte() {
        let text = |phase, seconds| {
            row(&Progress {
                phase,
                clients: 2,
                line: 27_719,
                bytes_per_s: 55_190_000.0,
                seconds,
                latency_max_ns: 3_094_000,
            })
        };
        // Rows printed by Samba 4.17.12, except for their numbers.
        for (phase, seconds, expected) in [
            (
                ProgressPhase::WarmUp,
                1.2,
                Some("   2     27719  55.19 MB/sec  warmup 1 sec   \n"),
            ),
            (
                ProgressPhase::Execute,
                5.0,
                Some("   2     27719  55.19 MB/sec  execute 5 sec  latency 3.09 msec \n"),
            ),
            (
                ProgressPhase::CleanUp,
                6.0,
                Some("   2     27719  55.19 MB/sec  cleanup 6 sec   \n"),
            ),
            (ProgressPhase::Execute, 0.6, None),
        ] {
            assert_eq!(text(phase, seconds).as_deref(), expected);
        }
    }
}
