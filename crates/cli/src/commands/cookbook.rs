//! `filestone fleet cookbook`: the procedure of LANforge's cookbook "Scalability Testing with NFS
//! File-IO" as one command: so many clients, one half of which reads what the other writes, at two sizes of
//! transfer, and what they take of memory.

use crate::error::Error;
use crate::execution::interruption;
use crate::options::fleet::CookbookOptions;
use crate::options::run_report::FindingFormat;
use crate::report::{cookbook, json};
use crate::{Exit, console};
use filestone_model::measure::RunRecord;
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;

/// The cookbook's own numbers of clients, and before them one pair: what that takes is what all share.
const CLIENTS: [u32; 4] = [2, 100, 250, 500];
/// Its sizes of transfers.
const SIZES: [&str; 2] = ["4K", "1M"];
/// As long as a row takes if nobody says.
const ROW_NANOS: u64 = 5_000_000_000;

/// Runs row after row, and prints the table.
pub fn run(options: &CookbookOptions) -> Result<Exit, Error> {
    let stop = interruption::stop_flag()?;
    let mut records: Vec<RunRecord> = Vec::new();
    for size in SIZES {
        for clients in numbers(options.to) {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            console::note(&format!("{clients} clients, {size} at a time"));
            let words = words(options, size, clients);
            records.push(row(&words)?);
        }
    }
    match options.format {
        FindingFormat::Json => console::result(&json::document(&records)?)?,
        FindingFormat::Text => console::result(&cookbook::render(&records, console::page()))?,
    };
    Ok(if stop.load(Ordering::Relaxed) {
        Exit::Interrupted
    } else {
        Exit::Done
    })
}

/// The cookbook's numbers of clients, and each time twice as many up to `to`.
fn numbers(to: Option<u32>) -> Vec<u32> {
    let mut numbers = CLIENTS.to_vec();
    let to = to.unwrap_or(0);
    while let Some(last) = numbers.last().copied().filter(|last| *last < to) {
        numbers.push(last.saturating_mul(2).min(to));
    }
    numbers
}

/// The command that a row is.
fn words(options: &CookbookOptions, size: &str, clients: u32) -> Vec<String> {
    let readers = clients / 2;
    let duration = options.duration.unwrap_or(ROW_NANOS);
    let mut words = vec![
        "fleet".into(),
        "--as=json".into(),
        format!("--readers={readers}"),
        format!("--writers={}", clients - readers),
        format!("--size={size}"),
        format!("--duration={duration}ns"),
    ];
    words.extend(options.rate.iter().map(|rate| format!("--rate={rate}")));
    words.push(options.target.clone().unwrap_or_else(|| "nfs:".into()));
    words
}

/// Runs a row in a process of its own: what one has taken of memory is no part of the next.
fn row(words: &[String]) -> Result<RunRecord, Error> {
    let program = std::env::current_exe();
    let program = program
        .map_err(|error| Error::environment(format!("cannot find this program: {error}")))?;
    let output = Command::new(program)
        .args(words)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Error::environment(format!("cannot start a row: {error}")))?;
    serde_json::from_slice(&output.stdout).map_err(|_| {
        let told = String::from_utf8_lossy(&output.stderr);
        let told = told.lines().find(|line| line.starts_with("error: "));
        let told = told
            .unwrap_or("error: it gave no record")
            .trim_start_matches("error: ");
        Error::target(told).with_help(format!("filestone {}", words.join(" ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_on_twice_as_many_each_time() {
        assert_eq!(numbers(None), CLIENTS);
        assert_eq!(numbers(Some(500)), CLIENTS);
        assert_eq!(numbers(Some(1500)), [2, 100, 250, 500, 1000, 1500]);
    }
}
