//! Readings from files of this host's `/proc`.

use super::source::Source;
use super::{ANSWER_MAX, ReadingError};
use filestone_measure::cost::CounterReading;
use filestone_measure::cost::proc_text::{HostScope, TimeUnits, parse};
use rustix::time::{ClockId, clock_gettime};
use std::fs::File;
use std::io::Read as _;

/// Files that are read on a host that serves.
pub const OF_SERVER: &[&str] = &[
    "/proc/stat",
    "/proc/interrupts",
    "/proc/net/dev",
    "/proc/net/snmp",
    "/proc/net/rpc/nfsd",
];
/// Files that are read on the host of the load generator.
pub const OF_CLIENT: &[&str] = &["/proc/net/dev", "/proc/net/snmp"];

/// Files of this host.
pub struct HostFiles {
    name: String,
    paths: &'static [&'static str],
    scope: HostScope,
    text: String,
}

impl HostFiles {
    pub fn new(name: &str, paths: &'static [&'static str], scope: HostScope) -> Self {
        Self {
            name: name.into(),
            paths,
            scope,
            text: String::new(),
        }
    }
}

impl Source for HostFiles {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn read(&mut self) -> Result<CounterReading, ReadingError> {
        self.text.clear();
        let mut since_start_ns = None;
        for path in self.paths {
            // The CPU times are in the first file.
            let found = append(path, &mut self.text);
            since_start_ns.get_or_insert_with(nanos_since_start);
            match found {
                // Only a host that serves has the last file.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(source) => {
                    let path = (*path).into();
                    return Err(ReadingError::File { path, source });
                }
                Ok(()) => {}
            }
        }
        let units = TimeUnits {
            ticks_per_s: procfs::ticks_per_second(),
            since_start_ns,
        };
        let reading = parse(&self.text, &self.scope, units);
        said_something(reading, &self.name, &self.text)
    }
}

/// Returns an error if the text of a source contains no known counter.
pub fn said_something(
    reading: CounterReading,
    name: &str,
    text: &str,
) -> Result<CounterReading, ReadingError> {
    if reading.counters.is_empty() {
        return Err(ReadingError::Nothing {
            name: name.into(),
            begin: text.chars().take(80).collect(),
        });
    }
    Ok(reading)
}

fn append(path: &str, text: &mut String) -> std::io::Result<()> {
    let file = File::open(path)?;
    file.take(ANSWER_MAX).read_to_string(text)?;
    Ok(())
}

/// Includes suspended time, as `/proc/uptime` does.
fn nanos_since_start() -> u64 {
    let time = clock_gettime(ClockId::Boottime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_measure::cost::CostCounter;

    #[test]
    fn this_host_is_read() {
        let scope = HostScope {
            processors: vec![],
            interface: Some("lo".into()),
        };
        let mut files = HostFiles::new("/proc", OF_SERVER, scope);
        let one = files.read().unwrap();
        let other = files.read().unwrap();
        for counter in [
            CostCounter::CpuBusy,
            CostCounter::ContextSwitches,
            CostCounter::Interrupts,
            CostCounter::SentBytes,
        ] {
            assert!(one.count(counter) <= other.count(counter), "{counter:?}");
            assert!(one.count(counter).is_some(), "{counter:?}");
        }
        assert!(one.started.is_some());
    }

    #[test]
    fn an_interface_that_is_not_there_is_told() {
        let scope = HostScope {
            processors: vec![],
            interface: Some("none0".into()),
        };
        let paths: &[&str] = &["/proc/net/dev"];
        let error = HostFiles::new("interface none0", paths, scope).read();
        let text = error.unwrap_err().to_string();
        assert!(
            text.starts_with("interface none0: there are no counters"),
            "{text}"
        );
    }
}
