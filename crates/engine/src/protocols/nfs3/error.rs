//! Why an NFS server is none for the run that was asked for.

use crate::error::{AreaError, ErrorCategory, RunError};
use filestone_wire::mount::{MountStatus, PATH_MAX};
use filestone_wire::nfs3::{Procedure, Status};
use filestone_wire::rpc::flavor_name;
use std::net::IpAddr;

/// Why an NFS server, or an object on it, is none for the run that was asked for.
#[derive(Debug, thiserror::Error)]
pub enum Nfs3Error {
    /// Neither the port mapper nor the NFS port knows MOUNT.
    #[error(
        "{host}: MOUNT version 3 was not found: it is not at the NFS port {nfs_port}, and {why}"
    )]
    NoMount {
        /// The server.
        host: String,
        /// Where NFS is.
        nfs_port: u16,
        /// What the port mapper said.
        why: String,
    },
    /// Neither the port mapper nor the NFS port knows NLM.
    #[error("{host}: NLM version 4 was not found: it is not at the NFS port {nfs_port}, and {why}")]
    NoLockManager {
        /// The server.
        host: IpAddr,
        /// Where NFS is.
        nfs_port: u16,
        /// What the port mapper said.
        why: String,
    },
    /// MOUNT was refused.
    #[error("{host}:{path}: the server refused MOUNT with {status}")]
    MountRefused {
        /// The server.
        host: String,
        /// The path.
        path: String,
        /// Its answer.
        status: MountStatus,
        /// What it exports, if it says so.
        exports: Vec<String>,
        /// Whether we came from a reserved port.
        reserved_port: bool,
    },
    /// The path is longer than MOUNT takes, and no parent of it can be mounted.
    #[error(
        "{host}:{path}: a path of {} bytes cannot be mounted: MOUNT takes {PATH_MAX}, and no directory above it is exported", .path.len()
    )]
    PathTooLong {
        /// The server.
        host: String,
        /// The path.
        path: String,
        /// What it exports, if it says so.
        exports: Vec<String>,
    },
    /// The export is for callers who prove who they are.
    #[error("{path}: this export accepts only {}, and filestone calls with AUTH_SYS (sys)", listed(.flavors))]
    OtherFlavors {
        /// What was mounted.
        path: String,
        /// What the server accepts instead, by the numbers of RPC.
        flavors: Vec<u32>,
    },
    /// There is a symbolic link on the way to the target, or in its place.
    #[error("{path}: is a symbolic link to {leads_to}, which an NFS server does not follow")]
    SymbolicLink {
        /// The link.
        path: String,
        /// Its text.
        leads_to: String,
    },
    /// What a MOUNT server gave or refused whose port was the port mapper's word,
    /// while that of NFS was given.
    #[error(
        "{source}; NFS was asked at port {nfs_port}, which was given, and MOUNT at port {mount_port}, which the port mapper at port {portmapper} names"
    )]
    MountElsewhere {
        /// What went wrong.
        source: Box<RunError>,
        /// Where NFS was asked.
        nfs_port: u16,
        /// Where MOUNT was asked.
        mount_port: u16,
        /// Where the port mapper was.
        portmapper: u16,
    },
    /// A procedure failed before or after the run.
    #[error("{path}: {} was answered with {status}", procedure.name().to_uppercase())]
    Answered {
        /// What it was about.
        path: String,
        /// Which procedure.
        procedure: Procedure,
        /// The answer.
        status: Status,
    },
    /// A load is replayed in a directory.
    #[error("{path}: is not a directory")]
    NotADirectory {
        /// The target's path.
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

/// Flavors of authentication by their names in exports, such as `krb5 and krb5i`.
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
