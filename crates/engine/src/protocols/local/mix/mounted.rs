//! Determines the file system of a directory from `/proc/self/mountinfo` (proc(5)), or from statfs(2)
//! in a chroot(2) below a mount point, which mountinfo does not list.

use super::error::MountError;
use filestone_host::error::RunError;
use filestone_measure::measure::MountRecord;
use std::path::{Path, PathBuf};

/// A mount, as stored in records.
pub(in crate::protocols::local) type Mounted = MountRecord;

/// Whether the mount uses the kernel's NFS client.
pub(in crate::protocols::local) fn is_nfs(mounted: &Mounted) -> bool {
    matches!(mounted.file_system.as_str(), "nfs" | "nfs4")
}

/// Returns the mount of `directory`.
pub(in crate::protocols::local) fn find(
    proc_root: &Path,
    directory: &Path,
) -> Result<Mounted, RunError> {
    let file = proc_root.join("self/mountinfo");
    let text = std::fs::read_to_string(&file).map_err(|source| RunError::System {
        what: format!("read {}", file.display()),
        source,
    })?;
    in_mountinfo(&text, directory).map_or_else(|| around_root(directory), Ok)
}

/// Returns the mount that contains the root of this process, by its file system.
fn around_root(directory: &Path) -> Result<Mounted, RunError> {
    let found = rustix::fs::statfs(directory).map_err(|errno| MountError::UnknownFileSystem {
        directory: directory.display().to_string(),
        source: errno.into(),
    })?;
    Ok(Mounted {
        mount_point: "/".into(),
        file_system: file_system_name(found.f_type as u32),
        source: String::new(),
        options: Vec::new(),
    })
}

/// Returns the name of a file system with this number (linux/magic.h and the sources of the file
/// systems), or the number itself.
fn file_system_name(magic: u32) -> String {
    let name = match magic {
        0x6969 => "nfs",
        0xef53 => "ext4",
        0x5846_5342 => "xfs",
        0x9123_683e => "btrfs",
        0x2fc1_2fc1 => "zfs",
        0x0102_1994 => "tmpfs",
        0x794c_7630 => "overlay",
        0x6573_5546 => "fuse",
        0x0102_1997 => "9p",
        0xff53_4d42 | 0xfe53_4d42 => "cifs",
        0x9fa0 => "proc",
        _ => return format!("{magic:#x}"),
    };
    name.into()
}

/// Returns an error if the directory is not on NFS; the original waited forever for counters that
/// did not change.
pub(super) fn must_be_nfs(mounted: &Mounted, directory: &Path) -> Result<(), RunError> {
    if is_nfs(mounted) {
        return Ok(());
    }
    Err(MountError::NotNfs {
        directory: directory.display().to_string(),
        file_system: mounted.file_system.clone(),
        mount_point: mounted.mount_point.clone(),
    }
    .into())
}

/// Returns the last of the longest mount points above `directory`, which hides the others.
fn in_mountinfo(text: &str, directory: &Path) -> Option<Mounted> {
    let mounts = text.lines().filter_map(line);
    let around = mounts.filter(|mount| directory.starts_with(&mount.mount_point));
    around.max_by_key(|mount| PathBuf::from(&mount.mount_point).components().count())
}

/// Parses a line such as `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root
/// rw,errors=continue`: the options are followed by any number of fields, then a hyphen.
fn line(line: &str) -> Option<Mounted> {
    let (mount, file_system) = line.split_once(" - ")?;
    let mut mount = mount.split(' ').skip(4);
    let mut file_system = file_system.split(' ');
    let mount_point = unescaped(mount.next()?);
    let mut options = list(mount.next());
    let kind = file_system.next()?.to_owned();
    let source = unescaped(file_system.next().unwrap_or_default());
    // "rw" of a file system does not apply to an "ro" mount of it.
    for option in list(file_system.next()) {
        if option != "rw" && !options.contains(&option) {
            options.push(option);
        }
    }
    Some(Mounted {
        mount_point,
        file_system: kind,
        source,
        options,
    })
}

fn list(options: Option<&str>) -> Vec<String> {
    let options = options.unwrap_or_default().split(',');
    let named = options.filter(|option| !option.is_empty());
    named.map(unescaped).collect()
}

/// Decodes spaces, tabs, line ends and backslashes, which are octal numbers in the file.
fn unescaped(text: &str) -> String {
    let escapes = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n")];
    let text = escapes
        .iter()
        .fold(text.to_owned(), |text, (escape, byte)| {
            text.replace(escape, byte)
        });
    text.replace("\\134", "\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n\
90 22 0:40 / /mnt/a rw,relatime shared:5 - nfs4 server:/export/a rw,vers=4.2\n\
91 22 0:41 / /mnt/a\\040b rw - nfs server:/b rw,vers=3\n\
92 90 0:42 / /mnt/a/sub rw - tmpfs tmpfs rw\n\
93 92 0:43 / /mnt/a/sub rw master:7 propagate_from:2 - nfs server:/sub rw\n\
nonsense\n";

    fn of(directory: &str) -> Mounted {
        in_mountinfo(TEXT, Path::new(directory)).expect("everything is below /")
    }

    #[test]
    fn the_innermost_and_last_mount_is_the_one_that_counts() {
        assert_eq!(of("/mnt/a/x").source, "server:/export/a");
        assert_eq!(of("/mnt/ab").file_system, "ext4");
        assert_eq!(of("/mnt/a b/c").mount_point, "/mnt/a b");
        assert_eq!(of("/mnt/a/sub").source, "server:/sub");
        assert!(is_nfs(&of("/mnt/a")) && !is_nfs(&of("/home")));
        assert_eq!(in_mountinfo("", Path::new("/")), None);
    }

    #[test]
    fn options_are_those_of_the_mount_and_of_the_file_system() {
        assert_eq!(of("/mnt/a").options, ["rw", "relatime", "vers=4.2"]);
        let text = "22 1 8:1 / /srv ro,noatime - ext4 /dev/sda1 rw,data=ordered\n";
        let mounted = in_mountinfo(text, Path::new("/srv")).expect("it is there");
        assert_eq!(mounted.options, ["ro", "noatime", "data=ordered"]);
    }

    #[test]
    fn without_a_mount_of_the_root_the_directory_itself_says_what_it_is_on() {
        let mounted = around_root(Path::new("/proc/self")).expect("a file system");
        assert_eq!(
            (&*mounted.file_system, &*mounted.mount_point),
            ("proc", "/")
        );
        let error = around_root(Path::new("/nowhere/at/all")).expect_err("nothing is there");
        assert!(error.to_string().contains("No such file"), "{error}");
    }

    #[test]
    fn what_is_not_on_nfs_is_refused_with_what_it_is_on() {
        let error = must_be_nfs(&of("/home"), Path::new("/home")).expect_err("ext4");
        assert!(
            error
                .to_string()
                .starts_with("/home: is on ext4, mounted on /,")
        );
        assert!(
            error
                .help()
                .is_some_and(|help| help.contains("--no-feedback"))
        );
    }
}
