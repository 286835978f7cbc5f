//! A server process of this host: its CPU time and its context switches.
//!
//! Reads for each thread `schedstat`, whose first number is its CPU time in nanoseconds, and the
//! lines of `status`. Threads that have ended are not included, so the counters of a server that
//! ends threads can decrease, which is reported.

use super::ReadingError;
use super::source::Source;
use filestone_measure::cost::{CostCounter, CounterReading};
use procfs::process::Process;
use std::fs;

/// A process by its id.
pub struct ServerProcess {
    pid: u32,
}

impl ServerProcess {
    pub fn new(pid: u32) -> Self {
        Self { pid }
    }

    fn error(&self, source: impl Into<std::io::Error>) -> ReadingError {
        ReadingError::File {
            path: format!("/proc/{}", self.pid),
            source: source.into(),
        }
    }
}

impl Source for ServerProcess {
    fn name(&self) -> String {
        format!("process {}", self.pid)
    }

    fn read(&mut self) -> Result<CounterReading, ReadingError> {
        let io = |error: procfs::ProcError| self.error(std::io::Error::other(error.to_string()));
        let number = i32::try_from(self.pid).unwrap_or(i32::MAX);
        let process = Process::new(number).map_err(io)?;
        // A process id may be reused by another process.
        let started = process.stat().map_err(io)?.starttime;
        let mut reading = CounterReading {
            started: Some(started),
            ..CounterReading::default()
        };
        let folder = format!("/proc/{}/task", self.pid);
        for thread in fs::read_dir(folder).map_err(|error| self.error(error))? {
            let thread = thread.map_err(|error| self.error(error))?.path();
            let text = |name| fs::read_to_string(thread.join(name)).unwrap_or_default();
            add_thread(&mut reading, &text("schedstat"), &text("status"));
        }
        Ok(reading)
    }
}

/// Adds the counters of a thread; a thread that has just ended has none.
fn add_thread(reading: &mut CounterReading, schedstat: &str, status: &str) {
    let of_status = |name: &str| {
        let mut lines = status.lines();
        let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        value.and_then(|value| value.trim().parse::<u64>().ok())
    };
    let cpu_ns = schedstat.split_ascii_whitespace().next();
    for (counter, count) in [
        (
            CostCounter::ProcessCpu,
            cpu_ns.and_then(|word| word.parse().ok()),
        ),
        (
            CostCounter::ProcessVoluntary,
            of_status("voluntary_ctxt_switches"),
        ),
        (
            CostCounter::ProcessInvoluntary,
            of_status("nonvoluntary_ctxt_switches"),
        ),
    ] {
        if let Some(count) = count {
            let sum: &mut u64 = reading.counters.entry(counter).or_default();
            *sum = sum.saturating_add(count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_add_up() {
        let mut reading = CounterReading::default();
        let status =
            "Name:\tserver\nvoluntary_ctxt_switches:\t150\nnonvoluntary_ctxt_switches:\t7\n";
        add_thread(&mut reading, "1000 20 3\n", status);
        add_thread(&mut reading, "234 0 1\n", status);
        add_thread(&mut reading, "", "");
        assert_eq!(reading.count(CostCounter::ProcessCpu), Some(1234));
        assert_eq!(reading.count(CostCounter::ProcessVoluntary), Some(300));
        assert_eq!(reading.count(CostCounter::ProcessInvoluntary), Some(14));
    }

    #[test]
    fn this_process_is_read_and_one_that_is_not_there_told() {
        let reading = ServerProcess::new(std::process::id()).read().unwrap();
        assert!(reading.count(CostCounter::ProcessVoluntary).is_some());
        assert!(reading.started.is_some());
        let text = ServerProcess::new(0x7fff_fff0)
            .read()
            .unwrap_err()
            .to_string();
        assert!(text.starts_with("/proc/2147483632: "), "{text}");
    }
}
