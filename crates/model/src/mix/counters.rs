//! How many NFS calls this host's kernel has made, from the counters of its NFS client.
//!
//! nhfsstone reads them every five seconds to see what its system calls became on the
//! wire. Those of `/proc/net/rpc/nfs` are of the whole host; those of
//! `/proc/self/mountstats` are of each mount. Text in, numbers out: who opens the files
//! is not here.

use super::error::MixError;
use super::kernel;
use super::name::Meaning;
use super::section::Section;
use crate::operation::OpKind;

/// NFS calls since the kernel began to count, as procedures of NFSv3.
///
/// NFSv2 and NFSv4 are mapped as in a mix file (docs/reference/mix-file.md). One call of
/// NFSv4 is one COMPOUND, whatever is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// By number of the procedure: [`OpKind::index`].
    pub calls: [u64; 22],
    /// All calls, also those that are like no procedure of NFSv3.
    pub total: u64,
}

impl Counters {
    /// Calls of that kind; 0 for what is no procedure of NFSv3.
    pub fn of(&self, kind: OpKind) -> u64 {
        self.calls.get(kind.index()).copied().unwrap_or(0)
    }

    /// Calls that are like no procedure of NFSv3: OPEN, CLOSE, SEQUENCE and the like.
    pub fn unlike(&self) -> u64 {
        let like = self
            .calls
            .iter()
            .fold(0u64, |sum, calls| sum.saturating_add(*calls));
        self.total.saturating_sub(like)
    }

    /// Calls since an earlier reading. A counter that went backwards, because it wrapped
    /// or the mount is a new one, counts as 0.
    #[must_use]
    pub fn since(&self, earlier: &Counters) -> Counters {
        let mut difference = *self;
        for (calls, before) in difference.calls.iter_mut().zip(earlier.calls) {
            *calls = calls.saturating_sub(before);
        }
        difference.total = self.total.saturating_sub(earlier.total);
        difference
    }

    /// Both together.
    #[must_use]
    pub fn plus(&self, other: &Counters) -> Counters {
        let mut sum = *self;
        for (calls, more) in sum.calls.iter_mut().zip(other.calls) {
            *calls = calls.saturating_add(more);
        }
        sum.total = self.total.saturating_add(other.total);
        sum
    }

    fn add(&mut self, section: &Section<'_>) {
        for entry in &section.entries {
            self.total = self.total.saturating_add(entry.count);
            if let Meaning::Procedure(kind) = section.meaning(entry)
                && let Some(calls) = self.calls.get_mut(kind.index())
            {
                *calls = calls.saturating_add(entry.count);
            }
        }
    }
}

/// A mount that mountstats lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// What is mounted: `server:/export`; empty without a device.
    pub device: String,
    /// Where.
    pub mount_point: String,
    /// `nfs`, `nfs4`, `ext4` …
    pub fs_type: String,
    /// Of an NFS mount, the version as the option `vers=` has it: `3`, `4.2`.
    pub version: Option<String>,
}

impl Mount {
    /// Whether the kernel's NFS client is behind it.
    pub fn is_nfs(&self) -> bool {
        self.fs_type == "nfs" || self.fs_type == "nfs4"
    }

    /// 2, 3 or 4.
    pub fn major_version(&self) -> Option<u32> {
        let version = self.version.as_deref()?;
        version.split('.').next()?.parse().ok()
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
