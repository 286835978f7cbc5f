//! Text syntax of file sizes: `nhfsstone`, `64K`, `4K..1M`, `lognormal:16K,1.5`,
//! `1K*50,8K*40,256K*10`.

use super::FileSetError;
use crate::file_set::{FileSizes, SizeClass};
use core::fmt;
use core::str::FromStr;

/// Units, the largest first: powers of 1024.
const UNITS: [(char, u64); 4] = [
    ('T', 1 << 40),
    ('G', 1 << 30),
    ('M', 1 << 20),
    ('K', 1 << 10),
];

/// Parses `64K` or `4096`: whole numbers of bytes only, so that nothing is rounded.
fn bytes_of(text: &str) -> Result<u64, FileSetError> {
    let error = || FileSetError::Bytes(text.into());
    let text = text.trim();
    let upper = text.to_ascii_uppercase();
    let number = upper.strip_suffix("IB").unwrap_or(&upper);
    let unit = UNITS
        .iter()
        .find_map(|(letter, factor)| Some((number.strip_suffix(*letter)?, *factor)));
    let (digits, factor) = match unit {
        Some(unit) => unit,
        // "iB" alone is not a unit.
        None if number.len() == upper.len() => (number, 1),
        None => return Err(error()),
    };
    let digits = digits.trim_end();
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(error());
    }
    let count: u64 = digits.parse().map_err(|_| error())?;
    count.checked_mul(factor).ok_or_else(error)
}

/// Displays bytes in the largest unit that gives a whole number.
struct Bytes(u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut units = UNITS.iter().filter(|_| self.0 > 0);
        match units.find(|(_, factor)| self.0.is_multiple_of(*factor)) {
            Some((letter, factor)) => write!(f, "{}{letter}", self.0 / factor),
            None => write!(f, "{}", self.0),
        }
    }
}

fn class_of(text: &str) -> Result<SizeClass, FileSetError> {
    let (bytes, weight) = match text.split_once('*') {
        Some((bytes, weight)) => (bytes, weight.trim()),
        // Sizes without weights are equally likely.
        None => (text, "1"),
    };
    Ok(SizeClass {
        bytes: bytes_of(bytes)?,
        weight: weight
            .parse()
            .map_err(|_| FileSetError::Weight(text.into()))?,
    })
}

fn log_normal(text: &str) -> Result<FileSizes, FileSetError> {
    let (median, sigma) = text
        .split_once(',')
        .ok_or_else(|| FileSetError::NoSigma(text.into()))?;
    let sigma = sigma.trim();
    Ok(FileSizes::LogNormal {
        median_bytes: bytes_of(median)?,
        sigma: sigma
            .parse()
            .map_err(|_| FileSetError::NoSigma(text.into()))?,
    })
}

impl FromStr for FileSizes {
    type Err = FileSetError;

    fn from_str(text: &str) -> Result<Self, FileSetError> {
        let text = text.trim();
        let sizes = if text.eq_ignore_ascii_case("nhfsstone") {
            FileSizes::Nhfsstone
        } else if let Some(parameters) = text.strip_prefix("lognormal:") {
            log_normal(parameters)?
        } else if let Some((min, max)) = text.split_once("..") {
            FileSizes::Uniform {
                min_bytes: bytes_of(min)?,
                max_bytes: bytes_of(max)?,
            }
        } else if text.contains(['*', ',']) {
            let classes: Result<_, _> = text.split(',').map(class_of).collect();
            FileSizes::Classes { classes: classes? }
        } else {
            FileSizes::Fixed {
                bytes: bytes_of(text)?,
            }
        };
        sizes.check()?;
        Ok(sizes)
    }
}

impl fmt::Display for FileSizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileSizes::Nhfsstone => f.write_str("nhfsstone"),
            FileSizes::Fixed { bytes } => write!(f, "{}", Bytes(*bytes)),
            FileSizes::Uniform {
                min_bytes,
                max_bytes,
            } => write!(f, "{}..{}", Bytes(*min_bytes), Bytes(*max_bytes)),
            FileSizes::LogNormal {
                median_bytes,
                sigma,
            } => write!(f, "lognormal:{},{sigma}", Bytes(*median_bytes)),
            FileSizes::Classes { classes } => {
                for (index, class) in classes.iter().enumerate() {
                    let comma = if index > 0 { "," } else { "" };
                    write!(f, "{comma}{}*{}", Bytes(class.bytes), class.weight)?;
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        for text in [
            "nhfsstone",
            "0",
            "64K",
            "1T",
            "1000",
            "1025K",
            "4K..1M",
            "0..0",
            "lognormal:16K,1.5",
            "lognormal:1,0",
            "1K*50,8K*40,256K*10",
            "1K*1",
        ] {
            let sizes: FileSizes = text.parse().expect(text);
            assert_eq!(sizes.to_string(), text);
        }
    }

    #[test]
    fn sizes_are_read_as_people_write_them() {
        let fixed = |text: &str| match text.parse() {
            Ok(FileSizes::Fixed { bytes }) => bytes,
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(fixed(" 64k "), 65536);
        assert_eq!(fixed("64KiB"), 65536);
        assert_eq!(fixed("64 KiB"), 65536);
        assert_eq!(fixed("1048576"), fixed("1M"));
        let either: FileSizes = "1K, 2K".parse().expect("equally likely");
        assert_eq!(either.to_string(), "1K*1,2K*1");
    }

    #[test]
    fn what_is_no_size_is_refused_with_what_is_wrong_about_it() {
        for (text, expected) in [
            ("", "file size \"\": is no number of bytes"),
            ("big", "file size \"big\": is no number of bytes"),
            ("-1", "file size \"-1\": is no number of bytes"),
            ("+1", "file size \"+1\": is no number of bytes"),
            ("1.5K", "file size \"1.5K\": is no number of bytes"),
            ("4iB", "file size \"4iB\": is no number of bytes"),
            ("K", "file size \"K\": is no number of bytes"),
            (
                "99999999T",
                "file size \"99999999T\": is no number of bytes",
            ),
            (
                "2T",
                "a file of 2199023255552 bytes: more than 1 TiB (1099511627776)",
            ),
            ("4K..", "file size \"\": is no number of bytes"),
            (
                "2K..1K",
                "file sizes from 2048 to 1024 bytes: the first is the larger one",
            ),
            (
                "1K*x",
                "file size \"1K*x\": what follows the * is no whole number",
            ),
            (
                "1K*0",
                "the weights of the file sizes sum up to 0: 1 to 2^64 - 1 is possible",
            ),
            ("1K*50,", "file size \"\": is no number of bytes"),
            (
                "lognormal:16K",
                "file size \"16K\": the median is not followed by a comma and sigma",
            ),
            (
                "lognormal:16K,99",
                "log-normal file sizes with sigma 99: it is from 0 to 16",
            ),
            (
                "lognormal:16K,NaN",
                "log-normal file sizes with sigma NaN: it is from 0 to 16",
            ),
        ] {
            let error = text.parse::<FileSizes>().expect_err(text);
            assert_eq!(error.to_string(), expected);
            assert!(error.help().contains("file"), "{text}");
        }
    }
}
