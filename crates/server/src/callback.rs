//! Calls from this server to a client: NLM_GRANTED, after querying the client's port mapper for its
//! lock manager (RFC 1813, section 6.3.5; RFC 1833).
//!
//! Two consecutive calls, each on a separate socket, by a thread that may block. They are sent from
//! the address at which the client reached this server, because the client identifies the server by
//! it (Linux checks the address).

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use filestone_wire::nlm::{self, StatusReply, granted};
use filestone_wire::portmap::rpcbind::{self, Rpcb};
use filestone_wire::portmap::{
    self, IPPROTO_TCP, IPPROTO_UDP, Mapping, Procedure, UniversalAddress,
};
use filestone_wire::rpc::{
    AcceptStatus, CallHeader, Credential, OpaqueAuth, ReplyBody, ReplyHeader,
};
use filestone_wire::xdr::{Decode, Encode, Reader, Writer};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};

use crate::dispatch::{CallTransport, Endpoints, Grant};
use crate::framing::{self, Frame, MARK_LEN};

/// Timeout of a connection, and of a datagram's reply before the datagram is resent.
const FIRST_ANSWER: Duration = Duration::from_secs(2);
/// Timeout of a reply including retransmissions.
const ANSWER: Duration = Duration::from_secs(5);
/// Longest accepted reply; valid replies are a few dozen bytes.
const REPLY_MAX: usize = 4096;

/// Reply of a client to a grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrantReply {
    /// The client has taken the lock.
    Taken,
    /// The client does not want the lock, or does not reply.
    NotTaken,
}

/// Notifies a client that its lock is granted; `portmapper` is the port of its port mapper.
pub fn tell(grant: &Grant, portmapper: u16) -> GrantReply {
    let waiter = &grant.waiter;
    let handle = waiter.file.encode();
    let arguments = granted::Args {
        cookie: waiter.cookie(),
        exclusive: waiter.exclusive,
        alock: waiter.alock(&handle),
    };
    // The transport that the client used is most likely open in the other direction, too.
    let transports = match waiter.ends.transport {
        CallTransport::Tcp => [CallTransport::Tcp, CallTransport::Udp],
        CallTransport::Udp => [CallTransport::Udp, CallTransport::Tcp],
    };
    for transport in transports {
        let Some(port) = lock_manager_port(&waiter.ends, transport, portmapper) else {
            continue;
        };
        let number = nlm::Procedure::Granted.number();
        let mut call = Call::new(&waiter.ends, transport, port);
        let reply = call.make(nlm::PROGRAM, nlm::VERSION, number, &arguments);
        return match reply.and_then(|reply| status_of(&reply)) {
            Ok(nlm::Status::GRANTED) => GrantReply::Taken,
            // A client that was notified twice, because its first reply was lost, denies the second
            // call.
            Ok(nlm::Status::DENIED) if call.was_sent_again => GrantReply::Taken,
            Ok(_) | Err(_) => GrantReply::NotTaken,
        };
    }
    GrantReply::NotTaken
}

fn status_of(results: &[u8]) -> io::Result<nlm::Status> {
    let reply = StatusReply::from_bytes(results).map_err(io::Error::other)?;
    Ok(reply.stat)
}

/// Returns the port of the client's lock manager; `None` if there is none, or the port mapper does
/// not reply.
fn lock_manager_port(ends: &Endpoints, transport: CallTransport, portmapper: u16) -> Option<u16> {
    let mut call = Call::new(ends, CallTransport::Tcp, portmapper);
    let is_tcp = transport == CallTransport::Tcp;
    let port = if ends.peer.is_ipv6() {
        let address = UniversalAddress(SocketAddr::new(ends.peer.ip(), portmapper));
        let asked = Rpcb {
            program: nlm::PROGRAM,
            version: nlm::VERSION,
            netid: address.netid(is_tcp).as_bytes(),
            address: address.text().as_bytes(),
            owner: b"",
        }
        .to_bytes();
        let number = rpcbind::Procedure::Getaddr.number();
        let reply = call.make(portmap::PROGRAM, rpcbind::VERSION_4, number, &Raw(&asked));
        let reply = reply.ok()?;
        UniversalAddress::parse(<&[u8]>::from_bytes(&reply).ok()?)
            .ok()?
            .port()
    } else {
        let asked = Mapping {
            program: nlm::PROGRAM,
            version: nlm::VERSION,
            protocol: if is_tcp { IPPROTO_TCP } else { IPPROTO_UDP },
            port: 0,
        };
        let number = Procedure::Getport.number();
        let reply = call.make(portmap::PROGRAM, portmap::VERSION, number, &asked);
        u16::try_from(u32::from_bytes(&reply.ok()?).ok()?).ok()?
    };
    (port != 0).then_some(port)
}

/// Already encoded arguments.
struct Raw<'a>(&'a [u8]);

impl Encode for Raw<'_> {
    fn encode(&self, out: &mut Writer<'_>) {
        out.fixed(self.0);
    }
}

/// A call to a program on a client's host.
struct Call {
    transport: CallTransport,
    from: SocketAddr,
    to: SocketAddr,
    was_sent_again: bool,
}

impl Call {
    fn new(ends: &Endpoints, transport: CallTransport, port: u16) -> Self {
        let (mut from, mut to) = (ends.local, ends.peer);
        from.set_port(0);
        to.set_port(port);
        Self {
            transport,
            from,
            to,
            was_sent_again: false,
        }
    }

    /// Executes the call and returns its results.
    fn make(
        &mut self,
        program: u32,
        version: u32,
        procedure: u32,
        arguments: &impl Encode,
    ) -> io::Result<Vec<u8>> {
        // Each call has a separate socket, so any number identifies its reply.
        let xid = crate::clock::now() as u32;
        let header = CallHeader {
            xid,
            program,
            version,
            procedure,
            credential: Credential::None,
            verifier: OpaqueAuth::NONE,
        };
        let mut call = header.to_bytes();
        arguments.encode(&mut Writer::new(&mut call));
        let reply = match self.transport {
            CallTransport::Tcp => self.by_stream(&call)?,
            CallTransport::Udp => self.by_datagram(&call)?,
        };
        let mut reader = Reader::new(&reply);
        let head = ReplyHeader::decode(&mut reader).map_err(io::Error::other)?;
        match head.body {
            ReplyBody::Accepted(AcceptStatus::Success) if head.xid == xid => {
                Ok(reader.rest().to_vec())
            }
            _ => Err(io::Error::other("the call was refused")),
        }
    }

    fn socket(&self, kind: Type, protocol: Protocol) -> io::Result<Socket> {
        let socket = Socket::new(Domain::for_address(self.to), kind, Some(protocol))?;
        socket.bind(&SockAddr::from(self.from))?;
        Ok(socket)
    }

    fn by_stream(&self, call: &[u8]) -> io::Result<Vec<u8>> {
        let socket = self.socket(Type::STREAM, Protocol::TCP)?;
        socket.connect_timeout(&SockAddr::from(self.to), FIRST_ANSWER)?;
        let mut stream = TcpStream::from(socket);
        stream.set_write_timeout(Some(ANSWER))?;
        let mark = 0x8000_0000 | call.len() as u32;
        stream.write_all(&[&mark.to_be_bytes(), call].concat())?;
        receive_record(&mut stream, Instant::now() + ANSWER)
    }

    fn by_datagram(&mut self, call: &[u8]) -> io::Result<Vec<u8>> {
        let socket = UdpSocket::from(self.socket(Type::DGRAM, Protocol::UDP)?);
        socket.connect(self.to)?;
        socket.set_read_timeout(Some(FIRST_ANSWER))?;
        let mut reply = vec![0; REPLY_MAX];
        let deadline = Instant::now() + ANSWER;
        loop {
            socket.send(call)?;
            match socket.recv(&mut reply) {
                Ok(len) => {
                    reply.truncate(len);
                    return Ok(reply);
                }
                Err(error) if !is_timeout(&error) || Instant::now() >= deadline => {
                    return Err(error);
                }
                Err(_) => self.was_sent_again = true,
            }
        }
    }
}

fn is_timeout(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}

/// Receives one record of one or more fragments.
fn receive_record(stream: &mut TcpStream, deadline: Instant) -> io::Result<Vec<u8>> {
    let (mut received, mut record) = (Vec::new(), Vec::new());
    let mut buffer = [0; REPLY_MAX];
    loop {
        while let Frame::Fragment {
            payload,
            is_last,
            used,
        } = framing::next(&received)
        {
            record.extend_from_slice(payload);
            if is_last {
                return Ok(record);
            }
            received.drain(..used);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || received.len() + record.len() > REPLY_MAX + MARK_LEN {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        let len = stream.read(&mut buffer)?;
        if len == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        received.extend_from_slice(buffer.get(..len).unwrap_or_default());
    }
}
