//! Records in a stream of bytes (RFC 5531, section 11), including incomplete ones.
//!
//! Nothing is copied here: a complete record in the receive buffer is served from there. The
//! connection stores the bytes of an incomplete one.

pub use filestone_wire::record::RECORD_MAX;
use filestone_wire::record::{Mark, RecordMark};
use filestone_wire::smb2::frame::FrameMark;

/// Length of a record mark, in bytes.
pub const MARK_LEN: usize = 4;

/// Longest accepted frame of SMB: a compound with a WRITE of the largest size.
const SMB_FRAME_MAX: usize = (1 << 20) + (64 << 10);

/// Longest accepted frame of a peer without a session: NEGOTIATE and SESSION_SETUP, whose tokens
/// are shorter than 64 KiB. Prevents that a mark alone makes the server allocate memory.
const SMB_FRAME_OF_STRANGER_MAX: usize = 64 << 10;

/// Contents of the front of the received bytes.
#[derive(Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// A complete fragment; `used` bytes with its mark.
    Fragment {
        payload: &'a [u8],
        is_last: bool,
        used: usize,
    },
    /// Incomplete: `needed` bytes with the mark, more than `bytes` has.
    Partial { needed: usize },
    /// A fragment longer than any accepted record. The rest of the stream cannot be trusted.
    TooLong,
}

/// Parses the front of `bytes`.
#[inline]
pub fn next(bytes: &[u8]) -> Frame<'_> {
    let Some((mark, rest)) = bytes.split_first_chunk::<MARK_LEN>() else {
        return Frame::Partial { needed: MARK_LEN };
    };
    let mark = RecordMark::from_bytes(*mark);
    let len = mark.len as usize;
    if len > RECORD_MAX {
        return Frame::TooLong;
    }
    match rest.get(..len) {
        Some(payload) => Frame::Fragment {
            payload,
            is_last: mark.last,
            used: MARK_LEN + len,
        },
        None => Frame::Partial {
            needed: MARK_LEN + len,
        },
    }
}

/// Parses the front of `bytes` as a frame of SMB (MS-SMB2, section 2.1). Calls `has_session` for
/// long frames only.
#[inline]
pub fn next_of_smb(bytes: &[u8], has_session: impl FnOnce() -> bool) -> Frame<'_> {
    let Some((mark, rest)) = bytes.split_first_chunk::<MARK_LEN>() else {
        return Frame::Partial { needed: MARK_LEN };
    };
    let len = FrameMark::parse(*mark).map_or(usize::MAX, Mark::data_len);
    if len > SMB_FRAME_MAX || len > SMB_FRAME_OF_STRANGER_MAX && !has_session() {
        return Frame::TooLong;
    }
    match rest.get(..len) {
        Some(payload) => Frame::Fragment {
            payload,
            is_last: true,
            used: MARK_LEN + len,
        },
        None => Frame::Partial {
            needed: MARK_LEN + len,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_seen_when_its_last_byte_is_there() {
        let bytes = [0x80, 0, 0, 3, 1, 2, 3, 9];
        for len in 0..7 {
            let needed = if len < 4 { 4 } else { 7 };
            assert_eq!(next(&bytes[..len]), Frame::Partial { needed });
        }
        let whole = Frame::Fragment {
            payload: &[1, 2, 3],
            is_last: true,
            used: 7,
        };
        assert_eq!(next(&bytes), whole);
    }

    #[test]
    fn a_mark_from_another_protocol_is_too_long() {
        let next_of_smb = |bytes| next_of_smb(bytes, || true);
        assert_eq!(next_of_smb(b"GET / HTTP/1.1"), Frame::TooLong);
        assert_eq!(next_of_smb(&[0, 0xff, 0, 0]), Frame::TooLong);
        assert_eq!(next_of_smb(&[0, 0, 0]), Frame::Partial { needed: 4 });
        assert_eq!(next_of_smb(&[0, 0, 1, 0]), Frame::Partial { needed: 260 });
        assert_eq!(next(b"GET / HTTP/1.1"), Frame::TooLong);
    }

    #[test]
    fn a_peer_without_a_session_sends_short_frames() {
        let (longest, longer) = ([0, 1, 0, 0], [0, 1, 0, 1]);
        let needed = (64 << 10) + 4;
        assert_eq!(next_of_smb(&longest, || false), Frame::Partial { needed });
        assert_eq!(next_of_smb(&longer, || false), Frame::TooLong);
        let needed = needed + 1;
        assert_eq!(next_of_smb(&longer, || true), Frame::Partial { needed });
    }
}
