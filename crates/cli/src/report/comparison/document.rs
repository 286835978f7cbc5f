//! A comparison for programs: JSON with a schema, and a row per figure.

use super::ReadRun;
use super::{Compared, heading, unsuccessful};
use filestone_measure::comparison::{Row, SideFigure, Verdict};
use filestone_workload::statistics::CONFIDENCE;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;

/// The shape of [`ComparisonDocument`]; it rises when that changes.
const FORMAT: u32 = 2;

/// What `filestone compare --as json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ComparisonDocument {
    /// The shape of this document.
    pub format: u32,
    /// `worse`, `better`, `not-worse` or `cannot-tell`.
    pub verdict: &'static str,
    /// The same in words.
    pub summary: String,
    /// With which probability intervals hold the true change.
    pub confidence: f64,
    /// So much worse is good enough, as a share.
    pub tolerance: f64,
    /// Differences that are smaller do not matter, as a share.
    pub detect: f64,
    /// The figures that decide.
    pub judged: Vec<String>,
    /// Files of the base.
    pub base: Vec<String>,
    /// Files of the other side.
    pub new: Vec<String>,
    /// What the runs differ in, which was allowed.
    pub despite: Vec<String>,
    /// Figures that were to decide and cannot be compared, and why.
    pub missing: Vec<String>,
    /// Of what runs can be compared by, the figure whose runs differ least, if both sides have several.
    pub repeats_best: Option<String>,
    /// The share of the base's operations that did not succeed.
    pub base_unsuccessful: f64,
    /// The same of the other side.
    pub new_unsuccessful: f64,
    /// Figure by figure.
    pub figures: Vec<ComparedFigure>,
}

/// A figure of both sides.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ComparedFigure {
    /// Its name.
    pub name: String,
    /// What it is counted in.
    pub unit: &'static str,
    /// Whether it is one of those that decide.
    pub is_judged: bool,
    /// The base's.
    pub base: FigureOfSide,
    /// The other's.
    pub new: FigureOfSide,
    /// By which share the other's is larger.
    pub change: f64,
    /// The lower end of the interval of that.
    pub change_low: f64,
    /// Its upper end.
    pub change_high: f64,
    /// How probable so large a change is by chance, corrected (Holm).
    pub p_value: f64,
    /// `worse`, `better`, `not-worse` or `cannot-tell`.
    pub verdict: &'static str,
    /// Runs that each side would need to have, those that it has among them, if these do not tell.
    pub runs_needed_a_side: Option<u64>,
    /// Pairs of blocks that were left out, at both ends together, because some were far off (`filestone
    /// ab`).
    pub left_out: usize,
}

/// A figure of a side.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FigureOfSide {
    /// The figure; of several runs, their geometric mean.
    pub value: f64,
    /// By what the logarithms of single runs differ, one standard deviation.
    pub deviation: f64,
    /// Runs that have it.
    pub runs: usize,
}

/// The document.
pub fn of(compared: &Compared) -> ComparisonDocument {
    let question = &compared.question;
    let comparison = &compared.comparison;
    ComparisonDocument {
        format: FORMAT,
        verdict: name(comparison.verdict),
        summary: heading(compared),
        confidence: CONFIDENCE,
        tolerance: question.tolerance,
        detect: question.detect,
        judged: question.judged.iter().map(ToString::to_string).collect(),
        base: files(&compared.base),
        new: files(&compared.new),
        despite: compared.despite.iter().map(ToString::to_string).collect(),
        missing: compared.missing.clone(),
        repeats_best: compared.repeats_best().map(|row| row.figure.to_string()),
        base_unsuccessful: unsuccessful(&compared.base),
        new_unsuccessful: unsuccessful(&compared.new),
        figures: comparison.rows.iter().map(figure).collect(),
    }
}

fn files(runs: &[ReadRun]) -> Vec<String> {
    let files = runs.iter().map(|read| read.path.display().to_string());
    files.collect()
}

fn figure(row: &Row) -> ComparedFigure {
    let side = |side: &SideFigure| FigureOfSide {
        value: side.value,
        deviation: side.deviation,
        runs: side.runs,
    };
    ComparedFigure {
        name: row.figure.to_string(),
        unit: row.figure.quantity.unit().name(),
        is_judged: row.is_judged,
        base: side(&row.base),
        new: side(&row.new),
        change: row.change.share,
        change_low: row.change.low,
        change_high: row.change.high,
        p_value: row.p_value,
        verdict: name(row.verdict),
        runs_needed_a_side: row.runs_needed,
        left_out: row.left_out,
    }
}

const fn name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Worse => "worse",
        Verdict::Better => "better",
        Verdict::NotWorse => "not-worse",
        Verdict::Inconclusive => "cannot-tell",
    }
}

/// A row per figure; shares, not percentages.
pub fn csv(compared: &Compared) -> String {
    let mut text = String::from(
        "figure,unit,judged,base,base_deviation,base_runs,new,new_deviation,new_runs,\
         change,change_low,change_high,p_value,verdict,runs_needed_a_side\n",
    );
    for figure in compared.comparison.rows.iter().map(figure) {
        let side = |side: &FigureOfSide| {
            let FigureOfSide {
                value,
                deviation,
                runs,
            } = side;
            format!("{value},{deviation},{runs}")
        };
        let cells = [
            figure.name,
            figure.unit.into(),
            u8::from(figure.is_judged).to_string(),
            side(&figure.base),
            side(&figure.new),
            figure.change.to_string(),
            figure.change_low.to_string(),
            figure.change_high.to_string(),
            figure.p_value.to_string(),
            figure.verdict.into(),
            figure
                .runs_needed_a_side
                .map(|runs| runs.to_string())
                .unwrap_or_default(),
        ];
        text.push_str(&format!("{}\n", cells.join(",")));
    }
    text
}
