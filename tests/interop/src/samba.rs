//! Temporary Samba servers: each has its configuration, accounts, state and shares in a folder,
//! separate from those of the system.

use crate::process::{self, Running};
use crate::times::Times;
use crate::tool;
use anyhow::{Context, Result, bail};
use std::fs::File;
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Programs, and the Debian packages that contain them.
pub const NEEDED: &[(&str, &str)] = &[
    ("/usr/sbin/smbd", "samba"),
    ("/usr/bin/smbclient", "smbclient"),
];
/// User of every server here; mapped to root of this system in the shares.
pub const USER: &str = "bench";
/// System account of the user.
pub const USER_ACCOUNT: &str = "root";
/// System account of a guest.
pub const GUEST_ACCOUNT: &str = "nobody";
/// The user's password.
pub const PASSWORD: &str = "netbench-1995";
/// A known user whose account is disabled.
const DISABLED_USER: &str = "retired";
/// Share for guests.
pub const GUEST_SHARE: &str = "guest";
/// Share for the user only, with the same files.
pub const USER_SHARE: &str = "users";
/// Mapping of system accounts to Samba's, which requires one for every user.
const MAP: &[(&str, &str)] = &[(USER_ACCOUNT, USER), ("daemon", DISABLED_USER)];
/// File with the accounts and their password hashes.
const ACCOUNTS: &str = "private/smbpasswd";
/// Folders that a configuration needs.
const FOLDERS: &[&str] = &[
    "private", "lock", "state", "cache", "pid", "ncalrpc", "share", "spool",
];
/// Time limit of the start, which takes half a second and longer on a busy machine.
const START_LIMIT: Duration = Duration::from_secs(30);
const STOP_LIMIT: Duration = Duration::from_secs(10);
const STATUS_LIMIT: Duration = Duration::from_secs(10);

/// A configuration parameter and its value.
pub type Setting<'a> = (&'a str, &'a str);

/// A server, stopped with its children when this is dropped.
pub struct Samba {
    server: Running,
    /// Path of its configuration.
    pub configuration: PathBuf,
    /// Port on the loopback interface.
    pub port: u16,
    folder: PathBuf,
}

impl Samba {
    /// Makes `folder` and starts a server in it; `settings` are added to the section of all shares.
    pub fn start(folder: &Path, port: u16, settings: &[Setting]) -> Result<Self> {
        Self::start_beside(None, folder, port, settings)
    }

    /// Starts a server with the accounts of another one: making accounts takes longer than the
    /// rest.
    pub fn start_beside(
        other: Option<&Self>,
        folder: &Path,
        port: u16,
        settings: &[Setting],
    ) -> Result<Self> {
        for name in FOLDERS {
            std::fs::create_dir_all(folder.join(name))?;
        }
        let path = folder.join("smb.conf");
        std::fs::write(&path, configuration(folder, port, settings))?;
        let map = MAP
            .iter()
            .map(|(account, name)| format!("{account} = {name}\n"));
        std::fs::write(folder.join("users"), map.collect::<String>())?;
        match other {
            Some(other) => {
                let of = |folder: &Path| folder.join(ACCOUNTS);
                std::fs::copy(of(&other.folder), of(folder))?;
            }
            None => make_accounts(&path)?,
        }
        let mut password = File::options()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(folder.join("password"))?;
        writeln!(password, "{PASSWORD}")?;
        let mut command = Command::new("/usr/sbin/smbd");
        command
            .args(["--foreground", "--no-process-group", "--configfile"])
            .arg(&path)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(folder.join("stderr"))?);
        Ok(Self {
            server: Running::start_group(&mut command)?,
            configuration: path,
            port,
            folder: folder.to_owned(),
        })
    }

    /// Waits until it accepts connections.
    pub fn wait(&mut self) -> Result<()> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        let is_up = self.server.wait_for(address, START_LIMIT);
        is_up.with_context(|| format!("smbd did not come up:\n{}", self.final_output()))
    }

    /// Returns the directory of its shares.
    pub fn directory(&self) -> PathBuf {
        self.folder.join("share")
    }

    /// Returns the file that contains only the password.
    pub fn password_file(&self) -> PathBuf {
        self.folder.join("password")
    }

    /// Returns the last lines of its log.
    pub fn final_output(&self) -> String {
        let read = |name| std::fs::read_to_string(self.folder.join(name)).unwrap_or_default();
        process::last_lines(&(read("stderr") + &read("log.smbd")))
    }

    /// Returns the sessions and open files of the server.
    pub fn status(&self, folder: &Path) -> Result<Status> {
        let mut command = Command::new("smbstatus");
        command.arg("-s").arg(&self.configuration).arg("--json");
        let output = process::run(&mut command, &[], folder, STATUS_LIMIT)?;
        serde_json::from_slice(&output.stdout)
            .map(Status)
            .context("smbstatus printed no JSON")
    }

    /// Returns the CPU time of its processes.
    pub fn times(&self) -> Times {
        Times::of_group(self.server.id())
    }

    /// Stops it like an administrator; fails if any of its processes remains.
    pub fn stop(mut self) -> Result<()> {
        let start = Instant::now();
        self.server.signal_group(rustix::process::Signal::TERM)?;
        while self.server.group_is_there() {
            if start.elapsed() > STOP_LIMIT {
                bail!("smbd is still there {STOP_LIMIT:?} after it was told to end");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }
}

/// Output of `smbstatus --json`.
pub struct Status(serde_json::Value);

impl Status {
    /// Returns the current sessions.
    pub fn sessions(&self) -> impl Iterator<Item = Session> {
        let sessions = self.0["sessions"].as_object();
        sessions.into_iter().flatten().map(|(_, session)| {
            let text = |pointer| session.pointer(pointer).and_then(|value| value.as_str());
            let word = |pointer| text(pointer).unwrap_or_default().to_owned();
            Session {
                user: word("/username"),
                dialect: word("/session_dialect"),
                cipher: word("/encryption/cipher"),
                signature: word("/signing/cipher"),
                is_all_signed: word("/signing/degree") == "full",
            }
        })
    }

    /// Returns the number of connected shares.
    pub fn trees(&self) -> usize {
        self.count("tcons")
    }

    fn count(&self, name: &str) -> usize {
        self.0[name].as_object().map_or(0, serde_json::Map::len)
    }
}

/// A session as seen by the server; `-` marks an unused protection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// System account.
    pub user: String,
    /// Dialect as in smbclient's `-m`.
    pub dialect: String,
    /// Cipher, by its name in the standard.
    pub cipher: String,
    /// Signing algorithm, by its name in the standard.
    pub signature: String,
    /// Whether every message is signed, not only those that must be.
    pub is_all_signed: bool,
}

impl Session {
    /// Returns the session in one line of text.
    pub fn text(&self) -> String {
        format!("{} as {}, {}", self.dialect, self.user, self.protection())
    }

    /// Returns the protection of its messages against reading or changing.
    pub fn protection(&self) -> String {
        let all = if self.is_all_signed { "all" } else { "some" };
        let signed = match self.signature.as_str() {
            "-" => "unsigned".to_owned(),
            signature => format!("{all} signed with {signature}"),
        };
        let encrypted = match self.cipher.as_str() {
            "-" => String::new(),
            cipher => format!(", encrypted with {cipher}"),
        };
        signed + &encrypted
    }
}

/// Returns the version of the installed server.
pub fn version() -> String {
    let text = tool::text(Command::new("/usr/sbin/smbd").arg("--version")).unwrap_or_default();
    text.trim().trim_start_matches("Version ").to_owned()
}

fn make_accounts(configuration: &Path) -> Result<()> {
    for (account, _) in MAP {
        smbpasswd(configuration, &["-a", "-s", account])?;
    }
    smbpasswd(configuration, &["-d", "daemon"])
}

/// Changes the accounts of this configuration only.
fn smbpasswd(configuration: &Path, arguments: &[&str]) -> Result<()> {
    let mut child = Command::new("smbpasswd")
        .arg("-c")
        .arg(configuration)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .context("smbpasswd did not start")?;
    let mut stdin = child.stdin.take().context("smbpasswd has no input")?;
    // Not every command reads a password: it may have closed its input, which is not an error.
    let _ = write!(stdin, "{PASSWORD}\n{PASSWORD}\n");
    drop(stdin);
    let output = child.wait_with_output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("smbpasswd {}: {}", arguments.join(" "), said.trim());
    }
    Ok(())
}

fn configuration(folder: &Path, port: u16, settings: &[Setting]) -> String {
    let settings = settings.iter();
    let settings = settings.map(|(name, value)| format!("  {name} = {value}\n"));
    include_str!("smb.conf")
        .replace("{folder}", &folder.display().to_string())
        .replace("{port}", &port.to_string())
        .replace("{settings}", &settings.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_has_nothing_of_the_systems() {
        let text = configuration(
            Path::new("/scratch"),
            4450,
            &[("server signing", "mandatory")],
        );
        assert!(text.contains("  smb ports = 4450\n"));
        let global = text.split("[guest]").next().expect("the first section");
        assert!(global.contains("  server signing = mandatory\n"));
        assert!(!text.contains(" = {"), "{text}");
        for line in text.lines().filter(|line| line.contains('/')) {
            assert!(
                line.contains("/scratch/") || line.ends_with("/dev/null"),
                "{line}"
            );
        }
    }

    #[test]
    fn sessions_are_read_from_smbstatus() {
        let status = Status(serde_json::json!({
            "sessions": { "536673716": {
                "session_id": "536673716", "username": "root", "session_dialect": "SMB3_11",
                "encryption": { "cipher": "AES-128-GCM", "degree": "partial" },
                "signing": { "cipher": "AES-128-GMAC", "degree": "full" } } },
            "open_files": {}
        }));
        let session = status.sessions().next().expect("one");
        assert_eq!(
            session.text(),
            "SMB3_11 as root, all signed with AES-128-GMAC, encrypted with AES-128-GCM"
        );
        assert_eq!(status.trees(), 0);
    }
}
