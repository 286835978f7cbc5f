//! State of one TCP connection between two wake-ups.
//!
//! An idle connection has no buffers. Bytes of an incomplete record are stored in `input`; replies
//! that the socket did not take are stored in `output`.

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::os::fd::OwnedFd;

use rustix::buffer::spare_capacity;
use rustix::io::Errno;
use rustix::net::{
    RecvFlags, SendAncillaryBuffer, SendFlags, SocketAddrAny, getpeername, getsockname,
};

use crate::dispatch::{CallTransport, Endpoints};
use crate::framing::{self, Frame, RECORD_MAX};
use crate::reply::ReplySink;
use crate::smb2;

/// Most parts of one vectored write; the kernel takes 1024, but a longer list is seldom full.
const SLICES: usize = 128;

/// Smallest growth of a buffer for bytes that a peer has announced but not sent; otherwise it grows
/// by about the number of bytes received.
const GROWTH_MIN: usize = 16 << 10;

/// Protocol of a listener's connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListenerProtocol {
    /// RPC.
    Rpc,
    /// SMB.
    Smb,
    /// The Echo protocol (RFC 862): sends received data back.
    Echo,
}

/// State of a connection.
#[derive(Debug)]
pub struct Connection {
    pub socket: OwnedFd,
    /// Addresses of both ends.
    pub ends: Endpoints,
    /// SMB state; `None` on an RPC connection.
    pub smb: Option<Box<smb2::SmbConnection>>,
    /// Whether received data are sent back unchanged.
    pub is_echo: bool,
    /// Distinguishes this connection from an earlier one with the same slot.
    pub serial: u32,
    /// Received and not yet processed: part of a record, or records that wait for the output to
    /// drain.
    pub input: Vec<u8>,
    /// Length that `input` needs for its first record to be complete.
    pub needed: usize,
    /// Fragments of a record whose last fragment has not arrived.
    fragments: Vec<u8>,
    /// Replies that the socket has not taken yet.
    pub output: Option<Box<ReplySink>>,
    /// Bytes of file data to discard before the record in `input` is complete.
    pub skip: usize,
    /// Whether the record in `input` is complete except for data that will be discarded.
    pub is_cut: bool,
    /// Bytes received, and records completed.
    progress: Progress,
    /// Progress at the last check of an incomplete record.
    seen: Option<Progress>,
    /// The socket may have data.
    pub is_readable: bool,
    /// The peer sends no more data; close when the output is sent.
    pub is_ending: bool,
}

/// Progress of a connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Progress {
    bytes: u64,
    records: u64,
}

/// Least progress of a record within the stall limit: otherwise a peer that sends a byte now and
/// then could occupy memory here forever.
const PROGRESS_MIN: u64 = 4096;

/// Record at the front of the input.
#[derive(Debug)]
pub enum ParsedRecord<'a> {
    /// A record that is contiguous in the input.
    Record { call: &'a [u8], used: usize },
    /// A record that was assembled from fragments.
    Collected { call: Vec<u8>, used: usize },
    /// A fragment that is not the last; it was stored.
    PutAside { used: usize },
    /// Incomplete: the next step needs `needed` bytes.
    Partial { needed: usize },
    /// The bytes are not a valid record stream.
    Broken,
}

impl Connection {
    pub fn new(socket: OwnedFd, serial: u32, smb: Option<Box<smb2::SmbConnection>>) -> Self {
        let ends = ends_of(&socket);
        Self {
            socket,
            ends,
            smb,
            is_echo: false,
            serial,
            input: Vec::new(),
            needed: 0,
            fragments: Vec::new(),
            output: None,
            skip: 0,
            is_cut: false,
            progress: Progress::default(),
            seen: None,
            is_readable: true,
            is_ending: false,
        }
    }

    /// Parses the front of `bytes` and assembles fragments.
    #[inline]
    pub fn next_piece<'a>(&mut self, bytes: &'a [u8]) -> ParsedRecord<'a> {
        let frame = match &self.smb {
            None => framing::next(bytes),
            Some(smb) => framing::next_of_smb(bytes, || smb.has_session()),
        };
        match frame {
            Frame::Fragment {
                payload,
                is_last: true,
                used,
            } if self.fragments.is_empty() => {
                self.progress.records += 1;
                ParsedRecord::Record {
                    call: payload,
                    used,
                }
            }
            Frame::Fragment {
                payload,
                is_last,
                used,
            } => self.collect(payload, is_last, used),
            Frame::Partial { needed } => ParsedRecord::Partial { needed },
            Frame::TooLong => ParsedRecord::Broken,
        }
    }

    #[cold]
    fn collect<'a>(&mut self, payload: &[u8], is_last: bool, used: usize) -> ParsedRecord<'a> {
        if self.fragments.len() + payload.len() > RECORD_MAX {
            return ParsedRecord::Broken;
        }
        self.fragments.extend_from_slice(payload);
        if is_last {
            self.progress.records += 1;
            ParsedRecord::Collected {
                call: std::mem::take(&mut self.fragments),
                used,
            }
        } else {
            ParsedRecord::PutAside { used }
        }
    }

    /// Returns whether records wait in `input` only because the output is full.
    pub fn is_stalled(&self) -> bool {
        self.needed == 0 && !self.input.is_empty()
    }

    /// Returns whether a record is being assembled from fragments.
    pub fn has_fragments(&self) -> bool {
        !self.fragments.is_empty()
    }

    /// Counts received bytes.
    #[inline]
    pub fn count_received(&mut self, bytes: usize) {
        self.progress.bytes += bytes as u64;
    }

    /// Returns whether an incomplete record has begun to arrive.
    pub fn is_partial(&self) -> bool {
        let waits_for_bytes = self.needed > self.input.len() && !self.input.is_empty();
        waits_for_bytes || self.skip > 0 || self.has_fragments()
    }

    /// Returns whether the same record has made no progress since the last check. A peer whose data
    /// are not read because it takes no replies is not stuck.
    pub fn is_stuck(&mut self) -> bool {
        if !self.is_partial() || self.output.is_some() {
            self.seen = None;
            return false;
        }
        let (now, before) = (self.progress, self.seen.replace(self.progress));
        before.is_some_and(|before| {
            now.records == before.records && now.bytes < before.bytes + PROGRESS_MIN
        })
    }

    /// Receives into the rest of `input`; returns the number of bytes and whether the socket is
    /// drained.
    pub fn receive_more(&mut self) -> io::Result<ReceiveResult> {
        let missing = self.needed.saturating_sub(self.input.len()).max(1);
        self.input
            .reserve(missing.min(self.input.len().max(GROWTH_MIN)));
        let room = self.input.capacity() - self.input.len();
        received(
            rustix::net::recv(&self.socket, spare_capacity(&mut self.input), NOWAIT),
            room,
        )
    }

    /// Receives into `buffer`.
    #[inline]
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<ReceiveResult> {
        let room = buffer.len();
        received(rustix::net::recv(&self.socket, buffer, NOWAIT), room)
    }

    /// Has the kernel discard the bytes to skip, without copying them.
    pub fn receive_nothing(&mut self, buffer: &mut [u8]) -> io::Result<ReceiveResult> {
        let room = self.skip.min(buffer.len());
        let place = buffer.get_mut(..room).unwrap_or_default();
        let came = received(
            rustix::net::recv(&self.socket, place, NOWAIT | RecvFlags::TRUNC),
            room,
        )?;
        if let ReceiveResult::Bytes { count, .. } = came {
            self.skip -= count.min(self.skip);
        }
        Ok(came)
    }

    /// Sends as much of `sink` as the socket takes; returns the number of bytes.
    pub fn send(&self, sink: &mut ReplySink) -> io::Result<usize> {
        let mut total = 0;
        while !sink.is_empty() {
            let sent = match sink.contiguous() {
                Some(bytes) => rustix::net::send(&self.socket, bytes, SendFlags::NOSIGNAL),
                None => {
                    let mut slices = [IoSlice::new(&[]); SLICES];
                    let count = sink.gather(&mut slices);
                    let slices = slices.get(..count).unwrap_or_default();
                    let mut control = SendAncillaryBuffer::default();
                    rustix::net::sendmsg(&self.socket, slices, &mut control, SendFlags::NOSIGNAL)
                }
            };
            match sent {
                Ok(count) => {
                    sink.advance(count);
                    total += count;
                }
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(total)
    }
}

/// Returns the addresses of a connection; unspecified ones if its peer has already disconnected.
fn ends_of(socket: &OwnedFd) -> Endpoints {
    let nowhere = SocketAddr::from(([0, 0, 0, 0], 0));
    let address = |found: Option<SocketAddrAny>| {
        let found = found.and_then(|any| SocketAddr::try_from(any).ok());
        found.unwrap_or(nowhere)
    };
    Endpoints {
        transport: CallTransport::Tcp,
        local: address(getsockname(socket).ok()),
        peer: address(getpeername(socket).ok().flatten()),
    }
}

const NOWAIT: RecvFlags = RecvFlags::DONTWAIT;

/// Result of one receive call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReceiveResult {
    /// This many bytes; `is_all` if the socket has no more at that time.
    Bytes { count: usize, is_all: bool },
    /// No data yet.
    Nothing,
    /// The peer has closed its side.
    End,
}

#[inline]
fn received(result: rustix::io::Result<(usize, usize)>, room: usize) -> io::Result<ReceiveResult> {
    match result {
        Ok((_, 0)) => Ok(ReceiveResult::End),
        Ok((_, count)) => Ok(ReceiveResult::Bytes {
            count,
            is_all: count < room,
        }),
        Err(Errno::AGAIN | Errno::INTR) => Ok(ReceiveResult::Nothing),
        Err(errno) => Err(errno.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    fn connected() -> (UnixStream, Connection) {
        let (peer, socket) = UnixStream::pair().unwrap();
        (peer, Connection::new(socket.into(), 1, None))
    }

    /// Receives like the worker: all data in the socket, and then up to the missing bytes of the
    /// record.
    fn receive(connection: &mut Connection) {
        let received = connection.receive_more().unwrap();
        let ReceiveResult::Bytes { count, .. } = received else {
            panic!("{received:?}")
        };
        connection.count_received(count);
        let input = std::mem::take(&mut connection.input);
        match connection.next_piece(&input) {
            ParsedRecord::Partial { needed } => {
                connection.needed = needed;
                connection.input = input;
            }
            ParsedRecord::Record { .. } => connection.needed = 0,
            piece => panic!("{piece:?}"),
        }
    }

    #[test]
    fn a_buffer_grows_by_what_has_come_and_not_by_what_was_announced() {
        let (mut peer, mut connection) = connected();
        peer.write_all(&[0x80, 0x10, 0, 0]).unwrap();
        for sent in [4, 104, 204] {
            receive(&mut connection);
            assert_eq!(connection.input.len(), sent);
            assert!(connection.input.capacity() <= 3 * GROWTH_MIN);
            peer.write_all(&[7; 100]).unwrap();
        }
        let mut sent = 204 + 100;
        while sent < 200_000 {
            peer.write_all(&[7; 10_000]).unwrap();
            sent += 10_000;
            receive(&mut connection);
            // Space for as much again as has arrived, which a growing vector may double: the amount
            // depends on the number of bytes per receive.
            let capacity = connection.input.capacity();
            assert!(
                capacity <= 4 * sent + 3 * GROWTH_MIN,
                "{capacity} for {sent}"
            );
        }
    }

    #[test]
    fn a_record_that_stands_still_is_stuck_and_one_that_grows_is_not() {
        let (mut peer, mut connection) = connected();
        assert!(!connection.is_stuck());
        assert!(!connection.is_stuck(), "nothing has begun");
        peer.write_all(&[0x80, 0, 0x40, 0]).unwrap();
        receive(&mut connection);
        assert!(!connection.is_stuck(), "it is looked at for the first time");
        peer.write_all(&[7; PROGRESS_MIN as usize]).unwrap();
        receive(&mut connection);
        assert!(!connection.is_stuck());
        peer.write_all(&[7; PROGRESS_MIN as usize - 1]).unwrap();
        receive(&mut connection);
        assert!(connection.is_stuck(), "a byte less is too slow");
        let rest = (16 << 10) - 2 * PROGRESS_MIN as usize + 1;
        peer.write_all(&vec![7; rest]).unwrap();
        receive(&mut connection);
        assert!(!connection.is_stuck(), "it is whole");
        // The next record begins after it, and its first check has no predecessor.
        peer.write_all(&[0x80, 0, 0x40, 0]).unwrap();
        receive(&mut connection);
        assert!(!connection.is_stuck());
        connection.output = Some(Box::default());
        assert!(!connection.is_stuck(), "it is not read from");
    }
}
