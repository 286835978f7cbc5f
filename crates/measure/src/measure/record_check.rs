//! Checks whether the numbers of a record read from a file can be those of a run, since a file can
//! contain anything.
//!
//! [`RunRecord::check`] checks the consistency of the counts. Reports print its result, since older
//! versions counted some of them differently.

mod parts;

use super::figure_record::FigureRecord;
use super::run_record::{IntervalRecord, InvariantViolation, RunRecord};
use filestone_workload::recording::distribution::DistributionRecord;

impl RunRecord {
    /// Checks that reports can be made from the numbers of a record of unknown origin.
    pub fn check_numbers(&self) -> Result<(), InvariantViolation> {
        let totals = &self.totals;
        let ended = totals.ledger.ended();
        if self.window_ns == 0 && ended > 0 {
            return Err(InvariantViolation::NoWindow { ended });
        }
        for (what, number) in [
            ("the achieved load", totals.achieved_load_ops_per_s),
            ("the goodput", totals.goodput_bytes_per_s),
            (
                "the processor time of an operation",
                totals.client_cpu_ns_per_op,
            ),
            ("the number in flight", totals.in_flight_mean),
            ("the number held", totals.held_mean.unwrap_or(0.0)),
            (
                "the offered load",
                totals.offered_load_ops_per_s.unwrap_or(0.0),
            ),
        ] {
            check_number(what, number)?;
        }
        for (what, row) in self.rows_of_totals() {
            check_distribution(what, row)?;
        }
        for kind in &totals.kinds {
            check_distribution(kind.operation.name(), &kind.response_time_ns)?;
            check_distribution(kind.operation.name(), &kind.service_time_ns)?;
            check_distribution(kind.operation.name(), &kind.failed_time_ns)?;
        }
        self.intervals.iter().try_for_each(check_interval)?;
        totals.figures.iter().try_for_each(check_figure)?;
        let mut open = totals.open_figures.iter();
        open.try_for_each(|figure| check_number(&figure.name, figure.low))?;
        parts::check(self)
    }

    fn rows_of_totals(&self) -> [(&'static str, &DistributionRecord); 4] {
        let totals = &self.totals;
        [
            ("response time", &totals.response_time_ns),
            ("service time", &totals.service_time_ns),
            ("slot wait", &totals.slot_wait_ns),
            ("dispatch delay", &totals.dispatch_delay_ns),
        ]
    }
}

fn check_interval(interval: &IntervalRecord) -> Result<(), InvariantViolation> {
    for kind in &interval.kinds {
        check_distribution(kind.operation.name(), &kind.response_time_ns)?;
        check_distribution(kind.operation.name(), &kind.service_time_ns)?;
    }
    Ok(())
}

fn check_figure(figure: &FigureRecord) -> Result<(), InvariantViolation> {
    check_number(&figure.name, figure.value)?;
    check_number(&figure.name, figure.low)?;
    if figure.low <= figure.high {
        return Ok(());
    }
    Err(InvariantViolation::Interval {
        what: figure.name.clone(),
        low: figure.low.to_string(),
        high: figure.high.to_string(),
    })
}

fn check_number(what: &str, number: f64) -> Result<(), InvariantViolation> {
    let what = || what.to_owned();
    if !number.is_finite() {
        return Err(InvariantViolation::NotANumber { what: what() });
    }
    if number < 0.0 {
        return Err(InvariantViolation::Negative {
            what: what(),
            value: number.to_string(),
        });
    }
    Ok(())
}

fn check_distribution(what: &str, row: &DistributionRecord) -> Result<(), InvariantViolation> {
    if !row.is_ordered() {
        return Err(InvariantViolation::Order { what: what.into() });
    }
    row.check_histogram()
        .map_err(|error| InvariantViolation::Histogram {
            what: what.into(),
            why: error.to_string(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::{CostRecord, WireCostRecord};
    use crate::measure::curve_record::{
        CurvePointRecord, CurveRecord, ObjectiveRecord, SearchStepRecord, SearchStopReason,
    };
    use crate::measure::job_record::JobRecord;
    use crate::measure::job_record::tests::host;
    use crate::measure::mix_figures::tests::tick;
    use crate::measure::verdict::caveats::tests::run_of_30_s;
    use filestone_plan::plan::{Figure, Objective};

    /// Returns the error of a valid record after this change.
    fn wrong(change: fn(&mut RunRecord)) -> String {
        let totals = crate::measure::mix_figures::tests::totals(1000, 0, 0, 0);
        let mut record = run_of_30_s(totals, vec![]);
        assert_eq!(record.check_numbers(), Ok(()));
        change(&mut record);
        let error = record.check_numbers().expect_err("no run has such numbers");
        error.to_string()
    }

    /// Adds one load point, one load tried, one tick and one host.
    fn with_parts(record: &mut RunRecord) {
        let objective = Objective {
            figure: Figure::Mean,
            below_ns: 1_000_000,
        };
        record.curve = Some(CurveRecord {
            points: vec![CurvePointRecord::default()],
            ..CurveRecord::default()
        });
        record.objective = Some(ObjectiveRecord {
            objective,
            load_ops_per_s: None,
            lower_ops_per_s: None,
            upper_ops_per_s: None,
            highest_passed_ops_per_s: None,
            lowest_failed_ops_per_s: None,
            relaxation_time_ns: 0.0,
            longest_stretch_ns: 0,
            end: SearchStopReason::Interrupted,
            steps: vec![SearchStepRecord::default()],
        });
        record.ticks = vec![tick(0, 10, 1000)];
        record.job = Some(JobRecord {
            hosts: vec![host("a", 100.0)],
            lost: vec![],
        });
        record.cost = Some(CostRecord {
            wire: Some(WireCostRecord::default()),
            ..CostRecord::default()
        });
        assert_eq!(record.check_numbers(), Ok(()));
    }

    fn point(record: &mut RunRecord) -> &mut CurvePointRecord {
        let curve = record.curve.as_mut().expect("a curve");
        &mut curve.points[0]
    }

    #[test]
    fn numbers_of_parts_that_no_run_has_are_told_with_their_fields() {
        for (change, expected) in [
            (
                (|record| point(record).achieved_load_ops_per_s = -5.0) as fn(&mut RunRecord),
                "curve.points[0].achieved_load_ops_per_s is -5, which is less than 0",
            ),
            (
                |record| point(record).response_time_mean_half_width_ns = Some(-1.0),
                "curve.points[0].response_time_mean_half_width_ns is -1, ",
            ),
            (
                |record| point(record).service_time_ns.histogram = "garbage!".into(),
                "curve.points[0].service_time_ns: the histogram is not base64",
            ),
            (
                |record| point(record).ledger.unsent = 1,
                "curve.points[0].ledger.unsent is 1, of 0 in all",
            ),
            (
                |record| record.totals.ledger.expected = 1,
                "totals.ledger.expected is 1, of 0 in all",
            ),
            (
                |record| {
                    record.objective.as_mut().expect("one").steps[0].offered_load_ops_per_s = -1.0
                },
                "objective.tried[0].offered_load_ops_per_s is -1, ",
            ),
            (
                |record| record.ticks[0].ok = Some(11),
                "ticks[0]: what ended as expected is 11, of 10 in all",
            ),
            (
                |record| record.job.as_mut().expect("one").hosts[0].busy_percent = -1.0,
                "job.hosts[0].busy_percent is -1, ",
            ),
            (
                |record| record.mix.as_mut().expect("one").in_flight_by_littles_law = -1.0,
                "mix.in_flight_by_littles_law is -1, ",
            ),
            (
                |record| {
                    let cost = record.cost.as_mut().and_then(|cost| cost.wire.as_mut());
                    cost.expect("one").message_bytes_per_operation = -1.0;
                },
                "cost.wire.message_bytes_per_operation is -1, ",
            ),
        ] {
            let totals = crate::measure::mix_figures::tests::totals(1000, 0, 0, 0);
            let mut record = run_of_30_s(totals, vec![]);
            with_parts(&mut record);
            change(&mut record);
            let error = record.check_numbers().expect_err("no run has such numbers");
            assert!(error.to_string().starts_with(expected), "{error}");
        }
    }

    #[test]
    fn numbers_that_no_run_has_are_told() {
        for (change, expected) in [
            (
                (|record| record.window_ns = 0) as fn(&mut RunRecord),
                "its window is 0 ns long, and 1000 operations ended in it",
            ),
            (
                |record| record.totals.achieved_load_ops_per_s = -5.0,
                "the achieved load is -5, which is less than 0",
            ),
            (
                |record| record.totals.goodput_bytes_per_s = f64::NAN,
                "the goodput is not a number",
            ),
            (
                |record| record.totals.response_time_ns.histogram = "garbage!".into(),
                "response time: the histogram is not base64",
            ),
            (
                |record| record.totals.response_time_ns.histogram = "AAAA".into(),
                "response time: the histogram is not in HdrHistogram's V2 encoding",
            ),
            (
                |record| record.totals.response_time_ns.count += 1,
                "response time: the histogram has 1000 values, its row 1001",
            ),
            (
                |record| record.totals.response_time_ns.min = u64::MAX,
                "the row of response time is out of order",
            ),
        ] {
            let said = wrong(change);
            assert!(said.starts_with(expected), "{said}");
        }
    }
}
