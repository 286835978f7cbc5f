//! Text output of numbers.

/// Returns a number with separated thousands: `1,234,567`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns a number with a noun: `1 client`, `2 clients`.
pub fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", thousands(count))
}

/// Returns bytes with a unit: `4 KiB`, `1.5 MiB`, `700 bytes`.
pub fn bytes_text(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes as f64;
    let mut name = "bytes";
    for unit in UNITS {
        if value < 1024.0 {
            break;
        }
        value /= 1024.0;
        name = unit;
    }
    if value.fract() == 0.0 {
        format!("{value:.0} {name}")
    } else {
        format!("{value:.1} {name}")
    }
}

/// Returns a time with three significant digits: `87.3 µs`, `1.23 ms`, `12.3 s`.
pub fn time_text(nanos: f64) -> String {
    let (scale, unit) = time_unit(nanos);
    let value = nanos / scale;
    match value {
        _ if value < 10.0 => format!("{value:.2} {unit}"),
        _ if value < 100.0 => format!("{value:.1} {unit}"),
        _ => format!("{value:.0} {unit}"),
    }
}

/// Returns the unit for printing a time, and its length in nanoseconds.
pub const fn time_unit(nanos: f64) -> (f64, &'static str) {
    match nanos {
        _ if nanos < 1e3 => (1.0, "ns"),
        _ if nanos < 1e6 => (1e3, "µs"),
        _ if nanos < 1e9 => (1e6, "ms"),
        _ => (1e9, "s"),
    }
}

/// Returns the seconds since 1970 of a time such as `2026-11-24T16:05:00.123Z`; `None` for any
/// other text.
pub fn seconds_of_rfc3339(text: &str) -> Option<f64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let mut date = date.splitn(3, '-').map(str::parse::<i64>);
    let (year, month, day) = (date.next()?.ok()?, date.next()?.ok()?, date.next()?.ok()?);
    let mut time = time.splitn(3, ':');
    let hours: u32 = time.next()?.parse().ok()?;
    let minutes: u32 = time.next()?.parse().ok()?;
    let seconds: f64 = time.next()?.parse().ok()?;
    let is_moment = (1970..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hours < 24
        && minutes < 60
        && (0.0..61.0).contains(&seconds);
    if !is_moment {
        return None;
    }
    // Days since 1970 of the Gregorian calendar, in years that start in March.
    let year = if month <= 2 { year - 1 } else { year };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = 365 * year + year / 4 - year / 100 + year / 400 + day_of_year - 719_468;
    let whole = days * 86_400 + i64::from(hours * 3600 + minutes * 60);
    Some(whole as f64 + seconds)
}

/// Returns a word with quotes for a shell, if necessary.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:@%+=,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Returns the text with control characters replaced by U+FFFD, because text from other sources may
/// contain any character.
pub fn printable(text: &str) -> String {
    let shown = text
        .chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c });
    shown.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_that_date_gives() {
        // date -u -d TEXT +%s
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", 0.0),
            ("2000-02-29T12:00:00Z", 951_825_600.0),
            ("2026-03-01T00:00:00.500Z", 1_772_323_200.5),
            ("2026-11-24T16:05:01Z", 1_795_536_301.0),
        ] {
            assert_eq!(seconds_of_rfc3339(text), Some(seconds), "{text}");
        }
        for text in [
            "",
            "Z",
            "2026-11-24",
            "2026-13-24T16:05:01Z",
            "2026-11-24T16:05:01+01:00",
        ] {
            assert_eq!(seconds_of_rfc3339(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_are_written_as_people_read_them() {
        assert_eq!(bytes_text(4096), "4 KiB");
        assert_eq!(bytes_text(700), "700 bytes");
        assert_eq!(time_text(87_340.0), "87.3 µs");
        assert_eq!(time_text(1_234_000.0), "1.23 ms");
        assert_eq!(time_text(123_400_000_000.0), "123 s");
        assert_eq!(time_text(0.0), "0.00 ns");
    }

    #[test]
    fn thousands_are_apart() {
        let texts = [0, 999, 1000, 1_234_567].map(thousands);
        assert_eq!(texts, ["0", "999", "1,000", "1,234,567"]);
    }
}
