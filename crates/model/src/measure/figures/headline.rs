//! The headline figures that a record keeps.

use super::accuracy::{Accuracy, NoInterval, Stretches};
use crate::figure::{Quantity, RunFigure, Statistic, Timed};
use crate::measure::figure_record::{FigureRecord, OpenFigureRecord};
use crate::measure::run_record::{RunRecord, Totals};
use crate::statistics::CONFIDENCE;

/// What each run, and each kind of operation in it, is first asked for.
pub const HEADLINE: [Quantity; 6] = [
    Quantity::Achieved,
    Quantity::Goodput,
    Quantity::CpuPerOperation,
    Quantity::Time(Timed::Response, Statistic::Mean),
    Quantity::Time(Timed::Response, Statistic::P50),
    Quantity::Time(Timed::Response, Statistic::P99),
];

/// The totals with the headline figures of the run and of each kind in it that have an interval.
pub fn with_headline(run: &Stretches<'_>) -> Totals {
    let mut totals = run.totals().clone();
    (totals.figures, totals.open_figures) = (vec![], vec![]);
    let figures = RunFigure::all_of(run.totals()).into_iter();
    for figure in figures.filter(|figure| HEADLINE.contains(&figure.quantity)) {
        match run.accuracy(&figure) {
            Ok(known) => totals.figures.push(record(&figure, known)),
            Err(NoInterval::FewBeyond { low }) => totals.open_figures.push(OpenFigureRecord {
                name: figure.to_string(),
                unit: figure.quantity.unit().name().into(),
                low: low as f64,
                level: CONFIDENCE,
            }),
            Err(_) => {}
        }
    }
    totals
}

/// The record with its headline figures, which older records lack.
pub fn with_figures(mut record: RunRecord) -> RunRecord {
    if record.totals.figures.is_empty() {
        record.totals = with_headline(&Stretches::of(&record));
    }
    record
}

fn record(figure: &RunFigure, known: Accuracy) -> FigureRecord {
    FigureRecord {
        name: figure.to_string(),
        unit: figure.quantity.unit().name().into(),
        value: known.estimate.value,
        low: known.low,
        high: known.high,
        level: CONFIDENCE,
        standard_error: known.estimate.standard_error,
        freedom: known.estimate.freedom,
        stretches: known.stretches as u64,
        method: known.method.into(),
    }
}
