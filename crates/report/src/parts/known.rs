//! Precision of the headline figures of a run: `24,900 operations/s ± 4 %`.

use crate::document::page::{Detail, Fact};
use crate::quantity::{load_text, plain, resolution, time_within};
use filestone_measure::measure::figures::{BatchMeans, FigureUnit, Quantity, RunFigure};
use filestone_measure::measure::verdict::percentile::TimesOf;
use filestone_measure::measure::{FigureRecord, RunRecord};
use filestone_workload::figure::Statistic;
use filestone_workload::text::thousands;

/// Smallest percentage that is printed, and finest resolution.
pub const PERCENT_MIN: f64 = 0.1;

/// Returns a headline figure of a run; `None` if it has no interval.
pub fn figure<'record>(record: &'record RunRecord, name: &str) -> Option<&'record FigureRecord> {
    let mut figures = record.totals.figures.iter();
    figures.find(|figure| figure.name == name && figure.value > 0.0)
}

/// Formats a percentile of the response times with the interval in the record; if its upper end is
/// unknown, the lower end, `over 8.1 ms`, unless the median is larger.
pub fn percentile(record: &RunRecord, quantile: f64) -> Option<String> {
    let known = TimesOf::all(&record.totals).interval(quantile);
    let known = known.filter(|known| known.is_kept)?;
    let name = |statistic: Statistic| format!("response_time.{}", statistic.name());
    if known.high_ns.is_none() {
        let median = record.totals.response_time_ns.p50 as f64;
        return (known.low_ns > median).then(|| format!("over {}", bound(known.low_ns)));
    }
    let figure = figure(record, &name(Statistic::of_quantile(quantile)?))?;
    Some(time_of(figure, known.is_known()))
}

/// Formats a lower bound, which is not rounded up.
fn bound(low: f64) -> String {
    let unit = resolution(low / 2.0);
    time_within((low / unit).floor() * unit, low / 2.0)
}

/// Formats a load with three significant digits, or fewer if its interval is wide.
pub fn load(figure: &FigureRecord) -> String {
    if is_hardly_known(figure) {
        let [value, low, high] = [figure.value, figure.low, figure.high]
            .map(|load| load_text(load, for_two_digits(load)));
        return format!("{value} operations/s ({low} to {high})");
    }
    let digits = figure.value.log10().floor();
    let unit = 10_f64
        .powf(digits - 2.0)
        .max(resolution(figure.half_width()));
    let rounded = (figure.value / unit).round() * unit;
    let decimals = (-unit.log10() + 1e-9).floor().max(0.0) as usize;
    let text = match decimals {
        0 => thousands(rounded.round() as u64),
        _ => format!("{rounded:.decimals$}"),
    };
    format!("{text} operations/s{}", chance(figure))
}

/// Formats a time with its significant digits, or with both ends of its interval if it is not
/// known.
fn time_of(figure: &FigureRecord, is_known: bool) -> String {
    if !is_known {
        let [value, low, high] = [figure.value, figure.low, figure.high]
            .map(|time| time_within(time, for_two_digits(time)));
        return format!("{value} ({low} to {high})");
    }
    let half_width = figure.half_width();
    format!(
        "{}{}",
        time_within(figure.value, half_width),
        chance(figure)
    )
}

/// Formats a figure of this unit with the unit and its significant digits.
pub fn value_within(unit: FigureUnit, value: f64, half_width: f64) -> String {
    match unit {
        FigureUnit::Nanoseconds => time_within(value, half_width),
        FigureUnit::OperationsPerSecond => format!("{}/s", load_text(value, half_width)),
        FigureUnit::BytesPerSecond => {
            format!("{} MB/s", load_text(value / 1e6, half_width / 1e6))
        }
        _ => load_text(value, half_width),
    }
}

/// Whether the half-width of the interval is at least the figure: then it has no significant digit.
fn is_hardly_known(figure: &FigureRecord) -> bool {
    figure.half_width() >= figure.value
}

/// Returns an uncertainty that leaves a number two digits, and 0 one.
pub fn for_two_digits(number: f64) -> f64 {
    if number > 0.0 {
        10_f64.powf(number.log10().floor())
    } else {
        10.0
    }
}

/// Formats the half-width in percent of the figure: ` ± 4 %`.
fn chance(figure: &FigureRecord) -> String {
    let percent = percent_text(100.0 * figure.half_width() / figure.value);
    format!(" ± {percent}")
}

/// Formats a percentage, rounded to its meaningful resolution.
pub fn percent_text(percent: f64) -> String {
    let percent = percent.max(PERCENT_MIN);
    let unit = resolution(percent).max(PERCENT_MIN);
    format!("{} %", plain((percent / unit).round() * unit, 1))
}

/// Returns the headline figures with their intervals, for reports whose first line has an
/// ancestor's format. Without intervals it returns the reason, at the highest level of detail.
pub fn fact(record: &RunRecord, detail: Detail) -> Option<Fact> {
    let times = [("p50", 0.5), ("p99", 0.99)];
    let times = times
        .into_iter()
        .filter_map(|(short, quantile)| Some(format!("{short} {}", percentile(record, quantile)?)));
    let load = figure(record, "achieved").map(load);
    let known: Vec<String> = load.into_iter().chain(times).collect();
    if known.is_empty() {
        return why_none(record, detail);
    }
    Some(("95 % intervals", known.join(", ")))
}

/// Returns the reason why the headline figures have no intervals, at the highest level of detail.
pub fn why_none(record: &RunRecord, detail: Detail) -> Option<Fact> {
    let achieved = RunFigure::of_all(Quantity::Achieved);
    let known = BatchMeans::of(record).accuracy(&achieved);
    let reason = known.err().filter(|_| detail == Detail::Clients)?;
    Some(("95 % intervals", format!("none: {reason}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    fn of(value: f64, half_width: f64) -> FigureRecord {
        FigureRecord {
            name: "achieved".into(),
            unit: "operations/s".into(),
            value,
            low: (value - half_width).max(0.0),
            high: value + half_width,
            confidence: 0.95,
            standard_error: half_width / 2.0,
            degrees_of_freedom: 19.0,
            batches: 20,
            method: "batch-means".into(),
        }
    }

    #[test]
    fn figures_have_the_digits_that_their_intervals_support() {
        for (value, half_width, text) in [
            (24_913.4, 1000.0, "24,900 operations/s ± 4 %"),
            (24_913.4, 5000.0, "25,000 operations/s ± 20 %"),
            (24_913.4, 1.0, "24,900 operations/s ± 0.1 %"),
            (1.234, 0.02, "1.23 operations/s ± 1.6 %"),
            (12.0, 6.0, "12 operations/s ± 50 %"),
        ] {
            assert_eq!(load(&of(value, half_width)), text);
        }
        let hardly = FigureRecord {
            low: 9137.0,
            high: 2_354_559.0,
            ..of(63_345.0, 0.0)
        };
        assert_eq!(time_of(&hardly, false), "63 µs (9.1 µs to 2.4 ms)");
        let tail = FigureRecord {
            low: 5300.0,
            high: 110_000.0,
            ..of(8800.0, 0.0)
        };
        assert_eq!(time_of(&tail, false), "8.8 µs (5.3 µs to 110 µs)");
        assert_eq!(load(&of(10.0, 15.0)), "10 operations/s (0 to 25)");
        assert_eq!(load(&of(830.0, 1400.0)), "830 operations/s (0 to 2,200)");
        assert_eq!(time_of(&of(29_812.0, 600.0), true), "29.8 µs ± 2 %");
        assert_eq!(time_of(&of(29_812.0, 6000.0), true), "30 µs ± 20 %");
    }

    #[test]
    fn a_run_that_is_too_short_says_so_if_asked() {
        let record = fixtures::plain();
        assert_eq!(fact(&record, Detail::Whole), None);
        let (_, why) = fact(&record, Detail::Clients).expect("a reason");
        assert_eq!(
            why,
            "none: the measured window has 2 whole intervals, and 10 are needed"
        );
        let (_, known) = fact(&fixtures::in_stretches(), Detail::Whole).expect("20 stretches");
        assert!(known.starts_with("500 operations/s ± "), "{known}");
    }
}
