//! What `--as json` and `--as csv` print of a ladder. The same document is what a ladder goes on from.

use super::{Ladder, LadderRung, rungs};
use crate::report::sweep::document::named;
use crate::report::sweep::rounds_document::{PointCounts, RoundsDocument};
use filestone_measure::ladder::{LadderFigure, LadderValue};
use filestone_plan::plan::Plan;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The shape of [`LadderDocument`]; it rises when that changes.
pub const FORMAT: u32 = 1;

/// `ladder.json`: the rungs, and what they come to.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LadderDocument {
    /// The shape of this document.
    pub format: u32,
    /// How its runs were made; what is said of points there is of rungs.
    #[serde(flatten)]
    pub rounds: RoundsDocument,
    /// The rungs, from the lowest.
    pub rungs: Vec<RungDocument>,
}

/// A rung.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct RungDocument {
    /// What it is called.
    pub name: String,
    /// What is counted over its runs.
    #[serde(flatten)]
    pub counts: PointCounts,
    /// The next rung below that was measured: what steps are from.
    pub below: Option<String>,
    /// Figure by figure.
    pub figures: Vec<RungFigureDocument>,
    /// What its first run is to do.
    pub plan: Plan,
}

/// A figure of a rung.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct RungFigureDocument {
    /// Its name.
    pub name: String,
    /// What it is counted in; nothing of a number.
    pub unit: String,
    /// Whether an unmeasured operation that goes with each measured one is in it.
    pub has_companion: bool,
    /// The mean over runs.
    #[serde(flatten)]
    pub mean: MeanDocument,
    /// What it is more than that of the rung below, run by run.
    pub step: Option<MeanDocument>,
}

/// A mean over runs, or over pairs of them.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct MeanDocument {
    /// Of several runs their mean.
    pub value: f64,
    /// The lower end of its interval, if it has one.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// Runs that have it, or pairs of runs.
    pub runs: usize,
}

impl From<LadderValue> for MeanDocument {
    fn from(known: LadderValue) -> Self {
        let interval = known.interval();
        Self {
            value: known.value,
            low: interval.map(|(low, _)| low),
            high: interval.map(|(_, high)| high),
            runs: known.runs,
        }
    }
}

/// The document.
pub fn of(ladder: &Ladder) -> LadderDocument {
    LadderDocument {
        format: FORMAT,
        rounds: (&ladder.swept).into(),
        rungs: ladder.rungs().map(|rung| document_of(&rung)).collect(),
    }
}

fn document_of(rung: &LadderRung<'_>) -> RungDocument {
    let figures = rung.tally.values().into_iter();
    RungDocument {
        name: rung.name().into(),
        counts: counts_of(rung),
        below: rung.below.map(|(name, _)| name.into()),
        figures: figures.map(|known| figure(rung, known)).collect(),
        plan: rung.point.plan.clone(),
    }
}

fn counts_of(rung: &LadderRung<'_>) -> PointCounts {
    PointCounts {
        runs: rung.tally.runs(),
        ..rung.point.into()
    }
}

fn figure(rung: &LadderRung<'_>, known: LadderValue) -> RungFigureDocument {
    RungFigureDocument {
        name: known.figure.name().into(),
        unit: known.figure.unit().name().into(),
        has_companion: known.has_companion,
        mean: known.into(),
        step: rung.step(known.figure).map(MeanDocument::from),
    }
}

impl LadderDocument {
    /// The ladder, of which no run has been counted yet.
    pub fn into_ladder(self) -> Ladder {
        let rounds = self.rounds;
        let failed = self.rungs.iter().map(|rung| rung.counts.failed.clone());
        let failed: Vec<Option<String>> = failed.collect();
        let plans = self.rungs.into_iter().map(|rung| (rung.name, rung.plan));
        let mut ladder = Ladder::begun(rungs(plans), rounds.wanted(), rounds.seed);
        for (point, failed) in ladder.swept.points.iter_mut().zip(failed) {
            point.failed = failed;
        }
        ladder.swept.end = rounds.end;
        ladder.swept.order = rounds.places();
        ladder
    }
}

/// What stands of each figure.
const ENDS: [&str; 6] = ["", "_low", "_high", "_step", "_step_low", "_step_high"];

/// A row per rung, units in the names of the columns.
pub fn csv(ladder: &Ladder) -> String {
    let all = LadderFigure::ALL.iter().copied();
    let figures: Vec<LadderFigure> = all.filter(|figure| ladder.has(*figure)).collect();
    let mut heads: Vec<String> = std::iter::once("rung")
        .chain(PointCounts::COLUMNS)
        .map(String::from)
        .collect();
    heads.extend(figures.iter().flat_map(|figure| {
        let column = named(figure.name(), figure.unit().name());
        ENDS.map(|end| format!("{column}{end}"))
    }));
    let rows = ladder.rungs().map(|rung| row(&rung, &figures));
    let lines = std::iter::once(heads).chain(rows);
    lines.map(|line| line.join(",") + "\n").collect()
}

fn row(rung: &LadderRung<'_>, figures: &[LadderFigure]) -> Vec<String> {
    let mut cells = vec![rung.name().to_owned()];
    cells.extend(counts_of(rung).cells());
    let number = |number: Option<f64>| number.map_or_else(String::new, |it| format!("{it:.3}"));
    for figure in figures {
        for known in [rung.tally.value(*figure), rung.step(*figure)] {
            let known = known.map(MeanDocument::from);
            let ends = known.map(|known| [Some(known.value), known.low, known.high]);
            cells.extend(ends.unwrap_or_default().map(number));
        }
    }
    cells
}
