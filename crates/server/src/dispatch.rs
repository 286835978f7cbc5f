//! From the bytes of a call to the bytes of its reply, without I/O.
//!
//! This module implements RPC itself (RFC 5531): it checks that the record is a call, that program,
//! version and procedure are served, and that the arguments can be decoded. The programs are in the
//! submodules.

mod change;
mod discard;
mod duplicates;
mod listing;
mod mount;
mod nfs3;
mod nlm;
mod portmap;

use std::fmt::Debug;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use filestone_wire::nfs3::{Procedure, Status, Verifier};
use filestone_wire::rpc::{
    AcceptStatus, AuthStatus, CallHeader, Credential, RPC_VERSION, RejectStatus, ReplyHeader,
};
use filestone_wire::xdr::{Decode, DecodeError, Encode, Reader, Writer};

use crate::counters::ThreadCounters;
use crate::options::{ListingBound, Options};
use crate::reply::ReplySink;
use crate::tree::Tree;
use crate::tree::inode::UnixNanoseconds;

use self::duplicates::{Duplicates, is_idempotent};
use self::mount::MountList;
use self::nlm::LockTable;

pub use self::nlm::Grant;

/// Transport of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallTransport {
    Tcp,
    Udp,
}

impl CallTransport {
    /// Returns the largest data length of one READ, READDIR or READDIRPLUS reply, in bytes; a
    /// larger request gets a short reply, not an error. A UDP reply has to fit into one datagram.
    pub fn reply_data_max(self) -> u32 {
        match self {
            Self::Tcp => 1 << 20,
            Self::Udp => 32 << 10,
        }
    }
}

/// Transport, source and destination address of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Endpoints {
    pub transport: CallTransport,
    /// For a datagram, the address that its socket is bound to, which may be "any".
    pub local: SocketAddr,
    pub peer: SocketAddr,
}

/// Source of a call, and its arrival time.
#[derive(Debug, Clone, Copy)]
pub struct Caller<'a> {
    pub ends: &'a Endpoints,
    pub tally: &'a ThreadCounters,
    /// Arrival time of the call, for access times.
    pub now: UnixNanoseconds,
    /// Whether a fault makes listings restart and never end.
    pub loops: bool,
}

/// Receives locks that were granted to waiting clients, and notifies the clients.
pub trait GrantSink: Debug + Send + Sync {
    /// Notifies the client of a granted lock. The implementation calls [`Service::finalize`] when
    /// the client has replied or the attempt has failed.
    fn submit(&self, grant: Grant);
}

/// The served programs over one tree.
#[derive(Debug)]
pub struct Service {
    tree: Arc<RwLock<Tree>>,
    mounts: Mutex<MountList>,
    locks: Mutex<LockTable>,
    duplicates: Mutex<Duplicates>,
    /// `writeverf3` and `cookieverf3` of this start of the server.
    verifier: Verifier,
    /// Addresses of the server.
    addresses: Vec<SocketAddr>,
    conduct: ServiceOptions,
    grants: Box<dyn GrantSink>,
}

/// Options of the service: see [`Options`].
#[derive(Debug, Clone, Copy, Default)]
pub struct ServiceOptions {
    pub strict_mount: bool,
    pub discard: bool,
    pub listing_bound: ListingBound,
    pub ignores_permissions: bool,
}

impl ServiceOptions {
    pub fn new(options: &Options) -> Self {
        Self {
            strict_mount: options.strict_mount,
            discard: options.discard,
            listing_bound: options.listing_bound,
            ignores_permissions: options.ignores_permissions,
        }
    }
}

/// Reason for rejecting a call before its procedure is reached.
#[derive(Debug, Clone, Copy)]
enum CallRejection {
    Accepted(AcceptStatus),
    Denied(RejectStatus),
}

impl From<DecodeError> for CallRejection {
    fn from(_: DecodeError) -> Self {
        Self::Accepted(AcceptStatus::GarbageArgs)
    }
}

impl Service {
    pub fn new(
        tree: Arc<RwLock<Tree>>,
        verifier: Verifier,
        addresses: Vec<SocketAddr>,
        conduct: ServiceOptions,
        grants: Box<dyn GrantSink>,
    ) -> Self {
        Self {
            tree,
            mounts: Mutex::default(),
            locks: Mutex::default(),
            duplicates: Mutex::default(),
            verifier,
            addresses,
            conduct,
            grants,
        }
    }

    /// Serves one call: adds a record to `sink`, or nothing if the bytes are not a call.
    #[inline]
    pub fn serve(&self, call: &[u8], caller: Caller<'_>, sink: &mut ReplySink) {
        match caller.ends.transport {
            CallTransport::Tcp => self.serve_call(call, caller, sink),
            CallTransport::Udp => self.serve_datagram(call, caller, sink),
        }
    }

    fn serve_datagram(&self, call: &[u8], caller: Caller<'_>, sink: &mut ReplySink) {
        if Self::procedure_of(call).is_none_or(is_idempotent) {
            return self.serve_call(call, caller, sink);
        }
        let key = Duplicates::key(caller.ends.peer, call);
        let mut duplicates = self
            .duplicates
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(reply) = duplicates.find(key) {
            return sink.extend(reply);
        }
        let mut reply = ReplySink::default();
        self.serve_call(call, caller, &mut reply);
        duplicates.remember(key, reply.to_vec());
        sink.append(&mut reply);
    }

    #[inline]
    fn serve_call(&self, call: &[u8], caller: Caller<'_>, sink: &mut ReplySink) {
        let mut reader = Reader::new(call);
        let header = match CallHeader::decode(&mut reader) {
            Ok(header) => header,
            Err(error) => return refuse_header(call, error, caller.tally, sink),
        };
        sink.begin_record();
        ReplyHeader::success(header.xid).encode(&mut sink.writer());
        if let Err(refusal) = self.answer(&header, reader, caller, sink) {
            caller.tally.count_refused();
            sink.cancel_record();
            sink.begin_record();
            let reply = match refusal {
                CallRejection::Accepted(status) => ReplyHeader::accepted(header.xid, status),
                CallRejection::Denied(status) => ReplyHeader::denied(header.xid, status),
            };
            reply.encode(&mut sink.writer());
        }
        sink.end_record();
    }

    #[inline]
    fn answer<'c>(
        &self,
        header: &CallHeader<'c>,
        arguments: Reader<'c>,
        caller: Caller<'_>,
        sink: &mut ReplySink,
    ) -> Result<(), CallRejection> {
        use filestone_wire::{mount, nfs3, nlm, portmap};
        // NULL requires no authentication (RFC 1813, section 3.3.0), so the credential is ignored.
        if matches!(header.credential, Credential::Other(_)) && header.procedure != 0 {
            return Err(CallRejection::Denied(RejectStatus::AuthError(
                AuthStatus::BADCRED,
            )));
        }
        match header.program {
            nfs3::PROGRAM => {
                served_version(header, nfs3::VERSION, nfs3::VERSION)?;
                let procedure = Procedure::from_number(header.procedure)
                    .ok_or(CallRejection::Accepted(AcceptStatus::ProcUnavail))?;
                caller.tally.count_call(procedure);
                Ok(self.nfs3(procedure, header, arguments, caller, sink)?)
            }
            mount::PROGRAM => {
                served_version(header, mount::VERSION, mount::VERSION)?;
                caller.tally.count_other_call();
                self.mount(header, arguments, &mut sink.writer())
            }
            nlm::PROGRAM => {
                served_version(header, nlm::VERSION, nlm::VERSION)?;
                caller.tally.count_other_call();
                self.nlm(header, arguments, caller.ends, &mut sink.writer())
            }
            portmap::PROGRAM => {
                served_version(header, 2, 4)?;
                caller.tally.count_other_call();
                self.portmap(header, arguments, caller.ends, &mut sink.writer())
            }
            _ => Err(CallRejection::Accepted(AcceptStatus::ProgUnavail)),
        }
    }

    /// Returns the NFSv3 procedure that a record calls, if any.
    pub fn procedure_of(call: &[u8]) -> Option<Procedure> {
        let header = CallHeader::decode(&mut Reader::new(call)).ok()?;
        let is_nfs3 = header.program == filestone_wire::nfs3::PROGRAM
            && header.version == filestone_wire::nfs3::VERSION;
        if is_nfs3 {
            Procedure::from_number(header.procedure)
        } else {
            None
        }
    }

    /// Answers a call of NFSv3 with `status` and no attributes, without executing it. NULL has no
    /// status; it is answered with SYSTEM_ERR.
    pub fn refuse(
        &self,
        call: &[u8],
        status: Status,
        tally: &ThreadCounters,
        sink: &mut ReplySink,
    ) {
        let Ok(header) = CallHeader::decode(&mut Reader::new(call)) else {
            return;
        };
        let Some(procedure) = Self::procedure_of(call) else {
            return;
        };
        tally.count_call(procedure);
        sink.begin_record();
        if procedure == Procedure::Null {
            let reply = ReplyHeader::accepted(header.xid, AcceptStatus::SystemErr);
            reply.encode(&mut sink.writer());
        } else {
            ReplyHeader::success(header.xid).encode(&mut sink.writer());
            nfs3::encode_failure(procedure, status, &mut sink.writer());
        }
        sink.end_record();
    }

    #[inline]
    fn tree(&self) -> RwLockReadGuard<'_, Tree> {
        self.tree.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn tree_mut(&self) -> RwLockWriteGuard<'_, Tree> {
        self.tree.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn mounts(&self) -> MutexGuard<'_, MountList> {
        self.mounts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn locks(&self) -> MutexGuard<'_, LockTable> {
        self.locks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Decodes the arguments, which must end with the record, and passes them to the procedure.
#[inline]
fn with_arguments<'c, A: Decode<'c>>(
    mut reader: Reader<'c>,
    out: &mut Writer<'_>,
    procedure: impl FnOnce(A, &mut Writer<'_>),
) -> Result<(), DecodeError> {
    let arguments = A::decode(&mut reader)?;
    reader.finish()?;
    procedure(arguments, out);
    Ok(())
}

#[inline]
fn served_version(header: &CallHeader<'_>, low: u32, high: u32) -> Result<(), CallRejection> {
    if (low..=high).contains(&header.version) {
        Ok(())
    } else {
        Err(CallRejection::Accepted(AcceptStatus::ProgMismatch {
            low,
            high,
        }))
    }
}

/// Answers a record with an invalid header, if enough of it is valid.
#[cold]
fn refuse_header(call: &[u8], error: DecodeError, tally: &ThreadCounters, sink: &mut ReplySink) {
    tally.count_refused();
    let Some((xid, _)) = call.split_first_chunk() else {
        return;
    };
    let status = match error {
        DecodeError::BadDiscriminant {
            field: "rpcvers", ..
        } => RejectStatus::RpcMismatch {
            low: RPC_VERSION,
            high: RPC_VERSION,
        },
        // A credential over 400 bytes.
        DecodeError::TooLong { .. } => RejectStatus::AuthError(AuthStatus::BADCRED),
        // A reply, or an incomplete header: no peer waits for a reply to it.
        _ => return,
    };
    sink.begin_record();
    ReplyHeader::denied(u32::from_be_bytes(*xid), status).encode(&mut sink.writer());
    sink.end_record();
}

#[cfg(test)]
mod tests;
