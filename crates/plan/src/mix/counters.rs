//! Number of NFS calls that this host's kernel has made, from the counters of its NFS client.
//!
//! nhfsstone reads these counters every five seconds to determine the calls on the wire. Those of
//! `/proc/net/rpc/nfs` cover the whole host; those of `/proc/self/mountstats` are per mount, and
//! include times. This module parses text; it opens no files.

use super::error::MixError;
use super::kernel::{self, Mount};
use super::name::{NameMapping, Version};
use super::section::{MixEntry, Section};
use filestone_workload::kind::{OpKind, PerKind};
use std::collections::BTreeMap;

/// NFS calls since the kernel started to count, as procedures of NFSv3.
///
/// NFSv2 and NFSv4 are mapped as in a mix file (docs/reference/mix-file.md), and OPEN of NFSv4
/// counts as CREATE, because NFSv4 creates files with it, and a mix opens its files before the
/// measurement. One call of NFSv4 is one COMPOUND, whatever its content.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counters {
    /// Calls by kind of procedure.
    pub calls: PerKind<u64>,
    /// Milliseconds from a call to the processing of its reply, summed over the calls of a
    /// procedure; not valid if [`is_timed`](Self::is_timed) is false.
    pub millis: PerKind<u64>,
    /// Calls without an equivalent in NFSv3, by the client's names for them.
    pub others: BTreeMap<String, UnmappedCalls>,
    /// All calls, including those without an equivalent in NFSv3.
    pub total: u64,
    /// Whether the source has times, as mountstats does.
    pub is_timed: bool,
}

/// Calls of one name without an equivalent in NFSv3, such as CLOSE or SEQUENCE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UnmappedCalls {
    /// Number of calls.
    pub calls: u64,
    /// Sum of their times, in milliseconds.
    pub millis: u64,
}

impl Counters {
    /// Returns the calls of that kind; 0 if it is not a procedure of NFSv3.
    pub fn of(&self, kind: OpKind) -> u64 {
        self.calls[kind]
    }

    /// Returns the calls without an equivalent in NFSv3.
    pub fn unlike(&self) -> u64 {
        let calls = self.others.values().map(|other| other.calls);
        calls.fold(0, u64::saturating_add)
    }

    /// Returns the calls since an earlier reading. A counter that decreased, because it wrapped or
    /// the mount was replaced, counts as 0.
    #[must_use]
    pub fn since(&self, earlier: &Counters) -> Counters {
        self.with(earlier, u64::saturating_sub)
    }

    /// Returns the sum of both.
    #[must_use]
    pub fn plus(&self, other: &Counters) -> Counters {
        let mut sum = self.with(other, u64::saturating_add);
        for (name, more) in &other.others {
            sum.others.entry(name.clone()).or_insert(*more);
        }
        // Incomplete times are not valid.
        sum.is_timed = (self.is_timed || self.total == 0) && (other.is_timed || other.total == 0);
        sum
    }

    /// Combines each counter with the corresponding one of `other`.
    fn with(&self, other: &Counters, both: impl Fn(u64, u64) -> u64) -> Counters {
        let mut result = self.clone();
        for (kind, mine) in result.calls.iter_mut() {
            *mine = both(*mine, other.calls[kind]);
        }
        for (kind, mine) in result.millis.iter_mut() {
            *mine = both(*mine, other.millis[kind]);
        }
        for (name, mine) in &mut result.others {
            let theirs = other.others.get(name).copied().unwrap_or_default();
            mine.calls = both(mine.calls, theirs.calls);
            mine.millis = both(mine.millis, theirs.millis);
        }
        result.total = both(self.total, other.total);
        result
    }

    fn add(&mut self, section: &Section<'_>) {
        for entry in &section.entries {
            self.total = self.total.saturating_add(entry.count);
            let millis = entry.millis.unwrap_or(0);
            let (calls, times) = match procedure(section, entry) {
                Some(kind) => (&mut self.calls[kind], &mut self.millis[kind]),
                None if entry.count == 0 => continue,
                None => {
                    let name = entry.name.to_ascii_lowercase();
                    let other = self.others.entry(name).or_default();
                    (&mut other.calls, &mut other.millis)
                }
            };
            *calls = calls.saturating_add(entry.count);
            *times = times.saturating_add(millis);
        }
        self.is_timed = section.entries.iter().all(|entry| entry.millis.is_some());
    }
}

/// Returns the procedure of NFSv3 that an entry counts.
fn procedure(section: &Section<'_>, entry: &MixEntry<'_>) -> Option<OpKind> {
    match section.meaning(entry) {
        NameMapping::Procedure(kind) => Some(kind),
        NameMapping::Unlike
            if section.version == Version::V4 && entry.name.eq_ignore_ascii_case("open") =>
        {
            Some(OpKind::Create)
        }
        NameMapping::Unlike | NameMapping::Refused(_) | NameMapping::Compound => None,
    }
}

/// Returns the calls of all mounts together, from the text of `/proc/net/rpc/nfs`.
pub fn of_rpc_nfs(text: &str) -> Result<Counters, MixError> {
    let sections = kernel::rpc_sections(text).map_err(|error| error.in_file("net/rpc/nfs"))?;
    let mut counters = Counters::default();
    for section in &sections {
        counters.add(section);
    }
    Ok(counters)
}

/// Returns the calls of one mount, from the text of `/proc/self/mountstats`.
///
/// If several mounts have the same mount point, the last one counts, because it hides the others.
pub fn of_mountstats(text: &str, mount_point: &str) -> Result<Counters, MixError> {
    let in_file = |error: MixError| error.in_file("self/mountstats");
    let found = kernel::mounts(text).map_err(in_file)?;
    let found = found
        .into_iter()
        .rev()
        .find(|(mount, _)| mount.mount_point == mount_point);
    let Some((mount, section)) = found else {
        let what = format!("nothing is mounted on {mount_point}");
        let help = "give the mount point itself, as `findmnt -T DIR` shows it";
        return Err(in_file(MixError::whole(what).help(help)));
    };
    if !mount.is_nfs() {
        let what = format!(
            "{mount_point} is {}, not NFS: no calls are counted",
            mount.fs_type
        );
        let help = "a mix goes through a kernel mount only on an NFS file system";
        return Err(in_file(MixError::whole(what).help(help)));
    }
    let Some(section) = section else {
        let what = format!("{mount_point} has no per-op statistics");
        let help = "the kernel counts them since Linux 2.6.17; was the file cut?";
        return Err(in_file(MixError::whole(what).help(help)));
    };
    let mut counters = Counters::default();
    counters.add(&section);
    Ok(counters)
}

/// Returns all mounts, NFS or not, in the order of `/proc/self/mountstats`.
pub fn mounts(text: &str) -> Result<Vec<Mount>, MixError> {
    let found = kernel::mounts(text).map_err(|error| error.in_file("self/mountstats"))?;
    Ok(found.into_iter().map(|(mount, _)| mount).collect())
}

#[cfg(test)]
mod tests;
