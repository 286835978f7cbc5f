//! How an NFS server is found and spoken to.

use super::values::{port, within};
use clap::{Args, ValueEnum};
use filestone_model::plan::{SourceAddresses, TransportKind};
use std::str::FromStr;

/// How an NFS server is found and spoken to.
#[derive(Debug, Clone, Default, Args)]
pub struct NfsOptions {
    /// Port of the NFS server [default: what the port mapper says, or 2049]
    #[arg(hide_short_help = true, long, value_name = "PORT", value_parser = port)]
    pub port: Option<u16>,
    /// Port of the MOUNT server [default: what the port mapper says]
    #[arg(hide_short_help = true, long, value_name = "PORT", value_parser = port)]
    pub mount_port: Option<u16>,
    /// Connect from ports below 1024, for exports that are not "insecure"; needs privileges
    #[arg(hide_short_help = true, long)]
    pub reserved_port: bool,
    /// Connect from these addresses of this host, clients in turn: an address, a range such as
    /// 10.0.0.1-10.0.0.20, a network such as 10.0.0.0/24, or a list of these with commas [default:
    /// what the host chooses]
    #[arg(hide_short_help = true, long, value_name = "ADDRESSES", value_parser = SourceAddresses::from_str)]
    pub source: Option<SourceAddresses>,
    /// User id that calls carry [default: the effective one]
    #[arg(hide_short_help = true, long, value_name = "ID", value_parser = within::<0, { u32::MAX }>)]
    pub uid: Option<u32>,
    /// Group id that calls carry [default: the effective one]
    #[arg(hide_short_help = true, long, value_name = "ID", value_parser = within::<0, { u32::MAX }>)]
    pub gid: Option<u32>,
}

/// How operations travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Transport {
    /// ONC RPC with record marking
    Tcp,
    /// One datagram per message, sent again when no reply comes
    Udp,
}

impl From<Transport> for TransportKind {
    fn from(transport: Transport) -> Self {
        match transport {
            Transport::Tcp => TransportKind::Tcp,
            Transport::Udp => TransportKind::Udp,
        }
    }
}
