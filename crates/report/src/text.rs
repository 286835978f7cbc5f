//! Text report, selected by the kind of workload.

use super::document::Document;
use super::document::page::{Detail, PageWidth};
use super::parts::{costs, gates, hosts, stamps, validity};
use super::{explanation, fleet, mix, probe, replay};
use filestone_measure::measure::RunRecord;

/// Renders the whole report; caveats are printed separately, on standard error.
pub fn render(record: &RunRecord, detail: Detail, page: PageWidth) -> String {
    let limits = match detail {
        Detail::Brief => Document::default(),
        Detail::Whole | Detail::Clients => explanation::section(record),
    };
    validity::heading(record)
        .with(body(record, detail))
        .with(stamps::section(record))
        .with(hosts::section(record))
        .with(costs::section(record))
        .with(limits)
        .with(gates::section(record))
        .text(page)
}

/// Returns the part of the report that is specific to the workload.
pub fn body(record: &RunRecord, detail: Detail) -> Document {
    if record.replay.is_some() {
        replay::report(record, detail)
    } else if let Some(fleet) = &record.fleet {
        fleet::report(record, fleet)
    } else if record.mix.is_some() {
        mix::report(record, detail)
    } else {
        probe::report(record, detail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn a_plain_run() {
        insta::assert_snapshot!(render(
            &fixtures::plain(),
            Detail::Whole,
            PageWidth::default()
        ));
    }

    #[test]
    fn gates_stand_at_the_end_of_a_run() {
        let mut record = fixtures::in_stretches();
        record.plan.gates.fail_if = [
            "read.response_time.p99 > 100us",
            "response_time.p50 > 1ms",
            "achieved < 500.01/s",
            "response_time.max > 100us",
            "goodput < 2MB/s",
            "errors > 0.1% * scheduled",
            "caveats",
            "write.errors / scheduled > 10%",
            "scheduled / achieved > 5s",
        ]
        .map(|gate| gate.parse().expect(gate))
        .into();
        record.gates = filestone_measure::measure::gates::evaluate(&record);
        insta::assert_snapshot!(gates::section(&record).text(PageWidth::default()));
        let report = render(&record, Detail::Whole, PageWidth::default());
        assert!(report.ends_with(&gates::section(&record).text(PageWidth::default())));
        record.plan.gates.strict = true;
        let strict = gates::section(&record).text(PageWidth::default());
        assert!(
            strict.contains("\ngate fails        achieved < 500.01/s: "),
            "{strict}"
        );
    }

    #[test]
    fn a_run_with_errors_and_companions() {
        insta::assert_snapshot!(render(
            &fixtures::with_errors(),
            Detail::Clients,
            PageWidth::default()
        ));
    }

    #[test]
    fn an_open_loop_that_was_interrupted() {
        insta::assert_snapshot!(render(
            &fixtures::interrupted(),
            Detail::Whole,
            PageWidth::default()
        ));
    }
}
