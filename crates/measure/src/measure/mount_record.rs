//! The mount that a directory of this host is on.

use crate::JsonSchema;
use serde::{Deserialize, Serialize};

/// A mount of this host.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct MountRecord {
    /// File system type: `nfs`, `ext4`, …
    pub file_system: String,
    /// Mount point.
    pub mount_point: String,
    /// Source: `server:/export`, `/dev/sda1`.
    pub source: String,
    /// Mount options.
    pub options: Vec<String>,
}

impl MountRecord {
    /// Formats the mount: `nfs, server:/export on /mnt/nfs (rw,vers=3)`.
    pub fn text(&self) -> String {
        let Self {
            file_system,
            mount_point,
            source,
            options,
        } = self;
        format!(
            "{file_system}, {source} on {mount_point} ({})",
            options.join(",")
        )
    }

    /// Returns the kernel client, if the file system is that of a server or another host: `NFSv3
    /// through the kernel client`.
    pub fn kernel_client(&self) -> Option<String> {
        let version = self
            .options
            .iter()
            .find_map(|option| option.strip_prefix("vers="));
        let protocol = match (self.file_system.as_str(), version) {
            ("nfs" | "nfs4", Some(version)) => format!("NFSv{version}"),
            ("nfs", None) => "NFS".into(),
            ("nfs4", None) => "NFSv4".into(),
            ("cifs" | "smb3", Some(version)) => format!("SMB {version}"),
            ("cifs" | "smb3", None) => "SMB".into(),
            (kind @ ("9p" | "afs" | "ceph" | "glusterfs" | "lustre" | "virtiofs"), _) => {
                kind.into()
            }
            _ => return None,
        };
        Some(format!("{protocol} through the kernel client"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_of_servers_are_told_from_local_file_systems() {
        let of = |file_system: &str, options: &[&str]| {
            let mount = MountRecord {
                file_system: file_system.into(),
                mount_point: "/mnt".into(),
                source: "server:/export".into(),
                options: options.iter().map(ToString::to_string).collect(),
            };
            (mount.kernel_client(), mount.text())
        };
        let (client, text) = of("nfs", &["rw", "vers=3", "hard"]);
        assert_eq!(client.as_deref(), Some("NFSv3 through the kernel client"));
        assert_eq!(text, "nfs, server:/export on /mnt (rw,vers=3,hard)");
        let client = |kind: &str, options: &[&str]| of(kind, options).0.unwrap_or_default();
        assert_eq!(
            client("nfs4", &["vers=4.2"]),
            "NFSv4.2 through the kernel client"
        );
        assert_eq!(
            client("cifs", &["vers=3.1.1"]),
            "SMB 3.1.1 through the kernel client"
        );
        assert_eq!(client("ext4", &["rw"]), "");
    }
}
