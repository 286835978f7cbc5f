//! What writes send: data of the pattern, where they lie, those of a load file, or a unit.

use super::{Output, Splice, Stretch};
use crate::load::is_incompressible;
use crate::payload::Unit;
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
    /// A unit, whose data lie in the pattern's place.
    unit: Option<Box<Unit>>,
}

impl WriteData {
    /// Those of the pattern.
    pub const PATTERN: Self = Self {
        is_pattern: true,
        copied: Vec::new(),
        unit: None,
    };

    /// Takes these from now on.
    pub fn keep(&mut self, data: &[u8]) {
        self.is_pattern = is_incompressible(data);
        if !self.is_pattern && self.copied != data {
            self.copied.clear();
            self.copied.extend_from_slice(data);
        }
    }

    /// Takes a unit from now on: it is for as long as a client lives that it takes units, or never.
    pub fn keep_unit(&mut self, unit: &Unit) {
        match &mut self.unit {
            Some(kept) => **kept = *unit,
            None => self.unit = Some(Box::new(*unit)),
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
        if let Some(unit) = &self.unit {
            return put_unit(unit, stretch, pattern, may_splice, out);
        }
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

/// Appends a stretch of a unit, whose data lie in `table`.
fn put_unit(
    unit: &Unit,
    stretch: Stretch,
    table: &[u8],
    may_splice: bool,
    out: &mut Output,
) -> usize {
    let mut spliced = 0;
    unit.each_piece(stretch.at, stretch.len, table, |piece| match piece.start {
        Some(start) if may_splice && piece.bytes.len() >= SPLICE_MIN => {
            let (at, len) = (out.bytes.len(), piece.bytes.len());
            out.splices.push(Splice { at, start, len });
            spliced += len;
        }
        _ => out.bytes.extend_from_slice(piece.bytes),
    });
    spliced
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
    use crate::payload::{FileKey, Inspector, Pattern, Payloads, Place, Reading};

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

    #[test]
    fn what_is_sent_is_what_is_filled_in_whatever_it_is_cut_into() {
        let pattern = Pattern::Prbs11;
        // Longer than what lies side by side in the table.
        let len = 3 * (1 << 20) + 77;
        let payloads = Payloads::new(std::slice::from_ref(&pattern), u64::from(len));
        let place = Place {
            number: 0,
            offset: 0,
            len,
        };
        let unit = Unit::plain(payloads.region(0), pattern.begin(), place, 0);
        let unit = unit.with_checksum(FileKey::default(), place, payloads.table());
        let mut whole = Vec::new();
        unit.fill(u64::from(len), payloads.table(), &mut whole);
        let mut inspector = Inspector::default();
        inspector.begin(&Reading {
            file: FileKey::default(),
            is_first: true,
            is_last: true,
            ..Reading::default()
        });
        inspector.see(&whole);
        assert_eq!(inspector.take_fault(), None);
        let mut data = WriteData::default();
        data.keep_unit(&unit);
        let mut at = 0;
        while at < len {
            let piece = (len - at).min(100_000);
            let mut out = Output::default();
            let stretch = Stretch {
                at: u64::from(at),
                len: piece,
            };
            let spliced = data.put(stretch, payloads.table(), true, &mut out);
            assert_eq!(out.total_len(), piece as usize);
            assert_eq!(out.bytes.len() + spliced, piece as usize);
            let (mut sent, mut from) = (Vec::new(), 0);
            for splice in &out.splices {
                sent.extend_from_slice(&out.bytes[from..splice.at]);
                sent.extend_from_slice(&payloads.table()[splice.start..][..splice.len]);
                from = splice.at;
            }
            sent.extend_from_slice(&out.bytes[from..]);
            assert_eq!(sent, whole[at as usize..][..piece as usize]);
            at += piece;
        }
    }
}
