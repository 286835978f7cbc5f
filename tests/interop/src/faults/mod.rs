//! Runs against a server that misbehaves: it stops, dies, has no space or is slow, in each phase of
//! a run.
//!
//! Each cell of the matrix is one run of the unmodified program against the built-in server, as two
//! processes. A run must end by itself with the documented exit code and a balanced ledger, and
//! must report everything that it leaves on the server.

mod attempt;
mod cell;
mod command;
mod conditions;
mod expected_outcomes;
mod relay;
mod server;
mod verdict;

use crate::process::{self, Folder};
use crate::scenario::{self, Bed, Selection};
use crate::table;
use anyhow::Result;
use cell::{Cell, CommandKind, Fault, Phase};
use clap::Args;
use conditions::Trial;
use std::collections::VecDeque;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use verdict::{Verdict, VerdictKind};

/// Runs of a fleet of 500 clients.
const MANY_CLIENTS: &str = include_str!("many_clients.toml");
/// Largest number of attempts of a run whose fault missed its phase.
const ATTEMPTS: u32 = 4;

/// Options of `cargo xtask faults`.
#[derive(Debug, Clone, Args)]
pub struct Faults {
    /// Only the cells whose names hold all of these words, such as "frozen drain mix"; "crowd" for
    /// the fleet of 500 clients alone
    #[arg(long)]
    pub only: Option<String>,
    /// Runs at the same time; they mostly wait
    #[arg(long, default_value_t = 8)]
    pub jobs: usize,
    /// Number of runs of the whole matrix
    #[arg(long, default_value_t = 1)]
    pub rounds: u32,
    /// Faults of "prepare" meet this call of NFS, counted from 1, and not one in its middle
    #[arg(long)]
    pub prepare_call: Option<usize>,
    /// Print how each run ended, not only those that did not end well
    #[arg(short, long)]
    pub verbose: bool,
    /// The filestone to test [default: built for release]
    #[arg(long)]
    pub filestone: Option<PathBuf>,
}

/// A run of the matrix, or an additional one.
#[derive(Clone, Copy)]
enum Case {
    Cell(Cell),
    Trial(Trial),
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cell(cell) => cell.fmt(f),
            Self::Trial(trial) => trial.fmt(f),
        }
    }
}

/// Result of a run.
struct Judged {
    case: Case,
    verdict: Verdict,
}

impl Judged {
    fn is_of(&self, of: Cell) -> bool {
        matches!(self.case, Case::Cell(cell) if cell == of)
    }
}

/// Runs the matrix. Returns whether all went well.
pub fn run(options: &Faults) -> Result<bool> {
    let start = Instant::now();
    let filestone = match &options.filestone {
        Some(filestone) => filestone.clone(),
        None => process::build_filestone("release")?,
    };
    let mut is_good = true;
    if options.only.as_deref().is_none_or(|only| only == "crowd") {
        let folder = Folder::new("crowd")?;
        let bed = Bed::new(filestone.clone(), &folder.path, 0);
        is_good &= scenario::run(MANY_CLIENTS, &[], &bed, Selection::default())?;
    }
    for _ in 0..options.rounds {
        let judged = all(&filestone, options);
        print(&judged, options.verbose);
        is_good &= judged
            .iter()
            .all(|one| one.verdict.kind == VerdictKind::Good);
    }
    println!("faults: {:.1} s", start.elapsed().as_secs_f64());
    Ok(is_good)
}

fn cases(only: Option<&str>) -> VecDeque<Case> {
    let words: Vec<&str> = only.unwrap_or_default().split_whitespace().collect();
    let is_wanted = |case: &Case| {
        let name = case.to_string();
        words.iter().all(|word| name.contains(word))
    };
    let cells = Cell::all().into_iter().map(Case::Cell);
    let all = cells.chain(Trial::all().into_iter().map(Case::Trial));
    all.filter(is_wanted).collect()
}

/// Runs all these cells, several at a time.
fn all(filestone: &Path, options: &Faults) -> Vec<Judged> {
    let waiting = Mutex::new(cases(options.only.as_deref()));
    let judged = Mutex::new(Vec::new());
    let next = || {
        let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.pop_front()
    };
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.max(1) {
            scope.spawn(|| {
                while let Some(case) = next() {
                    let verdict = match case {
                        Case::Cell(cell) => one(filestone, cell, options.prepare_call),
                        Case::Trial(trial) => trial.judged(filestone),
                    };
                    eprintln!("{case}: {}", verdict.word);
                    let mut judged = judged.lock().unwrap_or_else(PoisonError::into_inner);
                    judged.push(Judged { case, verdict });
                }
            });
        }
    });
    judged.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a cell and repeats it while its fault misses its phase.
fn one(filestone: &Path, cell: Cell, prepare_call: Option<usize>) -> Verdict {
    let mut last = Verdict::bad("ERROR", "was not tried");
    for _ in 0..ATTEMPTS {
        last = match attempt::attempt(filestone, cell, prepare_call) {
            Ok(seen) => verdict::evaluate(cell, &seen),
            Err(error) => Verdict::bad("ERROR", format!("{error:#}")),
        };
        if last.kind != VerdictKind::Missed {
            break;
        }
    }
    last
}

fn print(judged: &[Judged], is_verbose: bool) {
    let of = |cell: Cell| judged.iter().find(|one| one.is_of(cell));
    let mut rows = Vec::new();
    for fault in Fault::ALL {
        for phase in Phase::ALL {
            let words: Vec<&str> = CommandKind::ALL
                .iter()
                .map(|&face| of(Cell { fault, phase, face }).map_or("", |one| one.verdict.word))
                .collect();
            if words.iter().any(|word| !word.is_empty()) {
                let names = [fault.name(), phase.name()];
                rows.push(names.into_iter().chain(words).map(String::from).collect());
            }
        }
    }
    let head = ["server", "in"].into_iter();
    let head: Vec<&str> = head
        .chain(CommandKind::ALL.map(CommandKind::name))
        .collect();
    print!("{}", table::lay_out(&head, &rows, false));
    let trials = judged
        .iter()
        .filter(|one| matches!(one.case, Case::Trial(_)));
    let rows = trials.map(|one| vec![one.case.to_string(), one.verdict.word.to_owned()]);
    let mut rows: Vec<Vec<String>> = rows.collect();
    rows.sort();
    print!(
        "{}",
        table::lay_out(&["condition, target, command", ""], &rows, false)
    );
    let is_told = |one: &&Judged| is_verbose || one.verdict.kind != VerdictKind::Good;
    for Judged { case, verdict } in judged.iter().filter(is_told) {
        println!("\n{case}: {}: {}", verdict.word, verdict.detail);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_sheet_can_be_read() {
        crate::scenario::check_sheet(super::MANY_CLIENTS, &[]);
    }
}
