//! A connection and its thread.

use std::io::IoSlice;
use std::os::fd::OwnedFd;

use filestone_wire::tbench::{LengthError, MESSAGE_MAX, Requests, TbenchExchange};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, recv, send, sendmsg};

use super::counters::{SharedTbenchCounters, TransferDelta};
use crate::tree::pattern::ZEROS;

/// Number of bytes read in one call: a whole request, unless it contains file data.
const LOOK: usize = 512;

/// Length from which on padding is discarded by a separate call, without copying.
const DISCARD_FROM: u32 = 256;

/// Most bytes that one call discards.
const PIECE: usize = 128 << 10;

/// Longest reply that is assembled and sent by one plain call.
const SHORT: usize = 2048;

/// Number of exchanges between two updates of the shared counters. Each counter is one memory
/// location that all threads would contend for.
const TELL_AFTER: u64 = 64;

/// Reason for the end of a connection.
#[derive(Debug)]
enum End {
    /// The peer disconnected between two requests.
    Done,
    /// The peer disconnected in the middle, or the network failed.
    Broken,
    /// The request exceeds the limits.
    Refused,
}

impl From<LengthError> for End {
    fn from(_: LengthError) -> Self {
        End::Refused
    }
}

/// State of one connection.
#[derive(Debug)]
pub struct TbenchServerConnection<'server> {
    socket: &'server OwnedFd,
    tally: &'server SharedTbenchCounters,
    requests: Requests,
    moved: TransferDelta,
    /// A short reply; only its first word is ever written.
    short: [u8; SHORT],
}

impl<'server> TbenchServerConnection<'server> {
    pub fn new(socket: &'server OwnedFd, tally: &'server SharedTbenchCounters) -> Self {
        Self {
            socket,
            tally,
            requests: Requests::new(),
            moved: TransferDelta::default(),
            short: [0; SHORT],
        }
    }

    /// Serves until either end disconnects.
    pub fn serve(mut self) {
        let end = match self.converse() {
            Ok(never) => match never {},
            Err(end) => end,
        };
        self.tally.collect(&mut self.moved);
        match end {
            End::Done => {}
            End::Broken => self.tally.count_broken(),
            End::Refused => self.tally.count_refused(),
        }
    }

    fn converse(&mut self) -> Result<std::convert::Infallible, End> {
        // Discarded data are not written here: the pages stay untouched.
        let mut nowhere = vec![0; PIECE];
        let mut look = [0; LOOK];
        loop {
            let len = self.receive(&mut look, RecvFlags::empty())?;
            let mut input = look.get(..len).unwrap_or_default();
            // A peer that does not wait for replies receives them in order anyway.
            while let Some(exchange) = self.requests.next(&mut input)? {
                self.answer(exchange)?;
            }
            while self.requests.missing() >= DISCARD_FROM {
                let len = nowhere.len().min(self.requests.missing() as usize);
                let room = nowhere.get_mut(..len).unwrap_or_default();
                let len = self.receive(room, RecvFlags::TRUNC | RecvFlags::WAITALL)?;
                if let Some(exchange) = self.requests.discard(len as u32) {
                    self.answer(exchange)?;
                }
            }
        }
    }

    /// Receives at least one byte.
    fn receive(&mut self, room: &mut [u8], flags: RecvFlags) -> Result<usize, End> {
        loop {
            match recv(self.socket, &mut *room, flags) {
                Ok((_, 0)) if self.requests.is_at_boundary() => return Err(End::Done),
                Ok((_, 0)) => return Err(End::Broken),
                Ok((_, len)) => {
                    self.moved.bytes_received += len as u64;
                    return Ok(len.min(room.len()));
                }
                Err(Errno::INTR) => {}
                // A client that exits without reading its last reply resets the connection.
                Err(Errno::CONNRESET) if self.requests.is_at_boundary() => return Err(End::Done),
                Err(_) => return Err(End::Broken),
            }
        }
    }

    fn answer(&mut self, exchange: TbenchExchange) -> Result<(), End> {
        let header = exchange.reply_header();
        let len = exchange.reply_len().min(MESSAGE_MAX) as usize;
        if let Some(reply) = self.short.get_mut(..len) {
            if let Some(first) = reply.first_chunk_mut() {
                *first = header;
            }
            send_all(self.socket, reply)?;
        } else {
            self.send_long(&header, len)?;
        }
        self.moved.bytes_sent += len as u64;
        self.moved.exchanges += 1;
        if self.moved.exchanges >= TELL_AFTER {
            self.tally.collect(&mut self.moved);
        }
        Ok(())
    }

    fn send_long(&self, header: &[u8; 4], len: usize) -> Result<(), End> {
        // Replies are zeros after their first word.
        let padding = &ZEROS[..ZEROS.len().min(len - header.len())];
        let pieces = [IoSlice::new(header), IoSlice::new(padding)];
        let mut sent = loop {
            let mut control = SendAncillaryBuffer::default();
            match sendmsg(self.socket, &pieces, &mut control, SendFlags::NOSIGNAL) {
                Ok(sent) => break sent,
                Err(Errno::INTR) => {}
                Err(_) => return Err(End::Broken),
            }
        };
        if let Some(rest) = header.get(sent..) {
            send_all(self.socket, rest)?;
            sent = header.len();
        }
        while sent < len {
            let piece = &ZEROS[..ZEROS.len().min(len - sent)];
            send_all(self.socket, piece)?;
            sent += piece.len();
        }
        Ok(())
    }
}

fn send_all(socket: &OwnedFd, bytes: &[u8]) -> Result<(), End> {
    let mut rest = bytes;
    while !rest.is_empty() {
        match send(socket, rest, SendFlags::NOSIGNAL) {
            Ok(len) => rest = rest.get(len..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(_) => return Err(End::Broken),
        }
    }
    Ok(())
}
