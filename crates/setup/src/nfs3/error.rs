//! Errors of an NFS server that cannot be used for the requested run.

use filestone_host::error::{AreaError, ErrorCategory, RunError};
use filestone_wire::mount::{MountStatus, PATH_MAX};
use filestone_wire::nfs3::{Procedure, Status};
use filestone_wire::rpc::flavor_name;
use std::net::IpAddr;

/// Error returned when an NFS server, or an object on it, cannot be used for the requested run.
#[derive(Debug, thiserror::Error)]
pub enum Nfs3Error {
    /// MOUNT was found neither through the port mapper nor at the NFS port.
    #[error(
        "{host}: MOUNT version 3 was not found: it is not at the NFS port {nfs_port}, and {why}"
    )]
    NoMount {
        /// Host name of the server.
        host: String,
        /// Port of NFS.
        nfs_port: u16,
        /// Error of the port mapper.
        why: String,
    },
    /// NLM was found neither through the port mapper nor at the NFS port.
    #[error("{host}: NLM version 4 was not found: it is not at the NFS port {nfs_port}, and {why}")]
    NoLockManager {
        /// Address of the server.
        host: IpAddr,
        /// Port of NFS.
        nfs_port: u16,
        /// Error of the port mapper.
        why: String,
    },
    /// MOUNT was refused.
    #[error("{host}:{path}: the server refused MOUNT with {status}")]
    MountRefused {
        /// Host name of the server.
        host: String,
        /// Path of the request.
        path: String,
        /// Status of the reply.
        status: MountStatus,
        /// Exports of the server, if it lists them.
        exports: Vec<String>,
        /// Whether the call came from a reserved port.
        reserved_port: bool,
    },
    /// The path exceeds the length limit of MOUNT, and no parent of it can be mounted.
    #[error(
        "{host}:{path}: a path of {} bytes cannot be mounted: MOUNT takes {PATH_MAX}, and no directory above it is exported", .path.len()
    )]
    PathTooLong {
        /// Host name of the server.
        host: String,
        /// Path of the target.
        path: String,
        /// Exports of the server, if it lists them.
        exports: Vec<String>,
    },
    /// The export does not accept AUTH_SYS.
    #[error("{path}: this export accepts only {}, and filestone calls with AUTH_SYS (sys)", listed(.flavors))]
    OtherFlavors {
        /// Path that was mounted.
        path: String,
        /// Authentication flavors that the server accepts, by their RPC numbers.
        flavors: Vec<u32>,
    },
    /// The target path is or contains a symbolic link.
    #[error("{path}: is a symbolic link to {leads_to}, which an NFS server does not follow")]
    SymbolicLink {
        /// Path of the link.
        path: String,
        /// Text of the link.
        leads_to: String,
    },
    /// MOUNT failed, or its handle was rejected, at a port from the port mapper, while the NFS port
    /// was given explicitly.
    #[error(
        "{source}; NFS was asked at port {nfs_port}, which was given, and MOUNT at port {mount_port}, which the port mapper at port {portmapper} names"
    )]
    MountElsewhere {
        /// The underlying error.
        source: Box<RunError>,
        /// Port used for NFS.
        nfs_port: u16,
        /// Port used for MOUNT.
        mount_port: u16,
        /// Port of the port mapper.
        portmapper: u16,
    },
    /// A procedure failed before or after the run.
    #[error("{path}: {} was answered with {status}", procedure.name().to_uppercase())]
    Answered {
        /// Path of the object.
        path: String,
        /// The procedure.
        procedure: Procedure,
        /// Status of the reply.
        status: Status,
    },
    /// The target of a replay is not a directory.
    #[error("{path}: is not a directory")]
    NotADirectory {
        /// Path of the target.
        path: String,
    },
}

impl AreaError for Nfs3Error {
    fn category(&self) -> ErrorCategory {
        match self {
            Nfs3Error::MountElsewhere { source, .. } => source.category(),
            Nfs3Error::MountRefused { .. }
            | Nfs3Error::OtherFlavors { .. }
            | Nfs3Error::NoMount { .. }
            | Nfs3Error::NoLockManager { .. }
            | Nfs3Error::Answered { .. } => ErrorCategory::Target,
            Nfs3Error::PathTooLong { .. }
            | Nfs3Error::SymbolicLink { .. }
            | Nfs3Error::NotADirectory { .. } => ErrorCategory::Usage,
        }
    }

    fn help(&self) -> Option<String> {
        let help = match self {
            Nfs3Error::NoMount { .. } => "name the port (--mount-port)",
            Nfs3Error::NoLockManager { .. } => {
                "name the port (--nlm-port), or leave --enable-nlm out"
            }
            Nfs3Error::MountRefused {
                status,
                exports,
                reserved_port,
                ..
            } => return mount_help(*status, exports, *reserved_port),
            Nfs3Error::PathTooLong { exports, .. } => return Some(exported(exports)),
            Nfs3Error::OtherFlavors { .. } => {
                "export it with sec=sys, too: filestone does not support RPCSEC_GSS"
            }
            Nfs3Error::SymbolicLink { .. } => "name the file or directory that it leads to",
            Nfs3Error::MountElsewhere { source, .. } => {
                const ELSE: &str =
                    "if the port mapper is another server's, name the port of MOUNT (--mount-port)";
                let source = source.help();
                return Some(source.map_or(ELSE.into(), |help| format!("{help}; {ELSE}")));
            }
            Nfs3Error::Answered { status, .. } => status_help(*status)?,
            Nfs3Error::NotADirectory { .. } => "a load is replayed in a directory",
        };
        Some(help.into())
    }

    fn is_unreachable(&self) -> bool {
        matches!(self, Nfs3Error::MountElsewhere { source, .. } if source.is_unreachable())
    }
}

fn status_help(status: Status) -> Option<&'static str> {
    match status {
        Status::NOENT => Some("the export was mounted, but there is nothing of that name below it"),
        Status::ACCES | Status::PERM => {
            Some("try --uid and --gid of somebody who may, or export with no_root_squash")
        }
        Status::ROFS => Some("this operation changes things; the export is read-only"),
        Status::NOSPC | Status::DQUOT => Some(
            "the server's file system or quota is full: ask for fewer or shorter files, \
             or make room",
        ),
        _ => None,
    }
}

fn exported(exports: &[String]) -> String {
    match exports {
        [] => "the server lists no exports".to_string(),
        exports => format!("the server exports {}", exports.join(", ")),
    }
}

/// Lists authentication flavors by their names in exports, such as `krb5 and krb5i`.
fn listed(flavors: &[u32]) -> String {
    let named = |flavor: &u32| match flavor_name(*flavor) {
        Some(name) => name.to_owned(),
        None => format!("flavor {flavor}"),
    };
    let names: Vec<String> = flavors.iter().map(named).collect();
    match names.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        names => names.concat(),
    }
}

fn mount_help(status: MountStatus, exports: &[String], reserved_port: bool) -> Option<String> {
    let listed = exported(exports);
    match status {
        MountStatus::ACCES | MountStatus::PERM if !reserved_port => Some(format!(
            "{listed}; this process uses an unprivileged port: export with \"insecure\", or run with --reserved-port"
        )),
        _ => Some(listed),
    }
}
