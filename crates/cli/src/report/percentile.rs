//! Percentiles in tables, with a mark behind those that are not known.

use super::micros;
use super::page::Page;
use filestone_model::measure::DistributionRecord;
use filestone_model::measure::verdict::percentile::is_known;

/// Stands behind a percentile that is not known.
const MARK: char = '~';

/// A percentile in microseconds. Columns of them are marked or blank at their end.
pub fn cell(times: &DistributionRecord, quantile: f64, nanos: u64) -> String {
    let mark = if is_known(times, quantile) { ' ' } else { MARK };
    format!("{}{mark}", micros(nanos as f64))
}

/// A figure that stands below or above marked ones.
pub fn beside(text: &str) -> String {
    format!("{text} ")
}

/// What the mark means, if it stands in one of the tables.
pub fn legend(tables: &str, page: Page) -> String {
    if !tables.contains(MARK) {
        return String::new();
    }
    let what = format!(
        "{MARK} not known: too few operations lie above it, or its 95 % interval spans more than a factor of 2"
    );
    page.prose(&what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_model::measure::Distribution;

    #[test]
    fn a_percentile_of_two_operations_is_marked() {
        let mut times = Distribution::<u64>::new();
        [100_000, 200_000]
            .into_iter()
            .for_each(|nanos| times.record(nanos));
        let two = times.to_record();
        assert_eq!(cell(&two, 0.9999, two.p99_99), "200.0~");
        (0..98).for_each(|_| times.record(150_000));
        let hundred = times.to_record();
        assert_eq!(cell(&hundred, 0.5, hundred.p50), "150.0 ");
        assert_eq!(legend("150.0 ", Page::default()), "");
        assert!(legend("200.0~", Page::default()).starts_with("~ not known"));
    }
}
