//! The built-in SMB server against Samba's client: every dialect, as a guest and as a user, plain,
//! signed and encrypted, with the same commands each time.

use crate::interop::checks::Bed;
use crate::process::{self, Running};
use crate::samba::{PASSWORD, USER};
use crate::table::lay_out;
use anyhow::{Context, Result};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const START_LIMIT: Duration = Duration::from_secs(10);
/// Time limit of one session of commands, which takes well under a second.
const TALK_LIMIT: Duration = Duration::from_secs(30);
/// Length of the file that is uploaded and downloaded: several transfers of the largest size.
const FILE_LEN: usize = 3 << 20;

/// Commands for smbclient; the server must find names regardless of case.
const CONVERSATION: &str = "mkdir talk; cd talk; put sent Sent.bin; allinfo SENT.BIN; \
    rename Sent.bin Other.bin; get other.BIN back; ls; del Other.bin; cd ..; rmdir TALK; ls files/*";

const DIALECTS: [&str; 5] = ["SMB2_02", "SMB2_10", "SMB3_00", "SMB3_02", "SMB3_11"];

/// Protections of messages as options of smbclient.
const PROTECTIONS: [(&str, &str); 3] = [
    ("plain", "--client-protection=off"),
    ("signed", "--client-protection=sign"),
    ("encrypted", "--client-protection=encrypt"),
];

/// A server with a share for guests or for the user.
struct Served {
    server: Running,
    smb_port: u16,
}

impl Served {
    fn start(bed: &Bed, options: &[&str]) -> Result<Self> {
        let (port, smb_port) = (process::free_port()?, process::free_port()?);
        let (nfs, smb) = (port.to_string(), smb_port.to_string());
        let mut command = bed.command(&["serve", "--port", &nfs, "--smb-port", &smb]);
        command
            .args(options)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut server = Running::start(&mut command, &[])?;
        server.wait_for(
            SocketAddr::from((Ipv4Addr::LOCALHOST, smb_port)),
            START_LIMIT,
        )?;
        Ok(Self { server, smb_port })
    }

    fn stop(self) -> Result<()> {
        self.server.interrupt()?;
        self.server.wait(START_LIMIT).map(drop)
    }
}

/// Connects smbclient to the server in every combination. Returns whether each result was as
/// expected.
pub fn ways(bed: &Bed) -> Result<bool> {
    let folder = bed.folder.join("own-server");
    std::fs::create_dir_all(&folder)?;
    let sent: Vec<u8> = (0..FILE_LEN).map(|at| ((at * 31) >> 3) as u8).collect();
    std::fs::write(folder.join("sent"), &sent)?;
    let password = folder.join("password");
    std::fs::write(&password, PASSWORD)?;
    std::fs::set_permissions(&password, std::fs::Permissions::from_mode(0o600))?;
    let password = password.display().to_string();
    let guests = Served::start(bed, &[])?;
    let users = Served::start(bed, &["--user", USER, "--password-file", &password])?;
    let mut rows = Vec::new();
    let mut is_good = true;
    for dialect in DIALECTS {
        for (protection, option) in PROTECTIONS {
            let encrypts = protection == "encrypted";
            let is_possible = !encrypts || dialect.starts_with("SMB3");
            let user = format!("{USER}%{PASSWORD}");
            let mut accounts = vec![("user", users.smb_port, vec!["-U", &user])];
            if protection == "plain" {
                accounts.push(("guest", guests.smb_port, vec!["-N"]));
            }
            for (account, port, login) in accounts {
                let arguments = [&["-m", dialect, option][..], &login].concat();
                let said = talk(&folder, port, &arguments, &sent)?;
                let is_as_expected = said.is_none() == is_possible;
                is_good &= is_as_expected;
                let outcome = match (said, is_possible) {
                    (None, true) => "ok".to_string(),
                    (Some(_), false) => "refused, as it should be".to_string(),
                    (None, false) => "FAILED: it was not refused".to_string(),
                    (Some(said), true) => format!("FAILED: {said}"),
                };
                rows.push(
                    [dialect, protection, account, &outcome]
                        .map(str::to_string)
                        .to_vec(),
                );
            }
        }
    }
    let head = ["dialect", "messages", "account", "smbclient"];
    println!("filestone's own server:\n{}", lay_out(&head, &rows, false));
    guests.stop()?;
    users.stop()?;
    Ok(is_good)
}

/// Runs the commands once. Returns the error, if any.
fn talk(folder: &Path, port: u16, options: &[&str], sent: &[u8]) -> Result<Option<String>> {
    let back = folder.join("back");
    let _ = std::fs::remove_file(&back);
    let port = port.to_string();
    let mut command = Command::new("smbclient");
    command
        .args(["//127.0.0.1/export", "-p", &port, "-c", CONVERSATION])
        .args(options)
        .current_dir(folder);
    let output = process::run(&mut command, &[], folder, TALK_LIMIT).context("smbclient")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    if !output.status.success() || text.contains("NT_STATUS") {
        let line = text.lines().rfind(|line| line.contains("STATUS"));
        return Ok(Some(line.unwrap_or("it failed").to_string()));
    }
    let is_back = std::fs::read(&back).is_ok_and(|bytes| bytes == sent);
    Ok((!is_back).then(|| "the file did not come back as it went".to_string()))
}
