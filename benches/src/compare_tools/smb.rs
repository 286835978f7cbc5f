//! smbtorture and filestone against one Samba: dbench's load, and ECHO.
//!
//! smbtorture replays loads only over SMB1; filestone uses its default dialect. Both run as the
//! same user, without signing or encryption.
//!
//! The module also measures the additional cost of an encrypted READ, next to the time that the
//! cipher library needs for its bytes alone: a client that never sleeps sends both kinds of READ at
//! the same rate. In a closed loop the encrypting server is slower, and the client's additional
//! sleeps while it waits would count as cost of the cipher.

use super::dbench::{self, Figures, LOAD};
use super::{Bar, Bed, Comparison, Figure, pairs};
use crate::cipher;
use anyhow::{Result, bail};
use filestone_interop::process::{self, Folder};
use filestone_interop::record::Record;
use filestone_interop::samba::{GUEST_SHARE, PASSWORD, Samba, USER};
use filestone_interop::times::Times;
use std::fs::File;
use std::process::Command;
use std::time::Duration;

/// Programs, and the Debian packages that contain them.
pub const NEEDED: &[(&str, &str)] = &[
    ("/usr/sbin/smbd", "samba"),
    ("/usr/bin/smbtorture", "samba-testsuite"),
    ("/usr/bin/dbench", "dbench"),
];
const CLIENTS: u32 = 4;
/// Numbers of connections and of ECHOs in flight per connection for filestone, 32 in flight in
/// total. The best one is used.
const OUR_DEPTHS: &[Depth] = &[Depth::new(1, 32), Depth::new(2, 16), Depth::new(4, 8)];
/// Numbers of connections and of ECHOs in flight per connection for smbtorture.
const THEIR_DEPTHS: &[Depth] = &[
    Depth::new(1, 1),
    Depth::new(1, 8),
    Depth::new(1, 32),
    Depth::new(1, 128),
    Depth::new(4, 8),
    Depth::new(4, 32),
    Depth::new(4, 128),
];
/// The file that is read, encrypted and plain.
const READ_FILE: &str = "read";
const READ_FILE_LEN: u64 = 64 << 20;
/// Length of each trial in seconds.
const TRIAL_S: u32 = 2;

#[derive(Debug, Clone, Copy)]
struct Depth {
    connections: u32,
    requests: u32,
}

impl Depth {
    const fn new(connections: u32, requests: u32) -> Self {
        Self {
            connections,
            requests,
        }
    }
}

/// Results of one run of ECHO.
struct Echoes {
    per_s: f64,
    us_per_echo: f64,
    /// CPU time per ECHO without polling for responses, which smbtorture does not do.
    worked_us_per_echo: f64,
}

/// Results of one run of the load.
struct Load {
    figures: Figures,
    /// CPU time of the server during the run.
    server_s: f64,
}

const OF_LOAD: &[Figure<Load>] = &[
    Figure {
        name: "client.txt, 4 clients",
        unit: "MB/s",
        bar: Bar::AtLeast(1.5),
        of: |load| load.figures.mb_per_s,
    },
    Figure {
        name: "client.txt, CPU per operation",
        unit: "µs",
        bar: Bar::AtMost(0.5),
        of: |load| load.figures.us_per_line(),
    },
    // If all processors are busy, the client can only be as fast as the remaining CPU time permits.
    Figure {
        name: "client.txt, CPU of the server per operation",
        unit: "µs",
        bar: Bar::Told,
        of: |load| load.server_s * 1e6 / load.figures.lines.max(1.0),
    },
];
const OF_ECHO: &[Figure<Echoes>] = &[
    Figure {
        name: "ECHO",
        unit: "/s",
        bar: Bar::AtLeast(1.5),
        of: |echoes| echoes.per_s,
    },
    Figure {
        name: "ECHO, CPU per operation",
        unit: "µs",
        bar: Bar::AtMost(0.5),
        of: |echoes| echoes.us_per_echo,
    },
    Figure {
        name: "ECHO, CPU per operation, not looking",
        unit: "µs",
        bar: Bar::AtMost(0.5),
        of: |echoes| echoes.worked_us_per_echo,
    },
];

const OF_DECRYPTION: &[Figure<f64>] = &[Figure {
    name: "READ 64 KiB, AES-128-GCM",
    unit: "µs",
    bar: Bar::AtMost(1.3),
    of: |us| *us,
}];

/// A server and the paths of both programs.
struct Ground<'a> {
    bed: &'a Bed,
    server: Samba,
}

/// Runs the pairs of all selected figures.
pub fn compare(bed: &Bed, rounds: usize, only: Option<&str>) -> Result<Vec<Comparison>> {
    let folder = Folder::within(&bed.directory, "beside")?;
    let smb1 = [("server min protocol", "NT1")];
    let mut server = Samba::start(&folder.path, process::free_port()?, &smb1)?;
    server.wait()?;
    let ground = Ground { bed, server };
    let is_wanted = |name: &str| only.is_none_or(|only| name.contains(only));
    let mut rows = Vec::new();
    if is_wanted("client.txt") {
        let reference = || ground.their_load();
        let filestone = || ground.our_load();
        rows.extend(pairs(rounds, OF_LOAD, &reference, &filestone)?);
    }
    if is_wanted("ECHO") {
        let (their_echo, our_echo) = (Ground::their_echo, Ground::our_echo);
        let reference = ground.best_depth("smbtorture", THEIR_DEPTHS, their_echo)?;
        let filestone = ground.best_depth("filestone", OUR_DEPTHS, our_echo)?;
        let reference = || ground.their_echo(reference, ground.bed.seconds);
        let filestone = || ground.our_echo(filestone, ground.bed.seconds);
        rows.extend(pairs(rounds, OF_ECHO, &reference, &filestone)?);
    }
    if is_wanted("READ") {
        let library = || Ok(cipher::us_per_read());
        let rate = ground.rate_of_reads()?;
        let filestone = || ground.our_decryption(rate);
        rows.extend(pairs(rounds, OF_DECRYPTION, &library, &filestone)?);
    }
    ground.server.stop()?;
    Ok(rows)
}

impl Ground<'_> {
    fn smbtorture(&self) -> Command {
        let mut command = Command::new("/usr/bin/smbtorture");
        command
            .arg("-s")
            .arg(&self.server.configuration)
            .args(["-p", &self.server.port.to_string()])
            .args(["-U", &format!("{USER}%{PASSWORD}")]);
        command
    }

    fn share(&self) -> String {
        format!("//127.0.0.1/{GUEST_SHARE}")
    }

    fn filestone(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.bed.filestone);
        command
            .args(arguments)
            .arg("--password-file")
            .arg(self.server.password_file());
        command
    }

    fn target(&self) -> String {
        let port = self.server.port;
        format!("smb://{USER}@127.0.0.1:{port}/{GUEST_SHARE}")
    }

    fn their_load(&self) -> Result<Load> {
        let mut command = self.smbtorture();
        command
            .args(["-m", "NT1", "--option=clientminprotocol=NT1"])
            .arg(format!("--loadfile={LOAD}"))
            .arg(format!("--num-progs={CLIENTS}"))
            .args(["-t", &self.bed.seconds.to_string()])
            .args([&self.share(), "bench.nbench"]);
        self.load(&mut command)
    }

    fn our_load(&self) -> Result<Load> {
        // smbtorture's warm-up is a twentieth of its run time, and is part of it.
        let warm_up_ms = self.bed.seconds * 1000 / 20;
        let (clients, target) = (CLIENTS.to_string(), self.target());
        let mut command = self.filestone(&["replay", LOAD, "--layer", &target, "-c", &clients]);
        command
            .arg(format!(
                "--duration={}ms",
                self.bed.seconds * 1000 - warm_up_ms
            ))
            .arg(format!("--warm-up={warm_up_ms}ms"));
        self.load(&mut command)
    }

    fn load(&self, command: &mut Command) -> Result<Load> {
        show(command);
        let before = self.server.times();
        let figures = dbench::run(self.bed, command, CLIENTS)?;
        Ok(Load {
            figures,
            server_s: self.server.times().since(before).all_s(),
        })
    }

    /// Finds the depth with the highest rate of a program on this host.
    fn best_depth(
        &self,
        who: &str,
        depths: &[Depth],
        run: fn(&Self, Depth, u32) -> Result<Echoes>,
    ) -> Result<Depth> {
        let mut best = (0.0, depths[0]);
        for depth in depths {
            let echoes = run(self, *depth, TRIAL_S)?;
            eprintln!(
                "{who}, {} connections, {} requests each: {:.0} ECHO/s, {:.1} µs each",
                depth.connections, depth.requests, echoes.per_s, echoes.us_per_echo
            );
            if echoes.per_s > best.0 {
                best = (echoes.per_s, *depth);
            }
        }
        Ok(best.1)
    }

    fn their_echo(&self, depth: Depth, seconds: u32) -> Result<Echoes> {
        let mut command = self.smbtorture();
        command
            .arg(format!("--option=torture:nprocs={}", depth.connections))
            .arg(format!("--option=torture:qdepth={}", depth.requests))
            .arg(format!("--option=torture:timelimit={seconds}"))
            .args([&self.share(), "smb2.bench.echo"]);
        show(&command);
        let (text, times) = self.timed(&mut command)?;
        let rates = rates(&text);
        if rates.is_empty() {
            bail!("smbtorture printed no rate:\n{text}");
        }
        let per_s = rates.iter().sum::<f64>() / rates.len() as f64;
        let us_per_echo = times.all_s() * 1e6 / (per_s * f64::from(seconds));
        Ok(Echoes {
            per_s,
            us_per_echo,
            worked_us_per_echo: us_per_echo,
        })
    }

    /// Measures half of the encrypted READs per second that a closed loop reaches here.
    fn rate_of_reads(&self) -> Result<f64> {
        let record = self.our_read("required", TRIAL_S, &[])?;
        Ok(record.number("/totals/achieved_load_ops_per_s")? / 2.0)
    }

    /// Measures the additional cost of an encrypted READ for filestone: CPU time of the worker
    /// thread in microseconds, without polling for responses.
    fn our_decryption(&self, rate: f64) -> Result<f64> {
        let cost = |encryption| -> Result<f64> {
            let pace = ["--offered", &format!("{rate:.0}"), "--busy-poll"];
            let record = self.our_read(encryption, self.bed.seconds, &pace)?;
            Ok(record.number("/totals/client_cpu_ns_per_op")? / 1e3)
        };
        let plain = cost("off")?;
        Ok(cost("required")? - plain)
    }

    fn our_read(&self, encryption: &str, seconds: u32, pace: &[&str]) -> Result<Record> {
        let file = self.server.directory().join(READ_FILE);
        File::create(&file)?.set_len(READ_FILE_LEN)?;
        let target = format!("{}/{READ_FILE}", self.target());
        let duration = format!("{seconds}s");
        let mut command =
            self.filestone(&["probe", "read", &target, "--io-size", "64k", "-j", "4"]);
        command
            .args(["--duration", &duration, "--encrypt", encryption])
            .args(["--no-calibrate", "--format", "json"])
            .args(pace);
        show(&command);
        let output = process::run(&mut command, &[], &self.bed.folder.path, self.limit())?;
        std::fs::remove_file(&file)?;
        Record::read(&output)
    }

    fn our_echo(&self, depth: Depth, seconds: u32) -> Result<Echoes> {
        let (target, duration) = (self.target(), format!("{seconds}s"));
        let [clients, requests] = [depth.connections, depth.requests].map(|n| n.to_string());
        let mut command = self.filestone(&["probe", "echo", &target, "--clients", &clients]);
        command.args(["--in-flight", &requests, "--duration", &duration]);
        command.args(["--no-calibrate", "--format", "json"]);
        show(&command);
        let before = Times::of_children();
        let output = process::run(&mut command, &[], &self.bed.folder.path, self.limit())?;
        let times = Times::of_children().since(before);
        let record = Record::read(&output)?;
        Ok(Echoes {
            per_s: record.number("/totals/achieved_load_ops_per_s")?,
            us_per_echo: times.all_s() * 1e6 / record.number("/totals/ledger/ok")?,
            worked_us_per_echo: record.number("/totals/client_cpu_ns_per_op")? / 1e3,
        })
    }

    fn timed(&self, command: &mut Command) -> Result<(String, Times)> {
        let before = Times::of_children();
        let output = process::run(command, &[], &self.bed.folder.path, self.limit())?;
        let times = Times::of_children().since(before);
        // smbtorture prints intermediate results on standard error.
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text).into_owned();
        if !output.status.success() {
            bail!("smbtorture ended with {}\n{text}", output.status);
        }
        Ok((text, times))
    }

    fn limit(&self) -> Duration {
        Duration::from_secs(u64::from(self.bed.seconds) * 3 + 60)
    }
}

/// Prints a command as a shell command line.
fn show(command: &Command) {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    eprintln!("{}", words.join(" "));
}

/// Returns the ECHOs per second, for each second: `echo[num/s=47932,avslat=…]`.
fn rates(text: &str) -> Vec<f64> {
    let after = text.split("echo[num/s=").skip(1);
    after
        .filter_map(|rest| rest.split(',').next()?.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_from_smbtorture() {
        let text = "Opened 4 connections with qdepth=8 => 32 loops\nRunning for 2 seconds\n\
                    1.00 second: echo[num/s=47084,avslat=0.000693,minlat=0.000044,maxlat=0.012022]      \
                    \r2.00 second: echo[num/s=51230,avslat=0.000626,minlat=0.000043,maxlat=0.014361]\n\
                    2.00 seconds\nsuccess: echo\n";
        assert_eq!(rates(text), [47_084.0, 51_230.0]);
    }

    #[test]
    fn each_figure_of_a_pair_is_a_row() {
        let echoes = |per_s, us_per_echo| {
            Ok(Echoes {
                per_s,
                us_per_echo,
                worked_us_per_echo: us_per_echo / 2.0,
            })
        };
        let rows = pairs(3, OF_ECHO, &|| echoes(100.0, 8.0), &|| echoes(160.0, 2.0));
        let rows = rows.expect("no run fails");
        let ratios: Vec<f64> = rows.iter().map(|row| row.ratio).collect();
        assert_eq!(ratios, [1.6, 0.25, 0.25]);
    }
}
