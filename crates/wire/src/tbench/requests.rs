//! A server's stream, cut into requests.
//!
//! Only headers are stored: the bytes after them are counted and dropped, and the server can
//! discard them in the socket (see [`Requests::discard`]).

use super::{LengthError, REQUEST_MIN, TbenchExchange};

/// Finds the requests in a byte stream that arrives in pieces.
#[derive(Debug, Clone, Default)]
pub struct Requests {
    header: [u8; REQUEST_MIN as usize],
    header_len: usize,
    /// The request whose header is complete.
    current: Option<TbenchExchange>,
    /// Number of its bytes that have not arrived.
    missing: u32,
    failed: Option<LengthError>,
}

impl Requests {
    /// Creates a reader at the start of a stream.
    pub const fn new() -> Self {
        Self {
            header: [0; REQUEST_MIN as usize],
            header_len: 0,
            current: None,
            missing: 0,
            failed: None,
        }
    }

    /// Consumes bytes from the front of `input` up to the end of the next request, and returns that
    /// request; `None` if the input ends before.
    ///
    /// After an error the start of the next request is unknown: every call returns the same error.
    #[inline]
    pub fn next(&mut self, input: &mut &[u8]) -> Result<Option<TbenchExchange>, LengthError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        if self.current.is_none() {
            self.collect_header(input);
            if self.header_len < self.header.len() {
                return Ok(None);
            }
            let exchange = TbenchExchange::from_bytes(self.header);
            let exchange = exchange.inspect_err(|error| self.failed = Some(*error))?;
            self.current = Some(exchange);
            self.missing = exchange.request_len() - REQUEST_MIN;
        }
        let len = input.len().min(self.missing as usize);
        *input = input.get(len..).unwrap_or_default();
        Ok(self.discard(len as u32))
    }

    fn collect_header(&mut self, input: &mut &[u8]) {
        let room = self.header.get_mut(self.header_len..).unwrap_or_default();
        let len = room.len().min(input.len());
        for (to, from) in room.iter_mut().zip(input.iter()) {
            *to = *from;
        }
        *input = input.get(len..).unwrap_or_default();
        self.header_len += len;
    }

    /// Returns the number of outstanding bytes of the current request, once its header has arrived;
    /// these bytes carry no information.
    #[inline]
    pub const fn missing(&self) -> u32 {
        self.missing
    }

    /// Records that `len` of the [`missing`](Self::missing) bytes were received and discarded;
    /// returns the request if it is complete.
    #[inline]
    pub fn discard(&mut self, len: u32) -> Option<TbenchExchange> {
        self.missing = self.missing.saturating_sub(len);
        if self.missing > 0 {
            return None;
        }
        let complete = self.current.take()?;
        self.header_len = 0;
        Some(complete)
    }

    /// Returns whether the stream may end here: between two requests.
    pub const fn is_at_boundary(&self) -> bool {
        self.header_len == 0 && self.failed.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn stream() -> Vec<u8> {
        let mut stream = Vec::new();
        for (request_len, reply_len) in [(8, 8), (47, 39), (4155, 55)] {
            let exchange = TbenchExchange::new(request_len, reply_len).unwrap();
            stream.extend(exchange.to_bytes());
            stream.resize(stream.len() + request_len as usize - 8, 0xff);
        }
        stream
    }

    #[test]
    fn however_a_stream_is_cut_the_same_requests_come_out() {
        let stream = stream();
        for step in [1, 2, 7, 8, 9, 4096, stream.len()] {
            let mut requests = Requests::new();
            let mut found = Vec::new();
            for mut piece in stream.chunks(step) {
                while let Some(exchange) = requests.next(&mut piece).unwrap() {
                    found.push((exchange.request_len(), exchange.reply_len()));
                }
                assert!(piece.is_empty());
            }
            assert_eq!(found, [(8, 8), (47, 39), (4155, 55)], "step {step}");
            assert!(requests.is_at_boundary());
        }
    }

    #[test]
    fn what_follows_a_header_may_be_thrown_away_unseen() {
        let mut requests = Requests::new();
        let request = TbenchExchange::new(100, 39).unwrap();
        assert_eq!(requests.next(&mut &request.to_bytes()[..]), Ok(None));
        assert_eq!(requests.missing(), 92);
        assert_eq!(requests.discard(91), None);
        assert!(!requests.is_at_boundary());
        assert_eq!(requests.discard(1), Some(request));
        assert_eq!(requests.discard(1), None, "there is no request at hand");
        assert!(requests.is_at_boundary());
    }

    #[test]
    fn a_stream_that_broke_stays_broken() {
        let mut requests = Requests::new();
        let broken = LengthError::RequestTooLong { len: 0x1_0000_0003 };
        assert_eq!(requests.next(&mut &[0xff; 20][..]), Err(broken));
        let handshake = TbenchExchange::HANDSHAKE.to_bytes();
        assert_eq!(requests.next(&mut &handshake[..]), Err(broken));
        assert_eq!(requests.missing(), 0);
        assert!(!requests.is_at_boundary());
    }
}
