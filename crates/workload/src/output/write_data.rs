//! Data of writes: data in the run's table, by reference, other data, copied, or a unit.

use super::{DataRange, DataSegment, Output};
use crate::load::LineData;
use crate::payload::WriteBlock;
use filestone_wire::pattern::PERIOD;

/// Minimum length of data of the table that are spliced instead of copied.
const SPLICE_MIN: usize = 1024;

/// Source of the data of writes, which is repeated.
#[derive(Debug, Default)]
pub struct WriteData {
    /// Position in the table, for data of the table.
    region: Option<Region>,
    /// A copy of other data.
    copied: Vec<u8>,
    /// A unit, whose data are also in the table.
    unit: Option<Box<WriteBlock>>,
}

/// Data of the table, stored twice in a row.
#[derive(Debug, Clone, Copy)]
struct Region {
    start: usize,
    period: usize,
}

impl WriteData {
    /// The data of the pattern.
    pub const PATTERN: Self = Self {
        region: Some(Region {
            start: 0,
            period: PERIOD,
        }),
        copied: Vec::new(),
        unit: None,
    };

    /// Sets the source of the data.
    #[inline]
    pub fn keep(&mut self, data: LineData<'_>) {
        self.region = data.lies_at.map(|start| Region {
            start: start as usize,
            period: data.bytes.len(),
        });
        if self.region.is_none() {
            self.copied.clear();
            self.copied.extend_from_slice(data.bytes);
        }
    }

    /// Sets a unit as the source. A client uses units during its whole lifetime or never.
    pub fn keep_unit(&mut self, unit: &WriteBlock) {
        match &mut self.unit {
            Some(kept) => **kept = *unit,
            None => self.unit = Some(Box::new(*unit)),
        }
    }

    /// Appends a range of the data. Returns the number of bytes that are spliced from `table`, if
    /// that is allowed.
    pub fn put(
        &self,
        stretch: DataRange,
        table: &[u8],
        may_splice: bool,
        out: &mut Output,
    ) -> usize {
        if let Some(unit) = &self.unit {
            return put_unit(unit, stretch, table, may_splice, out);
        }
        if let Some(region) = self.region {
            return region.put(stretch, table, may_splice, out);
        }
        repeat(&self.copied, stretch, &mut out.bytes);
        0
    }
}

impl Region {
    /// Appends a range. Returns the number of spliced bytes.
    fn put(self, stretch: DataRange, table: &[u8], may_splice: bool, out: &mut Output) -> usize {
        let (mut missing, mut spliced) = (stretch.len as usize, 0);
        let mut at = (stretch.at % self.period.max(1) as u64) as usize;
        while missing > 0 {
            let (start, len) = (self.start + at, missing.min(2 * self.period - at));
            let Some(piece) = table
                .get(start..start + len)
                .filter(|piece| !piece.is_empty())
            else {
                // Only reached if the caller's table is not that of the data.
                out.bytes.resize(out.bytes.len() + missing, 0);
                break;
            };
            spliced += put_piece(piece, start, may_splice, out);
            missing -= len;
            // Two periods have ended: the first one follows.
            at = 0;
        }
        spliced
    }
}

/// Appends a piece that starts at `start` in the table. Returns the number of spliced bytes.
fn put_piece(piece: &[u8], start: usize, may_splice: bool, out: &mut Output) -> usize {
    if !may_splice || piece.len() < SPLICE_MIN {
        out.bytes.extend_from_slice(piece);
        return 0;
    }
    let (at, len) = (out.bytes.len(), piece.len());
    out.splices.push(DataSegment { at, start, len });
    len
}

/// Appends a range of a unit, whose data are in `table`.
fn put_unit(
    unit: &WriteBlock,
    stretch: DataRange,
    table: &[u8],
    may_splice: bool,
    out: &mut Output,
) -> usize {
    let mut spliced = 0;
    unit.each_piece(stretch.at, stretch.len, table, |piece| match piece.start {
        Some(start) => spliced += put_piece(piece.bytes, start, may_splice, out),
        None => out.bytes.extend_from_slice(piece.bytes),
    });
    spliced
}

/// Appends a range of `source`, which is repeated.
fn repeat(source: &[u8], stretch: DataRange, out: &mut Vec<u8>) {
    let end = out.len() + stretch.len as usize;
    if source.is_empty() {
        // Only reached if the caller has no data; zeros are sufficient.
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
    use crate::payload::{BlockPosition, DataVerifier, FileKey, Pattern, Payloads, ReadCheck};

    #[test]
    fn data_go_on_in_the_next_piece_where_they_ended_in_the_last() {
        let repeated = |source: &[u8], at, len| {
            let mut out = Vec::new();
            repeat(source, DataRange { at, len }, &mut out);
            out
        };
        assert_eq!(repeated(b"abc", 0, 3), b"abc");
        assert_eq!(repeated(b"abc", 4, 2), b"bc");
        assert_eq!(repeated(b"abc", 5, 8), b"cabcabca");
        assert_eq!(repeated(b"", 0, 2), [0, 0]);
    }

    /// Returns the bytes on the wire of an output with splices from `table`.
    fn sent(out: &Output, table: &[u8]) -> Vec<u8> {
        let (mut sent, mut from) = (Vec::new(), 0);
        for splice in &out.splices {
            sent.extend_from_slice(&out.bytes[from..splice.at]);
            sent.extend_from_slice(&table[splice.start..][..splice.len]);
            from = splice.at;
        }
        sent.extend_from_slice(&out.bytes[from..]);
        sent
    }

    #[test]
    fn data_of_a_table_are_spliced_as_long_as_they_lie_in_a_row() {
        let bytes: Vec<u8> = (0..2500).map(|number| (number % 251) as u8).collect();
        let table = [vec![9; 100], bytes.repeat(2)].concat();
        let mut data = WriteData::default();
        data.keep(LineData {
            bytes: &bytes,
            lies_at: Some(100),
        });
        // Computed by hand: 5,000 contiguous bytes follow the start of a period, 3,000 the offset
        // 2,000; 8,000 bytes from there are 3,000 and 5,000 of the two periods.
        for (at, len, pieces) in [
            (0, 5000, 1),
            (2500, 5000, 1),
            (2000, 3000, 1),
            (2000, 3001, 1),
            (2000, 8000, 2),
            (2499, 20_000, 5),
            (7, 1023, 0),
        ] {
            let expected: Vec<u8> = bytes.iter().cycle().skip(at).take(len).copied().collect();
            for may_splice in [true, false] {
                let (mut out, stretch) = (
                    Output::default(),
                    DataRange {
                        at: at as u64,
                        len: len as u32,
                    },
                );
                let spliced = data.put(stretch, &table, may_splice, &mut out);
                assert_eq!(out.total_len(), len);
                assert_eq!(spliced, len - out.bytes.len());
                assert_eq!(
                    out.splices.len(),
                    if may_splice { pieces } else { 0 },
                    "{at} {len}"
                );
                assert!(sent(&out, &table) == expected, "{at} {len}");
            }
        }
    }

    #[test]
    fn a_table_without_the_data_gives_zeros() {
        let mut out = Output::default();
        let stretch = DataRange { at: 3, len: 2000 };
        assert_eq!(WriteData::PATTERN.put(stretch, &[1; 10], true, &mut out), 0);
        assert_eq!(out.bytes, [0; 2000]);
    }

    #[test]
    fn what_is_sent_is_what_is_filled_in_whatever_it_is_cut_into() {
        let pattern = Pattern::Prbs11;
        // Longer than the contiguous data in the table.
        let len = 3 * (1 << 20) + 77;
        let payloads = Payloads::new(std::slice::from_ref(&pattern), u64::from(len));
        let place = BlockPosition {
            number: 0,
            offset: 0,
            len,
        };
        let unit = WriteBlock::plain(payloads.region(0), pattern.start(), place, 0);
        let unit = unit.with_checksum(FileKey::default(), place, payloads.table());
        let mut whole = Vec::new();
        unit.fill(u64::from(len), payloads.table(), &mut whole);
        let mut verifier = DataVerifier::default();
        verifier.start(&ReadCheck {
            file: FileKey::default(),
            is_first: true,
            is_last: true,
            ..ReadCheck::default()
        });
        verifier.see(&whole);
        assert_eq!(verifier.take_fault(), None);
        let mut data = WriteData::default();
        data.keep_unit(&unit);
        let mut at = 0;
        while at < len {
            let piece = (len - at).min(100_000);
            let mut out = Output::default();
            let stretch = DataRange {
                at: u64::from(at),
                len: piece,
            };
            let spliced = data.put(stretch, payloads.table(), true, &mut out);
            assert_eq!(out.total_len(), piece as usize);
            assert_eq!(out.bytes.len() + spliced, piece as usize);
            let sent = sent(&out, payloads.table());
            assert_eq!(sent, whole[at as usize..][..piece as usize]);
            at += piece;
        }
    }
}
