//! filestone compared with the programs that it succeeds: the same load file, the same file system
//! or peer, in turns.
//!
//! dbench and tbench come from Debian's package `dbench` (4.0), smbtorture from `samba-testsuite`.
//! Each pair of runs gives a ratio; the table has the medians. Both programs run for the same time
//! with the same warm-up, and both figures come from the same line of output.

mod dbench;
mod smb;

use crate::figures::{in_turns, median};
use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use dbench::Figures;
use filestone_interop::process::{self, Folder};
use filestone_interop::table::lay_out;
use filestone_interop::{processors, tool};
use std::path::{Path, PathBuf};

/// Options of `cargo xtask compare-tools`.
#[derive(Debug, Clone, Args)]
pub struct Versus {
    /// The programs that filestone is compared with
    #[arg(value_enum, default_value_t = Ancestors::Dbench)]
    pub ancestors: Ancestors,
    /// Pairs of runs per case
    #[arg(long, default_value_t = 5)]
    pub rounds: usize,
    /// Length of each measured window in seconds; a fifth of it comes before as warm-up
    #[arg(long, default_value_t = 5)]
    pub seconds: u32,
    /// Only cases whose name contains this
    #[arg(long)]
    pub only: Option<String>,
    /// The directory of the files, on a file system that is worth measuring
    #[arg(long, default_value = "/dev/shm")]
    pub directory: PathBuf,
    /// Print the table for docs/benchmarks.md
    #[arg(long)]
    pub markdown: bool,
    /// Exit with an error if a bar is missed
    #[arg(long)]
    pub strict: bool,
}

/// Programs that filestone succeeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Ancestors {
    /// dbench and tbench
    Dbench,
    /// smbtorture, both against one Samba
    Smb,
}

/// Program, directories and options that a case needs to run.
pub struct Bed {
    /// The filestone program.
    pub filestone: PathBuf,
    /// Directory for temporary output.
    pub folder: Folder,
    /// Directory for files.
    pub directory: PathBuf,
    /// Seconds per run.
    pub seconds: u32,
}

/// A row of the table.
pub struct Comparison {
    /// Name of the comparison.
    pub name: &'static str,
    /// Median of the ancestor.
    pub reference: f64,
    /// Median of filestone.
    pub generator: f64,
    /// Median of the pairs' ratios, filestone to ancestor.
    pub ratio: f64,
    /// Bar of the ratio.
    pub bar: Bar,
    /// Unit of both figures.
    pub unit: &'static str,
}

/// Bar of a ratio.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bar {
    /// At least this.
    AtLeast(f64),
    /// At most this.
    AtMost(f64),
    /// No bar: the figure explains others.
    Told,
}

impl Bar {
    /// Whether `ratio` meets the bar.
    pub fn is_met(self, ratio: f64) -> bool {
        match self {
            Bar::AtLeast(bar) => ratio >= bar,
            Bar::AtMost(bar) => ratio <= bar,
            Bar::Told => true,
        }
    }

    fn text(self) -> String {
        match self {
            Bar::AtLeast(bar) => format!("≥ {bar:.2}"),
            Bar::AtMost(bar) => format!("≤ {bar:.2}"),
            Bar::Told => String::new(),
        }
    }
}

/// Runs every case and prints the table. Returns whether every bar was met.
pub fn run(options: &Versus) -> Result<bool> {
    if options.rounds == 0 || options.seconds == 0 {
        bail!("--rounds and --seconds must be at least 1");
    }
    tool::install(match options.ancestors {
        Ancestors::Dbench => dbench::NEEDED,
        Ancestors::Smb => smb::NEEDED,
    })?;
    let bed = Bed {
        filestone: process::build_filestone("dist")?,
        folder: Folder::new("beside")?,
        directory: options.directory.clone(),
        seconds: options.seconds,
    };
    processors::busy_share_before()?;
    let rows = match options.ancestors {
        Ancestors::Dbench => beside_dbench(&bed, options)?,
        Ancestors::Smb => smb::compare(&bed, options.rounds, options.only.as_deref())?,
    };
    let is_met = rows.iter().all(|row| row.bar.is_met(row.ratio));
    print!("{}", render(&rows, options.markdown));
    Ok(is_met || !options.strict)
}

/// A figure that a pair of runs compares: name of a row, and its bar.
struct Figure<T> {
    name: &'static str,
    unit: &'static str,
    bar: Bar,
    of: fn(&T) -> f64,
}

/// Runs both sides in turns and makes a row of each figure.
fn pairs<T>(
    rounds: usize,
    figures: &[Figure<T>],
    reference: &dyn Fn() -> Result<T>,
    filestone: &dyn Fn() -> Result<T>,
) -> Result<Vec<Comparison>> {
    let runs = in_turns(rounds, reference, filestone)?;
    let row = |figure: &Figure<T>| {
        let all = |of: &dyn Fn(&(T, T)) -> f64| median(&runs.iter().map(of).collect::<Vec<_>>());
        Comparison {
            name: figure.name,
            reference: all(&|(reference, _)| (figure.of)(reference)),
            generator: all(&|(_, filestone)| (figure.of)(filestone)),
            ratio: all(&|(reference, filestone)| (figure.of)(filestone) / (figure.of)(reference)),
            bar: figure.bar,
            unit: figure.unit,
        }
    };
    Ok(figures.iter().map(row).collect())
}

/// Comparisons with dbench, and with tbench if they are over TCP: name, number of clients, and
/// options of both programs. `--fake-io` omits reads and writes.
const BESIDE_DBENCH: [(&str, u32, &[&str]); 7] = [
    ("local, 1 client", 1, &[]),
    ("local, 2 clients", 2, &[]),
    ("local, 4 clients", 4, &[]),
    ("user CPU per line, --fake-io", 1, &["--fake-io"]),
    ("tcp, 1 client", 1, &[]),
    ("tcp, 2 clients", 2, &[]),
    ("tcp, 4 clients", 4, &[]),
];

fn beside_dbench(bed: &Bed, options: &Versus) -> Result<Vec<Comparison>> {
    if !Path::new(dbench::LOAD).exists() {
        bail!(
            "{}: there is no such file\nhelp: it is in Debian's package dbench",
            dbench::LOAD
        );
    }
    let mut rows = Vec::new();
    for (name, clients, more) in BESIDE_DBENCH {
        let only = options.only.as_deref();
        if only.is_some_and(|only| !name.contains(only)) {
            continue;
        }
        eprintln!("{name}");
        let figure = if more.is_empty() {
            Figure {
                name,
                unit: "MB/s",
                bar: Bar::AtLeast(1.0),
                of: |figures: &Figures| figures.mb_per_s,
            }
        } else {
            Figure {
                name,
                unit: "ns",
                bar: Bar::AtMost(0.5),
                of: Figures::user_ns_per_line,
            }
        };
        let (rounds, figures) = (options.rounds, [figure]);
        rows.extend(if name.starts_with("tcp") {
            let _peer = dbench::start_peer()?;
            let reference = || dbench::tbench(bed, clients);
            pairs(rounds, &figures, &reference, &|| dbench::tcp(bed, clients))?
        } else {
            let reference = || dbench::dbench(bed, clients, more);
            pairs(rounds, &figures, &reference, &|| {
                dbench::local(bed, clients, more)
            })?
        });
    }
    Ok(rows)
}

fn render(rows: &[Comparison], is_markdown: bool) -> String {
    let head = ["case", "reference", "filestone", "unit", "ratio", "bar", ""];
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let verdict = if row.bar.is_met(row.ratio) {
                ""
            } else {
                "MISSED"
            };
            vec![
                row.name.to_owned(),
                figure(row.reference),
                figure(row.generator),
                row.unit.into(),
                format!("{:.3}", row.ratio),
                row.bar.text(),
                verdict.into(),
            ]
        })
        .collect();
    lay_out(&head, &rows, is_markdown)
}

/// Formats a value with one decimal place, below 10 with two.
fn figure(value: f64) -> String {
    if value < 10.0 {
        format!("{value:.2}")
    } else {
        format!("{value:.1}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_met_at_its_edge() {
        assert!(Bar::AtLeast(1.0).is_met(1.0) && !Bar::AtLeast(1.0).is_met(0.99));
        assert!(Bar::AtMost(0.5).is_met(0.5) && !Bar::AtMost(0.5).is_met(0.51));
    }
}
