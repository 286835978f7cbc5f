//! Examines a directory of this host and the file system mounted there, without writing.

use super::mix::mounted;
use super::tree;
use filestone_host::error::RunError;
use filestone_measure::doctor::facts::{
    FileMedium, FileSystemFacts, RightsFacts, SpaceFacts, TargetFacts,
};
use filestone_plan::plan::LocalTarget;
use filestone_setup::workspace::Purpose;
use rustix::fs::Access;
use std::path::{Path, PathBuf};

/// Types of file systems in memory.
const OF_MEMORY: [&str; 2] = ["tmpfs", "ramfs"];
/// Types of file systems on another host.
const OF_NETWORK: [&str; 10] = [
    "nfs", "nfs4", "cifs", "smb3", "9p", "ceph", "afs", "lustre", "gfs2", "ocfs2",
];

/// Examines the directory.
pub fn examine(target: &LocalTarget, facts: &mut TargetFacts) -> Result<(), RunError> {
    let directory = target.directory.as_ref().map(PathBuf::from);
    let directory = directory.unwrap_or_else(std::env::temp_dir);
    // Opened as in a replay, to return the same errors.
    let opened = tree::open(&directory, Purpose::Replay)?;
    drop(opened);
    let path = std::fs::canonicalize(&directory).unwrap_or(directory);
    facts.rights = Some(rights(&path));
    facts.space = space(&path);
    facts.file_system = file_system(&path);
    Ok(())
}

fn rights(path: &Path) -> RightsFacts {
    let may = |access| rustix::fs::access(path, access | Access::EXEC_OK).is_ok();
    RightsFacts {
        user: rustix::process::getuid().as_raw(),
        may_read: may(Access::READ_OK),
        may_change: may(Access::WRITE_OK),
    }
}

fn space(path: &Path) -> Option<SpaceFacts> {
    let stat = rustix::fs::statvfs(path).ok()?;
    Some(SpaceFacts {
        total_bytes: stat.f_blocks.saturating_mul(stat.f_frsize),
        available_bytes: stat.f_bavail.saturating_mul(stat.f_frsize),
        // File systems that allocate inodes dynamically report 0.
        available_files: Some(stat.f_favail).filter(|_| stat.f_files > 0),
    })
}

fn file_system(path: &Path) -> Option<FileSystemFacts> {
    let mounted = mounted::find(Path::new("/proc"), path).ok()?;
    Some(FileSystemFacts {
        medium: medium(&mounted.file_system),
        kind: mounted.file_system,
        source: Some(mounted.source),
        mount_point: mounted.mount_point,
        options: mounted.options,
    })
}

fn medium(kind: &str) -> FileMedium {
    match kind {
        _ if OF_MEMORY.contains(&kind) => FileMedium::Memory,
        _ if OF_NETWORK.contains(&kind) => FileMedium::Network,
        // `fuseblk` uses a block device, for example with NTFS, but is still served by a program.
        _ if kind.starts_with("fuse") => FileMedium::Program,
        _ => FileMedium::Storage,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_files_are_follows_from_the_type() {
        assert_eq!(medium("tmpfs"), FileMedium::Memory);
        assert_eq!(medium("nfs4"), FileMedium::Network);
        assert_eq!(medium("fuse.sshfs"), FileMedium::Program);
        assert_eq!(medium("ext4"), FileMedium::Storage);
    }

    #[test]
    fn a_directory_of_this_host_is_told_and_none_is_an_error() {
        let mut facts = TargetFacts::default();
        let directory = |path: &str| LocalTarget {
            directory: Some(path.into()),
        };
        examine(&directory("/"), &mut facts).expect("there is a root");
        assert!(facts.space.is_some_and(|space| space.total_bytes > 0));
        let file_system = facts.file_system.expect("it is mounted");
        assert_eq!(file_system.mount_point, "/");
        assert!(examine(&directory("/nothing/here"), &mut TargetFacts::default()).is_err());
    }
}
