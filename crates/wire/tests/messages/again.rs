//! Decodes, encodes and decodes again: what every test of a message asks of
//! it, and the fuzz targets too. Not a test itself.

use filestone_wire::rpc::{CallHeader, ReplyHeader};
use filestone_wire::xdr::{Decode, DecodeError, Encode};
use filestone_wire::{mount, nfs3, nlm, portmap};

/// The bytes the message encodes to, once it has been shown that they decode
/// to the same message.
macro_rules! again {
    ($type:ty, $bytes:expr) => {{
        let message = <$type>::from_bytes($bytes)?;
        let bytes = message.to_bytes();
        assert_eq!(<$type>::from_bytes(&bytes).as_ref(), Ok(&message));
        Ok(bytes)
    }};
}

type Again = Result<Vec<u8>, DecodeError>;

macro_rules! nfs3_dispatch {
    ($procedure:expr, $bytes:expr, $part:ident: $($variant:ident $module:ident,)+) => {
        match $procedure {
            $(nfs3::Procedure::$variant => again!(nfs3::$module::$part, $bytes),)+
        }
    };
    ($procedure:expr, $bytes:expr, $part:ident) => {
        nfs3_dispatch!($procedure, $bytes, $part:
            Null null, Getattr getattr, Setattr setattr, Lookup lookup, Access access,
            Readlink readlink, Read read, Write write, Create create, Mkdir mkdir,
            Symlink symlink, Mknod mknod, Remove remove, Rmdir rmdir, Rename rename,
            Link link, Readdir readdir, Readdirplus readdirplus, Fsstat fsstat,
            Fsinfo fsinfo, Pathconf pathconf, Commit commit,
        )
    };
}

/// The header of a call and nothing after it.
pub fn call_header(bytes: &[u8]) -> Again {
    again!(CallHeader, bytes)
}

/// The header of a reply and nothing after it.
pub fn reply_header(bytes: &[u8]) -> Again {
    again!(ReplyHeader, bytes)
}

/// Arguments of this procedure.
pub fn nfs3_args(procedure: nfs3::Procedure, bytes: &[u8]) -> Again {
    nfs3_dispatch!(procedure, bytes, Args)
}

/// A reply to this procedure.
pub fn nfs3_reply(procedure: nfs3::Procedure, bytes: &[u8]) -> Again {
    nfs3_dispatch!(procedure, bytes, Reply)
}

/// Arguments of this procedure of NLM.
pub fn nlm_args(procedure: nlm::Procedure, bytes: &[u8]) -> Again {
    use nlm::Procedure::{Cancel, Granted, Lock, Null, Test, Unlock};
    match procedure {
        Null => again!((), bytes),
        Test => again!(nlm::test::Args, bytes),
        Lock => again!(nlm::lock::Args, bytes),
        Cancel => again!(nlm::cancel::Args, bytes),
        Unlock => again!(nlm::unlock::Args, bytes),
        Granted => again!(nlm::granted::Args, bytes),
    }
}

/// A reply to this procedure of NLM.
pub fn nlm_reply(procedure: nlm::Procedure, bytes: &[u8]) -> Again {
    use nlm::Procedure::{Cancel, Granted, Lock, Null, Test, Unlock};
    match procedure {
        Null => again!((), bytes),
        Test => again!(nlm::test::Reply, bytes),
        Lock | Cancel | Unlock | Granted => again!(nlm::StatusReply, bytes),
    }
}

/// Arguments of this procedure of MOUNT.
pub fn mount_args(procedure: mount::Procedure, bytes: &[u8]) -> Again {
    use mount::Procedure::{Dump, Export, Mnt, Null, Umnt, UmntAll};
    match procedure {
        Null | Dump | UmntAll | Export => again!((), bytes),
        Mnt | Umnt => again!(mount::DirPath, bytes),
    }
}

/// A reply to this procedure of MOUNT.
pub fn mount_reply(procedure: mount::Procedure, bytes: &[u8]) -> Again {
    use mount::Procedure::{Dump, Export, Mnt, Null, Umnt, UmntAll};
    match procedure {
        Null | Umnt | UmntAll => again!((), bytes),
        Mnt => again!(mount::MntReply, bytes),
        Dump => again!(mount::DumpReply, bytes),
        Export => again!(mount::ExportReply, bytes),
    }
}

/// Arguments of this procedure of portmap version 2.
pub fn portmap_args(procedure: portmap::Procedure, bytes: &[u8]) -> Again {
    use portmap::Procedure::{Callit, Dump, Getport, Null, Set, Unset};
    match procedure {
        Null | Dump => again!((), bytes),
        Set | Unset | Getport => again!(portmap::Mapping, bytes),
        Callit => Ok(bytes.to_vec()),
    }
}

/// A reply to this procedure of portmap version 2.
pub fn portmap_reply(procedure: portmap::Procedure, bytes: &[u8]) -> Again {
    use portmap::Procedure::{Callit, Dump, Getport, Null, Set, Unset};
    match procedure {
        Null => again!((), bytes),
        Set | Unset => again!(bool, bytes),
        Getport => again!(u32, bytes),
        Dump => again!(portmap::DumpReply, bytes),
        Callit => Ok(bytes.to_vec()),
    }
}

/// Arguments of this procedure of rpcbind; unchanged if this crate has no type for them.
pub fn rpcbind_args(procedure: portmap::rpcbind::Procedure, bytes: &[u8]) -> Again {
    use portmap::rpcbind::{Procedure as P, Rpcb};
    match procedure {
        P::Null | P::Dump | P::Gettime | P::Getstat => again!((), bytes),
        P::Set | P::Unset | P::Getaddr | P::Getversaddr | P::Getaddrlist => again!(Rpcb, bytes),
        P::Bcast | P::Indirect | P::Uaddr2taddr | P::Taddr2uaddr => Ok(bytes.to_vec()),
    }
}

/// A reply to this procedure of rpcbind; unchanged if this crate has no type for it.
pub fn rpcbind_reply(procedure: portmap::rpcbind::Procedure, bytes: &[u8]) -> Again {
    use portmap::rpcbind::{AddrReply, DumpReply, Procedure as P};
    match procedure {
        P::Null => again!((), bytes),
        P::Set | P::Unset => again!(bool, bytes),
        P::Getaddr | P::Getversaddr | P::Taddr2uaddr => again!(AddrReply, bytes),
        P::Dump => again!(DumpReply, bytes),
        P::Gettime => again!(u32, bytes),
        P::Bcast | P::Indirect | P::Uaddr2taddr | P::Getaddrlist | P::Getstat => Ok(bytes.to_vec()),
    }
}
