//! NFSv3 calls one at a time, with paths in their errors.

use crate::control::Cancellation;
use crate::error::RunError;
use crate::transport::Dial;
use crate::transport::retry::Retry;
use crate::transport::rpc::{CallError, EncodeArgs, RpcChannel};
use filestone_model::client::nfs3::Credentials;
use filestone_wire::nfs3::{
    DirOpArgs, Fattr3, FileHandle, Handle, PROGRAM, Procedure, Status, VERSION, fsinfo, getattr,
    lookup,
};
use filestone_wire::xdr::Decode;
use std::time::Duration;

/// A connection to the NFS server for calls one at a time.
pub struct Session {
    channel: RpcChannel,
    credentials: Credentials,
    timeout: Duration,
}

impl Session {
    /// Connects to the NFS server.
    pub fn connect(
        dial: Dial,
        credentials: &Credentials,
        timeout: Duration,
        retry: Retry,
    ) -> Result<Self, RunError> {
        let channel = RpcChannel::connect(dial, credentials.clone(), timeout, retry)
            .map_err(|error| RunError::connecting(dial.address, error))?;
        Ok(Self {
            channel,
            credentials: credentials.clone(),
            timeout,
        })
    }

    /// Another connection to the same server.
    pub fn again(&self) -> Result<Self, RunError> {
        let (dial, retry) = (*self.channel.dial(), self.retry().clone());
        Self::connect(dial, &self.credentials, self.timeout, retry)
    }

    /// Whether the last call was sent more than once: then "it is there already" may be the
    /// answer to what it did itself, and so may "it is not there".
    pub fn was_resent(&self) -> bool {
        self.channel.was_resent()
    }

    /// For how long a lost connection is made again, and what ends that.
    pub fn retry(&self) -> &Retry {
        self.channel.retry()
    }

    /// From now on, a lost connection is made again for so long.
    pub fn reconnect_for(&mut self, reconnect: Duration) {
        let sign = self.retry().sign.clone();
        self.channel.set_retry(Retry { reconnect, sign });
    }

    /// From now on, this sign ends what waits for the server.
    pub fn cancel_with(&mut self, sign: &Cancellation) {
        let reconnect = self.retry().reconnect;
        let sign = sign.clone();
        self.channel.set_retry(Retry { reconnect, sign });
    }

    /// Whether the server is on this host.
    pub fn is_local(&self) -> bool {
        self.channel.is_local()
    }

    /// Whose calls these are.
    pub fn credentials(&self) -> &Credentials {
        &self.credentials
    }

    /// How long a call may take.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Where it is connected to.
    pub fn dial(&self) -> &Dial {
        self.channel.dial()
    }

    /// Calls a procedure; `about` is the path that an error names.
    pub fn call(
        &mut self,
        procedure: Procedure,
        about: &str,
        args: &dyn EncodeArgs,
    ) -> Result<Vec<u8>, RunError> {
        let address = self.channel.dial().address;
        let number = (PROGRAM, VERSION, procedure.number());
        self.channel
            .call_patiently(number, args)
            .map_err(|source| RunError::calling(address, name_of(procedure, about), source))
    }

    /// An error of decoding, with its place.
    pub fn undecodable(
        &self,
        procedure: Procedure,
        about: &str,
        source: filestone_wire::xdr::DecodeError,
    ) -> RunError {
        RunError::Call {
            address: self.channel.dial().address,
            call: name_of(procedure, about),
            source: CallError::Decode(source),
        }
    }

    /// Calls NULL: whether NFS version 3 is spoken there at all.
    pub fn null(&mut self) -> Result<(), RunError> {
        self.call(Procedure::Null, "", &()).map(drop)
    }

    /// Attributes of an object.
    pub fn attributes(&mut self, path: &str, handle: &Handle) -> Result<Fattr3, RunError> {
        let bytes = self.call(
            Procedure::Getattr,
            path,
            &getattr::Args {
                object: handle.borrow(),
            },
        )?;
        match getattr::Reply::from_bytes(&bytes) {
            Ok(Ok(ok)) => Ok(ok.obj_attributes),
            Ok(Err(fail)) => Err(failed(path, "GETATTR", fail.status)),
            Err(error) => Err(self.undecodable(Procedure::Getattr, path, error)),
        }
    }

    /// The object of this name in a directory.
    pub fn lookup(
        &mut self,
        path: &str,
        directory: &Handle,
        name: &[u8],
    ) -> Result<Handle, RunError> {
        let what = DirOpArgs {
            dir: directory.borrow(),
            name,
        };
        let bytes = self.call(Procedure::Lookup, path, &lookup::Args { what })?;
        match lookup::Reply::from_bytes(&bytes) {
            Ok(Ok(ok)) => Ok(owned(ok.object)),
            Ok(Err(fail)) => Err(failed(path, "LOOKUP", fail.status)),
            Err(error) => Err(self.undecodable(Procedure::Lookup, path, error)),
        }
    }

    /// rtmax and wtmax of FSINFO; zeros from a server that does not say.
    pub fn transfer_limits(&mut self, handle: &Handle) -> (u64, u64) {
        let reply = self.call(
            Procedure::Fsinfo,
            "",
            &fsinfo::Args {
                fsroot: handle.borrow(),
            },
        );
        match reply.as_deref().map(fsinfo::Reply::from_bytes) {
            Ok(Ok(Ok(ok))) => (ok.rtmax.into(), ok.wtmax.into()),
            _ => (0, 0),
        }
    }
}

/// How an error names a call: `LOOKUP /export/file`, or `NULL`.
pub(super) fn name_of(procedure: Procedure, about: &str) -> String {
    let name = procedure.name().to_uppercase();
    if about.is_empty() {
        name
    } else {
        format!("{name} {about}")
    }
}

/// A handle of our own; borrowed ones are never longer than the standard allows.
pub fn owned(handle: FileHandle<'_>) -> Handle {
    Handle::new(handle.as_bytes()).unwrap_or(Handle::EMPTY)
}

/// A procedure's bad status, with its place.
pub fn failed(path: &str, procedure: &'static str, status: Status) -> RunError {
    RunError::Nfs {
        path: path.into(),
        procedure,
        status,
    }
}
