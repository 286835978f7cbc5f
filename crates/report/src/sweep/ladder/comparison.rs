//! Two ladders side by side: the times and costs of each rung in both, and the difference.

use super::{LadderRung, NONE, RESPONSE_P50, cell, heading, more, name_of, rungs};
use crate::JsonSchema;
use crate::document::Document;
use crate::document::table::{Column, Table};
use crate::sweep::document::named;
use crate::sweep::ladder::document::MeanDocument;
use crate::sweep::{MEAN, SweepReport, of_run};
use filestone_measure::figure::AveragedFigure;
use filestone_measure::sweep::{LADDER_FIGURES, difference, difference_of_steps};
use filestone_plan::gate::{GateFigure, RunTotal};
use filestone_workload::statistics::CONFIDENCE;
use serde::Serialize;

/// Figures that have a table.
const SHOWN: [(GateFigure, &str); 4] = [
    (MEAN, "Mean response time"),
    (RESPONSE_P50, "Median response time"),
    (
        of_run(RunTotal::ServerCpu),
        "Processor time of the server for each operation",
    ),
    (
        of_run(RunTotal::ServerSwitches),
        "Context switches of the server for each operation",
    ),
];

/// The two ladders of a comparison.
#[derive(Debug, Clone, Copy)]
pub struct ComparedLadders<'ladder> {
    /// The baseline.
    pub base: &'ladder SweepReport,
    /// The ladder that is compared with it.
    pub new: &'ladder SweepReport,
}

/// Output of `filestone compare --format json` for two ladders.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LadderComparison {
    /// Format version of this document.
    pub format: u32,
    /// Confidence level of the intervals, as a probability.
    pub confidence: f64,
    /// Rungs that both ladders have, from the lowest.
    pub rungs: Vec<ComparedRung>,
}

/// A rung of both ladders.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ComparedRung {
    /// Name of the rung.
    pub name: String,
    /// Figures of the rung.
    pub figures: Vec<ComparedRungFigure>,
}

/// A figure of a rung in both ladders.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ComparedRungFigure {
    /// Name of the figure.
    pub name: String,
    /// Unit of the figure; empty for a number.
    pub unit: String,
    /// Whether the figure includes an unmeasured operation that accompanies each measured one.
    pub has_unmeasured: bool,
    /// Mean in the base.
    pub base: MeanDocument,
    /// Mean in the other ladder.
    pub new: MeanDocument,
    /// Difference of the other ladder to the base.
    pub difference: MeanDocument,
    /// Difference of the steps from the rung below, if that is the same rung in both.
    pub step_difference: Option<MeanDocument>,
}

/// A figure that both ladders have.
struct Both {
    base: AveragedFigure,
    new: AveragedFigure,
    more: AveragedFigure,
    /// Difference of the steps.
    more_added: Option<AveragedFigure>,
}

impl<'ladder> ComparedLadders<'ladder> {
    /// Returns the rungs of both ladders, matched by name.
    fn rungs(self) -> impl Iterator<Item = (LadderRung<'ladder>, LadderRung<'ladder>)> {
        rungs(self.base).filter_map(move |base| {
            let mut all = rungs(self.new);
            let new = all.find(|new| new.name() == base.name())?;
            Some((base, new))
        })
    }

    fn has(self, figure: GateFigure) -> bool {
        let mut rungs = self.rungs();
        rungs.any(|(base, new)| both(&base, &new, figure).is_some())
    }
}

fn both(base: &LadderRung<'_>, new: &LadderRung<'_>, figure: GateFigure) -> Option<Both> {
    Some(Both {
        base: base.mean(figure)?,
        new: new.mean(figure)?,
        more: difference(&base.point.tally, &new.point.tally, figure)?,
        more_added: more_added(base, new, figure),
    })
}

/// Returns the difference of the steps to a rung, if both start from the same one.
fn more_added(
    base: &LadderRung<'_>,
    new: &LadderRung<'_>,
    figure: GateFigure,
) -> Option<AveragedFigure> {
    let is_same = base.below.map(name_of) == new.below.map(name_of);
    let (base, new) = (base.pair()?, new.pair()?);
    is_same.then(|| difference_of_steps(base, new, figure))?
}

/// Returns the tables.
pub fn report(compared: ComparedLadders<'_>) -> Document {
    let ladders = [("base", compared.base), ("new", compared.new)];
    let headings = ladders.map(|(name, ladder)| format!("{name}: {}", heading(ladder)));
    let shown = SHOWN.iter().filter(|(figure, _)| compared.has(*figure));
    let document = shown.fold(
        Document::default().prose(headings),
        |document, (figure, name)| document.titled(name, table(compared, *figure)),
    );
    document.blank().prose([
        "difference: how much more it is in the new one; adds more: the same of the step from the rung \
         below, so without what the two ladders differ by as a whole. 95 % intervals (Welch's t over runs).",
    ])
}

fn table(compared: ComparedLadders<'_>, figure: GateFigure) -> Table {
    let mut table = Table::new([
        Column::text("rung"),
        Column::figure("base"),
        Column::figure("new"),
        Column::figure("difference"),
        Column::figure("adds more"),
    ]);
    for (base, new) in compared.rungs() {
        if let Some(both) = both(&base, &new, figure) {
            table.row([
                base.name().to_owned(),
                cell(&both.base, true),
                cell(&both.new, true),
                more(&both.more),
                both.more_added.map_or_else(|| NONE.into(), |it| more(&it)),
            ]);
        }
    }
    table
}

/// Returns the document.
pub fn document(compared: ComparedLadders<'_>) -> LadderComparison {
    let rungs = compared.rungs().map(|(base, new)| ComparedRung {
        name: base.name().into(),
        figures: LADDER_FIGURES
            .into_iter()
            .filter_map(|figure| both(&base, &new, figure))
            .map(|both| ComparedRungFigure {
                name: both.more.name.to_string(),
                unit: both.more.name.unit().name().into(),
                has_unmeasured: both.more.has_unmeasured,
                base: both.base.into(),
                new: both.new.into(),
                difference: both.more.into(),
                step_difference: both.more_added.map(MeanDocument::from),
            })
            .collect(),
    });
    LadderComparison {
        format: super::document::FORMAT,
        confidence: CONFIDENCE,
        rungs: rungs.collect(),
    }
}

/// Formats a row per rung and figure.
pub fn csv(compared: ComparedLadders<'_>) -> String {
    let mut text = String::from(
        "rung,figure,base,new,difference,difference_low,difference_high,step_difference,step_difference_low,step_difference_high\n",
    );
    for rung in document(compared).rungs {
        for figure in rung.figures {
            let number =
                |number: Option<f64>| number.map_or_else(String::new, |it| format!("{it:.3}"));
            let ComparedRungFigure {
                base,
                new,
                difference,
                step_difference: step,
                ..
            } = figure;
            let cells = [
                Some(base.value),
                Some(new.value),
                Some(difference.value),
                difference.low,
                difference.high,
                step.map(|step| step.value),
                step.and_then(|step| step.low),
                step.and_then(|step| step.high),
            ];
            let cells = cells.map(number).join(",");
            let name = named(&figure.name, &figure.unit);
            text.push_str(&format!("{},{name},{cells}\n", rung.name));
        }
    }
    text
}
