//! A Linux machine under QEMU, emulated: correct, but not fast.
//!
//! The guest has address [`GUEST`] in a separate network with this program's namespace. It executes
//! jobs from a shared folder: a job is a numbered script, next to which the guest writes the output
//! and the exit status.

use crate::process::{self, Running};
use crate::tool;
use anyhow::{Context, Result, bail};
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Address of the guest.
pub const GUEST: &str = "10.77.0.2";
/// Address of this program, as seen by the guest.
pub const HOST: &str = "10.77.0.1";
/// Time limit of the start, which takes about six seconds here and longer on a busy machine.
const START_LIMIT: Duration = Duration::from_secs(180);
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Time limit of the guest to report why a script takes too long.
const DIAGNOSIS_LIMIT: Duration = Duration::from_secs(10);
/// Lists every process with its command line and the kernel functions that its threads wait in.
const WAITING: &str = "cd /proc; for process in [0-9]*; do \
    [ -n \"$(tr -d '\\0' <$process/cmdline)\" ] || continue; \
    echo \"$process $(tr '\\0' ' ' <$process/cmdline)\"; \
    for thread in $process/task/*; do cat $thread/wchan; echo; cat $thread/stack; done; \
    done 2>&1; cat /proc/locks /proc/uptime";
const INTERFACE: &str = "guest";
const APPEND: &str = "console=ttyS0 rdinit=/init quiet loglevel=4 panic=-1 mitigations=off \
    nokaslr lsm= audit=0 cryptomgr.notests nowatchdog random.trust_cpu=on net.ifnames=0";

/// The machine, stopped when this is dropped.
pub struct Guest {
    _qemu: Running,
    console: PathBuf,
    /// The shared folder, `/share` in the guest.
    pub share: PathBuf,
    jobs: AtomicU32,
    /// Kernel version that the guest reports.
    pub kernel: String,
}

/// A script that runs in the guest.
pub struct Job {
    path: PathBuf,
    script: String,
}

impl Guest {
    /// Starts the machine with this kernel and initial root file system. Must run in a separate network namespace.
    pub fn start(kernel: &Path, root: &Path, folder: &Path) -> Result<Self> {
        let share = folder.join("share");
        fs::create_dir_all(&share)?;
        let console = folder.join("console.log");
        let disk = folder.join("ext4.img");
        make_disk(&disk)?;
        network()?;
        let mut command = Command::new("qemu-system-x86_64");
        command
            .args(["-machine", "pc,usb=off,vmport=off", "-cpu", "max,la57=off"])
            .args(["-accel", "tcg,thread=multi,tb-size=256"])
            .args(["-smp", "1", "-m", "1024", "-nodefaults", "-no-user-config"])
            .args(["-display", "none", "-no-reboot", "-append", APPEND])
            .arg("-kernel")
            .arg(kernel)
            .arg("-initrd")
            .arg(root)
            .arg("-serial")
            .arg(format!("file:{}", console.display()))
            .arg("-netdev")
            .arg(format!(
                "tap,id=n0,ifname={INTERFACE},script=no,downscript=no"
            ))
            .args(["-device", "virtio-net-pci,netdev=n0,romfile="])
            .args(["-object", "rng-random,id=r0,filename=/dev/urandom"])
            .args(["-device", "virtio-rng-pci,rng=r0", "-virtfs"])
            .arg(format!(
                "local,path={},mount_tag=share,security_model=none,multidevs=remap",
                share.display()
            ))
            .arg("-drive")
            .arg(format!(
                "file={},if=virtio,format=raw,cache=unsafe",
                disk.display()
            ))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(folder.join("qemu.log"))?);
        let mut qemu = Running::start(&mut command, &[])?;
        let kernel = booted(&mut qemu, &console)?;
        let guest = Self {
            _qemu: qemu,
            console,
            share,
            jobs: AtomicU32::new(0),
            kernel,
        };
        guest.set_clock()?;
        Ok(guest)
    }

    /// Copies `file` into the guest as the program `/share/NAME`.
    pub fn bring(&self, file: &Path, name: &str) -> Result<()> {
        fs::copy(file, self.share.join(name))
            .with_context(|| format!("{} into the guest", file.display()))?;
        Ok(())
    }

    /// Starts a shell script.
    pub fn spawn(&self, script: &str) -> Result<Job> {
        let number = 1 + self.jobs.fetch_add(1, Ordering::Relaxed);
        let path = self.share.join(number.to_string());
        // Written under another name first, so that the guest does not read a partial file.
        let draft = path.with_extension("draft");
        fs::write(&draft, format!("cd /root\n{script}\n"))?;
        fs::rename(&draft, path.with_extension("job"))?;
        Ok(Job {
            path,
            script: script.to_owned(),
        })
    }

    /// Runs a shell script to its end, with the time limit `limit`. The error after it lists where
    /// each process of the guest waits.
    pub fn run(&self, script: &str, limit: Duration) -> Result<Output> {
        self.spawn(script)?.wait(limit).or_else(|error| {
            let waiting = self.spawn(WAITING)?.wait(DIAGNOSIS_LIMIT)?;
            bail!("{error:#}\n{}", String::from_utf8_lossy(&waiting.stdout))
        })
    }

    /// Runs a script that must succeed. Returns its output.
    pub fn succeed(&self, script: &str, limit: Duration) -> Result<String> {
        let output = self.run(script, limit)?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        if !output.status.success() {
            bail!(
                "in the guest, `{script}` ended with {}: {} {}",
                output.status,
                said.trim(),
                String::from_utf8_lossy(&output.stderr).trim()
            );
        }
        Ok(said)
    }

    /// Returns the last lines of its console output.
    pub fn final_output(&self) -> String {
        last_lines(&self.console)
    }

    /// Sets the guest's clock, which is up to a second late after the start.
    fn set_clock(&self) -> Result<()> {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?;
        self.succeed(
            &format!("date -s @{:.3} >/dev/null", now.as_secs_f64()),
            START_LIMIT,
        )?;
        Ok(())
    }
}

impl Job {
    /// Waits for the end of the script, with the time limit `limit`.
    pub fn wait(self, limit: Duration) -> Result<Output> {
        let start = Instant::now();
        let ended = self.path.with_extension("ended");
        while start.elapsed() < limit {
            if let Ok(status) = fs::read_to_string(&ended) {
                let code: i32 = status.trim().parse().context("an exit status")?;
                return Ok(Output {
                    status: ExitStatus::from_raw(code << 8),
                    stdout: fs::read(self.path.with_extension("out"))?,
                    stderr: fs::read(self.path.with_extension("err"))?,
                });
            }
            std::thread::sleep(LOOK_EVERY);
        }
        let said =
            |kind: &str| fs::read_to_string(self.path.with_extension(kind)).unwrap_or_default();
        bail!(
            "in the guest, `{}` did not end within {limit:?}: {}{}",
            self.script,
            said("out"),
            said("err")
        )
    }
}

/// Makes a small ext4 file system: the guest's `/ext4`.
fn make_disk(path: &Path) -> Result<()> {
    File::create(path)?.set_len(96 << 20)?;
    tool::run(Command::new("mkfs.ext4").args(["-q", "-F"]).arg(path))
}

/// Sets up the host's end of the network between host and guest.
fn network() -> Result<()> {
    let network = format!("{HOST}/24");
    let commands: [&[&str]; 3] = [
        &["tuntap", "add", "dev", INTERFACE, "mode", "tap"],
        &["addr", "add", &network, "dev", INTERFACE],
        &["link", "set", INTERFACE, "up"],
    ];
    let mut commands = commands.into_iter();
    commands.try_for_each(|arguments| tool::run(Command::new("ip").args(arguments)))
}

fn last_lines(console: &Path) -> String {
    let bytes = fs::read(console).unwrap_or_default();
    process::last_lines(&String::from_utf8_lossy(&bytes))
}

/// Waits until the guest reports that it is ready. Returns its kernel version.
fn booted(qemu: &mut Running, console: &Path) -> Result<String> {
    let start = Instant::now();
    loop {
        let bytes = fs::read(console).unwrap_or_default();
        let said = String::from_utf8_lossy(&bytes);
        let ready = said
            .lines()
            .find_map(|line| line.split_once("GUEST-READY kernel "));
        if let Some((_, version)) = ready
            && said.ends_with('\n')
        {
            return Ok(version.trim().to_owned());
        }
        if let Some(status) = qemu.ended()? {
            bail!("QEMU ended with {status}:\n{}", last_lines(console));
        }
        if start.elapsed() > START_LIMIT {
            bail!(
                "the guest is not ready after {START_LIMIT:?}:\n{}",
                last_lines(console)
            );
        }
        std::thread::sleep(LOOK_EVERY);
    }
}
