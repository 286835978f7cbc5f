//! Text of figures with their uncertainty, and of durations.

use filestone_workload::text::{thousands, time_text, time_unit};

/// Formats a duration: `10 s`, `1.25 s`, `500 ms`.
pub fn duration_text(nanos: u64) -> String {
    let seconds = nanos as f64 / 1e9;
    if nanos.is_multiple_of(1_000_000_000) {
        format!("{seconds:.0} s")
    } else if nanos >= 1_000_000_000 {
        format!("{seconds:.2} s")
    } else if nanos >= 1_000_000 {
        format!("{:.0} ms", nanos as f64 / 1e6)
    } else {
        format!("{:.1} µs", nanos as f64 / 1e3)
    }
}

/// Formats a remaining time with a suitable resolution: `9 s`, `35 s`, `1 min 20 s`, `1 h 5 min`.
pub fn waiting_text(nanos: u64) -> String {
    let seconds = nanos.div_ceil(1_000_000_000);
    let (step, unit, part) = match seconds {
        0..20 => return format!("{seconds} s"),
        20..58 => return format!("{} s", (seconds + 2) / 5 * 5),
        58..3570 => (10, ("min", 60), ("s", 1)),
        _ => (60, ("h", 3600), ("min", 60)),
    };
    let seconds = (seconds + step / 2) / step * step;
    let whole = format!("{} {}", seconds / unit.1, unit.0);
    match seconds % unit.1 / part.1 {
        0 => whole,
        rest => format!("{whole} {rest} {}", part.0),
    }
}

/// Returns the unit to which a figure with this uncertainty is rounded: the uncertainty keeps two
/// digits if its first three are 100 to 354, and one if they are more (Particle Data Group, *Review
/// of Particle Physics*, introduction, section 5.3). 25 % of 20,385 is 5,096, so it is rounded to
/// 20,000.
pub fn resolution(half_width: f64) -> f64 {
    let scale = 10f64.powf(half_width.log10().floor());
    let first = half_width / scale;
    match first {
        _ if !first.is_finite() => 0.0,
        _ if first < 3.545 => scale / 10.0,
        // Also for 950 to 999, which become 1000 with two digits.
        _ => scale,
    }
}

/// Rounds a figure to its significant digits; unchanged if the uncertainty is 0.
pub fn rounded(value: f64, half_width: f64) -> f64 {
    match resolution(half_width) {
        unit if unit > 0.0 => (value / unit).round() * unit,
        _ => value,
    }
}

/// Formats a number with at most this many decimals, without trailing zeros.
pub fn plain(value: f64, decimals: usize) -> String {
    without_zeros(&format!("{value:.decimals$}")).into()
}

/// Removes trailing zeros of a number's decimals.
pub fn without_zeros(text: &str) -> &str {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text
    }
}

/// Formats a figure and its half-width of the 95 % interval, both with the digits that the
/// half-width supports, and at most this many decimals: `99.83 ± 0.05`, `-50 ± 220`. A half-width
/// that rounds to 0 is left out.
pub fn with_chance(value: f64, half_width: f64, decimals: usize) -> String {
    let unit = resolution(half_width).max(10f64.powi(-(decimals as i32)));
    let decimals = (-unit.log10() + 1e-9).floor().clamp(0.0, decimals as f64) as usize;
    let [value, half_width] = [value, half_width].map(|value| (value / unit).round() * unit);
    // Turns -0 into 0.
    let value = value + 0.0;
    if half_width > 0.0 {
        format!("{value:.decimals$} ± {half_width:.decimals$}")
    } else {
        format!("{value:.decimals$}")
    }
}

/// Formats a time and its half-width, in the unit that suits its value: `8.4 ± 3.3 µs`.
pub fn time_with_chance(nanos: f64, half_width: f64) -> String {
    if half_width <= 0.0 {
        return time_text(nanos);
    }
    let larger = nanos.abs().max(half_width);
    let (scale, unit) = time_unit(larger);
    // Three digits are enough, also if the figure is more precise.
    let decimals = (2.0 - (larger / scale).log10().floor()).clamp(0.0, 2.0) as usize;
    let text = with_chance(nanos / scale, half_width / scale, decimals);
    format!("{text} {unit}")
}

/// Formats a time with its significant digits, at most three.
pub fn time_within(nanos: f64, half_width: f64) -> String {
    let (scale, unit) = time_unit(nanos);
    let value = nanos / scale;
    let decimals = (2.0 - value.max(1.0).log10().floor()).clamp(0.0, 2.0);
    let coarsest = resolution(half_width / scale).max(10f64.powf(-decimals));
    let decimals = (-coarsest.log10() + 1e-9).floor().max(0.0) as usize;
    let value = (value / coarsest).round() * coarsest;
    format!("{value:.decimals$} {unit}")
}

/// Formats a load with its significant digits: `20,000`.
pub fn load_text(load: f64, half_width: f64) -> String {
    let load = rounded(load, half_width);
    if load < 1000.0 && resolution(half_width) < 1.0 {
        format!("{load:.1}")
    } else {
        thousands(load.round() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_the_digits_that_their_uncertainty_supports() {
        // 20,385 ± 25 %.
        assert_eq!(load_text(20_385.0, 5096.0), "20,000");
        assert_eq!(load_text(20_385.0, 204.0), "20,390");
        assert_eq!(load_text(20_385.0, 12.0), "20,385");
        assert_eq!(load_text(20_385.4, 0.0), "20,385");
        assert_eq!(load_text(29.96, 0.2), "30.0");
        assert_eq!(load_text(829.96, 40.0), "830");
        // Limits of the rule itself: 354 has two digits, 355 one.
        assert_eq!(resolution(354.0), 10.0);
        assert_eq!(resolution(355.0), 100.0);
        assert_eq!(resolution(0.096), 0.01);
        assert_eq!(resolution(0.0), 0.0);
        assert_eq!(rounded(f64::NAN, f64::NAN).to_string(), "NaN");
        assert_eq!(with_chance(-49.5, 220.8, 2), "-50 ± 220");
        assert_eq!(with_chance(-0.004, 0.0, 2), "0.00");
        assert_eq!(with_chance(99.834, 0.054, 2), "99.83 ± 0.05");
        assert_eq!(with_chance(99.834, 0.0001, 2), "99.83");
        assert_eq!(time_with_chance(8_400.0, 3_300.0), "8.4 ± 3.3 µs");
        assert_eq!(time_with_chance(312_812.0, 20_000.0), "313 ± 20 µs");
        assert_eq!(time_with_chance(420.0, 13_000.0), "0 ± 13 µs");
        assert_eq!(time_within(1_234_567.0, 50_000.0), "1.23 ms");
        assert_eq!(time_within(1_234_567.0, 400_000.0), "1.2 ms");
        assert_eq!(time_within(87_340.0, 0.0), "87.3 µs");
        assert_eq!(plain(98.0, 1), "98");
    }

    #[test]
    fn durations_have_a_unit_that_suits_them() {
        assert_eq!(duration_text(10_000_000_000), "10 s");
        assert_eq!(duration_text(500_000_000), "500 ms");
    }

    #[test]
    fn a_wait_is_told_no_finer_than_that_is_worth() {
        for (seconds, text) in [
            (0, "0 s"),
            (9, "9 s"),
            (33, "35 s"),
            (57, "55 s"),
            (58, "1 min"),
            (79, "1 min 20 s"),
            (3569, "59 min 30 s"),
            (3570, "1 h"),
            (3900, "1 h 5 min"),
        ] {
            assert_eq!(waiting_text(seconds * 1_000_000_000), text, "{seconds}");
        }
    }
}
