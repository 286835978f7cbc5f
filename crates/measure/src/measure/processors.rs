//! CPU use during a run, and the time that the load generator's threads waited for a CPU because of
//! other programs.
//!
//! A thread that is ready to run but has no CPU waits for another program, or for another thread of
//! the load generator. Only the first spoils a measurement. That a hundred clients of a local file
//! system do not fit onto two CPUs is the requested load.

use super::absence::{AbsenceRecord, Throttling, WakeUpGaps};
use crate::JsonSchema;
use serde::{Deserialize, Serialize};

/// CPU time of this process and of others during an observation, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ProcessorTime {
    /// Length of the observation.
    pub elapsed_ns: u64,
    /// Number of CPUs that this process may use.
    pub processors: u32,
    /// CPU time of this process, including the threads of the built-in server.
    pub own_ns: u64,
    /// CPU time of other programs and other virtual machines on these CPUs; `None` if the kernel
    /// does not report it.
    pub others_ns: Option<u64>,
    /// CPU time of other virtual machines (steal) on these CPUs; `None` if the kernel does not
    /// report it.
    pub stolen_ns: Option<u64>,
    /// Quota of this process's control group in CPUs, if it has one.
    pub quota: Option<f64>,
    /// Throttling by that quota; `None` if the kernel does not report it.
    pub throttling: Option<Throttling>,
    /// Wake-ups that were far too late.
    pub gaps: WakeUpGaps,
}

/// Times of one thread of the load generator in the measured window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ThreadTime {
    /// Number of the thread, or of its first client.
    pub thread: u32,
    /// CPU time in nanoseconds.
    pub cpu_ns: u64,
    /// Time ready to run without a CPU, in nanoseconds.
    pub waited_ns: u64,
}

/// CPU use during a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ProcessorsRecord {
    /// Number of CPUs that the load generator may use.
    pub processors: u32,
    /// CPU use of the load generator, including the built-in server, in percent of one CPU.
    pub own_percent: f64,
    /// CPU use of other programs and other virtual machines on these CPUs, in percent of one CPU.
    pub others_percent: Option<f64>,
    /// Number of the load generator's threads that generate the load.
    pub threads: u32,
    /// Share of the window that these threads were ready to run without a CPU, on average, in
    /// percent.
    #[serde(alias = "waited_percent")]
    pub run_delay_percent: f64,
    /// Thread that waited longest because of other programs: its number, or that of its first
    /// client.
    pub longest_thread: u32,
    /// Share of the window that this thread waited, for whatever reason, in percent.
    #[serde(alias = "longest_waited_percent")]
    pub longest_run_delay_percent: f64,
    /// Part of that share that other programs explain.
    #[serde(alias = "longest_waited_by_others_percent")]
    pub longest_run_delay_by_others_percent: f64,
    /// Time that none of the threads could run; `None` in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absence: Option<AbsenceRecord>,
}

impl ProcessorsRecord {
    /// Computes the record of these threads for a window of `window_ns`; `None` without threads.
    pub fn of(time: ProcessorTime, window_ns: u64, threads: &[ThreadTime]) -> Option<Self> {
        let percent = |nanos: u64, of: u64| 100.0 * nanos as f64 / of.max(1) as f64;
        let own_percent = percent(time.own_ns, time.elapsed_ns);
        let others_percent = time.others_ns.map(|nanos| percent(nanos, time.elapsed_ns));
        let waits = threads.iter().map(|thread| {
            let waited = percent(thread.waited_ns, window_ns);
            let rest = (own_percent - percent(thread.cpu_ns, window_ns)).max(0.0);
            let by_others = waited_by_others(waited, rest, others_percent);
            (thread.thread, waited, by_others)
        });
        let (longest_thread, longest_waited_percent, longest_waited_by_others_percent) = waits
            .clone()
            .max_by(|one, other| one.2.total_cmp(&other.2).then(one.1.total_cmp(&other.1)))?;
        let sum: f64 = waits.map(|(_, waited, _)| waited).sum();
        Some(Self {
            processors: time.processors,
            own_percent,
            others_percent,
            threads: threads.len() as u32,
            run_delay_percent: sum / threads.len() as f64,
            longest_thread,
            longest_run_delay_percent: longest_waited_percent,
            longest_run_delay_by_others_percent: longest_waited_by_others_percent,
            absence: Some(absence(&time, threads.len())),
        })
    }
}

/// Computes the time that these threads could not run. A quota stops each thread on its CPU, and
/// the kernel adds these times up.
fn absence(time: &ProcessorTime, threads: usize) -> AbsenceRecord {
    let percent = |nanos: u64| 100.0 * nanos as f64 / time.elapsed_ns.max(1) as f64;
    let processors = f64::from(time.processors.max(1));
    let running = processors.min(threads.max(1) as f64);
    let throttled_ns = time.throttling.map_or(0, |quota| quota.throttled_ns);
    AbsenceRecord {
        quota: time.quota,
        throttling: time.throttling.filter(|quota| quota.periods > 0),
        throttled_percent: (percent(throttled_ns) / running).min(100.0),
        stolen_percent: time.stolen_ns.map(|nanos| percent(nanos) / processors),
        gaps: time.gaps,
    }
}

/// Returns the part of a thread's wait that other programs explain; all values are in percent of
/// one CPU.
///
/// While the thread waited, something else ran: other programs, or the rest of this process. The
/// wait is divided between them in proportion to their CPU time. The part that exceeds the CPU time
/// of the rest of this process is always attributed to others: a container's quota, for example,
/// removes CPU time that no program uses.
fn waited_by_others(waited: f64, rest_of_own: f64, others: Option<f64>) -> f64 {
    let part = match others {
        Some(others) if others > 0.0 => waited * others / (others + rest_of_own),
        _ => 0.0,
    };
    part.max(waited - rest_of_own).clamp(0.0, waited.max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// Returns the record of a window of one second on two CPUs. Times in milliseconds.
    fn record(own: u64, others: Option<u64>, threads: &[(u64, u64)]) -> ProcessorsRecord {
        let time = ProcessorTime {
            elapsed_ns: SECOND,
            processors: 2,
            own_ns: own * 1_000_000,
            others_ns: others.map(|millis| millis * 1_000_000),
            ..ProcessorTime::default()
        };
        let threads: Vec<ThreadTime> = (0..)
            .zip(threads)
            .map(|(thread, (cpu, waited))| ThreadTime {
                thread,
                cpu_ns: cpu * 1_000_000,
                waited_ns: waited * 1_000_000,
            })
            .collect();
        ProcessorsRecord::of(time, SECOND, &threads).expect("there are threads")
    }

    fn by_others(own: u64, others: Option<u64>, threads: &[(u64, u64)]) -> f64 {
        record(own, others, threads).longest_run_delay_by_others_percent
    }

    fn assert_about(got: f64, expected: f64) {
        assert!((got - expected).abs() < 0.05, "{got}, not {expected}");
    }

    #[test]
    fn a_client_alone_among_hogs_waits_for_them_only() {
        // Two CPUs, each shared by a busy program; the client had half of one.
        assert_about(by_others(500, Some(1500), &[(500, 500)]), 50.0);
    }

    #[test]
    fn many_clients_on_an_idle_machine_wait_for_each_other_only() {
        // Eight clients share two CPUs: each runs for 250 ms and waits for 750.
        let clients = [(250, 750); 8];
        let record = record(2000, Some(0), &clients);
        assert_about(record.run_delay_percent, 75.0);
        assert_about(record.longest_run_delay_percent, 75.0);
        assert_about(record.longest_run_delay_by_others_percent, 0.0);
        // A little work of other programs is counted in proportion: 20 of 1770 ms.
        assert_about(by_others(1980, Some(20), &clients), 75.0 * 20.0 / 1750.0);
    }

    #[test]
    fn many_clients_among_hogs_share_the_blame_with_them() {
        // Two busy programs and eight clients, all with equal parts of two CPUs: 200 ms each.
        let clients = [(200, 800); 8];
        assert_about(by_others(1600, Some(400), &clients), 80.0 * 400.0 / 1800.0);
    }

    #[test]
    fn the_built_in_server_is_not_another_program() {
        // The client waited 100 ms for the server, on the CPU that they share.
        assert_about(by_others(900, Some(0), &[(400, 100)]), 0.0);
    }

    #[test]
    fn what_nobody_of_ours_can_have_run_for_was_taken_from_outside() {
        // A quota: the thread waits for 600 ms, and nothing else runs.
        assert_about(by_others(400, Some(0), &[(400, 600)]), 60.0);
        assert_about(by_others(400, None, &[(400, 600)]), 60.0);
        // The rest of the process ran for 300 ms of them at most.
        assert_about(by_others(700, None, &[(400, 600)]), 30.0);
    }

    #[test]
    fn a_quota_of_a_tenth_stops_one_thread_for_nine_tenths_of_the_time() {
        let time = ProcessorTime {
            elapsed_ns: SECOND,
            processors: 2,
            own_ns: SECOND / 10,
            quota: Some(0.1),
            stolen_ns: Some(SECOND / 5),
            throttling: Some(Throttling {
                periods: 10,
                throttled: 10,
                throttled_ns: 900_000_000,
            }),
            ..ProcessorTime::default()
        };
        let thread = ThreadTime::default();
        let of = |threads: usize| {
            let record = ProcessorsRecord::of(time, SECOND, &vec![thread; threads]);
            record.and_then(|record| record.absence).expect("looked at")
        };
        assert_about(of(1).throttled_percent, 90.0);
        assert_about(of(1).stolen_percent.expect("told"), 10.0);
        // With two threads on two CPUs, each was throttled for half of the sum.
        assert_about(of(2).throttled_percent, 45.0);
        assert_about(of(50).throttled_percent, 45.0);
    }

    #[test]
    fn the_thread_that_others_kept_waiting_is_named() {
        let record = record(800, Some(1000), &[(400, 10), (400, 500)]);
        assert_eq!((record.longest_thread, record.threads), (1, 2));
        assert_about(record.longest_run_delay_percent, 50.0);
        assert_eq!(ProcessorsRecord::of(ProcessorTime::default(), 1, &[]), None);
    }
}
