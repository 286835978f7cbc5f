//! Where operations go. What others need to know of a target is a method here, so that a new
//! protocol is a variant, a type, the arms that the compiler asks for, and nothing elsewhere.

mod smb;

pub use smb::{CHANNELS_MAX, SMB_PORT, SmbDialect, SmbOplock, SmbProtection, SmbTarget};

use super::limits::{DATAGRAM_SIZE_MAX, SIZE_MAX};
use super::{Field, IdRanges};
use filestone_workload::load::refusals::LayerKind;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How operations reach the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum TransportKind {
    /// ONC RPC with record marking.
    #[default]
    Tcp,
    /// One datagram per message, sent again when no reply comes.
    Udp,
}

/// Where the operations go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "protocol", rename_all = "lowercase")]
pub enum TargetPlan {
    /// An NFSv3 server.
    Nfs3(NfsTarget),
    /// A directory of this host, whatever file system is mounted there.
    Local(LocalTarget),
    /// A peer that answers tbench's messages.
    Tcp(TcpTarget),
    /// A share of an SMB2 server.
    Smb(SmbTarget),
    /// A target of a protocol without files, or of one that a program brings with it.
    Other(OtherTarget),
}

/// In what a target takes operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interface {
    /// Calls of a protocol, which filestone itself encodes.
    Calls,
    /// System calls of this host.
    SystemCalls,
    /// Messages that say how many bytes to answer; there are no files.
    Bytes,
}

/// Why no run can be made on a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetPlanError {
    /// No server has such a place.
    Place(String),
    /// No session has so many connections.
    ConnectionsPerClient(u32),
    /// Fewer calls are in flight than there are connections.
    IdleConnections {
        /// Calls in flight of each client.
        in_flight: u32,
        /// Its connections.
        connections: u32,
    },
    /// A client of a replay has one thing to do at a time.
    ReplayConnections(u32),
    /// A server keeps no handle of a file that others may change.
    DurableWithoutOplock,
    /// The operations of a mix leave no file open.
    DurableMix,
    /// What the dialect does not have.
    Dialect {
        /// What asks for it.
        field: Field,
        /// The dialect that is asked for.
        dialect: &'static str,
        /// The first that has it.
        since: &'static str,
    },
}

impl TargetPlan {
    /// The first rule that it breaks.
    pub(super) fn check(&self) -> Result<(), TargetPlanError> {
        self.smb().map_or(Ok(()), SmbTarget::check)
    }

    /// Connections of each client, but for those to other services.
    pub fn connections_per_client(&self) -> u32 {
        self.smb().map_or(1, |share| share.connections_per_client)
    }

    /// Whether its clients ask for handles that outlive their connections.
    pub(super) fn keeps_handles(&self) -> bool {
        self.smb().is_some_and(|share| share.durable)
    }

    /// Whether its calls say by themselves which user, group and machine they come from.
    pub(super) fn carries_identities(&self) -> bool {
        matches!(self, TargetPlan::Nfs3(_) | TargetPlan::Other(_))
    }

    /// What `--on` calls the layer.
    pub fn layer(&self) -> &str {
        match self {
            TargetPlan::Nfs3(_) => "nfs",
            TargetPlan::Local(_) => "local",
            TargetPlan::Tcp(_) => "tcp",
            TargetPlan::Smb(_) => "smb",
            TargetPlan::Other(target) => &target.name,
        }
    }

    /// In what it takes operations.
    pub fn interface(&self) -> Interface {
        match self {
            TargetPlan::Nfs3(_) | TargetPlan::Smb(_) | TargetPlan::Other(_) => Interface::Calls,
            TargetPlan::Local(_) => Interface::SystemCalls,
            TargetPlan::Tcp(_) => Interface::Bytes,
        }
    }

    /// Whether it is a directory of this host.
    pub fn is_directory(&self) -> bool {
        self.interface() == Interface::SystemCalls
    }

    /// Whether the built-in server or a temporary directory is meant.
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

    /// Whether the data of a READ are not handed over before its whole response is here.
    pub fn takes_responses_whole(&self) -> bool {
        matches!(self, TargetPlan::Smb(_))
    }

    /// Whether a connection holds operations until the server grants credits for them.
    pub fn grants_credits(&self) -> bool {
        matches!(self, TargetPlan::Smb(_))
    }

    /// Whether the clients of a load block there, so that they need threads of their own.
    pub fn blocks_loads(&self) -> bool {
        matches!(self, TargetPlan::Local(_) | TargetPlan::Tcp(_))
    }

    /// Whether its clients come from ports below 1024.
    pub fn wants_reserved_ports(&self) -> bool {
        self.nfs3().is_some_and(|target| target.reserved_port)
    }

    /// The most file data that one of its calls may move.
    pub fn size_max(&self) -> u32 {
        if self.is_udp() {
            DATAGRAM_SIZE_MAX
        } else {
            SIZE_MAX
        }
    }

    /// The same target by TCP.
    #[must_use]
    pub fn over_tcp(mut self) -> Self {
        if let Some(target) = self.nfs3_mut() {
            target.transport = TransportKind::Tcp;
        }
        self
    }

    /// Whether a file handle, or a path, that is good at one of them is good at the other:
    /// directories of one server, in the same spelling, or of this host.
    pub fn is_beside(&self, other: &Self) -> bool {
        match (self, other) {
            (TargetPlan::Nfs3(one), TargetPlan::Nfs3(other)) => {
                (&one.host, one.port) == (&other.host, other.port)
            }
            (TargetPlan::Smb(one), TargetPlan::Smb(other)) => one.is_same_share(other),
            _ => self.layer() == other.layer(),
        }
    }

    /// What decides on the operations of loads that can be replayed on it.
    pub(super) fn layer_kind(&self, nlm: bool) -> LayerKind {
        match self {
            TargetPlan::Nfs3(_) => LayerKind::Nfs3 { nlm },
            TargetPlan::Local(_) => LayerKind::Local,
            TargetPlan::Tcp(_) => LayerKind::Tcp,
            TargetPlan::Smb(_) => LayerKind::Smb,
            // No load is replayed on it, which its protocol says.
            TargetPlan::Other(_) => LayerKind::Nfs3 { nlm: false },
        }
    }

    /// The user that calls carry.
    pub fn uid(&self) -> Option<u32> {
        self.nfs3().map(|target| target.uid)
    }

    /// The group that calls carry.
    pub fn gid(&self) -> Option<u32> {
        self.nfs3().map(|target| target.gid)
    }

    /// The supplementary groups that its calls carry.
    pub fn supplementary_gids(&self) -> Option<&IdRanges> {
        self.nfs3().map(|target| &target.supplementary_gids)
    }

    /// The user that clients log on as, with a password.
    pub fn user(&self) -> Option<&str> {
        self.smb()?.user.as_deref()
    }

    /// The NFS server, if it is one.
    pub fn nfs3(&self) -> Option<&NfsTarget> {
        match self {
            TargetPlan::Nfs3(target) => Some(target),
            _ => None,
        }
    }

    /// The directory of this host, if it is one.
    pub fn local(&self) -> Option<&LocalTarget> {
        match self {
            TargetPlan::Local(target) => Some(target),
            _ => None,
        }
    }

    /// The peer for tbench's messages, if it is one.
    pub fn tcp(&self) -> Option<&TcpTarget> {
        match self {
            TargetPlan::Tcp(target) => Some(target),
            _ => None,
        }
    }

    /// The share, if it is one.
    pub fn smb(&self) -> Option<&SmbTarget> {
        match self {
            TargetPlan::Smb(target) => Some(target),
            _ => None,
        }
    }

    /// The target of another protocol, if it is one.
    pub fn other(&self) -> Option<&OtherTarget> {
        match self {
            TargetPlan::Other(target) => Some(target),
            _ => None,
        }
    }

    /// The NFS server, to be changed.
    pub fn nfs3_mut(&mut self) -> Option<&mut NfsTarget> {
        match self {
            TargetPlan::Nfs3(target) => Some(target),
            _ => None,
        }
    }
}

/// In the words of the command line; what is built in, in words of its own.
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LocalTarget {
    /// Its path; `None` for a fresh temporary directory.
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

/// A peer that answers tbench's messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct NfsTarget {
    /// Host name or address; `None` for the built-in server.
    pub host: Option<String>,
    /// Port of the NFS server; `None` asks the portmapper, then takes 2049.
    pub port: Option<u16>,
    /// Port of the MOUNT server; `None` asks the portmapper.
    pub mount_port: Option<u16>,
    /// Path of the object under test, as the server exports it.
    pub path: String,
    /// How operations travel.
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
    /// An object of the built-in server, by TCP, as root.
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

/// A target of a protocol that a program brings with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct OtherTarget {
    /// What the protocol is called, also in front of `://`.
    pub name: String,
    /// Host name or address.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Path of the object under test.
    pub path: String,
    /// How operations travel.
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

/// `host` in brackets if it is an IPv6 address.
pub fn bracketed(host: &str) -> String {
    if host.contains(':') {
        format!("[{host}]")
    } else {
        host.into()
    }
}
