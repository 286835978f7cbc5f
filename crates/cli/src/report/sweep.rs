//! A sweep: what each of its points comes to, and where a figure bends over them.
//!
//! A column more is a line in [`COLUMNS`]; the document, the rows of values and the script have every
//! figure that runs have.

pub mod document;
pub mod picture;
pub mod script;

use super::parts::known::value_within;
use super::parts::page::Page;
use super::parts::table::{Column, Table};
use super::parts::units::counted;
use super::repeats::{RepeatsEnd, percent};
use super::sketch;
use crate::quantity::{grouped, plain, time_with_chance, with_chance};
use crate::shell::shell_line;
use filestone_model::comparison::ComparedRun;
use filestone_model::comparison::repeats::RepeatPlan;
use filestone_model::figure::{Quantity, RunFigure, Statistic, Timed};
use filestone_model::gate::RunTotal;
use filestone_model::plan::Plan;
use filestone_model::sweep::{
    PointFigure, PointTally, PointTotal, SweepKnee, SweepParameter, SweepPlace, SweepValue,
    ValueKind, knee, name_of_point,
};
use filestone_model::text::{bytes_text, time_text};
use std::collections::BTreeMap;

/// What is known within no more than this share has one digit.
const HARDLY: f64 = 0.5;
/// What is not known to have an interval has three.
const UNKNOWN: f64 = 0.01;
const MEAN: RunFigure = of_all(Quantity::Time(Timed::Response, Statistic::Mean));
const ACHIEVED: RunFigure = of_all(Quantity::Achieved);

const fn of_all(quantity: Quantity) -> RunFigure {
    RunFigure::of_all(quantity)
}

/// A figure that has a column of its own.
struct Shown {
    figure: RunFigure,
    head: &'static str,
    /// Whether its interval stands beside it.
    has_interval: bool,
    gives_way: Option<u8>,
}

/// What is counted over all runs of a point.
struct Count {
    head: &'static str,
    of: fn(&PointTally) -> u64,
}

/// What a call over UDP can need besides; it has a column where any point has it.
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

/// The figures of the table.
const COLUMNS: [Shown; 5] = [
    Shown {
        figure: MEAN,
        head: "mean response, 95 %",
        has_interval: true,
        gives_way: None,
    },
    Shown {
        figure: of_all(Quantity::Time(Timed::Response, Statistic::P50)),
        head: "p50",
        has_interval: false,
        gives_way: Some(3),
    },
    Shown {
        figure: of_all(Quantity::Time(Timed::Response, Statistic::P99)),
        head: "p99",
        has_interval: false,
        gives_way: Some(4),
    },
    Shown {
        figure: ACHIEVED,
        head: "achieved",
        has_interval: false,
        gives_way: None,
    },
    Shown {
        figure: of_all(Quantity::Goodput),
        head: "goodput",
        has_interval: false,
        gives_way: Some(2),
    },
];

/// A sweep, as far as it has come.
#[derive(Debug)]
pub struct Swept {
    /// The command line behind `--`.
    pub command: Vec<String>,
    /// What it goes over.
    pub parameters: Vec<SweepParameter>,
    /// What the order of runs comes from.
    pub seed: u64,
    /// How often.
    pub wanted: RepeatPlan,
    /// The figure that is looked at.
    pub figure: RunFigure,
    /// The points: those of one value of the second parameter stand together.
    pub points: Vec<SweptPoint>,
    /// Of which point each whole run was, in the order of time.
    pub order: Vec<usize>,
    /// Why there were no more runs; `None` if it was broken off.
    pub end: Option<RepeatsEnd>,
    /// The first run: when its window began, and what made it.
    pub first: Option<FirstRun>,
}

/// When a sweep began, and with what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstRun {
    /// RFC 3339, UTC.
    pub started_at: String,
    /// The version of filestone.
    pub version: String,
}

/// One of its points.
#[derive(Debug)]
pub struct SweptPoint {
    /// A value of each parameter.
    pub values: Vec<SweepValue>,
    /// What its first run is to do.
    pub plan: Plan,
    /// What its runs come to.
    pub tally: PointTally,
    /// Why it cannot be measured, if it cannot.
    pub failed: Option<String>,
}

impl Swept {
    /// What a point is called.
    pub fn name(&self, point: usize) -> String {
        let values = self.points.get(point).map(|point| point.values.as_slice());
        name_of_point(&self.parameters, values.unwrap_or_default())
    }

    /// Counts a whole run of a point.
    pub fn count(&mut self, point: usize, run: &ComparedRun) {
        let is_first = |first: &FirstRun| run.started_at < first.started_at;
        if self.first.as_ref().is_none_or(is_first) {
            self.first = Some(FirstRun {
                started_at: run.started_at.clone(),
                version: run.tool.version.clone(),
            });
        }
        if let Some(point) = self.points.get_mut(point) {
            point.tally.add(run);
        }
    }

    /// The points of each value of the second parameter, with that value.
    pub fn lines(&self) -> Vec<SweptLine<'_>> {
        let groups = self
            .points
            .chunk_by(|one, other| one.values.get(1) == other.values.get(1));
        let line = |points| SweptLine {
            sweep: self,
            points,
        };
        groups.map(line).collect()
    }

    /// Whole runs of all points.
    pub fn runs(&self) -> usize {
        self.points.iter().map(|point| point.tally.runs()).sum()
    }
}

/// The points of one value of the second parameter.
#[derive(Debug, Clone, Copy)]
pub struct SweptLine<'sweep> {
    sweep: &'sweep Swept,
    /// In the order of the first parameter's values.
    pub points: &'sweep [SweptPoint],
}

impl SweptLine<'_> {
    /// `transport=udp`; nothing if there is no second parameter.
    pub fn name(&self) -> Option<String> {
        let value = self.points.first()?.values.get(1)?;
        let parameter = self.sweep.parameters.get(1)?;
        Some(format!(
            "{}={}",
            parameter.name,
            value.shown(parameter.kind)
        ))
    }

    /// Where the figure bends, if the first parameter is a number and it does.
    pub fn knee(&self) -> Option<SweepKnee> {
        let parameter = self.sweep.parameters.first()?;
        let place = |point: &SweptPoint| {
            let value = |figure| point.tally.figure(figure).map(|known| known.value);
            Some(SweepPlace {
                x: point.values.first()?.number?,
                figure: value(&self.sweep.figure)?,
                achieved_load_ops_per_s: value(&ACHIEVED)?,
                response_time_mean_ns: value(&MEAN)?,
            })
        };
        let places: Vec<SweepPlace> = self.points.iter().filter_map(place).collect();
        knee::knee(parameter, &places)
    }
}

/// A number of a parameter, as people read it.
pub fn number_text(number: f64, kind: ValueKind) -> String {
    match kind {
        ValueKind::Bytes => bytes_text(number.round() as u64),
        ValueKind::Time => time_text(number),
        ValueKind::Rate => format!("{}/s", grouped(number.round() as u64)),
        ValueKind::Number | ValueKind::Word => plain(number, 2),
    }
}

/// All of it.
pub fn text(swept: &Swept, page: Page) -> String {
    let mut text = page.prose(&heading(swept));
    if swept.runs() == 0 {
        return text;
    }
    text.push('\n');
    text.push_str(&table(swept, page));
    if let Some(picture) = picture::sketched(swept) {
        text.push_str(&sketch::render(&picture, page));
    }
    text.push('\n');
    for sentence in sentences(swept) {
        text.push_str(&page.prose(&sentence));
    }
    text
}

/// `sweep over size: filestone probe read, 5 points, 25 runs`.
pub fn heading(swept: &Swept) -> String {
    let names = swept
        .parameters
        .iter()
        .map(|parameter| parameter.name.as_str());
    format!(
        "sweep over {}: {}: {}, {}{}",
        names.collect::<Vec<_>>().join(" and "),
        shell_line(&swept.command),
        counted(swept.points.len() as u64, "point"),
        counted(swept.runs() as u64, "run"),
        match swept.end {
            Some(RepeatsEnd::All | RepeatsEnd::Enough) => "",
            Some(RepeatsEnd::Interrupted) => ", then interrupted",
            Some(RepeatsEnd::Failed) => ", then one that failed",
            None => ", not at its end",
        }
    )
}

/// What a row has behind the values of its point.
struct SweepColumns {
    figures: Vec<Shown>,
    totals: Vec<RunTotal>,
    counts: Vec<Count>,
    /// Caveats that need no word in a row.
    everywhere: Vec<String>,
}

fn table(swept: &Swept, page: Page) -> String {
    let shown = SweepColumns {
        figures: shown(swept),
        totals: totals(swept),
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
    table.render(page)
}

fn heads(swept: &Swept, shown: &SweepColumns) -> Vec<Column> {
    let parameters = swept.parameters.iter().rev();
    let mut columns: Vec<Column> = parameters
        .map(|parameter| Column::figure(parameter.name.clone()))
        .collect();
    columns.push(Column::figure("runs").gives_way(1));
    columns.extend(shown.figures.iter().map(|shown| {
        let head = match shown.head {
            "" => shown.figure.to_string(),
            head => head.into(),
        };
        let column = Column::figure(head);
        match shown.gives_way {
            Some(order) => column.gives_way(order),
            None => column,
        }
    }));
    let totals = shown.totals.iter();
    columns.extend(totals.map(|total| Column::figure(total.name().replace('_', " ")).gives_way(1)));
    columns.extend(shown.counts.iter().map(|count| Column::figure(count.head)));
    columns.push(Column::text("caveats"));
    columns
}

/// The figures that only whole runs have, of any point.
fn totals(swept: &Swept) -> Vec<RunTotal> {
    let mut all = vec![];
    for known in swept.points.iter().flat_map(|point| point.tally.totals()) {
        if !all.contains(&known.total) {
            all.push(known.total);
        }
    }
    all
}

/// Errors, and what else was counted at any point.
fn counts(swept: &Swept) -> Vec<Count> {
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

/// The columns, the judged figure before the others if it is none of them.
fn shown(swept: &Swept) -> Vec<Shown> {
    let judged = Shown {
        figure: swept.figure,
        head: "",
        has_interval: true,
        gives_way: None,
    };
    let is_among = COLUMNS.iter().any(|column| column.figure == swept.figure);
    let judged = (!is_among).then_some(judged);
    let columns = COLUMNS.into_iter().map(|column| Shown {
        has_interval: column.has_interval || column.figure == swept.figure,
        ..column
    });
    judged.into_iter().chain(columns).collect()
}

/// The values of a point; that of the second parameter stands where its points begin.
fn values(swept: &Swept, point: &SweptPoint, is_new: bool) -> Vec<String> {
    let both = swept.parameters.iter().zip(&point.values).enumerate().rev();
    let cell = |(place, (parameter, value)): (usize, (&SweepParameter, &SweepValue))| match place {
        1 if !is_new => String::new(),
        _ => value.shown(parameter.kind),
    };
    both.map(cell).collect()
}

fn row(point: &SweptPoint, shown: &SweepColumns) -> Vec<String> {
    let none = || String::from("–");
    let mut cells = vec![point.tally.runs().to_string()];
    let figures = point.tally.figures();
    cells.extend(shown.figures.iter().map(|column| {
        let known = figures.iter().find(|known| known.figure == column.figure);
        known.map_or_else(none, |known| cell(known, column.has_interval))
    }));
    let totals = point.tally.totals();
    cells.extend(shown.totals.iter().map(|total| {
        let known = totals.iter().find(|known| known.total == *total);
        known.map_or_else(none, total_text)
    }));
    let counts = shown.counts.iter();
    cells.extend(counts.map(|count| grouped((count.of)(&point.tally))));
    cells.push(doubts(point, &shown.everywhere));
    cells
}

/// A figure that only whole runs have, with its interval.
fn total_text(known: &PointTotal) -> String {
    let half_width = known.interval.map_or(0.0, |(_, high)| high - known.value);
    match known.unit {
        "share" => percent(known.value),
        "ns" => time_with_chance(known.value, half_width),
        _ => with_chance(known.value, half_width, 3),
    }
}

fn cell(known: &PointFigure, has_interval: bool) -> String {
    let half_width = half_width(known);
    // What is hardly known has one digit all the same.
    let digits = known.value * half_width.unwrap_or(UNKNOWN).min(HARDLY);
    let value = value_within(known.figure, known.value, digits);
    match half_width.filter(|_| has_interval) {
        Some(_) if is_hardly_known(known) => format!("{value}, hardly known"),
        Some(share) => format!("{value} ± {}", percent(share)),
        None => value,
    }
}

/// Whether its interval says no more than that it was measured.
pub fn is_hardly_known(known: &PointFigure) -> bool {
    half_width(known).is_some_and(|share| share > HARDLY)
}

/// Half of its interval, as a share.
fn half_width(known: &PointFigure) -> Option<f64> {
    let (low, high) = known.interval?;
    let share = (high / low).sqrt() - 1.0;
    share.is_finite().then_some(share)
}

/// Why a point is to be doubted, apart from what all are.
pub fn doubts(point: &SweptPoint, everywhere: &[String]) -> String {
    let runs = point.tally.runs();
    let caveats = point.tally.caveats.iter();
    let caveats = caveats.filter(|(name, _)| !everywhere.contains(name));
    let named = caveats.map(|(name, count)| match *count as usize {
        count if count < runs => format!("{name} ({count} of {runs})"),
        _ => name.clone(),
    });
    named
        .chain(point.failed.clone())
        .collect::<Vec<_>>()
        .join(", ")
}

/// Caveats of all runs of all points.
pub fn everywhere(swept: &Swept) -> Vec<String> {
    let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
    for (name, count) in swept.points.iter().flat_map(|point| &point.tally.caveats) {
        *counts.entry(name).or_insert(0) += *count as usize;
    }
    let all = counts
        .into_iter()
        .filter(|(_, count)| *count == swept.runs());
    all.map(|(name, _)| name.clone()).collect()
}

/// What is to be said below the table.
fn sentences(swept: &Swept) -> Vec<String> {
    let mut sentences = knees(swept);
    let everywhere = everywhere(swept);
    if !everywhere.is_empty() {
        sentences.push(format!(
            "All runs have these caveats: {}.",
            everywhere.join(", ")
        ));
    }
    let is_single = swept.points.iter().any(|point| point.tally.runs() == 1);
    sentences.push(if is_single {
        "Intervals of a single run are what that knows of itself; what runs differ by they do not show."
            .into()
    } else {
        "Geometric means over runs, and the 95 % intervals of those.".into()
    });
    if let Some(share) = swept.wanted.until {
        let known = |point: &&SweptPoint| !point.tally.is_enough(&swept.wanted);
        let open = swept.points.iter().filter(known).count();
        if open > 0 {
            let points = counted(open as u64, "point");
            let share = percent(share);
            sentences.push(format!(
                "{} of {points} is not known within {share}.",
                swept.figure
            ));
        }
    }
    sentences
}

/// Where the figure bends, and how that was found.
pub fn knees(swept: &Swept) -> Vec<String> {
    let Some(parameter) = swept.parameters.first() else {
        return vec![];
    };
    let of_line = |line: SweptLine<'_>| {
        let knee = line.knee()?;
        let number = |number| number_text(number, parameter.kind);
        let interval = knee
            .interval
            .map(|(low, high)| [number(low), number(high)])
            .filter(|[low, high]| low != high)
            .map(|[low, high]| format!(" ({low} to {high})"));
        let of = line.name().map(|name| format!(" of {name}"));
        Some(format!(
            "Knee{} at {} {}{}: {}.",
            of.unwrap_or_default(),
            parameter.name,
            number(knee.at),
            interval.unwrap_or_default(),
            knee.method
        ))
    };
    swept.lines().into_iter().filter_map(of_line).collect()
}

#[cfg(test)]
pub mod tests;
