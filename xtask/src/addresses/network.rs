//! Two hosts on one link: this network namespace, and another one with a server.

use crate::process::Running;
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::net::Ipv4Addr;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Time limit for anything to start.
pub const START_LIMIT: Duration = Duration::from_secs(10);
/// This host's link.
pub const LINK: &str = "veth0";
/// This host's address.
pub const HOST: &str = "10.9.255.1";
/// The server's address.
pub const SERVER: &str = "10.9.255.2";
/// Another address of the server, reachable only via [`SERVER`].
pub const FAR: &str = "10.5.0.1";
/// The first address of MAC-VLANs.
const FIRST: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 1);

/// Returns a range of `count` addresses in the network of the link.
pub fn sources(count: u32) -> String {
    let last = Ipv4Addr::from(u32::from(FIRST) + count - 1);
    format!("{FIRST}-{last}")
}

/// The other host. It ends with the process that holds its namespace.
pub struct Network {
    holder: Running,
}

impl Network {
    /// Makes the other host and joins the two.
    pub fn start() -> Result<Self> {
        let mut command = Command::new("unshare");
        command
            .args(["--net", "--", "sleep", "infinity"])
            .stdin(Stdio::null());
        let network = Self {
            holder: Running::start(&mut command, &[])?,
        };
        network.wait_for_namespace()?;
        let id = network.holder.id().to_string();
        ip(&["link", "set", "lo", "up"])?;
        ip(&[
            "link", "add", LINK, "type", "veth", "peer", "name", "veth1", "netns", &id,
        ])?;
        network.ip_on_server(&["link", "set", "lo", "up"])?;
        network.ip_on_server(&["address", "add", &format!("{SERVER}/16"), "dev", "veth1"])?;
        network.ip_on_server(&["address", "add", FAR, "dev", "lo"])?;
        // The server answers ARP only for its address of this link.
        let mut strict = network.on_server("sh");
        strict.args(["-c", "echo 1 > /proc/sys/net/ipv4/conf/veth1/arp_ignore"]);
        said(strict)?;
        network.ip_on_server(&["link", "set", "veth1", "up"])?;
        // Addresses that IPv6 makes by itself appear and disappear, and would make listings differ.
        fs::write(format!("/proc/sys/net/ipv6/conf/{LINK}/disable_ipv6"), "1")?;
        ip(&["address", "add", &format!("{HOST}/16"), "dev", LINK])?;
        ip(&["link", "set", LINK, "up"])?;
        network.wait_for_link()?;
        Ok(network)
    }

    fn wait_for_namespace(&self) -> Result<()> {
        let own = fs::read_link("/proc/self/ns/net")?;
        let theirs = format!("/proc/{}/ns/net", self.holder.id());
        wait("a network namespace", || Ok(fs::read_link(&theirs)? != own))
    }

    fn wait_for_link(&self) -> Result<()> {
        wait("a carrier", || {
            Ok(said(ip_command(&["link", "show", LINK]))?.contains("LOWER_UP"))
        })
    }

    /// Returns a command that runs on the server.
    pub fn on_server(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new("nsenter");
        command
            .arg(format!("--net=/proc/{}/ns/net", self.holder.id()))
            .arg("--")
            .arg(program);
        command
    }

    fn ip_on_server(&self, arguments: &[&str]) -> Result<String> {
        let mut command = self.on_server("ip");
        command.args(arguments);
        said(command)
    }

    /// Adds or removes the server's route to addresses of this host.
    pub fn route_to_host(&self, verb: &str, network: &str) -> Result<()> {
        self.ip_on_server(&["route", verb, network, "via", HOST])?;
        Ok(())
    }

    /// Checks that the server has `count` clients in its ARP table, each with the MAC address of
    /// its MAC-VLAN.
    pub fn check_macs(&self, count: u32) -> Result<()> {
        let neighbours = self.ip_on_server(&["-4", "neigh", "show", "dev", "veth1"])?;
        for number in 0..count {
            let address = Ipv4Addr::from(u32::from(FIRST) + number);
            let [a, b, c, d] = address.octets();
            let line = format!("{address} lladdr 02:66:{a:02x}:{b:02x}:{c:02x}:{d:02x} ");
            ensure!(
                neighbours.contains(&line),
                "the server knows nobody as {line}: {neighbours}"
            );
        }
        self.ip_on_server(&["neigh", "flush", "dev", "veth1"])?;
        Ok(())
    }

    /// Returns the number of MAC-VLANs of this host.
    pub fn mac_vlans(&self) -> Result<u32> {
        let devices = fs::read_to_string("/proc/net/dev")?;
        Ok(devices
            .lines()
            .filter(|line| line.trim_start().starts_with("fsm"))
            .count() as u32)
    }

    /// Returns the output of `ip` about links, addresses, routes and rules of this host.
    pub fn listing(&self) -> Result<String> {
        let mut listing = String::new();
        for arguments in [
            &["-o", "link"][..],
            &["-o", "address"],
            &["route", "show", "table", "all"],
            &["-6", "route", "show", "table", "all"],
            &["rule"],
            &["-6", "rule"],
        ] {
            listing += &said(ip_command(arguments))?;
        }
        Ok(listing)
    }
}

fn wait(what: &str, mut is_there: impl FnMut() -> Result<bool>) -> Result<()> {
    let begun = Instant::now();
    while !is_there()? {
        if begun.elapsed() > START_LIMIT {
            bail!("{what} is not there after {START_LIMIT:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

fn ip_command(arguments: &[&str]) -> Command {
    let mut command = Command::new("ip");
    command.args(arguments);
    command
}

fn ip(arguments: &[&str]) -> Result<()> {
    said(ip_command(arguments)).map(|_| ())
}

/// Runs a command that must succeed. Returns its output.
fn said(mut command: Command) -> Result<String> {
    let output = command
        .output()
        .with_context(|| format!("{command:?} did not start"))?;
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(
        output.status.success(),
        "{command:?}: {}: {told}",
        output.status
    );
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
