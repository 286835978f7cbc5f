//! NFSv3 calls one at a time, with paths in their errors.

use super::calls::{Failure, Nfs, called, status_of};
use super::error::Nfs3Error;
use crate::control::Cancellation;
use crate::driver::window::WorkError;
use crate::driver::{CallError, CallFailed, Dial, Endpoint, Retry};
use crate::error::RunError;
use filestone_model::session::rpc::Credentials;
use filestone_wire::nfs3::{Fattr3, FileHandle, Handle, Procedure, Status};
use filestone_wire::xdr::{DecodeError, Encode};
use std::time::Duration;

/// The largest reply taken.
const RECORD_MAX: usize = 4 << 20;

/// A connection to the NFS server for calls one at a time.
pub struct Session(Nfs);

impl Session {
    /// Connects to the NFS server.
    pub fn connect(endpoint: Endpoint) -> Result<Self, RunError> {
        let address = endpoint.dial.address;
        Nfs::connect(endpoint, RECORD_MAX)
            .map(Self)
            .map_err(|error| RunError::connecting(address, error))
    }

    /// The calls without paths in their errors.
    pub(crate) fn nfs(&mut self) -> &mut Nfs {
        &mut self.0
    }

    /// Another connection to the same server.
    pub fn again(&self) -> Result<Self, RunError> {
        Self::connect(self.endpoint().clone())
    }

    /// The server, and how it is called.
    pub fn endpoint(&self) -> &Endpoint {
        self.0.connection.endpoint()
    }

    /// Whether the last call was sent more than once: then "it is there already" may be the
    /// answer to what it did itself, and so may "it is not there".
    pub fn was_resent(&self) -> bool {
        self.0.connection.was_resent()
    }

    /// For how long a lost connection is made again, and what ends that.
    pub fn retry(&self) -> &Retry {
        &self.endpoint().retry
    }

    /// From now on, a lost connection is made again for so long.
    pub fn reconnect_for(&mut self, reconnect: Duration) {
        self.0.connection.reconnect_for(reconnect);
    }

    /// From now on, this cancellation ends what waits for the server.
    pub fn cancel_with(&mut self, cancellation: &Cancellation) {
        self.0.connection.cancel_with(cancellation);
    }

    /// Whether the server is on this host.
    pub fn is_local(&self) -> bool {
        self.0.connection.is_local()
    }

    /// Whose calls these are.
    pub fn credentials(&self) -> &Credentials {
        &self.endpoint().credentials
    }

    /// How long a call may take.
    pub fn timeout(&self) -> Duration {
        self.endpoint().timeout
    }

    /// Where it is connected to.
    pub fn dial(&self) -> &Dial {
        &self.endpoint().dial
    }

    /// Calls a procedure; `about` is the path that an error names.
    pub fn call(
        &mut self,
        procedure: Procedure,
        about: &str,
        args: &impl Encode,
    ) -> Result<Vec<u8>, RunError> {
        let results = self.0.connection.call_raw(called(procedure), args);
        results
            .map(<[u8]>::to_vec)
            .map_err(|failed| without_results(failed, about))
    }

    /// An error of decoding, with its place.
    pub fn undecodable(&self, procedure: Procedure, about: &str, source: DecodeError) -> RunError {
        let failed = self
            .0
            .connection
            .failed(called(procedure), CallError::Decode(source));
        without_results(failed, about)
    }

    /// Calls NULL: whether NFS version 3 is spoken there at all.
    pub fn null(&mut self) -> Result<(), RunError> {
        self.call(Procedure::Null, "", &()).map(drop)
    }

    /// Attributes of an object.
    pub fn attributes(&mut self, path: &str, handle: &Handle) -> Result<Fattr3, RunError> {
        let attributes = self.0.call(|link| link.attributes(handle));
        attributes.map_err(|failure| at_path(failure, path, Procedure::Getattr))
    }

    /// The object of this name in a directory.
    pub fn lookup(
        &mut self,
        path: &str,
        directory: &Handle,
        name: &[u8],
    ) -> Result<Handle, RunError> {
        let found = self.0.call(|link| link.lookup(directory, name));
        found
            .map(|object| object.handle)
            .map_err(|failure| at_path(failure, path, Procedure::Lookup))
    }

    /// rtmax and wtmax of FSINFO; zeros from a server that does not say.
    pub fn transfer_limits(&mut self, handle: &Handle) -> (u64, u64) {
        match self.0.call(|link| link.file_system_info(handle)) {
            Ok(ok) => (ok.rtmax.into(), ok.wtmax.into()),
            Err(_) => (0, 0),
        }
    }
}

impl From<RunError> for WorkError<RunError> {
    fn from(error: RunError) -> Self {
        WorkError::Failed(error)
    }
}

/// An error of a call about the object at `path`.
pub fn without_results(failed: CallFailed, path: &str) -> RunError {
    let mut call = failed.procedure.shown();
    if !path.is_empty() {
        call = format!("{call} {path}");
    }
    RunError::calling(failed.address, call, failed.source)
}

/// The same of a call that may have been answered.
pub fn at_path(failure: Failure, path: &str, procedure: Procedure) -> RunError {
    match failure {
        Failure::Lost(call) => without_results(call, path),
        Failure::Answered(answer) => match status_of(answer) {
            Some(status) => failed(path, procedure, status),
            None => {
                RunError::Internal(format!("{path}: {}: {answer:?}", called(procedure).shown()))
            }
        },
    }
}

/// A handle of our own; borrowed ones are never longer than the standard allows.
pub fn owned(handle: FileHandle<'_>) -> Handle {
    Handle::new(handle.as_bytes()).unwrap_or(Handle::EMPTY)
}

/// A procedure's bad status, with its place.
pub fn failed(path: &str, procedure: Procedure, status: Status) -> RunError {
    let path = path.into();
    Nfs3Error::Answered {
        path,
        procedure,
        status,
    }
    .into()
}
