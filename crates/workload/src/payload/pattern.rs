//! Patterns of the data of a fleet's files, with the names and numbers of LANforge's payload
//! patterns.
//!
//! Each pattern is a sequence of bytes that repeats. The PRBS are those of shift registers:
//! `prbs-7-0-6` has seven stages, and the bits at positions 0 and 6, counted from the one that was
//! shifted in last, are added modulo two and shifted in; all start with 1 in the first stage, and
//! eight bits form a byte, the first bit being the highest. So bit *k* of `prbs-11-8-10` is the sum
//! of bits *k*−9 and *k*−11, the sequence of 2047 bits of ITU-T O.150. Registers with a tap at
//! position 0 generate its sequences of the same length backwards.

use crate::JsonSchema;
use filestone_wire::pattern;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Maximum length of the sequence of a custom pattern.
pub const CUSTOM_MAX: usize = 2048;
/// Length of the sequence of random data: a unit starts at a random position in it.
const RANDOM_LEN: usize = 64 << 10;

/// Pattern of the data of files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// 0, 1, 2 … 255, repeated.
    Increasing,
    /// 255, 254 … 0, repeated.
    Decreasing,
    /// Random bytes, different in each unit.
    Random,
    /// Random bytes, identical in each unit.
    RandomFixed,
    /// Zeros.
    Zeros,
    /// Bytes with all bits set.
    Ones,
    /// A shift register of 4 stages with taps at 0 and 3.
    #[serde(rename = "prbs-4-0-3")]
    Prbs4,
    /// A shift register of 7 stages with taps at 0 and 6.
    #[serde(rename = "prbs-7-0-6")]
    Prbs7,
    /// A shift register of 11 stages with taps at 8 and 10.
    #[serde(rename = "prbs-11-8-10")]
    Prbs11,
    /// A shift register of 15 stages with taps at 0 and 14.
    #[serde(rename = "prbs-15-0-14")]
    Prbs15,
    /// A custom sequence of bytes, in hexadecimal.
    Custom(String),
    /// Incompressible bytes, as all other commands write them: they depend on the position in the
    /// file.
    Incompressible,
}

/// Start of a unit in the sequence of its pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatternStart {
    /// The start of the sequence.
    First,
    /// The position that corresponds to the offset in the file.
    Offset,
    /// A random position, different each time.
    Anywhere,
}

const NAMES: [(Pattern, &str); 11] = [
    (Pattern::Increasing, "increasing"),
    (Pattern::Decreasing, "decreasing"),
    (Pattern::Random, "random"),
    (Pattern::RandomFixed, "random-fixed"),
    (Pattern::Zeros, "zeros"),
    (Pattern::Ones, "ones"),
    (Pattern::Prbs4, "prbs-4-0-3"),
    (Pattern::Prbs7, "prbs-7-0-6"),
    (Pattern::Prbs11, "prbs-11-8-10"),
    (Pattern::Prbs15, "prbs-15-0-14"),
    (Pattern::Incompressible, "incompressible"),
];

impl Pattern {
    /// Returns the names of all patterns except the custom one.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(_, name)| *name)
    }

    /// Returns all patterns except the custom one.
    pub fn named() -> impl Iterator<Item = Self> {
        NAMES.iter().map(|(pattern, _)| pattern.clone())
    }

    /// Parses a name, also as LANforge writes it (`PRBS_7_0_6`), or bytes: `hex:00ff`.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Some(digits) = text.strip_prefix("hex:") {
            let digits: String = digits.chars().filter(|c| !c.is_whitespace()).collect();
            bytes_of(&digits)?;
            return Ok(Pattern::Custom(digits.to_ascii_lowercase()));
        }
        let wanted = text.to_ascii_lowercase().replace('_', "-");
        let mut known = NAMES.iter();
        let found = known.find(|(_, name)| *name == wanted);
        let found = found.map(|(pattern, _)| pattern.clone());
        found.ok_or_else(|| {
            let names: Vec<&str> = Self::names().collect();
            format!("expected hex:BYTES, or one of {}", names.join(", "))
        })
    }

    /// Returns the start of units in the sequence.
    pub const fn start(&self) -> PatternStart {
        match self {
            Pattern::Random => PatternStart::Anywhere,
            Pattern::Incompressible => PatternStart::Offset,
            Pattern::Increasing
            | Pattern::Decreasing
            | Pattern::RandomFixed
            | Pattern::Zeros
            | Pattern::Ones
            | Pattern::Prbs4
            | Pattern::Prbs7
            | Pattern::Prbs11
            | Pattern::Prbs15
            | Pattern::Custom(_) => PatternStart::First,
        }
    }

    /// Returns the sequence of bytes that repeats; never empty.
    pub fn row(&self) -> Vec<u8> {
        match self {
            Pattern::Increasing => (0..=u8::MAX).collect(),
            Pattern::Decreasing => (0..=u8::MAX).rev().collect(),
            Pattern::Random | Pattern::RandomFixed => {
                let mut row = vec![0; RANDOM_LEN];
                pattern::fill(0, &mut row);
                row
            }
            Pattern::Zeros => vec![0],
            Pattern::Ones => vec![u8::MAX],
            Pattern::Prbs4 => shift_register(4, 0, 3),
            Pattern::Prbs7 => shift_register(7, 0, 6),
            Pattern::Prbs11 => shift_register(11, 8, 10),
            Pattern::Prbs15 => shift_register(15, 0, 14),
            // The digits were checked when they were parsed.
            Pattern::Custom(digits) => bytes_of(digits).unwrap_or_else(|_| vec![0]),
            Pattern::Incompressible => {
                let mut row = vec![0; pattern::PERIOD];
                pattern::fill(0, &mut row);
                row
            }
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Pattern::Custom(digits) = self {
            return write!(f, "hex:{digits}");
        }
        let name = NAMES.iter().find(|(pattern, _)| pattern == self);
        f.write_str(name.map_or("", |(_, name)| *name))
    }
}

/// Parses the bytes of hexadecimal digits.
fn bytes_of(digits: &str) -> Result<Vec<u8>, String> {
    let expected = || format!("expected 1 to {CUSTOM_MAX} bytes as pairs of hexadecimal digits");
    if digits.is_empty() || !digits.len().is_multiple_of(2) || digits.len() > 2 * CUSTOM_MAX {
        return Err(expected());
    }
    let pairs = digits.as_bytes().chunks_exact(2);
    let byte = |pair: &[u8]| {
        let text = str::from_utf8(pair).ok()?;
        if !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        u8::from_str_radix(text, 16).ok()
    };
    pairs.map(byte).collect::<Option<_>>().ok_or_else(expected)
}

/// Returns all bits of a register's sequence, repeated so that they form whole bytes.
fn shift_register(stages: u32, first_tap: u32, second_tap: u32) -> Vec<u8> {
    let period = (1_usize << stages) - 1;
    let mut bits = Register {
        state: 1,
        stages,
        first_tap,
        second_tap,
    };
    // An odd number of bits repeats after the same number of bytes.
    let byte = |_| (0..8).fold(0, |byte: u8, _| byte << 1 | bits.next_bit());
    (0..period).map(byte).collect()
}

/// A shift register with two taps.
struct Register {
    state: u32,
    stages: u32,
    first_tap: u32,
    second_tap: u32,
}

impl Register {
    /// Returns the bit of the last stage, and shifts.
    fn next_bit(&mut self) -> u8 {
        let at = |place: u32| self.state >> place & 1;
        let out = at(self.stages - 1);
        let new = at(self.first_tap) ^ at(self.second_tap);
        self.state = (self.state << 1 | new) & ((1 << self.stages) - 1);
        out as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(pattern: &Pattern) -> Vec<u8> {
        let row = pattern.row();
        let bits = |byte: &u8| {
            (0..8)
                .rev()
                .map(|place| byte >> place & 1)
                .collect::<Vec<_>>()
        };
        row.iter().flat_map(bits).collect()
    }

    fn is_rotation(one: &[u8], other: &[u8]) -> bool {
        let twice = [other, other].concat();
        twice.windows(one.len()).any(|window| window == one)
    }

    #[test]
    fn the_sequence_of_four_stages_is_the_published_one() {
        // The m-sequence of x⁴ + x + 1 (Golomb, Shift Register Sequences), backwards.
        let published: Vec<u8> = "100010011010111".bytes().rev().map(|c| c - b'0').collect();
        assert!(is_rotation(&published, &bits(&Pattern::Prbs4)[..15]));
    }

    #[test]
    fn sequences_are_those_of_itu_t_o_150() {
        // Its recurrences: the sums of two stages, counted from the input.
        let of = |stages: usize, taps: [usize; 2]| {
            let mut bits = vec![1_u8; stages];
            for k in stages..(1 << stages) - 1 {
                bits.push(bits[k - taps[0]] ^ bits[k - taps[1]]);
            }
            bits
        };
        let backwards = |mut bits: Vec<u8>| {
            bits.reverse();
            bits
        };
        for (pattern, stages, wanted) in [
            (Pattern::Prbs7, 7, backwards(of(7, [6, 7]))),
            (Pattern::Prbs11, 11, of(11, [9, 11])),
            (Pattern::Prbs15, 15, backwards(of(15, [14, 15]))),
        ] {
            let period = (1 << stages) - 1;
            let bits = bits(&pattern);
            assert_eq!(bits.len(), 8 * period);
            assert!(is_rotation(&wanted, &bits[..period]), "{pattern}");
            assert_eq!(bits[..period], bits[period..2 * period]);
            let ones = bits[..period].iter().filter(|bit| **bit == 1).count();
            assert_eq!(ones, 1 << (stages - 1), "{pattern}");
        }
    }

    #[test]
    fn patterns_are_known_by_both_spellings() {
        for name in Pattern::names() {
            let pattern = Pattern::parse(name).expect(name);
            assert_eq!(pattern.to_string(), name);
            let as_lanforge = name.to_uppercase().replace('-', "_");
            assert_eq!(Pattern::parse(&as_lanforge), Ok(pattern));
        }
        let own = Pattern::parse("hex:00 FF7a").expect("three bytes");
        assert_eq!(
            (own.row(), own.to_string()),
            (vec![0, 255, 122], "hex:00ff7a".into())
        );
        for text in ["prbs-9", "hex:", "hex:0", "hex:+1", "hex:0g"] {
            assert!(Pattern::parse(text).is_err(), "{text}");
        }
        assert!(Pattern::parse(&format!("hex:{}", "00".repeat(CUSTOM_MAX + 1))).is_err());
    }

    #[test]
    fn rows_are_as_they_are_called() {
        assert_eq!(Pattern::Increasing.row()[..3], [0, 1, 2]);
        assert_eq!(Pattern::Decreasing.row()[..3], [255, 254, 253]);
        assert_eq!(Pattern::Ones.row(), [255]);
        let incompressible = Pattern::Incompressible.row();
        assert_eq!(pattern::first_mismatch(0, &incompressible), None);
    }
}
