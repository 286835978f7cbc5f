//! Caveats of many runs: each is printed once, with the number of runs that have it.

use crate::{advice, console};
use filestone_measure::measure::{Caveat, RunRecord};
use std::collections::BTreeMap;

/// Caveats of many runs.
#[derive(Debug, Default)]
pub struct CaveatSummary {
    runs: usize,
    found: BTreeMap<&'static str, Found>,
}

/// A caveat, from the first run that has it.
#[derive(Debug)]
struct Found {
    caveat: Caveat,
    advice: Option<String>,
    runs: usize,
}

impl CaveatSummary {
    /// Adds the caveats of a run.
    pub fn add(&mut self, record: &RunRecord) {
        self.runs += 1;
        for caveat in &record.caveats {
            let first = || Found {
                caveat: caveat.clone(),
                advice: advice::of(caveat, record),
                runs: 0,
            };
            self.found.entry(caveat.id()).or_insert_with(first).runs += 1;
        }
    }

    /// Prints the caveats.
    pub fn tell(&self) {
        for (name, found) in &self.found {
            console::caveat_with(&found.caveat, found.advice.as_deref());
            if found.runs < self.runs {
                console::note(&format!(
                    "{name}: in {} of {} runs; this is of the first",
                    found.runs, self.runs
                ));
            }
        }
    }
}
