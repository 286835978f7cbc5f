//! Text syntax of sizes, times and rates.
//!
//! The errors contain the expected syntax; the caller adds the position and the value.

/// Splits `12.5MiB` into its number and its unit.
fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text
        .find(|letter: char| !(letter.is_ascii_digit() || letter == '.'))
        .unwrap_or(text.len());
    let number: f64 = text[..end].parse().ok()?;
    Some((number, text[end..].trim()))
}

/// Returns `number × factor`, rounded to a whole number, if it fits into 64 bits.
fn whole(number: f64, factor: f64) -> Option<u64> {
    let product = (number * factor).round();
    (product.is_finite() && (0.0..1.8e19).contains(&product)).then_some(product as u64)
}

const BYTES_EXPECTED: &str = "expected a number of bytes such as 4096, 64K or 1MiB \
    (K, M, G, T and KiB, MiB, GiB, TiB are powers of 1024; kB, MB, GB, TB are powers of 1000)";

/// Parses bytes: `4096`, `64K` = `64k` = `64KiB` = 65,536, `64kB` = 64,000.
pub fn bytes(text: &str) -> Result<u64, String> {
    let expected = || BYTES_EXPECTED.to_string();
    let (number, unit) = split(text).ok_or_else(expected)?;
    let factor: u64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        _ => return Err(expected()),
    };
    // Whole numbers of bytes stay exact beyond 2^53.
    match text.trim().parse::<u64>() {
        Ok(count) => Ok(count),
        Err(_) => whole(number, factor as f64).ok_or_else(expected),
    }
}

/// Parses a time and returns nanoseconds: `10` and `10s` are seconds; ns, us, ms, m, h and d as
/// usual.
pub fn duration(text: &str) -> Result<u64, String> {
    let expected = || "expected a time such as 10 (seconds), 500ms, 2m or 1h".to_string();
    let (number, unit) = split(text).ok_or_else(expected)?;
    let factor = match unit {
        "ns" => 1.0,
        "us" | "µs" => 1e3,
        "ms" => 1e6,
        "" | "s" => 1e9,
        "m" | "min" => 60e9,
        "h" => 3600e9,
        "d" => 86_400e9,
        _ => return Err(expected()),
    };
    whole(number, factor).ok_or_else(expected)
}

/// Parses a time that is more than 0.
pub fn positive_duration(text: &str) -> Result<u64, String> {
    match duration(text)? {
        0 => Err("the time must be more than 0".into()),
        nanos => Ok(nanos),
    }
}

/// Parses a rate per second: `10000`, `10k`, `10k/s`, `1.5M`, in powers of 1000.
pub fn per_second(text: &str) -> Option<f64> {
    let text = text.trim();
    let (number, unit) = split(text.strip_suffix("/s").unwrap_or(text))?;
    let factor = match unit {
        "" => 1.0,
        "k" | "K" => 1e3,
        "m" | "M" => 1e6,
        _ => return None,
    };
    Some(number * factor)
}

/// Parses an offered load, in operations per second.
pub fn rate(text: &str) -> Result<f64, String> {
    let expected =
        || "expected operations per second such as 10000, 10k or 1.5M (powers of 1000)".to_string();
    let rate = per_second(text).ok_or_else(expected)?;
    if rate <= 0.0 {
        return Err("the offered load must be more than 0 operations per second".into());
    }
    if rate > 1e9 {
        return Err("the offered load must be at most 1G operations per second".into());
    }
    Ok(rate)
}

/// Returns bytes in the largest unit that gives a whole number, as [`bytes`] parses them.
pub fn bytes_text(bytes: u64) -> String {
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    in_units(bytes, units).unwrap_or_else(|| bytes.to_string())
}

/// Returns a time in the largest unit that gives a whole number, as [`duration`] parses it.
pub fn duration_text(nanos: u64) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1000, "us")];
    in_units(nanos, units).unwrap_or_else(|| format!("{nanos}ns"))
}

fn in_units(number: u64, units: [(u64, &str); 3]) -> Option<String> {
    let mut units = units.into_iter();
    let (unit, name) = units.find(|(unit, _)| number > 0 && number.is_multiple_of(*unit))?;
    Some(format!("{}{name}", number / unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_and_a_size_are_printed_as_they_are_parsed() {
        for (nanos, text) in [
            (0, "0ns"),
            (50_000_000, "50ms"),
            (1_000_000_001, "1000000001ns"),
        ] {
            assert_eq!(duration_text(nanos), text);
            assert_eq!(duration(text), Ok(nanos));
        }
        for (number, text) in [(0, "0"), (65_536, "64KiB"), (65_537, "65537")] {
            assert_eq!(bytes_text(number), text);
            assert_eq!(bytes(text), Ok(number));
        }
    }

    #[test]
    fn bytes_are_read_as_people_write_them() {
        for (text, value) in [
            ("0", 0),
            ("4096", 4096),
            ("18446744073709551615", u64::MAX),
            ("64k", 65_536),
            ("64K", 65_536),
            ("64KiB", 65_536),
            ("64kB", 64_000),
            ("1.5M", 1_572_864),
            ("2 GiB", 2 << 30),
            ("1MB", 1_000_000),
        ] {
            assert_eq!(bytes(text), Ok(value), "{text}");
        }
        for text in ["", "k", "-1", "1e3", "4x", "4 KiBs", "99999999T", "1.2.3"] {
            assert!(
                bytes(text).is_err_and(|text| text.contains("64K")),
                "{text}"
            );
        }
    }

    #[test]
    fn times_without_a_unit_are_seconds() {
        for (text, value) in [
            ("10", 10_000_000_000),
            ("0.5", 500_000_000),
            ("10s", 10_000_000_000),
            ("500ms", 500_000_000),
            ("2m", 120_000_000_000),
            ("7us", 7_000),
            ("1h", 3_600_000_000_000),
        ] {
            assert_eq!(duration(text), Ok(value), "{text}");
        }
        for text in ["", "s", "-1", "10 sec", "1w"] {
            assert!(duration(text).is_err(), "{text}");
        }
        assert!(positive_duration("0").is_err());
    }

    #[test]
    fn rates_are_per_second_and_positive() {
        assert_eq!(rate("10k/s"), Ok(10_000.0));
        assert_eq!(rate("10000"), Ok(10_000.0));
        assert_eq!(rate("1.5M"), Ok(1_500_000.0));
        assert_eq!(
            rate("0").unwrap_err(),
            "the offered load must be more than 0 operations per second"
        );
        assert!(rate("ten").is_err());
        assert!(rate("10k/m").is_err());
    }

    mod whatever_is_read {
        use super::*;
        use proptest::prelude::*;

        /// Numbers and units in random order, with some multi-byte and zero-width characters.
        fn quantities() -> impl Strategy<Value = String> {
            let part = prop::sample::select(vec![
                "0",
                "1",
                "7",
                "10",
                "999999999",
                ".",
                ",",
                "-",
                "+",
                "e",
                "inf",
                "NaN",
                "k",
                "K",
                "Mi",
                "MiB",
                "kB",
                "T",
                "ns",
                "us",
                "µs",
                "ms",
                "m",
                "min",
                "h",
                "d",
                "s",
                "/s",
                "/",
                "%",
                " ",
                "\t",
                "\u{a0}",
                "µ",
                "é",
                "∞",
                "日",
                "😀",
                "\u{301}",
                "٣",
            ]);
            prop::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
        }

        proptest! {
            #![proptest_config(ProptestConfig::with_cases(4000))]
            #[test]
            fn reading_does_not_panic(text in prop_oneof![quantities(), any::<String>()]) {
                for read in [bytes(&text), duration(&text), positive_duration(&text)] {
                    prop_assert!(read.map_or_else(|error| !error.is_empty(), |_| true));
                }
                match rate(&text) {
                    Ok(rate) => prop_assert!(rate > 0.0 && rate <= 1e9),
                    Err(error) => prop_assert!(!error.is_empty()),
                }
                prop_assert!(per_second(&text).is_none_or(|rate| rate >= 0.0));
            }
        }
    }
}
