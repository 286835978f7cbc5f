//! Output of a comparison for programs: JSON with a schema, and a row per figure.

use super::ReadRun;
use super::{Compared, heading, unsuccessful};
use crate::JsonSchema;
use filestone_measure::comparison::{ComparisonRow, ComparisonVerdict};
use filestone_measure::figure::AveragedFigure;
use filestone_workload::statistics::CONFIDENCE;
use serde::Serialize;

/// Format version of [`ComparisonDocument`]; increased when the shape changes.
const FORMAT: u32 = 2;

/// Output of `filestone compare --format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ComparisonDocument {
    /// Format version of this document.
    pub format: u32,
    /// `worse`, `better`, `not-worse` or `cannot-tell`.
    pub verdict: &'static str,
    /// The verdict in words.
    pub summary: String,
    /// Confidence level of the intervals, as a probability.
    pub confidence: f64,
    /// Largest regression that still counts as not worse, as a share.
    pub tolerance: f64,
    /// Smallest difference that matters, as a share.
    pub detect: f64,
    /// Deciding figures.
    pub judged: Vec<String>,
    /// Files of the base.
    pub base: Vec<String>,
    /// Files of the other side.
    pub new: Vec<String>,
    /// Permitted differences between the runs.
    pub despite: Vec<String>,
    /// Deciding figures that cannot be compared, with reasons.
    pub missing: Vec<String>,
    /// The comparable figure with the smallest spread between runs, if both sides have several
    /// runs.
    pub repeats_best: Option<String>,
    /// Share of the base's operations that did not succeed.
    pub base_unsuccessful: f64,
    /// Share of the other side's operations that did not succeed.
    pub new_unsuccessful: f64,
    /// Compared figures.
    pub figures: Vec<ComparedFigure>,
}

/// A figure of both sides.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ComparedFigure {
    /// Name of the figure.
    pub name: String,
    /// Unit of the figure.
    pub unit: &'static str,
    /// Whether the figure is a deciding one.
    pub is_judged: bool,
    /// Figure of the base.
    pub base: FigureOfSide,
    /// Figure of the other side.
    pub new: FigureOfSide,
    /// Relative change from the base to the other side.
    pub change: f64,
    /// Lower end of the interval of the change.
    pub change_low: f64,
    /// Upper end of the interval of the change.
    pub change_high: f64,
    /// Probability of a change of this size by chance, corrected (Holm).
    pub p_value: f64,
    /// `worse`, `better`, `not-worse` or `cannot-tell`.
    pub verdict: &'static str,
    /// Total number of runs that each side would need for a verdict, if these are inconclusive.
    pub runs_needed_a_side: Option<u64>,
    /// Pairs of blocks that were left out, at both ends together, because some were outliers
    /// (`filestone ab`).
    pub left_out: usize,
}

/// A figure of a side.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FigureOfSide {
    /// Value; the geometric mean if there are several runs.
    pub value: f64,
    /// Standard deviation of the logarithms of single runs.
    pub deviation: f64,
    /// Number of runs that have the figure.
    pub runs: usize,
}

/// Returns the document.
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

fn figure(row: &ComparisonRow) -> ComparedFigure {
    let [of_base, of_new] = row.deviations();
    let side = |side: &AveragedFigure, deviation| FigureOfSide {
        value: side.value,
        deviation,
        runs: side.runs,
    };
    ComparedFigure {
        name: row.figure.to_string(),
        unit: row.figure.quantity.unit().name(),
        is_judged: row.is_judged,
        base: side(&row.base, of_base),
        new: side(&row.new, of_new),
        change: row.change.share,
        change_low: row.change.low,
        change_high: row.change.high,
        p_value: row.p_value,
        verdict: name(row.verdict),
        runs_needed_a_side: row.runs_needed,
        left_out: row.left_out,
    }
}

const fn name(verdict: ComparisonVerdict) -> &'static str {
    match verdict {
        ComparisonVerdict::Worse => "worse",
        ComparisonVerdict::Better => "better",
        ComparisonVerdict::NotWorse => "not-worse",
        ComparisonVerdict::Inconclusive => "cannot-tell",
    }
}

/// Formats a row per figure, with shares instead of percentages.
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
