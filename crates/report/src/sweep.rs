//! Report of a sweep: the results of each point, and the knee of a figure over the points.
//!
//! [`columns`] selects the figures of the table; the document, the rows of values and the script
//! have every figure that runs have.

pub(super) mod columns;
pub mod document;
pub mod ladder;
pub mod picture;
pub mod rounds_document;
pub mod script;
pub mod study;
mod unit;

use super::document::{Block, Document};
use super::picture::Picture;
use super::repeats::{RepeatsEnd, percent};
use crate::quantity::plain;
use crate::shell::shell_line;
use filestone_measure::comparison::ComparedRun;
use filestone_measure::comparison::repeats::RepeatPlan;
use filestone_measure::sweep::{
    KneeInput, PointTally, SweepKnee, SweepParameter, SweepValue, ValueKind, knee, name_of_point,
};
use filestone_plan::gate::{GateFigure, RunTotal};
use filestone_plan::plan::Plan;
use filestone_workload::figure::{Quantity, RunFigure, Statistic, TimeKind};
use filestone_workload::text::{bytes_text, counted, thousands, time_text};
use std::collections::BTreeMap;

/// Figure that is drawn by default.
pub const MEAN: GateFigure = of_all(Quantity::Time(TimeKind::Response, Statistic::Mean));
const ACHIEVED: GateFigure = of_all(Quantity::Achieved);

pub(super) const fn of_all(quantity: Quantity) -> GateFigure {
    GateFigure::OfOperations(RunFigure::of_all(quantity))
}

pub(super) const fn of_run(total: RunTotal) -> GateFigure {
    GateFigure::OfRun(total)
}

/// A complete or partial sweep.
#[derive(Debug)]
pub struct SweepReport {
    /// Command line behind `--`.
    pub command: Vec<String>,
    /// Swept parameters: one option or two.
    pub parameters: Vec<SweepParameter>,
    /// Seed of the order of runs.
    pub seed: u64,
    /// Number of runs and their end condition.
    pub wanted: RepeatPlan,
    /// Judged figure.
    pub figure: GateFigure,
    /// Kind of the sweep.
    pub kind: SweepKind,
    /// Points, grouped by the value of the second parameter.
    pub points: Vec<SweptPoint>,
    /// Point of each complete run, in the order of time.
    pub order: Vec<usize>,
    /// Reason why no more runs were made; `None` if the sweep was interrupted.
    pub end: Option<RepeatsEnd>,
    /// Start time and environment of the first run.
    pub first: Option<FirstRun>,
}

/// Kind of a sweep, by its points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SweepKind {
    /// Values of options.
    Options,
    /// Read sizes of the read study, which has its own baselines and pictures.
    ReadStudy,
    /// Rungs of a ladder, which has its own tables and document.
    Ladder,
}

impl SweepKind {
    /// Returns the noun for the sweep in messages and file names.
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Options | Self::ReadStudy => "sweep",
            Self::Ladder => "ladder",
        }
    }
}

/// Start time and environment of a sweep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstRun {
    /// Start time in RFC 3339 format, UTC.
    pub started_at: String,
    /// The version of filestone.
    pub version: String,
    /// Number of processors that it could use.
    pub processors: u32,
}

/// A point of a sweep.
#[derive(Debug)]
pub struct SweptPoint {
    /// Value of each parameter.
    pub values: Vec<SweepValue>,
    /// Plan of the first run.
    pub plan: Plan,
    /// Results of its runs.
    pub tally: PointTally,
    /// Reason why the point cannot be measured, if there is one.
    pub failed: Option<String>,
}

impl SweepReport {
    /// Whether the sweep is the read study.
    pub fn is_study(&self) -> bool {
        self.kind == SweepKind::ReadStudy
    }

    /// Returns the name of a point.
    pub fn name(&self, point: usize) -> String {
        let values = self.points.get(point).map(|point| point.values.as_slice());
        name_of_point(&self.parameters, values.unwrap_or_default())
    }

    /// Counts a complete run of a point.
    pub fn count(&mut self, point: usize, run: &ComparedRun) {
        let is_first = |first: &FirstRun| run.started_at < first.started_at;
        if self.first.as_ref().is_none_or(is_first) {
            self.first = Some(FirstRun {
                started_at: run.started_at.clone(),
                version: run.tool.version.clone(),
                processors: run.host.cpus,
            });
        }
        if let Some(point) = self.points.get_mut(point) {
            point.tally.add(run);
        }
    }

    /// Returns the points grouped by the value of the second parameter.
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

    /// Returns the number of complete runs of all points.
    pub fn runs(&self) -> usize {
        self.points.iter().map(|point| point.tally.runs()).sum()
    }
}

/// Points that share one value of the second parameter.
#[derive(Debug, Clone, Copy)]
pub struct SweptLine<'sweep> {
    sweep: &'sweep SweepReport,
    /// Points in the order of the first parameter's values.
    pub points: &'sweep [SweptPoint],
}

impl SweptLine<'_> {
    /// Returns the name, such as `transport=udp`; `None` if there is no second parameter.
    pub fn name(&self) -> Option<String> {
        let value = self.points.first()?.values.get(1)?;
        let parameter = self.sweep.parameters.get(1)?;
        Some(format!(
            "{}={}",
            parameter.name,
            value.shown(parameter.kind)
        ))
    }

    /// Returns the knee of the figure, if the first parameter is a number and there is a knee.
    pub fn knee(&self) -> Option<SweepKnee> {
        let parameter = self.sweep.parameters.first()?;
        let place = |point: &SweptPoint| {
            let value = |figure| point.tally.value(figure).map(|known| known.value);
            Some(KneeInput {
                x: point.values.first()?.number?,
                figure: value(&self.sweep.figure)?,
                achieved_load_ops_per_s: value(&ACHIEVED)?,
                response_time_mean_ns: value(&MEAN)?,
            })
        };
        if self.sweep.is_study() {
            return study::knee(self);
        }
        let places: Vec<KneeInput> = self.points.iter().filter_map(place).collect();
        knee::knee(parameter, &places)
    }
}

/// Formats a number of a parameter for the text report.
pub fn number_text(number: f64, kind: ValueKind) -> String {
    match kind {
        ValueKind::Bytes => bytes_text(number.round() as u64),
        ValueKind::Time => time_text(number),
        ValueKind::Rate => format!("{}/s", thousands(number.round() as u64)),
        ValueKind::Number | ValueKind::Word => plain(number, 2),
    }
}

/// Returns the whole report.
pub fn report(swept: &SweepReport) -> Document {
    if swept.kind == SweepKind::Ladder {
        return ladder::report(swept);
    }
    let document = Document::default().prose([heading(swept)]);
    if swept.runs() == 0 {
        return document;
    }
    document
        .tables([columns::table(swept)])
        .push(Block::Picture(drawing(swept)))
        .blank()
        .prose(sentences(swept))
}

/// Returns the picture; for the study with all of its graphs.
pub fn drawing(swept: &SweepReport) -> Picture {
    match swept.kind {
        SweepKind::Options => picture::picture(swept),
        SweepKind::ReadStudy => study::picture::page(swept),
        SweepKind::Ladder => ladder::picture::picture(swept),
    }
}

/// Formats a row per point.
pub fn csv(swept: &SweepReport) -> String {
    match swept.kind {
        SweepKind::Options | SweepKind::ReadStudy => document::csv(swept),
        SweepKind::Ladder => ladder::document::csv(swept),
    }
}

/// Returns the heading, such as `sweep over size: filestone probe read, 5 points, 25 runs`.
pub fn heading(swept: &SweepReport) -> String {
    let names = swept
        .parameters
        .iter()
        .map(|parameter| parameter.name.as_str());
    let what = if swept.is_study() {
        "read study".into()
    } else {
        format!("sweep over {}", names.collect::<Vec<_>>().join(" and "))
    };
    format!(
        "{what}: {}: {}, {}{}",
        shell_line(&swept.command),
        counted(swept.points.len() as u64, "point"),
        counted(swept.runs() as u64, "run"),
        ended(swept)
    )
}

/// Returns how the runs ended, as the end of a heading.
pub(super) fn ended(swept: &SweepReport) -> &'static str {
    swept.end.map_or(", not at its end", RepeatsEnd::text)
}

/// Lists the caveats of a point that do not apply to all points.
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

/// Returns the caveats that apply to all runs of all points.
pub fn everywhere(swept: &SweepReport) -> Vec<String> {
    let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
    for (name, count) in swept.points.iter().flat_map(|point| &point.tally.caveats) {
        *counts.entry(name).or_insert(0) += *count as usize;
    }
    let all = counts
        .into_iter()
        .filter(|(_, count)| *count == swept.runs());
    all.map(|(name, _)| name.clone()).collect()
}

/// Returns the sentence about the caveats of all runs.
fn of_all_runs(swept: &SweepReport) -> Option<String> {
    let everywhere = everywhere(swept);
    let names = everywhere.join(", ");
    (!names.is_empty()).then(|| format!("All runs have these caveats: {names}."))
}

/// Returns the sentence about the intervals of points with a single run.
fn of_single_runs(swept: &SweepReport) -> Option<&'static str> {
    let is_single = swept.points.iter().any(|point| point.tally.runs() == 1);
    is_single.then_some(
        "Intervals of a single run are what that knows of itself; what runs differ by they do not show.",
    )
}

/// Returns the sentences below the table.
fn sentences(swept: &SweepReport) -> Vec<String> {
    let mut sentences = if swept.is_study() {
        study::sentences(swept)
    } else {
        knees(swept)
    };
    sentences.extend(of_all_runs(swept));
    let of_single_runs = of_single_runs(swept);
    let of_several = || "Geometric means over runs, and the 95 % intervals of those.";
    sentences.push(of_single_runs.unwrap_or_else(of_several).into());
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

/// Describes the knees, and the method that found them.
pub fn knees(swept: &SweepReport) -> Vec<String> {
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
mod tests;
