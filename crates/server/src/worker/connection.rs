//! One TCP connection: what is kept of it between two wake-ups.
//!
//! An idle connection holds no buffers. Bytes of a record that has not arrived whole are kept in
//! `input`; replies that the socket would not take are kept in `output`.

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::os::fd::OwnedFd;

use rustix::buffer::spare_capacity;
use rustix::io::Errno;
use rustix::net::{
    RecvFlags, SendAncillaryBuffer, SendFlags, SocketAddrAny, getpeername, getsockname,
};

use crate::dispatch::{Endpoints, Transport};
use crate::framing::{self, Frame, RECORD_MAX};
use crate::reply::ReplySink;
use crate::smb2;

/// Most parts of one vectored write; the kernel takes 1024, but a longer list is seldom full.
const SLICES: usize = 128;

/// How far a buffer is grown at least ahead of the bytes that a peer announced but has not sent yet;
/// else by about as many as it has sent.
const GROWTH_MIN: usize = 16 << 10;

/// What is spoken on a listener's connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListenerProtocol {
    /// RPC.
    Rpc,
    /// SMB.
    Smb,
    /// The Echo protocol (RFC 862): what comes is sent back.
    Echo,
}

/// A connection's state.
#[derive(Debug)]
pub struct Connection {
    pub socket: OwnedFd,
    /// Who is at it, and where.
    pub ends: Endpoints,
    /// What is kept of it as one of SMB; of one of RPC, nothing.
    pub smb: Option<Box<smb2::Connection>>,
    /// Whether what comes is sent back as it is.
    pub is_echo: bool,
    /// Tells this connection from one that had its slot before.
    pub serial: u32,
    /// Received and not served: part of a record, or records that wait for the output to drain.
    pub input: Vec<u8>,
    /// How long `input` must be for its first record to be whole.
    pub needed: usize,
    /// Fragments of a record whose last fragment has not come.
    fragments: Vec<u8>,
    /// Replies the socket would not take yet.
    pub output: Option<Box<ReplySink>>,
    /// Bytes of file data to throw away before the record in `input` is complete.
    pub skip: usize,
    /// The record in `input` is whole but for data that nobody looks at.
    pub is_cut: bool,
    /// Bytes received, and records that were whole.
    progress: Progress,
    /// What that was when a record that had begun was last looked at.
    seen: Option<Progress>,
    /// There may be bytes in the socket.
    pub is_readable: bool,
    /// The peer sends no more; close when the output is gone.
    pub is_ending: bool,
}

/// How far a connection has got.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Progress {
    bytes: u64,
    records: u64,
}

/// Less of a record than this, in the time that it may stand still, is no progress: a peer that
/// sends a byte now and then would keep what it has sent here for ever.
const PROGRESS_MIN: u64 = 4096;

/// What the front of the input was.
#[derive(Debug)]
pub enum ParsedRecord<'a> {
    /// A record that lies in the input as a whole.
    Record { call: &'a [u8], used: usize },
    /// A record that was collected from fragments.
    Collected { call: Vec<u8>, used: usize },
    /// A fragment that is not the last; it was put aside.
    PutAside { used: usize },
    /// `needed` bytes make the next step possible.
    Partial { needed: usize },
    /// Not a stream of records.
    Broken,
}

impl Connection {
    pub fn new(socket: OwnedFd, serial: u32, smb: Option<Box<smb2::Connection>>) -> Self {
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

    /// Looks at the front of `bytes` and puts fragments together.
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

    /// Whether records wait in `input` that could have been served, had the output not been full.
    pub fn is_stalled(&self) -> bool {
        self.needed == 0 && !self.input.is_empty()
    }

    /// Whether a record is being put together from fragments.
    pub fn has_fragments(&self) -> bool {
        !self.fragments.is_empty()
    }

    /// Counts bytes that were received.
    #[inline]
    pub fn count_received(&mut self, bytes: usize) {
        self.progress.bytes += bytes as u64;
    }

    /// Whether a record has begun to arrive that is not whole.
    pub fn is_partial(&self) -> bool {
        let waits_for_bytes = self.needed > self.input.len() && !self.input.is_empty();
        waits_for_bytes || self.skip > 0 || self.has_fragments()
    }

    /// Looks whether the same record stands still since the last look. A peer that is not read from,
    /// because it takes no replies, does not.
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

    /// Receives into the rest of `input`; says how much came and whether it was all there was
    /// room for.
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

    /// Lets the kernel throw away what is to be skipped; nothing is copied.
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

    /// Sends what `sink` holds as far as the socket takes it; says how much.
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

/// The addresses of a connection; of one that its peer has broken off already, none.
fn ends_of(socket: &OwnedFd) -> Endpoints {
    let nowhere = SocketAddr::from(([0, 0, 0, 0], 0));
    let address = |found: Option<SocketAddrAny>| {
        let found = found.and_then(|any| SocketAddr::try_from(any).ok());
        found.unwrap_or(nowhere)
    };
    Endpoints {
        transport: Transport::Tcp,
        local: address(getsockname(socket).ok()),
        peer: address(getpeername(socket).ok().flatten()),
    }
}

const NOWAIT: RecvFlags = RecvFlags::DONTWAIT;

/// What a look into the socket brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReceiveResult {
    /// This many bytes; `is_all` if there were no more at that moment.
    Bytes { count: usize, is_all: bool },
    /// Nothing yet.
    Nothing,
    /// The peer sends no more.
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

    /// As the worker does it: what is in the socket, and how much the record lacks then.
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
            // Room for as much again as has come, of which a vector that grows may make twice as much: how
            // much depends on how many bytes each receive found.
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
        // The next one begins behind it: its first look is its own.
        peer.write_all(&[0x80, 0, 0x40, 0]).unwrap();
        receive(&mut connection);
        assert!(!connection.is_stuck());
        connection.output = Some(Box::default());
        assert!(!connection.is_stuck(), "it is not read from");
    }
}
