//! Who had the processors while a run lasted, and whether other programs kept the load
//! generator's threads waiting for one.
//!
//! A thread that is ready to run and has no processor waits for whatever runs on it: another
//! program, or another thread of ours. Only the first spoils a measurement. That a hundred
//! clients of a local file system do not fit onto two processors is the load that was asked for.

use super::absence::{AbsenceRecord, Throttling, WakeUpGaps};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who had the processors, in nanoseconds of the time that was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ProcessorTime {
    /// How long it was looked at.
    pub elapsed_ns: u64,
    /// Processors that this process may use.
    pub processors: u32,
    /// Processor time of this process, the built-in server's threads included.
    pub own_ns: u64,
    /// That of other programs on these processors, and what other virtual machines took of them;
    /// `None` where the kernel does not tell.
    pub others_ns: Option<u64>,
    /// What other virtual machines took of them; `None` where the kernel does not tell.
    pub stolen_ns: Option<u64>,
    /// Processors of which the control group of this process may have the time, if it has a quota.
    pub quota: Option<f64>,
    /// What that quota did; `None` where the kernel does not tell.
    pub throttling: Option<Throttling>,
    /// Wake-ups that came much too late.
    pub gaps: WakeUpGaps,
}

/// What one thread of the load generator came to in the measured window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ThreadTime {
    /// Its number, or that of its first client.
    pub thread: u32,
    /// Its processor time.
    pub cpu_ns: u64,
    /// Ready to run, and without a processor.
    pub waited_ns: u64,
}

/// Who had the processors, of a run's record.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ProcessorsRecord {
    /// Processors that the load generator may use.
    pub processors: u32,
    /// What it used of them, the built-in server included, as a share of one processor.
    pub own_percent: f64,
    /// What other programs used of them, and other virtual machines took; likewise.
    pub others_percent: Option<f64>,
    /// The load generator's threads that carry the load.
    pub threads: u32,
    /// Share of the window in which they were ready to run and had no processor, on average.
    pub waited_percent: f64,
    /// The thread that other programs kept waiting longest: its number, or its first client's.
    pub longest_thread: u32,
    /// Share of the window in which it waited, whoever had the processor.
    pub longest_waited_percent: f64,
    /// That part of it which other programs explain.
    pub longest_waited_by_others_percent: f64,
    /// Time in which none of its threads could run; `None` in records of before that was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absence: Option<AbsenceRecord>,
}

impl ProcessorsRecord {
    /// What these threads came to in a window of so many nanoseconds; `None` without threads.
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
            waited_percent: sum / threads.len() as f64,
            longest_thread,
            longest_waited_percent,
            longest_waited_by_others_percent,
            absence: Some(absence(&time, threads.len())),
        })
    }
}

/// Time in which these threads could not run. A quota stops each thread on its own processor, and the
/// kernel adds that up.
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

/// How much of a thread's wait other programs explain: all in percent of one processor.
///
/// While the thread waited, something else ran: other programs, or the rest of this process. Each
/// is taken to have had its part of that. No less than what the rest of this process cannot have
/// run for is the others': a container's quota, say, takes processors away that nobody uses.
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

    /// A window of one second on two processors. Times in milliseconds.
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
        record(own, others, threads).longest_waited_by_others_percent
    }

    fn assert_about(got: f64, expected: f64) {
        assert!((got - expected).abs() < 0.05, "{got}, not {expected}");
    }

    #[test]
    fn a_client_alone_among_hogs_waits_for_them_only() {
        // Two processors, each shared by a hog; the client had half of one.
        assert_about(by_others(500, Some(1500), &[(500, 500)]), 50.0);
    }

    #[test]
    fn many_clients_on_an_idle_machine_wait_for_each_other_only() {
        // Eight clients share two processors: each runs for 250 ms and waits for 750.
        let clients = [(250, 750); 8];
        let record = record(2000, Some(0), &clients);
        assert_about(record.waited_percent, 75.0);
        assert_about(record.longest_waited_percent, 75.0);
        assert_about(record.longest_waited_by_others_percent, 0.0);
        // Nor does a little of others' work count for more than it is: 20 of 1770 ms.
        assert_about(by_others(1980, Some(20), &clients), 75.0 * 20.0 / 1750.0);
    }

    #[test]
    fn many_clients_among_hogs_share_the_blame_with_them() {
        // Two hogs and eight clients, all with equal parts of two processors: 200 ms each.
        let clients = [(200, 800); 8];
        assert_about(by_others(1600, Some(400), &clients), 80.0 * 400.0 / 1800.0);
    }

    #[test]
    fn the_built_in_server_is_not_another_program() {
        // The client waited 100 ms for the server, on the one processor that they share.
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
        // Of two threads on two processors, each stood still for half of the sum.
        assert_about(of(2).throttled_percent, 45.0);
        assert_about(of(50).throttled_percent, 45.0);
    }

    #[test]
    fn the_thread_that_others_kept_waiting_is_named() {
        let record = record(800, Some(1000), &[(400, 10), (400, 500)]);
        assert_eq!((record.longest_thread, record.threads), (1, 2));
        assert_about(record.longest_waited_percent, 50.0);
        assert_eq!(ProcessorsRecord::of(ProcessorTime::default(), 1, &[]), None);
    }
}
