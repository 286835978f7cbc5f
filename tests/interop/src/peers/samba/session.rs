//! State of a client's session as reported by the server.

use crate::peers::smb::{Account, Place, Protection, ServerProbe, Way};
use crate::process::Running;
use crate::samba::{GUEST_ACCOUNT, PASSWORD, Samba, Session, USER_ACCOUNT};
use crate::scenario::Bed;
use anyhow::{Context, Result, bail};
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Time limit for a session to appear.
const SESSION_LIMIT: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(30);
const RUN_LIMIT: Duration = Duration::from_secs(15);

/// smbclient, used to verify that a server has its configured behavior.
pub struct Smbclient<'a> {
    pub dialect: &'a str,
    /// Value of `--client-protection`.
    pub protection: &'a str,
    pub user: &'a str,
    pub share: &'a str,
}

impl Smbclient<'_> {
    /// Connects. Returns the session as seen by the server, or smbclient's output if it got none.
    pub fn connect(
        &self,
        server: &Samba,
        folder: &Path,
        is_awaited: impl Fn(&Session) -> bool,
    ) -> Result<Result<Session, String>> {
        let said = folder.join("smbclient");
        let mut command = Command::new("smbclient");
        command
            .arg("-s")
            .arg(&server.configuration)
            .args(["-p", &server.port.to_string(), "-m", self.dialect])
            .arg("--option=clientminprotocol=SMB2_02")
            .arg(format!("--client-protection={}", self.protection))
            .args(["-U", &format!("{}%{PASSWORD}", self.user)])
            .arg(format!("//127.0.0.1/{}", self.share))
            // smbclient waits for commands while this pipe is open.
            .stdin(Stdio::piped())
            .stdout(File::create(&said)?)
            .stderr(Stdio::null());
        let mut client = Running::start(&mut command, &[])?;
        let session = seen(server, folder, &mut client, is_awaited)?;
        drop(client);
        gone(server, folder)?;
        let said = || std::fs::read_to_string(&said).unwrap_or_default();
        Ok(session.ok_or_else(|| said().trim().to_owned()))
    }
}

/// Waits until two consecutive status reports of the client's session are equal and as awaited.
/// Returns the last state if it never is, and `None` if the client ends before it has a session.
///
/// A single report is not enough: smbd records the user and the connected share before it records
/// how messages are signed.
fn seen(
    server: &Samba,
    folder: &Path,
    client: &mut Running,
    is_awaited: impl Fn(&Session) -> bool,
) -> Result<Option<Session>> {
    let start = Instant::now();
    let mut before = None;
    while start.elapsed() < SESSION_LIMIT {
        let status = server.status(folder)?;
        // A session exists before its user is known. The share comes last.
        let now = status.sessions().next().filter(|_| status.trees() > 0);
        if now.as_ref().is_some_and(&is_awaited) && now == before {
            return Ok(now);
        }
        if client.ended()?.is_some() {
            return Ok(before);
        }
        before = now.or(before);
        std::thread::sleep(LOOK_EVERY);
    }
    match before {
        Some(session) => Ok(Some(session)),
        None => bail!("no session after {SESSION_LIMIT:?}"),
    }
}

/// Waits until the server has no sessions, so that the next one belongs to another client.
fn gone(server: &Samba, folder: &Path) -> Result<()> {
    let start = Instant::now();
    while server.status(folder)?.sessions().next().is_some() {
        if start.elapsed() > SESSION_LIMIT {
            bail!("a session is still there {SESSION_LIMIT:?} after its client has gone");
        }
        std::thread::sleep(LOOK_EVERY);
    }
    Ok(())
}

/// Queries a server about its sessions.
pub struct AtServer<'a> {
    pub bed: &'a Bed,
    pub server: &'a Samba,
}

impl ServerProbe for AtServer<'_> {
    fn watch(&self, way: &Way, place: &Place) -> Result<String> {
        let (bed, server) = (self.bed, self.server);
        let said = bed.folder.join("watched");
        let target = place.target(way.account, "");
        let options = way.options(&place.password_file);
        let line = format!("probe echo {target} --duration 20s --no-calibrate {options}");
        let mut command = bed.command(&line);
        command.stdout(Stdio::null()).stderr(File::create(&said)?);
        let mut run = Running::start(&mut command, &[])?;
        let session = seen(server, &bed.folder, &mut run, |session| {
            is_as_told(way, session)
        })?;
        // The run logs off when interrupted; if it has ended, there is nothing to interrupt.
        let _ = run.interrupt();
        run.wait(RUN_LIMIT)?;
        let session =
            session.with_context(|| std::fs::read_to_string(&said).unwrap_or_default())?;
        gone(server, &bed.folder).context("after ^C")?;
        let text = session.text();
        if is_as_told(way, &session) {
            Ok(text)
        } else {
            bail!("Samba sees {text}")
        }
    }
}

fn is_as_told(way: &Way, session: &Session) -> bool {
    let user = match way.account {
        Account::Guest => GUEST_ACCOUNT,
        Account::User => USER_ACCOUNT,
    };
    let is_protected = match way.protection {
        // Messages that must always be signed, such as a TREE_CONNECT of 3.1.1, may be signed.
        Protection::Unsigned => session.cipher == "-" && !session.is_all_signed,
        Protection::Signed => session.cipher == "-" && session.is_all_signed,
        Protection::Encrypted => session.cipher != "-",
    };
    is_protected && session.user == user && session.dialect == way.dialect.for_smbclient
}
