//! What is known of this host, for the record.

use crate::clock::Clock;
use filestone_measure::measure::run_record::Host;
use std::fs;

/// Describes this host.
pub fn describe(clock: &Clock, driver: &str) -> Host {
    let name = rustix::system::uname();
    let precision = clock.measure();
    Host {
        kernel: format!(
            "{} {}",
            name.sysname().to_string_lossy(),
            name.release().to_string_lossy()
        ),
        cpu: cpu_model().unwrap_or_default(),
        cpus: std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u32),
        governor: line_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        clock_source: line_of("/sys/devices/system/clocksource/clocksource0/current_clocksource")
            .unwrap_or_default(),
        clock_read_ns: precision.read_ns,
        clock_step_ns: precision.step_ns,
        memory_bytes: memory_bytes().unwrap_or_default(),
        driver: driver.into(),
    }
}

/// Its name; no longer than Linux lets it be (HOST_NAME_MAX).
pub fn name() -> String {
    let name = rustix::system::uname();
    name.nodename().to_string_lossy().chars().take(64).collect()
}

/// The only line of a small file of the system; `None` if it is not there or empty.
pub(crate) fn line_of(path: &str) -> Option<String> {
    fs::read_to_string(path)
        .ok()
        .map(|text| text.trim().to_string())
        .filter(|text| !text.is_empty())
}

fn cpu_model() -> Option<String> {
    use procfs::Current as _;
    let info = procfs::CpuInfo::current().ok()?;
    info.model_name(0).map(str::to_string)
}

/// What this process has in memory, in bytes.
pub fn resident_bytes() -> u64 {
    let statm = procfs::process::Process::myself().and_then(|process| process.statm());
    statm.map_or(0, |statm| statm.resident * procfs::page_size())
}

/// The same of another process of this host; `None` if it is not there.
pub fn resident_bytes_of(process: u32) -> Option<u64> {
    let process = i32::try_from(process).ok()?;
    let statm = procfs::process::Process::new(process).ok()?.statm().ok()?;
    Some(statm.resident * procfs::page_size())
}

/// What this host has free of memory, or could have, in bytes; `None` if it does not say.
pub fn memory_available_bytes() -> Option<u64> {
    use procfs::Current as _;
    procfs::Meminfo::current().ok()?.mem_available
}

fn memory_bytes() -> Option<u64> {
    use procfs::Current as _;
    Some(procfs::Meminfo::current().ok()?.mem_total)
}
