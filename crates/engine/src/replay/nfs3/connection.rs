//! RPC calls of one client over one TCP connection, one at a time.
//!
//! A client of a load waits for each reply before it asks again, so there is
//! never more than one call under way. One buffer takes the calls, one the
//! replies; file data go out from where they lie and are not copied out of the
//! reply. What comes before the first call (finding the server, MOUNT) is in
//! `prepare`.
//!
//! As a client of NFS does, it waits for a server that asks for patience, and makes a lost
//! connection again. A call that was cut off goes out once more as it was, transaction ID and
//! all; the time that it takes is the call's.

use super::incoming::Incoming;
use crate::control::{Cancellation, LOOK_EVERY};
use crate::replay::LayerLost;
use crate::replay::layer::Repeats;
use crate::transport::retry::{Backoff, Retry, asks_for_patience};
use crate::transport::rpc::CallError;
use crate::transport::{Dial, first_xid};
use filestone_model::client::nfs3::Credentials;
use filestone_wire::nfs3;
use filestone_wire::record::RecordMark;
use filestone_wire::rpc::{AcceptStatus, CallHeader, OpaqueAuth, ReplyBody, ReplyHeader};
use filestone_wire::xdr::{Decode, Encode, Reader, Writer};
use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendFlags, sendmsg, sockopt};
use std::io::IoSlice;
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
    /// `None` between a loss and the next connection.
    socket: Option<OwnedFd>,
    dial: Dial,
    program: Program,
    credentials: Credentials,
    timeout: Duration,
    xid: u32,
    out: Vec<u8>,
    incoming: Incoming,
    traffic: Traffic,
    retry: Retry,
    /// Whether an exchange was broken off in its middle: what comes next on this connection may
    /// be the rest of it.
    is_torn: bool,
    /// Whether the last call was sent more than once.
    was_resent: bool,
    repeats: Repeats,
}

impl Connection {
    /// Connects; what `retry` says goes for connecting, too. Replies over `record_max` bytes
    /// are refused.
    pub fn open(
        dial: &Dial,
        program: Program,
        credentials: Credentials,
        (timeout, retry): (Duration, Retry),
        record_max: usize,
    ) -> Result<Self, CallError> {
        let socket = retry.connect_first(|| {
            let socket = dial.connect_until(timeout, &retry.sign)?;
            limit_waiting(&socket, timeout)?;
            Ok(socket)
        })?;
        let mut incoming = Incoming::new(record_max);
        incoming.cancel_with(&retry.sign);
        Ok(Self {
            socket: Some(socket),
            dial: *dial,
            program,
            credentials,
            timeout,
            xid: first_xid(),
            out: Vec::new(),
            incoming,
            traffic: Traffic::default(),
            retry,
            is_torn: false,
            was_resent: false,
            repeats: Repeats::default(),
        })
    }

    /// From now on, this sign ends what waits for the server.
    pub fn cancel_with(&mut self, sign: &Cancellation) {
        self.retry.sign = sign.clone();
        self.incoming.cancel_with(sign);
    }

    /// Asked between two calls of one action: whether it is to be broken off.
    pub fn go_on(&self) -> Result<(), LayerLost> {
        match self.retry.sign.is_cancelled() {
            true => Err(LayerLost::stopped()),
            false => Ok(()),
        }
    }

    /// Waits, unless the work is to end.
    pub fn wait(&self, pause: Duration) -> Result<(), LayerLost> {
        match self.retry.sign.pause(pause) {
            true => Ok(()),
            false => Err(LayerLost::stopped()),
        }
    }

    /// Whether the last call was sent more than once: then "it is there already" may be the
    /// answer to what it did itself, and so may "it is not there".
    pub fn was_resent(&self) -> bool {
        self.was_resent
    }

    /// What was done more than once since this was asked last.
    pub fn take_repeats(&mut self) -> Repeats {
        std::mem::take(&mut self.repeats)
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
        let results = self
            .call_patiently(procedure, arguments, data)
            .map_err(|error| lost(&self.dial, procedure, &error))?;
        let bytes = self.incoming.bytes(results);
        R::from_bytes(bytes).map_err(|error| lost(&self.dial, procedure, &CallError::Decode(error)))
    }

    /// How long a call may stay unanswered.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// The end of this client's way: the server answered what the standard forbids.
    pub fn violated(&self, procedure: Procedure, what: &str) -> LayerLost {
        LayerLost {
            what: format!("{}: {}: {what}", self.dial.address, shown(procedure)),
        }
    }

    /// Calls a procedure, again and again for as long as a call may take while the server asks
    /// for patience; where the results are.
    fn call_patiently(
        &mut self,
        procedure: Procedure,
        arguments: &impl Encode,
        data: &[u8],
    ) -> Result<Range<usize>, CallError> {
        let mut patience: Option<Backoff> = None;
        loop {
            self.xid = self.xid.wrapping_add(1);
            self.was_resent = false;
            self.encode(procedure, arguments, data.len());
            if self.is_torn {
                self.begin_anew()?;
            }
            let results = match self.exchange(data) {
                Err(error) if error.is_loss() => self.exchange_again(error, data)?,
                results => results?,
            };
            let bytes = self.incoming.bytes(results.clone());
            if self.program.number != nfs3::PROGRAM || !asks_for_patience(bytes) {
                return Ok(results);
            }
            let patience = patience.get_or_insert_with(|| Backoff::patience(self.timeout));
            let Some(pause) = patience.next_pause() else {
                return Ok(results);
            };
            let begin = Instant::now();
            let is_over = self.retry.sign.pause(pause);
            self.repeats.note_patience(begin.elapsed());
            if !is_over {
                return Err(CallError::Stopped);
            }
        }
    }

    /// After the loss of the connection: the same exchange over another one, or over one more
    /// after it.
    #[cold]
    fn exchange_again(&mut self, loss: CallError, data: &[u8]) -> Result<Range<usize>, CallError> {
        let (mut loss, mut backoff) = (loss, self.retry.backoff());
        loop {
            self.connect_again(&mut backoff, loss)?;
            self.was_resent = true;
            self.count_sent(data.len());
            self.repeats.retransmissions += 1;
            match self.exchange(data) {
                Err(error) if error.is_loss() => loss = error,
                results => return results,
            }
        }
    }

    fn connect_again(&mut self, backoff: &mut Backoff, loss: CallError) -> Result<(), CallError> {
        let begin = Instant::now();
        let (dial, timeout, sign) = (self.dial, self.timeout, &self.retry.sign);
        let mut lost = self.socket.take();
        let socket = self.retry.connect(backoff, loss, || {
            let socket = match lost.take() {
                Some(lost) => dial.connect_again(lost, timeout, sign)?,
                None => dial.connect_until(timeout, sign)?,
            };
            limit_waiting(&socket, timeout)?;
            Ok(socket)
        })?;
        self.use_socket(socket);
        self.repeats.note_reconnection(begin.elapsed());
        Ok(())
    }

    /// Leaves a connection on which an exchange was broken off in its middle.
    #[cold]
    fn begin_anew(&mut self) -> Result<(), CallError> {
        let (dial, timeout) = (self.dial, self.timeout);
        let socket = self.retry.connect_first(|| {
            let socket = dial.connect_until(timeout, &self.retry.sign)?;
            limit_waiting(&socket, timeout)?;
            Ok(socket)
        })?;
        self.use_socket(socket);
        Ok(())
    }

    fn use_socket(&mut self, socket: OwnedFd) {
        self.socket = Some(socket);
        self.incoming.clear();
        self.is_torn = false;
    }

    /// Sends the call that is encoded, waits for its reply; where the results are.
    fn exchange(&mut self, data: &[u8]) -> Result<Range<usize>, CallError> {
        let results = self.exchange_on(data);
        // What was answered badly was answered; the rest leaves the stream anywhere.
        self.is_torn = !matches!(
            results,
            Ok(_) | Err(CallError::Rejected(_) | CallError::Denied(_))
        );
        results
    }

    fn exchange_on(&mut self, data: &[u8]) -> Result<Range<usize>, CallError> {
        let deadline = Instant::now() + self.timeout;
        self.send(data, deadline)?;
        let socket = self.socket.as_ref().ok_or(CallError::Closed)?;
        loop {
            let record = self.incoming.next_record(socket, deadline, self.timeout)?;
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
            let bytes = u32::try_from(record.len() + RECORD_MARK_LEN).unwrap_or(u32::MAX);
            self.traffic.bytes_received = self.traffic.bytes_received.saturating_add(bytes);
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
        RecordMark::close(&mut self.out, start, data_len.next_multiple_of(4));
        self.count_sent(data_len);
    }

    fn count_sent(&mut self, data_len: usize) {
        let sent = self.out.len() + data_len.next_multiple_of(4);
        let sent = u32::try_from(sent).unwrap_or(u32::MAX);
        self.traffic.calls = self.traffic.calls.saturating_add(1);
        self.traffic.bytes_sent = self.traffic.bytes_sent.saturating_add(sent);
    }

    /// Sends the call, the data, and the zeros that fill them up.
    fn send(&self, data: &[u8], deadline: Instant) -> Result<(), CallError> {
        const ZEROS: [u8; 3] = [0; 3];
        let socket = self.socket.as_ref().ok_or(CallError::Closed)?;
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
            match sendmsg(socket, rest, &mut no_control, SendFlags::NOSIGNAL) {
                Ok(len) => IoSlice::advance_slices(&mut rest, len),
                Err(Errno::INTR) => {}
                // There has been no room for a while.
                Err(Errno::AGAIN) if self.retry.sign.is_cancelled() => {
                    return Err(CallError::Stopped);
                }
                Err(Errno::AGAIN) => {}
                Err(error) => return Err(error.into()),
            }
            if !rest.is_empty() && Instant::now() >= deadline {
                return Err(CallError::TimedOut(self.timeout));
            }
        }
        Ok(())
    }
}

/// Lets calls of the system return in time to look at the sign.
fn limit_waiting(socket: &OwnedFd, timeout: Duration) -> Result<(), CallError> {
    // A timeout of zero would be none at all.
    let limit = timeout.clamp(Duration::from_millis(1), LOOK_EVERY);
    sockopt::set_socket_timeout(socket, sockopt::Timeout::Recv, Some(limit))?;
    sockopt::set_socket_timeout(socket, sockopt::Timeout::Send, Some(limit))?;
    Ok(())
}

fn shown(procedure: Procedure) -> String {
    procedure.name.to_uppercase()
}

fn lost(dial: &Dial, procedure: Procedure, error: &CallError) -> LayerLost {
    match error {
        CallError::Stopped => LayerLost::stopped(),
        error => LayerLost {
            what: format!("{}: {}: {error}", dial.address, shown(procedure)),
        },
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
