//! Output of a sweep for programs: JSON with a schema, and a row per point. A sweep resumes from
//! the same document.

use super::rounds_document::{PointCounts, RoundsDocument};
use super::{SweepKind, SweepReport, SweptLine, SweptPoint};
use crate::JsonSchema;
use filestone_measure::figure::AveragedFigure;
use filestone_measure::sweep::{PointTally, SweepKnee, SweepParameter, SweepValue};
use filestone_plan::gate::GateFigure;
use filestone_plan::plan::Plan;
use serde::{Deserialize, Serialize};

/// Format version of [`SweepDocument`]; increased when the shape changes.
pub const FORMAT: u32 = 1;

/// `sweep.json`: parameters and results of a sweep.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct SweepDocument {
    /// Format version of this document.
    pub format: u32,
    /// Command line behind `--`.
    pub command: Vec<String>,
    /// Whether the sweep is the read study.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_study: bool,
    /// Swept parameters: one option or two.
    pub parameters: Vec<SweepParameter>,
    /// Order and end of the runs.
    #[serde(flatten)]
    pub rounds: RoundsDocument,
    /// Judged figure.
    pub figure: String,
    /// Knees of the figure, if any, for each value of the second parameter.
    pub knees: Vec<KneeDocument>,
    /// Points, grouped by the value of the second parameter.
    pub points: Vec<SweepPointDocument>,
}

/// Knee of the figure.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct KneeDocument {
    /// Value of the second parameter, if there is one.
    pub of: Option<String>,
    /// Position of the knee.
    #[serde(flatten)]
    pub knee: SweepKnee,
}

/// A point.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct SweepPointDocument {
    /// Value of each parameter.
    pub values: Vec<SweepValue>,
    /// Counts over its runs.
    #[serde(flatten)]
    pub counts: PointCounts,
    /// Figures of the point.
    pub figures: Vec<PointFigureDocument>,
    /// Plan of its first run.
    pub plan: Plan,
}

/// A figure of a point.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct PointFigureDocument {
    /// Name of the figure.
    pub name: String,
    /// Unit of the figure.
    pub unit: String,
    /// Number of runs that have the figure.
    pub runs: usize,
    /// Value; the geometric mean if there are several runs.
    pub value: f64,
    /// Lower end of its interval, if it has one.
    pub low: Option<f64>,
    /// Upper end of its interval.
    pub high: Option<f64>,
    /// Standard deviation of the logarithms of single runs.
    pub deviation: Option<f64>,
}

/// Returns the document.
pub fn of(swept: &SweepReport) -> SweepDocument {
    SweepDocument {
        format: FORMAT,
        command: swept.command.clone(),
        is_study: swept.is_study(),
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

/// Returns the figures of operations, then those of complete runs.
fn figures_of(point: &SweptPoint) -> Vec<PointFigureDocument> {
    let figures = point.tally.figures().into_iter();
    let of = |known: AveragedFigure| PointFigureDocument {
        name: known.name.to_string(),
        unit: known.name.unit().name().into(),
        runs: known.runs,
        value: known.value,
        low: known.low(),
        high: known.high(),
        deviation: known.deviation,
    };
    figures.map(of).collect()
}

impl SweepDocument {
    /// Returns the sweep without runs; `None` if its figure has an unknown name.
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
            kind: if self.is_study {
                SweepKind::ReadStudy
            } else {
                SweepKind::Options
            },
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

/// Formats a row per point, with units in the names of the columns.
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

/// Formats a number without change, so that it can be drawn, or a name, in quotes if it contains
/// any.
fn value_cell(value: &SweepValue) -> String {
    match value.number {
        Some(number) => format!("{number}"),
        None if value.text.contains('"') => format!("\"{}\"", value.text.replace('"', "\"\"")),
        None => value.text.clone(),
    }
}

/// Returns the columns of figures that any point has, in the order of first appearance.
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
    /// Returns the column name, such as `response_time_mean_ns`.
    fn column(&self) -> String {
        named(&self.name, &self.unit)
    }
}

/// Converts a name such as `in-flight` to a column name.
pub fn column(name: &str) -> String {
    name.replace(['-', '.'], "_")
}

/// Returns the column name of a figure, such as `response_time_mean_ns` or `achieved_ops_per_s`.
pub fn column_of(figure: &GateFigure) -> String {
    named(&figure.to_string(), figure.unit().name())
}

/// Returns a figure's column name with its unit.
pub(crate) fn named(name: &str, unit: &str) -> String {
    let unit = unit.replace("operations", "ops").replace('/', "_per_");
    let name = format!("{}_{unit}", column(name));
    name.trim_end_matches('_').into()
}
