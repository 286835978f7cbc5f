//! nfs-ganesha with its port mapper, ready to be measured.
//!
//! Two exports: `/export`, on disk, and `/mem`, in the server's memory. It only mounts directories,
//! and of the disk export only the root; other paths get MNT3ERR_ACCES.

use super::{MOUNT_PORT, NFS_PORT, succeed};
use crate::process::{self, Running};
use anyhow::{Context, Result, bail};
use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Address of the server.
pub const HOST: &str = "127.0.0.1";
/// Exports: a directory on disk, and one in the server's memory.
pub const EXPORTS: [&str; 2] = ["/export", "/mem"];
const LOCK_MANAGER_PORT: u16 = 32_803;
const RPCBIND_PORT: u16 = 111;
/// Time limit of the start, which takes about three seconds here and longer on a busy machine.
const START_LIMIT: Duration = Duration::from_secs(40);

/// The server and the daemons that it needs, stopped in the reverse order of their start.
pub struct Ganesha {
    server: Running,
    _status_monitor: Running,
    _rpcbind: Running,
    _dbus: Running,
    log: PathBuf,
    /// Version that the server reports.
    pub version: String,
}

fn configuration(disk: &Path) -> String {
    let export = |id: u32, path: &str, pseudo: &str, module: &str| {
        format!(
            "EXPORT {{\n  Export_Id = {id};\n  Path = {path};\n  Pseudo = {pseudo};\n  \
             Access_Type = RW;\n  Squash = No_Root_Squash;\n  SecType = sys;\n  \
             Protocols = 3;\n  Transports = TCP, UDP;\n  FSAL {{ Name = {module}; }}\n}}\n"
        )
    };
    format!(
        "NFS_CORE_PARAM {{\n  Protocols = 3;\n  NFS_Port = {NFS_PORT};\n  MNT_Port = {MOUNT_PORT};\n  \
         Enable_NLM = true;\n  NLM_Port = {LOCK_MANAGER_PORT};\n  Enable_RQUOTA = false;\n  mount_path_pseudo = true;\n}}\n\
         NFSv4 {{ Graceless = true; }}\n{}{}LOG {{ Default_Log_Level = EVENT; }}\n",
        export(1, &disk.display().to_string(), "/export", "VFS"),
        export(2, "/mem", "/mem", "MEM"),
    )
}

/// Starts a daemon in the foreground with these arguments, which contain no spaces, and with its output
/// in a file.
fn daemon(program: &str, arguments: &str, said: &Path) -> Result<Running> {
    let mut command = Command::new(program);
    command
        .args(arguments.split(' '))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(File::create(said)?);
    Running::start(&mut command, &[])
}

fn local(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}

impl Ganesha {
    /// Starts everything. Must run in separate network and mount namespaces.
    pub fn start(folder: &Path) -> Result<Self> {
        // The daemons' sockets and PID files go where no other program has any.
        succeed("mount", &["-t", "tmpfs", "run", "/run"])?;
        for path in ["/run/dbus", "/run/rpcbind", "/run/ganesha"] {
            std::fs::create_dir_all(path)?;
        }
        // The status monitor stores the hosts that it monitors; this one starts without any.
        succeed("mount", &["-t", "tmpfs", "status", "/var/lib/nfs"])?;
        for path in [
            "/var/lib/nfs/sm",
            "/var/lib/nfs/sm.bak",
            "/var/lib/nfs/ganesha",
        ] {
            std::fs::create_dir_all(path)?;
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777))?;
        }
        let disk = folder.join("disk");
        std::fs::create_dir_all(&disk)?;
        let (file, log) = (folder.join("ganesha.conf"), folder.join("ganesha.log"));
        std::fs::write(&file, configuration(&disk))?;
        let said = folder.join("daemons.log");
        let dbus = daemon("dbus-daemon", "--system --nofork --nopidfile", &said)?;
        let mut rpcbind = daemon("rpcbind", "-f", &said)?;
        rpcbind.wait_for(local(RPCBIND_PORT), START_LIMIT)?;
        // The lock manager does not start without it (NSM, RFC 1813 appendix II).
        let status_monitor = daemon("rpc.statd", "-F --no-notify", &said)?;
        let arguments = format!(
            "-F -f {} -L {} -p {}",
            file.display(),
            log.display(),
            folder.join("ganesha.pid").display()
        );
        let mut server = daemon("ganesha.nfsd", &arguments, &said)?;
        let ready = server
            .wait_for(local(NFS_PORT), START_LIMIT)
            .and_then(|()| server.wait_for(local(MOUNT_PORT), START_LIMIT))
            .and_then(|()| exports_are_there(&mut server));
        let ganesha = Self {
            server,
            _status_monitor: status_monitor,
            _rpcbind: rpcbind,
            _dbus: dbus,
            log,
            version: version(),
        };
        ready
            .with_context(|| format!("nfs-ganesha did not come up:\n{}", ganesha.final_output()))?;
        Ok(ganesha)
    }

    /// Process ID of the server.
    pub fn id(&self) -> u32 {
        self.server.id()
    }

    /// Returns the last lines of its log.
    pub fn final_output(&self) -> String {
        process::last_lines(&std::fs::read_to_string(&self.log).unwrap_or_default())
    }
}

/// Waits until MNT succeeds: the server listens before its exports are ready.
fn exports_are_there(server: &mut Running) -> Result<()> {
    let start = std::time::Instant::now();
    loop {
        let tried = EXPORTS
            .iter()
            .try_for_each(|export| super::fixture::mount(HOST, export).map(drop));
        match tried {
            Ok(()) => return Ok(()),
            Err(error) if start.elapsed() > START_LIMIT => return Err(error),
            Err(_) => std::thread::sleep(Duration::from_millis(100)),
        }
        if let Some(status) = server.ended()? {
            bail!("it ended with {status}");
        }
    }
}

fn version() -> String {
    let output = Command::new("ganesha.nfsd").arg("-v").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let text = text.unwrap_or_default();
    let version = text.split_whitespace().find(|word| word.contains('.'));
    version
        .unwrap_or("of unknown version")
        .trim_start_matches("V")
        .to_owned()
}
