//! Replies off a stream, into one buffer that is used again and again.

use crate::control::Cancellation;
use crate::transport::rpc::CallError;
use filestone_wire::record::{EMPTY_FRAGMENTS_MAX, RecordError, RecordMark};
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// Bytes of the buffer at first: the reply to a READ of 64 KiB fits, and no small
/// reply takes more than one call of the system.
const FIRST: usize = 72 << 10;

/// Takes records off a stream.
#[derive(Debug)]
pub struct Incoming {
    buffer: Vec<u8>,
    /// Received and not handed out yet.
    start: usize,
    end: usize,
    record_max: usize,
    /// Raised, it ends waiting.
    sign: Cancellation,
}

impl Incoming {
    /// A record over `record_max` bytes is an error.
    pub fn new(record_max: usize) -> Self {
        Self {
            buffer: vec![0; FIRST],
            start: 0,
            end: 0,
            record_max,
            sign: Cancellation::default(),
        }
    }

    /// From now on, waiting ends when this is raised, as soon as a call of the system returns.
    pub fn cancel_with(&mut self, sign: &Cancellation) {
        self.sign = sign.clone();
    }

    /// Forgets what came of a connection that is gone.
    pub fn clear(&mut self) {
        (self.start, self.end) = (0, 0);
    }

    /// Bytes of the record that was handed out last.
    pub fn bytes(&self, range: Range<usize>) -> &[u8] {
        self.buffer.get(range).unwrap_or_default()
    }

    /// The next record, without its marks. It stays until the next is asked for.
    pub fn next_record(
        &mut self,
        socket: &OwnedFd,
        deadline: Instant,
        timeout: Duration,
    ) -> Result<Range<usize>, CallError> {
        let until = (deadline, timeout);
        self.move_to_front();
        let mark = self.mark_at(0, socket, until)?;
        let mut record = 4..4 + self.length(mark, 0)?;
        self.fill(record.end, socket, until)?;
        let mut is_last = mark.last;
        let mut empty_fragments = 0;
        while !is_last {
            // Rare: the next fragment moves up over its mark.
            let mark = self.mark_at(record.end, socket, until)?;
            self.buffer
                .copy_within(record.end + 4..self.end, record.end);
            self.end -= 4;
            let len = self.length(mark, record.len())?;
            // Fragments without bytes would let a record go on for ever.
            empty_fragments += u32::from(len == 0);
            if empty_fragments > EMPTY_FRAGMENTS_MAX {
                let limit = EMPTY_FRAGMENTS_MAX;
                return Err(CallError::Record(RecordError::EmptyFragments { limit }));
            }
            record.end += len;
            self.fill(record.end, socket, until)?;
            is_last = mark.last;
        }
        self.start = record.end;
        Ok(record)
    }

    fn move_to_front(&mut self) {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
    }

    fn mark_at(
        &mut self,
        at: usize,
        socket: &OwnedFd,
        until: (Instant, Duration),
    ) -> Result<RecordMark, CallError> {
        self.fill(at + 4, socket, until)?;
        let bytes = self.bytes(at..at + 4).first_chunk::<4>().copied();
        Ok(RecordMark::from_bytes(bytes.unwrap_or_default()))
    }

    /// How long the fragment is, if the record may be that long.
    fn length(&self, mark: RecordMark, before: usize) -> Result<usize, CallError> {
        let len = mark.len as usize;
        if before.saturating_add(len) > self.record_max {
            return Err(CallError::Record(RecordError::TooLong {
                len: before.saturating_add(len),
                limit: self.record_max,
            }));
        }
        Ok(len)
    }

    /// Receives until there are `wanted` bytes.
    fn fill(
        &mut self,
        wanted: usize,
        socket: &OwnedFd,
        (deadline, timeout): (Instant, Duration),
    ) -> Result<(), CallError> {
        if wanted > self.buffer.len() {
            self.buffer.resize(wanted, 0);
        }
        while self.end < wanted {
            let room = self.buffer.get_mut(self.end..).unwrap_or_default();
            match recv(socket, room, RecvFlags::empty()) {
                Ok((_, 0)) => return Err(CallError::Closed),
                Ok((len, _)) => self.end += len,
                Err(Errno::AGAIN) if self.sign.is_cancelled() => return Err(CallError::Stopped),
                // Nothing has come for a while.
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            if self.end < wanted && Instant::now() >= deadline {
                return Err(CallError::TimedOut(timeout));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    const TIMEOUT: Duration = Duration::from_secs(20);

    /// What is made of these bytes, after which the stream ends.
    fn records(bytes: &[u8], record_max: usize) -> (Vec<Vec<u8>>, CallError) {
        let (mut sender, receiver) = UnixStream::pair().expect("a pair of sockets");
        sender.write_all(bytes).expect("there is room");
        drop(sender);
        let socket = OwnedFd::from(receiver);
        let mut incoming = Incoming::new(record_max);
        let mut records = Vec::new();
        loop {
            match incoming.next_record(&socket, Instant::now() + TIMEOUT, TIMEOUT) {
                Ok(record) => records.push(incoming.bytes(record).to_vec()),
                Err(error) => return (records, error),
            }
        }
    }

    #[test]
    fn records_come_off_the_stream_in_any_number_of_fragments() {
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
        let (records, end) = records(&bytes, 100);
        assert_eq!(records, [&b"one"[..], b"two", b""]);
        assert!(matches!(end, CallError::Closed), "{end}");
    }

    #[test]
    fn a_record_over_the_limit_is_refused_by_its_mark() {
        for bytes in [
            &[0x80, 0, 0, 101][..],
            &[0xff, 0xff, 0xff, 0xff],
            &[0, 0, 0, 1, 7, 0x80, 0, 0, 100],
        ] {
            let (records, end) = records(bytes, 100);
            assert!(records.is_empty());
            assert!(
                matches!(end, CallError::Record(RecordError::TooLong { .. })),
                "{end}"
            );
        }
    }

    #[test]
    fn fragments_of_no_bytes_come_to_an_end() {
        let (_, end) = records(&[0; 4000], 100);
        assert!(
            matches!(end, CallError::Record(RecordError::EmptyFragments { .. })),
            "{end}"
        );
    }
}
