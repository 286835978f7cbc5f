//! CPU time of this host: the share of this process and the share of others.

use crate::quota::{self, read};
use filestone_measure::doctor::facts::ProcessorQuota;
use filestone_measure::measure::absence::{Throttling, WakeUpGaps};
use filestone_measure::measure::processors::{ProcessorTime, ThreadTime};
use procfs::{CurrentSI as _, KernelStats};
use rustix::thread::CpuSet;
use rustix::time::{ClockId, clock_gettime};
use std::fs::File;
use std::io::Read as _;
use std::time::Instant;

/// Measures the use of the processors between two moments.
#[derive(Debug)]
pub struct Meter {
    began: Instant,
    allowed: Vec<usize>,
    own_ns: u64,
    busy_ns: Option<u64>,
    stolen_ns: Option<u64>,
    throttling: Vec<Throttling>,
}

impl Meter {
    /// Starts the measurement.
    pub fn start() -> Self {
        let allowed = allowed();
        Self {
            began: Instant::now(),
            own_ns: clock_nanos(ClockId::ProcessCPUTime),
            busy_ns: busy_nanos(&allowed),
            stolen_ns: stolen_nanos(&allowed),
            throttling: quota::throttling(read),
            allowed,
        }
    }

    /// Returns the CPU time since the start.
    pub fn used(&self) -> ProcessorTime {
        let own_ns = clock_nanos(ClockId::ProcessCPUTime).saturating_sub(self.own_ns);
        let busy_ns = busy_nanos(&self.allowed).zip(self.busy_ns);
        let stolen_ns = stolen_nanos(&self.allowed).zip(self.stolen_ns);
        ProcessorTime {
            elapsed_ns: u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX),
            processors: self.allowed.len() as u32,
            own_ns,
            others_ns: busy_ns.map(|(now, before)| {
                let busy_ns = now.saturating_sub(before);
                busy_ns.saturating_sub(own_ns)
            }),
            stolen_ns: stolen_ns.map(|(now, before)| now.saturating_sub(before)),
            quota: match quota::quota(read) {
                Some(ProcessorQuota::Processors(processors)) => Some(processors),
                Some(ProcessorQuota::Unlimited) | None => None,
            },
            throttling: self.throttling_since(),
            gaps: WakeUpGaps::default(),
        }
    }

    /// Returns the throttling since the start by the quota that stopped this process longest.
    fn throttling_since(&self) -> Option<Throttling> {
        let now = quota::throttling(read).into_iter().zip(&self.throttling);
        let since = now.map(|(now, before)| now.since(*before));
        since.max_by_key(|quota| quota.throttled_ns)
    }
}

/// CPU and wait time of the calling thread since it started.
#[derive(Debug, Clone, Copy)]
pub struct ThreadMark {
    /// CPU time in nanoseconds.
    pub cpu_ns: u64,
    /// Time ready to run without a processor, in nanoseconds.
    pub waited_ns: u64,
}

impl ThreadMark {
    /// Reads both times now.
    pub fn now() -> Self {
        Self {
            cpu_ns: thread_nanos(),
            waited_ns: waited_nanos(),
        }
    }

    /// Returns the thread's times from this mark to `now`. `thread` is the number of the thread or
    /// of its first client.
    pub fn until(self, now: Self, thread: u32) -> ThreadTime {
        ThreadTime {
            thread,
            cpu_ns: now.cpu_ns.saturating_sub(self.cpu_ns),
            waited_ns: now.waited_ns.saturating_sub(self.waited_ns),
        }
    }
}

/// Returns the CPU time of the calling thread, in nanoseconds.
#[inline]
pub fn thread_nanos() -> u64 {
    clock_nanos(ClockId::ThreadCPUTime)
}

/// Returns the monotonic time of this host, in nanoseconds.
#[inline]
pub fn monotonic_nanos() -> u64 {
    clock_nanos(ClockId::Monotonic)
}

/// Returns how long the calling thread was ready to run and had no processor, in nanoseconds.
pub fn waited_nanos() -> u64 {
    waited().unwrap_or(0)
}

/// Reads without allocating: workers call it while operations are in flight.
fn waited() -> Option<u64> {
    // "time on the processor, time waited for one, times it had one" (proc_pid_schedstat); a kernel
    // may lack it.
    const LINE_MAX: usize = 64;
    let mut line = [0; LINE_MAX];
    let mut file = File::open("/proc/thread-self/schedstat").ok()?;
    let len = file.read(&mut line).ok()?;
    let line = std::str::from_utf8(line.get(..len)?).ok()?;
    line.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[inline]
fn clock_nanos(clock: ClockId) -> u64 {
    let spent = clock_gettime(clock);
    spent.tv_sec as u64 * 1_000_000_000 + spent.tv_nsec as u64
}

/// Returns the processors that this process may use.
pub fn allowed() -> Vec<usize> {
    let Ok(set) = rustix::thread::sched_getaffinity(None) else {
        return vec![];
    };
    (0..CpuSet::MAX_CPU)
        .filter(|cpu| set.is_set(*cpu))
        .collect()
}

/// Returns the time in which these processors ran programs or other virtual machines, in
/// nanoseconds. Interrupts are left out: filestone itself causes most interrupts of the network.
fn busy_nanos(allowed: &[usize]) -> Option<u64> {
    let stats = KernelStats::current().ok()?;
    let ticks: Option<u64> = allowed
        .iter()
        .map(|cpu| {
            let time = stats.cpu_time.get(*cpu)?;
            Some(time.user + time.nice + time.system + time.steal.unwrap_or(0))
        })
        .sum();
    Some(ticks? * 1_000_000_000 / procfs::ticks_per_second().max(1))
}

/// Returns the time of these processors that other virtual machines used, in nanoseconds.
pub fn stolen_nanos(allowed: &[usize]) -> Option<u64> {
    let stats = KernelStats::current().ok()?;
    let times = allowed.iter().map(|cpu| stats.cpu_time.get(*cpu)?.steal);
    let ticks: Option<u64> = times.sum();
    Some(ticks? * 1_000_000_000 / procfs::ticks_per_second().max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_this_process_uses_is_its_own() {
        let meter = Meter::start();
        let before = thread_nanos();
        while thread_nanos() < before + 2_000_000 {}
        let used = meter.used();
        assert!(used.own_ns >= 2_000_000, "{used:?}");
        assert!(used.processors >= 1 && used.elapsed_ns > 0, "{used:?}");
    }
}
