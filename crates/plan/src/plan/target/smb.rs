//! A directory of a share on an SMB2 server, and the options of its clients.

use super::{Authority, TargetPlanError};
use crate::JsonSchema;
use crate::plan::Field;
use filestone_workload::choices;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The port of SMB over TCP (MS-SMB2, section 1.9).
pub const SMB_PORT: u16 = 445;
/// Maximum number of connections per session, as in Windows and Samba.
pub const CHANNELS_MAX: u32 = 32;

choices! {
    /// Dialects of SMB2 (MS-SMB2, section 1.7).
    pub enum SmbDialect {
        /// Windows Vista and Server 2008
        Smb202 = "2.0.2";
        /// Windows 7: leases, and transfers of more than 64 KiB
        Smb210 = "2.1";
        /// Windows 8: encryption, several connections per session
        Smb300 = "3.0";
        /// Windows 8.1
        Smb302 = "3.0.2";
        /// Windows 10: negotiate contexts and preauthentication integrity
        Smb311 = "3.1.1";
    }

    /// Setting for signing or encryption of messages.
    #[derive(Default)]
    pub enum SmbProtection {
        /// If the server requires it
        IfRequired = "if-required" | "if-asked", default;
        /// All messages that allow it; a server without support is refused
        Required = "required";
        /// Never; a server that requires it is refused
        Off = "off";
    }

    /// Oplock or lease that clients request when they open files, so that they may cache.
    #[derive(Default)]
    pub enum SmbOplock {
        /// No oplock or lease
        None = "none", default;
        /// A batch oplock
        Batch = "batch";
        /// A lease for reads, writes and handles
        Lease = "lease";
    }
}

/// A directory of a share on an SMB2 server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SmbTarget {
    /// Host name or address; `None` for the built-in server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Port; `None` for 445.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// Name of the share.
    pub share: String,
    /// Path in the share, without a slash at either end; empty for its root.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// User name for the session setup; `None` for a guest. The password is not part of the plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Domain of the user; `None` for the server's domain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// The SMB2 dialect; `None` for the highest that both sides support.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<SmbDialect>,
    /// Whether messages are signed.
    #[serde(default)]
    pub signing: SmbProtection,
    /// Whether messages are encrypted.
    #[serde(default)]
    pub encryption: SmbProtection,
    /// Whether related requests are sent as a compound.
    #[serde(default = "yes")]
    pub compounds: bool,
    /// Oplock or lease that clients request when they open files.
    #[serde(default)]
    pub oplock: SmbOplock,
    /// Whether clients request durable handles, which outlive their connections.
    #[serde(default, skip_serializing_if = "is_no")]
    pub durable: bool,
    /// Number of connections of each client. They are channels of its session.
    #[serde(default = "one")]
    pub connections_per_client: u32,
}

const fn yes() -> bool {
    true
}

const fn is_no(is: &bool) -> bool {
    !*is
}

const fn one() -> u32 {
    1
}

impl SmbTarget {
    /// The root of a share, as a guest, with default options.
    pub fn new(host: &str, share: &str) -> Self {
        Self {
            host: Some(host.into()),
            port: None,
            share: share.into(),
            path: String::new(),
            user: None,
            domain: None,
            dialect: None,
            signing: SmbProtection::default(),
            encryption: SmbProtection::default(),
            compounds: true,
            oplock: SmbOplock::default(),
            durable: false,
            connections_per_client: 1,
        }
    }

    /// A path in the share of the built-in server.
    pub fn built_in(path: &str) -> Self {
        Self {
            host: None,
            path: path.into(),
            ..Self::new("", "export")
        }
    }

    /// Returns the server name for requests and messages.
    pub fn host_name(&self) -> &str {
        self.host.as_deref().unwrap_or("localhost")
    }

    /// Returns the port to connect to.
    pub fn port(&self) -> u16 {
        self.port.unwrap_or(SMB_PORT)
    }

    /// Whether both are the same share of the same server.
    pub fn is_same_share(&self, other: &Self) -> bool {
        // Names of hosts and shares are case-insensitive (MS-SMB2, section 3.3.5.7).
        self.host_name().eq_ignore_ascii_case(other.host_name())
            && self.host.is_some() == other.host.is_some()
            && self.port() == other.port()
            && self.share.eq_ignore_ascii_case(&other.share)
    }
}

impl SmbTarget {
    /// Returns an error for the first rule that the target breaks.
    pub(super) fn check(&self) -> Result<(), TargetPlanError> {
        let is_name = |name: &str| !name.is_empty() && !name.contains(['/', '\\', '\0']);
        let is_part = |part: &str| is_name(part) && part != "." && part != "..";
        let is_path = self.path.is_empty() || self.path.split('/').all(is_part);
        if self.host.as_ref().is_some_and(String::is_empty) || !is_name(&self.share) || !is_path {
            return Err(TargetPlanError::Place(self.to_string()));
        }
        if !(1..=CHANNELS_MAX).contains(&self.connections_per_client) {
            return Err(TargetPlanError::ConnectionsPerClient(
                self.connections_per_client,
            ));
        }
        let has_channels = self.connections_per_client > 1;
        self.needs(
            has_channels,
            Field::ConnectionsPerClient,
            SmbDialect::Smb300,
        )?;
        if self.durable && self.oplock == SmbOplock::None {
            return Err(TargetPlanError::DurableWithoutOplock);
        }
        let encrypts = self.encryption == SmbProtection::Required;
        let leases = self.oplock == SmbOplock::Lease;
        self.needs(encrypts, Field::Encryption, SmbDialect::Smb300)?;
        self.needs(leases, Field::Oplock, SmbDialect::Smb210)
    }

    fn needs(&self, wanted: bool, field: Field, since: SmbDialect) -> Result<(), TargetPlanError> {
        match self.dialect {
            Some(dialect) if wanted && dialect < since => Err(TargetPlanError::Dialect {
                field,
                dialect: dialect.name(),
                since: since.name(),
            }),
            _ => Ok(()),
        }
    }
}

/// Writes a part of the URL, with percent encoding of bytes that would end it or are not allowed in
/// it.
fn escaped(part: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for c in part.chars() {
        match c {
            '%' | ';' | '@' | ':' | '?' | '#' | '/' => write!(f, "%{:02X}", u32::from(c))?,
            c => write!(f, "{c}")?,
        }
    }
    Ok(())
}

/// `smb://[domain;user@]host[:port]/share/path`.
impl fmt::Display for SmbTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.is_none() {
            write!(f, "the built-in server's \\{}", self.share)?;
            let path = self.path.replace('/', "\\");
            return if path.is_empty() {
                Ok(())
            } else {
                write!(f, "\\{path}")
            };
        }
        f.write_str("smb://")?;
        if let Some(user) = &self.user {
            if let Some(domain) = &self.domain {
                escaped(domain, f)?;
                f.write_str(";")?;
            }
            escaped(user, f)?;
            f.write_str("@")?;
        }
        write!(f, "{}/", Authority(self.host_name(), self.port))?;
        escaped(&self.share, f)?;
        let parts = self.path.split('/').filter(|_| !self.path.is_empty());
        parts.into_iter().try_for_each(|part| {
            f.write_str("/")?;
            escaped(part, f)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_workload::choice::Choice;

    #[test]
    fn a_target_is_shown_as_its_url() {
        let mut target = SmbTarget::new("fs.example", "bench");
        assert_eq!(target.to_string(), "smb://fs.example/bench");
        target.path = "a b/50%/c".into();
        target.port = Some(4450);
        target.user = Some("an;na@home".into());
        target.domain = Some("CORP".into());
        target.host = Some("fe80::1".into());
        assert_eq!(
            target.to_string(),
            "smb://CORP;an%3Bna%40home@[fe80::1]:4450/bench/a b/50%25/c"
        );
    }

    #[test]
    fn what_is_built_in_has_no_url() {
        let target = SmbTarget::built_in("files/a");
        assert_eq!(
            target.to_string(),
            "the built-in server's \\export\\files\\a"
        );
        assert!(!target.is_same_share(&SmbTarget::new("localhost", "export")));
    }

    #[test]
    fn what_a_plan_leaves_out_is_the_usual() {
        let plan = r#"{"host": "fs", "share": "bench"}"#;
        let read: SmbTarget = serde_json::from_str(plan).expect("a target");
        assert_eq!(read, SmbTarget::new("fs", "bench"));
        let written = serde_json::to_string(&read).expect("JSON");
        assert_eq!(serde_json::from_str::<SmbTarget>(&written).ok(), Some(read));
    }

    #[test]
    fn choices_are_found_by_the_names_that_plans_have() {
        for dialect in SmbDialect::ALL {
            assert_eq!(SmbDialect::from_name(dialect.name()), Some(*dialect));
            let json = serde_json::to_string(dialect).expect("JSON");
            assert_eq!(json, format!("\"{}\"", dialect.name()));
        }
        assert_eq!(SmbProtection::from_name("on"), None);
        let former = SmbProtection::from_name("if-asked");
        assert_eq!(former, Some(SmbProtection::IfRequired));
        let former = serde_json::from_str(r#""if-asked""#);
        assert_eq!(former.ok(), Some(SmbProtection::IfRequired));
    }

    #[test]
    fn names_of_hosts_and_shares_have_no_case() {
        let one = SmbTarget::new("FS", "Bench");
        let mut other = SmbTarget::new("fs", "bench");
        other.path = "elsewhere".into();
        other.port = Some(445);
        assert!(one.is_same_share(&other));
        other.port = Some(4450);
        assert!(!one.is_same_share(&other));
    }
}
