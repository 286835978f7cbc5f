//! ksmbd, the SMB server of Linux's kernel, in the guest.
//!
//! This version lacks SMB 2.0.2, AES-GMAC, and a list of permitted ciphers.

use crate::guest::GUEST;
use crate::peers::fixture;
use crate::peers::smb::{self, DIALECTS, Dialect, Place, ServerProbe, Way};
use crate::process;
use crate::samba::{GUEST_SHARE, PASSWORD, USER, USER_SHARE};
use crate::scenario::Bed;
use crate::table;
use anyhow::{Context, Result, bail};
use std::process::Command;
use std::time::Duration;

/// Time limit of a single script in the guest.
const SCRIPT_LIMIT: Duration = Duration::from_secs(60);
const SMBCLIENT_LIMIT: Duration = Duration::from_secs(8);
/// Directory of the files, below the shared folder.
const FILES: &str = "smb";

/// Starts ksmbd and tests every combination of dialect, protection and account that it supports.
/// Returns whether each result was as expected.
///
/// Debian's ksmbd-tools do not work with every kernel: since some update, the kernel of Debian 12
/// (6.1.192) does not accept a share from version 3.4.7, and an earlier one (6.1.170) crashes on a
/// CREATE. Then the test is skipped, with a message.
pub fn run(bed: &Bed, only: Option<&str>) -> Result<bool> {
    if only.is_some_and(|only| !"ksmbd".contains(only)) {
        return Ok(true);
    }
    start(bed)?;
    let (mut rows, mut is_usable) = (Vec::new(), false);
    for dialect in DIALECTS {
        let mut row = vec![dialect.name.to_owned()];
        for protection in ["off", "sign", "encrypt"] {
            let said = shown(bed, dialect, protection);
            is_usable |= said.is_ok();
            row.push(said.map_or_else(|error| error.to_string(), |()| "ok".to_owned()));
        }
        rows.push(row);
    }
    let head = ["smbclient", "unsigned", "signed", "encrypted"];
    println!("\nksmbd of Linux {}", bed.guest()?.kernel);
    print!("{}", table::lay_out(&head, &rows, false));
    if !is_usable {
        println!("left out: smbclient gets nothing from this ksmbd either");
        return Ok(true);
    }
    let password_file = bed.folder.join("password");
    std::fs::write(&password_file, format!("{PASSWORD}\n"))?;
    let place = Place {
        authority: GUEST.into(),
        // It supports all dialects except the oldest.
        dialects: &DIALECTS[1..],
        password_file,
    };
    smb::ways(bed, &place, &Unseen)
}

/// A server probe without information: ksmbd does not report its sessions.
struct Unseen;

impl ServerProbe for Unseen {
    fn watch(&self, _: &Way, _: &Place) -> Result<String> {
        Ok("–".to_owned())
    }
}

fn start(bed: &Bed) -> Result<()> {
    let files = bed.guest()?.share.join(FILES);
    std::fs::create_dir_all(&files)?;
    fixture::make_in(&files)?;
    let shared = "path = /smb\nread only = no\nforce user = root\nforce group = root";
    let script = format!(
        "modprobe -a ksmbd\n\
         mkdir -p /smb /etc/ksmbd\n\
         mount -t tmpfs -o size=160m,mode=1777 smb /smb\n\
         cp -r /share/{FILES}/. /smb && chmod -R a+rwX /smb\n\
         cat >/etc/ksmbd/ksmbd.conf <<'END'\n\
         [global]\nserver string = guest\nnetbios name = guest\nmap to guest = bad user\n\
         guest account = nobody\nsmb3 encryption = yes\n\
         [{GUEST_SHARE}]\n{shared}\nguest ok = yes\n\
         [{USER_SHARE}]\n{shared}\nguest ok = no\nvalid users = {USER}\n\
         END\n\
         touch /etc/ksmbd/ksmbdpwd.db\n\
         ksmbd.adduser -a {USER} -p {PASSWORD}\n\
         ksmbd.mountd\n\
         sleep 1; grep -q ':01BD ' /proc/net/tcp /proc/net/tcp6"
    );
    bed.guest()?
        .succeed(&script, SCRIPT_LIMIT)
        .context("ksmbd did not start")?;
    Ok(())
}

/// Lists the share with smbclient; the error contains the status that it got.
fn shown(bed: &Bed, dialect: &Dialect, protection: &str) -> Result<()> {
    let mut command = Command::new("smbclient");
    command
        .args(["-s", "/dev/null", "-m", dialect.for_smbclient])
        .arg("--option=clientminprotocol=SMB2_02")
        .arg(format!("--client-protection={protection}"))
        .args(["-U", &format!("{USER}%{PASSWORD}")])
        .args([&format!("//{GUEST}/{USER_SHARE}"), "-c", "ls"]);
    let output = process::run(&mut command, &[], &bed.folder, SMBCLIENT_LIMIT)?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stdout);
    let status = said.rsplit(' ').next().unwrap_or_default().trim();
    bail!("{status}")
}
