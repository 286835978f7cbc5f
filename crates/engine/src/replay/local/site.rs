//! A directory of this host as the place of a replay.

use super::claim::{self, Claim, Ground, UnderTest, open_directory, refused, unsuitable};
use super::dos_attributes::{self, DosAttributes};
use super::names::Names;
use super::transfer::Transfers;
use super::{LocalLayer, LocalOptions, deletion, nfs_mount};
use crate::error::RunError;
use crate::replay::site::{CLIENTS, MARKER, Site, Trees, beside_remark};
use crate::replay::{Layer, LayerLost};
use crate::transport::connect::allow_open_files;
use filestone_model::measure::run_record::Target;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, Mode, OFlags, StatxFlags};
use rustix::io::Errno;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What O_DIRECT asks for where the kernel does not say (before Linux 6.1): a
/// page, which suits every device in use.
const DIRECT_UNIT_BYTES: u64 = 4096;

/// Loads keep many handles open, and each client its own: as many as some tens of
/// clients with a thousand each, if the system allows it.
const OPEN_FILES_WANTED: u64 = 65_536;

/// STATX_DIOALIGN, which rustix has no name for.
const STATX_DIOALIGN: StatxFlags = StatxFlags::from_bits_retain(0x2000);

/// A directory, claimed for one run.
#[derive(Debug)]
pub struct LocalSite {
    directory: PathBuf,
    root: OwnedFd,
    claim: Claim,
    /// If the run works in a place of its own in it, the directory under test.
    beside: Option<UnderTest>,
    options: LocalOptions,
    /// With O_DIRECT, what offsets and lengths must be multiples of.
    direct_unit: Option<u64>,
    links: Arc<AtomicBool>,
    is_temporary: bool,
    /// Whether it is still to be released.
    is_held: bool,
}

impl LocalSite {
    /// Claims `directory`: makes `clients` in it, or beside one of another program's, and
    /// sees whether the file system can do what the options ask for.
    pub fn claim(directory: &Path, options: LocalOptions) -> Result<Self, RunError> {
        let root = open_directory(directory)?;
        // Extended attributes are read by absolute path.
        let directory = std::fs::canonicalize(directory).map_err(|source| RunError::System {
            what: format!("find out where {} is", directory.display()),
            source,
        })?;
        let Ground {
            root,
            directory,
            claim,
            beside,
        } = Ground::claim(root, directory, options.beside)?;
        let mut site = Self {
            directory,
            root,
            claim,
            beside,
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
                site.release(Trees::Remove)?;
                Err(error)
            }
        }
    }

    /// Claims a fresh directory under the system's temporary directory, which goes
    /// when the site is released.
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

    /// Says that a load will make symbolic links: no client may follow one, not
    /// even in the moment in which another makes it.
    pub fn expect_links(&self) {
        self.links.store(true, Ordering::SeqCst);
    }

    /// The directory that the run works in: the one under test, or a place of its own there.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    fn probe(&mut self) -> Result<(), RunError> {
        if self.options.xattr {
            let probed = match &self.claim.marker {
                Some(marker) => dos_attributes::probe(marker),
                None => Ok(()),
            };
            probed.map_err(|errno| no_attributes(&self.directory, errno))?;
        }
        if self.options.direct {
            let unit = direct_unit(&self.claim);
            self.direct_unit = Some(unit.map_err(|errno| no_direct(&self.directory, errno))?);
        }
        Ok(())
    }

    fn remove(&mut self) -> Result<(), RunError> {
        claim::remove(&mut self.claim, self.root.as_fd(), &self.directory)?;
        if let Some(under_test) = &self.beside {
            under_test.remove_place()?;
        }
        if self.is_temporary {
            rustix::fs::rmdir(&self.directory)
                .map_err(|errno| refused(&self.directory, errno, "removing it"))?;
        }
        Ok(())
    }
}

fn no_attributes(directory: &Path, errno: Errno) -> RunError {
    unsuitable(
        directory,
        &format!(
            "the file system takes no extended attribute {}: {errno}",
            dos_attributes::NAME
        ),
        "leave --xattr out, or use a file system that has user attributes",
    )
}

fn no_direct(directory: &Path, errno: Errno) -> RunError {
    unsuitable(
        directory,
        &format!("the file system opens no file with O_DIRECT: {errno}"),
        "leave --direct out, or use a file system on a device",
    )
}

/// Opens the marker with O_DIRECT and asks what transfers must look like.
fn direct_unit(claim: &Claim) -> Result<u64, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECT | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let file = rustix::fs::openat(&claim.clients, MARKER, flags, Mode::empty())?;
    let told = rustix::fs::statx(&file, c"", AtFlags::EMPTY_PATH, STATX_DIOALIGN)
        .map(|answer| u64::from(answer.stx_dio_offset_align))
        .unwrap_or_default();
    Ok(if told.is_power_of_two() {
        told
    } else {
        DIRECT_UNIT_BYTES
    })
}

impl Site for LocalSite {
    type Layer = LocalLayer;

    fn target(&self) -> Target {
        Target {
            address: "local".into(),
            local: true,
            export: self.directory.display().to_string(),
            object: "directory".into(),
            ..Target::default()
        }
    }

    fn remark(&self) -> Option<String> {
        let under_test = self.beside.as_ref()?;
        Some(beside_remark(&under_test.path().to_string_lossy()))
    }

    fn layer(&self, client: u32) -> Result<LocalLayer, RunError> {
        // A descriptor of its own: clients that share one share its reference
        // count, and with it a cache line.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = rustix::fs::openat(&self.root, c".", flags, Mode::empty())
            .map_err(|errno| refused(&self.directory, errno, "opening it"))?;
        Ok(LocalLayer {
            client,
            options: self.options,
            device: self.claim.device,
            names: Names::new(
                root,
                &self.directory,
                self.links.clone(),
                self.options.resolve,
            ),
            handles: Default::default(),
            named_locks: Default::default(),
            transfers: Transfers::new(self.direct_unit),
            dos_attributes: DosAttributes::new(self.options.xattr, client),
        })
    }

    fn clean_up(&self, client: u32, layer: &mut LocalLayer) -> Result<(), LayerLost> {
        layer.end_pass()?;
        let name = format!("client{client}");
        deletion::remove_tree(
            self.claim.clients.as_fd(),
            name.as_bytes(),
            self.claim.device,
        )
        .map_err(|error| LayerLost {
            what: format!(
                "{}: {error}",
                self.directory.join(CLIENTS).join(name).display()
            ),
        })
    }

    fn release(mut self, trees: Trees) -> Result<(), RunError> {
        self.is_held = false;
        match trees {
            Trees::Remove => self.remove(),
            Trees::Keep => self
                .claim
                .marker
                .iter()
                .try_for_each(nfs_mount::unlock)
                .map_err(|errno| refused(&self.directory, errno, "giving up its marker")),
        }
    }
}

/// Nobody releases it when a thread of the run panics: then there is nobody left
/// to tell of an error, either.
impl Drop for LocalSite {
    fn drop(&mut self) {
        if self.is_held {
            self.remove().ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Guilt;

    #[test]
    fn what_a_file_system_cannot_do_is_said_with_the_option_to_leave_out() {
        let directory = Path::new("/srv/test");
        for (error, option) in [
            (no_direct(directory, Errno::INVAL), "--direct"),
            (no_attributes(directory, Errno::OPNOTSUPP), "--xattr"),
        ] {
            assert_eq!(error.guilt(), Guilt::Usage);
            assert!(
                error.to_string().starts_with("/srv/test: the file system"),
                "{error}"
            );
            assert!(error.help().is_some_and(|help| help.contains(option)));
        }
    }

    #[test]
    fn a_full_file_system_and_a_read_only_one_are_told_apart() {
        let say = |errno| refused(Path::new("/d"), errno, "making a directory in it").to_string();
        assert!(say(Errno::NOSPC).contains("the file system is full"));
        assert!(say(Errno::ROFS).contains("mounted read-only"));
        assert!(say(Errno::ACCESS).contains("is not allowed"));
    }
}
