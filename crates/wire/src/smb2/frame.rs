//! Direct TCP: messages on a byte stream (MS-SMB2, section 2.1).
//!
//! A frame is a zero byte, three bytes of length, most significant first, and one message, a
//! compound, or either of them encrypted. The [`FrameAssembler`] reassembles frames.

use alloc::vec::Vec;

use crate::record::{Mark, Reassembler, RecordError};

/// Reassembles arriving bytes into frames.
pub type FrameAssembler = Reassembler<FrameMark>;

/// Longest frame that three bytes of length can announce.
pub const FRAME_MAX: usize = (1 << 24) - 1;

/// The four bytes in front of a frame: a zero and StreamProtocolLength.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameMark {
    /// Length of the frame in bytes, at most [`FRAME_MAX`].
    pub len: u32,
}

impl FrameMark {
    /// Returns the encoded mark.
    #[inline]
    pub const fn to_bytes(self) -> [u8; 4] {
        (self.len & FRAME_MAX as u32).to_be_bytes()
    }

    /// Starts a frame at the end of `out`. [`FrameMark::close`] completes it, with the returned
    /// position.
    #[inline]
    pub fn open(out: &mut Vec<u8>) -> usize {
        let start = out.len();
        out.extend_from_slice(&[0; 4]);
        start
    }

    /// Writes the mark of the frame that starts at `start` and is followed by `more` bytes that are
    /// sent separately.
    #[inline]
    pub fn close(out: &mut [u8], start: usize, more: usize) {
        let len = out.len().saturating_sub(start + 4) + more;
        let tail = out.get_mut(start..);
        if let Some(mark) = tail.and_then(|tail| tail.first_chunk_mut()) {
            *mark = Self { len: len as u32 }.to_bytes();
        }
    }
}

impl Mark for FrameMark {
    #[inline]
    fn parse(bytes: [u8; 4]) -> Result<Self, RecordError> {
        match bytes {
            [0, ..] => Ok(Self {
                len: u32::from_be_bytes(bytes),
            }),
            _ => Err(RecordError::NoMark { bytes }),
        }
    }

    #[inline]
    fn is_last(self) -> bool {
        true
    }

    #[inline]
    fn data_len(self) -> usize {
        self.len as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn a_frame_is_led_by_a_zero_and_three_bytes_of_length() {
        let mut out = b"before".to_vec();
        let start = FrameMark::open(&mut out);
        out.extend([7; 0x102]);
        FrameMark::close(&mut out, start, 0x0a_0000);
        assert_eq!(out.get(6..10), Some(&[0, 0x0a, 1, 2][..]));
    }

    #[test]
    fn frames_come_out_whole_however_the_stream_is_cut() {
        let stream = [
            &[0, 0, 0, 3][..],
            b"one",
            &[0, 0, 0, 0],
            &[0, 0, 0, 5],
            b"three",
        ]
        .concat();
        for step in 1..=stream.len() {
            let mut assembler = FrameAssembler::new(5);
            let mut found = alloc::vec![];
            for mut piece in stream.chunks(step) {
                while let Some(frame) = assembler.next(&mut piece).unwrap() {
                    found.push(frame.to_vec());
                }
            }
            assert_eq!(found, [&b"one"[..], b"", b"three"]);
        }
    }

    #[test]
    fn what_is_no_frame_is_an_error_for_ever() {
        let mut assembler = FrameAssembler::new(FRAME_MAX);
        let error = Err(RecordError::NoMark { bytes: *b"HTTP" });
        assert_eq!(assembler.next(&mut &b"HTTP/1.1 400"[..]), error);
        assert_eq!(assembler.next(&mut &[0, 0, 0, 1, 9][..]), error);
    }
}
