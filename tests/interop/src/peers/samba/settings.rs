//! The servers in all configurations, and a check with smbclient that each is in force.

use super::session::Smbclient;
use crate::peers::fixture;
use crate::peers::smb::{DIALECTS, Place};
use crate::samba::{self, Samba, Setting};
use crate::scenario::Bed;
use crate::table;
use anyhow::{Context, Result};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Configurations of all servers.
const CONFIGURATIONS: &str = include_str!("../sheets/samba_servers.toml");

/// A list of configurations.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Configurations {
    server: Vec<Configuration>,
}

/// A configuration. The file describes the fields.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Configuration {
    name: String,
    settings: BTreeMap<String, String>,
    #[serde(default)]
    shown: Vec<Shown>,
}

/// Options of smbclient and the expected result.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Shown {
    by: String,
    session: Option<String>,
    refusal: Option<String>,
}

impl Shown {
    /// Connects smbclient. Returns whether the result is as expected, and the result.
    fn connect(&self, server: &Samba, folder: &Path) -> Result<(bool, String)> {
        let words: Vec<&str> = self.by.split(' ').collect();
        let [dialect, protection, user, share] = words[..] else {
            anyhow::bail!("`{}` has not four words", self.by);
        };
        let client = Smbclient {
            dialect,
            protection,
            user,
            share,
        };
        let is_expected = |session: &samba::Session| {
            session.dialect == dialect && Some(session.protection()) == self.session
        };
        Ok(match client.connect(server, folder, is_expected)? {
            Ok(session) => (is_expected(&session), session.text()),
            Err(said) => {
                let refusal = self.refusal.as_ref();
                (refusal.is_some_and(|word| said.contains(word)), said)
            }
        })
    }
}

/// The servers in the order of their configurations.
pub struct Servers(Vec<(Configuration, Samba)>);

impl Servers {
    /// Starts all servers at once; each has the same files in its share. Defines their addresses in
    /// scenarios.
    pub fn start(bed: &mut Bed) -> Result<Self> {
        let list: Configurations = toml::from_str(CONFIGURATIONS)?;
        let mut servers: Vec<(Configuration, Samba)> = Vec::new();
        for (configuration, number) in list.server.into_iter().zip(0..) {
            let port = if number == 0 { 445 } else { 4450 + number };
            let own = bed.folder.join(format!("samba-{number}"));
            let first = servers.first().map(|(_, server)| server);
            let settings = configuration.settings.iter();
            let settings: Vec<Setting> = settings
                .map(|(name, value)| (name.as_str(), value.as_str()))
                .collect();
            let name = &configuration.name;
            let server =
                Samba::start_beside(first, &own, port, &settings).with_context(|| name.clone())?;
            fixture::make_in(&server.directory())?;
            bed.define(name, authority(port));
            servers.push((configuration, server));
        }
        for (_, server) in &mut servers {
            server.wait()?;
        }
        Ok(Self(servers))
    }

    /// Number of servers.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns the server in the configuration of this name.
    pub fn get(&self, name: &str) -> Result<&Samba> {
        let mut servers = self.0.iter();
        let found = servers.find(|(configuration, _)| configuration.name == name);
        let (_, server) = found.with_context(|| format!("there is no configuration {name}"))?;
        Ok(server)
    }

    /// Returns the address of a server, or of a relay in front of it.
    pub fn place(&self, name: &str, relay: Option<u16>) -> Result<Place> {
        let server = self.get(name)?;
        Ok(Place {
            authority: authority(relay.unwrap_or(server.port)),
            dialects: DIALECTS,
            password_file: server.password_file(),
        })
    }

    /// Whether each server behaves with smbclient as configured.
    pub fn are_in_force(&self, folder: &Path) -> Result<bool> {
        let (mut rows, mut are_right) = (Vec::new(), true);
        for (configuration, server) in &self.0 {
            for shown in &configuration.shown {
                let (is_right, said) = shown.connect(server, folder)?;
                are_right &= is_right;
                let word = if is_right { "ok" } else { "wrong" };
                let (name, by) = (configuration.name.clone(), shown.by.clone());
                rows.push(vec![name, by, word.to_owned(), said]);
            }
        }
        let head = ["Samba", "smbclient", "", "came"];
        print!("{}", table::lay_out(&head, &rows, false));
        Ok(are_right)
    }

    /// Stops all servers.
    pub fn stop(self) -> Result<()> {
        let mut servers = self.0.into_iter();
        servers.try_for_each(|(_, server)| server.stop())
    }
}

/// Address of a port; the standard SMB port is left out.
fn authority(port: u16) -> String {
    match port {
        445 => "127.0.0.1".into(),
        port => format!("127.0.0.1:{port}"),
    }
}
