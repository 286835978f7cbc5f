//! Parser for mix files, which detects the format from the content, never from the file name.

use super::Mix;
use super::error::MixError;
use super::kernel;
use super::line::{MixLine, lines};
use super::name::{NameMapping, Version};
use super::nfsstat;
use super::plain::plain;
use super::samba;
use super::section::{CountingSide, Section};
use crate::plan::{MixCount, SkippedOperation};
use filestone_workload::operation::OpKind;
use std::collections::{BTreeMap, BTreeSet};

/// Format of a text, the most reliable signs first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Form {
    Mountstats,
    RpcNet,
    Samba,
    LinuxList,
    Linux,
    Solaris,
    Bsd,
    SunOs,
    /// An nfsstat output without NFS calls.
    NoCounts,
    Plain,
}

/// Reads a mix file: the output of `nfsstat` of SunOS, Solaris, Linux or the BSDs, the kernel's
/// counters of Linux, those of Samba as `smbstatus --profile` prints them, or filestone's mix
/// format.
///
/// `file` is the name in messages. If there are several tables, the NFSv3 server table is used, or
/// else the one with the most calls; [`Mix::notes`] contain the choice. With mountstats, the counts
/// of all NFS mounts are added.
pub fn parse(text: &str, file: &str) -> Result<Mix, MixError> {
    read(text, file, None).map_err(|error| error.in_file(file))
}

/// Reads the counts of one mount from a mix file in mountstats format.
pub fn parse_mount(text: &str, file: &str, mount_point: &str) -> Result<Mix, MixError> {
    read(text, file, Some(mount_point)).map_err(|error| error.in_file(file))
}

fn read(text: &str, file: &str, mount_point: Option<&str>) -> Result<Mix, MixError> {
    let lines = lines(text)?;
    let form = form(&lines);
    if mount_point.is_some() && form != Form::Mountstats {
        let what = "a mount point is given, and this is not mountstats";
        return Err(MixError::whole(what).help("only /proc/self/mountstats counts each mount"));
    }
    let sections = match form {
        Form::Mountstats => return of_mounts(text, file, mount_point),
        Form::RpcNet => kernel::rpc_sections(text)?,
        Form::Samba => samba::profile(&lines)?,
        Form::LinuxList => nfsstat::linux_list(&lines)?,
        Form::Linux => nfsstat::linux(&lines)?,
        Form::Solaris => nfsstat::solaris(&lines)?,
        Form::Bsd => nfsstat::bsd(&lines)?,
        Form::SunOs => nfsstat::sunos(&lines)?,
        Form::NoCounts => Vec::new(),
        Form::Plain => return of_plain(&lines, file),
    };
    let mut mix = of_one(&sections, file)?;
    mix.calls = nfsstat::calls(&lines).filter(|_| form == Form::SunOs);
    Ok(mix)
}

/// Detects the format from the most reliable sign in any line, ignoring comments.
fn form(lines: &[MixLine<'_>]) -> Form {
    let of_line = |line: &MixLine<'_>| {
        let line = *line;
        if line.text.trim_start().starts_with('#')
            || line.text.contains('=') && !kernel::is_mount_line(line)
        {
            Form::Plain
        } else if kernel::is_mount_line(line) {
            Form::Mountstats
        } else if kernel::is_rpc_line(line) {
            Form::RpcNet
        } else if samba::is_profile(line) {
            Form::Samba
        } else if nfsstat::list_line(line).is_some() {
            Form::LinuxList
        } else if nfsstat::linux_heading(line).is_some() {
            Form::Linux
        } else if nfsstat::solaris_version(line).is_some() {
            Form::Solaris
        } else if nfsstat::is_bsd(line) {
            Form::Bsd
        } else if nfsstat::is_sunos(line) {
            Form::SunOs
        } else if nfsstat::is_heading(line) {
            Form::NoCounts
        } else {
            Form::Plain
        }
    };
    lines.iter().map(of_line).min().unwrap_or(Form::Plain)
}

/// Converts filestone's mix format to a mix.
fn of_plain(lines: &[MixLine<'_>], file: &str) -> Result<Mix, MixError> {
    let plain = plain(lines)?;
    let mix = Mix {
        name: plain.name.unwrap_or_else(|| file.to_owned()),
        counts: plain
            .counts
            .into_iter()
            .filter(|count| count.count > 0)
            .collect(),
        calls: None,
        left_out: Vec::new(),
        notes: plain.about.into_iter().collect(),
    };
    if mix.counts.is_empty() {
        return Err(nothing_asked());
    }
    Ok(mix)
}

fn nothing_asked() -> MixError {
    let help = "a mix file is `read 18` per line, or the output of nfsstat -s, \
                /proc/net/rpc/nfs or /proc/self/mountstats of a host that used NFS";
    MixError::whole("no operation is asked more than 0 times").help(help)
}

/// Converts one of several tables to a mix.
fn of_one(sections: &[Section<'_>], file: &str) -> Result<Mix, MixError> {
    let asked = || sections.iter().filter(|section| section.calls() > 0);
    let server = asked()
        .find(|section| (section.side, section.version) == (CountingSide::Server, Version::V3));
    // max_by_key returns the last of equal elements; the first is needed.
    let largest = || asked().rev().max_by_key(|section| section.calls());
    let chosen = server.or_else(largest).ok_or_else(nothing_asked)?;
    let mut notes = vec![format!("taken: {}", described(chosen))];
    notes.extend(caution(chosen));
    let others = asked().filter(|section| !std::ptr::eq(*section, chosen));
    notes.extend(others.map(|section| format!("not taken: {}", described(section))));
    of_sections(&[chosen], file, notes)
}

/// Converts one mount of mountstats, or all, to a mix.
fn of_mounts(text: &str, file: &str, mount_point: Option<&str>) -> Result<Mix, MixError> {
    let mounts = kernel::mounts(text)?;
    let is_wanted = |at: &str| mount_point.is_none_or(|wanted| wanted == at);
    let wanted = || {
        mounts
            .iter()
            .filter(|(mount, _)| mount.is_nfs() && is_wanted(&mount.mount_point))
    };
    if wanted().next().is_none() {
        let at = mount_point
            .map(|at| format!(" on {at}"))
            .unwrap_or_default();
        let nfs = mounts.iter().filter(|(mount, _)| mount.is_nfs());
        let points: Vec<&str> = nfs
            .take(8)
            .map(|(mount, _)| mount.mount_point.as_str())
            .collect();
        let help = if points.is_empty() {
            "no NFS file system is mounted".to_owned()
        } else {
            format!("NFS is mounted on {}", points.join(", "))
        };
        return Err(MixError::whole(format!("no NFS mount{at}")).help(help));
    }
    if let Some((mount, _)) = wanted().find(|(_, section)| section.is_none()) {
        let what = format!(
            "unexpected EOF: {} has no per-op statistics",
            mount.mount_point
        );
        return Err(MixError::whole(what).help("was the file cut? each NFS mount has them"));
    }
    let sections: Vec<&Section<'_>> = wanted()
        .filter_map(|(_, section)| section.as_ref())
        .collect();
    let notes = sections
        .iter()
        .map(|section| format!("taken: {}", described(section)));
    let notes: Vec<String> = notes
        .chain(sections.iter().find_map(|section| caution(section)))
        .collect();
    of_sections(&sections, file, notes)
}

/// Returns a description of a section, for the notes.
fn described(section: &Section<'_>) -> String {
    let (title, line, calls) = (&section.title, section.line, section.calls());
    let version = section.version.name();
    format!("{title}, line {line}: {calls} calls of {version}")
}

/// Returns a note about the limitations of NFSv4 counts.
fn caution(section: &Section<'_>) -> Option<String> {
    let caution = match section.version {
        Version::V2 | Version::V3 => return None,
        Version::V4 => {
            "NFSv4: OPEN, CLOSE and what else has no like in NFSv3 is left out; \
             CREATE counts as mkdir"
        }
        Version::V4Operations => {
            "NFSv4: operations within COMPOUNDs were counted, not calls; \
             PUTFH and what else has no like in NFSv3 is left out; CREATE counts as mkdir"
        }
        Version::Smb2 => {
            "SMB2: CREATEs beyond one for each other operation count as lookup, and all that is \
             removed as remove; LOCK, IOCTL and what else has no like is left out"
        }
    };
    Some(caution.to_owned())
}

/// Converts the sum of the sections to a mix.
fn of_sections(sections: &[&Section<'_>], file: &str, notes: Vec<String>) -> Result<Mix, MixError> {
    let mut counts: BTreeMap<OpKind, u64> = BTreeMap::new();
    let mut left_out: BTreeMap<String, u64> = BTreeMap::new();
    for section in sections {
        let mut seen = BTreeSet::new();
        for entry in &section.entries {
            let name = entry.name.to_ascii_lowercase();
            let error = |what: String| MixError::at(entry.line, entry.column, what);
            if !seen.insert(name.clone()) {
                let what = format!("{name} is counted a second time in {}", section.title);
                return Err(error(what).help("keep one reading of the counters in the file"));
            }
            let cell = match section.meaning(entry) {
                NameMapping::Procedure(kind) => counts.entry(kind).or_default(),
                NameMapping::Refused(why) if entry.count > 0 => {
                    let what =
                        format!("{name} was asked {} times and cannot be asked", entry.count);
                    let help = format!("{why}; set its count to 0 to leave it out");
                    return Err(error(what).help(help));
                }
                NameMapping::Refused(_) | NameMapping::Compound => continue,
                NameMapping::Unlike if entry.count == 0 => continue,
                NameMapping::Unlike => left_out.entry(name).or_default(),
            };
            *cell = cell.checked_add(entry.count).ok_or_else(|| {
                error("the counts do not fit into 64 bits when added".to_owned())
                    .help(format!("the largest is {}", u64::MAX))
            })?;
        }
    }
    counts.retain(|_, count| *count > 0);
    if counts.is_empty() {
        return Err(nothing_asked());
    }
    Ok(Mix {
        name: file.to_owned(),
        counts: counts
            .into_iter()
            .map(|(operation, count)| MixCount { operation, count })
            .collect(),
        calls: None,
        left_out: left_out
            .into_iter()
            .map(|(operation, count)| SkippedOperation { operation, count })
            .collect(),
        notes,
    })
}

#[cfg(test)]
mod tests;
