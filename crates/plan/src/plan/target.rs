//! Targets of the operations. Protocol properties that other modules need are methods here, so that
//! a new protocol needs only a variant, a type, and the match arms that the compiler demands.

mod smb;

pub use smb::{CHANNELS_MAX, SMB_PORT, SmbDialect, SmbOplock, SmbProtection, SmbTarget};

use super::limits::{DATAGRAM_SIZE_MAX, SIZE_MAX};
use super::{Field, IdRanges};
use crate::JsonSchema;
use filestone_workload::choices;
use filestone_workload::load::refusals::LayerKind;
use serde::{Deserialize, Serialize};
use std::fmt;

choices! {
    /// Transport protocol between client and server.
    #[derive(Default)]
    pub enum TransportKind {
        /// ONC RPC with record marking
        Tcp = "tcp", default;
        /// Each message is a datagram, which is sent again when no reply arrives
        Udp = "udp";
    }
}

/// The target of the operations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "protocol", rename_all = "lowercase")]
pub enum TargetPlan {
    /// An NFSv3 server.
    Nfs3(NfsTarget),
    /// A directory of this host, on any mounted file system.
    Local(LocalTarget),
    /// A peer that replies to tbench's messages.
    Tcp(TcpTarget),
    /// A share of an SMB2 server.
    Smb(SmbTarget),
    /// A target of a protocol without files, or of a protocol that the calling program defines.
    Other(OtherTarget),
}

/// Interface through which a target accepts operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interface {
    /// Calls of a protocol, which filestone itself encodes.
    Calls,
    /// System calls of this host.
    SystemCalls,
    /// Messages that contain the number of bytes of the reply, without files.
    Bytes,
}

/// Error returned when a target cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetPlanError {
    /// The path is not possible on a server.
    Place(String),
    /// The number of connections exceeds the limit of a session.
    ConnectionsPerClient(u32),
    /// There are fewer calls in flight than connections.
    IdleConnections {
        /// Calls in flight of each client.
        in_flight: u32,
        /// Connections of each client.
        connections: u32,
    },
    /// A replay has several connections per client, but each client executes one line at a time.
    ReplayConnections(u32),
    /// Durable handles need an oplock or a lease.
    DurableWithoutOplock,
    /// Durable handles with a mix, whose operations leave no file open.
    DurableMix,
    /// The dialect does not support an option.
    Dialect {
        /// The option.
        field: Field,
        /// The requested dialect.
        dialect: &'static str,
        /// The first dialect that supports it.
        since: &'static str,
    },
}

impl TargetPlan {
    /// Returns an error for the first rule that the target breaks.
    pub(super) fn check(&self) -> Result<(), TargetPlanError> {
        self.smb().map_or(Ok(()), SmbTarget::check)
    }

    /// Returns the number of connections of each client, without those to other services.
    pub fn connections_per_client(&self) -> u32 {
        self.smb().map_or(1, |share| share.connections_per_client)
    }

    /// Whether clients request durable handles, which outlive their connections.
    pub(super) fn keeps_handles(&self) -> bool {
        self.smb().is_some_and(|share| share.durable)
    }

    /// Whether calls contain user, group and machine name.
    pub(super) fn carries_identities(&self) -> bool {
        matches!(self, TargetPlan::Nfs3(_) | TargetPlan::Other(_))
    }

    /// Returns the name of the layer in `--layer`.
    pub fn layer(&self) -> &str {
        match self {
            TargetPlan::Nfs3(_) => "nfs",
            TargetPlan::Local(_) => "local",
            TargetPlan::Tcp(_) => "tcp",
            TargetPlan::Smb(_) => "smb",
            TargetPlan::Other(target) => &target.name,
        }
    }

    /// Returns the interface through which the target accepts operations.
    pub fn interface(&self) -> Interface {
        match self {
            TargetPlan::Nfs3(_) | TargetPlan::Smb(_) | TargetPlan::Other(_) => Interface::Calls,
            TargetPlan::Local(_) => Interface::SystemCalls,
            TargetPlan::Tcp(_) => Interface::Bytes,
        }
    }

    /// Whether the target is a directory of this host.
    pub fn is_directory(&self) -> bool {
        self.interface() == Interface::SystemCalls
    }

    /// Whether the target is the built-in server or a temporary directory.
    pub fn is_built_in(&self) -> bool {
        match self {
            TargetPlan::Nfs3(target) => target.host.is_none(),
            TargetPlan::Local(target) => target.directory.is_none(),
            TargetPlan::Tcp(target) => target.host.is_none(),
            TargetPlan::Smb(target) => target.host.is_none(),
            TargetPlan::Other(_) => false,
        }
    }

    /// Whether each message is a datagram.
    pub fn is_udp(&self) -> bool {
        match self {
            TargetPlan::Nfs3(target) => target.transport == TransportKind::Udp,
            TargetPlan::Other(target) => target.transport == TransportKind::Udp,
            TargetPlan::Local(_) | TargetPlan::Tcp(_) | TargetPlan::Smb(_) => false,
        }
    }

    /// Whether READ data are delivered only after the whole response has arrived.
    pub fn takes_responses_whole(&self) -> bool {
        matches!(self, TargetPlan::Smb(_))
    }

    /// Whether a connection delays operations until the server grants credits for them.
    pub fn grants_credits(&self) -> bool {
        matches!(self, TargetPlan::Smb(_))
    }

    /// Whether the clients of a load block on this target, so that they need separate threads.
    pub fn blocks_loads(&self) -> bool {
        matches!(self, TargetPlan::Local(_) | TargetPlan::Tcp(_))
    }

    /// Whether clients connect from ports below 1024.
    pub fn wants_reserved_ports(&self) -> bool {
        self.nfs3().is_some_and(|target| target.reserved_port)
    }

    /// Returns the options that are needed to reach the target again, apart from its name.
    pub fn options(&self) -> Vec<String> {
        let mut words = Vec::new();
        let Some(target) = self.nfs3() else {
            return words;
        };
        if let Some(port) = target.mount_port {
            words.extend(["--mount-port".into(), port.to_string()]);
        }
        if target.reserved_port {
            words.push("--reserved-port".into());
        }
        words
    }

    /// Returns the maximum number of bytes of file data per call.
    pub fn size_max(&self) -> u32 {
        if self.is_udp() {
            DATAGRAM_SIZE_MAX
        } else {
            SIZE_MAX
        }
    }

    /// Returns the same target over TCP.
    #[must_use]
    pub fn over_tcp(mut self) -> Self {
        if let Some(target) = self.nfs3_mut() {
            target.transport = TransportKind::Tcp;
        }
        self
    }

    /// Whether file handles and paths of one target are valid at the other: directories of one
    /// server, in the same spelling, or of this host.
    pub fn is_beside(&self, other: &Self) -> bool {
        match (self, other) {
            (TargetPlan::Nfs3(one), TargetPlan::Nfs3(other)) => {
                (&one.host, one.port) == (&other.host, other.port)
            }
            (TargetPlan::Smb(one), TargetPlan::Smb(other)) => one.is_same_share(other),
            _ => self.layer() == other.layer(),
        }
    }

    /// Returns the layer that determines which operations of loads can be replayed on the target.
    pub(super) fn layer_kind(&self, nlm: bool) -> LayerKind {
        match self {
            TargetPlan::Nfs3(_) => LayerKind::Nfs3 { nlm },
            TargetPlan::Local(_) => LayerKind::Local,
            TargetPlan::Tcp(_) => LayerKind::Tcp,
            TargetPlan::Smb(_) => LayerKind::Smb,
            // Never used: such a protocol does not replay loads.
            TargetPlan::Other(_) => LayerKind::Nfs3 { nlm: false },
        }
    }

    /// Returns the user id in the target's calls.
    pub fn uid(&self) -> Option<u32> {
        self.nfs3().map(|target| target.uid)
    }

    /// Returns the group id in the target's calls.
    pub fn gid(&self) -> Option<u32> {
        self.nfs3().map(|target| target.gid)
    }

    /// Returns the supplementary groups in the target's calls.
    pub fn supplementary_gids(&self) -> Option<&IdRanges> {
        self.nfs3().map(|target| &target.supplementary_gids)
    }

    /// Returns the user name for the session setup, which needs a password.
    pub fn user(&self) -> Option<&str> {
        self.smb()?.user.as_deref()
    }

    /// Returns the NFS server, if the target is one.
    pub fn nfs3(&self) -> Option<&NfsTarget> {
        match self {
            TargetPlan::Nfs3(target) => Some(target),
            _ => None,
        }
    }

    /// Returns the directory of this host, if the target is one.
    pub fn local(&self) -> Option<&LocalTarget> {
        match self {
            TargetPlan::Local(target) => Some(target),
            _ => None,
        }
    }

    /// Returns the peer for tbench's messages, if the target is one.
    pub fn tcp(&self) -> Option<&TcpTarget> {
        match self {
            TargetPlan::Tcp(target) => Some(target),
            _ => None,
        }
    }

    /// Returns the share, if the target is one.
    pub fn smb(&self) -> Option<&SmbTarget> {
        match self {
            TargetPlan::Smb(target) => Some(target),
            _ => None,
        }
    }

    /// Returns the target of another protocol, if it is one.
    pub fn other(&self) -> Option<&OtherTarget> {
        match self {
            TargetPlan::Other(target) => Some(target),
            _ => None,
        }
    }

    /// Returns the NFS server for modification, if the target is one.
    pub fn nfs3_mut(&mut self) -> Option<&mut NfsTarget> {
        match self {
            TargetPlan::Nfs3(target) => Some(target),
            _ => None,
        }
    }
}

/// The target in the syntax of the command line; built-in targets are described in words.
impl fmt::Display for TargetPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TargetPlan::Nfs3(target) => target.fmt(f),
            TargetPlan::Local(target) => target.fmt(f),
            TargetPlan::Tcp(target) => target.fmt(f),
            TargetPlan::Smb(target) => target.fmt(f),
            TargetPlan::Other(target) => target.fmt(f),
        }
    }
}

/// A directory of this host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LocalTarget {
    /// Path of the directory; `None` for a new temporary directory.
    pub directory: Option<String>,
}

impl fmt::Display for LocalTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.directory {
            None => f.write_str("a temporary directory"),
            Some(directory) => write!(f, "local:{directory}"),
        }
    }
}

/// A peer that replies to tbench's messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TcpTarget {
    /// Host name or address; `None` for the built-in peer.
    pub host: Option<String>,
    /// Port; `None` for tbench's 7003.
    pub port: Option<u16>,
}

impl fmt::Display for TcpTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            None => f.write_str("the built-in TCP peer"),
            Some(host) => write!(f, "tcp:{}", Authority(host, self.port)),
        }
    }
}

/// An object on an NFSv3 server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NfsTarget {
    /// Host name or address; `None` for the built-in server.
    pub host: Option<String>,
    /// Port of the NFS server; `None` queries the portmapper and falls back to 2049.
    pub port: Option<u16>,
    /// Port of the MOUNT server; `None` queries the portmapper.
    pub mount_port: Option<u16>,
    /// Path of the object under test, as the server exports it.
    pub path: String,
    /// Transport protocol.
    pub transport: TransportKind,
    /// Whether connections come from a port below 1024.
    pub reserved_port: bool,
    /// User id of AUTH_SYS.
    pub uid: u32,
    /// Group id of AUTH_SYS.
    pub gid: u32,
    /// Supplementary groups of AUTH_SYS.
    #[serde(default, skip_serializing_if = "IdRanges::is_empty")]
    pub supplementary_gids: IdRanges,
}

impl NfsTarget {
    /// An object of the built-in server, over TCP, as root.
    pub fn built_in(path: &str) -> Self {
        Self {
            host: None,
            port: None,
            mount_port: None,
            path: path.into(),
            transport: TransportKind::Tcp,
            reserved_port: false,
            uid: 0,
            gid: 0,
            supplementary_gids: IdRanges::default(),
        }
    }
}

impl fmt::Display for NfsTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            None => write!(f, "{} of the built-in server", self.path)?,
            Some(host) => write!(f, "nfs://{}{}", Authority(host, self.port), self.path)?,
        }
        match self.transport {
            TransportKind::Tcp => Ok(()),
            TransportKind::Udp => f.write_str(" over UDP"),
        }
    }
}

/// A target of a protocol that the calling program defines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OtherTarget {
    /// Name of the protocol, also its prefix in front of `://`.
    pub name: String,
    /// Host name or address.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Path of the object under test.
    pub path: String,
    /// Transport protocol.
    #[serde(default, skip_serializing_if = "is_tcp")]
    pub transport: TransportKind,
}

fn is_tcp(transport: &TransportKind) -> bool {
    *transport == TransportKind::Tcp
}

impl fmt::Display for OtherTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let authority = Authority(&self.host, Some(self.port));
        write!(f, "{}://{authority}{}", self.name, self.path)?;
        match self.transport {
            TransportKind::Tcp => Ok(()),
            TransportKind::Udp => f.write_str(" over UDP"),
        }
    }
}

/// `host:port`, with brackets around an IPv6 address.
struct Authority<'a>(&'a str, Option<u16>);

impl fmt::Display for Authority<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Authority(host, port) = self;
        f.write_str(&bracketed(host))?;
        port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

/// Returns `host`, in brackets if it is an IPv6 address.
pub fn bracketed(host: &str) -> String {
    if host.contains(':') {
        format!("[{host}]")
    } else {
        host.into()
    }
}
