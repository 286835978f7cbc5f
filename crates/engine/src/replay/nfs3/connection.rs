//! RPC calls of one client over one TCP connection, one at a time.
//!
//! A client of a load waits for each reply before it asks again, so there is
//! never more than one call under way. One buffer takes the calls, one the
//! replies; file data go out from where they lie and are not copied out of the
//! reply. What comes before the first call (finding the server, MOUNT) is in
//! `prepare`.

use super::incoming::Incoming;
use crate::prepare::patience::Patience;
use crate::replay::LayerLost;
use crate::transport::rpc::CallError;
use crate::transport::{Dial, first_xid};
use filestone_model::client::nfs3::Credentials;
use filestone_wire::record::RecordMark;
use filestone_wire::rpc::{AcceptStatus, CallHeader, OpaqueAuth, ReplyBody, ReplyHeader};
use filestone_wire::xdr::{Decode, Encode, Reader, Writer};
use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendFlags, sendmsg, sockopt};
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// Bytes in front of each fragment.
const RECORD_MARK_LEN: usize = 4;

/// Exchanges and bytes, record marks included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// Calls sent.
    pub calls: u32,
    /// Bytes of them.
    pub bytes_sent: u32,
    /// Bytes of the replies.
    pub bytes_received: u32,
}

impl Traffic {
    /// Both together.
    pub fn and(self, other: Self) -> Self {
        Self {
            calls: self.calls.saturating_add(other.calls),
            bytes_sent: self.bytes_sent.saturating_add(other.bytes_sent),
            bytes_received: self.bytes_received.saturating_add(other.bytes_received),
        }
    }
}

/// A program and a version of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Program {
    /// Its number.
    pub number: u32,
    /// Its version.
    pub version: u32,
}

/// A procedure, by number and by the name that errors call it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Procedure {
    /// On the wire.
    pub number: u32,
    /// In lower case.
    pub name: &'static str,
}

/// A connection to one program.
#[derive(Debug)]
pub struct Connection {
    socket: OwnedFd,
    address: SocketAddr,
    program: Program,
    credentials: Credentials,
    timeout: Duration,
    xid: u32,
    out: Vec<u8>,
    incoming: Incoming,
    traffic: Traffic,
    is_patient: bool,
}

impl Connection {
    /// Connects. Replies over `record_max` bytes are refused.
    pub fn open(
        dial: &Dial,
        program: Program,
        credentials: Credentials,
        timeout: Duration,
        record_max: usize,
    ) -> io::Result<Self> {
        let socket = dial.connect(timeout)?;
        // A timeout of zero would be none at all.
        let limit = timeout.max(Duration::from_millis(1));
        sockopt::set_socket_timeout(&socket, sockopt::Timeout::Recv, Some(limit))?;
        sockopt::set_socket_timeout(&socket, sockopt::Timeout::Send, Some(limit))?;
        Ok(Self {
            socket,
            address: dial.address,
            program,
            credentials,
            timeout,
            xid: first_xid(),
            out: Vec::new(),
            incoming: Incoming::new(record_max),
            traffic: Traffic::default(),
            is_patient: false,
        })
    }

    /// What was exchanged since this was asked last.
    pub fn take_traffic(&mut self) -> Traffic {
        std::mem::take(&mut self.traffic)
    }

    /// Calls a procedure and decodes its results.
    pub fn call<'c, R: Decode<'c>>(
        &'c mut self,
        procedure: Procedure,
        arguments: &impl Encode,
    ) -> Result<R, LayerLost> {
        self.call_with_data(procedure, arguments, &[])
    }

    /// The same, with file data after the arguments, which end with their length.
    pub fn call_with_data<'c, R: Decode<'c>>(
        &'c mut self,
        procedure: Procedure,
        arguments: &impl Encode,
        data: &[u8],
    ) -> Result<R, LayerLost> {
        let mut patience = self.is_patient.then(|| Patience::new(self.timeout));
        let results = loop {
            let results = self
                .exchange(procedure, arguments, data)
                .map_err(|error| lost(self.address, procedure, &error))?;
            let bytes = self.incoming.bytes(results.clone());
            let asking = patience.as_mut().filter(|_| Patience::is_asked_for(bytes));
            match asking.and_then(Patience::next) {
                Some(pause) => std::thread::sleep(pause),
                None => break results,
            }
        };
        let bytes = self.incoming.bytes(results);
        R::from_bytes(bytes)
            .map_err(|error| lost(self.address, procedure, &CallError::Decode(error)))
    }

    /// How long a call may stay unanswered.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// From now on, what a server of NFS is slow with is asked again: nothing is measured.
    pub fn patiently(mut self) -> Self {
        self.is_patient = true;
        self
    }

    /// The end of this client's way: the server answered what the standard forbids.
    pub fn violated(&self, procedure: Procedure, what: &str) -> LayerLost {
        LayerLost {
            what: format!("{}: {}: {what}", self.address, shown(procedure)),
        }
    }

    /// Sends a call, waits for its reply; where the results are.
    fn exchange(
        &mut self,
        procedure: Procedure,
        arguments: &impl Encode,
        data: &[u8],
    ) -> Result<Range<usize>, CallError> {
        self.xid = self.xid.wrapping_add(1);
        self.encode(procedure, arguments, data.len());
        let deadline = Instant::now() + self.timeout;
        self.send(data, deadline)?;
        loop {
            let record = self
                .incoming
                .next_record(&self.socket, deadline, self.timeout)?;
            let mut reader = Reader::new(self.incoming.bytes(record.clone()));
            let ReplyHeader { xid, body, .. } = ReplyHeader::decode(&mut reader)?;
            let results = record.end - reader.remaining()..record.end;
            // A reply that nobody asked for is not ours to judge.
            if xid != self.xid {
                // A server that never stops sending such must not keep us for ever.
                if Instant::now() >= deadline {
                    return Err(CallError::TimedOut(self.timeout));
                }
                continue;
            }
            self.count_received(record.len() + RECORD_MARK_LEN);
            return match body {
                ReplyBody::Accepted(AcceptStatus::Success) => Ok(results),
                ReplyBody::Accepted(status) => Err(CallError::Rejected(status)),
                ReplyBody::Denied(status) => Err(CallError::Denied(status)),
            };
        }
    }

    fn encode(&mut self, procedure: Procedure, arguments: &impl Encode, data_len: usize) {
        self.out.clear();
        let start = RecordMark::open(&mut self.out);
        let header = CallHeader {
            xid: self.xid,
            program: self.program.number,
            version: self.program.version,
            procedure: procedure.number,
            credential: self.credentials.to_auth(),
            verifier: OpaqueAuth::NONE,
        };
        let mut writer = Writer::new(&mut self.out);
        header.encode(&mut writer);
        arguments.encode(&mut writer);
        let padded = data_len.next_multiple_of(4);
        RecordMark::close(&mut self.out, start, padded);
        let sent = u32::try_from(self.out.len() + padded).unwrap_or(u32::MAX);
        self.traffic.calls = self.traffic.calls.saturating_add(1);
        self.traffic.bytes_sent = self.traffic.bytes_sent.saturating_add(sent);
    }

    fn count_received(&mut self, bytes: usize) {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        self.traffic.bytes_received = self.traffic.bytes_received.saturating_add(bytes);
    }

    /// Sends the call, the data, and the zeros that fill them up.
    fn send(&self, data: &[u8], deadline: Instant) -> Result<(), CallError> {
        const ZEROS: [u8; 3] = [0; 3];
        let padding = ZEROS
            .get(..data.len().wrapping_neg() & 3)
            .unwrap_or_default();
        let mut slices = [
            IoSlice::new(&self.out),
            IoSlice::new(data),
            IoSlice::new(padding),
        ];
        let mut rest = &mut slices[..];
        IoSlice::advance_slices(&mut rest, 0);
        while !rest.is_empty() {
            let mut no_control = SendAncillaryBuffer::default();
            match sendmsg(&self.socket, rest, &mut no_control, SendFlags::NOSIGNAL) {
                Ok(len) => IoSlice::advance_slices(&mut rest, len),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Err(CallError::TimedOut(self.timeout)),
                Err(error) => return Err(error.into()),
            }
            if !rest.is_empty() && Instant::now() >= deadline {
                return Err(CallError::TimedOut(self.timeout));
            }
        }
        Ok(())
    }
}

fn shown(procedure: Procedure) -> String {
    procedure.name.to_uppercase()
}

fn lost(address: SocketAddr, procedure: Procedure, error: &CallError) -> LayerLost {
    LayerLost {
        what: format!("{address}: {}: {error}", shown(procedure)),
    }
}

#[cfg(test)]
mod tests {
    use crate::replay::nfs3::scripted::{self, reply};
    use filestone_wire::nfs3::{FileHandle, Handle};
    use std::io::Write;

    #[test]
    fn a_server_that_only_sends_what_nobody_asked_for_is_given_up() {
        let (mut nfs, server) = scripted::nfs(|call, out| {
            let wrong = reply(call.xid.wrapping_add(7), &[0; 4]).repeat(1000);
            // Until the client hangs up.
            loop {
                out.write_all(&wrong)?;
            }
        });
        let object = Handle::from(FileHandle::new(&[1]).expect("a handle"));
        let failure = nfs
            .attributes(&object)
            .expect_err("no answer is among them");
        assert!(
            format!("{failure:?}").contains("no answer within"),
            "{failure:?}"
        );
        drop(nfs);
        server.join().expect("the server ended");
    }
}
