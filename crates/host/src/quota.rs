//! CPU quota of the control group of this process (cgroups(7)).

use filestone_measure::doctor::facts::ProcessorQuota;
use filestone_measure::measure::absence::Throttling;
use std::fs::File;
use std::io::Read as _;

/// Maximum length of a system file that is read.
const FILE_MAX: u64 = 64 << 10;

/// Returns the text of a system file.
pub(crate) fn read(path: &str) -> Option<String> {
    let mut text = String::new();
    let file = File::open(path).ok()?;
    file.take(FILE_MAX).read_to_string(&mut text).ok()?;
    Some(text)
}

/// Returns the quota from files whose text `read` returns; `None` if it cannot be determined.
pub fn quota(read: impl Fn(&str) -> Option<String>) -> Option<ProcessorQuota> {
    let groups = read("/proc/self/cgroup")?;
    let mut quotas = Vec::new();
    let mut is_root = false;
    for (version, path) in cpu_groups(&groups) {
        let of_group = |group: &str| match version {
            Version::Two => second_version(&read(&format!("/sys/fs/cgroup{group}/cpu.max"))?),
            Version::One => first_version(&read, group),
        };
        is_root |= path == "/";
        quotas.extend(parents(path).filter_map(of_group));
    }
    if quotas.is_empty() && !is_root {
        return None;
    }
    // A group cannot use more than its parents.
    let least = quotas.into_iter().flatten().min_by(f64::total_cmp);
    Some(least.map_or(ProcessorQuota::Unlimited, ProcessorQuota::Processors))
}

/// Returns the total throttling by this process's control group and by its parents, in the order of
/// groups, without groups that have no quota.
pub fn throttling(read: impl Fn(&str) -> Option<String>) -> Vec<Throttling> {
    let Some(groups) = read("/proc/self/cgroup") else {
        return vec![];
    };
    let mut found = Vec::new();
    for (version, path) in cpu_groups(&groups) {
        let root = match version {
            Version::Two => "/sys/fs/cgroup",
            Version::One => "/sys/fs/cgroup/cpu",
        };
        let of_group = |group| throttled(&read(&format!("{root}{group}/cpu.stat"))?);
        found.extend(parents(path).filter_map(of_group));
    }
    found
}

/// Version of control groups.
enum Version {
    One,
    Two,
}

/// Returns the paths of the groups of a `/proc/self/cgroup` that control CPU time.
fn cpu_groups(groups: &str) -> impl Iterator<Item = (Version, &str)> {
    groups.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        match controllers {
            "" => Some((Version::Two, path)),
            _ => controllers
                .split(',')
                .any(|one| one == "cpu")
                .then_some((Version::One, path)),
        }
    })
}

/// Parses `nr_periods 10`, `nr_throttled 9` and `throttled_usec 800000`, or, in cgroup v1,
/// `throttled_time` in nanoseconds.
fn throttled(text: &str) -> Option<Throttling> {
    let value = |wanted: &str| -> Option<u64> {
        let mut lines = text.lines().filter_map(|line| line.split_once(' '));
        lines
            .find(|(name, _)| *name == wanted)?
            .1
            .trim()
            .parse()
            .ok()
    };
    let micros = value("throttled_usec").map(|micros| micros.saturating_mul(1000));
    Some(Throttling {
        periods: value("nr_periods")?,
        throttled: value("nr_throttled")?,
        throttled_ns: micros.or_else(|| value("throttled_time"))?,
    })
}

/// Returns a group and its parents, up to the root, which is "".
fn parents(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path.trim_end_matches('/')), |group| {
        group.rfind('/').map(|slash| &group[..slash])
    })
}

/// Parses `150000 100000` (quota and period in microseconds) or `max 100000` (no quota).
#[allow(clippy::option_option)] // not known, and known to be none
fn second_version(text: &str) -> Option<Option<f64>> {
    let (quota, period) = text.trim().split_once(' ')?;
    if quota == "max" {
        return Some(None);
    }
    ratio(quota, period).map(Some)
}

/// Reads quota and period of cgroup v1 from their two files; a quota of -1 means no quota.
#[allow(clippy::option_option)]
fn first_version(read: &impl Fn(&str) -> Option<String>, group: &str) -> Option<Option<f64>> {
    let file = |name: &str| read(&format!("/sys/fs/cgroup/cpu{group}/{name}"));
    let quota = file("cpu.cfs_quota_us")?;
    if quota.trim().starts_with('-') {
        return Some(None);
    }
    ratio(quota.trim(), file("cpu.cfs_period_us")?.trim()).map(Some)
}

fn ratio(quota: &str, period: &str) -> Option<f64> {
    let (quota, period): (f64, f64) = (quota.parse().ok()?, period.parse().ok()?);
    Some(quota / period).filter(|ratio| ratio.is_finite() && *ratio > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(files: &[(&str, &str)]) -> Option<ProcessorQuota> {
        quota(|path| {
            let mut files = files.iter();
            let found = files.find(|file| file.0 == path);
            found.map(|file| file.1.to_string())
        })
    }

    #[test]
    fn the_least_quota_of_all_groups_above_counts() {
        let groups = ("/proc/self/cgroup", "0::/a/b\n");
        let of_b = ("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
        let of_a = ("/sys/fs/cgroup/a/cpu.max", "150000 100000\n");
        assert_eq!(
            of(&[groups, of_b, of_a]),
            Some(ProcessorQuota::Processors(1.5))
        );
        assert_eq!(of(&[groups, of_b]), Some(ProcessorQuota::Unlimited));
        assert_eq!(of(&[groups]), None, "no file says it");
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn the_first_version_has_two_files() {
        let groups = ("/proc/self/cgroup", "4:memory:/x\n3:cpuacct,cpu:/x\n0::/\n");
        let quota = ("/sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", "50000\n");
        let period = ("/sys/fs/cgroup/cpu/x/cpu.cfs_period_us", "100000\n");
        assert_eq!(
            of(&[groups, quota, period]),
            Some(ProcessorQuota::Processors(0.5))
        );
        let none = (quota.0, "-1\n");
        assert_eq!(of(&[groups, none, period]), Some(ProcessorQuota::Unlimited));
    }

    fn throttling_of(files: &[(&str, &str)]) -> Vec<Throttling> {
        throttling(|path| {
            let mut files = files.iter();
            let found = files.find(|file| file.0 == path);
            found.map(|file| file.1.to_string())
        })
    }

    #[test]
    fn what_quotas_did_is_told_of_each_group_that_has_one() {
        let groups = ("/proc/self/cgroup", "0::/a/b\n");
        let text =
            "usage_usec 5\nnr_periods 10\nnr_throttled 9\nthrottled_usec 800000\nnr_bursts 0\n";
        let of_a = ("/sys/fs/cgroup/a/cpu.stat", text);
        // A group without the controller has no periods.
        let of_b = ("/sys/fs/cgroup/a/b/cpu.stat", "usage_usec 5\n");
        let expected = Throttling {
            periods: 10,
            throttled: 9,
            throttled_ns: 800_000_000,
        };
        assert_eq!(throttling_of(&[groups, of_a, of_b]), [expected]);
        let groups = ("/proc/self/cgroup", "3:cpu,cpuacct:/x\n0::/\n");
        let text = "nr_periods 10\nnr_throttled 9\nthrottled_time 800000000\n";
        let first = ("/sys/fs/cgroup/cpu/x/cpu.stat", text);
        assert_eq!(throttling_of(&[groups, first]), [expected]);
        assert_eq!(throttling_of(&[]), []);
        let wrong = ("/sys/fs/cgroup/cpu/x/cpu.stat", "nr_periods many\n");
        assert_eq!(throttling_of(&[groups, wrong]), []);
    }

    #[test]
    fn the_root_has_no_quota_and_nonsense_is_not_known() {
        assert_eq!(
            of(&[("/proc/self/cgroup", "0::/\n")]),
            Some(ProcessorQuota::Unlimited)
        );
        let files = [
            ("/proc/self/cgroup", "nonsense\n0::/a\n"),
            ("/sys/fs/cgroup/a/cpu.max", "many 0\n"),
        ];
        assert_eq!(of(&files), None);
    }
}
