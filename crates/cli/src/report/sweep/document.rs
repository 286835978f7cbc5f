//! A sweep for programs: JSON with a schema, and a row per point. The same document is what a sweep goes
//! on from.

use super::rounds_document::{PointCounts, RoundsDocument};
use super::{SweepReport, SweptLine, SweptPoint};
use filestone_measure::sweep::{
    PointFigure, PointTally, PointTotal, RunLevelFigure, SweepKnee, SweepParameter, SweepValue,
};
use filestone_plan::gate::GateFigure;
use filestone_plan::plan::Plan;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The shape of [`SweepDocument`]; it rises when that changes.
pub const FORMAT: u32 = 1;

/// `sweep.json`: what is swept, and what the points come to.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SweepDocument {
    /// The shape of this document.
    pub format: u32,
    /// The command line behind `--`.
    pub command: Vec<String>,
    /// Whether it is the read study.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_study: bool,
    /// What it goes over: one option or two.
    pub parameters: Vec<SweepParameter>,
    /// How its runs were made.
    #[serde(flatten)]
    pub rounds: RoundsDocument,
    /// The figure that is looked at.
    pub figure: String,
    /// Where the figure bends, if it does, for each value of the second parameter.
    pub knees: Vec<KneeDocument>,
    /// The points: those of one value of the second parameter stand together.
    pub points: Vec<SweepPointDocument>,
}

/// Where the figure bends.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct KneeDocument {
    /// The value of the second parameter, if there is one.
    pub of: Option<String>,
    /// The knee.
    #[serde(flatten)]
    pub knee: SweepKnee,
}

/// A point.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SweepPointDocument {
    /// A value of each parameter.
    pub values: Vec<SweepValue>,
    /// What is counted over its runs.
    #[serde(flatten)]
    pub counts: PointCounts,
    /// Figure by figure.
    pub figures: Vec<PointFigureDocument>,
    /// What its first run is to do.
    pub plan: Plan,
}

/// A figure of a point.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PointFigureDocument {
    /// Its name.
    pub name: String,
    /// What it is counted in.
    pub unit: String,
    /// Runs that have it.
    pub runs: usize,
    /// Of several runs their geometric mean.
    pub value: f64,
    /// The lower end of its interval, if it has one.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// By what the logarithms of single runs differ, one standard deviation.
    pub deviation: Option<f64>,
}

/// The document.
pub fn of(swept: &SweepReport) -> SweepDocument {
    SweepDocument {
        format: FORMAT,
        command: swept.command.clone(),
        is_study: swept.is_study,
        parameters: swept.parameters.clone(),
        rounds: swept.into(),
        figure: swept.figure.to_string(),
        knees: swept.lines().iter().filter_map(knee_of).collect(),
        points: swept.points.iter().map(point).collect(),
    }
}

fn knee_of(line: &SweptLine<'_>) -> Option<KneeDocument> {
    let second = line.points.first().and_then(|point| point.values.get(1));
    Some(KneeDocument {
        of: second.map(|value| value.text.clone()),
        knee: line.knee()?,
    })
}

fn point(point: &SweptPoint) -> SweepPointDocument {
    SweepPointDocument {
        values: point.values.clone(),
        counts: point.into(),
        figures: figures_of(point),
        plan: point.plan.clone(),
    }
}

/// Those of operations, then those that only whole runs have.
fn figures_of(point: &SweptPoint) -> Vec<PointFigureDocument> {
    let figures = point.tally.figures().into_iter();
    let totals = point.tally.totals().into_iter();
    figures
        .map(|known| figure(&known))
        .chain(totals.map(total))
        .collect()
}

fn total(known: PointTotal) -> PointFigureDocument {
    PointFigureDocument {
        name: known.total.name().into(),
        unit: known.unit.into(),
        runs: known.runs,
        value: known.value,
        low: known.interval.map(|(low, _)| low),
        high: known.interval.map(|(_, high)| high),
        deviation: None,
    }
}

fn figure(known: &PointFigure) -> PointFigureDocument {
    PointFigureDocument {
        name: known.figure.to_string(),
        unit: known.figure.quantity.unit().name().into(),
        runs: known.runs,
        value: known.value,
        low: known.interval.map(|(low, _)| low),
        high: known.interval.map(|(_, high)| high),
        deviation: known.deviation,
    }
}

impl SweepDocument {
    /// The sweep, of which no run has been counted yet; `None` if its figure has no such name.
    pub fn into_sweep(self) -> Option<SweepReport> {
        let figure: GateFigure = self.figure.parse().ok()?;
        let points = self.points.into_iter().map(|point| SweptPoint {
            values: point.values,
            plan: point.plan,
            tally: PointTally::new(figure),
            failed: point.counts.failed,
        });
        Some(SweepReport {
            points: points.collect(),
            command: self.command,
            is_study: self.is_study,
            parameters: self.parameters,
            seed: self.rounds.seed,
            wanted: self.rounds.wanted(),
            figure,
            order: self.rounds.places(),
            end: self.rounds.end,
            first: None,
        })
    }
}

/// A row per point, units in the names of the columns.
pub fn csv(swept: &SweepReport) -> String {
    let columns = columns(swept);
    let mut heads: Vec<String> = swept.parameters.iter().map(|it| column(&it.name)).collect();
    heads.extend(PointCounts::COLUMNS.map(String::from));
    let ends = |column: &String| ["", "_low", "_high"].map(|end| format!("{column}{end}"));
    heads.extend(columns.iter().flat_map(ends));
    let rows = swept.points.iter().map(|point| row(point, &columns));
    let lines = std::iter::once(heads).chain(rows);
    lines.map(|line| line.join(",") + "\n").collect()
}

fn row(point: &SweptPoint, columns: &[String]) -> Vec<String> {
    let number = |number: f64| format!("{number:.3}");
    let mut cells: Vec<String> = point.values.iter().map(value_cell).collect();
    cells.extend(PointCounts::from(point).cells());
    let figures = figures_of(point);
    for column in columns {
        let known = figures.iter().find(|known| known.column() == *column);
        let ends = known.map(|known| [Some(known.value), known.low, known.high]);
        let cell = |end: Option<f64>| end.map_or_else(String::new, number);
        cells.extend(ends.unwrap_or_default().map(cell));
    }
    cells
}

/// A number as it is, so that it can be drawn; a name in quotes if it has any.
fn value_cell(value: &SweepValue) -> String {
    match value.number {
        Some(number) => format!("{number}"),
        None if value.text.contains('"') => format!("\"{}\"", value.text.replace('"', "\"\"")),
        None => value.text.clone(),
    }
}

/// The columns of figures that any point has, in the order of the first that has each.
fn columns(swept: &SweepReport) -> Vec<String> {
    let mut all: Vec<String> = vec![];
    for known in swept.points.iter().flat_map(figures_of) {
        let column = known.column();
        if !all.contains(&column) {
            all.push(column);
        }
    }
    all
}

impl PointFigureDocument {
    /// `response_time_mean_ns`.
    fn column(&self) -> String {
        named(&self.name, &self.unit)
    }
}

/// `in-flight` as the name of a column.
pub fn column(name: &str) -> String {
    name.replace(['-', '.'], "_")
}

/// `response_time_mean_ns`, `achieved_ops_per_s`.
pub fn column_of(figure: &GateFigure) -> String {
    let unit = match figure {
        GateFigure::OfOperations(figure) => figure.quantity.unit().name(),
        GateFigure::OfRun(total) => RunLevelFigure::of(*total).map_or("", |swept| swept.unit),
    };
    named(&figure.to_string(), unit)
}

/// A figure as the name of a column, with its unit.
pub(in crate::report) fn named(name: &str, unit: &str) -> String {
    let unit = unit.replace("operations", "ops").replace('/', "_per_");
    let name = format!("{}_{unit}", column(name));
    name.trim_end_matches('_').into()
}
