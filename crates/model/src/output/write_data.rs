//! What writes send: data of the pattern, where they lie, or those of a load file.

use super::{Output, Splice, Stretch};
use crate::load::is_incompressible;
use filestone_wire::pattern::PERIOD;

/// From this length on data of the pattern are spliced instead of copied.
const SPLICE_MIN: usize = 1024;

/// What writes take their data from, over and over.
#[derive(Debug, Default)]
pub struct WriteData {
    /// Whether they are those of the pattern.
    is_pattern: bool,
    /// Others, copied.
    copied: Vec<u8>,
}

impl WriteData {
    /// Those of the pattern.
    pub const PATTERN: Self = Self {
        is_pattern: true,
        copied: Vec::new(),
    };

    /// Takes these from now on.
    pub fn keep(&mut self, data: &[u8]) {
        self.is_pattern = is_incompressible(data);
        if !self.is_pattern && self.copied != data {
            self.copied.clear();
            self.copied.extend_from_slice(data);
        }
    }

    /// Appends a stretch of them; how many bytes lie elsewhere, in `pattern`, if they may.
    pub fn put(
        &self,
        stretch: Stretch,
        pattern: &[u8],
        may_splice: bool,
        out: &mut Output,
    ) -> usize {
        let len = stretch.len as usize;
        let start = (stretch.at % PERIOD as u64) as usize;
        let lies_there = self.is_pattern && pattern.len() >= start + len;
        if lies_there && len >= SPLICE_MIN && may_splice {
            let at = out.bytes.len();
            out.splices.push(Splice { at, start, len });
            return len;
        }
        let source = if self.is_pattern {
            pattern
        } else {
            &self.copied[..]
        };
        let period = if self.is_pattern {
            PERIOD.min(source.len())
        } else {
            source.len()
        };
        repeat(
            source.get(..period).unwrap_or_default(),
            stretch,
            &mut out.bytes,
        );
        0
    }
}

/// Appends a stretch of `source`, which is repeated over and over.
fn repeat(source: &[u8], stretch: Stretch, out: &mut Vec<u8>) {
    let end = out.len() + stretch.len as usize;
    if source.is_empty() {
        // Only a caller without data comes to that; zeros are as good.
        return out.resize(end, 0);
    }
    let start = (stretch.at % source.len() as u64) as usize;
    let mut rest = source.get(start..).unwrap_or_default();
    while out.len() < end {
        let missing = end - out.len();
        out.extend_from_slice(rest.get(..missing).unwrap_or(rest));
        rest = source;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_go_on_in_the_next_piece_where_they_ended_in_the_last() {
        let repeated = |source: &[u8], at, len| {
            let mut out = Vec::new();
            repeat(source, Stretch { at, len }, &mut out);
            out
        };
        assert_eq!(repeated(b"abc", 0, 3), b"abc");
        assert_eq!(repeated(b"abc", 4, 2), b"bc");
        assert_eq!(repeated(b"abc", 5, 8), b"cabcabca");
        assert_eq!(repeated(b"", 0, 2), [0, 0]);
    }
}
