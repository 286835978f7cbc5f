//! MOUNT version 3 at one place.

use crate::driver::{Program, RpcConnection, RpcProcedure};
use crate::error::RunError;
use filestone_wire::mount::{self, DirPath, MountStatus};
use filestone_wire::nfs3::Handle;
use std::net::SocketAddr;

/// The program.
pub const MOUNT: Program = Program::new(mount::PROGRAM, mount::VERSION);

/// Exports named in an error at most.
const EXPORTS_SHOWN: usize = 16;

const fn called(procedure: mount::Procedure) -> RpcProcedure {
    MOUNT.procedure(procedure.number(), "mount")
}

/// The MOUNT service of a server.
pub struct MountService(RpcConnection);

impl MountService {
    /// The service at the other end of `connection`, which is asked whether it is there.
    pub fn find(mut connection: RpcConnection) -> Result<Self, RunError> {
        let address = connection.dial().address;
        connection
            .call_raw(called(mount::Procedure::Null), &())
            .map_err(|failed| RunError::calling(address, "MOUNT NULL".into(), failed.source))?;
        Ok(Self(connection))
    }

    /// Where it is.
    pub fn address(&self) -> SocketAddr {
        self.0.dial().address
    }

    /// MNT: a handle, or why not.
    pub fn mnt(&mut self, path: &str) -> Result<Result<Handle, MountStatus>, RunError> {
        let address = self.address();
        let arguments = DirPath(path.as_bytes());
        let reply: Result<mount::MntReply<'_>, _> =
            self.0.call(called(mount::Procedure::Mnt), &arguments);
        let reply = reply
            .map_err(|failed| RunError::calling(address, format!("MOUNT {path}"), failed.source))?;
        Ok(match reply {
            Ok(ok) => Ok(ok.fhandle.into()),
            Err(fail) => Err(fail.status),
        })
    }

    /// UMNT, so that the server's list of mounts stays true. No more is waited for than its
    /// reply, and a server that has no list does not matter.
    pub fn umnt(&mut self, path: &str) {
        let umnt = called(mount::Procedure::Umnt);
        let _ = self.0.call_raw(umnt, &DirPath(path.as_bytes()));
    }

    /// What the server exports, as far as it says.
    pub fn exports(&mut self) -> Vec<String> {
        let export = called(mount::Procedure::Export);
        let Ok(exports) = self.0.call::<mount::ExportReply<'_>>(export, &()) else {
            return Vec::new();
        };
        exports
            .iter()
            .take(EXPORTS_SHOWN)
            .map(|export| String::from_utf8_lossy(export.directory.0).into_owned())
            .collect()
    }
}
