//! The headline figures that a record keeps.

use super::accuracy::Stretches;
use crate::figure::{Quantity, RunFigure, Statistic, Timed};
use crate::measure::figure_record::FigureRecord;
use crate::measure::run_record::RunRecord;
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

/// The headline figures, of the run and of each kind in it, that have an interval.
pub fn headline(run: &Stretches<'_>) -> Vec<FigureRecord> {
    let figures = RunFigure::all_of(run.totals()).into_iter();
    let named = figures.filter(|figure| HEADLINE.contains(&figure.quantity));
    named.filter_map(|figure| record(run, &figure)).collect()
}

/// The record with its headline figures, which older records lack.
pub fn with_figures(mut record: RunRecord) -> RunRecord {
    if record.totals.figures.is_empty() {
        record.totals.figures = headline(&Stretches::of(&record));
    }
    record
}

fn record(run: &Stretches<'_>, figure: &RunFigure) -> Option<FigureRecord> {
    let known = run.accuracy(figure).ok()?;
    Some(FigureRecord {
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
    })
}
