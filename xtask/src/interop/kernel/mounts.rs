//! A share of the built-in server, mounted by the SMB client of Linux's kernel in the guest.

use crate::guest::HOST;
use crate::process::Running;
use crate::samba::{PASSWORD, USER};
use crate::scenario::Bed;
use crate::table;
use anyhow::{Context, Result, bail};
use std::net::SocketAddr;
use std::time::Duration;

/// Script that runs in the guest.
const PROGRAM: &str = include_str!("mounts.py");
const PORT: u16 = 4450;
/// Number of names in the server's directory; the program has the same number.
const NAMES: &str = "5000";
/// Time limit per combination, which takes about ten seconds on an idle machine and a minute on a
/// busy one.
const WAY_LIMIT: Duration = Duration::from_secs(300);

/// A dialect in the syntax of the kernel's option `vers`, and the protection of messages.
type Way = (&'static str, &'static str);

/// The combination that always runs: leases have an epoch and frames are encrypted, and this client
/// has the most requirements for both.
const USUAL: Way = ("3.1.1", "sealed");

/// A selection that covers every dialect and every protection.
const WAYS: &[Way] = &[
    ("2.0", "plain"),
    ("2.1", "signed"),
    ("3.0", "sealed"),
    ("3.0.2", "plain"),
    ("3.1.1", "sealed"),
];

/// Every dialect with every protection that it supports.
const ALL_WAYS: &[Way] = &[
    ("2.0", "plain"),
    ("2.0", "signed"),
    ("2.1", "plain"),
    ("2.1", "signed"),
    ("3.0", "plain"),
    ("3.0", "signed"),
    ("3.0", "sealed"),
    ("3.0.2", "plain"),
    ("3.0.2", "signed"),
    ("3.0.2", "sealed"),
    ("3.1.1", "plain"),
    ("3.1.1", "signed"),
    ("3.1.1", "sealed"),
];

/// Checks for every combination.
const CHECKS: &[&str] = &[
    "a_tree",
    "names_there",
    "renames",
    "system_calls",
    "locks",
    "unlinked_while_open",
    "in_turns",
    "random_operations",
];

/// Settings for more work, used with all combinations.
const THOROUGHLY: &str = "export NAMES_MADE=5000 OPERATIONS=2000";

/// Long checks, and the one combination for them.
const LONG: (Way, &[&str]) = (("3.1.1", "plain"), &["many_names", "a_large_file"]);

/// Runs the usual combination, or the selection if this scenario is requested, or with
/// `is_thorough` all checks on all combinations. Returns whether each result was as expected.
pub fn run(bed: &Bed, only: Option<&str>, is_thorough: bool) -> Result<bool> {
    if only.is_some_and(|only| !"mounts of our share".contains(only)) {
        return Ok(true);
    }
    let _server = serve(bed)?;
    std::fs::write(bed.guest()?.share.join("mounts.py"), PROGRAM)?;
    let mut rows = Vec::new();
    let mut is_good = true;
    let setting = if is_thorough { THOROUGHLY } else { "" };
    let mut go = |way: Way, checks: &[&str]| -> Result<()> {
        let said = mounted(bed, way, checks, setting);
        is_good &= said.is_ok();
        let said = said.unwrap_or_else(|error| format!("{error:#}"));
        for (index, line) in said.lines().enumerate() {
            let first = |text: &str| {
                if index == 0 {
                    text.into()
                } else {
                    String::new()
                }
            };
            rows.push(vec![first(way.0), first(way.1), line.to_owned()]);
        }
        Ok(())
    };
    if is_thorough {
        for way in ALL_WAYS {
            go(*way, &["all"])?;
        }
    } else if only.is_some() {
        for way in WAYS {
            go(*way, CHECKS)?;
        }
        go(LONG.0, LONG.1)?;
    } else {
        go(USUAL, CHECKS)?;
    }
    println!("\nour share, mounted by Linux {}", bed.guest()?.kernel);
    let head = ["dialect", "", "what came of it"];
    print!("{}", table::lay_out(&head, &rows, false));
    Ok(is_good)
}

fn serve(bed: &Bed) -> Result<Running> {
    let password_file = bed.folder.join("password-of-mounts");
    std::fs::write(&password_file, format!("{PASSWORD}\n"))?;
    let file = password_file.display();
    let line = format!(
        "serve --port 0 --bind {HOST} --smb-port {PORT} --files {NAMES} --user {USER} --password-file {file}"
    );
    bed.serve(&line, SocketAddr::new(HOST.parse()?, PORT))
}

/// Runs these checks in the guest. Returns their number and duration if all passed.
fn mounted(bed: &Bed, way: Way, checks: &[&str], setting: &str) -> Result<String> {
    let (version, protection) = way;
    let script = format!(
        "modprobe -a cifs nls_utf8; {setting}\n\
         python3 -B /share/mounts.py {HOST} {PORT} {USER} {PASSWORD} {version} {protection} {}\n\
         status=$?; [ $status = 0 ] || dmesg | tail -n 5; umount /mnt/one /mnt/two 2>/dev/null\n\
         exit $status",
        checks.join(" ")
    );
    let output = bed.guest()?.run(&script, WAY_LIMIT)?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        bail!("{said}{}", String::from_utf8_lossy(&output.stderr));
    }
    let seconds: f64 = said.lines().filter_map(seconds_of).sum();
    let count = said.lines().count();
    let rate = said.lines().find(|line| line.contains("MB/s"));
    let rate = rate.and_then(|line| Some(line.split_once(": ")?.1.rsplit_once(" (")?.0));
    let rate = rate.map_or_else(String::new, |rate| format!(", {rate}"));
    (count > 0)
        .then(|| format!("{count} checks ok in {seconds:.1} s{rate}"))
        .context("no check was made")
}

/// Returns the seconds from a line that ends with `(1.2 s)`.
fn seconds_of(line: &str) -> Option<f64> {
    let (_, end) = line.rsplit_once('(')?;
    end.strip_suffix(" s)")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_line_says_how_long_it_took() {
        assert_eq!(seconds_of("a_tree: ok (2.5 s)"), Some(2.5));
        assert_eq!(
            seconds_of("a_large_file: 9.1 MB/s in (x) (12.0 s)"),
            Some(12.0)
        );
        assert_eq!(seconds_of("nothing"), None);
    }

    #[test]
    fn every_way_that_is_usually_gone_is_one_of_all() {
        assert!(WAYS.iter().all(|way| ALL_WAYS.contains(way)));
        assert!(WAYS.contains(&USUAL));
        assert!(
            CHECKS
                .iter()
                .chain(LONG.1)
                .all(|check| { PROGRAM.contains(&format!("def {check}():")) })
        );
    }
}
