//! Processors that a process may use.

use anyhow::{Context, Result, anyhow, bail};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::ops::Range;
use std::process::{Child, Command};
use std::time::Duration;

/// Largest CPU use of other programs before the start of a benchmark, as a share; above it they
/// affect the figures.
const QUIET: f64 = 0.05;

/// Returns the processors that this process may use.
pub fn available() -> Result<Vec<usize>> {
    let set = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU)
        .filter(|cpu| set.is_set(*cpu))
        .collect())
}

/// Pins this thread and its children to `cpus`.
pub fn bind(cpus: &[usize]) -> Result<()> {
    let mut set = CpuSet::new();
    for cpu in cpus {
        set.set(*cpu);
    }
    sched_setaffinity(None, &set).with_context(|| format!("processors {cpus:?} cannot be used"))
}

/// Starts a process that may use only `cpus`, or any available processor if `cpus` is empty.
pub fn spawn_on(command: &mut Command, cpus: &[usize]) -> Result<Child> {
    // A child inherits the processors of the thread that starts it, so a separate thread leaves
    // those of this one unchanged.
    std::thread::scope(|scope| {
        scope
            .spawn(|| {
                if !cpus.is_empty() {
                    bind(cpus)?;
                }
                Ok(command.spawn()?)
            })
            .join()
            .map_err(|_| anyhow!("the starting thread panicked"))?
    })
}

/// Calls a function with each of these seeds, on all processors.
pub fn for_seeds<T: Send>(seeds: Range<u64>, run: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    std::thread::scope(|scope| {
        let part = |thread: u64| {
            let own = seeds.clone().filter(move |seed| seed % threads == thread);
            let run = &run;
            scope.spawn(move || own.map(run).collect::<Vec<_>>())
        };
        let parts: Vec<_> = (0..threads).map(part).collect();
        let parts = parts.into_iter().map(|part| part.join());
        parts.flat_map(|part| part.expect("no panic")).collect()
    })
}

/// Measures the share of this host's CPU time in use over this period, from 0 to 1.
fn busy_share(over: Duration) -> Result<f64> {
    let before = times()?;
    std::thread::sleep(over);
    let after = times()?;
    let spent = |index: usize| after[index].saturating_sub(before[index]) as f64;
    let all: f64 = (0..after.len().min(before.len())).map(spent).sum();
    // The fourth and fifth fields are idle and waiting for a disk (proc(5)).
    Ok(1.0 - (spent(3) + spent(4)) / all.max(1.0))
}

/// Measures [`busy_share`] before a benchmark starts, and prints a note if other programs affect it.
pub fn busy_share_before() -> Result<f64> {
    let share = busy_share(Duration::from_millis(500))?;
    if share > QUIET {
        eprintln!(
            "note: something else takes {:.0} % of this host's processors: do not quote what follows",
            share * 100.0
        );
    }
    Ok(share)
}

/// Returns the CPU times in the first line of /proc/stat.
fn times() -> Result<Vec<u64>> {
    let text = std::fs::read_to_string("/proc/stat")?;
    let line = text.lines().next().unwrap_or_default();
    let times: Vec<u64> = line
        .split_whitespace()
        .skip(1)
        .flat_map(str::parse)
        .collect();
    if times.len() < 5 {
        bail!("/proc/stat: \"{line}\" is not what proc(5) says");
    }
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busy_share_is_a_share() {
        let share = busy_share(Duration::from_millis(50)).expect("Linux says");
        assert!((0.0..=1.0).contains(&share), "{share}");
    }
}
