//! Tests `filestone fleet addresses` on a host that is made for it: makes addresses of each kind,
//! uses them as sources of a fleet across a pair of links to the built-in server, and removes them
//! without a trace, also after `up` was killed.
//!
//! Everything happens in network namespaces that end with the processes in them: nothing is left
//! over, however this command ends, and the interfaces of the machine are not touched.

mod network;

use crate::interop::install;
use crate::process::{self, Folder, Running};
use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use filestone_measure::measure::RunRecord;
use network::{FAR, LINK, Network, SERVER};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Programs, and the Debian packages that contain them.
const NEEDED: &[(&str, &str)] = &[
    ("/usr/sbin/ip", "iproute2"),
    ("/usr/bin/unshare", "util-linux"),
];
/// Time limit of a command.
const COMMAND_LIMIT: Duration = Duration::from_secs(60);
/// Length of a fleet run.
const RUN_FOR: &str = "1s";
/// Port of the server.
const PORT: u16 = 20_490;

/// Options of `cargo xtask addresses`.
#[derive(Debug, Clone, Args)]
pub struct Addresses {
    /// MAC-VLANs
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(20..=900))]
    pub count: u32,
    /// The filestone to test [default: built for release]
    #[arg(long)]
    pub filestone: Option<PathBuf>,
    /// Set by this program for its own second half
    #[arg(long, hide = true)]
    pub inside: bool,
}

/// Runs all tests. Returns whether all passed.
pub fn run(options: &Addresses) -> Result<bool> {
    if options.inside {
        let filestone = options
            .filestone
            .clone()
            .context("--filestone is missing")?;
        return inside(options.count, &filestone);
    }
    if !rustix::process::geteuid().is_root() {
        bail!(
            "addresses: this user may not make network namespaces\nhelp: run `sudo -E cargo xtask addresses`, or as root in a container"
        );
    }
    install(NEEDED)?;
    let filestone = match &options.filestone {
        Some(filestone) => std::fs::canonicalize(filestone)?,
        None => process::build_filestone("release")?,
    };
    let mut command = Command::new("unshare");
    command
        .args("--net --mount --pid --fork --kill-child --mount-proc".split(' '))
        // The first process of a namespace ends all others with it.
        .args(["--", "sh", "-c", "\"$@\"; exit $?", "addresses"])
        .arg(std::env::current_exe()?)
        .args([
            "addresses",
            "--inside",
            &format!("--count={}", options.count),
        ])
        .arg("--filestone")
        .arg(filestone);
    let status = process::run_other_half(&mut command)?;
    Ok(status.success())
}

/// Runs the part inside the namespaces.
fn inside(count: u32, filestone: &Path) -> Result<bool> {
    let begun = Instant::now();
    process::raise_file_limit();
    let folder = Folder::new("addresses")?;
    let network = Network::start()?;
    let host = Host {
        filestone,
        folder: &folder.path,
        network: &network,
    };
    let _server = serve(network.on_server(filestone))?;
    let before = network.listing()?;
    println!(
        "{:<44} {:>8} {:>8} {:>8} {:>10}",
        "", "MAKING", "RUN", "REMOVING", "LEAST"
    );
    for way in ways(count) {
        host.round_trip(&way, &before)?;
    }
    let mac_vlans = Way::mac_vlans(count, "bridge");
    host.killed(&mac_vlans, &before)?;
    host.killed_and_completed(&mac_vlans, &before)?;
    host.refusals()?;
    println!("addresses: {:.1} s", begun.elapsed().as_secs_f64());
    Ok(true)
}

fn serve(mut command: Command) -> Result<Running> {
    command
        .args([
            "serve",
            "--threads",
            "1",
            "--bind",
            SERVER,
            "--bind",
            FAR,
            "--port",
        ])
        .arg(PORT.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut server = Running::start(&mut command, &[])?;
    let address = format!("{SERVER}:{PORT}").parse()?;
    server.wait_for(address, network::START_LIMIT)?;
    Ok(server)
}

/// A kind of addresses.
struct Way {
    name: String,
    /// Addresses in the form that `--source` takes.
    sources: String,
    count: u32,
    /// Arguments of `up`.
    up: Vec<String>,
    /// Route that servers need.
    route: Option<&'static str>,
    /// Whether each address has its own MAC address.
    has_macs: bool,
    /// Target URL of the server.
    target: &'static str,
}

impl Way {
    fn mac_vlans(count: u32, mode: &str) -> Self {
        let sources = network::sources(count);
        Self {
            name: format!("{count} MAC-VLANs, {mode}"),
            up: vec![
                sources.clone(),
                format!("--mac-vlans={LINK}"),
                format!("--mode={mode}"),
            ],
            sources,
            count,
            route: None,
            has_macs: true,
            target: SERVER,
        }
    }

    /// Returns the addresses for a server behind a gateway.
    fn far() -> Self {
        let near = Self::mac_vlans(20, "bridge");
        let gateway = vec![format!("--gateway={SERVER}")];
        Self {
            name: format!("{}, by way of a gateway", near.name),
            up: [near.up, gateway].concat(),
            target: FAR,
            ..near
        }
    }

    /// Returns a single address, with the MAC address of the link.
    fn passthru() -> Self {
        Self {
            has_macs: false,
            ..Self::mac_vlans(1, "passthru")
        }
    }
}

fn ways(count: u32) -> Vec<Way> {
    let route = Way {
        name: "a route to 10.8.0.0/16".into(),
        sources: "10.8.0.1-10.8.0.40".into(),
        count: 40,
        up: vec!["10.8.0.0/16".into()],
        route: Some("10.8.0.0/16"),
        has_macs: false,
        target: SERVER,
    };
    let aliases = Way {
        name: "40 aliases".into(),
        sources: "10.7.0.1-10.7.0.40".into(),
        count: 40,
        up: vec!["10.7.0.1-10.7.0.40".into(), format!("--aliases={LINK}")],
        route: Some("10.7.0.0/24"),
        has_macs: false,
        target: SERVER,
    };
    vec![
        route,
        aliases,
        Way::passthru(),
        Way::mac_vlans(20, "private"),
        Way::far(),
        Way::mac_vlans(count, "bridge"),
    ]
}

/// The host with the addresses, its network and the filestone to test.
struct Host<'n> {
    filestone: &'n Path,
    folder: &'n Path,
    network: &'n Network,
}

impl Host<'_> {
    fn filestone(&self, arguments: &[&str]) -> Result<Output> {
        let mut command = Command::new(self.filestone);
        process::run(command.args(arguments), &[], self.folder, COMMAND_LIMIT)
    }

    /// Runs a command that must succeed. Returns its standard error output.
    fn done(&self, arguments: &[&str]) -> Result<String> {
        let output = self.filestone(arguments)?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let words = arguments.join(" ");
        ensure!(
            output.status.success(),
            "filestone {words}: {}\n{said}",
            output.status
        );
        Ok(said)
    }

    fn up(&self, way: &Way) -> Result<String> {
        let mut words = vec!["fleet", "addresses", "up"];
        words.extend(way.up.iter().map(String::as_str));
        self.done(&words)
    }

    /// Removes the addresses and checks that the host is as before.
    fn down(&self, before: &str, when: &str) -> Result<()> {
        self.done(&["fleet", "addresses", "down"])?;
        let after = self.network.listing()?;
        if after != before {
            bail!("{when}: something is left\nbefore:\n{before}\nafter:\n{after}");
        }
        Ok(())
    }

    /// Makes addresses, uses them and removes them.
    fn round_trip(&self, way: &Way, before: &str) -> Result<()> {
        let begun = Instant::now();
        self.up(way)?;
        let made = begun.elapsed();
        let again = self.up(way)?;
        ensure!(
            again.contains("there already: "),
            "{}: a second time: {again}",
            way.name
        );
        self.use_and_remove(way, before, made)
    }

    fn use_and_remove(&self, way: &Way, before: &str, made: Duration) -> Result<()> {
        if let Some(route) = way.route {
            self.network.route_to_host("add", route)?;
        }
        let begun = Instant::now();
        let least = self.fleet(way)?;
        let ran = begun.elapsed();
        if way.has_macs {
            self.network.check_macs(way.count)?;
        }
        let begun = Instant::now();
        self.down(before, &way.name)?;
        if let Some(route) = way.route {
            self.network.route_to_host("del", route)?;
        }
        let seconds = |time: Duration| format!("{:.2} s", time.as_secs_f64());
        println!(
            "{:<44} {:>8} {:>8} {:>8} {:>8} kB",
            way.name,
            seconds(made),
            seconds(ran),
            seconds(begun.elapsed()),
            least / 1000
        );
        Ok(())
    }

    /// Runs a fleet with one client per address and checks that all are served. Returns the bytes
    /// of the client that moved the fewest.
    fn fleet(&self, way: &Way) -> Result<u64> {
        let readers = way.count / 2;
        let mut words = vec![
            format!("--writers={}", way.count - readers),
            format!("--source={}", way.sources),
            format!("--duration={RUN_FOR}"),
            format!("nfs://{}:{PORT}/export", way.target),
        ];
        words.extend((readers > 0).then(|| format!("--readers={readers}")));
        let fixed = [
            "fleet",
            "--rate=20ops/s",
            "--size=4K",
            "--file-size=16K",
            "--as=json",
        ];
        let words: Vec<&str> = fixed
            .into_iter()
            .chain(words.iter().map(String::as_str))
            .collect();
        let output = self.filestone(&words)?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(
            output.status.success(),
            "{}: {}\n{said}",
            way.name,
            output.status
        );
        let record: RunRecord = serde_json::from_slice(&output.stdout)?;
        // The host does not know where the routers of the path are.
        let is_near = way.target == SERVER;
        ensure!(
            record.target.local || !is_near,
            "{}: a server in a network namespace of this host is taken for another host: {:?}",
            way.name,
            record.caveats
        );
        let fleet = record.fleet.context("the record is of no fleet")?;
        let mut least = u64::MAX;
        for group in &fleet.groups {
            let wrong = group.counters.checksum_errors + group.counters.failures;
            ensure!(
                wrong == 0,
                "{}: {} failed {wrong} times",
                way.name,
                group.name
            );
            ensure!(
                group.client_bytes_min > 0,
                "{}: a client was not served",
                way.name
            );
            least = least.min(group.client_bytes_min);
        }
        Ok(least)
    }

    /// Starts `up` and kills it before it is done.
    fn kill_up(&self, way: &Way) -> Result<u32> {
        for share in [3, 5, 2, 10] {
            let mut command = Command::new(self.filestone);
            command
                .args(["fleet", "addresses", "up"])
                .args(&way.up)
                .stderr(Stdio::null());
            let mut up = Running::start(&mut command, &[])?;
            while up.ended()?.is_none() && self.network.mac_vlans()? < way.count / share {
                std::thread::sleep(Duration::from_millis(1));
            }
            // Dropping it kills it.
            drop(up);
            let there = self.network.mac_vlans()?;
            if there > 0 && there < way.count {
                return Ok(there);
            }
            self.done(&["fleet", "addresses", "down"])?;
        }
        bail!("`up` was not caught in the middle in four attempts")
    }

    fn killed(&self, way: &Way, before: &str) -> Result<()> {
        let there = self.kill_up(way)?;
        let begun = Instant::now();
        self.down(before, "after `up` was killed")?;
        println!(
            "{:<44} {:>26.2} s",
            format!("killed after {there} of them, removed"),
            begun.elapsed().as_secs_f64()
        );
        Ok(())
    }

    fn killed_and_completed(&self, way: &Way, before: &str) -> Result<()> {
        let there = self.kill_up(way)?;
        let begun = Instant::now();
        self.up(way)?;
        let way = Way {
            name: format!("killed after {there} of them, completed"),
            ..Way::mac_vlans(way.count, "bridge")
        };
        self.use_and_remove(&way, before, begun.elapsed())
    }

    /// Checks that invalid calls are refused without making anything.
    fn refusals(&self) -> Result<()> {
        let before = self.network.listing()?;
        let mac_vlans = format!("--mac-vlans={LINK}");
        let target = format!("nfs://{SERVER}:{PORT}/export");
        let missing = [
            "fleet",
            "--writers=2",
            "--source=10.6.0.1-10.6.0.2",
            target.as_str(),
        ];
        let subnet = ["fleet", "addresses", "up", "10.9.0.0/16"];
        let host = [
            "fleet",
            "addresses",
            "up",
            network::HOST,
            mac_vlans.as_str(),
        ];
        for (words, code, said) in [
            (
                &missing[..],
                4,
                "`filestone fleet addresses up 10.6.0.1-10.6.0.2`",
            ),
            (
                &subnet[..],
                2,
                "has the whole network 10.9.0.0/16 of veth0 in it",
            ),
            (&host[..], 4, "10.9.255.1 is an address of veth0 already"),
        ] {
            let output = self.filestone(words)?;
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            let is_so = output.status.code() == Some(code) && told.contains(said);
            ensure!(
                is_so,
                "filestone {}: {}: {told}",
                words.join(" "),
                output.status
            );
        }
        self.without_root()?;
        ensure!(
            self.network.listing()? == before,
            "a refusal has changed something"
        );
        Ok(())
    }

    /// Checks the error without CAP_NET_ADMIN.
    fn without_root(&self) -> Result<()> {
        let mut command = Command::new("setpriv");
        command
            .args(["--bounding-set=-net_admin", "--inh-caps=-net_admin", "--"])
            .arg(self.filestone)
            .args(["fleet", "addresses", "up", "10.8.0.0/16"]);
        let output = process::run(&mut command, &[], self.folder, COMMAND_LIMIT)?;
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        let is_so = output.status.code() == Some(4) && told.contains("CAP_NET_ADMIN");
        ensure!(is_so, "without CAP_NET_ADMIN: {}: {told}", output.status);
        Ok(())
    }
}
