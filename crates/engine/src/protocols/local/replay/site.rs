//! A directory of this host in which loads are replayed.

use super::dos_attributes::{self, DosAttributes};
use super::names::NameResolver;
use super::transfer::TransferBuffers;
use super::{LocalLayer, LocalOptions};
use crate::protocols::local::mix::mounted;
use crate::protocols::local::tree::deletion::RemovalScope;
use crate::protocols::local::tree::{self, LocalTree};
use crate::replay::site::{BlockingWorkDir, TreeCleanup, WorkDir};
use crate::replay::{Layer, LayerLost};
use filestone_host::connect::allow_open_files;
use filestone_host::error::RunError;
use filestone_measure::measure::run_record::Target;
use filestone_plan::plan::LeftoverPolicy;
use filestone_setup::workspace::marker::MarkerOwner;
use filestone_setup::workspace::test_directory::{self, BESIDE, LeftOver, TestDirectory};
use filestone_setup::workspace::{ClaimError, Purpose};
use filestone_workload::load::{CLIENTS, MARKER};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, Mode, OFlags, StatxFlags};
use rustix::io::Errno;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Alignment for O_DIRECT if the kernel does not report it (before Linux 6.1): a page, which suits
/// every common device.
const DIRECT_UNIT_BYTES: u64 = 4096;

/// Wanted limit of open files. Loads keep many handles open per client; this allows some tens of
/// clients with a thousand each, if the system permits it.
const OPEN_FILES_WANTED: u64 = 65_536;

/// STATX_DIOALIGN, for which rustix has no constant.
const STATX_DIOALIGN: StatxFlags = StatxFlags::from_bits_retain(0x2000);

/// A directory claimed for a run.
#[derive(Debug)]
pub struct LocalSite {
    directory: PathBuf,
    claim: TestDirectory<OwnedFd>,
    /// Device of its file system.
    device: u64,
    options: LocalOptions,
    /// Required alignment of offsets and lengths with O_DIRECT.
    direct_unit: Option<u64>,
    links: Arc<AtomicBool>,
    is_temporary: bool,
    /// Whether the claim has not been released yet.
    is_held: bool,
}

/// Removes the leftovers of a run in `directory`: only a `clients` with filestone's marker, and
/// only if no run holds it. `None` if there is no `clients`, or only an empty one.
pub fn remove_left_over(directory: &Path) -> Result<Option<MarkerOwner>, RunError> {
    remove_left_over_beside(directory, LeftoverPolicy::Remove, &LocalOptions::default())
}

/// Removes leftovers according to the policy, including those of a run that worked next to another
/// program's `clients`.
pub fn remove_left_over_beside(
    directory: &Path,
    policy: LeftoverPolicy,
    options: &LocalOptions,
) -> Result<Option<MarkerOwner>, RunError> {
    let root = tree::open(directory, Purpose::Replay)?;
    let wanted = LeftOver {
        policy,
        occupied: options.occupied,
        made: &options.made,
    };
    Ok(test_directory::remove_left_over(
        &mut LocalTree,
        &root,
        wanted,
    )?)
}

fn refused(path: &Path, errno: Errno, doing: &'static str) -> RunError {
    let path = path.to_string_lossy().into_owned();
    tree::refused(path, Purpose::Replay, errno, doing)
}

impl LocalSite {
    /// Claims `directory`: creates `clients` in it, or works next to one of another program, and
    /// checks that the file system supports the options.
    pub fn claim(directory: &Path, options: LocalOptions) -> Result<Self, RunError> {
        let mut root = tree::open(directory, Purpose::Replay)?;
        // Extended attributes are read by absolute path.
        let directory = std::fs::canonicalize(directory).map_err(|source| RunError::System {
            what: format!("find out where {} is", directory.display()),
            source,
        })?;
        root.path = directory.to_string_lossy().into_owned();
        let claim = TestDirectory::claim(&mut LocalTree, root, options.occupied, &options.made)?;
        let mut site = Self {
            directory: if claim.is_beside() {
                directory.join(BESIDE)
            } else {
                directory
            },
            device: 0,
            claim,
            options,
            direct_unit: None,
            links: Arc::new(AtomicBool::new(false)),
            is_temporary: false,
            is_held: true,
        };
        match site.probe() {
            Ok(()) => {
                allow_open_files(OPEN_FILES_WANTED);
                Ok(site)
            }
            Err(error) => {
                site.release(TreeCleanup::Remove)?;
                Err(error)
            }
        }
    }

    /// Claims a new directory in the system's temporary directory, which is removed when the site
    /// is released.
    pub fn temporary(options: LocalOptions) -> Result<Self, RunError> {
        let name = format!(
            "filestone-{:016x}",
            RandomState::new().build_hasher().finish()
        );
        let directory = std::env::temp_dir().join(name);
        rustix::fs::mkdir(&directory, Mode::from_raw_mode(0o700))
            .map_err(|errno| refused(&directory, errno, "making it"))?;
        match Self::claim(&directory, options) {
            Ok(mut site) => {
                site.is_temporary = true;
                Ok(site)
            }
            Err(error) => {
                rustix::fs::rmdir(&directory).ok();
                Err(error)
            }
        }
    }

    /// Returns the number of a client in names.
    const fn number(&self, client: u32) -> u32 {
        self.options.first_number.saturating_add(client)
    }

    /// Announces that a load will create symbolic links. No client may follow one, not even while
    /// another client creates it.
    pub fn expect_links(&self) {
        self.links.store(true, Ordering::SeqCst);
    }

    /// Returns the run's working directory: the one under test, or a separate one in it.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    fn probe(&mut self) -> Result<(), RunError> {
        self.device = rustix::fs::fstat(&self.claim.clients.handle)
            .map_err(|errno| refused(&self.directory, errno, "looking at it"))?
            .st_dev;
        let path = || self.directory.to_string_lossy().into_owned();
        if let Some(marker) = self.claim.lock.0.as_ref().filter(|_| self.options.xattr) {
            let probed = dos_attributes::probe(marker);
            probed.map_err(|errno| ClaimError::NoAttributes {
                path: path(),
                name: dos_attributes::NAME,
                errno,
            })?;
        }
        if self.options.direct {
            let unit = direct_unit(&self.claim.clients.handle);
            let path = path();
            self.direct_unit = Some(unit.map_err(|errno| ClaimError::NoDirect { path, errno })?);
        }
        Ok(())
    }

    fn remove(&mut self) -> Result<(), RunError> {
        self.claim.remove(&mut LocalTree)?;
        if self.is_temporary {
            rustix::fs::rmdir(&self.directory)
                .map_err(|errno| refused(&self.directory, errno, "removing it"))?;
        }
        Ok(())
    }
}

/// Opens the marker with O_DIRECT and queries the required alignment.
fn direct_unit(clients: &OwnedFd) -> Result<u64, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECT | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let file = match rustix::fs::openat(clients, MARKER, flags, Mode::empty()) {
        // Files that a run only reads may have been created by another program.
        Err(Errno::NOENT) => return Ok(DIRECT_UNIT_BYTES),
        file => file?,
    };
    let told = rustix::fs::statx(&file, c"", AtFlags::EMPTY_PATH, STATX_DIOALIGN)
        .map(|answer| u64::from(answer.stx_dio_offset_align))
        .unwrap_or_default();
    Ok(if told.is_power_of_two() {
        told
    } else {
        DIRECT_UNIT_BYTES
    })
}

impl WorkDir for LocalSite {
    fn target(&self) -> Target {
        // Unknown if there is no /proc.
        let mounted = mounted::find(Path::new("/proc"), &self.directory).ok();
        let is_of_server = mounted
            .as_ref()
            .is_some_and(|mount| mount.kernel_client().is_some());
        Target {
            address: "local".into(),
            local: !is_of_server,
            export: self.directory.display().to_string(),
            object: "directory".into(),
            mounts: mounted.into_iter().collect(),
            ..Target::default()
        }
    }

    fn note(&self) -> Option<String> {
        self.claim.note()
    }

    fn release(mut self, trees: TreeCleanup) -> Result<(), RunError> {
        self.is_held = false;
        match trees {
            TreeCleanup::Remove => self.remove(),
            TreeCleanup::Keep => Ok(self.claim.release(&mut LocalTree)?),
        }
    }
}

impl BlockingWorkDir for LocalSite {
    type Layer = LocalLayer;

    fn layer(&self, client: u32) -> Result<LocalLayer, RunError> {
        // A separate descriptor: clients that share a descriptor share its reference count, and
        // therefore a cache line.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = rustix::fs::openat(&self.claim.root.handle, c".", flags, Mode::empty())
            .map_err(|errno| refused(&self.directory, errno, "opening it"))?;
        Ok(LocalLayer {
            number: self.number(client),
            options: self.options.clone(),
            device: self.device,
            names: NameResolver::new(
                root,
                &self.directory,
                self.links.clone(),
                self.options.resolve,
            ),
            handles: Default::default(),
            named_locks: Default::default(),
            transfers: TransferBuffers::new(self.direct_unit),
            dos_attributes: DosAttributes::new(self.options.xattr, client),
        })
    }

    fn clean_up(&self, client: u32, layer: &mut LocalLayer) -> Result<(), LayerLost> {
        layer.end_pass()?;
        let name = format!("client{}", self.number(client));
        let removal = RemovalScope {
            device: self.device,
            made: &self.options.made,
        };
        let clients = self.claim.clients.handle.as_fd();
        let removed = removal.remove_tree(clients, name.as_bytes(), name.as_bytes());
        // Kept names are reported at the end of the run.
        removed.map(drop).map_err(|error| {
            let path = self.directory.join(CLIENTS).join(name);
            LayerLost::Lost(format!("{}: {error}", path.display()))
        })
    }
}

/// Not released when a thread of the run panics: nothing could report an error then.
impl Drop for LocalSite {
    fn drop(&mut self) {
        if self.is_held {
            self.remove().ok();
        }
    }
}
