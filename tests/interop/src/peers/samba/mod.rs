//! filestone against Samba: one server for each configuration that a client must support, and
//! Samba's client against the built-in server.

mod durable_handles;
mod relay;
mod session;
mod settings;
mod small;
mod tampering;

use super::smb;
use crate::samba::{self, PASSWORD};
use crate::scenario::{self, Bed, Code, Selection};
use crate::tool::Needed;
use anyhow::Result;
use settings::Servers;
use std::path::PathBuf;
use std::time::Instant;

/// Programs that this test needs in addition to Samba.
pub const NEEDED: &Needed = &[
    ("/usr/sbin/ip", "iproute2"),
    ("/usr/bin/unshare", "util-linux"),
    ("/usr/bin/tshark", "tshark"),
    ("/usr/bin/dumpcap", "wireshark-common"),
];
/// Name of a share, and of its file system, without free space.
const FULL: &str = "full";

/// Environment of a scenario: filestone, and the servers.
pub struct TestEnv {
    pub bed: Bed,
    pub servers: Servers,
}

impl AsRef<Bed> for TestEnv {
    fn as_ref(&self) -> &Bed {
        &self.bed
    }
}

/// Scenarios against Samba.
pub const SHEET: &str = include_str!("../sheets/samba.toml");
/// Scenarios that are functions.
pub const CODES: &[Code<TestEnv>] = &[
    ("a signature is wrong before a run", tampering::before),
    ("every tenth signature is wrong", tampering::in_probe),
    ("signatures are wrong in a replay", tampering::in_replay),
    (
        "handles that outlive their connection",
        durable_handles::handles,
    ),
    ("the README's commands on a small server", small::commands),
];

/// Runs every check. Returns whether all passed.
pub fn run(selection: Selection<'_>, mut bed: Bed, start: Instant) -> Result<bool> {
    let servers = Servers::start(&mut bed)?;
    println!(
        "Samba {} is up in {} configurations after {:.1} s",
        samba::version(),
        servers.count(),
        start.elapsed().as_secs_f64()
    );
    let server = servers.get("open")?;
    bed.define("share", server.directory().display());
    bed.define("password", server.password_file().display());
    bed.define("configuration", server.configuration.display());
    bed.define("secret", PASSWORD);
    let full = Full::new(server.directory().join(FULL))?;
    let is_whole = selection.only.is_none();
    let ground = TestEnv { bed, servers };
    let (bed, servers) = (&ground.bed, &ground.servers);
    let server = servers.get("open")?;
    let mut is_good = !is_whole || servers.are_in_force(&bed.folder)?;
    if is_whole {
        let witness = session::AtServer { bed, server };
        is_good &= smb::ways(bed, &servers.place("open", None)?, &witness)?;
    }
    is_good &= scenario::run(SHEET, CODES, &ground, selection)?;
    if !is_good {
        eprintln!("what Samba said last:\n{}", server.final_output());
    }
    drop(full);
    ground.servers.stop()?;
    Ok(is_good)
}

/// A file system without free space, mounted until this is dropped.
struct Full(PathBuf);

impl Full {
    fn new(path: PathBuf) -> Result<Self> {
        std::fs::create_dir(&path)?;
        let at = path.display().to_string();
        super::succeed("mount", &["-t", "tmpfs", "-o", "size=64k", FULL, &at])?;
        Ok(Self(path))
    }
}

impl Drop for Full {
    fn drop(&mut self) {
        // It would end with the namespace, but the folder around it is removed before.
        let _ = super::succeed("umount", &["--lazy", &self.0.display().to_string()]);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    /// Whether packets pass these checks. Each is a READ of the only connection, with this message
    /// ID, nonce and offset.
    fn pass(checks: &str, packets: &[(u64, &str, u64)]) -> bool {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/src/peers/samba/packets.awk");
        let mut awk = Command::new("awk");
        awk.args(["-v", &format!("checks={checks}"), "-f", script]);
        let awk = awk.stdin(Stdio::piped()).stderr(Stdio::null());
        let mut awk = awk.stdout(Stdio::null()).spawn().expect("awk");
        let mut input = awk.stdin.take().expect("a pipe");
        for (id, nonce, offset) in packets {
            // It may have ended after a wrong packet.
            let _ = writeln!(
                input,
                "7\t0\t0x1\t8\t{id}\t2\t2\t0\t\t{nonce}\t100000\t{offset:#x}\t\t"
            );
        }
        drop(input);
        awk.wait().expect("it ends").success()
    }

    #[test]
    fn message_ids_and_nonces_are_used_once() {
        assert!(pass("", &[(4, "", 0), (6, "", 0)]));
        assert!(!pass("", &[(4, "", 0), (5, "", 0)]));
        assert!(pass("encrypted", &[(4, "0100", 0), (6, "0200", 0)]));
        assert!(!pass("encrypted", &[(4, "0100", 0), (6, "0100", 0)]));
        // A packet without a nonce was sent unencrypted, and one without a signature unsigned.
        assert!(!pass("encrypted", &[(4, "0100", 0), (6, "", 0)]));
        assert!(!pass("signed", &[(4, "", 0)]));
    }

    #[test]
    fn reads_are_where_they_were_meant_to_be() {
        let at = |number: u64| (2 * number, "", number % 11 * 100_000);
        assert!(pass("reads", &(0..50).map(at).collect::<Vec<_>>()));
        assert!(!pass("reads", &(1..=50).map(at).collect::<Vec<_>>()));
        assert!(!pass("reads", &(0..49).map(at).collect::<Vec<_>>()));
    }
}
