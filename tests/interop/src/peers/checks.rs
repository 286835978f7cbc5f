//! Checks of filestone against a server, and their expected results.

use super::fixture::{DIRECTORY, FILE, LINK};
use crate::record::Record;
use crate::scenario::Bed;
use crate::table;
use anyhow::{Result, bail};
use std::process::Output;

/// Every procedure, and the object of an export that it is called on.
const PROCEDURES: &[(&str, &str)] = &[
    ("null", ""),
    ("getattr", FILE),
    ("setattr", ""),
    ("lookup", DIRECTORY),
    ("access", DIRECTORY),
    ("readlink", LINK),
    ("read", FILE),
    ("write", ""),
    ("create", ""),
    ("mkdir", ""),
    ("symlink", ""),
    ("mknod", ""),
    ("remove", ""),
    ("rmdir", ""),
    ("rename", ""),
    ("link", ""),
    ("readdir", DIRECTORY),
    ("readdirplus", DIRECTORY),
    ("fsstat", ""),
    ("fsinfo", ""),
    ("pathconf", ""),
    ("commit", ""),
];

/// Configuration for a test of all procedures: name, host, export, transport.
pub type Way = (&'static str, &'static str, &'static str, &'static str);

/// Configurations for nfs-ganesha.
pub const WAYS: &[Way] = &[
    ("TCP disk", "127.0.0.1", "/export", "tcp"),
    ("TCPv6 disk", "[::1]", "/export", "tcp"),
    ("UDP disk", "127.0.0.1", "/export", "udp"),
    ("UDPv6 disk", "[::1]", "/export", "udp"),
    ("TCP memory", "127.0.0.1", "/mem", "tcp"),
    ("UDP memory", "127.0.0.1", "/mem", "udp"),
];

/// Permitted error statuses for operations that a server does not support.
const LEGITIMATE: &[&str] = &["NFS3ERR_NOTSUPP (10004)"];

/// Returns `ok` or the permitted statuses, or an error that describes the mismatch.
pub fn evaluate(output: &Output, count: u32) -> Result<String, String> {
    let record = Record::read(output).map_err(|error| format!("{error:#}"))?;
    let number = |pointer: &str| record.number(pointer).map_err(|error| error.to_string());
    let (scheduled, ok) = (
        number("/totals/ledger/scheduled")?,
        number("/totals/ledger/ok")?,
    );
    if record.holds("leftover") {
        return Err(format!(
            "it left something behind: {:?}",
            record.list("/caveats")
        ));
    }
    if scheduled != f64::from(count) {
        return Err(format!("{scheduled} operations instead of {count}"));
    }
    let failures: Vec<&str> = record
        .list("/totals/kinds")
        .iter()
        .flat_map(|kind| kind["failures"].as_array().into_iter().flatten())
        .filter_map(|failure| failure["failure"].as_str())
        .collect();
    if let Some(wrong) = failures
        .iter()
        .find(|failure| !LEGITIMATE.contains(*failure))
    {
        return Err(format!("{wrong}; {ok} of {scheduled} ok"));
    }
    let failed = number("/totals/ledger/failed")?;
    if ok + failed != scheduled {
        return Err(format!("{ok} ok and {failed} failed of {scheduled}"));
    }
    Ok(failures
        .first()
        .map_or("ok".into(), |status| (*status).to_owned()))
}

/// Calls all 22 procedures in each of these configurations. Returns whether each result was as
/// expected.
pub fn procedures(bed: &Bed, ways: &[Way]) -> Result<bool> {
    let count = bed.count;
    let mut rows = Vec::new();
    let mut wrong = Vec::new();
    for (operation, object) in PROCEDURES {
        let mut row = vec![operation.to_uppercase()];
        for (_, host, export, transport) in ways {
            let target = format!("nfs://{host}{export}/{object}");
            let target = target.trim_end_matches('/');
            let options = format!("--count {count} --in-flight 4 --transport {transport}");
            let verdict = evaluate(
                &bed.probe(&format!("{operation} {target} {options}"))?,
                bed.count,
            );
            row.push(match verdict {
                Ok(verdict) => verdict,
                Err(what) => {
                    wrong.push(format!("{operation} {target} over {transport}: {what}"));
                    "wrong".into()
                }
            });
        }
        rows.push(row);
    }
    let head: Vec<&str> = std::iter::once("procedure")
        .chain(ways.iter().map(|(name, ..)| *name))
        .collect();
    Ok(is_right(&head, &rows, &wrong))
}

/// Prints a table and the errors of its rows. Returns whether no row has an error.
pub fn is_right(head: &[&str], rows: &[Vec<String>], wrong: &[String]) -> bool {
    print!("{}", table::lay_out(head, rows, false));
    for what in wrong {
        eprintln!("error: {what}");
    }
    wrong.is_empty()
}

/// Expects that a run ends with `code` and that its error contains all of `words`.
pub fn refused(output: &Output, code: i32, words: &[&str]) -> Result<String> {
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if output.status.code() != Some(code) {
        bail!("ended with {} instead of {code}: {said}", output.status);
    }
    let first = said
        .lines()
        .find(|line| line.starts_with("error: "))
        .unwrap_or_default();
    if first.is_empty() {
        bail!("no line begins with \"error: \": {said}");
    }
    if let Some(word) = words.iter().find(|word| !said.contains(**word)) {
        bail!("does not say \"{word}\": {said}");
    }
    Ok(first.to_owned())
}
