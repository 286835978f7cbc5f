//! Calls by UDP: one datagram is one call or one reply, without a record mark.

use std::io::IoSlice;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;

use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, recvfrom, sendmsg_addr, sendto};

use super::ServerWorker;
use super::connection::ListenerProtocol;
use super::held::Destination;
use crate::dispatch::{CallTransport, Endpoints};
use crate::framing::{self, Frame, MARK_LEN};
use crate::reply::ReplySink;
use crate::responder::CallOutcome;

/// Number of datagrams that are answered before connections are served.
const BATCH: usize = 64;

/// Parts of one reply: the header of a READ, its chunks and its padding.
const SLICES: usize = 16;

impl ServerWorker {
    /// Answers the waiting datagrams of one socket.
    pub(super) fn serve_datagrams(&mut self, index: usize) {
        let mut buffer = std::mem::take(&mut self.receive);
        let mut sink = self.spare_sinks.pop().unwrap_or_default();
        for _ in 0..BATCH {
            let Some((socket, listener_protocol)) = self.sockets.datagrams.get(index) else {
                break;
            };
            // An error here belongs to a datagram sent earlier; the next may be fine.
            let Ok((_, count, from)) = recvfrom(socket, &mut buffer[..], RecvFlags::DONTWAIT)
            else {
                break;
            };
            self.responder.note_arrival();
            self.responder.tally.count_received(count);
            let Some(peer) = from.and_then(|from| SocketAddr::try_from(from).ok()) else {
                continue;
            };
            let call = buffer.get(..count).unwrap_or_default();
            if *listener_protocol == ListenerProtocol::Echo {
                // A datagram that the socket does not take is lost, as usual for UDP.
                let sent = sendto(socket, call, SendFlags::DONTWAIT, &peer).unwrap_or(0);
                self.responder.tally.count_sent(sent);
                continue;
            }
            self.answer_datagram(index, peer, call, &mut sink);
            self.send_datagrams(index, peer, &sink);
            sink.clear();
        }
        self.spare_sinks.push(sink);
        self.receive = buffer;
    }

    /// Answers a datagram and leaves the replies in `sink`.
    fn answer_datagram(
        &mut self,
        index: usize,
        peer: SocketAddr,
        call: &[u8],
        sink: &mut ReplySink,
    ) {
        let bound = self.sockets.datagram_addresses.get(index);
        let ends = Endpoints {
            transport: CallTransport::Udp,
            local: bound.copied().unwrap_or(peer),
            peer,
        };
        match self.responder.respond(call, &ends, sink) {
            // There is no connection to close.
            CallOutcome::Answered | CallOutcome::Disconnect => {}
            CallOutcome::Later(due, reply) => {
                self.held
                    .hold(due, Destination::Datagram(index, peer), reply);
            }
        }
    }

    /// Sends each record of `replies` as a datagram. A datagram that the socket does not take is
    /// lost, as usual for UDP.
    pub(super) fn send_datagrams(&self, index: usize, peer: SocketAddr, replies: &ReplySink) {
        let Some((socket, _)) = self.sockets.datagrams.get(index) else {
            return;
        };
        let sent = if self.responder.has_detour() {
            send_each(socket, peer, &replies.to_vec())
        } else {
            send_one(socket, peer, replies)
        };
        self.responder.tally.count_sent(sent);
    }
}

/// Sends the only reply in `replies` without copying its data.
fn send_one(socket: &OwnedFd, peer: SocketAddr, replies: &ReplySink) -> usize {
    let mut slices = [IoSlice::new(&[]); SLICES];
    let count = replies.gather(&mut slices);
    let mut parts = slices.get_mut(..count).unwrap_or_default();
    if parts.is_empty() {
        return 0;
    }
    IoSlice::advance_slices(&mut parts, MARK_LEN);
    let mut control = SendAncillaryBuffer::default();
    sendmsg_addr(socket, &peer, parts, &mut control, SendFlags::DONTWAIT).unwrap_or(0)
}

/// Sends several consecutive replies with record marks.
fn send_each(socket: &OwnedFd, peer: SocketAddr, mut bytes: &[u8]) -> usize {
    let mut sent = 0;
    while let Frame::Fragment { payload, used, .. } = framing::next(bytes) {
        sent += sendto(socket, payload, SendFlags::DONTWAIT, &peer).unwrap_or(0);
        bytes = bytes.get(used..).unwrap_or_default();
    }
    sent
}
