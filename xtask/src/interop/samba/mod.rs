//! filestone against Samba: one server for each configuration that a client must support, and
//! Samba's client against the built-in server.

mod copies;
mod durable_handles;
mod own_server;
mod packets;
mod scenarios;
mod session;
mod settings;
mod small;
mod tampering;

use super::{Needed, checks, fixture, smb};
use crate::samba::{self, Samba};
use anyhow::{Context, Result};
use settings::Purpose;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Programs that this test needs in addition to Samba.
pub const NEEDED: &Needed = &[
    ("/usr/sbin/ip", "iproute2"),
    ("/usr/bin/unshare", "util-linux"),
];
/// Name of a share, and of its file system, without free space.
const FULL: &str = "full";

/// Environment of a scenario: filestone, and the servers.
pub struct TestEnv {
    pub bed: checks::Bed,
    pub servers: Servers,
}

impl TestEnv {
    /// Returns the directory of the shares of the server with guest access.
    fn directory(&self) -> PathBuf {
        self.servers.get(Purpose::Open).directory()
    }
}

/// The servers, in the order of [`settings::ALL`].
pub struct Servers(Vec<Samba>);

impl Servers {
    /// Starts all servers at once; each has the same files in its share.
    fn start(folder: &Path) -> Result<Self> {
        let mut servers: Vec<Samba> = Vec::new();
        for (number, (purpose, settings)) in settings::ALL.iter().enumerate() {
            let own = folder.join(format!("samba-{number}"));
            let first = servers.first();
            let server = Samba::start_beside(first, &own, purpose.port(), settings)
                .with_context(|| format!("{purpose:?}"))?;
            fixture::make_in(&server.directory())?;
            servers.push(server);
        }
        for server in &mut servers {
            server.wait()?;
        }
        Ok(Self(servers))
    }

    /// Returns the server for this purpose.
    pub fn get(&self, purpose: Purpose) -> &Samba {
        let number = settings::ALL.iter().position(|(of, _)| *of == purpose);
        &self.0[number.unwrap_or_default()]
    }
}

/// Runs every check. Returns whether all passed.
pub fn run(only: Option<&str>, bed: checks::Bed, start: Instant) -> Result<bool> {
    super::succeed("ip", &["link", "set", "lo", "up"])?;
    let servers = Servers::start(&bed.folder)?;
    println!(
        "Samba {} is up in {} configurations after {:.1} s",
        samba::version(),
        settings::ALL.len(),
        start.elapsed().as_secs_f64()
    );
    let full = servers.get(Purpose::Open).directory().join(FULL);
    let full = Full::new(full)?;
    let ground = TestEnv { bed, servers };
    let mut is_good = only.is_some() || settings::are_in_force(&ground)?;
    if only.is_none() {
        let server = ground.servers.get(Purpose::Open);
        let place = smb::Place {
            authority: "127.0.0.1",
            dialects: smb::DIALECTS,
            password_file: &server.password_file(),
        };
        let witness = session::AtServer {
            ground: &ground,
            server,
        };
        is_good &= smb::ways(&ground.bed, &place, &witness)?;
        is_good &= own_server::ways(&ground.bed)?;
    }
    is_good &= checks::scenarios(&ground, scenarios::ALL, only)?;
    if !is_good {
        let server = ground.servers.get(Purpose::Open);
        eprintln!("what Samba said last:\n{}", server.final_output());
    }
    drop(full);
    for server in ground.servers.0 {
        server.stop()?;
    }
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
