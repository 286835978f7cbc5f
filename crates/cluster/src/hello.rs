//! Description that each rank sends after its start, and the check whether ranks can run a job
//! together.

use filestone_measure::measure::run_record::METHOD;
use filestone_setup::workspace::marker::ProcessIdentity;
use serde::{Deserialize, Serialize};
use std::time::{SystemTime, UNIX_EPOCH};

/// Largest difference between times of day with which hosts' records can be aligned with the
/// server's.
const WALL_CLOCKS_APART_NS: u64 = 1_000_000_000;

/// Description of a rank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// Name of its host.
    pub host: String,
    /// Process ID on the host.
    pub process: u32,
    /// Start of the process, in clock ticks since the boot of its host.
    pub began: Option<u64>,
    /// Version and build of filestone.
    pub version: String,
    /// Version of the measurement method.
    pub method: u32,
    /// Resource limits of the rank.
    pub limits: ResourceLimits,
}

/// Returns the time of day of this host, in nanoseconds since 1970.
pub fn wall_ns() -> u64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
    since_1970.map_or(0, |time| time.as_nanos() as u64)
}

/// Resource limits of a rank, set by the operating system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceLimits {
    /// Open files, including sockets.
    pub open_files: Option<u64>,
    /// Processes and threads of its user.
    pub processes: Option<u64>,
}

impl ResourceLimits {
    /// Returns the limits of this process, up to which it may raise its soft limits.
    pub fn here() -> Self {
        use rustix::process::{Resource, getrlimit};
        Self {
            open_files: getrlimit(Resource::Nofile).maximum,
            processes: getrlimit(Resource::Nproc).maximum,
        }
    }
}

impl Hello {
    /// Returns the description of this process, with `version` as its version.
    pub fn here(version: &str) -> Self {
        let ProcessIdentity {
            host,
            process,
            began,
        } = ProcessIdentity::this();
        Self {
            host,
            process,
            began,
            version: version.into(),
            method: METHOD,
            limits: ResourceLimits::here(),
        }
    }

    /// Returns the name of its process in marker files of file sets.
    pub fn process_name(&self) -> ProcessIdentity {
        ProcessIdentity {
            host: self.host.clone(),
            process: self.process,
            began: self.began,
        }
    }

    /// Returns the difference from the coordinator that prevents a common job, or `None`.
    /// `ahead_ns` is the offset of this rank's time of day.
    pub fn unlike(&self, coordinator: &Self, ahead_ns: i64) -> Option<String> {
        if self.version != coordinator.version || self.method != coordinator.method {
            return Some(format!(
                "it has filestone {}, {} has {}",
                self.version, coordinator.host, coordinator.version
            ));
        }
        if ahead_ns.unsigned_abs() > WALL_CLOCKS_APART_NS {
            return Some(format!(
                "its time of day is {:.1} s from that of {}",
                ahead_ns as f64 / 1e9,
                coordinator.host
            ));
        }
        let shown = |limit: Option<u64>| limit.map_or("any number of".into(), |it| it.to_string());
        let (own, other) = (self.limits, coordinator.limits);
        if own.open_files != other.open_files {
            return Some(format!(
                "it may open {} files (ulimit -Hn), {} {}",
                shown(own.open_files),
                coordinator.host,
                shown(other.open_files)
            ));
        }
        (own.processes != other.processes).then(|| {
            format!(
                "it may start {} threads (ulimit -Hu), {} {}",
                shown(own.processes),
                coordinator.host,
                shown(other.processes)
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello(host: &str) -> Hello {
        Hello {
            host: host.into(),
            process: 1,
            began: None,
            version: "0.1.0 (release)".into(),
            method: 2,
            limits: ResourceLimits {
                open_files: Some(1024),
                processes: None,
            },
        }
    }

    #[test]
    fn ranks_that_are_unlike_say_in_what() {
        let here = hello("node0");
        assert_eq!(hello("node1").unlike(&here, 999_999_999), None);
        let told = |change: fn(&mut Hello), ahead_ns| {
            let mut other = hello("node1");
            change(&mut other);
            other.unlike(&here, ahead_ns).expect("unlike")
        };
        assert_eq!(
            told(|hello| hello.version = "0.2.0 (release)".into(), 0),
            "it has filestone 0.2.0 (release), node0 has 0.1.0 (release)"
        );
        assert_eq!(
            told(|_| {}, -1_500_000_000),
            "its time of day is -1.5 s from that of node0"
        );
        assert_eq!(
            told(|hello| hello.limits.open_files = Some(256), 0),
            "it may open 256 files (ulimit -Hn), node0 1024"
        );
        assert_eq!(
            told(|hello| hello.limits.processes = Some(100), 0),
            "it may start 100 threads (ulimit -Hu), node0 any number of"
        );
    }
}
