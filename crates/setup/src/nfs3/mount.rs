//! From a host and a path to a file handle: portmapper, MOUNT, LOOKUP.
//!
//! Some servers mount only exports themselves and only directories. So the complete path is tried
//! first, then its parents, the longest first; the remaining components are looked up.

use super::calls::NfsConnection;
use super::mount_service::{MOUNT, MountService};
use super::portmapper::{self, PortmapError, ProgramQuery};
use super::session::{RECORD_MAX, at_path};
use crate::addresses::resolve;
use crate::driver::{CallError, Endpoint, Program, Retry, RpcConnection};
use crate::nfs3::Nfs3Error;
use filestone_host::connect::{Dial, at_port};
use filestone_host::control::Cancellation;
use filestone_host::error::RunError;
use filestone_plan::plan::{Identities, NfsTarget, Plan, TransportKind};
use filestone_protocol::client::nfs3::load::NLM;
use filestone_protocol::client::nfs3::sequence::NFS;
use filestone_protocol::session::rpc::{Credentials, groups};
use filestone_wire::mount::{MountStatus, PATH_MAX};
use filestone_wire::nfs3::{self, Fattr3, FileType, Handle, Procedure, Status};
use filestone_wire::nlm;
use filestone_wire::portmap;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// Maximum time to wait for a port mapper: many hosts have none, and some drop packets to its port.
const PORTMAPPER_MAX: Duration = Duration::from_secs(3);
/// Maximum size of a reply, because the protocol does not limit an export list.
const REPLY_MAX: usize = 4 << 20;

/// The object under test.
pub struct MountedObject {
    /// File handle.
    pub handle: Handle,
    /// Attributes of the object.
    pub attributes: Fattr3,
    /// Path that was mounted.
    pub export: String,
    /// Path that was looked up below `export`.
    pub walked: String,
    /// Address of the MOUNT service.
    pub mount_service: SocketAddr,
}

impl MountedObject {
    /// Returns an error if the object of a run is a symbolic link.
    pub fn refuse_link(
        &self,
        session: &mut NfsConnection,
        target: &NfsTarget,
    ) -> Result<(), RunError> {
        no_link(
            session,
            &target.path,
            &self.handle,
            self.attributes.file_type,
        )
    }
}

/// The server to call, and the common parameters of all calls.
#[derive(Debug, Clone)]
pub struct MountCaller<'plan> {
    /// The server and the object on it.
    pub target: &'plan NfsTarget,
    /// Timeout of a call, in nanoseconds.
    pub timeout_ns: u64,
    /// Seed for the identity of the calls.
    pub seed: u64,
    /// Whether a symbolic link at the path is itself the target, not the object it leads to.
    pub wants_link: bool,
    /// Local source address.
    pub source: Option<IpAddr>,
    /// Identities of the clients. All calls here use the identity of the first client.
    pub identities: Identities,
}

impl<'plan> MountCaller<'plan> {
    /// Creates the caller for the target of `plan`.
    pub fn new(plan: &Plan, target: &'plan NfsTarget) -> Self {
        Self {
            target,
            timeout_ns: plan.timeout_ns,
            seed: plan.seed,
            wants_link: false,
            // As the first client, because exports may be limited to these addresses.
            source: plan.source_for(|other| other.nfs3() == Some(target)),
            identities: plan.connections.identities.clone(),
        }
    }
}

/// Returns the credentials of all calls.
pub fn credentials(caller: &MountCaller<'_>) -> Credentials {
    let identities = &caller.identities;
    Credentials {
        machine_name: identities
            .machine_name_of(0)
            .unwrap_or_else(filestone_host::system::name),
        uid: caller.target.uid,
        gid: caller.target.gid,
        gids: groups(&caller.target.supplementary_gids),
        // Arbitrary, but different per run, which distinguishes runs in packet captures.
        stamp: std::process::id() ^ (caller.seed as u32).rotate_left(16),
        modes: identities.modes(),
    }
}

/// Mounts the path of the plan.
pub fn mount(
    caller: &MountCaller<'_>,
    built_in: Option<SocketAddr>,
) -> Result<(NfsConnection, MountedObject), RunError> {
    mount_until(caller, built_in, &Cancellation::default())
}

/// Mounts the path of the plan until cancelled. The session ends on cancellation, too; it
/// reconnects for up to the timeout of a call.
pub fn mount_until(
    caller: &MountCaller<'_>,
    built_in: Option<SocketAddr>,
    cancellation: &Cancellation,
) -> Result<(NfsConnection, MountedObject), RunError> {
    let finder = Finder::new(caller, built_in, cancellation);
    let (mut session, mounted) = finder.first_address(|address| {
        let mut session = finder.session(address)?;
        let address = session.dial().address;
        let mounted = finder.find_and_mount(address, &mut session)?;
        Ok((session, mounted))
    })?;
    session.connection.reconnect_for(finder.timeout);
    Ok((session, mounted))
}

/// Connects to the NFS server and calls NULL, without mounting.
pub fn reach_until(
    caller: &MountCaller<'_>,
    cancellation: &Cancellation,
) -> Result<NfsConnection, RunError> {
    let finder = Finder::new(caller, None, cancellation);
    finder.first_address(|address| finder.session(address))
}

/// Returns the registrations of the port mapper on the host of the NFS server `server`; `None` if
/// there is no port mapper.
pub fn registered(
    caller: &MountCaller<'_>,
    server: SocketAddr,
    cancellation: &Cancellation,
) -> Option<Vec<portmap::Mapping>> {
    let finder = Finder::new(caller, None, cancellation);
    portmapper::dump(&mut finder.connect_portmapper(server).ok()?)
}

/// Finds the lock manager of the NFS server at `server`: on the same port, as for the built-in
/// server, or on the port from the port mapper. Returns the error of the port mapper if both fail.
pub fn find_lock_manager(
    caller: &MountCaller<'_>,
    server: SocketAddr,
    cancellation: &Cancellation,
) -> Result<SocketAddr, PortmapError> {
    let finder = Finder::new(caller, None, cancellation);
    let connection = finder.connect(finder.dial(server), finder.timeout);
    let null = NLM.procedure(nlm::Procedure::Null.number(), "nlm null");
    let answers = |mut connection: RpcConnection| connection.call_raw(null, &()).is_ok();
    if connection.is_ok_and(answers) {
        return Ok(server);
    }
    finder
        .ask_portmapper(server, NLM)
        .map(|port| at_port(server, port))
}

struct Finder<'p> {
    target: &'p NfsTarget,
    credentials: Credentials,
    timeout: Duration,
    host: &'p str,
    built_in: Option<SocketAddr>,
    wants_link: bool,
    source: Option<IpAddr>,
    /// Port of the port mapper.
    portmapper: u16,
    cancellation: &'p Cancellation,
}

/// The MOUNT service of a server, and the source of its port.
struct FoundService {
    service: MountService,
    /// Whether the port came from the port mapper.
    is_mapped: bool,
}

impl<'p> Finder<'p> {
    fn new(
        caller: &'p MountCaller<'_>,
        built_in: Option<SocketAddr>,
        cancellation: &'p Cancellation,
    ) -> Self {
        Self {
            target: caller.target,
            credentials: credentials(caller),
            timeout: Duration::from_nanos(caller.timeout_ns),
            host: caller.target.host.as_deref().unwrap_or("built-in"),
            built_in,
            wants_link: caller.wants_link,
            source: caller.source,
            portmapper: portmap::PORT,
            cancellation,
        }
    }

    /// Returns the result of `try_address` for the first address of the host that answers.
    fn first_address<T>(
        &self,
        mut try_address: impl FnMut(SocketAddr) -> Result<T, RunError>,
    ) -> Result<T, RunError> {
        let addresses = match self.built_in {
            Some(address) => vec![address],
            None => resolve(self.host, self.target.port.unwrap_or(nfs3::PORT))?,
        };
        let mut last = None;
        for address in addresses {
            match try_address(address) {
                Err(error) if error.is_unreachable() => last = Some(last.unwrap_or(error)),
                ended => return ended,
            }
        }
        Err(last.unwrap_or_else(|| RunError::Internal("no address was tried".into())))
    }

    fn dial(&self, address: SocketAddr) -> Dial {
        Dial {
            address,
            transport: self.target.transport,
            reserved_port: self.target.reserved_port,
            source: self.source,
        }
    }

    /// Returns a policy without reconnects, because the address or port of an absent server may be
    /// wrong.
    fn retry(&self) -> Retry {
        Retry {
            reconnect: Duration::ZERO,
            cancellation: self.cancellation.clone(),
        }
    }

    fn endpoint(&self, dial: Dial, timeout: Duration) -> Endpoint {
        Endpoint {
            dial,
            credentials: self.credentials.clone(),
            timeout,
            retry: self.retry(),
            has_answered: false,
        }
    }

    fn connect(&self, dial: Dial, timeout: Duration) -> Result<RpcConnection, CallError> {
        RpcConnection::connect(self.endpoint(dial, timeout), REPLY_MAX)
    }

    /// Connects to the NFS server and calls NULL.
    fn session(&self, mut address: SocketAddr) -> Result<NfsConnection, RunError> {
        if self.target.port.is_none() && self.built_in.is_none() {
            // If no port is given, the port mapper is asked; without a port mapper, the well-known
            // port is used.
            if let Ok(port) = self.ask_portmapper(address, NFS) {
                address = at_port(address, port);
            }
        }
        let endpoint = self.endpoint(self.dial(address), self.timeout);
        let mut session = NfsConnection::connect(endpoint, RECORD_MAX)?;
        session.null()?;
        Ok(session)
    }

    fn find_and_mount(
        &self,
        server: SocketAddr,
        session: &mut NfsConnection,
    ) -> Result<MountedObject, RunError> {
        let FoundService {
            mut service,
            is_mapped,
        } = self.find_mount_service(server)?;
        let mounted = self.mounted(&mut service, session);
        mounted.map_err(|error| {
            if !is_mapped {
                return error;
            }
            self.elsewhere(error, server, service.address())
        })
    }

    fn mounted(
        &self,
        service: &mut MountService,
        session: &mut NfsConnection,
    ) -> Result<MountedObject, RunError> {
        let (handle, export, walked) = self.mount_or_walk(service, session)?;
        let attributes = session.attributes(&self.target.path, &handle)?;
        Ok(MountedObject {
            handle,
            attributes,
            export,
            walked,
            mount_service: service.address(),
        })
    }

    /// Adds the ports of NFS and MOUNT to an error if only the NFS port was given explicitly: the
    /// port mapper may belong to another server.
    fn elsewhere(&self, error: RunError, server: SocketAddr, mount: SocketAddr) -> RunError {
        if self.target.port.is_none() {
            return error;
        }
        Nfs3Error::MountElsewhere {
            source: Box::new(error),
            nfs_port: server.port(),
            mount_port: mount.port(),
            portmapper: self.portmapper,
        }
        .into()
    }

    /// Returns the port of a program from the port mapper.
    fn ask_portmapper(&self, server: SocketAddr, program: Program) -> Result<u16, PortmapError> {
        let connected = self.connect_portmapper(server);
        let mut connection = connected.map_err(|_| PortmapError::NoPortmapper(self.portmapper))?;
        let is_tcp = self.target.transport == TransportKind::Tcp;
        portmapper::ask(&mut connection, ProgramQuery { program, is_tcp })
    }

    fn connect_portmapper(&self, server: SocketAddr) -> Result<RpcConnection, CallError> {
        let dial = Dial {
            address: at_port(server, self.portmapper),
            transport: TransportKind::Tcp,
            reserved_port: false,
            source: self.source,
        };
        self.connect(dial, self.timeout.min(PORTMAPPER_MAX))
    }

    /// Finds MOUNT at the port given by the user; otherwise at the NFS port, as on the built-in
    /// server and some others; otherwise at the port from the port mapper.
    fn find_mount_service(&self, server: SocketAddr) -> Result<FoundService, RunError> {
        if let Some(port) = self.target.mount_port {
            return self.try_mount_service(at_port(server, port));
        }
        let same = self.try_mount_service(server);
        if same.is_ok() || self.built_in.is_some() || self.cancellation.is_cancelled() {
            return same;
        }
        match self.ask_portmapper(server, MOUNT) {
            Ok(port) => {
                let address = at_port(server, port);
                let service = self.try_mount_service(address);
                let service = service.map_err(|error| self.elsewhere(error, server, address))?;
                Ok(FoundService {
                    is_mapped: true,
                    ..service
                })
            }
            Err(unknown) => Err(Nfs3Error::NoMount {
                host: self.host.to_string(),
                nfs_port: server.port(),
                why: unknown.to_string(),
            }
            .into()),
        }
    }

    fn try_mount_service(&self, address: SocketAddr) -> Result<FoundService, RunError> {
        let connection = self
            .connect(self.dial(address), self.timeout)
            .map_err(|error| error.connecting(address))?;
        Ok(FoundService {
            service: MountService::find(connection)?,
            is_mapped: false,
        })
    }

    /// Returns the handle, the mounted path, and the path looked up below it.
    fn mount_or_walk(
        &self,
        service: &mut MountService,
        session: &mut NfsConnection,
    ) -> Result<(Handle, String, String), RunError> {
        let path = self.target.path.as_str();
        let mut refusal = None;
        let mut followed = None;
        let is_taken = |(parent, _): &(&str, &str)| parent.len() <= PATH_MAX;
        for (parent, rest) in parents(path).filter(is_taken) {
            match service.mnt(parent)? {
                Ok(handle) if rest.is_empty() && self.is_followed(session, &handle)? => {
                    service.umnt(parent);
                    followed = Some((handle, parent.into(), rest.into()));
                }
                Ok(handle) => {
                    let handle = walk(session, handle, parent, rest)?;
                    service.umnt(parent);
                    return Ok((handle, parent.into(), rest.into()));
                }
                Err(status) => refusal = refusal.or(Some(status)),
            }
        }
        if let Some(followed) = followed {
            return Ok(followed);
        }
        let (host, path) = (self.host.into(), path.to_owned());
        if path.len() > PATH_MAX {
            let exports = service.exports();
            return Err(Nfs3Error::PathTooLong {
                host,
                path,
                exports,
            }
            .into());
        }
        Err(Nfs3Error::MountRefused {
            host,
            path,
            status: refusal.unwrap_or(MountStatus::NOENT),
            exports: service.exports(),
            reserved_port: self.target.reserved_port,
        }
        .into())
    }
}

impl Finder<'_> {
    /// Whether a link is wanted but MNT returned the object it leads to, as Linux's mountd does.
    /// Then the path is looked up on the server, since LOOKUP does not follow links.
    fn is_followed(&self, session: &mut NfsConnection, handle: &Handle) -> Result<bool, RunError> {
        if !self.wants_link {
            return Ok(false);
        }
        let attributes = session.attributes(&self.target.path, handle)?;
        Ok(!matches!(
            attributes.file_type,
            FileType::Symlink | FileType::Directory
        ))
    }
}

/// Iterates over a path and its parents, the longest first, each with the remaining components.
fn parents(path: &str) -> impl Iterator<Item = (&str, &str)> {
    let path = if path.len() > 1 {
        path.trim_end_matches('/')
    } else {
        path
    };
    let slashes = path
        .char_indices()
        .filter(|(at, c)| *c == '/' && *at > 0)
        .map(|(at, _)| at);
    let ends: Vec<usize> = slashes.collect();
    std::iter::once((path, ""))
        .chain(
            ends.into_iter()
                .rev()
                .map(move |at| (&path[..at], &path[at + 1..])),
        )
        .chain((path.len() > 1 && path.starts_with('/')).then(|| ("/", &path[1..])))
}

/// Looks up the components of `rest` below `directory`.
fn walk(
    session: &mut NfsConnection,
    directory: Handle,
    parent: &str,
    rest: &str,
) -> Result<Handle, RunError> {
    let mut handle = directory;
    let mut path = parent.trim_end_matches('/').to_string();
    for name in rest.split('/').filter(|name| !name.is_empty()) {
        let below = format!("{path}/{name}");
        handle = match session.lookup(&below, &handle, name.as_bytes()) {
            Ok(handle) => handle,
            Err(error) if is_no_directory(&error) => {
                let attributes = session.attributes(&path, &handle)?;
                no_link(session, &path, &handle, attributes.file_type)?;
                return Err(error);
            }
            Err(error) => return Err(error),
        };
        path = below;
    }
    Ok(handle)
}

fn is_no_directory(error: &RunError) -> bool {
    let status = Status::NOTDIR;
    matches!(error.of_area(), Some(Nfs3Error::Answered { status: answered, .. }) if *answered == status)
}

/// Returns an error with the link text if the object is a symbolic link.
fn no_link(
    session: &mut NfsConnection,
    path: &str,
    handle: &Handle,
    file_type: FileType,
) -> Result<(), RunError> {
    if file_type != FileType::Symlink {
        return Ok(());
    }
    let text = session.call(|link| link.link_text(handle));
    let text = text.map_err(|failure| at_path(failure, path, Procedure::Readlink))?;
    Err(Nfs3Error::SymbolicLink {
        path: path.into(),
        leads_to: String::from_utf8_lossy(&text).into_owned(),
    }
    .into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nfs3::scripted;
    use filestone_wire::rpc::AcceptStatus;
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn the_longest_path_is_tried_first_and_the_root_last() {
        let tried: Vec<_> = parents("/srv/export/file").collect();
        assert_eq!(
            tried,
            [
                ("/srv/export/file", ""),
                ("/srv/export", "file"),
                ("/srv", "export/file"),
                ("/", "srv/export/file")
            ]
        );
        assert_eq!(parents("/").collect::<Vec<_>>(), [("/", "")]);
        assert_eq!(
            parents("/mem/").collect::<Vec<_>>(),
            [("/mem", ""), ("/", "mem")]
        );
    }

    fn answer(call: &scripted::Call, out: &mut TcpStream) -> std::io::Result<()> {
        const BADHANDLE: u32 = filestone_wire::nfs3::Status::BADHANDLE.0;
        let reply = match (call.program, call.procedure) {
            (nfs3::PROGRAM, 0) => scripted::reply(call.xid, &[]),
            (nfs3::PROGRAM, _) => scripted::reply(call.xid, &BADHANDLE.to_be_bytes()),
            _ => scripted::refusal(call.xid, AcceptStatus::ProgUnavail),
        };
        out.write_all(&reply)
    }

    /// Starts an NFS-only server, which answers NULL, and every other NFS procedure with
    /// NFS3ERR_BADHANDLE.
    fn nfs_alone() -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it listens");
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let stream = stream.expect("a client");
                std::thread::spawn(|| scripted::serve(stream, answer));
            }
        });
        address
    }

    /// Returns the error of mounting from an NFS-only server whose MOUNT is registered at
    /// `portmapper`.
    fn refused(portmapper: u16, path: &str, is_port_given: bool) -> (String, Option<String>) {
        let server = nfs_alone();
        let target = NfsTarget {
            host: Some("127.0.0.1".into()),
            port: is_port_given.then_some(server.port()),
            ..NfsTarget::built_in(path)
        };
        let caller = MountCaller {
            target: &target,
            timeout_ns: 10_000_000_000,
            seed: 1,
            wants_link: false,
            source: None,
            identities: Identities::default(),
        };
        let finder = Finder {
            target: &target,
            credentials: credentials(&caller),
            timeout: Duration::from_secs(10),
            host: "127.0.0.1",
            built_in: None,
            wants_link: false,
            source: None,
            portmapper,
            cancellation: &Cancellation::default(),
        };
        let endpoint = finder.endpoint(finder.dial(server), finder.timeout);
        let mut session = NfsConnection::connect(endpoint, RECORD_MAX).expect("it listens");
        let found = finder.find_and_mount(server, &mut session);
        let error = found.err().expect("nothing that can be mounted");
        let hide = |text: String| text.replace(&server.port().to_string(), "2049");
        (hide(error.to_string()), error.help())
    }

    #[test]
    fn an_error_names_the_ports_that_were_asked() {
        let other = filestone_server::Server::start(filestone_server::Options::default());
        let other = other.expect("a free port");
        let port = other.port();
        let asked = format!(
            "; NFS was asked at port 2049, which was given, and MOUNT at port {port}, which the \
             port mapper at port {port} names"
        );
        // The NFS server does not know a handle from another server's MOUNT.
        let (error, help) = refused(port, "/export", true);
        assert!(error.contains("NFS3ERR_BADHANDLE"), "{error}");
        assert!(error.ends_with(&asked), "{error}");
        assert!(help.is_some_and(|help| help.contains("--mount-port")));
        // A refusal by the other server's MOUNT.
        let (error, help) = refused(port, "/nothing/export", true);
        assert!(error.ends_with(&asked), "{error}");
        assert!(help.is_some_and(|help| help.contains("--mount-port")));
        // If both ports come from the port mapper, there is nothing to compare.
        let (error, _) = refused(port, "/export", false);
        assert!(!error.contains("which was given"), "{error}");
    }

    #[test]
    fn a_port_mapper_that_is_not_there_is_named() {
        // A port that is bound and does not listen.
        let closed = std::net::UdpSocket::bind("127.0.0.1:0").expect("a free port");
        let port = closed.local_addr().expect("it is bound").port();
        let (error, help) = refused(port, "/export", true);
        assert_eq!(
            error,
            format!(
                "127.0.0.1: MOUNT version 3 was not found: it is not at the NFS port 2049, and \
                 no port mapper answers at port {port}"
            )
        );
        assert_eq!(help.as_deref(), Some("name the port (--mount-port)"));
    }
}
