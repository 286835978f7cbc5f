//! Runs dbench, tbench and filestone, and parses their output.

use super::Bed;
use anyhow::{Result, bail};
use filestone_interop::process::{self, Folder, Running};
use filestone_interop::times::Times;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Programs, and the Debian package that contains them.
pub const NEEDED: &[(&str, &str)] = &[
    ("/usr/bin/dbench", "dbench"),
    ("/usr/bin/tbench", "dbench"),
    ("/usr/bin/tbench_srv", "dbench"),
];
/// The load file of that package.
pub const LOAD: &str = "/usr/share/dbench/client.txt";
/// tbench's port; tbench_srv has no other.
const PORT: u16 = 7003;

/// Results of one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figures {
    /// From the line `Throughput … MB/sec`.
    pub mb_per_s: f64,
    /// Lines of the load file that all clients executed, warm-up included.
    pub lines: f64,
    /// CPU time of the whole run.
    pub times: Times,
}

impl Figures {
    /// Returns the CPU time in user space per line, in nanoseconds.
    pub fn user_ns_per_line(&self) -> f64 {
        self.times.user_s * 1e9 / self.lines.max(1.0)
    }

    /// Returns the CPU time per line, in microseconds.
    pub fn us_per_line(&self) -> f64 {
        self.times.all_s() * 1e6 / self.lines.max(1.0)
    }
}

/// Starts `tbench_srv`, listening on port 7003 of all addresses.
pub fn start_peer() -> Result<Running> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, PORT));
    if std::net::TcpStream::connect_timeout(&address, Duration::from_millis(200)).is_ok() {
        bail!("port {PORT} is in use: tbench_srv cannot have it\nhelp: stop what listens there");
    }
    let mut command = Command::new("/usr/bin/tbench_srv");
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut running = Running::start(&mut command, &[])?;
    running.wait_for(address, Duration::from_secs(5))?;
    Ok(running)
}

/// Runs dbench on a separate directory.
pub fn dbench(bed: &Bed, clients: u32, options: &[&str]) -> Result<Figures> {
    let place = Folder::within(&bed.directory, "beside")?;
    let mut command = Command::new("/usr/bin/dbench");
    command.args(["-c", LOAD, "-t", &bed.seconds.to_string(), "-D"]);
    command
        .arg(&place.path)
        .args(options)
        .arg(clients.to_string());
    run(bed, &mut command, clients)
}

/// Runs tbench against [`start_peer`].
pub fn tbench(bed: &Bed, clients: u32) -> Result<Figures> {
    let mut command = Command::new("/usr/bin/tbench");
    command.args(["-c", LOAD, "-t", &bed.seconds.to_string()]);
    command.arg(clients.to_string()).arg("127.0.0.1");
    run(bed, &mut command, clients)
}

/// Runs `filestone replay` on a separate directory.
pub fn local(bed: &Bed, clients: u32, options: &[&str]) -> Result<Figures> {
    let place = Folder::within(&bed.directory, "beside")?;
    let on = format!("local:{}", place.path.display());
    run(bed, replay(bed, clients, &on).args(options), clients)
}

/// Runs `filestone replay` against [`start_peer`].
pub fn tcp(bed: &Bed, clients: u32) -> Result<Figures> {
    let on = format!("tcp:127.0.0.1:{PORT}");
    run(bed, &mut replay(bed, clients, &on), clients)
}

fn replay(bed: &Bed, clients: u32, on: &str) -> Command {
    let mut command = Command::new(&bed.filestone);
    // dbench's -t is the length of the measured window; its warm-up is a fifth of it.
    let (window, warm_up) = (bed.seconds, f64::from(bed.seconds) / 5.0);
    command
        .args(["replay", LOAD, "--layer", on])
        .args(["--clients", &clients.to_string()])
        .args(["--duration", &format!("{window}s")])
        .args(["--warm-up", &format!("{:.0}ms", warm_up * 1000.0)]);
    command
}

/// Runs a program that prints dbench's rows.
pub fn run(bed: &Bed, command: &mut Command, clients: u32) -> Result<Figures> {
    let name = command.get_program().to_string_lossy().into_owned();
    let limit = Duration::from_secs(u64::from(bed.seconds) * 3 + 120);
    let before = Times::of_children();
    let output = process::run(command, &[], &bed.folder.path, limit)?;
    let times = Times::of_children().since(before);
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{name} ended with {}\n{text}{said}", output.status);
    }
    let Some((mb_per_s, lines)) = read(&text) else {
        bail!("{name} printed no throughput:\n{text}");
    };
    Ok(Figures {
        mb_per_s,
        lines: lines * f64::from(clients),
        times,
    })
}

/// Parses the figures of the last line, and the mean number of lines in the last row.
fn read(text: &str) -> Option<(f64, f64)> {
    let last = text
        .lines()
        .find_map(|line| line.strip_prefix("Throughput "))?;
    let mb_per_s = last.split_whitespace().next()?.parse().ok()?;
    let mut rows = text
        .lines()
        .filter(|line| line.contains(" MB/sec  execute "));
    let lines = rows.next_back()?.split_whitespace().nth(1)?.parse().ok()?;
    Some((mb_per_s, lines))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_from_dbenchs_lines() {
        let text = "dbench version 4.00\n   1      4103   401.10 MB/sec  warmup   1 sec  latency 1.0 ms\n   \
                    2     91703   410.20 MB/sec  execute   5 sec  latency 0.900 ms\n   2  cleanup   0 sec\n\n \
                    Operation      Count    AvgLat    MaxLat\n\nThroughput 410.2 MB/sec  2 clients  2 procs  max_latency=1.200 ms\n";
        assert_eq!(read(text), Some((410.2, 91703.0)));
        assert_eq!(read("nothing"), None);
    }
}
