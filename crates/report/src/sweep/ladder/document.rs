//! Output of a ladder for `--format json` and `--format csv`. A ladder resumes from the same document.

use super::{LadderRung, begun, has, name_of, rungs, rungs_of};
use crate::JsonSchema;
use crate::sweep::SweepReport;
use crate::sweep::document::column_of;
use crate::sweep::rounds_document::{PointCounts, RoundsDocument};
use filestone_measure::figure::AveragedFigure;
use filestone_measure::sweep::LADDER_FIGURES;
use filestone_plan::gate::GateFigure;
use filestone_plan::plan::Plan;
use serde::{Deserialize, Serialize};

/// Format version of [`LadderDocument`]; increased when the shape changes.
pub const FORMAT: u32 = 1;

/// `ladder.json`: the rungs and their results.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct LadderDocument {
    /// Format version of this document.
    pub format: u32,
    /// Order and end of its runs; points are rungs here.
    #[serde(flatten)]
    pub rounds: RoundsDocument,
    /// Rungs, from the lowest.
    pub rungs: Vec<RungDocument>,
}

/// A rung.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct RungDocument {
    /// Name of the rung.
    pub name: String,
    /// Counts over its runs.
    #[serde(flatten)]
    pub counts: PointCounts,
    /// The next lower rung that was measured; steps are differences to it.
    pub below: Option<String>,
    /// Figures of the rung.
    pub figures: Vec<RungFigureDocument>,
    /// Plan of its first run.
    pub plan: Plan,
}

/// A figure of a rung.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct RungFigureDocument {
    /// Name of the figure.
    pub name: String,
    /// Unit of the figure; empty for a number.
    pub unit: String,
    /// Whether the figure includes an unmeasured operation that accompanies each measured one.
    #[serde(alias = "has_companion")]
    pub has_unmeasured: bool,
    /// Mean over runs.
    #[serde(flatten)]
    pub mean: MeanDocument,
    /// Difference to the rung below, run by run.
    pub step: Option<MeanDocument>,
}

/// A mean over runs, or over pairs of them.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
pub struct MeanDocument {
    /// Value; the mean if there are several runs.
    pub value: f64,
    /// Lower end of its interval, if it has one.
    pub low: Option<f64>,
    /// Upper end of its interval.
    pub high: Option<f64>,
    /// Number of runs, or of pairs of runs, that have it.
    pub runs: usize,
}

impl From<AveragedFigure> for MeanDocument {
    fn from(known: AveragedFigure) -> Self {
        Self {
            value: known.value,
            low: known.low(),
            high: known.high(),
            runs: known.runs,
        }
    }
}

/// Returns the document.
pub fn of(ladder: &SweepReport) -> LadderDocument {
    LadderDocument {
        format: FORMAT,
        rounds: ladder.into(),
        rungs: rungs(ladder).map(|rung| document_of(&rung)).collect(),
    }
}

fn document_of(rung: &LadderRung<'_>) -> RungDocument {
    let figures = rung.point.tally.means().into_iter();
    RungDocument {
        name: rung.name().into(),
        counts: rung.point.into(),
        below: rung.below.map(|below| name_of(below).into()),
        figures: figures.map(|known| figure(rung, known)).collect(),
        plan: rung.point.plan.clone(),
    }
}

fn figure(rung: &LadderRung<'_>, known: AveragedFigure) -> RungFigureDocument {
    RungFigureDocument {
        name: known.name.to_string(),
        unit: known.name.unit().name().into(),
        has_unmeasured: known.has_unmeasured,
        mean: known.into(),
        step: rung.step(known.name).map(MeanDocument::from),
    }
}

impl LadderDocument {
    /// Returns the ladder without runs.
    pub fn into_ladder(self) -> SweepReport {
        let rounds = self.rounds;
        let failed = self.rungs.iter().map(|rung| rung.counts.failed.clone());
        let failed: Vec<Option<String>> = failed.collect();
        let plans = self.rungs.into_iter().map(|rung| (rung.name, rung.plan));
        let mut ladder = begun(rungs_of(plans), rounds.wanted(), rounds.seed);
        for (point, failed) in ladder.points.iter_mut().zip(failed) {
            point.failed = failed;
        }
        (ladder.end, ladder.order) = (rounds.end, rounds.places());
        ladder
    }
}

/// Suffixes of the columns of each figure.
const ENDS: [&str; 6] = ["", "_low", "_high", "_step", "_step_low", "_step_high"];

/// Formats a row per rung, with units in the names of the columns.
pub fn csv(ladder: &SweepReport) -> String {
    let all = LADDER_FIGURES.into_iter();
    let figures: Vec<GateFigure> = all.filter(|figure| has(ladder, *figure)).collect();
    let mut heads: Vec<String> = std::iter::once("rung")
        .chain(PointCounts::COLUMNS)
        .map(String::from)
        .collect();
    heads.extend(figures.iter().flat_map(|figure| {
        let column = column_of(figure);
        ENDS.map(|end| format!("{column}{end}"))
    }));
    let rows = rungs(ladder).map(|rung| row(&rung, &figures));
    let lines = std::iter::once(heads).chain(rows);
    lines.map(|line| line.join(",") + "\n").collect()
}

fn row(rung: &LadderRung<'_>, figures: &[GateFigure]) -> Vec<String> {
    let mut cells = vec![rung.name().to_owned()];
    cells.extend(PointCounts::from(rung.point).cells());
    let number = |number: Option<f64>| number.map_or_else(String::new, |it| format!("{it:.3}"));
    for figure in figures {
        for known in [rung.mean(*figure), rung.step(*figure)] {
            let known = known.map(MeanDocument::from);
            let ends = known.map(|known| [Some(known.value), known.low, known.high]);
            cells.extend(ends.unwrap_or_default().map(number));
        }
    }
    cells
}
