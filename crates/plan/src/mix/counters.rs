//! How many NFS calls this host's kernel has made, from the counters of its NFS client.
//!
//! nhfsstone reads them every five seconds to see what its system calls became on the
//! wire. Those of `/proc/net/rpc/nfs` are of the whole host; those of
//! `/proc/self/mountstats` are of each mount, and tell times, too. Text in, numbers out: who opens the files
//! is not here.

use super::error::MixError;
use super::kernel::{self, Mount};
use super::name::{NameMapping, Version};
use super::section::{Entry, Section};
use filestone_workload::kind::{OpKind, PerKind};
use std::collections::BTreeMap;

/// NFS calls since the kernel began to count, as procedures of NFSv3.
///
/// NFSv2 and NFSv4 are mapped as in a mix file (docs/reference/mix-file.md), and OPEN of NFSv4
/// counts as CREATE: it is how NFSv4 makes a file, and a mix opens what it works on before it
/// is measured. One call of NFSv4 is one COMPOUND, whatever is in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counters {
    /// By the kind that a procedure is.
    pub calls: PerKind<u64>,
    /// Milliseconds from when a call was made to when its reply was taken, summed over the calls
    /// of a procedure; where [`is_timed`](Self::is_timed) is false, nothing is known.
    pub millis: PerKind<u64>,
    /// Calls that are like no procedure of NFSv3, by the names that the client has for them.
    pub others: BTreeMap<String, UnmappedCalls>,
    /// All calls, also those that are like no procedure of NFSv3.
    pub total: u64,
    /// Whether times were counted, as mountstats does.
    pub is_timed: bool,
}

/// Calls of one name that are like no procedure of NFSv3: CLOSE, SEQUENCE and the like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UnmappedCalls {
    /// How many.
    pub calls: u64,
    /// Their times together, in milliseconds.
    pub millis: u64,
}

impl Counters {
    /// Calls of that kind; 0 for what is no procedure of NFSv3.
    pub fn of(&self, kind: OpKind) -> u64 {
        self.calls[kind]
    }

    /// Calls that are like no procedure of NFSv3.
    pub fn unlike(&self) -> u64 {
        let calls = self.others.values().map(|other| other.calls);
        calls.fold(0, u64::saturating_add)
    }

    /// Calls since an earlier reading. A counter that went backwards, because it wrapped
    /// or the mount is a new one, counts as 0.
    #[must_use]
    pub fn since(&self, earlier: &Counters) -> Counters {
        self.with(earlier, u64::saturating_sub)
    }

    /// Both together.
    #[must_use]
    pub fn plus(&self, other: &Counters) -> Counters {
        let mut sum = self.with(other, u64::saturating_add);
        for (name, more) in &other.others {
            sum.others.entry(name.clone()).or_insert(*more);
        }
        // Times of which a part is missing are none.
        sum.is_timed = (self.is_timed || self.total == 0) && (other.is_timed || other.total == 0);
        sum
    }

    /// Each counter of this one with its like in another.
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

/// The procedure of NFSv3 that an entry counts.
fn procedure(section: &Section<'_>, entry: &Entry<'_>) -> Option<OpKind> {
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

/// The calls of all mounts together, from the text of `/proc/net/rpc/nfs`.
pub fn of_rpc_nfs(text: &str) -> Result<Counters, MixError> {
    let sections = kernel::rpc_sections(text).map_err(|error| error.in_file("net/rpc/nfs"))?;
    let mut counters = Counters::default();
    for section in &sections {
        counters.add(section);
    }
    Ok(counters)
}

/// The calls of one mount, from the text of `/proc/self/mountstats`.
///
/// Of several mounts on the same mount point the last one counts: it hides the others.
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

/// All mounts, NFS or not, in the order of `/proc/self/mountstats`.
pub fn mounts(text: &str) -> Result<Vec<Mount>, MixError> {
    let found = kernel::mounts(text).map_err(|error| error.in_file("self/mountstats"))?;
    Ok(found.into_iter().map(|(mount, _)| mount).collect())
}

#[cfg(test)]
mod tests;
