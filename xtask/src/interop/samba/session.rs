//! What a server says of the session that a client has with it.

use super::TestEnv;
use crate::interop::smb::{Account, Place, Protection, ServerProbe, Way};
use crate::process::Running;
use crate::samba::{GUEST_ACCOUNT, PASSWORD, Samba, Session, USER_ACCOUNT};
use anyhow::{Context, Result, bail};
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long a session may take to be there.
const SESSION_LIMIT: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(30);
const RUN_LIMIT: Duration = Duration::from_secs(15);

/// smbclient, to see that a server does what it was configured for.
pub struct Smbclient {
    pub dialect: &'static str,
    pub protection: Protection,
    pub user: &'static str,
    pub share: &'static str,
}

impl Smbclient {
    /// Its session, as the server sees it; or what it said when it got none.
    pub fn connect(
        &self,
        server: &Samba,
        folder: &Path,
        is_awaited: impl Fn(&Session) -> bool,
    ) -> Result<Result<Session, String>> {
        let protection = match self.protection {
            Protection::Unsigned => "off",
            Protection::Signed => "sign",
            Protection::Encrypted => "encrypt",
        };
        let said = folder.join("smbclient");
        let mut command = Command::new("smbclient");
        command
            .arg("-s")
            .arg(&server.configuration)
            .args(["-p", &server.port.to_string(), "-m", self.dialect])
            .arg("--option=clientminprotocol=SMB2_02")
            .arg(format!("--client-protection={protection}"))
            .args(["-U", &format!("{}%{PASSWORD}", self.user)])
            .arg(format!("//127.0.0.1/{}", self.share))
            // It asks what to do for as long as this pipe is open.
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

/// The session of a client as soon as it is the same in two looks and as awaited; as it was seen
/// last if it never is, and none if the client ends before it has one.
///
/// One look is not enough: smbd writes down who came and which share is connected before it writes
/// down how the messages are signed.
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
        // Before the user is known the session is there, but is nobody's. A share comes last.
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

/// Waits until the server knows of no session, so that the next is another's.
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

/// Asks a server of what it sees.
pub struct AtServer<'a> {
    pub ground: &'a TestEnv,
    pub server: &'a Samba,
}

impl ServerProbe for AtServer<'_> {
    fn watch(&self, way: &Way, place: &Place) -> Result<String> {
        let (bed, server) = (&self.ground.bed, self.server);
        let said = bed.folder.join("watched");
        let target = place.target(way.account, "");
        let mut command = bed.command(&["probe", "echo", &target, "--duration", "20s"]);
        command
            .arg("--no-calibrate")
            .args(way.options(place.password_file))
            .stdout(Stdio::null())
            .stderr(File::create(&said)?);
        let mut run = Running::start(&mut command, &[])?;
        let session = seen(server, &bed.folder, &mut run, |session| {
            is_as_told(way, session)
        })?;
        // It logs off when it is interrupted; if it has ended, there is nothing to interrupt.
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
        // What must be signed at all times, such as a TREE_CONNECT of 3.1.1, may be.
        Protection::Unsigned => session.cipher == "-" && !session.is_all_signed,
        Protection::Signed => session.cipher == "-" && session.is_all_signed,
        Protection::Encrypted => session.cipher != "-",
    };
    is_protected && session.user == user && session.dialect == way.dialect.for_smbclient
}
