//! How an NFS server is found and spoken to.

use super::values::port;
use clap::Args;
use filestone_plan::plan::{IdRanges, SourceAddresses, supplementary_gids};
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
    /// User id that calls carry; of a range such as 1000-1999, or a list with commas, clients take
    /// one each, in turn. The first prepares and cleans up; with several, all that the run makes
    /// has the permissions 0777 and 0666, with one 0700 and 0600 [default: the effective one]
    #[arg(hide_short_help = true, long, value_name = "IDS", value_parser = IdRanges::from_str)]
    pub uid: Option<IdRanges>,
    /// Group id that calls carry, or a range or a list of them [default: the effective one]
    #[arg(hide_short_help = true, long, value_name = "IDS", value_parser = IdRanges::from_str)]
    pub gid: Option<IdRanges>,
    /// Supplementary group ids that calls carry, at most 16: numbers and ranges with commas, or none
    /// [default: the first 16 of this process, none for another user than that of this process]
    #[arg(hide_short_help = true, long, value_name = "IDS", value_parser = supplementary_gids)]
    pub gids: Option<IdRanges>,
    /// Machine name that calls carry, with the number of the client, from 0 on, in the place of
    /// %d, such as client%d [default: the host's name; of a replay filestone-%d]
    #[arg(hide_short_help = true, long, value_name = "NAME")]
    pub machine_name: Option<String>,
}
