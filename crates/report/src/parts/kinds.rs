//! Kinds of operation in a record.

use filestone_measure::measure::RunRecord;
use filestone_measure::measure::run_record::KindRecord;
use filestone_workload::operation::OpKind;
use filestone_workload::recording::Role;

/// Returns the measured kinds.
pub fn measured(record: &RunRecord) -> impl Iterator<Item = &KindRecord> {
    let kinds = record.totals.kinds.iter();
    kinds.filter(|kind| kind.role == Role::Measured)
}

/// Returns a measured kind.
pub fn measured_of(record: &RunRecord, operation: OpKind) -> Option<&KindRecord> {
    measured(record).find(|kind| kind.operation == operation)
}
