//! A directory on an NFS server in which loads are replayed.

use super::options::Nfs3Options;
use crate::replay::site::{TreeCleanup, WorkDir};
use filestone_host::connect::{Dial, at_port};
use filestone_host::control::{Cancellation, cancel_on};
use filestone_host::error::RunError;
use filestone_measure::measure::run_record::Target;
use filestone_plan::plan::{LeftoverPolicy, NfsTarget, TransportKind};
use filestone_protocol::client::nfs3::load::{
    ActorOptions, LoadClientOptions, NfsTransferLimits, RunDirectories,
};
use filestone_protocol::session::rpc::Credentials;
use filestone_setup::driver::{Endpoint, Retry, first_xid};
use filestone_setup::nfs3::Nfs3Error;
use filestone_setup::nfs3::calls::{NfsConnection, NfsError};
use filestone_setup::nfs3::mount::{self, MountCaller, MountedObject};
use filestone_setup::nfs3::tree::NfsTree;
use filestone_setup::workspace::Purpose;
use filestone_setup::workspace::marker::MarkerOwner;
use filestone_setup::workspace::test_directory::{self, LeftOver, TestDirectory};
use filestone_setup::workspace::tree::{TreeAction, TreeDirectory};
use filestone_wire::nfs3::{FileType, Handle};
use filestone_workload::time::nanos_of;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Maximum size of a READ or WRITE in bytes, even if the server supports more.
const TRANSFER_MAX: u32 = 1 << 20;
/// Maximum size of a READ or WRITE in one datagram, as used by NFS clients over UDP.
const DATAGRAM_TRANSFER_MAX: u32 = 32 << 10;
/// Transfer size for a server that reports none: the limit of the oldest servers.
const TRANSFER_UNKNOWN: u32 = 8192;
/// Size of a reply without its data, and of a directory page, in bytes.
const REPLY_MARGIN: usize = 64 << 10;

/// A directory on a server, claimed for a run.
#[derive(Debug)]
pub struct Nfs3Site {
    /// The server, and the parameters of the calls of the clean-up.
    endpoint: Endpoint,
    lock_manager: Option<Dial>,
    options: Nfs3Options,
    claim: TestDirectory<Handle>,
    transfers: NfsTransferLimits,
    target: Target,
}

/// The mounted target directory and its connection.
struct Reached {
    mounted: MountedObject,
    nfs: NfsConnection,
}

fn reach(
    target: &NfsTarget,
    built_in: Option<SocketAddr>,
    options: &Nfs3Options,
    retry: &Retry,
) -> Result<Reached, RunError> {
    let caller = caller(target, options);
    let (mut session, mounted) = mount::mount_until(&caller, built_in, &retry.cancellation)?;
    mounted.refuse_link(&mut session, target)?;
    if mounted.attributes.file_type != FileType::Directory {
        return Err(Nfs3Error::NotADirectory {
            path: target.path.clone(),
        }
        .into());
    }
    let nfs = open(Endpoint {
        dial: *session.dial(),
        credentials: mount::credentials(&caller),
        timeout: options.timeout,
        retry: retry.clone(),
        has_answered: true,
    })?;
    Ok(Reached { mounted, nfs })
}

fn caller<'t>(target: &'t NfsTarget, options: &Nfs3Options) -> MountCaller<'t> {
    let timeout = options.timeout;
    MountCaller {
        target,
        timeout_ns: u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX),
        seed: 0,
        wants_link: false,
        source: options.source,
        identities: options.callers.first(),
    }
}

fn open(endpoint: Endpoint) -> Result<NfsConnection, RunError> {
    NfsConnection::connect(endpoint, TRANSFER_MAX as usize + REPLY_MARGIN)
}

/// Returns the transfer limits of the server from FSINFO.
fn transfers(
    nfs: &mut NfsConnection,
    root: &TreeDirectory<Handle>,
    transport: TransportKind,
) -> Result<NfsTransferLimits, RunError> {
    let most = match transport {
        TransportKind::Tcp => TRANSFER_MAX,
        TransportKind::Udp => DATAGRAM_TRANSFER_MAX,
    };
    let told = |bytes: u32| match bytes {
        0 => TRANSFER_UNKNOWN,
        bytes => bytes.min(most),
    };
    match nfs.call(|link| link.file_system_info(&root.handle)) {
        Ok(info) => Ok(NfsTransferLimits {
            read: told(info.rtmax),
            write: told(info.wtmax),
        }),
        Err(NfsError::Answered(..)) => Ok(NfsTransferLimits {
            read: TRANSFER_UNKNOWN,
            write: TRANSFER_UNKNOWN,
        }),
        Err(failure) => Err(root.failed(TreeAction::Find)(failure).into()),
    }
}

/// Finds the lock manager, if needed.
fn lock_manager(
    target: &NfsTarget,
    options: &Nfs3Options,
    dial: &Dial,
    cancellation: &Cancellation,
) -> Result<Option<Dial>, RunError> {
    if !options.enable_nlm {
        return Ok(None);
    }
    let address = match options.nlm_port {
        Some(port) => Ok(at_port(dial.address, port)),
        None => mount::find_lock_manager(&caller(target, options), dial.address, cancellation),
    };
    match address {
        Ok(address) => Ok(Some(Dial { address, ..*dial })),
        Err(unknown) => Err(Nfs3Error::NoLockManager {
            host: dial.address.ip(),
            nfs_port: dial.address.port(),
            why: unknown.to_string(),
        }
        .into()),
    }
}

impl Nfs3Site {
    /// Returns the address of the server.
    pub fn dial(&self) -> &Dial {
        &self.endpoint.dial
    }

    /// Returns the address of the lock manager, if needed.
    pub fn lock_manager(&self) -> Option<&Dial> {
        self.lock_manager.as_ref()
    }

    /// Returns the options of client `client`.
    pub fn client_options(&self, client: u32, pattern: &Arc<[u8]>) -> LoadClientOptions {
        LoadClientOptions {
            actor: ActorOptions {
                client: client.saturating_add(self.options.first_number),
                directories: RunDirectories {
                    root: self.claim.root.handle,
                    clients: self.claim.clients.handle,
                    transfers: self.transfers,
                },
                options: self.options.of_client(client),
                made: Arc::clone(&self.options.made),
                has_lock_manager: self.lock_manager.is_some(),
                timeout_nanos: nanos_of(self.options.timeout),
            },
            credentials: self.credentials_of(client),
            transport: self.endpoint.dial.transport,
            pattern: Arc::clone(pattern),
            first_xid: first_xid(),
        }
    }

    fn credentials_of(&self, client: u32) -> Credentials {
        let own = Credentials {
            machine_name: format!("filestone-{client}"),
            ..self.endpoint.credentials.clone()
        };
        match self.options.callers.of(client) {
            Some(caller) => own.of_client(caller.identities, caller.number),
            None => own,
        }
    }

    /// Mounts the target's path and claims it: creates `clients` in it, or works next to one of
    /// another program. `built_in` is the address of the built-in server, for targets without a
    /// host.
    pub fn claim(
        target: &NfsTarget,
        built_in: Option<SocketAddr>,
        options: Nfs3Options,
        stop: &AtomicBool,
    ) -> Result<Self, RunError> {
        let cancellation = Cancellation::default();
        cancel_on(stop, &cancellation, || {
            Self::claim_until(target, built_in, options, &cancellation)
        })
    }

    fn claim_until(
        target: &NfsTarget,
        built_in: Option<SocketAddr>,
        options: Nfs3Options,
        cancellation: &Cancellation,
    ) -> Result<Self, RunError> {
        cancellation.check_cancelled()?;
        let retry = options.retry(cancellation);
        let mut reached = reach(target, built_in, &options, &retry)?;
        let dial = reached.nfs.dial();
        let lock_manager = lock_manager(target, &options, dial, cancellation)?;
        cancellation.check_cancelled()?;
        let root = root(reached.mounted.handle, &target.path);
        let transfers = transfers(&mut reached.nfs, &root, target.transport)?;
        let tree = &mut NfsTree::new(&mut reached.nfs);
        let claim = TestDirectory::claim(tree, root, options.occupied, &options.made)?;
        Ok(Self {
            claim,
            transfers,
            target: Target {
                address: reached.nfs.dial().address.to_string(),
                built_in: built_in.is_some(),
                local: reached.nfs.connection.is_local(),
                export: reached.mounted.export,
                walked: reached.mounted.walked,
                object: "directory".into(),
                read_max_bytes: transfers.read.into(),
                write_max_bytes: transfers.write.into(),
                ..Target::default()
            },
            endpoint: Endpoint {
                retry: options.retry(&Cancellation::default()),
                ..reached.nfs.endpoint().clone()
            },
            lock_manager,
            options,
        })
    }
}

/// Removes the leftovers of a run in the target's directory: only a `clients` with filestone's
/// marker, and only if no run is known to use it. `None` if there is no `clients`.
pub fn remove_left_over(
    target: &NfsTarget,
    built_in: Option<SocketAddr>,
    timeout: Duration,
    policy: LeftoverPolicy,
) -> Result<Option<MarkerOwner>, RunError> {
    let options = Nfs3Options {
        timeout,
        ..Nfs3Options::new(Vec::new())
    };
    remove_left_over_until(target, built_in, &options, policy, &Cancellation::default())
}

/// Like [`remove_left_over`], until cancelled.
pub(crate) fn remove_left_over_until(
    target: &NfsTarget,
    built_in: Option<SocketAddr>,
    options: &Nfs3Options,
    policy: LeftoverPolicy,
    cancellation: &Cancellation,
) -> Result<Option<MarkerOwner>, RunError> {
    let retry = options.retry(cancellation);
    let mut reached = reach(target, built_in, options, &retry)?;
    let root = root(reached.mounted.handle, &target.path);
    let tree = &mut NfsTree::new(&mut reached.nfs);
    let wanted = LeftOver {
        policy,
        occupied: options.occupied,
        made: &options.made,
    };
    Ok(test_directory::remove_left_over(tree, &root, wanted)?)
}

impl WorkDir for Nfs3Site {
    fn target(&self) -> Target {
        self.target.clone()
    }

    fn note(&self) -> Option<String> {
        self.claim.note()
    }

    fn cancel_with(&mut self, cancellation: &Cancellation) {
        self.endpoint.retry.cancellation = cancellation.clone();
    }

    fn release(mut self, trees: TreeCleanup) -> Result<(), RunError> {
        // A new connection, because the one from before a long run may be gone.
        let mut nfs = open(self.endpoint)?;
        let tree = &mut NfsTree::new(&mut nfs);
        match trees {
            TreeCleanup::Remove => Ok(self.claim.remove(tree)?),
            TreeCleanup::Keep => Ok(self.claim.release(tree)?),
        }
    }
}

/// Returns the directory under test.
fn root(handle: Handle, path: &str) -> TreeDirectory<Handle> {
    TreeDirectory {
        handle,
        path: path.into(),
        purpose: Purpose::Replay,
    }
}
