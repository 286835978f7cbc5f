//! Parser for the output of `smbstatus --profile` of a Samba server that counts
//! (`smbd profiling level = count`).
//!
//! A line is a name and its count, under headings such as `**** SMB2 Calls ****`. SMB2 requests are
//! counted by command: removing and renaming are both SET_INFO, so the counts of the resulting
//! system calls are used instead. Nearly every other request is accompanied by a CREATE: only the
//! CREATEs in excess of these are lookups of names.

use super::error::MixError;
use super::line::{MixLine, Word};
use super::name::{SMB2, Version};
use super::section::{CountingSide, MixEntry, Section};
use std::collections::BTreeMap;

/// Start of the heading above the SMB2 counters.
const HEADING: &str = "**** SMB2 Calls";
/// Suffix of the names of counts; other suffixes are used for times and bytes.
const COUNT: &str = "_count:";
/// Prefix of SMB1 requests. Counts of `Trans2_` and `NT_transact_` are included in `SMBtrans2` and
/// `SMBnttrans`.
const SMB1: &str = "SMB";

/// Whether the line is one of Samba's profile.
pub(super) fn is_profile(line: MixLine<'_>) -> bool {
    line.text.starts_with(HEADING)
}

/// The counts of a profile by name, with their positions.
struct Profile<'a> {
    counts: BTreeMap<&'a str, Word<'a>>,
    /// The heading of SMB2.
    heading: MixLine<'a>,
    last: MixLine<'a>,
}

/// Parses the section of the SMB2 calls.
pub(super) fn profile<'a>(lines: &[MixLine<'a>]) -> Result<Vec<Section<'a>>, MixError> {
    let profile = Profile::read(lines)?;
    let mut entries = Vec::new();
    for (name, _) in SMB2 {
        entries.push(profile.entry(name)?);
    }
    for (name, count) in &profile.counts {
        let is_smb = name.starts_with("smb2_") || name.starts_with(SMB1);
        let is_known = SMB2.iter().any(|(known, _)| known == name);
        // Each CLOSE belongs to a CREATE that succeeded.
        if is_smb && !is_known && *name != "smb2_close" {
            entries.push(MixEntry::new(*name, count)?);
        }
    }
    settle(&mut entries);
    if entries.iter().all(|entry| entry.count == 0) {
        let what = "no request of SMB2 was counted";
        let help = "Samba counts with `smbd profiling level = count`, or after `smbcontrol smbd profile count`";
        return Err(profile.heading.error(what).help(help));
    }
    Ok(vec![Section {
        side: CountingSide::Server,
        version: Version::Smb2,
        title: "SMB2 Calls of Samba's profile".to_owned(),
        line: profile.heading.number,
        entries,
    }])
}

/// Subtracts from SET_INFO and CREATE the requests that belong to other operations, which have
/// separate counts.
fn settle(entries: &mut [MixEntry<'_>]) {
    let sum = |names: &[&str]| {
        let of_these = entries.iter().filter(|entry| names.contains(&&*entry.name));
        of_these.fold(0_u64, |sum, entry| sum.saturating_add(entry.count))
    };
    let renamed = sum(&["syscall_renameat", "syscall_linkat", "syscall_unlinkat"]);
    let opened = sum(&[
        "smb2_getinfo",
        "smb2_setinfo",
        "smb2_read",
        "smb2_write",
        "smb2_flush",
        "syscall_mkdirat",
    ]);
    for entry in entries {
        let others = match &*entry.name {
            "smb2_setinfo" => renamed,
            "smb2_create" => opened,
            _ => 0,
        };
        entry.count = entry.count.saturating_sub(others);
    }
}

impl<'a> Profile<'a> {
    fn read(lines: &[MixLine<'a>]) -> Result<Self, MixError> {
        let is_heading = |line: &MixLine<'_>| line.text.starts_with("****");
        // Text before the first heading is ignored.
        let first = lines.iter().position(is_heading).unwrap_or(lines.len());
        let rest = lines.get(first..).unwrap_or_default();
        let heading = rest.iter().find(|line| is_profile(**line));
        let (Some(heading), Some(last)) = (heading, rest.last()) else {
            return Err(MixError::whole("no heading of SMB2 calls"));
        };
        let mut counts: BTreeMap<&str, Word<'_>> = BTreeMap::new();
        for line in rest.iter().filter(|line| !is_heading(line)) {
            let Some((name, count)) = counter(*line)? else {
                continue;
            };
            if counts.insert(name, count).is_some() {
                let what = format!("{name} is counted a second time");
                let help = "keep one reading of the counters in the file";
                return Err(line.error(what).help(help));
            }
        }
        Ok(Self {
            counts,
            heading: *heading,
            last: *last,
        })
    }

    /// Returns the entry of that name, which every profile has.
    fn entry(&self, name: &'static str) -> Result<MixEntry<'a>, MixError> {
        let Some(count) = self.counts.get(name) else {
            let what = format!("bad mix format: unexpected EOF: there is no {name}{COUNT}");
            let help = "`smbstatus --profile` prints all of Samba's counters: was the text cut?";
            return Err(self.last.error_at_end(what).help(help));
        };
        MixEntry::new(name, count)
    }
}

/// Returns the name and the count of a line, if it has a count of requests.
fn counter(line: MixLine<'_>) -> Result<Option<(&str, Word<'_>)>, MixError> {
    let mut words = line.words();
    let Some(name) = words.next() else {
        return Ok(None);
    };
    let help = "a line of the profile is a name, a colon and a count";
    let (Some(_), Some(count), None) = (name.text.strip_suffix(':'), words.next(), words.next())
    else {
        let what = format!("bad mix format: \"{}\" is no counter", name.shown());
        return Err(line.error(what).help(help));
    };
    // An invalid count is an error in any line.
    count.count()?;
    Ok(name.text.strip_suffix(COUNT).map(|name| (name, count)))
}
