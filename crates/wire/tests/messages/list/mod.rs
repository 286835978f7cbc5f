//! One list of all messages, with every arm of every union. The tests walk it,
//! and the seeds of the fuzz targets are made from it. Not a test itself.

mod nfs3_list;
mod nlm_list;

use filestone_wire::mount::{
    DirPath, ExportEntry, MntFail, MntOk, MntReply, MountEntry, MountStatus, Name,
    Procedure as Mount,
};
use filestone_wire::nfs3::{FileHandle, Procedure as Nfs3};
use filestone_wire::nlm::Procedure as Nlm;
use filestone_wire::portmap::rpcbind::{self, Procedure as Rpcbind};
use filestone_wire::portmap::{IPPROTO_TCP, Mapping, Procedure as Portmap};
use filestone_wire::rpc::{
    AUTH_SYS, AcceptStatus, AuthStatus, AuthSys, CallHeader, Credential, Gids, OpaqueAuth,
    RejectStatus, ReplyHeader,
};
use filestone_wire::xdr::{DecodeError, Encode};

use crate::again;

/// What bytes are to be read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `CallHeader`.
    CallHeader,
    /// `ReplyHeader`.
    ReplyHeader,
    /// Arguments of portmap version 2.
    PortmapArgs(Portmap),
    /// A reply of portmap version 2.
    PortmapReply(Portmap),
    /// Arguments of rpcbind.
    RpcbindArgs(Rpcbind),
    /// A reply of rpcbind.
    RpcbindReply(Rpcbind),
    /// Arguments of MOUNT.
    MountArgs(Mount),
    /// A reply of MOUNT.
    MountReply(Mount),
    /// Arguments of NFSv3.
    Nfs3Args(Nfs3),
    /// A reply of NFSv3.
    Nfs3Reply(Nfs3),
    /// Arguments of NLM.
    NlmArgs(Nlm),
    /// A reply of NLM.
    NlmReply(Nlm),
}

impl Kind {
    /// Decodes, encodes and decodes again.
    pub fn again(self, bytes: &[u8]) -> Result<Vec<u8>, DecodeError> {
        match self {
            Self::CallHeader => again::call_header(bytes),
            Self::ReplyHeader => again::reply_header(bytes),
            Self::PortmapArgs(procedure) => again::portmap_args(procedure, bytes),
            Self::PortmapReply(procedure) => again::portmap_reply(procedure, bytes),
            Self::RpcbindArgs(procedure) => again::rpcbind_args(procedure, bytes),
            Self::RpcbindReply(procedure) => again::rpcbind_reply(procedure, bytes),
            Self::MountArgs(procedure) => again::mount_args(procedure, bytes),
            Self::MountReply(procedure) => again::mount_reply(procedure, bytes),
            Self::Nfs3Args(procedure) => again::nfs3_args(procedure, bytes),
            Self::Nfs3Reply(procedure) => again::nfs3_reply(procedure, bytes),
            Self::NlmArgs(procedure) => again::nlm_args(procedure, bytes),
            Self::NlmReply(procedure) => again::nlm_reply(procedure, bytes),
        }
    }
}

/// A message of the list.
#[derive(Debug)]
pub struct Message {
    /// What it is.
    pub kind: Kind,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

fn message(kind: Kind, message: impl Encode) -> Message {
    Message {
        kind,
        bytes: message.to_bytes(),
    }
}

/// All messages.
pub fn messages() -> Vec<Message> {
    let mut all = calls();
    all.extend(replies());
    all.extend(portmap());
    all.extend(rpcbind());
    all.extend(mount());
    all.extend(nfs3_list::args());
    all.extend(nfs3_list::replies());
    all.extend(nlm_list::messages());
    all
}

fn calls() -> Vec<Message> {
    let gids = Gids::new(&[4, 24, 27]).unwrap();
    let sys = AuthSys {
        stamp: 7,
        machine_name: b"client",
        uid: 1000,
        gid: 100,
        gids,
    };
    let full = AuthSys {
        machine_name: &[b'm'; 255],
        gids: Gids::new(&[u32::MAX; 16]).unwrap(),
        ..sys
    };
    let gss = OpaqueAuth {
        flavor: 6,
        body: b"not for us",
    };
    let broken = OpaqueAuth {
        flavor: AUTH_SYS,
        body: b"broken",
    };
    [
        Credential::None,
        Credential::Sys(sys),
        Credential::Sys(full),
        Credential::Other(gss),
        Credential::Other(broken),
        Credential::Other(OpaqueAuth {
            flavor: 0,
            body: &[1; 400],
        }),
    ]
    .into_iter()
    .zip([
        OpaqueAuth::NONE,
        OpaqueAuth::NONE,
        gss,
        gss,
        OpaqueAuth::NONE,
        gss,
    ])
    .map(|(credential, verifier)| {
        let header = CallHeader {
            xid: 1,
            program: 100_003,
            version: 3,
            procedure: 6,
            credential,
            verifier,
        };
        message(Kind::CallHeader, header)
    })
    .collect()
}

fn replies() -> Vec<Message> {
    let accepted = [
        AcceptStatus::Success,
        AcceptStatus::ProgUnavail,
        AcceptStatus::ProgMismatch { low: 2, high: 4 },
        AcceptStatus::ProcUnavail,
        AcceptStatus::GarbageArgs,
        AcceptStatus::SystemErr,
    ];
    let denied = [
        RejectStatus::RpcMismatch { low: 2, high: 2 },
        RejectStatus::AuthError(AuthStatus::BADCRED),
        RejectStatus::AuthError(AuthStatus(99)),
    ];
    let verified = ReplyHeader {
        verifier: OpaqueAuth {
            flavor: 6,
            body: b"checksum",
        },
        ..ReplyHeader::success(1)
    };
    accepted
        .map(|status| ReplyHeader::accepted(1, status))
        .into_iter()
        .chain(denied.map(|status| ReplyHeader::denied(1, status)))
        .chain([verified])
        .map(|header| message(Kind::ReplyHeader, header))
        .collect()
}

fn portmap() -> Vec<Message> {
    use Kind::{PortmapArgs as Args, PortmapReply as Reply};
    let mapping = Mapping {
        program: 100_003,
        version: 3,
        protocol: IPPROTO_TCP,
        port: 2049,
    };
    vec![
        message(Args(Portmap::Null), ()),
        message(Reply(Portmap::Null), ()),
        message(Args(Portmap::Set), mapping),
        message(Reply(Portmap::Set), true),
        message(Args(Portmap::Unset), mapping),
        message(Reply(Portmap::Unset), false),
        message(Args(Portmap::Getport), mapping),
        message(Reply(Portmap::Getport), 2049_u32),
        message(Args(Portmap::Dump), ()),
        message(Reply(Portmap::Dump), Vec::<Mapping>::new()),
        message(
            Reply(Portmap::Dump),
            vec![
                mapping,
                Mapping {
                    port: 2050,
                    ..mapping
                },
            ],
        ),
    ]
}

fn rpcbind() -> Vec<Message> {
    use Kind::{RpcbindArgs as Args, RpcbindReply as Reply};
    let address: &[u8] = b"127.0.0.1.8.1";
    let rpcb = rpcbind::Rpcb {
        program: 100_003,
        version: 3,
        netid: b"tcp",
        address,
        owner: b"superuser",
    };
    vec![
        message(Args(Rpcbind::Null), ()),
        message(Reply(Rpcbind::Null), ()),
        message(Args(Rpcbind::Set), rpcb),
        message(Reply(Rpcbind::Set), true),
        message(Args(Rpcbind::Unset), rpcb),
        message(Reply(Rpcbind::Unset), true),
        message(Args(Rpcbind::Getaddr), rpcb),
        message(Reply(Rpcbind::Getaddr), address),
        message(Reply(Rpcbind::Getaddr), &b""[..]),
        message(Args(Rpcbind::Dump), ()),
        message(Reply(Rpcbind::Dump), vec![rpcb, rpcb]),
        message(Args(Rpcbind::Gettime), ()),
        message(Reply(Rpcbind::Gettime), 1_700_000_000_u32),
        message(Args(Rpcbind::Getversaddr), rpcb),
        message(Reply(Rpcbind::Getversaddr), address),
    ]
}

fn mount() -> Vec<Message> {
    use Kind::{MountArgs as Args, MountReply as Reply};
    let fhandle = FileHandle::new(b"root of all files").unwrap();
    let everyone = ExportEntry {
        directory: DirPath(b"/mem"),
        groups: vec![],
    };
    let some = ExportEntry {
        directory: DirPath(b"/srv/export"),
        groups: vec![Name(b"10.0.0.0/8"), Name(b"@hosts")],
    };
    let mounted = MountEntry {
        hostname: Name(b"client"),
        directory: DirPath(b"/mem"),
    };
    vec![
        message(Args(Mount::Null), ()),
        message(Reply(Mount::Null), ()),
        message(Args(Mount::Mnt), DirPath(b"/srv/export")),
        message(
            Reply(Mount::Mnt),
            MntReply::Ok(MntOk {
                fhandle,
                auth_flavors: vec![1, 0, 6],
            }),
        ),
        message(
            Reply(Mount::Mnt),
            MntReply::Err(MntFail {
                status: MountStatus::ACCES,
            }),
        ),
        message(Args(Mount::Dump), ()),
        message(Reply(Mount::Dump), vec![mounted, mounted]),
        message(Args(Mount::Umnt), DirPath(b"/srv/export")),
        message(Reply(Mount::Umnt), ()),
        message(Args(Mount::UmntAll), ()),
        message(Reply(Mount::UmntAll), ()),
        message(Args(Mount::Export), ()),
        message(Reply(Mount::Export), vec![everyone, some]),
    ]
}
