//! Which processors a process may use.

use anyhow::{Context, Result, anyhow};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::process::{Child, Command};

/// The processors this process may use.
pub fn available() -> Result<Vec<usize>> {
    let set = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU)
        .filter(|cpu| set.is_set(*cpu))
        .collect())
}

/// Binds this thread, and what it starts, to `cpus`.
pub fn bind(cpus: &[usize]) -> Result<()> {
    let mut set = CpuSet::new();
    for cpu in cpus {
        set.set(*cpu);
    }
    sched_setaffinity(None, &set).with_context(|| format!("processors {cpus:?} cannot be used"))
}

/// Starts a process that may use only `cpus`; any of ours if there are none named.
pub fn spawn_on(command: &mut Command, cpus: &[usize]) -> Result<Child> {
    // A child inherits the processors of the thread that starts it, so a thread
    // of its own leaves ours as they were.
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
