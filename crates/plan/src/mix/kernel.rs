//! Parser for the kernel's counters of NFS calls on Linux: `net/rpc/nfs` and `net/rpc/nfsd` of
//! `/proc`, and `mountstats` of `/proc/self`.
//!
//! In `net/rpc`, the first number of a line `proc3 22 …` is the number of counts that follow, in
//! the order of the procedures' numbers. In mountstats each NFS mount has a block
//! `per-op statistics` with a line per operation: calls, transmissions, timeouts, bytes sent and
//! received, and three times.

use super::error::MixError;
use super::line::{MixLine, Word, lines};
use super::name::{V2, V4_CLIENT, V4_OPERATIONS, Version};
use super::section::{CountingSide, MixEntry, Section};
use filestone_wire::nfs3::Procedure;
use std::borrow::Cow;

/// Number of counts on a line of `per-op statistics`; since Linux 5.3 there is a ninth, for errors.
const PER_OPERATION: usize = 8;
/// Index of the time from the call to the processing of the reply.
const EXECUTED: usize = PER_OPERATION - 1;

/// Whether the line is one of `net/rpc/nfs` or `net/rpc/nfsd`.
pub(super) fn is_rpc_line(line: MixLine<'_>) -> bool {
    let mut words = line.words();
    let tag = words.next().map_or("", |word| word.text);
    let is_number = |word: Word<'_>| word.text.bytes().all(|byte| byte.is_ascii_digit());
    rpc_table(tag, false).is_some()
        || (["net", "rc", "rpc"].contains(&tag) && words.next().is_some_and(is_number))
}

/// Returns the version that a line counts, and the names of the counts.
fn rpc_table(tag: &str, is_server: bool) -> Option<(Version, Vec<&'static str>)> {
    let v3 = || {
        Procedure::ALL
            .iter()
            .map(|procedure| procedure.name())
            .collect()
    };
    Some(match tag {
        "proc2" => (Version::V2, V2.to_vec()),
        "proc3" => (Version::V3, v3()),
        "proc4" if is_server => (Version::V4Operations, vec!["null", "compound"]),
        "proc4" => (Version::V4, V4_CLIENT.split(' ').collect()),
        "proc4ops" => (Version::V4Operations, V4_OPERATIONS.split(' ').collect()),
        _ => return None,
    })
}

/// Parses the sections of `net/rpc/nfs` or `net/rpc/nfsd`.
pub(super) fn rpc_sections(text: &str) -> Result<Vec<Section<'_>>, MixError> {
    let lines = lines(text)?;
    // Only the server has a reply cache and file handles.
    let is_server = lines.iter().any(|line| {
        let first = line.first_word().map_or("", |word| word.text);
        ["rc", "fh", "io", "th", "proc4ops"].contains(&first)
    });
    let mut sections: Vec<Section<'_>> = Vec::new();
    for line in lines {
        let mut words = line.words();
        let Some(tag) = words.next() else { continue };
        let Some((version, names)) = rpc_table(tag.text, is_server) else {
            continue;
        };
        let entries = rpc_entries(&tag, words, &names)?;
        let (side, kernel) = if is_server {
            (CountingSide::Server, "nfsd")
        } else {
            (CountingSide::Client, "nfs")
        };
        // `proc4` and `proc4ops` of the server count the same calls.
        if let Some(same) = sections
            .iter_mut()
            .find(|section| section.version == version)
        {
            if tag.text != "proc4ops" {
                let what = format!("a second line {} of {kernel}", tag.text);
                let help = format!(
                    "the first is line {}; keep one reading of the counters",
                    same.line
                );
                return Err(tag.error(what).help(help));
            }
            same.entries.extend(entries);
            continue;
        }
        sections.push(Section {
            side,
            version,
            title: format!("{} of net/rpc/{kernel}", tag.text),
            line: line.number,
            entries,
        });
    }
    if sections.is_empty() {
        let what = "no line proc2, proc3 or proc4: nothing is counted here";
        let help = "the counters of a client are in /proc/net/rpc/nfs, those of a server in /proc/net/rpc/nfsd";
        return Err(MixError::whole(what).help(help));
    }
    Ok(sections)
}

/// Returns the counts after a tag and their number.
fn rpc_entries<'a>(
    tag: &Word<'a>,
    mut words: impl Iterator<Item = Word<'a>>,
    names: &[&'static str],
) -> Result<Vec<MixEntry<'a>>, MixError> {
    let Some(number) = words.next() else {
        let what = format!("can't find the number of values after '{}'", tag.text);
        let help = "each line of net/rpc says how many counts follow, as `proc3 22 …`";
        return Err(tag.error(what).help(help));
    };
    let expected = number.count()?;
    let mut entries = Vec::new();
    for (index, word) in words.enumerate() {
        let name = match names.get(index) {
            Some(name) => Cow::Borrowed(*name),
            None => Cow::Owned(format!("{} #{index}", tag.text)),
        };
        entries.push(MixEntry::new(name, &word)?);
    }
    if entries.len() as u64 != expected {
        let what = format!(
            "can't find {expected} op values: there are {}",
            entries.len()
        );
        let help = format!(
            "the line {} was cut or joined with another; copy the file again",
            tag.text
        );
        return Err(number.error(what).help(help));
    }
    Ok(entries)
}

/// Whether the line begins a mount in mountstats.
pub(super) fn is_mount_line(line: MixLine<'_>) -> bool {
    let begins = line.text.starts_with("device ") || line.text.starts_with("no device ");
    begins && line.text.contains(" mounted on ")
}

/// A mount in mountstats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// The mounted device: `server:/export`; empty without a device.
    pub device: String,
    /// The mount point.
    pub mount_point: String,
    /// Type of the file system: `nfs`, `nfs4`, `ext4` …
    pub fs_type: String,
    /// Value of the option `vers=` of an NFS mount: `3`, `4.2`.
    pub version: Option<String>,
}

impl Mount {
    /// Whether the mount uses the kernel's NFS client.
    pub fn is_nfs(&self) -> bool {
        self.fs_type == "nfs" || self.fs_type == "nfs4"
    }

    /// Returns the major version: 2, 3 or 4.
    pub fn major_version(&self) -> Option<u32> {
        let version = self.version.as_deref()?;
        version.split('.').next()?.parse().ok()
    }
}

/// Returns the mounts of mountstats, with the counts of NFS mounts.
pub(super) fn mounts(text: &str) -> Result<Vec<(Mount, Option<Section<'_>>)>, MixError> {
    let mut found: Vec<(Mount, Option<Section<'_>>)> = Vec::new();
    for line in lines(text)? {
        if is_mount_line(line) {
            found.push((mount(line)?, None));
            continue;
        }
        let Some((mount, section)) = found.last_mut() else {
            continue;
        };
        if !mount.is_nfs() {
            continue;
        }
        let text = line.text.trim_start();
        if let Some(options) = text.strip_prefix("opts:") {
            mount.version = version_of(options).or_else(|| mount.version.take());
        } else if text.starts_with("per-op statistics") {
            *section = Some(per_operation(mount, line));
        } else if let Some(section) = section.as_mut().filter(|_| !text.is_empty()) {
            section.entries.push(operation(line)?);
        }
    }
    Ok(found)
}

/// Parses `device X mounted on Y with fstype T …`.
fn mount(line: MixLine<'_>) -> Result<Mount, MixError> {
    let broken = || {
        let what = "can't find the mount point and the type of a device";
        let help = "mountstats has `device X mounted on Y with fstype T`";
        line.error_at_end(what).help(help)
    };
    let (device, rest) = line.text.split_once(" mounted on ").ok_or_else(broken)?;
    let (mount_point, rest) = rest.split_once(" with fstype ").ok_or_else(broken)?;
    let fs_type = rest.split_whitespace().next().ok_or_else(broken)?;
    let mut mount = Mount {
        device: unescaped(device.strip_prefix("device ").unwrap_or("")),
        mount_point: unescaped(mount_point),
        fs_type: fs_type.to_owned(),
        version: None,
    };
    mount.version = (fs_type == "nfs4").then(|| "4".to_owned());
    Ok(mount)
}

/// Returns the value of `vers=` among mount options.
fn version_of(options: &str) -> Option<String> {
    let mut options = options.trim().split(',');
    let version = options.find_map(|option| option.strip_prefix("vers="))?;
    let is_version = version
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    (is_version && (1..=8).contains(&version.len())).then(|| version.to_owned())
}

/// Returns an empty section for the operations of a mount.
fn per_operation<'a>(mount: &Mount, line: MixLine<'_>) -> Section<'a> {
    let version = match mount.major_version() {
        Some(2) => Version::V2,
        Some(4) => Version::V4,
        _ => Version::V3,
    };
    Section {
        side: CountingSide::Client,
        version,
        title: format!("{} on {}", mount.device, mount.mount_point),
        line: line.number,
        entries: Vec::new(),
    }
}

/// Parses `GETATTR: 12 12 0 …`.
fn operation(line: MixLine<'_>) -> Result<MixEntry<'_>, MixError> {
    let mut words = line.words();
    let name = words.next().and_then(|word| word.text.strip_suffix(':'));
    let Some(name) = name.filter(|name| !name.is_empty()) else {
        let what = "can't find the name of an operation";
        let help = "a line of per-op statistics is `GETATTR: 12 12 0 1440 1344 0 4 5`";
        return Err(line.error(what).help(help));
    };
    let values = words.clone().take(PER_OPERATION).count();
    let Some(count) = words.next().filter(|_| values == PER_OPERATION) else {
        let what = format!("can't find {PER_OPERATION} values of {name}: there are {values}");
        let help = "calls, transmissions, timeouts, bytes sent, bytes received, and three times";
        return Err(line.error_at_end(what).help(help));
    };
    let mut entry = MixEntry::new(name, &count)?;
    for (place, word) in (1..).zip(words) {
        let value = word.count()?;
        if place == EXECUTED {
            entry.millis = Some(value);
        }
    }
    Ok(entry)
}

/// Decodes octal escapes such as `\040`: `/proc` encodes blanks, tabs, line ends and backslashes.
fn unescaped(text: &str) -> String {
    let mut plain = Vec::with_capacity(text.len());
    let mut bytes = text.as_bytes();
    while let Some((first, rest)) = bytes.split_first() {
        let octal = rest.get(..3).filter(|_| *first == b'\\');
        let code = octal
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_digit()))
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        plain.push(code.unwrap_or(*first));
        bytes = rest.get(code.map_or(0, |_| 3)..).unwrap_or_default();
    }
    String::from_utf8_lossy(&plain).into_owned()
}
