//! Description of this host, for the record.

use crate::clock::Clock;
use filestone_measure::measure::run_record::Host;
use std::fs;

/// Returns the description of this host.
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

/// Returns the host name, at most 64 characters (HOST_NAME_MAX of Linux).
pub fn name() -> String {
    let name = rustix::system::uname();
    name.nodename().to_string_lossy().chars().take(64).collect()
}

/// Returns the only line of a small system file; `None` if the file is missing or empty.
pub fn line_of(path: &str) -> Option<String> {
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

/// Returns the resident memory of this process, in bytes.
pub fn resident_bytes() -> u64 {
    let statm = procfs::process::Process::myself().and_then(|process| process.statm());
    statm.map_or(0, |statm| statm.resident * procfs::page_size())
}

/// Returns the resident memory of another process of this host, in bytes; `None` if it does not
/// exist.
pub fn resident_bytes_of(process: u32) -> Option<u64> {
    let process = i32::try_from(process).ok()?;
    let statm = procfs::process::Process::new(process).ok()?.statm().ok()?;
    Some(statm.resident * procfs::page_size())
}

/// Returns the available memory of this host (`MemAvailable`), in bytes; `None` if not reported.
pub fn memory_available_bytes() -> Option<u64> {
    use procfs::Current as _;
    procfs::Meminfo::current().ok()?.mem_available
}

fn memory_bytes() -> Option<u64> {
    use procfs::Current as _;
    Some(procfs::Meminfo::current().ok()?.mem_total)
}
