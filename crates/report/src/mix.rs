//! Report of a mix: nhfsstone's line first, as scripts expect it, then the validity of the run and
//! further figures: percentiles, waits, the wire.
//!
//! A curve and a search have separate reports ([`curve`], [`objective`]).

mod asked;
pub mod curve;
mod errors;
pub mod file_set;
pub mod found;
pub mod objective;
mod on_the_wire;
mod operations;
pub mod validity;

use super::document::Document;
use super::document::page::{Detail, Fact};
use super::nhfsstone;
use super::parts::units::{calls_per_second, operations_per_second};
use super::parts::{facts, heading, known, ledger, percentile};
use filestone_measure::measure::mix_record::MixRecord;
use filestone_measure::measure::{RunRecord, verdict};
use filestone_plan::plan::MixPlan;

/// Program name in nhfsstone's message about a mix that is off.
const PROGRAM: &str = "filestone";

/// Returns the report of a mix, of the curve that it was steered along, or of a search; empty if
/// the record is not a mix. Caveats are printed separately, on standard error.
pub fn report(record: &RunRecord, detail: Detail) -> Document {
    if let Some(curve) = &record.curve {
        return curve::report(record, curve);
    }
    if let Some(objective) = &record.objective {
        return objective::report(record, objective);
    }
    match (record.plan.mix(), &record.mix) {
        (Some(plan), Some(mix)) => at_one_load(record, plan, mix, detail),
        _ => Document::default(),
    }
}

fn at_one_load(record: &RunRecord, plan: &MixPlan, mix: &MixRecord, detail: Detail) -> Document {
    let wire = mix.wire.as_ref();
    let wire = wire.map(|wire| on_the_wire::section(record, wire));
    let tables = [operations::table(record, mix), percentile::table(record)];
    Document::default()
        .lines(nhfsstone_says(record, mix, detail))
        .blank()
        .with(heading::heading(record))
        .tables([validity::table(record)])
        .with(wire.unwrap_or_default())
        .with(percentile::with_legend(tables))
        .blank()
        .facts(cost(record, plan, mix))
        .facts(known::fact(record, detail))
        .with(errors::section(record))
        .with(percentile::with_legend(ledger::failed_times(record)))
        .with(percentile::with_legend(ledger::unmeasured(record)))
        .with(ledger::ledger(&record.totals.ledger))
}

/// Formats nhfsstone's line, and its table if nhfsstone would call the run invalid, or at the
/// highest level of detail.
fn nhfsstone_says(record: &RunRecord, mix: &MixRecord, detail: Detail) -> String {
    let mut text = nhfsstone::line(record, mix);
    let invalid = nhfsstone::invalid(PROGRAM, mix);
    if invalid.is_some() || detail == Detail::Clients {
        text.push_str(&invalid.unwrap_or_default());
        text.push_str(&nhfsstone::table(record, mix));
    }
    text
}

/// Returns load, bytes, cost and the file set, one fact per line. Through a kernel mount loads are
/// in calls, and the wire cost of an operation is unknown.
fn cost(record: &RunRecord, plan: &MixPlan, mix: &MixRecord) -> Vec<Fact> {
    let is_by_calls = mix.wire.is_none();
    let (load, achieved): (fn(f64) -> String, _) = if is_by_calls {
        (operations_per_second, facts::achieved_load(record))
    } else {
        let achieved = verdict::achieved_load_ops_per_s(record);
        (calls_per_second, calls_per_second(achieved))
    };
    let offered = record.totals.offered_load_ops_per_s;
    let facts = [
        offered.map(|offered| ("offered load", load(offered))),
        Some(("achieved load", achieved)),
        facts::goodput(record),
        is_by_calls.then(|| facts::wire_bytes(record)).flatten(),
        facts::client_cpu(record),
        facts::connections(record),
        facts::memory(record),
        facts::file_system(record),
    ];
    let mut facts: Vec<Fact> = facts.into_iter().flatten().collect();
    facts.extend(asked::facts(record, plan, &mix.file_set));
    facts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::page::PageWidth;
    use crate::fixtures;
    use filestone_measure::measure::verdict::caveats::find;

    fn judged(mut record: RunRecord) -> RunRecord {
        record.caveats = find(&record);
        record
    }

    #[test]
    fn a_mix_that_counts() {
        let report = report(&judged(fixtures::mix()), Detail::Whole);
        insta::assert_snapshot!(report.text(PageWidth::default()));
    }

    #[test]
    fn a_mix_through_a_mount_that_does_not_count() {
        let record = judged(fixtures::mix_through_mount());
        insta::assert_snapshot!(report(&record, Detail::Clients).text(PageWidth::default()));
    }
}
