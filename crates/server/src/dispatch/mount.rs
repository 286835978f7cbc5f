//! MOUNT version 3 (RFC 1813, appendix I).
//!
//! `/` and `/export` are exported to all hosts. Any path below them can be mounted, even a file,
//! unless the server is strict: then only the exports themselves, and other paths yield
//! MNT3ERR_ACCES, as in nfs-ganesha. A path that is a symbolic link yields its target, as in
//! Linux's mountd, which resolves paths like a program on the server.

use filestone_wire::mount::{
    DirPath, ExportEntry, MntFail, MntOk, MntReply, MountEntry, MountStatus, Name, PATH_MAX,
    Procedure,
};
use filestone_wire::nfs3::Status;
use filestone_wire::rpc::{AUTH_NONE, AUTH_SYS, AcceptStatus, CallHeader, Credential};
use filestone_wire::xdr::{Encode, Reader, Writer};

use super::nfs3::borrowed;
use super::{CallRejection, Service, with_arguments};

/// Exports that EXPORT lists.
const EXPORTS: [&[u8]; 2] = [b"/", b"/export"];

/// Number of mounts that DUMP lists. The list is informational; the limit protects the memory from
/// clients that mount ever more.
const MOUNTS_MAX: usize = 1024;

/// Mounts by host and path, if the client sent them.
#[derive(Debug, Default)]
pub struct MountList(Vec<(Vec<u8>, Vec<u8>)>);

impl MountList {
    fn add(&mut self, host: &[u8], path: &[u8]) {
        let is_known = self.0.iter().any(|(h, p)| h == host && p == path);
        if !is_known && self.0.len() < MOUNTS_MAX {
            self.0.push((host.to_vec(), path.to_vec()));
        }
    }

    fn remove(&mut self, host: &[u8], path: Option<&[u8]>) {
        self.0
            .retain(|(h, p)| h != host || path.is_some_and(|path| p != path));
    }
}

impl Service {
    pub(super) fn mount(
        &self,
        header: &CallHeader<'_>,
        arguments: Reader<'_>,
        out: &mut Writer<'_>,
    ) -> Result<(), CallRejection> {
        let procedure = Procedure::from_number(header.procedure)
            .ok_or(CallRejection::Accepted(AcceptStatus::ProcUnavail))?;
        let host = host(header);
        match procedure {
            Procedure::Null => with_arguments(arguments, out, |(), _| {}),
            Procedure::Mnt => with_arguments(arguments, out, |path: DirPath<'_>, out| {
                self.mnt(host, path.0, out);
            }),
            Procedure::Dump => with_arguments(arguments, out, |(), out| self.dump(out)),
            Procedure::Umnt => with_arguments(arguments, out, |path: DirPath<'_>, _| {
                self.mounts().remove(host, Some(path.0));
            }),
            Procedure::UmntAll => {
                with_arguments(arguments, out, |(), _| self.mounts().remove(host, None))
            }
            Procedure::Export => with_arguments(arguments, out, |(), out| {
                let exports = EXPORTS.map(|path| ExportEntry {
                    directory: DirPath(path),
                    groups: Vec::new(),
                });
                exports.to_vec().encode(out);
            }),
        }
        .map_err(CallRejection::from)
    }

    fn mnt(&self, host: &[u8], path: &[u8], out: &mut Writer<'_>) {
        let tree = self.tree();
        let found = if path.first() == Some(&b'/') && path.len() <= PATH_MAX {
            tree.walk_to_object(path).map_err(mount_status)
        } else {
            Err(MountStatus::NOENT)
        };
        match found {
            Ok(_) if self.conduct.strict_mount && !is_export(path) => {
                MntFail {
                    status: MountStatus::ACCES,
                }
                .encode(out);
            }
            Ok(number) => {
                let handle = tree.handle(number);
                let reply: MntReply<'_> = Ok(MntOk {
                    fhandle: borrowed(&handle),
                    auth_flavors: vec![AUTH_SYS, AUTH_NONE],
                });
                reply.encode(out);
                self.mounts().add(host, path);
            }
            Err(status) => MntFail { status }.encode(out),
        }
    }

    fn dump(&self, out: &mut Writer<'_>) {
        let mounts = self.mounts();
        let entry = |(host, path): &(Vec<u8>, Vec<u8>)| {
            let (hostname, directory) = (Name(host), DirPath(path));
            out.bool(true);
            MountEntry {
                hostname,
                directory,
            }
            .encode(out);
        };
        mounts.0.iter().for_each(entry);
        out.bool(false);
    }
}

/// Returns the host name that the client sent; a call without AUTH_SYS has none.
fn host<'c>(header: &CallHeader<'c>) -> &'c [u8] {
    match &header.credential {
        Credential::Sys(sys) => sys.machine_name,
        Credential::None | Credential::Other(_) => b"unknown",
    }
}

fn is_export(path: &[u8]) -> bool {
    let end = path
        .iter()
        .rposition(|&byte| byte != b'/')
        .map_or(1, |last| last + 1);
    EXPORTS.contains(&path.get(..end).unwrap_or_default())
}

fn mount_status(status: Status) -> MountStatus {
    match status {
        Status::NOTDIR => MountStatus::NOTDIR,
        Status::NAMETOOLONG => MountStatus::NAMETOOLONG,
        Status::INVAL => MountStatus::INVAL,
        _ => MountStatus::NOENT,
    }
}
