//! Record marking: RPC messages on a byte stream (RFC 5531, section 11).
//!
//! A record is one or more fragments, each after four bytes that contain its length and whether it
//! is the last. The contents of records are not interpreted here.
//!
//! Other stream protocols also have four bytes in front of a message ([`Mark`]), and share the
//! [`Reassembler`].

use alloc::vec::Vec;
use core::marker::PhantomData;

/// Default for the largest accepted record: a READ or WRITE of one mebibyte and ample space for its
/// header.
pub const RECORD_MAX: usize = (1 << 20) + 4096;

/// Largest number of empty fragments in one record. The standard does not forbid them, and without
/// a limit a peer could send them forever.
pub const EMPTY_FRAGMENTS_MAX: u32 = 16;

/// Size up to which a buffer is kept between records.
const RETAINED: usize = 16 << 10;

/// A larger buffer is released after this many consecutive records that did not need it, so a
/// stream of large records does not allocate for each.
const RELEASE_AFTER: u32 = 16;

/// Four bytes in front of a message, or of a part of it, that contain its length.
pub trait Mark: Copy {
    /// Reads a mark.
    fn parse(bytes: [u8; 4]) -> Result<Self, RecordError>;

    /// Returns whether the message ends with the bytes after this mark.
    fn is_last(self) -> bool;

    /// Returns the number of bytes that follow.
    fn data_len(self) -> usize;
}

/// The four bytes in front of a fragment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordMark {
    /// Set if the record ends with this fragment.
    pub last: bool,
    /// Length of the fragment in bytes, below 2^31.
    pub len: u32,
}

impl RecordMark {
    const LAST: u32 = 1 << 31;

    /// Reads a mark; any four bytes are valid.
    #[inline]
    pub const fn from_bytes(bytes: [u8; 4]) -> Self {
        let word = u32::from_be_bytes(bytes);
        Self {
            last: word & Self::LAST != 0,
            len: word & !Self::LAST,
        }
    }

    /// Returns the encoded mark.
    #[inline]
    pub const fn to_bytes(self) -> [u8; 4] {
        let flag = if self.last { Self::LAST } else { 0 };
        (flag | (self.len & !Self::LAST)).to_be_bytes()
    }

    /// Starts a record of one fragment at the end of `out`. [`RecordMark::close`] completes it,
    /// with the returned position.
    #[inline]
    pub fn open(out: &mut Vec<u8>) -> usize {
        let start = out.len();
        out.extend_from_slice(&[0; 4]);
        start
    }

    /// Writes the mark of the record that starts at `start` and is followed by `more` bytes that
    /// are sent separately.
    #[inline]
    pub fn close(out: &mut [u8], start: usize, more: usize) {
        let len = out.len().saturating_sub(start + 4) + more;
        if let Some(mark) = out
            .get_mut(start..)
            .and_then(|tail| tail.first_chunk_mut::<4>())
        {
            *mark = Self {
                last: true,
                len: crate::xdr::length(len),
            }
            .to_bytes();
        }
    }
}

impl Mark for RecordMark {
    #[inline]
    fn parse(bytes: [u8; 4]) -> Result<Self, RecordError> {
        Ok(Self::from_bytes(bytes))
    }

    #[inline]
    fn is_last(self) -> bool {
        self.last
    }

    #[inline]
    fn data_len(self) -> usize {
        self.len as usize
    }
}

/// Error of a byte stream that is not a valid stream of records. Reading cannot continue, because
/// the start of the next record is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// A record exceeds the limit.
    #[error("record of {len} bytes or more is over the limit of {limit}")]
    TooLong {
        /// Total length of the announced fragments, in bytes.
        len: usize,
        /// Limit of the reassembler.
        limit: usize,
    },
    /// A record has too many empty fragments.
    #[error("record has more than {limit} fragments of no bytes")]
    EmptyFragments {
        /// [`EMPTY_FRAGMENTS_MAX`].
        limit: u32,
    },
    /// Instead of a mark there are bytes that no peer of this protocol sends.
    #[error("message begins with {:#04x?}, which is not the length of one", bytes)]
    NoMark {
        /// The bytes.
        bytes: [u8; 4],
    },
}

/// Reassembles arriving bytes into records.
///
/// A record that is contiguous in the input and has one fragment is returned without copying. Other
/// records are collected in a buffer that grows with the arriving bytes, not with the announced
/// length.
#[derive(Debug)]
pub struct Reassembler<M> {
    marks: PhantomData<M>,
    max_record: usize,
    /// Received bytes of the next mark.
    mark: [u8; 4],
    mark_len: usize,
    /// Current fragment, once its mark is complete.
    fragment: Option<Fragment>,
    empty_fragments: u32,
    buffer: Vec<u8>,
    /// Whether the buffer contains a record that has been returned.
    complete: bool,
    small_records: u32,
    failed: Option<RecordError>,
}

/// A [`Reassembler`] of the records of RPC.
pub type Assembler = Reassembler<RecordMark>;

#[derive(Debug, Clone, Copy)]
struct Fragment {
    last: bool,
    missing: usize,
}

impl<M: Mark> Reassembler<M> {
    /// Creates a reassembler that refuses records over `max_record` bytes.
    pub const fn new(max_record: usize) -> Self {
        Self {
            marks: PhantomData,
            max_record,
            mark: [0; 4],
            mark_len: 0,
            fragment: None,
            empty_fragments: 0,
            buffer: Vec::new(),
            complete: false,
            small_records: 0,
            failed: None,
        }
    }

    /// Returns the number of buffered bytes of an incomplete record, including an incomplete mark.
    #[inline]
    pub const fn pending(&self) -> usize {
        if self.complete {
            0
        } else {
            self.buffer.len() + self.mark_len
        }
    }

    /// Returns whether the next byte is the first of a record: no part of its mark has been read.
    #[inline]
    pub const fn is_at_boundary(&self) -> bool {
        self.complete && self.failed.is_none() || self.is_between_records()
    }

    /// Returns the number of missing bytes of the current fragment.
    #[inline]
    pub const fn missing(&self) -> usize {
        match &self.fragment {
            Some(fragment) => fragment.missing,
            None => 0,
        }
    }

    /// Returns the memory used for records that arrive in pieces.
    pub const fn capacity(&self) -> usize {
        self.buffer.capacity()
    }

    /// Consumes bytes from the front of `input` up to the end of the next record, and returns that
    /// record; `None` if the input ends before.
    ///
    /// After an error, every call returns the same error.
    #[inline]
    pub fn next<'s, 'i: 's>(
        &'s mut self,
        input: &mut &'i [u8],
    ) -> Result<Option<&'s [u8]>, RecordError> {
        self.let_go_of_last();
        if self.is_between_records()
            && let Some(record) = self.in_place(input)
        {
            return Ok(Some(record));
        }
        self.collect(input)?;
        Ok(self.complete.then_some(self.buffer.as_slice()))
    }

    #[inline]
    const fn is_between_records(&self) -> bool {
        self.mark_len == 0
            && self.fragment.is_none()
            && self.buffer.is_empty()
            && self.empty_fragments == 0
            && self.failed.is_none()
    }

    /// Returns a record that is contiguous in the input and has one fragment.
    #[inline]
    fn in_place<'i>(&self, input: &mut &'i [u8]) -> Option<&'i [u8]> {
        let (mark, rest) = input.split_first_chunk::<4>()?;
        let mark = M::parse(*mark).ok()?;
        let len = mark.data_len();
        if !mark.is_last() || len > self.max_record {
            return None;
        }
        let (record, rest) = rest.split_at_checked(len)?;
        *input = rest;
        Some(record)
    }

    /// Drops the record that was returned from the buffer, and also a large buffer that has not
    /// been needed for a while.
    #[inline]
    fn let_go_of_last(&mut self) {
        if self.complete {
            self.small_records = if self.buffer.len() > RETAINED {
                0
            } else {
                self.small_records
            };
            self.complete = false;
            self.empty_fragments = 0;
            self.buffer.clear();
        }
        if self.buffer.capacity() > RETAINED && self.is_between_records() {
            self.small_records += 1;
            if self.small_records > RELEASE_AFTER {
                self.release();
            }
        }
    }

    /// Releases a large buffer now, if no record is being collected in it. For owners that detect
    /// an idle stream.
    pub fn release(&mut self) {
        if self.pending() == 0 && self.fragment.is_none() {
            self.complete = false;
            self.small_records = 0;
            self.buffer = Vec::new();
        }
    }

    fn collect(&mut self, input: &mut &[u8]) -> Result<(), RecordError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        while !self.complete {
            let progress = match self.fragment {
                Some(fragment) => self.take_data(fragment, input),
                None => self.take_mark(input)?,
            };
            if !progress {
                break;
            }
        }
        Ok(())
    }

    /// Consumes bytes of a mark; returns whether it is complete.
    fn take_mark(&mut self, input: &mut &[u8]) -> Result<bool, RecordError> {
        while self.mark_len < self.mark.len() {
            let Some((byte, rest)) = input.split_first() else {
                return Ok(false);
            };
            if let Some(place) = self.mark.get_mut(self.mark_len) {
                *place = *byte;
            }
            self.mark_len += 1;
            *input = rest;
        }
        self.mark_len = 0;
        M::parse(self.mark)
            .and_then(|mark| self.begin_fragment(mark))
            .inspect_err(|error| {
                self.failed = Some(*error);
                self.buffer = Vec::new();
            })?;
        Ok(true)
    }

    fn begin_fragment(&mut self, mark: M) -> Result<(), RecordError> {
        let missing = mark.data_len();
        let len = self.buffer.len().saturating_add(missing);
        if len > self.max_record {
            return Err(RecordError::TooLong {
                len,
                limit: self.max_record,
            });
        }
        if missing == 0 && !mark.is_last() {
            self.empty_fragments += 1;
            if self.empty_fragments > EMPTY_FRAGMENTS_MAX {
                return Err(RecordError::EmptyFragments {
                    limit: EMPTY_FRAGMENTS_MAX,
                });
            }
        }
        self.fragment = Some(Fragment {
            last: mark.is_last(),
            missing,
        });
        Ok(())
    }

    /// Consumes bytes of a fragment; returns whether it is complete.
    fn take_data(&mut self, fragment: Fragment, input: &mut &[u8]) -> bool {
        let (data, rest) = input.split_at(fragment.missing.min(input.len()));
        self.buffer.extend_from_slice(data);
        *input = rest;
        let missing = fragment.missing - data.len();
        if missing > 0 {
            self.fragment = Some(Fragment {
                missing,
                ..fragment
            });
            return false;
        }
        self.fragment = None;
        self.complete = fragment.last;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn fragment(last: bool, data: &[u8]) -> Vec<u8> {
        let mut bytes = RecordMark {
            last,
            len: data.len() as u32,
        }
        .to_bytes()
        .to_vec();
        bytes.extend_from_slice(data);
        bytes
    }

    /// Returns all records of `stream`, passed to the reassembler `step` bytes at a time.
    fn records(stream: &[u8], step: usize) -> Result<Vec<Vec<u8>>, RecordError> {
        let mut assembler = Assembler::new(1000);
        let mut found = vec![];
        for mut piece in stream.chunks(step) {
            while let Some(record) = assembler.next(&mut piece)? {
                found.push(record.to_vec());
            }
            assert!(piece.is_empty(), "input is used up before None is returned");
        }
        assert_eq!(assembler.pending(), 0);
        Ok(found)
    }

    #[test]
    fn a_mark_is_a_flag_and_31_bits() {
        let mark = RecordMark {
            last: true,
            len: 40,
        };
        assert_eq!(mark.to_bytes(), [0x80, 0, 0, 40]);
        assert_eq!(RecordMark::from_bytes([0x80, 0, 0, 40]), mark);
        assert_eq!(
            RecordMark::from_bytes([0x7f, 0xff, 0xff, 0xff]),
            RecordMark {
                last: false,
                len: (1 << 31) - 1
            }
        );
    }

    #[test]
    fn the_same_records_come_out_however_the_stream_is_cut() {
        let mut stream = fragment(true, b"one");
        stream.extend(fragment(false, b"tw"));
        stream.extend(fragment(false, b""));
        stream.extend(fragment(true, b"o and more"));
        stream.extend(fragment(true, b""));
        stream.extend(fragment(false, b"three"));
        stream.extend(fragment(true, b""));
        stream.extend(fragment(true, b"four"));
        let expected: [&[u8]; 5] = [b"one", b"two and more", b"", b"three", b"four"];
        for step in 1..=stream.len() {
            assert_eq!(
                records(&stream, step).unwrap(),
                expected,
                "in steps of {step}"
            );
        }
    }

    #[test]
    fn a_record_in_one_piece_is_returned_where_it_lies() {
        let stream = fragment(true, b"in place");
        let mut assembler = Assembler::new(1000);
        let mut input = stream.as_slice();
        let record = assembler.next(&mut input).unwrap().unwrap();
        assert_eq!(record.as_ptr(), stream[4..].as_ptr());
        assert!(input.is_empty());
        assert_eq!(assembler.capacity(), 0);
    }

    #[test]
    fn a_record_over_the_limit_is_an_error_for_ever() {
        for stream in [
            fragment(true, &[0; 1001]),
            [fragment(false, &[0; 999]), fragment(true, &[0; 2])].concat(),
        ] {
            let mut assembler = Assembler::new(1000);
            let error = Err(RecordError::TooLong {
                len: 1001,
                limit: 1000,
            });
            assert_eq!(assembler.next(&mut stream.as_slice()), error);
            assert_eq!(assembler.next(&mut fragment(true, b"ok").as_slice()), error);
        }
        assert_eq!(records(&fragment(true, &[0; 1000]), 1500).unwrap().len(), 1);
    }

    #[test]
    fn fragments_of_no_bytes_do_not_go_on_for_ever() {
        let stream = fragment(false, b"").repeat(EMPTY_FRAGMENTS_MAX as usize + 1);
        let expected = RecordError::EmptyFragments {
            limit: EMPTY_FRAGMENTS_MAX,
        };
        assert_eq!(records(&stream, 7), Err(expected));
    }

    #[test]
    fn a_promise_of_bytes_takes_no_memory() {
        let mut assembler = Assembler::new(usize::MAX);
        let mark = RecordMark {
            last: true,
            len: (1 << 31) - 1,
        }
        .to_bytes();
        assert_eq!(assembler.next(&mut mark.as_slice()), Ok(None));
        assert_eq!(assembler.next(&mut [1_u8; 10].as_slice()), Ok(None));
        assert_eq!(assembler.pending(), 10);
        assert!(assembler.capacity() < 100);
    }

    #[test]
    fn a_large_buffer_is_kept_while_of_use_and_then_given_back() {
        let large = fragment(true, &vec![1; 100_000]);
        let small = fragment(true, b"small");
        let mut assembler = Assembler::new(RECORD_MAX);
        for _ in 0..50 {
            let (mut front, mut back) = large.split_at(50_000);
            assert_eq!(assembler.next(&mut front), Ok(None));
            assert_eq!(assembler.next(&mut back).unwrap().unwrap().len(), 100_000);
            assert!(assembler.capacity() >= 100_000);
        }
        for _ in 0..50 {
            assert_eq!(
                assembler.next(&mut small.as_slice()),
                Ok(Some(&b"small"[..]))
            );
        }
        assert_eq!(assembler.capacity(), 0);
    }

    #[test]
    fn a_record_can_be_opened_and_closed_around_its_bytes() {
        let mut out = b"before".to_vec();
        let start = RecordMark::open(&mut out);
        out.extend_from_slice(b"head");
        RecordMark::close(&mut out, start, 100);
        assert_eq!(out, b"before\x80\x00\x00\x68head");
    }
}
