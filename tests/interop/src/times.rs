//! CPU time of processes as reported by the kernel.

use rustix::time::{ClockId, clock_gettime};
use std::path::Path;
use std::time::Duration;

/// CPU time of processes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Times {
    /// Seconds in user space.
    pub user_s: f64,
    /// Seconds in the kernel.
    pub system_s: f64,
}

/// Returns the parent of a process; `None` if there is no such process.
pub fn parent(process: u32) -> Option<u32> {
    let stat = Stat::of(Path::new(&format!("/proc/{process}/stat")));
    stat.0.get(1)?.parse().ok()
}

/// Returns the CPU time of this thread, user and system.
pub fn of_thread() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(
        time.tv_sec.unsigned_abs(),
        time.tv_nsec.unsigned_abs() as u32,
    )
}

impl Times {
    /// Returns the CPU time of all child processes that were waited for, and of their descendants.
    pub fn of_children() -> Self {
        Stat::of(Path::new("/proc/self/stat")).children()
    }

    /// Returns the CPU time of the processes of a group, including children that they have waited
    /// for.
    pub fn of_group(group: u32) -> Self {
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let mut all = Self {
            user_s: 0.0,
            system_s: 0.0,
        };
        for process in processes {
            let stat = Stat::of(&process.path().join("stat"));
            if stat.group() != Some(group) {
                continue;
            }
            for times in [stat.own(), stat.children()] {
                all.user_s += times.user_s;
                all.system_s += times.system_s;
            }
        }
        all
    }

    /// Returns the difference from an earlier reading.
    pub fn since(self, then: Self) -> Self {
        Self {
            user_s: self.user_s - then.user_s,
            system_s: self.system_s - then.system_s,
        }
    }

    /// Returns the sum of user space and kernel, in seconds.
    pub fn all_s(self) -> f64 {
        self.user_s + self.system_s
    }
}

/// Fields of a line of /proc/PID/stat (proc(5)), from the third one on: the second is in
/// parentheses and may contain any text.
struct Stat(Vec<String>);

impl Stat {
    fn of(path: &Path) -> Self {
        let line = std::fs::read_to_string(path).unwrap_or_default();
        let after = line.rsplit_once(") ").map_or("", |(_, rest)| rest);
        Self(after.split_whitespace().map(str::to_owned).collect())
    }

    /// Process group: field 5.
    fn group(&self) -> Option<u32> {
        self.0.get(2)?.parse().ok()
    }

    /// Returns the CPU time of the process: fields 14 and 15.
    fn own(&self) -> Times {
        self.times(11)
    }

    /// Returns the CPU time of its children: fields 16 and 17.
    fn children(&self) -> Times {
        self.times(13)
    }

    fn times(&self, index: usize) -> Times {
        let per_second = rustix::param::clock_ticks_per_second() as f64;
        let field = |index: usize| self.0.get(index).and_then(|ticks| ticks.parse().ok());
        let seconds = |index| field(index).unwrap_or(0.0) / per_second;
        Times {
            user_s: seconds(index),
            system_s: seconds(index + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_a_group_hold_its_own() {
        let stat = Stat(
            "S 1 77 77 0 -1 0 0 0 0 0 300 200 50 25 20 0"
                .split(' ')
                .map(str::to_owned)
                .collect(),
        );
        let per_second = rustix::param::clock_ticks_per_second() as f64;
        assert_eq!(stat.group(), Some(77));
        assert_eq!(stat.own().all_s(), 500.0 / per_second);
        assert_eq!(stat.children().all_s(), 75.0 / per_second);
    }

    #[test]
    fn a_thread_spends_what_it_runs() {
        let before = of_thread();
        let until = std::time::Instant::now() + Duration::from_millis(1);
        while std::time::Instant::now() < until {
            std::hint::spin_loop();
        }
        assert!(of_thread() > before);
    }
}
