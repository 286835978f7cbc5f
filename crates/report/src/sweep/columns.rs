//! Table of a sweep: a row for each point, a column for each figure.
//!
//! To add a column, add a line to [`COLUMNS`]. Figures that only complete runs have, such as costs,
//! have a column if any point has them.

use super::{ACHIEVED, MEAN, SweepReport, SweptPoint, doubts, everywhere, of_all, of_run};
use crate::document::table::{Column, Table};
use crate::parts::known::value_within;
use crate::quantity::{time_with_chance, with_chance};
use crate::repeats::percent;
use filestone_measure::figure::AveragedFigure;
use filestone_measure::sweep::{PointTally, SweepParameter, SweepValue};
use filestone_plan::gate::{GateFigure, RunTotal};
use filestone_workload::figure::{FigureUnit, Quantity, Statistic, TimeKind};
use filestone_workload::text::thousands;

/// A figure with a larger relative half-width is printed with one digit.
const HARDLY: f64 = 0.5;
/// Assumed relative half-width of a figure without an interval, which gives three digits.
const UNKNOWN: f64 = 0.01;

/// A figure with its own column.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shown {
    pub figure: GateFigure,
    head: &'static str,
    /// Whether the cell shows the interval of the figure.
    pub has_interval: bool,
    gives_way: Option<u8>,
}

impl Shown {
    pub const fn new(figure: GateFigure, head: &'static str) -> Self {
        Self {
            figure,
            head,
            has_interval: true,
            gives_way: None,
        }
    }

    pub const fn alone(self) -> Self {
        Self {
            has_interval: false,
            ..self
        }
    }

    pub const fn gives_way(self, order: u8) -> Self {
        Self {
            gives_way: Some(order),
            ..self
        }
    }

    /// Returns the column.
    pub fn column(&self) -> Column {
        let column = Column::figure(match self.head {
            "" => self.figure.to_string(),
            head => head.into(),
        });
        match self.gives_way {
            Some(order) => column.gives_way(order),
            None => column,
        }
    }
}

/// Figures of the table, those of operations before those of complete runs.
const COLUMNS: [Shown; 11] = [
    Shown::new(MEAN, "mean response, 95 %"),
    Shown::new(
        of_all(Quantity::Time(TimeKind::Response, Statistic::P50)),
        "p50",
    )
    .alone()
    .gives_way(3),
    Shown::new(
        of_all(Quantity::Time(TimeKind::Response, Statistic::P99)),
        "p99",
    )
    .alone()
    .gives_way(4),
    Shown::new(ACHIEVED, "achieved").alone(),
    Shown::new(of_all(Quantity::Goodput), "goodput")
        .alone()
        .gives_way(2),
    Shown::new(of_run(RunTotal::GeneratorBusy), "generator busy").gives_way(1),
    Shown::new(of_run(RunTotal::WireBytes), "wire bytes").gives_way(8),
    Shown::new(of_run(RunTotal::WirePackets), "packets").gives_way(6),
    Shown::new(of_run(RunTotal::ServerCpu), "server CPU").gives_way(9),
    Shown::new(of_run(RunTotal::ServerSwitches), "server switches").gives_way(7),
    Shown::new(of_run(RunTotal::ServerInterrupts), "server interrupts").gives_way(5),
];

/// Figures of the study's table.
const COLUMNS_OF_STUDY: [Shown; 9] = [
    Shown::new(MEAN, "mean response, 95 %"),
    Shown::new(of_run(RunTotal::WireRate), "on the wire").gives_way(3),
    Shown::new(of_run(RunTotal::WireBytes), "bytes").gives_way(4),
    Shown::new(of_run(RunTotal::ReplyPackets), "packets back"),
    Shown::new(of_run(RunTotal::ModelReplyPackets), "by the model"),
    Shown::new(of_run(RunTotal::ServerBusy), "server busy").gives_way(2),
    Shown::new(of_run(RunTotal::ServerCpu), "server CPU"),
    Shown::new(of_run(RunTotal::ServerInterrupts), "interrupts").gives_way(5),
    Shown::new(of_run(RunTotal::ServerSwitches), "switches").gives_way(6),
];

/// A count over all runs of a point.
struct Count {
    head: &'static str,
    of: fn(&PointTally) -> u64,
}

/// Counts that can be non-zero over UDP; each has a column if any point has it.
const COUNTS: [Count; 3] = [
    Count {
        head: "errors",
        of: |tally| tally.errors,
    },
    Count {
        head: "sent again",
        of: |tally| tally.retransmissions,
    },
    Count {
        head: "late or twice",
        of: |tally| tally.late_replies,
    },
];

/// Columns of a row behind the values of its point.
struct SweepColumns {
    figures: Vec<Shown>,
    counts: Vec<Count>,
    /// Caveats of all points, which rows do not repeat.
    everywhere: Vec<String>,
}

pub(super) fn table(swept: &SweepReport) -> Table {
    let shown = SweepColumns {
        figures: shown(swept),
        counts: counts(swept),
        everywhere: everywhere(swept),
    };
    let mut table = Table::new(heads(swept, &shown));
    let mut before = None;
    for point in &swept.points {
        let second = point.values.get(1);
        let is_new = before != Some(second);
        before = Some(second);
        let mut cells = values(swept, point, is_new);
        cells.extend(row(point, &shown));
        table.row(cells);
    }
    table
}

fn heads(swept: &SweepReport, shown: &SweepColumns) -> Vec<Column> {
    let parameters = swept.parameters.iter().rev();
    let mut columns: Vec<Column> = parameters
        .map(|parameter| Column::figure(parameter.name.clone()))
        .collect();
    columns.push(Column::figure("runs").gives_way(1));
    columns.extend(shown.figures.iter().map(Shown::column));
    columns.extend(shown.counts.iter().map(|count| Column::figure(count.head)));
    columns.push(Column::text("caveats"));
    columns
}

/// Returns errors, and the other counts that are non-zero at any point.
fn counts(swept: &SweepReport) -> Vec<Count> {
    let is_counted = |count: &Count| {
        swept
            .points
            .iter()
            .any(|point| (count.of)(&point.tally) > 0)
    };
    let counts = COUNTS.into_iter();
    let counts = counts
        .enumerate()
        .filter(|(place, count)| *place == 0 || is_counted(count));
    counts.map(|(_, count)| count).collect()
}

/// Returns the columns; the judged figure comes first if it is not among them.
fn shown(swept: &SweepReport) -> Vec<Shown> {
    let columns: &[Shown] = if swept.is_study() {
        &COLUMNS_OF_STUDY
    } else {
        &COLUMNS
    };
    let judged = swept.figure;
    let is_among = columns.iter().any(|column| column.figure == judged);
    let judged = (!is_among).then(|| Shown::new(swept.figure, ""));
    let columns = columns.iter().map(|column| Shown {
        has_interval: column.has_interval || column.figure == swept.figure,
        // The judged figure is never dropped.
        gives_way: column.gives_way.filter(|_| column.figure != swept.figure),
        ..*column
    });
    let columns = columns
        .filter(|column| column.figure.of_operations().is_some() || exists(swept, &column.figure));
    judged.into_iter().chain(columns).collect()
}

/// Whether any point has a figure.
pub(super) fn exists(swept: &SweepReport, figure: &GateFigure) -> bool {
    let mut points = swept.points.iter();
    points.any(|point| point.tally.value(figure).is_some())
}

/// Returns the values of a point; the second parameter is shown in the first row of its points
/// only.
fn values(swept: &SweepReport, point: &SweptPoint, is_new: bool) -> Vec<String> {
    let both = swept.parameters.iter().zip(&point.values).enumerate().rev();
    let cell = |(place, (parameter, value)): (usize, (&SweepParameter, &SweepValue))| match place {
        1 if !is_new => String::new(),
        _ => value.shown(parameter.kind),
    };
    both.map(cell).collect()
}

fn row(point: &SweptPoint, shown: &SweepColumns) -> Vec<String> {
    let mut cells = vec![point.tally.runs().to_string()];
    cells.extend(shown.figures.iter().map(|column| {
        let known = point.tally.value(&column.figure);
        known.map_or_else(|| "–".into(), |known| cell(&known, column.has_interval))
    }));
    let counts = shown.counts.iter();
    cells.extend(counts.map(|count| thousands((count.of)(&point.tally))));
    cells.push(doubts(point, &shown.everywhere));
    cells
}

/// Formats a figure; one that only complete runs have is always shown with its interval.
fn cell(known: &AveragedFigure, has_interval: bool) -> String {
    let unit = known.name.unit();
    if known.name.of_operations().is_none() {
        let half_width = known.half_width().unwrap_or(0.0);
        return match unit {
            FigureUnit::Share => percent(known.value),
            FigureUnit::Nanoseconds => time_with_chance(known.value, half_width),
            FigureUnit::Bytes => with_chance(known.value, half_width, 1),
            FigureUnit::BytesPerSecond => {
                let [value, half_width] = [known.value, half_width].map(|bytes| bytes / 1e6);
                format!("{} MB/s", with_chance(value, half_width, 3))
            }
            _ => with_chance(known.value, half_width, 3),
        };
    }
    let half_width = known.share().filter(|share| share.is_finite());
    // A figure with a wide interval still has one digit.
    let digits = known.value * half_width.unwrap_or(UNKNOWN).min(HARDLY);
    let value = value_within(unit, known.value, digits);
    match half_width.filter(|_| has_interval) {
        Some(share) if share > HARDLY => format!("{value}, hardly known"),
        Some(share) => format!("{value} ± {}", percent(share)),
        None => value,
    }
}

/// Whether the interval is too wide to give more than the order of magnitude.
pub fn is_hardly_known(known: &AveragedFigure) -> bool {
    known.share().is_some_and(|share| share > HARDLY)
}
