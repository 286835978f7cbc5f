//! The [named](filestone_workload::figure) figures of a record.

use crate::measure::run_record::{RunRecord, Totals};
use filestone_workload::figure::{Quantity, RunFigure};
use filestone_workload::recording::sample::Role;

impl Totals {
    /// Returns every figure of a run with these totals.
    pub fn figures(&self) -> Vec<RunFigure> {
        let kinds = self.kinds.iter();
        let measured = kinds.filter(|kind| kind.role == Role::Measured);
        let operations = measured.map(|kind| Some(kind.operation));
        std::iter::once(None)
            .chain(operations)
            .flat_map(|operation| {
                Quantity::all().map(move |quantity| RunFigure {
                    operation,
                    quantity,
                })
            })
            .filter(|figure| figure.operation.is_none() || figure.quantity.is_of_kinds())
            .collect()
    }
}

impl RunRecord {
    /// Returns the value of a figure; `None` if there were no such operations.
    pub fn value(&self, figure: &RunFigure) -> Option<f64> {
        super::BatchMeans::of(self).value(figure)
    }
}
