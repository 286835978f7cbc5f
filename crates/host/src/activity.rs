//! A short sample of this host's activity, during which filestone only sleeps.

use crate::clock::Clock;
use crate::processors::{Meter, allowed, stolen_nanos};
use filestone_measure::doctor::facts::{
    ActivityFacts, InterfaceTraffic, ProgramShare, WakeUpFacts,
};
use procfs::Current as _;
use std::collections::HashMap;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Length of the sample: two ticks of one of two processors are a percent of it.
const LOOK: Duration = Duration::from_millis(500);
/// Length of one sleep in it.
const NAP: Duration = Duration::from_millis(1);
/// Maximum number of processes inspected.
const PROCESSES_MAX: usize = 10_000;
/// Number of programs returned.
const PROGRAMS_MAX: usize = 5;

/// Samples for half a second; `None` if stopped.
pub fn sample(stop: &AtomicBool) -> Option<ActivityFacts> {
    let allowed = allowed();
    let programs = programs();
    let before = Snapshot::take(&allowed);
    let meter = Meter::start();
    let lateness = sleep(stop)?;
    let used = meter.used();
    let after = Snapshot::take(&allowed);
    let elapsed = after.at.duration_since(before.at).as_secs_f64();
    let percent = |nanos: u64| 100.0 * nanos as f64 / 1e9 / elapsed;
    let stolen = since(before.stolen_ns, after.stolen_ns);
    let others = used
        .others_ns
        .map(|nanos| nanos.saturating_sub(stolen.unwrap_or(0)));
    Some(ActivityFacts {
        elapsed_ns: used.elapsed_ns,
        processors: used.processors,
        others_percent: others.map(percent),
        busiest: busiest(&programs, elapsed),
        stolen_percent: stolen.map(percent),
        swapped_pages: since(before.swapped_pages, after.swapped_pages),
        traffic: traffic(&before, &after, elapsed),
        wake_up: wake_up(lateness),
        load_average: procfs::LoadAverage::current()
            .ok()
            .map(|load| f64::from(load.one)),
    })
}

/// Counters of the kernel at one moment.
struct Snapshot {
    at: Instant,
    stolen_ns: Option<u64>,
    swapped_pages: Option<u64>,
    /// Packets and bytes of each interface, sum of both directions.
    interfaces: Option<HashMap<String, [u64; 2]>>,
}

impl Snapshot {
    fn take(allowed: &[usize]) -> Self {
        Self {
            at: Instant::now(),
            stolen_ns: stolen_nanos(allowed),
            swapped_pages: swapped_pages(),
            interfaces: interfaces(),
        }
    }
}

fn since(before: Option<u64>, after: Option<u64>) -> Option<u64> {
    Some(after?.saturating_sub(before?))
}

fn swapped_pages() -> Option<u64> {
    let counters = procfs::vmstat().ok()?;
    let of = |name: &str| u64::try_from(*counters.get(name)?).ok();
    Some(of("pswpin")? + of("pswpout")?)
}

fn interfaces() -> Option<HashMap<String, [u64; 2]>> {
    let devices = procfs::net::dev_status().ok()?;
    let counted = devices.into_values().filter(|device| device.name != "lo");
    let counted = counted.map(|device| {
        let packets = device.recv_packets.saturating_add(device.sent_packets);
        let bytes = device.recv_bytes.saturating_add(device.sent_bytes);
        (device.name, [packets, bytes])
    });
    Some(counted.collect())
}

fn traffic(before: &Snapshot, after: &Snapshot, elapsed: f64) -> Option<Vec<InterfaceTraffic>> {
    let (before, after) = (before.interfaces.as_ref()?, after.interfaces.as_ref()?);
    let carried = after.iter().filter_map(|(interface, now)| {
        let then = before.get(interface)?;
        let [packets, bytes] = [0, 1].map(|which| now[which].saturating_sub(then[which]));
        Some(InterfaceTraffic {
            interface: interface.clone(),
            packets_per_s: packets as f64 / elapsed,
            bytes_per_s: bytes as f64 / elapsed,
        })
    });
    let mut carried: Vec<InterfaceTraffic> = carried
        .filter(|traffic| traffic.packets_per_s > 0.0)
        .collect();
    carried.sort_by(|one, other| other.packets_per_s.total_cmp(&one.packets_per_s));
    Some(carried)
}

/// A running program.
struct Program {
    name: String,
    ticks: u64,
}

/// Returns all other programs, by process and start time.
fn programs() -> HashMap<(i32, u64), Program> {
    let own = std::process::id();
    let Ok(all) = procfs::process::all_processes() else {
        return HashMap::new();
    };
    let stats = all
        .take(PROCESSES_MAX)
        .filter_map(|process| process.ok()?.stat().ok());
    let others = stats.filter(|stat| u32::try_from(stat.pid) != Ok(own));
    others
        .map(|stat| {
            let ticks = stat.utime.saturating_add(stat.stime);
            let name = stat.comm;
            ((stat.pid, stat.starttime), Program { name, ticks })
        })
        .collect()
}

/// Returns the programs that used at least a percent of a processor since `before`, the busiest
/// first.
fn busiest(before: &HashMap<(i32, u64), Program>, elapsed: f64) -> Vec<ProgramShare> {
    let per_second = procfs::ticks_per_second().max(1) as f64;
    let now = programs().into_iter();
    let mut shares: Vec<ProgramShare> = now
        .map(|(process, program)| {
            let then = before.get(&process).map_or(0, |program| program.ticks);
            let ticks = program.ticks.saturating_sub(then);
            ProgramShare {
                name: program.name,
                process: process.0,
                percent: 100.0 * ticks as f64 / per_second / elapsed,
            }
        })
        .filter(|share| share.percent >= 1.0)
        .collect();
    shares.sort_by(|one, other| other.percent.total_cmp(&one.percent));
    shares.truncate(PROGRAMS_MAX);
    shares
}

/// Sleeps until the sample is over; returns how late each sleep ended, in nanoseconds. `None` if
/// stopped.
fn sleep(stop: &AtomicBool) -> Option<Vec<u64>> {
    // Timer slack as in workers, set in a separate thread so that it ends with the thread.
    std::thread::scope(|scope| {
        let naps = scope.spawn(|| {
            let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
            naps(stop)
        });
        naps.join().ok().flatten()
    })
}

fn naps(stop: &AtomicBool) -> Option<Vec<u64>> {
    let clock = Clock::start();
    let end = Instant::now() + LOOK;
    let mut lateness = Vec::new();
    while Instant::now() < end {
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        let before = clock.now();
        std::thread::sleep(NAP);
        let slept = clock.now().nanos_since(before);
        lateness.push(slept.saturating_sub(NAP.as_nanos() as u64));
    }
    Some(lateness)
}

fn wake_up(mut lateness: Vec<u64>) -> Option<WakeUpFacts> {
    lateness.sort_unstable();
    let quantile = |percent: usize| lateness.get(lateness.len() * percent / 100).copied();
    Some(WakeUpFacts {
        count: lateness.len() as u64,
        p50_ns: quantile(50)?,
        p99_ns: quantile(99)?,
        max_ns: lateness.last().copied()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_is_told_by_its_quantiles() {
        let facts = wake_up((1..=100).rev().collect()).expect("some");
        assert_eq!((facts.count, facts.p50_ns), (100, 51));
        assert_eq!((facts.p99_ns, facts.max_ns), (100, 100));
        assert_eq!(wake_up(vec![]), None);
    }

    #[test]
    fn a_look_that_is_stopped_is_none() {
        assert_eq!(sample(&AtomicBool::new(true)), None);
    }
}
