//! tbench's exchanges: requests and replies that contain only lengths.
//!
//! tbench transfers as many bytes over TCP as a file server and its client would. A request begins
//! with two words, a reply with one, in network byte order; the rest is padding that no side reads.
//! The protocol has no standard: dbench's `sockio.c` and `tbench_srv.c` are the only definition.
//!
//! | bytes | request | reply |
//! |---|---|---|
//! | 0–3 | length of the request − 4 | length of the reply − 4 |
//! | 4–7 | length of the wanted reply − 4 | padding |
//! | 8– | padding | padding |
//!
//! [`sizes`] contains the message lengths of each operation, [`requests`] the splitting of a
//! server's stream into requests. Lengths here include the header unless stated otherwise.

pub mod requests;
pub mod sizes;

pub use requests::Requests;
pub use sizes::{Sizes, TbenchDialect, TbenchOperation};

/// The port that tbench connects to and `tbench_srv` listens on.
pub const PORT: u16 = 7003;

/// Longest request or reply that is sent or accepted: 16 MiB of file data, and ample space for
/// headers.
pub const MESSAGE_MAX: u32 = (16 << 20) + (64 << 10);

/// Length of the two mandatory words of a request, in bytes.
pub const REQUEST_MIN: u32 = 8;

/// Length of the mandatory word of a reply, in bytes.
pub const REPLY_MIN: u32 = 4;

/// Messages of at least this many bytes make dbench's `tbench_srv` close the connection or send
/// memory behind its buffer.
pub const ORIGINAL_MAX: u32 = 70_000;

/// An exchange whose lengths are within the limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TbenchExchange {
    request_len: u32,
    reply_len: u32,
}

/// Error for lengths outside of the limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LengthError {
    /// The request is shorter than its two words, 8 bytes.
    #[error("request of {len} bytes is shorter than its header of {REQUEST_MIN}")]
    RequestTooShort {
        /// Announced length of the request.
        len: u64,
    },
    /// The request exceeds the limit.
    #[error("request of {len} bytes is over the limit of {MESSAGE_MAX}")]
    RequestTooLong {
        /// Announced length of the request.
        len: u64,
    },
    /// The reply is shorter than its word, 4 bytes.
    #[error("reply of {len} bytes is shorter than its header of {REPLY_MIN}")]
    ReplyTooShort {
        /// Requested length of the reply.
        len: u64,
    },
    /// The reply exceeds the limit.
    #[error("reply of {len} bytes is over the limit of {MESSAGE_MAX}")]
    ReplyTooLong {
        /// Requested length of the reply.
        len: u64,
    },
}

impl TbenchExchange {
    /// First exchange of a client, to check that the server implements tbench.
    pub const HANDSHAKE: Self = Self {
        request_len: 8,
        reply_len: 8,
    };

    /// Creates an exchange with messages of these lengths, if they are within the limits.
    pub const fn new(request_len: u64, reply_len: u64) -> Result<Self, LengthError> {
        const MAX: u64 = MESSAGE_MAX as u64;
        if request_len < REQUEST_MIN as u64 {
            return Err(LengthError::RequestTooShort { len: request_len });
        }
        if request_len > MAX {
            return Err(LengthError::RequestTooLong { len: request_len });
        }
        if reply_len < REPLY_MIN as u64 {
            return Err(LengthError::ReplyTooShort { len: reply_len });
        }
        if reply_len > MAX {
            return Err(LengthError::ReplyTooLong { len: reply_len });
        }
        Ok(Self {
            request_len: request_len as u32,
            reply_len: reply_len as u32,
        })
    }

    /// Reads the first two words of a request.
    pub fn from_bytes(bytes: [u8; 8]) -> Result<Self, LengthError> {
        let [r0, r1, r2, r3, w0, w1, w2, w3] = bytes;
        let rest = u32::from_be_bytes([r0, r1, r2, r3]);
        let wanted = u32::from_be_bytes([w0, w1, w2, w3]);
        Self::new(u64::from(rest) + 4, u64::from(wanted) + 4)
    }

    /// Returns the first two words of the request.
    #[inline]
    pub const fn to_bytes(self) -> [u8; 8] {
        let [r0, r1, r2, r3] = (self.request_len - 4).to_be_bytes();
        let [w0, w1, w2, w3] = self.reply_header();
        [r0, r1, r2, r3, w0, w1, w2, w3]
    }

    /// Returns the first word of the reply.
    #[inline]
    pub const fn reply_header(self) -> [u8; 4] {
        (self.reply_len - 4).to_be_bytes()
    }

    /// Returns the length of the request, in bytes.
    #[inline]
    pub const fn request_len(self) -> u32 {
        self.request_len
    }

    /// Returns the length of the reply, in bytes.
    #[inline]
    pub const fn reply_len(self) -> u32 {
        self.reply_len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_says_its_length_and_that_of_the_reply_less_four_each() {
        let exchange = TbenchExchange::new(47, 39).unwrap();
        assert_eq!(exchange.to_bytes(), [0, 0, 0, 43, 0, 0, 0, 35]);
        assert_eq!(exchange.reply_header(), [0, 0, 0, 35]);
        assert_eq!(
            TbenchExchange::from_bytes(exchange.to_bytes()),
            Ok(exchange)
        );
        assert_eq!(
            TbenchExchange::HANDSHAKE.to_bytes(),
            [0, 0, 0, 4, 0, 0, 0, 4],
            "what tbench sends first"
        );
    }

    #[test]
    fn lengths_beyond_the_bounds_are_no_exchange() {
        let max = u64::from(MESSAGE_MAX);
        assert!(TbenchExchange::new(max, max).is_ok());
        assert!(TbenchExchange::new(8, 4).is_ok());
        assert_eq!(
            TbenchExchange::new(7, 4),
            Err(LengthError::RequestTooShort { len: 7 })
        );
        assert_eq!(
            TbenchExchange::new(8, 3),
            Err(LengthError::ReplyTooShort { len: 3 })
        );
        assert_eq!(
            TbenchExchange::new(max + 1, 4),
            Err(LengthError::RequestTooLong { len: max + 1 })
        );
        assert_eq!(
            TbenchExchange::new(8, u64::MAX),
            Err(LengthError::ReplyTooLong { len: u64::MAX })
        );
    }

    #[test]
    fn words_of_all_ones_do_not_wrap_around() {
        assert_eq!(
            TbenchExchange::from_bytes([0xff; 8]),
            Err(LengthError::RequestTooLong { len: 0x1_0000_0003 })
        );
        assert_eq!(
            TbenchExchange::from_bytes([0, 0, 0, 4, 0xff, 0xff, 0xff, 0xff]),
            Err(LengthError::ReplyTooLong { len: 0x1_0000_0003 })
        );
        assert_eq!(
            TbenchExchange::from_bytes([0, 0, 0, 3, 0, 0, 0, 0]),
            Err(LengthError::RequestTooShort { len: 7 })
        );
    }
}
