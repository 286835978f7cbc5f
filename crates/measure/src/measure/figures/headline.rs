//! Headline figures stored in a record.

use super::accuracy::{BatchMeans, FigureEstimate, IntervalUnavailable};
use crate::measure::figure_record::{FigureRecord, OneSidedFigureRecord};
use crate::measure::run_record::{RunRecord, Totals};
use filestone_workload::figure::{Quantity, RunFigure, Statistic, TimeKind};
use filestone_workload::statistics::CONFIDENCE;

/// Headline quantities of each run and of each kind of operation in it.
pub const HEADLINE: [Quantity; 6] = [
    Quantity::Achieved,
    Quantity::Goodput,
    Quantity::CpuPerOperation,
    Quantity::Time(TimeKind::Response, Statistic::Mean),
    Quantity::Time(TimeKind::Response, Statistic::P50),
    Quantity::Time(TimeKind::Response, Statistic::P99),
];

/// Returns the totals with the headline figures of the run and of each kind in it that have an
/// interval.
pub fn with_headline(run: &BatchMeans<'_>) -> Totals {
    let mut totals = run.totals().clone();
    (totals.figures, totals.open_figures) = (vec![], vec![]);
    let figures = run.totals().figures().into_iter();
    for figure in figures.filter(|figure| HEADLINE.contains(&figure.quantity)) {
        match run.accuracy(&figure) {
            Ok(known) => totals.figures.push(record(&figure, known)),
            Err(IntervalUnavailable::TooFewAbove { low }) => {
                totals.open_figures.push(OneSidedFigureRecord {
                    name: figure.to_string(),
                    unit: figure.quantity.unit().name().into(),
                    low: low as f64,
                    confidence: CONFIDENCE,
                })
            }
            Err(_) => {}
        }
    }
    totals
}

/// Returns the record with its headline figures, which older records lack.
pub fn with_figures(mut record: RunRecord) -> RunRecord {
    if record.totals.figures.is_empty() {
        record.totals = with_headline(&BatchMeans::of(&record));
    }
    record
}

fn record(figure: &RunFigure, known: FigureEstimate) -> FigureRecord {
    FigureRecord {
        name: figure.to_string(),
        unit: figure.quantity.unit().name().into(),
        value: known.estimate.value,
        low: known.low,
        high: known.high,
        confidence: CONFIDENCE,
        standard_error: known.estimate.standard_error,
        degrees_of_freedom: known.estimate.freedom,
        batches: known.stretches as u64,
        method: known.method.into(),
    }
}
