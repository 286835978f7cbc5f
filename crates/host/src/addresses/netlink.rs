//! Rtnetlink requests to the kernel, one at a time, and its replies.

use super::NetlinkError;
use super::message::RouteMessage;
use netlink_packet_core::{
    NLM_F_ACK, NLM_F_DUMP, NLM_F_DUMP_INTR, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage,
    NetlinkPayload,
};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};
use rustix::net::{recv, send, socket_with};
use std::io;
use std::os::fd::OwnedFd;

/// Longest page of the kernel's replies: the kernel fills buffers up to this length (netlink_dump).
const ANSWER_MAX: usize = 64 << 10;
/// Number of attempts at a listing that is disturbed by changes of the listed objects.
const LISTINGS_MAX: u32 = 10;

/// A blocking rtnetlink socket: the kernel replies at once.
pub struct Netlink {
    socket: OwnedFd,
    number: u32,
    buffer: Vec<u8>,
}

/// The objects of a listing changed while it was made.
struct Changed;

impl Netlink {
    /// Opens the socket.
    pub fn open() -> Result<Self, NetlinkError> {
        // Its protocol is number 0, NETLINK_ROUTE.
        let socket = socket_with(
            AddressFamily::NETLINK,
            SocketType::RAW,
            SocketFlags::CLOEXEC,
            None,
        );
        Ok(Self {
            socket: socket.map_err(failed("open a socket of rtnetlink"))?,
            number: 0,
            buffer: vec![0; ANSWER_MAX],
        })
    }

    /// Requests a change; returns the kernel's result.
    pub fn change(
        &mut self,
        message: RouteMessage,
        flags: u16,
    ) -> Result<io::Result<()>, NetlinkError> {
        self.send(&mut request(message, NLM_F_ACK | flags))?;
        loop {
            for answer in self.answers("the answer to a change")? {
                if let NetlinkPayload::Error(error) = answer.payload {
                    return Ok(match error.code {
                        None => Ok(()),
                        Some(_) => Err(error.to_io()),
                    });
                }
            }
        }
    }

    /// Returns all objects that `message` asks for, a message whose type is one of `RTM_GET…`.
    pub fn list(
        &mut self,
        what: &'static str,
        message: RouteMessage,
    ) -> Result<Vec<RouteMessage>, NetlinkError> {
        let get = message.kind();
        let mut request = request(message, NLM_F_DUMP);
        for _ in 0..LISTINGS_MAX {
            self.send(&mut request)?;
            if let Ok(mut listed) = self.listed(what)? {
                listed.retain(|message| message.is_listed_by(get));
                return Ok(listed);
            }
        }
        Err(NetlinkError::Unreadable {
            what,
            why: "it changes all the time".into(),
        })
    }

    fn listed(
        &mut self,
        what: &'static str,
    ) -> Result<Result<Vec<RouteMessage>, Changed>, NetlinkError> {
        let mut listed = vec![];
        let mut has_changed = false;
        loop {
            for answer in self.answers(what)? {
                has_changed |= answer.header.flags & NLM_F_DUMP_INTR != 0;
                match answer.payload {
                    NetlinkPayload::InnerMessage(message) => listed.push(message),
                    NetlinkPayload::Done(_) if has_changed => return Ok(Err(Changed)),
                    NetlinkPayload::Done(_) => return Ok(Ok(listed)),
                    NetlinkPayload::Error(error) => {
                        let why = error.to_io().to_string();
                        return Err(NetlinkError::Unreadable { what, why });
                    }
                    _ => {}
                }
            }
        }
    }

    fn send(&mut self, request: &mut NetlinkMessage<RouteMessage>) -> Result<(), NetlinkError> {
        self.number = self.number.wrapping_add(1);
        request.header.sequence_number = self.number;
        request.finalize();
        let mut bytes = vec![0; request.buffer_len()];
        request.serialize(&mut bytes);
        let sent = send(&self.socket, &bytes, SendFlags::empty());
        sent.map_err(failed("ask the kernel for its addresses"))?;
        Ok(())
    }

    /// Returns the next messages that belong to the last request.
    fn answers(
        &mut self,
        what: &'static str,
    ) -> Result<Vec<NetlinkMessage<RouteMessage>>, NetlinkError> {
        let received = loop {
            match recv(&self.socket, &mut self.buffer[..], RecvFlags::TRUNC) {
                Err(rustix::io::Errno::INTR) => {}
                received => break received,
            }
        };
        let (_, len) = received.map_err(failed("receive what the kernel says"))?;
        let unreadable = |why: String| NetlinkError::Unreadable { what, why };
        let mut rest = self.buffer.get(..len).ok_or_else(|| {
            unreadable(format!(
                "an answer of {len} bytes is longer than {ANSWER_MAX}"
            ))
        })?;
        let mut answers = vec![];
        while !rest.is_empty() {
            let answer: NetlinkMessage<RouteMessage> =
                NetlinkMessage::deserialize(rest).map_err(|error| unreadable(error.to_string()))?;
            // Messages begin at multiples of four bytes.
            let len = (answer.header.length as usize).next_multiple_of(4);
            rest = rest.get(len.max(4)..).unwrap_or_default();
            if answer.header.sequence_number == self.number {
                answers.push(answer);
            }
        }
        Ok(answers)
    }
}

fn request(message: RouteMessage, flags: u16) -> NetlinkMessage<RouteMessage> {
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | flags;
    NetlinkMessage::new(header, NetlinkPayload::from(message))
}

fn failed(what: &'static str) -> impl Fn(rustix::io::Errno) -> NetlinkError {
    move |errno| NetlinkError::Socket {
        what,
        source: errno.into(),
    }
}
