//! Report of a ladder: times and costs of each rung, and their difference to the rung below.
//!
//! To add a column, add a line to [`TIMES`], to [`PARTS`] of the response time, or to [`COSTS`];
//! the document and the rows of values have every figure that runs have.

pub mod comparison;
pub mod document;
pub mod picture;

use super::columns::Shown;
use super::{
    MEAN, SweepKind, SweepReport, SweptPoint, doubts, ended, everywhere, of_all, of_all_runs,
    of_run, of_single_runs,
};
use crate::document::table::{Column, Table};
use crate::document::{Block, Document};
use crate::quantity::{time_with_chance, time_within, with_chance};
use filestone_measure::comparison::repeats::RepeatPlan;
use filestone_measure::figure::AveragedFigure;
use filestone_measure::sweep::{PointTally, RungPair, SweepParameter, SweepValue, ValueKind};
use filestone_plan::gate::{GateFigure, RunTotal};
use filestone_plan::plan::{Plan, unmeasured_for};
use filestone_workload::figure::{FigureUnit, Quantity, Statistic, TimeKind};
use filestone_workload::operation::OpKind;
use filestone_workload::text::{counted, thousands, time_text};

/// Name of the rung column, where a sweep has the name of an option.
const RUNG: &str = "rung";
const RESPONSE_P50: GateFigure = of_all(Quantity::Time(TimeKind::Response, Statistic::P50));
const RESPONSE_P99: GateFigure = of_all(Quantity::Time(TimeKind::Response, Statistic::P99));
const EXCHANGE: GateFigure = of_all(Quantity::Time(TimeKind::Service, Statistic::Mean));
/// Placeholder for a missing figure.
const NONE: &str = "–";
/// Suffix of a figure that contains the cost of two operations.
const PAIR: &str = "*";
/// Assumed relative half-width of a figure without an interval, which gives three digits.
const UNKNOWN: f64 = 0.005;

/// Columns of response times. One with an interval is followed by the difference to the rung below.
const TIMES: [Shown; 3] = [
    Shown::new(MEAN, "response, 95 %"),
    Shown::new(RESPONSE_P50, "p50").alone().gives_way(2),
    Shown::new(RESPONSE_P99, "p99").alone().gives_way(3),
];

/// Columns of the parts of the response time.
const PARTS: [Shown; 6] = [
    Shown::new(of_run(RunTotal::QueueTime), "queue").alone(),
    Shown::new(of_run(RunTotal::KernelOutTime), "kernel, out").alone(),
    Shown::new(of_run(RunTotal::BeyondTime), "network, server").alone(),
    Shown::new(of_run(RunTotal::KernelInTime), "kernel, in").alone(),
    Shown::new(EXCHANGE, "exchange").alone(),
    Shown::new(of_run(RunTotal::ElsewhereTime), "elsewhere").alone(),
];

/// Columns of costs from counters.
const COSTS: [Shown; 5] = [
    Shown::new(of_run(RunTotal::ServerCpu), "server CPU, 95 %"),
    Shown::new(of_run(RunTotal::ServerSwitches), "switches, 95 %"),
    Shown::new(of_run(RunTotal::ServerInterrupts), "interrupts").alone(),
    Shown::new(of_run(RunTotal::WireBytes), "bytes").alone(),
    Shown::new(of_run(RunTotal::WirePackets), "packets").alone(),
];

/// Creates rungs with these names and plans as points of a sweep, without runs.
pub fn rungs_of(plans: impl IntoIterator<Item = (String, Plan)>) -> Vec<SweptPoint> {
    let points = plans.into_iter().map(|(name, plan)| SweptPoint {
        values: vec![SweepValue {
            text: name,
            number: None,
        }],
        plan,
        tally: PointTally::new(MEAN),
        failed: None,
    });
    points.collect()
}

/// Creates a ladder of these rungs, without runs: a sweep over them.
pub fn begun(points: Vec<SweptPoint>, wanted: RepeatPlan, seed: u64) -> SweepReport {
    // The lowest rung may use another server.
    let target = points.last().map(|point| point.plan.target.to_string());
    let values = points.iter().flat_map(|point| point.values.clone());
    SweepReport {
        command: ["ladder".into()].into_iter().chain(target).collect(),
        parameters: vec![SweepParameter {
            name: RUNG.into(),
            kind: ValueKind::Word,
            values: values.collect(),
            is_logarithmic: false,
        }],
        seed,
        wanted,
        figure: MEAN,
        kind: SweepKind::Ladder,
        points,
        order: vec![],
        end: None,
        first: None,
    }
}

/// Returns the rungs, from the lowest.
pub fn rungs(ladder: &SweepReport) -> impl Iterator<Item = LadderRung<'_>> {
    let mut below = None;
    ladder.points.iter().map(move |point| {
        let rung = LadderRung { point, below };
        if point.tally.runs() > 0 {
            below = Some(point);
        }
        rung
    })
}

/// Whether any rung has a figure.
fn has(ladder: &SweepReport, figure: GateFigure) -> bool {
    let mut points = ladder.points.iter();
    points.any(|point| point.tally.mean(figure).is_some())
}

/// A rung, and the next lower one that was measured.
#[derive(Debug, Clone, Copy)]
pub struct LadderRung<'ladder> {
    /// Name, plan and results of all its runs.
    pub point: &'ladder SweptPoint,
    /// The rung below.
    pub below: Option<&'ladder SweptPoint>,
}

impl LadderRung<'_> {
    /// Returns the name of the rung.
    pub fn name(&self) -> &str {
        name_of(self.point)
    }

    /// Returns the mean of a figure over the runs.
    pub fn mean(&self, figure: GateFigure) -> Option<AveragedFigure> {
        self.point.tally.mean(figure)
    }

    /// Returns the difference of a figure to the rung below.
    pub fn step(&self, figure: GateFigure) -> Option<AveragedFigure> {
        self.pair()?.step(figure)
    }

    /// Pairs the rung with the one below.
    fn pair(&self) -> Option<RungPair<'_>> {
        Some(RungPair {
            below: &self.below?.tally,
            above: &self.point.tally,
        })
    }
}

fn name_of(point: &SweptPoint) -> &str {
    point.values.first().map_or("", |value| value.text.as_str())
}

/// Returns the whole report.
pub fn report(ladder: &SweepReport) -> Document {
    let document = Document::default().prose([heading(ladder)]);
    if ladder.runs() == 0 {
        return document;
    }
    let mut document = document
        .tables([times(ladder)])
        .push(Block::Picture(picture::picture(ladder)));
    for (title, columns) in [
        ("Of the response time, on average", &PARTS[..]),
        ("Each operation costs", &COSTS[..]),
    ] {
        let shown = shown(ladder, columns);
        if !shown.is_empty() {
            document = document.titled(title, of_rungs(ladder, &shown));
        }
    }
    document.blank().prose(sentences(ladder))
}

/// Returns the heading, such as `ladder of nfs://server/export: 13 rungs, 65 runs`.
pub fn heading(ladder: &SweepReport) -> String {
    let target = ladder.points.last().map(|point| &point.plan.target);
    format!(
        "ladder{}: {}, {}{}",
        target.map_or_else(String::new, |target| format!(" of {target}")),
        counted(ladder.points.len() as u64, "rung"),
        counted(ladder.runs() as u64, "run"),
        ended(ladder)
    )
}

fn times(ladder: &SweepReport) -> Table {
    let shown = shown(ladder, &TIMES);
    let everywhere = everywhere(ladder);
    let mut columns = vec![Column::text(RUNG), Column::figure("runs").gives_way(1)];
    columns.extend(heads(&shown));
    columns.extend([Column::figure("errors"), Column::text("caveats")]);
    let mut table = Table::new(columns);
    for rung in rungs(ladder) {
        let mut cells = vec![rung.name().into(), rung.point.tally.runs().to_string()];
        cells.extend(figures(&rung, &shown));
        cells.push(thousands(rung.point.tally.errors));
        cells.push(doubts(rung.point, &everywhere));
        table.row(cells);
    }
    table
}

/// Returns a table with a row for each rung that has any of these figures.
fn of_rungs(ladder: &SweepReport, shown: &[&Shown]) -> Table {
    let mut columns = vec![Column::text(RUNG)];
    columns.extend(heads(shown));
    let mut table = Table::new(columns);
    for rung in rungs(ladder).filter(|rung| rung.point.tally.runs() > 0) {
        let mut cells = vec![rung.name().into()];
        cells.extend(figures(&rung, shown));
        table.row(cells);
    }
    table
}

/// Returns the columns whose figures any rung has.
fn shown<'column>(ladder: &SweepReport, columns: &'column [Shown]) -> Vec<&'column Shown> {
    let columns = columns.iter();
    columns
        .filter(|column| has(ladder, column.figure))
        .collect()
}

fn heads(shown: &[&Shown]) -> Vec<Column> {
    let of = |column: &&Shown| {
        let step = column.has_interval.then(|| Column::figure("adds"));
        std::iter::once(column.column()).chain(step)
    };
    shown.iter().flat_map(of).collect()
}

fn figures(rung: &LadderRung<'_>, shown: &[&Shown]) -> Vec<String> {
    let of = |column: &&Shown| {
        let value = rung.mean(column.figure);
        let cell = value.map_or_else(|| NONE.into(), |value| cell(&value, column.has_interval));
        let step = column.has_interval.then(|| {
            let step = rung.step(column.figure);
            step.map_or_else(|| NONE.into(), |step| more(&step))
        });
        std::iter::once(cell).chain(step)
    };
    shown.iter().flat_map(of).collect()
}

/// Formats a figure with its interval, or with its significant digits. A figure from counters
/// always has an interval if one is known.
fn cell(known: &AveragedFigure, has_interval: bool) -> String {
    let pair = if known.has_unmeasured { PAIR } else { "" };
    let own = known.half_width();
    let is_plain_time =
        known.name.unit() == FigureUnit::Nanoseconds && !(has_interval && own.is_some());
    let half_width = own.unwrap_or(known.value.abs() * UNKNOWN);
    let text = if !is_plain_time {
        amount(known)
    } else if known.value > 0.0 {
        time_within(known.value, half_width)
    } else {
        time_with_chance(known.value, half_width)
    };
    text + pair
}

/// Formats a difference: `+5.1 ± 0.2 µs`.
pub(super) fn more(known: &AveragedFigure) -> String {
    let text = amount(known);
    if text.starts_with('-') || known.value == 0.0 {
        return text;
    }
    format!("+{text}")
}

/// Formats a value with its interval, if it has one.
fn amount(known: &AveragedFigure) -> String {
    let value = known.value;
    match (known.name.unit(), known.half_width()) {
        (FigureUnit::Nanoseconds, Some(half_width)) => time_with_chance(value, half_width),
        (FigureUnit::Nanoseconds, None) if value < 0.0 => format!("-{}", time_text(-value)),
        (FigureUnit::Nanoseconds, None) => time_text(value),
        (FigureUnit::Bytes, half_width) => with_chance(value, half_width.unwrap_or(0.0), 0),
        (_, Some(half_width)) => with_chance(value, half_width, 3),
        (_, None) => with_chance(value, 0.0, 2),
    }
}

/// Returns the sentences below the tables.
fn sentences(ladder: &SweepReport) -> Vec<String> {
    let mut sentences = vec![
        "adds: what a rung has more than the one in the row above, run by run, with 95 % intervals. \
         queue: waiting in filestone; exchange: from sending a call to having its reply."
            .to_owned(),
    ];
    if has(ladder, of_run(RunTotal::BeyondTime)) {
        sentences.push(
            "kernel, out; network, server; kernel, in: parts of the exchange, by the kernel's time stamps of \
             the packets of a sample of calls; waiting for this program to take a reply is in the last."
                .into(),
        );
    }
    if has(ladder, of_run(RunTotal::ElsewhereTime)) {
        sentences.push(
            "elsewhere: of the exchange what is not the server's processor time, so the network, both \
             kernels, and waiting for a processor."
                .into(),
        );
    }
    sentences.extend(pairs(ladder));
    if has_unknown_cost(ladder) {
        sentences.push(format!(
            "{NONE} of a cost: unknown, as the readings of those runs do not tell it or give less than 0; the \
             report of each run says why."
        ));
    }
    if !has(ladder, of_run(RunTotal::ServerCpu)) {
        sentences.push(
            "Nothing tells what the server spent: --server-pid, --server-metrics or --server-command would."
                .into(),
        );
    }
    sentences.extend(of_all_runs(ladder));
    sentences.extend(of_single_runs(ladder).map(String::from));
    sentences
}

/// Whether a rung lacks a cost that others have.
fn has_unknown_cost(ladder: &SweepReport) -> bool {
    let mut shown = shown(ladder, &COSTS).into_iter();
    shown.any(|column| {
        let mut measured = rungs(ladder).filter(|rung| rung.point.tally.runs() > 0);
        measured.any(|rung| rung.mean(column.figure).is_none())
    })
}

/// Explains operations whose costs include the cost of another operation.
fn pairs(ladder: &SweepReport) -> Option<String> {
    let has_pair = |rung: &LadderRung<'_>| {
        let mut costs = COSTS.iter();
        costs.any(|column| {
            let value = rung.mean(column.figure);
            value.is_some_and(|value| value.has_unmeasured)
        })
    };
    let rungs = rungs(ladder).filter(has_pair);
    let named = rungs.map(|rung| {
        let operation = rung.point.plan.probe().map(|probe| probe.operation);
        let companions = operation.map_or(&[][..], unmeasured_for);
        let names: Vec<&str> = companions.iter().copied().map(OpKind::name).collect();
        format!("{} has a {}", rung.name(), names.join(" and a "))
    });
    let named: Vec<String> = named.collect();
    (!named.is_empty()).then(|| {
        format!(
            "{PAIR} with the operation that goes with each: {}.",
            named.join(", ")
        )
    })
}

#[cfg(test)]
mod tests;
