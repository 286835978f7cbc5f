//! A tbench connection and its exchanges.

use super::error::TcpError;
use super::socket_options::SocketOptionList;
use filestone_wire::tbench::{REPLY_MIN, TbenchExchange};
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout, socket_timeout};
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, recv, send, sendmsg};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::IoSlice;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

/// Messages up to this length are assembled and received in one buffer.
const SHORT: usize = 2048;

/// Maximum number of bytes discarded per call.
const PIECE: usize = 128 << 10;

/// Data with a shorter period are repeated in a buffer of this length, so that one call can send a
/// whole message.
const LAID_OUT: usize = 72 << 10;

/// A connection to a tbench peer.
#[derive(Debug)]
pub struct TbenchConnection {
    socket: OwnedFd,
    timeout: Duration,
    short: [u8; SHORT],
    /// Buffer for discarded replies; never written.
    nowhere: Vec<u8>,
    /// Short data, repeated.
    filler: Vec<u8>,
    /// Period of the repeated data in bytes.
    period: usize,
}

impl TbenchConnection {
    /// Connects and checks that the peer speaks tbench.
    pub fn open(
        address: SocketAddr,
        options: &SocketOptionList,
        timeout: Duration,
    ) -> Result<Self, TcpError> {
        let domain = Domain::for_address(address);
        let socket = Socket::new(domain, Type::STREAM, Some(Protocol::TCP));
        let socket = socket.map_err(TcpError::Connect)?;
        set_timeouts(&socket, timeout)?;
        for option in options.iter() {
            option
                .apply(socket.as_fd())
                .map_err(|source| TcpError::Option {
                    option: option.to_string(),
                    source,
                })?;
        }
        socket
            .connect_timeout(&address.into(), timeout)
            .map_err(TcpError::Connect)?;
        let timeout = socket_timeout(&socket, Timeout::Recv)?.unwrap_or(timeout);
        let mut connection = Self {
            socket: socket.into(),
            timeout,
            short: [0; SHORT],
            nowhere: vec![0; PIECE],
            filler: Vec::new(),
            period: 0,
        };
        connection.handshake()?;
        Ok(connection)
    }

    /// Performs the handshake; fails if the peer answers incorrectly or not at all.
    fn handshake(&mut self) -> Result<(), TcpError> {
        let exchange = TbenchExchange::HANDSHAKE;
        let mut reply = [0; 8];
        let shaken = self
            .send_request(exchange, &[0])
            .and_then(|()| receive_all(&self.socket, &mut reply, self.timeout, exchange));
        match shaken {
            Ok(()) if reply.starts_with(&exchange.reply_header()) => Ok(()),
            Ok(()) => Err(TcpError::OtherProtocol(format!(
                "it sent \"{}\"",
                reply.escape_ascii()
            ))),
            Err(TcpError::TimedOut(timeout)) => Err(TcpError::OtherProtocol(format!(
                "it sent nothing for {}",
                humantime::format_duration(timeout)
            ))),
            Err(TcpError::Closed(_)) => {
                Err(TcpError::OtherProtocol("it closed the connection".into()))
            }
            Err(error) => Err(error),
        }
    }

    /// Sends a request and receives its reply. The request is filled with repetitions of `data`.
    pub fn exchange(&mut self, exchange: TbenchExchange, data: &[u8]) -> Result<(), TcpError> {
        self.send_request(exchange, data)?;
        self.receive_reply(exchange)
    }

    fn send_request(&mut self, exchange: TbenchExchange, data: &[u8]) -> Result<(), TcpError> {
        let header = exchange.to_bytes();
        let len = exchange.request_len() as usize;
        if let Some(request) = self.short.get_mut(..len) {
            if let Some(first) = request.first_chunk_mut() {
                *first = header;
            }
            return send_all(&self.socket, request, self.timeout, exchange);
        }
        if data.len() >= LAID_OUT {
            return self.send_long(exchange, &header, data);
        }
        self.lay_out(data);
        self.send_long(exchange, &header, &self.filler)
    }

    /// Fills the buffer with repeated short data, unless it already contains them; a load may
    /// change the data.
    fn lay_out(&mut self, data: &[u8]) {
        if self.period == data.len() && self.filler.starts_with(data) {
            return;
        }
        self.period = data.len();
        self.filler.clear();
        let repeated = data.iter().copied().cycle().take(LAID_OUT);
        self.filler.extend(repeated);
    }

    fn send_long(
        &self,
        exchange: TbenchExchange,
        header: &[u8; 8],
        data: &[u8],
    ) -> Result<(), TcpError> {
        let len = exchange.request_len() as usize;
        let first = upto(data, len - header.len());
        let pieces = [IoSlice::new(header), IoSlice::new(first)];
        let mut sent = loop {
            let mut control = SendAncillaryBuffer::default();
            match sendmsg(&self.socket, &pieces, &mut control, SendFlags::NOSIGNAL) {
                Ok(sent) => break sent,
                Err(Errno::INTR) => {}
                Err(error) => return Err(lost(error, self.timeout, exchange)),
            }
        };
        if let Some(rest) = header.get(sent..) {
            send_all(&self.socket, rest, self.timeout, exchange)?;
            sent = header.len();
        }
        while sent < len && !data.is_empty() {
            let piece = upto(data, len - sent);
            send_all(&self.socket, piece, self.timeout, exchange)?;
            sent += piece.len();
        }
        Ok(())
    }

    fn receive_reply(&mut self, exchange: TbenchExchange) -> Result<(), TcpError> {
        let len = exchange.reply_len() as usize;
        if let Some(reply) = self.short.get_mut(..len) {
            receive_all(&self.socket, reply, self.timeout, exchange)?;
            return in_step(reply, exchange);
        }
        let mut header = [0; REPLY_MIN as usize];
        receive_all(&self.socket, &mut header, self.timeout, exchange)?;
        in_step(&header, exchange)?;
        let mut left = len - header.len();
        while left > 0 {
            let room = self.nowhere.len().min(left);
            let room = self.nowhere.get_mut(..room).unwrap_or_default();
            throw_away(&self.socket, room, self.timeout, exchange)?;
            left -= room.len();
        }
        Ok(())
    }
}

/// Sets the kernel's timeouts of one call, before the options, which may replace them.
fn set_timeouts(socket: &Socket, timeout: Duration) -> Result<(), TcpError> {
    // Zero would disable the timeout.
    let timeout = timeout.max(Duration::from_millis(1));
    set_socket_timeout(socket, Timeout::Recv, Some(timeout))?;
    set_socket_timeout(socket, Timeout::Send, Some(timeout))?;
    Ok(())
}

fn upto(data: &[u8], len: usize) -> &[u8] {
    data.get(..len).unwrap_or(data)
}

/// Checks that the reply has the requested length.
fn in_step(reply: &[u8], exchange: TbenchExchange) -> Result<(), TcpError> {
    match reply.first_chunk() {
        Some(header) if *header == exchange.reply_header() => Ok(()),
        header => Err(TcpError::OutOfStep {
            wanted: exchange.reply_len(),
            got: header.map_or(0, |header| u64::from(u32::from_be_bytes(*header)) + 4),
        }),
    }
}

/// Converts the error of a call during an exchange.
fn lost(error: Errno, timeout: Duration, exchange: TbenchExchange) -> TcpError {
    match error {
        // A blocking call fails with this error when the socket timeout expires.
        Errno::AGAIN => TcpError::TimedOut(timeout),
        Errno::PIPE | Errno::CONNRESET => TcpError::Closed(exchange),
        error => error.into(),
    }
}

/// Time limit for a peer that sends or receives only a few bytes at a time. The clock is only read
/// after a partial call, which otherwise never happens.
#[derive(Debug, Default)]
struct Patience(Option<Instant>);

impl Patience {
    fn check(&mut self, timeout: Duration) -> Result<(), TcpError> {
        match self.0 {
            None => self.0 = Some(Instant::now()),
            Some(since) if since.elapsed() > timeout => return Err(TcpError::TimedOut(timeout)),
            Some(_) => {}
        }
        Ok(())
    }
}

fn send_all(
    socket: &OwnedFd,
    bytes: &[u8],
    timeout: Duration,
    exchange: TbenchExchange,
) -> Result<(), TcpError> {
    let mut rest = bytes;
    let mut patience = Patience::default();
    loop {
        match send(socket, rest, SendFlags::NOSIGNAL) {
            Ok(len) if len >= rest.len() => return Ok(()),
            Ok(len) => rest = rest.get(len..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(error) => return Err(lost(error, timeout, exchange)),
        }
        patience.check(timeout)?;
    }
}

fn receive_all(
    socket: &OwnedFd,
    room: &mut [u8],
    timeout: Duration,
    exchange: TbenchExchange,
) -> Result<(), TcpError> {
    receive(socket, room, RecvFlags::WAITALL, timeout, exchange)
}

/// Receives and discards as many bytes as `room` holds, without a copy: on TCP sockets, Linux
/// discards the data of a call with MSG_TRUNC.
fn throw_away(
    socket: &OwnedFd,
    room: &mut [u8],
    timeout: Duration,
    exchange: TbenchExchange,
) -> Result<(), TcpError> {
    let flags = RecvFlags::WAITALL | RecvFlags::TRUNC;
    receive(socket, room, flags, timeout, exchange)
}

fn receive(
    socket: &OwnedFd,
    room: &mut [u8],
    flags: RecvFlags,
    timeout: Duration,
    exchange: TbenchExchange,
) -> Result<(), TcpError> {
    let mut filled = 0;
    let mut patience = Patience::default();
    loop {
        let rest = room.get_mut(filled..).unwrap_or_default();
        let wanted = rest.len();
        match recv(socket, rest, flags) {
            Ok((_, len)) if len >= wanted => return Ok(()),
            Ok((_, 0)) => return Err(TcpError::Closed(exchange)),
            // Timed out or interrupted after a part.
            Ok((_, len)) => filled += len,
            Err(Errno::INTR) => {}
            Err(error) => return Err(lost(error, timeout, exchange)),
        }
        patience.check(timeout)?;
    }
}
