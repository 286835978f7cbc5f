//! NFSv3 calls, one at a time, with paths in their errors.

use super::calls::{NfsConnection, NfsError, called, status_of};
use super::error::Nfs3Error;
use crate::driver::window::WorkError;
use crate::driver::{CallFailed, Endpoint};
use filestone_host::connect::Dial;
use filestone_host::error::RunError;
use filestone_wire::nfs3::{Fattr3, Handle, Procedure, Status};
use filestone_wire::xdr::Encode;
use std::time::Duration;

/// Maximum size of a reply to an unmeasured call.
pub const RECORD_MAX: usize = 4 << 20;

impl NfsConnection {
    /// Opens another connection to the same server.
    pub fn again(&self) -> Result<Self, RunError> {
        Self::connect(self.endpoint().clone(), RECORD_MAX)
    }

    /// Returns the server and the call parameters.
    pub fn endpoint(&self) -> &Endpoint {
        self.connection.endpoint()
    }

    /// Returns the timeout of a call.
    pub fn timeout(&self) -> Duration {
        self.endpoint().timeout
    }

    /// Returns the connection parameters.
    pub fn dial(&self) -> &Dial {
        &self.endpoint().dial
    }

    /// Calls a procedure and returns its encoded results.
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

    /// Calls NULL to check that the server supports NFS version 3.
    pub fn null(&mut self) -> Result<(), RunError> {
        self.results(Procedure::Null, &()).map(drop)
    }

    /// Returns the attributes of an object.
    pub fn attributes(&mut self, path: &str, handle: &Handle) -> Result<Fattr3, RunError> {
        let attributes = self.call(|link| link.attributes(handle));
        attributes.map_err(|failure| at_path(failure, path, Procedure::Getattr))
    }

    /// Looks up a name in a directory.
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

    /// Returns rtmax and wtmax of FSINFO; zeros if the call fails.
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

/// Converts the error of a call for the object at `path`.
pub fn without_results(failed: CallFailed, path: &str) -> RunError {
    let mut call = failed.procedure.shown();
    if !path.is_empty() {
        call = format!("{call} {path}");
    }
    failed.source.calling(failed.address, call)
}

/// Converts the failure of a call that may have been answered. `procedure` is reported if the last
/// answered procedure is unknown.
pub fn at_path(failure: NfsError, path: &str, procedure: Procedure) -> RunError {
    match failure {
        NfsError::Lost(call) => without_results(call, path),
        NfsError::Answered(answer, called_last) => match status_of(answer) {
            Some(status) => failed(path, called_last.unwrap_or(procedure), status),
            None => {
                RunError::Internal(format!("{path}: {}: {answer:?}", called(procedure).shown()))
            }
        },
    }
}

/// Returns the error for a procedure's bad status at `path`.
pub fn failed(path: &str, procedure: Procedure, status: Status) -> RunError {
    let path = path.into();
    Nfs3Error::Answered {
        path,
        procedure,
        status,
    }
    .into()
}
