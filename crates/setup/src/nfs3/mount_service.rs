//! MOUNT version 3 at one address.

use crate::driver::{Program, RpcConnection, RpcProcedure};
use crate::nfs3::Nfs3Error;
use filestone_host::error::RunError;
use filestone_wire::mount::{self, DirPath, MountStatus};
use filestone_wire::nfs3::Handle;
use filestone_wire::rpc::{AUTH_NONE, AUTH_SYS};
use std::net::SocketAddr;

/// MOUNT version 3.
pub const MOUNT: Program = Program::new(mount::PROGRAM, mount::VERSION);

/// Maximum number of exports named in an error.
const EXPORTS_SHOWN: usize = 16;

/// Whether calls with AUTH_SYS are accepted. A server that lists AUTH_NONE ignores identities, and
/// an empty list comes from servers older than the list.
fn accepts_auth_sys(flavors: &[u32]) -> bool {
    flavors.is_empty() || flavors.contains(&AUTH_SYS) || flavors.contains(&AUTH_NONE)
}

const fn called(procedure: mount::Procedure) -> RpcProcedure {
    MOUNT.procedure(procedure.number(), "mount")
}

/// The MOUNT service of a server.
pub struct MountService(RpcConnection);

impl MountService {
    /// Checks with NULL that the service is at the other end of `connection`.
    pub fn find(mut connection: RpcConnection) -> Result<Self, RunError> {
        let address = connection.dial().address;
        connection
            .call_raw(called(mount::Procedure::Null), &())
            .map_err(|failed| failed.source.calling(address, "MOUNT NULL".into()))?;
        Ok(Self(connection))
    }

    /// Returns the address of the service.
    pub fn address(&self) -> SocketAddr {
        self.0.dial().address
    }

    /// Calls MNT and returns a handle or the status. An export that does not accept AUTH_SYS is an
    /// error, because its handle is useless here; other exports are not tried instead.
    pub fn mnt(&mut self, path: &str) -> Result<Result<Handle, MountStatus>, RunError> {
        let address = self.address();
        let arguments = DirPath(path.as_bytes());
        let reply: Result<mount::MntReply<'_>, _> =
            self.0.call(called(mount::Procedure::Mnt), &arguments);
        let reply =
            reply.map_err(|failed| failed.source.calling(address, format!("MOUNT {path}")))?;
        let (handle, flavors) = match reply {
            Ok(ok) => (Handle::from(ok.fhandle), ok.auth_flavors),
            Err(fail) => return Ok(Err(fail.status)),
        };
        if !accepts_auth_sys(&flavors) {
            self.umnt(path);
            let path = path.into();
            return Err(Nfs3Error::OtherFlavors { path, flavors }.into());
        }
        Ok(Ok(handle))
    }

    /// Calls UMNT to keep the server's mount list correct. Waits for the reply at most; errors are
    /// ignored, since a server may have no list.
    pub fn umnt(&mut self, path: &str) {
        let umnt = called(mount::Procedure::Umnt);
        let _ = self.0.call_raw(umnt, &DirPath(path.as_bytes()));
    }

    /// Returns the exports of the server, if it lists them.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nfs3::scripted;
    use filestone_wire::nfs3::FileHandle;
    use filestone_wire::xdr::Encode;
    use std::io::Write;

    /// Returns the result of MNT at a server that offers these flavors, and the procedures called.
    fn mounted(flavors: &[u32]) -> (Result<bool, RunError>, Vec<u32>) {
        let auth_flavors = flavors.to_vec();
        let (connection, server) = scripted::connection(move |call, out| {
            let fhandle = FileHandle::new(b"root").expect("a handle");
            let granted = mount::MntOk {
                fhandle,
                auth_flavors: auth_flavors.clone(),
            };
            let results = match call.procedure {
                1 => mount::MntReply::Ok(granted).to_bytes(),
                _ => Vec::new(),
            };
            out.write_all(&scripted::reply(call.xid, &results))
        });
        let mut service = MountService::find(connection).expect("it is there");
        let given = service.mnt("/export").map(|given| given.is_ok());
        drop(service);
        (given, server.join().expect("it ends"))
    }

    #[test]
    fn an_export_that_takes_no_auth_sys_is_refused_with_what_it_takes() {
        let (refused, called) = mounted(&[390_003, 390_005, 77]);
        let error = refused.expect_err("it takes no AUTH_SYS");
        assert_eq!(
            error.to_string(),
            "/export: this export accepts only krb5, krb5p and flavor 77, and filestone calls with \
             AUTH_SYS (sys)"
        );
        assert_eq!(
            error.category(),
            filestone_host::error::ErrorCategory::Target
        );
        // NULL, MNT and UMNT: the server's mount list stays correct.
        assert_eq!(called, [0, 1, 3]);
    }

    #[test]
    fn auth_sys_among_others_any_caller_and_no_list_are_accepted() {
        for flavors in [&[390_003, 1][..], &[1], &[0], &[]] {
            let (given, _) = mounted(flavors);
            assert!(given.expect("it is mounted"), "{flavors:?}");
        }
    }
}
