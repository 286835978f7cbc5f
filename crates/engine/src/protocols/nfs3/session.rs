//! NFSv3 calls one at a time, with paths in their errors.

use super::calls::{Failure, Session, called, status_of};
use super::error::Nfs3Error;
use crate::driver::window::WorkError;
use crate::driver::{CallFailed, Dial, Endpoint};
use crate::error::RunError;
use filestone_wire::nfs3::{Fattr3, Handle, Procedure, Status};
use filestone_wire::xdr::Encode;
use std::time::Duration;

/// The largest reply taken of a call that is no part of what is measured.
pub const RECORD_MAX: usize = 4 << 20;

impl Session {
    /// Another connection to the same server.
    pub fn again(&self) -> Result<Self, RunError> {
        Self::connect(self.endpoint().clone(), RECORD_MAX)
    }

    /// The server, and how it is called.
    pub fn endpoint(&self) -> &Endpoint {
        self.connection.endpoint()
    }

    /// How long a call may take.
    pub fn timeout(&self) -> Duration {
        self.endpoint().timeout
    }

    /// Where it is connected to.
    pub fn dial(&self) -> &Dial {
        &self.endpoint().dial
    }

    /// The results of a procedure.
    pub fn results(
        &mut self,
        procedure: Procedure,
        args: &impl Encode,
    ) -> Result<Vec<u8>, RunError> {
        let results = self.connection.call_raw(called(procedure), args);
        results
            .map(<[u8]>::to_vec)
            .map_err(|failed| without_results(failed, ""))
    }

    /// Calls NULL: whether NFS version 3 is spoken there at all.
    pub fn null(&mut self) -> Result<(), RunError> {
        self.results(Procedure::Null, &()).map(drop)
    }

    /// Attributes of an object.
    pub fn attributes(&mut self, path: &str, handle: &Handle) -> Result<Fattr3, RunError> {
        let attributes = self.call(|link| link.attributes(handle));
        attributes.map_err(|failure| at_path(failure, path, Procedure::Getattr))
    }

    /// The object of this name in a directory.
    pub fn lookup(
        &mut self,
        path: &str,
        directory: &Handle,
        name: &[u8],
    ) -> Result<Handle, RunError> {
        let found = self.call(|link| link.lookup(directory, name));
        found
            .map(|object| object.handle)
            .map_err(|failure| at_path(failure, path, Procedure::Lookup))
    }

    /// rtmax and wtmax of FSINFO; zeros from a server that does not say.
    pub fn transfer_limits(&mut self, handle: &Handle) -> (u64, u64) {
        match self.call(|link| link.file_system_info(handle)) {
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

/// The same of a call that may have been answered; `procedure` is told where it is not known which
/// one was answered last.
pub fn at_path(failure: Failure, path: &str, procedure: Procedure) -> RunError {
    match failure {
        Failure::Lost(call) => without_results(call, path),
        Failure::Answered(answer, called_last) => match status_of(answer) {
            Some(status) => failed(path, called_last.unwrap_or(procedure), status),
            None => {
                RunError::Internal(format!("{path}: {}: {answer:?}", called(procedure).shown()))
            }
        },
    }
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
