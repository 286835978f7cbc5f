//! Report of a ladder: times and costs of each rung, and their difference to the rung below.
//!
//! To add a column, add a line to [`TIMES`], to [`PARTS`] of the response time, or to [`COSTS`];
//! the document and the rows of values have every figure that runs have.

pub mod comparison;
pub mod document;
pub mod picture;

use super::parts::page::Page;
use super::parts::table::{Column, Table};
use super::parts::units::counted;
use super::repeats::RepeatsEnd;
use super::sweep::{SweepReport, SweptPoint, doubts, everywhere};
use crate::quantity::{grouped, time_text, time_with_chance, time_within, with_chance};
use filestone_measure::comparison::repeats::RepeatPlan;
use filestone_measure::ladder::{LadderFigure, LadderValue, RungPair, RungTally};
use filestone_measure::sweep::{PointTally, SweepParameter, SweepValue, ValueKind};
use filestone_plan::gate::GateFigure;
use filestone_plan::plan::{Plan, unmeasured_for};
use filestone_workload::figure::{FigureUnit, Quantity, RunFigure, Statistic, TimeKind};
use filestone_workload::operation::OpKind;

/// Name of the rung column, where a sweep has the name of an option.
const RUNG: &str = "rung";
/// The figure that decides when there are enough runs.
const JUDGED: GateFigure = GateFigure::OfOperations(RunFigure::of_all(Quantity::Time(
    TimeKind::Response,
    Statistic::Mean,
)));
/// Placeholder for a missing figure.
const NONE: &str = "–";
/// Suffix of a figure that contains the cost of two operations.
const PAIR: &str = "*";
/// Assumed relative half-width of a figure without an interval, which gives three digits.
const UNKNOWN: f64 = 0.005;

/// A complete or partial ladder: a sweep over its rungs, and additional figures of their runs.
#[derive(Debug)]
pub struct Ladder {
    /// Sweep over the rungs.
    pub swept: SweepReport,
    /// Figures of each rung.
    pub tallies: Vec<RungTally>,
}

/// A figure with its own column.
struct Shown {
    figure: LadderFigure,
    head: &'static str,
    /// Whether the cell has the interval of the figure, followed by a column with the difference to
    /// the rung below.
    has_step: bool,
    gives_way: Option<u8>,
}

const fn whole(figure: LadderFigure, head: &'static str) -> Shown {
    Shown {
        figure,
        head,
        has_step: true,
        gives_way: None,
    }
}

const fn plain(figure: LadderFigure, head: &'static str, gives_way: Option<u8>) -> Shown {
    Shown {
        figure,
        head,
        has_step: false,
        gives_way,
    }
}

/// Columns of response times.
const TIMES: [Shown; 3] = [
    whole(LadderFigure::Response, "response, 95 %"),
    plain(LadderFigure::ResponseP50, "p50", Some(2)),
    plain(LadderFigure::ResponseP99, "p99", Some(3)),
];

/// Columns of the parts of the response time.
const PARTS: [Shown; 6] = [
    plain(LadderFigure::Queue, "queue", None),
    plain(LadderFigure::KernelOut, "kernel, out", None),
    plain(LadderFigure::Beyond, "network, server", None),
    plain(LadderFigure::KernelIn, "kernel, in", None),
    plain(LadderFigure::Exchange, "exchange", None),
    plain(LadderFigure::Elsewhere, "elsewhere", None),
];

/// Columns of costs from counters.
const COSTS: [Shown; 5] = [
    whole(LadderFigure::ServerCpu, "server CPU, 95 %"),
    whole(LadderFigure::ServerSwitches, "switches, 95 %"),
    plain(LadderFigure::ServerInterrupts, "interrupts", None),
    plain(LadderFigure::WireBytes, "bytes", None),
    plain(LadderFigure::WirePackets, "packets", None),
];

/// Creates rungs with these names and plans as points of a sweep, without runs.
pub fn rungs(plans: impl IntoIterator<Item = (String, Plan)>) -> Vec<SweptPoint> {
    let points = plans.into_iter().map(|(name, plan)| SweptPoint {
        values: vec![SweepValue {
            text: name,
            number: None,
        }],
        plan,
        tally: PointTally::new(JUDGED),
        failed: None,
    });
    points.collect()
}

impl Ladder {
    /// Creates a ladder of these rungs, without runs.
    pub fn begun(points: Vec<SweptPoint>, wanted: RepeatPlan, seed: u64) -> Self {
        // The lowest rung may use another server.
        let target = points.last().map(|point| point.plan.target.to_string());
        let values = points.iter().flat_map(|point| point.values.clone());
        Self {
            tallies: points.iter().map(|_| RungTally::default()).collect(),
            swept: SweepReport {
                command: ["ladder".into()].into_iter().chain(target).collect(),
                parameters: vec![SweepParameter {
                    name: RUNG.into(),
                    kind: ValueKind::Word,
                    values: values.collect(),
                    is_logarithmic: false,
                }],
                seed,
                wanted,
                figure: JUDGED,
                is_study: false,
                points,
                order: vec![],
                end: None,
                first: None,
            },
        }
    }

    /// Returns the rungs, from the lowest.
    pub fn rungs(&self) -> impl Iterator<Item = LadderRung<'_>> {
        let both = self.swept.points.iter().zip(&self.tallies);
        let mut below = None;
        both.map(move |(point, tally)| {
            let rung = LadderRung {
                point,
                tally,
                below,
            };
            if tally.runs() > 0 {
                below = Some((name_of(point), tally));
            }
            rung
        })
    }

    /// Returns the number of complete runs of all rungs.
    pub fn runs(&self) -> usize {
        self.tallies.iter().map(RungTally::runs).sum()
    }

    /// Whether any rung has a figure.
    fn has(&self, figure: LadderFigure) -> bool {
        let mut tallies = self.tallies.iter();
        tallies.any(|tally| tally.value(figure).is_some())
    }
}

/// A rung, and the next lower one that was measured.
#[derive(Debug, Clone, Copy)]
pub struct LadderRung<'ladder> {
    /// Name, plan and results of all its runs.
    pub point: &'ladder SweptPoint,
    /// Figures of its runs.
    pub tally: &'ladder RungTally,
    /// Name and figures of the rung below.
    pub below: Option<(&'ladder str, &'ladder RungTally)>,
}

impl LadderRung<'_> {
    /// Returns the name of the rung.
    pub fn name(&self) -> &str {
        name_of(self.point)
    }

    /// Returns the difference of a figure to the rung below.
    pub fn step(&self, figure: LadderFigure) -> Option<LadderValue> {
        self.pair()?.step(figure)
    }

    /// Pairs the rung with the one below.
    fn pair(&self) -> Option<RungPair<'_>> {
        let (_, below) = self.below?;
        Some(RungPair {
            below,
            above: self.tally,
        })
    }
}

fn name_of(point: &SweptPoint) -> &str {
    point.values.first().map_or("", |value| value.text.as_str())
}

/// Formats the whole text report.
pub fn text(ladder: &Ladder, page: Page) -> String {
    let mut text = page.prose(&heading(ladder));
    if ladder.runs() == 0 {
        return text;
    }
    text.push('\n');
    text.push_str(&times(ladder, page));
    for (title, columns) in [
        ("Of the response time, on average", &PARTS[..]),
        ("Each operation costs", &COSTS[..]),
    ] {
        let shown = shown(ladder, columns);
        if !shown.is_empty() {
            text.push_str(&format!("\n{title}\n"));
            text.push_str(&of_rungs(ladder, &shown).render(page));
        }
    }
    text.push('\n');
    for sentence in sentences(ladder) {
        text.push_str(&page.prose(&sentence));
    }
    text
}

/// Returns the heading, such as `ladder of nfs://server/export: 13 rungs, 65 runs`.
pub fn heading(ladder: &Ladder) -> String {
    let swept = &ladder.swept;
    let target = swept.points.last().map(|point| &point.plan.target);
    format!(
        "ladder{}: {}, {}{}",
        target.map_or_else(String::new, |target| format!(" of {target}")),
        counted(swept.points.len() as u64, "rung"),
        counted(ladder.runs() as u64, "run"),
        match swept.end {
            Some(RepeatsEnd::All | RepeatsEnd::Enough) => "",
            Some(RepeatsEnd::Interrupted) => ", then interrupted",
            Some(RepeatsEnd::Failed) => ", then one that failed",
            None => ", not at its end",
        }
    )
}

fn times(ladder: &Ladder, page: Page) -> String {
    let shown = shown(ladder, &TIMES);
    let everywhere = everywhere(&ladder.swept);
    let mut columns = vec![Column::text(RUNG), Column::figure("runs").gives_way(1)];
    columns.extend(heads(&shown));
    columns.extend([Column::figure("errors"), Column::text("caveats")]);
    let mut table = Table::new(columns);
    for rung in ladder.rungs() {
        let mut cells = vec![rung.name().into(), rung.tally.runs().to_string()];
        cells.extend(figures(&rung, &shown));
        cells.push(grouped(rung.point.tally.errors));
        cells.push(doubts(rung.point, &everywhere));
        table.row(cells);
    }
    table.render(page)
}

/// Returns a table with a row for each rung that has any of these figures.
fn of_rungs(ladder: &Ladder, shown: &[&Shown]) -> Table {
    let mut columns = vec![Column::text(RUNG)];
    columns.extend(heads(shown));
    let mut table = Table::new(columns);
    for rung in ladder.rungs().filter(|rung| rung.tally.runs() > 0) {
        let mut cells = vec![rung.name().into()];
        cells.extend(figures(&rung, shown));
        table.row(cells);
    }
    table
}

/// Returns the columns whose figures any rung has.
fn shown<'column>(ladder: &Ladder, columns: &'column [Shown]) -> Vec<&'column Shown> {
    let columns = columns.iter();
    columns.filter(|column| ladder.has(column.figure)).collect()
}

fn heads(shown: &[&Shown]) -> Vec<Column> {
    let of = |column: &&Shown| {
        let head = Column::figure(column.head);
        let head = match column.gives_way {
            Some(order) => head.gives_way(order),
            None => head,
        };
        let step = column.has_step.then(|| Column::figure("adds"));
        std::iter::once(head).chain(step)
    };
    shown.iter().flat_map(of).collect()
}

fn figures(rung: &LadderRung<'_>, shown: &[&Shown]) -> Vec<String> {
    let of = |column: &&Shown| {
        let value = rung.tally.value(column.figure);
        let cell = value.map_or_else(|| NONE.into(), |value| cell(&value, column.has_step));
        let step = column.has_step.then(|| {
            let step = rung.step(column.figure);
            step.map_or_else(|| NONE.into(), |step| more(&step))
        });
        std::iter::once(cell).chain(step)
    };
    shown.iter().flat_map(of).collect()
}

/// Formats a figure with its interval, or with its significant digits. A figure from counters
/// always has an interval if one is known.
fn cell(known: &LadderValue, has_interval: bool) -> String {
    let has_interval = has_interval || known.figure.unit() != FigureUnit::Nanoseconds;
    let pair = if known.has_companion { PAIR } else { "" };
    let half_width = known.half_width.unwrap_or(known.value.abs() * UNKNOWN);
    let text = if has_interval && known.half_width.is_some() {
        with_interval(known, half_width)
    } else {
        match known.figure.unit() {
            FigureUnit::Nanoseconds if known.value > 0.0 => time_within(known.value, half_width),
            FigureUnit::Nanoseconds => time_with_chance(known.value, half_width),
            FigureUnit::Bytes => with_chance(known.value, 0.0, 0),
            _ => with_chance(known.value, 0.0, 2),
        }
    };
    text + pair
}

/// Formats a difference: `+5.1 ± 0.2 µs`.
pub(super) fn more(known: &LadderValue) -> String {
    let text = match known.half_width {
        Some(half_width) => with_interval(known, half_width),
        None => match known.figure.unit() {
            FigureUnit::Nanoseconds if known.value < 0.0 => {
                format!("-{}", time_text(-known.value))
            }
            FigureUnit::Nanoseconds => time_text(known.value),
            FigureUnit::Bytes => with_chance(known.value, 0.0, 0),
            _ => with_chance(known.value, 0.0, 2),
        },
    };
    if text.starts_with('-') || known.value == 0.0 {
        return text;
    }
    format!("+{text}")
}

fn with_interval(known: &LadderValue, half_width: f64) -> String {
    match known.figure.unit() {
        FigureUnit::Nanoseconds => time_with_chance(known.value, half_width),
        FigureUnit::Bytes => with_chance(known.value, half_width, 0),
        _ => with_chance(known.value, half_width, 3),
    }
}

/// Returns the sentences below the tables.
fn sentences(ladder: &Ladder) -> Vec<String> {
    let mut sentences = vec![
        "adds: what a rung has more than the one in the row above, run by run, with 95 % intervals. \
         queue: waiting in filestone; exchange: from sending a call to having its reply."
            .to_owned(),
    ];
    if ladder.has(LadderFigure::Beyond) {
        sentences.push(
            "kernel, out; network, server; kernel, in: parts of the exchange, by the kernel's time stamps of \
             the packets of a sample of calls; waiting for this program to take a reply is in the last."
                .into(),
        );
    }
    if ladder.has(LadderFigure::Elsewhere) {
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
    if !ladder.has(LadderFigure::ServerCpu) {
        sentences.push(
            "Nothing tells what the server spent: --server-pid, --server-metrics or --server-proc would."
                .into(),
        );
    }
    let everywhere = everywhere(&ladder.swept);
    if !everywhere.is_empty() {
        sentences.push(format!(
            "All runs have these caveats: {}.",
            everywhere.join(", ")
        ));
    }
    if ladder.tallies.iter().any(|tally| tally.runs() == 1) {
        sentences.push(
            "Intervals of a single run are what that knows of itself; what runs differ by they do not show."
                .into(),
        );
    }
    sentences
}

/// Whether a rung lacks a cost that others have.
fn has_unknown_cost(ladder: &Ladder) -> bool {
    let mut shown = shown(ladder, &COSTS).into_iter();
    shown.any(|column| {
        let mut measured = ladder.rungs().filter(|rung| rung.tally.runs() > 0);
        measured.any(|rung| rung.tally.value(column.figure).is_none())
    })
}

/// Explains operations whose costs include the cost of another operation.
fn pairs(ladder: &Ladder) -> Option<String> {
    let has_pair = |rung: &LadderRung<'_>| {
        let mut costs = COSTS.iter();
        costs.any(|column| {
            let value = rung.tally.value(column.figure);
            value.is_some_and(|value| value.has_companion)
        })
    };
    let rungs = ladder.rungs().filter(has_pair);
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
