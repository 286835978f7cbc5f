//! Whether the numbers of a record that is read from a file can be those of a run: a file can hold anything.
//!
//! That its counts agree ([`RunRecord::check`]) is checked after every run, and told where a record is shown:
//! older versions counted some of them otherwise.

use super::distribution::DistributionRecord;
use super::figure_record::FigureRecord;
use super::run_record::{Contradiction, IntervalRecord, RunRecord};

impl RunRecord {
    /// Checks that reports can be made of the numbers of a record that somebody hands over.
    pub fn check_numbers(&self) -> Result<(), Contradiction> {
        let totals = &self.totals;
        let ended = totals.ledger.ended();
        if self.window_ns == 0 && ended > 0 {
            return Err(Contradiction::NoWindow { ended });
        }
        for (what, number) in [
            ("the achieved load", totals.achieved_load_ops_per_s),
            ("the goodput", totals.goodput_bytes_per_s),
            (
                "the processor time of an operation",
                totals.client_cpu_ns_per_op,
            ),
            ("the number in flight", totals.in_flight_mean),
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
        open.try_for_each(|figure| check_number(&figure.name, figure.low))
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

fn check_interval(interval: &IntervalRecord) -> Result<(), Contradiction> {
    for kind in &interval.kinds {
        check_distribution(kind.operation.name(), &kind.response_time_ns)?;
        check_distribution(kind.operation.name(), &kind.service_time_ns)?;
    }
    Ok(())
}

fn check_figure(figure: &FigureRecord) -> Result<(), Contradiction> {
    check_number(&figure.name, figure.value)?;
    check_number(&figure.name, figure.low)?;
    if figure.low <= figure.high {
        return Ok(());
    }
    Err(Contradiction::Interval {
        what: figure.name.clone(),
        low: figure.low.to_string(),
        high: figure.high.to_string(),
    })
}

fn check_number(what: &str, number: f64) -> Result<(), Contradiction> {
    let what = || what.to_owned();
    if !number.is_finite() {
        return Err(Contradiction::NotANumber { what: what() });
    }
    if number < 0.0 {
        return Err(Contradiction::Negative {
            what: what(),
            value: number.to_string(),
        });
    }
    Ok(())
}

fn check_distribution(what: &str, row: &DistributionRecord) -> Result<(), Contradiction> {
    if !row.is_ordered() {
        return Err(Contradiction::Order { what: what.into() });
    }
    row.check_histogram()
        .map_err(|error| Contradiction::Histogram {
            what: what.into(),
            why: error.to_string(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::verdict::caveats::tests::run_of_30_s;

    /// What is wrong with a sound record after this change.
    fn wrong(change: fn(&mut RunRecord)) -> String {
        let totals = crate::measure::mix_figures::tests::totals(1000, 0, 0, 0);
        let mut record = run_of_30_s(totals, vec![]);
        assert_eq!(record.check_numbers(), Ok(()));
        change(&mut record);
        let error = record.check_numbers().expect_err("no run has such numbers");
        error.to_string()
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
