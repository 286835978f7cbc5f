//! How an NFS server is found and spoken to.

use super::values::{port, within};
use clap::{Args, ValueEnum};
use filestone_model::plan::TransportKind;

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
