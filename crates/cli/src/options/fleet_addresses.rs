//! The options of `filestone fleet addresses`.

use super::run_report::DocumentFormat;
use clap::{Args, Subcommand, ValueEnum};
use filestone_measure::addresses::{MacVlanMode, MacVlanNaming};
use std::net::IpAddr;

/// `filestone fleet addresses`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  filestone fleet addresses up 10.9.0.0/16            all of it is this host, by one route
  filestone fleet addresses up 10.9.0.10-10.9.1.253 --aliases eth0
  filestone fleet addresses up 10.9.0.10-10.9.1.253 --mac-vlans eth0
  filestone fleet addresses show
  filestone fleet addresses down                      takes away what it made, and nothing else

All of 127.0.0.0/8 are addresses of this host without it. Changes need root, or CAP_NET_ADMIN, and
last until `down` or a restart of this host. They carry a mark of filestone, which `down` finds them
by; `filestone help fleet#recognized-addresses` says which.")]
pub struct AddressesOptions {
    /// What to do.
    #[command(subcommand)]
    pub command: AddressesCommand,
}

/// What `filestone fleet addresses` does.
#[derive(Debug, Subcommand)]
pub enum AddressesCommand {
    /// Make addresses of this host that clients connect from
    Up(UpOptions),
    /// Remove all that `up` has made
    Down(DownOptions),
    /// Say what there is of them, and what is in their way
    Show(ShowAddressesOptions),
}

/// `filestone fleet addresses up`.
#[derive(Debug, Args)]
pub struct UpOptions {
    /// As for --source: 10.9.0.0/16, 10.9.0.10-10.9.1.253, single addresses, or a list of these with
    /// commas
    #[arg(value_name = "ADDRESSES")]
    pub addresses: String,
    /// Make them addresses of this interface, instead of a route
    #[arg(long, value_name = "INTERFACE")]
    pub aliases: Option<String>,
    /// Make an interface (MAC-VLAN) with a MAC address for each, on this one
    #[arg(long, value_name = "INTERFACE", conflicts_with = "aliases")]
    pub mac_vlans: Option<String>,
    /// Whether MAC-VLANs reach each other
    #[arg(
        long,
        value_name = "MODE",
        default_value = "bridge",
        requires = "mac_vlans"
    )]
    pub mode: Mode,
    /// What names of MAC-VLANs begin with; a number follows
    #[arg(long, value_name = "NAME", value_parser = MacVlanNaming::parse, requires = "mac_vlans")]
    pub name: Option<MacVlanNaming>,
    /// The way from MAC-VLANs to servers in other networks [default: all servers are in theirs]
    #[arg(long, value_name = "ADDRESS", requires = "mac_vlans")]
    pub gateway: Option<IpAddr>,
    /// Print the commands that would do the same, and change nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// `filestone fleet addresses down`.
#[derive(Debug, Args)]
pub struct DownOptions {
    /// Print the commands that would do the same, and change nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// `filestone fleet addresses show`.
#[derive(Debug, Args)]
pub struct ShowAddressesOptions {
    /// What to print
    #[arg(long, alias = "as", value_name = "FORMAT", default_value = "text")]
    pub format: DocumentFormat,
}

/// How MAC-VLANs are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// They reach each other
    Bridge,
    /// They do not
    Private,
    /// One alone, which takes the interface over
    Passthru,
}

impl From<Mode> for MacVlanMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Bridge => MacVlanMode::Bridge,
            Mode::Private => MacVlanMode::Private,
            Mode::Passthru => MacVlanMode::Passthru,
        }
    }
}
