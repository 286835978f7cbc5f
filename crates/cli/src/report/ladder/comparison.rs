//! Two ladders side by side: what each rung takes and costs in either, and the difference.

use super::{Ladder, LadderRung, NONE, cell, heading, more};
use crate::report::ladder::document::MeanDocument;
use crate::report::parts::page::Page;
use crate::report::parts::table::{Column, Table};
use crate::report::sweep::document::named;
use filestone_measure::ladder::{LadderFigure, LadderValue, difference, difference_of_steps};
use filestone_workload::statistics::CONFIDENCE;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;

/// The figures that have a table.
const SHOWN: [(LadderFigure, &str); 4] = [
    (LadderFigure::Response, "Mean response time"),
    (LadderFigure::ResponseP50, "Median response time"),
    (
        LadderFigure::ServerCpu,
        "Processor time of the server for each operation",
    ),
    (
        LadderFigure::ServerSwitches,
        "Context switches of the server for each operation",
    ),
];

/// Two ladders.
#[derive(Debug, Clone, Copy)]
pub struct ComparedLadders<'ladder> {
    /// What the other is held against.
    pub base: &'ladder Ladder,
    /// The other.
    pub new: &'ladder Ladder,
}

/// What `filestone compare --as json` prints of two ladders.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LadderComparison {
    /// The shape of this document.
    pub format: u32,
    /// With which probability intervals hold what they are about.
    pub confidence: f64,
    /// The rungs that both have, from the lowest.
    pub rungs: Vec<ComparedRung>,
}

/// A rung of both.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ComparedRung {
    /// What it is called.
    pub name: String,
    /// Figure by figure.
    pub figures: Vec<ComparedFigure>,
}

/// A figure of a rung of both.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ComparedFigure {
    /// Its name.
    pub name: String,
    /// What it is counted in; nothing of a number.
    pub unit: String,
    /// Whether an unmeasured operation that goes with each measured one is in it.
    pub has_companion: bool,
    /// Of the base.
    pub base: MeanDocument,
    /// Of the other.
    pub new: MeanDocument,
    /// How much more it is in the other.
    pub difference: MeanDocument,
    /// How much more the step from the rung below is in the other, if that is the same rung in both.
    pub step_difference: Option<MeanDocument>,
}

/// A figure that both have.
struct Both {
    base: LadderValue,
    new: LadderValue,
    more: LadderValue,
    /// Of the steps.
    more_added: Option<LadderValue>,
}

impl<'ladder> ComparedLadders<'ladder> {
    /// The rungs of both, by their names.
    fn rungs(self) -> impl Iterator<Item = (LadderRung<'ladder>, LadderRung<'ladder>)> {
        self.base.rungs().filter_map(move |base| {
            let mut all = self.new.rungs();
            let new = all.find(|new| new.name() == base.name())?;
            Some((base, new))
        })
    }

    fn has(self, figure: LadderFigure) -> bool {
        let mut rungs = self.rungs();
        rungs.any(|(base, new)| both(&base, &new, figure).is_some())
    }
}

fn both(base: &LadderRung<'_>, new: &LadderRung<'_>, figure: LadderFigure) -> Option<Both> {
    Some(Both {
        base: base.tally.value(figure)?,
        new: new.tally.value(figure)?,
        more: difference(base.tally, new.tally, figure)?,
        more_added: more_added(base, new, figure),
    })
}

/// What the step to a rung is more, where both are from the same one.
fn more_added(
    base: &LadderRung<'_>,
    new: &LadderRung<'_>,
    figure: LadderFigure,
) -> Option<LadderValue> {
    let is_same = base.below.map(|(name, _)| name) == new.below.map(|(name, _)| name);
    let (base, new) = (base.pair()?, new.pair()?);
    is_same.then(|| difference_of_steps(base, new, figure))?
}

/// Tables.
pub fn text(compared: ComparedLadders<'_>, page: Page) -> String {
    let mut text = String::new();
    for (name, ladder) in [("base", compared.base), ("new", compared.new)] {
        text.push_str(&page.prose(&format!("{name}: {}", heading(ladder))));
    }
    let shown = SHOWN.iter().filter(|(figure, _)| compared.has(*figure));
    for (figure, name) in shown {
        text.push_str(&format!("\n{name}\n"));
        text.push_str(&table(compared, *figure).render(page));
    }
    text.push('\n');
    text.push_str(&page.prose(
        "difference: how much more it is in the new one; adds more: the same of the step from the rung \
         below, so without what the two ladders differ by as a whole. 95 % intervals (Welch's t over runs).",
    ));
    text
}

fn table(compared: ComparedLadders<'_>, figure: LadderFigure) -> Table {
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

/// The document.
pub fn document(compared: ComparedLadders<'_>) -> LadderComparison {
    let rungs = compared.rungs().map(|(base, new)| ComparedRung {
        name: base.name().into(),
        figures: LadderFigure::ALL
            .iter()
            .filter_map(|figure| both(&base, &new, *figure))
            .map(|both| ComparedFigure {
                name: both.more.figure.name().into(),
                unit: both.more.figure.unit().name().into(),
                has_companion: both.more.has_companion,
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

/// A row per rung and figure.
pub fn csv(compared: ComparedLadders<'_>) -> String {
    let mut text = String::from(
        "rung,figure,base,new,difference,difference_low,difference_high,step_difference,step_difference_low,step_difference_high\n",
    );
    for rung in document(compared).rungs {
        for figure in rung.figures {
            let number =
                |number: Option<f64>| number.map_or_else(String::new, |it| format!("{it:.3}"));
            let ComparedFigure {
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
