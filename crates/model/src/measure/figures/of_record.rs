//! Which of the [named](crate::figure) figures a record has.

use crate::figure::{Quantity, RunFigure};
use crate::measure::run_record::{RunRecord, Totals};
use crate::measure::sample::Role;

impl RunFigure {
    /// Every figure of a run with these totals.
    pub fn all_of(totals: &Totals) -> Vec<Self> {
        let kinds = totals.kinds.iter();
        let measured = kinds.filter(|kind| kind.role == Role::Measured);
        let operations = measured.map(|kind| Some(kind.operation));
        std::iter::once(None)
            .chain(operations)
            .flat_map(|operation| {
                Quantity::all().map(move |quantity| Self {
                    operation,
                    quantity,
                })
            })
            .filter(|figure| figure.operation.is_none() || figure.quantity.is_of_kinds())
            .collect()
    }

    /// Its value in this run; `None` where there were no such operations.
    pub fn value(&self, record: &RunRecord) -> Option<f64> {
        super::BatchMeans::of(record).value(self)
    }
}
