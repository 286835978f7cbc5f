//! The procedures of NFSv3 as functions, one call at a time.
//!
//! The protocol crate (`filestone_protocol::client::nfs3::sequence`) encodes the calls and
//! evaluates the replies; this module drives it over a blocking connection.

use crate::driver::{CallError, CallFailed, Endpoint, RpcConnection, RpcProcedure};
use filestone_host::error::RunError;
use filestone_plan::plan::CreateModes;
use filestone_protocol::client::nfs3::sequence::{
    self, DataRange, NfsCall, NfsCallHandle, NfsCallSlot, NfsClientError, NfsClientErrorKind,
    WaitReason, WriteResult,
};
use filestone_wire::nfs3::write::StableHow;
use filestone_wire::nfs3::{self, Handle, Procedure};
use filestone_wire::xdr::{Encode, Writer};
use filestone_workload::failure::StatusSpace;
use filestone_workload::load::ActionStatus;
use std::net::SocketAddr;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

pub use sequence::{called, named, permissions};

/// Error of an NFS action.
#[derive(Debug)]
pub enum NfsError {
    /// The server returned an error status, or filestone generated one in its place; with the
    /// procedure, if known.
    Answered(ActionStatus, Option<Procedure>),
    /// The connection to the server is lost.
    Lost(CallFailed),
}

impl NfsError {
    /// Whether the server returned this status.
    pub fn is(&self, status: nfs3::Status) -> bool {
        matches!(self, NfsError::Answered(answered, _) if *answered == sequence::answer(status))
    }
}

impl From<CallFailed> for NfsError {
    fn from(lost: CallFailed) -> Self {
        NfsError::Lost(lost)
    }
}

impl From<nfs3::Status> for NfsError {
    fn from(status: nfs3::Status) -> Self {
        NfsError::Answered(sequence::answer(status), None)
    }
}

/// Returns the NFSv3 status, if the answer is one.
pub const fn status_of(answer: ActionStatus) -> Option<nfs3::Status> {
    match answer {
        ActionStatus::Failed(status) if matches!(status.space, StatusSpace::Nfs3) => {
            Some(nfs3::Status(status.number))
        }
        _ => None,
    }
}

/// Result of an NFS action.
pub type NfsResult<T> = Result<T, NfsError>;

/// Arguments that are already encoded.
struct Encoded<'a>(&'a [u8]);

impl Encode for Encoded<'_> {
    fn encode(&self, out: &mut Writer<'_>) {
        out.fixed(self.0);
    }
}

/// Executes the call that a future waits for, with these file data after its arguments.
fn exchange(
    connection: &mut RpcConnection,
    call_slot: &mut NfsCallSlot,
    data: &[u8],
) -> Result<(), CallFailed> {
    let NfsCall {
        procedure,
        arguments,
        ..
    } = call_slot.call();
    let bytes = connection.call_with_data(*procedure, &Encoded(arguments), data)?;
    let len = bytes.len();
    call_slot.answer(sequence::Results { bytes, len });
    Ok(())
}

/// Describes why a client of `address` cannot continue. `timeout` is the call timeout, `gone` the
/// reason of the disconnect.
pub fn call_failed(
    address: SocketAddr,
    lost: NfsClientError,
    timeout: Duration,
    gone: CallError,
) -> CallFailed {
    let source = match lost.reason {
        NfsClientErrorKind::Decode(error) => CallError::Decode(error),
        NfsClientErrorKind::ProtocolViolation(what) => CallError::Violation(what),
        NfsClientErrorKind::Refused(refusal) => refusal.into(),
        NfsClientErrorKind::BadMessage(error, received) => CallError::not_rpc(error, &received),
        NfsClientErrorKind::TimedOut => CallError::TimedOut(timeout),
        NfsClientErrorKind::Disconnected => gone,
        NfsClientErrorKind::Stopped => CallError::Stopped,
    };
    CallFailed {
        address,
        procedure: lost.procedure,
        source,
    }
}

/// A connection to an NFS server, for one call at a time.
#[derive(Debug)]
pub struct NfsConnection {
    /// Connection for the calls.
    pub connection: RpcConnection,
    call_slot: NfsCallSlot,
}

impl NfsConnection {
    /// Connects. Replies longer than `record_max` bytes are refused.
    pub fn connect(endpoint: Endpoint, record_max: usize) -> Result<Self, RunError> {
        let address = endpoint.dial.address;
        RpcConnection::connect(endpoint, record_max)
            .map(Self::over)
            .map_err(|error| error.connecting(address))
    }

    /// Creates a session over an existing connection.
    pub fn over(connection: RpcConnection) -> Self {
        let call_slot = NfsCallSlot::default();
        Self {
            connection,
            call_slot,
        }
    }

    /// Returns the permissions of objects created for the run.
    pub fn modes(&self) -> CreateModes {
        self.connection.endpoint().credentials.modes
    }

    /// Runs the future of `calls` and returns its result.
    pub fn call<T, F>(&mut self, calls: impl FnOnce(&'static NfsCallHandle) -> F) -> NfsResult<T>
    where
        F: Future<Output = sequence::NfsActionResult<T>>,
    {
        self.call_with(&[], calls)
    }

    /// Runs the future of `calls`, with `data` as the file data of its writes.
    fn call_with<T, F>(
        &mut self,
        data: &[u8],
        calls: impl FnOnce(&'static NfsCallHandle) -> F,
    ) -> NfsResult<T>
    where
        F: Future<Output = sequence::NfsActionResult<T>>,
    {
        let Self {
            connection,
            call_slot,
        } = self;
        let mut calls = pin!(call_slot.lend(|| calls(&NfsCallHandle::HERE)));
        let mut context = Context::from_waker(Waker::noop());
        loop {
            call_slot.stop(connection.is_cancelled());
            let polled = call_slot.lend(|| calls.as_mut().poll(&mut context));
            if let Poll::Ready(result) = polled {
                return result.map_err(|failure| match failure {
                    sequence::ActionError::Status(status) => {
                        let number = call_slot.call().procedure.number;
                        NfsError::Answered(status, Procedure::from_number(number))
                    }
                    sequence::ActionError::ClientFailed
                    | sequence::ActionError::ConnectionReset => {
                        NfsError::Lost(lost(connection, call_slot))
                    }
                });
            }
            match call_slot.wanted() {
                WaitReason::Timer(nanos) => {
                    connection.wait(Duration::from_nanos(nanos))?;
                    call_slot.rested();
                }
                WaitReason::Reply | WaitReason::None => exchange(connection, call_slot, data)?,
            }
        }
    }

    /// Writes all of `data` with WRITE.
    pub fn write(
        &mut self,
        file: &Handle,
        offset: u64,
        data: &[u8],
        stable: StableHow,
    ) -> NfsResult<WriteResult> {
        let len = u32::try_from(data.len()).unwrap_or(u32::MAX);
        let stretch = DataRange { at: 0, len };
        self.call_with(data, |link| link.write(file, offset, stretch, stable))
    }
}

/// Returns the error of a future that could not continue over this connection.
fn lost(connection: &RpcConnection, call_slot: &mut NfsCallSlot) -> CallFailed {
    let lost = call_slot.take_lost().unwrap_or(NfsClientError {
        procedure: RpcProcedure::NONE,
        reason: NfsClientErrorKind::Disconnected,
    });
    let Endpoint { dial, timeout, .. } = connection.endpoint();
    call_failed(dial.address, lost, *timeout, CallError::Closed)
}
