//! Parser for the output of `nfsstat` on SunOS and 4.3BSD, Solaris, Linux and the BSDs.
//!
//! All of them print a line of names above a line of counts, some with percentages after the
//! counts. The percentages are rounded and ignored.

use super::error::MixError;
use super::line::{MixLine, Word};
use super::name::{V2, Version};
use super::section::{CountingSide, MixEntry, Section};
use filestone_wire::nfs3::Procedure;

/// Gauges that FreeBSD prints among the calls: current numbers of state objects.
const STATES: [&str; 9] = [
    "OpenOwner",
    "Opens",
    "LockOwner",
    "Locks",
    "Delegs",
    "LocalOwn",
    "LocalOpen",
    "LocalLOwn",
    "LocalLock",
];

/// Number of operations in each line of SunOS' nfsstat.
const SUNOS_ROWS: [usize; 3] = [7, 7, 4];

/// Returns the side that counted, from the first word of a heading.
fn side(line: MixLine<'_>) -> Option<CountingSide> {
    match line.first_word()?.text {
        "Server" => Some(CountingSide::Server),
        "Client" => Some(CountingSide::Client),
        _ => None,
    }
}

/// Whether the line is a heading such as `Server rpc stats:`.
pub(super) fn is_heading(line: MixLine<'_>) -> bool {
    side(line).is_some() && line.text.trim_end().ends_with(':')
}

/// Returns the section of that side and version, and creates it if necessary.
fn section_of<'s, 'a>(
    sections: &'s mut Vec<Section<'a>>,
    side: CountingSide,
    version: Version,
    line: MixLine<'_>,
    title: &str,
) -> &'s mut Section<'a> {
    let is_same = |section: &Section<'_>| section.side == side && section.version == version;
    let index = sections.iter().position(is_same).unwrap_or(sections.len());
    if index == sections.len() {
        sections.push(Section {
            side,
            version,
            title: title.to_owned(),
            line: line.number,
            entries: Vec::new(),
        });
    }
    sections
        .get_mut(index)
        .expect("one was added if there was none")
}

/// Returns the minimum number of operations in a table of a version. Shorter tables are truncated;
/// NFSv4 server tables grow with the minor versions.
fn least(version: Version) -> usize {
    match version {
        Version::V2 => V2.len(),
        Version::V3 => Procedure::ALL.len(),
        Version::V4 | Version::V4Operations | Version::Smb2 => 1,
    }
}

/// Reads pairs of lines below a heading, names above counts, until the first other line.
fn table<'a>(
    heading: MixLine<'a>,
    lines: &[MixLine<'a>],
    least: usize,
) -> Result<Vec<MixEntry<'a>>, MixError> {
    let mut entries = Vec::new();
    let mut end = heading;
    for pair in lines.chunks(2) {
        let [names, values @ ..] = pair else { break };
        let text = names.text.trim();
        if text.is_empty() || text.contains(':') || side(*names).is_some() {
            break;
        }
        let Some(values) = values.first() else {
            let what = "bad mix format: unexpected EOF: these names have no values";
            let help = "a line of names is followed by its counts";
            return Err(names.error(what).help(help));
        };
        end = *values;
        let count = names.words().count();
        for (name, value) in names.words().zip(counts(*values, count)?) {
            if !STATES.contains(&name.text) {
                entries.push(MixEntry::new(name.text, &value)?);
            }
        }
    }
    if entries.len() < least {
        let found = entries.len();
        let heading = heading.text.trim();
        let what =
            format!("bad mix format: unexpected EOF after {found} operations of '{heading}'");
        let help = format!("it has {least} or more: was the text cut?");
        return Err(end.error_at_end(what).help(help));
    }
    Ok(entries)
}

/// Returns the counts of a line, without the percentages.
fn counts(line: MixLine<'_>, expected: usize) -> Result<Vec<Word<'_>>, MixError> {
    let mut counts: Vec<Word<'_>> = Vec::new();
    let mut has_percent = true;
    for mut word in line.words() {
        if !word.text.ends_with('%') {
            has_percent = false;
            counts.push(word);
        } else if !has_percent {
            has_percent = true;
        } else if let Some(count) = word
            .text
            .strip_suffix("100%")
            .filter(|count| !count.is_empty())
        {
            // Linux prints no blank between a count of more than seven digits and 100 %.
            word.text = count;
            counts.push(word);
        } else {
            let what = format!("can't find the count before {}", word.shown());
            return Err(word
                .error(what)
                .help("a percentage stands behind its count: `26000 13%`"));
        }
    }
    if counts.len() != expected {
        let found = counts.len();
        let what = format!("bad mix format: can't find {expected} op values: there are {found}");
        let help = format!("the line above has {expected} names");
        return Err(line.error(what).help(help));
    }
    Ok(counts)
}

/// Whether the line has the heading that nhfsstone searches for.
pub(super) fn is_sunos(line: MixLine<'_>) -> bool {
    line.words().any(|word| word.text.ends_with("nfs:"))
}

/// Parses the output of SunOS and 4.3BSD in the same way as nhfsstone: after `nfs:` a line is
/// skipped, the next begins with the calls, then three pairs of a line of names and one of counts
/// follow.
pub(super) fn sunos<'a>(lines: &[MixLine<'a>]) -> Result<Vec<Section<'a>>, MixError> {
    let mut sections: Vec<Section<'a>> = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        if is_sunos(*line) {
            let side = side(*line).unwrap_or(CountingSide::Unknown);
            let entries = sunos_entries(*line, lines.get(index + 1..).unwrap_or_default())?;
            let title = line.text.trim().trim_end_matches(':');
            let section = section_of(&mut sections, side, Version::V2, *line, title);
            section.entries.extend(entries);
        }
    }
    Ok(sections)
}

/// Returns nhfsstone's total of calls: the first number two lines below the first `nfs:`.
pub(super) fn calls(lines: &[MixLine<'_>]) -> Option<u64> {
    let heading = lines.iter().position(|line| is_sunos(*line))?;
    lines.get(heading + 2)?.first_word()?.count().ok()
}

fn sunos_entries<'a>(
    heading: MixLine<'a>,
    rest: &[MixLine<'a>],
) -> Result<Vec<MixEntry<'a>>, MixError> {
    let [_, calls, rest @ ..] = rest else {
        let end = rest.last().copied().unwrap_or(heading);
        let what = "bad mix format: unexpected EOF after 'nfs:'";
        return Err(end
            .error_at_end(what)
            .help("the line `calls badcalls` and its values follow"));
    };
    let Some(Ok(_)) = calls.first_word().map(|word| word.count()) else {
        let what = "bad mix format: can't find 'calls' value";
        let help = "two lines below 'nfs:' is how many calls there were, as `200000 0`";
        return Err(calls.error(what).help(help));
    };
    if rest.is_empty() {
        let what = "bad mix format: unexpected EOF after 'calls'";
        let help = "18 operations follow, as `null getattr …` and below it `0 0% 26000 13% …`";
        return Err(calls.error_at_end(what).help(help));
    }
    let mut entries = Vec::new();
    let mut names = V2.iter().copied();
    let mut rows = rest.chunks(2);
    for row in SUNOS_ROWS {
        let pair = rows.next().unwrap_or_default();
        let [heading, values] = pair else {
            let end = pair.first().or(rest.last()).copied().unwrap_or(*calls);
            let what = "bad mix format: unexpected EOF";
            let help = format!("a line of {row} counts is missing");
            return Err(end.error_at_end(what).help(help));
        };
        let names: Vec<&'static str> = names.by_ref().take(row).collect();
        check_order(*heading, &names)?;
        for (name, value) in names.into_iter().zip(counts(*values, row)?) {
            entries.push(MixEntry::new(name, &value)?);
        }
    }
    Ok(entries)
}

/// Checks that known names are in the expected order. nhfsstone ignores the names; here they must
/// not contradict the meaning of the counts.
fn check_order(heading: MixLine<'_>, names: &[&str]) -> Result<(), MixError> {
    let known = |word: &Word<'_>| V2.iter().any(|name| word.text.eq_ignore_ascii_case(name));
    for (word, name) in heading.words().zip(names) {
        if known(&word) && !word.text.eq_ignore_ascii_case(name) {
            let what = format!("the column of {name} is headed {}", word.shown());
            let help = format!("the names of this line are {}", names.join(" "));
            return Err(word.error(what).help(help));
        }
    }
    Ok(())
}

/// Returns the version of a Solaris heading such as `Version 3: (35 calls)`.
pub(super) fn solaris_version(line: MixLine<'_>) -> Option<Version> {
    let rest = line.text.trim().strip_prefix("Version ")?;
    let (version, what) = rest.split_once(": (")?;
    Some(match version {
        "2" => Version::V2,
        "3" => Version::V3,
        "4" if what.contains("operations") => Version::V4Operations,
        "4" => Version::V4,
        _ => return None,
    })
}

/// Parses the output of Solaris since 2.5, and illumos.
pub(super) fn solaris<'a>(lines: &[MixLine<'a>]) -> Result<Vec<Section<'a>>, MixError> {
    let mut sections = Vec::new();
    let mut heading = None;
    for (index, line) in lines.iter().enumerate() {
        if is_heading(*line) {
            heading = Some(*line);
        }
        let Some(mut version) = solaris_version(*line) else {
            continue;
        };
        // NFS_ACL is a separate program whose procedures have the same names.
        if heading.is_some_and(|heading| heading.text.contains("acl")) {
            continue;
        }
        let side = heading.and_then(side).unwrap_or(CountingSide::Unknown);
        if version == Version::V4 && side == CountingSide::Server {
            version = Version::V4Operations;
        }
        let rest = lines.get(index + 1..).unwrap_or_default();
        let entries = table(*line, rest, least(version))?;
        let title = format!("{} {}", side.name(), version.name());
        section_of(&mut sections, side, version, *line, &title)
            .entries
            .extend(entries);
    }
    Ok(sections)
}

/// Returns side and version of a Linux heading such as `Server nfs v3:`.
pub(super) fn linux_heading(line: MixLine<'_>) -> Option<(CountingSide, Version)> {
    let side = side(line)?;
    let text = line.text.trim();
    let rest = text.get(6..)?.trim_start().strip_prefix("nfs v")?;
    let version = match (side, rest) {
        (_, "2:") => Version::V2,
        (_, "3:") => Version::V3,
        (CountingSide::Server, "4:" | "4 operations:") => Version::V4Operations,
        (_, "4:") => Version::V4,
        _ => return None,
    };
    Some((side, version))
}

/// Parses the output of Linux `nfsstat`, with `-s`, `-c`, `-2`, `-3`, `-4`, in any number of
/// columns.
pub(super) fn linux<'a>(lines: &[MixLine<'a>]) -> Result<Vec<Section<'a>>, MixError> {
    let mut sections = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let Some((side, version)) = linux_heading(*line) else {
            continue;
        };
        let rest = lines.get(index + 1..).unwrap_or_default();
        let entries = table(*line, rest, least(version))?;
        let title = line.text.trim().trim_end_matches(':');
        section_of(&mut sections, side, version, *line, title)
            .entries
            .extend(entries);
    }
    Ok(sections)
}

/// Returns side and version of a line of Linux' `nfsstat -l`, such as `nfs v3 server getattr: 12`.
pub(super) fn list_line(line: MixLine<'_>) -> Option<(CountingSide, Version)> {
    let mut words = line.words().map(|word| word.text);
    if words.next() != Some("nfs") {
        return None;
    }
    let version = words.next()?;
    let side = words.next()?;
    Some(match (version, side) {
        ("v2", "server") => (CountingSide::Server, Version::V2),
        ("v2", "client") => (CountingSide::Client, Version::V2),
        ("v3", "server") => (CountingSide::Server, Version::V3),
        ("v3", "client") => (CountingSide::Client, Version::V3),
        ("v4", "server" | "servop") => (CountingSide::Server, Version::V4Operations),
        ("v4", "client") => (CountingSide::Client, Version::V4),
        _ => return None,
    })
}

/// Parses the output of Linux `nfsstat -l`, one operation per line.
///
/// Operations without calls are missing, so only the totals show whether the list is complete.
pub(super) fn linux_list<'a>(lines: &[MixLine<'a>]) -> Result<Vec<Section<'a>>, MixError> {
    let mut sections: Vec<Section<'a>> = Vec::new();
    let mut totals: Vec<(CountingSide, Version, Word<'a>, u128)> = Vec::new();
    for line in lines {
        let Some((side, version)) = list_line(*line) else {
            continue;
        };
        let mut words = line.words().skip(3);
        let name = words.next().and_then(|word| word.text.strip_suffix(':'));
        let (Some(name), Some(value)) = (name, words.next()) else {
            let what = "bad mix format: can't find the op and its value";
            let help = "a line of the list is `nfs v3 server getattr: 26000`";
            return Err(line.error_at_end(what).help(help));
        };
        let title = format!("{} {}", side.name(), version.name());
        let section = section_of(&mut sections, side, version, *line, &title);
        let entry = MixEntry::new(name, &value)?;
        if name == "total" {
            let before = totals
                .iter_mut()
                .find(|total| (total.0, total.1) == (side, version));
            match before {
                Some((.., sum)) => *sum += u128::from(entry.count),
                None => totals.push((side, version, value, u128::from(entry.count))),
            }
        } else {
            section.entries.push(entry);
        }
    }
    for (side, version, word, total) in totals {
        let is_counted =
            |section: &&Section<'_>| (section.side, section.version) == (side, version);
        let counted = sections.iter().find(is_counted);
        let entries = counted.map_or(&[][..], |section| &section.entries);
        let sum: u128 = entries.iter().map(|entry| u128::from(entry.count)).sum();
        if sum != total {
            let what = format!("the total is {total}, and the operations sum to {sum}");
            return Err(word.error(what).help("was the list cut? copy it again"));
        }
    }
    Ok(sections)
}

/// Whether the line is `Server Info:` or `Client Info:`.
pub(super) fn is_bsd(line: MixLine<'_>) -> bool {
    is_heading(line) && line.words().nth(1).is_some_and(|word| word.text == "Info:")
}

/// Parses the output of FreeBSD and systems with its nfsstat: all versions under the names of
/// NFSv3.
pub(super) fn bsd<'a>(lines: &[MixLine<'a>]) -> Result<Vec<Section<'a>>, MixError> {
    let mut sections = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let Some(side) = side(*line).filter(|_| is_bsd(*line)) else {
            continue;
        };
        let mut rest = lines.get(index + 1..).unwrap_or_default();
        if let [first, after @ ..] = rest
            && first.text.trim().eq_ignore_ascii_case("rpc counts:")
        {
            rest = after;
        }
        // The BSDs have no column for NULL.
        let entries = table(*line, rest, least(Version::V3) - 1)?;
        let title = line.text.trim().trim_end_matches(':');
        section_of(&mut sections, side, Version::V3, *line, title)
            .entries
            .extend(entries);
    }
    Ok(sections)
}
