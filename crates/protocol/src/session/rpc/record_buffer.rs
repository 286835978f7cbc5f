//! Reads records from a stream into a reusable buffer that belongs to one connection.
//!
//! For a connection that waits for each reply and needs it in one piece without a copy of file
//! data. Clients of a worker share one buffer instead, and collect fragments in
//! [`RpcSession::next`](super::RpcSession::next).

use super::MARK_LEN;
use filestone_wire::record::{EMPTY_FRAGMENTS_MAX, RecordError, RecordMark};
use std::ops::Range;

/// Initial size of the buffer: the reply to a READ of 64 KiB fits, and a small reply takes at most
/// one system call.
const FIRST: usize = 72 << 10;

/// Reads records from a stream.
#[derive(Debug)]
pub struct RecordBuffer {
    buffer: Vec<u8>,
    /// End of the received bytes.
    end: usize,
    /// The received part of the incoming record, or the record returned last.
    record: Range<usize>,
    expected: Expected,
    empty_fragments: u32,
    record_max: usize,
}

/// Data expected after the bytes in [`RecordBuffer::record`].
#[derive(Debug, Clone, Copy)]
enum Expected {
    /// The first mark of the next record.
    Record,
    /// A mark within the current record.
    Mark,
    /// `len` bytes of a fragment.
    Data { len: usize, is_last: bool },
}

impl RecordBuffer {
    /// Creates a buffer. A record over `record_max` bytes is an error.
    pub fn new(record_max: usize) -> Self {
        Self {
            buffer: vec![0; FIRST],
            end: 0,
            record: 0..0,
            expected: Expected::Record,
            empty_fragments: 0,
            record_max,
        }
    }

    /// Discards data received over a lost connection.
    pub fn clear(&mut self) {
        self.end = 0;
        self.record = 0..0;
        self.expected = Expected::Record;
        self.empty_fragments = 0;
    }

    /// Returns the space to receive into.
    pub fn room(&mut self) -> &mut [u8] {
        self.buffer.get_mut(self.end..).unwrap_or_default()
    }

    /// Records that `len` bytes have been received into that space.
    pub fn received(&mut self, len: usize) {
        self.end = self.buffer.len().min(self.end + len);
    }

    /// Returns received bytes within the record returned last.
    pub fn bytes(&self, range: Range<usize>) -> &[u8] {
        self.buffer.get(range).unwrap_or_default()
    }

    /// Returns all received bytes, for error messages.
    pub fn received_bytes(&self) -> &[u8] {
        self.bytes(0..self.end)
    }

    /// Returns the next record, without its marks, if it is complete: it stays valid until the next
    /// call. Otherwise the buffer has space for more data.
    pub fn next_record(&mut self) -> Result<Option<Range<usize>>, RecordError> {
        loop {
            match self.expected {
                Expected::Record => {
                    self.begin_record();
                    let Some(mark) = self.take_mark(0) else {
                        return Ok(None);
                    };
                    self.record = MARK_LEN..MARK_LEN;
                    self.begin_fragment(mark)?;
                }
                Expected::Mark => {
                    let Some(mark) = self.take_mark(self.record.end) else {
                        return Ok(None);
                    };
                    // Rare: the next fragment moves up over its mark.
                    let data = self.record.end + MARK_LEN..self.end;
                    self.buffer.copy_within(data, self.record.end);
                    self.end -= MARK_LEN;
                    self.begin_fragment(mark)?;
                }
                Expected::Data { len, is_last } => {
                    if !self.has(self.record.end + len) {
                        return Ok(None);
                    }
                    self.record.end += len;
                    self.expected = Expected::Mark;
                    if is_last {
                        self.expected = Expected::Record;
                        return Ok(Some(self.record.clone()));
                    }
                }
            }
        }
    }

    /// Moves the bytes after the last record to the front.
    fn begin_record(&mut self) {
        if self.record.end > 0 {
            self.buffer.copy_within(self.record.end..self.end, 0);
            self.end -= self.record.end;
            self.record = 0..0;
            self.empty_fragments = 0;
        }
    }

    fn take_mark(&mut self, at: usize) -> Option<RecordMark> {
        if !self.has(at + MARK_LEN) {
            return None;
        }
        let bytes = self.bytes(at..at + MARK_LEN).first_chunk::<MARK_LEN>()?;
        Some(RecordMark::from_bytes(*bytes))
    }

    /// Returns whether `wanted` bytes have been received; grows the buffer to hold them.
    fn has(&mut self, wanted: usize) -> bool {
        if wanted > self.buffer.len() {
            self.buffer.resize(wanted, 0);
        }
        self.end >= wanted
    }

    fn begin_fragment(&mut self, mark: RecordMark) -> Result<(), RecordError> {
        let len = mark.len as usize;
        let limit = self.record_max;
        let record_len = self.record.len().saturating_add(len);
        if record_len > limit {
            let len = record_len;
            return Err(RecordError::TooLong { len, limit });
        }
        // Without this limit, empty fragments would make a record endless.
        self.empty_fragments += u32::from(len == 0 && !mark.last);
        if self.empty_fragments > EMPTY_FRAGMENTS_MAX {
            let limit = EMPTY_FRAGMENTS_MAX;
            return Err(RecordError::EmptyFragments { limit });
        }
        self.expected = Expected::Data {
            len,
            is_last: mark.last,
        };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the records of a stream that arrives in pieces of `piece` bytes.
    fn records(
        bytes: &[u8],
        record_max: usize,
        piece: usize,
    ) -> (Vec<Vec<u8>>, Option<RecordError>) {
        let mut incoming = RecordBuffer::new(record_max);
        let mut records = Vec::new();
        let mut next = |incoming: &mut RecordBuffer| loop {
            match incoming.next_record() {
                Ok(Some(record)) => records.push(incoming.bytes(record).to_vec()),
                Ok(None) => return None,
                Err(error) => return Some(error),
            }
        };
        let mut error = next(&mut incoming);
        let mut rest = bytes;
        while error.is_none() && !rest.is_empty() {
            let room = incoming.room();
            let (now, later) = rest.split_at(piece.min(rest.len()).min(room.len()));
            room[..now.len()].copy_from_slice(now);
            incoming.received(now.len());
            error = next(&mut incoming);
            rest = later;
        }
        (records, error)
    }

    #[test]
    fn records_come_off_the_stream_in_any_number_of_fragments_and_pieces() {
        let bytes = [
            &[0x80, 0, 0, 3][..],
            b"one",
            &[0, 0, 0, 1],
            b"t",
            &[0, 0, 0, 0],
            &[0x80, 0, 0, 2],
            b"wo",
            &[0x80, 0, 0, 0],
        ]
        .concat();
        for piece in 1..=bytes.len() {
            let (records, error) = records(&bytes, 100, piece);
            assert_eq!(records, [&b"one"[..], b"two", b""], "pieces of {piece}");
            assert_eq!(error, None);
        }
    }

    #[test]
    fn there_is_room_for_a_record_that_is_longer_than_the_buffer() {
        let data: Vec<u8> = (0..200_000u32).map(|index| index as u8).collect();
        let mark = RecordMark {
            last: true,
            len: data.len() as u32,
        };
        let bytes = [&mark.to_bytes()[..], &data].concat().repeat(2);
        let (records, error) = records(&bytes, 1 << 20, 50_000);
        assert_eq!((records.len(), error), (2, None));
        assert!(records.iter().all(|record| *record == data));
    }

    #[test]
    fn a_record_over_the_limit_is_refused_by_its_mark() {
        for bytes in [
            &[0x80, 0, 0, 101][..],
            &[0xff, 0xff, 0xff, 0xff],
            &[0, 0, 0, 1, 7, 0x80, 0, 0, 100],
        ] {
            let (records, error) = records(bytes, 100, 9);
            assert!(records.is_empty());
            assert!(
                matches!(error, Some(RecordError::TooLong { .. })),
                "{error:?}"
            );
        }
    }

    #[test]
    fn fragments_of_no_bytes_come_to_an_end() {
        let (_, error) = records(&[0; 4000], 100, 7);
        assert!(
            matches!(error, Some(RecordError::EmptyFragments { .. })),
            "{error:?}"
        );
    }
}
