//! Outgoing replies: encoded bytes, with references to file data in between.
//!
//! The data of a READ are not copied into the reply; the reply stores their position in its bytes
//! ([`Splice`]) and keeps the chunk alive until the kernel has taken it. A queue of replies is then
//! sent with one vectored write.
//!
//! This module is independent of the contents of replies and of sockets.

use std::io::IoSlice;

use filestone_wire::record::RecordMark;
use filestone_wire::smb2::frame::FrameMark;
use filestone_wire::xdr::Writer;

use crate::framing::MARK_LEN;
use crate::tree::run::ByteSlice;

/// Longest data that are copied: below it another element of a vectored write costs more.
const COPY_MAX: usize = 4096;

/// Data at a position between the bytes.
#[derive(Debug)]
struct Splice {
    at: usize,
    run: ByteSlice,
}

/// Replies waiting to be sent, each a record with its mark.
#[derive(Debug, Default)]
pub struct ReplySink {
    bytes: Vec<u8>,
    splices: Vec<Splice>,
    /// Total length of all splices, in bytes.
    spliced: usize,
    sent: Cursor,
    /// Start of the current record, and the value of `spliced` at that time.
    record: (usize, usize),
}

/// Send position in the queue: splices before `splice` and bytes before `bytes` are sent, and
/// `within` bytes of that splice.
#[derive(Debug, Default, Clone, Copy)]
struct Cursor {
    splice: usize,
    bytes: usize,
    within: usize,
    total: usize,
}

impl ReplySink {
    /// Returns the number of unsent bytes.
    pub fn len(&self) -> usize {
        self.bytes.len() + self.spliced - self.sent.total
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Starts a record; [`ReplySink::end_record`] fills in its mark.
    #[inline]
    pub fn begin_record(&mut self) {
        self.record = (self.bytes.len(), self.spliced);
        self.bytes.extend_from_slice(&[0; MARK_LEN]);
    }

    /// Removes the current record.
    pub fn cancel_record(&mut self) {
        let (start, spliced) = self.record;
        while self.splices.last().is_some_and(|splice| splice.at > start) {
            self.splices.pop();
        }
        self.bytes.truncate(start);
        self.spliced = spliced;
    }

    /// Ends the record and returns its length without the mark.
    #[inline]
    pub fn end_record(&mut self) -> usize {
        let (start, spliced) = self.record;
        let len = self.bytes.len() - start - MARK_LEN + (self.spliced - spliced);
        let mark = RecordMark {
            last: true,
            len: len as u32,
        }
        .to_bytes();
        if let Some(place) = self.bytes.get_mut(start..start + MARK_LEN) {
            place.copy_from_slice(&mark);
        }
        len
    }

    /// Ends the record as a frame of SMB, which has a different mark.
    #[inline]
    pub fn end_frame(&mut self) {
        let (start, spliced) = self.record;
        FrameMark::close(&mut self.bytes, start, self.spliced - spliced);
    }

    /// Returns an XDR writer at the end of the record.
    #[inline]
    pub fn writer(&mut self) -> Writer<'_> {
        Writer::new(&mut self.bytes)
    }

    /// Returns the bytes of the record, for encoders that need the written length.
    pub fn bytes_mut(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Appends bytes unchanged.
    pub fn extend(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Appends file data.
    pub fn splice(&mut self, run: ByteSlice) {
        let len = run.bytes().len();
        if len <= COPY_MAX {
            self.bytes.extend_from_slice(run.bytes());
        } else {
            self.splices.push(Splice {
                at: self.bytes.len(),
                run,
            });
            self.spliced += len;
        }
    }

    /// Moves the contents of `other` to the end of this queue.
    pub fn append(&mut self, other: &mut Self) {
        let base = self.bytes.len();
        if other.sent.total == 0 {
            self.bytes.append(&mut other.bytes);
            self.spliced += other.spliced;
            let moved = other.splices.drain(..);
            self.splices.extend(moved.map(|splice| Splice {
                at: splice.at + base,
                ..splice
            }));
        } else {
            let rest = other.to_vec();
            self.bytes.extend_from_slice(&rest);
        }
        other.clear();
    }

    /// Returns a contiguous copy of the unsent bytes.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut flat = Vec::with_capacity(self.len());
        self.visit(usize::MAX, |bytes| flat.extend_from_slice(bytes));
        flat
    }

    /// Clears the queue, and keeps its memory for later replies.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.splices.clear();
        self.spliced = 0;
        self.sent = Cursor::default();
        self.record = (0, 0);
    }

    /// Returns the size of the memory kept for later replies.
    pub fn capacity(&self) -> usize {
        self.bytes.capacity() + self.splices.capacity() * size_of::<Splice>()
    }

    /// Fills `slices` with the next bytes to send and returns the number of slices filled.
    pub fn gather<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let mut count = 0;
        let places = slices.len();
        let mut places_left = slices.iter_mut();
        self.visit(places, |bytes| {
            if let Some(place) = places_left.next() {
                *place = IoSlice::new(bytes);
                count += 1;
            }
        });
        count
    }

    /// Returns the unsent bytes, if they contain no file data.
    pub fn contiguous(&self) -> Option<&[u8]> {
        if self.sent.splice < self.splices.len() {
            return None;
        }
        self.bytes.get(self.sent.bytes..)
    }

    /// Passes the first `limit` unsent pieces to `show`.
    fn visit<'a>(&'a self, limit: usize, mut show: impl FnMut(&'a [u8])) {
        let Cursor {
            splice: first,
            bytes: mut position,
            mut within,
            ..
        } = self.sent;
        let mut shown = 0;
        for splice in self.splices.get(first..).unwrap_or_default() {
            let before = self.bytes.get(position..splice.at).unwrap_or_default();
            let data = splice.run.bytes().get(within..).unwrap_or_default();
            for piece in [before, data] {
                if shown == limit {
                    return;
                }
                if !piece.is_empty() {
                    show(piece);
                    shown += 1;
                }
            }
            position = splice.at;
            within = 0;
        }
        let rest = self.bytes.get(position..).unwrap_or_default();
        if shown < limit && !rest.is_empty() {
            show(rest);
        }
    }

    /// Marks `count` more bytes as sent. Resets the queue when all are sent.
    pub fn advance(&mut self, count: usize) {
        self.sent.total += count;
        if self.is_empty() {
            self.clear();
            return;
        }
        let mut rest = count;
        while let Some(splice) = self.splices.get(self.sent.splice) {
            let before = splice.at - self.sent.bytes;
            if rest < before {
                break;
            }
            let data = splice.run.bytes().len() - self.sent.within;
            self.sent.bytes = splice.at;
            rest -= before;
            if rest < data {
                self.sent.within += rest;
                rest = 0;
                break;
            }
            rest -= data;
            self.sent.within = 0;
            self.sent.splice += 1;
        }
        self.sent.bytes += rest;
        self.compact();
    }

    /// Removes the sent part of a queue that never becomes empty.
    fn compact(&mut self) {
        const COMPACT_AT: usize = 1 << 20;
        let Cursor {
            splice: splices,
            bytes,
            within,
            ..
        } = self.sent;
        if bytes < COMPACT_AT && splices < COMPACT_AT / size_of::<Splice>() {
            return;
        }
        let gone: usize = self
            .splices
            .drain(..splices)
            .map(|s| s.run.bytes().len())
            .sum();
        self.bytes.drain(..bytes);
        for splice in &mut self.splices {
            splice.at -= bytes;
        }
        self.spliced -= gone;
        self.sent = Cursor {
            within,
            total: within,
            ..Cursor::default()
        };
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn data(len: usize, byte: u8) -> ByteSlice {
        ByteSlice::Chunk(Arc::new(vec![byte; len]), 0..len)
    }

    fn queue() -> (ReplySink, Vec<u8>) {
        let mut sink = ReplySink::default();
        let mut expected = Vec::new();
        for (byte, len) in [(1, 5000), (2, 10), (3, 9000), (4, 4097)] {
            sink.begin_record();
            sink.extend(b"head");
            sink.splice(data(len, byte));
            sink.extend(b"tail");
            assert_eq!(sink.end_record(), len + 8);
            expected.extend_from_slice(&(0x8000_0000 | (len as u32 + 8)).to_be_bytes());
            expected.extend_from_slice(b"head");
            expected.extend_from_slice(&vec![byte; len]);
            expected.extend_from_slice(b"tail");
        }
        (sink, expected)
    }

    #[test]
    fn data_come_out_where_they_were_put() {
        let (sink, expected) = queue();
        assert_eq!(sink.len(), expected.len());
        assert!(sink.to_vec() == expected);
        let mut slices = [IoSlice::new(&[]); 3];
        assert_eq!(sink.gather(&mut slices), 3);
        assert_eq!(slices[1].len(), 5000);
    }

    #[test]
    fn a_queue_sent_in_pieces_of_any_length_is_the_same_bytes() {
        for step in [1, 7, 4096, 5012, 6000, 100_000] {
            let (mut sink, expected) = queue();
            let mut got = Vec::new();
            while !sink.is_empty() {
                let rest = sink.to_vec();
                let now = step.min(rest.len());
                got.extend_from_slice(&rest[..now]);
                sink.advance(now);
            }
            assert!(got == expected, "in steps of {step}");
        }
    }

    #[test]
    fn a_queue_that_never_runs_empty_does_not_grow() {
        let mut sink = ReplySink::default();
        for _ in 0..2000 {
            sink.extend(&[7; 3000]);
            sink.splice(data(5000, 8));
            sink.advance(if sink.len() > 8000 { 8000 } else { 100 });
        }
        assert!(sink.bytes.len() < (1 << 20) + 10_000);
        assert!(sink.to_vec().len() == sink.len());
    }

    #[test]
    fn a_cancelled_record_leaves_nothing() {
        let (mut sink, expected) = queue();
        sink.begin_record();
        sink.splice(data(5000, 9));
        sink.cancel_record();
        assert!(sink.to_vec() == expected);
    }

    #[test]
    fn appending_keeps_the_order() {
        let (mut sink, expected) = queue();
        let (mut other, _) = queue();
        sink.append(&mut other);
        assert!(sink.to_vec() == [expected.clone(), expected].concat());
        assert!(other.is_empty());
    }
}
