//! The built-in server as a separate process that can be stopped, killed, restarted and filled.

use crate::exchange::{self, Export};
use crate::process::Running;
use anyhow::{Result, bail};
use rustix::process::Signal;
use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

/// Time limit of the start.
const START_LIMIT: Duration = Duration::from_secs(10);
/// Time limit of a request that inspects the export.
const LOOK_LIMIT: Duration = Duration::from_secs(5);
/// Memory for data and names.
const MEMORY: &str = "64M";
/// Names that exist from the start.
const FIXED: &[&str] = &["file", "files", "link"];
/// Server option: serve SMB, too.
pub const SMB: &str = "smb";
/// A file that no run made.
pub const FOREIGN: &str = "somebody-else";
/// Files that use up the space.
const FILLERS: &str = "filler";

/// Returns a port without a listener, below the range for clients: it is still free when a server
/// is restarted.
pub fn free_port() -> Result<u16> {
    static NEXT: AtomicU16 = AtomicU16::new(21_000);
    loop {
        let port = NEXT.fetch_add(1, Ordering::Relaxed);
        if port > 32_000 {
            bail!("no free port from 21000 to 32000");
        }
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return Ok(port);
        }
    }
}

/// A server.
pub struct Server {
    filestone: PathBuf,
    pub address: SocketAddr,
    /// SMB port, if the server was started with SMB.
    pub smb_port: Option<u16>,
    options: Vec<String>,
    process: Option<Running>,
    fillers: BTreeSet<String>,
    /// Paths in the export of files that no run made.
    planted: Vec<Vec<String>>,
}

impl Server {
    /// Starts the server on free ports with these options; it serves SMB if one of them is `smb`.
    pub fn start(filestone: &Path, options: &[&str]) -> Result<Self> {
        let smb = options.contains(&SMB).then(free_port).transpose()?;
        let has_memory = options.iter().any(|option| option.starts_with("--memory"));
        let memory = (!has_memory).then(|| format!("--memory={MEMORY}"));
        let options = options.iter().filter(|option| **option != SMB);
        let options = options.map(|option| (*option).to_owned());
        let port = smb.map(|port| format!("--smb-port={port}"));
        let mut server = Self {
            filestone: filestone.to_owned(),
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()?)),
            smb_port: smb,
            options: options.chain(port).chain(memory).collect(),
            process: None,
            fillers: BTreeSet::new(),
            planted: Vec::new(),
        };
        server.start_again()?;
        Ok(server)
    }

    /// Restarts the server on the same port if it does not run.
    pub fn start_again(&mut self) -> Result<()> {
        if self.process.is_some() {
            return Ok(());
        }
        let mut command = Command::new(&self.filestone);
        command
            .args(["serve", "--bind", "127.0.0.1", "--threads", "1"])
            .args(["--files", "10", "--port"])
            .arg(self.address.port().to_string())
            .args(&self.options)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut process = Running::start(&mut command, &[])?;
        process.wait_for(self.address, START_LIMIT)?;
        self.process = Some(process);
        self.fillers.clear();
        Ok(())
    }

    /// Kills the server, which loses all state.
    pub fn kill(&mut self) {
        self.process = None;
    }

    /// Stops the process.
    pub fn freeze(&self) -> Result<()> {
        self.signal(Signal::STOP)
    }

    /// Continues the process.
    pub fn thaw(&self) -> Result<()> {
        self.signal(Signal::CONT)
    }

    fn signal(&self, signal: Signal) -> Result<()> {
        self.process
            .as_ref()
            .map_or(Ok(()), |process| process.signal(signal))
    }

    fn inspect(&self) -> Result<Export> {
        let stream = TcpStream::connect_timeout(&self.address, LOOK_LIMIT)?;
        stream.set_read_timeout(Some(LOOK_LIMIT))?;
        stream.set_write_timeout(Some(LOOK_LIMIT))?;
        stream.set_nodelay(true)?;
        let root = exchange::handle_of(&mut stream.try_clone()?, "/export", &[])?;
        Ok(Export { stream, root })
    }

    /// Uses up the remaining space, first for data and then for names.
    pub fn fill(&mut self) -> Result<()> {
        let mut look = self.inspect()?;
        self.fillers.insert(FILLERS.to_owned());
        let Some(file) = look.create(look.root, FILLERS)? else {
            bail!("the server was full before");
        };
        let mut offset = 0;
        for len in [1 << 20, 64 << 10, 4 << 10] {
            while look.write(&file, offset, &vec![7; len])? {
                offset += len as u64;
            }
        }
        for number in 0.. {
            let name = format!("{FILLERS}{number}");
            if look.create(look.root, &name)?.is_none() {
                return Ok(());
            }
            self.fillers.insert(name);
        }
        Ok(())
    }

    /// Puts a file into each directory made by a run, and into their subdirectories; returns whether
    /// there was a directory.
    pub fn plant(&mut self) -> Result<bool> {
        let mut look = self.inspect()?;
        for outer in self.left()? {
            let mut places = vec![vec![outer.clone()]];
            let within = look.at(&[&outer]).and_then(|outer| look.names(outer));
            let within = within.unwrap_or_default().into_iter();
            places.extend(within.map(|inner| vec![outer.clone(), inner]));
            for place in places {
                let names: Vec<&str> = place.iter().map(String::as_str).collect();
                // Files and objects that have just been removed cannot take a file.
                let directory = look.at(&names);
                let made = directory.and_then(|directory| look.create(directory, FOREIGN));
                if made.is_ok_and(|made| made.is_some()) {
                    self.planted
                        .push([place, vec![FOREIGN.to_owned()]].concat());
                }
            }
        }
        Ok(!self.planted.is_empty())
    }

    /// Returns the planted files that were removed.
    pub fn taken(&self) -> Result<Vec<String>> {
        let mut look = self.inspect()?;
        let mut taken = Vec::new();
        for path in &self.planted {
            let names: Vec<&str> = path.iter().map(String::as_str).collect();
            if look.at(&names).is_err() {
                taken.push(path.join("/"));
            }
        }
        Ok(taken)
    }

    /// Frees the space.
    pub fn make_room(&mut self) -> Result<()> {
        let mut look = self.inspect()?;
        for name in std::mem::take(&mut self.fillers) {
            look.remove(&name)?;
        }
        Ok(())
    }

    /// Whether a file set exists whose marker file says that no run uses it.
    pub fn has_set_given_up(&self) -> Result<bool> {
        let marker = self
            .inspect()?
            .read(&["filestone-set", "made-by-filestone"]);
        Ok(marker.is_ok_and(|text| text.lines().any(|line| line == "given up")))
    }

    /// Returns the names that runs have left in the export.
    pub fn left(&self) -> Result<Vec<String>> {
        let mut look = self.inspect()?;
        let mut names = look.names(look.root)?;
        names.retain(|name| !FIXED.contains(&name.as_str()) && !self.fillers.contains(name));
        Ok(names)
    }

    /// Whether this directory of the export is empty.
    pub fn is_empty(&self, name: &str) -> Result<bool> {
        let mut look = self.inspect()?;
        let directory = exchange::handle_of(&mut look.stream, "/export", &[name])?;
        Ok(look.names(directory)?.is_empty())
    }
}
